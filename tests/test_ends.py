"""Ends are alike for all seats, on every face, and faces take the same names."""

from __future__ import annotations

from typing import Any

import gymnasium
import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env
from gymnasium.vector import AutoresetMode
from stable_baselines3.common.env_checker import check_env as check_env_of_sb3

from sleuth_env import sleuth_v0
from sleuth_env.matches.table import Table
from sleuth_env.options import OptionError
from sleuth_env.sleuth import Options
from sleuth_env.sleuth_v0 import GAME, SleuthVecEnv, SleuthVectorEnv, SoloEnv, SoloVectorEnv, raw_env
from tests.support import follow

FACES = [raw_env, SoloEnv, SoloVectorEnv, SleuthVectorEnv, SleuthVecEnv]
MODES = list(AutoresetMode)
ONE_OUT = {"num_players": 3, "max_turns": 6}


def quiet(mask: np.ndarray) -> int:
    """Pass where that is legal, or else take the first action: nobody accuses."""
    return len(mask) - 1 if mask[-1] else int(np.flatnonzero(mask)[0])


def chosen(masks: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    weights = np.asarray(masks) * rng.random(np.shape(masks))
    # Everybody passes more often than not, or games would end before their limit.
    weights[..., -1] *= 60
    return weights.argmax(axis=-1)


@pytest.mark.parametrize("seed", range(5))
def test_rllib_can_step_a_game_to_its_end_where_one_player_is_out_at_the_turn_limit(seed: int) -> None:
    """RLlib's `PettingZooEnv` steps until all agents have the same flag, and then no more."""
    env = sleuth_v0.env(**ONE_OUT)
    env.reset(seed=seed)
    rng = np.random.default_rng(seed)
    while not any(env.terminations.values()) and not any(env.truncations.values()):
        mask = env.observe(env.agent_selection)["action_mask"].copy()
        accusations = mask[-37:-1].copy()
        if env.agent_selection != "player_0":
            mask[-37:-1] = 0
        if not mask.any():
            mask[-37:-1] = accusations
        env.step(int(chosen(mask, rng)))
    assert len(set(env.terminations.values())) == len(set(env.truncations.values())) == 1
    for agent in env.agents:
        assert type(env.infos[agent]["settled"]) is bool


@pytest.mark.parametrize("game", [GAME, follow], ids=lambda game: game.NAME)
def test_whoever_is_not_settled_is_truncated(game: Any) -> None:
    table = Table(game, game.Options(num_players=3, max_turns=2), 50)
    table.deal(np.arange(50), np.arange(50))
    rng = np.random.default_rng(1)
    while (waiting := np.flatnonzero(table.waiting)).size:
        table.step(waiting, chosen(table.legal(waiting), rng))
    settled, due = table.settled()
    assert settled[table.ends() == 1].all()
    assert not settled[table.ends() == 2].all()
    assert not due.any()


@pytest.mark.parametrize("face", [*FACES, Options])
def test_an_unknown_argument_is_a_type_error_as_python_words_it_that_lists_the_legal_ones(face: Any) -> None:
    message = r"got an unexpected keyword argument 'frameskip'.*options.* num_players, missing"
    for error in (TypeError, OptionError):
        with pytest.raises(error, match=message):
            face(frameskip=4)
    with pytest.raises(TypeError, match="did you mean num_players"):
        face(num_plaers=4)


@pytest.mark.parametrize("face", [SoloVectorEnv, SleuthVectorEnv, SleuthVecEnv])
@pytest.mark.parametrize("number", [10**9, 10**30, 10**400])
def test_a_batch_that_cannot_fit_is_refused_at_once(face: Any, number: int) -> None:
    with pytest.raises(ValueError, match=r"num_envs must be at most \d+, got .*memory"):
        face(num_envs=number)


@pytest.mark.parametrize("number", [10**9, 10**30])
def test_a_table_that_cannot_fit_is_refused_at_once(number: int) -> None:
    with pytest.raises(ValueError, match=r"num_games must be at most \d+, got .*memory"):
        Table(GAME, Options(), number)


def test_seats_stand_for_names_in_mid_game_and_nobody_else_does() -> None:
    env = raw_env(num_players=3)
    env.reset(seed=1)
    for _ in range(5):
        env.step(quiet(env.action_mask(env.agent_selection)))
        for seat, agent in enumerate(env.agents):
            assert env.observe(seat)["action_mask"].tolist() == env.observe(agent)["action_mask"].tolist()
            assert env.action_space(seat) is env.action_space(agent)
    for wrong in ("player_9", 3, -1, True, [0], None):
        for ask in (env.observe, env.action_mask, env.view, env.action_space, env.observation_space):
            with pytest.raises(ValueError, match="is not a player"):
                ask(wrong)


def test_the_mask_is_in_the_info_and_in_the_dictionary() -> None:
    env = SoloEnv(observation="dict", num_players=3)
    observation, info = env.reset(seed=1)
    for _ in range(5):
        assert env.observation_space.contains(observation)
        assert observation["action_mask"].tolist() == info["action_mask"].tolist() == env.action_masks().tolist()
        assert info["action_mask"][env.action_space.sample(info["action_mask"])]
        observation, *_, info = env.step(quiet(info["action_mask"]))
    check_env(SoloEnv(observation="dict", num_players=3), skip_render_check=True)
    check_env_of_sb3(SoloEnv(num_players=3))
    check_env_of_sb3(SoloEnv(observation="dict", num_players=3))


@pytest.mark.parametrize("face", [SoloVectorEnv, SleuthVectorEnv])
@pytest.mark.parametrize("observation", ["vector", "dict"])
@pytest.mark.parametrize("mode", MODES)
def test_vectors_follow_gymnasiums_modes(face: Any, observation: str, mode: AutoresetMode) -> None:
    envs = face(6, num_players=3, max_turns=3, observation=observation, autoreset_mode=mode.value)
    assert envs.metadata["autoreset_mode"] is mode
    seen, infos = envs.reset(seed=1)
    rng = np.random.default_rng(1)
    ends = 0
    over = np.zeros(6, bool)
    for _ in range(40):
        assert envs.observation_space.contains(seen)
        assert infos["action_mask"].tolist() == envs.action_masks().tolist()
        before = over
        actions = chosen(envs.action_masks(), rng)
        if mode is AutoresetMode.DISABLED and before.any():
            with pytest.raises(gymnasium.error.ResetNeeded, match="reset_mask"):
                envs.step(actions)
            seen, infos = envs.reset(options={"reset_mask": before})
            infos = {"action_mask": envs.action_masks()}
            over = np.zeros(6, bool)
            continue
        seen, rewards, terminated, truncated, infos = envs.step(actions)
        over = terminated | truncated
        ends += over.sum()
        if mode is AutoresetMode.NEXT_STEP:
            assert not rewards[before].any()
            assert not over[before].any()
            assert envs.action_masks()[over].all()
        assert ("final_obs" in infos) == (mode is AutoresetMode.SAME_STEP and over.any())
        if "final_obs" in infos:
            assert infos["_final_obs"].tolist() == infos["_final_info"].tolist() == over.tolist()
            for row in np.flatnonzero(over):
                assert envs.single_observation_space.contains(infos["final_obs"][row])
            assert infos["final_info"]["_settled"].tolist() == over.tolist()
            assert np.reshape(infos["final_info"]["settled"], (6, -1))[terminated].all()
    assert ends > 5


@pytest.mark.parametrize("face", [SoloVectorEnv, SleuthVectorEnv])
def test_the_same_games_are_played_whatever_the_mode(face: Any) -> None:
    outcomes = {}
    for mode in MODES:
        envs = face(1, num_players=3, max_turns=3, autoreset_mode=mode)
        envs.reset(seed=4)
        rng = np.random.default_rng(1)
        outcomes[mode] = []
        over = np.zeros(1, bool)
        while len(outcomes[mode]) < 60:
            if over[0] and mode is AutoresetMode.DISABLED:
                envs.reset()
            elif over[0] and mode is AutoresetMode.NEXT_STEP:
                envs.step(np.zeros(1, np.int64))
            _, rewards, terminated, truncated, _ = envs.step(chosen(envs.action_masks(), rng))
            over = terminated | truncated
            outcomes[mode].append((rewards[0], terminated[0], truncated[0]))
    assert outcomes[MODES[0]] == outcomes[MODES[1]] == outcomes[MODES[2]]


def test_an_unknown_mode_is_refused() -> None:
    with pytest.raises(ValueError, match=r"AutoresetMode.NEXT_STEP \('NextStep'\), .*got 'never'"):
        SleuthVectorEnv(autoreset_mode="never")


def test_resetting_one_game_of_a_vec_env_leaves_the_others_alone() -> None:
    env = SleuthVecEnv(num_envs=4, num_players=3, opponents="sheet")
    env.reset()
    before = env.table.states.copy()
    ((observation, info),) = env.env_method("reset", indices=[0])
    assert env.observation_space.contains(observation)
    assert info == {"settled": False}
    assert env.table.states[0].tobytes() != before[0].tobytes()
    assert env.table.states[1:].tobytes() == before[1:].tobytes()
    env.env_method("reset", indices=2, seed=7)
    assert [row for row in range(4) if env.table.states[row].tobytes() == before[row].tobytes()] == [1, 3]
    assert len(env.env_method("action_masks", indices=[1, 3])) == len(env.get_attr("seat", slice(1, 3))) == 2
    assert env.env_is_wrapped(gymnasium.Wrapper, indices=[2]) == [False]
    for indices in (9, "0", [0.5]):
        with pytest.raises(ValueError, match="indices must be environments from 0 to 3"):
            env.get_attr("seat", indices)


def test_what_would_do_nothing_or_concern_others_cannot_be_set() -> None:
    env = SleuthVecEnv(num_envs=4, num_players=3)
    for name, value in (("num_envs", 5), ("record", "raw"), ("anything", 1)):
        with pytest.raises(ValueError, match="cannot be set"):
            env.set_attr(name, value)
    with pytest.raises(ValueError, match="all environments together"):
        env.set_attr("opponents", ["sheet"], indices=[1])
    with pytest.raises(ValueError, match="all environments together"):
        env.env_method("set_opponents", ["sheet"], indices=[1])
    env.set_attr("opponents", ["sheet"])
    env.reset()
    assert {bot.name for bot in env.table.bots} == {"sheet"}


def test_a_vec_env_can_end_an_episode_after_an_illegal_action() -> None:
    env = SleuthVecEnv(num_envs=3, num_players=3, illegal="end", observation="dict")
    seen = env.reset()
    assert env.observation_space.contains({name: array[0] for name, array in seen.items()})
    actions = env.action_masks().argmax(axis=1)
    actions[1] = env.action_masks()[1].argmin()
    _, rewards, dones, infos = env.step(actions)
    assert (rewards[1], dones[1]) == (-1.0, True)
    assert infos[1]["illegal_action"]
    assert infos[1]["settled"]
    assert not infos[1]["TimeLimit.truncated"]
