"""What a seat may believe: the exact distribution of the hidden gems over all deals consistent with its view.

It is uniform over these deals: who asked what is not taken as evidence about the asker.
"""

from __future__ import annotations

from itertools import permutations, product

import numpy as np

from ..deduction.evidence import EVIDENCE
from ..deduction.worlds import Worlds
from .cards import CATEGORIES, GEMS, NUM_GEMS
from .clues import clues

# The six nestings of the three categories: gems with the same value of the outermost lie together, and so on inwards.
ORDERS = np.array(
    [
        [GEMS.index(tuple(element for category in CATEGORIES for element in gem if element in category)) for gem in product(*nesting)]
        for nesting in permutations(CATEGORIES)
    ]
)


def belief(rules: np.ndarray, views: np.ndarray) -> Worlds:
    """Give all deals that are consistent with a view.

    Args:
        rules: RULES [1].
        views: VIEW [1].

    Raises:
        Contradiction: a view that no deal satisfies; it cannot come from a game.
    """
    evidence = np.zeros(1, EVIDENCE)
    clues(rules, views, evidence)
    return Worlds(evidence, ORDERS, NUM_GEMS)
