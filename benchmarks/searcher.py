"""Play `searcher` against fields of each bot, and with parts of it left out.

    python benchmarks/searcher.py [--players 3,4] [--fields racer,sheet] [--subjects racer,searcher]
        [--variants base] [--deals 2000] [--workers 2] [--keep]

A row is one player in one seat against a table full of another one, over equal deals with the seats
rotated: its share of wins with its interval, that as a multiple of the fair share, and the
processor's time for one of its decisions, offers included. The rows are kept in
``benchmarks/searcher.json`` and printed as the tables of docs/results.md. With ``--keep``, rows that
exist are not played again.
"""

from __future__ import annotations

import argparse
import json
import math
import sys
import time
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
from rich.progress import Progress

from sleuth_env import sleuth
from sleuth_env.cli.arguments import some, whole
from sleuth_env.files import write_atomically
from sleuth_env.matches.match import play_match
from sleuth_env.sleuth.belief import belief
from sleuth_env.sleuth.bots.play_outs import play_outs
from sleuth_env.sleuth.bots.searcher import SearcherBot
from sleuth_env.sleuth.state import TURN

RESULTS = Path(__file__).with_suffix(".json")
VARIANTS = {"base": {}, "super_sleuth": {"super_sleuth": True}}
TITLES = {"base": "base game", "super_sleuth": "Super Sleuth"}
FIELDS = ("racer", "entropy", "hunch", "sheet", "cautious")
# What is made of the searcher; other names are bots.
PARTS = {
    "searcher": {},
    "without play-outs": {"play_outs": 0},
    "without reading the table": {"model": "random"},
    "by the cards alone": {"model": "random", "play_outs": 0},
    "racer as model": {"model": "racer"},
    "100 deals": {"budget": "100"},
    "1600 deals": {"budget": "1600"},
    "sheet as blueprint": {"blueprint": "sheet"},
    "questions played out": {},
}
SUBJECTS = [*PARTS, "racer", "hunch"]
ASKERS = ("entropy", "hunch", "sheet", "cautious")  # whose questions are played out
QUESTION_DEALS = 128
SEED = 11
DASH = "\u2013"  # the dash of ranges


class Timed:
    """A player that notes the processor's time of its decisions."""

    name = "subject"

    def __init__(self, bot: Any) -> None:
        self.bot = bot
        self.seconds = 0.0
        self.decisions = 0

    def __deepcopy__(self, memo: dict[int, Any]) -> Timed:
        # There is one such seat at each table: nobody else shares what it remembers.
        return self

    def forget(self, games: np.ndarray) -> None:
        """Pass on which games are over."""
        if hasattr(self.bot, "forget"):
            self.bot.forget(games)

    def act_in(self, views: np.ndarray, legal: np.ndarray, seeds: np.ndarray, *places: np.ndarray) -> np.ndarray:
        """Decide, on the clock."""
        began = time.thread_time()
        if hasattr(self.bot, "act_in"):
            actions = self.bot.act_in(views, legal, seeds, *places)
        else:
            actions = self.bot.act(views, legal, seeds)
        self.seconds += time.thread_time() - began
        self.decisions += len(views)
        return actions


class Watchful(SearcherBot):
    """A searcher that plays out questions as well, with all that they tell the rivals.

    It asks another one than the blueprint's where that is better by more than the error of the
    difference, over the same deals.
    """

    def __init__(self, options: sleuth.Options) -> None:
        super().__init__(options)
        self.askers = [sleuth.make_bot(name, options) for name in ASKERS]

    def _reconsidered(
        self, views: np.ndarray, legal: np.ndarray, seeds: np.ndarray, planned: np.ndarray, memory: Any
    ) -> np.ndarray:
        chosen = super()._reconsidered(views, legal, seeds, planned, memory)
        questions = range(int(self.rules["final_at"][0]))
        asked = {int(bot.act(views, legal, seeds)[0]) for bot in self.askers}
        others = sorted(asked.intersection(questions) - {int(chosen[0])})
        if views["phase"][0] != TURN or int(chosen[0]) not in questions or not others:
            return chosen
        rng = np.random.default_rng(int(seeds[0]))
        weighed = self._weigh(views, belief(self.rules, views), memory, rng)
        picked = rng.choice(len(weighed.deals), QUESTION_DEALS, p=weighed.weights)
        kinds = self._kinds(weighed.models[picked], rng)
        actions = np.array([int(chosen[0]), *others])
        results = play_outs(self.rules, views, weighed.deals[picked], kinds, actions, rng)
        gains = results - results[0]
        better = gains.mean(axis=1) - gains.std(axis=1) / math.sqrt(QUESTION_DEALS)
        return actions[[better.argmax()]]


def make_subject(name: str, options: sleuth.Options) -> Any:
    """Make the player of a row."""
    if name not in PARTS:
        return sleuth.make_bot(name, options)
    if name == "questions played out":
        return Watchful(options)
    settings = dict(PARTS[name])
    if "blueprint" in settings:
        settings["blueprint"] = sleuth.make_bot(settings["blueprint"], options)
    return SearcherBot(options, **settings)


def play_row(subject: str, players: int, variant: str, field: str, deals: int) -> dict[str, Any]:
    """Play the match of a row."""
    options = sleuth.Options(num_players=players, **VARIANTS[variant])
    rivals = [field] * (players - 1)
    # Once before the clock runs, for what is still to be compiled.
    play_match(sleuth, options, [make_subject(subject, options), *rivals], 2)
    timed = Timed(make_subject(subject, options))
    result = play_match(sleuth, options, [timed, *rivals], deals, SEED, names=["subject", *rivals])
    entry = result.entries[0]
    return {
        "subject": subject,
        "players": players,
        "variant": variant,
        "field": field,
        "deals": deals,
        "share": [round(share, 4) for share in (entry.win_share, entry.win_low, entry.win_high)],
        "milliseconds": round(1000 * timed.seconds / timed.decisions, 3),
    }


def what(row: dict[str, Any]) -> tuple[str, int, str, str]:
    """Return what a row is about."""
    return row["subject"], row["players"], row["variant"], row["field"]


def among_bots(rows: list[dict[str, Any]]) -> str:
    """Write what the searcher wins among each bot, and its blueprint in its place, as a table."""
    lines = [
        "| players | game | among | player | deals | wins | of the fair share | ms |",
        "|--:|:--|:--|:--|--:|--:|--:|--:|",
    ]
    for row in rows:
        if row["subject"] in ("searcher", "racer"):
            where = f"{row['players']} | {TITLES[row['variant']]} | `{row['field']}`"
            lines.append(f"| {where} | `{row['subject']}` | {measured(row)} |")
    return "\n".join(lines)


def parts(rows: list[dict[str, Any]]) -> str:
    """Write what the searcher wins among racers in the base game if something of it is changed, as a table."""
    lines = ["| players | searcher | deals | wins | of the fair share | ms |", "|--:|:--|--:|--:|--:|--:|"]
    for row in rows:
        if row["subject"] in PARTS and (row["variant"], row["field"], row["players"]) == ("base", "racer", 3):
            name = "as it is" if row["subject"] == "searcher" else row["subject"]
            lines.append(f"| {row['players']} | {name} | {measured(row)} |")
    return "\n".join(lines)


def measured(row: dict[str, Any]) -> str:
    """Write what was measured of a row, as cells of a table."""
    share, low, high = row["share"]
    players = row["players"]
    cells = [
        f"{row['deals']:,}",
        f"{share:.1%} ({low:.1%}{DASH}{high:.1%})",
        f"{share * players:.2f} ({low * players:.2f}{DASH}{high * players:.2f})",
        f"{row['milliseconds']:.3g}",
    ]
    return " | ".join(cells)


def write(rows: list[dict[str, Any]]) -> None:
    """Keep the rows, in their order."""
    rows.sort(
        key=lambda row: (
            row["players"],
            list(VARIANTS).index(row["variant"]),
            FIELDS.index(row["field"]),
            SUBJECTS.index(row["subject"]),
        )
    )
    write_atomically(RESULTS, ("[\n" + ",\n".join(map(json.dumps, rows)) + "\n]\n").encode())


def main() -> int:
    """Play what is to be played; return the exit code."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--players", type=some(["3", "4", "5", "6", "7"]), default=["3", "4", "5"])
    parser.add_argument("--variants", type=some(list(VARIANTS)), default=["base"])
    parser.add_argument("--fields", type=some(list(FIELDS)), default=["racer"])
    parser.add_argument("--subjects", type=some(SUBJECTS), default=["searcher"])
    parser.add_argument("--deals", type=whole(2, 1_000_000), default=2000, help="each is played once from every seat")
    parser.add_argument("--keep", action="store_true", help="do not play rows again that exist with so many deals")
    args = parser.parse_args()
    asked = list(product(args.subjects, map(int, args.players), args.variants, args.fields))
    rows = json.loads(RESULTS.read_text()) if RESULTS.exists() else []
    if args.keep:
        kept = [what(row) for row in rows if row["deals"] == args.deals]
        asked = [row for row in asked if row not in kept]
    with Progress() as progress:
        for subject, players, variant, field in progress.track(asked, description="rows"):
            row = play_row(subject, players, variant, field, args.deals)
            # Read again: another process may have written meanwhile.
            others = json.loads(RESULTS.read_text()) if RESULTS.exists() else []
            write([other for other in others if what(other) != what(row)] + [row])
    rows = json.loads(RESULTS.read_text())
    print(f"{among_bots(rows)}\n\n{parts(rows)}")
    return 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except KeyboardInterrupt:
        sys.exit(130)
