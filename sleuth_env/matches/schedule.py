"""Who plays whom in a tournament: its tables, and the shards in which they are played.

Axis letters: ``B`` games, ``P`` seats, ``K`` players.
"""

from __future__ import annotations

from collections.abc import Container, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..bits import GAMMA, mixed_rows
from .match import num_rotations

# The games of a shard, roughly, or those of one deal: enough for a batch, and not too many to play
# again where the work was interrupted.
GAMES_A_SHARD = 64


@dataclass(frozen=True)
class Plan:
    """What settles every game of a tournament but the number of deals.

    Args:
        module: the full name of the game module.
        options: of the game.
        players: their names.
        digests: hash of the file that each is read from, of a program those of all; empty where
            there is none, and for programs where no games are kept.
        seed: settles the deals, the circles and the bots' random choices.
        greedy: see `make_players`.
        allow_pickle: see `make_player`.
    """

    module: str
    options: Any
    players: tuple[str, ...]
    digests: tuple[str, ...]
    seed: int
    greedy: bool
    allow_pickle: bool

    @property
    def pairs(self) -> list[tuple[int, int]]:
        """Every two players by their numbers."""
        return list(combinations(range(len(self.players)), 2))


@dataclass(frozen=True)
class Shard:
    """Games that are played together.

    Args:
        pair: the numbers of the two players; empty for the tables of all players.
        first, end: the deals, `end` not among them.
    """

    pair: tuple[int, ...]
    first: int
    end: int


def pair_tables(num_seats: int) -> list[list[int]]:
    """Return who of two players, 0 and 1, has which seat, at each table of a pair.

    >>> pair_tables(4)
    [[1, 1, 1, 0], [1, 0, 1, 0], [1, 0, 0, 0]]
    """
    halves = num_seats // 2, num_seats - num_seats // 2
    # The copies are spread as evenly as can be.
    return [
        [int((seat + 1) * copies // num_seats == seat * copies // num_seats) for seat in range(num_seats)]
        for copies in sorted({1, *halves, num_seats - 1})
    ]


def games_a_deal(num_players: int, num_seats: int) -> tuple[int, int]:
    """Return how many games of a deal each pair plays, and how many are at the tables of all players.

    >>> games_a_deal(num_players=5, num_seats=4)
    (10, 10)
    """
    of_a_pair = sum(num_rotations(table) for table in pair_tables(num_seats))
    # The tables of two players are those of a pair already.
    return of_a_pair, 2 * num_players if num_players > 2 else 0


def make_shards(plan: Plan, num_deals: int, played: Container[Shard] = ()) -> list[Shard]:
    """Return the shards of a tournament that are to be played, those of early deals first.

    Args:
        plan: of the tournament.
        num_deals: number of deals.
        played: what is not, a deal each, see `deals_of`.
    """
    of_a_pair, of_all = games_a_deal(len(plan.players), plan.options.num_players)
    kinds: list[tuple[tuple[int, ...], int]] = [(pair, of_a_pair) for pair in plan.pairs]
    if of_all:
        kinds.append(((), of_all))
    shards = []
    for pair, games in kinds:
        deals = max(1, GAMES_A_SHARD // games)
        for first in range(0, num_deals, deals):
            whole = Shard(pair, first, min(first + deals, num_deals))
            missing = [part for part in deals_of(whole) if part not in played]
            if missing:
                shards.append(Shard(pair, missing[0].first, missing[-1].end))
    return sorted(shards, key=lambda shard: shard.first)


def deals_of(shard: Shard) -> list[Shard]:
    """Return the deals of a shard as shards of their own."""
    return [Shard(shard.pair, deal, deal + 1) for deal in range(shard.first, shard.end)]


def seats_of(plan: Plan, shard: Shard) -> NDArray[np.int32]:
    """Return the number of the player in each seat of a shard's games, deal by deal (i4 [B, P])."""
    num_seats = plan.options.num_players
    deals = range(shard.first, shard.end)
    if not shard.pair:
        return np.concatenate([_circles(len(plan.players), num_seats, plan.seed, deal) for deal in deals])
    tables = np.concatenate([_rotated(table) for table in pair_tables(num_seats)])
    return np.tile(np.array(shard.pair, np.int32)[tables], (len(deals), 1))


def _rotated(table: Sequence[int]) -> NDArray[np.int64]:
    """Return a table in all rotations that differ (i8 [rotations, P])."""
    return np.array([np.roll(table, rotation) for rotation in range(num_rotations(table))])


def _circles(num_players: int, num_seats: int, seed: int, deal: int) -> NDArray[np.int32]:
    """Return the tables of all players in a deal (i4 [2 * K, P])."""
    # Not of the stream that the deals' seeds come from.
    start = mixed_rows(~mixed_rows(np.array([seed], np.uint64)) + np.array([deal], np.uint64) * GAMMA)
    circle = np.argsort(mixed_rows(start + np.arange(num_players, dtype=np.uint64) * GAMMA), kind="stable")
    places = (np.arange(num_players)[:, None] + np.arange(num_seats)) % num_players
    return np.concatenate([circle[places], circle[::-1][places]]).astype(np.int32)
