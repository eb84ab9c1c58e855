"""Print how what a decision costs grows with the players, with the games in a batch, and with what has been said.

    python benchmarks/growth.py [--game sleuth] [--seconds 0.5] [--repeat 5]

On one thread. The first two tables are in decisions a second; see `throughput.py` for how they are
counted. The third is of the games of `cautious` bots, by the number of questions that have been
answered: microseconds of a view, of an observation written for the first time and of one that is
written again after one more decision, and of an exact belief with all its Python. It is printed for
Sleuth alone: in the other game all that is concluded is part of the rules.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from statistics import median
from typing import Any

import numpy as np
from throughput import GAMES, Chooser, Clock, Faces, play_rules, play_solo, play_vector

from sleuth_env import sleuth
from sleuth_env.cli.arguments import real, whole
from sleuth_env.game import kernels_of
from sleuth_env.matches.table import Table

BATCHES = (16, 64, 256, 1024, 4096)
BATCH = 256
PLAYERS = 4
QUESTIONS = (0, 5, 10, 20, 40, 60)
# Games in which what has been said is looked at, and views of which the exact belief is formed.
LOOKED_AT = 256
BELIEVED = 20


def ways(faces: Faces, players: int, games: int) -> dict[str, Callable[[], Callable[[float], Clock]]]:
    """Return ways to play, by their names."""
    bot = faces.game.DEFAULT_BOT
    return {
        "rules only": lambda: play_rules(faces, players, games),
        f"{faces.vector.__name__}, sheet": lambda: play_vector(faces, players, games, 1, "sheet"),
        f"SoloVectorEnv, {bot}": lambda: play_solo(
            faces.module.SoloVectorEnv(games, num_players=players, opponents=bot),
            Chooser(faces, players, bool(faces.last)),
        ),
    }


def speeds(makers: dict[Any, dict[str, Callable[[], Callable[[float], Clock]]]], seconds: float, repeat: int) -> Any:
    """Return the median decisions a second of each way, by name and column; all are measured in turns."""
    plays = {(name, column): make() for column, ways_of in makers.items() for name, make in ways_of.items()}
    found: dict[Any, list[float]] = {key: [] for key in plays}
    for turn in range(repeat + 1):
        for key, play in plays.items():
            clock = play(seconds if turn else 0.05)
            # The first turn compiles and warms up.
            if turn:
                found[key].append(clock.steps / clock.spent)
    return {key: median(values) for key, values in found.items()}


def print_speeds(title: str, makers: dict[Any, Any], seconds: float, repeat: int) -> None:
    found = speeds(makers, seconds, repeat)
    print(f"\n{title:32s}" + "".join(f"{column:>13,}" for column in makers))
    for name in dict.fromkeys(name for name, _ in found):
        print(f"{name:32s}" + "".join(f"{found[name, column]:13,.0f}" for column in makers))


def microseconds(repeat: int, number: int, work: Callable[..., Any], *arguments: Any) -> float:
    """Return the median time of some work by the number of things that it is done to; the first time warms up."""
    times = []
    for _ in range(repeat + 1):
        began = time.perf_counter()
        work(*arguments)
        times.append(time.perf_counter() - began)
    return 1e6 * median(times[1:]) / number


def believe(rules: np.ndarray, views: np.ndarray) -> None:
    for row in range(len(views)):
        sleuth.belief(rules, views[row : row + 1])


def costs(table: Table, going: np.ndarray, repeat: int) -> list[float]:
    """Return the microseconds of a view, of an observation, of one that is written again, and of a belief.

    They are of the first seat in games that are ``going`` on (i8 [K]), of which some rounds are played.
    """
    kernels = kernels_of(sleuth)
    seats = np.zeros(len(going), np.int64)
    states = table.states[going]
    views = np.zeros(len(going), sleuth.VIEW)
    found = [microseconds(repeat, len(going), kernels.view, table.rules, states, seats, views)]
    observer = sleuth.Observer(table.rules, views, "sheet")
    out = np.zeros((len(going), observer.layout.size), np.float32)
    found.append(microseconds(repeat, len(going), observer.write, out))
    believed = microseconds(1, min(BELIEVED, len(going)), believe, table.rules, views[:BELIEVED].copy())
    observer.remember()
    again = []
    for _ in range(repeat + 1):
        table.play_round()
        kernels.view(table.rules, table.states[going], seats, views)
        began = time.perf_counter()
        observer.write(out)
        again.append(1e6 * (time.perf_counter() - began) / len(going))
    return [*found, median(again[1:]), believed]


def print_log(repeat: int) -> None:
    """Print what views, observations and beliefs cost by the number of questions that have been answered."""
    options = sleuth.Options(num_players=PLAYERS)
    table = Table(sleuth, options, LOOKED_AT, [sleuth.make_bot("cautious", options)], 0)
    table.deal(range(LOOKED_AT), range(LOOKED_AT))
    print(f"\n{'microseconds, 4 players':32s}{'view':>10}{'observed':>10}{'again':>10}{'belief':>10}{'games':>8}")
    for number in QUESTIONS:
        going = np.flatnonzero(~table.finished)
        while len(going) and answered(table, going) < number:
            table.play_round()
            going = np.flatnonzero(~table.finished)
        if not len(going):
            return
        figures = "".join(f"{figure:10,.2f}" for figure in costs(table, going, repeat))
        print(f"{f'after {number} questions':32s}{figures}{len(going):8}")


def answered(table: Table, games: np.ndarray) -> float:
    """Return how many different questions have been answered in some games (i8 [K]) on average."""
    told = table.views(games, 0)["told"].astype(np.uint64)
    return float(np.bitwise_count(told).sum(axis=1).mean())


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--game", choices=GAMES, default="sleuth")
    parser.add_argument("--seconds", type=real(0.001, 3600), default=0.5)
    parser.add_argument("--repeat", type=whole(1, 1000), default=5)
    args = parser.parse_args()
    faces = GAMES[args.game]
    fewest, most = (3, 7) if args.game == "sleuth" else (3, 8)
    players = {number: ways(faces, number, BATCH) for number in range(fewest, most + 1)}
    print_speeds(f"{args.game}, {BATCH} games, by players", players, args.seconds, args.repeat)
    batches = {number: ways(faces, PLAYERS, number) for number in BATCHES}
    print_speeds(f"{args.game}, {PLAYERS} players, by games", batches, args.seconds, args.repeat)
    if args.game == "sleuth":
        print_log(args.repeat)


if __name__ == "__main__":
    main()
