"""The variants in worked cases: places, several missing gems, additional interrogations."""

from __future__ import annotations

import pytest

from sleuth_env import sleuth as kernels
from sleuth_env.sleuth.cards import Options
from tests.support.situation import Situation

MISSING = ["yellow-opal-cluster"]
TWO = ["yellow-opal-cluster", "yellow-opal-pair"]
THREE = [*TWO, "red-pearl-pair"]


# --- playing for second, third, ... ---


def test_a_right_player_takes_no_more_turns_and_draws_nothing() -> None:
    game = Situation(Options(4, winners=2), MISSING, search={0: ["pair", "opal", "red", "free"]})
    game.do("ask", 1, "pair", "pair")
    game.offer_to(0)
    game.accuse_rightly()
    game.all_pass()
    assert (game.turn, len(game.search_cards(0)), game.standing[0], game.place[0]) == (1, 3, kernels.RIGHT, 1)
    for _ in range(3):
        game.do("exchange")
    assert game.turn == 1


def test_the_gem_is_not_revealed_while_places_are_left() -> None:
    game = Situation(Options(4, winners=2), MISSING)
    game.accuse_rightly()
    assert [bool(game.seen_by(seat)["missing_gems"]) for seat in range(4)] == [True, False, False, False]
    assert [int(game.seen_by(seat)["standing"][-seat % 4]) for seat in range(4)] == [kernels.RIGHT] * 4


@pytest.mark.parametrize(
    ("players", "winners", "rewards"),
    [
        (3, 1, [1, -1 / 2, -1 / 2]),
        (3, 2, [1, 1 / 2, -3 / 2]),
        (4, 2, [1, 1 / 2, -3 / 4, -3 / 4]),
        (4, 3, [1, 2 / 3, 1 / 3, -2]),
        (7, 3, [1, 2 / 3, 1 / 3, -1 / 2, -1 / 2, -1 / 2, -1 / 2]),
    ],
)
def test_places_are_paid_in_their_order_and_the_others_pay(players: int, winners: int, rewards: list[float]) -> None:
    game = Situation(Options(players, winners=winners), MISSING)
    for _ in range(winners):
        assert game.rewards() == [0.0] * players
        game.accuse_rightly()
    assert game.phase == kernels.FINISHED
    assert game.rewards() == pytest.approx(rewards)


def test_a_game_for_two_places_ends_when_nobody_is_left_in() -> None:
    game = Situation(Options(3, winners=2), MISSING)
    game.accuse_wrongly()
    game.accuse_rightly()
    assert (game.phase, game.turn) == (kernels.TURN, 2)
    game.accuse_wrongly()
    assert game.phase == kernels.FINISHED
    assert game.rewards() == [-0.5, 1.0, -0.5]


@pytest.mark.parametrize("right", [True, False])
def test_where_results_are_not_announced_nobody_learns_whether_another_was_right(right: bool) -> None:
    game = Situation(Options(4, winners=3, announce_result=False), MISSING)
    game.accuse_rightly() if right else game.accuse_wrongly()
    assert game.events[0].tolist() == [kernels.ACCUSED_EVENT, 0, -1, -1, -1, -1]
    for seat in (1, 2, 3):
        seen = game.seen_by(seat)
        assert (seen["standing"][4 - seat], seen["place"][4 - seat], seen["missing_gems"]) == (kernels.LEFT, 0, 0)
    own = game.seen_by(0)
    assert own["standing"][0] == (kernels.RIGHT if right else kernels.OUT)


def test_where_results_are_not_announced_a_right_player_learns_his_place_at_the_end_only() -> None:
    game = Situation(Options(4, winners=3, announce_result=False), MISSING)
    game.accuse_wrongly()
    game.accuse_rightly()
    assert (game.place[1], game.seen_by(1)["place"][0]) == (1, 0)
    game.accuse_rightly()
    game.accuse_wrongly()
    assert game.phase == kernels.FINISHED
    assert [int(game.seen_by(seat)["place"][0]) for seat in range(4)] == [0, 1, 2, 0]


# --- several missing gems ---


@pytest.mark.parametrize(("missing", "order"), [(TWO, (1, 0)), (TWO, (0, 1)), (THREE, (2, 0, 1)), (THREE, (1, 2, 0))])
def test_all_missing_gems_are_named_one_after_another_in_any_order(missing: list[str], order: tuple[int, ...]) -> None:
    game = Situation(Options(3, missing=len(missing)), missing)
    for named, index in enumerate(order):
        assert game.phase == kernels.TURN
        assert game.actor == 0
        if named:
            assert game.legal() == {
                ("accuse", gem) for gem in gem_cards() if gem not in {missing[i] for i in order[:named]}
            }
        assert game.do("accuse", missing[index])
    assert game.phase == kernels.FINISHED
    assert game.rewards() == [1.0, -0.5, -0.5]


def gem_cards() -> list[str]:
    return [
        f"{c}-{k}-{t}"
        for c in ("red", "blue", "green", "yellow")
        for k in ("diamond", "pearl", "opal")
        for t in ("solitaire", "pair", "cluster")
    ]


@pytest.mark.parametrize(
    ("missing", "named"), [(TWO, [TWO[0], "red-pearl-pair"]), (THREE, [THREE[0], THREE[1], "red-opal-pair"])]
)
def test_an_accusation_with_one_wrong_gem_is_wrong(missing: list[str], named: list[str]) -> None:
    game = Situation(Options(4, missing=len(missing)), missing)
    for gem in named:
        assert game.do("accuse", gem)
    assert (game.standing[0], game.turn) == (kernels.OUT, 1)


def test_a_gem_is_named_once_only() -> None:
    game = Situation(Options(3, missing=2), TWO)
    assert game.do("accuse", TWO[0])
    assert not game.do("accuse", TWO[0])
    assert not game.do("exchange")


def test_an_unfinished_accusation_is_seen_by_the_accuser_alone() -> None:
    game = Situation(Options(3, missing=2), TWO, search={0: ["pair"]})
    game.do("ask", 1, "pair", "pair")
    accuser = game.actor
    before = [game.seen_by(seat).tobytes() for seat in range(3)]
    game.do("accuse", TWO[0])
    changed = [seat for seat in range(3) if game.seen_by(seat).tobytes() != before[seat]]
    assert changed == [accuser]
    assert game.verbs() == {"accuse"}


# --- additional interrogations ---

FOUR_CARDS = {0: ["pair", "blue-opal", "free-red", "free"]}


def asked_first(question: str, card: str, **options: object) -> Situation:
    game = Situation(Options(4, double_interrogation=True, **options), MISSING, search=FOUR_CARDS)
    assert game.do("ask", 2, question, card)
    game.all_pass()
    return game


@pytest.mark.parametrize(
    ("question", "card", "elements"),
    [("pair", "pair", 2), ("blue-opal", "blue-opal", 1), ("red", "free-red", 2), ("red-pair", "free-red", 1)],
)
def test_a_second_question_goes_to_another_player_and_has_the_other_number_of_elements(
    question: str, card: str, elements: int
) -> None:
    game = asked_first(question, card)
    assert (game.phase, game.actor, game.verbs()) == (kernels.SECOND, 0, {"ask", "accuse", "pass"})
    second = [action for action in game.legal() if action[0] == "ask"]
    assert {k for _, k, *_ in second} == {1, 3}
    assert {len(asked.split("-")) for _, _, asked, _ in second} == {elements}
    assert card not in {paid for *_, paid in second}


def test_after_the_first_question_he_may_pass_and_draws_one_card() -> None:
    game = asked_first("pair", "pair")
    assert len(game.search_cards(0)) == 3
    assert game.do("pass")
    assert (game.turn, len(game.search_cards(0)), game.first_target) == (1, 4, -1)


def test_after_two_questions_he_draws_two_cards_and_the_turn_is_over() -> None:
    game = asked_first("pair", "pair")
    assert game.do("ask", 1, "blue-opal", "blue-opal")
    assert game.phase == kernels.OFFER
    assert len(game.search_cards(0)) == 2
    game.all_pass()
    assert (game.turn, game.phase, len(game.search_cards(0))) == (1, kernels.TURN, 4)


def test_a_second_question_need_not_be_affordable_to_be_waited_for() -> None:
    cards = ["pair", "opal", "red", "blue"]
    game = Situation(Options(4, double_interrogation=True), MISSING, search={0: cards})
    game.do("ask", 2, "pair", "pair")
    game.all_pass()
    assert (game.phase, game.verbs()) == (kernels.SECOND, {"accuse", "pass"})


def test_an_accusation_instead_of_the_second_question_ends_the_turn_without_offers() -> None:
    game = asked_first("pair", "pair")
    game.accuse_wrongly()
    assert (game.phase, game.turn, len(game.search_cards(0))) == (kernels.TURN, 1, 3)


def test_an_asker_who_went_out_after_the_first_question_asks_no_second_one() -> None:
    game = Situation(Options(4, double_interrogation=True), MISSING, search=FOUR_CARDS)
    game.do("ask", 2, "pair", "pair")
    game.offer_to(0)
    game.accuse_wrongly()
    game.all_pass()
    assert (game.phase, game.turn) == (kernels.TURN, 1)


def test_a_final_question_is_not_combined_with_another_question() -> None:
    game = asked_first("pair", "pair")
    assert "final" not in game.verbs()
    other = Situation(Options(4, double_interrogation=True), MISSING, search=FOUR_CARDS)
    other.do("final", 1, "pair")
    other.accuse_wrongly()
    other.all_pass()
    assert (other.phase, other.turn) == (kernels.TURN, 1)


def test_with_accusations_on_the_own_turn_only_the_second_question_follows_at_once() -> None:
    game = asked_first("pair", "pair", accuse="own_turn")
    assert (game.phase, game.actor) == (kernels.SECOND, 0)
    assert game.do("ask", 1, "blue-opal", "blue-opal")
    assert game.turn == 1
