"""Vectors of learners: synchronous, in other processes, and native; all play the same games."""

from __future__ import annotations

import copy
import pickle
import random
from typing import Any

import gymnasium
import numpy as np
import pytest
from gymnasium.vector import AutoresetMode

from sleuth_env.actions import IllegalAction
from sleuth_env.sleuth import Options, draw_ansi
from sleuth_env.sleuth_v0 import SoloEnv, SoloVectorEnv
from tests.support.playing import choose, digest, keywords
from tests.support.strategies import EVERY_VARIANT, option_name

every_variant = pytest.mark.parametrize("options", EVERY_VARIANT, ids=option_name)


def trajectories(num_envs: int, mode: str, **named: Any) -> list[Any]:
    """Play some steps of a vector environment, each game with its own choices, some illegal."""
    envs = gymnasium.make_vec(
        "sleuth_env:sleuth_env/Sleuth-v0", num_envs, mode, num_players=3, opponents="random", **named
    )
    assert envs.metadata["autoreset_mode"] is AutoresetMode.NEXT_STEP
    chances = [random.Random(i) for i in range(num_envs)]
    observations, _ = envs.reset(seed=10)
    rows: list[Any] = [[row.tobytes()] for row in observations]
    for _ in range(60):
        masks = envs.call("action_masks")
        actions = [
            choose(mask, chance, 0.1) if chance.random() < 0.97 else 0
            for mask, chance in zip(masks, chances, strict=True)
        ]
        observations, rewards, terminated, truncated, infos = envs.step(np.array(actions))
        illegal = infos.get("illegal_action", np.zeros(num_envs, bool))
        assert (infos.get("_illegal_action", illegal) == illegal).all()
        for i, row in enumerate(rows):
            row.append((observations[i].tobytes(), rewards[i], terminated[i], truncated[i], illegal[i]))
    envs.close()
    return rows


@pytest.mark.parametrize("context", ["spawn", "fork", "forkserver"])
def test_vectors_of_any_kind_and_size_play_the_same_games(context: str) -> None:
    expected = trajectories(3, "sync")
    assert trajectories(3, "async", vector_kwargs={"context": context}) == expected
    assert trajectories(3, "vector_entry_point") == expected
    assert trajectories(1, "vector_entry_point") == trajectories(1, "sync") == expected[:1]
    assert len({row[0] for row in expected}) == 3


@every_variant
def test_the_native_vector_plays_the_games_of_single_environments(options: Options) -> None:
    envs = SoloVectorEnv(4, opponents="random", **keywords(options))
    singles = [SoloEnv(opponents="random", **keywords(options)) for _ in range(4)]
    observations, _ = envs.reset(seed=20)
    for i, env in enumerate(singles):
        assert env.reset(seed=20 + i)[0].tobytes() == observations[i].tobytes()
    chance = random.Random(3)
    over = [False] * 4
    for _ in range(25):
        masks = envs.action_masks()
        assert masks.tolist() == [env.action_masks().tolist() for env in singles]
        actions = [choose(mask, chance, 0.1) for mask in masks]
        expected = [
            (env.reset()[0], 0.0, False, False) if ended else env.step(a)[:4]
            for env, ended, a in zip(singles, over, actions, strict=True)
        ]
        *found, infos = envs.step(np.array(actions))
        assert "illegal_action" not in infos
        assert [(o.tobytes(), *rest) for o, *rest in expected] == [
            (o.tobytes(), *rest) for o, *rest in zip(*found, strict=True)
        ]
        over = [terminated or truncated for _, _, terminated, truncated in expected]
    assert envs.observation_space.contains(found[0])


def test_a_vector_can_refuse_illegal_actions_before_any_game_moves() -> None:
    envs = SoloVectorEnv(3, opponents="random", illegal="raise")
    twins = SoloVectorEnv(3, opponents="random")
    envs.reset(seed=1)
    twins.reset(seed=1)
    actions = np.array([int(np.flatnonzero(mask)[-1]) for mask in envs.action_masks()])
    wrong = actions.copy()
    wrong[2] = int(np.flatnonzero(~envs.action_masks()[2])[0])
    with pytest.raises(IllegalAction, match="may not choose action"):
        envs.step(wrong)
    assert digest(envs.step(actions)) == digest(twins.step(actions))


@pytest.mark.parametrize("actions", [[1, 2], [1.0, 2.0, 3.0], [1, 2, 653], [-1, 0, 0], [[1], [2], [3]]], ids=repr)
def test_a_vector_refuses_what_are_no_actions(actions: Any) -> None:
    envs = SoloVectorEnv(3, opponents="random")
    envs.reset(seed=1)
    with pytest.raises(IllegalAction, match=r"action must be an integer from 0 to 652|one action for each of 3 games"):
        envs.step(np.array(actions))


def test_a_vector_resets_the_games_of_a_mask_only() -> None:
    envs = SoloVectorEnv(3, opponents="random")
    before, told = envs.reset(seed=[1, 2, 3])
    after, infos = envs.reset(seed=[4, None, None], options={"reset_mask": np.array([True, False, False])})
    assert before[1:].tobytes() == after[1:].tobytes()
    assert after[0].tobytes() == SoloEnv(opponents="random").reset(seed=4)[0].tobytes()
    assert infos["_action_mask"].tolist() == [True, False, False]
    assert infos["action_mask"][1:].tobytes() == told["action_mask"][1:].tobytes()
    assert infos["action_mask"].tobytes() == envs.action_masks().tobytes()


def test_integer_arrays_and_lists_seed_each_game() -> None:
    envs = SoloVectorEnv(3, opponents="random")
    expected = envs.reset(seed=[4, 5, 6])[0].tobytes()
    for seed in (4, np.int64(4), np.array([4, 5, 6]), (4, np.int32(5), 6)):
        assert envs.reset(seed=seed)[0].tobytes() == expected
    with pytest.raises(ValueError, match="seed must be one number or one for each of 3 games"):
        envs.reset(seed=[1, 2])


@pytest.mark.parametrize(
    "mask",
    [np.zeros(3, bool), np.ones(2, bool), np.ones((3, 1), bool), np.array([1, 0, 0]), [True, False, False], True],
    ids=repr,
)
def test_what_is_no_reset_mask_is_refused_and_changes_nothing(mask: Any) -> None:
    envs = SoloVectorEnv(3, opponents="random")
    envs.reset(seed=1)
    before = envs.table.states.tobytes()
    with pytest.raises(ValueError, match="reset_mask must be an array of 3 bools, one of them True, got"):
        envs.reset(seed=2, options={"reset_mask": mask})
    assert envs.table.states.tobytes() == before


def test_the_first_reset_leaves_no_game_out() -> None:
    envs = SoloVectorEnv(3, opponents="random")
    with pytest.raises(gymnasium.error.ResetNeeded, match="the first reset deals every game"):
        envs.reset(seed=1, options={"reset_mask": np.array([True, False, False])})
    first, _ = envs.reset(seed=1, options={"reset_mask": np.ones(3, bool)})
    assert first.tobytes() == SoloVectorEnv(3, opponents="random").reset(seed=1)[0].tobytes()


def test_what_single_environments_have_is_called_by_name_for_each_game() -> None:
    named = {"opponents": "random", "num_players": 3, "render_mode": "ansi"}
    envs = SoloVectorEnv(2, **named)
    others = gymnasium.vector.SyncVectorEnv([lambda: SoloEnv(**named)] * 2)
    envs.reset(seed=1)
    others.reset(seed=1)
    for name in (
        "options",
        "seat",
        "reveal",
        "render",
        "render_mode",
        "illegal",
        "observation_space",
        "action_space",
        "metadata",
    ):
        assert envs.call(name) == others.call(name), name
        assert len(envs.get_attr(name)) == 2
    assert [mask.tobytes() for mask in envs.call("action_masks")] == [
        mask.tobytes() for mask in others.call("action_masks")
    ]
    for name in ("step", "reset", "table", "nothing"):
        with pytest.raises(AttributeError, match=f"the games of a SoloVectorEnv have no '{name}' of their own"):
            envs.call(name)


def test_human_mode_shows_every_game_after_reset_and_step(capsys: pytest.CaptureFixture[str]) -> None:
    envs = SoloVectorEnv(2, opponents="random", render_mode="human")
    twins = SoloVectorEnv(2, opponents="random", render_mode="ansi")
    actions = None
    for _ in range(3):
        for one in (envs, twins):
            one.reset(seed=1) if actions is None else one.step(actions)
        actions = twins.action_masks().argmax(axis=1)
        assert capsys.readouterr().out.split() == "".join(twins.render()).split()


def test_a_vector_in_mid_game_can_be_copied_and_drawn() -> None:
    envs = SoloVectorEnv(2, opponents="random", render_mode="ansi")
    with pytest.raises(gymnasium.error.ResetNeeded):
        envs.step(np.zeros(2, int))
    envs.reset(seed=1)
    twins = pickle.loads(pickle.dumps(copy.deepcopy(envs)))
    actions = np.array([int(np.flatnonzero(mask)[-1]) for mask in envs.action_masks()])
    assert digest(envs.step(actions)) == digest(twins.step(actions))
    assert (
        envs.render()
        == twins.render()
        == tuple(draw_ansi(envs.table.options, view) for view in envs.table.learner_views())
    )
    envs.close()
    envs.close()
