"""Judge players by the games they played: win shares with intervals, and the result of a match.

The games of one deal, in all rotations of the seats, are not independent of one another; the deals
are. So everything here counts deals. No number here rates a player apart from the opponents it met.
Axis letters: ``B`` games, ``P`` seats.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

Z_95 = 1.959963984540054


def t_quantile(freedom: int) -> float:
    """Return the 97.5 % point of Student's t.

    From 3 degrees of freedom on it is Cornish and Fisher's expansion, within 0.5 %.
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
    """Return Wilson's interval (1927) for a share seen in a number of independent trials."""
    square = quantile**2 / number
    middle = (share + square / 2) / (1 + square)
    half = math.sqrt(square * (share * (1 - share) + square / 4)) / (1 + square)
    # Rounding must not push an end past the share itself: at 0 and 1 the end is exact.
    return min(max(0.0, middle - half), share), max(min(1.0, middle + half), share)


def share_interval(shares: NDArray[np.float64]) -> tuple[float, float]:
    """Return a 95 % interval for the mean of shares, one a deal (f8 [deals], each from 0 to 1).

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
    """How one entry of the seat list did, all its seats together.

    Args:
        name: as given.
        seats: number of its seats.
        wins: games won by one of its seats (first place, where more places are played for); a tie
            for the first place is shared.
        win_share: wins / games; `win_low` and `win_high` are its 95 % interval (see
            `share_interval`).
        fair_share: seats / players, what it would win if all were equally good and somebody always
            won.
        mean_reward: for each of its seats and games.
        counts: what the game counts for each seat, by name: the mean of a game, all its seats together.
    """

    name: str
    seats: int
    wins: float
    win_share: float
    win_low: float
    win_high: float
    fair_share: float
    mean_reward: float
    counts: dict[str, float]


@dataclass(frozen=True)
class Failure:
    """How a program has failed that played a seat (see docs/protocol.md).

    Args:
        player: its name.
        seat: that it played; it has a process for each.
        reason: what it did.
        answered: number of decisions that it had taken, in all games in which it sat there.
        stand_in: the bot that played the seat from then on.
        replaced: number of decisions that this bot took.
    """

    player: str
    seat: int
    reason: str
    answered: int
    stand_in: str
    replaced: int


@dataclass(frozen=True)
class MatchResult:
    """How a match went.

    Args:
        game, options, seats, seed: what was played; the same four give the same result.
        deals, rotations, games: every deal was played once in each rotation.
        entries: one for each different player, in the order of the seat list.
        nobody_won: share of games without a winner, the truncated ones among them.
        truncated: share of games ended by the turn limit.
        counts: what the game counts, by name: the mean of a game, all players together.
        counts_won: the same of the games that somebody won; None where nobody ever did.
        failures: of programs that played; where there are any, bots have played for them.
    """

    game: str
    options: dict[str, Any]
    seats: tuple[str, ...]
    seed: int
    deals: int
    rotations: int
    games: int
    entries: tuple[Entry, ...]
    nobody_won: float
    truncated: float
    counts: dict[str, float]
    counts_won: dict[str, float] | None
    failures: tuple[Failure, ...] = ()

    def as_dict(self) -> dict[str, Any]:
        """Return everything as plain values, ready for JSON."""
        return asdict(self)


def win_shares(places: NDArray[np.int32]) -> NDArray[np.float64]:
    """Return the share of the win that each seat has (f8 [B, P]) by the places (i4 [B, P]): a tie is shared.

    >>> win_shares(np.array([[2, 1, 0], [1, 3, 1], [0, 0, 0]]))
    array([[0. , 1. , 0. ],
           [0.5, 0. , 0.5],
           [0. , 0. , 0. ]])
    """
    first = places == 1
    shares: NDArray[np.float64] = first / np.maximum(first.sum(axis=1, keepdims=True), 1)
    return shares


@dataclass(frozen=True)
class FinishedGames:
    """What is known of games at their end; game ``d * rotations + r`` is deal ``d`` in rotation ``r``.

    Args:
        seats: number of the entry in each seat (i4 [B, P]).
        places: i4 [B, P], see `Game.standings`.
        rewards: f8 [B, P].
        truncated: bool [B].
        counts: what the game counts, by name: of each game ([B]) or seat ([B, P]).
        failures: of programs that played.
        texts: the games as texts, [B]; [] where nobody wants them.
    """

    seats: NDArray[np.int32]
    places: NDArray[np.int32]
    rewards: NDArray[np.float64]
    truncated: NDArray[np.bool_]
    counts: dict[str, NDArray[np.float64]] = field(default_factory=dict)
    failures: list[Failure] = field(default_factory=list)
    texts: list[str] = field(default_factory=list)

    ARRAYS: ClassVar = ("seats", "places", "rewards", "truncated")

    @classmethod
    def blank(cls, seats: NDArray[np.int32]) -> FinishedGames:
        """Return a record for games with these entries in the seats (i4 [B, P]), to be filled in."""
        places = np.zeros(seats.shape, np.int32)
        return cls(seats, places, np.zeros(seats.shape), np.zeros(len(seats), np.bool_))

    @classmethod
    def joined(cls, parts: Sequence[FinishedGames]) -> FinishedGames:
        """Put games behind one another."""
        arrays: dict[str, Any] = {name: np.concatenate([getattr(part, name) for part in parts]) for name in cls.ARRAYS}
        counts = {name: np.concatenate([part.counts[name] for part in parts]) for name in parts[0].counts}
        return cls(**arrays, counts=counts, failures=[failure for part in parts for failure in part.failures])

    @property
    def size(self) -> int:
        """Bytes of the arrays, but for what is counted."""
        return sum(getattr(self, name).nbytes for name in self.ARRAYS)

    def note_counts(self, at: NDArray[np.int64], counts: Mapping[str, NDArray[Any]]) -> None:
        """Enter what the game counted in some games (int [K])."""
        for name, numbers in counts.items():
            blank = np.zeros((len(self.seats), *numbers.shape[1:]))
            self.counts.setdefault(name, blank)[at] = numbers


def sum_up(finished: FinishedGames, names: list[str], **header: Any) -> MatchResult:
    """Return the result of finished games.

    Args:
        finished: all games of the match.
        names: of the entries, in the order of their numbers.
        header: the fields of the result that say what was played.
    """
    shares = win_shares(finished.places)
    won = shares.max(axis=1) > 0
    counted = {name: numbers.reshape(len(won), -1).sum(axis=1) for name, numbers in finished.counts.items()}
    return MatchResult(
        **header,
        entries=tuple(_entry(finished, shares, number, name, header["rotations"]) for number, name in enumerate(names)),
        nobody_won=float((~won).mean()),
        truncated=float(finished.truncated.mean()),
        counts={name: float(numbers.mean()) for name, numbers in counted.items()},
        counts_won={name: float(numbers[won].mean()) for name, numbers in counted.items()} if won.any() else None,
        failures=tuple(finished.failures),
    )


def _entry(games: FinishedGames, shares: NDArray[np.float64], number: int, name: str, rotations: int) -> Entry:
    mine = games.seats == number
    won = (shares * mine).sum(axis=1)
    low, high = share_interval(won.reshape(-1, rotations).mean(axis=1))
    seats = int(mine[0].sum())
    of_seats = {name: numbers for name, numbers in games.counts.items() if numbers.ndim == 2}
    return Entry(
        name=name,
        seats=seats,
        wins=float(won.sum()),
        win_share=float(won.mean()),
        win_low=low,
        win_high=high,
        fair_share=seats / mine.shape[1],
        mean_reward=float(games.rewards[mine].mean()),
        counts={name: float((numbers * mine).sum(axis=1).mean()) for name, numbers in of_seats.items()},
    )
