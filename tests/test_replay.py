"""Replays of game texts: what the public, one player, and everybody afterwards may see."""

from __future__ import annotations

from pathlib import Path

import pytest

from sleuth_env import sleuth
from sleuth_env.cli import main
from sleuth_env.sleuth.names import gem_names
from tests.terminal import played_game, type_in


@pytest.fixture
def game_file(tmp_path: Path) -> Path:
    """A file with a game."""
    path = tmp_path / "game.txt"
    path.write_text(played_game())
    return path


def test_a_replay_for_the_public_shows_every_event_and_no_secret(game_file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["replay", str(game_file)]) == 0
    output = capsys.readouterr().out
    text = game_file.read_text()
    assert output.count(" asked ") == text.count(": ask ") + text.count(": final ")
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
