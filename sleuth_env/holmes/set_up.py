"""Set a game up in a position, for tests and analysis.

A position has the form of what `reveal.reveal` returns, at the beginning of a turn.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from ..checks import check_number, check_seed
from ..game import player_name
from ..kernels import kernel
from .cards import (
    AFOOT,
    BOOKS,
    CATEGORY,
    COPIES,
    HAND_SIZE,
    LOCATION_TITLES,
    LOCATIONS,
    MASTERMIND,
    NUM_CARDS,
    NUM_TITLES,
    SAY_TITLES,
    SAY_TYPES,
    TELEGRAMS,
    TITLES,
    VILLAIN_TITLES,
    VILLAINS,
    Options,
    make_rules,
)
from .cases import begin_turn
from .reveal import LOCATION_NAMES, copies_of, reveal
from .sheet import begin_sheets
from .state import new_states

REQUIRED = ("hands", "current", "location", "turn")
MOST = 2**31 - 1


class SetUpError(ValueError):
    """A position cannot be set up; the message says what is wrong with it."""


def set_up(options: Options, position: Mapping[str, Any], seed: int = 0) -> np.ndarray:
    """Return a game in a position at the beginning of a turn (STATE [1]).

    Args:
        options: of the game.
        position: in the form of `reveal.reveal`. `hands`, `current`, `location` and `turn` are needed; all
            else is as in a new game where it is not given. `draw_pile` names the next cards; all cards
            that are placed nowhere lie below them, in the order of the titles.
        seed: the state of the game's generator.

    Raises:
        SetUpError: the position is not one that can be; the message quotes what is wrong.

    >>> hands = {f"player_{seat}": ["clue", "train"] for seat in range(3)}
    >>> position = {"hands": hands, "current": "london", "location": "city", "turn": "player_1"}
    >>> state = set_up(Options(num_players=3), position)
    >>> int(state["actor"][0]), int(state["pile_size"][0])
    (1, 117)
    """
    rules = make_rules(options)
    states = new_states(1)
    number = check_seed(seed)
    states["rng"] = np.uint64((0 if number is None else number) % 2**64)
    _check_keys(position)
    _place_cards(options, position, states[0])
    _place_tokens(options, position, states[0])
    _place_looks(options, position, states[0])
    for name in ("turn_number", "case_number"):
        states[name] = check_number(name, position.get(name, 1), 1, MOST, SetUpError)
    states["turn"] = _seat(options, "turn", position["turn"])
    _begin(rules, states, int(_is_deal(options, states[0])))
    _check_consequences(options, position, states[0])
    return states


@kernel
def _begin(rules, states, is_deal):
    begin_turn(rules[0], states[0], int(states[0]["turn"]))
    begin_sheets(rules[0], states[0], is_deal)


# --- what is given ---


def _check_keys(position: Mapping[str, Any]) -> None:
    for name in REQUIRED:
        if name not in position:
            raise SetUpError(f"a position needs {', '.join(REQUIRED)}; there is no {name!r}")


def _one_of(what: str, name: Any, names: Iterable[str]) -> int:
    known = list(names)
    if name not in known:
        raise SetUpError(f"{what} must be one of {', '.join(known)}, got {name!r}")
    return known.index(name)


def _seat(options: Options, what: str, name: Any) -> int:
    return _one_of(what, name, map(player_name, range(options.num_players)))


def _cards(what: str, names: Any) -> list[str]:
    if isinstance(names, str) or not isinstance(names, Iterable):
        raise SetUpError(f"{what} must be a list of titles, got {names!r}")
    cards = list(names)
    if len(cards) > NUM_CARDS:
        raise SetUpError(f"{what} must be at most {NUM_CARDS} cards, got {len(cards)}")
    for name in cards:
        _one_of(f"a card of {what}", name, TITLES[:AFOOT])
    return cards


def _check_consequences(options: Options, position: Mapping[str, Any], state: Any) -> None:
    """Check that all that is given is so in the game that was set up, what follows from the rest included."""
    told = reveal(options, state)
    for name, given in position.items():
        if name not in told:
            raise SetUpError(f"a position has no {name!r}; it has {', '.join(told)}")
        if name in ("phase", "actor", "next_turn", "in_play", "drawn", "card", "player", "target", "tried", "set_down"):
            if given != told[name]:
                raise SetUpError(f"a position is at the beginning of a turn: {name} is {told[name]!r}, got {given!r}")
        elif name in ("aside", "points", "winners", "truncated") and given != told[name]:
            raise SetUpError(f"{name} of this position is {told[name]!r}, got {given!r}")


# --- cards ---


def _place_cards(options: Options, position: Mapping[str, Any], state: Any) -> None:
    hands = position["hands"]
    names = [player_name(seat) for seat in range(options.num_players)]
    if sorted(hands) != sorted(names):
        raise SetUpError(f"hands must be those of {', '.join(names)}, got {', '.join(map(str, hands))}")
    for seat, name in enumerate(names):
        state["hands"][seat] = copies_of(_cards(f"the hand of {name}", hands[name]))
        state["hand_sizes"][seat] = state["hands"][seat].sum()
        state["held"][seat] = sum(1 << int(title) for title in np.flatnonzero(state["hands"][seat]))
    state["discards"] = copies_of(_cards("discards", position.get("discards", ())))
    state["current"] = _current(position)
    state["city"] = _city(position, int(state["current"]))
    _place_pile(position, state)


def _current(position: Mapping[str, Any]) -> int:
    never = {*SAY_TITLES, *VILLAIN_TITLES, MASTERMIND}
    possible = [name for title, name in enumerate(TITLES) if title not in never]
    _one_of("current", position["current"], possible)
    return TITLES.index(position["current"])


def _city(position: Mapping[str, Any], current: int) -> int:
    city = _one_of("location", position["location"], LOCATION_NAMES)
    if current in LOCATION_TITLES and CATEGORY[current] != LOCATION_NAMES[city]:
        raise SetUpError(
            f"location must be the kind of the Current card, {CATEGORY[current]!r} for {TITLES[current]}, "
            f"got {position['location']!r}; it is one of {', '.join(LOCATIONS)}"
        )
    return city


def _place_pile(position: Mapping[str, Any], state: Any) -> None:
    upper = _cards("draw_pile", position.get("draw_pile", ()))
    placed = state["hands"].sum(0, dtype=np.int64) + state["discards"] + copies_of(upper)
    placed[state["current"]] += 1
    placed[AFOOT] = 1
    left = COPIES - placed
    for title in np.flatnonzero(left < 0):
        raise SetUpError(
            f"a position has at most {COPIES[title]} {TITLES[title]}, got {placed[title]}, the Current card included"
        )
    lower = [TITLES[title] for title in range(NUM_TITLES) for _ in range(left[title])]
    cards = [*upper, *lower][::-1]
    state["pile"][: len(cards)] = [TITLES.index(name) for name in cards]
    state["pile_size"] = len(cards)


def _is_deal(options: Options, state: Any) -> bool:
    """Return whether the cards lie as they do when a case has been dealt."""
    rules = make_rules(options)[0]
    dealt = state["hands"].sum(0, dtype=np.int64)
    dealt[AFOOT] += 1
    first = (int(state["turn"]) - 1) % options.num_players
    sizes = [HAND_SIZE - (seat == first) for seat in range(options.num_players)]
    return bool(
        state["current"] == AFOOT
        and not state["discards"].any()
        and (dealt == rules["stack"]).all()
        and state["hand_sizes"][: options.num_players].tolist() == sizes
    )


# --- tokens ---


def _place_tokens(options: Options, position: Mapping[str, Any], state: Any) -> None:
    for name, tokens in position.get("tokens", {}).items():
        seat = _seat(options, "a player of tokens", name)
        for kind in tokens:
            _one_of(f"tokens of {name}", kind, ("books", "villains", "say", "telegrams"))
        for kind, names in (("books", BOOKS), ("villains", VILLAINS), ("telegrams", TELEGRAMS)):
            for token in tokens.get(kind, ()):
                number = _one_of(f"{kind} of {name}", token, names)
                if state[kind][number] >= 0:
                    raise SetUpError(f"{kind}: there is one {token!r}, and two players have it")
                state[kind][number] = seat
        for kind, worth in tokens.get("say", {}).items():
            state["say"][seat, _one_of(f"say of {name}", kind, SAY_TYPES)] = check_number(
                kind, worth, 1, 127, SetUpError
            )
    pools = position.get("pools", {})
    for kind in pools:
        _one_of("pools", kind, ("books", "villains", "say", "telegrams"))
    _place_say_pool(options, pools, state)
    _place_telegram_stock(pools, state)
    for kind, names in (("books", BOOKS), ("villains", VILLAINS)):
        left = [name for name, owner in zip(names, state[kind], strict=True) if owner < 0]
        if list(pools.get(kind, left)) != left:
            raise SetUpError(f"{kind} of pools must be those that nobody has, {left}, got {pools[kind]!r}")


def _place_say_pool(options: Options, pools: Mapping[str, Any], state: Any) -> None:
    supply = make_rules(options)["say_points"][0]
    for kind, name in enumerate(SAY_TYPES):
        left = Counter(supply[kind].tolist())
        left.subtract(worth for worth in state["say"][:, kind].tolist() if worth)
        for worth, number in left.items():
            if number < 0:
                raise SetUpError(f"say: there are not so many {name} tokens of {worth} points")
        rest = sorted(left.elements())
        given = list(pools.get("say", {}).get(name, rest))
        if Counter(given) != Counter(rest):
            raise SetUpError(f"say of pools must hold {rest} for {name}, in any order, got {given!r}")
        state["say_pool"][kind, : len(given)] = given[::-1]
        state["say_sizes"][kind] = len(given)


def _place_telegram_stock(pools: Mapping[str, Any], state: Any) -> None:
    rest = [name for name, owner in zip(TELEGRAMS, state["telegrams"], strict=True) if owner < 0]
    given = list(pools.get("telegrams", rest))
    if sorted(given) != sorted(rest):
        raise SetUpError(f"telegrams of pools must be {rest}, in any order, got {given!r}")
    state["telegram_stock"][: len(given)] = [TELEGRAMS.index(name) for name in given[::-1]]
    state["telegram_size"] = len(given)


# --- looks ---


def _place_looks(options: Options, position: Mapping[str, Any], state: Any) -> None:
    for viewer_name, others in position.get("shown", {}).items():
        viewer = _seat(options, "a player of shown", viewer_name)
        for other_name, look in others.items():
            other = _seat(options, f"a player shown to {viewer_name}", other_name)
            what = f"cards of {other_name} shown to {viewer_name}"
            state["looks"][viewer, other] = copies_of(_cards(what, look["cards"]))
            state["look_whole"][viewer, other] = bool(look["whole"])
            turn = check_number(f"turn of {what}", look["turn"], 0, MOST, SetUpError)
            state["look_turn"][viewer, other] = turn
