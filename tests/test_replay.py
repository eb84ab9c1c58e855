"""Replays of game texts: what the public, one player, and everybody afterwards may see."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from sleuth_env import sleuth
from sleuth_env.cli.commands import main
from sleuth_env.game import load_game
from sleuth_env.sleuth import belief_in_game
from sleuth_env.sleuth.notation import action_name, gem_names
from sleuth_env.sleuth.telling import num_steps
from tests.support.terminal import played_game, said, type_in


@pytest.fixture
def game_file(tmp_path: Path) -> Path:
    """A file with a game."""
    path = tmp_path / "game.txt"
    path.write_text(played_game())
    return path


def test_a_replay_for_the_public_shows_every_event_and_no_secret(
    game_file: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["replay", str(game_file)]) == 0
    output = capsys.readouterr().out
    text = game_file.read_text()
    assert output.count(" asked ") == text.count(": ask ") + text.count(": final ")
    assert "accuse " not in output
    assert "pass" not in output
    assert "shown" not in output


def test_a_replay_from_a_viewpoint_adds_what_that_player_knows(
    game_file: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["replay", str(game_file), "--viewpoint", "player_1"]) == 0
    output = capsys.readouterr().out
    assert "player_1's information sheet" in output
    assert "shown by player_1 to " in output
    assert "to player_1: " in output
    assert "shown by player_2 to player_0" not in output
    assert "shown by player_0 to player_2" not in output


def test_a_replay_with_odds_adds_what_that_player_may_believe_to_every_drawing(
    game_file: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["replay", str(game_file), "--viewpoint", "player_1"]) == 0
    usual = capsys.readouterr().out
    assert main(["replay", str(game_file), "--viewpoint", "player_1", "--odds"]) == 0
    output = capsys.readouterr().out
    drawings = usual.count("player_1's information sheet")
    assert (
        output.count("player_1's information sheet")
        == drawings
        == len(re.findall(r"^[\d,]+ deals? fits? what you know", output, re.M))
    )
    counts = [belief_in_game(game_file.read_text(), "player_1", step).count for step in (0, None)]
    assert [said for said in re.findall(r"^[\d,]+(?= deals? fit)", output, re.M)][:: drawings - 1] == [
        f"{count:,}" for count in counts
    ]
    assert set(usual.splitlines()) <= set(output.splitlines())


@pytest.mark.parametrize("flags", [["--odds"], ["--odds", "--reveal"], ["--odds", "--viewpoint", "none"]])
def test_odds_without_a_player_are_refused(
    flags: list[str], game_file: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["replay", str(game_file), *flags]) == 2
    assert said(capsys) == ("", "sleuth: --odds needs --viewpoint PLAYER: they are one player's\n")


def test_a_revealed_replay_shows_the_deal_and_every_action(game_file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    record = sleuth.parse_game(game_file.read_text())
    assert main(["replay", str(game_file), "--reveal"]) == 0
    output = capsys.readouterr().out
    assert f"missing: {gem_names(record.first_state['missing_gems'])[0]}\n" in output
    assert all(", ".join(gem_names(hand)) in output for hand in record.first_state["hands"][:3])
    # An announced action is a step; what nobody noticed follows it.
    told = re.findall(r"^(?:step \d+, turn \d+:|   ) (player_\d: [^|\n]*?)(?: \||$)", output, re.M)
    assert told == [
        f"player_{move.before['actor']}: {action_name(move.action, record.options)}" for move in record.moves()
    ]


def test_a_replay_can_be_cut_to_a_range_of_steps(game_file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["replay", str(game_file), "--reveal", "--steps", "3:5"]) == 0
    steps = [line.split(",")[0] for line in capsys.readouterr().out.splitlines() if line.startswith("step ")]
    assert steps == ["step 3", "step 4", "step 5"]


def test_a_replay_reads_stdin(
    game_file: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    assert main(["replay", str(game_file)]) == 0
    from_file = capsys.readouterr().out
    type_in(monkeypatch, game_file.read_text())
    assert main(["replay", "-"]) == 0
    assert capsys.readouterr().out == from_file


def test_a_pausing_replay_waits_for_enter(
    game_file: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    assert main(["replay", str(game_file)]) == 0
    whole = capsys.readouterr().out
    type_in(monkeypatch, "\n\n")
    assert main(["replay", str(game_file), "--pause"]) == 0
    assert capsys.readouterr().out == whole


# --- which game ---


def test_a_text_says_which_game_it_is_of(
    game_file: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    assert main(["replay", str(game_file)]) == 0
    told = capsys.readouterr().out
    assert main(["replay", str(game_file), "--game", "sleuth"]) == 0
    assert capsys.readouterr().out == told
    game_file.write_text("\n# a comment\n" + played_game())
    assert main(["replay", str(game_file)]) == 0
    assert capsys.readouterr().out == told


def test_a_text_of_an_unknown_game_is_refused_in_one_line(game_file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    game_file.write_text(played_game().replace("sleuth game 1", "os game 1"))
    assert main(["replay", str(game_file)]) == 2
    words = "is a text of the game 'os', which is not one of sleuth, holmes; --game names the module of another"
    assert said(capsys) == ("", f"sleuth: {game_file} {words}\n")


def test_a_game_that_is_not_told_in_words_is_named(game_file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["replay", str(game_file), "--game", "tests.support.follow"]) == 2
    assert said(capsys) == ("", "sleuth: the game 'follow' has no games told in words: it lacks telling\n")


# --- files and steps ---


@pytest.mark.parametrize(
    "change",
    [lambda text: "\ufeff" + text, lambda text: text.replace("\n", "\r\n"), lambda text: text.replace("\n", "\r")],
)
def test_marks_and_line_ends_of_other_systems_do_not_matter(
    change: Callable[[str], str], game_file: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["replay", str(game_file)]) == 0
    usual = capsys.readouterr().out
    game_file.write_bytes(change(played_game()).encode())
    assert main(["replay", str(game_file)]) == 0
    assert capsys.readouterr().out == usual


def test_what_is_no_file_of_text_is_refused_in_one_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "bytes").write_bytes(bytes(range(256)))
    special = "it is not a regular file; - reads stdin"
    text = " is not a game text: it is not UTF-8"
    wrong = {
        "pipe": f" cannot be read: {special}",
        "bytes": text,
        "": " cannot be read: Is a directory",
        "/dev/zero": f" cannot be read: {special}",
    }
    for name, message in wrong.items():
        assert main(["replay", str(tmp_path / name)]) == 2
        assert said(capsys) == ("", f"sleuth: {tmp_path / name}{message}\n")


@pytest.mark.parametrize("words", [["--reveal"], ["--viewpoint", "1"], ["--viewpoint", "1", "--review"]], ids=" ".join)
@pytest.mark.parametrize("game", ["sleuth", "holmes"])
def test_nothing_that_is_told_is_wider_than_the_terminal(
    game: str, words: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    seats = [load_game(game).DEFAULT_BOT] * 3
    assert main(["match", *seats, "--game", game, "--games", "1", "--save-games", str(tmp_path / "games")]) == 0
    capsys.readouterr()
    monkeypatch.setenv("COLUMNS", "80")
    assert main(["replay", str(tmp_path / "games" / "1.txt"), *words]) == 0
    assert max(map(len, capsys.readouterr().out.splitlines())) <= 80


def test_a_long_name_is_not_repeated_in_full(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["replay", "x" * 5000]) == 2
    assert said(capsys)[1] == f"sleuth: {'x' * 200}... cannot be read: File name too long\n"


def test_steps_beyond_the_end_are_refused_and_an_end_beyond_it_is_the_end(
    game_file: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    count = num_steps(sleuth.parse_game(played_game()))
    for steps in (str(count + 1), f"{count + 1}:", "999999999:"):
        assert main(["replay", str(game_file), "--reveal", "--steps", steps]) == 2
        first = steps.rstrip(":")
        assert said(capsys) == ("", f"sleuth: --steps begins with {first}, and the game has the steps 1 to {count}\n")
    assert main(["replay", str(game_file), "--reveal", "--steps", f"{count}:{count + 5}"]) == 0
    assert capsys.readouterr().out.count("\nstep ") == 1


def test_a_game_without_an_action_has_a_deal_and_no_steps(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "dealt.txt"
    type_in(monkeypatch, f"save {path}\n")
    assert main(["play", "--seed", "1", "--options", "first_player=seat_0"]) == 0
    capsys.readouterr()
    assert main(["replay", str(path), "--viewpoint", "player_0"]) == 0
    output = said(capsys)[0]
    assert output.startswith("player_0's information sheet")
    assert output.endswith("\nresult: unfinished\n")
    for steps in ("1", "1:", ":5"):
        assert main(["replay", str(path), "--steps", steps]) == 2
        assert said(capsys) == ("", "sleuth: --steps begins with 1, and the game has no steps\n")


@pytest.mark.parametrize(
    "words", [["--viewpoint", "none"], ["--viewpoint", "player_0"], ["--viewpoint", "1"], ["--reveal"]], ids="_".join
)
def test_everybody_counts_steps_alike(words: list[str], game_file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["replay", str(game_file), *words]) == 0
    numbers = [int(number) for number in re.findall(r"^step (\d+),", capsys.readouterr().out, re.M)]
    count = num_steps(sleuth.parse_game(game_file.read_text()))
    # Gaps would tell how many others declined to accuse.
    assert numbers == list(range(1, count + 1))
    assert main(["replay", str(game_file), *words, "--steps", "9999"]) == 2
    assert f"the game has the steps 1 to {count}" in capsys.readouterr().err


def test_a_viewpoint_is_a_name_or_the_number_of_a_seat(game_file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    told = []
    for viewpoint in ("player_1", "1"):
        assert main(["replay", str(game_file), "--viewpoint", viewpoint, "--steps", ":5"]) == 0
        told.append(capsys.readouterr().out)
    assert told[0] == told[1]
    assert main(["replay", str(game_file), "--viewpoint", "3"]) == 2
    words = "player_0, player_1, player_2, none, or the number of a seat, 0 to 2, got '3'"
    assert said(capsys)[1] == f"sleuth: --viewpoint must be one of {words}\n"


def test_a_review_says_what_a_player_knew_and_what_was_best_to_ask(
    game_file: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["replay", str(game_file), "--review", "--viewpoint", "1"]) == 0
    lines = said(capsys)[0].splitlines()
    record = sleuth.parse_game(game_file.read_text())
    asked = [step for step in record.steps() if step.move is not None and step.move.before["actor"] == 1]
    assert [int(line[:4]) for line in lines[2:-2]] == [step.number for step in asked]
    assert all(len(line) < 80 for line in lines[1:-2])
    # Nothing tells more than the question that tells most.
    for line in lines[2:-2]:
        bits = re.findall(r" (\d\.\d\d)", line)
        assert len(bits) < 2 or float(bits[0]) <= float(bits[1])
    assert lines[-1].startswith("player_1 could ")


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--review"], "--review needs --viewpoint PLAYER: it is one player's"),
        (["--review", "--viewpoint", "0", "--odds"], "--review is a table of its own"),
    ],
)
def test_a_review_is_one_players_and_a_table_of_its_own(
    words: list[str], message: str, game_file: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["replay", str(game_file), *words]) == 2
    assert message in said(capsys)[1]


@pytest.mark.parametrize(
    ("columns", "terminal", "words"),
    [("70", True, "drawings are 79 columns wide, this terminal has 70"), ("79", True, ""), ("70", False, "")],
)
def test_a_terminal_too_narrow_for_the_drawings_is_told_so(
    columns: str,
    terminal: bool,
    words: str,
    game_file: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("COLUMNS", columns)
    monkeypatch.setattr(sys.stdout, "isatty", lambda: terminal, raising=False)
    assert main(["replay", str(game_file), "--viewpoint", "player_1", "--steps", "1"]) == 0
    errors = said(capsys)[1]
    assert words in errors
    assert bool(words) == bool(errors)
