"""Trackers are told what the curve is told, and whatever they do the training goes its way.

They are played by stand-ins here; `tests/libraries/test_tracking.py` has the libraries.
"""

from __future__ import annotations

import errno
import json
import os
import signal
import threading
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.test_train import TINY, curve, the_line
from tests.test_train_ppo import SELF_PLAY
from training import tracking
from training.config import TRACKERS, ConfigError, make_config
from training.curve import STEPS
from training.run import Run
from training.train import main

Act = Callable[..., None]


class StandIn:
    """A tracker that notes what it is told, and does in between what a test wants."""

    def __init__(self, number: int, acts: Mapping[str, Act]) -> None:
        self.number = number
        self.acts = acts
        self.told: list[tuple[Any, ...]] = []

    def _note(self, *told: Any) -> None:
        self.told.append(told)
        if told[0] in self.acts:
            self.acts[told[0]](*told[1:])

    def begin(self, folder: Path, settings: Mapping[str, Any], known: str | None) -> tuple[str, str]:
        self._note("begin", folder, settings, known)
        return known or f"run {self.number}", "somewhere"

    def log(self, row: Mapping[str, float], steps: int) -> None:
        self._note("log", row, steps)

    def keep(self, path: Path) -> None:
        self._note("keep", path.name, path.read_bytes())

    def finish(self, code: int) -> None:
        self._note("finish", code)

    def all(self, method: str) -> list[tuple[Any, ...]]:
        return [told[1:] for told in self.told if told[0] == method]


class Stage:
    """Where stand-ins are made."""

    def __init__(self) -> None:
        self.made: list[StandIn] = []
        self.acts: dict[str, Act] = {}

    def make(self) -> StandIn:
        self.made.append(StandIn(len(self.made) + 1, self.acts))
        return self.made[-1]


@pytest.fixture
def stage(monkeypatch: pytest.MonkeyPatch) -> Stage:
    stage = Stage()
    for name in TRACKERS:
        monkeypatch.setitem(tracking.MAKERS, name, stage.make)
    monkeypatch.setattr(tracking, "SETTINGS", {})
    monkeypatch.setattr("training.command.check_installed", lambda names: None)
    return stage


@pytest.fixture
def tiny(tmp_path: Path) -> Path:
    path = tmp_path / "tiny.yaml"
    path.write_text(yaml.safe_dump(TINY | {"run": str(tmp_path / "run"), "tracking": ["wandb"]}))
    return path


def fail(*_: Any) -> None:
    raise RuntimeError("the network is down")


# --- what they are told ---


def test_a_tracker_is_told_the_curve_the_configuration_and_the_best_policy(tiny: Path, stage: Stage) -> None:
    assert main([str(tiny)]) == 0
    (made,) = stage.made
    run = tiny.parent / "run"
    assert [told[0] for told in made.told].index("begin") == 0
    ((folder, settings, known),) = made.all("begin")
    assert (folder, known) == (run, None)
    assert settings == yaml.safe_load((run / "config.yaml").read_text())
    assert settings["seed"] == 1
    rows = curve(run)
    assert [steps for _, steps in made.all("log")] == [int(row[STEPS]) for row in rows] == [64, 128, 192, 256]
    for (told, _), row in zip(made.all("log"), rows, strict=True):
        assert {key: str(value) for key, value in told.items()} == {key: value for key, value in row.items() if value}
    kept = dict(made.all("keep"))
    assert list(kept) == ["config.yaml", "best.safetensors", "best.md", "curve.png"]
    for name, content in kept.items():
        assert (run / name).read_bytes() == content
    assert made.told[-1] == ("finish", 0)


def test_a_run_is_the_same_whether_or_not_it_is_tracked(tiny: Path, stage: Stage) -> None:
    assert main([str(tiny)]) == 0
    assert main([str(tiny), "--run", str(tiny.parent / "other"), "--tracking", "[]"]) == 0
    assert len(stage.made) == 1
    tracked, other = (tiny.parent / name for name in ("run", "other"))
    for name in ("best.safetensors", "last.safetensors", "best.md"):
        assert (tracked / name).read_bytes() == (other / name).read_bytes()
    assert not (other / tracking.IDS).exists()
    assert not (other / "curve.png").exists()


def test_a_resumed_run_is_the_same_run_of_its_tracker(
    tiny: Path, stage: Stage, capsys: pytest.CaptureFixture[str]
) -> None:
    run = tiny.parent / "run"
    assert main([str(tiny), "--total-steps", "128"]) == 0
    assert "tracked by wandb: somewhere\n" in capsys.readouterr().out
    assert json.loads((run / tracking.IDS).read_text()) == {"wandb": "run 1"}
    assert main(["--resume", str(run), "--total-steps", "192", "--tracking", "[mlflow, wandb]"]) == 0
    first, mlflow, wandb = stage.made
    assert json.loads((run / tracking.IDS).read_text()) == {"wandb": "run 1", "mlflow": "run 2"}
    assert [made.all("begin")[0][2] for made in stage.made] == [None, None, "run 1"]
    assert [steps for _, steps in first.all("log")] == [64, 128]
    assert [steps for _, steps in wandb.all("log")] == [steps for _, steps in mlflow.all("log")] == [192]
    # What is complete is not begun again.
    assert main(["--resume", str(run)]) == 2
    assert len([made for made in stage.made if made.told]) == 3


# --- what they may do ---


@pytest.mark.parametrize("method", ["log", "keep", "finish"])
def test_a_tracker_that_fails_costs_a_line_and_nothing_else(
    method: str, tiny: Path, stage: Stage, capsys: pytest.CaptureFixture[str]
) -> None:
    stage.acts[method] = fail
    assert main([str(tiny)]) == 0
    line = the_line(capsys)
    assert line.startswith("tracking: wandb has failed and is told nothing more: the network is down")
    (made,) = stage.made
    assert len(made.all(method)) == 1
    # It is closed all the same.
    assert made.told[-1] == ("finish", 0)
    assert [int(row[STEPS]) for row in curve(tiny.parent / "run")] == [64, 128, 192, 256]


def test_a_tracker_that_hangs_is_not_waited_for(
    tiny: Path, stage: Stage, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    for_ever = threading.Event()
    stage.acts["log"] = lambda *_: for_ever.wait()
    monkeypatch.setattr("training.run.PATIENCE", 0.1)
    assert main([str(tiny)]) == 0
    assert the_line(capsys).startswith("tracking: wandb has not taken everything within 0.1 s")
    for_ever.set()


def test_one_that_cannot_begin_is_said_before_there_is_a_run(
    tiny: Path, stage: Stage, capsys: pytest.CaptureFixture[str]
) -> None:
    # The second of both.
    stage.acts["begin"] = lambda *_: fail() if len(stage.made[1].told) else None
    assert main([str(tiny), "--tracking", "[wandb, mlflow]"]) == 2
    line = the_line(capsys)
    assert line == "error: tracking: mlflow cannot begin (--tracking '[]' trains without it): the network is down"
    assert not (tiny.parent / "run").exists()
    assert [made.all("finish") for made in stage.made] == [[(1,)], []]


def test_one_that_cannot_go_on_leaves_the_run_as_it_was(
    tiny: Path, stage: Stage, capsys: pytest.CaptureFixture[str]
) -> None:
    run = tiny.parent / "run"
    assert main([str(tiny), "--total-steps", "128"]) == 0
    before = (run / tracking.IDS).read_text()
    stage.acts["begin"] = fail
    capsys.readouterr()
    assert main(["--resume", str(run), "--total-steps", "192"]) == 2
    assert "wandb cannot begin" in the_line(capsys)
    assert (run / tracking.IDS).read_text() == before
    assert main(["--resume", str(run), "--total-steps", "192", "--tracking", "[]"]) == 0


# --- how a run ends ---


@pytest.mark.parametrize(("number", "code"), [(signal.SIGTERM, 143), (signal.SIGINT, 130)])
def test_a_signal_closes_what_is_tracked_as_stopped(number: int, code: int, tiny: Path, stage: Stage) -> None:
    stage.acts["log"] = lambda *_: os.kill(os.getpid(), number)
    assert main([str(tiny), "--total-steps", "1e6"]) == code
    assert stage.made[0].told[-1] == ("finish", code)


def test_a_second_ctrl_c_does_not_wait_for_a_tracker(
    tiny: Path, stage: Stage, capsys: pytest.CaptureFixture[str]
) -> None:
    for_ever = threading.Event()
    stage.acts["log"] = lambda *_: os.kill(os.getpid(), signal.SIGINT)

    def linger(*_: Any) -> None:
        os.kill(os.getpid(), signal.SIGINT)
        for_ever.wait()

    stage.acts["finish"] = linger
    assert main([str(tiny), "--total-steps", "1e6"]) == 130
    assert "stopped at once" in capsys.readouterr().err
    assert stage.made[0].told[-1] == ("finish", 130)
    for_ever.set()


def test_a_training_that_fails_is_tracked_as_failed(
    tiny: Path, stage: Stage, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def full(_: Run) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(Run, "evaluate", full)
    assert main([str(tiny)]) == 1
    assert stage.made[0].told[-1] == ("finish", 1)


def test_what_was_begun_is_closed_where_training_does_not_begin(
    tiny: Path, stage: Stage, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def full(_: str) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr("training.command.say", full)
    assert main([str(tiny)]) == 1
    assert stage.made[0].told[-1] == ("finish", 1)
    assert main(["--resume", str(tiny.parent / "run"), "--tracking", "[]"]) == 1


def test_a_resumed_run_of_ppo_is_told_the_same_numbers(tmp_path: Path, stage: Stage) -> None:
    def rows(made: StandIn) -> list[dict[str, float]]:
        return [{key: row[key] for key in row if not key.startswith("time/")} for row, _ in made.all("log")]

    path = tmp_path / "ppo.yaml"
    size = SELF_PLAY["num_envs"] * SELF_PLAY["ppo"]["rollout_steps"]
    path.write_text(yaml.safe_dump(SELF_PLAY | {"tracking": ["wandb"], "total_steps": 4 * size}))
    assert main([str(path), "--run", str(tmp_path / "whole")]) == 0
    stage.acts["log"] = lambda *_: os.kill(os.getpid(), signal.SIGTERM)
    assert main([str(path), "--run", str(tmp_path / "parts")]) == 143
    stage.acts.clear()
    assert main(["--resume", str(tmp_path / "parts")]) == 0
    whole, first, second = map(rows, stage.made)
    assert first
    assert second
    assert first + second == whole


# --- what is configured ---


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (["comet"], "tracking.0: must be 'wandb' or 'mlflow', got 'comet'"),
        (["wandb", "wandb"], "tracking: must name 'wandb' once, got ['wandb', 'wandb']"),
        ("wandb", "tracking: must be a list, got 'wandb'"),
    ],
)
def test_other_names_are_refused(given: Any, said: str) -> None:
    with pytest.raises(ConfigError) as refused:
        make_config({"tracking": given})
    assert str(refused.value) == f"configuration: {said}"


@pytest.mark.parametrize("name", TRACKERS)
def test_a_missing_library_is_said_with_its_extra_before_anything_is_started(
    name: str, tiny: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tracking, "find_spec", lambda _: None)
    monkeypatch.setattr("training.run.Run.__init__", fail)
    assert main([str(tiny), "--tracking", f"[{name}]"]) == 2
    assert the_line(capsys) == f'error: tracking: {name} is not installed: pip install ".[{name}]"'
    assert not (tiny.parent / "run").exists()


def test_a_folder_that_a_tracker_has_left_is_not_its_library(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "mlflow_stand_in").mkdir()
    monkeypatch.syspath_prepend(str(tmp_path))
    with pytest.raises(ConfigError, match="mlflow_stand_in is not installed"):
        tracking.check_installed(["mlflow_stand_in"])


@pytest.mark.parametrize("content", ["", "[]", '{"wandb": 3}', '{"comet": "x"}', "[" * 5000])
def test_a_file_of_names_that_is_damaged_is_said(content: str, tmp_path: Path, stage: Stage) -> None:
    (tmp_path / tracking.IDS).write_text(content)
    with pytest.raises(ConfigError, match="does not map names of trackers to texts"):
        tracking.Tracking(["wandb"], tmp_path).begin({})
