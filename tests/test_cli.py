"""The command `sleuth`: its tables, its help, and what it says when something is wrong."""

from __future__ import annotations

import json
import re
from importlib import import_module
from pathlib import Path

import numpy as np
import pytest
from rich.cells import cell_len

import sleuth_env
from sleuth_env import sleuth
from sleuth_env.cli.commands import COMMANDS, main, parse
from sleuth_env.policies.mlp import Mlp
from sleuth_env.policies.policy import Policy, save_policy
from sleuth_env.policies.policy_file import pretrained_names
from sleuth_env.sleuth import Options
from tests.support.policies import random_policy
from tests.support.terminal import played_game, said, type_in
from training.config import ConfigError, make_config


@pytest.fixture
def game_file(tmp_path: Path) -> Path:
    """A file with a game."""
    path = tmp_path / "game.txt"
    path.write_text(played_game())
    return path


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
    words = [
        "match",
        "sheet",
        "random",
        "random",
        "--games",
        "6",
        "--seed",
        "7",
        "--options",
        "winners=2",
        "super_sleuth=true",
        "--json",
        str(path),
    ]
    assert main(words) == 0
    result = json.loads(path.read_text())
    assert result["version"] == sleuth_env.__version__
    assert (result["games_asked"], result["games"], result["deals"], result["rotations"], result["seed"]) == (
        6,
        6,
        2,
        3,
        7,
    )
    assert result["options"] == {**vars(Options(num_players=3, winners=2, super_sleuth=True))}
    assert result["seats"] == ["sheet", "random", "random"]
    numbers = {"wins", "seats", "win_share", "win_low", "win_high", "fair_share", "mean_reward", "counts"}
    assert [set(entry) for entry in result["entries"]] == [{"name", *numbers}] * 2
    assert [set(entry["counts"]) for entry in result["entries"]] == [{"wrong_accusations"}] * 2
    assert "options: winners=2 super_sleuth=True" in capsys.readouterr().out


@pytest.mark.parametrize(
    "words",
    [
        ["match", "p.safetensors", "random", "random", "--json", "p.safetensors"],
        ["match", "p.safetensors", "random", "random", "--json", "./link.json"],
        ["evaluate", "p.safetensors", "--against", "random", "--json", "p.safetensors"],
        ["evaluate", "random", "--against", "mine.py:First", "--json", "mine.py"],
        ["play", "--opponents", "mine.py:First", "--save", "mine.py"],
        ["match", "exec:python3 mine.py --fast", "random", "random", "--json", "mine.py"],
        ["replay", "game.txt", "--policy", "p.safetensors", "--html", "link.html"],
    ],
    ids=" ".join,
)
def test_a_file_from_which_somebody_plays_is_not_written(
    words: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    for name in ("p.safetensors", "mine.py"):
        Path(name).write_text("what it was")
    for link in ("link.json", "link.html"):
        Path(link).symlink_to("p.safetensors")
    states = sleuth.new_states(1)
    sleuth.deal(sleuth.make_rules(Options(num_players=3)), states, [1])
    Path("game.txt").write_text(sleuth.game_text(Options(num_players=3), states, []))
    # The file is not read before that.
    size = [] if words[0] in ("play", "replay") else ["--games", "6"]
    if words[:2] == ["evaluate", "p.safetensors"]:
        save_policy(random_policy(), "p.safetensors", {})
    before = Path("p.safetensors").read_bytes()
    assert main([*words, *size]) == 2
    assert "cannot be written: it is the file of the player" in capsys.readouterr().err
    assert (Path("p.safetensors").read_bytes(), Path("mine.py").read_text()) == (before, "what it was")


@pytest.mark.parametrize("there", [True, False])
def test_two_names_of_one_file_are_not_written_one_over_the_other(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], there: bool
) -> None:
    monkeypatch.chdir(tmp_path)
    if there:
        Path("kept.jsonl").write_text("what it was")
    Path("kept.json").symlink_to("kept.jsonl")
    words = ["tournament", "random", "sheet", "--games", "6", "--options", "num_players=3"]
    assert main([*words, "--keep", "kept.jsonl", "--json", "kept.json"]) == 2
    assert "must be different files" in capsys.readouterr().err
    assert Path("kept.jsonl").exists() == there


def test_json_to_stdout_is_nothing_but_json(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["match", "random", "random", "random", "--games", "2", "--json", "-"]) == 0
    assert json.loads(capsys.readouterr().out)["games"] == 2


def test_an_evaluation_has_one_row_for_each_baseline(capsys: pytest.CaptureFixture[str]) -> None:
    assert (
        main(["evaluate", "sheet", "--against", "random,cautious", "--games", "6", "--options", "num_players=3"]) == 0
    )
    rows = capsys.readouterr().out.splitlines()
    assert [line.split()[0] for line in rows if line.startswith(("random", "cautious"))] == ["random", "cautious"]


def test_an_evaluation_as_json_has_a_match_for_each_baseline(tmp_path: Path) -> None:
    path = tmp_path / "result.json"
    assert main(["evaluate", "cautious", "--against", "random,sheet", "--games", "4", "--json", str(path)]) == 0
    result = json.loads(path.read_text())
    assert result["player"] == "cautious"
    assert [match["seats"][1] for match in result["matches"]] == ["random", "sheet"]
    assert {match["entries"][0]["name"] for match in result["matches"]} == {"cautious"}


# --- policy files ---


@pytest.fixture
def policy_file(tmp_path: Path) -> Path:
    """A policy for three players and two places that finds all actions equally good."""
    options = Options(num_players=3, winners=2)
    size = sleuth.observation_size(options, "raw")
    actions = sleuth.num_actions(options)
    layer = (np.zeros((actions, size), np.float32), np.zeros(actions, np.float32))
    path = tmp_path / "a_policy_file_with_a_rather_long_name.safetensors"
    save_policy(Policy(sleuth, options, "raw", Mlp([layer])), path, {})
    return path


def test_a_policy_file_can_have_a_seat_in_a_match(policy_file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["match", str(policy_file), "sheet", "random", "--games", "6", "--options", "winners=2"]) == 0
    assert "\n…_a_rather_long_name.safetensors  " in said(capsys)[0]


def test_a_table_is_aligned_whatever_a_policy_file_is_called(
    policy_file: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(policy_file.parent)
    names = ["a\nb\x1b.safetensors", "探偵.safetensors", "e\u0301.safetensors"]
    for name in names:
        Path(name).write_bytes(policy_file.read_bytes())
    assert main(["match", *names, "--games", "1", "--options", "winners=2"]) == 0
    table = [line for line in said(capsys)[0].splitlines() if line.startswith("player  ") or ".safetensors" in line]
    assert [line.split("  ")[0] for line in table] == ["player", "a b\\x1b.safetensors", *names[1:]]
    assert len({cell_len(line) for line in table}) == 1


def test_a_policy_file_brings_its_options_to_an_evaluation(
    policy_file: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "result.json"
    words = ["evaluate", str(policy_file), "--games", "3", "--json", str(path), "--options", "max_turns=50"]
    assert main(words) == 0
    result = json.loads(path.read_text())
    assert [match["options"] for match in result["matches"]] == [
        vars(Options(num_players=3, winners=2, max_turns=50))
    ] * 3
    assert f"{policy_file} in one seat against each baseline" in said(capsys)[0]
    assert main([*words, "--greedy"]) == 0
    assert json.loads(path.read_text())["greedy"] is True


def test_a_policy_file_can_be_an_opponent(
    policy_file: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    type_in(monkeypatch, "")
    assert main(["play", "--opponents", f"{policy_file},sheet", "--options", "winners=2"]) == 0
    assert "player_1 (+1) is a_policy_file_with_a_rather_long_name" in said(capsys)[0]


def test_a_policy_file_for_other_options_is_refused(policy_file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["match", str(policy_file), "sheet", "random"]) == 2
    output, errors = said(capsys)
    assert output == ""
    assert "was trained for winners=2 (this game has 1)" in errors
    assert errors.count("\n") == 1


def test_a_policy_file_of_another_game_is_refused(policy_file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["evaluate", str(policy_file), "--game", "tests.support.follow"]) == 2
    output, errors = said(capsys)
    assert output == ""
    refusal = "is a policy for the game 'sleuth', not for 'follow': name its game (--game sleuth)"
    assert errors == f"sleuth: {policy_file} {refusal}\n"


# --- mistakes ---

NAMES = ", ".join([*sleuth.BOTS, *pretrained_names(sleuth.NAME)])
UNKNOWN = (
    f"there is no bot 'watson': a player is one of the bots {NAMES}, or a policy file, whose name ends in .safetensors"
)
MISTAKES = [
    (["plays"], "invalid choice: 'plays'"),
    (["match"], "the following arguments are required: SEAT"),
    (
        ["match", "sheet", "sheet"],
        "a match of 2 seats cannot be played: num_players must be an integer from 3 to 7, got 2",
    ),
    (
        ["match", *["random"] * 8],
        "a match of 8 seats cannot be played: num_players must be an integer from 3 to 7, got 8",
    ),
    *(
        (words, UNKNOWN)
        for words in (
            ["match", "sheet", "watson", "random"],
            ["evaluate", "watson"],
            ["evaluate", "sheet", "--against", "random,watson"],
        )
    ),
    (["play", "--opponents", "sheet,watson"], UNKNOWN),
    (["match", "sheet", "nowhere.safetensors", "random"], "nowhere.safetensors cannot be read: No such file"),
    (
        ["match", *["random"] * 3, "--games", "0"],
        "argument --games: must be a whole number from 1 to 10000000, got '0'",
    ),
    (
        ["match", *["random"] * 3, "--games", "many"],
        "argument --games: must be a whole number from 1 to 10000000, got 'many'",
    ),
    (["match", *["random"] * 3, "--seed", "-1"], "argument --seed: must be a whole number from 0"),
    (["match", *["random"] * 3, "--seed", "1e3"], "got '1e3'"),
    (["match", *["random"] * 3, "--seed", "9" * 5000], "argument --seed: must be a whole number from 0"),
    (["match", *["random"] * 3, "--gam", "3"], "unrecognized arguments: --gam 3"),
    (
        ["match", *["random"] * 3, "--game", "3"],
        "argument --game: game must be one of sleuth, holmes, or the full name of a game module, got '3'",
    ),
    (["play", "--game", "numpy"], "argument --game: 'numpy' is not a game: the module lacks BOTS, CHEAPEST_RECORD"),
    (
        ["match", *["random"] * 3, "--options", "winers=2"],
        "unknown option 'winers', did you mean winners?; the options of sleuth are num_players, missing, winners",
    ),
    (
        ["match", *["random"] * 3, "--options", "winners"],
        "an option is NAME=VALUE, such as max_turns=100, got 'winners'",
    ),
    (["match", *["random"] * 3, "--options", "winners=3"], "winners must be an integer from 1 to 2, got 3"),
    (["match", *["random"] * 3, "--options", "winners=two"], "winners must be an integer from 1 to 2, got 'two'"),
    (["match", *["random"] * 3, "--options", "super_sleuth=1"], "super_sleuth must be one of False, True, got '1'"),
    (["match", *["random"] * 3, "--options", "missing=2", "missing=3"], "option missing is given twice"),
    (
        ["match", *["random"] * 3, "--options", "num_players=4"],
        "num_players=4 does not fit: the game has num_players=3",
    ),
    (
        ["match", *["random"] * 3, "--json", "/nowhere/result.json"],
        "/nowhere/result.json cannot be written: its folder does not exist",
    ),
    (["match", *["random"] * 3, "--json", "/"], "/ cannot be written: it is a folder"),
    (["evaluate", "nowhere.safetensors"], "nowhere.safetensors cannot be read: No such file"),
    (
        ["evaluate", "sheet", "--against", "random,"],
        "--against must be names separated by commas (a name with a comma in double quotes), got 'random,'",
    ),
    (["replay", "nowhere.txt"], "nowhere.txt cannot be read: No such file or directory"),
    (["replay", "/"], "/ cannot be read: Is a directory"),
    (
        ["replay", "GAME", "--viewpoint", "player_3"],
        "--viewpoint must be one of player_0, player_1, player_2, none, or the number of a seat, 0 to 2, "
        "got 'player_3'",
    ),
    (["replay", "GAME", "--steps", "five"], "argument --steps: must be a number or FROM:TO"),
    (["replay", "GAME", "--steps", "90000:"], "--steps begins with 90000, and the game has the steps 1 to "),
    (["replay", "-", "--pause"], "--pause needs a file"),
    (["play", "--players", "2"], "num_players must be an integer from 3 to 7, got 2"),
    (["play", "--players", "two"], "num_players must be an integer from 3 to 7, got 'two'"),
    (
        ["play", "--players", "4", "--opponents", "sheet,sheet"],
        "a game of 4 players needs 3 opponents, or one name for all of them, got 2",
    ),
    (["play", "--seat", "3"], "--seat must be an integer from 0 to 2, got 3"),
    (["play", "--seat", "x"], "--seat must be an integer from 0 to 2, got 'x'"),
    (
        ["match", *["random"] * 3, "--options", "mising=2"],
        "unknown option 'mising', did you mean missing?; the options",
    ),
    (["play", "--options", "colour=2"], "unknown option 'colour'; the options of sleuth are num_players, missing"),
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


def test_a_learner_and_a_configuration_name_policy_files_as_players_too() -> None:
    with pytest.raises(ValueError, match=re.escape(UNKNOWN)):
        sleuth_env.SoloEnv(num_players=3, opponents="watson")
    for mapping in ({"opponents": {"bots": {"watson": 1.0}}}, {"evaluation": {"against": ["watson"]}}):
        with pytest.raises(
            ConfigError,
            match=rf"must be one of {NAMES}, a file that ends in \.safetensors, or a player of yours, .*got 'watson'",
        ):
            make_config(mapping)


def test_a_result_that_cannot_be_written_is_shown(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["match", *["random"] * 3, "--games", "1", "--json", "/dev/full"]) == 1
    output, errors = said(capsys)
    assert "win share" in output
    assert errors == "sleuth: /dev/full cannot be written: No space left on device\n"


def test_a_game_that_cannot_be_saved_is_said_at_its_end(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    type_in(monkeypatch, "quit\n")
    assert main(["play", "--seed", "1", "--save", "/dev/full"]) == 1
    output, errors = said(capsys)
    assert output.endswith("You have left the game.\n")
    assert errors == "sleuth: /dev/full cannot be written: No space left on device\n"


@pytest.mark.parametrize("content", [b"", b"sleuth game 1\n", b"\xff\xfe\x00", b"sleuth game 2\n", b"nonsense\n" * 10])
def test_a_file_that_is_no_game_text_is_refused(
    content: bytes, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "game.txt"
    path.write_bytes(content)
    assert main(["replay", str(path)]) == 2
    errors = said(capsys)[1]
    assert errors.startswith("sleuth: ")
    assert errors.count("\n") == 1


def test_a_damaged_policy_file_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "policy.safetensors"
    path.write_bytes(b"no policy")
    for words in (
        ["match", "sheet", "sheet", str(path)],
        ["evaluate", str(path)],
        ["play", "--opponents", f"sheet,{path}"],
    ):
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


@pytest.mark.parametrize("command", ["", "match", "evaluate", "replay", "play"])
def test_help_fits_the_width_of_the_terminal(
    command: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    with pytest.raises(SystemExit):
        main([*command.split(), "--help"])
    assert [
        line for line in capsys.readouterr().out.splitlines() if len(line) > 80 and not line.startswith("  sleuth ")
    ] == []


def test_the_examples_of_the_help_can_be_parsed() -> None:
    examples = [line.split() for command in ("match", "evaluate", "replay", "play") for line in examples_of(command)]
    assert len(examples) >= 8
    for words in examples:
        assert words[0] == "sleuth"
        parse(words[1:])


def examples_of(command: str) -> list[str]:
    parser = import_module(f"sleuth_env.cli.{command}").make_parser([])
    return [line.strip() for line in parser.epilog.splitlines() if line.strip().startswith("sleuth ")]


def test_help_is_about_the_chosen_game(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["match", "--help", "--game", "tests.support.follow"])
    text = " ".join(capsys.readouterr().out.split())
    assert "each a bot (random, low), a policy file" in text
    assert "missing" not in text


def test_every_command_is_listed_with_what_it_does(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["--help"])
    text = capsys.readouterr().out
    assert all(re.search(f"{name} +{re.escape(summary)}", text) for name, summary in COMMANDS.items())


def test_the_version_is_the_packages(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as end:
        main(["--version"])
    assert end.value.code == 0
    assert capsys.readouterr().out == f"sleuth-env {sleuth_env.__version__}\n"
