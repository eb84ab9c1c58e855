"""Rules, views and states as users hand them in, checked for everything that others take for granted.

Axis letters: ``B`` views.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import numpy as np

from ..doors import ANY, ArrayError, Ranges, described, is_array, records
from ..game_doors import SingleRecords
from ..options import OptionError
from .cards import (
    ALL_GEMS,
    ALL_QUESTIONS,
    ALL_SEARCH_CARDS,
    MAX_PLAYERS,
    MIN_PLAYERS,
    NUM_QUESTIONS,
    NUM_SEARCH_CARDS,
    QUESTIONS,
    RULES,
    Options,
    make_rules,
    question_gems,
)
from .invariants import problems
from .state import ASKER, COUNT, LEFT, NUM_EVENT_KINDS, NUM_PHASES, STATE, TARGET
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
    if not is_array(given) or given.dtype != RULES or given.shape != (1,):
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


MOST = 2**31 - 1
# Gems that one question asks for.
MOST_ASKED_FOR = max(question_gems(question).bit_count() for question in range(NUM_QUESTIONS))


@lru_cache(maxsize=32)
def _ranges(num_players: int, missing: int) -> Ranges:
    seat = (0, num_players - 1)
    nobody = (-1, num_players - 1)
    gems = (0, ALL_GEMS)
    search_cards = (0, ALL_SEARCH_CARDS)
    limits = {
        "num_players": (num_players, num_players),
        "missing": (missing, missing),
        "seat": seat,
        "turn": seat,
        "turn_number": (0, MOST),
        "phase": (0, NUM_PHASES - 1),
        "to_act": (0, 1),
        "first_target": nobody,
        "first_elements": (0, max(map(len, QUESTIONS))),
        "pile_size": (0, NUM_SEARCH_CARDS),
        "hand": gems,
        "table": gems,
        "missing_gems": gems,
        "accusing": gems,
        "accused": gems,
        "discards": search_cards,
        "search": search_cards,
        "spent": search_cards,
        "told": (0, ALL_QUESTIONS),
        "seen": gems,
        "seen_by": gems,
        "standing": (0, LEFT),
        "place": (0, num_players - 1),
        "exchanges": (0, MOST),
        "answers": (-1, MOST_ASKED_FOR),
        "askers": (0, (1 << num_players) - 1),
        # The kind of an event, who asked whom, what and with which card, and the answer.
        "events": (-1, max(NUM_EVENT_KINDS, NUM_QUESTIONS - 1, NUM_SEARCH_CARDS - 1, MOST_ASKED_FOR)),
    }
    return Ranges("a view", VIEW, limits)


def checked_views(rules: np.ndarray, given: Any) -> np.ndarray:
    """Return views (VIEW [B]) in the form that kernels take.

    Args:
        rules: RULES [1], checked.
        given: what was handed in.

    Raises:
        ArrayError: these are not views, they are of another kind of game, or a field is out of its
            range.
    """
    views = records("views", given, VIEW, (ANY,), "VIEW")
    for field in ("num_players", "missing"):
        wanted = int(rules[field][0])
        if (views[field] != wanted).any():
            values = sorted(set(views[field].tolist()))
            raise ArrayError(f"the views are of games with {field}={values}, the rules of one with {field}={wanted}")
    _ranges(int(rules["num_players"][0]), int(rules["missing"][0])).check(views)
    most = int(rules["max_turns"][0])
    for field, found, limit in (
        ("turn_number", views["turn_number"], most),
        ("exchanges", views["exchanges"].max(axis=1, initial=0), most),
        ("the number of an answer in events", views["events"][:, :, COUNT].max(axis=1, initial=0), MOST_ASKED_FOR),
    ):
        for row in np.flatnonzero(found > limit)[:1]:
            raise ArrayError(
                f"views must be of a game, where {field} is at most {limit}, got {found[row]} in row {row}"
            )
    return views


# --- one record ---


def _check_events(options: Options, events: np.ndarray, name: str) -> None:
    """Check the seats in the events of a view."""
    seats = events[:, [ASKER, TARGET]]
    if seats.max() >= options.num_players:
        last = options.num_players - 1
        raise ArrayError(f"events of {name} must be of seats from -1 to {last}, got {described(seats)}")


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
