"""Rules and views as users hand them in, checked for everything that kernels take for granted.

Axis letters: ``B`` views.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import numpy as np

from ..doors import ANY, ArrayError, Ranges, described, is_array, records
from ..options import OptionError
from .cards import (
    AFOOT,
    COPIES,
    NUM_BOOKS,
    NUM_CARDS,
    NUM_SAY_TYPES,
    NUM_TELEGRAMS,
    NUM_TITLES,
    NUM_VILLAINS,
    REWARDS,
    RULES,
    SAY_TOKENS,
    Options,
    make_rules,
)
from .state import FINISHED, NUM_EVENT_KINDS, NUM_PHASES
from .view import VIEW

# The options that the record of rules says by another name, or by a number.
NAMED: dict[str, tuple[str, tuple[Any, ...]]] = {
    "fast_play": ("fast_play", (False, True)),
    "city_again": ("new_case_location", ("kept", "city")),
    "left_of_alibi": ("after_alibi", ("turn_order", "left_of_alibi")),
    "must_arrest": ("must_arrest", (False, True)),
    "guilty_discarded": ("guilty_hand", ("counts", "discarded")),
    "reward": ("reward", REWARDS),
}
NUMBERS = ("num_players", "cases", "max_turns")


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
    options: dict[str, Any] = {name: int(given[name][0]) for name in NUMBERS}
    for name, (option, values) in NAMED.items():
        number = int(given[name][0])
        options[option] = values[number] if 0 <= number < len(values) else number
    try:
        rules = make_rules(Options(**options))
    except OptionError as error:
        raise ArrayError(f"rules must be what make_rules returns, got some that no options have: {error}") from None
    if rules[0] != given[0]:
        raise ArrayError("rules must be what make_rules returns, got some that have been changed")
    return rules


MOST = 2**31 - 1


@lru_cache(maxsize=8)
def _ranges(num_players: int) -> Ranges:
    seat = (0, num_players - 1)
    nobody = (-1, num_players - 1)
    number = (0, MOST)
    copies = (0, max(COPIES))
    seen = (0, 127)
    mark = (0, 1)
    limits = {
        # Afoot is in nobody's hand.
        "held": (0, (1 << AFOOT) - 1),
        "seat": seat,
        "num_players": (num_players, num_players),
        "turn": seat,
        "turn_number": number,
        "case_number": number,
        "truncated": mark,
        "current": (0, NUM_TITLES - 1),
        "city": mark,
        "pile_size": (0, NUM_CARDS),
        "telegram_pool": (0, NUM_TELEGRAMS),
        "to_act": mark,
        "phase": (-1, NUM_PHASES - 1),
        "card": (-1, NUM_TITLES - 1),
        "player": nobody,
        "target": nobody,
        "tried": (0, (1 << num_players) - 1),
        "drawn": (-1, AFOOT - 1),
        "last_closer": nobody,
        "last_accused": nobody,
        "last_total": (-1, MOST),
        "last_book": (-1, NUM_BOOKS - 1),
        "last_escaped": (0, (1 << NUM_VILLAINS) - 1),
        "hand_sizes": (0, NUM_CARDS),
        "closed": number,
        "shown_turn": number,
        "books": (0, (1 << NUM_BOOKS) - 1),
        "villain_tokens": (0, (1 << NUM_VILLAINS) - 1),
        "say_tokens": (0, (1 << NUM_SAY_TYPES) - 1),
        "telegrams": (0, NUM_TELEGRAMS),
        "shown_whole": mark,
        "seen_by_whole": mark,
        "say_pool": (0, SAY_TOKENS),
        "hand": copies,
        "discards": copies,
        # Cards that are passed on are added to a look, whatever has become of those seen before.
        "shown": seen,
        "seen_by": seen,
        "least": copies,
        "most": copies,
        # The kind of an event, who and on whom, and the title.
        "events": (-1, max(NUM_EVENT_KINDS, NUM_TITLES) - 1),
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
    wanted = int(rules["num_players"][0])
    if (views["num_players"] != wanted).any():
        values = sorted(set(views["num_players"].tolist()))
        of_rules = f"the rules of one with num_players={wanted}"
        raise ArrayError(f"the views are of games with num_players={values}, {of_rules}")
    _ranges(wanted).check(views)
    most = int(rules["max_turns"][0])
    for row in np.flatnonzero(views["turn_number"] > most)[:1]:
        turn = views["turn_number"][row]
        raise ArrayError(f"views must be of a game: turn_number is at most {most}, got {turn} in row {row}")
    # Who decides sees what is decided; who does not sees only that the game is finished.
    decided = (views["phase"] >= 0) & (views["phase"] != FINISHED)
    for row in np.flatnonzero(decided != (views["to_act"] == 1))[:1]:
        raise ArrayError(
            f"views must be of a game, but in row {row} to_act is {views['to_act'][row]} "
            f"where phase is {views['phase'][row]}"
        )
    return views


def dealable_views(rules: np.ndarray, given: Any) -> np.ndarray:
    """Return views of which deals can be drawn in the form that kernels take, see `checked_views`.

    Raises:
        ArrayError: they are not such views; or one tells of more cards or tokens than there are.
    """
    views = checked_views(rules, given)
    kinds = np.arange(NUM_SAY_TYPES)
    copies = rules["copies"][0][:AFOOT]
    sums = (
        ("copies of a title", (views["hand"] + views["discards"] + views["least"].sum(1))[:, :AFOOT], copies),
        ("cards", (views["hand_sizes"].sum(1) + views["pile_size"])[:, None], NUM_CARDS),
        ("Telegram tokens", views["telegrams"].sum(1)[:, None], NUM_TELEGRAMS),
        ("I Say tokens of a type", (views["say_tokens"][:, :, None] >> kinds & 1).sum(1), SAY_TOKENS),
    )
    for what, found, most in sums:
        rows, places = np.nonzero(found > most)
        if len(rows):
            there_are = np.broadcast_to(most, found.shape)[rows[0], places[0]]
            raise ArrayError(
                f"views must be of a game: there are at most {there_are} {what}, got {found[rows[0], places[0]]} "
                f"in row {rows[0]}"
            )
    return views
