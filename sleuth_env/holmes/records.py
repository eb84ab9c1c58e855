"""Single views, states and seats as users hand them in, checked for everything that others take for granted."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..checks import check_number
from ..doors import ArrayError, described, one_record
from .cards import MAX_PLAYERS, MIN_PLAYERS, NUM_TITLES, Options, make_rules
from .checked import checked_views
from .invariants import problems
from .state import KIND, NUM_EVENT_KINDS, PLAYER, STATE, TARGET, TITLE
from .view import VIEW


def one_view(options: Options, given: Any, name: str = "view") -> np.ndarray:
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
    views = checked_views(make_rules(options), one_record(name, given, VIEW, "VIEW"))
    events = views["events"][0]
    for field, most in ((KIND, NUM_EVENT_KINDS), (PLAYER, options.num_players), (TARGET, options.num_players)):
        if events[:, field].max() >= most:
            raise ArrayError(
                f"column {field} of events of {name} must be from -1 to {most - 1}, got {described(events[:, field])}"
            )
    if events[:, TITLE].max() >= NUM_TITLES:
        raise ArrayError(f"events of {name} must be of titles from -1 to {NUM_TITLES - 1}")
    return views


def seat_in_view(given: Any, name: str) -> tuple[int, int]:
    """Return the number of players and the viewer's seat of one view (VIEW record).

    Raises:
        ArrayError: it is something else.
    """
    seen = one_record(name, given, VIEW, "VIEW")[0]
    count = check_number(f"num_players of {name}", int(seen["num_players"]), MIN_PLAYERS, MAX_PLAYERS, ArrayError)
    return count, check_number(f"seat of {name}", int(seen["seat"]), 0, count - 1, ArrayError)


def one_state(options: Options, given: Any, name: str = "state") -> np.ndarray:
    """Return one state of a sound game, or an array of one, as STATE [1]: a copy.

    Args:
        options: of the game.
        given: what was handed in.
        name: of the argument.

    Raises:
        ArrayError: it is something else, or no game of these options is like that.
        OptionError: these are not options.
    """
    rules = make_rules(options)
    states = one_record(name, given, STATE, "STATE")
    for problem in problems(rules, states)[:1]:
        raise ArrayError(f"{name} must be of a sound game, but {problem.partition(': ')[2]}")
    return states
