"""What all environments for a learner promise: of failing opponents, copies, seeds and settings."""

from __future__ import annotations

import copy
import pickle
from collections.abc import Callable
from pathlib import Path
from typing import Any

import gymnasium
import numpy as np
import pytest

from sleuth_env import sleuth
from sleuth_env.actions import IllegalAction
from sleuth_env.matches.match import evaluate, play_match
from sleuth_env.policies.policy import load_policy, save_policy
from sleuth_env.sleuth import Options, make_bot
from sleuth_env.sleuth_v0 import SleuthVecEnv, SoloEnv, SoloVectorEnv
from tests.support.playing import digest
from tests.support.policies import VERSIONS, random_policy

THREE = Options(num_players=3)


def solo(opponents: Any = "random", **named: Any) -> Any:
    return SoloEnv(opponents=opponents, **{"num_players": 3} | named)


def vector(opponents: Any = "random", num_envs: int = 4, **named: Any) -> Any:
    return SoloVectorEnv(num_envs, opponents=opponents, **{"num_players": 3} | named)


def for_sb3(opponents: Any = "random", num_envs: int = 4, **named: Any) -> Any:
    env = SleuthVecEnv(num_envs, opponents, num_players=3, **named)
    env._began = 0.0
    return env


every_face = pytest.mark.parametrize("make", [solo, vector, for_sb3], ids=lambda make: make.__name__)
both_vectors = pytest.mark.parametrize("make", [vector, for_sb3], ids=lambda make: make.__name__)
every_way = pytest.mark.parametrize(
    "way", [copy.deepcopy, lambda env: pickle.loads(pickle.dumps(env))], ids=["deepcopy", "pickle"]
)


def choose(env: Any, random: np.random.Generator) -> Any:
    """Draw legal actions, accusations among them."""
    masks = np.atleast_2d(env.action_masks())
    actions = (masks * random.random(masks.shape)).argmax(axis=1)
    return int(actions[0]) if isinstance(env, SoloEnv) else actions


def begun(env: Any) -> Any:
    """Reset with a seed and give the observations."""
    if isinstance(env, SleuthVecEnv):
        env.seed(1)
        return env.reset()
    return env.reset(seed=1)[0]


def told(env: Any, action: Any) -> str:
    """Take an action and sum up all that is told; a `SoloEnv` whose game is over is reset."""
    step = env.step(action)
    infos = (
        [{key: value for key, value in info.items() if key != "episode"} for info in step[3]]
        if isinstance(env, SleuthVecEnv)
        else step[-1]
    )
    parts = [
        *(np.asarray(part).tobytes() for part in step[:-1] if not isinstance(part, list)),
        repr(infos),
        env.action_masks().tobytes(),
    ]
    if isinstance(env, SoloEnv) and (step[2] or step[3]):
        parts.append(env.reset()[0].tobytes())
    return digest(parts)


NO_ACTIONS = [
    None,
    1.0,
    1,
    np.zeros(4),
    np.zeros((4, 1), int),
    np.zeros(3, int),
    [[1], [2, 3], [4], [5]],
    ["a"] * 4,
    [True] * 4,
    [-1, 0, 0, 0],
]


class Fragile:
    """Play at random, and break after some decisions."""

    name = "fragile"

    def __init__(self) -> None:
        self.bot = make_bot("random", THREE)
        self.patience = 10**9

    def act(self, views: Any, legal: Any, seeds: Any) -> Any:
        if self.patience <= 0:
            raise RuntimeError("broken")
        self.patience -= 1
        return self.bot.act(views, legal, seeds)


@every_face
@pytest.mark.parametrize("patience", [0, 1])
def test_after_an_opponents_error_the_learner_is_where_he_was(make: Callable[..., Any], patience: int) -> None:
    fragile = Fragile()
    env = make(fragile)
    twin = make("random")
    begun(env)
    begun(twin)
    random = np.random.default_rng(2)
    failures = 0
    for _ in range(25):
        action = choose(twin, random)
        # A step may ask nobody, so a copy tries first whether there will be an error.
        fragile.patience = patience
        trial = copy.deepcopy(env)
        try:
            trial.step(action)
        except RuntimeError:
            failures += 1
            with pytest.raises(RuntimeError, match="broken"):
                env.step(action)
        fragile.patience = 10**9
        assert env.table.states.tobytes() == twin.table.states.tobytes()
        assert env.action_masks().tobytes() == twin.action_masks().tobytes()
        assert told(env, action) == told(twin, action)
    assert failures > 5


def test_after_an_opponents_error_in_reset_there_is_no_game_to_step() -> None:
    fragile = Fragile()
    env = solo(fragile, learner_seat=2, first_player="seat_0")
    env.reset(seed=1)
    fragile.patience = 1
    with pytest.raises(RuntimeError, match="broken"):
        env.reset(seed=2)
    with pytest.raises(gymnasium.error.ResetNeeded):
        env.step(0)
    fragile.patience = 10**9
    assert env.reset(seed=2)[0].tobytes() == solo(learner_seat=2, first_player="seat_0").reset(seed=2)[0].tobytes()


@both_vectors
def test_a_reset_that_an_opponents_error_stops_has_not_begun(make: Callable[..., Any]) -> None:
    fragile = Fragile()
    # So many games that it is sure that an opponent is asked in one of them.
    env = make(fragile, 20)
    twin = make("random", 20)
    for broken in (True, False, True):
        fragile.patience = 0 if broken else 10**9
        if broken:
            with pytest.raises(RuntimeError, match="broken"):
                env.reset()
        else:
            assert digest(begun(env)) == digest(begun(twin))
    fragile.patience = 10**9
    random = np.random.default_rng(2)
    for _ in range(5):
        action = choose(env, random)
        assert told(env, action) == told(twin, action)


@every_face
@every_way
@pytest.mark.parametrize("kind", ["file", "object", "list"])
def test_a_copy_with_a_policy_as_opponent_goes_on_as_the_game_does(
    make: Callable[..., Any], way: Callable[[Any], Any], kind: str, tmp_path: Path
) -> None:
    path = str(tmp_path / "p.safetensors")
    save_policy(random_policy(), path, VERSIONS)
    env = make({"file": path, "object": load_policy(path), "list": [path, "random"]}[kind])
    env.reset()
    random = np.random.default_rng(1)
    for _ in range(3):
        told(env, choose(env, random))
    twin = way(env)
    for _ in range(12):
        action = choose(env, random)
        assert told(env, action) == told(twin, action)


@both_vectors
def test_the_games_of_a_row_are_the_same_however_many_rows_there_are(make: Callable[..., Any]) -> None:
    rows = []
    for num_envs in (1, 2, 5):
        env = make("random", num_envs)
        observations = begun(env)
        random = np.random.default_rng(3)
        row = [observations[0].tobytes()]
        for _ in range(80):
            actions = env.action_masks().argmax(axis=1)
            actions[0] = random.choice(np.flatnonzero(env.action_masks()[0]))
            observations, rewards, *_ = env.step(actions)
            row.append((observations[0].tobytes(), float(rewards[0]), env.action_masks()[0].tobytes()))
        rows.append(row)
    assert rows[0] == rows[1] == rows[2]
    assert len({observation for observation, *_ in rows[0][1:]}) > 40


@both_vectors
@pytest.mark.parametrize("actions", NO_ACTIONS, ids=repr)
def test_a_vector_refuses_what_are_no_actions_and_nothing_changes(make: Callable[..., Any], actions: Any) -> None:
    env = make()
    env.reset()
    before = env.table.states.tobytes()
    with pytest.raises(
        IllegalAction,
        match=r"action must be an integer from 0 to 447, got"
        r"|one action for each of 4 games, an array of shape \(4,\), got",
    ):
        env.step(actions)
    assert env.table.states.tobytes() == before


@every_face
@pytest.mark.parametrize("seat", [True, 1.0, 3, -1, "first", None, np.array([1])], ids=repr)
def test_what_is_no_seat_is_refused(make: Callable[..., Any], seat: Any) -> None:
    with pytest.raises(ValueError, match='learner_seat must be "random" or a seat from 0 to 2, got'):
        make(learner_seat=seat)


@every_face
def test_any_whole_number_is_a_seat(make: Callable[..., Any]) -> None:
    env = make(learner_seat=np.int64(1))
    env.reset()
    assert set(env.table.learners) == {1}


@every_face
def test_before_the_first_reset_nothing_is_legal_or_illegal(make: Callable[..., Any]) -> None:
    with pytest.raises(gymnasium.error.ResetNeeded, match="reset"):
        make().action_masks()


@pytest.mark.parametrize("options", [3, None, {"num_players": 3}, "sheet"], ids=repr)
def test_what_are_no_options_are_refused(options: Any) -> None:
    for play in (
        lambda: play_match(sleuth, options, ["random"] * 3, 1),
        lambda: evaluate(sleuth, options, "sheet", ["random"], 1),
    ):
        with pytest.raises(ValueError, match=r"options must be (sleuth|holmes)\.Options"):
            play()


@both_vectors
@pytest.mark.parametrize("num_envs", [0, -1, 1.0, True, None], ids=repr)
def test_what_is_no_number_of_games_is_refused(make: Callable[..., Any], num_envs: Any) -> None:
    with pytest.raises(ValueError, match="num_envs must be an integer of at least 1, got"):
        make(num_envs=num_envs)


@every_face
def test_one_name_is_the_name_of_all_opponents(make: Callable[..., Any]) -> None:
    env = make("sheet")
    assert {bot.name for bot in env.table.bots} == {"sheet"}


@every_face
def test_what_is_no_opponent_is_refused(make: Callable[..., Any]) -> None:
    for wrong in (5, object(), {"random"}):
        with pytest.raises(
            ValueError, match="a player is the name of a bot, a policy file, or an object with a name and a method act"
        ):
            make(wrong)


@pytest.mark.parametrize("make", [solo, vector], ids=["solo", "vector"])
@pytest.mark.parametrize(
    "seed", [1.7, -1, True, "7", np.array([1.0, 2.0, 3.0, 4.0]), [True] * 4, [[1, 2, 3, 4]]], ids=repr
)
def test_what_is_no_seed_is_refused_and_nothing_changes(make: Callable[..., Any], seed: Any) -> None:
    env = make()
    twin = make()
    env.reset(seed=1)
    twin.reset(seed=1)
    with pytest.raises(ValueError, match="seed must be"):
        env.reset(seed=seed)
    action = choose(env, np.random.default_rng(0))
    assert told(env, action) == told(twin, action)
    assert env.reset()[0].tobytes() == twin.reset()[0].tobytes()


@pytest.mark.parametrize("seed", [np.int64(3), np.uint8(3), np.array(3)], ids=repr)
def test_any_whole_number_seeds(seed: Any) -> None:
    assert solo().reset(seed=seed)[0].tobytes() == solo().reset(seed=3)[0].tobytes()
    assert vector().reset(seed=seed)[0].tobytes() == vector().reset(seed=[3, 4, 5, 6])[0].tobytes()
    assert for_sb3(seed=seed).reset().tobytes() == for_sb3(seed=3).reset().tobytes()


@pytest.mark.parametrize("make", [solo, vector], ids=["solo", "vector"])
def test_max_cycles_is_another_name_of_max_turns(make: Callable[..., Any]) -> None:
    assert make(max_cycles=7).options == make(max_turns=7).options == Options(num_players=3, max_turns=7)
    with pytest.raises(ValueError, match="max_cycles=7 is another name of max_turns=8"):
        make(max_cycles=7, max_turns=8)


@every_face
@pytest.mark.parametrize("call", ["step", "render", "reveal"])
def test_nothing_works_before_the_first_reset(make: Callable[..., Any], call: str) -> None:
    env = make() if make is for_sb3 else make(render_mode="ansi")
    arguments = {"step": [0 if make is solo else np.zeros(4, int)]}.get(call, [])
    if make is for_sb3 and call != "step":
        return
    with pytest.raises(gymnasium.error.ResetNeeded, match=r"call reset\(\)"):
        getattr(env, call)(*arguments)
