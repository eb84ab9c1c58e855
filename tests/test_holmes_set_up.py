"""Positions that are set up: whatever is given in one is a position, or is refused in words."""

from __future__ import annotations

import copy
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from sleuth_env.doors import ArrayError
from sleuth_env.holmes import STATE, Options, SetUpError, deal, make_rules, new_states, problems, reveal, set_up

OPTIONS = Options(num_players=3)
HANDS = {f"player_{seat}": ["clue", "train"] for seat in range(3)}
SMALL = {"hands": HANDS, "current": "london", "location": "city", "turn": "player_1"}
# A position in which everything there can be is given.
FULL: dict[str, Any] = {
    **SMALL,
    "hands": {**HANDS, "player_2": ["arrest"]},
    "discards": ["boat"],
    "draw_pile": ["train", "hansom-cab"],
    "tokens": {
        "player_0": {"books": ["return"], "villains": [], "say": {"pipe": 1}, "telegrams": ["own-0"]},
        "player_1": {},
    },
    "shown": {"player_0": {"player_1": {"cards": ["clue", "train"], "whole": True, "turn": 3}}},
    "turn_number": 5,
    "case_number": 2,
}


class Hostile:
    """Nothing can be asked of it."""

    def __eq__(self, other: object) -> bool:
        raise RuntimeError("no")

    def __hash__(self) -> int:
        raise RuntimeError("no")

    def __repr__(self) -> str:
        raise RuntimeError("no")

    def __iter__(self) -> Any:
        raise RuntimeError("no")


JUNK = (
    *(None, True, 5, -1, 10**5000, 0.5, "x", "player_0", b"clue"),
    *([], [None], [[]], [["clue"], 3], {}, {None: 1}, {"clue": 1, None: 2}, {5: 5}, {"player_0": None}),
    *({"books": 5}, {"say": {None: 1}}, {"say": {"pipe": [None]}}, {"say": [1]}, {"telegrams": [None, "own-0"]}),
    *(
        np.array(3),
        np.array([1, 2]),
        np.array(["clue", "train"]),
        np.zeros(3, "M8[s]"),
        object(),
        Hostile(),
        [Hostile()],
    ),
)


def places(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Iterate over the places in nested dictionaries and lists, the whole first."""
    yield path
    inner = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, part in inner:
        yield from places(part, (*path, key))


def changed(value: Any, path: tuple[Any, ...], part: Any) -> Any:
    """Return nested dictionaries and lists with something else in a place."""
    if not path:
        return part
    found = copy.copy(value)
    found[path[0]] = changed(value[path[0]], path[1:], part)
    return found


def full_of_all() -> dict[str, Any]:
    """Return a position as `reveal` tells one, with what was set up besides."""
    told: dict[str, Any] = reveal(OPTIONS, set_up(OPTIONS, FULL)[0])
    return told


def check(position: Any) -> bool:
    """Set a position up; return whether it was taken, and then it is of a sound game."""
    try:
        states = set_up(OPTIONS, position)
    except SetUpError:
        return False
    assert problems(make_rules(OPTIONS), states) == []
    return True


@pytest.mark.parametrize("wrong", [None, 5, np.zeros(3), np.zeros(1, STATE)[0], np.zeros(2, STATE)])
def test_only_of_a_sound_game_the_hidden_state_is_told(wrong: Any) -> None:
    with pytest.raises(ArrayError, match="state must be"):
        reveal(Options(num_players=3), wrong)


def test_a_game_is_told_under_its_own_options_and_no_others() -> None:
    options = Options(num_players=3)
    states = new_states(1)
    deal(make_rules(options), states, np.array([4]))
    assert reveal(options, states) == reveal(options, states[0])
    for num_players in (4, 5):
        with pytest.raises(ArrayError, match="state must be of a sound game"):
            reveal(Options(num_players=num_players), states[0])


def test_what_is_told_of_a_position_can_be_set_up_again() -> None:
    assert check(FULL)
    told = full_of_all()
    assert check(told)
    assert reveal(OPTIONS, set_up(OPTIONS, told)[0]) == told
    states = new_states(1)
    deal(make_rules(OPTIONS), states, np.array([1], np.uint64))
    assert check(reveal(OPTIONS, states[0]))


@pytest.mark.parametrize("position", [SMALL, FULL], ids=["small", "full"])
def test_a_strange_value_anywhere_in_a_position_is_refused_or_is_one(position: dict[str, Any]) -> None:
    for path in places(position):
        for junk in JUNK:
            check(changed(position, path, junk))
            inner = position
            for key in path:
                inner = inner[key]
            if isinstance(inner, dict):
                for key in (None, 5, "x", "player_0", "player_9", "books", "cards"):
                    check(changed(position, path, {**inner, key: junk}))
            if isinstance(inner, list):
                check(changed(position, path, [*inner, junk]))


def test_a_strange_value_anywhere_in_what_is_told_is_refused_or_is_a_position() -> None:
    told = full_of_all()
    for path in places(told):
        # The cards of the draw pile are many, and alike.
        if not (path and path[0] == "draw_pile" and len(path) > 1 and path[1] > 1):
            for junk in (None, "x", [None], {None: 1}, np.array([1, 2]), Hostile()):
                check(changed(told, path, junk))


@pytest.mark.parametrize(
    ("position", "words"),
    [
        (None, "a position must be a dictionary with hands, current, location, turn, got None"),
        ([1], r"a position must be a dictionary with .*, got \[1\]"),
        ({**SMALL, "hands": True}, "hands must be a dictionary of player_0, player_1, player_2, got True"),
        ({**SMALL, "hands": {**HANDS, None: []}}, "what there is in hands must be one of player_0, .*, got None"),
        ({**SMALL, "hands": {"player_0": []}}, "hands must be those of player_0, player_1, player_2, got player_0"),
        ({**SMALL, "hands": {}}, "hands must be those of player_0, player_1, player_2, got none"),
        ({**SMALL, None: 1}, "a position has no None; it has hands, "),
        ({**SMALL, "tokens": 5}, "tokens must be a dictionary of player_0, player_1, player_2, got 5"),
        ({**SMALL, "tokens": {"player_0": 5}}, "tokens of player_0 must be a dictionary of books, .*, got 5"),
        ({**SMALL, "tokens": {"player_0": {"books": 5}}}, "books of player_0 must be a list of books, got 5"),
        ({**SMALL, "pools": {"say": 5}}, "say of pools must be a dictionary of pipe, hat, glass, got 5"),
        ({**SMALL, "pools": {"say": {"pipe": [None]}}}, r"say of pools must hold .* for pipe, .*, got \[None\]"),
        ({**SMALL, "shown": {"player_0": {"player_1": {}}}}, "must have cards, whole, turn; there is no 'cards'"),
        (
            {**SMALL, "shown": {"player_0": {"player_1": {"cards": [], "whole": 3, "turn": 1}}}},
            "whole of cards of player_1 shown to player_0 must be one of False, True, got 3",
        ),
        (
            {**SMALL, "shown": {"player_0": {"player_1": {"cards": [], "whole": True, "turn": 2}}}},
            "turn of cards of player_1 shown to player_0 must be an integer from 0 to 1, got 2",
        ),
        (
            {**SMALL, "shown": {"player_0": {"player_1": {"cards": ["moran", "moran"], "whole": True, "turn": 1}}}},
            "cards of player_1 shown to player_0: there are 1 moran, got 2",
        ),
        (
            {**SMALL, "shown": {"player_0": {"player_1": {"cards": ["clue"], "whole": False, "turn": 0}}}},
            "there is no such position: looks is",
        ),
    ],
)
def test_a_wrong_part_is_refused_with_what_there_may_be(position: Any, words: str) -> None:
    with pytest.raises(SetUpError, match=words):
        set_up(OPTIONS, position)


@pytest.mark.parametrize(
    ("options", "more", "words"),
    [
        (Options(num_players=3, cases=1), {"case_number": 2}, "there is no such position: case_number is 2"),
        (Options(num_players=3, max_turns=10), {"turn_number": 11}, "there is no such position: turn_number is 11"),
    ],
)
def test_a_position_beyond_the_end_of_the_game_is_refused(options: Options, more: dict[str, int], words: str) -> None:
    assert not problems(make_rules(options), set_up(options, SMALL))
    with pytest.raises(SetUpError, match=words):
        set_up(options, {**SMALL, **more})
