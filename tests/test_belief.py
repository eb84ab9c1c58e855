"""Beliefs about whole games: from views, in batches, and what the questions of a mover are worth."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from sleuth_env.deduction.evidence import cards_of
from sleuth_env.sleuth import Options, make_rules
from sleuth_env.sleuth.belief import ORDERS, belief, beliefs
from sleuth_env.sleuth.cards import ALLOWED, GEMS, NUM_QUESTIONS, QUESTIONS
from tests.positions import positions

GAMES = [Options(num_players=5), Options(num_players=4, super_sleuth=True), Options(num_players=3, missing=3)]


def test_every_order_holds_every_gem_once_and_nests_the_categories():
    assert [sorted(order) for order in ORDERS.tolist()] == [list(range(36))] * 6
    runs = [tuple(sum(GEMS[a][k] != GEMS[b][k] for a, b in itertools.pairwise(order)) for k in range(3)) for order in ORDERS.tolist()]
    assert all(min(run) in (2, 3) and max(run) == 35 for run in runs)
    assert len(set(runs)) == 6


@pytest.mark.parametrize("options", GAMES, ids=str)
def test_a_batch_of_beliefs_equals_one_belief_at_a_time(options):
    rules, views = make_rules(options), positions(options, "sheet", 2, seed=3)[::9]
    together = beliefs(rules, views)
    assert (together.results["code"] == 0).all()
    for row in range(len(views)):
        alone, worlds = beliefs(rules, views[row : row + 1]), belief(rules, views[row : row + 1])
        np.testing.assert_array_equal(together.holders[row], alone.holders[0])
        np.testing.assert_array_equal(together.holders[row], worlds.holders)
        assert together.worths[row].tobytes() == alone.worths[0].tobytes()


@pytest.mark.parametrize("options", GAMES, ids=str)
def test_exactly_the_questions_that_the_search_cards_allow_are_appraised(options):
    rules, views = make_rules(options), positions(options, "sheet", 2, seed=4)[::9]
    for view, worths in zip(views, beliefs(rules, views).worths, strict=True):
        allowed = {q for card in cards_of(view["search"][0]) for q in map(QUESTIONS.index, ALLOWED[card])}
        assert set(np.flatnonzero(~np.isnan(worths["information"][0]))) == allowed
    assert not np.isnan(beliefs(rules, views[:1], everything=True).worths["information"]).any()


@pytest.mark.parametrize("options", GAMES, ids=str)
def test_questions_appraised_together_are_worth_what_each_is_alone(options):
    rules, views = make_rules(options), positions(options, "sheet", 1, seed=5)
    view = views[len(views) // 2][None]
    worths, worlds = beliefs(rules, view, everything=True).worths[0], belief(rules, view)
    for question in range(NUM_QUESTIONS):
        cards, shown = cards_of(rules["question_gems"][0, question]), len(QUESTIONS[question]) == 2 and not options.super_sleuth
        for holder in range(options.num_players - 1):
            found = worths[holder, question]
            assert found["information"] == pytest.approx(worlds.information(holder, cards, shown), abs=1e-12)
            assert found["decides"] == pytest.approx(worlds.decides(holder, cards, shown), abs=1e-12)
            answers = worlds.question(holder, cards, shown).table.sum(axis=1)
            assert found["surprise"] == pytest.approx(-(answers * np.log2(answers)).sum(), abs=1e-9)
