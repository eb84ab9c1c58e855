"""Play every bot against fixed fields, at every player count, and write the manual's tables of it.

    python benchmarks/tables.py [--jobs 2] [--keep] [--bots entropy,racer] [--players 3,4]

A row is one bot at one player count, in the base game or in Super Sleuth: its share of wins in one
seat against a table full of ``random``, of ``cautious`` and of ``sheet`` bots, over equal deals
with the seats rotated; the turns of a game between copies of it until somebody accuses rightly; the
share of its accusations that are wrong; the processor's time for one of its decisions, offers
included. Everything is kept in ``benchmarks/tables.json``, and the tables between the two marks of
docs/results.md are made from that. With ``--keep``, existing rows are not played
again if they were played with the same numbers of deals by the same version.
"""

from __future__ import annotations

import argparse
import json
import re
import sys
import time
from concurrent.futures import ProcessPoolExecutor, as_completed
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from rich.progress import Progress

from sleuth_env import __version__, sleuth
from sleuth_env.cli.arguments import some, whole
from sleuth_env.files import write_atomically
from sleuth_env.matches.match import play_match

ROOT = Path(__file__).parents[1]
RESULTS = ROOT / "benchmarks" / "tables.json"
PAGE = ROOT / "docs" / "results.md"
MARKS = "<!-- tables.py -->", "<!-- end of tables.py -->"
# Not `searcher`, which remembers games, and takes days: see searcher.py.
BOTS = [bot for bot in sleuth.BOTS if bot != "searcher"]
FIELDS = ("random", "cautious", "sheet")
VARIANTS = {"base": {}, "super_sleuth": {"super_sleuth": True}}
TITLES = {"base": "Base game", "super_sleuth": "Super Sleuth"}
# Deals by the number of players; each is played once from every seat.
DEALS = {3: 400, 4: 250, 5: 80, 6: 300, 7: 100}
# Rows that would take hours with as many deals.
FEWER = {("entropy", "super_sleuth", 7): 10, ("racer", "base", 7): 10, ("racer", "super_sleuth", 7): 10}
SEED = 7
DASH = "\u2013"  # the dash of ranges


class Timed:
    """A bot that notes the processor's time of its decisions."""

    def __init__(self, name: str, options: sleuth.Options) -> None:
        self.name = name
        self.bot = sleuth.make_bot(name, options)
        self.seconds = 0.0
        self.decisions = 0

    def act(self, views: np.ndarray, legal: np.ndarray, seeds: np.ndarray) -> np.ndarray:
        """Decide, on the clock."""
        began = time.thread_time()
        actions = self.bot.act(views, legal, seeds)
        self.seconds += time.thread_time() - began
        self.decisions += len(views)
        return actions


def num_deals(subject: tuple[str, str, int]) -> int:
    """Return how many deals are played for a row."""
    return FEWER.get(subject, DEALS[subject[2]])


def play_row(subject: tuple[str, str, int]) -> dict[str, Any]:
    """Play all matches of one row: of a bot, in a variant, with a number of players."""
    name, variant, players = subject
    options = sleuth.Options(num_players=players, **VARIANTS[variant])
    deals = num_deals(subject)
    # Once before the clock runs, for what is still to be compiled.
    play_match(sleuth, options, [name] * players, 2)
    timed = Timed(name, options)
    fields = {
        field: play_match(
            sleuth, options, [timed] + [field] * (players - 1), deals, SEED, names=["bot", *[field] * (players - 1)]
        )
        for field in FIELDS
    }
    entries = {field: result.entries[0] for field, result in fields.items()}
    copies = play_match(sleuth, options, [name] * players, deals, SEED)
    wins = sum(entry.wins for entry in entries.values())
    wrong = sum(entries[field].counts["wrong_accusations"] * fields[field].games for field in FIELDS)
    return {
        "bot": name,
        "variant": variant,
        "players": players,
        "deals": deals,
        "seed": SEED,
        "version": __version__,
        "win_share": {
            field: [round(share, 4) for share in (entry.win_share, entry.win_low, entry.win_high)]
            for field, entry in entries.items()
        },
        "turns": None if copies.counts_won is None else round(copies.counts_won["turns"], 2),
        "wrong": round(wrong / max(wins + wrong, 1), 4),
        "milliseconds": round(1000 * timed.seconds / timed.decisions, 4),
    }


def subject_of(row: dict[str, Any]) -> tuple[str, str, int]:
    """Return what a row is about."""
    return row["bot"], row["variant"], row["players"]


def is_current(row: dict[str, Any]) -> bool:
    """Return whether a row would be played in the same way now."""
    return row["bot"] in BOTS and (row["deals"], row["seed"], row["version"]) == (
        num_deals(subject_of(row)),
        SEED,
        __version__,
    )


def table(rows: list[dict[str, Any]], variant: str) -> str:
    """Write the rows of a variant as a table."""
    mine = sorted(
        (row for row in rows if row["variant"] == variant), key=lambda row: (row["players"], BOTS.index(row["bot"]))
    )
    lines = [
        "| players | bot | " + " | ".join(f"wins against `{field}`" for field in FIELDS) + " | turns | wrong | ms |",
        "|--:|:--|" + "--:|" * (len(FIELDS) + 3),
    ]
    for row in mine:
        intervals = [row["win_share"][field] for field in FIELDS]
        shares = [f"{share:.1%} ({low:.1%}{DASH}{high:.1%})" for share, low, high in intervals]
        turns = DASH if row["turns"] is None else f"{row['turns']:.1f}"
        texts = [
            str(row["players"]),
            f"`{row['bot']}`",
            *shares,
            turns,
            f"{row['wrong']:.1%}",
            f"{row['milliseconds']:.3g}",
        ]
        lines.append(f"| {' | '.join(texts)} |")
    return f"{TITLES[variant]}:\n\n" + "\n".join(lines) + "\n"


def tables(rows: list[dict[str, Any]]) -> str:
    """Write all tables, with the marks around them."""
    return f"{MARKS[0]}\n\n" + "\n".join(table(rows, variant) for variant in VARIANTS) + f"\n{MARKS[1]}"


def write(rows: list[dict[str, Any]]) -> None:
    """Keep the rows, and put the tables into the page of results."""
    rows.sort(key=lambda row: (list(VARIANTS).index(row["variant"]), row["players"], BOTS.index(row["bot"])))
    kept = "[\n" + ",\n".join(json.dumps(row) for row in rows) + "\n]\n"
    page = re.sub(f"{MARKS[0]}.*{MARKS[1]}", lambda _: tables(rows), PAGE.read_text("utf-8"), flags=re.DOTALL)
    write_atomically(RESULTS, kept.encode())
    write_atomically(PAGE, page.encode())


def main() -> int:
    """Play what is to be played; return the exit code."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--jobs", type=whole(1, 1024), default=1, help="processes at work at once")
    parser.add_argument("--keep", action="store_true", help="do not play rows again that are current")
    parser.add_argument("--bots", type=some(BOTS), default=BOTS, help="only these")
    parser.add_argument(
        "--players", type=some(list(map(str, DEALS))), default=list(map(str, DEALS)), help="only these player counts"
    )
    args = parser.parse_args()
    rows = [row for row in json.loads(RESULTS.read_text()) if row["bot"] in BOTS] if RESULTS.exists() else []
    subjects = [(bot, variant, int(players)) for players in args.players for variant in VARIANTS for bot in args.bots]
    if args.keep:
        current = [subject_of(row) for row in rows if is_current(row)]
        subjects = [subject for subject in subjects if subject not in current]
    with ProcessPoolExecutor(args.jobs) as pool, Progress() as progress:
        task = progress.add_task("rows", total=len(subjects))
        try:
            for done in as_completed(map(partial(pool.submit, play_row), subjects)):
                row = done.result()
                rows = [other for other in rows if subject_of(other) != subject_of(row)] + [row]
                write(rows)
                progress.advance(task)
        except KeyboardInterrupt:
            pool.shutdown(cancel_futures=True)
            return 130
    return 0


if __name__ == "__main__":
    sys.exit(main())
