"""Stable-Baselines3's face: many games at once with a learner in one seat of each."""

from __future__ import annotations

import copy
import pickle
import subprocess
import sys
from dataclasses import asdict, replace
from typing import Any

import numpy as np
import pytest
from stable_baselines3.common.vec_env import VecEnv, VecMonitor, is_vecenv_wrapped

from sleuth_env import HolmesVecEnv, sleuth
from sleuth_env.actions import IllegalAction
from sleuth_env.game import TRUNCATED
from sleuth_env.matches.table import LEARNER_SEAT, Table
from sleuth_env.sleuth import Options
from sleuth_env.sleuth_v0 import SleuthVecEnv

THREE = Options(num_players=3)
VARIANTS = [
    THREE,
    Options(num_players=4, winners=2, announce_result=False, double_interrogation=True),
    Options(num_players=3, missing=2, super_sleuth=True),
    Options(num_players=5, accuse="own_turn", max_turns=12),
    Options(num_players=7, last_survivor_wins=True),
]


def choose(masks: np.ndarray, random: np.random.Generator, careful: bool = True) -> np.ndarray:
    """Draw a legal action for each row; a careful learner seldom accuses."""
    weights = masks * random.random(masks.shape)
    if careful:
        weights[:, -37:-1] *= 1e-3
    return weights.argmax(axis=1)


class Recorder:
    """A bot that plays like another one and keeps what it was asked."""

    def __init__(self, name: str, options: Options) -> None:
        self.name = name
        self.bot = sleuth.make_bot(name, options)
        self.rows = 0

    def act(self, views: Any, legal: Any, seeds: Any) -> Any:
        self.rows += len(views)
        return self.bot.act(views, legal, seeds)


@pytest.mark.parametrize("options", VARIANTS, ids=str)
def test_observations_masks_rewards_and_infos_have_their_shapes_in_every_variant(options: Options):
    env = SleuthVecEnv(6, opponents=["cautious", "random"], seed=3, **asdict(options))
    assert isinstance(env, VecEnv)
    observations = env.reset()
    random = np.random.default_rng(0)
    ended = 0
    for _ in range(150):
        masks = np.stack(env.env_method("action_masks"))
        assert observations.shape == (6, *env.observation_space.shape)
        assert observations.dtype == np.float32
        assert all(env.observation_space.contains(row) for row in observations)
        assert masks.shape == (6, env.action_space.n)
        assert masks.dtype == bool
        assert masks.any(axis=1).all()
        observations, rewards, dones, infos = env.step(choose(masks, random, careful=False))
        assert rewards.dtype == np.float32
        assert (rewards[~dones] == 0).all()
        for reward, done, info in zip(rewards, dones, infos, strict=True):
            assert ("terminal_observation" in info) == done
            if done:
                ended += 1
                assert env.observation_space.contains(info["terminal_observation"])
                assert info["episode"]["r"] == pytest.approx(reward)
                assert info["episode"]["l"] >= 1
    assert ended > 10


def test_what_is_returned_is_a_fresh_copy():
    env = SleuthVecEnv(3, num_players=3)
    first = env.reset()
    kept = first.copy()
    env.step(env.action_masks().argmax(axis=1))
    assert (first == kept).all()
    env.action_masks()[:] = False
    assert env.action_masks().any(axis=1).all()


def test_the_learner_decides_only_for_his_own_seat_and_gets_the_seat_he_was_promised():
    env = SleuthVecEnv(8, opponents=["cautious"], learner_seat=2, num_players=3)
    env.reset()
    random = np.random.default_rng(0)
    for _ in range(60):
        assert (env.table.actors == 2).all()
        assert (env.table.seats[:, 2] == LEARNER_SEAT).all()
        env.step(choose(env.action_masks(), random))


def test_a_random_seat_is_every_seat():
    env = SleuthVecEnv(200, opponents=["cautious"], learner_seat="random", num_players=3)
    env.reset()
    seats = (env.table.seats == LEARNER_SEAT).argmax(axis=1)
    assert set(seats) == {0, 1, 2}
    assert (env.table.actors == seats).all()


def test_the_same_seed_gives_the_same_games():
    def play(seed: int) -> bytes:
        env = SleuthVecEnv(5, opponents=["sheet", "random"], seed=seed, num_players=3)
        random = np.random.default_rng(1)
        parts = [env.reset()]
        for _ in range(80):
            parts += env.step(choose(env.action_masks(), random))[:3]
        return b"".join(part.tobytes() for part in parts)

    assert play(1) == play(1)
    assert play(1) != play(2)


def test_rewards_are_those_of_the_game_played_to_its_end():
    """A learner who is out gets at once what the played-out game would have paid them."""
    env = SleuthVecEnv(1, opponents=["cautious"], learner_seat=0, seed=5, num_players=3)
    random = np.random.default_rng(2)
    compared = 0
    env.reset()
    while compared < 30:
        action = choose(env.action_masks(), random, careful=False)
        other = Table(sleuth, THREE, 1, env.table.bots, env.table.seats[0])
        other.states = env.table.states.copy()
        other.decisions = env.table.decisions.copy()
        other._streams = env.table._streams.copy()
        other.step([0], action)
        other.play_on()
        _, rewards, dones, infos = env.step(action)
        if dones[0]:
            cut_off = other.ends([0])[0] == TRUNCATED and not other.settled([0])[0][0, 0]
            assert rewards[0] == pytest.approx(other.returns[0, 0])
            # A lost game is not cut off: there is nothing left to estimate.
            assert infos[0]["TimeLimit.truncated"] == cut_off
            compared += 1
        else:
            assert not other.finished[0]


def test_a_game_at_its_turn_limit_is_truncated():
    env = SleuthVecEnv(4, ["cautious"], num_players=3, max_turns=1)
    env.reset()
    random = np.random.default_rng(0)
    truncated = 0
    for _ in range(20):
        for info in env.step(choose(env.action_masks(), random))[3]:
            truncated += info.get("TimeLimit.truncated", False)
    assert truncated > 10


def test_an_illegal_action_is_refused_in_the_games_words():
    env = SleuthVecEnv(2, num_players=3)
    env.reset()
    bad = (~env.action_masks()).argmax(axis=1)
    with pytest.raises(IllegalAction, match=r"player_\d of game 0 may not choose action \d+ \(.*\) now"):
        env.step(bad)
    with pytest.raises(IllegalAction, match="action must be an integer from 0 to 447, got"):
        env.step(np.array([-1, 10**6]))


def test_waiting_for_a_step_needs_one():
    env = SleuthVecEnv(2, num_players=3)
    env.reset()
    with pytest.raises(RuntimeError, match=r"step_async"):
        env.step_wait()


def test_a_game_that_ends_before_the_learner_decides_is_an_episode_of_one_step():
    """Without them every reward would be a little too high."""
    env = SleuthVecEnv(400, opponents="random", seed=4, num_players=3)
    observations = env.reset()
    early = env.table.finished
    assert 1 <= early.sum() < 40
    assert env.action_masks()[early].all()
    expected = env.table.returns[np.arange(400), env.table.learners]
    _, rewards, dones, infos = env.step(env.action_masks().argmax(axis=1))
    assert dones[early].all()
    assert (rewards[early] == expected[early].astype(np.float32)).all()
    for row in np.flatnonzero(early):
        assert infos[row]["episode"]["l"] == 1
        assert infos[row]["terminal_observation"].tobytes() == observations[row].tobytes()


def test_rewards_are_on_average_what_a_seat_at_such_a_table_gets():
    env = SleuthVecEnv(200, opponents="random", learner_seat=2, seed=5, num_players=3)
    table = Table(sleuth, THREE, 3000, [sleuth.make_bot("random", THREE)], 0)
    table.deal(np.arange(3000), np.arange(3000, dtype=np.uint64))
    table.play_on()
    expected = table.returns[:, 2]
    env.reset()
    random = np.random.default_rng(1)
    got = []
    # As many games of every row, or the short ones would come too often.
    while min(counts := np.bincount([row for row, _ in got], minlength=200)) < 15:
        _, rewards, dones, _ = env.step(choose(env.action_masks(), random, careful=False))
        got += [(row, float(rewards[row])) for row in np.flatnonzero(dones & (counts < 15))]
    assert len(got) == 3000
    assert np.mean([reward for _, reward in got]) == pytest.approx(
        expected.mean(), abs=4 * expected.std() * (2 / 3000) ** 0.5
    )


def test_opponents_are_drawn_in_their_shares_and_games_under_way_keep_theirs():
    first = Recorder("cautious", THREE)
    second = Recorder("cautious", THREE)
    env = SleuthVecEnv(400, opponents=[first, second], shares=[3, 1], seed=1, num_players=3)
    env.reset()
    numbers = env.table.seats[env.table.seats != LEARNER_SEAT]
    assert 0.68 < (numbers == 0).mean() < 0.82
    third = Recorder("cautious", THREE)
    env.set_opponents([third])
    assert third.rows == 0
    random = np.random.default_rng(0)
    env.step(choose(env.action_masks(), random))
    assert first.rows
    assert env.table.bots == [third, first, second]
    env.reset()
    env.set_opponents([third])
    assert env.table.bots == [third]


def asked_after(env: Any, snapshot: Any, recorders: list[Recorder]) -> list[bool]:
    """Return who of some opponents is asked in the games of a snapshot, before other games are dealt."""
    env.set_state(snapshot)
    before = [recorder.rows for recorder in recorders]
    # Nobody accuses so early.
    env.step(choose(env.action_masks(), np.random.default_rng(0)))
    return [recorder.rows > rows for recorder, rows in zip(recorders, before, strict=True)]


@pytest.mark.parametrize("names", [["cautious", "sheet"], ["cautious", "cautious"]])
def test_games_of_a_snapshot_go_on_with_those_who_were_playing_whoever_has_been_set_since(names: list[str]):
    first, second = (Recorder(name, THREE) for name in names)
    env = SleuthVecEnv(4, opponents=[first], seed=1, num_players=3)
    env.reset()
    snapshot = env.get_state()
    env.set_attr("opponents", [second])
    assert env.table.bots == [second, first]
    assert asked_after(env, snapshot, [first, second]) == [True, False]
    # Now nobody of then plays any more.
    env.reset()
    env.set_opponents([second])
    digest = env.get_state().digest
    with pytest.raises(ValueError, match=f"the snapshot has games against '{names[0]}', who does not play here"):
        env.set_state(snapshot)
    assert env.get_state().digest == digest
    env.set_opponents([second, first])
    assert asked_after(env, snapshot, [first, second]) == [True, False]


def test_the_same_bot_or_file_named_again_is_the_player_that_it_was():
    env = SleuthVecEnv(4, opponents=["cautious", "pretrained:3p"], seed=1, num_players=3)
    env.reset()
    snapshot = env.get_state()
    seats = [[env.table.bots[number].name for number in row if number != LEARNER_SEAT] for row in env.table.seats]
    env.set_opponents(["random"])
    env.reset()
    env.set_opponents(["pretrained:3p", "random", "cautious"])
    env.set_state(snapshot)
    again = [[env.table.bots[number].name for number in row if number != LEARNER_SEAT] for row in env.table.seats]
    assert again == seats
    other = SleuthVecEnv(4, opponents=["pretrained:3p", "cautious"], seed=5, num_players=3)
    other.set_state(snapshot)
    assert [[other.table.bots[n].name for n in row if n != LEARNER_SEAT] for row in other.table.seats] == seats
    for one in (env, other):
        one.set_opponents(["random"])
        one.reset()
        one.set_opponents(["random"])
        with pytest.raises(ValueError, match="who does not play here: the opponents here are 'random'"):
            one.set_state(snapshot)


def test_copies_of_an_environment_know_who_was_playing():
    first = Recorder("cautious", THREE)
    env = SleuthVecEnv(2, opponents=[first], seed=1, num_players=3)
    env.reset()
    snapshot = env.get_state()
    for again in (copy.deepcopy(env), pickle.loads(pickle.dumps(env))):
        again.set_opponents(["random"])
        again.set_state(snapshot)
        assert {again.table.bots[number].name for number in np.unique(again.table.seats) if number >= 0} == {"cautious"}


@pytest.mark.parametrize(
    "wrong", [None, [], [["sheet", 0]], [["sheet", True]], [[1, 1]], [["sheet"]], "sheet", [["sheet", 1], 5]]
)
def test_what_says_of_nobody_who_they_are_is_refused(wrong: Any):
    env = SleuthVecEnv(2, opponents=["random"], seed=1, num_players=3)
    env.reset()
    snapshot = env.get_state()
    assert snapshot.more["opponents"] == [["random", 1]]
    with pytest.raises(ValueError, match=r"of the snapshot does not fit this environment|who does not play here"):
        env.set_state(replace(snapshot, more={**snapshot.more, "opponents": wrong}, digest=""))


@pytest.mark.parametrize("shares", [[1], [0, 0], [-1, 2], [float("nan"), 1], "ab", ["x", 1], 3])
def test_shares_that_make_no_sense_are_refused(shares: Any):
    with pytest.raises(ValueError, match=r"need one share each, .*, got 2 opponents with shares"):
        SleuthVecEnv(2, opponents=["random", "sheet"], shares=shares, num_players=3)


def test_nobody_is_no_opponent():
    with pytest.raises(ValueError, match=r"opponents must be at least one player, got \[\]"):
        SleuthVecEnv(2, opponents=[], num_players=3)


def test_shares_may_be_as_large_as_can_be():
    env = SleuthVecEnv(64, opponents=["random", "sheet"], shares=[1e308, 1e308], num_players=3)
    env.reset()
    assert {int(seat) for seat in np.unique(env.table.seats)} >= {0, 1}


class Failing:
    """Fail at the first decision."""

    name = "failing"

    def __init__(self) -> None:
        self.fails = False

    def act(self, views: np.ndarray, legal: np.ndarray, seeds: np.ndarray) -> np.ndarray:
        if self.fails:
            raise RuntimeError("no more")
        return legal.argmax(axis=1)


def test_a_reset_that_an_opponent_breaks_off_has_changed_nothing():
    opponent = Failing()
    env = SleuthVecEnv(2, opponents=opponent, learner_seat=2, num_players=3, first_player="seat_0")
    env.reset()
    opponent.fails = True
    before = env.get_state()
    with pytest.raises(RuntimeError, match="no more"):
        env.env_method("reset", seed=99, indices=[0])
    after = env.get_state()
    assert (after.streams, after.states.tobytes()) == (before.streams, before.states.tobytes())


def test_settings_that_make_no_sense_are_refused():
    with pytest.raises(ValueError, match='learner_seat must be "random" or a seat from 0 to 2, got 3'):
        SleuthVecEnv(2, learner_seat=3, num_players=3)
    with pytest.raises(ValueError, match="record must be one of 'sheet', 'raw', 'exact', got 'x'"):
        SleuthVecEnv(2, record="x", num_players=3)
    with pytest.raises(ValueError, match="nobody"):
        SleuthVecEnv(2, opponents=["nobody"], num_players=3)


def test_the_reward_of_an_episode_that_an_illegal_action_ends_is_all_that_was_given():
    given = {"num_players": 3, "cases": 3, "reward": "case", "opponents": ["counter", "random"]}
    envs = HolmesVecEnv(8, illegal="end", seed=1, **given)
    rng = np.random.default_rng(0)
    envs.reset()
    sums = np.zeros(8)
    ended = []
    for _ in range(400):
        masks = envs.action_masks()
        actions = (masks * rng.random(masks.shape)).argmax(axis=1)
        wrong = rng.random(8) < 0.01
        actions[wrong] = masks[wrong].argmin(axis=1)
        _, rewards, dones, infos = envs.step(actions)
        sums += rewards
        for row in np.flatnonzero(dones):
            assert infos[row]["episode"]["r"] == pytest.approx(sums[row], abs=1e-6)
            ended.append((infos[row].get("illegal_action", False), sums[row]))
        sums[dones] = 0
    assert any(illegal and total != -1 for illegal, total in ended)


def test_the_methods_of_a_vec_env_work():
    env = SleuthVecEnv(3, num_players=3)
    env.reset()
    assert len(env.env_method("action_masks", indices=[0, 2])) == 2
    assert env.env_method("action_masks", indices=1)[0].shape == (env.action_space.n,)
    with pytest.raises(
        TypeError, match=r"^reset\(\): got an unexpected keyword argument 'foo'; it is called as reset\("
    ):
        env.env_method("reset", indices=[0], foo=1)
    for wrong in (True, np.True_, [[0, 1], [1, 2]]):
        with pytest.raises(ValueError, match="indices must be environments from 0 to"):
            env.get_attr("num_envs", indices=wrong)
    assert env.get_attr("record") == ["sheet"] * 3
    assert env.has_attr("action_masks")
    assert not env.has_attr("nothing")
    assert env.env_is_wrapped(VecMonitor) == [False] * 3
    assert not is_vecenv_wrapped(env, VecMonitor)
    assert env.seed(4) == [4] * 3
    with pytest.raises(ValueError, match="'note' cannot be set"):
        env.set_attr("note", 1)
    env.close()
    env.close()


def test_the_module_imports_without_stable_baselines3():
    code = (
        "import sys; sys.modules['stable_baselines3'] = None; import sleuth_env.sleuth_v0 as v\n"
        "assert 'torch' not in sys.modules\n"
        "try: v.SleuthVecEnv\nexcept ImportError as error: print(error)"
    )
    assert (
        "pip install stable-baselines3"
        in subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    )


def test_maskable_ppo_takes_it_as_it_is():
    from sb3_contrib import MaskablePPO
    from sb3_contrib.common.maskable.evaluation import evaluate_policy

    model = MaskablePPO(
        "MlpPolicy",
        SleuthVecEnv(4, opponents=["random", "sheet"], num_players=3),
        n_steps=16,
        batch_size=32,
        n_epochs=1,
        seed=0,
    )
    model.learn(128)
    rewards, lengths = evaluate_policy(
        model, SleuthVecEnv(4, num_players=3), n_eval_episodes=8, return_episode_rewards=True
    )
    assert len(rewards) == 8
    assert all(length >= 1 for length in lengths)


def test_maskable_ppo_takes_the_gymnasium_face_too():
    import gymnasium
    from sb3_contrib import MaskablePPO
    from stable_baselines3.common.env_checker import check_env

    env = gymnasium.make("sleuth_env:sleuth_env/Sleuth-v0", num_players=3, opponents="random")
    check_env(env.unwrapped, skip_render_check=True)
    MaskablePPO("MlpPolicy", env, n_steps=32, batch_size=32, n_epochs=1, seed=0).learn(64)
