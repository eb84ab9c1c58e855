"""Bots that play on in one kernel until somebody else is to act: no decision of theirs comes back to Python.

They decide as they do when they are asked one by one, from a view, and draw the same random bits.
"""

from __future__ import annotations

import numpy as np

from ...bits import mixed
from ...deduction.evidence import EVIDENCE
from ...deduction.sheet import KEPT, SHEET, WORK, fill_in_again
from ...kernels import inner, kernel
from ...playing import playing_by
from ..clues import read_clues
from ..rules import mark_legal, take
from ..view import VIEW, copy_view
from .base import accusation_or_pass, any_legal
from .entropy import ENTROPY_COSTS
from .hunch import HunchBot, choose_by_hunch, hunch_space, weights_by_rules
from .sheet import SHEET_COSTS, SheetBot, choose_by_sheet, working_space
from .simple import CautiousBot, RandomBot, choose_cautiously

BOTS = (RandomBot, CautiousBot, SheetBot, HunchBot)
# What is kept of each seat: its sheet, which is filled in faster where it is known what was on it before.
MEMORY = KEPT
_RANDOM, _CAUTIOUS, _SHEET, _HUNCH = range(len(BOTS))


@inner
def _choose(rules, kind, s, seat, bits, kept, space):
    """Choose one action as the bot of a kind does, see `sleuth_env.playing.playing_by`."""
    views, legal, evidence, work, sheet, costs, trials, counting_costs, weights, guesses = space
    v = views[0]
    copy_view(rules, s, seat, v)
    if kind == _RANDOM:
        mark_legal(rules, s, legal)
        return any_legal(legal, mixed(bits))
    read_clues(rules, v, evidence[0])
    fill_in_again(evidence[0], kept, work[0], sheet[0])
    # Most decisions are about an offer, and it is legal what such a bot does then.
    action = accusation_or_pass(rules, v, sheet[0])
    if action >= rules["accuse_at"] and (kind != _HUNCH or action != rules["pass_at"]):
        return action
    mark_legal(rules, s, legal)
    if kind == _HUNCH:
        return choose_by_hunch(rules, v, legal, bits, evidence[0], sheet[0], counting_costs[0], weights, guesses)
    if kind == _CAUTIOUS:
        return choose_cautiously(rules, v, legal, bits, evidence[0], sheet[0])
    return choose_by_sheet(rules, v, legal, bits, evidence[0], sheet[0], costs[0], trials)


_play = playing_by(_choose, take)


@kernel
def _play_on(
    rules,
    costs,
    counting_costs,
    weights,
    states,
    seats,
    kinds,
    closed,
    first,
    streams,
    decisions,
    last_actions,
    returns,
    kept,
    most,
):
    space = (
        np.empty(1, VIEW),
        np.empty(int(rules[0]["num_actions"]), np.uint8),
        np.empty(1, EVIDENCE),
        np.empty(1, WORK),
        np.empty(1, SHEET),
        costs,
        working_space(),
        counting_costs,
        weights,
        hunch_space(),
    )
    return _play(
        rules,
        states,
        seats,
        kinds,
        closed,
        first,
        streams,
        decisions,
        last_actions,
        returns,
        kept,
        most,
        space,
    )


def play_on(rules: np.ndarray, *arguments: object) -> tuple[int, int]:
    """Let bots play on, see `sleuth_env.game.Playing`."""
    played: tuple[int, int] = _play_on(rules, SHEET_COSTS, ENTROPY_COSTS, weights_by_rules(rules), *arguments)
    return played
