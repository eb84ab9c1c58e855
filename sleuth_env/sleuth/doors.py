"""Sleuth's rules for users: the kernels of `state`, `rules`, `results` and `view` behind checks of what they are given.

The package itself calls the kernels (see `sleuth_env.game.kernels_of`). Axis letters: ``B`` games,
``P`` players, ``A`` actions.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import numpy as np

from ..doors import Argument, ArrayError, described, door
from ..options import OptionError
from . import results, rules, state
from . import view as viewing
from .cards import RULES, Options, make_rules
from .state import STATE
from .view import VIEW

# The options that the record of rules says by another name.
NAMED = {
    "first_random": ("first_player", ("seat_0", "random")),
    "any_time": ("accuse", ("own_turn", "any_time")),
    "offers_random": ("offer_order", ("clockwise", "random")),
}


def checked_rules(given: Any) -> np.ndarray:
    """Return rules in the form that kernels take: the record that `make_rules` returns for their options.

    Raises:
        ArrayError: these are not rules that `make_rules` returns.
    """
    if not isinstance(given, np.ndarray) or given.dtype != RULES or given.shape != (1,):
        raise ArrayError(f"rules must be what make_rules returns, got {described(given)}")
    return _rules_of(given.tobytes())


@lru_cache(maxsize=64)
def _rules_of(content: bytes) -> np.ndarray:
    given = np.frombuffer(content, RULES)
    options: dict[str, Any] = {}
    for name in RULES.names or ():
        other, values = NAMED.get(name, (name, (False, True)))
        number = int(given[name][0]) if given[name].shape == (1,) else 0
        if name in NAMED and number in (0, 1):
            options[other] = values[number]
        elif name in Options.__dataclass_fields__:
            options[name] = bool(number) if isinstance(getattr(Options, name), bool) else number
    try:
        rules = make_rules(Options(**options))
    except OptionError as error:
        raise ArrayError(f"rules must be what make_rules returns, got some that no options have: {error}") from None
    if rules[0] != given[0]:
        raise ArrayError("rules must be what make_rules returns, got some that have been changed")
    return rules


def _lengths(rules: np.ndarray) -> dict[str, int]:
    return {"P": int(rules["num_players"][0]), "A": int(rules["num_actions"][0])}


def _check_seats(rules: np.ndarray, seats: np.ndarray) -> None:
    last = int(rules["num_players"][0]) - 1
    if seats.size and not (seats.min() >= 0 and seats.max() <= last):
        raise ArrayError(f"seats must be from 0 to {last}, got {described(seats)}")


RULES_ARGUMENT = Argument("rules", RULES, "1", "RULES", take=checked_rules)
STATES = Argument("states", STATE, "B", "STATE")
MOVED = Argument("states", STATE, "B", "STATE", written=True)

deal = door(state.deal, [RULES_ARGUMENT, MOVED, Argument("seeds", np.uint64)], _lengths)
legal = door(rules.legal, [RULES_ARGUMENT, STATES, Argument("out", np.uint8, "BA", written=True)], _lengths)
step = door(
    rules.step,
    [
        RULES_ARGUMENT,
        MOVED,
        Argument("actions", np.int64),
        Argument("taken", np.uint8, written=True),
        Argument("rewards", np.float64, "BP", written=True),
    ],
    _lengths,
)
ends = door(
    results.ends,
    [
        RULES_ARGUMENT,
        STATES,
        Argument("terminated", np.uint8, "BP", written=True),
        Argument("truncated", np.uint8, "BP", written=True),
    ],
    _lengths,
)
settled = door(
    results.settled,
    [
        RULES_ARGUMENT,
        STATES,
        Argument("settled", np.uint8, "BP", written=True),
        Argument("due", np.float64, "BP", written=True),
    ],
    _lengths,
)
standings = door(
    results.standings, [RULES_ARGUMENT, STATES, Argument("places", np.int32, "BP", written=True)], _lengths
)
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
