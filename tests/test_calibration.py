"""Exact belief is calibrated: over many games a set of missing gems that it gives the chance p is
the right one in p of the cases.
"""

from __future__ import annotations

import sys
from math import comb

import numpy as np
import pytest

from sleuth_env.sleuth import Options, belief, deal, legal, make_rules, new_states, num_actions, step
from sleuth_env.sleuth.view import VIEW, view
from tests.support.strategies import option_name


def position(options: Options, seed: int, chance: np.random.Generator) -> tuple[np.ndarray, int]:
    """Give one seat's view (VIEW [1]) of a game after some random questions, and the missing gems
    (mask).

    Who asks whom what is drawn without a look at anybody's cards: only then are questions no
    evidence about the asker.
    """
    rules = make_rules(options)
    states = new_states(1)
    views = np.zeros(1, VIEW)
    marks = np.zeros((1, num_actions(options)), np.uint8)
    taken = np.zeros(1, np.uint8)
    deal(rules, states, np.array([seed], np.uint64))
    questions = int(chance.integers(2, 7 * options.num_players))
    while questions:
        legal(rules, states, marks)
        asks = np.flatnonzero(marks[0, : int(rules["final_at"][0])])
        if asks.size:
            questions -= 1
            action = int(chance.choice(asks))
        else:
            action = num_actions(options) - 1
            assert marks[0, action], "nobody need accuse"
        step(rules, states, np.array([action]), taken, np.zeros((1, 7)))
    view(rules, states, np.array([chance.integers(options.num_players)]), views)
    return views, int(states["missing_gems"][0])


@pytest.mark.parametrize(
    "options",
    [
        Options(3),
        Options(4),
        Options(3, missing=2),
        Options(4, super_sleuth=True),
        Options(4, double_interrogation=True, winners=2),
    ],
    ids=option_name,
)
def test_the_right_gems_are_given_the_chance_that_they_should_be_given(options: Options) -> None:
    chance = np.random.default_rng(1)
    given = []
    expected = 0.0
    variance = 0.0
    for game in range(600):
        views, missing = position(options, game, chance)
        sets, p = belief(make_rules(options), views).missing_sets
        given.append(p[sets == missing].sum())
        # Where belief is right, a set is the missing one with just the chance that it is given.
        expected += (p**2).sum()
        variance += (p**3).sum() - (p**2).sum() ** 2
    z = (sum(given) - expected) / variance**0.5
    sys.stdout.write(
        f"{option_name(options)}: the missing gems were given {np.mean(given):.4f}, expected {expected / len(given):.4f}, z = {z:+.2f}\n"
    )
    assert abs(z) < 3.5
    # Positions between knowing nothing and knowing all.
    assert 2 / comb(36, options.missing) < np.mean(given) < 0.9
