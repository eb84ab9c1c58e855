"""Exact belief is calibrated: of the sets that it gives probability p, a share p is right."""

from __future__ import annotations

import sys
from math import comb

import numpy as np
import pytest

from sleuth_env.sleuth import Options, belief, deal, legal, make_rules, new_states, num_actions, step
from sleuth_env.sleuth.view import VIEW, view
from tests.support.strategies import option_name


def position(options: Options, seed: int, rng: np.random.Generator) -> tuple[np.ndarray, int]:
    """Return a view (VIEW [1]) of a game after random questions, and the missing gems (mask).

    Who asks whom what is drawn without looking at any cards: only then do questions say nothing
    about the asker.
    """
    rules = make_rules(options)
    states = new_states(1)
    views = np.zeros(1, VIEW)
    mask = np.zeros((1, num_actions(options)), np.uint8)
    taken = np.zeros(1, np.uint8)
    rewards = np.zeros((1, options.num_players))
    deal(rules, states, np.array([seed], np.uint64))
    questions = int(rng.integers(2, 7 * options.num_players))
    while questions:
        legal(rules, states, mask)
        asks = np.flatnonzero(mask[0, : int(rules["final_at"][0])])
        if asks.size:
            questions -= 1
            action = int(rng.choice(asks))
        else:
            action = num_actions(options) - 1
            assert mask[0, action], "no player needs to accuse"
        step(rules, states, np.array([action]), taken, rewards)
    view(rules, states, np.array([rng.integers(options.num_players)]), views)
    return views, int(states["missing_gems"][0])


KINDS = [
    Options(3),
    Options(4),
    Options(3, missing=2),
    Options(4, super_sleuth=True),
    Options(4, double_interrogation=True, winners=2),
]


@pytest.mark.parametrize(
    ("options", "games"),
    [
        *((options, 100) for options in KINDS[:2]),
        *(pytest.param(options, 600, marks=pytest.mark.slow) for options in KINDS),
    ],
    ids=lambda value: option_name(value) if isinstance(value, Options) else str(value),
)
def test_the_right_gems_are_given_the_probability_that_they_should_be_given(options: Options, games: int) -> None:
    rng = np.random.default_rng(1)
    given = []
    expected = 0.0
    variance = 0.0
    for game in range(games):
        views, missing = position(options, game, rng)
        sets, p = belief(make_rules(options), views).missing_sets
        given.append(p[sets == missing].sum())
        # Where belief is right, a set is the missing one with exactly the probability it is given.
        expected += (p**2).sum()
        variance += (p**3).sum() - (p**2).sum() ** 2
    z = (sum(given) - expected) / variance**0.5
    sys.stdout.write(
        f"{option_name(options)}: the missing gems were given {np.mean(given):.4f}, "
        f"expected {expected / len(given):.4f}, z = {z:+.2f}\n"
    )
    assert abs(z) < 3.5
    # The positions lie between knowing nothing and knowing everything.
    assert 2 / comb(36, options.missing) < np.mean(given) < 0.9
