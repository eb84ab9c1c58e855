"""Bots that play on in one kernel until somebody else is to act: no decision of theirs comes back to Python.

They decide as they do when they are asked one by one, from a view, and draw the same random bits.
"""

from __future__ import annotations

import numpy as np

from ...bits import mixed
from ...kernels import inner, kernel
from ...playing import playing_by
from ..rules import mark_legal, take
from ..view import VIEW, copy_view
from .base import any_between
from .counter import CounterBot, count_and_choose
from .simple import CautiousBot, RandomBot, choose_cautiously

BOTS = (RandomBot, CautiousBot, CounterBot)
# Nothing is kept of a seat: all that these bots conclude stands in the state.
MEMORY = np.dtype([("nothing", "i1")])
_RANDOM, _CAUTIOUS, _COUNTER = range(len(BOTS))


@inner
def _choose(rules, kind, s, seat, bits, nothing, space):
    """Choose one action as the bot of a kind does, see `sleuth_env.playing.playing_by`."""
    views, legal = space
    mark_legal(rules, s, legal)
    if kind == _RANDOM:
        return any_between(legal, 0, rules["num_actions"], mixed(bits))
    copy_view(rules, s, seat, views[0])
    if kind == _CAUTIOUS:
        return choose_cautiously(rules, views[0], legal, mixed(bits))
    return count_and_choose(rules, views[0], legal, mixed(bits))


_play = playing_by(_choose, take)


@kernel
def play_on(rules, states, seats, kinds, closed, first, streams, decisions, last_actions, returns, memory, most):
    """Let bots play on, see `sleuth_env.game.Playing`."""
    space = (np.empty(1, VIEW), np.empty(int(rules[0]["num_actions"]), np.uint8))
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
        memory,
        most,
        space,
    )
