"""Every seat's view says exactly what the oracle says that the seat knows."""

from __future__ import annotations

import random

import numpy as np
import pytest

from sleuth_env.sleuth import rules as kernels
from sleuth_env.sleuth.cards import Options, make_rules
from sleuth_env.sleuth.view import VIEW, view
from tests.comparison import Duel
from tests.knowledge import expected_view
from tests.strategies import ALL_VARIANTS, KNOWING, LIVELY, RASH, Player, option_name


def assert_views_agree(options: Options, states: np.ndarray, duel: Duel) -> None:
    for seat in range(options.num_players):
        found = np.full(1, 77, "u1").repeat(VIEW.itemsize).view(VIEW)
        view(make_rules(options), states, np.array([seat]), found)
        expected = expected_view(duel.oracle, seat)
        for field in VIEW.names:
            np.testing.assert_array_equal(found[field], expected[field], err_msg=f"{field}, seen by seat {seat}")


def compare_views(options: Options, seed: int, player: Player) -> None:
    """Play a game and compare the views of all seats after each step."""
    rules, duel, chance = make_rules(options), Duel(options, seed), random.Random(seed)
    states, taken = kernels.new_states(1), np.zeros(1, "u1")
    kernels.deal(rules, states, np.array([seed], "u8"))
    assert_views_agree(options, states, duel)
    while duel.oracle.phase != "finished":
        action = player(duel.oracle, chance)
        kernels.step(rules, states, np.array([action]), taken)
        assert taken[0]
        assert duel.step(action)
        assert_views_agree(options, states, duel)


@pytest.mark.parametrize("options", ALL_VARIANTS, ids=option_name)
def test_each_seat_sees_what_it_knows_and_nothing_else(options: Options) -> None:
    for seed, player in enumerate((LIVELY, RASH, KNOWING)):
        compare_views(options, seed, player)
