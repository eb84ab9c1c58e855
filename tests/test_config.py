"""The schema of a training run: what is legal, and one clear line for everything that is not."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

from sleuth_env import sleuth
from sleuth_env.game import load_game
from sleuth_env.sleuth import Options
from tests.support import follow
from tests.support.another import another_game
from training.config import ConfigError, keys, make_config, read_config, read_resumed
from training.config_file import overridden, read_file, read_yaml

FILES = sorted((Path(__file__).parents[1] / "configs").glob("*.yaml"))


def mistakes(mapping: dict[str, Any]) -> list[str]:
    with pytest.raises(ConfigError) as error:
        make_config(mapping, "file.yaml")
    return str(error.value).splitlines()


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_every_shipped_configuration_loads(path: Path):
    assert read_config(path).run == f"runs/{path.stem}"


def test_there_are_the_promised_configurations():
    assert {path.stem for path in FILES} >= {"smoke", "three_players", "four_players"}


@pytest.mark.parametrize(
    ("mapping", "words"),
    [
        ({"ppo": {"learning_rat": 1}}, ["ppo.learning_rat", "unknown key", "did you mean learning_rate"]),
        ({"sed": 1}, ["sed", "unknown key", "did you mean seed"]),
        ({"ppo": {"learning_rate": "fast"}}, ["ppo.learning_rate", "number", "'fast'"]),
        ({"ppo": {"learning_rate": "3e-4"}}, ["ppo.learning_rate", "number", "'3e-4'"]),
        ({"ppo": {"learning_rate": 0}}, ["ppo.learning_rate", "above 0", "got 0"]),
        ({"ppo": {"gamma": 1.5}}, ["ppo.gamma", "at most 1", "got 1.5"]),
        ({"ppo": {"gamma": float("nan")}}, ["ppo.gamma", "finite", "nan"]),
        ({"ppo": 3}, ["ppo", "mapping", "got 3"]),
        ({"threads": True}, ["threads", "whole number", "got True"]),
        ({"total_steps": 1.5}, ["total_steps", "whole number", "got 1.5"]),
        ({"seed": -1}, ["seed", "at least 0", "got -1"]),
        ({"device": "tpu"}, ["device", "'cpu'", "'cuda'", "'auto'", "'tpu'"]),
        ({"record": None}, ["record", "'sheet'", "'raw'", "'exact'", "None"]),
        ({"network": {"hidden": []}}, ["network.hidden", "at least 1", "[]"]),
        ({"network": {"hidden": [64, 0]}}, ["network.hidden.1", "at least 1", "got 0"]),
        ({"network": {"initial_bias": {"acuse": -1}}}, ["network.initial_bias.acuse", "did you mean accuse"]),
        ({"options": {"num_players": 9}}, ["options.num_players", "from 3 to 7", "got 9"]),
        ({"options": {"players": 3}}, ["options.players", "unknown key", "num_players"]),
        ({"options": [3]}, ["options", "mapping", "[3]"]),
        ({"options": {"num_players": 5, "missing": 2}}, ["options.missing", "3 or 4 players"]),
        ({"opponents": {"bots": {"shet": 1}}}, ["opponents.bots.shet", "random, cautious, sheet", "'shet'"]),
        ({"opponents": {"bots": {"random": -1}}}, ["opponents.bots.random", "at least 0", "got -1"]),
        ({"opponents": {"bots": {}, "past_selves": 0}}, ["opponents", "add up to at least 0.001"]),
        ({"evaluation": {"against": ["nobody"]}}, ["evaluation.against.0", "random, cautious, sheet", "'nobody'"]),
        ({"num_envs": 3}, ["ppo.batch_size", "divide", "384", "1024"]),
        ({"total_steps": 1e300}, ["total_steps", "at most 1000000000000"]),
        ({"num_envs": 10**9}, ["num_envs", "at most 16384"]),
        (
            {"num_envs": 16384, "ppo": {"rollout_steps": 1024}},
            ["num_envs * ppo.rollout_steps", "at most 1048576", "got 16777216"],
        ),
        ({"ppo": {"epochs": 10**6}}, ["ppo.epochs", "at most 100"]),
        ({"network": {"hidden": [10**6]}}, ["network.hidden.0", "at most 4096"]),
        ({"evaluation": {"deals": 10**9}}, ["evaluation.deals", "at most 100000"]),
        ({"opponents": {"past_selves": 1e308}}, ["opponents.past_selves", "at most 1000000"]),
        ({"run": 5 * [400 * "x"]}, ["run", "must be a text", "xxx ..."]),
        ({3: 4}, ["3", "keys must be texts"]),
        ({"opponents": {"bots": {3: 1}}}, ["opponents.bots.3", "must be a text", "got 3"]),
        ({"network": {"units": 3}}, ["network.units", "a multiple of 2", "got 3"]),
        ({"network": {"kind": "tree"}}, ["network.kind", "'mlp', 'relational'", "'tree'"]),
        ({"game": "chess", "sed": 1}, ["game", "there is no game 'chess'", "sleuth"]),
        ({"game": ["sleuth"]}, ["game", "must be a text", "['sleuth']"]),
    ],
)
def test_a_mistake_is_one_line_with_the_key_the_value_and_what_is_legal(mapping: dict[str, Any], words: list[str]):
    (line,) = mistakes(mapping)
    assert line.startswith("file.yaml: ")
    for word in words:
        assert word in line


def test_every_mistake_has_a_line():
    lines = mistakes({"ppo": {"epochs": 0, "gamma": 2}, "sed": 1, "options": {"winners": 5}})
    assert [line.split(":")[1].strip() for line in lines] == ["options.winners", "ppo.epochs", "ppo.gamma", "sed"]


def test_a_configuration_never_changes():
    config = make_config({})
    with pytest.raises(ValueError, match="frozen"):
        config.seed = 2  # type: ignore[misc]


def test_the_resolved_configuration_is_the_same_configuration():
    config = make_config(
        {
            "options": {"num_players": 3, "missing": 2},
            "ppo": {"final_learning_rate": 1e-5},
            "network": {"card_network": [8]},
        }
    )
    again = make_config(read_yaml(yaml.safe_dump(config.model_dump(mode="json")), "text"))
    assert again == config
    assert again.options == Options(num_players=3, missing=2)


@pytest.mark.parametrize("text", ["3e-4", "3E-4", "3.0e-4", ".3e-3", "+3e-4", "0.0003"])
def test_numbers_with_an_exponent_are_numbers(text: str):
    assert make_config({"ppo": read_yaml(f"learning_rate: {text}", "text")}).ppo.learning_rate == pytest.approx(3e-4)


def test_a_round_number_with_an_exponent_is_a_whole_number():
    assert make_config(read_yaml("total_steps: 2e6", "text")).total_steps == 2_000_000


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("seed: [1\nrecord: raw", ["x.yaml, line 2", "not YAML"]),
        ("seed: 1\nseed: 2", ["x.yaml", "'seed' is there twice"]),
        ("seed: !!python/object/apply:os.getcwd []", ["x.yaml, line 1", "not YAML", "os.getcwd"]),
        ("", ["x.yaml", "mapping"]),
        ("- 1", ["x.yaml", "mapping"]),
        ("? [a, b]\n: 1", ["x.yaml", "not YAML"]),
        ("[" * 3000, ["x.yaml"]),
        ("seed: 1\nrun: !!timestamp foo", ["x.yaml, line 2", "'foo' cannot be read as timestamp"]),
        ("seed: !!int foo", ["x.yaml, line 1", "'foo' cannot be read as int"]),
        ("seed: 2001-13-45", ["x.yaml, line 1", "'2001-13-45' cannot be read as timestamp"]),
        ("seed: " + "9" * 5000, ["x.yaml, line 1", "cannot be read as int"]),
        ("seed: 0x" + "f" * 5000, ["x.yaml, line 1", "more than 64 bits"]),
        ("total_steps: 010", ["x.yaml, line 1", "010 is not the same number"]),
        ("total_steps: 1:30", ["x.yaml, line 1", "1:30 is not the same number"]),
        ("total_steps: 1:30.5", ["x.yaml, line 1", "1:30.5 is not the same number"]),
        ("a: &a [1]\nb: *a", ["x.yaml, line 2", "aliases"]),
        ("'" + "x" * 5000 + "'", ["x.yaml", "mapping", "..."]),
        ("# " + "x" * 2**20, ["x.yaml", "larger"]),
    ],
)
def test_text_that_is_not_a_configuration_is_refused_in_one_line(tmp_path: Path, text: str, words: list[str]):
    (tmp_path / "x.yaml").write_text(text)
    with pytest.raises(ConfigError) as error:
        read_file(tmp_path / "x.yaml")
    assert len(str(error.value).splitlines()) == 1
    assert len(str(error.value)) < 600 + len(str(tmp_path))
    for word in words:
        assert word in str(error.value)


def test_a_file_that_cannot_be_read_is_named(tmp_path: Path):
    with pytest.raises(ConfigError, match=r"nothing\.yaml: cannot be read"):
        read_file(tmp_path / "nothing.yaml")
    with pytest.raises(ConfigError, match="cannot be read"):
        read_file(tmp_path)
    (tmp_path / "latin.yaml").write_bytes(b"run: \xe9")
    with pytest.raises(ConfigError, match=r"latin\.yaml: cannot be read"):
        read_file(tmp_path / "latin.yaml")


def test_schedules_are_linear_in_the_progress_of_the_whole_run():
    ppo = make_config({"ppo": {"learning_rate": 1e-3, "final_learning_rate": 1e-4}}).ppo
    assert [ppo.at("learning_rate", progress) for progress in (0, 0.5, 1, 1.2)] == pytest.approx(
        [1e-3, 5.5e-4, 1e-4, 1e-4]
    )
    assert ppo.at("clip_range", 0.7) == 0.2


def test_the_list_of_keys_has_every_option_of_the_game_and_says_what_is_legal():
    listed = {path: (text, default) for path, text, default in keys(load_game("sleuth"))}
    assert listed["options.max_turns"][1] == 300
    assert "above 0, at most 1" in listed["ppo.learning_rate"][0]
    assert "above 0" in listed["ppo.target_kl"][0]
    assert "(at least 1, at most 16384)" in listed["num_envs"][0]
    assert "(at least 0, at most 4294967295)" in listed["seed"][0]
    assert "(each at least 1, at most 4096, at most 8 of them)" in listed["network.hidden"][0]
    assert "(at least 1, at most 1000000000000)" in listed["evaluation.patience"][0]
    assert "one of cpu, cuda, auto" in listed["device"][0]
    assert "one of maskable_ppo, ppo, rllib" in listed["algorithm"][0]
    assert "more than 1 with 3 or 4 players" in listed["options.missing"][0]
    assert listed["record"] == ("the kind of observation (sheet, raw, exact)", "sheet")
    assert "relational" in listed["network.kind"][0]
    assert "racer, searcher, pretrained:sleuth-3p" in listed["opponents.bots"][0]
    assert all(text and text != "option of the game" for text, _ in listed.values())


@pytest.fixture
def other(monkeypatch: pytest.MonkeyPatch) -> str:
    """The full name of another game."""
    return another_game(monkeypatch)


def test_a_configuration_says_which_game_it_is_of(other: str):
    assert make_config({}).module is sleuth
    assert make_config({"game": "sleuth_env.sleuth"}).game == "sleuth"
    config = make_config({"game": other})
    assert config.module is sys.modules[other]
    assert config.record == "raw"
    assert config.fixed()["game"] == other


@pytest.mark.parametrize(
    ("mapping", "words"),
    [
        ({"network": {"kind": "relational"}}, ["network.kind", "must be one of 'mlp'", "got 'relational'"]),
        ({"network": {"card_network": [8]}}, ["network.card_network", "the game 'another_game' scores no cards"]),
        ({"record": "sheet"}, ["record", "must be one of 'raw'", "got 'sheet'"]),
        ({"opponents": {"bots": {"sheet": 1}}}, ["opponents.bots.sheet", "must be one of random, a file"]),
        ({"evaluation": {"against": ["sheet"]}}, ["evaluation.against.0", "must be one of random, a file"]),
    ],
)
def test_what_is_legal_is_what_the_game_has(other: str, mapping: dict[str, Any], words: list[str]):
    (line,) = mistakes({"game": other, **mapping})
    for word in words:
        assert word in line


@pytest.mark.parametrize(
    ("constants", "said"),
    [
        ({"OFFERED": ("nope",)}, "OFFERED names 'nope', which is not a block"),
        ({"OFFERED": ("play",)}, "OFFERED must be the last blocks, got ['play']"),
        ({"OFFERED": ("pass",), "DECLINE": "play"}, "DECLINE must be one of OFFERED, got 'play'"),
        ({"DECLINE": "pass"}, "DECLINE must be one of OFFERED, got 'pass'"),
        ({"SCORED": {"card": "nope"}}, "SCORED names 'nope', which is not a block"),
        (
            {"SCORED": {"number": "play"}},
            "SCORED maps the axis 'number', of size 1, to the block 'play', of 16 actions",
        ),
    ],
    ids=str,
)
@pytest.mark.parametrize("algorithm", ["ppo", "maskable_ppo"])
def test_constants_of_a_game_that_name_no_block_are_said_in_one_line(
    constants: dict[str, Any], said: str, algorithm: str, monkeypatch: pytest.MonkeyPatch
):
    for name, value in constants.items():
        monkeypatch.setattr(follow, name, value)
    (line,) = mistakes({"game": follow.__name__, "algorithm": algorithm})
    assert line == f"file.yaml: game: {follow.__name__}: {said}; its blocks are play, pass"


def test_a_card_network_needs_an_observation_of_the_cards(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(follow, "SCORED", {"trick": "play"})
    make_config({"game": follow.__name__})
    (line,) = mistakes({"game": follow.__name__, "network": {"card_network": [8]}})
    assert "network.card_network: must be null: the observation 'plain' of" in line
    assert "has no axis 'trick'" in line


@pytest.mark.parametrize(
    ("text", "said"), [("raise RuntimeError('no cards')", "no cards"), ("def deal(:", "invalid syntax")]
)
def test_a_game_module_that_fails_is_said_in_one_line(
    text: str, said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    (tmp_path / "broken_trick.py").write_text(text)
    monkeypatch.syspath_prepend(tmp_path)
    (line,) = mistakes({"game": "broken_trick"})
    assert line.startswith("file.yaml: game: ")
    assert "broken_trick" in line
    assert said in line


def test_the_command_line_wins_over_the_file(tmp_path: Path):
    path = tmp_path / "x.yaml"
    path.write_text("seed: 2\nppo: {gamma: 0.9}\n")
    config = read_config(path, {"ppo.epochs": "7", "seed": "3", "run": "2024", "options.num_players": "3"})
    assert (config.seed, config.ppo.gamma, config.ppo.epochs) == (3, 0.9, 7)
    assert (config.run, config.options.num_players) == ("2024", 3)
    with pytest.raises(ConfigError, match=r"--seed, line 1, column 3: not YAML"):
        read_config(path, {"seed": "[1"})
    with pytest.raises(ConfigError, match=r"^x.yaml: ppo: must be a mapping of keys to values, got 3"):
        overridden({"ppo": 3}, {"ppo.epochs": "7"}, "x.yaml")


@pytest.mark.parametrize(
    ("given", "line"),
    [
        ({"seed": "x"}, "--seed: must be a whole number, got 'x'"),
        ({"ppo.learning_rate": "0"}, "--ppo.learning-rate: must be above 0, got 0"),
        ({"network.hidden": "[0]"}, "--network.hidden: network.hidden.0: must be at least 1, got 0"),
        ({"options.num_players": "9"}, "--options.num-players: num_players must be an integer from 3 to 7, got 9"),
        ({"opponents.bots": "{nobody: 1}"}, "--opponents.bots: opponents.bots.nobody: must be one of random, "),
        ({"record": "none"}, "--record: must be one of 'sheet', "),
        ({"game": "chess"}, "--game: there is no game 'chess'"),
        ({"num_envs": "3"}, "FILE with --num-envs: ppo.batch_size: must divide num_envs * ppo.rollout_steps = 24"),
        ({"game": "holmes"}, "FILE with --game: options.missing: unknown key; known here: num_players"),
        ({"ppo.gamma": "0.9", "epochs": "1"}, "--epochs: unknown key"),
        # Two mistakes, one of each.
        ({"seed": "x", "threads": "0"}, "--threads: must be at least 1, got 0"),
    ],
)
def test_a_wrong_value_of_the_command_line_is_not_blamed_on_the_file(tmp_path: Path, given: dict[str, str], line: str):
    path = tmp_path / "x.yaml"
    path.write_text(
        "seed: 1\nnum_envs: 8\noptions: {num_players: 3, missing: 2}\nppo: {rollout_steps: 8, batch_size: 32}\n"
    )
    with pytest.raises(ConfigError) as caught:
        read_config(path, given)
    assert any(one.startswith(line.replace("FILE", str(path))) for one in str(caught.value).splitlines())


def test_a_wrong_value_of_the_command_line_is_not_blamed_on_the_run_that_is_resumed(tmp_path: Path):
    path = tmp_path / "config.yaml"
    path.write_text("seed: 1\n")
    with pytest.raises(ConfigError) as caught:
        read_resumed(path, {"checkpoints.keep": "0", "threads": "x"})
    assert str(caught.value).splitlines() == [
        "--threads: must be a whole number, got 'x'",
        "--checkpoints.keep: must be at least 1, got 0",
    ]
    with pytest.raises(ConfigError, match=r"^--seed: cannot change when a run is resumed"):
        read_resumed(path, {"seed": "2"})


def test_a_wrong_value_of_the_file_is_not_blamed_on_the_command_line(tmp_path: Path):
    path = tmp_path / "x.yaml"
    path.write_text("seed: x\nppo: {gamma: 2}\noptions: {missing: 9}\n")
    with pytest.raises(ConfigError) as caught:
        read_config(path, {"ppo.epochs": "3", "threads": "2"})
    assert [one.partition(" must ")[0] for one in str(caught.value).splitlines()] == [
        f"{path}: seed:",
        f"{path}: options.missing: missing",
        f"{path}: ppo.gamma:",
    ]


def test_many_mistakes_are_cut_short():
    lines = mistakes({f"key{i}": 1 for i in range(1000)})
    assert len(lines) == 21
    assert lines[-1] == "file.yaml: and 980 more mistakes"
