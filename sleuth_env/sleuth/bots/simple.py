"""The baselines: `random` takes any legal action, `cautious` asks random questions of some use."""

from __future__ import annotations

import numpy as np

from ...bits import advance, below, mixed
from ...kernels import inner, kernel
from ..cards import NUM_PAIRS
from ..rules import is_shown
from .base import Bot, accusation_or_pass, any_legal, checking, evidence_and_sheets, what_remains


@kernel
def _choose_any(legal, seeds, actions):
    for b in range(legal.shape[0]):
        actions[b] = any_legal(legal[b], mixed(seeds[b]))


@inner
def is_useful(e, sheet, holder, question, shown):
    """Return whether a question touches an undecided cell of the sheet and its answer is not known.

    Args:
        e: one EVIDENCE record.
        sheet: its SHEET record.
        holder: whom to ask.
        question: what to ask.
        shown: whether the asker sees the cards.
    """
    undecided = e["sets"][question] & sheet["can"][holder] & ~sheet["has"][holder]
    number_known = e["least"][holder, question] == e["most"][holder, question]
    return undecided != 0 and (shown or not number_known)


@inner
def _any_useful(rules, legal, bits, e, sheet):
    """Return a random useful ask, -1 if there is none.

    Args:
        rules: one RULES record.
        legal: u1 [A].
        bits: u8, random bits.
        e: one EVIDENCE record.
        sheet: its SHEET record.
    """
    found = -1
    count = 0
    for action in range(rules["final_at"]):
        if legal[action]:
            holder = action // NUM_PAIRS
            question = rules["pair_question"][action % NUM_PAIRS]
            if is_useful(e, sheet, holder, question, is_shown(rules, question)):
                count += 1
                bits = advance(bits)
                # The n-th replaces the one before with probability 1/n: all are equally likely.
                if below(mixed(bits), count) == 0:
                    found = action
    return found


@inner
def choose_cautiously(rules, v, legal, bits, e, sheet):
    """Choose one action as `cautious` does.

    Args:
        rules: one RULES record.
        v: one VIEW record.
        legal: u1 [A].
        bits: u8, random bits.
        e: one EVIDENCE record from `clues`.
        sheet: its SHEET record.
    """
    action = accusation_or_pass(rules, v, sheet)
    if action < 0:
        action = _any_useful(rules, legal, bits, e, sheet)
    return what_remains(rules, legal, bits, action)


@kernel
def _choose_all(rules, views, legal, seeds, evidence, sheets, actions):
    """Choose in every game (actions: i8 [B], written)."""
    for b in range(views.size):
        actions[b] = choose_cautiously(rules[0], views[b], legal[b], seeds[b], evidence[b], sheets[b])


class RandomBot(Bot):
    """Take any legal action, all equally likely."""

    name = "random"

    @checking
    def act(self, views: np.ndarray, legal: np.ndarray, seeds: np.ndarray) -> np.ndarray:
        """Choose an action in every game, see `Bot.act`."""
        actions = np.empty(views.size, np.int64)
        _choose_any(legal, seeds, actions)
        return actions


class CautiousBot(Bot):
    """Ask random questions of some use, accuse when the missing gems are proved."""

    name = "cautious"

    @checking
    def act(self, views: np.ndarray, legal: np.ndarray, seeds: np.ndarray) -> np.ndarray:
        """Choose an action in every game, see `Bot.act`."""
        evidence, sheets = evidence_and_sheets(self.rules, views)
        actions = np.empty(views.size, np.int64)
        _choose_all(self.rules, views, legal, seeds, evidence, sheets, actions)
        return actions
