"""Baseline players: they are given views, never states, and all their randomness comes from the
seeds.

``random`` takes any legal action. ``cautious`` asks random useful questions and accuses only when
the sheet proves the missing gems. ``sheet`` asks what promises to tell most about the cells still
open, exchanges cards that tell nothing, and asks a final question when every answer to it must
decide. ``entropy`` and ``racer`` (in files of their own) count the deals instead.
"""

from __future__ import annotations

import numpy as np

from ...bits import advance, below, mixed
from ...deduction.evidence import EVIDENCE
from ...deduction.sheet import SHEET, propagate
from ...kernels import kernel
from ..cards import NUM_PAIRS
from ..clues import clues
from ..rules import is_shown
from .base import Bot, accuse_or_decline, any_legal, fall_back


@kernel
def _choose_any(legal, seeds, actions):
    for b in range(legal.shape[0]):
        actions[b] = any_legal(legal[b], mixed(seeds[b]))


@kernel
def _ask_any_useful(rules, views, legal, seeds, evidence, sheets, actions):
    """Where nothing is chosen yet, ask at random among what touches an undecided cell and is not
    known.
    """
    for b in range(views.size):
        e = evidence[b]
        sheet = sheets[b]
        count = 0
        bits = seeds[b]
        if actions[b] >= 0:
            continue
        for action in range(rules[0]["final_at"]):
            if legal[b, action]:
                holder = action // NUM_PAIRS
                question = rules[0]["pair_question"][action % NUM_PAIRS]
                undecided = e["sets"][question] & sheet["can"][holder] & ~sheet["has"][holder]
                number_known = e["least"][holder, question] == e["most"][holder, question]
                if undecided and (not number_known or is_shown(rules[0], question)):
                    count += 1
                    bits = advance(bits)
                    # The n-th replaces the one before with chance 1/n: so all are equally likely.
                    if below(mixed(bits), count) == 0:
                        actions[b] = action


class RandomBot(Bot):
    """Take any legal action, all equally likely."""

    name = "random"

    def act(self, views: np.ndarray, legal: np.ndarray, seeds: np.ndarray) -> np.ndarray:
        """Choose an action in every game, see `Bot.act`."""
        actions = np.empty(views.size, np.int64)
        _choose_any(legal, seeds, actions)
        return actions


class CautiousBot(Bot):
    """Ask random questions of some use, accuse when the missing gems are proved."""

    name = "cautious"

    def act(self, views: np.ndarray, legal: np.ndarray, seeds: np.ndarray) -> np.ndarray:
        """Choose an action in every game, see `Bot.act`."""
        evidence = np.empty(views.size, EVIDENCE)
        sheets = np.empty(views.size, SHEET)
        actions = np.full(views.size, -1)
        clues(self.rules, views, evidence)
        propagate(evidence, sheets)
        accuse_or_decline(self.rules, views, sheets, actions)
        self._ask(views, legal, seeds, evidence, sheets, actions)
        fall_back(self.rules, legal, seeds, actions)
        return actions

    def _ask(
        self,
        views: np.ndarray,
        legal: np.ndarray,
        seeds: np.ndarray,
        evidence: np.ndarray,
        sheets: np.ndarray,
        actions: np.ndarray,
    ) -> None:
        _ask_any_useful(self.rules, views, legal, seeds, evidence, sheets, actions)
