"""A model card says what a policy file says of itself, whatever that is, and nothing else."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
import yaml

from sleuth_env.cli.commands import main
from sleuth_env.matches.match import play_match
from sleuth_env.policies.card import LICENCE, MOST_SETTINGS, card_path, model_card
from sleuth_env.policies.policy import load_policy, save_policy
from sleuth_env.policies.policy_file import EVALUATION, PolicyError, read_metadata
from tests.support.policies import VERSIONS, random_policy
from tests.test_imports import loaded_after
from tests.test_packaging import PROJECT
from tests.test_policy import rewritten
from tests.test_run_folder import policy_file
from tests.test_train import TINY, the_line
from training import train
from training.about import names_of, training_of
from training.config import make_config

BUNDLED = "pretrained:sleuth-4p"
ROW = {
    "against": "sheet",
    "games": 150,
    "seed": 7,
    "win_share": 0.4,
    "win_low": 0.31,
    "win_high": 0.5,
    "fair_share": 1 / 3,
}


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "mine.safetensors"
    save_policy(random_policy(), path, VERSIONS, 0.4, {"seed": 5, "ppo": {"epochs": 4}}, [ROW])
    return path


def front_matter(card: str) -> dict[str, Any]:
    found: dict[str, Any] = yaml.safe_load(card.split("---\n")[1])
    return found


def body(card: str) -> str:
    return card.split("---\n", 2)[2]


# --- what it says ---


def test_it_says_what_the_file_says(file: Path) -> None:
    card = model_card(file)
    for text in (
        "# A policy for the game `sleuth` with 3 players",
        "| observation | `sheet`, 1,852 numbers,",
        '| network | `{"kind": "mlp", "hidden": [32, 16],',
        "num_players: 3\n",
        "seed: 5\nppo.epochs: 4\n",
        "| `sheet` | 40.0 % | 31.0 % to 50.0 % | 33.3 % | 150 | 7 |",
        "The mean win share was 40.0 %.",
        'python: "3"\n',
    ):
        assert text in card


def test_its_beginning_is_what_the_hub_reads(file: Path) -> None:
    about = front_matter(model_card(file))
    assert about["library_name"] == "sleuth-env"
    assert about["pipeline_tag"] == "reinforcement-learning"
    assert "sleuth" in about["tags"]
    (model,) = about["model-index"]
    (result,) = model["results"]
    assert model["name"] == "mine"
    assert result["task"]["type"] == "reinforcement-learning"
    assert result["dataset"] == {"type": "sleuth", "name": "sleuth, 3 players, against sheet"}
    assert result["metrics"] == [{"type": "win_share", "name": "win share", "value": 0.4, "verified": False}]


def test_what_the_file_does_not_say_is_left_out(tmp_path: Path) -> None:
    save_policy(random_policy(), tmp_path / "bare.safetensors", {})
    card = model_card(tmp_path / "bare.safetensors")
    assert "model-index" not in front_matter(card)
    assert "license" not in front_matter(card)
    assert re.findall("^## (.*)", card, re.M) == ["Options", "Use", "Limits", "Licence"]
    assert "win share" not in card


def test_a_policy_of_the_package_has_its_licence() -> None:
    assert PROJECT["license"] == LICENCE
    assert front_matter(model_card(BUNDLED))["license"] == LICENCE.lower()
    assert model_card("pretrained:4p") == model_card(BUNDLED).replace(BUNDLED, "pretrained:4p")


def test_equal_files_have_equal_cards(file: Path, tmp_path: Path) -> None:
    other = tmp_path / "elsewhere" / file.name
    other.parent.mkdir()
    shutil.copy(file, other)
    assert model_card(file) == model_card(other)
    assert str(tmp_path) not in model_card(file)


def test_its_three_lines_play(file: Path) -> None:
    (lines,) = re.findall("```python\n(.*?)```", model_card(file), re.S)
    assert len(lines.splitlines()) == 3
    done = subprocess.run([sys.executable, "-c", lines], cwd=file.parent, capture_output=True, text=True, check=False)
    assert "MatchResult" in done.stdout, done.stderr


def test_its_commands_are_commands(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(file.parent)
    (words,) = re.findall("`sleuth (evaluate .*? --game sleuth)`", model_card(file))
    assert main([*words.split(), "--games", "3", "--against", "random"]) == 0


def test_it_needs_neither_torch_nor_yaml() -> None:
    code = f"from sleuth_env.policies.card import model_card\nmodel_card({BUNDLED!r})"
    assert not loaded_after(code) & {"torch", "yaml", "jinja2"}


# --- a file is not trusted ---

PLAIN = "`|\\|<script>alert(1)</script>\n\n# Trust me\n---\n```\n[x](https://evil.example)\x1b[31m\u202e" + "y" * 10_000
# Half a letter, which JSON within a text may hold.
HOSTILE = f"\ud800{PLAIN}"


def hostile(file: Path) -> Path:
    """Put a text that is markup into everything that a file may say."""
    row = ROW | {"against": HOSTILE}
    return rewritten(
        file,
        game=PLAIN,
        record=PLAIN,
        observation_hash=PLAIN,
        options=json.dumps({HOSTILE: HOSTILE} | {str(number): number for number in range(5000)}),
        architecture=json.dumps({"kind": HOSTILE}),
        observation=json.dumps([HOSTILE, [HOSTILE, [2**200, -1, HOSTILE]], ["x", [2**19] * 50]]),
        versions=json.dumps({HOSTILE: HOSTILE}),
        steps="1" * 4000,
        training=json.dumps({HOSTILE: {HOSTILE: {"a": {"b": {"c": HOSTILE}}}}}),
        evaluation=json.dumps([row] * 64),
    )


def test_what_a_file_says_stays_text(file: Path) -> None:
    card = model_card(hostile(file))
    assert all(letter.isprintable() or letter == "\n" for letter in card)
    assert card.count("\n---\n") == 1
    assert front_matter(card)["tags"][-1].startswith(r"\x60\x7c\\\x7c<script>")
    # Without the blocks of code, and then without code in lines, nothing of it is left.
    blocks = re.sub(r"^```\w+\n.*?^```$", "", body(card), flags=re.M | re.S)
    assert "```" not in blocks
    text = re.sub("`[^`\n]*`", "", blocks)
    for sign in ("<", "Trust", "evil", "\\x", "`"):
        assert sign not in text
    rows = [line for line in body(card).splitlines() if line.startswith("| ")]
    assert {line.count("|") for line in rows} == {3, 7}


def test_a_card_has_an_end(file: Path) -> None:
    card = model_card(hostile(file))
    assert len(card) < 80_000
    assert f"... and {5001 - MOST_SETTINGS} more" in card


def test_the_name_of_a_file_stays_a_name(tmp_path: Path) -> None:
    path = tmp_path / 'a"); import os; (".safetensors'
    save_policy(random_policy(), path, {}, None, None, [ROW])
    card = model_card(path)
    assert 'load_policy("policy.safetensors")' in card
    assert front_matter(card)["model-index"][0]["name"] == 'a"); import os; ("'


def test_settings_that_are_nested_without_end_are_refused_or_cut(file: Path) -> None:
    for depth in (50, 900, 100_000):
        rewritten(file, training='{"a": ' * depth + "1" + "}" * depth)
        with suppress(PolicyError):
            assert len(model_card(file)) < 10_000


@pytest.mark.parametrize(
    "wrong",
    [
        "3",
        "{}",
        "[3]",
        "[{}]",
        json.dumps([ROW | {"games": True}]),
        json.dumps([ROW | {"games": 0}]),
        json.dumps([ROW | {"more": 1}]),
        json.dumps([ROW | {"win_low": 0.45}]),
        json.dumps([ROW | {"win_high": 1.5}]),
        json.dumps([ROW | {"win_share": float("nan")}]),
        json.dumps([ROW] * 65),
    ],
)
def test_evaluations_that_make_no_sense_are_refused(file: Path, wrong: str) -> None:
    rewritten(file, evaluation=wrong)
    with pytest.raises(PolicyError, match="not a policy file"):
        read_metadata(file)


@pytest.mark.parametrize(
    ("named", "word"),
    [
        ({"training": [1]}, "must map names"),
        ({"training": {"a": object()}}, "not JSON serializable"),
        ({"training": {"a": float("nan")}}, "not JSON compliant"),
        ({"training": {"a": "x" * 300_000}}, "longer than"),
        ({"evaluation": [{"against": "sheet"}]}, f"the keys {', '.join(EVALUATION)}"),
        ({"evaluation": "no"}, "a list"),
    ],
)
def test_what_cannot_be_said_is_refused_before_anything_is_written(
    tmp_path: Path, named: dict[str, Any], word: str
) -> None:
    with pytest.raises(PolicyError, match=word):
        save_policy(random_policy(), tmp_path / "x.safetensors", {}, **named)
    assert not list(tmp_path.iterdir())


# --- the command ---


def test_the_command_prints_the_card_or_writes_it(
    file: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["card", str(file)]) == 0
    assert capsys.readouterr().out == model_card(file)
    assert main(["card", str(file), "--out", str(tmp_path / "README.md")]) == 0
    assert (tmp_path / "README.md").read_text() == model_card(file)


def test_the_command_refuses_in_one_line(
    file: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    before = file.read_bytes()
    for words, said in (
        (["mine.safetensors", "--out", "./mine.safetensors"], "it is the policy file"),
        (["nothing.safetensors"], "there is no file 'nothing.safetensors'; a card is of a policy file (*.safetensors)"),
        (["random"], "or of one that comes with the package: pretrained:"),
        (["pretrained:none"], "there is no bundled policy"),
        (["mine.safetensors", "--out", "no/x.md"], "its folder does not exist"),
    ):
        assert main(["card", *words]) == 2
        assert said in the_line(capsys)
    assert file.read_bytes() == before


# --- the card of a run ---


@pytest.mark.parametrize("algorithm", ["maskable_ppo", "ppo"])
def test_a_run_writes_a_card_beside_its_best_policy(algorithm: str, tmp_path: Path) -> None:
    other = policy_file(tmp_path / "other.safetensors")
    changes = {
        "run": str(tmp_path / "run"),
        "algorithm": algorithm,
        "opponents": TINY["opponents"] | {"bots": {"random": 1.0, other: 1.0}},
        "evaluation": TINY["evaluation"] | {"against": ["random", other]},
    }
    (tmp_path / "tiny.yaml").write_text(yaml.safe_dump(TINY | changes))
    assert train.main([str(tmp_path / "tiny.yaml")]) == 0
    best = tmp_path / "run" / "best.safetensors"
    card = card_path(best).read_text()
    assert card == model_card(best)
    assert f'algorithm: "{algorithm}"\n' in card
    metadata = read_metadata(best)
    assert [row["against"] for row in metadata["evaluation"]] == ["random", "other.safetensors"]
    assert metadata["training"]["opponents"]["bots"] == {"random": 1.0, "other.safetensors": 1.0}
    for name in ("best", "last"):
        assert str(tmp_path).encode() not in (tmp_path / "run" / f"{name}.safetensors").read_bytes()
    # The games of a row can be played again.
    row = metadata["evaluation"][0]
    policy = load_policy(best)
    result = play_match(policy.game, policy.options, [policy, "random", "random"], row["games"] // 3, row["seed"])
    assert (result.games, result.entries[0].win_share) == (row["games"], row["win_share"])
    # A process may be killed before it has written the card.
    card_path(best).unlink()
    assert train.main(["--resume", str(best.parent), "--total-steps", "320"]) == 0
    assert card_path(best).read_text() == model_card(best)


def test_cards_go_aside_with_their_policies_where_the_matches_change(tmp_path: Path) -> None:
    (tmp_path / "tiny.yaml").write_text(yaml.safe_dump(TINY | {"run": str(tmp_path / "run")}))
    assert train.main([str(tmp_path / "tiny.yaml")]) == 0
    words = ["--total-steps", "384", "--evaluation.deals", "6"]
    assert train.main(["--resume", str(tmp_path / "run"), *words]) == 0
    aside = tmp_path / "run" / "best-000000000256.safetensors"
    assert card_path(aside).read_text() == model_card(aside)
    assert "| 18 |" in card_path(tmp_path / "run" / "best.safetensors").read_text()


SECRET = "token-1234"


def test_programs_are_named_without_their_arguments(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "players").mkdir()
    (tmp_path / "players" / "player.py").touch()
    (tmp_path / SECRET).mkdir()
    players = [
        f"exec:python3 players/player.py --weights /data/{SECRET}/best.bin",
        f"exec:30s:python3 'players/player.py' --token {SECRET}",
        f"exec:./players/player {SECRET}",
        f"exec:python3 -m {SECRET}",
        f"exec:python3 --token={SECRET} players/player.py",
        f"exec:'{SECRET}",
    ]
    names = names_of(["sheet", *players, "a/b.safetensors"])
    python, rest = "exec:python3 player.py", ["exec:player", "exec:python3", "exec:python3 #2", "exec:"]
    assert list(names.values()) == ["sheet", python, f"{python} #2", *rest, "b.safetensors"]
    assert names_of(["exec:player", players[2]])[players[2]] == "exec:player #2"
    assert SECRET not in json.dumps(list(names.values()))


def test_a_program_has_one_name_in_all_that_a_file_says_of_it() -> None:
    first, second = (f"exec:player --token {SECRET}-{number}" for number in (1, 2))
    bots = TINY["opponents"] | {"bots": {"random": 1.0, first: 1.0, second: 2.0}}
    config = make_config(TINY | {"opponents": bots, "evaluation": TINY["evaluation"] | {"against": [second, first]}})
    said = training_of(config)
    assert said["opponents"]["bots"] == {"random": 1.0, "exec:player": 1.0, "exec:player #2": 2.0}
    assert said["evaluation"]["against"] == ["exec:player #2", "exec:player"]


def test_a_run_against_programs_publishes_no_arguments(tmp_path: Path) -> None:
    cautious = Path(__file__).parents[1] / "examples" / "players" / "cautious.py"
    (tmp_path / cautious.name).write_bytes(cautious.read_bytes())
    program = f"exec:30s:{sys.executable} {tmp_path / cautious.name} --token {SECRET} --weights /data/{SECRET}.bin"
    other = f"exec:30s:{sys.executable} -S {tmp_path / cautious.name} {SECRET}"
    changes = {
        "run": str(tmp_path / "run"),
        "opponents": TINY["opponents"] | {"bots": {"random": 1.0, program: 0.1}},
        "evaluation": TINY["evaluation"] | {"against": [program, other]},
    }
    (tmp_path / "tiny.yaml").write_text(yaml.safe_dump(TINY | changes))
    assert train.main([str(tmp_path / "tiny.yaml")]) == 0
    best = tmp_path / "run" / "best.safetensors"
    python = f"exec:{Path(sys.executable).name}"
    rows = [row["against"] for row in read_metadata(best)["evaluation"]]
    assert rows == [f"{python} cautious.py", python]
    assert f"| `{python} cautious.py` |" in card_path(best).read_text()
    for path in (best, best.with_name("last.safetensors"), card_path(best)):
        content = path.read_bytes()
        assert SECRET.encode() not in content
        assert str(tmp_path).encode() not in content


def test_a_file_says_the_whole_configuration_but_for_where_it_was_trained() -> None:
    config = make_config(TINY | {"run": "secret/place"})
    said = training_of(config)
    assert {*said, "run", "options"} == set(config.model_dump()) - {"tracking"}
    assert "secret" not in json.dumps(said)
