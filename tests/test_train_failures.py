"""Training that fails or is interrupted: one line each, and nothing half-made."""

from __future__ import annotations

import errno
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
import yaml

from sleuth_env.policy_file import read_metadata
from tests.test_train import TINY, steps_of, the_line
from training.run import Run
from training.train import main


@pytest.fixture
def tiny(tmp_path: Path) -> Path:
    path = tmp_path / "tiny.yaml"
    path.write_text(yaml.safe_dump(TINY | {"run": str(tmp_path / "run")}))
    return path


def test_a_start_that_fails_leaves_no_folder(tiny: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]):
    monkeypatch.setattr(Run, "checkpoint", full_disk)
    assert main([str(tiny)]) == 2
    assert "No space left" in the_line(capsys)
    assert not (tmp_path / "run").exists()


def full_disk(*_: Any) -> None:
    raise OSError(errno.ENOSPC, "No space left on device", "somewhere/file")


@pytest.mark.parametrize(
    ("error", "words"), [(OSError(errno.ENOSPC, "No space left on device", "a/b"), "a/b: No space left"), (MemoryError(), "out of memory")]
)
def test_a_full_disk_or_memory_is_one_line(tiny: Path, monkeypatch: pytest.MonkeyPatch, error: Exception, words: str, capsys: pytest.CaptureFixture[str]):
    def fail(*_: Any) -> None:
        raise error

    monkeypatch.setattr(Run, "_log", fail)
    assert main([str(tiny)]) == 1
    assert words in the_line(capsys)


def test_weights_that_become_no_numbers_are_one_line(tiny: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]):
    monkeypatch.setattr("training.run.all_finite", lambda _: False)
    assert main([str(tiny)]) == 1
    assert "after step 64 the weights are no finite numbers" in the_line(capsys)


def test_a_missing_package_is_one_line_that_says_what_to_install(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]):
    monkeypatch.delitem(sys.modules, "training.command", raising=False)
    monkeypatch.delitem(sys.modules, "training.config")
    monkeypatch.setitem(sys.modules, "yaml", None)
    assert main(["--help"]) == 1
    assert the_line(capsys) == 'error: training needs yaml, which is not installed: pip install ".[train]"'


@pytest.mark.parametrize("seconds", [0.15, 0.5, 1.0, 1.6, 2.3])
def test_ctrl_c_before_training_is_one_line(tiny: Path, tmp_path: Path, seconds: float):
    command = [sys.executable, "-c", "print(1, flush=True); import sys; from training.train import main; sys.exit(main(sys.argv[1:]))", str(tiny)]
    process = subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=os.environ | {"PYTHONPATH": str(Path(__file__).parents[1])}
    )
    assert process.stdout is not None
    process.stdout.readline()
    time.sleep(seconds)
    process.send_signal(signal.SIGINT)
    output, errors = process.communicate(timeout=120)
    if "training in" not in output:
        assert errors == "interrupted: training had not begun, nothing has changed\n"
        assert not (tmp_path / "run").exists()
    assert "Traceback" not in errors
    assert process.returncode == (0 if "done" in output else 130)


# --- interruption ---


def test_ctrl_c_saves_a_checkpoint_says_so_and_the_run_goes_on_later(tiny: Path, tmp_path: Path):
    command = [sys.executable, "-u", "-m", "training.train"]
    process = subprocess.Popen(
        [*command, str(tiny), "--total-steps", "1e8", "--evaluation.against", "[]", "--checkpoints.every", "1e8"],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        env=os.environ | {"PYTHONPATH": str(Path(__file__).parents[1])},
    )
    deadline = time.monotonic() + 60
    while not (tmp_path / "run" / "progress.csv").exists() and time.monotonic() < deadline:
        time.sleep(0.1)
    time.sleep(0.5)
    process.send_signal(signal.SIGINT)
    output, _ = process.communicate(timeout=60)
    assert process.returncode == 130, output
    assert "checkpoint saved at step" in output
    assert "Traceback" not in output
    saved = read_metadata(tmp_path / "run" / "last.safetensors")["steps"]
    assert saved > 0
    assert saved % 64 == 0
    assert steps_of(tmp_path / "run")[-1] == saved
    assert main(["--resume", str(tmp_path / "run"), "--total-steps", str(saved + 64)]) == 0
    assert steps_of(tmp_path / "run")[-1] == saved + 64


def test_a_killed_run_goes_on_from_its_last_checkpoint(tiny: Path, tmp_path: Path):
    run = tmp_path / "run"
    process = subprocess.Popen(
        [sys.executable, "-m", "training.train", str(tiny), "--total-steps", "1e8", "--evaluation.against", "[]"],
        stdout=subprocess.DEVNULL,
        env=os.environ | {"PYTHONPATH": str(Path(__file__).parents[1])},
    )
    deadline = time.monotonic() + 60
    while len(list(run.glob("checkpoints/*.pt"))) < 2 and time.monotonic() < deadline:
        time.sleep(0.05)
    process.kill()
    process.wait()
    saved = max(int(path.stem) for path in run.glob("checkpoints/*.pt"))
    assert saved > 0
    assert main(["--resume", str(run), "--total-steps", str(saved + 64)]) == 0
    steps = steps_of(run)
    assert steps == list(range(64, saved + 65, 64))
