"""The package as an index shows it and the source distribution holds it; `.ci/package` installs and tries both."""

from __future__ import annotations

import importlib.util
import re
import shutil
import subprocess
import sys
import tarfile
import tomllib
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[1]
PROJECT: dict[str, Any] = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
REPOSITORY: str = PROJECT["urls"]["Repository"]
# What building adds to the files of the repository.
MADE = ("PKG-INFO", "setup.cfg", "sleuth_env.egg-info/")


def setup_module() -> Any:
    """Return `setup.py` as a module; it does nothing unless it is run."""
    spec = importlib.util.spec_from_file_location("setup_file", ROOT / "setup.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


PAGE: str = setup_module().package_page()
TARGETS = re.findall(r"\]\(([^)\s]+)\)", PAGE)


@pytest.mark.parametrize(
    ("given", "made"),
    [
        ("see [the game](docs/game.md#options)", "see [the game](R/blob/HEAD/docs/game.md#options)"),
        ("![a\npicture](docs/x.png)", "![a\npicture](R/raw/HEAD/docs/x.png)"),
        ("[below](#belief), [there](https://example.org/a)", "[below](#belief), [there](https://example.org/a)"),
        ("worlds.decides(bob, [3]) and list[0](x)", "worlds.decides(bob, [3]) and list[0](R/blob/HEAD/x)"),
    ],
)
def test_links_are_made_absolute(given: str, made: str) -> None:
    assert setup_module().absolute(given, "R") == made


def test_every_link_of_the_package_page_leads_to_a_file_of_the_repository() -> None:
    assert len(TARGETS) > 20
    for target in TARGETS:
        if target.startswith("#"):
            continue
        assert target.startswith("https://"), target
        if target.startswith(REPOSITORY):
            file = re.sub(r"/(?:blob|raw)/HEAD/", "", target.removeprefix(REPOSITORY)).partition("#")[0]
            assert (ROOT / file).is_file(), target


def test_the_examples_are_on_the_package_page_as_in_the_readme() -> None:
    fenced = re.compile(r"^```.*?^```$", re.M | re.S)
    assert fenced.findall(PAGE) == fenced.findall((ROOT / "README.md").read_text())


def test_the_addresses_of_the_project_begin_with_its_repository() -> None:
    assert all(address.startswith(REPOSITORY) for address in PROJECT["urls"].values())


def test_versions_of_python_are_named_from_the_oldest_to_3_13() -> None:
    named = re.findall(r"Python :: 3\.(\d+)", "\n".join(PROJECT["classifiers"]))
    assert [int(minor) for minor in named] == [11, 12, 13]
    assert PROJECT["requires-python"] == f">=3.{named[0]}"


def test_every_tool_of_development_is_pinned() -> None:
    pinned = {re.split("==", line)[0].lower().replace("_", "-") for line in (ROOT / "constraints.txt").open()}
    extras = PROJECT["optional-dependencies"]
    named = [one for extra in ("train", "docs", "onnx", "dev") for one in extras[extra]]
    wanted = {re.split(r"[\[<>=]", one)[0].lower().replace("_", "-") for one in [*PROJECT["dependencies"], *named]}
    assert wanted - pinned == {"sleuth-env"}


def tracked() -> list[str]:
    """Return the files of the repository."""
    done = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True, check=False)
    if done.returncode or not (ROOT / ".git").exists():
        pytest.skip("this is not a clone")
    return [name for name in done.stdout.split("\0") if (ROOT / name).is_file()]


def built(kind: str, folder: Path) -> Path:
    """Build the wheel or the source distribution ("wheel", "sdist") of the repository's files, in a folder."""
    source = folder / "clone"
    for name in tracked():
        (source / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / name, source / name)
    command = [sys.executable, "-m", "build", f"--{kind}", "--no-isolation", "--skip-dependency-check"]
    subprocess.run([*command, "--outdir", folder], cwd=source, capture_output=True, check=True)
    (archive,) = (path for path in folder.iterdir() if path.is_file())
    return archive


def test_the_source_distribution_holds_the_whole_repository_and_nothing_else(tmp_path: Path) -> None:
    with tarfile.open(built("sdist", tmp_path)) as files:
        packed = {member.name.partition("/")[2] for member in files if member.isfile()}
    assert {name for name in packed if not name.startswith(MADE)} == set(tracked())
