"""The manual tells the truth: its examples run and its tables are those of the code."""

from __future__ import annotations

import importlib.util
import itertools
import json
import re
import subprocess
import sys
from dataclasses import fields
from pathlib import Path

import pytest

from sleuth_env.policies.policy import save_policy
from sleuth_env.sleuth.bots import BOTS
from sleuth_env.sleuth.cards import Options, make_rules, num_actions
from sleuth_env.sleuth.features import RECORDS, observation_layout, observation_size
from tests.support.policies import VERSIONS, random_policy

ROOT = Path(__file__).parents[1]
README = (ROOT / "README.md").read_text()
EXAMPLES = re.findall(r"^```python\n(.*?)^```", README, re.M | re.S)


def table(heading: str) -> list[list[str]]:
    """Give the rows of the first table after a heading, cells stripped, without its own heading
    rows.
    """
    rows = re.search(r"(?:^\|.*\n)+", README[README.index(heading) :], re.M)
    assert rows is not None
    return [[cell.strip() for cell in line.strip("|\n").split("|")] for line in rows.group().splitlines()[2:]]


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda example: example.splitlines()[0])
def test_every_python_example_runs(example: str, tmp_path: Path) -> None:
    # Where an example speaks of a trained policy, an untrained one will do.
    (tmp_path / "runs/smoke").mkdir(parents=True)
    save_policy(random_policy(), tmp_path / "runs/smoke/best.safetensors", VERSIONS)
    run = subprocess.run([sys.executable, "-c", example], cwd=tmp_path, capture_output=True, text=True, timeout=300)
    assert run.returncode == 0, run.stderr


def test_there_are_examples() -> None:
    assert len(EXAMPLES) >= 6


def test_the_table_of_options_names_every_option_with_its_default() -> None:
    rows = {row[0].strip("`"): row[1] for row in table("### Options")}
    assert list(rows) == [field.name for field in fields(Options)]
    for field in fields(Options):
        default = f'"{field.default}"' if isinstance(field.default, str) else str(field.default)
        assert re.match(rf"{re.escape(default)}\b|{re.escape(default)}", rows[field.name]), field.name


@pytest.mark.parametrize("num_players", range(3, 8))
def test_the_table_of_observations_has_every_block_with_its_shape(num_players: int) -> None:
    rows = {row[0].strip("`"): row[1] for row in table("## Observations")}
    named = set()
    for record in RECORDS:
        for block in observation_layout(Options(num_players), record):
            shape = tuple(
                {"n": num_players, "(n-1)": num_players - 1}.get(size) or int(size)
                for size in rows[block.name].split(" x ")
            )
            assert shape == block.shape, block.name
            named.add(block.name)
    assert named == set(rows)


def test_the_table_of_sizes_is_right() -> None:
    text = README[README.index("| players | 3 | 4") :]
    rows = [[int(cell) for cell in re.findall(r"(?<= )\d+(?= )", line)] for line in text.splitlines()[2:6]]
    assert rows[:3] == [[observation_size(Options(n), record) for n in range(3, 8)] for record in RECORDS]
    assert rows[3] == [num_actions(Options(n)) for n in range(3, 8)]


@pytest.mark.parametrize("num_players", range(3, 8))
def test_the_table_of_actions_adds_up(num_players: int) -> None:
    sizes = [eval(row[1].replace("(n-1)", str(num_players - 1)).replace("x", "*"), {}) for row in table("## Actions")]
    rules = make_rules(Options(num_players))[0]
    assert sum(sizes) == rules["num_actions"]
    assert [sum(sizes[:i]) for i in range(1, 5)] == [
        rules["final_at"],
        rules["exchange_at"],
        rules["accuse_at"],
        rules["pass_at"],
    ]


def output(command: str) -> str:
    run = subprocess.run(
        [sys.executable, "-m", "sleuth_command", *command.split()[1:]], capture_output=True, text=True, timeout=300
    )
    assert run.returncode == 0, run.stderr
    return run.stdout


def test_the_table_of_bots_is_what_its_command_prints() -> None:
    command, shown = re.findall(r"`(sleuth match [^`]*)` shows how they compare:\n\n```\n(.*?)\n```", README, re.S)[0]
    assert output(command).strip() == shown


def test_the_commands_that_need_no_file_run() -> None:
    commands = {command for command in re.findall(r"`(sleuth match [^`]*)`", README) if "FILE" not in command}
    assert commands
    for command in commands:
        assert "win share" in output(command)


def test_the_tables_of_all_bots_are_made_from_the_results_beside_their_script() -> None:
    spec = importlib.util.spec_from_file_location("tables", ROOT / "benchmarks/tables.py")
    assert spec is not None
    assert spec.loader is not None
    script = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(script)
    rows = json.loads(script.RESULTS.read_text())
    assert script.tables(rows) in README
    assert {script.cell_of(row) for row in rows} == set(itertools.product(BOTS, script.VARIANTS, script.DEALS))
    assert all(map(script.is_current, rows))
