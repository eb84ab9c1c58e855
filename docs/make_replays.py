"""Make the replays of the manual, one of each game; ``make docs`` does, and ``python docs/make_replays.py FOLDER``."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from sleuth_env import load_policy
from sleuth_env.game import load_game
from sleuth_env.matches.players import make_players
from sleuth_env.matches.table import Table
from sleuth_env.web.replay_page import replay_page


class Shown(NamedTuple):
    """A game that the manual shows."""

    game: str
    options: dict[str, Any]
    bot: str
    policy: str
    seed: int


SHOWN = (
    Shown("sleuth", {"num_players": 4}, "sheet", "pretrained:sleuth-4p", 5),
    Shown("holmes", {"num_players": 3, "cases": 1}, "counter", "pretrained:holmes-3p", 1),
)


def played(shown: Shown) -> Any:
    """Return the record of a game that copies of a bot play."""
    game: Any = load_game(shown.game)
    options = game.Options(**shown.options)
    seats = [shown.bot] * options.num_players
    table = Table(game, options, 1, make_players(game, options, seats), np.arange(len(seats)))
    table.deal(np.array([0]), np.array([shown.seed], np.uint64))
    first = table.states[0].copy()
    actions = []
    while not table.finished[0]:
        table.play_round()
        actions.append(int(table.last_actions[0]))
    return game.parse_game(game.game_text(options, first, actions))


def page_of(shown: Shown) -> str:
    """Return the page of a game."""
    record = played(shown)
    return replay_page(record, load_policy(shown.policy), players=[shown.bot] * record.options.num_players)


def write_replays(folder: Path) -> None:
    """Write the pages into a folder, which is made."""
    folder.mkdir(parents=True, exist_ok=True)
    for shown in SHOWN:
        (folder / f"{shown.game}.html").write_text(page_of(shown), encoding="utf-8")


if __name__ == "__main__":
    write_replays(Path(sys.argv[1]))
