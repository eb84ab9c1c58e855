"""Write the tables of the manual that repeat what the code says: ``python docs/make_tables.py``.

A table stands in a page between two marks, ``<!-- table: NAME -->`` and ``<!-- end of table -->``.
Names, defaults, shapes, sizes and results come from the code. What a name means is written in the
page, and kept. With ``--check`` nothing is written: pages that are out of date are named, and the
exit code is 1.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections.abc import Callable, Iterator
from fractions import Fraction
from functools import partial
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
# `training` is not installed, and the tables are of this tree, whatever is.
sys.path.insert(0, str(ROOT))

from sleuth_env import holmes, sleuth, sleuth_v0  # noqa: E402
from sleuth_env.options import described  # noqa: E402

TABLE = re.compile(r"(<!-- table: (\w+) -->\n\n)(.*?)(\n\n<!-- end of table -->)", re.S)
PLAYERS = range(3, 8)
HOLMES_PLAYERS = range(3, 9)
MATCH = "sleuth match random cautious sheet --games 3000 --seed 1"

Kept = dict[str, list[str]]


def pages() -> list[Path]:
    """Return the pages of the manual."""
    return [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").glob("*.md"))]


def cells(line: str) -> list[str]:
    """Split a row of a Markdown table; ``\\|`` is a bar within a cell."""
    return [cell.strip() for cell in re.split(r"(?<!\\)\|", line.strip().strip("|"))]


def kept_cells(body: str) -> Kept:
    """Return the rows of a Markdown table by their first cell."""
    rows = [cells(line) for line in body.splitlines()[2:] if line.startswith("|")]
    return {row[0]: row[1:] for row in rows}


def markdown(head: str, rows: list[list[str]]) -> str:
    """Write a Markdown table; a column whose name ends in ``:`` is aligned to the right."""
    names = cells(head)
    rule = "|".join("--:" if name.endswith(":") else "---" for name in names)
    lines = [f"| {' | '.join(name.rstrip(':') for name in names)} |", f"|{rule}|"]
    return "\n".join(lines + [f"| {' | '.join(row)} |" for row in rows])


def shown(value: object) -> str:
    """Write a value as a user types it in Python."""
    return f'"{value}"' if isinstance(value, str) else str(value)


def size_in_players(sizes: list[int], players: range = PLAYERS) -> str:
    """Write one size, given for each number of players, as a formula of that number ``n``."""
    if len(set(sizes)) == 1:
        return str(sizes[0])
    for unit, less in (("n", 0), ("(n-1)", 1)):
        shares = {Fraction(size, number - less) for size, number in zip(sizes, players, strict=True)}
        if len(shares) == 1 and (factor := shares.pop()).denominator == 1:
            return unit if factor == 1 else f"2{unit}" if factor == 2 and less == 0 else f"{unit} x {factor}"
    raise ValueError(f"neither constant nor a multiple of the players or the opponents: {sizes}")


# --- the tables ---


def options(body: str, game: Any = sleuth) -> str:
    """Write the options: name, default, legal values and meaning, as the code describes them."""
    rows = [[f"`{about.name}`", shown(about.default), about.values, about.meaning] for about in described(game.Options)]
    return markdown("option | default | values | meaning", rows)


def blocks(body: str, game: Any = sleuth, players: range = PLAYERS) -> str:
    """Write the blocks of observations: name, shape, axes, records; kept is the meaning."""
    kept = kept_cells(body)
    layouts = {
        record: [list(game.observation_layout(game.Options(number), record)) for number in players]
        for record in game.RECORDS
    }
    order: list[str] = []
    for layout in layouts.values():
        # What only this record has comes before the next block that it shares with the others.
        place = len(order)
        for block in reversed(layout[0]):
            if block.name in order:
                place = order.index(block.name)
            else:
                order.insert(place, block.name)
    rows = []
    for name in order:
        records = [record for record, layout in layouts.items() if any(block.name == name for block in layout[0])]
        found = [next(block for block in layout if block.name == name) for layout in layouts[records[0]]]
        shapes = zip(*(block.shape for block in found), strict=True)
        shape = " x ".join(size_in_players(list(sizes), players) for sizes in shapes)
        only = "" if len(records) == len(layouts) else ", ".join(f"`{record}`" for record in records)
        meaning = kept.get(f"`{name}`", [""])[-1]
        rows.append([f"`{name}`", shape, " x ".join(found[0].axes), only, meaning])
    return markdown("block | shape | axes | only with `record` | what it says", rows)


def sizes(body: str, game: Any = sleuth, players: range = PLAYERS) -> str:
    """Write how many numbers an observation has, and how many actions there are."""
    rows = [
        [f'numbers with `record="{record}"`']
        + [str(game.observation_size(game.Options(number), record)) for number in players]
        for record in game.RECORDS
    ]
    rows.append(["actions"] + [str(game.num_actions(game.Options(number))) for number in players])
    return markdown("players | " + " | ".join(f"{number}:" for number in players), rows)


def actions(body: str, game: Any = sleuth, players: range = PLAYERS) -> str:
    """Write the blocks of actions: name, size; kept are an example and the meaning."""
    kept = kept_cells(body)
    found = [game.action_blocks(game.Options(number)) for number in players]
    rows = []
    for name in found[0]:
        size = size_in_players([blocks[name].stop - blocks[name].start for blocks in found], players)
        rows.append([f"`{name}`", size, *kept.get(f"`{name}`", ["", "", ""])[1:]])
    return markdown("block | size | in text | what it does", rows)


def holmes_reconstructed(body: str) -> str:
    """Write what of I Say, Holmes! is reconstructed, and why so."""
    return markdown("key | what, and why", [[f"`{key}`", why] for key, why in holmes.RECONSTRUCTED.items()])


ENDINGS: dict[str, tuple[dict[str, object], str]] = {
    "`player_1` is right": ({}, "-R--"),
    "everybody is wrong": ({}, "WWWW"),
    "`winners=2`: `player_0`, then `player_2` is right": ({"winners": 2}, "R-R-"),
    "`winners=2`: `player_1` is right, all others are wrong": ({"winners": 2}, "WRWW"),
    "turn limit: `player_0` was wrong": ({"max_turns": 6}, "W---"),
    "`winners=2`, turn limit: `player_0` was right, `player_1` wrong": ({"winners": 2, "max_turns": 6}, "RW--"),
}


def rewards(body: str) -> str:
    """Write what each of four players gets in games that end in different ways."""
    rows = []
    for ending, (named, plan) in ENDINGS.items():
        got = [str(Fraction(reward).limit_denominator(12)) for reward in played_rewards(named, plan)]
        rows.append([ending, *(f"+{text}" if text[0] not in "-0" else text for text in got)])
    return markdown("four players | `player_0`: | `player_1`: | `player_2`: | `player_3`:", rows)


def played_rewards(named: dict[str, object], plan: str) -> list[float]:
    """Return what each player gets in a game that goes by a plan.

    On their own turn each accuses rightly (R), wrongly (W) or never (-).
    """
    env = sleuth_v0.raw_env(num_players=4, first_player="seat_0", **named)
    env.reset(seed=1)
    missing = env.reveal()["missing"][0]
    other = next(name for name in map(sleuth.gem_name, range(36)) if name != missing)
    wishes = {"R": f"accuse {missing}", "W": f"accuse {other}", "-": "exchange"}
    total = dict.fromkeys(env.agents, 0.0)
    while not any([*env.terminations.values(), *env.truncations.values()]):
        wish = wishes[plan[env.possible_agents.index(env.agent_selection)]]
        env.step(sleuth.parse_action(wish, 4))
        for agent, reward in env.rewards.items():
            total[agent] += reward
    return list(total.values())


def bots(body: str) -> str:
    """Write the bots and policies; kept is how they play, and what was measured of policies."""
    measured = json.loads((ROOT / "benchmarks/tables.json").read_text())
    shares = {
        row["bot"]: row["win_share"]["sheet"][0] for row in measured if (row["variant"], row["players"]) == ("base", 3)
    }
    for row in json.loads((ROOT / "benchmarks/searcher.json").read_text()):
        if row["subject"] == "searcher" and (row["variant"], row["players"], row["field"]) == ("base", 3, "sheet"):
            shares["searcher"] = row["share"][0]
    kept = kept_cells(body)
    rows = [
        [f"`{name}`", *kept.get(f"`{name}`", [""])[:1], f"{100 * shares[name]:.1f} %", "33.3 %"] for name in sleuth.BOTS
    ]
    others = [[name, *row] for name, row in kept.items() if name.strip("`") not in sleuth.BOTS]
    return markdown("player | how it plays | wins among `sheet` bots: | fair share:", rows + others)


def match(body: str) -> str:
    """Write what a command prints."""
    run = subprocess.run(
        [sys.executable, "-m", "sleuth_command", *MATCH.split()[1:]], capture_output=True, text=True, check=True
    )
    return f"```text\n{run.stdout.strip()}\n```"


def configuration(body: str) -> str:
    """Write every key of a configuration: its default, what it means and what is legal."""
    from sleuth_env.game import DEFAULT_GAME, load_game
    from training.config import keys

    rows = []
    for key in keys(load_game(DEFAULT_GAME)):
        if key.path.startswith("options."):
            continue
        default = key.default
        text = "null" if default is None else str(default).lower() if isinstance(default, bool) else str(default)
        rows.append([f"`{key.path}`", f"`{text}`", key.text.replace("|", r"\|")])
    rows.append(["`options`", "", "the [options of the game](game.md#options): `options: {num_players: 3}`"])
    return markdown("key | default | meaning", rows)


def libraries(body: str) -> str:
    """Write the versions with which other libraries were tested; kept are what is used and what to watch."""
    tested = json.loads((ROOT / "tests/libraries/versions.json").read_text())
    kept = kept_cells(body)
    rows = [
        [f"`[{name}]`", ", ".join(" ".join(one) for one in versions.items()), *kept.get(f"`[{name}]`", [""] * 4)[1:]]
        for name, versions in tested.items()
    ]
    return markdown("extra | tested with | what is used | example | what to watch", rows)


BUILDERS: dict[str, Callable[[str], str]] = {
    "options": options,
    "blocks": blocks,
    "sizes": sizes,
    "actions": actions,
    "rewards": rewards,
    "bots": bots,
    "match": match,
    "configuration": configuration,
    "libraries": libraries,
    "holmes_options": partial(options, game=holmes),
    "holmes_blocks": partial(blocks, game=holmes, players=HOLMES_PLAYERS),
    "holmes_reconstructed": holmes_reconstructed,
}


def up_to_date(page: str) -> str:
    """Return the text of a page with its tables as they should be."""
    return TABLE.sub(lambda found: found[1] + BUILDERS[found[2]](found[3]) + found[4], page)


def stale() -> Iterator[tuple[Path, str]]:
    """Find the pages whose tables are out of date, with the text that they should have."""
    for path in pages():
        text = path.read_text()
        wanted = up_to_date(text)
        if wanted != text:
            yield path, wanted


def main(arguments: list[str]) -> int:
    """Write the tables, or with ``--check`` name the pages that are out of date."""
    if arguments not in ([], ["--check"]):
        sys.stderr.write("error: the only option is --check\n")
        return 2
    out_of_date = list(stale())
    for path, wanted in out_of_date:
        sys.stdout.write(f"{path}\n")
        if not arguments:
            path.write_text(wanted)
    return int(bool(arguments and out_of_date))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
