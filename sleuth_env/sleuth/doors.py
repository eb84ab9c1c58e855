"""Sleuth's rules for users: the kernels of `state`, `rules`, `results` and `view` behind checks of what they are given.

The package itself calls the kernels (see `sleuth_env.game.kernels_of`). Axis letters: ``B`` games,
``P`` players, ``A`` actions.
"""

from __future__ import annotations

import numpy as np

from ..doors import Argument, ArrayError, described, door
from ..game import opaque
from . import invariants, results, rules, state
from . import view as viewing
from .cards import RULES
from .checked import checked_rules
from .state import BLANK, STATE
from .view import VIEW as VIEW


def _lengths(rules: np.ndarray) -> dict[str, int]:
    return {"P": int(rules["num_players"][0]), "A": int(rules["num_actions"][0])}


def _check_seats(rules: np.ndarray, seats: np.ndarray) -> None:
    last = int(rules["num_players"][0]) - 1
    if seats.size and not (seats.min() >= 0 and seats.max() <= last):
        raise ArrayError(f"seats must be from 0 to {last}, got {described(seats)}")


def _check_states(rules: np.ndarray, states: np.ndarray) -> None:
    if not invariants.problems(rules, states):
        return
    # Nothing is legal in a blank game, and nobody has won it: no harm in asking.
    dealt = np.flatnonzero(opaque(states) != opaque(BLANK))
    for problem in invariants.problems(rules, opaque(states)[dealt].view(STATE))[:1]:
        game, what = problem.split(": ", 1)
        raise ArrayError(f"states must be of sound games, but in row {dealt[int(game.split()[1])]} {what}")


RULES_ARGUMENT = Argument("rules", RULES, "1", "RULES", take=checked_rules)
STATES = Argument("states", STATE, "B", "STATE", check=_check_states)
MOVED = Argument("states", STATE, "B", "STATE", written=True, check=_check_states)
DEALT = Argument("states", STATE, "B", "STATE", written=True)

deal = door(state.deal, [RULES_ARGUMENT, DEALT, Argument("seeds", np.uint64)], _lengths)
legal = door(
    rules.legal, [RULES_ARGUMENT, STATES, Argument("out", np.uint8, "BA", written=True, only_marks=True)], _lengths
)
step = door(
    rules.step,
    [
        RULES_ARGUMENT,
        MOVED,
        Argument("actions", np.int64),
        Argument("taken", np.uint8, written=True, only_marks=True),
        Argument("rewards", np.float64, "Bp", written=True),
    ],
    _lengths,
)
ends = door(
    results.ends,
    [RULES_ARGUMENT, STATES, Argument("ended", np.uint8, "B", written=True)],
    _lengths,
)
settled = door(
    results.settled,
    [
        RULES_ARGUMENT,
        STATES,
        Argument("settled", np.uint8, "Bp", written=True, only_marks=True),
        Argument("due", np.float64, "Bp", written=True),
    ],
    _lengths,
)
standings = door(
    results.standings, [RULES_ARGUMENT, STATES, Argument("places", np.int32, "Bp", written=True)], _lengths
)
problems = door(invariants.problems, [RULES_ARGUMENT, Argument("states", STATE, "B", "STATE")], _lengths)
counts = door(results.counts, [RULES_ARGUMENT, STATES], _lengths)
view = door(
    viewing.view,
    [
        RULES_ARGUMENT,
        STATES,
        Argument("seats", np.int64, check=_check_seats),
        Argument("views", VIEW, kind="VIEW", written=True),
    ],
    _lengths,
)
