"""Single views, states and seats as users hand them in, checked for everything that others take for granted."""

from __future__ import annotations

import numpy as np

from ..doors import ArrayError, described
from ..game_doors import SingleRecords
from .cards import MAX_PLAYERS, MIN_PLAYERS, NUM_TITLES, Options, make_rules
from .checked import checked_views
from .invariants import problems
from .state import KIND, NUM_EVENT_KINDS, PLAYER, STATE, TARGET, TITLE
from .view import VIEW


def _check_events(options: Options, events: np.ndarray, name: str) -> None:
    """Check the kinds, the seats and the titles in the events of a view."""
    for field, most in ((KIND, NUM_EVENT_KINDS), (PLAYER, options.num_players), (TARGET, options.num_players)):
        if events[:, field].max() >= most:
            raise ArrayError(
                f"column {field} of events of {name} must be from -1 to {most - 1}, got {described(events[:, field])}"
            )
    if events[:, TITLE].max() >= NUM_TITLES:
        raise ArrayError(f"events of {name} must be of titles from -1 to {NUM_TITLES - 1}")


_SINGLE = SingleRecords(
    make_rules=make_rules,
    state_type=STATE,
    view_type=VIEW,
    fewest=MIN_PLAYERS,
    most=MAX_PLAYERS,
    problems=problems,
    checked_views=checked_views,
    check_events=_check_events,
)
one_state = _SINGLE.one_state
one_view = _SINGLE.one_view
seat_in_view = _SINGLE.seat_in_view
