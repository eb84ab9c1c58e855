"""Runs with ``algorithm: ppo`` whose games are played by several workers are the same runs."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from dataclasses import astuple
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import yaml

from sleuth_env import sleuth
from sleuth_env.matches.shards import Pool, open_pool
from sleuth_env.policies.policy_file import read_policy_file
from tests.test_ppo import go_on, learner, same
from tests.test_train_ppo import SELF_PLAY
from training.config import ConfigError, make_config
from training.decisions import Decisions
from training.lessons import Teaching, collect
from training.rollout import ENDED, OPEN, Collected
from training.sparse import SparseRows
from training.train import main

BOTS = {"random": 1.0, "sheet": 0.5}
SHARDED: dict[str, Any] = SELF_PLAY | {"shards": 2, "total_steps": 400, "checkpoints": {"every": 64, "keep": 100}}


def written(folder: Path, **changes: Any) -> str:
    """Write the configuration of a run in a folder; return the file."""
    path = folder / "sharded.yaml"
    path.write_text(yaml.safe_dump(SHARDED | {"run": str(folder / "run")} | changes))
    return str(path)


class Killing:
    """A pool of which a worker is killed in the middle of each work."""

    def __init__(self, pool: Any) -> None:
        self.pool = pool
        self.killed = 0

    def map(self, function: Any, tasks: Any, done: Any = None, stopped: Any = None) -> list[Any]:
        """Kill one at the first look at whether to stop."""
        killed = False

        def look() -> bool:
            nonlocal killed
            busy = [worker for worker in self.pool.workers if worker.index is not None]
            if busy and not killed:
                killed = True
                self.killed += 1
                os.kill(busy[0].process.pid, signal.SIGKILL)
            return bool(stopped())

        found: list[Any] = self.pool.map(function, tasks, done, look)
        return found


@pytest.fixture(scope="module")
def pool() -> Iterator[Pool]:
    """Two workers, who import torch once."""
    with open_pool(2) as found:
        yield found


def test_a_teacher_teaches_the_same_by_several_workers(pool: Pool):
    config = make_config(SELF_PLAY | {"shards": 2})
    teacher = sleuth.make_bot("sheet", config.options)
    told: list[int] = []
    teaching = Teaching(teacher, teacher, declined=0.5, held_out=0.2)
    alone = collect(config, teaching, 600, lambda _: None)
    together = collect(config, teaching, 600, told.append, pool)
    assert len(alone) == told[-1] >= 600
    for name in ("legal", "actions", "again", "kinds", "held_out"):
        np.testing.assert_array_equal(getattr(alone, name), getattr(together, name))
    for one, other in zip(astuple(alone.observations), astuple(together.observations), strict=True):
        np.testing.assert_array_equal(one, other)


def test_a_learner_learns_the_same_by_several_workers_one_of_which_is_killed(pool: Pool):
    alone = learner(BOTS, shards=2)
    together = learner(BOTS, shards=2)
    together.pool = killing = Killing(pool)  # type: ignore[assignment]
    for progress in (0.0, 0.3):
        assert alone.learn(progress, go_on) == together.learn(progress, go_on)
        assert same(alone, together)
    assert killing.killed
    # Stopped in the middle, and then as if nothing had happened.
    together.pool = pool
    asked = iter(range(10))
    assert together.learn(0.8, lambda: next(asked) > 0) is None
    together.pool = None
    assert alone.learn(0.8, go_on) == together.learn(0.8, go_on)
    assert same(alone, together)


def test_a_stored_learner_of_several_shards_goes_on_as_if_nothing_had_happened():
    unbroken = learner(BOTS, shards=4)
    unbroken.learn(0.0, go_on)
    restored = learner(BOTS, shards=4)
    restored.restore({**unbroken.state(), "steps": unbroken.steps, "updates": unbroken.updates})
    restored.set_opponents({name: (unbroken.shards[0].opponents[name], share) for name, share in BOTS.items()})
    assert unbroken.learn(0.5, go_on) == restored.learn(0.5, go_on)
    assert same(unbroken, restored)


def test_a_shard_has_games_of_its_own():
    made = learner(BOTS, shards=4)
    states = [games.position()["envs"].states for games in made.shards]
    assert [len(games) for games in states] == [2] * 4
    assert len({game.tobytes() for games in states for game in games}) == 8
    draws = {games.rng.random() for games in made.shards} | {games.bot_rng.random() for games in made.shards}
    assert len(draws | {made.rng.random()}) == 9


def test_a_rollout_that_was_stopped_leaves_every_shard_as_it_was():
    one = learner(BOTS, shards=2)
    other = learner(BOTS, shards=2)
    # In the second shard.
    asked = iter(range(10**6))
    assert one.learn(0.0, lambda: next(asked) > 40) is None
    assert one.learn(0.0, go_on) == other.learn(0.0, go_on)
    assert same(one, other)


def test_what_follows_a_decision_is_of_its_own_shard():
    def part(followers: list[int]) -> Collected:
        number = len(followers)
        floats = np.arange(number, dtype=np.float32)
        observations = SparseRows.of(np.ones((number, 2), np.float32))
        decisions = Decisions(observations, np.ones((number, 3), np.uint8), np.zeros(number, np.int64), floats, floats)
        return Collected(decisions, np.array(followers), floats, floats, number, [], [])

    joined = Collected.joined([part([1, OPEN]), part([2, ENDED, OPEN])])
    assert joined.followers.tolist() == [1, OPEN, 4, ENDED, OPEN]
    assert joined.rewards.tolist() == [0, 1, 0, 1, 2]
    assert (len(joined.decisions), joined.fresh) == (5, 5)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"shards": 3}, "shards: must divide num_envs = 8, got 3"),
        ({"shards": 2, "algorithm": "maskable_ppo"}, "shards: must be 1 with algorithm 'maskable_ppo', got 2"),
    ],
)
def test_shards_that_do_not_fit_are_refused(changes: dict[str, Any], message: str):
    with pytest.raises(ConfigError, match=message):
        make_config(SELF_PLAY | changes)


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--workers", "3"], "--workers must be at most shards = 2, got 3"),
        (["--workers", "2", "--algorithm", "maskable_ppo", "--shards", "1"], "--workers needs algorithm 'ppo', got"),
        (["--ray", "local", "--algorithm", "maskable_ppo", "--shards", "1"], "--ray needs algorithm 'ppo', got"),
        (["--workers", "0"], "--workers: must be a whole number from 1 to 1024, got '0'"),
    ],
)
def test_workers_that_cannot_be_are_refused_in_one_line(
    words: list[str], message: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
):
    assert main([written(tmp_path), *words]) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert message in line
    assert not (tmp_path / "run").exists()


def test_a_run_cannot_go_on_in_other_shards(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    assert main([written(tmp_path, total_steps=64)]) == 0
    assert main(["--resume", str(tmp_path / "run"), "--shards", "4", "--total-steps", "128"]) == 2
    assert "shards" in capsys.readouterr().err


@pytest.mark.slow
def test_a_run_that_is_resumed_with_other_workers_is_the_unbroken_one(tmp_path: Path):
    # What changes over a run depends on how long it is to be, which is more only afterwards.
    constant = SELF_PLAY["ppo"] | {"final_learning_rate": SELF_PLAY["ppo"]["learning_rate"]}
    for name in ("alone", "together"):
        (tmp_path / name).mkdir()
    assert main([written(tmp_path / "alone", ppo=constant)]) == 0
    steps = ["--total-steps", "200"]
    assert main([written(tmp_path / "together", ppo=constant), *steps, "--workers", "2"]) == 0
    assert main(["--resume", str(tmp_path / "together" / "run"), "--total-steps", "400"]) == 0
    one, other = (read_policy_file(tmp_path / name / "run" / "last.safetensors")[1] for name in ("alone", "together"))
    assert all(np.array_equal(one[name], other[name]) for name in one)
