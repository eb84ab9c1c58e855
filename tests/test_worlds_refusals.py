"""What cannot be counted, or asked, is refused with the reason before a kernel sees it."""

from __future__ import annotations

from math import factorial
from typing import Any

import numpy as np
import pytest

from sleuth_env import sleuth, sleuth_v0
from sleuth_env.deduction.evidence import EVIDENCE, Contradiction, EvidenceError, make_evidence
from sleuth_env.deduction.worlds import Worlds

SIX = [(0, range(6), 2, 2), (1, range(6), 3, 3), (2, range(6), 1, 1)]


def six() -> np.ndarray:
    return make_evidence(3, range(6), SIX)


def test_a_contradiction_names_only_counts_that_are_needed_for_it():
    pairs = [(0, 1), (1, 2), (0, 2)]
    constraints = [(0, pair, 1, 1) for pair in pairs] + [(1, range(6), 0, 4), (0, [3, 4], 0, 1)]
    with pytest.raises(Contradiction) as caught:
        Worlds(make_evidence(3, range(6), constraints), num_cards=6)
    assert str(caught.value).count("exactly 1 of") == 3
    assert "holder 1" not in str(caught.value)
    assert (caught.value.holder, caught.value.cards) == (0, 0b111)


@pytest.mark.parametrize(
    ("constraints", "message", "holder"),
    [
        (
            [(0, range(2), 3, 3)],
            "no deal satisfies all of this: holder 0 has at least 3 and at most 2 of the cards [0, 1]",
            0,
        ),
        (
            [(0, [0, 1], 1, 1), (0, [0, 1], 0, 0)],
            "no deal satisfies all of this: holder 0 has at least 1 and at most 0 of the cards [0, 1]",
            0,
        ),
        (
            [(0, [0, 1], 1, 1), (1, [0, 1], 1, 1), (2, [1, 2], 2, 2)],
            "no deal satisfies all of this: holder 0 has exactly 1 of the cards [0, 1]; "
            "holder 1 has exactly 1 of the cards [0, 1]; holder 2 has exactly 2 of the cards [1, 2]",
            -1,
        ),
        (
            [(0, [0, 1], 2, 2), (0, [0], 0, 0), (1, [2], 0, 1)],
            "no deal satisfies all of this: holder 0 has exactly 2 of the cards [0, 1]; "
            "holder 0 has exactly 0 of the cards [0]",
            0,
        ),
    ],
)
def test_what_quick_reasoning_finds_contradictory_is_named_as_briefly(
    constraints: list[Any], message: str, holder: int
):
    with pytest.raises(Contradiction) as caught:
        Worlds(make_evidence(3, range(6), constraints), num_cards=6)
    assert (str(caught.value), caught.value.holder) == (message, holder)


def test_questions_that_cannot_be_appraised_are_refused():
    worlds = Worlds(make_evidence(3, range(9), [(2, range(9), 1, 1)]), num_cards=9)
    for wrong in (2, -1, 0.5, 1.0, True, "a", None, [0]):
        for ask in (worlds.question, worlds.information):
            with pytest.raises(EvidenceError, match="the holder who is asked must be an integer from 0 to 1, got"):
                ask(wrong, [0])
    with pytest.raises(EvidenceError, match="at most 6 cards"):
        worlds.question(0, range(7), shown=True)
    for wrong in ([9], [-1], [1.0], [True], np.ones(9, bool), np.ones((2, 2), int), ["opal"]):
        with pytest.raises(EvidenceError, match="a card must be an integer from 0 to 8, got"):
            worlds.information(0, wrong)
    for wrong in ("pearl", 5, None, np.array(5), np.int64(5)):
        for ask in (worlds.question, worlds.information, worlds.decides):
            with pytest.raises(EvidenceError, match="cards must be a collection of numbers from 0 to 8, got"):
                ask(0, wrong)
    for name, wrong in (
        ("holders", (np.array(0), [1], [0])),
        ("cards", ([0], np.array(1), [0])),
        ("shown", ([0], [1], 0)),
    ):
        with pytest.raises(EvidenceError, match=f"{name} must be a sequence with one for each question, got"):
            worlds.worths(*wrong)
    for wrong in (7, -1, None):
        with pytest.raises(EvidenceError, match="shown must be True or False"):
            worlds.question(0, [1, 2], wrong)
    for masks in ([-1], [1 << 40], [None]):
        with pytest.raises(EvidenceError, match="the mask of a question's cards must be"):
            worlds.worths([0], masks, [False])
    with pytest.raises(EvidenceError, match="got 2, 1 and 1 of them"):
        worlds.worths([0, 1], [1], [False])
    with pytest.raises(EvidenceError, match="more cards are missing"):
        Worlds(make_evidence(3, range(9)), num_cards=9).question(0, [0])
    with pytest.raises(EvidenceError, match="nobody who could be asked"):
        Worlds(make_evidence(1, range(3)), num_cards=3).question(0, [0])


def test_what_is_not_a_number_of_deals_or_not_a_generator_is_refused():
    worlds = Worlds(six(), num_cards=6)
    with pytest.raises(EvidenceError, match=r"drawn by a numpy\.random\.Generator, got 5"):
        worlds.sample(2, 5)
    for wrong in (-1, 2.5, None, "3", 10**20):
        with pytest.raises(EvidenceError, match="the number of deals must be an integer from 0 to 1000000000, got"):
            worlds.sample(wrong, np.random.default_rng(1))


@pytest.mark.parametrize("kind", [int, np.int8, np.uint8, np.int16, np.int32, np.int64])
def test_cards_may_be_integers_of_any_kind(kind: Any):
    evidence = make_evidence(
        3, [kind(card) for card in range(40)], [(0, (kind(card) for card in range(30, 40)), 3, 3), (2, range(40), 1, 1)]
    )
    worlds, expected = (
        Worlds(some, num_cards=40)
        for some in (evidence, make_evidence(3, range(40), [(0, range(30, 40), 3, 3), (2, range(40), 1, 1)]))
    )
    assert worlds.count == expected.count
    assert worlds.information(0, np.array([31, 35, 39], kind)) == expected.information(0, [31, 35, 39]) > 0
    assert worlds.information(0, iter([31, 35, 39])) == expected.information(0, [31, 35, 39])


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        *(
            ({"cap": wrong}, "cap must be an integer from 0 to")
            for wrong in (-1, -(10**9), 1.5, "x", None, 2**70, True)
        ),
        *(({"keep": wrong}, "keep must be an integer from 1 to") for wrong in (-1, 0, 2.5, None, 2**62)),
        *(({"seed": wrong}, "seed must be an integer from 0 to") for wrong in (-1, 2**64, None, 0.5)),
        *(({"num_cards": wrong}, "num_cards must be an integer from 1 to 63") for wrong in (0, -1, 64, None, 6.0)),
        ({"num_cards": 3}, "a card must be an integer from 0 to 2, got 3"),
        ({"orders": np.array([[0, 1, 2]])}, r"every order must have each of the cards \[0, 1, 2, 3, 4, 5\] once"),
        ({"orders": np.array([[0, 1, 2, 3, 4, 5, 0, 1]])}, "every order must have each of the cards"),
        ({"orders": np.full((1, 6), -1)}, "every order must have each of the cards"),
        *(
            ({"orders": wrong}, "orders must be rows of card numbers")
            for wrong in (np.arange(6), [[0.0, 1, 2, 3, 4, 5]], [[0, 1, 2, 3, 4, 5, 63]], [], None)
        ),
    ],
    ids=str,
)
def test_settings_that_make_no_sense_are_refused(settings: dict[str, Any], message: str):
    with pytest.raises(EvidenceError, match=message):
        Worlds(six(), **{"num_cards": 6} | settings)


def test_only_one_record_of_evidence_is_counted():
    for wrong in (np.concatenate([six(), six()]), six()[:0], six()[0], None, np.zeros(1)):
        with pytest.raises(EvidenceError, match="evidence must be one EVIDENCE record"):
            Worlds(wrong)
    with pytest.raises(EvidenceError, match="num_holders must be an integer from 1 to 7, got 0"):
        Worlds(np.zeros(1, EVIDENCE))


def test_a_probability_that_is_rounded_to_1_proves_nothing():
    pairs = [(0, [0, x], 1, 2) for x in range(1, 31)]
    worlds = Worlds(make_evidence(2, range(60), [(0, range(60), 30, 30), (1, range(60), 30, 30), *pairs]), num_cards=60)
    assert worlds.holders[0, 0] == 1
    assert (
        worlds.certain[0].tolist()
        == [1 if worlds.holders[0, 1] == 0 else -1, 0 if worlds.holders[0, 1] == 0 else -1]
        == [-1, -1]
    )


def test_counts_are_exact_up_to_the_bound_that_is_documented():
    assert Worlds(make_evidence(5, range(46))).count == 5**46
    assert Worlds(make_evidence(6, range(42))).count == 6**42
    assert Worlds(make_evidence(7, range(38))).count == 7**38
    assert Worlds(make_evidence(7, range(63))).count == pytest.approx(7**63, rel=2**-46)
    assert Worlds(make_evidence(2, range(63), [(0, range(63), 30, 30)])).count == factorial(63) // factorial(
        30
    ) // factorial(33)


def test_a_single_holder_has_all_cards():
    worlds = Worlds(make_evidence(1, range(3)), num_cards=3)
    assert [some.tolist() for some in worlds.missing_sets] == [[0b111], [1.0]]


# --- views ---


def test_only_views_of_the_game_have_beliefs():
    env = sleuth_v0.raw_env(num_players=3)
    env.reset(seed=7)
    rules = sleuth.make_rules(env.options)
    view = env.view("player_0")
    several = np.concatenate([env.view(agent) for agent in env.possible_agents])
    for views in (several, several[:0]):
        with pytest.raises(ValueError, match=f"belief is given one view, got {len(views)}; beliefs takes many"):
            sleuth.belief(rules, views)
    for function in (sleuth.belief, sleuth.beliefs):
        for wrong in (None, view[0], env.get_state(), np.zeros(1)):
            with pytest.raises(ValueError, match="views must be VIEW records"):
                function(rules, wrong)
        for wrong in (None, env.options, view):
            with pytest.raises(ValueError, match="rules must be what make_rules returns, got"):
                function(wrong, view)
        with pytest.raises(ValueError, match=r"of games with num_players=\[3\], the rules of one with num_players=4"):
            function(sleuth.make_rules(sleuth.Options(num_players=4)), view)
        with pytest.raises(ValueError, match=r"of games with missing=\[1\], the rules of one with missing=2"):
            function(sleuth.make_rules(sleuth.Options(num_players=3, missing=2)), view)
    for wrong in (-1, 1.5, None):
        with pytest.raises(EvidenceError, match="cap must be"):
            sleuth.beliefs(rules, view, cap=wrong)


def test_the_game_and_the_player_of_a_belief_are_checked():
    env = sleuth_v0.raw_env(num_players=3)
    env.reset(seed=7)
    for seat in (1, np.int32(1), np.int64(1), env.view("player_1")["seat"][0]):
        assert (sleuth.belief_in_game(env.game_text(), seat).missing == env.belief("player_1").missing).all()
    for wrong in (None, 5, b"game", env):
        with pytest.raises(sleuth.NotationError, match="a game is a text or what parse_game makes of one, got"):
            sleuth.belief_in_game(wrong, 0)
    for player in (True, 1.0, None, 3, -1, "player_3"):
        with pytest.raises(
            sleuth.NotationError,
            match=r"is not a player: the players are player_0, .*, or their seats 0 to 2",
        ):
            sleuth.belief_in_game(env.game_text(), player)
