"""A function from observations and masks to actions as a player.

Axis letters: ``B`` rows, ``A`` actions, ``N`` numbers of an observation.
"""

from __future__ import annotations

import copy
import inspect
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..checks import called_by, check_choice, check_text, shown, takes
from ..doors import decision, described, numbers_of
from ..game import DEFAULT_GAME, Game, OfGame, check_game, check_options, load_game
from .policy_file import PolicyError


def wrap_policy(
    function: Callable[..., ArrayLike], record: str | None = None, game: Game | None = None, name: str | None = None
) -> WrappedPolicy:
    """Return a player that plays a function, wherever a player is taken.

    Args:
        function: is called with observations (f4 [B, N]), which are those of the environments, and
            masks (u1 [B, A], 1 where an action is legal), and returns one legal action a row
            (integers [B]). If it has a parameter ``seeds``, it is also handed 64 random bits a row
            (u8 [B]); a player that draws from nothing else plays the same games again.
        record: the kind of observation, one of the game's `RECORDS`; default the first.
        game: the game module; default: `DEFAULT_GAME`.
        name: how tables call the player; default: the function's own name.

    Raises:
        PolicyError: this is not a function, takes other arguments, or the game has no such record.

    >>> from sleuth_env import Options, play_match, sleuth, wrap_policy
    >>> def last_legal(observations, masks):
    ...     return masks.shape[1] - 1 - masks[:, ::-1].argmax(axis=1)
    >>> player = wrap_policy(last_legal, "sheet")
    >>> play_match(sleuth, Options(num_players=3), [player, "random", "random"], 2).entries[0].name
    'last_legal'
    """
    game = load_game(DEFAULT_GAME) if game is None else check_game(game)
    if not callable(function) or isinstance(function, type):
        raise PolicyError(f"wrap_policy takes a function from observations and masks to actions, got {shown(function)}")
    record = game.RECORDS[0] if record is None else record
    check_choice("record", record, game.RECORDS, PolicyError)
    called = getattr(function, "__name__", type(function).__name__) if name is None else name
    player = WrappedPolicy(game, function, record, check_text("name", called, PolicyError))
    if not takes(function, 2, *player.named):
        raise PolicyError(
            f"{called} must take observations and masks, and may take seeds by this name, "
            f"got {called_by(called, function)}"
        )
    return player


class WrappedPolicy(OfGame):
    """A function as a player; `wrap_policy` makes it.

    Args:
        game: the game module.
        function: see `wrap_policy`.
        record: the kind of observation that it is given.
        name: how tables call it.
    """

    def __init__(self, game: Game, function: Callable[..., ArrayLike], record: str, name: str) -> None:
        self.game = game
        self.function = function
        self.record = record
        self.name = name
        self.options: Any = None
        self.rules: Any = None
        self._num_actions = 0
        try:
            parameters = list(inspect.signature(function).parameters)
        except (TypeError, ValueError):
            # Of a function in C: its signature is not known.
            parameters = []
        # What it is handed by name.
        self.named = ["seeds"] if "seeds" in parameters else []

    def seated(self, options: Any) -> WrappedPolicy:
        """Return this function as a player of a game with these options.

        Raises:
            ValueError: they are not options of its game.
        """
        check_options(self.game, options)
        player = copy.copy(self)
        player.options = options
        player.rules = self.game.make_rules(options)
        player._num_actions = self.game.num_actions(options)
        return player

    def act(self, views: NDArray[np.void], legal: NDArray[np.uint8], seeds: NDArray[np.uint64]) -> NDArray[np.int64]:
        """Choose one action a row, see `game.Bot`.

        Raises:
            PolicyError: it does not know the options yet, see `seated`, or the function has returned
                something else than one integer a row.
            ArrayError: something has another dtype or shape, or nothing is legal in some row.
        """
        self._must_be_seated()
        given = decision(views, legal, seeds, self.game.VIEW, self._num_actions)
        self.game.Observer(self.rules, given[0], self.record).check()
        return self._act(*given)

    def _must_be_seated(self) -> None:
        if self.rules is None:
            raise PolicyError(f"{self.name} does not know the options of the game: let seated(options).act play")

    def _act(self, views: NDArray[np.void], legal: NDArray[np.uint8], seeds: NDArray[np.uint64]) -> NDArray[np.int64]:
        """Choose as `act` does, without a look at what is given."""
        self._must_be_seated()
        observations = self.game.Observer(self.rules, views, self.record).written()
        chosen = self.function(observations, legal, **dict.fromkeys(self.named, seeds))
        actions = numbers_of(chosen, len(views))
        if actions is None:
            raise PolicyError(
                f"{self.name} must return one action a row, integers that fit int64, of the shape {(len(views),)}, "
                f"but returned {described(chosen)}"
            )
        return actions

    # Tables call what is behind the checks (see `doors.unchecked`).
    act.kernel = _act  # type: ignore[attr-defined]
