"""Actions as users and bots hand them in, and how they are refused in a game's words.

Axis letters: ``B`` games, ``A`` actions.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from .checks import check_number, shown
from .game import Game

ILLEGAL_REWARD = -1.0  # where an illegal action ends the game
ON_ILLEGAL = ("end", "raise")  # what it does in environments for one learner


class IllegalAction(ValueError):  # noqa: N818
    """An action was refused; the game has not changed.

    Attributes:
        game_text: the game up to here, to be replayed in a bug report. It shows every hidden card.
    """

    game_text: str = ""


def action_numbers(actions: Any, num_games: int, num_actions: int) -> NDArray[np.int64]:
    """Return one action for each game as an array (i8 [B]).

    Raises:
        IllegalAction: they are something else.
    """
    try:
        numbers = np.asarray(actions)
    except ValueError:  # lists of unequal length
        numbers = np.empty(0)
    if numbers.shape != (num_games,):
        raise IllegalAction(
            f"step takes one action for each of {num_games} games, an array of shape ({num_games},), "
            f"got {shown(actions)}"
        )
    if numbers.dtype.kind not in "iu" or not ((numbers >= 0) & (numbers < num_actions)).all():
        numbers = np.array([check_number("action", action, 0, num_actions - 1, IllegalAction) for action in actions])
    return numbers.astype(np.int64)


def refusal(game: Game, options: Any, action: int, legal: NDArray[Any], player: str) -> IllegalAction:
    """Return the error that says in the game's words why an action is refused, with some that are legal (u1 [A])."""
    name = game.action_name(action, options)
    numbers = np.flatnonzero(legal)
    # A few from every part of the list: neighbours are much alike.
    some = numbers[np.unique(np.linspace(0, len(numbers) - 1, 6).astype(np.int64))] if len(numbers) else numbers
    examples = ", ".join(f"{a} ({game.action_name(int(a), options)})" for a in some)
    return IllegalAction(
        f"{player} may not choose action {action} ({name}) now; "
        f"{len(numbers)} actions are legal, for instance {examples}"
    )


def any_refusal(game: Game, options: Any, action: Any, legal: NDArray[Any], player: str) -> IllegalAction:
    """Return the error for an action that may not even be one, see `refusal`."""
    try:
        number = check_number("action", action, 0, len(legal) - 1, IllegalAction)
    except IllegalAction as error:
        return IllegalAction(f"{player}: {error}")
    return refusal(game, options, number, legal, player)
