"""Print how long the deduction sheet takes and how much it finds, and how long a bot's move takes.

The figures are given for each level of the sheet's rules. The positions are all decisions of games
in which every seat asks like the bot `sheet` and nobody ever accuses or asks a final question, so
that the games go on after the case is solved. Times are medians over blocks of positions.
"""

from __future__ import annotations

import argparse
import statistics
import sys
import time
from collections.abc import Callable

import numpy as np

import sleuth_env.sleuth as sleuth
from sleuth_env.cli.arguments import whole
from sleuth_env.deduction.evidence import EVIDENCE
from sleuth_env.deduction.sheet import LEVEL, SHEET, propagate
from sleuth_env.matches.match import play_match
from sleuth_env.sleuth.clues import clues
from sleuth_env.sleuth.state import TURN

# By number of players: turns after which about half of them have solved the case.
TURNS = {3: 25, 4: 38, 5: 50, 6: 60, 7: 80}
BLOCK = 256
HEADER = """\
          positions |  us an update, level | whole, one | solved %, level    | us a move
players             |    1      2      3   | at a time  |   1      2      3  | cautious  sheet"""


class Patient:
    """A bot that asks like `sheet`, never accuses or ends a game, and keeps what it sees."""

    name = "patient"

    def __init__(self, options: sleuth.Options) -> None:
        self.rules = sleuth.make_rules(options)[0]
        self.bot = sleuth.make_bot("sheet", options)
        self.views: list[np.ndarray] = []
        self.legal: list[np.ndarray] = []

    def act(self, views: np.ndarray, legal: np.ndarray, seeds: np.ndarray) -> np.ndarray:
        """Choose among the actions that are neither accusations nor final questions."""
        quiet = legal.copy()
        quiet[:, self.rules["final_at"] : self.rules["exchange_at"]] = 0
        quiet[:, self.rules["accuse_at"] : self.rules["pass_at"]] = 0
        self.views.append(views.copy())
        self.legal.append(legal.copy())
        return self.bot.act(views, quiet, seeds)


def median_us(work: Callable[[slice], object], size: int, block: int = BLOCK) -> float:
    """Return the median time of some work on blocks of positions, in microseconds a position."""
    blocks = [slice(at, at + block) for at in range(0, size - block + 1, block)]
    seconds = []
    for part in blocks:
        began = time.perf_counter()
        work(part)
        seconds.append((time.perf_counter() - began) / block)
    return statistics.median(seconds) * 1e6


def played(options: sleuth.Options, games: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Play games; return the views of all decisions in a random order, and what was legal.

    Returns:
        VIEW [B] and u1 [B, A].
    """
    patient = Patient(options)
    play_match(sleuth, options, [patient] * options.num_players, games, seed)
    views = np.concatenate(patient.views)
    legal = np.concatenate(patient.legal)
    order = np.random.default_rng(seed).permutation(views.size)
    return views[order], legal[order]


def sheet_figures(options: sleuth.Options, views: np.ndarray) -> tuple[list[float], float, list[float]]:
    """Measure the sheet on some views.

    Returns:
        Microseconds an update by level, microseconds for one view at a time, and the share of
        positions solved by level, in per cent.
    """
    evidence = np.zeros(views.size, EVIDENCE)
    sheets = np.zeros(views.size, SHEET)
    rules = sleuth.make_rules(options)
    clues(rules, views, evidence)

    def read(part: slice) -> None:
        """Update the sheets of some views."""
        clues(rules, views[part], evidence[part])
        propagate(evidence[part], sheets[part], LEVEL)

    updates = []
    solved = []
    for level in (1, 2, 3):
        propagate(evidence, sheets, level)
        solved.append(100 * float(np.mean(np.bitwise_count(sheets["has"][:, options.num_players - 1]) == 1)))
        updates.append(median_us(lambda part, level=level: propagate(evidence[part], sheets[part], level), views.size))
    return updates, median_us(read, min(views.size, 2000), 1), solved


def move_us(options: sleuth.Options, name: str, views: np.ndarray, legal: np.ndarray) -> float:
    """Return the microseconds that a bot takes on its own turn."""
    bot = sleuth.make_bot(name, options)
    own = views["phase"] == TURN
    views = views[own]
    legal = legal[own]
    seeds = np.arange(own.sum(), dtype=np.uint64)
    bot.act(views[:1], legal[:1], seeds[:1])
    return median_us(lambda part: bot.act(views[part], legal[part], seeds[part]), views.size, min(BLOCK, views.size))


def row(players: int, games: int, seed: int) -> str:
    """Play, measure, and return one line of the table."""
    options = sleuth.Options(players, max_turns=TURNS[players])
    views, legal = played(options, games, seed)
    updates, alone, solved = sheet_figures(options, views)
    moves = [move_us(options, name, views, legal) for name in ("cautious", "sheet")]
    return (
        f"{players:<8}  {views.size:9,} | {updates[0]:5.2f}  {updates[1]:5.2f}  {updates[2]:5.2f}  | {alone:9.1f}  "
        f"| {solved[0]:5.2f}  {solved[1]:5.2f}  {solved[2]:5.2f} | {moves[0]:8.1f}  {moves[1]:5.1f}"
    )


def main() -> None:
    """Read the command line and print the table."""
    parser = argparse.ArgumentParser(
        description=__doc__, allow_abbrev=False, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--games", type=whole(10, 10**6), default=50, help="games for each number of players (default: 50)"
    )
    parser.add_argument("--seed", type=whole(0, 2**32), default=1, help="settles the deals (default: 1)")
    arguments = parser.parse_args()
    print(HEADER)
    for players in TURNS:
        if sys.stderr.isatty():
            sys.stderr.write(f"\rplaying with {players} players ...")
        line = row(players, arguments.games, arguments.seed)
        if sys.stderr.isatty():
            sys.stderr.write("\r\033[K")
        print(line, flush=True)


if __name__ == "__main__":
    main()
