"""Set a game up in a position, for tests and analysis.

A position has the form of what `reveal.reveal` returns, at the beginning of a turn.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from ..checks import check_choice, check_number, check_seed, is_collection, shown, whole_number
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
from .invariants import problems
from .reveal import LOCATION_NAMES, copies_of, plain_data
from .sheet import begin_sheets
from .state import new_states

REQUIRED = ("hands", "current", "location", "turn")
TOKENS = ("books", "villains", "say", "telegrams")
LOOK = ("cards", "whole", "turn")
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
    for name in ("turn_number", "case_number"):
        states[name] = check_number(name, position.get(name, 1), 1, MOST, SetUpError)
    _place_looks(options, position, states[0])
    states["turn"] = _seat(options, "turn", position["turn"])
    _begin(rules, states, int(_is_deal(options, states[0])))
    _check_consequences(options, position, states[0])
    for problem in problems(rules, states)[:1]:
        raise SetUpError(f"there is no such position: {problem.partition(': ')[2]}")
    return states


@kernel
def _begin(rules, states, is_deal):
    begin_turn(rules[0], states[0], int(states[0]["turn"]))
    begin_sheets(rules[0], states[0], is_deal)


# --- what is given ---


def _check_keys(position: Any) -> None:
    if not isinstance(position, Mapping):
        raise SetUpError(f"a position must be a dictionary with {', '.join(REQUIRED)}, got {shown(position)}")
    for name in REQUIRED:
        if name not in position:
            raise SetUpError(f"a position needs {', '.join(REQUIRED)}; there is no {name!r}")


def _one_of(what: str, name: Any, names: Iterable[str]) -> int:
    known = list(names)
    if not isinstance(name, str) or name not in known:
        raise SetUpError(f"{what} must be one of {', '.join(known)}, got {shown(name)}")
    return known.index(name)


def _player_names(options: Options) -> list[str]:
    return [player_name(seat) for seat in range(options.num_players)]


def _seat(options: Options, what: str, name: Any) -> int:
    return _one_of(what, name, _player_names(options))


def _table(what: str, given: Any, keys: Iterable[str]) -> dict[str, Any]:
    """Return a dictionary that was given, with no other keys than these."""
    known = list(keys)
    if not isinstance(given, Mapping):
        raise SetUpError(f"{what} must be a dictionary of {', '.join(known)}, got {shown(given)}")
    for key in given:
        _one_of(f"what there is in {what}", key, known)
    return dict(given)


def _list(what: str, given: Any, of: str) -> list[Any]:
    """Return a list that was given."""
    refusal = SetUpError(f"{what} must be a list of {of}, got {shown(given)}")
    if not is_collection(given) or isinstance(given, Mapping):
        raise refusal
    try:
        return list(given)
    # Whatever a foreign class does while it is gone through.
    except Exception as error:
        raise refusal from error


def _is(given: Any, wanted: Any) -> bool:
    """Return whether something that was given is a value; a foreign object, such as an array, may not even tell."""
    try:
        return bool(given == wanted)
    except Exception:
        return False


def _cards(what: str, names: Any) -> list[str]:
    cards = _list(what, names, "titles")
    if len(cards) > NUM_CARDS:
        raise SetUpError(f"{what} must be at most {NUM_CARDS} cards, got {len(cards)}")
    for name in cards:
        _one_of(f"a card of {what}", name, TITLES[:AFOOT])
    return cards


def _check_consequences(options: Options, position: Mapping[str, Any], state: Any) -> None:
    """Check that all that is given is so in the game that was set up, what follows from the rest included."""
    told = plain_data(options, state)
    for name, given in position.items():
        if name not in told:
            raise SetUpError(f"a position has no {shown(name)}; it has {', '.join(told)}")
        if name in ("phase", "actor", "next_turn", "in_play", "drawn", "card", "player", "target", "tried", "set_down"):
            if not _is(given, told[name]):
                raise SetUpError(
                    f"a position is at the beginning of a turn: {name} is {told[name]!r}, got {shown(given)}"
                )
        elif name in ("aside", "points", "winners", "truncated") and not _is(given, told[name]):
            raise SetUpError(f"{name} of this position is {told[name]!r}, got {shown(given)}")


# --- cards ---


def _place_cards(options: Options, position: Mapping[str, Any], state: Any) -> None:
    names = _player_names(options)
    hands = _table("hands", position["hands"], names)
    if len(hands) != len(names):
        raise SetUpError(f"hands must be those of {', '.join(names)}, got {', '.join(hands) or 'none'}")
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
    for name, given in _table("tokens", position.get("tokens", {}), _player_names(options)).items():
        seat = _seat(options, "a player of tokens", name)
        tokens = _table(f"tokens of {name}", given, TOKENS)
        for kind, names in (("books", BOOKS), ("villains", VILLAINS), ("telegrams", TELEGRAMS)):
            for token in _list(f"{kind} of {name}", tokens.get(kind, ()), kind):
                number = _one_of(f"{kind} of {name}", token, names)
                if state[kind][number] >= 0:
                    raise SetUpError(f"{kind}: there is one {token!r}, and two players have it")
                state[kind][number] = seat
        for kind, worth in _table(f"say of {name}", tokens.get("say", {}), SAY_TYPES).items():
            state["say"][seat, _one_of(f"say of {name}", kind, SAY_TYPES)] = check_number(
                kind, worth, 1, 127, SetUpError
            )
    pools = _table("pools", position.get("pools", {}), TOKENS)
    _place_say_pool(options, pools, state)
    _place_telegram_stock(pools, state)
    for kind, names in (("books", BOOKS), ("villains", VILLAINS)):
        left = [name for name, owner in zip(names, state[kind], strict=True) if owner < 0]
        if not _is(_list(f"{kind} of pools", pools.get(kind, left), kind), left):
            raise SetUpError(f"{kind} of pools must be those that nobody has, {left}, got {shown(pools[kind])}")


def _place_say_pool(options: Options, pools: Mapping[str, Any], state: Any) -> None:
    supply = make_rules(options)["say_points"][0]
    say = _table("say of pools", pools.get("say", {}), SAY_TYPES)
    for kind, name in enumerate(SAY_TYPES):
        left = Counter(supply[kind].tolist())
        left.subtract(worth for worth in state["say"][:, kind].tolist() if worth)
        for worth, number in left.items():
            if number < 0:
                raise SetUpError(f"say: there are not so many {name} tokens of {worth} points")
        rest = sorted(left.elements())
        given = _list(f"say of pools for {name}", say.get(name, rest), "points")
        numbers = [-1 if number is None else number for number in map(whole_number, given)]
        if sorted(numbers) != rest:
            raise SetUpError(f"say of pools must hold {rest} for {name}, in any order, got {shown(given)}")
        state["say_pool"][kind, : len(given)] = given[::-1]
        state["say_sizes"][kind] = len(given)


def _place_telegram_stock(pools: Mapping[str, Any], state: Any) -> None:
    rest = [name for name, owner in zip(TELEGRAMS, state["telegrams"], strict=True) if owner < 0]
    given = _list("telegrams of pools", pools.get("telegrams", rest), "telegrams")
    if not all(isinstance(name, str) for name in given) or sorted(given) != sorted(rest):
        raise SetUpError(f"telegrams of pools must be {rest}, in any order, got {shown(given)}")
    state["telegram_stock"][: len(given)] = [TELEGRAMS.index(name) for name in given[::-1]]
    state["telegram_size"] = len(given)


# --- looks ---


def _place_looks(options: Options, position: Mapping[str, Any], state: Any) -> None:
    names = _player_names(options)
    for viewer_name, others in _table("shown", position.get("shown", {}), names).items():
        viewer = names.index(viewer_name)
        for other_name, given in _table(f"shown to {viewer_name}", others, names).items():
            other = names.index(other_name)
            what = f"cards of {other_name} shown to {viewer_name}"
            look = _table(what, given, LOOK)
            for name in LOOK:
                if name not in look:
                    raise SetUpError(f"{what} must have {', '.join(LOOK)}; there is no {name!r}")
            copies = copies_of(_cards(what, look["cards"]))
            for title in np.flatnonzero(np.greater(copies, COPIES)):
                raise SetUpError(f"{what}: there are {COPIES[title]} {TITLES[title]}, got {copies[title]}")
            state["looks"][viewer, other] = copies
            check_choice(f"whole of {what}", look["whole"], (False, True), SetUpError)
            state["look_whole"][viewer, other] = look["whole"]
            turn = check_number(f"turn of {what}", look["turn"], 0, int(state["turn_number"]), SetUpError)
            state["look_turn"][viewer, other] = turn
