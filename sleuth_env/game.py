"""What a game module offers, and what the adapters ask of any game.

A game is a module: data, rules and what a seat may see, as functions on structured arrays. A state
    is one record; a batch is
an array of records; a single game is a batch of one. The adapters (`aec`, `solo`, `vector`, `sb3`,
`match`) know a game only through the names of `Game`, so a second game is a sibling package with
the same names. Axis letters: ``B`` games, ``P`` seats, ``A`` actions, ``N`` numbers of an
observation.
"""

from __future__ import annotations

import dataclasses
import sys
from collections.abc import Mapping, Sequence
from functools import cache
from importlib import import_module
from typing import Any, Protocol, cast

import numpy as np
from numpy.typing import NDArray

from .checks import whole_number

Records = NDArray[np.void]
ILLEGAL_REWARD = -1.0  # where an illegal action ends the game
NO_GAME = "call reset() first: no game has been dealt"
NO_SNAPSHOT = "that is no snapshot, which get_state() takes"
RENDER_MODES = ("human", "ansi", "rgb_array")
NO_RENDER_MODE = (
    f"render() draws nothing without a render_mode: make the environment with one of {', '.join(RENDER_MODES)}"
)


def opaque(records: Records) -> Records:
    """View records as plain bytes, for copying: NumPy copies structured arrays field by field, ten
    times slower.

    ``opaque(states)[rows].view(states.dtype)`` is ``states[rows]``, and ``opaque(states)[rows] =
    opaque(others)`` the way back.
    """
    return records.view(np.dtype((np.void, records.dtype.itemsize)))


class Bot(Protocol):
    """A player that is given views, never states, and draws no random numbers but those it is
    handed.
    """

    @property
    def name(self) -> str:
        """How tables and game texts call it."""
        ...

    def act(self, views: Records, legal: NDArray[np.uint8], seeds: NDArray[np.uint64], /) -> NDArray[np.int64]:
        """Choose one legal action a row (i8 [B]) from views (VIEW [B]), legal (u1 [B, A]) and 64
        random bits a row (u8 [B]).
        """
        ...


class Game(Protocol):
    """The names of a game module.

    Functions that take ``rules`` are kernels: they write into their last arguments, allocate
    nothing that the caller keeps, and treat each row of a batch alone. A state has the fields
    ``actor`` (the seat that decides, -1 when the game is finished) and ``phase`` (`FINISHED` when
    it is); nobody leaves before the game is finished for everybody.
    """

    NAME: str  # the game's name, with which the names of its environments begin
    Options: Any  # frozen dataclass that says which game is played, with at least num_players and max_turns; validates itself
    STATE: Any  # the dtype of a whole game, hidden cards and random generator included
    VIEW: Any  # the dtype of all that one seat may know
    RECORDS: tuple[str, ...]  # the kinds of observation, default first
    BOTS: Mapping[str, Any]  # the built-in bots by name
    FINISHED: int  # the phase of a finished game

    def make_rules(self, options: Any, /) -> Records:
        """Give the rules as the one-record array that the kernels take."""
        ...

    def num_actions(self, options: Any, /) -> int:
        """Count the actions, A."""
        ...

    def new_states(self, num_games: int, /) -> Records:
        """Make blank states, STATE [num_games]."""
        ...

    def deal(self, rules: Records, states: Records, seeds: NDArray[np.uint64], /) -> None:
        """Begin a new game in each of ``states`` (STATE [B]), all of whose randomness comes from
        its seed (u8 [B]).
        """
        ...

    def legal(self, rules: Records, states: Records, out: NDArray[np.uint8], /) -> None:
        """Mark each game's legal actions in ``out`` (u1 [B, A]); zeros when it is finished."""
        ...

    def step(self, rules: Records, states: Records, actions: NDArray[np.int64], taken: NDArray[np.uint8], /) -> None:
        """Take one action (i8 [B]) in each game; ``taken`` (u1 [B]) is 0 where it was illegal and
        nothing has changed.
        """
        ...

    def outcome(
        self,
        rules: Records,
        states: Records,
        rewards: NDArray[np.float64],
        terminated: NDArray[np.uint8],
        truncated: NDArray[np.uint8],
        /,
    ) -> None:
        """Write what each seat gets (f8 [B, P]) and how the game ended for it (u1 [B, P] both); all
        zero while it goes on.
        """
        ...

    def view(self, rules: Records, states: Records, seats: NDArray[np.int64], views: Records, /) -> None:
        """Copy what a seat (i8 [B]) may know of each game into ``views`` (VIEW [B])."""
        ...

    def belief(self, rules: Records, views: Records, /) -> Any:
        """Give the exact distribution of the hidden cards for whoever has a view (VIEW [1]):
        uniform over all deals consistent with it.
        """
        ...

    def reveal(self, options: Any, state: Any, /) -> dict[str, Any]:
        """Give the whole hidden state (one STATE record) as plain data in the game's words."""
        ...

    def observation_size(self, options: Any, record: str, /) -> int:
        """Count the numbers of an observation, N."""
        ...

    def observation_layout(self, options: Any, record: str, /) -> Any:
        """Say what the numbers of an observation mean."""
        ...

    def relations(self, options: Any, record: str, /) -> Any:
        """Say which numbers of an observation are about which opponent, gem or question, for a
        network that treats all of them alike.
        """
        ...

    def write_observations(self, rules: Records, views: Records, out: NDArray[np.float32], record: str, /) -> None:
        """Write views (VIEW [B]) as network input (f4 [B, N], each number in [0, 1])."""
        ...

    def Observer(self, rules: Records, views: Records, record: str, /) -> Any:  # noqa: N802 - a class
        """Give an object whose ``write(out)`` does the same each time that ``views`` have been
        filled anew, with less preparation.

        ``write_first(number, out)`` does so for the first of them only.
        """
        ...

    def action_name(self, action: int, num_players: int, /) -> str:
        """Give an action in the game's notation."""
        ...

    def parse_action(self, text: str, num_players: int, /) -> int:
        """Read an action in the game's notation."""
        ...

    def game_text(self, options: Any, first_state: Any, actions: Sequence[int], /) -> str:
        """Write a game, from its first state (one STATE record) on, as a text that `parse_game`
        replays exactly.
        """
        ...

    def parse_game(self, text: str, /) -> Any:
        """Read a game text and replay it."""
        ...

    def draw_ansi(self, options: Any, view: Any, colour: bool = False, /) -> str:
        """Draw a view (one VIEW record) as text."""
        ...

    def draw_rgb(self, options: Any, view: Any, /) -> NDArray[np.uint8]:
        """Draw a view (one VIEW record) as an image (u1 [height, width, 3], always the same size)."""
        ...

    def make_bot(self, name: str, options: Any, /) -> Bot:
        """Make a built-in bot for a game."""
        ...


class UnknownOptionError(ValueError):
    """An option has a name that the game does not know; the message lists those it knows."""


class IllegalAction(ValueError):  # noqa: N818
    """An action was refused; the game has not changed.

    Attributes:
        game_text: the game up to here, to be replayed in a bug report. It shows every hidden card.
    """

    game_text: str = ""


@cache
def load_game(name: str) -> Game:
    """Import a game module by its full name, for instance ``"sleuth_env.sleuth"``.

    Raises:
        ValueError: there is no such module, or it lacks a name of `Game`.
    """
    try:
        module = import_module(name)
    except ModuleNotFoundError as error:
        if name != error.name and not name.startswith(f"{error.name}."):
            raise
        raise ValueError(f"there is no game module {name!r}") from error
    except (AttributeError, TypeError, ValueError) as error:
        raise ValueError(f"game must be the full name of a game module, got {name!r}") from error
    names = sorted(wanted for wanted in {*Game.__annotations__, *vars(Game)} if not wanted.startswith("_"))
    lacking = [wanted for wanted in names if not hasattr(module, wanted)]
    if lacking:
        raise ValueError(f"{name!r} is no game module: it lacks {', '.join(lacking)}")
    return cast(Game, module)


def check_snapshot(state: Any, names: Sequence[str]) -> None:
    """Raise ValueError unless a snapshot is a mapping that has all these names."""
    lacking = [name for name in names if not isinstance(state, Mapping) or name not in state]
    if lacking:
        raise ValueError(f"{NO_SNAPSHOT}: it lacks {', '.join(lacking)}")


def make_options(game: Game, named: Mapping[str, Any], max_cycles: int | None = None) -> Any:
    """Make a game's options from keyword arguments.

    Args:
        game: the game module.
        named: the options by name.
        max_cycles: PettingZoo's word for the option ``max_turns``; None leaves it alone.

    Raises:
        UnknownOptionError: a name that the game does not know.
        ValueError: a value that it does not allow, or two different turn limits.
    """
    known = [field.name for field in dataclasses.fields(game.Options)]
    for name in named:
        if name not in known:
            raise UnknownOptionError(f"unknown option {name!r}; the options of {game.NAME} are {', '.join(known)}")
    options = dict(named)
    if max_cycles is not None and options.setdefault("max_turns", max_cycles) != max_cycles:
        raise ValueError(
            f"max_cycles={max_cycles!r} is another name of max_turns={options['max_turns']!r}: give one of them"
        )
    return game.Options(**options)


def action_number(action: Any, num_actions: int) -> int:
    """Give an action as an int.

    Raises:
        IllegalAction: it is no whole number (see `whole_number`), or out of range.
    """
    number = whole_number(action)
    if number is None or not 0 <= number < num_actions:
        raise IllegalAction(f"an action is an integer from 0 to {num_actions - 1}, got {action!r}")
    return number


def action_numbers(actions: Any, num_games: int, num_actions: int) -> NDArray[np.int64]:
    """Give one action for each game as an array (i8 [B]).

    Raises:
        IllegalAction: they are something else.
    """
    try:
        numbers = np.asarray(actions)
    except ValueError:  # lists of unequal length
        numbers = np.empty(0)
    if numbers.shape != (num_games,):
        raise IllegalAction(
            f"step takes one action for each of {num_games} games, an array of shape ({num_games},), got {actions!r}"
        )
    if numbers.dtype.kind not in "iu" or not ((numbers >= 0) & (numbers < num_actions)).all():
        numbers = np.array([action_number(action, num_actions) for action in actions])
    return numbers.astype(np.int64)


def refusal(game: Game, options: Any, action: int, legal: NDArray[Any], player: str) -> IllegalAction:
    """Say in the game's words why an action is refused, with some that are legal (u1 [A])."""
    name = game.action_name(action, options.num_players)
    numbers = np.flatnonzero(legal)
    # A few from every part of the list: its first ones would all be the same question, paid with
    # different cards.
    some = numbers[np.unique(np.linspace(0, len(numbers) - 1, 6).astype(np.int64))] if len(numbers) else numbers
    examples = ", ".join(f"{a} ({game.action_name(int(a), options.num_players)})" for a in some)
    return IllegalAction(
        f"{player} may not choose action {action} ({name}) now; {len(numbers)} actions are legal, for instance {examples}"
    )


def render_view(game: Game, options: Any, view: Any, render_mode: str) -> str | NDArray[np.uint8] | None:
    """Draw a view (one VIEW record): "ansi" gives text, "rgb_array" an image, "human" writes the
    text to the standard output.
    """
    if render_mode == "rgb_array":
        return game.draw_rgb(options, view)
    text = game.draw_ansi(options, view)
    if render_mode == "ansi":
        return text
    sys.stdout.write(text.rstrip("\n") + "\n\n")
    sys.stdout.flush()
    return None
