"""Policies that come with the package: ``pretrained:sleuth-4p`` wherever a player is named."""

from __future__ import annotations

import json
import tomllib
from pathlib import Path
from typing import Any

import pytest

import sleuth_env
from sleuth_env import holmes, sleuth
from sleuth_env.cli.commands import main
from sleuth_env.matches.match import evaluate, play_match
from sleuth_env.matches.players import make_player
from sleuth_env.policies import policy_file
from sleuth_env.policies.policy import load_policy, save_policy
from sleuth_env.policies.policy_file import PolicyError, pretrained_names, read_metadata
from sleuth_env.sleuth import Options
from tests.support.policies import VERSIONS, random_policy
from tests.support.terminal import said, type_in
from training.config import ConfigError, make_config
from training.config_file import read_yaml
from training.inputs import Inputs
from training.opponents import Pool

ROOT = Path(__file__).parents[1]
FOUR = Options(num_players=4)


@pytest.fixture
def shipped(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder in the place of the package's, with policies for three and four players."""
    folder = tmp_path / "pretrained"
    folder.mkdir()
    for options in (Options(num_players=3), FOUR):
        save_policy(random_policy(options, steps=77), folder / f"sleuth-{options.num_players}p.safetensors", VERSIONS)
    monkeypatch.setattr(policy_file, "PRETRAINED_FOLDER", folder)
    return folder


@pytest.mark.usefixtures("shipped")
def test_it_is_loaded_by_its_name() -> None:
    policy = load_policy("pretrained:4p")
    assert (policy.name, policy.options, policy.steps) == ("pretrained:4p", FOUR, 77)
    assert make_player("pretrained:4p", FOUR).name == "pretrained:4p"
    assert read_metadata("pretrained:3p")["num_players"] == 3


@pytest.mark.parametrize("name", pretrained_names())
def test_those_of_the_package_have_checksums(name: str) -> None:
    from safetensors import safe_open

    with safe_open(policy_file.located(name), "np") as opened:
        assert len(opened.metadata()[policy_file.CHECKSUM]) == 64


@pytest.mark.usefixtures("shipped")
def test_an_evaluation_takes_players_and_options_from_it(tmp_path: Path) -> None:
    path = tmp_path / "result.json"
    assert (
        main(["evaluate", "pretrained:4p", "--against", "random,pretrained:4p", "--games", "4", "--json", str(path)])
        == 0
    )
    result = json.loads(path.read_text())
    assert [match["seats"][:2] for match in result["matches"]] == [
        ["pretrained:4p", "random"],
        ["pretrained:4p", "pretrained:4p #2"],
    ]
    assert [match["options"] for match in result["matches"]] == [vars(FOUR)] * 2


@pytest.mark.usefixtures("shipped")
def test_it_has_a_seat_in_a_match_and_at_the_terminal(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["match", "pretrained:3p", "sheet", "random", "--games", "3"]) == 0
    assert "\npretrained:3p  " in said(capsys)[0]
    type_in(monkeypatch, "")
    assert main(["play", "--players", "4", "--opponents", "pretrained:4p"]) == 0
    assert "player_3 (+3) is pretrained:4p" in said(capsys)[0]


@pytest.mark.usefixtures("shipped")
def test_it_is_an_opponent_of_learners(tmp_path: Path) -> None:
    env = sleuth_env.SoloEnv(num_players=3, opponents=["pretrained:3p", "random"])
    env.reset(seed=1)
    assert env.table.bots[0].name == "pretrained:3p"
    config = make_config(
        read_yaml("{opponents: {bots: {pretrained:4p: 2.0}}, evaluation: {against: [pretrained:4p]}}", "text")
    )
    assert list(Pool(config, tmp_path / "run", Inputs(config, tmp_path / "run")).bots) == ["pretrained:4p"]


@pytest.mark.usefixtures("shipped")
def test_it_plays_as_the_same_file_does_by_its_path(shipped: Path) -> None:
    by_name, by_path = (
        play_match(sleuth, FOUR, [name, "sheet", "sheet", "random"], 3, 1)
        for name in ("pretrained:sleuth-4p", str(shipped / "sleuth-4p.safetensors"))
    )
    assert by_name.entries[0].wins == by_path.entries[0].wins
    assert by_name.counts == by_path.counts


def test_those_of_the_second_game_play_it_with_any_reward_and_no_other_game() -> None:
    assert pretrained_names("holmes") == ["pretrained:holmes-3p", "pretrained:holmes-4p"]
    for named in ({}, {"cases": 1, "reward": "rank"}, {"cases": 2, "max_turns": 50}):
        options = holmes.Options(num_players=3, **named)
        player = make_player("pretrained:3p", options, holmes)
        result = play_match(holmes, options, [player, "counter", "random"], 1, 1)
        assert result.games == 3
    with pytest.raises(PolicyError, match="holmes-3p is a policy for the game 'holmes', not for 'sleuth'"):
        make_player("pretrained:holmes-3p", Options(num_players=3))
    with pytest.raises(PolicyError, match="num_players=4"):
        make_player("pretrained:holmes-4p", holmes.Options(num_players=3), holmes)


@pytest.mark.parametrize("num_players", [3, 4])
def test_those_of_the_second_game_win_more_than_their_share_among_counter(num_players: int) -> None:
    options = holmes.Options(num_players=num_players, cases=1, reward="case")
    policy = load_policy(f"pretrained:holmes-{num_players}p")
    (result,) = evaluate(holmes, options, policy, [make_player("counter", options, holmes)], 300, 1)
    assert result.entries[0].win_low > 1 / num_players


WRONG = ["pretrained:9p", "pretrained:", "pretrained:4p.safetensors", "pretrained:../pretrained/4p", "pretrained:\n"]


@pytest.mark.usefixtures("shipped")
@pytest.mark.parametrize("name", WRONG)
def test_a_name_that_is_not_there_is_answered_by_what_is(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    for words in (["evaluate", name], ["match", name, "sheet", "sheet"], ["play", "--opponents", name]):
        assert main(words) == 2
        errors = said(capsys)[1]
        assert errors.count("\n") == 1
        assert "; this version includes pretrained:sleuth-3p, pretrained:sleuth-4p" in errors


def test_where_none_is_shipped_that_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(policy_file, "PRETRAINED_FOLDER", tmp_path / "nothing")
    with pytest.raises(PolicyError, match="this version includes none"):
        load_policy("pretrained:4p")
    with pytest.raises(
        PolicyError, match="one of the bots random, cautious, sheet, hunch, entropy, racer, searcher, or a policy file"
    ):
        make_player("watson", FOUR)


@pytest.mark.usefixtures("shipped")
@pytest.mark.parametrize("player", ["pretrained:4p", "watson"])
def test_one_for_other_options_or_an_unknown_bot_is_refused(player: str) -> None:
    with pytest.raises(
        PolicyError,
        match=r"num_players=4|bots random, .*, pretrained:sleuth-3p, pretrained:sleuth-4p, or a policy file",
    ):
        make_player(player, Options(num_players=3))


@pytest.mark.usefixtures("shipped")
@pytest.mark.parametrize("command", ["match", "evaluate", "play"])
def test_the_help_names_those_there_are(command: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main([command, "--help"])
    assert "(pretrained:sleuth-3p, pretrained:sleuth-4p)" in " ".join(capsys.readouterr().out.split())


def test_a_wheel_holds_the_package_s_folder() -> None:
    settings: dict[str, Any] = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["setuptools"]
    patterns = settings["package-data"]["sleuth_env"]
    file = policy_file.PRETRAINED_FOLDER.relative_to(ROOT / "sleuth_env") / "4p.safetensors"
    assert any(file.match(pattern) for pattern in patterns)


@pytest.mark.parametrize("name", pretrained_names())
def test_what_is_shipped_can_be_loaded_and_is_small(name: str) -> None:
    policy = load_policy(name)
    assert f"{policy_file.PRETRAINED}{policy.game.NAME}-{policy.options.num_players}p" == name
    assert Path(policy_file.located(name)).stat().st_size <= 5 << 20


@pytest.mark.usefixtures("shipped")
def test_a_run_can_start_from_it() -> None:
    assert make_config(read_yaml("{algorithm: ppo, start: pretrained:4p}", "text")).start == "pretrained:4p"
    with pytest.raises(ConfigError, match="start: must be a policy file"):
        make_config({"algorithm": "ppo", "start": "sheet"})
