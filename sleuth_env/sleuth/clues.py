"""From a view to evidence: what the answers, the cards shown and the open cards say about where the gems lie.

Holder ``k - 1`` of the evidence is the opponent ``k`` to the viewer's left, the last holder is "missing". The
catalogue of sets is the 43 questions and, last, all cards. Gems in the viewer's hand or on the table are not asked for.
"""

from __future__ import annotations

import numpy as np

from ..bits import inner, kernel, popcount
from ..deduction.evidence import EVIDENCE
from ..deduction.sheet import SHEET, broken_reason, propagate
from .cards import ALL_GEMS, NUM_QUESTIONS

ALL_CARDS = NUM_QUESTIONS
NUM_SETS = NUM_QUESTIONS + 1


@inner
def _who_may_hold(v, cards, possible):
    """A gem that the viewer was shown, or saw when he accused, is possible with its holder only."""
    num_players = v["num_players"]
    shown = v["missing_gems"]
    for k in range(1, num_players):
        shown |= v["seen"][k]
    for k in range(1, num_players):
        possible[k - 1] = cards & (v["seen"][k] | ~shown)
    possible[num_players - 1] = v["missing_gems"] if v["missing_gems"] else cards & ~shown


@inner
def _bound_counts(rules, v, evidence):
    """An announced number bounds the question's set from both sides, the hand sizes bound all cards."""
    num_players = v["num_players"]
    for s in range(NUM_SETS):
        gems = rules["question_gems"][s] if s < NUM_QUESTIONS else evidence["cards"]
        gems &= evidence["cards"]
        evidence["sets"][s] = gems
        size = popcount(gems)
        for h in range(num_players):
            number = -1
            if s == ALL_CARDS:
                number = rules["hand_size"] if h < num_players - 1 else rules["missing"]
            elif h < num_players - 1:
                number = v["answers"][h + 1, s]
            evidence["least"][h, s] = number if number >= 0 else 0
            evidence["most"][h, s] = number if number >= 0 else size


@kernel
def clues(rules, views, evidence):
    """Turn what each viewer knows into evidence.

    Args:
        rules: RULES [1].
        views: VIEW [B].
        evidence: EVIDENCE [B], overwritten.
    """
    for b in range(views.size):
        v, e = views[b], evidence[b]
        e["num_holders"], e["num_sets"] = v["num_players"], NUM_SETS
        e["cards"] = ALL_GEMS & ~(v["hand"] | v["table"])
        _who_may_hold(v, e["cards"], e["possible"])
        _bound_counts(rules[0], v, e)


def read_sheet(rules: np.ndarray, views: np.ndarray) -> np.ndarray:
    """Give the information sheets of some views: what each opponent and "missing" can and certainly does hold.

    Args:
        rules: RULES [1].
        views: VIEW [B].

    Returns:
        SHEET [B].

    Raises:
        Contradiction: a view that no deal satisfies; it cannot come from a game.
    """
    evidence, sheets = np.zeros(views.shape, EVIDENCE), np.zeros(views.shape, SHEET)
    clues(rules, views, evidence)
    propagate(evidence, sheets)
    for b in np.flatnonzero(sheets["broken"])[:1]:
        raise broken_reason(evidence[b], int(sheets["broken"][b]))
    return sheets
