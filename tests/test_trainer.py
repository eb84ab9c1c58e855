"""Training and its configurations are found from the command `sleuth`, in a clone and in a wheel."""

from __future__ import annotations

import os
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from sleuth_env.cli.commands import main
from sleuth_env.trainer import configurations
from tests.test_packaging import built
from training.config import read_config
from training.config_file import ConfigError, file_of

ROOT = Path(__file__).parents[1]


def test_every_configuration_is_listed_with_a_sentence(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["configs"]) == 0
    listed = capsys.readouterr().out
    names = [line.split()[0] for line in listed.splitlines() if not line.startswith(" ")]
    assert names == sorted(path.stem for path in (ROOT / "configs").glob("*.yaml"))
    assert "Half a minute on one core: self-play from every seat." in listed
    assert "python -m" not in listed


def test_a_configuration_is_shown_as_it_is(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["configs", "smoke"]) == 0
    assert capsys.readouterr().out == (ROOT / "configs/smoke.yaml").read_text()


def test_an_unknown_configuration_is_refused_with_the_names(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["configs", "smok"]) == 2
    said = capsys.readouterr().err
    assert said.startswith("sleuth: there is no configuration 'smok', did you mean smoke? The names are against_sheet,")
    assert said.count("\n") == 1


@pytest.mark.parametrize("name", configurations())
def test_every_configuration_is_found_by_its_name(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert file_of(name) == ROOT / f"configs/{name}.yaml"


def test_the_name_of_a_configuration_is_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert read_config("smoke") == read_config(ROOT / "configs/smoke.yaml")


def test_a_file_of_that_name_comes_first(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("smoke").write_text("run: runs/mine\n")
    assert read_config("smoke").run == "runs/mine"


def test_what_is_neither_a_file_nor_a_name_is_refused() -> None:
    with pytest.raises(ConfigError, match="did you mean three_players"):
        file_of("three_playrs")
    # Of a path the file is named that cannot be read.
    with pytest.raises(ConfigError, match=r"configs/none\.yaml: cannot be read"):
        read_config("configs/none.yaml")


@pytest.mark.parametrize("name", ["train", "imitate", "plot"])
def test_the_command_shows_the_help_of_training(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        main([name, "--help"])
    assert ended.value.code == 0
    assert capsys.readouterr().out.startswith(f"usage: sleuth {name} ")


def test_mistakes_of_training_are_said_as_ever(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["train"]) == 2
    assert capsys.readouterr().err == (
        "error: command line: either a CONFIG or --resume RUN is needed; --help lists everything\n"
    )
    assert main(["train", "smoke", "--ppo.gama", "1"]) == 2
    assert "did you mean --ppo.gamma?" in capsys.readouterr().err


def test_a_folder_of_somebody_named_training_is_not_taken_for_it(tmp_path: Path) -> None:
    (tmp_path / "training").mkdir()
    (tmp_path / "training/__init__.py").write_text("raise SystemExit('the wrong one')\n")
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    command = [sys.executable, "-m", "sleuth_env", "plot", "--help"]
    done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False)
    assert done.stdout.startswith("usage: sleuth plot")


def test_a_wheel_holds_training_inside_of_the_package(tmp_path: Path) -> None:
    wheel = built("wheel", tmp_path)
    with zipfile.ZipFile(wheel) as files:
        names = files.namelist()
        files.extractall(tmp_path / "site")
    assert {name.partition("/")[0] for name in names} == {
        "sleuth_command.py",
        "sleuth_env",
        wheel.name.rpartition("-py3")[0] + ".dist-info",
    }
    assert {Path(name).stem for name in names if name.startswith("sleuth_env/configs/")} == set(configurations())
    assert not [name for name in names if name.endswith(".png")]
    environment = {**os.environ, "PYTHONPATH": str(tmp_path / "site")}
    command = [sys.executable, "-m", "sleuth_env", "train", "smoke", "--run", "runs/a", "--threads", "-1"]
    done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert done.stderr.startswith("error: ")
    assert "threads" in done.stderr
