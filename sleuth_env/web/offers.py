"""What a table can be made of: games, their options, and who may play, as plain data."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from ..game import GAMES, Game, OnBoard, Told, load_game, needed
from ..options import Described, described
from ..policies.policy_file import pretrained_names

# What the values of a number begin with: "3 to 7", "1, 2 or 3", "0 or more".
_RANGE = re.compile(r"(\d+) to (\d+)\b")
_SOME = re.compile(r"\d+(?:, \d+)* or (\d+)\b")
_LEAST = re.compile(r"\d+")


def games_offered(others: Mapping[str, Sequence[str]] | None = None) -> dict[str, Any]:
    """Return what the page on which a table is made has to know.

    Args:
        others: players besides the bots and policies of the package, by the game that they can play.
    """
    return {"games": [_game(load_game(name), list((others or {}).get(name, ()))) for name in GAMES]}


def player_counts(game: Game) -> list[int]:
    """Return with how many players a game may be played."""
    (about,) = (option for option in described(game.Options) if option.name == "num_players")
    bounds = _numbers(about)
    return list(range(bounds["least"], bounds["most"] + 1))


def _game(game: Game, others: list[str]) -> dict[str, Any]:
    options = [about for about in described(game.Options) if about.name != "num_players"]
    return {
        "name": game.NAME,
        "title": needed(game, OnBoard).board.TITLE,
        "players": player_counts(game),
        "options": [_option(about) for about in options],
        "bots": list(game.BOTS),
        "default_bot": game.DEFAULT_BOT,
        "policies": [*pretrained_names(game.NAME), *others],
        "rules": needed(game, Told).telling.rules(game.Options()),
    }


def _option(about: Described) -> dict[str, Any]:
    """Return an option as a form asks for it: a choice of values, or a number."""
    known = {"name": about.name, "default": about.default, "values": about.values, "help": about.meaning}
    if isinstance(about.default, bool):
        return {**known, "kind": "bool", "choices": [False, True]}
    if isinstance(about.default, str):
        return {**known, "kind": "choice", "choices": about.values.split(", ")}
    return {**known, "kind": "number", **_numbers(about)}


def _numbers(about: Described) -> dict[str, Any]:
    """Return the least and the most that a number may be; None where nothing bounds it, or other options say it."""
    least = _LEAST.match(about.values)
    most = _RANGE.match(about.values) or _SOME.match(about.values)
    return {"least": int(least[0]) if least else None, "most": int(most[most.lastindex or 1]) if most else None}
