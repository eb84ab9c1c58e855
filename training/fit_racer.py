"""Fit the bot `racer`'s estimate of its chance to win later: ``python -m training.fit_racer``.

Games are played by one racer among `entropy` bots. At every decision where a racer could risk being
wrong and waits, how the race stands is noted, and whether the racer wins in the end. A logistic
regression on these notes is the next round's estimate; racers that want to take a risk refrain from
it in a share of the cases, so that what waiting would have brought is learned there too. Each fit
replaces the one in the file as soon as it is done.
"""

from __future__ import annotations

import json
import sys
from functools import partial
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np

from sleuth_env import Options, make_bot, sleuth
from sleuth_env.cli.arguments import some, whole
from sleuth_env.files import write_atomically
from sleuth_env.matches.table import Table
from sleuth_env.sleuth.bots import racer
from sleuth_env.sleuth.bots.entropy import CountingBot

from .terminal import Parser, failed, parsed

VARIANTS: dict[str, dict[str, int | bool]] = {
    "base": {},
    "super_sleuth": {"super_sleuth": True},
    "double_interrogation": {"double_interrogation": True},
    "missing": {"missing": 2},
}
MOMENTS = ("offer", "turn")
REFRAINING = 0.3
# A better estimate is of use only where the chance to be right is at least this share of it.
NEAR = 0.5
# The number of imaginary observations that hold a weight at 0, for features of spread 1.
RIDGE = 10.0
NEWTON_STEPS = 25
MOST = 10**9 - 1


class Explorer(racer.Daring):
    """A racer's judgment that now and then waits against itself and notes where it waits."""

    def __init__(self, options: Options, weights: dict[str, np.ndarray]) -> None:
        super().__init__(options, weights)
        self.waited: list[tuple[str, int, np.ndarray]] = []

    def dares(self, moment: str, race: np.ndarray, seeds: np.ndarray) -> np.ndarray:
        """Decide like a racer, but refrain in some cases; note where it waits."""
        chances = race[:, racer.CHANCE]
        prospects = self.prospects(moment, race)
        # Of the seed's bits those that hardly matter elsewhere.
        refrains = (seeds >> np.uint64(32)) % np.uint64(1000) < int(1000 * REFRAINING)
        dares = super().dares(moment, race, seeds) & ~(refrains & (chances < racer.SURE))
        near = (chances > NEAR * prospects) & ~dares
        self.waited += [(moment, int(seeds[row]), race[row]) for row in np.flatnonzero(near)]
        return dares


def play(options: Options, explorer: Explorer, seed: int, num_games: int) -> dict[str, tuple[np.ndarray, np.ndarray]]:
    """Play games of one explorer each.

    Returns:
        For "offer" and "turn" how the race stood where the explorer waited (f8 [N, F]), and whether
        it won (bool [N]).
    """
    rng = np.random.default_rng(seed)
    seats = np.ones((num_games, options.num_players), np.int64)
    seats[np.arange(num_games), rng.integers(0, options.num_players, num_games)] = 0
    bot = CountingBot(options, explorer.final_question, explorer.gem_to_risk)
    table = Table(sleuth, options, num_games, [bot, make_bot("entropy", options)], seats)
    table.deal(np.arange(num_games), rng.integers(0, 2**63, num_games).astype(np.uint64))
    # The game and the seat of each decision, by its seed.
    who: dict[int, tuple[int, int]] = {}
    explorer.waited = []
    while not table.finished.all():
        rows = np.flatnonzero(~table.finished)
        decisions = zip(rows.tolist(), table.actors[rows].tolist(), strict=True)
        who.update(zip(table.decision_seeds(rows).tolist(), decisions, strict=True))
        table.play_round()
    won = table.standings() == 1
    found = {}
    for moment in MOMENTS:
        notes = [(race, won[who[number]]) for at, number, race in explorer.waited if at == moment]
        found[moment] = (np.array([race for race, _ in notes]), np.array([first for _, first in notes]))
    return found


def regress(races: np.ndarray, won: np.ndarray) -> np.ndarray:
    """Fit a logistic regression with a ridge, of which the first feature is free.

    The last weight is -1: the odds against are in proportion to the number of rivals. Against bots
    that are never out it could not be learned.

    Args:
        races: f8 [N, F], see `racer.situations`.
        won: bool [N].

    Returns:
        The weights, f8 [F].
    """
    fitted = races[:, :-1]
    offset = -races[:, -1]
    mean = fitted.mean(axis=0)
    spread = fitted.std(axis=0)
    mean[0] = 0.0
    spread[0] = 1.0
    spread[spread < 1e-9] = np.inf  # what never varies gets no weight
    scaled = (fitted - mean) / spread
    weights = np.zeros(fitted.shape[1])
    ridge = np.full(weights.size, RIDGE)
    ridge[0] = 1e-6
    for _ in range(NEWTON_STEPS):
        chances = 1.0 / (1.0 + np.exp(-offset - scaled @ weights))
        slope = scaled.T @ (won - chances) - ridge * weights
        weights += np.linalg.solve((scaled.T * (chances * (1.0 - chances))) @ scaled + np.diag(ridge), slope)
    found = weights / spread
    found[0] = weights[0] - (found[1:] * mean[1:]).sum()
    return np.append(found, -1.0)


def fit(options: Options, rounds: int, num_games: int, batch: int, seed: int) -> dict[str, np.ndarray] | None:
    """Fit the weights for one kind of game, over some rounds.

    Before the first, waiting is worth a bit more than a fair share. A moment at which nobody waited
    keeps these weights; None where nothing was learned at all.
    """
    weights = {moment: np.zeros(len(racer.FEATURES)) for moment in MOMENTS}
    for first in weights.values():
        first[0] = np.log((options.num_players - 1) / (options.num_players / 1.3 - 1.0))
        first[-1] = -1.0
    learned = set()
    for number in range(rounds):
        explorer = Explorer(options, weights)
        parts = [
            play(options, explorer, seed + 1000 * number + start, min(batch, num_games - start))
            for start in range(0, num_games, batch)
        ]
        for moment in MOMENTS:
            notes = [part[moment] for part in parts if len(part[moment][0])]
            if not notes:
                continue
            races, won = (np.concatenate([note[i] for note in notes]) for i in range(2))
            weights[moment] = regress(races, won)
            learned.add(moment)
            rounded = weights[moment].round(3).tolist()
            print(
                f"  round {number + 1}, {moment}: {len(won)} waits, {won.mean():.3f} won, weights {rounded}", flush=True
            )
    return weights if learned else None


def make_parser() -> Parser:
    """Return the parser of the command line."""
    parser = Parser("python -m training.fit_racer", __doc__.split("\n\n", 1)[1])
    add = partial(parser.add_argument, metavar="VALUE")
    add(
        "--variants",
        type=some(list(VARIANTS)),
        default=list(VARIANTS),
        help=f"some of {', '.join(VARIANTS)} (two missing gems), separated by commas [all]",
    )
    add(
        "--players",
        type=some(["3", "4", "5", "6", "7"]),
        default=["3", "4", "5"],
        help="some of 3 to 7; two missing gems: 3 and 4 only [3,4,5]",
    )
    add("--games", type=whole(1, MOST), default=600, help="games of each round [600]")
    add("--rounds", type=whole(1, MOST), default=2, help="fits, each with games of the one before [2]")
    add("--batch", type=whole(1, MOST), default=200, help="games side by side [200]")
    add("--seed", type=whole(0, MOST), default=1, help="of the deals [1]")
    add(
        "--out",
        type=Path,
        default=racer.OUTLOOKS,
        help="the file to write into [the package's own, which racers play by]",
    )
    return parser


def main(arguments: list[str] | None = None) -> int:
    """Fit the kinds of games that are asked for, write each into the file; return the exit code."""
    try:
        given = SimpleNamespace(**parsed(make_parser(), arguments))
    except ValueError as error:
        return failed(error, 2)
    for variant in given.variants:
        for players in map(int, given.players):
            if variant == "missing" and players > 4:
                continue
            print(f"{variant}, {players} players", flush=True)
            weights = fit(Options(players, **VARIANTS[variant]), given.rounds, given.games, given.batch, given.seed)
            if weights is None:
                print("  nobody waited in too few games, nothing was learned: the file stays as it is")
                continue
            facts = {"games": given.games, "rounds": given.rounds, "batch": given.batch, "seed": given.seed}
            rounded = {moment: [round(float(weight), 4) for weight in values] for moment, values in weights.items()}
            write(given.out, variant, players, facts | rounded)
    return 0


def write(path: Path, variant: str, players: int, entry: dict[str, Any]) -> None:
    """Put one fit into a file, in the place of the one for this kind of game."""
    outlooks = json.loads(path.read_text()) if path.exists() else {}
    outlooks.setdefault(variant, {})[str(players)] = entry
    lines = [
        f'  "{name}": {{\n'
        + ",\n".join(f'    "{number}": {json.dumps(outlooks[name][number])}' for number in sorted(outlooks[name]))
        + "\n  }"
        for name in sorted(outlooks)
    ]
    write_atomically(path, ("{\n" + ",\n".join(lines) + "\n}\n").encode())


if __name__ == "__main__":
    try:
        sys.exit(main())
    except KeyboardInterrupt:
        sys.exit(130)
