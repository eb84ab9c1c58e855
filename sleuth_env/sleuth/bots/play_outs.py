"""Games played on from what a seat may believe: what it gets in the end if it does something now.

Axis letters: ``N`` deals, ``P`` seats, ``C`` gem cards, ``K`` models of players.
"""

from __future__ import annotations

import numpy as np

from ..rebuild import rebuild
from . import playing
from .hunch import HunchBot

# More decisions than a game takes of bots that go on asking.
MOST_DECISIONS = 10_000
NOTHING = -1


def play_outs(
    rules: np.ndarray,
    views: np.ndarray,
    deals: np.ndarray,
    kinds: np.ndarray,
    actions: np.ndarray,
    rng: np.random.Generator,
) -> np.ndarray:
    """Return what the viewer gets in the end, if it does each of some actions first and then plays like `hunch`.

    All actions are tried in the same games, with the same luck of everybody.

    Args:
        rules: RULES [1].
        views: VIEW [1], of a seat that is to act.
        deals: i1 [N, C], each fits the view.
        kinds: i4 [N, P], the place in `playing.BOTS` of how each other seat plays, relative to the viewer.
        actions: i8 [A], legal ones.
        rng: draws what is left open.

    Returns:
        f8 [A, N].
    """
    players = int(rules["num_players"][0])
    number = len(deals)
    seat = int(views["seat"][0])
    states = rebuild(rules, views, deals, rng)
    seats = np.zeros((number, players), np.int32)
    for k in range(players):
        seats[:, (seat + k) % players] = kinds[:, k] if k else playing.BOTS.index(HunchBot)
    every_kind = np.arange(len(playing.BOTS), dtype=np.int32)
    streams = rng.integers(0, 2**64, (number, players), np.uint64)
    memory = np.zeros((number, players), playing.MEMORY)
    got = np.empty((len(actions), number))
    for row, action in enumerate(actions):
        returns = np.zeros((number, players))
        playing.play_on(
            rules,
            states.copy(),
            seats,
            every_kind,
            np.zeros(number, np.bool_),
            np.full(number, action),
            streams,
            np.zeros((number, players), np.int64),
            np.full(number, NOTHING),
            returns,
            memory,
            MOST_DECISIONS,
        )
        got[row] = returns[:, seat]
    return got
