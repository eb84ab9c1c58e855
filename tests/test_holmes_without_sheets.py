"""Games of the second game without sheets are the same games, and nobody can look at them."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from sleuth_env import holmes, holmes_v0
from sleuth_env.doors import ArrayError
from sleuth_env.game import kernels_of
from sleuth_env.holmes.sheet import SHEET_FIELDS

VARIANTS = [
    holmes.Options(3),
    holmes.Options(4, fast_play=True, cases=2, must_arrest=True),
    holmes.Options(6, cases=1, reward="case", after_alibi="left_of_alibi"),
    holmes.Options(8, guilty_hand="discarded", max_turns=60),
]
OTHER_FIELDS = [name for name in holmes.STATE.names or () if name not in (*SHEET_FIELDS, "keeps_sheets")]


def dealt(options: holmes.Options, number: int) -> np.ndarray:
    """Return some games, STATE [number]."""
    states = holmes.new_states(number)
    holmes.deal(holmes.make_rules(options), states, np.arange(number))
    return states


@pytest.mark.parametrize("options", VARIANTS, ids=str)
def test_they_are_the_same_games(options: holmes.Options) -> None:
    kernels = kernels_of(holmes)
    rules = holmes.make_rules(options)
    number = 40
    states = dealt(options, number)
    without = states.copy()
    holmes.drop_sheets(without)
    masks, masks_without = np.zeros((2, number, holmes.num_actions(options)), np.uint8)
    rewards, rewards_without = np.zeros((2, number, options.num_players))
    taken = np.zeros(number, np.uint8)
    rng = np.random.default_rng(4)
    for _ in range(1000):
        kernels.legal(rules, states, masks)
        kernels.legal(rules, without, masks_without)
        assert (masks == masks_without).all()
        actions = (masks * rng.random(masks.shape)).argmax(axis=1)
        kernels.step(rules, states, actions, taken, rewards)
        kernels.step(rules, without, actions, taken, rewards_without)
        assert (rewards == rewards_without).all()
        for field in OTHER_FIELDS:
            assert (states[field] == without[field]).all(), field
        assert not any(without[field].any() for field in SHEET_FIELDS)
        if (states["actor"] < 0).all():
            break
    assert (states["case_number"] > 1).any() or options.cases == 1


def test_they_are_played_and_not_looked_at() -> None:
    options = holmes.Options(4)
    rules = holmes.make_rules(options)
    states = dealt(options, 2)
    holmes.drop_sheets(states[1:])
    marks = np.zeros((2, holmes.num_actions(options)), np.uint8)
    holmes.legal(rules, states, marks)
    holmes.step(rules, states, marks.argmax(axis=1), np.zeros(2, np.uint8), np.zeros((2, 4)))
    with pytest.raises(ArrayError, match="in row 1 keeps_sheets is 0: the game has no sheets"):
        holmes.view(rules, states, [0, 0], np.zeros(2, holmes.VIEW))
    assert holmes.problems(rules, states) == [
        "game 1: keeps_sheets is 0: the game has no sheets, so nobody can look at it"
    ]


def test_environments_refuse_them() -> None:
    env = holmes_v0.raw_env(num_players=3)
    env.reset(seed=1)
    snapshot = env.get_state()
    before = env.game_text()
    states = snapshot.states.copy().view(holmes.STATE).reshape(-1)
    holmes.drop_sheets(states)
    with pytest.raises(ValueError, match="has no sheets"):
        env.set_state(replace(snapshot, states=states.view(np.uint8).reshape(1, -1), digest=""))
    assert env.game_text() == before


def test_what_is_left_of_a_sheet_is_noticed() -> None:
    rules = holmes.make_rules(holmes.Options(3))
    for field in SHEET_FIELDS:
        states = dealt(holmes.Options(3), 1)
        holmes.drop_sheets(states)
        states[field].reshape(-1)[-1] = 1
        taken = np.zeros(1, np.uint8)
        with pytest.raises(ArrayError, match="must be of sound games"):
            holmes.step(rules, states, [0], taken, np.zeros((1, 3)))


def test_only_states_have_sheets_to_drop() -> None:
    with pytest.raises(ArrayError, match="states must be STATE records"):
        holmes.drop_sheets(np.zeros(3))
