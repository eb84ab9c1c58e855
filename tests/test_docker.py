"""The Dockerfile fits the repository, as far as can be told without Docker."""

from __future__ import annotations

import fnmatch
import json
import re
import shlex
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from sleuth_env.cli.commands import COMMANDS, OF_TRAINING, parse
from sleuth_env.trainer import configurations
from tests.test_packaging import PROJECT, ROOT, tracked

TEXT = (ROOT / "Dockerfile").read_text()
PAGE = (ROOT / "docs/docker.md").read_text()
KNOWN = {"ARG", "CMD", "COPY", "ENTRYPOINT", "FROM", "RUN", "USER", "WORKDIR"}


def instructions() -> list[tuple[str, str]]:
    """Return the instructions of the Dockerfile with what follows them."""
    lines = "\n".join(line for line in TEXT.splitlines() if not line.startswith("#"))
    joined = re.sub(r"\\\n\s*", "", lines)
    return [(name, rest) for name, _, rest in (line.partition(" ") for line in joined.splitlines()) if name]


def all_of(name: str) -> list[str]:
    return [rest for kind, rest in instructions() if kind == name]


def copied() -> list[str]:
    """Return the files and folders of the repository that are copied into the image."""
    words = [rest.split() for rest in all_of("COPY") if not rest.startswith("--from=")]
    return [source for *sources, _ in words for source in sources]


def in_context() -> set[str]:
    """Return the files of the repository that a build is given."""
    lines = (ROOT / ".dockerignore").read_text().splitlines()
    rules = [line for line in lines if line and not line.startswith("#")]
    assert rules[0] == "*"
    kept = [rule[1:] for rule in rules if rule.startswith("!")]
    never = [rule.removeprefix("**/") for rule in rules[1:] if not rule.startswith("!")]
    assert all((ROOT / name).exists() for name in kept)
    return {
        name
        for name in tracked()
        if any(name == one or name.startswith(f"{one}/") for one in kept)
        and not any(fnmatch.fnmatch(part, rule) for part in name.split("/") for rule in never)
    }


def test_its_instructions_are_known() -> None:
    assert {name for name, _ in instructions()} <= KNOWN
    assert instructions()[0] == ("ARG", "PYTHON=3.11")


def test_what_it_copies_is_there_and_not_ignored() -> None:
    files = in_context()
    assert copied()
    for source in copied():
        assert any(name == source or name.startswith(f"{source}/") for name in files), source
    # Nothing is sent that is not copied.
    assert {name for name in files if not any(name == one or name.startswith(f"{one}/") for one in copied())} == set()


def test_what_it_copies_makes_the_whole_wheel(tmp_path: Path) -> None:
    assert any(run.startswith("pip wheel ") for run in all_of("RUN"))
    files = in_context()
    for name in files:
        (tmp_path / "source" / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / name, tmp_path / "source" / name)
    command = [sys.executable, "-m", "build", "--wheel", "--no-isolation", "--skip-dependency-check"]
    subprocess.run([*command, "--outdir", tmp_path], cwd=tmp_path / "source", capture_output=True, check=True)
    (wheel,) = tmp_path.glob("*.whl")
    with zipfile.ZipFile(wheel) as archive:
        names = {name for name in archive.namelist() if ".dist-info/" not in name}
    packed = {name for name in tracked() if name.startswith("sleuth_env/")} | {"sleuth_command.py"}
    packed |= {f"sleuth_env/{name}" for name in tracked() if re.fullmatch(r"training/\w+\.py|configs/\w+\.yaml", name)}
    assert names == packed


def test_its_versions_are_those_of_the_package() -> None:
    assert all(image.startswith("python:${PYTHON}-slim") for image in all_of("FROM"))
    (python,) = re.findall(r"^ARG PYTHON=(.*)$", TEXT, re.M)
    assert PROJECT["requires-python"] == f">={python}"
    assert f"`python:{python}-slim`" in PAGE
    assert "--constraint /tmp/constraints.txt" in TEXT


def test_its_command_is_that_of_the_package_and_its_user_is_not_root() -> None:
    (entry,) = map(json.loads, all_of("ENTRYPOINT"))
    assert set(entry) == {"sleuth"} <= set(PROJECT["scripts"])
    with pytest.raises(SystemExit) as ended:
        parse(json.loads(all_of("CMD")[0]))
    assert ended.value.code == 0
    (user,) = all_of("USER")
    assert all(int(number) > 0 for number in user.split(":"))
    commands = re.findall(r"\bsleuth (\w+)", " ".join(all_of("RUN")))
    assert "compile" in commands
    assert set(commands) <= set(COMMANDS)


def lines_of(beginning: str) -> list[list[str]]:
    """Return the words of the commands of the page that begin so."""
    blocks = re.findall(r"^```sh\n(.*?)^```", PAGE, re.M | re.S)
    return [shlex.split(line) for block in blocks for line in block.splitlines() if line.startswith(beginning)]


def test_the_page_runs_commands_of_the_package_in_images_that_it_builds() -> None:
    builds = lines_of("docker build")
    images = {words[words.index("-t") + 1] for words in builds}
    runs = lines_of("docker run")
    assert len(runs) > 5
    for words in runs:
        at = next(at for at, word in enumerate(words) if word in images)
        command = words[at + 1 :]
        if command[0] in OF_TRAINING:
            assert command[1] in (*configurations(), "--resume")
        elif command != ["info"]:
            parse(command)


def test_the_page_names_arguments_and_extras_that_there_are() -> None:
    arguments = {argument.partition("=")[0] for argument in all_of("ARG")}
    given = [
        words[at + 1] for words in lines_of("docker build") for at, word in enumerate(words) if word == "--build-arg"
    ]
    assert {argument.partition("=")[0] for argument in given} <= arguments
    extras = re.findall(r"EXTRAS='\[([\w,]+)\]'", PAGE)
    assert extras
    for named in extras:
        assert set(named.split(",")) <= set(PROJECT["optional-dependencies"])
