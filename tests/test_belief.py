"""Beliefs: of a view, of many views, of a game text, and what questions are worth."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from sleuth_env import sleuth_v0
from sleuth_env.deduction.evidence import cards_of
from sleuth_env.sleuth import NotationError, Options, belief_in_game, make_bot, make_rules, parse_game
from sleuth_env.sleuth.belief import ORDERS, belief, beliefs
from sleuth_env.sleuth.cards import ALLOWED, GEMS, NUM_QUESTIONS, QUESTIONS
from tests.support.positions import positions

GAMES = [Options(num_players=5), Options(num_players=4, super_sleuth=True), Options(num_players=3, missing=3)]


def test_every_order_holds_every_gem_once_and_nests_the_categories():
    assert [sorted(order) for order in ORDERS.tolist()] == [list(range(36))] * 6
    runs = [
        tuple(sum(GEMS[a][k] != GEMS[b][k] for a, b in itertools.pairwise(order)) for k in range(3))
        for order in ORDERS.tolist()
    ]
    assert all(min(run) in (2, 3) and max(run) == 35 for run in runs)
    assert len(set(runs)) == 6


@pytest.mark.parametrize("every", [27, pytest.param(9, marks=pytest.mark.slow)])
@pytest.mark.parametrize("options", GAMES, ids=str)
def test_a_batch_of_beliefs_equals_one_belief_at_a_time(options, every):
    rules = make_rules(options)
    views = positions(options, "sheet", 2, seed=3)[::every]
    assert len(views) > 2
    together = beliefs(rules, views)
    assert (together.results["code"] == 0).all()
    for row in range(len(views)):
        alone = beliefs(rules, views[row : row + 1])
        worlds = belief(rules, views[row : row + 1])
        np.testing.assert_array_equal(together.holders[row], alone.holders[0])
        np.testing.assert_array_equal(together.holders[row], worlds.holders)
        assert together.worths[row].tobytes() == alone.worths[0].tobytes()


@pytest.mark.parametrize("options", GAMES, ids=str)
def test_exactly_the_questions_that_the_search_cards_allow_are_appraised(options):
    rules = make_rules(options)
    views = positions(options, "sheet", 2, seed=4)[::9]
    for view, worths in zip(views, beliefs(rules, views).worths, strict=True):
        allowed = {q for card in cards_of(view["search"][0]) for q in map(QUESTIONS.index, ALLOWED[card])}
        assert set(np.flatnonzero(~np.isnan(worths["information"][0]))) == allowed
    assert not np.isnan(beliefs(rules, views[:1], everything=True).worths["information"]).any()


@pytest.mark.parametrize("options", GAMES, ids=str)
def test_questions_appraised_together_are_worth_what_each_is_alone(options):
    rules = make_rules(options)
    views = positions(options, "sheet", 1, seed=5)
    view = views[len(views) // 2][None]
    worths = beliefs(rules, view, everything=True).worths[0]
    worlds = belief(rules, view)
    for question in range(NUM_QUESTIONS):
        cards = cards_of(rules["question_gems"][0, question])
        shown = len(QUESTIONS[question]) == 2 and not options.super_sleuth
        for holder in range(options.num_players - 1):
            found = worths[holder, question]
            assert found["information"] == pytest.approx(worlds.information(holder, cards, shown), abs=1e-12)
            assert found["decides"] == pytest.approx(worlds.decides(holder, cards, shown), abs=1e-12)
            table = worlds.question(holder, cards, shown).table
            assert found["rightly"] == pytest.approx(table.max(axis=1).sum(), abs=1e-12)
            answers = table.sum(axis=1)
            assert found["surprise"] == pytest.approx(-(answers * np.log2(answers)).sum(), abs=1e-9)


def played(options: Options, seed: int, steps: int) -> sleuth_v0.raw_env:
    """An environment in which the bot `sheet` has decided a number of times for everybody."""
    env = sleuth_v0.raw_env(**vars(options))
    bot = make_bot("sheet", options)
    env.reset(seed=seed)
    for step in range(steps):
        mask = env.observe(env.agent_selection)["action_mask"].view(np.uint8)
        env.step(int(bot.act(env.view(env.agent_selection), mask[None], np.array([step], np.uint64))[0]))
    return env


@pytest.mark.parametrize("options", GAMES, ids=str)
def test_an_environment_a_view_and_a_game_text_give_the_same_belief(options):
    env = played(options, seed=2, steps=12)
    for agent in env.agents:
        found = env.belief(agent)
        assert found.exact
        for other in (belief(make_rules(options), env.view(agent)), belief_in_game(env.game_text(), agent)):
            assert other.count == found.count
            np.testing.assert_array_equal(other.holders, found.holders)


def test_a_belief_is_of_its_own_agent_and_stays_as_it_was():
    env = played(Options(num_players=3), seed=1, steps=4)
    first = env.belief("player_0")
    kept = first.missing.copy()
    hand = env.view("player_0")["hand"][0]
    assert all(first.missing[card] == 0 for card in cards_of(hand))
    other = env.belief("player_1")
    np.testing.assert_array_equal(first.missing, kept)
    assert all(other.missing[card] == 0 for card in cards_of(env.view("player_1")["hand"][0]))
    assert first.missing.sum() == pytest.approx(1)


def test_a_game_text_tells_what_could_be_believed_at_each_step():
    text = played(Options(num_players=3), seed=1, steps=12).game_text()
    last = max(step.number for step in parse_game(text).steps())
    counts = [belief_in_game(text, 0, step).count for step in range(last + 1)]
    assert counts == sorted(counts, reverse=True)
    assert counts[0] > counts[last] == belief_in_game(text, "player_0").count
    assert belief_in_game(parse_game(text), 0, last).count == counts[last]


@pytest.mark.parametrize(
    ("player", "step", "said"),
    [
        ("player_3", None, "the players are player_0, player_1, player_2, or their seats 0 to 2"),
        (3, 0, "player_"),
        (0, 5, r"steps 0 to \d, got 5"),
        (0, -1, r"steps 0 to \d, got -1"),
    ],
)
def test_a_game_text_without_such_a_player_or_step_is_refused(player, step, said):
    text = played(Options(num_players=3), seed=1, steps=4).game_text()
    with pytest.raises(NotationError, match=said):
        belief_in_game(text, player, step)
