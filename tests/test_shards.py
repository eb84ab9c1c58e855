"""Work in shards: the same results by any number of processes, also when some are killed."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from sleuth_env import sleuth
from sleuth_env.cli.commands import main
from sleuth_env.matches.match import evaluate, play_match
from sleuth_env.matches.seating import MatchError
from sleuth_env.matches.shards import Pool, open_pool
from sleuth_env.matches.tasks import StoppedError, WorkerError
from sleuth_env.sleuth import Options
from tests.support.tasks import (
    Counting,
    Lethal,
    kill_always,
    kill_once,
    later,
    process_of,
    refused,
    threads_of,
)
from tests.support.terminal import said, without_notice
from tests.test_match import Named

ROOT = Path(__file__).parents[1]
ENVIRONMENT = {**os.environ, "PYTHONPATH": str(ROOT)}
PATIENCE = 150  # seconds: a process may have to compile the kernels first
THREE = Options(num_players=3)
DEALS = 130  # more than a shard of three rotations

# Nobody has guarded it, and it is run from stdin.
SCRIPT = """
import sys
from sleuth_env import Options, make_bot, play_match, sleuth

options = Options(num_players=3)

class Mine:
    name = "mine"

    def act(self, views, legal, seeds):
        return make_bot("sheet", options).act(views, legal, seeds)

results = [
    play_match(sleuth, options, [Mine(), "random", "random"], 100, workers=workers) for workers in (1, 2)
]
print(results[0] == results[1])
"""
PLAYER = """
import numpy as np

def last(observations, legal, seeds):
    return legal.shape[1] - 1 - np.argmax(legal[:, ::-1], axis=1)

last.record = "sheet"
"""


@pytest.fixture(scope="module")
def pool() -> Iterator[Pool]:
    with open_pool(2) as found:
        yield found


# --- pools ---


@pytest.mark.parametrize("workers", [1, 2])
def test_results_come_in_the_order_of_the_tasks_and_are_told_one_by_one(workers: int) -> None:
    told: list[tuple[int, Any]] = []
    with open_pool(workers) as pool:
        found = pool.map(later, [0.3, 0.0, 0.1, 0.0], lambda *result: told.append(result))
    assert found == [0.3, 0.0, 0.1, 0.0]
    assert sorted(told) == list(enumerate(found))


def test_one_worker_is_this_process_and_several_are_others(pool: Pool) -> None:
    with open_pool() as here:
        assert here.map(process_of, [1, 2]) == [(1, os.getpid()), (2, os.getpid())]
    assert os.getpid() not in dict(pool.map(process_of, range(4))).values()


def test_workers_stay_the_same_and_are_given_each_function(pool: Pool) -> None:
    first = dict(pool.map(process_of, range(8)))
    assert pool.map(partial(max, 3), [1, 5]) == [3, 5]
    assert set(first.values()) == set(dict(pool.map(process_of, range(8))).values())


def test_a_worker_has_one_thread(pool: Pool) -> None:
    assert pool.map(threads_of, [0]) == ["1"]


def test_the_environment_of_this_process_stays(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OMP_NUM_THREADS", "3")
    monkeypatch.delenv("MKL_NUM_THREADS", raising=False)
    with open_pool(2) as pool:
        pool.map(process_of, [0])
    assert os.environ["OMP_NUM_THREADS"] == "3"
    assert "MKL_NUM_THREADS" not in os.environ


def test_the_task_of_a_killed_worker_is_done_again(pool: Pool, tmp_path: Path) -> None:
    marks = [str(tmp_path / name) for name in "abcd"]
    assert pool.map(kill_once, marks) == marks


def test_a_worker_that_is_killed_between_two_works_is_replaced(pool: Pool) -> None:
    for process in set(dict(pool.map(process_of, range(8))).values()):
        os.kill(process, signal.SIGKILL)
    assert list(dict(pool.map(process_of, range(4)))) == [0, 1, 2, 3]


def test_a_task_that_ends_every_worker_is_given_up(pool: Pool) -> None:
    with pytest.raises(WorkerError, match=r"3 times at the same task \(killed by SIGKILL\): perhaps memory is short"):
        pool.map(kill_always, [1])


def test_an_error_is_raised_here_and_the_pool_goes_on(pool: Pool) -> None:
    with pytest.raises(ValueError, match="nobody likes") as found:
        pool.map(refused, [7])
    assert str(found.value) == "nobody likes 7"
    assert pool.map(abs, [-1]) == [1]


def test_work_is_stopped_when_asked(pool: Pool) -> None:
    began = threading.Event()
    with pytest.raises(StoppedError):
        pool.map(later, [0.0, 600.0], lambda *_: began.set(), began.is_set)
    assert pool.map(abs, [-1]) == [1]


def test_what_cannot_be_sent_is_refused(pool: Pool) -> None:
    with pytest.raises(MatchError, match="cannot be sent to another process, use one worker"):
        pool.map(abs, [threading.Lock()])


@pytest.mark.parametrize("workers", [0, -1, 1.5, "two", 100_000])
def test_what_is_not_a_number_of_workers_is_refused(workers: Any) -> None:
    with pytest.raises(MatchError, match="workers must be an integer from 1 to 1024, got"):
        open_pool(workers)


def test_what_is_not_an_address_is_refused() -> None:
    with pytest.raises(MatchError, match="ray must be the address of a cluster, or 'local', or None, got 3"):
        open_pool(ray=3)  # type: ignore[arg-type]


def test_without_ray_one_line_names_the_extra(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setitem(sys.modules, "ray", None)
    assert main(["match", "sheet", "random", "random", "--ray", "local"]) == 2
    told = 'sleuth: a Ray cluster needs ray, which is not installed: pip install "sleuth-env[ray]"\n'
    assert said(capsys) == ("", told)


# --- matches ---


@pytest.mark.parametrize("seats", [["sheet", "random", "random"], ["pretrained:3p", "sheet", "cautious"]])
def test_a_match_is_the_same_by_any_number_of_workers(seats: list[str]) -> None:
    finished = []
    alone = play_match(sleuth, THREE, seats, 70, seed=3)
    assert play_match(sleuth, THREE, seats, 70, 3, finished.append, workers=2) == alone
    assert sum(finished) == alone.games
    assert len(finished) > 1


def test_a_match_is_the_same_when_a_worker_is_killed(tmp_path: Path) -> None:
    mark = tmp_path / "mark"
    killed = play_match(sleuth, THREE, [Lethal(mark), "random", "random"], DEALS, workers=2)
    assert mark.exists()
    assert play_match(sleuth, THREE, [Lethal(mark), "random", "random"], DEALS) == killed


def test_an_evaluation_is_the_same_by_any_number_of_workers() -> None:
    alone = evaluate(sleuth, THREE, "sheet", ["random", "sheet"], 70)
    assert evaluate(sleuth, THREE, "sheet", ["random", "sheet"], 70, workers=2) == alone


def test_players_who_remember_and_those_of_files_play_by_several_workers(tmp_path: Path) -> None:
    file = tmp_path / "mine.py"
    file.write_text(PLAYER)
    seats = [Counting(), f"{file}:last", "random"]
    assert play_match(sleuth, THREE, seats, 70) == play_match(sleuth, THREE, seats, 70, workers=2)


class Locked(Named):
    """It has what cannot be pickled."""

    def __init__(self) -> None:
        super().__init__("locked")
        self.lock = threading.Lock()


def test_a_player_that_cannot_be_pickled_is_refused_by_its_name() -> None:
    expected = r"^player 'locked' cannot be sent to another process, use one worker: TypeError: cannot pickle"
    with pytest.raises(MatchError, match=expected):
        play_match(sleuth, THREE, [Locked(), "random", "random"], 70, workers=2)


def test_a_script_that_was_not_written_for_it_plays_by_several_workers() -> None:
    done = subprocess.run(
        [sys.executable, "-"], input=SCRIPT, env=ENVIRONMENT, capture_output=True, text=True, check=False
    )
    assert (done.stdout, done.stderr, done.returncode) == ("True\n", "", 0)


# --- the command ---


def test_the_command_gives_the_same_result_by_several_workers(capsys: pytest.CaptureFixture[str]) -> None:
    results = []
    for words in ([], ["--workers", "2"]):
        assert main(["match", "sheet", "random", "random", "--games", "210", "--json", "-", *words]) == 0
        results.append(json.loads(capsys.readouterr().out))
    assert results[0] == results[1]


@pytest.mark.parametrize("words", [["match", "sheet", "random", "random"], ["evaluate", "sheet"]])
def test_a_wrong_number_of_workers_is_said_in_one_line(words: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main([*words, "--workers", "no"]) == 2
    assert said(capsys) == ("", "sleuth: workers must be an integer from 1 to 1024, got 'no'\n")


@pytest.mark.parametrize(
    ("hindrance", "why"),
    [("ulimit -n 12", "Too many open files"), ('rmdir "$PWD"', "No such file or directory")],
    ids=["files", "folder"],
)
def test_workers_that_cannot_be_started_are_said_in_one_line(hindrance: str, why: str, tmp_path: Path) -> None:
    folder = tmp_path / "folder"
    folder.mkdir()
    start = "import sys; from sleuth_env.cli.commands import main; sys.exit(main())"
    words = ["match", "sheet", "random", "random", "--games", "200", "--workers", "3"]
    done = subprocess.run(
        ["sh", "-c", f'{hindrance}; exec "$@"', "sh", sys.executable, "-c", start, *words],
        cwd=folder,
        env=ENVIRONMENT,
        capture_output=True,
        text=True,
        check=False,
    )
    expected = (1, "", f"sleuth: the workers cannot be started: {why}\n")
    assert (done.returncode, done.stdout, without_notice(done.stderr)) == expected


def is_left(group: int) -> bool:
    """Return whether a process group has any process."""
    try:
        os.killpg(group, 0)
    except ProcessLookupError:
        return False
    return True


def wait_for(what: str, holds: Any) -> None:
    deadline = time.monotonic() + PATIENCE
    while not holds():
        assert time.monotonic() < deadline, what
        time.sleep(0.05)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
def test_a_match_that_is_stopped_leaves_no_process(number: signal.Signals, tmp_path: Path) -> None:
    # The player says where it plays, and then takes its time.
    player = tmp_path / "slow.py"
    player.write_text(f"""
import os, time
from pathlib import Path

class Slow:
    name = "slow"

    def act(self, views, legal, seeds):
        (Path({str(tmp_path)!r}) / f"{{os.getpid()}}.pid").touch()
        time.sleep(600)
""")
    command = [sys.executable, "-m", "sleuth_env", "match", f"{player}:Slow", "random", "random", "--games", "1000"]
    with subprocess.Popen(
        [*command, "--workers", "2"], env=ENVIRONMENT, stderr=subprocess.PIPE, text=True, start_new_session=True
    ) as process:
        wait_for("two workers play", lambda: len(list(tmp_path.glob("*.pid"))) == 2)
        # Ctrl-C goes to all processes of the terminal.
        (os.killpg if number == signal.SIGINT else os.kill)(process.pid, number)
        errors = process.communicate(timeout=PATIENCE)[1]
    wait_for("no process is left", lambda: not is_left(process.pid))
    if number != signal.SIGKILL:
        assert errors == "sleuth: interrupted\n"
        assert process.returncode == 128 + number


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
def test_a_match_that_is_stopped_leaves_no_program_of_its_workers(number: signal.Signals, tmp_path: Path) -> None:
    program = tmp_path / "deaf.py"
    program.write_text(f"""
import os, sys, time
from pathlib import Path

print('{{"type": "hello", "protocol": 1}}', flush=True)
(Path({str(tmp_path)!r}) / f"{{os.getpid()}}.pid").touch()
# It does not notice that its stdin ends.
time.sleep(600)
""")
    player = f"exec:300s:{sys.executable} {program}"
    command = [sys.executable, "-m", "sleuth_env", "match", player, "random", "random", "--games", "1000"]
    with subprocess.Popen([*command, "--workers", "2"], env=ENVIRONMENT, stderr=subprocess.DEVNULL) as process:
        wait_for("two workers play", lambda: len(list(tmp_path.glob("*.pid"))) >= 2)
        process.send_signal(number)
        process.wait(PATIENCE)
    programs = [int(path.stem) for path in tmp_path.glob("*.pid")]
    wait_for("no program is left", lambda: not any(is_left(group) for group in programs))
