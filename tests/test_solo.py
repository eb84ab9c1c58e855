"""The Gymnasium environment of one learner: episodes, rewards, illegal actions, copies."""

from __future__ import annotations

import copy
import os
import pickle
import subprocess
import sys
import warnings
from typing import Any

import gymnasium
import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env

import sleuth_env
from sleuth_env.actions import IllegalAction
from sleuth_env.sleuth import RECORDS, Options, action_name, draw_ansi, make_bot, num_actions, observation_size
from sleuth_env.sleuth_v0 import SoloEnv, SoloVectorEnv
from tests.support.playing import digest, episode, keywords, some_steps
from tests.support.strategies import EVERY_VARIANT, PLAYER_COUNTS, option_name

every_variant = pytest.mark.parametrize("options", EVERY_VARIANT, ids=option_name)
every_count = pytest.mark.parametrize("num_players", PLAYER_COUNTS)
RANDOM = "random"


# --- what the frameworks check ---


@every_variant
def test_it_passes_the_check_of_gymnasium(options: Options) -> None:
    env = gymnasium.make("sleuth_env/Sleuth-v0", opponents=RANDOM, **keywords(options)).unwrapped
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        check_env(env, skip_render_check=True)


@every_count
def test_it_passes_it_with_every_render_mode(num_players: int) -> None:
    env = gymnasium.make(
        "sleuth_env/Sleuth-v0", num_players=num_players, opponents=RANDOM, render_mode="rgb_array"
    ).unwrapped
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        check_env(env)


@pytest.mark.parametrize("num_players", [3, 4, *(pytest.param(n, marks=pytest.mark.slow) for n in (5, 6, 7))])
def test_it_passes_it_with_the_exact_record(num_players: int) -> None:
    env = gymnasium.make("sleuth_env/Sleuth-v0", num_players=num_players, opponents=RANDOM, record="exact").unwrapped
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        check_env(env, skip_render_check=True)


@every_variant
def test_it_passes_the_check_of_stable_baselines3(options: Options) -> None:
    from stable_baselines3.common.env_checker import check_env as check_for_sb3

    with warnings.catch_warnings():
        warnings.simplefilter("error")
        check_for_sb3(SoloEnv(opponents=RANDOM, **keywords(options)))


def test_maskable_ppo_learns_on_it_and_plays_legal_actions() -> None:
    from sb3_contrib import MaskablePPO

    env = SoloEnv(num_players=3, opponents=RANDOM, illegal="raise", record="raw")
    model = MaskablePPO(
        "MlpPolicy", env, n_steps=32, batch_size=16, n_epochs=1, seed=1, device="cpu", policy_kwargs={"net_arch": [16]}
    )
    model.learn(64)
    observation, _ = env.reset(seed=1)
    action, _ = model.predict(observation, action_masks=env.action_masks(), deterministic=True)
    assert env.action_masks()[action]
    env.step(action)


# --- the episode ---


@every_variant
def test_whole_games_keep_the_promises(options: Options) -> None:
    env = SoloEnv(opponents=RANDOM, illegal="raise", **keywords(options))
    for seed in range(3):
        steps = episode(env, seed, choice=seed)
        for _, mask, _, reward, terminated, truncated, info in steps[:-1]:
            assert any(mask)
            assert (reward, terminated, truncated, info["settled"]) == (0.0, False, False, False)
        _, _, _, reward, terminated, truncated, info = steps[-1]
        assert type(reward) is float
        assert type(terminated) is type(truncated) is bool
        assert terminated != truncated
        assert info["settled"] or truncated
        assert env.action_masks().all()


@every_count
def test_spaces_are_plain_and_of_the_declared_sizes(num_players: int) -> None:
    for record in RECORDS:
        env = SoloEnv(num_players=num_players, record=record)
        options = Options(num_players=num_players)
        observation, info = env.reset(seed=1)
        assert env.observation_space.contains(observation)
        assert observation.dtype == np.float32
        assert observation.shape == env.observation_space.shape == (observation_size(options, record),)
        assert env.action_space.n == num_actions(options) == len(env.action_masks())
        assert env.action_masks().dtype == np.bool_
        assert set(info) == {"action_mask", "settled"}


@every_variant
def test_the_reward_is_the_whole_outcome_also_for_a_learner_who_was_out_long_before(options: Options) -> None:
    env = SoloEnv(opponents=RANDOM, **keywords(options))
    n = options.num_players
    for seed in range(4):
        *_, (_, _, _, reward, terminated, _, _) = episode(env, seed, choice=seed, accuse=0.4)
        winners = env.reveal()["winners"]
        if f"player_{env.seat}" in winners:
            assert reward == pytest.approx(1 - winners.index(f"player_{env.seat}") / options.winners)
        elif terminated and not winners:
            assert reward == pytest.approx(-1 / (n - 1))
        elif terminated:
            paid = sum(1 - place / options.winners for place in range(len(winners)))
            assert reward == pytest.approx(-paid / (n - len(winners)))
        else:
            assert reward in (0.0, -1 / (n - 1))


def test_the_turn_limit_truncates() -> None:
    env = SoloEnv(
        num_players=3, max_turns=1, opponents=RANDOM, accuse="own_turn", learner_seat=0, first_player="seat_0"
    )
    env.reset(seed=1)
    exchange = int(np.flatnonzero(env.action_masks())[-37])
    *ended, info = env.step(exchange)[1:]
    assert ended == [0.0, False, True]
    assert info["settled"] is False


@pytest.mark.parametrize("face", [SoloEnv, SoloVectorEnv])
def test_at_the_turn_limit_a_learner_who_is_out_is_truncated_and_settled(face: type) -> None:
    env = face(num_players=3, max_turns=1, opponents=RANDOM, accuse="own_turn", learner_seat=0, first_player="seat_0")
    for seed in range(5):
        env.reset(seed=seed)
        mask = np.atleast_2d(env.action_masks())[0]
        hand = np.atleast_1d(env.reveal())[0]
        wrong = next(
            int(action)
            for action in np.flatnonzero(mask)[-36:]
            if action_name(int(action), 3).removeprefix("accuse ") not in hand["missing"]
        )
        _, reward, terminated, truncated, info = env.step(wrong if face is SoloEnv else np.array([wrong]))
        assert (float(np.squeeze(reward)), bool(terminated), bool(truncated)) == (-0.5, False, True)
        assert bool(info["settled"])


class Winner:
    """Name the missing gem at the first chance; the views do not tell it, so it is told."""

    name = "winner"

    def __init__(self, env: SoloEnv) -> None:
        self.env = env

    def act(self, views: Any, legal: Any, seeds: Any) -> Any:
        missing = int(self.env.table.states["missing_gems"][0])
        return np.full(len(views), legal.shape[1] - 37 + missing.bit_length() - 1)


def test_a_game_that_ends_before_the_learner_decides_is_his_loss_all_the_same() -> None:
    env = SoloEnv(num_players=3, learner_seat=2, first_player="seat_0")
    env.table.bots = [Winner(env), Winner(env)]
    observation, _ = env.reset(seed=1)
    assert env.action_masks().all()
    following, *rest = env.step(5)
    assert rest[:3] == [-0.5, True, False]
    assert rest[3]["settled"] is True
    assert rest[3]["action_mask"].all()
    assert following.tobytes() == observation.tobytes()


def test_stepping_needs_a_reset() -> None:
    env = SoloEnv(num_players=3, opponents=RANDOM)
    with pytest.raises(gymnasium.error.ResetNeeded):
        env.step(0)
    episode(env, 1)
    with pytest.raises(gymnasium.error.ResetNeeded):
        env.step(0)
    env.reset()
    assert env.action_masks().any()


# --- illegal actions ---


def illegal_action(env: SoloEnv) -> int:
    return int(np.flatnonzero(~env.action_masks())[0])


def test_an_illegal_action_ends_the_episode_with_a_penalty() -> None:
    env = SoloEnv(opponents=RANDOM)
    observation, _ = env.reset(seed=1)
    following, *rest, info = env.step(illegal_action(env))
    assert rest == [-1.0, True, False]
    assert info["illegal_action"]
    assert info["settled"]
    assert following.tobytes() == observation.tobytes()
    assert env.action_masks().all()


def test_an_illegal_action_can_be_refused_instead() -> None:
    env = SoloEnv(opponents=RANDOM, illegal="raise")
    twin = SoloEnv(opponents=RANDOM)
    env.reset(seed=1)
    twin.reset(seed=1)
    with pytest.raises(
        IllegalAction, match=r"player_\d may not choose action \d+ \(.*\) now; \d+ actions are legal, for instance"
    ):
        env.step(illegal_action(env))
    action = int(np.flatnonzero(env.action_masks())[0])
    assert digest(env.step(action)) == digest(twin.step(action))


@pytest.mark.parametrize("action", [None, 1.0, True, np.array([1]), "pass", -1, 653], ids=repr)
def test_what_is_no_action_is_refused(action: Any) -> None:
    env = SoloEnv(opponents=RANDOM)
    observation, _ = env.reset(seed=1)
    with pytest.raises(ValueError, match="action must be an integer from 0 to 652, got"):
        env.step(action)
    assert env.table.observations()[0].tobytes() == observation.tobytes()


@pytest.mark.parametrize("kind", [int, np.int32, np.int64, np.array], ids=lambda kind: kind.__name__)
def test_a_step_takes_any_whole_number(kind: Any) -> None:
    env = SoloEnv(opponents=RANDOM, illegal="raise")
    env.reset(seed=1)
    assert "illegal_action" not in env.step(kind(np.flatnonzero(env.action_masks())[0]))[4]


# --- who sits where ---


class Witness:
    """Play at random and remember the seats it was asked for."""

    def __init__(self, options: Options) -> None:
        self.name = "witness"
        self.bot = make_bot("random", options)
        self.seats = set()

    def act(self, views: Any, legal: Any, seeds: Any) -> Any:
        self.seats |= set(views["seat"].tolist())
        return self.bot.act(views, legal, seeds)


@pytest.mark.parametrize("learner_seat", range(4))
def test_the_first_opponent_of_a_list_sits_to_the_learners_left(learner_seat: int) -> None:
    witnesses = [Witness(Options()) for _ in range(3)]
    env = SoloEnv(opponents=witnesses, learner_seat=learner_seat)
    for seed in range(10):
        episode(env, seed, accuse=0.0)
        assert env.seat == learner_seat
    assert [witness.seats for witness in witnesses] == [{(learner_seat + k) % 4} for k in (1, 2, 3)]


def test_a_random_seat_is_drawn_for_every_game() -> None:
    env = SoloEnv(num_players=5, opponents=RANDOM)
    env.reset(seed=1)
    seats = []
    for _ in range(60):
        env.reset()
        seats.append(env.seat)
    assert set(seats) == set(range(5))


def test_several_opponents_may_be_named() -> None:
    env = SoloEnv(num_players=4, opponents=["random", "cautious", "sheet"])
    assert len(episode(env, 1)) > 0


@pytest.mark.parametrize(
    ("named", "message"),
    [
        ({"opponents": "nobody"}, "nobody"),
        ({"opponents": ["random"]}, "opponents must be one for all, or a list of 3, got a list of 1"),
        ({"opponents": 5}, "a player is the name of a bot, a policy file, or an object with a name and a method act"),
        ({"opponents": "no_such.safetensors"}, "no_such.safetensors"),
        ({"learner_seat": 4}, 'learner_seat must be "random" or a seat from 0 to 3, got 4'),
        ({"learner_seat": "first"}, "got 'first'"),
        ({"learner_seat": True}, "got True"),
        ({"illegal": "ignore"}, "illegal must be one of 'end', 'raise', got 'ignore'"),
        ({"record": "full"}, "record must be one of 'sheet', 'raw', 'exact'"),
        ({"render_mode": "text"}, "render_mode must be one of"),
        ({"num_plaers": 4}, "got an unexpected keyword argument 'num_plaers', did you mean num_players"),
        ({"game": "sleuth"}, "got an unexpected keyword argument 'game'"),
    ],
)
def test_a_wrong_argument_is_refused_with_the_legal_values(named: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        SoloEnv(**named)


# --- reproducible, fresh, copyable ---


def test_a_seed_settles_this_game_and_the_following() -> None:
    first = SoloEnv(opponents=RANDOM)
    second = SoloEnv(opponents=RANDOM)
    episode(second, 77)
    assert [digest(episode(first, seed)) for seed in (5, None, None)] == [
        digest(episode(second, seed)) for seed in (5, None, None)
    ]


def test_what_is_returned_is_fresh() -> None:
    env = SoloEnv(opponents=RANDOM)
    twin = SoloEnv(opponents=RANDOM)
    first, info = env.reset(seed=1)
    twin.reset(seed=1)
    mask = env.action_masks()
    action = int(np.flatnonzero(mask)[0])
    first[:] = 7
    mask[:] = False
    info["x"] = 1
    assert digest(env.step(action)) == digest(twin.step(action))
    assert env.action_masks().tobytes() == twin.action_masks().tobytes()


@pytest.mark.parametrize(
    "way", [copy.deepcopy, lambda env: pickle.loads(pickle.dumps(env))], ids=["deepcopy", "pickle"]
)
@pytest.mark.parametrize("opponents", ["random", "cautious", "sheet"])
def test_a_copy_in_mid_game_goes_on_as_the_game_does(way: Any, opponents: str) -> None:
    env = gymnasium.make("sleuth_env/Sleuth-v0", num_players=3, opponents=opponents, render_mode="ansi")
    env.reset(seed=1)
    some_steps(env, 1, 3)
    twin = way(env)
    ends = [digest([some_steps(one, 2, 12), episode(one, None), one.render()]) for one in (env, twin)]
    assert ends[0] == ends[1]


@pytest.mark.parametrize("face", [SoloEnv, SoloVectorEnv])
def test_a_snapshot_goes_on_with_its_opponents_wherever_they_sit_or_is_refused(face: type) -> None:
    env = face(opponents=["cautious", "sheet"], learner_seat=1, num_players=3)
    env.reset(seed=1)
    snapshot = env.get_state()
    other = face(opponents=["sheet", "cautious"], learner_seat=1, num_players=3)
    other.set_state(snapshot)
    for one in (env, other):
        assert [one.table.bots[one.table.seats[0, seat]].name for seat in (2, 0)] == ["cautious", "sheet"]
    stranger = face(opponents="random", num_players=3)
    with pytest.raises(ValueError, match=r"games against 'cautious', who does not play here: the .* are 'random'$"):
        stranger.set_state(snapshot)
    with pytest.raises(gymnasium.error.ResetNeeded):
        stranger.get_state()


def test_the_drawing_shows_what_the_learner_knows(capsys: pytest.CaptureFixture[str]) -> None:
    drawn = []
    for mode in ("ansi", "human"):
        env = SoloEnv(opponents=RANDOM, render_mode=mode)
        env.reset(seed=1)
        drawn.append(env.render() or capsys.readouterr().out.rstrip() + "\n")
        env.close()
        env.close()
    assert drawn[0] == draw_ansi(env.options, env.table.views(0, env.seat)[0])
    assert drawn[1].endswith(drawn[0].rstrip() + "\n")


# --- in other processes ---


FRESH = """
import gymnasium, random
env = gymnasium.make("sleuth_env:sleuth_env/Sleuth-v0", num_players=4, opponents="sheet", learner_seat="random")
from tests.support.playing import digest, episode
print(digest([episode(env, 3), episode(env, None)]))
"""


def test_a_fresh_process_makes_it_by_its_name_and_plays_the_same_whatever_the_hash_seed() -> None:
    answers = set()
    for hash_seed in ("1", "2"):
        environment = os.environ | {"PYTHONHASHSEED": hash_seed}
        answers.add(
            subprocess.run(
                [sys.executable, "-c", FRESH], env=environment, check=True, capture_output=True, text=True
            ).stdout
        )
    env = SoloEnv(num_players=4, opponents="sheet")
    assert answers == {digest([episode(env, 3), episode(env, None)]) + "\n"}


def test_the_name_it_is_registered_by_is_public() -> None:
    assert gymnasium.spec(sleuth_env.GYMNASIUM_ID).id == "sleuth_env/Sleuth-v0"
