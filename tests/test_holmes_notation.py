"""Names of titles, tokens, players and actions of I Say, Holmes!, and events in words."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from sleuth_env.holmes import notation
from sleuth_env.holmes.cards import (
    AFOOT,
    BOOKS,
    SAY_TYPES,
    TELEGRAMS,
    TITLES,
    VILLAINS,
    Options,
    action_blocks,
    num_actions,
)
from sleuth_env.holmes.notation import NotationError, action_name, event_text, parse_action, title_name
from sleuth_env.holmes.state import EVENT_KINDS, NO_EVENT

PAIRS = [
    (notation.title_name, notation.parse_title, len(TITLES)),
    (notation.book_name, notation.parse_book, len(BOOKS)),
    (notation.say_type_name, notation.parse_say_type, len(SAY_TYPES)),
    (notation.telegram_name, notation.parse_telegram, len(TELEGRAMS)),
    (notation.player_name, notation.parse_player, 8),
]
each_pair = pytest.mark.parametrize(("name", "parse", "size"), PAIRS, ids=[pair[0].__name__ for pair in PAIRS])
each_count = pytest.mark.parametrize("num_players", range(3, 9))
HOSTILE = [
    *("", " ", "Clue", "clue ", " clue", "clue\n", "CLUE", "dr watson", "dr.-watson", "hansom_cab", "-", "0"),
    *("cl\u00fce", "\0", "\ud800", "x" * 10**6),
]
NOT_TEXT = [None, 3, b"clue", ["clue"], np.int64(1), 1.5]
Name = Callable[[int], str]
Parse = Callable[[Any], int]


@each_pair
def test_every_name_is_read_back_as_its_value(name: Name, parse: Parse, size: int) -> None:
    names = [name(value) for value in range(size)]
    assert len(set(names)) == size
    assert [parse(text) for text in names] == list(range(size))


@each_pair
def test_nothing_but_a_name_is_read(name: Name, parse: Parse, size: int) -> None:
    for text in [*HOSTILE, *NOT_TEXT]:
        with pytest.raises(NotationError):
            parse(text)
    for text in map(name, range(size)):
        for other in (text.upper(), text + " ", " " + text, text + "\n", text.replace("-", " ") + "?"):
            with pytest.raises(NotationError):
                parse(other)


@each_pair
def test_only_numbers_in_the_range_have_names(name: Name, parse: Parse, size: int) -> None:
    assert name(np.int64(size - 1)) == name(size - 1)  # type: ignore[arg-type]
    for value in (-1, size, 10**30, True, 1.0, "1", None):
        with pytest.raises(NotationError, match=f"from 0 to {size - 1}"):
            name(value)  # type: ignore[arg-type]


def test_villains_are_named_as_their_cards() -> None:
    assert set(VILLAINS) < set(TITLES)


def test_a_misspelt_title_is_quoted_with_the_nearest_ones() -> None:
    with pytest.raises(NotationError, match=r"'suspicon' is not a title; expected one of 38 names, .*suspicion"):
        notation.parse_title("suspicon")


@each_count
def test_every_action_is_read_back(num_players: int) -> None:
    options = Options(num_players=num_players)
    size = num_actions(options)
    assert size == 45 + 20 * num_players
    names = [action_name(action, options) for action in range(size)]
    assert len(set(names)) == size == len(notation.action_names(num_players))
    assert [parse_action(name, num_players) for name in names] == list(range(size))
    for action in (-1, size):
        with pytest.raises(NotationError):
            action_name(action, num_players)


@each_count
def test_actions_are_numbered_as_documented(num_players: int) -> None:
    blocks = action_blocks(Options(num_players=num_players))
    last = num_players - 1
    ends = {
        "play": ("play hansom-cab", "play mastermind"),
        "play_on": ("play boat on +1", f"play inspector-lestrade on +{last}"),
        "choose": ("choose hansom-cab", "choose milverton"),
        "arrest": ("arrest +1", f"arrest +{last}"),
        "from": ("from +0", f"from +{last}"),
        "token": ("token pipe", f"token glass from +{last}"),
        "draw": ("draw", "draw"),
        "escape": ("escape", "escape"),
        "pass": ("pass", "pass"),
    }
    assert list(ends) == list(blocks)
    for name, (first, final) in ends.items():
        assert parse_action(first, num_players) == blocks[name].start
        assert parse_action(final, num_players) == blocks[name].stop - 1


@each_count
def test_every_action_lies_in_the_block_of_its_form(num_players: int) -> None:
    for block, place in action_blocks(Options(num_players=num_players)).items():
        for action in range(place.start, place.stop):
            name = action_name(action, num_players)
            assert name.split()[0] == block.removesuffix("_on")
            assert (" on +" in name) == (block == "play_on")


@each_count
def test_no_opponent_is_further_left_than_the_table_has_seats(num_players: int) -> None:
    parse_action(f"arrest +{num_players - 1}", num_players)
    for text in (f"arrest +{num_players}", "arrest +0", "play clue on +0", "token hat from +0", "arrest -1"):
        with pytest.raises(NotationError, match=f"K from 1 to {num_players - 1}"):
            parse_action(text, num_players)


@pytest.mark.parametrize(
    "text",
    [
        *("Pass", "pass ", "play clue", "play london on +1", "play moriarty", "play afoot", "choose afoot", "arrest 1"),
        *("token pipe from", "draw 2", "escape moran", "play", *HOSTILE, *NOT_TEXT),
    ],
)
def test_what_is_not_an_action_is_refused_with_the_forms_of_actions(text: Any) -> None:
    with pytest.raises(NotationError, match=r"play TITLE, play TITLE on \+K, choose TITLE, arrest \+K, .*, pass"):
        parse_action(text, 4)


def test_a_misspelt_action_is_quoted_with_the_nearest_ones() -> None:
    with pytest.raises(NotationError, match=r"'play sherlok-holmes on \+1' is not .*play sherlock-holmes on \+1"):
        parse_action("play sherlok-holmes on +1", 4)


def test_the_longest_wrong_text_makes_a_short_message() -> None:
    with pytest.raises(NotationError) as raised:
        parse_action("play clue on +1" * 10**5, 8)
    assert len(str(raised.value)) < 600


@pytest.mark.parametrize("game", [2, 9, 0, -1, 10**30, True, 3.0, "3", None])
def test_there_are_no_actions_for_other_numbers_of_players(game: Any) -> None:
    with pytest.raises(NotationError, match="num_players must be an integer from 3 to 8"):
        action_name(0, game)
    with pytest.raises(NotationError, match="num_players must be an integer from 3 to 8"):
        parse_action("pass", game)


def test_cards_are_named_one_by_one_in_the_order_of_titles() -> None:
    copies = np.zeros(len(TITLES), np.int8)
    copies[[notation.parse_title("clue"), notation.parse_title("train")]] = (2, 1)
    assert notation.title_names(copies) == ["train", "clue", "clue"]
    assert notation.names_in(1 << AFOOT | 1) == ["hansom-cab", "afoot"]


@pytest.mark.parametrize(
    ("event", "words"),
    [
        (("played", 1, -1, "train"), "B played train"),
        (("played", 1, 2, "constabulary"), "B played constabulary on C"),
        (("played", 1, -1, "afoot"), "B began the case with afoot"),
        (("drew", 0, -1, None), "A drew a card"),
        (("countered", 2, 0, "alibi"), "C countered A with alibi"),
        (("impromptu", 0, 1, None), "A made an Impromptu Arrest of B"),
        (("innocent", 0, 1, None), "A found B Innocent"),
        (("arrested", 0, 1, None), "A found B Guilty and closed the case"),
        (("escaped", 2, -1, None), "C escaped and closed the case"),
        (("discarded", 0, -1, "moran"), "A discarded moran"),
        (("token", 0, -1, None), "A got an I Say token"),
        (("token", 0, 2, None), "A got an I Say token from C"),
        (("telegram", 1, -1, None), "B got a Telegram"),
        (("telegram", 1, 0, None), "B got a Telegram from A"),
    ],
)
def test_events_are_told_in_words(event: tuple[str, int, int, str | None], words: str) -> None:
    kind, player, target, title = event
    row = [EVENT_KINDS.index(kind), player, target, -1 if title is None else TITLES.index(title)]
    assert event_text(np.array(row, np.int8), ["A", "B", "C"]) == words


def test_no_event_has_no_words() -> None:
    assert event_text([NO_EVENT, -1, -1, -1], []) == ""


def test_every_kind_of_event_has_words() -> None:
    for kind in range(len(EVENT_KINDS)):
        assert event_text([kind, 0, 1, AFOOT], ["A", "B"])
    assert title_name(AFOOT) == "afoot"
