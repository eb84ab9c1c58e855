"""The doors of a game: its kernels behind checks of what users hand in; checks of single records; what bots share.

The package itself calls the kernels (see `sleuth_env.game.kernels_of`). Axis letters: ``B`` games,
``P`` players, ``A`` actions.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from .checks import check_number
from .doors import Argument, ArrayError, described, door, one_record
from .game import Kernels, Records, opaque


@dataclass(frozen=True)
class Doors:
    """The functions of a game that are given rules and states, see `sleuth_env.game.Game`."""

    deal: Callable[..., None]
    legal: Callable[..., None]
    step: Callable[..., None]
    ends: Callable[..., None]
    settled: Callable[..., None]
    standings: Callable[..., None]
    problems: Callable[..., list[str]]
    counts: Callable[..., Any]
    view: Callable[..., None]


def _lengths(rules: Records) -> dict[str, int]:
    return {"P": int(rules["num_players"][0]), "A": int(rules["num_actions"][0])}


def _check_seats(rules: Records, seats: np.ndarray) -> None:
    last = int(rules["num_players"][0]) - 1
    if seats.size and not (seats.min() >= 0 and seats.max() <= last):
        raise ArrayError(f"seats must be from 0 to {last}, got {described(seats)}")


def _check_of_states(problems: Callable[..., list[str]], blank: Records) -> Callable[[Records, Records], None]:
    """Return a check that states are of sound games, or blank."""

    def check(rules: Records, states: Records) -> None:
        """Check states in the kernel's form."""
        if not problems(rules, states):
            return
        # Nothing is legal in a blank game, and nobody has won it: no harm in asking.
        dealt = np.flatnonzero(opaque(states) != opaque(blank))
        for problem in problems(rules, opaque(states)[dealt].view(blank.dtype))[:1]:
            game, what = problem.split(": ", 1)
            raise ArrayError(f"states must be of sound games, but in row {dealt[int(game.split()[1])]} {what}")

    return check


def checked_seat(options: Any, given: Any, name: str = "seat") -> int:
    """Return a seat of a game with these options as an int.

    Raises:
        ArrayError: the game has no such seat.
    """
    return check_number(name, given, 0, options.num_players - 1, ArrayError)


# --- what is wrong with a game ---


def problem_texts(states: Records, faults: np.ndarray, said: Mapping[int, tuple[str, str]]) -> list[str]:
    """Return what is wrong with some games, one text for each that has a fault.

    Args:
        states: STATE [B].
        faults: i8 [B], the number of each game's first fault; 0: it is sound.
        said: of each fault the field in which it lies, and what is wrong with it.
    """
    return [f"game {row}: {_words(states[row], *said[int(faults[row])])}" for row in np.flatnonzero(faults).tolist()]


def _words(state: np.void, field: str, wrong: str) -> str:
    value = " ".join(str(state[field].tolist()).split())
    return f"{field} is {value if len(value) <= 100 else value[:97] + '...'}: {wrong}"


# --- one record ---


@dataclass(frozen=True)
class SingleRecords:
    """Checks of single states and views of a game, for everything that others take for granted.

    Args:
        make_rules: returns the rules (RULES [1]) of options, or raises an OptionError.
        state_type: the dtype STATE.
        view_type: the dtype VIEW.
        fewest: players of a game.
        most: players of a game.
        problems: the game's function of that name.
        checked_views: returns views (VIEW [B]) of games with these rules in the form that kernels
            take, or raises an ArrayError.
        check_events: is given options, the events of a view and the name of the argument, and raises
            an ArrayError where they are of seats or of other things that these games do not have.
    """

    make_rules: Callable[[Any], Records]
    state_type: np.dtype[Any]
    view_type: np.dtype[Any]
    fewest: int
    most: int
    problems: Callable[[Records, Records], list[str]]
    checked_views: Callable[[Records, Any], Records]
    check_events: Callable[[Any, np.ndarray, str], None]

    def one_state(self, options: Any, given: Any, name: str = "state") -> Records:
        """Return one state of a sound game, or an array of one, as STATE [1]: a copy.

        Args:
            options: of the game.
            given: what was handed in.
            name: of the argument.

        Raises:
            ArrayError: it is something else, or no game of these options is like that.
            OptionError: these are not options.
        """
        rules = self.make_rules(options)
        states = one_record(name, given, self.state_type, "STATE")
        for problem in self.problems(rules, states)[:1]:
            raise ArrayError(f"{name} must be of a sound game, but {problem.partition(': ')[2]}")
        return states

    def one_view(self, options: Any, given: Any, name: str = "view") -> Records:
        """Return one view, or an array of one, as VIEW [1]: a copy.

        Args:
            options: of the game.
            given: what was handed in.
            name: of the argument.

        Raises:
            ArrayError: it is something else, it is of another kind of game, or a field is out of its
                range.
            OptionError: these are not options.
        """
        rules = self.make_rules(options)
        views = self.checked_views(rules, one_record(name, given, self.view_type, "VIEW"))
        self.check_events(options, views["events"][0], name)
        return views

    def seat_in_view(self, given: Any, name: str) -> tuple[int, int]:
        """Return the number of players and the viewer's seat of one view (VIEW record).

        Raises:
            ArrayError: it is something else.
        """
        seen = one_record(name, given, self.view_type, "VIEW")[0]
        count = check_number(f"num_players of {name}", int(seen["num_players"]), self.fewest, self.most, ArrayError)
        return count, check_number(f"seat of {name}", int(seen["seat"]), 0, count - 1, ArrayError)


# --- the doors ---


def make_doors(
    kernels: Kernels,
    problems: Callable[..., list[str]],
    counts: Callable[..., Any],
    blank: Records,
    view_type: np.dtype[Any],
    checked_rules: Callable[[Any], Records],
    problems_in_play: Callable[..., list[str]] | None = None,
) -> Doors:
    """Return the doors of a game.

    Args:
        kernels: of the game, see `sleuth_env.game.Kernels`.
        problems: its function of that name.
        counts: its function of that name.
        blank: STATE [1], in which nothing has been dealt.
        view_type: the dtype VIEW.
        checked_rules: returns rules that were handed in in the form that kernels take, or raises an
            ArrayError.
        problems_in_play: the same as ``problems`` for games at which nobody looks, where these may
            lack something that the others have.
    """
    check = _check_of_states(problems_in_play or problems, blank)
    rules = Argument("rules", None, "1", "RULES", take=checked_rules)
    unchecked = Argument("states", blank.dtype, "B", "STATE")
    states = Argument("states", blank.dtype, "B", "STATE", check=check)
    moved = Argument("states", blank.dtype, "B", "STATE", written=True, check=check)
    dealt = Argument("states", blank.dtype, "B", "STATE", written=True)
    seen = Argument("states", blank.dtype, "B", "STATE", check=_check_of_states(problems, blank))
    seats = Argument("seats", np.int64, check=_check_seats)
    views = Argument("views", view_type, kind="VIEW", written=True)
    rewards = Argument("rewards", np.float64, "Bp", written=True)
    due = Argument("due", np.float64, "Bp", written=True)

    def marks(name: str, axes: str) -> Argument:
        """Return an argument into which only 0 and 1 are written."""
        return Argument(name, np.uint8, axes, written=True, only_marks=True)

    return Doors(
        deal=door(kernels.deal, [rules, dealt, Argument("seeds", np.uint64)], _lengths),
        legal=door(kernels.legal, [rules, states, marks("out", "BA")], _lengths),
        step=door(kernels.step, [rules, moved, Argument("actions", np.int64), marks("taken", "B"), rewards], _lengths),
        ends=door(kernels.ends, [rules, states, Argument("ended", np.uint8, "B", written=True)], _lengths),
        settled=door(kernels.settled, [rules, states, marks("settled", "Bp"), due], _lengths),
        standings=door(kernels.standings, [rules, states, Argument("places", np.int32, "Bp", written=True)], _lengths),
        problems=door(problems, [rules, unchecked], _lengths),
        counts=door(counts, [rules, states], _lengths),
        view=door(kernels.view, [rules, seen, seats, views], _lengths),
    )


# --- bots ---


class BuiltInBot:
    """A player with a name who knows the rules of their game; the games' own `Bot` says which game it is."""

    name = ""

    def __init__(self, options: Any) -> None:
        self.options = options
        self.rules = self.make_rules(options)

    def __setstate__(self, state: dict[str, Any]) -> None:
        # Kernels would be compiled once more for a copy of the rules, which can be written into.
        vars(self).update(state, rules=self.make_rules(state["options"]))

    @staticmethod
    def make_rules(options: Any) -> Records:
        """Return the rules of the game (RULES [1])."""
        raise NotImplementedError

    def seated(self, options: Any) -> Self:
        """Return this bot as a player of a game with these options."""
        return self if options == self.options else type(self)(options)

    def act(self, views: Records, legal: np.ndarray, seeds: np.ndarray) -> np.ndarray:
        """Choose an action in every game.

        Args:
            views: VIEW [B], each of the seat that has to act.
            legal: u1 [B, A].
            seeds: u8 [B], fresh random bits; a row's choice depends on nothing but its view, legal
                actions and seed.

        Returns:
            i8 [B].

        Raises:
            ArrayError: something has another dtype or shape, the views are not of this bot's kind
                of game, or nothing is legal in some row.
        """
        raise NotImplementedError
