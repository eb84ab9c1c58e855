"""The whole hidden state of a game as plain data, in the words of the notation.

For debugging and analysis. `set_up.set_up` is the way back, at the beginning of a turn.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from ..game import player_name
from .cards import AFOOT, BOOKS, NUM_TITLES, SAY_TYPES, TELEGRAMS, TITLES, VILLAINS, Options, make_rules
from .records import one_state
from .results import points, standings
from .state import FINISHED, PHASES

LOCATION_NAMES = ("country", "city")


def card_names(copies: Iterable[Any]) -> list[str]:
    """Return the names of some cards, given as the number of copies of each title, with repeats.

    >>> card_names([2, 1])
    ['hansom-cab', 'hansom-cab', 'train']
    """
    return [TITLES[title] for title, number in enumerate(copies) for _ in range(int(number))]


def _title(number: Any) -> str | None:
    return TITLES[int(number)] if number >= 0 else None


def _player(seat: Any) -> str | None:
    return player_name(int(seat)) if seat >= 0 else None


def _tokens(state: Any, seat: int) -> dict[str, Any]:
    """Return the tokens of a seat; of -1 the Books and Villain tokens that nobody has."""
    return {
        "books": [name for name, owner in zip(BOOKS, state["books"], strict=True) if owner == seat],
        "villains": [name for name, owner in zip(VILLAINS, state["villains"], strict=True) if owner == seat],
        "say": {name: int(state["say"][seat, kind]) for kind, name in enumerate(SAY_TYPES) if state["say"][seat, kind]},
        "telegrams": [name for name, owner in zip(TELEGRAMS, state["telegrams"], strict=True) if owner == seat],
    }


def _pools(state: Any) -> dict[str, Any]:
    stacks = [state["say_pool"][kind, : state["say_sizes"][kind]][::-1] for kind in range(len(SAY_TYPES))]
    stock = state["telegram_stock"][: state["telegram_size"]][::-1]
    return {
        **_tokens(state, -1),
        "say": {name: [int(worth) for worth in stack] for name, stack in zip(SAY_TYPES, stacks, strict=True)},
        "telegrams": [TELEGRAMS[token] for token in stock],
    }


def _look(state: Any, viewer: int, other: int) -> dict[str, Any]:
    return {
        "cards": card_names(state["looks"][viewer, other]),
        "whole": bool(state["look_whole"][viewer, other]),
        "turn": int(state["look_turn"][viewer, other]),
    }


def reveal(options: Options, state: Any) -> dict[str, Any]:
    """Return the whole hidden state of a game as plain data.

    Args:
        options: of the game.
        state: one STATE record.

    Returns:
        a dictionary of the cards, tokens and looks, and of what is being decided; see docs/holmes.md.

    Raises:
        ArrayError: the state is something else, or no game is like that.
    """
    return plain_data(options, one_state(options, state)[0])


def plain_data(options: Options, state: Any) -> dict[str, Any]:
    """Return what `reveal` returns, without a look at what is given."""
    seats = range(options.num_players)
    pile = state["pile"][: state["pile_size"]][::-1]
    down = [(int(seat), state["set_down"][seat]) for seat in np.roll(seats, -int(state["turn"]))]
    return {
        "hands": {player_name(seat): card_names(state["hands"][seat]) for seat in seats},
        "draw_pile": [TITLES[title] for title in pile],
        "discards": card_names(state["discards"]),
        "current": TITLES[state["current"]],
        "aside": [] if state["current"] == AFOOT else [TITLES[AFOOT]],
        "in_play": _title(state["in_play"]),
        "drawn": _title(state["drawn"]),
        "location": LOCATION_NAMES[state["city"]],
        "turn": player_name(int(state["turn"])),
        "next_turn": player_name(int(state["next_turn"])),
        "actor": _player(state["actor"]),
        "phase": PHASES[state["phase"]],
        "card": _title(state["card"]),
        "player": _player(state["player"]),
        "target": _player(state["target"]),
        "tried": [player_name(int(seat)) for seat in state["tried"][: state["num_tried"]]],
        "set_down": {player_name(seat): TITLES[title] for seat, title in down if title >= 0},
        "tokens": {player_name(seat): _tokens(state, seat) for seat in seats},
        "pools": _pools(state),
        "shown": {
            player_name(viewer): {player_name(other): _look(state, viewer, other) for other in seats if other != viewer}
            for viewer in seats
        },
        "turn_number": int(state["turn_number"]),
        "case_number": int(state["case_number"]),
        **_result(options, state),
    }


def _result(options: Options, state: Any) -> dict[str, Any]:
    """Return the points as they stand, and who has won."""
    seats = range(options.num_players)
    states = np.zeros(1, state.dtype)
    states[0] = state
    scored = np.zeros((1, options.num_players), np.int32)
    places = np.zeros((1, options.num_players), np.int32)
    points(make_rules(options), states, scored)
    standings(make_rules(options), states, places)
    over = state["phase"] == FINISHED
    return {
        "points": {player_name(seat): int(scored[0, seat]) for seat in seats},
        "winners": [player_name(seat) for seat in seats if over and places[0, seat] == 1],
        "truncated": bool(state["truncated"]),
    }


def copies_of(names: Iterable[str]) -> list[int]:
    """Return the number of copies of each title among some cards: the way back from `card_names`."""
    copies = [0] * NUM_TITLES
    for name in names:
        copies[TITLES.index(name)] += 1
    return copies
