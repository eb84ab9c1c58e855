"""From a view to evidence: what a viewer knows about where the gems lie.

The evidence is made of the answers, the cards shown and the open cards. Its holder ``k - 1`` is the
opponent ``k`` to the viewer's left, the last holder is "missing". The catalogue of sets is the 43
questions and, last, all cards. Gems in the viewer's hand or on the table are left out.
"""

from __future__ import annotations

import numpy as np

from ..bits import members, popcount
from ..deduction.evidence import EVIDENCE
from ..deduction.sheet import LEVEL, SHEET, broken_reason, propagate
from ..kernels import inner, kernel
from .cards import ALL_GEMS, ALL_QUESTIONS, NUM_QUESTIONS
from .checked import checked_rules, checked_views

ALL_CARDS = NUM_QUESTIONS
NUM_SETS = NUM_QUESTIONS + 1


@inner
def _who_may_hold(v, num_players, cards, possible):
    """Write who may hold each gem: only its holder, if the viewer has seen where it is."""
    shown = v["missing_gems"]
    for k in range(1, num_players):
        shown |= v["seen"][k]
    for k in range(1, num_players):
        possible[k - 1] = cards & (v["seen"][k] | ~shown)
    possible[num_players - 1] = v["missing_gems"] if v["missing_gems"] else cards & ~shown


@inner
def _list_sets(rules, e):
    """Write the catalogue of sets, with bounds that say nothing yet."""
    for s in range(NUM_SETS):
        cards = e["cards"] & rules["question_gems"][s] if s < NUM_QUESTIONS else e["cards"]
        e["sets"][s] = cards
        e["most"][0, s] = popcount(cards)
    for h in range(e["num_holders"]):
        for s in range(NUM_SETS):
            e["least"][h, s] = 0
            e["most"][h, s] = e["most"][0, s]


@inner
def _bound_counts(rules, v, e):
    """Bound the set of each question by its announced number, and all cards by the hand sizes."""
    missing = rules["num_players"] - 1
    for h in range(missing + 1):
        e["least"][h, ALL_CARDS] = e["most"][h, ALL_CARDS] = rules["hand_size"] if h < missing else rules["missing"]
    for h in range(missing):
        for question in members(v["told"][h + 1] & ALL_QUESTIONS):
            e["least"][h, question] = e["most"][h, question] = v["answers"][h + 1, question]


@inner
def read_clues(rules, v, e):
    """Turn what one viewer knows into evidence, see `clues`."""
    # Of the rules, not of the view: what may lie in a view must not lead beyond an array.
    e["num_holders"] = rules["num_players"]
    e["num_sets"] = NUM_SETS
    e["cards"] = ALL_GEMS & ~(v["hand"] | v["table"])
    _who_may_hold(v, rules["num_players"], e["cards"], e["possible"])
    _list_sets(rules, e)
    _bound_counts(rules, v, e)


@kernel
def clues(rules, views, evidence):
    """Turn what each viewer knows into evidence.

    Args:
        rules: RULES [1].
        views: VIEW [B].
        evidence: EVIDENCE [B], overwritten.
    """
    for b in range(views.size):
        read_clues(rules[0], views[b], evidence[b])


def read_sheet(rules: np.ndarray, views: np.ndarray) -> np.ndarray:
    """Return the information sheets of some views.

    They say what each opponent and "missing" can and certainly does hold.

    Args:
        rules: RULES [1].
        views: VIEW [B].

    Returns:
        SHEET [B].

    Raises:
        ArrayError: these are not rules or not views, or the views are of another kind of game.
        Contradiction: a view that no deal satisfies; it cannot come from a game.
    """
    rules = checked_rules(rules)
    views = checked_views(rules, views)
    evidence = np.zeros(views.shape, EVIDENCE)
    sheets = np.zeros(views.shape, SHEET)
    clues(rules, views, evidence)
    propagate(evidence, sheets, LEVEL)
    for b in np.flatnonzero(sheets["broken"])[:1]:
        raise broken_reason(evidence[b], int(sheets["broken"][b]))
    return sheets
