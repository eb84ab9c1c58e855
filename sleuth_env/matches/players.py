"""Names, files and objects as players."""

from __future__ import annotations

import os
from collections.abc import Sequence
from importlib import import_module
from os import PathLike
from typing import Any

from ..game import Bot, Game
from ..policies.policy import load_policy
from ..policies.policy_file import SUFFIX, PolicyError, names_file, pretrained_names
from .table import MatchError

Player = str | PathLike[str] | Bot
Players = Player | Sequence[Player]


def make_players(game: Game, options: Any, seats: Sequence[Any], greedy: bool = False) -> list[Bot]:
    """Turn names of bots and policy files into players, every different text or object once.

    Args:
        game: a game module.
        options: its options.
        seats: names, files or players; a player with a method `seated(options)` is asked for one
            that plays under these options.
        greedy: whether policies of files take their best action instead of drawing one by its
            probability.

    Raises:
        ValueError: no such bot or file, one that cannot play with these options, or no player; the
            message says which.
    """
    keys = [os.fspath(seat) if isinstance(seat, (str, os.PathLike)) else id(seat) for seat in seats]
    made = {key: _player(game, options, seat, greedy) for key, seat in dict(zip(keys, seats, strict=True)).items()}
    return [made[key] for key in keys]


def _player(game: Game, options: Any, seat: Any, greedy: bool) -> Any:
    if isinstance(seat, (str, os.PathLike)):
        return make_player(os.fspath(seat), options, game, greedy)
    if (
        isinstance(seat, type)
        or not isinstance(getattr(seat, "name", None), str)
        or not callable(getattr(seat, "act", None))
    ):
        raise MatchError(
            f"a player is the name of a bot, a policy file, or an object with a name and a method act(views, legal, seeds), got {seat!r}"
        )
    return seat.seated(options) if hasattr(seat, "seated") else seat


def make_player(text: str, options: Any, game: Any = None, greedy: bool = False) -> Any:
    """Make a player of a bot's name or of a policy file: its path, which ends in ``.safetensors``,
    or such as ``pretrained:4p``.

    Raises:
        PolicyError: there is no such bot, or the file cannot be read or cannot play with these
            options.
    """
    game = game or import_module("sleuth_env.sleuth")
    if not isinstance(text, str):
        raise PolicyError(
            f"a player is named by a text, the name of a bot or the path of a policy file (*{SUFFIX}), got {text!r}"
        )
    if names_file(text):
        return load_policy(text, game, greedy).seated(options)
    if text not in game.BOTS:
        known = ", ".join([*game.BOTS, *pretrained_names()])
        raise PolicyError(
            f"there is no bot {text[:100]!r}: a player is one of the bots {known}, or a policy file, whose name ends in {SUFFIX}"
        )
    return game.make_bot(text, options)


def listed(players: Players, number: int = 1) -> list[Any]:
    """Give a list of players as it is, a single player as often as asked."""
    return list(players) if isinstance(players, (list, tuple)) else [players] * number
