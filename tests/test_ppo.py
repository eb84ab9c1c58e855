"""The self-play learner: what it learns from, and that it goes on exactly where it was stored."""

from __future__ import annotations

from io import BytesIO
from typing import Any

import numpy as np
import pytest
import torch

from sleuth_env import sleuth
from tests.support import paying
from tests.test_players import Rememberer
from training.config import make_config
from training.decisions import Decisions, masked_log_probs
from training.games import LEARNER_NUMBER
from training.ppo import CURVES, PpoLearner
from training.rollout import ENDED, OPEN

TINY: dict[str, Any] = {
    "algorithm": "ppo",
    "num_envs": 8,
    "options": {"num_players": 3, "max_turns": 40},
    "network": {"hidden": [16], "card_network": [8], "initial_bias": {"accuse": -4}},
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
        {
            name: (sleuth.make_bot(name, config.options), share)
            for name, share in ({"random": 1.0} if bots is None else bots).items()
        }
    )
    return made


def go_on() -> bool:
    return False


@pytest.mark.parametrize("threads", [1, 2])
def test_an_opponent_that_remembers_is_told_its_games_and_forgets_those_that_are_over(threads: int):
    log: list[Any] = []
    made = PpoLearner(make_config(TINY | {"threads": threads}))
    made.set_opponents({"rememberer": (Rememberer(log), 1.0)})
    for progress in (0.0, 0.3):
        assert made.learn(progress, go_on) is not None
    players = {id(player): player for player, _, _ in log}
    assert sorted(player.seat for player in players.values()) == [0, 1, 2]
    running = set(made.shards[0]._games.tolist())
    assert len({game for _, games, _ in log for game in games}) > len(running)
    assert all(set(player.memory) <= running for player in players.values())
    # Nobody remembers who does not play any more.
    made.set_opponents({"random": (sleuth.make_bot("random", made.config.options), 1.0)})
    assert len(made.shards[0]._copies._of) <= 1


# --- rollouts ---


def test_every_seat_s_reward_is_that_of_its_game():
    made = learner(opponents={"learner": 2.0})
    envs = made.shards[0].envs
    usual = envs.step

    def step(actions: Any) -> Any:
        result = usual(actions)
        over = np.flatnonzero(result[2] | result[3])
        mine = made.shards[0]._players[over] == LEARNER_NUMBER
        totals.extend(result[4]["rewards"][over][mine].tolist())
        return result

    totals: list[float] = []
    envs.step = step  # type: ignore[method-assign]
    rollout = made.shards[0].play(made.actor, go_on)
    assert rollout is not None
    assert sorted(episode.reward for episode in rollout.episodes) == sorted(totals)
    assert len(totals) > 5
    decided = [episode.reward for episode in rollout.episodes if episode.length]
    assert sum(rollout.rewards) == pytest.approx(sum(decided), abs=1e-4)
    assert (rollout.followers == ENDED).sum() == len(decided)


def test_rewards_during_a_game_belong_to_the_seat_s_last_decision_and_add_up():
    made = learner({}, game="tests.support.paying")
    usual = made.shards[0].envs.step
    shape = made.shards[0]._players.shape
    since = np.zeros(shape)  # what each seat got since its last decision
    totals = np.zeros(shape)
    decided = np.zeros(shape, bool)
    of_decisions: list[float] = []
    of_games: list[float] = []

    def step(actions: Any) -> Any:
        for row, seat in enumerate(made.shards[0].envs.acting_seat.tolist()):
            if decided[row, seat]:
                of_decisions.append(since[row, seat])
            decided[row, seat] = True
            since[row, seat] = 0.0
            for paid, reward in ((seat, paying.OWN), ((seat + 1) % shape[1], paying.NEXT)):
                since[row, paid] += reward
                totals[row, paid] += reward
        result = usual(actions)
        for row in np.flatnonzero(result[2] | result[3]):
            of_decisions.extend(since[row][decided[row]])
            of_games.extend(totals[row])
            for array in (since, totals, decided):
                array[row] = 0
        return result

    made.shards[0].envs.step = step  # type: ignore[method-assign]
    rewards: list[float] = []
    episodes = []
    for _ in range(6):
        rollout = made.shards[0].play(made.actor, go_on)
        assert rollout is not None
        rewards += rollout.rewards[: rollout.size][rollout.followers[: rollout.size] != OPEN].tolist()
        episodes += rollout.episodes
        made.shards[0].keep(*rollout.left(Decisions.joined(rollout.parts)))
    assert len(episodes) > 10
    assert sorted(rewards) == sorted(of_decisions)
    assert sorted(episode.reward for episode in episodes) == sorted(of_games)


def test_only_a_truncated_game_is_bootstrapped_with_what_each_seat_saw_last():
    made = learner(
        options={"num_players": 3, "max_turns": 5},
        network={"hidden": [16], "initial_bias": {"accuse": -9, "final": -9}},
    )
    with torch.no_grad():
        made.network.last_value.bias += 3.0
    rollout = made.shards[0].play(made.actor, go_on)
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
    rollout = made.shards[0].play(made.actor, go_on)
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
    rollout = made.shards[0].play(made.actor, go_on)
    assert rollout is not None
    assert (rollout.followers == ENDED).sum() > 20
    assert (rollout.final_values == 0).all()


# --- the league ---


def test_seats_are_drawn_in_the_shares_and_every_game_has_a_learner():
    made = learner({"random": 1.0, "sheet": 2.0}, opponents={"learner": 3.0})
    drawn = made.shards[0]._drawn(20_000)
    assert (drawn == LEARNER_NUMBER).any(axis=1).all()
    # One game in eight would have no learner; a third of its seats becomes one.
    assert np.bincount(drawn.ravel(), minlength=3) / drawn.size == pytest.approx(
        [0.5 + 1 / 24, (0.5 - 1 / 24) / 3, (0.5 - 1 / 24) * 2 / 3], abs=0.01
    )


def test_opponents_keep_their_games_even_when_they_leave():
    made = learner({"random": 1.0, "sheet": 1.0})
    before = made.shards[0]._players.copy()
    made.set_opponents(
        {name: (sleuth.make_bot(name, made.config.options), 1.0) for name in ("cautious", "sheet", "random")}
    )
    assert (made.shards[0]._players[before == 1] == 3).all()
    assert (made.shards[0]._players[before == 2] == 2).all()
    made.set_opponents({"cautious": (sleuth.make_bot("cautious", made.config.options), 1.0)})
    assert made.shards[0]._names == ["cautious", "sheet", "random"]
    assert sorted(made.seated) == ["random", "sheet"]
    assert (made.shards[0]._players[before == 1] == 3).all()
    assert (made.shards[0]._players[before == 2] == 2).all()
    assert (made.shards[0]._players[before == LEARNER_NUMBER] == LEARNER_NUMBER).all()
    # New games are not theirs.
    assert set(made.shards[0]._drawn(200).ravel().tolist()) == {LEARNER_NUMBER, 1}


class Slow:
    """Play at random, and note in how many decisions it was asked."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.bot = sleuth.make_bot("cautious", sleuth.Options(num_players=3, max_turns=40))

    def act(self, views: Any, legal: Any, seeds: Any) -> Any:
        return self.bot.act(views, legal, seeds)


def test_results_belong_to_who_played_though_opponents_change_in_every_rollout():
    made = learner(opponents={"learner": 1.0}, ppo=TINY["ppo"] | {"rollout_steps": 4, "batch_size": 32})
    made.set_opponents({"first": (Slow("first"), 3.0)})
    envs = made.shards[0].envs
    usual = envs.step
    shape = made.shards[0]._players.shape
    # Who was to decide in each seat, by the player that was asked, whatever its number was.
    sat: list[list[set[str]]] = [[set() for _ in range(shape[1])] for _ in range(shape[0])]
    decided = np.zeros(shape, int)
    ended: list[tuple[list[set[str]], list[int]]] = []

    def step(actions: Any) -> Any:
        names = ("learner", *made.shards[0]._names)
        for row, seat in enumerate(envs.acting_seat.tolist()):
            sat[row][seat].add(names[made.shards[0]._players[row, seat]])
            decided[row, seat] += 1
        result = usual(actions)
        for row in np.flatnonzero(result[2] | result[3]).tolist():
            ended.append((sat[row], decided[row].tolist()))
            sat[row] = [set() for _ in range(shape[1])]
            decided[row] = 0
        return result

    envs.step = step  # type: ignore[method-assign]
    episodes = []
    results = []
    for number in range(40):
        learned = made.learn(0.0, go_on)
        assert learned is not None
        episodes += learned.episodes
        results += learned.results
        name = f"opponent-{number}"
        made.set_opponents({name: (Slow(name), 3.0)})
        assert len(made.shards[0]._names) <= 1 + shape[0] * shape[1]
    assert len(ended) > 30
    # Nobody's seat was taken over by another.
    assert all(len(names) <= 1 for seats, _ in ended for names in seats)
    lengths = [
        count for seats, counts in ended for names, count in zip(seats, counts, strict=True) if names == {"learner"}
    ]
    assert sorted(episode.length for episode in episodes if episode.length) == sorted(lengths)
    # A result names who decided there, and games in which somebody had left count for them.
    played = [[next(iter(names), None) for names in seats] for seats, _ in ended]
    for result in results:
        assert any(
            all(name in (None, found) for name, found in zip(seats, result.players, strict=True)) for seats in played
        )
    assert {name for result in results for name in result.players} > {"learner", "first", "opponent-0"}


def test_an_episode_without_a_decision_is_the_learner_s_only_where_it_sat_from_the_deal_on():
    made = learner({"random": 1.0}, opponents={"learner": 0.0})
    seated = [tuple(row) for row in (made.shards[0]._players == LEARNER_NUMBER).tolist()]
    assert all(sum(row) == 1 for row in seated)
    episodes = 0
    games = 0
    usual = made.shards[0].envs.step

    def step(actions: Any) -> Any:
        nonlocal games
        result = usual(actions)
        games += int((result[2] | result[3]).sum())
        return result

    made.shards[0].envs.step = step  # type: ignore[method-assign]
    for _ in range(3):
        learned = made.learn(0.0, go_on)
        assert learned is not None
        episodes += len(learned.episodes)
        # Whoever leaves, nobody is put in their place.
        made.set_opponents({"cautious": (sleuth.make_bot("cautious", made.config.options), 1.0)})
    assert episodes == games > 10


def test_who_left_plays_its_games_to_the_end_in_a_restored_learner_too():
    def left(made: PpoLearner) -> dict[str, Any]:
        return {name: (sleuth.make_bot(name, made.config.options), share) for name, share in shares.items()}

    unbroken = learner({"sheet": 2.0, "random": 1.0})
    unbroken.learn(0.0, go_on)
    unbroken.set_opponents({"cautious": (sleuth.make_bot("cautious", unbroken.config.options), 1.0)})
    assert "sheet" in unbroken.seated
    restored = PpoLearner(unbroken.config)
    restored.restore({**unbroken.state(), "steps": unbroken.steps, "updates": unbroken.updates})
    assert restored.seated == unbroken.seated
    shares = {"cautious": 1.0} | {name: 0.0 for name in restored.seated if name != "cautious"}
    restored.set_opponents(left(restored))
    for progress in (0.3, 0.6):
        assert unbroken.learn(progress, go_on) == restored.learn(progress, go_on)
        assert same(unbroken, restored)


def test_a_learner_without_a_share_plays_one_seat_of_every_game():
    made = learner(opponents={"learner": 0.0})
    assert ((made.shards[0]._players == LEARNER_NUMBER).sum(axis=1) == 1).all()


def test_a_single_game_waits_while_opponents_play():
    made = learner({"sheet": 1.0}, num_envs=1, opponents={"learner": 0.0}, ppo=TINY["ppo"] | {"batch_size": 16})
    assert made.learn(0.0, go_on) is not None
    assert made.steps == 32


# --- updates ---

SETTINGS = {"learning_rate": 1e-3, "clip_range": 0.2, "entropy": 0.0}


@NETWORKS
def test_the_first_update_s_ratios_are_one(network: dict[str, Any]):
    made = learner(network=network)
    rollout = made.shards[0].play(made.actor, go_on)
    assert rollout is not None
    decisions = Decisions.joined(rollout.parts)
    with torch.inference_mode():
        logits, values = made.network(decisions.observations)
        log_probs = masked_log_probs(logits, torch.from_numpy(decisions.legal).float())
        ratios = (
            log_probs.gather(1, torch.from_numpy(decisions.actions)[:, None])[:, 0]
            - torch.from_numpy(decisions.log_probs)
        ).exp()
    # The same but for rounding: the rows were computed in other batches.
    assert (ratios - 1).abs().max() < 1e-5
    np.testing.assert_allclose(values.numpy(), decisions.values, atol=1e-5)
    # So nothing is clipped, and the first minibatch's loss is minus the mean advantage.
    number = len(decisions)
    advantages = np.linspace(-1, 1, number).astype(np.float32)
    _, sums = made._loss(decisions, advantages, decisions.values, np.arange(number), SETTINGS)
    means = dict(zip(CURVES, (sums / number).tolist(), strict=True))
    assert means["clip_fraction"] == 0
    assert means["policy_gradient_loss"] == pytest.approx(0, abs=1e-6)
    assert means["approx_kl"] == pytest.approx(0, abs=1e-6)
    assert means["value_loss"] == pytest.approx(0, abs=1e-6)


@NETWORKS
def test_an_update_makes_good_actions_more_likely_and_values_better(network: dict[str, Any]):
    made = learner(network=network, ppo=TINY["ppo"] | {"epochs": 20, "batch_size": 256})
    rollout = made.shards[0].play(made.actor, go_on)
    assert rollout is not None
    decisions = Decisions.joined(rollout.parts)
    advantages = np.where(np.arange(len(decisions)) % 2, 1, -1).astype(np.float32)
    returns = np.full(len(decisions), 0.5, np.float32)
    # One minibatch a pass.
    losses = [
        curves[1:3].tolist() for curves in made._optimise(decisions, advantages, returns, np.arange(256), SETTINGS)
    ]
    assert len(losses) == 20
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


@pytest.mark.parametrize("game", ["sleuth", "tests.support.paying"])
def test_a_rollout_that_was_stopped_leaves_everything_as_it_was(game: str):
    one = learner(game=game)
    other = learner(game=game)
    for made in (one, other):
        made.learn(0.0, go_on)
    asked = iter(range(10**6))
    assert one.learn(0.5, lambda: next(asked) > 20) is None
    assert same(one, other)
    assert one.learn(0.5, go_on) == other.learn(0.5, go_on)
    assert same(one, other)


@pytest.mark.parametrize("game", ["sleuth", "tests.support.paying"])
@NETWORKS
@pytest.mark.parametrize("shards", [1, 2])
def test_a_restored_learner_goes_on_as_if_nothing_had_happened(shards: int, network: dict[str, Any], game: str):
    bots = {"random": 1.0, "sheet": 0.5}
    unbroken = learner(bots, network=network, game=game, shards=shards)
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


@pytest.mark.parametrize(
    ("digest", "message"), [(None, "damaged or changed since get_state"), ("", "cannot be: game 2: actor is 77")]
)
def test_a_stored_game_that_cannot_be_is_refused(digest: str | None, message: str):
    made = learner()
    state = {**made.state(), "steps": made.steps, "updates": made.updates}
    envs = state["games"]["envs"]
    states = envs["states"].numpy().copy()
    states.view(sleuth.STATE)[2, 0]["actor"] = 77
    changed = {"states": torch.from_numpy(states), "digest": envs["digest"] if digest is None else digest}
    state["games"] = {**state["games"], "envs": {**envs, **changed}}
    with pytest.raises(ValueError, match=message):
        PpoLearner(made.config).restore(state)


@pytest.mark.parametrize("name", ["rng", "bot_rng"])
def test_a_stored_generator_that_is_none_is_refused(name: str):
    made = learner()
    state = {**made.state(), "steps": made.steps, "updates": made.updates}
    state["games"] = {**state["games"], name: {"bit_generator": "PCG64", "state": {"state": -1, "inc": 1}}}
    with pytest.raises(ValueError, match="is not the state of a generator"):
        PpoLearner(made.config).restore(state)


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
