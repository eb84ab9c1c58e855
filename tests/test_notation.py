"""Names of cards, questions, players and actions, and events in words."""

import numpy as np
import pytest

from sleuth_env.sleuth import notation
from sleuth_env.sleuth.cards import (
    ELEMENTS,
    GEMS,
    NUM_GEMS,
    NUM_QUESTIONS,
    NUM_SEARCH_CARDS,
    Options,
    make_rules,
    num_actions,
)
from sleuth_env.sleuth.notation import NotationError, action_name, event_text, parse_action

PAIRS = [
    (notation.element_name, notation.parse_element, len(ELEMENTS)),
    (notation.gem_name, notation.parse_gem, NUM_GEMS),
    (notation.question_name, notation.parse_question, NUM_QUESTIONS),
    (notation.search_card_name, notation.parse_search_card, NUM_SEARCH_CARDS),
    (notation.player_name, notation.parse_player, 7),
]
each_pair = pytest.mark.parametrize(("name", "parse", "size"), PAIRS, ids=[pair[0].__name__ for pair in PAIRS])
each_count = pytest.mark.parametrize("num_players", range(3, 8))
HOSTILE = [
    "",
    " ",
    "Blue",
    "blue ",
    " blue",
    "blue\n",
    "BLUE-OPAL-PAIR",
    "opal-blue",
    "blue_opal",
    "free-",
    "-",
    "0",
    "bl\u00fce",
    "\0",
    "\ud800",
    "x" * 10**6,
]
NOT_TEXT = [None, 3, b"blue", ["blue"], np.int64(1), 1.5]


@each_pair
def test_every_name_is_read_back_as_its_value(name, parse, size):
    names = [name(value) for value in range(size)]
    assert len(set(names)) == size
    assert [parse(text) for text in names] == list(range(size))


@each_pair
def test_nothing_but_a_name_is_read(name, parse, size):
    names = {name(value) for value in range(size)}
    for text in HOSTILE + NOT_TEXT:
        if text not in names if isinstance(text, str) else True:
            with pytest.raises(NotationError):
                parse(text)
    for text in names:
        for other in (text.upper(), text + " ", " " + text, text + "\n", text.replace("-", " ") + "?"):
            with pytest.raises(NotationError):
                parse(other)


@each_pair
def test_only_indices_have_names(name, parse, size):
    assert name(np.int64(size - 1)) == name(size - 1)
    for value in (-1, size, 10**30, True, 1.0, "1", None):
        with pytest.raises(NotationError, match=f"from 0 to {size - 1}"):
            name(value)


def test_the_names_are_those_of_the_cards():
    assert notation.gem_name(GEMS.index(("blue", "opal", "pair"))) == "blue-opal-pair"
    questions = {notation.question_name(question) for question in range(NUM_QUESTIONS)}
    assert {"opal", "blue-opal", "blue-pair", "opal-pair"} <= questions
    cards = [notation.search_card_name(card) for card in range(NUM_SEARCH_CARDS)]
    assert cards[:NUM_QUESTIONS] == [notation.question_name(question) for question in range(NUM_QUESTIONS)]
    assert {"free-blue", "free-opal", "free-pair", "free"} <= set(cards)


@each_count
def test_every_action_is_read_back(num_players):
    size = num_actions(Options(num_players=num_players))
    names = [action_name(action, num_players) for action in range(size)]
    assert len(set(names)) == size == len(notation.action_names(num_players))
    assert [parse_action(name, num_players) for name in names] == list(range(size))
    for action in (-1, size):
        with pytest.raises(NotationError):
            action_name(action, num_players)


@each_count
def test_actions_are_numbered_as_documented(num_players):
    rules = make_rules(Options(num_players=num_players))[0]
    for text, block in (
        ("exchange", "exchange_at"),
        ("accuse red-diamond-solitaire", "accuse_at"),
        ("pass", "pass_at"),
        ("final +1 red", "final_at"),
    ):
        assert parse_action(text, num_players) == rules[block]
    assert action_name(0, num_players) == "ask +1 red with red"


@each_count
def test_no_opponent_is_further_left_than_the_table_has_seats(num_players):
    parse_action(f"final +{num_players - 1} blue", num_players)
    for text in (f"final +{num_players} blue", "final +0 blue", "final -1 blue"):
        with pytest.raises(NotationError, match=f"K from 1 to {num_players - 1}"):
            parse_action(text, num_players)


@pytest.mark.parametrize(
    "text",
    [
        "Pass",
        "pass ",
        "ask +1 blue",
        "ask +1 blue with red",
        "ask 1 blue with blue",
        "accuse opal",
        "exchange all",
        *HOSTILE,
        *NOT_TEXT,
    ],
)
def test_what_is_not_an_action_is_refused_with_the_forms_of_actions(text):
    with pytest.raises(
        NotationError, match="ask \\+K QUESTION with CARD, final \\+K QUESTION, exchange, accuse GEM, pass"
    ):
        parse_action(text, 4)


def test_a_misspelt_action_is_quoted_with_the_nearest_ones():
    with pytest.raises(NotationError, match=r"'accuse blue-opel-pair' is not .*accuse blue-opal-pair"):
        parse_action("accuse blue-opel-pair", 4)


def test_a_long_text_is_quoted_in_part():
    with pytest.raises(NotationError) as caught:
        parse_action("x" * 10**6, 7)
    assert len(str(caught.value)) < 600


@pytest.mark.parametrize("num_players", [0, 2, 8, 3.0, True, "3", None])
def test_there_are_no_actions_for_other_numbers_of_players(num_players):
    with pytest.raises(NotationError, match="num_players must be an integer from 3 to 7"):
        action_name(0, num_players)
    with pytest.raises(NotationError, match="num_players must be an integer from 3 to 7"):
        parse_action("pass", num_players)


def test_a_game_is_given_by_its_number_of_players_or_by_its_options():
    options = Options(num_players=5, super_sleuth=True)
    names = notation.action_names(options)
    assert names == notation.action_names(5)
    assert [action_name(action, options) for action in range(len(names))] == list(names)
    assert [parse_action(name, options) for name in names] == list(range(len(names)))
    with pytest.raises(NotationError, match="K from 1 to 4"):
        parse_action("final +5 red", options)


def test_events_are_told_with_the_names_of_the_seats():
    question = notation.parse_question("blue-opal")
    card = notation.parse_search_card("free-blue")
    names = ["you", "+1", "+2"]
    assert event_text(np.array([1, 2, 0, question, card, 2]), names) == "+2 asked you blue-opal with free-blue: 2"
    assert event_text(np.array([2, 0, 1, question, -1, 0]), names) == "you asked +1 as final question blue-opal: 0"
    assert event_text(np.array([3, 1, -1, -1, -1, -1]), names) == "+1 exchanged search cards"
    told = [event_text(np.array([kind, 1, -1, -1, -1, -1]), names) for kind in (4, 5, 6, 0)]
    assert told == ["+1 accused: right", "+1 accused: wrong", "+1 accused", ""]
