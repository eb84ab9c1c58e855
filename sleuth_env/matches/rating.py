"""Judge players by the games they played: win shares with intervals, and the result of a match.

The games of one deal, in all rotations of the seats, are not independent of one another; the deals
are. So everything here counts deals. No number here rates a player apart from the opponents he met.
Axis letters: ``B`` games, ``P`` seats.
"""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

Z_95 = 1.959963984540054


def t_quantile(freedom: int) -> float:
    """Give the 97.5 % point of Student's t (Cornish and Fisher's expansion from 3 degrees of
    freedom on, within 0.5 %).
    """
    if freedom < 3:
        return (math.inf, 12.706204736, 4.302652730)[freedom]
    z = Z_95
    v = float(freedom)
    terms: tuple[float, ...] = (
        (z**3 + z) / 4,
        (5 * z**5 + 16 * z**3 + 3 * z) / 96,
        (3 * z**7 + 19 * z**5 + 17 * z**3 - 15 * z) / 384,
        (79 * z**9 + 776 * z**7 + 1482 * z**5 - 1920 * z**3 - 945 * z) / 92160,
    )
    return z + sum(term / v ** (i + 1) for i, term in enumerate(terms))


def wilson(share: float, number: float, quantile: float = Z_95) -> tuple[float, float]:
    """Give Wilson's interval (1927) for a share seen in a number of independent trials."""
    square = quantile**2 / number
    middle = (share + square / 2) / (1 + square)
    half = math.sqrt(square * (share * (1 - share) + square / 4)) / (1 + square)
    # Rounding must not push an end past the share itself: at 0 and 1 the end is exact.
    return min(max(0.0, middle - half), share), max(min(1.0, middle + half), share)


def share_interval(shares: NDArray[np.float64]) -> tuple[float, float]:
    """Give a 95 % interval for the mean of shares, one a deal (f8 [deals], each from 0 to 1).

    The games of a deal depend on one another, the deals do not. So the spread between deals gives
    the variance of the mean, that an effective number of independent games (Korn and Graubard,
    1998), and that Wilson's interval, with Student's quantile. Two made-up deals, one won in every
    rotation and one in none, count in the spread only: without them a few deals that happen to be
    alike, or a share of 0 or 1, would look certain.
    """
    deals = len(shares)
    spread = np.append(shares, [0.0, 1.0])
    middle = float(spread.mean())
    variance = float(spread.var(ddof=1)) / (deals + 2)
    number = middle * (1 - middle) / variance * deals / (deals + 2)
    return wilson(float(shares.mean()), number, t_quantile(deals))


@dataclass(frozen=True)
class Entry:
    """Say how one entry of the seat list did, all its seats together.

    Args:
        name: as given.
        seats: how many seats it had.
        wins: games won by one of its seats (first place, where more places are played for).
        win_share: wins / games; `win_low` and `win_high` are its 95 % interval (see
            `share_interval`).
        fair_share: seats / players, what it would win if all were equally good and somebody always
            won.
        mean_reward: for each of its seats and games.
        wrong_accusations: in a game, all its seats together.
    """

    name: str
    seats: int
    wins: int
    win_share: float
    win_low: float
    win_high: float
    fair_share: float
    mean_reward: float
    wrong_accusations: float


@dataclass(frozen=True)
class MatchResult:
    """Say how a match went.

    Args:
        game, options, seats, seed: what was played; the same four give the same result.
        deals, rotations, games: every deal was played once in each rotation.
        entries: one for each different player, in the order of the seat list.
        mean_turns: turns in a game.
        mean_turns_won: turns in a game that somebody won; None where nobody ever did.
        nobody_won: share of games without a winner, the truncated ones among them.
        truncated: share of games ended by the turn limit.
        wrong_accusations: in a game, all players together.
    """

    game: str
    options: dict[str, Any]
    seats: tuple[str, ...]
    seed: int
    deals: int
    rotations: int
    games: int
    entries: tuple[Entry, ...]
    mean_turns: float
    mean_turns_won: float | None
    nobody_won: float
    truncated: float
    wrong_accusations: float

    def as_dict(self) -> dict[str, Any]:
        """Give everything as plain values, ready for JSON."""
        return asdict(self)


@dataclass(frozen=True)
class FinishedGames:
    """Hold what is known of games at their end; game ``d * rotations + r`` is deal ``d`` in
    rotation ``r``.

    Args:
        seats: number of the entry in each seat (i4 [B, P]).
        first: who came first (bool [B, P]).
        wrong: who accused wrongly (bool [B, P]).
        rewards: f8 [B, P].
        truncated: bool [B].
        turns: i8 [B].
    """

    seats: NDArray[np.int32]
    first: NDArray[np.bool_]
    wrong: NDArray[np.bool_]
    rewards: NDArray[np.float64]
    truncated: NDArray[np.bool_]
    turns: NDArray[np.int64]

    @classmethod
    def blank(cls, seats: NDArray[np.int32]) -> FinishedGames:
        """Make a record for games with these entries in the seats (i4 [B, P]), to be filled in."""
        first = np.zeros(seats.shape, np.bool_)
        wrong = np.zeros(seats.shape, np.bool_)
        return cls(
            seats, first, wrong, np.zeros(seats.shape), np.zeros(len(seats), np.bool_), np.zeros(len(seats), np.int64)
        )


def sum_up(finished: FinishedGames, names: list[str], **header: Any) -> MatchResult:
    """Make a result of finished games.

    Args:
        finished: all games of the match.
        names: of the entries, in the order of their numbers.
        header: the fields of the result that say what was played.
    """
    won = finished.first.any(axis=1)
    return MatchResult(
        **header,
        entries=tuple(_entry(finished, number, name, header["rotations"]) for number, name in enumerate(names)),
        mean_turns=float(finished.turns.mean()),
        mean_turns_won=float(finished.turns[won].mean()) if won.any() else None,
        nobody_won=float((~won).mean()),
        truncated=float(finished.truncated.mean()),
        wrong_accusations=float(finished.wrong.sum(axis=1).mean()),
    )


def _entry(games: FinishedGames, number: int, name: str, rotations: int) -> Entry:
    mine = games.seats == number
    won = (games.first & mine).any(axis=1)
    low, high = share_interval(won.reshape(-1, rotations).mean(axis=1))
    seats = int(mine[0].sum())
    return Entry(
        name=name,
        seats=seats,
        wins=int(won.sum()),
        win_share=float(won.mean()),
        win_low=low,
        win_high=high,
        fair_share=seats / mine.shape[1],
        mean_reward=float(games.rewards[mine].mean()),
        wrong_accusations=float((games.wrong & mine).sum(axis=1).mean()),
    )
