"""The command `sleuth info` says what a report of a fault should say."""

from __future__ import annotations

import json
import platform
from pathlib import Path

import numba
import numpy as np
import pytest

import sleuth_env
from sleuth_env.cli.commands import main
from sleuth_env.cli.info import OPTIONAL, REQUIRED
from sleuth_env.kernel_cache import kept_kernels
from tests.test_packaging import PROJECT


def test_it_is_printed_one_name_a_line(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OMP_NUM_THREADS", "3")
    assert main(["info"]) == 0
    rows = dict(line.split(maxsplit=1) for line in capsys.readouterr().out.splitlines() if line.count(" ") > 0)
    assert rows["sleuth-env"] == sleuth_env.__version__
    assert rows["Python"].endswith(platform.python_version())
    assert rows["numpy"] == np.__version__
    assert rows["numba"] == numba.__version__
    assert rows["OMP_NUM_THREADS"] == "3"
    assert rows["threads"].split() == ["of", "numba", str(numba.config.NUMBA_NUM_THREADS)]
    assert rows["compiled"].split()[0] == "for"
    assert rows["games"] == "sleuth, holmes"


def test_it_is_written_as_json(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "info.json"
    assert main(["info", "--json", str(path)]) == 0
    content = json.loads(path.read_text())
    assert list(content) == ["package", "machine", "packages", "variables", "kernels", "contents"]
    assert content["packages"]["numba"] in capsys.readouterr().out


def test_a_folder_that_is_not_there_is_said(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(numba.core.config, "CACHE_DIR", str(tmp_path / "none"), raising=False)
    assert main(["info"]) == 0
    (line,) = [line for line in capsys.readouterr().out.splitlines() if str(tmp_path) in line]
    assert line.endswith("0 files, 0.0 MB, not there yet")


def test_everything_that_the_package_needs_is_named() -> None:
    needed = {name.partition(">")[0] for name in PROJECT["dependencies"]}
    assert needed <= set(REQUIRED)
    extras = {name.partition(">")[0] for name in PROJECT["optional-dependencies"]["train"]}
    assert {"torch", "stable-baselines3", "sb3-contrib"} <= extras & set(OPTIONAL)


def test_kernels_are_counted_where_they_are_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "a/__pycache__").mkdir(parents=True)
    (tmp_path / "a/__pycache__/x-1-2.kernel").write_bytes(b"123")
    (tmp_path / "a/__pycache__/x.pyc").write_bytes(b"1")
    monkeypatch.setattr(numba.core.config, "CACHE_DIR", "", raising=False)
    assert kept_kernels(tmp_path)[tmp_path] == [3]
    monkeypatch.setattr(numba.core.config, "CACHE_DIR", str(tmp_path / "a"), raising=False)
    assert kept_kernels(Path("elsewhere")) == {tmp_path / "a": [3]}
