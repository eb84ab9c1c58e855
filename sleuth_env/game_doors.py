"""The doors of a game: its kernels behind checks of what users hand in.

The package itself calls the kernels (see `sleuth_env.game.kernels_of`). Axis letters: ``B`` games,
``P`` players, ``A`` actions.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from .checks import check_number
from .doors import Argument, ArrayError, described, door
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


# --- the doors ---


def make_doors(
    kernels: Kernels,
    problems: Callable[..., list[str]],
    counts: Callable[..., Any],
    blank: Records,
    view_type: np.dtype[Any],
    checked_rules: Callable[[Any], Records],
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
    """
    check = _check_of_states(problems, blank)
    rules = Argument("rules", None, "1", "RULES", take=checked_rules)
    unchecked = Argument("states", blank.dtype, "B", "STATE")
    states = Argument("states", blank.dtype, "B", "STATE", check=check)
    moved = Argument("states", blank.dtype, "B", "STATE", written=True, check=check)
    dealt = Argument("states", blank.dtype, "B", "STATE", written=True)
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
        view=door(kernels.view, [rules, states, seats, views], _lengths),
    )
