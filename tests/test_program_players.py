"""Programs as players: they keep the protocol, or a bot plays for them; nobody waits in vain, nothing stays."""

from __future__ import annotations

import json
import os
import pickle
import shlex
import shutil
import signal
import sys
import time
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from sleuth_env import SleuthVecEnv, SoloEnv, SoloVectorEnv, TextEnv, make_player, play_match
from sleuth_env.cli.commands import main
from sleuth_env.game import Game, load_game
from sleuth_env.matches.match import evaluate
from sleuth_env.matches.players import names_player, source_of
from sleuth_env.matches.program import ProgramPlayer, files_of, parse_program
from sleuth_env.matches.seating import MatchError
from sleuth_env.matches.table import Table
from tests.support import follow
from tests.support.terminal import type_in

ROOT = Path(__file__).parents[1]
ODD = ROOT / "tests" / "support" / "odd_player.py"
CAUTIOUS = ROOT / "examples" / "players" / "cautious.py"
ANY = ROOT / "examples" / "players" / "any.mjs"
GAMES = ("sleuth", "holmes")


def command(how: str, *more: Any, limit: str = "30s:") -> str:
    return f"exec:{limit}{shlex.join([sys.executable, '-S', str(ODD), how, *map(str, more)])}"


def example(path: Path, program: str = sys.executable) -> str:
    return f"exec:30s:{shlex.join([program, str(path)])}"


@pytest.fixture
def table() -> Iterator[Any]:
    """Return a function that makes a table of games of three in which a program sits in seat 0, learners elsewhere."""
    made: list[Table] = []

    def make(text: str, num_games: int = 1) -> Table:
        game = load_game("sleuth")
        options = game.Options(num_players=3, first_player="seat_0")
        found = Table(game, options, num_games, [make_player(text, options, game)], [0, -1, -1])
        found.deal(np.arange(num_games), np.arange(num_games))
        made.append(found)
        return found

    yield make
    for found in made:
        found.bots[0].close()


def failure_of(table: Table) -> Any:
    (failure,) = table.bots[0].failures()
    return failure


# --- what it is sent, and what it answers ---


def test_a_program_is_told_what_its_seat_knows_and_takes_one_of_its_legal_actions(table: Any, tmp_path: Path) -> None:
    notes = tmp_path / "notes"
    played = table(command("last", notes))
    legal = [played.game.action_name(action, played.options) for action in np.flatnonzero(played.legal(0)[0])]
    played.play_round()
    assert played.game.action_name(int(played.last_actions[0]), played.options) == legal[-1]
    hello, decide = map(json.loads, notes.read_text().splitlines())
    assert (hello["type"], hello["protocol"], hello["game"], hello["seat"]) == ("hello", 1, "sleuth", 0)
    assert hello["options"]["num_players"] == 3
    assert "missing" in hello["rules"]
    assert decide["legal"] == legal
    assert decide["text"].startswith("You (a) are player_0")
    assert decide["facts"]["players"]["you"] == "player_0"
    assert len(decide["facts"]["hand"]) == 11
    assert 0 <= decide["seed"] < 2**53


def test_answers_may_come_in_any_order(table: Any) -> None:
    played = table(command("reversed"), 12)
    last = [int(np.flatnonzero(row)[-1]) for row in played.legal(np.arange(12))]
    played.play_round()
    assert played.last_actions.tolist() == last
    assert played.bots[0].failures() == []


def test_a_refused_answer_may_be_mended(table: Any) -> None:
    played = table(command("mends"))
    played.play_round()
    assert played.decisions[0, 0] == 1
    assert played.bots[0].failures() == []


def test_a_program_hears_which_games_are_over(table: Any, tmp_path: Path) -> None:
    notes = tmp_path / "notes"
    played = table(command("last", notes), 2)
    played.play_round()
    played.leave([1])
    played.deal([0], [7])
    played.play_round()
    sent = [json.loads(line) for line in notes.read_text().splitlines()]
    assert [line["games"] for line in sent if line["type"] == "over"] == [[1], [0]]


def test_a_game_that_has_no_words_is_told_by_the_fields_of_its_view(tmp_path: Path) -> None:
    notes = tmp_path / "notes"
    options = follow.Options(num_players=3)
    game: Game = follow  # type: ignore[assignment]
    result = play_match(game, options, [command("last", notes), "low", "low"], 1)
    assert result.failures == ()
    decide = json.loads(notes.read_text().splitlines()[1])
    assert set(decide["facts"]) == set(follow.VIEW.names or ())
    assert decide["legal"][-1] == "pass"


# --- whole games, repeatable ---


@pytest.mark.parametrize("name", GAMES)
def test_the_example_in_python_plays_legally_to_the_end(name: str) -> None:
    game = load_game(name)
    options = game.Options(num_players=4, max_turns=40)
    result = play_match(game, options, [example(CAUTIOUS), "random", "random", "random"], 1)
    assert result.failures == ()
    assert result.games == 4


@pytest.mark.skipif(shutil.which("node") is None, reason="node is not installed")
@pytest.mark.parametrize("name", GAMES)
def test_the_example_in_javascript_plays_legally_to_the_end(name: str) -> None:
    game = load_game(name)
    options = game.Options(num_players=3, max_turns=40)
    result = play_match(game, options, [example(ANY, "node"), "random", "random"], 1)
    assert result.failures == ()


def test_the_example_imports_nothing_but_the_standard_library() -> None:
    words = [line for line in CAUTIOUS.read_text().splitlines() if line.startswith(("import ", "from "))]
    assert words == ["import json", "import random", "import sys"]


def test_a_match_with_a_program_is_the_same_again_and_in_any_batch() -> None:
    game = load_game("sleuth")
    options = game.Options(num_players=3, max_turns=12)
    seats = [example(CAUTIOUS), "sheet", "sheet"]
    assert play_match(game, options, seats, 2, 5) == play_match(game, options, seats, 2, 5, batch_size=1)


def test_each_seat_has_a_process_of_its_own(tmp_path: Path) -> None:
    notes = tmp_path / "notes"
    game = load_game("sleuth")
    play_match(game, game.Options(num_players=3, max_turns=2), [command("last", notes), "random", "random"], 1)
    hellos = [json.loads(line) for line in notes.read_text().splitlines() if '"hello"' in line]
    assert sorted(hello["seat"] for hello in hellos) == [0, 1, 2]


# --- failures ---


@pytest.mark.parametrize(
    ("how", "limit", "why"),
    [
        ("silent", "1s:", "it has not answered within 1 s"),
        ("deaf", "1s:", "it has not answered within 1 s"),
        ("rubbish", "30s:", "3 lines in a row are no answers"),
        ("illegal", "30s:", "3 lines in a row are no answers; the last one: action 'ask +9 nothing' is not legal"),
        ("stranger", "30s:", "id must be that of an open question, got 1000000000"),
        ("crash", "30s:", "it has ended with exit code 3; the end of its stderr: ZeroDivisionError"),
        ("flood", "30s:", "3 lines in a row are no answers"),
        ("long", "30s:", "a line of more than"),
        ("other", "30s:", "it keeps protocol 2, not 1"),
        ("unkind", "30s:", "its first line must be"),
    ],
)
def test_a_bot_plays_for_a_program_that_fails(table: Any, how: str, limit: str, why: str) -> None:
    played = table(command(how, limit=limit), 3)
    played.play_round()
    assert (played.decisions[:, 0] == 1).all()
    failure = failure_of(played)
    assert why in failure.reason
    assert failure.reason.isprintable()
    assert (failure.seat, failure.stand_in, failure.answered, failure.replaced) == (0, "random", 0, 3)


def test_what_was_answered_before_counts(table: Any) -> None:
    played = table(command("last"), 2)
    played.play_round()
    copy = played._copies._of[0][1][0]
    os.killpg(copy._talk.process._process.pid, signal.SIGKILL)
    played.step([0, 1], [int(row.nonzero()[0][-1]) for row in played.legal([0, 1])])
    while not (played.waiting | played.finished).all():
        played.play_round()
    played.deal([0], [3])
    played.play_round()
    failure = failure_of(played)
    assert failure.reason.startswith("it was ended by signal 9")
    assert failure.answered == 2
    assert failure.replaced >= 1


def test_much_on_stderr_is_no_failure(table: Any) -> None:
    played = table(command("noisy"), 2)
    played.play_round()
    assert played.bots[0].failures() == []


def is_running(pid: int) -> bool:
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except OSError:
        return False
    return state != "Z"


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="needs /proc")
def test_what_a_program_has_started_ends_with_it(table: Any, tmp_path: Path) -> None:
    child = tmp_path / "child"
    played = table(command("forks", tmp_path / "notes", child, limit="2s:"))
    played.play_round()
    assert "has not answered" in failure_of(played).reason
    pid = int(child.read_text())
    for _ in range(100):
        if not is_running(pid):
            break
        time.sleep(0.05)
    assert not is_running(pid)


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="needs /proc")
@pytest.mark.parametrize("how", ["last", "stays"])
def test_no_process_is_left_after_a_match(how: str, monkeypatch: pytest.MonkeyPatch) -> None:
    started: list[int] = []
    begin = ProgramPlayer._started

    def noted(player: Any, seat: int) -> Any:
        talk = begin(player, seat)
        started.append(talk.process._process.pid)
        return talk

    monkeypatch.setattr(ProgramPlayer, "_started", noted)
    game = load_game("sleuth")
    play_match(game, game.Options(num_players=3, max_turns=2), [command(how), "random", "random"], 1)
    assert started
    assert not any(is_running(pid) for pid in started)


def test_a_result_says_who_failed_and_so_do_its_json_and_its_report(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "result.json"
    words = ["match", command("crash"), "random", "random", "--games", "1", "--json", str(file)]
    assert main(words) == 0
    failures = json.loads(file.read_text())["failures"]
    assert {failure["seat"] for failure in failures} == {0, 1, 2}
    assert all("exit code 3" in failure["reason"] for failure in failures)
    assert "failed in seat 0 after 0 decisions: it has ended with exit code 3" in capsys.readouterr().out


def test_each_match_of_an_evaluation_has_its_own_failures() -> None:
    game = load_game("sleuth")
    results = evaluate(game, game.Options(num_players=3), command("crash"), ["random", "cautious"], 1)
    assert [len(result.failures) for result in results] == [3, 3]


# --- where a program may be named ---


def test_a_command_is_split_into_words_and_may_name_a_time() -> None:
    assert parse_program("exec:python3 'my player.py' --level 2") == (10.0, ["python3", "my player.py", "--level", "2"])
    assert parse_program("exec:2.5s:./player") == (2.5, ["./player"])


def test_the_files_of_a_command_are_its_words_but_for_what_is_on_the_path(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "folder").mkdir()
    for name in ("my player.py", "player", "python3"):
        (tmp_path / name).touch()
    assert files_of("exec:5s:python3 'my player.py' --level 2") == [Path("my player.py")]
    assert files_of(f"exec:./player folder {tmp_path}/player") == [Path("player"), tmp_path / "player"]
    assert files_of(f"exec:{sys.executable} -c {'x' * 5000}") == [Path(sys.executable)]
    assert files_of("exec:sheet") == []


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("exec:", "a program as a player is exec:COMMAND"),
        ("exec:5s:", "a program as a player is exec:COMMAND"),
        ("exec:python3 'x", "cannot be split into words"),
        ("exec:0s:python3 x", "the time must be from 0.01s to 86400s"),
        ("exec:there-is-no-such-program", "there is no program 'there-is-no-such-program'"),
    ],
)
def test_what_cannot_be_started_is_refused_at_once(text: str, why: str) -> None:
    game = load_game("sleuth")
    with pytest.raises(MatchError, match=why):
        make_player(text, game.Options(), game)


def test_a_command_that_ends_like_a_file_is_a_command() -> None:
    game = load_game("sleuth")
    text = f"exec:{sys.executable} policy.safetensors"
    assert names_player(text)
    assert source_of(text, game) is None
    assert isinstance(make_player(text, game.Options(), game), ProgramPlayer)


def test_nothing_is_started_before_the_first_decision(table: Any, tmp_path: Path) -> None:
    notes = tmp_path / "notes"
    played = table(command("last", notes))
    assert not notes.exists()
    again = pickle.loads(pickle.dumps(played.bots[0]))
    assert (again.name, again.options, again.game) == (played.bots[0].name, played.options, played.game)
    assert not notes.exists()


def test_a_program_is_an_opponent_of_a_learner_and_ends_with_the_environment(tmp_path: Path) -> None:
    env = SoloEnv(num_players=3, opponents=command("last"), learner_seat=0)
    env.reset(seed=1)
    _, _, _, truncated, _ = env.step(int(np.flatnonzero(env.action_masks())[0]))
    assert not truncated
    bots = env.table.bots
    env.close()
    assert bots[0].failures() == []
    assert all(talk.process.is_stopped for talk in bots[0]._family.talks)


def test_a_saved_game_never_starts_a_program(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    text = (ROOT / "tests" / "games" / "just_dealt.txt").read_text()
    file = tmp_path / "game.txt"
    players = int(next(line for line in text.splitlines() if "num_players" in line).split("=")[-1].split()[0])
    notes = tmp_path / "notes"
    name = shlex.quote(",".join([command("last", notes)] * (players - 1)))
    file.write_text(f"{text}# sleuth play --seat 0 --seed 1 --opponents {name}\n")
    assert main(["play", "--continue", str(file)]) == 2
    assert "name the opponents by --opponents" in capsys.readouterr().err
    assert not notes.exists()


# --- the conformance checker ---


def test_a_program_that_keeps_the_protocol_passes(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    file = tmp_path / "checks.json"
    words = [example(CAUTIOUS), "--games", "1", "--json", str(file), "--options", "num_players=3", "max_turns=5"]
    assert main(["check-player", *words]) == 0
    assert capsys.readouterr().out.rstrip().endswith("It keeps the protocol.")
    content = json.loads(file.read_text())
    assert content["passed"]
    assert {check["result"] for check in content["checks"]} == {"ok"}


@pytest.mark.parametrize(
    ("how", "why"),
    [
        ("unkind", "FAILED  it starts, and says hello: its first line must be"),
        ("illegal", "it has not answered within 2 s; its last line was refused: action 'ask +9 nothing' is not legal"),
        ("stays", "FAILED  it ends by itself when its stdin ends: it still ran 2 s later"),
    ],
)
def test_one_that_does_not_fails_and_is_told_why(how: str, why: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["check-player", command(how, limit="2s:"), "--games", "1"]) == 2
    out = capsys.readouterr().out
    assert why in out
    assert out.rstrip().endswith("It fails.")


# --- environments for one learner ---


@pytest.mark.parametrize("face", ["solo", "solo vector", "sb3"])
def test_an_environment_warns_once_of_a_program_that_fails(face: str) -> None:
    settings: dict[str, Any] = {
        "opponents": command("crash"),
        "num_players": 3,
        "learner_seat": 2,
        "first_player": "seat_0",
    }
    makers: dict[str, Any] = {
        "solo": lambda: SoloEnv(**settings),
        "solo vector": lambda: SoloVectorEnv(2, **settings),
        "sb3": lambda: SleuthVecEnv(2, **settings),
    }
    env = makers[face]()
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        for _ in range(6):
            env.reset()
    env.close()
    # Each seat has a process of its own.
    assert {warning.category for warning in told} == {RuntimeWarning}
    messages = [str(warning.message) for warning in told]
    seats = [message.split(" has failed in ")[1].split(":")[0] for message in messages]
    assert seats[0] == "seat 0"
    assert len(set(seats)) == len(seats)
    assert all(message.endswith("; random plays there from now on") for message in messages)


def test_a_person_is_told_at_once_of_a_program_that_fails(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    type_in(monkeypatch, "quit\n")
    words = ["play", "--seed", "2", "--seat", "1", "--options", "first_player=seat_0", "--players", "3"]
    assert main([*words, "--opponents", command("crash")]) == 0
    told = " ".join(capsys.readouterr().out.split())
    assert "; random plays there from now on." in told.partition("Your turn")[0]
    assert told.count("has failed as player_0: ") == 1
    assert told.endswith("You have left the game.")


def test_a_text_environment_warns_of_a_program_that_has_failed() -> None:
    env = TextEnv("sleuth", num_players=3, opponents="exec:false")

    def play() -> None:
        for seed in range(5):
            env.reset(seed=seed)
            env.step("exchange")

    with pytest.warns(RuntimeWarning, match="exec:false has failed in seat 1"):
        play()
    env.close()
