"""The command `sleuth` as a process: terminals, Ctrl-C, unusual streams, games of a folder."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pexpect
import pytest

from tests.support.terminal import played_game, without_notice

# Seconds; a process may have to compile the kernels first.
PATIENCE = 150
COMMAND = [sys.executable, "-m", "sleuth_command"]
MATCH = ["match", *["random"] * 3, "--games", "1"]


@pytest.fixture
def game_file(tmp_path: Path) -> Path:
    """A file with a game."""
    path = tmp_path / "game.txt"
    path.write_text(played_game())
    return path


# --- a terminal ---


def test_on_a_terminal_the_line_is_edited_and_completed() -> None:
    environment = {**os.environ, "PROMPT_TOOLKIT_NO_CPR": "1", "TERM": "xterm"}
    words = ["-m", "sleuth_command", "play", "--seed", "5", "--options", "first_player=seat_0"]
    child = pexpect.spawn(
        sys.executable, words, env=environment, encoding="utf-8", timeout=PATIENCE, dimensions=(40, 130)
    )
    child.expect("your turn>")
    child.send("exch")
    child.expect("exchange")
    child.send("\t")
    child.expect("exchange")
    child.send("\r")
    child.expect("you exchanged search cards")
    child.expect("pass")
    child.send("\x04")
    child.expect("The input has ended; the game is not over.")
    child.expect(pexpect.EOF)
    child.close()
    assert child.exitstatus == 0


def test_ctrl_c_at_the_prompt_ends_with_one_line_and_130() -> None:
    environment = {**os.environ, "PROMPT_TOOLKIT_NO_CPR": "1", "TERM": "xterm"}
    child = pexpect.spawn(
        sys.executable,
        ["-m", "sleuth_command", "play", "--seed", "5"],
        env=environment,
        encoding="utf-8",
        timeout=PATIENCE,
    )
    child.expect("pass.>")
    child.send("\x03")
    child.expect("sleuth: interrupted")
    child.expect(pexpect.EOF)
    child.close()
    assert child.exitstatus == 130


def test_ctrl_c_in_a_match_ends_with_one_line_and_130() -> None:
    environment = {**os.environ, "TERM": "xterm"}
    words = ["-m", "sleuth_command", "match", "sheet", "sheet", "cautious", "--games", "1000000"]
    child = pexpect.spawn(sys.executable, words, env=environment, encoding="utf-8", timeout=PATIENCE)
    # The progress bar of a terminal says that games are being played.
    child.expect("games")
    child.kill(signal.SIGINT)
    child.expect("sleuth: interrupted")
    child.expect(pexpect.EOF)
    child.close()
    assert child.exitstatus == 130
    assert "Traceback" not in child.before


# --- Ctrl-C while modules are imported ---

# It comes when a module begins to be imported.
INTERRUPTED = """
import os, signal, sys
from sleuth_command import main

class Interrupter:
    def find_spec(self, name, path=None, target=None):
        if name == wanted:
            sys.meta_path.remove(self)
            os.kill(os.getpid(), signal.SIGINT)

wanted = sys.argv.pop(1)
sys.meta_path.insert(0, Interrupter())
sys.exit(main())
"""


@pytest.mark.parametrize(
    "module",
    [
        "sleuth_env",
        "gymnasium",
        "numpy",
        "numpy.random",
        "sleuth_env.cli.commands",
        "sleuth_env.matches.match",
        "numba",
    ],
)
def test_ctrl_c_is_answered_from_the_start(module: str) -> None:
    done = subprocess.run(
        [sys.executable, "-c", INTERRUPTED, module, *MATCH], capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stdout, done.stderr) == (130, "", "sleuth: interrupted\n")


SWALLOWED = """
import os, signal, sys, types
from sleuth_command import main

class Swallower:
    def find_spec(self, name, path=None, target=None):
        if name == "gymnasium":
            try:
                os.kill(os.getpid(), signal.SIGINT)
            except BaseException:
                pass

sys.meta_path.insert(0, Swallower())
sys.exit(main())
"""


def test_ctrl_c_is_answered_though_a_library_swallows_it() -> None:
    done = subprocess.run([sys.executable, "-c", SWALLOWED, *MATCH], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (130, "", "sleuth: interrupted\n")


DROPPING = """
import ctypes, os, signal, time

@ctypes.CFUNCTYPE(None)
def from_outside():
    os.kill(os.getpid(), signal.SIGTERM)
    time.sleep(0)

class Player:
    name = "dropping"

    def act(self, views, legal, seeds):
        from_outside()
        time.sleep(60)
"""


def test_a_signal_that_comes_in_a_callback_of_a_library_stops_the_command(tmp_path: Path) -> None:
    (tmp_path / "dropping.py").write_text(DROPPING)
    words = [sys.executable, "-m", "sleuth_env", "match", "dropping:Player", "sheet", "sheet", "--games", "3"]
    done = subprocess.run(words, capture_output=True, text=True, check=False, cwd=tmp_path, timeout=50)
    assert (done.returncode, done.stderr) == (128 + signal.SIGTERM, "sleuth: interrupted\n")


ENDING = """
import signal, sys
import sleuth_command

try:
    exec("raise KeyboardInterrupt")
except KeyboardInterrupt:
    pass
print("all of it is written", end="")
getattr({"end": sleuth_command, "exit": sys}[sys.argv[1]], sys.argv[1])(int(sys.argv[2]))
"""


@pytest.mark.parametrize("code", [129, 130, 143])
def test_the_exit_code_is_that_of_the_signal_whatever_was_interrupted(code: int, tmp_path: Path) -> None:
    """Python alone ends as if killed by Ctrl-C."""
    (tmp_path / "ending.py").write_text(ENDING)
    for function, expected in (("end", code), ("exit", -signal.SIGINT)):
        words = [sys.executable, "-m", "ending", function, str(code)]
        done = subprocess.run(words, capture_output=True, text=True, check=False, cwd=tmp_path)
        assert (done.returncode, done.stdout, done.stderr) == (expected, "all of it is written", "")


def test_the_script_is_the_one_that_answers_ctrl_c() -> None:
    text = (Path(__file__).parents[1] / "pyproject.toml").read_text()
    assert 'sleuth = "sleuth_command:script"\n' in text
    assert 'py-modules = ["sleuth_command"]\n' in text


# --- streams ---


def test_a_reader_that_goes_away_is_no_error(game_file: Path) -> None:
    words = [*COMMAND, "replay", str(game_file), "--viewpoint", "player_0"]
    with subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.readline()
        process.stdout.close()
        assert without_notice(process.stderr.read()) == ""
        assert process.wait() == 1


@pytest.mark.parametrize("words", [MATCH, ["--help"]], ids=["match", "help"])
def test_a_full_disk_is_said_in_one_line(words: list[str]) -> None:
    with open("/dev/full", "w") as full:
        done = subprocess.run([*COMMAND, *words], stdout=full, stderr=subprocess.PIPE, text=True, check=False)
    assert (done.returncode, without_notice(done.stderr)) == (
        1,
        "sleuth: the output cannot be written: No space left on device\n",
    )


def test_a_closed_stdin_is_an_ended_input() -> None:
    done = subprocess.run(
        [*COMMAND, "play", "--seed", "1"], preexec_fn=lambda: os.close(0), capture_output=True, text=True, check=False
    )
    assert (done.returncode, without_notice(done.stderr)) == (0, "")
    assert "The input has ended" in done.stdout


def test_a_closed_stdout_is_said_in_one_line() -> None:
    done = subprocess.run(
        [*COMMAND, *MATCH], preexec_fn=lambda: os.close(1), stderr=subprocess.PIPE, text=True, check=False
    )
    assert (done.returncode, without_notice(done.stderr)) == (
        1,
        "sleuth: the output cannot be written: stdout is closed\n",
    )


def test_an_endless_line_is_refused_before_it_fills_the_memory() -> None:
    with open("/dev/zero") as endless:
        done = subprocess.run(
            [*COMMAND, "play", "--seed", "1"], stdin=endless, capture_output=True, text=True, check=False
        )
    assert (done.returncode, without_notice(done.stderr)) == (
        2,
        "sleuth: the input has a line of 100000 characters or more\n",
    )


@pytest.mark.parametrize(
    "plain",
    [{"PYTHONIOENCODING": "ascii"}, {"LC_ALL": "C", "PYTHONCOERCECLOCALE": "0", "PYTHONUTF8": "0"}],
    ids=["ascii", "C"],
)
def test_a_drawing_is_readable_without_unicode(plain: dict[str, str], game_file: Path) -> None:
    words = [*COMMAND, "replay", str(game_file), "--viewpoint", "player_0", "--steps", "1"]
    usual, done = (
        subprocess.run(words, env={**os.environ, **more}, capture_output=True, check=False)
        for more in ({"PYTHONIOENCODING": "utf-8"}, plain)
    )
    assert (done.returncode, without_notice(done.stderr.decode())) == (0, "")
    signs = {"·": ".", "─": "-", "═": "=", "│": "|"}
    drawing = usual.stdout.decode()
    assert all(sign in drawing for sign in signs)
    assert done.stdout.decode("ascii") == drawing.translate(str.maketrans(signs))


# --- games of the current folder ---


def sleuth_in(folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    """Run the command as its script does, which does not search the current folder for modules."""
    script = str(Path(__file__).parents[1] / "sleuth_command.py")
    return subprocess.run(
        [sys.executable, script, *words], cwd=folder, env=environment(), capture_output=True, text=True, check=False
    )


@pytest.mark.parametrize(
    "words", [["match", "random", "low", "low", "--games", "3"], ["play", "--help"]], ids=["match", "play"]
)
def test_a_game_is_found_in_the_current_folder(words: list[str], tmp_path: Path) -> None:
    shutil.copy(Path(__file__).parent / "support" / "follow.py", tmp_path / "pile.py")
    done = sleuth_in(tmp_path, *words, "--game", "pile")
    assert (done.returncode, without_notice(done.stderr)) == (0, "")
    assert "low" in done.stdout


def test_the_current_folder_hides_no_module(tmp_path: Path) -> None:
    """It is searched last, and only for a game that is not one of the package's."""
    shutil.copy(Path(__file__).parent / "support" / "follow.py", tmp_path / "pile.py")
    for name in ("numba", "pettingzoo", "sleuth"):
        (tmp_path / f"{name}.py").write_text("raise RuntimeError('this is not it')\n")
    assert sleuth_in(tmp_path, "match", *["random"] * 3, "--games", "3", "--game", "pile").returncode == 0
    assert sleuth_in(tmp_path, *MATCH, "--game", "sleuth").returncode == 0


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("raise RuntimeError('no cards today')\n", "no cards today"),
        ("def deal(:\n", "invalid syntax"),
        ("import nowhere_to_be_found\n", "nowhere_to_be_found"),
        ("HAND = unheard_of\n", "name 'unheard_of' is not defined"),
    ],
    ids=["raises", "syntax", "import", "name"],
)
def test_a_game_module_that_fails_is_said_in_one_line(text: str, said: str, tmp_path: Path) -> None:
    (tmp_path / "broken_pile.py").write_text(text)
    done = sleuth_in(tmp_path, "match", *["random"] * 3, "--game", "broken_pile")
    (line,) = without_notice(done.stderr).splitlines()
    assert (done.returncode, done.stdout) == (2, "")
    assert line.startswith("sleuth: ")
    assert "broken_pile" in line
    assert said in line


# --- names of files ---


def test_foreign_bytes_are_part_of_the_name_of_a_file(tmp_path: Path) -> None:
    typed = b"save \xff\xfe.txt\nsave \xff\xfe.txt\nquit\n"
    done = subprocess.run(
        [*COMMAND, "play", "--seed", "1"],
        input=typed,
        cwd=tmp_path,
        env=environment(),
        capture_output=True,
        check=False,
    )
    assert (done.returncode, without_notice(done.stderr.decode())) == (0, "")
    assert os.listdir(bytes(tmp_path)) == [b"\xff\xfe.txt"]
    assert b"\\udcff\\udcfe.txt exists and was left as it is" in done.stdout


def environment() -> dict[str, str]:
    """Let a process in another folder find what is tested here."""
    return {**os.environ, "PYTHONPATH": str(Path(__file__).parents[1])}
