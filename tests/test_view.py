"""Every seat's view says exactly what the oracle says that the seat knows."""

from __future__ import annotations

import random
from collections.abc import Iterable

import numpy as np
import pytest

from sleuth_env import sleuth as kernels
from sleuth_env.sleuth.cards import Options, make_rules
from sleuth_env.sleuth.view import VIEW, view
from tests.support.comparison import Duel, assert_equal
from tests.support.knowledge import expected_view
from tests.support.oracle import ACTIONS
from tests.support.strategies import EVERY_VARIANT, KNOWING, LIVELY, RASH, Player, option_name


def assert_views_agree(options: Options, states: np.ndarray, duel: Duel, seats: Iterable[int]) -> None:
    for seat in seats:
        found = np.full(1, 77, "u1").repeat(VIEW.itemsize).view(VIEW)
        view(make_rules(options), states, np.array([seat]), found)
        expected = expected_view(duel.oracle, seat)
        for field in VIEW.names:
            assert_equal(f"{field}, seen by seat {seat}", found[field], expected[field])


def check_views(options: Options, seed: int, player: Player) -> None:
    """Play a game and compare the views after each step.

    They are those of all seats, but after an offer was declined of two only.
    """
    everybody = range(options.num_players)
    rules = make_rules(options)
    duel = Duel(options, seed)
    chance = random.Random(seed)
    states = kernels.new_states(1)
    taken = np.zeros(1, "u1")
    kernels.deal(rules, states, np.array([seed], "u8"))
    assert_views_agree(options, states, duel, everybody)
    while duel.oracle.phase != "finished":
        action = player(duel.oracle, chance)
        kernels.step(rules, states, np.array([action]), taken, np.zeros((1, 7)))
        assert taken[0]
        assert duel.step(action)
        declined = ACTIONS[options.num_players][action] == ("pass",)
        assert_views_agree(options, states, duel, chance.sample(everybody, 2) if declined else everybody)


@pytest.mark.parametrize("options", EVERY_VARIANT, ids=option_name)
def test_each_seat_sees_what_it_knows_and_nothing_else(options: Options) -> None:
    for seed, player in enumerate((LIVELY, RASH, KNOWING)):
        check_views(options, seed, player)
