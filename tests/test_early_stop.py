"""Runs that end because of their evaluations."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import torch
import yaml

from sleuth_env.policies.policy_file import read_metadata
from tests.test_train import TINY, curve, steps_of, the_line
from training.config import ConfigError, EvaluationConfig, make_config
from training.run import EarlyStop, Run
from training.train import main

SCORES = [0.2, 0.4, 0.4, 0.3, 0.5, 0.6]


@pytest.fixture
def tiny(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A run that evaluates after every rollout, with win shares that are settled beforehand."""
    path = tmp_path / "tiny.yaml"
    evaluation = {"against": ["random"], "every": 64, "deals": 4}
    path.write_text(yaml.safe_dump(TINY | {"run": str(tmp_path / "run"), "total_steps": 384, "evaluation": evaluation}))

    def results(*arguments: Any, pool: Any = None) -> list[Any]:
        """Return what a match would, by how many decisions the policy has learned from."""
        share = SCORES[arguments[2].steps // 64 - 1]
        entry = SimpleNamespace(win_share=share, win_low=0.0, win_high=1.0, fair_share=1 / 3)
        return [SimpleNamespace(entries=[entry], games=12, seed=1, failures=())]

    monkeypatch.setattr("training.run.evaluate", results)
    return path


def stops_at(settings: dict[str, Any]) -> int | None:
    """Return the number of the evaluation after which a run with `SCORES` ends."""
    stop = EarlyStop(EvaluationConfig(**settings))
    for number, score in enumerate(SCORES, 1):
        stop.note(score)
        if stop.reason:
            return number
    return None


@pytest.mark.parametrize(
    ("settings", "number"),
    [
        ({}, None),
        ({"stop_at": 0.4}, 2),
        ({"stop_at": 0.41}, 5),
        ({"stop_at": 0.9}, None),
        ({"patience": 1}, 3),
        ({"patience": 2}, 4),
        ({"patience": 3}, None),
    ],
)
def test_it_stops_where_the_settings_say(settings: dict[str, Any], number: int | None):
    assert stops_at(settings) == number


@pytest.mark.parametrize(
    ("option", "steps", "words"),
    [
        ("stop-at=0.45", 320, "win share 50.0% has reached evaluation.stop_at = 0.45"),
        ("patience=2", 256, "not been better than 40.0%"),
    ],
)
def test_a_run_that_stops_early_is_complete(
    tiny: Path, option: str, steps: int, words: str, capsys: pytest.CaptureFixture[str]
):
    run = tiny.parent / "run"
    assert main([str(tiny), f"--evaluation.{option}"]) == 0
    assert words in capsys.readouterr().out
    assert steps_of(run)[-1] == steps
    assert (run / "checkpoints" / f"{steps:012d}.pt").exists()
    assert main(["--resume", str(run)]) == 2
    line = the_line(capsys)
    assert words in line
    assert line.endswith("go on with --evaluation.stop-at null --evaluation.patience null")
    assert main(["--resume", str(run), "--evaluation.stop-at=null", "--evaluation.patience=null"]) == 0
    assert steps_of(run)[-1] == 384


def test_patience_goes_on_in_a_resumed_run(tiny: Path):
    run = tiny.parent / "run"
    assert main([str(tiny), "--total-steps=192", "--evaluation.patience=2"]) == 0
    assert main(["--resume", str(run), "--total-steps=384"]) == 0
    assert [float(row["eval/random"]) for row in curve(run)] == SCORES[:4]


def test_a_kill_after_an_evaluation_does_not_count_it_twice(tiny: Path):
    # The file of the best policy is ahead of the checkpoint.
    config = make_config(yaml.safe_load(tiny.read_text()) | {"checkpoints": {"every": 10**6}})
    run = Run(config, tiny.parent / "run")
    run.start()
    run.train()
    for path in (run.folder / "checkpoints").glob("*384.pt"):
        path.unlink()
    resumed = Run(config, run.folder)
    resumed.resume()
    assert (resumed.steps, resumed.best_score, resumed.early_stop.best) == (0, 0.6, float("-inf"))
    resumed.train()
    assert resumed.early_stop == run.early_stop


def test_there_must_be_somebody_to_evaluate_against():
    for settings in ({"stop_at": 0.5}, {"patience": 3}):
        (name,) = settings
        with pytest.raises(ConfigError, match=rf"evaluation.{name}: needs somebody in evaluation.against, got \[\]"):
            make_config({"evaluation": {"against": [], **settings}})
    for settings in ({"stop_at": 0}, {"stop_at": 1.5}, {"patience": 0}):
        with pytest.raises(ConfigError, match="must be"):
            make_config({"evaluation": settings})


def test_a_checkpoint_of_an_earlier_version_knows_nothing_of_it(tiny: Path):
    run = tiny.parent / "run"
    assert main([str(tiny), "--total-steps=64"]) == 0
    for path in (run / "checkpoints").glob("*.pt"):
        state = torch.load(path, weights_only=True)
        del state["early_stop"], state["league"]
        torch.save(state, path)
    assert main(["--resume", str(run), "--total-steps=128"]) == 0
    assert steps_of(run) == [64, 128]


def test_scores_of_other_matches_are_not_compared(tiny: Path):
    run = tiny.parent / "run"
    assert main([str(tiny), "--total-steps=192", "--evaluation.patience=2"]) == 0
    best = (run / "best.safetensors").read_bytes()
    # A run that is complete is not touched.
    assert main(["--resume", str(run), "--evaluation.deals=5", "--evaluation.stop-at=0.1"]) == 2
    assert (run / "best.safetensors").read_bytes() == best
    # Two were not better than 40 %, but in other matches 20 % is the best.
    assert (
        main(
            [
                "--resume",
                str(run),
                "--evaluation.deals=5",
                "--total-steps=256",
                "--evaluation.patience=null",
                "--evaluation.stop-at=0.45",
            ]
        )
        == 0
    )
    assert (run / "best-000000000192.safetensors").read_bytes() == best
    assert read_metadata(run / "best.safetensors")["win_share"] == SCORES[3]
    state = torch.load(run / "checkpoints" / "000000000256.pt", weights_only=True)["early_stop"]
    assert state == {"best": SCORES[3], "since_best": 0, "matches": {"against": ["random"], "deals": 5, "seed": 1_000}}
