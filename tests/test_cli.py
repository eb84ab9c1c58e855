"""The command `sleuth`: its tables, replays, a game in the terminal, and what it says when something is wrong."""

from __future__ import annotations

import io
import json
import os
import random
import signal
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
import pexpect
import pytest

import sleuth_env
from sleuth_env import sleuth
from sleuth_env.cli import main, make_parser
from sleuth_env.play import COMMANDS, Session
from sleuth_env.sleuth import Options, make_bot
from sleuth_env.sleuth.names import action_names, gem_names

COMMAND = [sys.executable, "-m", "sleuth_env.cli"]
VARIANTS = [
    Options(num_players=3),
    Options(num_players=4, missing=2, double_interrogation=True),
    Options(num_players=5, winners=3, super_sleuth=True),
    Options(num_players=4, winners=2, announce_result=False, offer_order="clockwise"),
    Options(num_players=3, missing=3, accuse="own_turn", last_survivor_wins=True),
]


def type_in(monkeypatch: pytest.MonkeyPatch, text: str) -> None:
    monkeypatch.setattr(sys, "stdin", io.StringIO(text))


def said(capsys: pytest.CaptureFixture[str]) -> tuple[str, str]:
    """What was written to stdout and stderr, but for the notice that kernels are being compiled."""
    output, errors = capsys.readouterr()
    return output, "".join(line for line in errors.splitlines(True) if not line.startswith("sleuth-env: compiling"))


@pytest.fixture
def game_file(tmp_path: Path) -> Path:
    """A game of somebody who plays at random against two sheet bots."""
    path = tmp_path / "game.txt"
    session = Session(Options(num_players=3), [make_bot("sheet", Options(num_players=3))] * 2, 0, 11, scripted(11), lambda text: None)
    session.run()
    path.write_text(session.text)
    return path


def scripted(seed: int, accuse: float = 0.02) -> Callable[[str, Sequence[str]], str]:
    """Type random legal actions, rarely accusations."""
    chance = random.Random(seed)

    def read(prompt: str, words: Sequence[str]) -> str:
        names = [word for word in words if word not in COMMANDS]
        quiet = [name for name in names if not name.startswith(("accuse", "final"))]
        return chance.choice(quiet if quiet and chance.random() >= accuse else names)

    return read


# --- match and evaluate ---


def test_a_match_prints_an_aligned_row_for_each_entry(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["match", "sheet", "random", "random", "--games", "10", "--seed", "1"]) == 0
    output, errors = said(capsys)
    lines = output.splitlines()
    assert lines[0] == "3 players, seed 1, 12 games (rounded up from 10): 4 deals in 3 rotations of the seats"
    table = [line for line in lines if line.startswith(("player", "sheet", "random"))]
    assert len(table) == 3
    assert len({len(line) for line in table}) == 1
    assert errors == ""


def test_a_match_as_json_says_all_that_was_played(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "result.json"
    words = ["match", "sheet", "random", "random", "--games", "6", "--seed", "7", "--options", "winners=2", "super_sleuth=true", "--json", str(path)]
    assert main(words) == 0
    result = json.loads(path.read_text())
    assert result["version"] == sleuth_env.__version__
    assert (result["games_asked"], result["games"], result["deals"], result["rotations"], result["seed"]) == (6, 6, 2, 3, 7)
    assert result["options"] == {**vars(Options(num_players=3, winners=2, super_sleuth=True))}
    assert result["seats"] == ["sheet", "random", "random"]
    numbers = {"wins", "seats", "win_share", "win_low", "win_high", "fair_share", "mean_reward", "wrong_accusations"}
    assert [set(entry) for entry in result["entries"]] == [{"name", *numbers}] * 2
    assert "options: winners=2 super_sleuth=True" in capsys.readouterr().out


def test_json_to_stdout_is_nothing_but_json(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["match", "random", "random", "random", "--games", "2", "--json", "-"]) == 0
    assert json.loads(capsys.readouterr().out)["games"] == 2


def test_an_evaluation_has_one_row_for_each_baseline(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["evaluate", "sheet", "--against", "random,cautious", "--games", "6", "--options", "num_players=3"]) == 0
    rows = capsys.readouterr().out.splitlines()
    assert [line.split()[0] for line in rows if line.startswith(("random", "cautious"))] == ["random", "cautious"]


def test_an_evaluation_as_json_has_a_match_for_each_baseline(tmp_path: Path) -> None:
    path = tmp_path / "result.json"
    assert main(["evaluate", "cautious", "--against", "random,sheet", "--games", "4", "--json", str(path)]) == 0
    result = json.loads(path.read_text())
    assert result["player"] == "cautious"
    assert [match["seats"][1] for match in result["matches"]] == ["random", "sheet"]
    assert {match["entries"][0]["name"] for match in result["matches"]} == {"cautious"}


# --- mistakes ---

MISTAKES = [
    ([], "the following arguments are required: COMMAND"),
    (["plays"], "invalid choice: 'plays'"),
    (["match"], "the following arguments are required: SEAT"),
    (["match", "sheet", "sheet"], "a match needs 3 to 7 seats, got 2"),
    (["match", *["random"] * 8], "a match needs 3 to 7 seats, got 8"),
    (["match", "sheet", "watson", "random"], "'watson'"),
    (["match", "sheet", "nowhere.safetensors", "random"], "nowhere.safetensors cannot be read: No such file"),
    (["match", *["random"] * 3, "--games", "0"], "argument --games: must be a whole number from 1 to 1000000000, got '0'"),
    (["match", *["random"] * 3, "--games", "many"], "argument --games: must be a whole number from 1 to 1000000000, got 'many'"),
    (["match", *["random"] * 3, "--seed", "-1"], "argument --seed: must be a whole number from 0"),
    (["match", *["random"] * 3, "--seed", "1e3"], "got '1e3'"),
    (["match", *["random"] * 3, "--seed", "9" * 5000], "argument --seed: must be a whole number from 0"),
    (["match", *["random"] * 3, "--game", "3"], "unrecognized arguments: --game 3"),
    (["match", *["random"] * 3, "--options", "winers=2"], "unknown option 'winers'; the options of sleuth are num_players, missing, winners"),
    (["match", *["random"] * 3, "--options", "winners"], "an option is NAME=VALUE, such as winners=2, got 'winners'"),
    (["match", *["random"] * 3, "--options", "winners=3"], "winners must be an integer from 1 to 2, got 3"),
    (["match", *["random"] * 3, "--options", "winners=two"], "winners must be an integer from 1 to 2, got 'two'"),
    (["match", *["random"] * 3, "--options", "super_sleuth=1"], "super_sleuth must be one of False, True, got '1'"),
    (["match", *["random"] * 3, "--options", "missing=2", "missing=3"], "option missing is given twice"),
    (["match", *["random"] * 3, "--options", "num_players=4"], "num_players=4 does not fit: the game has num_players=3"),
    (["match", *["random"] * 3, "--json", "/nowhere/result.json"], "/nowhere/result.json cannot be written: its folder does not exist"),
    (["match", *["random"] * 3, "--json", "/"], "/ cannot be written: it is a folder"),
    (["evaluate", "nowhere.safetensors"], "nowhere.safetensors cannot be read: No such file"),
    (["evaluate", "sheet", "--against", "random,"], "--against must be names separated by commas, got 'random,'"),
    (["evaluate", "sheet", "--against", "lestrade"], "'lestrade'"),
    (["replay", "nowhere.txt"], "nowhere.txt cannot be read: No such file or directory"),
    (["replay", "/"], "/ cannot be read: Is a directory"),
    (["replay", "GAME", "--viewpoint", "player_3"], "--viewpoint must be one of player_0, player_1, player_2, none, got 'player_3'"),
    (["replay", "GAME", "--steps", "five"], "argument --steps: must be a number or FROM:TO"),
    (["replay", "GAME", "--steps", "90000:"], "--steps: the game has the steps 1 to "),
    (["replay", "-", "--pause"], "--pause needs a file"),
    (["play", "--players", "2"], "argument --players: must be a whole number from 3 to 7, got '2'"),
    (["play", "--players", "4", "--opponents", "sheet,sheet"], "a game of 4 players needs 3 opponents, or one name for all of them, got 2"),
    (["play", "--opponents", "sheet,moriarty"], "'moriarty'"),
    (["play", "--seat", "3"], "--seat must be a whole number from 0 to 2, got 3"),
    (["play", "--save", "/nowhere/game.txt"], "/nowhere/game.txt cannot be written"),
]


@pytest.mark.parametrize(("words", "message"), MISTAKES, ids=[" ".join(words)[:60] for words, _ in MISTAKES])
def test_a_mistake_is_answered_by_one_line_and_exit_code_2(
    words: list[str], message: str, game_file: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    type_in(monkeypatch, game_file.read_text())
    assert main([str(game_file) if word == "GAME" else word for word in words]) == 2
    output, errors = said(capsys)
    assert errors.startswith("sleuth: ")
    assert errors.count("\n") == 1
    assert message in errors
    assert output == ""


@pytest.mark.parametrize("content", [b"", b"sleuth game 1\n", b"\xff\xfe\x00", b"sleuth game 2\n", b"nonsense\n" * 10])
def test_a_file_that_is_no_game_text_is_refused(content: bytes, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "game.txt"
    path.write_bytes(content)
    assert main(["replay", str(path)]) == 2
    errors = said(capsys)[1]
    assert errors.startswith("sleuth: ")
    assert errors.count("\n") == 1


def test_a_damaged_policy_file_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "policy.safetensors"
    path.write_bytes(b"no policy")
    for words in (["match", "sheet", "sheet", str(path)], ["evaluate", str(path)], ["play", "--opponents", f"sheet,{path}"]):
        assert main(words) == 2
        assert "policy.safetensors" in said(capsys)[1]


@pytest.mark.parametrize("command", ["", "match", "evaluate", "replay", "play"])
def test_help_shows_examples_and_names_the_bots_there_are(command: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as end:
        main([*command.split(), "--help"])
    text = capsys.readouterr().out
    assert end.value.code == 0
    assert f"usage: sleuth {command}".strip() in text
    if command:
        assert f"examples:\n  sleuth {command}" in text
    if command in ("match", "evaluate", "play"):
        assert f"({', '.join(sleuth.BOTS)})" in " ".join(text.split())


def test_the_examples_of_the_help_can_be_parsed() -> None:
    examples = [line.split() for command in ("match", "evaluate", "replay", "play") for line in examples_of(command)]
    assert len(examples) >= 8
    for words in examples:
        assert words[0] == "sleuth"
        make_parser().parse_args(words[1:])


def examples_of(command: str) -> list[str]:
    parser = make_parser()._subparsers._group_actions[0].choices[command]  # type: ignore[union-attr, index]
    return [line.strip() for line in parser.epilog.splitlines()[1:]]


def test_the_version_is_the_packages(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as end:
        main(["--version"])
    assert end.value.code == 0
    assert capsys.readouterr().out == f"sleuth-env {sleuth_env.__version__}\n"


# --- replay ---


def test_a_replay_for_the_public_shows_every_event_and_no_secret(game_file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["replay", str(game_file)]) == 0
    output = capsys.readouterr().out
    assert output.count(" asked ") == game_file.read_text().count(": ask ")
    assert "accuse " not in output
    assert "pass" not in output
    assert "shown" not in output


def test_a_replay_from_a_viewpoint_adds_what_that_player_knows(game_file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["replay", str(game_file), "--viewpoint", "player_1"]) == 0
    output = capsys.readouterr().out
    assert "player_1's information sheet" in output
    assert "shown by player_1 to " in output
    assert "to player_1: " in output
    assert "shown by player_2 to player_0" not in output
    assert "shown by player_0 to player_2" not in output


def test_a_revealed_replay_shows_the_deal_and_every_action(game_file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    record = sleuth.parse_game(game_file.read_text())
    assert main(["replay", str(game_file), "--reveal"]) == 0
    output = capsys.readouterr().out
    assert f"missing: {gem_names(record.first_state['missing_gems'])[0]}\n" in output
    assert all(", ".join(gem_names(hand)) in output for hand in record.first_state["hands"][:3])
    assert output.count("step ") == len(record.actions)


def test_a_replay_can_be_cut_to_a_range_of_steps(game_file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["replay", str(game_file), "--reveal", "--steps", "3:5"]) == 0
    steps = [line.split(",")[0] for line in capsys.readouterr().out.splitlines() if line.startswith("step ")]
    assert steps == ["step 3", "step 4", "step 5"]


def test_a_replay_reads_stdin(game_file: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    assert main(["replay", str(game_file)]) == 0
    from_file = capsys.readouterr().out
    type_in(monkeypatch, game_file.read_text())
    assert main(["replay", "-"]) == 0
    assert capsys.readouterr().out == from_file


def test_a_pausing_replay_waits_for_enter(game_file: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    assert main(["replay", str(game_file)]) == 0
    whole = capsys.readouterr().out
    type_in(monkeypatch, "\n\n")
    assert main(["replay", str(game_file), "--pause"]) == 0
    assert capsys.readouterr().out == whole


# --- play ---


@pytest.mark.parametrize("options", VARIANTS, ids=str)
@pytest.mark.parametrize("seed", range(3))
def test_a_person_can_play_every_variant_to_its_end(options: Options, seed: int) -> None:
    shown: list[str] = []
    bots = [make_bot("cautious", options) for _ in range(options.num_players - 1)]
    session = Session(options, bots, seed, seed, scripted(seed), shown.append)
    session.run()
    assert session.table.finished[0]
    assert shown[-1] in ("You win!", "You have not won.", "You take place 2.", "You take place 3.")
    missing = ", ".join(gem_names(session.table.states[0]["missing_gems"]))
    assert shown[-2] == f"Missing: {missing}."
    record = sleuth.parse_game(session.text)
    assert record.last_state == session.table.states[0]


@pytest.mark.parametrize("options", VARIANTS, ids=str)
def test_a_person_is_shown_nothing_that_depends_on_what_is_hidden(options: Options) -> None:
    """Exchange the hidden gems of the other hands by ones that answer alike so far: not a byte that was shown may change."""
    bots = [make_bot("cautious", options) for _ in range(options.num_players - 1)]
    shown: list[list[str]] = [[], []]
    sessions = [Session(options, bots, 0, 3, scripted(5, accuse=0), texts.append) for texts in shown]
    swap_missing(sessions[1].table.states)
    for session in sessions:
        session._show_sheet()
        for _ in range(12):
            if session.table.waiting[0] or session.table.finished[0]:
                break
            # The bots would see their other hands, so both games follow the public line: an exchange changes no knowledge.
            session.table.step(0, sleuth.parse_action("exchange", options.num_players))
            session._tell_last()
        session._announce_decision()
        session._show_sheet()
    assert shown[0] == shown[1]


def swap_missing(states: np.ndarray) -> None:
    """Exchange one missing gem with one of the hand of seat 1."""
    missing, held = int(states["missing_gems"][0]), int(states["hands"][0, 1])
    out, back = missing & -missing, held & -held
    states["missing_gems"][0] = missing ^ out ^ back
    states["hands"][0, 1] = held ^ back ^ out


def test_a_typed_game_shows_hints_lists_and_the_sheet(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    saved = tmp_path / "mine.txt"
    type_in(monkeypatch, f"help\nsheet\n7\nlegal blue\n1\nacuse blue-opal-pair\nACCUSE  Blue-Opal\nask +1\nsave\nsave {saved}\nquit\n")
    assert main(["play", "--seed", "5", "--options", "first_player=seat_0"]) == 0
    output, errors = said(capsys)
    assert "Seed 5." in output
    assert "You are player_0; to your left, in the order of play: player_1 (+1) is sheet, player_2 (+2) is sheet." in output
    assert "ask +K QUESTION with CARD" in output
    assert output.count("player_0's information sheet") >= 2
    assert "Type legal first to see the numbered list." in output
    assert "  accuse blue-opal-pair\n" in output
    assert "'acuse blue-opal-pair' is no action; perhaps: accuse blue-opal-pair" in output
    assert "'accuse blue-opal' is no action; perhaps: accuse blue-opal-solitaire, accuse blue-opal-pair, accuse blue-opal-cluster." in output
    assert "save needs the name of a file" in output
    assert f"Saved to {saved}" in output
    assert "You have left the game." in output
    assert errors == ""
    assert sleuth.parse_game(saved.read_text()).options == Options(num_players=3, first_player="seat_0")


def test_an_action_can_be_chosen_by_its_number_once_it_was_listed(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    type_in(monkeypatch, "legal exchange\n99999\n")
    assert main(["play", "--seed", "5", "--options", "first_player=seat_0"]) == 0
    first = capsys.readouterr().out
    assert "There is no number 99999 in the list." in first
    number = next(line.split()[0] for line in first.splitlines() if line.endswith("  exchange"))
    type_in(monkeypatch, f"legal\n{number}\n")
    assert main(["play", "--seed", "5", "--options", "first_player=seat_0"]) == 0
    assert "you exchanged search cards" in capsys.readouterr().out


def test_a_question_that_one_card_alone_can_pay_needs_no_card(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    # Seed 5: seat 0 holds yellow, red-cluster, diamond-solitaire and free.
    type_in(monkeypatch, "ask +1 yellow\nask +1 blue\n")
    assert main(["play", "--seed", "5", "--options", "first_player=seat_0"]) == 0
    output = capsys.readouterr().out
    assert "'ask +1 yellow' can be paid with several cards: ask +1 yellow with yellow, ask +1 yellow with free.\n" in output
    assert "you asked player_1 (+1) blue with free" in output


def test_enter_alone_passes_an_offer(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    type_in(monkeypatch, "\n\nexchange\n\n")
    assert main(["play", "--seed", "5"]) == 0
    output = capsys.readouterr().out
    assert output.count("accuse or pass (Enter: pass)> ") >= 2
    assert "The input has ended; the game is not over." in output


def test_a_wrong_accusation_puts_the_person_out_and_the_others_play_on(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    # A gem of the person's own hand cannot be missing.
    type_in(monkeypatch, "accuse blue-opal-solitaire\n")
    assert main(["play", "--seed", "5", "--options", "first_player=seat_0"]) == 0
    output = capsys.readouterr().out
    assert "named by you: blue-opal-solitaire" in output
    assert "You are out; the others play on." in output
    assert "You have not won." in output


@pytest.mark.parametrize("typed", ["", "quit\n"])
def test_the_game_is_saved_however_it_ends(typed: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "game.txt"
    type_in(monkeypatch, typed)
    assert main(["play", "--players", "4", "--opponents", "sheet,random,cautious", "--seat", "3", "--seed", "2", "--save", str(path)]) == 0
    assert sleuth.parse_game(path.read_text()).options.num_players == 4


def test_completion_offers_commands_and_legal_actions_only() -> None:
    offered: list[Sequence[str]] = []

    def read(prompt: str, words: Sequence[str]) -> str:
        offered.append(words)
        raise EOFError

    session = Session(Options(num_players=3, first_player="seat_0"), [make_bot("sheet", Options(num_players=3))] * 2, 0, 5, read, lambda text: None)
    with pytest.raises(EOFError):
        session.run()
    names = action_names(3)
    assert list(offered[0]) == [*COMMANDS, *(names[a] for a in np.flatnonzero(session.table.legal(0)[0]))]


# --- the process ---


def test_on_a_terminal_the_line_is_edited_and_completed() -> None:
    environment = {**os.environ, "PROMPT_TOOLKIT_NO_CPR": "1", "TERM": "xterm"}
    words = ["-m", "sleuth_env.cli", "play", "--seed", "5", "--options", "first_player=seat_0"]
    child = pexpect.spawn(sys.executable, words, env=environment, encoding="utf-8", timeout=30, dimensions=(40, 130))
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
    child = pexpect.spawn(sys.executable, ["-m", "sleuth_env.cli", "play", "--seed", "5"], env=environment, encoding="utf-8", timeout=30)
    child.expect("pass.>")
    child.send("\x03")
    child.expect("sleuth: interrupted")
    child.expect(pexpect.EOF)
    child.close()
    assert child.exitstatus == 130


def test_ctrl_c_in_a_match_ends_with_one_line_and_130() -> None:
    environment = {**os.environ, "TERM": "xterm"}
    words = ["-m", "sleuth_env.cli", "match", "sheet", "sheet", "cautious", "--games", "1000000"]
    child = pexpect.spawn(sys.executable, words, env=environment, encoding="utf-8", timeout=30)
    # The progress bar of a terminal says that games are being played.
    child.expect("games")
    child.kill(signal.SIGINT)
    child.expect("sleuth: interrupted")
    child.expect(pexpect.EOF)
    child.close()
    assert child.exitstatus == 130
    assert "Traceback" not in child.before


def test_a_reader_that_goes_away_is_no_error(game_file: Path) -> None:
    words = [*COMMAND, "replay", str(game_file), "--viewpoint", "player_0"]
    with subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.readline()
        process.stdout.close()
        assert process.stderr.read() == b""
        assert process.wait() == 1


def test_a_terminal_without_unicode_is_no_error(game_file: Path) -> None:
    environment = {**os.environ, "PYTHONIOENCODING": "ascii"}
    words = [*COMMAND, "replay", str(game_file), "--viewpoint", "player_0", "--steps", "1"]
    done = subprocess.run(words, env=environment, capture_output=True, check=False)
    assert (done.returncode, done.stderr) == (0, b"")
    assert b"information sheet" in done.stdout
