"""Names of bots, files and objects as players.

The built-in bots are the game's; a policy file says itself which game it is of. A player may also be
named in a Python file or module (`imported`), or be a model of Stable-Baselines3 (`policies.trained`),
which needs leave, or a program of its own (`program`). Only code that somebody names is run: a policy
file never does.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from os import PathLike
from pathlib import Path
from typing import Any, cast

import numpy as np

from ..checks import is_collection, shown
from ..game import DEFAULT_GAME, Bot, Game, check_game, check_options, load_game, make_options
from ..policies.policy import load_policy
from ..policies.policy_file import (
    SUFFIX,
    PolicyError,
    located,
    names_file,
    other_game,
    pretrained_names,
    read_metadata,
)
from ..policies.trained import load_model, names_model
from .imported import FORMS, file_of, import_player, names_code
from .program import FORM, ProgramPlayer, files_of, names_program
from .seating import WHAT_PLAYS, MatchError, Remembering, is_player, seated

Player = str | PathLike[str] | Bot | Remembering
Players = Player | Sequence[Player]


def names_player(text: str) -> bool:
    """Return whether a text names a player by a file, a module or a command: what is left are names of bots."""
    return names_program(text) or names_file(text) or names_model(text) or names_code(text)


def names_bot(text: str, game: Game) -> bool:
    """Return whether a text is the name of one of the game's bots, perhaps with a setting after a colon."""
    return text.partition(":")[0] in game.BOTS


def source_of(text: str, game: Game) -> Path | None:
    """Return the file that a player's name means, without reading it; None for a bot, and for a command.

    Raises:
        PolicyError: the package has not got a policy of this name.
    """
    if names_bot(text, game) or names_program(text):
        return None
    if names_file(text):
        return Path(located(text, game.NAME))
    if names_model(text):
        return Path(text)
    return file_of(text) if names_code(text) else None


def sources_of(text: str, game: Game) -> list[Path]:
    """Return the files that a player's name means, of a program those that its command names, see `source_of`.

    Raises:
        PolicyError: the package has not got a policy of this name.
        MatchError: a command cannot be split into words.
    """
    if names_program(text):
        return files_of(text)
    source = source_of(text, game)
    return [] if source is None else [source]


def names_policy(text: str) -> bool:
    """Return whether a player's name means a policy file: a command may end like the name of one."""
    return names_file(text) and not names_program(text)


def trained_options(text: str, game: Game) -> dict[str, Any]:
    """Return the options that a policy file was trained for; {} for a player that is not a policy file.

    Raises:
        PolicyError: the file cannot be read, is of another game, or has options that are not known here.

    >>> from sleuth_env import sleuth
    >>> trained_options("pretrained:sleuth-3p", sleuth)["num_players"], trained_options("sheet", sleuth)
    (3, {})
    """
    if not names_policy(text):
        return {}
    about = read_metadata(text, game.NAME)
    if about["game"] != game.NAME:
        raise other_game(text, about["game"], game.NAME)
    options: dict[str, Any] = about["options"]
    try:
        make_options(game, options)
    except ValueError as error:
        raise PolicyError(f"{text}: its options are not known here: {error}") from error
    return options


def make_players(
    game: Game, options: Any, seats: Sequence[Any], greedy: bool = False, allow_pickle: bool = False
) -> list[Any]:
    """Return the players that names of bots and policy files stand for, every different text or object once.

    Args:
        game: a game module.
        options: its options.
        seats: names, files or players; a player with a method `seated(options)` is asked for one
            that plays under these options.
        greedy: whether policies of files take their best action instead of drawing one by its
            probability.
        allow_pickle: see `make_player`.

    Raises:
        ValueError: there is no such bot or file, one cannot play with these options, or is not a
            player; the message says which.
    """
    keys = [os.fspath(seat) if isinstance(seat, (str, os.PathLike)) else id(seat) for seat in seats]
    made = {
        key: _player(game, options, seat, greedy, allow_pickle)
        for key, seat in dict(zip(keys, seats, strict=True)).items()
    }
    return [made[key] for key in keys]


def _player(game: Game, options: Any, seat: Any, greedy: bool, allow_pickle: bool) -> Any:
    if isinstance(seat, (str, os.PathLike)):
        return make_player(os.fspath(seat), options, game, greedy, allow_pickle)
    if not is_player(seat):
        raise MatchError(f"a player is the name of a bot, a policy file, or {WHAT_PLAYS}, got {shown(seat)}")
    return seated(seat, options, game)


def make_player(
    text: str, options: Any, game: Game | None = None, greedy: bool = False, allow_pickle: bool = False
) -> Bot:
    """Return the player that a name stands for.

    Args:
        text: the name of a bot, such as ``sheet`` or ``searcher:50ms``; the path of a policy file,
            which ends in ``.safetensors``, or the name of one that comes with the package, such as
            ``pretrained:sleuth-4p``;
            ``FILE.py:NAME`` or ``MODULE:NAME``, which is imported: a player, a class of players,
            which is made with the options, or a function with an attribute `record`, see
            `wrap_policy`; the path of a model of Stable-Baselines3, which ends in ``.zip``; or
            ``exec:COMMAND``, a program that is started when it is first asked.
        options: of the game that it is to play.
        game: the game module; default: `DEFAULT_GAME`.
        greedy: whether a policy takes its best action instead of drawing one by its probability.
        allow_pickle: whether a ``.zip`` may be read, which runs whatever code is pickled in it.

    Raises:
        PolicyError: there is no such bot, or it takes no such setting, or the file cannot be read
            or cannot play with these options.
        MatchError: there is no such program.

    >>> from sleuth_env import Options, make_player
    >>> make_player("pretrained:4p", Options(num_players=5)).name
    'pretrained:4p'
    """
    game = load_game(DEFAULT_GAME) if game is None else check_game(game)
    if not isinstance(text, str):
        raise PolicyError(
            f"a player is named by a text, the name of a bot or the path of a policy file (*{SUFFIX}), "
            f"got {shown(text)}"
        )
    # Before all others: a command may end like the name of a file.
    if names_program(text):
        # A table asks it by its method act_in.
        return cast(Bot, ProgramPlayer(text, options, game))
    if names_file(text):
        return load_policy(text, game, greedy).seated(options)
    if names_model(text):
        return load_model(text, options, game, greedy, allow_pickle)
    # A bot's name comes first, whatever it looks like.
    if names_bot(text, game):
        check_options(game, options)
        try:
            return game.make_bot(text, options)
        except ValueError as error:
            raise PolicyError(str(error)) from None
    if names_code(text) or ":" in text:
        return import_player(text, options, game)
    known = ", ".join([*game.BOTS, *pretrained_names(game.NAME)])
    raise PolicyError(
        f"there is no bot {text[:100]!r}: a player is one of the bots {known}, "
        f"or a policy file, whose name ends in {SUFFIX}, or a player of your own: {FORMS}, or {FORM}"
    )


def listed(players: Players, number: int = 1) -> list[Any]:
    """Return a list of players as it is, a single player as often as asked."""
    if isinstance(players, (list, tuple, np.ndarray)) and is_collection(players):
        return list(players)
    return [players] * number
