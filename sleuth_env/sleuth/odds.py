"""What a count of all deals says, as numbers that are there for every view."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..deduction.automata import NO_DEAL
from ..deduction.counting import BROKEN
from .belief import belief, beliefs
from .cards import NUM_GEMS
from .clues import read_sheet


class Odds(NamedTuple):
    """What a count of all deals says."""

    chance: np.ndarray  # f8 [B, H, C] probability that a gem lies with opponent h + 1 or, last, is missing
    information: np.ndarray  # f8 [B, H - 1, Q] bits about the missing gems that a question is expected to tell; 0 where it may not be asked now


def odds(rules: np.ndarray, views: np.ndarray) -> Odds:
    """Give what some seats may believe and what their questions would tell, always finite numbers; a row depends on nothing but its view.

    Where there are too many deals to count, the numbers are the estimates of `beliefs`; where even these cannot be had, a gem is
    equally likely with each holder with whom the sheet leaves it possible, and nothing is said of questions (0).

    Args:
        rules: RULES [1].
        views: VIEW [B].

    Raises:
        Contradiction: a view that no deal satisfies; it cannot come from a game.
    """
    found = beliefs(rules, views, now=True)
    chance, codes = found.holders.transpose(0, 2, 1), found.results["code"]
    for row in np.flatnonzero((codes == BROKEN) | (codes == NO_DEAL))[:1]:
        belief(rules, views[row : row + 1])
    rows = np.flatnonzero(codes)
    if rows.size:
        possible = read_sheet(rules, views[rows])["can"][:, : chance.shape[1], None] >> np.arange(NUM_GEMS) & 1
        chance[rows] = possible / np.maximum(possible.sum(axis=1, keepdims=True), 1)
    return Odds(chance, np.nan_to_num(found.worths["information"]))
