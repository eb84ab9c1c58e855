"""Processes that fork, that are stopped, whose streams are lost, or whose files never end."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import gymnasium
import numpy as np
import pexpect
import pytest
import yaml

import sleuth_env
from sleuth_env import sleuth, sleuth_v0
from sleuth_env.cli.streams import WriteError, write_text
from sleuth_env.policies.policy_file import PolicyError, read_metadata
from sleuth_env.threads import Threads
from tests.support.damage import FACES
from tests.support.terminal import without_notice
from tests.test_train import TINY, the_line
from training.config_file import ConfigError, read_file
from training.train import main, missing

ROOT = Path(__file__).parents[1]
ENVIRONMENT = {**os.environ, "PYTHONPATH": str(ROOT), "PROMPT_TOOLKIT_NO_CPR": "1", "TERM": "xterm"}
PATIENCE = 150  # seconds: a process may have to compile the kernels first


@pytest.fixture
def tiny(tmp_path: Path) -> Path:
    path = tmp_path / "tiny.yaml"
    path.write_text(yaml.safe_dump(TINY | {"run": str(tmp_path / "run")}))
    return path


# --- forks and threads ---


def succeeds_in_a_fork(check: Callable[[], bool]) -> bool:
    """Return whether a check is true in a forked process; there it must not take 30 seconds."""
    child = os.fork()
    if not child:
        code = 1
        with contextlib.suppress(BaseException):
            code = 0 if check() else 2
        os._exit(code)
    deadline = time.monotonic() + 30
    while time.monotonic() < deadline:
        done, status = os.waitpid(child, os.WNOHANG)
        if done:
            return status == 0
        time.sleep(0.05)
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    return False


def test_threads_are_made_anew_in_a_forked_process() -> None:
    threads = Threads(2)
    assert threads.each(abs, [-1, 2]) == [1, 2]
    assert succeeds_in_a_fork(lambda: threads.each(abs, [-3, 4]) == [3, 4])
    assert threads.each(abs, [-5, 6]) == [5, 6]
    threads.close()
    with pytest.raises(RuntimeError, match="closed"):
        threads.each(abs, [1])


FORKED: dict[str, Callable[[], Any]] = {
    "solo vector": lambda: sleuth_env.SoloVectorEnv(4, num_players=3, opponents="sheet"),
    "vector": lambda: sleuth_env.SleuthVectorEnv(4, threads=2, num_players=3),
    "make_vec": lambda: gymnasium.make_vec("sleuth_env/SleuthSelfPlay-v0", 4, threads=2, num_players=3),
    "make_vec of a solo environment": lambda: gymnasium.make_vec("sleuth_env/Sleuth-v0", 4, num_players=3),
}


def played_on(envs: Any) -> list[Any]:
    """Return what a batch of games shows in some steps."""
    shown = []
    for _ in range(10):
        seen, rewards, *_ = envs.step(envs.unwrapped.action_masks().argmax(axis=1))
        shown.append([seen.tobytes(), rewards.tobytes()])
    return shown


@pytest.mark.parametrize("face", FORKED)
def test_a_batch_of_games_goes_on_in_a_forked_process_and_in_its_parent(face: str) -> None:
    envs = FORKED[face]()
    envs.reset(seed=1)
    played_on(envs)
    twin = FORKED[face]()
    twin.reset(seed=1)
    played_on(twin)
    expected = played_on(twin)
    assert succeeds_in_a_fork(lambda: played_on(envs) == expected)
    assert succeeds_in_a_fork(lambda: len(played_on(fresh(face))) == 10)
    assert played_on(envs) == expected
    envs.close()


@pytest.mark.slow
def test_programs_are_started_anew_in_a_forked_process() -> None:
    program = ROOT / "examples" / "players" / "cautious.py"
    env = sleuth_env.SoloEnv(num_players=3, opponents=f"exec:{sys.executable} {program}", learner_seat=0)
    env.reset(seed=1)

    def plays_on() -> bool:
        began = time.monotonic()
        env.step(int(env.action_masks().argmax()))
        # A program that does not answer is waited for, 10 seconds each.
        return time.monotonic() - began < 9

    assert plays_on()
    assert succeeds_in_a_fork(plays_on)
    assert plays_on()
    env.close()


def fresh(face: str) -> Any:
    envs = FORKED[face]()
    envs.reset(seed=2)
    return envs


def test_training_runs_in_any_thread(tiny: Path) -> None:
    codes: list[int] = []
    thread = threading.Thread(target=lambda: codes.append(main([str(tiny)])))
    thread.start()
    thread.join()
    assert codes == [0]


def test_the_command_runs_in_any_thread(monkeypatch: pytest.MonkeyPatch) -> None:
    import sleuth_command

    monkeypatch.setattr(sys, "argv", ["sleuth", "match", *["random"] * 3, "--games", "1"])
    codes: list[int] = []
    thread = threading.Thread(target=lambda: codes.append(sleuth_command.main()))
    thread.start()
    thread.join()
    assert codes == [0]


@pytest.mark.parametrize("face", ["aec", "solo", "solo vector", "vector"])
def test_every_face_refuses_to_go_on_after_close(face: str) -> None:
    made: dict[str, Any] = {
        "aec": sleuth_v0.raw_env,
        "solo": sleuth_env.SoloEnv,
        "solo vector": sleuth_env.SoloVectorEnv,
        "vector": sleuth_env.SleuthVectorEnv,
    }
    env = made[face](num_players=3)
    env.reset(seed=1)
    env.close()
    env.close()
    # PettingZoo's loops reset what they have closed.
    for call in ([] if face == "aec" else [env.reset]) + [
        lambda: env.step(np.zeros(1, np.int64) if "vector" in face else 0)
    ]:
        with pytest.raises(gymnasium.error.ClosedEnvironmentError, match="has been closed"):
            call()


@pytest.mark.parametrize("face", FACES)
def test_no_face_goes_back_to_a_snapshot_after_close(face: str) -> None:
    env = FACES[face](sleuth, {"num_players": 3})
    env.reset()
    saved = env.get_state()
    env.close()
    for given in (saved, "not a snapshot"):
        with pytest.raises(gymnasium.error.ClosedEnvironmentError, match="has been closed"):
            env.set_state(given)


# --- signals ---


@pytest.fixture(autouse=True)
def children_are_hung_up() -> Iterator[None]:
    """Let children begin as in a shell: under nohup they would inherit that a closed terminal is ignored."""
    before = signal.signal(signal.SIGHUP, signal.SIG_DFL)
    yield
    signal.signal(signal.SIGHUP, before)


@pytest.mark.parametrize(("number", "code"), [(signal.SIGTERM, 143), (signal.SIGHUP, 129)])
def test_a_stopped_game_is_saved(number: int, code: int, tmp_path: Path) -> None:
    path = tmp_path / "game.txt"
    words = ["-m", "sleuth_command", "play", "--seed", "5", "--save", str(path)]
    child = pexpect.spawn(sys.executable, words, env=ENVIRONMENT, encoding="utf-8", timeout=PATIENCE)
    child.expect("pass.>")
    if number == signal.SIGHUP:
        os.close(child.child_fd)
        _, status = os.waitpid(child.pid, 0)
        assert os.waitstatus_to_exitcode(status) == code
    else:
        child.kill(number)
        child.expect("sleuth: interrupted")
        child.expect(pexpect.EOF)
        assert "Warning" not in child.before
        child.close()
        assert child.exitstatus == code
    assert path.read_text().startswith("sleuth game")


def test_a_stopped_match_gives_the_cursor_back() -> None:
    words = ["-m", "sleuth_command", "match", "sheet", "sheet", "cautious", "--games", "1000000"]
    child = pexpect.spawn(sys.executable, words, env=ENVIRONMENT, encoding="utf-8", timeout=PATIENCE)
    child.expect(r"\x1b\[\?25l")
    child.expect("games")
    child.kill(signal.SIGTERM)
    child.expect(r"\x1b\[\?25h")
    child.expect("sleuth: interrupted")
    child.expect(pexpect.EOF)
    child.close()
    assert child.exitstatus == 143


def test_a_hang_up_saves_a_checkpoint(tiny: Path, tmp_path: Path) -> None:
    words = [sys.executable, "-m", "training.train", str(tiny), "--total-steps", "1e8", "--checkpoints.every", "1e8"]
    with subprocess.Popen(words, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, env=ENVIRONMENT) as process:
        deadline = time.monotonic() + PATIENCE
        while not (tmp_path / "run" / "progress.csv").exists() and time.monotonic() < deadline:
            time.sleep(0.1)
        process.send_signal(signal.SIGHUP)
        # The shell sends another.
        process.send_signal(signal.SIGHUP)
        try:
            assert process.wait(60) == 129
        finally:
            process.kill()
    assert max(int(path.stem) for path in (tmp_path / "run" / "checkpoints").glob("*.pt")) > 0


# --- streams ---


def test_training_that_nobody_reads_ends_with_a_checkpoint(tiny: Path, tmp_path: Path) -> None:
    words = [sys.executable, "-m", "training.train", str(tiny), "--total-steps", "1e8", "--checkpoints.every", "1e8"]
    with subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=ENVIRONMENT) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        assert b"training in" in process.stdout.readline()
        process.stdout.close()
        said = without_notice(process.stderr.read().decode())
        assert said == (f"error: Broken pipe; go on later with: sleuth train --resume {tmp_path / 'run'}\n")
        assert process.wait() == 1
    assert max(int(path.stem) for path in (tmp_path / "run" / "checkpoints").glob("*.pt")) > 0


def test_training_needs_no_stdout(tiny: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "training.train", str(tiny)],
        preexec_fn=lambda: os.close(1),
        stderr=subprocess.PIPE,
        text=True,
        env=ENVIRONMENT,
        check=False,
    )
    assert (done.returncode, without_notice(done.stderr)) == (0, "")


def test_all_pasted_lines_are_read() -> None:
    words = ["-m", "sleuth_command", "play", "--seed", "5"]
    child = pexpect.spawn(sys.executable, words, env=ENVIRONMENT, encoding="utf-8", timeout=PATIENCE)
    child.expect("pass.>")
    child.send("\x1b[200~legal qqq\nlegal zzz\n\x1b[201~")
    child.expect("contains 'qqq'")
    child.expect("contains 'zzz'")
    child.send("quit\r")
    child.expect(pexpect.EOF)
    child.close()
    assert child.exitstatus == 0


# --- files ---


@pytest.mark.parametrize("line", ["y", "", "help"])
def test_an_input_that_decides_nothing_for_ever_is_refused(line: str) -> None:
    with subprocess.Popen(["yes", line], stdout=subprocess.PIPE) as endless:
        done = subprocess.run(
            [sys.executable, "-m", "sleuth_command", "play", "--seed", "1"],
            stdin=endless.stdout,
            capture_output=True,
            text=True,
            env=ENVIRONMENT,
            check=False,
        )
        endless.kill()
    assert (done.returncode, without_notice(done.stderr)) == (
        2,
        "sleuth: the input has 100 lines in a row that decide nothing\n",
    )
    assert len(done.stdout) < 1_000_000


def test_a_pipe_is_no_file_to_write_or_to_read(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    pipe = tmp_path / "pipe.safetensors"
    os.mkfifo(pipe)
    with pytest.raises(WriteError, match="cannot be written: it is not a regular file"):
        write_text(str(pipe), "text")
    with pytest.raises(ConfigError, match="it is not a regular file"):
        read_file(pipe)
    assert main([str(pipe)]) == 2
    assert "it is not a regular file" in the_line(capsys)


def test_a_huge_file_is_refused_by_its_size(tmp_path: Path) -> None:
    huge = tmp_path / "huge.safetensors"
    with huge.open("wb") as file:
        file.truncate(10 << 30)
    with pytest.raises(PolicyError, match="it is larger than any such file"):
        read_metadata(huge)
    with pytest.raises(ConfigError, match="it is larger than any such file"):
        read_file(huge)


def test_an_old_file_stays_where_there_is_no_room(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "old.txt"
    path.write_text("old")
    path.chmod(0o640)

    def full(_: int) -> None:
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(os, "fsync", full)
        with pytest.raises(WriteError, match="No space left on device"):
            write_text(str(path), "new")
    assert path.read_text() == "old"
    link = tmp_path / "link.txt"
    link.symlink_to(path)
    write_text(str(link), "new")
    assert (path.read_text(), path.stat().st_mode & 0o777, link.is_symlink()) == ("new", 0o640, True)


# --- run folders ---


def test_a_lock_that_is_a_link_leaves_its_target(
    tiny: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([str(tiny), "--total-steps=64"]) == 0
    precious = tmp_path / "precious"
    precious.write_text("mine")
    lock = tmp_path / "run" / "lock"
    lock.unlink(missing_ok=True)
    lock.symlink_to(precious)
    capsys.readouterr()
    assert main(["--resume", str(tmp_path / "run"), "--total-steps=128"]) == 2
    assert f"{lock} is not a regular file" in capsys.readouterr().err
    assert precious.read_text() == "mine"


def test_the_beginning_of_a_run_is_not_to_be_resumed(
    tiny: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "run").mkdir()
    (tmp_path / "run" / "lock").touch()
    assert main([str(tiny)]) == 2
    line = the_line(capsys)
    assert "--resume" not in line
    assert "or delete it" in line


def test_training_needs_no_fcntl(tiny: Path) -> None:
    code = "import sys; sys.modules['fcntl'] = None; from training.train import main; sys.exit(main(sys.argv[1:]))"
    done = subprocess.run(
        [sys.executable, "-c", code, str(tiny)], capture_output=True, text=True, env=ENVIRONMENT, check=False
    )
    assert done.returncode == 0, done.stderr
    assert "which this system does not have" in missing("fcntl")
    assert "pip install" in missing("yaml")
