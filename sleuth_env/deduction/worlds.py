"""All deals that evidence allows: how many there are, how likely each card is to lie where, what a question would tell.

Every deal that is consistent with the evidence counts the same. So nothing is inferred from what others chose to ask: the
probabilities are "uniform over consistent deals", whatever the players' strategies. A probability of exactly 0 or 1 is
proved, unless the result says that it is an estimate (`exact` false). The last holder is the one whose cards are wanted,
called "missing". Axis letters: ``C`` cards, ``H`` holders, ``B`` problems, ``N`` questions or draws.
"""

from __future__ import annotations

import threading
from typing import NamedTuple

import numpy as np

from ..bits import kernel, mixed
from .automata import CONTRADICTORY, INTRICATE, PLAN, Automata, make_plan, new_automata
from .evidence import MAX_CARDS, MAX_HOLDERS, Contradiction, EvidenceError, cards_of, mask_of
from .graph import COPIES, RESULT, Graph, Growth, grow, keep_live, new_graph, new_growth, pack, sum_up
from .questions import (
    MAX_MISSING,
    MAX_SHOWN,
    WORTH,
    Frame,
    appraise,
    new_frame,
    num_outcomes,
    open_missing,
    row_span,
    set_columns,
    tabulate,
)
from .sheet import SHEET, broken_reason, propagate
