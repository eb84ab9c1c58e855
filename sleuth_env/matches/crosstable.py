"""The result of a tournament: what each player won against each other, and how all compare.

Axis letters: ``B`` games, ``P`` seats, ``D`` deals, ``K`` players, ``G`` games of a deal.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..checks import shown
from .match import num_rotations
from .rating import Failure, FinishedGames, share_interval, win_shares
from .schedule import Plan, Shard, games_a_deal, pair_tables, seats_of
from .seating import MatchError
from .strengths import Strength, strengths
from .tournament_file import Played


@dataclass(frozen=True)
class Share:
    """A win share with its 95 % interval, see `share_interval`."""

    share: float
    low: float
    high: float


@dataclass(frozen=True)
class TableResult:
    """How one table of two players went, in all rotations of its seats.

    Args:
        seats: who sat where, before the seats rotated.
        games: number of games.
        win_shares: share of the games that each of the two won, all its copies together.
        mean_rewards: of each of the two, for each of its seats and games.
    """

    seats: tuple[str, ...]
    games: int
    win_shares: tuple[float, float]
    mean_rewards: tuple[float, float]


@dataclass(frozen=True)
class PairResult:
    """How two players did against each other; all shares are the mean of the tables.

    Args:
        players: the two.
        games: number of games, at all tables.
        shares: of the games that each of the two won; equally good players win as much as each
            other.
        nobody_won: share of games without a winner; with `shares` it adds up to 1.
        truncated: share of games ended by the turn limit.
        tables: each table.
    """

    players: tuple[str, str]
    games: int
    shares: tuple[Share, Share]
    nobody_won: float
    truncated: float
    tables: tuple[TableResult, ...]


@dataclass(frozen=True)
class PlayerResult:
    """How one player did.

    Args:
        name: as given.
        rating: see `strengths`; None where choix is not installed.
        against_each: the mean of its shares against each of the others.
        among_all: share of the games that a seat of its won at the tables of all players; None
            where there were none.
        mean_reward: for each of its seats and games, those against each of the others.
    """

    name: str
    rating: Strength | None
    against_each: Share
    among_all: Share | None
    mean_reward: float


@dataclass(frozen=True)
class TournamentResult:
    """How a tournament went.

    Args:
        game, options, seed, greedy: what was played.
        deals: number of deals; each was played at every table.
        games: number of games: those of all pairs, and those at the tables of all players.
        games_of_a_pair, games_of_all: number of games of each two players, and at the tables of all.
        fair_share: what a seat wins among all if all are equally good and somebody always wins.
        players: the best first: by rating, or by `against_each` without ratings.
        pairs: every two players, in the order of `players`.
        failures: of programs that played; where there are any, bots have played for them. Each
            shard of the games starts the programs again.
    """

    game: str
    options: dict[str, Any]
    seed: int
    greedy: bool
    deals: int
    games: int
    games_of_a_pair: int
    games_of_all: int
    fair_share: float
    players: tuple[PlayerResult, ...]
    pairs: tuple[PairResult, ...]
    failures: tuple[Failure, ...] = ()

    def as_dict(self) -> dict[str, Any]:
        """Return everything as plain values, ready for JSON."""
        return asdict(self)

    def share(self, player: str, other: str) -> Share:
        """Return the win share of a player against another one, see `PairResult`.

        Raises:
            MatchError: they did not play against each other.
        """
        for pair in self.pairs if isinstance(player, str) and isinstance(other, str) else ():
            if player != other and {player, other} == set(pair.players):
                return pair.shares[pair.players.index(player)]
        names = ", ".join(dict.fromkeys(name for pair in self.pairs for name in pair.players))
        raise MatchError(f"player and other must be two of {names}, got {shown(player)} and {shown(other)}")


def sum_up_tournament(plan: Plan, game: str, num_deals: int, played: Mapping[Shard, Played]) -> TournamentResult:
    """Sum up the games of a tournament.

    Args:
        plan: of the tournament.
        game: its name.
        num_deals: number of deals.
        played: the games of each pair, and those of all, deal by deal, see `deals_of`.
    """
    num_seats = plan.options.num_players
    of_a_pair, of_all = games_a_deal(len(plan.players), num_seats)
    kinds: list[tuple[int, ...]] = [*plan.pairs, *([()] if of_all else [])]
    games = {pair: _finished(plan, played, pair) for pair in kinds}
    wins = np.sum([_wins(part, num_deals, len(plan.players)) for part in games.values()], axis=0)
    ratings = strengths(wins, plan.seed)
    shares = {pair: _pair_shares(games[pair], pair, num_seats) for pair in plan.pairs}
    players = [
        PlayerResult(
            name=name,
            rating=None if ratings is None else ratings[number],
            against_each=_share(_against_each(shares, number)),
            among_all=_share(_among_all(games[()], num_deals, number)) if of_all else None,
            mean_reward=_mean_reward([games[pair] for pair in plan.pairs if number in pair], number),
        )
        for number, name in enumerate(plan.players)
    ]
    order = sorted(range(len(players)), key=lambda number: _merit(players[number]), reverse=True)
    return TournamentResult(
        game=game,
        options=asdict(plan.options),
        seed=plan.seed,
        greedy=plan.greedy,
        deals=num_deals,
        games=num_deals * (of_a_pair * len(plan.pairs) + of_all),
        games_of_a_pair=num_deals * of_a_pair,
        games_of_all=num_deals * of_all,
        fair_share=1 / num_seats,
        players=tuple(players[number] for number in order),
        pairs=tuple(
            _pair_result(plan, (one, other), games[min(one, other), max(one, other)])
            for at, one in enumerate(order)
            for other in order[at + 1 :]
        ),
        failures=tuple(failure for part in played.values() for failure in part.failures),
    )


def _finished(plan: Plan, played: Mapping[Shard, Played], pair: tuple[int, ...]) -> FinishedGames:
    """Return all games of a pair, or at the tables of all, deal by deal."""
    shards = sorted((shard for shard in played if shard.pair == pair), key=lambda shard: shard.first)
    return FinishedGames(
        seats=np.concatenate([seats_of(plan, shard) for shard in shards]),
        places=np.concatenate([played[shard].places for shard in shards]),
        rewards=np.concatenate([played[shard].rewards for shard in shards]),
        truncated=np.concatenate([played[shard].truncated for shard in shards]),
    )


def _wins(games: FinishedGames, num_deals: int, num_players: int) -> NDArray[np.float64]:
    """Return how often a seat of one player won where one of another sat, see `strengths` (f8 [D, K, K])."""
    own = games.seats[:, :, None] == np.arange(num_players)
    won = (win_shares(games.places)[:, :, None] * own).sum(axis=1)
    wins = won[:, :, None] * own.sum(axis=1)[:, None, :] * (1 - np.eye(num_players))
    total: NDArray[np.float64] = wins.reshape(num_deals, -1, num_players, num_players).sum(axis=1)
    return total


def _slices(num_seats: int) -> list[slice]:
    """Return where the games of each table of a pair lie among those of a deal."""
    ends = np.cumsum([0, *map(num_rotations, pair_tables(num_seats))]).tolist()
    return [slice(start, end) for start, end in pairwise(ends)]


def _means(of_games: NDArray[Any], num_seats: int) -> NDArray[np.float64]:
    """Return the mean of the tables of a pair in each deal (f8 [D]) of numbers of its games ([B])."""
    slices = _slices(num_seats)
    of_deals = of_games.reshape(-1, slices[-1].stop)
    means: NDArray[np.float64] = np.mean([of_deals[:, part].mean(axis=1) for part in slices], axis=0)
    return means


def _pair_shares(games: FinishedGames, pair: tuple[int, ...], num_seats: int) -> dict[int, NDArray[np.float64]]:
    """Return the win share of each of two players in each deal (f8 [D])."""
    won = win_shares(games.places)
    return {number: _means((won * (games.seats == number)).sum(axis=1), num_seats) for number in pair}


def _against_each(shares: Mapping[tuple[int, int], dict[int, NDArray[np.float64]]], number: int) -> NDArray[np.float64]:
    """Return the mean share of a player against all others in each deal (f8 [D])."""
    mean: NDArray[np.float64] = np.mean([of_pair[number] for of_pair in shares.values() if number in of_pair], axis=0)
    return mean


def _among_all(games: FinishedGames, num_deals: int, number: int) -> NDArray[np.float64]:
    """Return the win share of a seat of a player in each deal (f8 [D]), in which it has as many as all others."""
    won = (win_shares(games.places) * (games.seats == number)).reshape(num_deals, -1).sum(axis=1)
    shares: NDArray[np.float64] = won / (games.seats == number).reshape(num_deals, -1).sum(axis=1)
    return shares


def _mean_reward(games: list[FinishedGames], number: int) -> float:
    return float(np.mean(np.concatenate([part.rewards[part.seats == number] for part in games])))


def _share(shares: NDArray[np.float64]) -> Share:
    low, high = share_interval(shares)
    return Share(float(shares.mean()), low, high)


def _merit(player: PlayerResult) -> float:
    return player.against_each.share if player.rating is None else player.rating.rating


def _pair_result(plan: Plan, pair: tuple[int, int], games: FinishedGames) -> PairResult:
    num_seats = plan.options.num_players
    shares = _pair_shares(games, pair, num_seats)
    first, second = (_share(shares[number]) for number in pair)
    won = (games.places == 1).any(axis=1)
    tables = (_table_result(plan, pair, games, part) for part in _slices(num_seats))
    return PairResult(
        players=(plan.players[pair[0]], plan.players[pair[1]]),
        games=len(games.seats),
        shares=(first, second),
        nobody_won=float(_means(~won, num_seats).mean()),
        truncated=float(_means(games.truncated, num_seats).mean()),
        tables=tuple(tables),
    )


def _table_result(plan: Plan, pair: tuple[int, int], games: FinishedGames, part: slice) -> TableResult:
    num_seats = plan.options.num_players
    each = _slices(num_seats)[-1].stop
    seats, won, rewards = (
        numbers.reshape(-1, each, num_seats)[:, part].reshape(-1, num_seats)
        for numbers in (games.seats, win_shares(games.places), games.rewards)
    )
    first, second = (float((won * (seats == number)).sum(axis=1).mean()) for number in pair)
    mean_rewards = (float(rewards[seats == pair[0]].mean()), float(rewards[seats == pair[1]].mean()))
    return TableResult(tuple(plan.players[number] for number in seats[0]), len(seats), (first, second), mean_rewards)
