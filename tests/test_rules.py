"""The rules in worked cases: hands set up by hand, and what must come of it."""

from __future__ import annotations

import pytest

from sleuth_env import sleuth as kernels
from sleuth_env.sleuth.cards import Options
from tests.support.oracle import GEMS, QUESTIONS
from tests.support.situation import Situation, gem_names

MISSING = ["yellow-opal-cluster"]
THREE_PAIRS = [
    *("red-diamond-pair", "blue-opal-pair", "green-pearl-pair"),
    *("red-diamond-solitaire", "red-pearl-cluster", "blue-pearl-solitaire", "green-opal-cluster"),
    *("blue-diamond-cluster", "green-diamond-solitaire", "yellow-pearl-cluster", "yellow-diamond-solitaire"),
]
BLUE_OPALS = ["blue-opal-solitaire", "blue-opal-cluster"]
OTHERS = [gem for gem in GEMS if "pair" not in gem and "blue" not in gem and "opal" not in gem]


# --- asking ---


def test_three_pairs_asked_with_a_one_element_card_are_announced_and_not_shown() -> None:
    game = Situation(Options(3), MISSING, {1: THREE_PAIRS}, {0: ["pair"]})
    assert game.do("ask", 1, "pair", "pair")
    assert game.announced(1, "pair") == 3
    assert not game.seen.any()
    for seat in range(3):
        assert game.seen_by(seat)["answers"][(1 - seat) % 3][QUESTIONS.index("pair")] == 3


@pytest.mark.parametrize("card", ["blue-opal", "free-blue", "free-opal", "free"])
def test_two_blue_opals_are_announced_and_seen_by_the_asker_only(card: str) -> None:
    game = Situation(Options(3), MISSING, {1: [*BLUE_OPALS, *OTHERS[:9]]}, {0: [card]})
    assert game.do("ask", 1, "blue-opal", card)
    assert game.announced(1, "blue-opal") == 2
    assert [gem_names(int(game.seen_by(seat)["seen"][(1 - seat) % 3])) for seat in range(3)] == [
        set(BLUE_OPALS),
        set(),
        set(),
    ]
    assert gem_names(int(game.seen_by(1)["seen_by"][2])) == set(BLUE_OPALS)


def test_a_free_choice_card_used_for_one_element_shows_nothing() -> None:
    game = Situation(Options(3), MISSING, {1: [*BLUE_OPALS, *OTHERS[:9]]}, {0: ["free-blue"]})
    assert game.do("ask", 1, "blue", "free-blue")
    assert (game.announced(1, "blue"), game.shown(0, 1)) == (2, set())


def test_in_super_sleuth_no_gem_is_shown() -> None:
    game = Situation(Options(3, super_sleuth=True), MISSING, {1: [*BLUE_OPALS, *OTHERS[:9]]}, {0: ["blue-opal"]})
    assert game.do("ask", 1, "blue-opal", "blue-opal")
    assert game.announced(1, "blue-opal") == 2
    assert not game.seen.any()


def test_the_rule_books_example_hand_answers_as_it_must() -> None:
    hand = [
        *("red-diamond-cluster", "blue-diamond-pair", "green-diamond-pair", "green-pearl-pair"),
        *("green-pearl-cluster", "blue-opal-pair", "yellow-pearl-cluster"),
    ]
    game = Situation(Options(5), MISSING, {3: hand}, {0: ["cluster", "free-green", "diamond-pair", "yellow-opal"]})
    assert game.table == 0
    assert game.do("ask", 3, "green-pearl", "free-green")
    assert (game.announced(3, "green-pearl"), game.shown(0, 3)) == (2, {"green-pearl-pair", "green-pearl-cluster"})
    answers = {"cluster": 3, "diamond-pair": 2, "yellow-opal": 0, "pearl": 3}
    for question, number in answers.items():
        other = Situation(Options(5), MISSING, {3: hand}, {0: [question]})
        assert other.do("ask", 3, question, question)
        assert other.announced(3, question) == number


def test_a_spent_card_goes_to_the_discards_and_a_new_one_is_drawn_at_the_end_of_the_turn() -> None:
    game = Situation(Options(3), MISSING, search={0: ["pair", "opal", "red", "free"]}, pile=["blue-opal", "green"])
    game.do("ask", 2, "pair", "pair")
    assert game.search_cards(0) == {"opal", "red", "free"}
    game.all_pass()
    assert game.search_cards(0) == {"opal", "red", "free", "blue-opal"}
    assert (game.turn, game.actor, game.turn_number, game.pile_size) == (1, 1, 2, 1)


def test_asking_the_same_again_is_legal_and_changes_no_answer() -> None:
    game = Situation(Options(3), MISSING, {1: THREE_PAIRS}, {0: ["pair", "free-pair"]})
    game.do("ask", 1, "pair", "pair")
    game.all_pass()
    for _ in range(2):
        assert game.do("exchange")
    assert game.do("ask", 1, "pair", "free-pair")
    assert game.announced(1, "pair") == 3


def test_only_cards_that_lie_before_the_actor_pay_for_questions() -> None:
    game = Situation(Options(4), MISSING, search={0: ["red", "free-opal", "blue-pair", "opal-pair"], 1: ["pair"]})
    paid = {(question, card) for verb, _, question, card in (action for action in game.legal() if action[0] == "ask")}
    assert {card for _, card in paid} == {"red", "free-opal", "blue-pair", "opal-pair"}
    assert {question for question, card in paid if card == "free-opal"} == {
        *("opal", "red-opal", "blue-opal", "green-opal", "yellow-opal", "opal-solitaire", "opal-pair", "opal-cluster"),
    }
    assert {k for verb, k, *_ in (action for action in game.legal() if action[0] == "ask")} == {1, 2, 3}


# --- exchanging, and the draw pile ---


def test_an_exchange_discards_four_draws_four_and_offers_nothing() -> None:
    mine = ["pair", "opal", "red", "free"]
    new = ["blue-opal", "green", "pearl", "free-red"]
    game = Situation(Options(3), MISSING, search={0: mine}, pile=[*new, "cluster"])
    assert game.do("exchange")
    assert game.search_cards(0) == set(new)
    assert (game.turn, game.phase, game.pile_size) == (1, kernels.TURN, 1)
    assert [int(game.seen_by(2)["exchanges"][k]) for k in range(3)] == [0, 1, 0]


def test_a_pile_that_runs_out_in_the_middle_of_a_draw_is_made_of_all_discards() -> None:
    game = Situation(Options(3), MISSING, search={0: ["pair", "opal", "red", "free"]}, pile=["blue-opal", "green"])
    in_discards = 54 - 12 - 2
    assert game.do("exchange")
    assert {"blue-opal", "green"} < game.search_cards(0)
    # The four cards that were just exchanged are shuffled in too.
    assert (game.pile_size, game.discards) == (in_discards + 4 - 2, 0)


def test_a_pile_that_is_empty_after_a_draw_is_not_shuffled_before_the_next_one() -> None:
    game = Situation(Options(3), MISSING, search={0: ["pair"]}, pile=["blue-opal"])
    game.do("ask", 1, "pair", "pair")
    game.all_pass()
    assert game.pile_size == 0
    assert game.discards != 0
    game.do("exchange")
    assert len(game.search_cards(1)) == 4
    assert game.pile_size == 54 - 12 - 4 + 4


# --- accusing ---


def test_after_an_answer_everybody_in_contention_is_offered_to_accuse_once() -> None:
    game = Situation(Options(5), MISSING, search={0: ["pair"]})
    game.do("ask", 2, "pair", "pair")
    offered = []
    while game.phase == kernels.OFFER:
        assert game.verbs() == {"accuse", "pass"}
        offered.append(game.actor)
        game.do("pass")
    assert sorted(offered) == [0, 1, 2, 3, 4]


def test_clockwise_offers_begin_with_the_asker() -> None:
    game = Situation(Options(5, offer_order="clockwise"), MISSING, search={1: ["pair"]})
    game.do("exchange")
    game.do("ask", 2, "pair", "pair")
    assert game.offers[:5].tolist() == [1, 2, 3, 4, 0]


def test_with_accusations_on_the_own_turn_only_nobody_is_offered_anything() -> None:
    game = Situation(Options(4, accuse="own_turn"), MISSING, search={0: ["pair"]})
    game.do("ask", 2, "pair", "pair")
    assert (game.phase, game.turn, len(game.search_cards(0))) == (kernels.TURN, 1, 4)
    assert "accuse" in game.verbs()


@pytest.mark.parametrize("players", [3, 4, 5, 6, 7])
def test_a_right_accusation_wins_and_ends_the_game(players: int) -> None:
    game = Situation(Options(players), MISSING, search={0: ["pair"]})
    game.do("ask", 1, "pair", "pair")
    game.offer_to(2)
    game.accuse_rightly()
    assert (game.phase, game.actor, game.verbs()) == (kernels.FINISHED, -1, set())
    assert game.rewards() == pytest.approx([1.0 if seat == 2 else -1 / (players - 1) for seat in range(players)])
    assert (game.ended_by_rules, game.cut_short) == (True, False)
    # The winner reveals the gem.
    assert [gem_names(int(game.seen_by(seat)["missing_gems"])) for seat in range(players)] == [set(MISSING)] * players


def test_a_wrong_accusation_stays_secret() -> None:
    game = Situation(Options(3), MISSING)
    assert game.do("accuse", "red-diamond-pair")
    assert game.events[0].tolist() == [kernels.WRONG_EVENT, 0, -1, -1, -1, -1]
    assert [gem_names(int(game.seen_by(seat)["accused"])) for seat in range(3)] == [{"red-diamond-pair"}, set(), set()]
    assert [gem_names(int(game.seen_by(seat)["missing_gems"])) for seat in range(3)] == [set(MISSING), set(), set()]


def test_a_wrong_accusation_leaves_the_player_answering() -> None:
    game = Situation(Options(3), MISSING, {0: THREE_PAIRS}, {1: ["pair"]})
    game.accuse_wrongly()
    assert (game.turn, game.standing[:3].tolist()) == (1, [kernels.OUT, kernels.IN, kernels.IN])
    assert game.do("ask", 2, "pair", "pair")
    assert game.announced(0, "pair") == 3
    offered = set(game.offers[: game.num_offers].tolist())
    assert offered == {1, 2}


def test_a_player_who_is_out_takes_no_turns_and_keeps_his_search_cards() -> None:
    game = Situation(Options(3), MISSING)
    cards = game.search_cards(0)
    game.accuse_wrongly()
    turns = []
    for _ in range(6):
        turns.append(game.turn)
        game.do("exchange")
    assert turns == [1, 2] * 3
    assert game.search_cards(0) == cards


def test_an_asker_who_goes_out_after_his_own_question_draws_nothing() -> None:
    game = Situation(Options(4), MISSING, search={0: ["pair", "opal", "red", "free"]})
    game.do("ask", 1, "pair", "pair")
    game.offer_to(0)
    game.accuse_wrongly()
    game.all_pass()
    assert (game.turn, game.search_cards(0)) == (1, {"opal", "red", "free"})


def test_a_wrong_accusation_out_of_turn_does_not_end_the_turn() -> None:
    game = Situation(Options(4), MISSING, search={0: ["pair"]})
    game.do("ask", 1, "pair", "pair")
    game.offer_to(3)
    not_yet = game.num_offers - game.offer_at - 1
    game.accuse_wrongly()
    offered = 0
    while game.phase == kernels.OFFER:
        game.do("pass")
        offered += 1
    assert offered == not_yet
    assert (game.turn, len(game.search_cards(0))) == (1, 4)


def test_when_all_are_out_nobody_wins() -> None:
    game = Situation(Options(3), MISSING)
    for _ in range(3):
        game.accuse_wrongly()
    assert game.phase == kernels.FINISHED
    assert game.rewards() == [-0.5, -0.5, -0.5]
    assert game.ended_by_rules
    assert [gem_names(int(game.seen_by(seat)["missing_gems"])) for seat in range(3)] == [set(MISSING)] * 3


def test_the_last_survivor_wins_where_the_option_says_so() -> None:
    game = Situation(Options(3, last_survivor_wins=True), MISSING)
    game.accuse_wrongly()
    game.accuse_wrongly()
    assert (game.phase, game.place[:3].tolist()) == (kernels.FINISHED, [0, 0, 1])
    assert game.rewards() == [-0.5, -0.5, 1.0]
    assert not game.seen_by(2)["missing_gems"]


def test_the_last_survivor_of_a_game_with_a_right_player_must_still_find_the_gem() -> None:
    game = Situation(Options(3, winners=2, last_survivor_wins=True), MISSING)
    game.accuse_rightly()
    game.accuse_wrongly()
    assert (game.phase, game.turn) == (kernels.TURN, 2)


# --- the final question ---


@pytest.mark.parametrize(("question", "shown"), [("blue-opal", set(BLUE_OPALS)), ("blue", set())])
def test_a_final_question_costs_nothing_shows_gems_and_must_be_followed_by_an_accusation(
    question: str, shown: set[str]
) -> None:
    game = Situation(Options(3), MISSING, {1: [*BLUE_OPALS, *OTHERS[:9]]}, {0: ["pair", "opal", "red", "free-red"]})
    cards = game.search_cards(0)
    assert game.do("final", 1, question)
    assert (game.announced(1, question), game.shown(0, 1)) == (2, shown)
    assert (game.phase, game.actor, game.verbs()) == (kernels.MUST_ACCUSE, 0, {"accuse"})
    game.accuse_wrongly()
    assert game.search_cards(0) == cards
    assert set(game.offers[: game.num_offers].tolist()) == {1, 2}
    game.all_pass()
    assert game.turn == 1


def test_after_a_right_accusation_for_second_place_the_others_are_offered_too() -> None:
    game = Situation(Options(4, winners=2), MISSING)
    game.do("final", 1, "blue")
    game.accuse_rightly()
    assert (game.phase, set(game.offers[: game.num_offers].tolist())) == (kernels.OFFER, {1, 2, 3})
    game.accuse_rightly()
    assert game.phase == kernels.FINISHED


def test_with_accusations_on_the_own_turn_only_a_final_question_is_followed_by_the_next_turn() -> None:
    game = Situation(Options(3, accuse="own_turn"), MISSING)
    game.do("final", 1, "blue")
    game.accuse_wrongly()
    assert (game.turn, game.phase) == (1, kernels.TURN)


# --- truncation ---


def test_the_turn_limit_ends_the_game_after_that_many_turns() -> None:
    game = Situation(Options(4, max_turns=3, winners=2), MISSING)
    game.accuse_rightly()
    game.accuse_wrongly()
    assert game.rewards() == [0.0] * 4
    game.do("exchange")
    assert (game.phase, game.turn_number, game.truncated) == (kernels.FINISHED, 3, 1)
    assert game.rewards() == pytest.approx([1.0, -1 / 3, 0.0, 0.0])
    assert (game.ended_by_rules, game.cut_short) == (False, True)
    # What the one who was right and the one who is out get was settled before.
    assert game.cut_off == [2, 3]


def test_a_right_accusation_in_the_last_turn_is_no_truncation() -> None:
    game = Situation(Options(3, max_turns=1), MISSING)
    game.accuse_rightly()
    assert game.rewards() == [1.0, -0.5, -0.5]
    assert (game.ended_by_rules, game.cut_short) == (True, False)
