"""Compare ways to rate players by games at tables of several, and print how well each does.

    python benchmarks/ratings.py [--repeats 100] [--deals 3,10,30] [--truth 3000] [--seats 4] [--luck 1]
                                 [--ways choix,plain,openskill,share]

Tournaments are made up: five players, one of them hardly ever winning, at the tables of `sleuth
tournament`; every seat wins in proportion to the strength of its player and to the luck of the
seat in the deal, so that the games of a deal depend on each other. Compared are

- choix: choix with a bootstrap over deals, as `sleuth tournament` does it;
- plain: the same without its made-up deal;
- openskill: its Plackett-Luce, which goes through the games one by one, 1.96 sigma to each side;
- share: the win share at the tables of all players, with the intervals of `sleuth match`.

Printed are: the share of intervals that hold the truth, over all players but the weak one, and of
that one (95 % is meant; the truth is what the same way finds in as many deals as ``--truth`` says);
the share of pairs that are ordered rightly; by how much a rating moves where the same games come in
another order, as a share of the interval's width; and CPU seconds of a tournament. openskill is
left out where it is not installed (``pip install -e ".[bench]"``).
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable
from importlib.util import find_spec
from itertools import combinations
from typing import Any
from unittest.mock import patch

import numpy as np
from numpy.typing import NDArray
from rich.console import Console
from rich.table import Table

from sleuth_env.cli.arguments import real, some, whole
from sleuth_env.matches import strengths as by_choix
from sleuth_env.matches.rating import share_interval
from sleuth_env.matches.schedule import Plan, Shard, seats_of
from sleuth_env.sleuth import Options

# Natural logarithms of the strengths.
STRENGTHS = np.array([-6.0, -0.6, 0.0, 0.35, 0.5])
Z_95 = 1.96

# The middle, and both ends of the intervals, one a player.
Judged = tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]


class Games:
    """The games of a made-up tournament.

    Args:
        deals: number of deals.
        num_seats: of a table.
        luck: the standard deviation of what a seat's deal adds to the logarithm of a strength.
        seed: settles everything.
    """

    def __init__(self, deals: int, num_seats: int, luck: float, seed: int) -> None:
        rng = np.random.default_rng(seed)
        names = tuple(map(str, range(len(STRENGTHS))))
        plan = Plan("", Options(num_players=num_seats), names, ("",) * len(names), seed, False, False)
        of_pairs = np.concatenate([seats_of(plan, Shard(pair, 0, 1)) for pair in plan.pairs])
        self.deals = deals
        self.of_pairs = len(of_pairs)
        # Axes: deal, game of the deal, seat.
        self.seats = np.stack(
            [np.concatenate([of_pairs, seats_of(plan, Shard((), deal, deal + 1))]) for deal in range(deals)]
        )
        chances = STRENGTHS[self.seats] + rng.normal(0, luck, (deals, 1, num_seats))
        self.winning_seats = (chances + rng.gumbel(size=chances.shape)).argmax(axis=2)
        self.winners = np.take_along_axis(self.seats, self.winning_seats[:, :, None], axis=2)[:, :, 0]
        self.rng = rng

    def wins(self) -> NDArray[np.float64]:
        """Return how often a seat of one player won where one of another sat (f8 [D, K, K])."""
        players = np.arange(len(STRENGTHS))
        sitting = (self.seats[:, :, :, None] == players).sum(axis=2)
        won = self.winners[:, :, None] == players
        return np.einsum("dgi,dgj->dij", won.astype(float), sitting.astype(float)) * (1 - np.eye(len(players)))


def choix_with(made_up: bool) -> Callable[[Games], Judged]:
    """Return the way of `sleuth tournament`, or the same whose made-up deal is in every resample."""

    def judge(games: Games) -> Judged:
        """Rate the players of a tournament."""
        wins = games.wins()
        if made_up:
            rated = by_choix.strengths(wins, 0)
        else:
            with patch.object(by_choix, "drawn_deals", every_deal):
                rated = by_choix.strengths(wins, 0)
        assert rated is not None
        middle, low, high = np.array([[one.rating, one.low, one.high] for one in rated]).T
        return middle, low, high

    return judge


def every_deal(deals: int, rng: np.random.Generator) -> NDArray[np.float64]:
    """Draw as `strengths.drawn_deals`, with the made-up deal always once besides."""
    drawn = rng.multinomial(deals, np.full(deals, 1 / deals), by_choix.RESAMPLES)
    return np.column_stack([drawn, np.ones(len(drawn))])


def openskill(games: Games) -> Judged:
    """Rate by openskill's Plackett-Luce, the games in any order."""
    from openskill.models import PlackettLuce

    model = PlackettLuce()
    ratings = [model.rating() for _ in STRENGTHS]
    order = games.rng.permutation(games.winners.size)
    seats = games.seats.reshape(-1, games.seats.shape[2])[order]
    winning = games.winning_seats.ravel()[order]
    for table, winner in zip(seats.tolist(), winning.tolist(), strict=True):
        # A rating that sits twice is updated by the mean of both.
        ranks = [1 if seat == winner else 2 for seat in range(len(table))]
        found = model.rate([[ratings[number]] for number in table], ranks=ranks)
        for number in set(table):
            copies = [team[0] for team, other in zip(found, table, strict=True) if other == number]
            mu, sigma = (float(np.mean([getattr(copy, name) for copy in copies])) for name in ("mu", "sigma"))
            ratings[number] = model.rating(mu=mu, sigma=sigma)
    middle = np.array([rating.mu for rating in ratings])
    spread = Z_95 * np.array([rating.sigma for rating in ratings])
    return middle, middle - spread, middle + spread


def win_share(games: Games) -> Judged:
    """Rate by the win share of a seat at the tables of all players."""
    winners = games.winners[:, games.of_pairs :]
    seats = games.seats[:, games.of_pairs :].reshape(games.deals, -1)
    shares = [(winners == number).sum(axis=1) / (seats == number).sum(axis=1) for number in range(len(STRENGTHS))]
    intervals = np.array([share_interval(one) for one in shares])
    return np.mean(shares, axis=1), intervals[:, 0], intervals[:, 1]


WAYS: dict[str, Callable[[Games], Judged]] = {
    "choix": choix_with(made_up=True),
    "plain": choix_with(made_up=False),
    "openskill": openskill,
    "share": win_share,
}


def measured(judge: Callable[[Games], Judged], deals: int, args: argparse.Namespace, truth: Any) -> list[str]:
    """Return a row of the table."""
    holds = []
    ordered = []
    moved = []
    seconds = 0.0
    for repeat in range(args.repeats):
        games = Games(deals, args.seats, args.luck, 1 + repeat)
        start = time.process_time()
        middle, low, high = judge(games)
        seconds += time.process_time() - start
        holds.append((low <= truth) & (truth <= high))
        ordered += [(middle[one] < middle[other]) for one, other in combinations(range(len(STRENGTHS)), 2)]
        if judge is openskill:
            moved.append(abs(judge(games)[0] - middle).mean() / (high - low).mean())
    weak, *others = np.mean(holds, axis=0)
    return [
        f"{100 * np.mean(others):.0f} %",
        f"{100 * weak:.0f} %",
        f"{100 * np.mean(ordered):.0f} %",
        f"{100 * np.mean(moved):.0f} %" if moved else "0",
        f"{seconds / args.repeats:.2f}",
    ]


def numbers(text: str) -> list[int]:
    """Read whole numbers separated by commas."""
    return [whole(2, 100_000)(word) for word in text.split(",")]


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(
        description=__doc__, allow_abbrev=False, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--repeats", type=whole(1, 100_000), default=100)
    parser.add_argument("--deals", type=numbers, default=[3, 10, 30])
    parser.add_argument("--seats", type=whole(3, 7), default=4)
    parser.add_argument("--luck", type=real(0, 10), default=1.0)
    parser.add_argument("--truth", type=whole(100, 10**6), default=3000)
    parser.add_argument("--ways", type=some(tuple(WAYS)), default=list(WAYS))
    args = parser.parse_args()
    if find_spec("choix") is None:
        sys.exit('choix is not installed: pip install "sleuth-env[tournament]"')
    true_games = Games(args.truth, args.seats, args.luck, 0)
    table = Table("way", "deals", "hold the truth", "of the weak", "pairs ordered", "moved by order", "seconds")
    for way in args.ways:
        if way == "openskill" and find_spec("openskill") is None:
            continue
        truth = WAYS[way](true_games)[0]
        for deals in args.deals:
            table.add_row(way, str(deals), *measured(WAYS[way], deals, args, truth))
    Console().print(table)


if __name__ == "__main__":
    main()
