"""Runs that are resumed: they go on as if they had never stopped, or say why they cannot."""

from __future__ import annotations

import os
import signal
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
import yaml

from sleuth_env import sleuth
from sleuth_env.matches.table import Table
from sleuth_env.policies.policy import load_policy, save_policy
from sleuth_env.sleuth import Options
from tests.support.policies import random_policy
from tests.test_train import TINY, curve, events, states, steps_of, the_line
from training.config import make_config
from training.curve import STEPS
from training.run import Run
from training.train import main


@pytest.fixture
def tiny(tmp_path: Path) -> Path:
    path = tmp_path / "tiny.yaml"
    path.write_text(yaml.safe_dump(TINY | {"run": str(tmp_path / "run")}))
    return path


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("finished")
    (folder / "tiny.yaml").write_text(yaml.safe_dump(TINY | {"run": str(folder / "run")}))
    assert main([str(folder / "tiny.yaml")]) == 0
    return folder / "run"


def test_a_resumed_run_continues_counters_schedule_and_curve(
    tiny: Path, tmp_path: Path, finished: Path, capsys: pytest.CaptureFixture[str]
):
    run = tmp_path / "run"
    assert main([str(tiny), "--total-steps", "128"]) == 0
    before = curve(run)
    # As if it had been killed between two checkpoints: the curve is ahead, its last line
    # unfinished.
    with (run / "progress.csv").open("a") as file:
        file.write(",".join("192" if key == STEPS else "7" for key in before[0]) + "\n,,")
    assert main(["--resume", str(run), "--total-steps", "256"]) == 0
    rows = curve(run)
    assert [int(row[STEPS]) for row in rows] == [64, 128, 192, 256]
    assert rows[:2] == before
    assert [int(row["time/iterations"]) for row in rows] == [1, 2, 3, 4]
    assert [int(row["train/n_updates"]) for row in rows] == [1, 2, 3, 4]
    assert [float(row["train/learning_rate"]) for row in rows[2:]] == pytest.approx([5e-4, 2.5e-4])
    assert [step for step, _ in events(run)] == [64, 128, 192, 256]
    seconds = [float(row["time/seconds"]) for row in rows]
    assert seconds == sorted(seconds)
    assert "from step 128 to 256" in capsys.readouterr().out


def test_a_resumed_run_has_the_same_weights_optimiser_pool_and_best_score(tiny: Path, tmp_path: Path):
    folder = tmp_path / "run"
    config = make_config(TINY)
    first = Run(config, folder)
    first.start()
    first.train()
    second = Run(config, folder)
    second.resume()
    for one, other in zip(states(first), states(second), strict=True):
        assert torch.equal(one, other)
    assert second.steps == first.steps == 256
    assert second.best_score == first.best_score
    assert list(second.pool.past_selves) == list(first.pool.past_selves) == ["000000000192", "000000000256"]
    views, legal = opening()
    for name, policy in first.pool.past_selves.items():
        assert (
            policy.act(views, legal, np.arange(40, dtype=np.uint64))
            == second.pool.past_selves[name].act(views, legal, np.arange(40, dtype=np.uint64))
        ).all()


def opening() -> tuple[np.ndarray, np.ndarray]:
    table = Table(sleuth, Options(num_players=3), 40)
    table.deal(np.arange(40), np.arange(40, dtype=np.uint64))
    return table.views(np.arange(40)), table.legal(np.arange(40))


def test_a_run_that_is_complete_or_no_run_is_not_resumed(
    finished: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
):
    assert main(["--resume", str(finished)]) == 2
    assert "is complete (256 steps)" in capsys.readouterr().err
    assert main(["--resume", str(tmp_path)]) == 2
    assert "is not a run folder" in capsys.readouterr().err


@pytest.mark.parametrize("change", ["--network.hidden=[8]", "--options.missing=2", "--record=raw", "--seed=9"])
def test_what_the_numbers_of_a_run_mean_cannot_change(finished: Path, change: str, capsys: pytest.CaptureFixture[str]):
    assert main(["--resume", str(finished), "--total-steps=512", change]) == 2
    assert "cannot change when a run is resumed" in capsys.readouterr().err


def started(folder: Path) -> Path:
    run = Run(make_config(TINY), folder / "run")
    run.start()
    run.close()
    return folder / "run"


def test_an_older_checkpoint_takes_the_place_of_a_damaged_one(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    run = started(tmp_path)
    (run / "checkpoints" / "000000000999.pt").write_bytes(b"PK\x03\x04 not really")
    assert main(["--resume", str(run)]) == 0
    line = the_line(capsys)
    assert "000000000999.pt cannot be resumed" in line
    assert line.endswith("going on from 000000000000.pt")
    assert steps_of(run)[-1] == 256
    assert {path.name for path in (run / "checkpoints").iterdir()} == {
        "000000000999.damaged",
        "000000000128.pt",
        "000000000256.pt",
    }


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"seconds": None}, "its seconds is missing"),
        ({"steps": True}, "its steps is missing or of the wrong kind"),
        ({"steps": -64}, "out of range"),
        ({"pool": ["../../x"]}, "not a snapshot"),
        ({"parameters": {"policy": {"x": torch.tensor(float("nan"))}}}, "not finite"),
        ({"parameters": {}}, "cannot be resumed"),
        ({"early_stop": {"best": 0.5}}, "cannot be resumed"),
        ({"league": {}}, "without a learner"),
        ({"fixed": {"seed": 77}}, "seed is 77 there, 1 in config.yaml"),
        ({"fixed": 5}, "cannot be resumed"),
        # As older checkpoints have them.
        ({"fixed": None, "options": {"num_players": 3, "winners": 2}}, "options.winners is 2 there, 1 in config.yaml"),
    ],
)
def test_a_checkpoint_with_wrong_content_is_refused_in_one_line(
    tmp_path: Path, change: dict[str, Any], words: str, capsys: pytest.CaptureFixture[str]
):
    run = started(tmp_path)
    path = run / "checkpoints" / "000000000000.pt"
    changed = torch.load(path, weights_only=True) | change
    torch.save({key: value for key, value in changed.items() if key != "fixed" or value is not None}, path)
    assert main(["--resume", str(run)]) == 2
    line = the_line(capsys)
    assert str(path) in line
    assert words in line


@pytest.mark.parametrize(
    "place", ["checkpoints/000000000999.pt", "config.yaml", "progress.csv", "pool", "inputs", "best.safetensors"]
)
def test_a_pipe_in_the_place_of_a_file_of_a_run_is_refused_and_not_waited_for(
    place: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
):
    own = tmp_path / "own.safetensors"
    save_policy(random_policy(), own, {})
    config = TINY | {"opponents": {"bots": {str(own): 1.0}, "past_selves": 1.0}}
    run = Run(make_config(config), tmp_path / "run")
    run.start()
    run.close()
    path = run.folder / place
    path = next(path.glob("*.safetensors")) if path.is_dir() else path
    path.unlink(missing_ok=True)
    os.mkfifo(path)
    # Whoever waits for the pipe is stopped.
    signal.alarm(60)
    try:
        assert main(["--resume", str(run.folder)]) == 2
    finally:
        signal.alarm(0)
    line = the_line(capsys)
    assert str(path) in line
    assert "it is not a regular file" in line


@pytest.mark.parametrize(
    "content", [b"a,b\n1,2\n", f"{STEPS},a\n64,1,9\n".encode(), f"{STEPS},a\n64,x\n".encode(), b"\xff\xfe\n", None]
)
def test_a_curve_that_is_not_one_is_refused_in_one_line(
    tmp_path: Path, content: bytes | None, capsys: pytest.CaptureFixture[str]
):
    run = started(tmp_path)
    path = run / "progress.csv"
    path.mkdir() if content is None else path.write_bytes(content)
    assert main(["--resume", str(run)]) == 2
    assert f"{path} is not the curve of a run" in the_line(capsys)


def test_a_better_policy_than_the_checkpoint_knows_is_kept(tmp_path: Path):
    # As after a kill between an evaluation and the next checkpoint.
    run = started(tmp_path)
    best = run / "best.safetensors"
    save_policy(load_policy(run / "last.safetensors"), best, {}, 1.0)
    content = best.read_bytes()
    assert main(["--resume", str(run)]) == 0
    assert best.read_bytes() == content


def test_a_run_folder_has_one_process_at_a_time(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    first = Run(make_config(TINY), tmp_path / "run")
    first.start()
    assert main(["--resume", str(tmp_path / "run")]) == 2
    assert "in use" in the_line(capsys)
    first.close()
    assert main(["--resume", str(tmp_path / "run")]) == 0


def test_a_resumed_run_stays_in_its_folder(finished: Path, capsys: pytest.CaptureFixture[str]):
    assert main(["--resume", str(finished), "--run", "other"]) == 2
    assert "--run means nothing" in the_line(capsys)


def test_past_selves_can_be_the_only_opponents_of_a_resumed_run(tiny: Path, tmp_path: Path):
    assert main([str(tiny), "--total-steps=64", "--opponents.past-selves=0"]) == 0
    assert (
        main(
            ["--resume", str(tmp_path / "run"), "--total-steps=128", "--opponents.past-selves=1", "--opponents.bots={}"]
        )
        == 0
    )


def test_a_folder_may_be_called_by_a_number(tiny: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.chdir(tmp_path)
    assert main([str(tiny), "--run", "2024", "--total-steps=64", "--evaluation.against=[]"]) == 0
    assert (tmp_path / "2024" / "config.yaml").exists()


def test_a_folder_that_cannot_be_made_is_one_line(tiny: Path, capsys: pytest.CaptureFixture[str]):
    assert main([str(tiny), "--run", f"{tiny}/run"]) == 2
    assert f"run: {tiny}/run cannot be made: Not a directory" in the_line(capsys)


REMEMBERING = """
import numpy as np

class Mem:
    name = "mem"

    def __init__(self, options=None):
        self.counts = {}

    def act_in(self, views, legal, seeds, games, seats):
        chosen = []
        for game, turn, row in zip(games.tolist(), views["turn_number"].tolist(), legal):
            # A game that it has not seen is a new one.
            assert game in self.counts or turn <= 3, (game, turn)
            count = self.counts.get(game, 0)
            self.counts[game] = count + 1
            actions = np.flatnonzero(row)
            chosen.append(actions[(7 * count + 3) % len(actions)])
        return np.array(chosen)
"""


@pytest.fixture
def remembering(tmp_path: Path) -> str:
    (tmp_path / "mem.py").write_text(REMEMBERING)
    return f"{tmp_path / 'mem.py'}:Mem"


def test_games_begin_anew_where_somebody_remembers_those_of_before(
    tiny: Path, tmp_path: Path, remembering: str, capsys: pytest.CaptureFixture[str]
):
    bots = f'{{"{remembering}": 1.0, "random": 1.0}}'
    assert main([str(tiny), "--algorithm", "ppo", "--opponents.bots", bots, "--total-steps", "128"]) == 0
    capsys.readouterr()
    assert main(["--resume", str(tmp_path / "run"), "--total-steps", "512"]) == 0
    said = capsys.readouterr().err
    assert "mem.py:Mem: what was remembered of games under way is gone; new ones begin" in said
    assert "random" not in said.partition(": what was")[0]


def test_nothing_is_said_where_nobody_remembers(tiny: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    assert main([str(tiny), "--algorithm", "ppo", "--total-steps", "128"]) == 0
    capsys.readouterr()
    assert main(["--resume", str(tmp_path / "run"), "--total-steps", "256"]) == 0
    assert "remembered" not in capsys.readouterr().err


def test_who_remembers_is_refused_where_games_go_from_process_to_process(tmp_path: Path, remembering: str):
    config = make_config(TINY | {"opponents": {"bots": {remembering: 1.0}}})
    with pytest.raises(ValueError, match="remembers games, which only one process can play: leave out --ray"):
        Run(config, tmp_path / "run", ray="local")


def test_without_ray_no_run_is_begun(
    tiny: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    monkeypatch.setitem(sys.modules, "ray", None)
    assert main([str(tiny), "--algorithm", "ppo", "--ray", "local"]) == 2
    assert the_line(capsys) == 'error: a Ray cluster needs ray, which is not installed: pip install "sleuth-env[ray]"'
    assert not (tmp_path / "run").exists()
