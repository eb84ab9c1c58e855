"""A person plays I Say, Holmes! in the terminal, and the other commands serve the game."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from sleuth_env import holmes
from sleuth_env.cli.commands import main
from sleuth_env.cli.session import Session
from sleuth_env.holmes import Options, make_bot, parse_game
from tests.support.terminal import said, scripted, type_in

VARIANTS = [
    Options(num_players=3, cases=1),
    Options(num_players=4, cases=1, fast_play=True, must_arrest=True),
    Options(num_players=5, max_turns=12, reward="points"),
    Options(num_players=8, cases=1, after_alibi="left_of_alibi", reward="case"),
]


@pytest.mark.parametrize("options", VARIANTS, ids=lambda options: f"{options.num_players}p")
@pytest.mark.parametrize("seed", range(2))
def test_a_person_can_play_a_game_to_its_end(options: Options, seed: int) -> None:
    shown: list[str] = []
    bots = [make_bot("counter", options) for _ in range(options.num_players - 1)]
    session = Session(
        holmes,  # type: ignore[arg-type]
        options,
        bots,
        seed,
        seed,
        scripted(seed),
        shown.append,
        confirm=False,
    )
    session.run()
    assert session.table.finished[0]
    assert shown[-1].startswith(("You win!", "You take place ", "You share place "))
    assert any(line.startswith("Game over in turn ") for line in shown)
    assert parse_game(session.text).last_state == session.table.states[0]


def typed(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], text: str, *more: str) -> str:
    """Play with typed lines and return what is shown."""
    type_in(monkeypatch, text)
    words = ["play", "--game", "holmes", "--seed", "5", "--opponents", "random", "--options", "cases=1", *more]
    assert main(words) == 0
    return said(capsys)[0]


def test_a_newcomer_is_told_the_goal_and_helped(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    output = typed(monkeypatch, capsys, "help\nrules\nlegal\nodds\nwait\nplay nonsense\nescape\nquit\n")
    assert "Somewhere in the players' hands are Villains" in output
    assert "play TITLE on +K" in output
    assert "Interrupts answer: alibi" in output
    assert "\n   1  " in output
    assert "Chance of each Villain to be there, by an estimate" in output
    assert "'play nonsense' is not an action" in output
    assert "You may escape only with Villains in hand" in output
    assert "You have left the game." in output


def test_there_is_nothing_to_wait_for(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    output = typed(monkeypatch, capsys, "help\nwait\nquit\n")
    assert "decline every offer" not in output
    assert "'wait' is not an action" in output


def test_a_game_is_saved_and_gone_on_with(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    file = str(tmp_path / "game.txt")
    typed(monkeypatch, capsys, "legal\n1\nundo\nlegal\n1\n", "--save", file)
    text = Path(file).read_text()
    assert text.startswith("holmes game 1\n")
    assert "# decisions taken back: 1" in text
    type_in(monkeypatch, "quit\n")
    assert main(["play", "--continue", file]) == 0
    assert "Turn " in said(capsys)[0]
    assert main(["play", "--game", "sleuth", "--continue", file]) == 2
    assert said(capsys)[1] == f"sleuth: {file}: line 1: a game text starts with 'sleuth game 1': 'holmes game 1'\n"


@pytest.fixture(scope="module")
def game_file(tmp_path_factory: pytest.TempPathFactory) -> str:
    options = VARIANTS[0]
    bots = [make_bot("random", options) for _ in range(2)]
    session = Session(
        holmes,  # type: ignore[arg-type]
        options,
        bots,
        0,
        3,
        scripted(3),
        lambda text: None,
        confirm=False,
    )
    session.run()
    file = tmp_path_factory.mktemp("games") / "game.txt"
    file.write_text(session.text)
    return str(file)


@pytest.mark.parametrize(
    ("more", "words"),
    [
        ([], "step 1, case 1: turn of player_"),
        (["--viewpoint", "player_1"], "the hand of player_1"),
        (["--viewpoint", "1", "--odds", "--steps", "2:3"], "by an estimate"),
        (["--reveal"], "    draw pile: "),
        (["--review", "--viewpoint", "0"], "What player_0 decided"),
    ],
)
def test_a_game_text_tells_its_game(
    game_file: str, more: list[str], words: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["replay", game_file, *more]) == 0
    output = said(capsys)[0]
    assert words in output
    assert ("result: player_" in output) == ("--steps" not in more and "--review" not in more)


def matched(capsys: pytest.CaptureFixture[str], *words: str) -> Any:
    assert main([*words, "--game", "holmes", "--options", "cases=1", "--json", "-"]) == 0
    return json.loads(said(capsys)[0])


def test_bots_play_a_match(capsys: pytest.CaptureFixture[str]) -> None:
    found = matched(capsys, "match", "counter", "cautious", "random", "--games", "6")
    assert found["options"]["cases"] == 1
    assert [entry["name"] for entry in found["entries"]] == ["counter", "cautious", "random"]


def test_a_bot_is_evaluated(capsys: pytest.CaptureFixture[str]) -> None:
    assert matched(capsys, "evaluate", "counter", "--against", "random", "--games", "4")
