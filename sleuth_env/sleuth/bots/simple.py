"""The baselines: `random` takes any legal action, `cautious` asks random questions of some use."""

from __future__ import annotations

import numpy as np

from ...bits import advance, below, mixed
from ...kernels import kernel
from ..cards import NUM_PAIRS
from ..rules import is_shown
from .base import Bot, accuse_or_decline, any_legal, checking, evidence_and_sheets, fall_back


@kernel
def _choose_any(legal, seeds, actions):
    for b in range(legal.shape[0]):
        actions[b] = any_legal(legal[b], mixed(seeds[b]))


@kernel
def _ask_any_useful(rules, views, legal, seeds, evidence, sheets, actions):
    """Ask at random among what touches an undecided cell of the sheet and is not known.

    Args:
        rules: RULES [1].
        views: VIEW [B].
        legal: u1 [B, A].
        seeds: u8 [B].
        evidence: EVIDENCE [B].
        sheets: SHEET [B].
        actions: i8 [B], changed where it is -1 and there is such a question.
    """
    for b in range(views.size):
        if actions[b] >= 0:
            continue
        e = evidence[b]
        sheet = sheets[b]
        count = 0
        bits = seeds[b]
        for action in range(rules[0]["final_at"]):
            if legal[b, action]:
                holder = action // NUM_PAIRS
                question = rules[0]["pair_question"][action % NUM_PAIRS]
                undecided = e["sets"][question] & sheet["can"][holder] & ~sheet["has"][holder]
                number_known = e["least"][holder, question] == e["most"][holder, question]
                if undecided and (not number_known or is_shown(rules[0], question)):
                    count += 1
                    bits = advance(bits)
                    # The n-th replaces the one before with probability 1/n: all are equally likely.
                    if below(mixed(bits), count) == 0:
                        actions[b] = action


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
        actions = np.full(views.size, -1)
        accuse_or_decline(self.rules, views, sheets, actions)
        _ask_any_useful(self.rules, views, legal, seeds, evidence, sheets, actions)
        fall_back(self.rules, legal, seeds, actions)
        return actions
