"""Rollouts: what follows each decision, what waits, and the advantage estimate."""

from __future__ import annotations

from typing import Any

import numpy as np

from training.decisions import Decisions
from training.rollout import ENDED, OPEN, Rollout, advantages_of
from training.sparse import SparseRows

# --- the advantage estimate ---


def slow_advantages(
    rewards: Any, values: Any, final_values: Any, followers: Any, gamma: float, gae_lambda: float
) -> list[float]:
    """Add up each decision's discounted surprises from there to the end of what is known."""
    estimates = []
    for start in range(len(rewards)):
        estimate = 0.0
        weight = 1.0
        at = start
        while at >= 0 and followers[at] != OPEN:
            following = followers[at]
            after = final_values[at] if following == ENDED else values[following]
            estimate += weight * (rewards[at] + gamma * after - values[at])
            weight = weight * gamma * gae_lambda
            at = following
        estimates.append(estimate)
    return estimates


def test_the_advantage_estimate_is_the_slow_literal_one():
    rng = np.random.default_rng(0)
    number = 300
    followers = np.full(number, OPEN)
    last = np.full(7, -1)
    for i in range(number):
        seat = rng.integers(7)
        if last[seat] >= 0:
            followers[last[seat]] = i
        last[seat] = i
        if rng.random() < 0.1:
            followers[i] = ENDED
            last[seat] = -1
    rewards, values, final_values = rng.normal(size=(3, number)).astype(np.float32)
    for gamma, gae_lambda in ((1.0, 0.95), (0.9, 0.5), (0.99, 0.0), (1.0, 1.0)):
        fast = advantages_of(rewards, values, final_values, followers, gamma, gae_lambda)
        slow = slow_advantages(
            rewards.astype(float), values.astype(float), final_values.astype(float), followers, gamma, gae_lambda
        )
        assert fast.dtype == np.float32
        np.testing.assert_allclose(fast, slow, rtol=0, atol=1e-4)


# --- rollouts ---


def batch(number: int) -> Decisions:
    empty = Decisions.none(2)
    zeros = np.zeros(number, np.float32)
    return Decisions(
        SparseRows(np.zeros(number + 1, np.int32), empty.observations.columns, empty.observations.values),
        np.ones((number, 2), np.uint8),
        np.arange(number),
        zeros,
        zeros,
    )


def test_a_decision_is_followed_by_the_same_seat_s_next_one_or_by_the_end_of_its_game():
    rollout = Rollout(Decisions.none(2), np.full((2, 3), -1), 10)
    for seats in ([0, 2], [1, 0], [0, 2]):
        rollout.add(batch(2), np.array([0, 1]), np.array(seats), np.zeros(2))
    assert rollout.followers[:6].tolist() == [4, 5, OPEN, OPEN, OPEN, OPEN]
    rollout.end(np.array([0]), np.array([[1.0, -0.5, -0.5]]), np.zeros((1, 3), np.float32))
    assert rollout.followers[:6].tolist() == [4, 5, ENDED, OPEN, ENDED, OPEN]
    assert rollout.rewards[:6].tolist() == [0, 0, -0.5, 0, 1, 0]
    assert rollout.last.tolist() == [[-1, -1, -1], [3, -1, 5]]


def test_what_waits_comes_first_in_the_next_rollout():
    rollout = Rollout(Decisions.none(2), np.full((2, 3), -1), 10)
    rollout.add(batch(2), np.array([0, 1]), np.array([0, 0]), np.zeros(2))
    rollout.add(batch(2), np.array([0, 1]), np.array([0, 1]), np.zeros(2))
    waiting, last = rollout.left(Decisions.joined(rollout.parts))
    assert last.tolist() == [[1, -1, -1], [0, 2, -1]]
    assert waiting.actions.tolist() == [1, 0, 1]
    following = Rollout(waiting, last, 10)
    following.add(batch(1), np.array([1]), np.array([0]), np.zeros(1))
    assert following.followers[:4].tolist() == [3, OPEN, OPEN, OPEN]
    assert following.fresh == 1


def test_what_a_seat_gets_before_it_decides_again_is_its_last_decision_s_reward():
    rollout = Rollout(Decisions.none(2), np.full((2, 3), -1), 10)
    # What seat 1 of game 1 gets before its first decision belongs to none.
    rollout.add(batch(2), np.array([0, 1]), np.array([0, 1]), np.array([0.0, 9.0]))
    rollout.add(batch(2), np.array([0, 1]), np.array([0, 1]), np.array([0.5, -0.25]))
    rollout.add(batch(1), np.array([0]), np.array([0]), np.array([2.0]))
    rollout.end(np.array([0]), np.array([[1.0, 3.0, 3.0]]), np.zeros((1, 3), np.float32))
    assert rollout.rewards[:5].tolist() == [0.5, -0.25, 2.0, 0.0, 1.0]
    assert rollout.followers[:5].tolist() == [2, 3, 4, OPEN, ENDED]


def test_a_reward_that_comes_in_the_next_rollout_is_that_of_the_decision_that_waited():
    rollout = Rollout(Decisions.none(2), np.full((1, 2), -1), 10)
    rollout.add(batch(1), np.array([0]), np.array([0]), np.zeros(1))
    following = Rollout(*rollout.left(Decisions.joined(rollout.parts)), 10)
    following.add(batch(1), np.array([0]), np.array([0]), np.array([0.75]))
    assert following.rewards[:2].tolist() == [0.75, 0.0]
