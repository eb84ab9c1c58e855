"""Fit the bot `racer`'s estimate of its chance to win later: ``python -m training.fit_racer``.

Games are played by one racer among `entropy` bots. At every decision where a racer could risk to be wrong it is noted how the
race stood and, where it waited, whether it won in the end. A logistic regression on that is the next round's estimate; racers that
want to take a risk refrain from it in a share of the cases, so that it is learned what waiting would have brought there too.
The table is written to the package after every fit.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Any

import numpy as np

import sleuth_env.sleuth.racer as racer
from sleuth_env import Options, make_bot, sleuth
from sleuth_env.match import Table

TABLE = Path(racer.__file__).with_name("outlook.json")
VARIANTS: dict[str, dict[str, int | bool]] = {
    "base": {},
    "super_sleuth": {"super_sleuth": True},
    "double_interrogation": {"double_interrogation": True},
    "missing": {"missing": 2},
}
MOMENTS = ("offer", "turn")
REFRAINING = 0.3
# Only where the chance to be right is at least this share of the estimate is it of any use to know better.
NEAR = 0.5
# Ridge: so many imaginary observations hold a weight at 0, for features of spread 1.
RIDGE = 10.0
NEWTON_STEPS = 25


class Explorer(racer.RacerBot):
    """A racer that now and then waits against its judgment and notes every decision."""

    name = "explorer"

    def __init__(self, options: Options, weights: dict[str, np.ndarray]) -> None:
        super().__init__(options, weights)
        self.waited: list[tuple[str, int, np.ndarray]] = []

    def dares(self, moment: str, race: np.ndarray, seeds: np.ndarray) -> np.ndarray:
        """Decide like a racer, but refrain in some cases; note where it waits."""
        chances, prospects = race[:, racer.CHANCE], self.prospects(moment, race)
        # Of the seed's bits those that hardly matter elsewhere.
        refrains = (seeds >> np.uint64(32)) % np.uint64(1000) < int(1000 * REFRAINING)
        dares = super().dares(moment, race, seeds) & ~(refrains & (chances < racer.SURE))
        near = (chances > NEAR * prospects) & ~dares
        self.waited += [(moment, int(seeds[row]), race[row]) for row in np.flatnonzero(near)]
        return dares


def play(options: Options, explorer: Explorer, seed: int, num_games: int) -> dict[str, tuple[np.ndarray, np.ndarray]]:
    """Play games; give for "offer" and "turn" how the race stood (f8 [N, F]) and whether who waited there won (bool [N])."""
    chance = np.random.default_rng(seed)
    seats = np.ones((num_games, options.num_players), np.int64)
    seats[np.arange(num_games), chance.integers(0, options.num_players, num_games)] = 0
    table = Table(sleuth, options, num_games, [explorer, make_bot("entropy", options)], seats)
    table.deal(np.arange(num_games), chance.integers(0, 2**63, num_games).astype(np.uint64))
    who: dict[int, tuple[int, int]] = {}
    explorer.waited = []
    while not table.finished.all():
        rows = np.flatnonzero(~table.finished)
        who.update(zip(table.decision_seeds(rows).tolist(), zip(rows.tolist(), table.actors[rows].tolist(), strict=True), strict=True))
        table.play_round()
    won = table.states["place"] == 1
    notes = {moment: [(race, won[who[number]]) for at, number, race in explorer.waited if at == moment] for moment in MOMENTS}
    return {moment: (np.array([race for race, _ in some]), np.array([won for _, won in some])) for moment, some in notes.items()}


def regress(races: np.ndarray, won: np.ndarray) -> np.ndarray:
    """Fit a logistic regression with a ridge, of which the first feature is free; gives the weights, f8 [F].

    The last weight is -1: the odds against are in proportion to the number of rivals. Against bots that are never out it could not be learned.
    """
    fitted, offset = races[:, :-1], -races[:, -1]
    mean, spread = fitted.mean(axis=0), fitted.std(axis=0)
    mean[0], spread[0] = 0.0, 1.0
    spread[spread < 1e-9] = np.inf  # what never varies gets no weight
    scaled, weights = (fitted - mean) / spread, np.zeros(fitted.shape[1])
    ridge = np.full(weights.size, RIDGE)
    ridge[0] = 1e-6
    for _ in range(NEWTON_STEPS):
        chances = 1.0 / (1.0 + np.exp(-offset - scaled @ weights))
        slope = scaled.T @ (won - chances) - ridge * weights
        weights += np.linalg.solve((scaled.T * (chances * (1.0 - chances))) @ scaled + np.diag(ridge), slope)
    found = weights / spread
    found[0] = weights[0] - (found[1:] * mean[1:]).sum()
    return np.append(found, -1.0)


def fit(options: Options, rounds: int, num_games: int, batch: int, seed: int) -> dict[str, np.ndarray]:
    """Fit the weights for one kind of game, over some rounds; before the first, waiting is worth a bit more than a fair share."""
    weights = {moment: np.zeros(len(racer.FEATURES)) for moment in MOMENTS}
    for first in weights.values():
        first[0], first[-1] = np.log((options.num_players - 1) / (options.num_players / 1.3 - 1.0)), -1.0
    for number in range(rounds):
        explorer = Explorer(options, weights)
        parts = [play(options, explorer, seed + 1000 * number + start, min(batch, num_games - start)) for start in range(0, num_games, batch)]
        for moment in MOMENTS:
            notes = [part[moment] for part in parts if len(part[moment][0])]
            if not notes:
                continue
            races, won = (np.concatenate([note[i] for note in notes]) for i in range(2))
            weights[moment] = regress(races, won)
            print(f"  round {number + 1}, {moment}: {len(won)} waits, {won.mean():.3f} won, weights {weights[moment].round(3).tolist()}", flush=True)
    return weights


def main() -> None:
    """Fit the kinds of games that are asked for, and write each into the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--variants", default=",".join(VARIANTS), help="separated by commas")
    parser.add_argument("--players", default="3,4,5", help="separated by commas; missing: 3 and 4 only")
    parser.add_argument("--games", type=int, default=600, help="games of each round")
    parser.add_argument("--rounds", type=int, default=2)
    parser.add_argument("--batch", type=int, default=200, help="games at once")
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args()
    for variant in given.variants.split(","):
        for players in map(int, given.players.split(",")):
            if variant == "missing" and players > 4:
                continue
            print(f"{variant}, {players} players", flush=True)
            weights = fit(Options(players, **VARIANTS[variant]), given.rounds, given.games, given.batch, given.seed)
            facts = {"games": given.games, "rounds": given.rounds, "batch": given.batch, "seed": given.seed}
            write(variant, players, facts | {moment: [round(float(weight), 4) for weight in some] for moment, some in weights.items()})


def write(variant: str, players: int, entry: dict[str, Any]) -> None:
    """Put one fit into the table."""
    table = json.loads(TABLE.read_text()) if TABLE.exists() else {}
    table.setdefault(variant, {})[str(players)] = entry
    lines = [
        f'  "{name}": {{\n' + ",\n".join(f'    "{number}": {json.dumps(table[name][number])}' for number in sorted(table[name])) + "\n  }"
        for name in sorted(table)
    ]
    TABLE.write_text("{\n" + ",\n".join(lines) + "\n}\n")


if __name__ == "__main__":
    main()
