"""The kernels as functions on batches: compiled or not, alone or in a batch, legal or not."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from sleuth_env import sleuth as kernels
from sleuth_env.sleuth.cards import Options, make_rules, num_actions
from tests.support import fixed_games
from tests.support.strategies import EVERY_VARIANT, PLAYER_COUNTS, QUICK_VARIANTS, option_name


@pytest.mark.parametrize(("size", "steps"), [(2, 40), pytest.param(6, 60, marks=pytest.mark.slow)])
def test_plain_python_and_compiled_kernels_write_the_same_bytes(size: int, steps: int) -> None:
    root = Path(__file__).parent.parent
    environment = os.environ | {"NUMBA_DISABLE_JIT": "1", "PYTHONPATH": str(root)}
    # Where numbers are meant to wrap round, plain Python must not warn of it.
    words = [sys.executable, "-W", "error::RuntimeWarning", "-m", "tests.support.fixed_games", str(size), str(steps)]
    plain = subprocess.run(words, cwd=root, env=environment, capture_output=True, text=True, check=True)
    assert plain.stdout == fixed_games.digest(size, steps)


@pytest.mark.parametrize("options", EVERY_VARIANT, ids=option_name)
def test_a_row_of_a_batch_is_a_batch_of_one(options: Options) -> None:
    rules = make_rules(options)
    chance = np.random.default_rng(3)
    size = 16
    seeds = chance.integers(0, 2**64, size, np.uint64)
    batch = kernels.new_states(size)
    rows = [kernels.new_states(1) for _ in range(size)]
    taken = np.zeros(size, "u1")
    taken_alone = np.zeros(1, "u1")
    rewards = np.zeros((size, 7))
    rewards_alone = np.zeros((1, 7))
    kernels.deal(rules, batch, seeds)
    for row, seed in zip(rows, seeds, strict=True):
        kernels.deal(rules, row, np.array([seed]))
    for _ in range(80):
        marks = np.zeros((size, num_actions(options)), "u1")
        kernels.legal(rules, batch, marks)
        actions = fixed_games.random_actions(marks, chance, options)
        kernels.step(rules, batch, actions, taken, rewards)
        for b, row in enumerate(rows):
            kernels.step(rules, row, actions[b : b + 1], taken_alone, rewards_alone)
            assert taken_alone[0] == taken[b]
            assert (rewards_alone[0] == rewards[b]).all()
            assert row.tobytes() == batch[b : b + 1].tobytes()


@pytest.mark.parametrize("players", PLAYER_COUNTS)
def test_the_same_seed_deals_the_same_game_and_another_seed_another(players: int) -> None:
    rules = make_rules(Options(players))
    states = kernels.new_states(3)
    kernels.deal(rules, states, np.array([5, 5, 6], "u8"))
    assert states[0].tobytes() == states[1].tobytes() != states[2].tobytes()


def test_a_deal_leaves_nothing_of_an_earlier_game() -> None:
    options = Options(3, winners=2, double_interrogation=True)
    rules = make_rules(options)
    chance = np.random.default_rng(0)
    used = kernels.new_states(8)
    new = kernels.new_states(8)
    taken = np.zeros(8, "u1")
    seeds = np.arange(8, dtype="u8")
    kernels.deal(rules, used, seeds + np.uint64(100))
    for _ in range(200):
        marks = np.zeros((8, num_actions(options)), "u1")
        kernels.legal(rules, used, marks)
        kernels.step(rules, used, fixed_games.random_actions(marks, chance, options), taken, np.zeros((len(taken), 7)))
    kernels.deal(rules, used, seeds)
    kernels.deal(rules, new, seeds)
    assert used.tobytes() == new.tobytes()


def test_the_first_player_is_seat_0_or_any_seat() -> None:
    seeds = np.arange(200, dtype="u8")
    for first_player, expected in (("seat_0", {0}), ("random", set(range(5)))):
        states = kernels.new_states(200)
        kernels.deal(make_rules(Options(5, first_player=first_player)), states, seeds)
        assert set(states["turn"].tolist()) == expected


def moments(options: Options) -> np.ndarray:
    """Return states of all phases of a game (STATE [B])."""
    rules = make_rules(options)
    chance = np.random.default_rng(7)
    found = {}
    states = kernels.new_states(64)
    taken = np.zeros(64, "u1")
    kernels.deal(rules, states, np.arange(64, dtype="u8"))
    for _ in range(40):
        for state in states:
            found.setdefault((int(state["phase"]), bool(state["accusing"])), state.copy())
        marks = np.zeros((64, num_actions(options)), "u1")
        kernels.legal(rules, states, marks)
        kernels.step(
            rules, states, fixed_games.random_actions(marks, chance, options), taken, np.zeros((len(taken), 7))
        )
    return np.array(list(found.values()), states.dtype)


@pytest.mark.parametrize("options", EVERY_VARIANT, ids=option_name)
def test_an_action_is_taken_where_it_is_legal_and_else_changes_no_byte(options: Options) -> None:
    rules = make_rules(options)
    size = num_actions(options)
    far_out = [-(2**63), -size, -1, size, size + 1, 2**31, 2**32, 2**63 - 1]
    actions = np.array([*range(size), *far_out])
    reached = moments(options)
    assert {kernels.TURN, kernels.FINISHED} <= set(reached["phase"].tolist())
    for state in reached:
        before = np.repeat(state[None], actions.size)
        after = before.copy()
        taken = np.full(actions.size, 9, "u1")
        marks = np.zeros((1, size), "u1")
        kernels.legal(rules, before[:1], marks)
        kernels.step(rules, after, actions, taken, np.zeros((len(taken), 7)))
        assert taken.tolist() == [*marks[0].tolist(), *[0] * len(far_out)]
        refused = taken == 0
        assert after[refused].tobytes() == before[refused].tobytes()
        changed = [after[b].tobytes() != state.tobytes() for b in np.flatnonzero(taken)]
        assert all(changed)


def test_all_phases_were_among_the_moments_tried() -> None:
    phases = {int(phase) for options in QUICK_VARIANTS for phase in moments(options)["phase"]}
    assert phases == {kernels.TURN, kernels.SECOND, kernels.OFFER, kernels.MUST_ACCUSE, kernels.FINISHED}
