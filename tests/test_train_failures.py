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
import torch
import yaml

from sleuth_env.files import write_atomically
from sleuth_env.policies.policy_file import read_metadata
from tests.test_program_players import ODD
from tests.test_program_players import command as command_of
from tests.test_train import TINY, curve, steps_of, the_line
from training.command import command
from training.config import make_config
from training.run import Run
from training.train import main

ROOT = Path(__file__).parents[1]


@pytest.fixture
def tiny(tmp_path: Path) -> Path:
    path = tmp_path / "tiny.yaml"
    path.write_text(yaml.safe_dump(TINY | {"run": str(tmp_path / "run")}))
    return path


def test_a_start_that_fails_leaves_no_folder(
    tiny: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    monkeypatch.setattr(Run, "checkpoint", full_disk)
    assert main([str(tiny)]) == 1
    assert the_line(capsys) == "error: somewhere/file: No space left on device"
    assert not (tmp_path / "run").exists()


def test_a_disk_without_room_for_the_folder_is_no_mistake_in_the_configuration(
    tiny: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    monkeypatch.setattr(Path, "mkdir", full_disk)
    assert main([str(tiny)]) == 1
    assert the_line(capsys) == "error: somewhere/file: No space left on device"


def full_disk(*_: Any, **__: Any) -> None:
    raise OSError(errno.ENOSPC, "No space left on device", "somewhere/file")


MEMORY = "error: out of memory: lower num_envs, ppo.rollout_steps, ppo.batch_size or network.hidden"
FAILURES = [
    (
        OSError(errno.ENOSPC, "No space left on device", "a/b"),
        "error: a/b: No space left on device; go on later with: sleuth train --resume RUN",
    ),
    (OSError(errno.EIO, "Input/output error", "a/b"), "error: a/b: Input/output error"),
    (MemoryError(), MEMORY),
    (MemoryError("Unable to allocate 7 GiB"), f"{MEMORY} (Unable to allocate 7 GiB)"),
    (
        RuntimeError("[enforce fail] DefaultCPUAllocator:\n can't allocate memory"),
        f"{MEMORY} ([enforce fail] DefaultCPUAllocator: can't allocate memory)",
    ),
    (torch.cuda.OutOfMemoryError("CUDA out of memory."), f"{MEMORY} (CUDA out of memory.)"),
]


@pytest.mark.parametrize(("error", "line"), FAILURES, ids=str)
def test_a_full_disk_or_memory_is_one_line(
    tiny: Path, monkeypatch: pytest.MonkeyPatch, error: Exception, line: str, capsys: pytest.CaptureFixture[str]
):
    monkeypatch.setattr(Run, "_log", failing(error))
    assert main([str(tiny)]) == 1
    assert the_line(capsys) == line.replace("RUN", str(tiny.with_name("run")))


def test_a_program_that_fails_is_told_of_once_and_nothing_of_it_counts(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
):
    program = command_of("crash")
    changes: dict[str, Any] = {
        "algorithm": "ppo",
        "run": str(tmp_path / "run"),
        "opponents": TINY["opponents"] | {"bots": {program: 1.0}},
        "evaluation": TINY["evaluation"] | {"against": [program, "random"], "every": 64, "stop_at": 0.01},
    }
    path = tmp_path / "tiny.yaml"
    path.write_text(yaml.safe_dump(TINY | changes))
    assert main([str(path)]) == 0
    output = capsys.readouterr()
    for consequence in ("its games do not count any more", "the evaluation has no score"):
        assert output.err.count(f"random plays for it, and {consequence}\n") == 1
    assert output.err.count(" has failed: ") == 2
    # Of the other's match there are rows, and neither best policy nor early end.
    run = tmp_path / "run"
    last = curve(run)[-1]
    assert last["eval/random"]
    assert f"eval/{program}" not in last
    assert not (run / "best.safetensors").exists()
    assert steps_of(run)[-1] >= 256
    (row,) = [line for line in (run / "league.csv").read_text().splitlines() if program in line.replace('"', "")]
    assert row.endswith(",0,0")


def test_a_run_does_not_begin_or_go_on_with_a_program_that_cannot_play(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    (tmp_path / "player.py").write_text(ODD.read_text())
    program = f"exec:{sys.executable} player.py fine"
    changes: dict[str, Any] = {
        "algorithm": "ppo",
        "run": str(tmp_path / "run"),
        "opponents": TINY["opponents"] | {"bots": {program: 1.0}},
        "evaluation": {"against": []},
    }
    path = tmp_path / "tiny.yaml"
    path.write_text(yaml.safe_dump(TINY | changes))
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    for place, words, code in (
        (elsewhere, [str(path)], 2),
        (tmp_path, [str(path)], 0),
        (elsewhere, ["--resume", str(tmp_path / "run"), "--total-steps", "512"], 2),
        (tmp_path, ["--resume", str(tmp_path / "run"), "--total-steps", "512"], 0),
    ):
        monkeypatch.chdir(place)
        assert main(words) == code
        error = capsys.readouterr().err
        assert ("cannot play: " in error) == (code == 2)
        assert (tmp_path / "run").exists() == (words[0] == "--resume" or code == 0)


def test_a_file_for_which_there_is_no_room_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(os, "fsync", failing(OSError(errno.ENOSPC, "No space left on device")))
    with pytest.raises(OSError, match="No space") as caught:
        write_atomically(tmp_path / "file", b"content")
    assert caught.value.filename == str(tmp_path / "file")
    assert not list(tmp_path.iterdir())


def failing(error: Exception) -> Any:
    def fail(*_: Any) -> None:
        raise error

    return fail


def test_a_network_too_large_for_the_memory_leaves_no_folder(
    tiny: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    monkeypatch.setattr(Run, "_make_learner", failing(RuntimeError("can't allocate memory")))
    assert main([str(tiny)]) == 1
    assert the_line(capsys) == f"{MEMORY} (can't allocate memory)"
    assert not (tmp_path / "run").exists()


def test_a_mistake_of_the_program_keeps_its_traceback(tiny: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(Run, "_log", failing(RuntimeError("mat1 and mat2 shapes cannot be multiplied")))
    with pytest.raises(RuntimeError, match="mat1"):
        main([str(tiny)])


def test_weights_that_are_not_numbers_any_more_are_one_line(
    tiny: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    monkeypatch.setattr("training.run.all_finite", lambda _: False)
    assert main([str(tiny)]) == 1
    assert "after step 64 the weights are not finite numbers" in the_line(capsys)


def test_a_missing_package_is_one_line_that_says_what_to_install(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    monkeypatch.delitem(sys.modules, "training.command", raising=False)
    for name in ("training.config", "training.config_file"):
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "yaml", None)
    assert main(["--help"]) == 2
    assert the_line(capsys) == 'error: training needs yaml, which is not installed: pip install ".[train]"'


@pytest.mark.parametrize("run", ["/", ".", "a\0b"])
def test_a_folder_that_cannot_be_a_new_one_is_one_line(run: str, tiny: Path, capsys: pytest.CaptureFixture[str]):
    assert main([str(tiny), "--run", run]) == 2
    assert the_line(capsys) == f"error: run: must be the name of a new folder, got {run!r}"


def test_a_long_name_is_not_repeated_in_full(capsys: pytest.CaptureFixture[str]):
    assert main(["x" * 5000]) == 2
    assert len(the_line(capsys)) < 1000


def test_a_reader_that_goes_away_ends_the_run_in_one_line(tiny: Path):
    process = subprocess.Popen(
        [sys.executable, "-m", "training.train", str(tiny)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=os.environ | {"PYTHONPATH": str(ROOT)},
    )
    assert process.stdout is not None
    process.stdout.close()
    assert process.stderr is not None
    run = tiny.with_name("run")
    line = f"error: Broken pipe; go on later with: sleuth train --resume {run}\n"
    assert process.stderr.read().decode() == line
    assert process.wait() == 1


# --- interruption ---

# Ctrl-C comes when a module begins to be imported.
INTERRUPTED = """
import os, signal, sys
from training.train import main

class Interrupter:
    def find_spec(self, name, path=None, target=None):
        if name == sys.argv[1]:
            sys.meta_path.remove(self)
            os.kill(os.getpid(), signal.SIGINT)

sys.meta_path.insert(0, Interrupter())
sys.exit(main(sys.argv[2:]))
"""


@pytest.mark.parametrize(
    "module",
    ["training.command", "sleuth_env", "numpy", "yaml", "pydantic", "torch", "stable_baselines3", "training.run"],
)
def test_ctrl_c_before_training_is_one_line(tiny: Path, tmp_path: Path, module: str):
    environment = os.environ | {"PYTHONPATH": str(ROOT)}
    done = subprocess.run(
        [sys.executable, "-c", INTERRUPTED, module, str(tiny)],
        capture_output=True,
        text=True,
        env=environment,
        check=False,
    )
    assert (done.returncode, done.stdout) == (130, "")
    assert done.stderr == "interrupted: training had not begun, nothing has changed\n"
    assert not (tmp_path / "run").exists()


def test_a_signal_that_a_library_swallowed_ends_the_run_before_its_first_step(
    tiny: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
):
    assert command([str(tiny)], came=[signal.SIGTERM]) == 143
    assert (
        f"checkpoint saved at step 0; go on with: sleuth train --resume {tmp_path / 'run'}\n" in capsys.readouterr().out
    )


def interrupt(*_: Any) -> Any:
    """Do what Ctrl-C does."""
    os.kill(os.getpid(), signal.SIGINT)
    return {}


@pytest.mark.parametrize("method", ["_learn", "evaluate"])
def test_ctrl_c_says_at_once_what_happens_next(
    method: str, tiny: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    said = []
    usual = getattr(Run, method)

    def interrupted(self: Run) -> Any:
        interrupt()
        said.append(capsys.readouterr().err)
        return usual(self)

    monkeypatch.setattr(Run, method, interrupted)
    assert main([str(tiny)]) == 130
    assert said == ["stopping after the current step, with a checkpoint; a second Ctrl-C stops at once\n"]
    assert "interrupted: checkpoint saved at step" in capsys.readouterr().out


def test_ctrl_c_in_the_last_rollout_interrupts_nothing(
    tiny: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    monkeypatch.setattr(Run, "evaluate", interrupt)
    assert main([str(tiny), "--total-steps", "64", "--evaluation.every", "1000000"]) == 0
    assert "done (64 steps)" in capsys.readouterr().out


def test_a_second_ctrl_c_stops_at_once(
    tiny: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    monkeypatch.setattr(Run, "evaluate", lambda _: (interrupt(), interrupt(), pytest.fail("it has gone on")))
    before = [signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)]
    assert main([str(tiny)]) == 130
    assert capsys.readouterr().err.endswith(
        f"interrupted: stopped at once; nothing is lost up to the last checkpoint in {tmp_path / 'run'}\n"
    )
    assert [path.name for path in (tmp_path / "run" / "checkpoints").iterdir()] == ["000000000000.pt"]
    assert [signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)] == before


def test_ctrl_c_saves_a_checkpoint_says_so_and_the_run_goes_on_later(tiny: Path, tmp_path: Path):
    command = [sys.executable, "-u", "-m", "training.train"]
    process = subprocess.Popen(
        [*command, str(tiny), "--total-steps", "1e8", "--evaluation.against", "[]", "--checkpoints.every", "1e8"],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        env=os.environ | {"PYTHONPATH": str(ROOT)},
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
        env=os.environ | {"PYTHONPATH": str(ROOT)},
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


WRONG_MOMENTS: list[dict[Any, Any]] = [
    {"exp_avg": torch.zeros(1)},
    {"exp_avg_sq": torch.zeros(0)},
    {"exp_avg": None},
    {"exp_avg": torch.zeros(2, 2, dtype=torch.float64)},
    {"step": torch.tensor(-1.0)},
    {"more": torch.zeros(1)},
]


@pytest.mark.parametrize("algorithm", ["maskable_ppo", "ppo"])
def test_an_optimiser_that_does_not_fit_is_refused_before_it_reads_beyond_its_arrays(
    algorithm: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run = Run(make_config(TINY | {"algorithm": algorithm}), tmp_path / "run")
    run.start()
    run.train()
    path = max((run.folder / "checkpoints").iterdir())
    for other in set(path.parent.iterdir()) - {path}:
        other.unlink()
    state = torch.load(path, weights_only=True)
    (optimizer,) = (value for name, value in state["parameters"].items() if "optimizer" in name)
    moments = dict(optimizer["state"])
    wrong = [moments | {0: moments[0] | change} for change in WRONG_MOMENTS] + [
        moments | {99: moments[0]},
        moments | {"x": moments[0]},
    ]
    for optimizer["state"] in wrong:
        torch.save(state, path)
        assert main(["--resume", str(run.folder), "--total-steps", "512"]) == 2
        assert "cannot be resumed: its optimiser" in the_line(capsys)
    # Its settings are taken from the configuration, and a moment that is one number everywhere gets
    # a place for each.
    optimizer["state"] = {
        number: of | {"exp_avg": torch.zeros(1).expand(of["exp_avg"].shape)} for number, of in moments.items()
    }
    optimizer["param_groups"] = [{"lr": None}]
    torch.save(state, path)
    assert main(["--resume", str(run.folder), "--total-steps", "512"]) == 0
