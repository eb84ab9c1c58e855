"""The self-play learner: its distribution, its advantage estimate, its rollouts, and that it goes
on exactly where it was stored.
"""

from __future__ import annotations

from io import BytesIO
from typing import Any

import numpy as np
import pytest
import torch

from sleuth_env import sleuth
from training.config import make_config
from training.decisions import Decisions, by_width, entropies, masked_log_probs, sampled
from training.ppo import CURVES, ENDED, LEARNER, OPEN, PpoLearner, Rollout, advantages
from training.sparse import SparseRows

TINY: dict[str, Any] = {
    "algorithm": "ppo",
    "num_envs": 8,
    "options": {"num_players": 3, "max_turns": 40},
    "network": {"hidden": [16], "cells": [8], "initial_bias": {"accuse": -4}},
    "ppo": {"rollout_steps": 32, "batch_size": 64, "epochs": 2, "learning_rate": 1e-3},
}


# What is true of a learner whatever its network.
NETWORKS = pytest.mark.parametrize(
    "network",
    [TINY["network"], {"kind": "relational", "units": 8, "initial_bias": {"accuse": -4}}],
    ids=["mlp", "relational"],
)


def learner(bots: dict[str, float] | None = None, **changes: Any) -> PpoLearner:
    config = make_config(TINY | changes)
    made = PpoLearner(config)
    made.set_opponents(
        {name: (sleuth.make_bot(name, config.options), share) for name, share in (bots or {"random": 1.0}).items()}
    )
    return made


def go_on() -> bool:
    return False


# --- the masked distribution ---


@pytest.fixture
def rows() -> tuple[torch.Tensor, torch.Tensor]:
    generator = torch.Generator().manual_seed(1)
    legal = torch.rand(500, 30, generator=generator) < 0.3
    legal[:, 7] |= ~legal.any(dim=1)
    legal[0] = torch.arange(30) == 29
    return 5 * torch.randn(500, 30, generator=generator), legal


def test_the_masked_distribution_is_that_of_torch(rows: tuple[torch.Tensor, torch.Tensor]):
    logits, legal = rows
    log_probs = masked_log_probs(logits, legal.float())
    for row in range(len(logits)):
        wanted = torch.distributions.Categorical(logits=logits[row][legal[row]])
        torch.testing.assert_close(log_probs[row][legal[row]], wanted.logits)
        torch.testing.assert_close(entropies(log_probs)[row], wanted.entropy())
    assert (log_probs.exp()[~legal] == 0).all()


def test_its_gradients_are_those_of_torch(rows: tuple[torch.Tensor, torch.Tensor]):
    logits, legal = (each[:20] for each in rows)
    ours = logits.double().requires_grad_()
    theirs = logits.double().requires_grad_()
    log_probs = masked_log_probs(ours, legal.double())
    actions = legal.to(torch.uint8).argmax(dim=1)
    (log_probs[torch.arange(20), actions].sum() + 2 * entropies(log_probs).sum()).backward()
    for row in range(20):
        wanted = torch.distributions.Categorical(logits=theirs[row][legal[row]])
        (wanted.log_prob(torch.tensor(0)) + 2 * wanted.entropy()).backward()
    torch.testing.assert_close(ours.grad, theirs.grad)


def test_actions_are_drawn_by_their_probabilities(rows: tuple[torch.Tensor, torch.Tensor]):
    logits, legal = (each[1:2] for each in rows)
    log_probs = masked_log_probs(logits, legal.float())
    number = 100_000
    uniform = torch.arange(number).div(number)[:, None].float()
    counts = torch.bincount(
        sampled(log_probs.expand(number, -1), legal.float().expand(number, -1), uniform), minlength=30
    )
    assert (counts / number - log_probs.exp()[0]).abs().max() < 1e-4


@pytest.mark.parametrize("uniform", [0.0, 0.5, 1 - 2**-24])
def test_an_illegal_action_is_never_drawn(rows: tuple[torch.Tensor, torch.Tensor], uniform: float):
    logits, legal = rows
    log_probs = masked_log_probs(logits, legal.float())
    # Nor where rounding leaves nothing above.
    for height in (uniform, 1.1):
        drawn = sampled(log_probs, legal.float(), torch.full((len(logits), 1), height))
        assert legal.gather(1, drawn[:, None]).all()


def test_rows_whose_early_actions_are_all_illegal_do_without_their_logits(rows: tuple[torch.Tensor, torch.Tensor]):
    legal = rows[1].numpy().astype(np.uint8)
    legal[::3, :20] = 0
    (wide, start), (narrow, late) = by_width(legal, 20, np.arange(len(legal)))
    assert (start, late) == (0, 20)
    assert sorted([*wide, *narrow]) == list(range(len(legal)))
    assert legal[wide, :20].any(axis=1).all()
    assert not legal[narrow, :20].any()
    assert [(some.tolist(), first) for some, first in by_width(legal, 20, narrow[::-1])] == [
        (narrow[::-1].tolist(), 20)
    ]


# --- the advantage estimate ---


def slow_advantages(
    rewards: Any, values: Any, final_values: Any, followers: Any, gamma: float, gae_lambda: float
) -> list[float]:
    """Add up, for each decision, the discounted surprises from there to the end of what is known."""
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
    chance = np.random.default_rng(0)
    number = 300
    followers = np.full(number, OPEN)
    last = np.full(7, -1)
    for i in range(number):
        seat = chance.integers(7)
        if last[seat] >= 0:
            followers[last[seat]] = i
        last[seat] = i
        if chance.random() < 0.1:
            followers[i] = ENDED
            last[seat] = -1
    rewards, values, final_values = chance.normal(size=(3, number)).astype(np.float32)
    for gamma, gae_lambda in ((1.0, 0.95), (0.9, 0.5), (0.99, 0.0), (1.0, 1.0)):
        fast = advantages(rewards, values, final_values, followers, gamma, gae_lambda)
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
        SparseRows(np.zeros(number + 1, np.int32), empty.seen.columns, empty.seen.values),
        np.ones((number, 2), np.uint8),
        np.arange(number),
        zeros,
        zeros,
    )


def test_a_decision_is_followed_by_the_same_seat_s_next_one_or_by_the_end_of_its_game():
    rollout = Rollout(Decisions.none(2), np.full((2, 3), -1), 10)
    for seats in ([0, 2], [1, 0], [0, 2]):
        rollout.add(batch(2), np.array([0, 1]), np.array(seats))
    assert rollout.followers[:6].tolist() == [4, 5, OPEN, OPEN, OPEN, OPEN]
    rollout.end(np.array([0]), np.array([[1.0, -0.5, -0.5]]), np.zeros((1, 3), np.float32))
    assert rollout.followers[:6].tolist() == [4, 5, ENDED, OPEN, ENDED, OPEN]
    assert rollout.rewards[:6].tolist() == [0, 0, -0.5, 0, 1, 0]
    assert rollout.last.tolist() == [[-1, -1, -1], [3, -1, 5]]


def test_what_waits_comes_first_in_the_next_rollout():
    rollout = Rollout(Decisions.none(2), np.full((2, 3), -1), 10)
    rollout.add(batch(2), np.array([0, 1]), np.array([0, 0]))
    rollout.add(batch(2), np.array([0, 1]), np.array([0, 1]))
    waiting, last = rollout.left(Decisions.joined(rollout.parts))
    assert last.tolist() == [[1, -1, -1], [0, 2, -1]]
    assert waiting.actions.tolist() == [1, 0, 1]
    following = Rollout(waiting, last, 10)
    following.add(batch(1), np.array([1]), np.array([0]))
    assert following.followers[:4].tolist() == [3, OPEN, OPEN, OPEN]
    assert following.fresh == 1


def test_every_seat_s_reward_is_that_of_its_game():
    made = learner(opponents={"learner": 2.0})
    envs = made.envs
    paid = np.zeros((8, 3))
    usual = envs.step

    def step(actions: Any) -> Any:
        result = usual(actions)
        over = np.flatnonzero(result[2] | result[3])
        mine = made._players[over] == LEARNER
        totals.extend(result[4]["rewards"][over][mine].tolist())
        return result

    totals: list[float] = []
    envs.step = step  # type: ignore[method-assign]
    rollout = made._collect(go_on)
    assert rollout is not None
    assert sorted(reward for reward, _ in rollout.episodes) == sorted(totals)
    assert len(totals) > 5
    decided = [reward for reward, length in rollout.episodes if length]
    assert sum(rollout.rewards) == pytest.approx(sum(decided), abs=1e-4)
    assert (rollout.followers == ENDED).sum() == len(decided)
    assert paid.shape == made._players.shape


def test_only_a_truncated_game_is_bootstrapped_with_what_each_seat_saw_last():
    made = learner(
        options={"num_players": 3, "max_turns": 5},
        network={"hidden": [16], "initial_bias": {"accuse": -9, "final": -9}},
    )
    with torch.no_grad():
        made.network.last_value.bias += 3.0
    rollout = made._collect(go_on)
    assert rollout is not None
    ended = rollout.followers == ENDED
    assert ended.sum() > 20
    assert (rollout.final_values[ended & (rollout.rewards == 0)] > 1).mean() > 0.9
    assert (rollout.final_values[~ended] == 0).all()


def test_who_was_out_or_right_before_the_turn_limit_is_not_bootstrapped():
    made = learner(
        options={"num_players": 4, "winners": 3, "max_turns": 4},
        network={"hidden": [16], "initial_bias": {"accuse": -5, "final": -9}},
    )
    with torch.no_grad():
        made.network.last_value.bias += 3.0
    rollout = made._collect(go_on)
    assert rollout is not None
    ended = rollout.followers == ENDED
    settled = rollout.rewards != 0
    assert (ended & settled).sum() > 20
    assert (rollout.final_values[ended & settled] == 0).all()
    assert (rollout.final_values[ended & ~settled] > 1).sum() > 10


def test_a_game_that_was_won_is_not_bootstrapped():
    made = learner(network={"hidden": [16], "initial_bias": {"accuse": 5}})
    with torch.no_grad():
        made.network.last_value.bias += 3.0
    rollout = made._collect(go_on)
    assert rollout is not None
    assert (rollout.followers == ENDED).sum() > 20
    assert (rollout.final_values == 0).all()


# --- the league ---


def test_seats_are_drawn_in_the_shares_and_every_game_has_a_learner():
    made = learner({"random": 1.0, "sheet": 2.0}, opponents={"learner": 3.0})
    drawn = made._drawn(20_000)
    assert (drawn == LEARNER).any(axis=1).all()
    # One game in eight would have no learner; a third of its seats becomes one.
    assert np.bincount(drawn.ravel(), minlength=3) / drawn.size == pytest.approx(
        [0.5 + 1 / 24, (0.5 - 1 / 24) / 3, (0.5 - 1 / 24) * 2 / 3], abs=0.01
    )


def test_opponents_keep_their_games_until_they_leave():
    made = learner({"random": 1.0, "sheet": 1.0})
    before = made._players.copy()
    made.set_opponents(
        {name: (sleuth.make_bot(name, made.config.options), 1.0) for name in ("cautious", "sheet", "random")}
    )
    assert (made._players[before == 1] == 3).all()
    assert (made._players[before == 2] == 2).all()
    made.set_opponents({"cautious": (sleuth.make_bot("cautious", made.config.options), 1.0)})
    assert set(made._players.ravel().tolist()) <= {LEARNER, 1}
    assert (made._players[before == LEARNER] == LEARNER).all()


def test_a_learner_without_a_share_plays_one_seat_of_every_game():
    made = learner(opponents={"learner": 0.0})
    assert ((made._players == LEARNER).sum(axis=1) == 1).all()


def test_a_single_game_waits_while_opponents_play():
    made = learner({"sheet": 1.0}, num_envs=1, opponents={"learner": 0.0}, ppo=TINY["ppo"] | {"batch_size": 16})
    assert made.learn(0.0, go_on) is not None
    assert made.steps == 32


# --- updates ---

SETTINGS = {"clip_range": 0.2, "entropy": 0.0}


@NETWORKS
def test_the_first_update_s_ratios_are_one(network: dict[str, Any]):
    made = learner(network=network)
    rollout = made._collect(go_on)
    assert rollout is not None
    decisions = Decisions.joined(rollout.parts)
    with torch.inference_mode():
        logits, values = made.network(decisions.seen)
        log_probs = masked_log_probs(logits, torch.from_numpy(decisions.legal).float())
        ratios = (
            log_probs.gather(1, torch.from_numpy(decisions.actions)[:, None])[:, 0]
            - torch.from_numpy(decisions.log_probs)
        ).exp()
    # The same but for rounding: the rows were computed in other batches.
    assert (ratios - 1).abs().max() < 1e-5
    np.testing.assert_allclose(values.numpy(), decisions.values, atol=1e-5)
    # So nothing is clipped, and the first minibatch's loss is minus the mean advantage.
    good = np.linspace(-1, 1, len(decisions)).astype(np.float32)
    means = dict(
        zip(
            CURVES,
            made._minibatch(decisions, np.arange(len(decisions)), good, decisions.values, SETTINGS).tolist(),
            strict=True,
        )
    )
    assert means["clip_fraction"] == 0
    assert means["policy_gradient_loss"] == pytest.approx(0, abs=1e-6)
    assert means["approx_kl"] == pytest.approx(0, abs=1e-6)
    assert means["value_loss"] == pytest.approx(0, abs=1e-6)


@NETWORKS
def test_an_update_makes_good_actions_more_likely_and_values_better(network: dict[str, Any]):
    made = learner(network=network, ppo=TINY["ppo"] | {"epochs": 20})
    rollout = made._collect(go_on)
    assert rollout is not None
    decisions = Decisions.joined(rollout.parts)
    good = np.where(np.arange(len(decisions)) % 2, 1, -1).astype(np.float32)
    target = np.full(len(decisions), 0.5, np.float32)
    losses = [
        made._minibatch(decisions, np.arange(len(decisions)), good, target, SETTINGS)[1:3].tolist() for _ in range(20)
    ]
    assert losses[-1][0] < losses[0][0]
    assert losses[-1][1] < losses[0][1]


def test_a_divergence_beyond_the_target_ends_the_update():
    made = learner(ppo=TINY["ppo"] | {"epochs": 50, "learning_rate": 0.1, "target_kl": 0.01})
    assert made.learn(0.0, go_on) is not None
    assert made.updates < 50


def test_the_statistics_have_the_field_s_names():
    learned = learner().learn(0.0, go_on)
    assert learned is not None
    assert {
        f"train/{name}" for name in (*CURVES, "n_updates", "learning_rate", "clip_range", "explained_variance")
    } == set(learned.statistics)


# --- threads ---


@NETWORKS
def test_threads_share_the_rows_and_learn_the_same(network: dict[str, Any]):
    alone, first, second = (
        learner({"random": 1.0, "sheet": 1.0}, network=network, threads=threads) for threads in (1, 3, 3)
    )
    made = [each.learn(0.0, go_on) for each in (alone, first, second)]
    assert same(first, second)
    assert made[1] == made[2]
    assert alone.steps == first.steps
    # The same but for rounding: the rows were computed in other batches.
    for one, other in zip(weights(alone), weights(first), strict=True):
        torch.testing.assert_close(one, other, rtol=0, atol=2e-4)


# --- stopping and resuming ---


def weights(made: PpoLearner) -> list[torch.Tensor]:
    return [
        *made.network.state_dict().values(),
        *(value for state in made.optimizer.state_dict()["state"].values() for value in state.values()),
    ]


def same(one: PpoLearner, other: PpoLearner) -> bool:
    return one.steps == other.steps and all(
        torch.equal(a, b) for a, b in zip(weights(one), weights(other), strict=True)
    )


def test_a_rollout_that_was_stopped_leaves_everything_as_it_was():
    one = learner()
    other = learner()
    for made in (one, other):
        made.learn(0.0, go_on)
    asked = iter(range(10**6))
    assert one.learn(0.5, lambda: next(asked) > 20) is None
    assert same(one, other)
    for made in (one, other):
        made.learn(0.5, go_on)
    assert same(one, other)


@NETWORKS
def test_a_restored_learner_goes_on_as_if_nothing_had_happened(network: dict[str, Any]):
    bots = {"random": 1.0, "sheet": 0.5}
    unbroken = learner(bots, network=network)
    unbroken.learn(0.0, go_on)
    unbroken.learn(0.3, go_on)
    content = BytesIO()
    torch.save({**unbroken.state(), "steps": unbroken.steps, "updates": unbroken.updates}, content)
    content.seek(0)
    restored = PpoLearner(unbroken.config)
    restored.restore(torch.load(content, weights_only=True))
    restored.set_opponents(
        {name: (sleuth.make_bot(name, unbroken.config.options), share) for name, share in bots.items()}
    )
    assert same(unbroken, restored)
    for progress in (0.6, 0.8):
        assert unbroken.learn(progress, go_on) == restored.learn(progress, go_on)
        assert same(unbroken, restored)


def test_another_number_of_games_begins_new_ones():
    made = learner()
    made.learn(0.0, go_on)
    state = {**made.state(), "steps": made.steps, "updates": made.updates}
    other = PpoLearner(make_config(TINY | {"num_envs": 16}))
    other.restore(state)
    other.set_opponents({"random": (sleuth.make_bot("random", other.config.options), 1.0)})
    assert other.learn(0.5, go_on) is not None
    assert other.steps > made.steps


@pytest.mark.slow
def test_a_run_of_50_000_steps_has_no_number_that_is_none():
    made = learner({"random": 1.0, "cautious": 1.0}, num_envs=64)
    while made.steps < 50_000:
        learned = made.learn(made.steps / 50_000, go_on)
        assert learned is not None
        assert np.isfinite(list(learned.statistics.values())).all()
        assert all(torch.isfinite(weight).all() for weight in made.network.state_dict().values())
