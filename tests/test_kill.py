"""Runs with ``algorithm: ppo``, killed (SIGKILL) and resumed, end as an unbroken one does."""

from __future__ import annotations

import os
import random
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
import yaml

from sleuth_env.policies.policy_file import read_policy_file
from tests.test_train import curve, steps_of
from tests.test_train_ppo import SELF_PLAY
from training.train import main

ROOT = Path(__file__).parents[1]
PATIENCE = 150  # seconds: a process may have to compile the kernels first
# decisions between two checkpoints, and the most of a rollout
EVERY = 128
ROLLOUT = 72
CONFIG: dict[str, Any] = SELF_PLAY | {"total_steps": 3000, "checkpoints": {"every": EVERY, "keep": 2}}


@pytest.fixture(scope="module")
def unbroken(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("unbroken")
    assert main([written(folder)]) == 0
    return folder / "run"


def written(folder: Path) -> str:
    """Write the configuration of a run in a folder; return the file."""
    path = folder / "kill.yaml"
    path.write_text(yaml.safe_dump(CONFIG | {"run": str(folder / "run")}))
    return str(path)


def killed(arguments: list[str], run: Path, rng: random.Random) -> bool:
    """Train in another process, kill it at some moment; return whether it was still training."""
    before = rows_of(run)
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    # From the first checkpoint on: what was killed before has nothing to go on from.
    rows = before + rng.randrange(1, 30)
    seconds = rng.random() / 20
    with subprocess.Popen(
        [sys.executable, "-m", "training.train", *arguments], env=environment, stdout=subprocess.DEVNULL
    ) as process:
        deadline = time.monotonic() + PATIENCE
        while process.poll() is None and rows_of(run) < rows and time.monotonic() < deadline:
            time.sleep(0.001)
        time.sleep(seconds)
        process.kill()
    return process.returncode != 0


def rows_of(run: Path) -> int:
    """Count the rows of a curve that a process may be writing."""
    path = run / "progress.csv"
    return max(path.read_bytes().count(b"\n") - 1, 0) if path.exists() else 0


def latest(run: Path) -> Path:
    return max((run / "checkpoints").glob("*.pt"))


def leaves(tree: Any) -> Iterator[Any]:
    """Iterate over arrays and plain values in nested containers, with places; not the seconds."""
    if isinstance(tree, (dict, list, tuple)):
        for key, value in sorted(tree.items(), key=str) if isinstance(tree, dict) else enumerate(tree):
            if key != "seconds":
                yield from ((f"{key}.{place}", leaf) for place, leaf in leaves(value))
    else:
        yield "", tree.tolist() if isinstance(tree, (torch.Tensor, np.ndarray)) else tree


def assert_the_same_end(run: Path, unbroken: Path) -> None:
    one, other = (list(leaves(torch.load(latest(folder), weights_only=True))) for folder in (run, unbroken))
    assert one == other
    kept = [key for key in curve(unbroken)[0] if key not in ("time/seconds", "time/fps")]
    assert [[row[key] for key in kept] for row in curve(run)] == [[row[key] for key in kept] for row in curve(unbroken)]
    for name in ("best.safetensors", "last.safetensors"):
        assert list(leaves(read_policy_file(run / name))) == list(leaves(read_policy_file(unbroken / name)))
    assert (run / "league.csv").read_bytes() == (unbroken / "league.csv").read_bytes()
    assert not list(run.rglob("*.partial"))


def check(folder: Path, unbroken: Path, kills: int, seed: int) -> None:
    """Kill a run some times, or until it is complete, and compare its end."""
    run = folder / "run"
    rng = random.Random(seed)
    arguments = [written(folder)]
    for _ in range(kills):
        if not killed(arguments, run, rng):
            break
        # At most one interval is lost, but for what a rollout goes beyond it.
        assert steps_of(run)[-1] - int(latest(run).stem) < EVERY + ROLLOUT
        arguments = ["--resume", str(run)]
    else:
        assert main(arguments) == 0
    assert_the_same_end(run, unbroken)


def test_a_killed_run_ends_with_the_same_weights(tmp_path: Path, unbroken: Path) -> None:
    seed = int.from_bytes(os.urandom(4))
    # A failure shows it.
    sys.stdout.write(f"seed {seed}\n")
    check(tmp_path, unbroken, 1, seed)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(6))
def test_however_often_it_is_killed(seed: int, tmp_path: Path, unbroken: Path) -> None:
    check(tmp_path, unbroken, 4, seed)


def test_what_a_killed_process_was_writing_is_cleared_away(tmp_path: Path) -> None:
    run = tmp_path / "run"
    half = tmp_path / "run" / "checkpoints" / "000000000999.pt.77.partial"
    assert main([written(tmp_path), "--total-steps=64"]) == 0
    half.write_bytes(b"PK")
    assert main(["--resume", str(run), "--total-steps=128"]) == 0
    assert not half.exists()
