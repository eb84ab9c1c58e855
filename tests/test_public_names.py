"""Public names are where they are looked for, with their types."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import pytest

import sleuth_env
from sleuth_env.cli.commands import main

ROOT = Path(__file__).parents[1]

RIGHT = """
import numpy as np
import sleuth_env
from sleuth_env import IllegalAction, Options, SoloEnv, SleuthVectorEnv, Table, load_game, play_match, sleuth_v0

options = Options(num_players=4, missing=2)
result = play_match(load_game("sleuth"), options, ["random", "sheet", "random", "random"], 10)
share: float = result.nobody_won
environment: sleuth_v0.raw_env = sleuth_v0.raw_env(num_players=4)
environment.reset(seed=1)
agent: str = environment.agent_selection
observation, info = SoloEnv(opponents="sheet").reset(seed=1)
total = float(observation.sum())
"""
WRONG = """
from sleuth_env import Options, play_match

Options(num_players="x")
Options(num_plaers=4)
play_match(3)
"""


def test_every_public_name_is_there_and_known_to_type_checkers() -> None:
    for name in sleuth_env.__all__:
        assert getattr(sleuth_env, name) is not None
    tree = ast.parse((ROOT / "sleuth_env" / "__init__.py").read_text())
    block = next(node for node in tree.body if isinstance(node, ast.If))
    typed = [alias.name for node in block.body if isinstance(node, ast.ImportFrom) for alias in node.names]
    assert sorted(typed) == sorted(sleuth_env._HOMES)


def test_modules_are_found_without_importing_them() -> None:
    code = "import sleuth_env; print(sleuth_env.sleuth_v0.__name__, sleuth_env.sleuth.NAME)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["sleuth_env.sleuth_v0", "sleuth"]


def test_a_script_sees_the_types(tmp_path: Path) -> None:
    """What is right passes ``mypy --strict``, what is wrong does not."""
    for name, script in (("right.py", RIGHT), ("wrong.py", WRONG)):
        (tmp_path / name).write_text(script)
    command = [sys.executable, "-m", "mypy", "--strict", "--config-file=", f"--cache-dir={tmp_path}"]
    silent = ["--follow-imports=silent", str(tmp_path / "right.py"), str(tmp_path / "wrong.py")]
    done = subprocess.run([*command, *silent], capture_output=True, text=True, cwd=ROOT, check=False)
    found = [line for line in done.stdout.splitlines() if "error:" in line]
    assert not [line for line in found if "right.py" in line], done.stdout
    assert {int(line.split(":")[1]) for line in found} == {4, 5, 6}, done.stdout


def test_the_module_is_the_command() -> None:
    done = subprocess.run([sys.executable, "-m", "sleuth_env", "--version"], capture_output=True, text=True, check=True)
    assert done.stdout.startswith("sleuth-env ")


def test_the_bare_command_prints_its_help(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        main([])
    assert ended.value.code == 0
    assert "commands" in capsys.readouterr().out
