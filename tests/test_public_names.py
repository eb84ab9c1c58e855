"""Public names are where they are looked for, with their types."""

from __future__ import annotations

import ast
import inspect
import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from types import ModuleType
from typing import Any, get_type_hints

import pytest

import sleuth_env
from sleuth_env import Options, holmes, holmes_v0, sleuth_v0
from sleuth_env.cli.commands import main
from sleuth_env.holmes import cards as holmes_cards
from sleuth_env.sleuth.cards import OptionValues

ROOT = Path(__file__).parents[1]
SCRIPTS = ROOT / "tests" / "scripts"
RIGHT = SCRIPTS / "right.py"
WRONG = SCRIPTS / "wrong.py"


# --- names ---


def test_every_public_name_is_there_and_known_to_type_checkers() -> None:
    for name in sleuth_env.__all__:
        assert getattr(sleuth_env, name) is not None
    tree = ast.parse((ROOT / "sleuth_env" / "__init__.py").read_text())
    block = next(node for node in tree.body if isinstance(node, ast.If))
    typed = {}
    for node in block.body:
        assert isinstance(node, ast.ImportFrom)
        home = f"sleuth_env.{node.module}" if node.module else "sleuth_env"
        typed |= {alias.name: home for alias in node.names if alias.asname == alias.name}
    assert typed == sleuth_env._HOMES


def test_every_name_of_the_reference_is_one_of_the_package_or_of_its_game() -> None:
    named = re.findall(r"^\.\. auto\w+:: sleuth_env\.([\w.]+)$", (ROOT / "docs" / "api.md").read_text(), re.M)
    assert len(named) > 50
    strangers = [name for name in named if name not in sleuth_env.__all__]
    assert [name for name in strangers if name.rpartition(".")[0] not in ("holmes", "sleuth", "sleuth_v0")] == []


def test_every_error_of_the_reference_is_a_name_of_the_package() -> None:
    named = re.findall(r"^\.\. autoexception:: ([\w.]+)$", (ROOT / "docs" / "api.md").read_text(), re.M)
    assert [name for name in named if name.removeprefix("sleuth_env.") not in sleuth_env.__all__] == []


def test_modules_are_found_without_importing_them() -> None:
    code = "import sleuth_env; print(sleuth_env.sleuth_v0.__name__, sleuth_env.sleuth.NAME)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["sleuth_env.sleuth_v0", "sleuth"]


# --- types ---


def test_the_options_by_keyword_are_those_of_the_game() -> None:
    for values, options in ((OptionValues, Options), (holmes_cards.OptionValues, holmes.Options)):
        assert get_type_hints(values) == get_type_hints(options)
        assert not values.__required_keys__


def declared(module: ModuleType, name: str) -> ast.FunctionDef:
    """Return the constructor that an environment declares for type checkers."""
    tree = ast.parse(inspect.getsource(module))
    face = next(node for node in ast.walk(tree) if isinstance(node, ast.ClassDef) and node.name == name)
    return next(node for node in ast.walk(face) if isinstance(node, ast.FunctionDef) and node.name == "__init__")


FACES = ["raw_env", "SoloEnv", "SoloVectorEnv", "GAMEVectorEnv", "GAMEVecEnv"]


@pytest.mark.parametrize("name", FACES)
@pytest.mark.parametrize(("module", "game"), [(sleuth_v0, "Sleuth"), (holmes_v0, "Holmes")])
def test_an_environment_declares_the_arguments_that_it_has(module: ModuleType, game: str, name: str) -> None:
    name = name.replace("GAME", game)
    arguments = declared(module, name).args
    defaults = [ast.unparse(node).replace("AutoresetMode.", "") for node in arguments.defaults]
    named = inspect.signature(getattr(module, name)).parameters.values()
    plain = [about for about in named if about.kind is not inspect.Parameter.VAR_KEYWORD]
    assert [argument.arg for argument in arguments.args[1:]] == [about.name for about in plain]
    assert defaults == [getattr(about.default, "name", repr(about.default)) for about in plain]
    assert [ast.unparse(argument.annotation) for argument in arguments.args[1:]] == [
        about.annotation for about in plain
    ]


def test_the_wrapped_environment_has_the_arguments_of_the_raw_one() -> None:
    for module in (sleuth_v0, holmes_v0):
        raw = inspect.signature(module.raw_env).parameters
        assert list(inspect.signature(module.env).parameters) == list(raw)


def mistakes() -> set[int]:
    """Return the lines of the wrong script with a mistake: all below its docstring and imports."""
    return {node.lineno for node in ast.parse(WRONG.read_text()).body[2:]}


def check_with_mypy(more: list[str], folder: Path) -> None:
    """Let mypy look at both scripts from a folder."""
    command = [sys.executable, "-m", "mypy", *more, str(RIGHT), str(WRONG)]
    environment = {**os.environ, "MYPYPATH": str(ROOT)}
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False)
    found = re.findall(r"(\w+\.py):(\d+): error: ", done.stdout)
    assert {(file, int(line)) for file, line in found} == {(WRONG.name, line) for line in mistakes()}, done.stdout


def test_mypy_sees_the_types_of_a_script() -> None:
    # With the settings, and the cache, with which `make lint` has checked the package.
    check_with_mypy([], ROOT)


@pytest.mark.slow
def test_strict_mypy_sees_the_types_as_a_user_has_it(tmp_path: Path) -> None:
    # Errors in an installed package are not reported; this one lies in a folder.
    check_with_mypy(["--strict", "--config-file=", "--follow-imports=silent"], tmp_path)


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("pyright") is None, reason="pyright is not installed")
def test_strict_pyright_sees_the_types(tmp_path: Path) -> None:
    for script in (RIGHT, WRONG):
        shutil.copy(script, tmp_path)
    settings = {"typeCheckingMode": "strict", "extraPaths": [str(ROOT)]}
    (tmp_path / "pyrightconfig.json").write_text(json.dumps(settings))
    command = ["pyright", "--outputjson", "--pythonpath", sys.executable, "--project", str(tmp_path)]
    found: Any = json.loads(subprocess.run(command, capture_output=True, text=True, check=False).stdout)
    errors = {(Path(one["file"]).name, one["range"]["start"]["line"] + 1) for one in found["generalDiagnostics"]}
    assert errors == {(WRONG.name, line) for line in mistakes()}


# --- the command ---


def test_the_module_is_the_command() -> None:
    done = subprocess.run([sys.executable, "-m", "sleuth_env", "--version"], capture_output=True, text=True, check=True)
    assert done.stdout.startswith("sleuth-env ")


def test_the_bare_command_prints_its_help(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        main([])
    assert ended.value.code == 0
    assert "commands" in capsys.readouterr().out
