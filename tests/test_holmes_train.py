"""Training for I Say, Holmes!: both learners, a taught start, and what the commands make of a policy."""

from __future__ import annotations

import csv
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import yaml

from sleuth_env import holmes
from sleuth_env.cli.commands import main as sleuth
from sleuth_env.holmes import Options
from sleuth_env.matches.match import evaluate
from sleuth_env.matches.players import make_player
from sleuth_env.policies.policy import load_policy
from tests.support.terminal import said
from training.config import Config, make_config, read_config
from training.decisions import Decisions
from training.imitate import main as imitate
from training.lessons import Teaching, collect
from training.ppo import PpoLearner
from training.train import main

ROOT = Path(__file__).parents[1]
# A case of three players, cut off early.
SHORT: dict[str, Any] = {"num_players": 3, "cases": 1, "max_turns": 60}
TINY: dict[str, Any] = {
    "game": "holmes",
    "total_steps": 256,
    "num_envs": 8,
    "options": SHORT,
    "network": {"hidden": [16], "initial_bias": {"escape": 3}},
    "ppo": {"rollout_steps": 16, "batch_size": 64, "epochs": 1},
    "opponents": {"bots": {"random": 1.0, "counter": 0.5}, "past_selves": 1.0, "snapshot_every": 64, "pool_size": 2},
    "evaluation": {"against": ["random", "counter"], "every": 128, "deals": 2},
    "checkpoints": {"every": 128},
}


def written(folder: Path, **changes: Any) -> Path:
    """Write a configuration and return its path."""
    path = folder / "tiny.yaml"
    path.write_text(yaml.safe_dump(TINY | {"run": str(folder / "run")} | changes))
    return path


def last_row(folder: Path) -> dict[str, str]:
    with (folder / "progress.csv").open(newline="") as file:
        return list(csv.DictReader(file))[-1]


@pytest.fixture(scope="module", params=["ppo", "maskable_ppo"])
def finished(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a run of each learner."""
    folder = tmp_path_factory.mktemp(request.param)
    assert main([str(written(folder, algorithm=request.param))]) == 0
    return folder / "run"


# --- both learners ---


def test_a_run_learns_and_is_evaluated_against_the_game_s_bots(finished: Path) -> None:
    row = last_row(finished)
    assert {"eval/random", "eval/counter", "rollout/win_share", "train/approx_kl"} <= set(row)
    assert all(0 <= float(row[f"eval/{name}"]) <= 1 for name in ("random", "counter"))
    for name in ("best", "last"):
        policy = load_policy(finished / f"{name}.safetensors")
        assert (policy.game, policy.options, policy.record) == (holmes, Options(**SHORT), "sheet")
        assert policy.steps > 0


def test_a_run_can_be_resumed(finished: Path) -> None:
    steps = load_policy(finished / "last.safetensors").steps
    assert main(["--resume", str(finished), "--total-steps", str(steps + 64)]) == 0
    assert load_policy(finished / "last.safetensors").steps >= steps + 64


def test_the_commands_take_its_policy(finished: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    policy = str(finished / "last.safetensors")
    table = tmp_path / "table.json"
    words = ["--game", "holmes", "--against", "random", "--games", "3", "--json", str(table)]
    assert sleuth(["evaluate", policy, *words]) == 0
    (match,) = json.loads(table.read_text())["matches"]
    # Whoever evaluates a policy file plays the game that it was trained for.
    assert match["options"] == vars(Options(**SHORT))
    capsys.readouterr()
    words = ["--game", "holmes", "--games", "3", "--options", "cases=1", "max_turns=60"]
    assert sleuth(["match", policy, "counter", "cautious", *words]) == 0
    assert "\ncounter  " in said(capsys)[0]


def test_the_raw_record_can_be_learned_from(tmp_path: Path) -> None:
    path = written(tmp_path, algorithm="ppo", record="raw", evaluation={"against": []})
    assert main([str(path), "--total-steps", "128"]) == 0
    assert load_policy(tmp_path / "run" / "last.safetensors").record == "raw"


def test_a_closed_case_is_paid_for_in_the_middle_of_a_game() -> None:
    config = make_config(TINY | {"algorithm": "ppo", "options": {"num_players": 3, "reward": "case"}})
    learner = PpoLearner(config)
    learner.set_opponents({})
    paid: list[float] = []
    for _ in range(100):
        rollout = learner.shards[0].play(learner.actor, lambda: False)
        assert rollout is not None
        assert not rollout.episodes
        paid += rollout.rewards[rollout.rewards != 0].tolist()
        learner.shards[0].keep(*rollout.left(Decisions.joined(rollout.parts)))
        if paid:
            break
    assert set(paid) <= {1.0, -0.5}
    assert 1.0 in paid


# --- a taught start ---


def test_a_policy_learns_from_a_bot_and_a_run_begins_with_it(tmp_path: Path) -> None:
    path = written(tmp_path, algorithm="ppo", evaluation={"against": []})
    out = tmp_path / "counter.safetensors"
    words = ["--teacher", "counter", "--decisions", "1500", "--epochs", "1", "--batch-size", "64"]
    assert imitate([str(path), *words, "--out", str(out)]) == 0
    assert main([str(path), "--start", str(out), "--ppo.value-first", "1000"]) == 0
    # Until then only the value is learned, so the policy is still the taught one.
    for one, other in zip(
        load_policy(out).network.tensors().values(),
        load_policy(tmp_path / "run" / "last.safetensors").network.tensors().values(),
        strict=True,
    ):
        assert (one == other).all()


def test_every_lesson_is_legal_and_none_is_an_offer(tmp_path: Path) -> None:
    config = read_config(written(tmp_path, algorithm="ppo"))
    counter = make_player("counter", config.options, holmes)
    lessons = collect(config, Teaching(counter, counter, declined=0.5), 500, lambda _: None)
    rows = np.arange(len(lessons))
    assert (lessons.masks(rows, holmes.num_actions(config.options))[rows, lessons.actions] == 1).all()
    # The game asks nobody out of turn to accept or decline, so nothing is left out.
    assert not lessons.kinds.any()


def test_a_policy_learns_what_actions_are_worth_to_the_planner(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = written(tmp_path, algorithm="ppo")
    words = ["--teacher", "planner", "--player", "counter", "--worths", "2", "--strays", "0.1", "--decisions", "1000"]
    made = []
    for number in range(2):
        out = tmp_path / f"worths{number}.safetensors"
        assert imitate([str(path), *words, "--epochs", "1", "--out", str(out)]) == 0
        made.append(out.read_bytes())
    assert made[0] == made[1]
    assert "what any legal action is worth" in capsys.readouterr().out
    assert imitate([str(path), *words, "--teacher", "counter", "--out", str(tmp_path / "other.safetensors")]) == 2
    assert "of the bots of holmes planner, got 'counter'" in capsys.readouterr().err


# --- the configurations that come with the package ---


@pytest.mark.parametrize(
    ("name", "players"), [("holmes_smoke", 3), ("holmes_three", 3), ("holmes_four", 4)], ids=lambda value: str(value)
)
def test_the_configurations_that_come_with_the_package_are_legal(name: str, players: int) -> None:
    config: Config = read_config(ROOT / "configs" / f"{name}.yaml")
    assert (config.module, config.options.num_players) == (holmes, players)
    assert config.run == f"runs/{name}"


@pytest.mark.slow
def test_the_smoke_configuration_beats_random_bots(tmp_path: Path) -> None:
    run = tmp_path / "run"
    assert main([str(ROOT / "configs" / "holmes_smoke.yaml"), "--run", str(run)]) == 0
    policy = load_policy(run / "best.safetensors")
    (result,) = evaluate(holmes, policy.options, policy, [make_player("random", policy.options, holmes)], 200, 7)
    assert result.entries[0].win_low > 0.4
