"""The cards, the questions they allow, the numbers of the actions, and the options."""

from __future__ import annotations

import re
from dataclasses import Field, fields

import numpy as np
import pytest
from hypothesis import given

from sleuth_env.options import parse_option
from sleuth_env.sleuth import cards
from sleuth_env.sleuth.cards import OptionError, Options, make_rules, num_actions, question_gems
from tests.support import oracle
from tests.support.strategies import ALL_VARIANTS, PLAYER_COUNTS, all_options, option_name


def named(parts: tuple[str, ...]) -> str:
    return "-".join(parts)


def matching(question: str) -> int:
    return len(oracle.matching(question, oracle.GEMS))


# --- cards ---


def test_the_gem_cards_are_the_rule_books() -> None:
    assert [named(gem) for gem in cards.GEMS] == oracle.GEMS
    assert len(set(cards.GEMS)) == cards.NUM_GEMS == 36


def test_the_questions_are_ten_of_one_element_and_33_of_two() -> None:
    assert [named(question) for question in cards.QUESTIONS] == oracle.QUESTIONS
    sizes = [len(question) for question in cards.QUESTIONS]
    assert (sizes.count(1), sizes.count(2), len(set(cards.QUESTIONS))) == (10, 33, 43)


@pytest.mark.parametrize(
    ("question", "gems"),
    [("red", 9), ("diamond", 12), ("pair", 12), ("yellow-opal", 3), ("green-cluster", 3), ("pearl-solitaire", 4)],
)
def test_a_question_matches_as_many_gems_as_the_rule_book_says(question: str, gems: int) -> None:
    assert question_gems(oracle.QUESTIONS.index(question)).bit_count() == gems


def test_every_question_matches_the_gems_that_have_its_elements() -> None:
    for index, question in enumerate(oracle.QUESTIONS):
        expected = sum(1 << i for i, gem in enumerate(oracle.GEMS) if gem in oracle.matching(question, oracle.GEMS))
        assert question_gems(index) == expected == make_rules(Options())[0]["question_gems"][index]


def test_the_search_cards_are_ten_thirty_three_ten_and_one() -> None:
    questions_allowed = [len(allowed) for allowed in cards.ALLOWED]
    assert len(questions_allowed) == cards.NUM_SEARCH_CARDS == 54
    assert questions_allowed[:43] == [1] * 43
    assert questions_allowed[43:] == [7] * 4 + [8] * 6 + [43]


def test_a_search_card_allows_what_the_rules_say() -> None:
    for allowed, card in zip(cards.ALLOWED, oracle.SEARCH_CARDS, strict=True):
        assert [named(question) for question in allowed] == oracle.may_ask(card)


def test_free_choice_blue_asks_blue_and_blue_with_any_other_element_and_nothing_else() -> None:
    allowed = cards.ALLOWED[cards.FIRST_FREE + cards.ELEMENTS.index("blue")]
    assert {named(question) for question in allowed} == {
        *("blue", "blue-diamond", "blue-pearl", "blue-opal"),
        *("blue-solitaire", "blue-pair", "blue-cluster"),
    }


def test_there_are_162_ways_to_pay_for_a_question() -> None:
    assert cards.NUM_PAIRS == len(set(cards.PAIRS)) == 162
    ways = [sum(asked == question for asked, _ in cards.PAIRS) for question in range(43)]
    assert ways == [3] * 10 + [4] * 33
    assert [
        (oracle.QUESTIONS[question], oracle.SEARCH_CARDS[card]) for question, card in cards.PAIRS
    ] == oracle.PAID_QUESTIONS


# --- set-up ---


@pytest.mark.parametrize(("players", "missing", "hand", "table"), [
    *((3, 1, 11, 2), (4, 1, 8, 3), (5, 1, 7, 0), (6, 1, 5, 5), (7, 1, 5, 0)),
    *((3, 2, 11, 1), (3, 3, 11, 0), (4, 2, 8, 2), (4, 3, 8, 1)),
])  # fmt: skip
def test_hands_and_table_have_the_sizes_of_the_rule_book(players: int, missing: int, hand: int, table: int) -> None:
    options = Options(num_players=players, missing=missing)
    assert (options.hand_size, options.table_size) == (hand, table)


# --- actions ---


@pytest.mark.parametrize(("players", "size"), [(3, 448), (4, 653), (5, 858), (6, 1063), (7, 1268)])
def test_the_number_of_actions(players: int, size: int) -> None:
    assert num_actions(Options(num_players=players)) == size == len(oracle.ACTIONS[players])


@pytest.mark.parametrize("players", PLAYER_COUNTS)
def test_the_blocks_of_actions_stand_in_their_order(players: int) -> None:
    rules = make_rules(Options(num_players=players))[0]
    numbers = oracle.NUMBERS[players]
    assert numbers["ask", 1, "red", "red"] == 0
    assert numbers["final", 1, "red"] == rules["final_at"]
    assert numbers["exchange",] == rules["exchange_at"]
    assert numbers["accuse", oracle.GEMS[0]] == rules["accuse_at"]
    assert numbers["pass",] == rules["pass_at"] == rules["num_actions"] - 1
    for pair, (question, card) in enumerate(oracle.PAID_QUESTIONS):
        assert numbers["ask", players - 1, question, card] == (players - 2) * 162 + pair


@pytest.mark.parametrize("options", ALL_VARIANTS, ids=option_name)
def test_the_rules_of_a_game_are_read_only_and_say_what_its_options_say(options: Options) -> None:
    rules = make_rules(options)
    assert rules is make_rules(options)
    assert not rules.flags.writeable
    for name in (
        "num_players",
        "missing",
        "winners",
        "double_interrogation",
        "super_sleuth",
        "announce_result",
        "last_survivor_wins",
        "max_turns",
    ):
        assert rules[0][name] == getattr(options, name)
    chosen = (options.first_player == "random", options.accuse == "any_time", options.offer_order == "random")
    assert (rules[0]["first_random"], rules[0]["any_time"], rules[0]["offers_random"]) == chosen


# --- options ---


def test_the_defaults_are_those_of_the_rules() -> None:
    assert Options() == Options(4, 1, 1, False, False, "random", "any_time", "random", True, False, 300)


@pytest.mark.parametrize(("bad", "legal"), [
    *(({"num_players": value}, "from 3 to 7") for value in (2, 8, 0, -4, 4.0, "4", None, True)),
    *(({"missing": value}, "from 1 to 3") for value in (0, 4, 1.5, "2", False)),
    *(({"num_players": players, "missing": missing}, "3 or 4 players") for players in (5, 6, 7) for missing in (2, 3)),
    *(({"num_players": 3, "winners": value}, "from 1 to 2") for value in (0, 3, "1", 1.0, None)),
    *(({"num_players": 7, "winners": value}, "from 1 to 6") for value in (0, 7)),
    *(
        ({name: value}, "False, True")
        for name in ("double_interrogation", "super_sleuth", "last_survivor_wins")
        for value in (1, 0, "yes", None, 2)
    ),
    *(({"winners": 2, "announce_result": value}, "False, True") for value in (1, "no", None)),
    *(({"first_player": value}, "'random', 'seat_0'") for value in ("seat_1", 0, None, "Random", "")),
    *(({"accuse": value}, "'any_time', 'own_turn'") for value in ("never", True, None)),
    *(({"offer_order": value}, "'random', 'clockwise'") for value in ("counterclockwise", 1, None)),
    *(({"max_turns": value}, "from 1") for value in (0, -1, 2.0, "300", None, True, 2**31)),
])  # fmt: skip
def test_a_bad_value_is_refused_by_name_with_the_legal_ones(bad: dict, legal: str) -> None:
    name, value = list(bad.items())[-1]
    with pytest.raises(OptionError) as refused:
        Options(**bad)
    message = str(refused.value)
    assert name in message
    assert repr(value) in message
    assert legal in message


def test_hidden_results_need_more_than_one_winner() -> None:
    with pytest.raises(OptionError, match="announce_result=False needs winners > 1, got winners=1"):
        Options(announce_result=False)


def test_an_option_error_is_a_value_error() -> None:
    assert issubclass(OptionError, ValueError)


def test_an_unknown_option_is_refused() -> None:
    with pytest.raises(TypeError, match="colour"):
        Options(colour="red")


def test_numbers_booleans_and_texts_of_numpy_become_plain_ones() -> None:
    options = Options(
        num_players=np.int64(5), winners=np.int8(2), super_sleuth=np.bool_(True), accuse=np.str_("own_turn")
    )
    assert options == Options(num_players=5, winners=2, super_sleuth=True, accuse="own_turn")
    assert [type(value) for value in (options.num_players, options.winners, options.super_sleuth, options.accuse)] == [
        int,
        int,
        bool,
        str,
    ]


@pytest.mark.parametrize(
    "bad", [{"accuse": np.str_("never")}, {"super_sleuth": np.str_("True")}, {"first_player": np.bool_(True)}]
)
def test_values_of_numpy_are_checked_like_plain_ones(bad: dict) -> None:
    with pytest.raises(OptionError, match=f"{next(iter(bad))} must be one of"):
        Options(**bad)


@pytest.mark.parametrize("field", fields(Options), ids=lambda field: field.name)
def test_the_text_of_an_option_is_read_as_its_value(field: Field) -> None:
    value = parse_option(Options, field.name, str(field.default))
    assert (value, type(value)) == (field.default, type(field.default))


@pytest.mark.parametrize(("text", "value"), [("true", True), ("True", True), ("false", False), ("False", False)])
def test_a_boolean_is_read_in_yamls_and_in_pythons_words(text: str, value: bool) -> None:
    assert parse_option(Options, "super_sleuth", text) is value


@pytest.mark.parametrize(
    ("name", "text"),
    [
        *(("super_sleuth", text) for text in ("1", "0", "TRUE", "tRue", "yes", "", " True")),
        *(("winners", text) for text in ("2.0", "+2", " 2", "1_0", "\u0662", "2" * 16, "")),
    ],
)
def test_a_text_that_fits_no_option_is_left_for_the_options_to_refuse(name: str, text: str) -> None:
    assert parse_option(Options, name, text) == text
    with pytest.raises(OptionError, match=f"{name} must be .*, got {re.escape(repr(text))}"):
        Options(**{name: parse_option(Options, name, text)})


@given(options=all_options())
def test_every_legal_combination_is_accepted_and_stands_for_itself(options: Options) -> None:
    assert Options(**vars(options)) == options
    assert hash(Options(**vars(options))) == hash(options)
    assert options.table_size == 36 - options.missing - options.num_players * options.hand_size >= 0
