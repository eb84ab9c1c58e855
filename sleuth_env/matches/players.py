"""Names of bots, policy files and objects as players.

The built-in bots are the game's; a policy file says itself which game it is of.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from os import PathLike
from typing import Any

from ..game import DEFAULT_GAME, Bot, Game, check_game, load_game
from ..policies.policy import load_policy
from ..policies.policy_file import SUFFIX, PolicyError, names_file, pretrained_names
from .table import MatchError

Player = str | PathLike[str] | Bot
Players = Player | Sequence[Player]


def make_players(game: Game, options: Any, seats: Sequence[Any], greedy: bool = False) -> list[Bot]:
    """Return the players that names of bots and policy files stand for, every different text or object once.

    Args:
        game: a game module.
        options: its options.
        seats: names, files or players; a player with a method `seated(options)` is asked for one
            that plays under these options.
        greedy: whether policies of files take their best action instead of drawing one by its
            probability.

    Raises:
        ValueError: there is no such bot or file, one cannot play with these options, or is not a
            player; the message says which.
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
            "a player is the name of a bot, a policy file, or an object with a name and a method "
            f"act(views, legal, seeds), got {seat!r}"
        )
    return seat.seated(options) if hasattr(seat, "seated") else seat


def make_player(text: str, options: Any, game: Game | None = None, greedy: bool = False) -> Any:
    """Return the player that the name of a bot or of a policy file stands for.

    Args:
        text: the name of a bot, the path of a policy file, which ends in ``.safetensors``, or the
            name of one that comes with the package, such as ``pretrained:sleuth-4p``.
        options: of the game that it is to play.
        game: the game module; default: `DEFAULT_GAME`.
        greedy: whether a policy takes its best action instead of drawing one by its probability.

    Raises:
        PolicyError: there is no such bot, or the file cannot be read or cannot play with these
            options.

    >>> from sleuth_env import Options, make_player
    >>> make_player("pretrained:4p", Options(num_players=5)).name
    'pretrained:4p'
    """
    game = load_game(DEFAULT_GAME) if game is None else check_game(game)
    if not isinstance(text, str):
        raise PolicyError(
            f"a player is named by a text, the name of a bot or the path of a policy file (*{SUFFIX}), got {text!r}"
        )
    if names_file(text):
        return load_policy(text, game, greedy).seated(options)
    if text not in game.BOTS:
        known = ", ".join([*game.BOTS, *pretrained_names(game.NAME)])
        raise PolicyError(
            f"there is no bot {text[:100]!r}: a player is one of the bots {known}, "
            f"or a policy file, whose name ends in {SUFFIX}"
        )
    return game.make_bot(text, options)


def listed(players: Players, number: int = 1) -> list[Any]:
    """Return a list of players as it is, a single player as often as asked."""
    return list(players) if isinstance(players, (list, tuple)) else [players] * number
