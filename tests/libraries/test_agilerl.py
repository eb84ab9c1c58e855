"""AgileRL plays the games: it takes the masks from the infos."""

from __future__ import annotations

from typing import Any

import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("agilerl")

from tests.support.examples import example, said_by  # noqa: E402

TASKS = example("tasks").TASKS
STEPS = 1024


def weights(game: str, seed: int) -> Any:
    learner = example("with_agilerl").train(TASKS[game], STEPS, seed)
    return torch.cat([parameter.detach().flatten() for parameter in learner.actor.parameters()])


@pytest.mark.parametrize("game", TASKS)
def test_the_example_learns_and_its_policy_plays(game: str, capsys: pytest.CaptureFixture[str]) -> None:
    said = said_by("with_agilerl", {"game": game, "steps": STEPS, "deals": 4}, capsys)
    assert "mean reward of a game" in said
    assert "win share 0." in said


def test_a_seed_settles_what_is_learned() -> None:
    first = weights("holmes", 1)
    assert torch.isfinite(first).all()
    assert torch.equal(first, weights("holmes", 1))
    assert not torch.equal(first, weights("holmes", 2))
