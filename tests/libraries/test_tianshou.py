"""Tianshou plays the games: observations and masks in its words, and an actor that knows of the masks."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("tianshou")

from tianshou.data import Batch  # noqa: E402

from sleuth_env.envs.tianshou import MaskedActor, ObservationNet, TianshouEnv  # noqa: E402
from tests.support.examples import example, said_by  # noqa: E402

TASKS = example("tasks").TASKS
STEPS = 2048


def weights(game: str, seed: int) -> Any:
    policy = example("with_tianshou").train(TASKS[game], STEPS, seed)
    return torch.cat([parameter.detach().flatten() for parameter in policy.parameters()])


@pytest.mark.parametrize("game", TASKS)
def test_the_example_learns_and_its_policy_plays(game: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert "win share 0." in said_by("with_tianshou", {"game": game, "steps": STEPS, "deals": 4}, capsys)


def test_a_seed_settles_what_is_learned() -> None:
    first = weights("holmes", 1)
    assert torch.isfinite(first).all()
    assert torch.equal(first, weights("holmes", 1))
    assert not torch.equal(first, weights("holmes", 2))


@pytest.mark.parametrize("kind", ["vector", "dict"])
@pytest.mark.parametrize("game", TASKS)
def test_the_game_is_that_of_the_environment_inside(game: str, kind: str) -> None:
    task = TASKS[game]
    plain = task.environments.SoloEnv(**task.options)
    env = TianshouEnv(task.environments.SoloEnv(observation=kind, illegal="raise", **task.options))
    seen, _ = plain.reset(seed=1)
    told, _ = env.reset(seed=1)
    rng = np.random.default_rng(1)
    for _ in range(200):
        assert env.observation_space.contains(told)
        assert (told["obs"] == seen).all()
        assert (told["mask"] == plain.action_masks()).all()
        action = int(rng.choice(np.flatnonzero(told["mask"])))
        seen, *outcome, _ = plain.step(action)
        told, *same, _ = env.step(action)
        assert outcome == same
        if outcome[1] or outcome[2]:
            seen, _ = plain.reset()
            told, _ = env.reset()


def test_an_actor_takes_no_illegal_action() -> None:
    actor = MaskedActor(
        preprocess_net=ObservationNet(state_shape=5, hidden_sizes=[4]), action_shape=3, softmax_output=False
    )
    masks = np.array([[True, False, True], [False, True, False]])
    logits, state = actor(Batch(obs=np.ones((2, 5), np.float32), mask=masks))
    assert state is None
    assert (torch.isfinite(logits).numpy() == masks).all()
    assert torch.softmax(logits, 1)[1].tolist() == [0.0, 1.0, 0.0]
