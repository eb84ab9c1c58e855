"""TorchRL plays the games: as one learner of many games, and as all agents of one."""

from __future__ import annotations

from typing import Any

import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("torchrl")

from torchrl.envs import MarlGroupMapType, PettingZooWrapper, check_env_specs  # noqa: E402

from tests.support.examples import example, said_by  # noqa: E402

TASKS = example("tasks").TASKS
STEPS = 2048


def weights(game: str, seed: int) -> Any:
    network = example("with_torchrl").train(TASKS[game], STEPS, seed)
    return torch.cat([parameter.detach().flatten() for parameter in network.parameters()])


@pytest.mark.parametrize("game", TASKS)
def test_the_example_learns_and_its_policy_plays(game: str, capsys: pytest.CaptureFixture[str]) -> None:
    said = said_by("with_torchrl", {"game": game, "steps": STEPS, "deals": 4}, capsys)
    assert said.count("mean reward of a game") == 2
    assert "win share 0." in said


def test_a_seed_settles_what_is_learned() -> None:
    first = weights("holmes", 1)
    assert torch.isfinite(first).all()
    assert torch.equal(first, weights("holmes", 1))
    assert not torch.equal(first, weights("holmes", 2))


def all_agents(game: str) -> Any:
    """Return one game in which all agents are a group."""
    env = TASKS[game].environments.raw_env(**TASKS[game].options)
    return PettingZooWrapper(env, use_mask=True, group_map=MarlGroupMapType.ALL_IN_ONE_GROUP, seed=1)


@pytest.mark.parametrize("game", TASKS)
def test_the_games_of_one_learner_have_the_tensors_that_they_declare(game: str) -> None:
    check_env_specs(example("with_torchrl").make_env(TASKS[game], 1))


@pytest.mark.parametrize("game", TASKS)
def test_the_game_of_all_agents_has_the_tensors_that_it_declares(game: str) -> None:
    check_env_specs(all_agents(game))


@pytest.mark.parametrize("game", TASKS)
def test_all_agents_play_by_the_masks_and_end_together(game: str) -> None:
    env = all_agents(game)
    # An illegal action would be an error: raw_env refuses it.
    steps = env.rollout(400, break_when_any_done=False)
    agents = steps["next", "agents"]
    ended = agents["done"].squeeze(-1)
    assert ended.any()
    assert (ended.all(-1) == ended.any(-1)).all()
    assert torch.equal(steps["next", "done"].squeeze(-1), ended.all(-1))
    # Exactly one agent decides in every step, and these games pay in the last one.
    assert (steps["agents", "mask"].sum(-1) == 1).all()
    paid = (agents["reward"] != 0).any(-1).any(-1)
    assert paid.any()
    assert not (paid & ~ended.all(-1)).any()
