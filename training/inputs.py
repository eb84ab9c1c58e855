"""The files that a run plays with: copied into its folder by content, so that it needs no others.

In the folder ``inputs`` lie the copies, each named by the SHA-256 of its content, and ``index.yaml``
with the name that the configuration has for each and where it came from. Policy files and Python
files are played from their copies; that of a Python file is a folder with what the file imports from
beside it. A player of a module (``MODULE:NAME``) is imported as ever, because a module may be a part of a
package: its copy only tells whether it has changed. A program (``exec:COMMAND``) is not copied: it is
started in the current folder, where the run begins and where it is resumed.
"""

from __future__ import annotations

import re
from dataclasses import asdict, dataclass
from hashlib import sha256
from pathlib import Path
from typing import Any

import yaml

from sleuth_env.files import read_bytes, write_atomically
from sleuth_env.matches.imported import in_file, moved
from sleuth_env.matches.neighbours import PYTHON, neighbours
from sleuth_env.matches.players import make_player, source_of
from sleuth_env.matches.program import ProgramPlayer
from sleuth_env.policies.policy_file import SUFFIX, names_file

from .config import Config, ConfigError
from .config_file import read_file, shown

FOLDER = "inputs"
INDEX = "index.yaml"


@dataclass(frozen=True)
class Source:
    """A file as it was when it was copied.

    Args:
        sha256: of its content, in hexadecimal digits; the copy's name.
        path: where it lay, as an absolute path.
    """

    sha256: str
    path: str


class Inputs:
    """Make players of names, from the copies of the files that the names mean.

    What has no copy yet is read where it lies; `keep` copies it.

    Args:
        config: the run's.
        folder: the run folder.

    Raises:
        ConfigError: the run has begun, and its folder has no index, or one that is not one.
    """

    def __init__(self, config: Config, folder: Path) -> None:
        self.config = config
        self.folder = folder / FOLDER
        index = self.folder / INDEX
        has_begun = folder.exists()
        if has_begun and not index.exists():
            raise ConfigError(f"{index} is missing, which says what the run was started with")
        self.sources = _read_index(index) if has_begun else {}
        # Contents by the names of their copies, until they are kept.
        self._fresh: dict[str, dict[str, bytes]] = {}

    def player(self, name: str) -> Any:
        """Return the player that a name of the configuration means: a bot, or one of a file or module.

        Raises:
            ValueError: there is none, it cannot play this game, or its copy is damaged.
            OSError: a file cannot be read.
        """
        source = source_of(name, self.config.module)
        if name not in self.sources:
            return self._made(name) if source is None else self._first_read(name, source)
        copy = self._copy(name)
        if copy.name in self._fresh or not _plays_copy(name):
            return self._made(name)
        try:
            files = _read_copy(name, copy)
        except FileNotFoundError as error:
            raise ConfigError(f"{copy} is missing, the copy of {name} with which the run began") from error
        if _digest(files) != self.sources[name].sha256:
            raise ConfigError(f"{copy} is damaged: it is not the copy of {name} with which the run began")
        if in_file(name):
            return self._made(moved(name, copy / _file_name(self.sources[name].path)))
        player = self._made(str(copy))
        # Messages name it as the configuration does.
        player.name = Path(name).name.removesuffix(SUFFIX)
        return player

    def _made(self, text: str) -> Any:
        player = make_player(text, self.config.options, self.config.module)
        if isinstance(player, ProgramPlayer):
            # It is not copied: a run that is resumed elsewhere may not find it any more.
            player.try_out()
        return player

    def _copy(self, name: str) -> Path:
        suffix = SUFFIX if names_file(name) else "" if in_file(name) else PYTHON
        return self.folder / (self.sources[name].sha256 + suffix)

    def _first_read(self, name: str, path: Path) -> Any:
        before = _mark(path)
        player = self._made(name)
        files = _read(name, path)
        if before is None or _mark(path) != before:
            raise ConfigError(f"{name} was changed while it was read; begin again")
        self.sources[name] = Source(_digest(files), str(path.absolute()))
        self._fresh[self._copy(name).name] = files
        return player

    def keep(self) -> None:
        """Copy what has been read into the folder; the index comes last, so that it never lies."""
        if not self._fresh and self.folder.exists():
            return
        self.folder.mkdir(exist_ok=True)
        for copy, files in self._fresh.items():
            for place, content in files.items():
                path = self.folder / copy / place
                path.parent.mkdir(parents=True, exist_ok=True)
                write_atomically(path, content)
        index = {name: asdict(source) for name, source in self.sources.items()}
        write_atomically(self.folder / INDEX, yaml.safe_dump(index, sort_keys=False).encode())
        self._fresh = {}

    def changed(self) -> list[str]:
        """Say which files are not any more what they were when they were copied, a line each.

        A missing one is left out: the run may have moved to another machine.
        """
        return [
            f"{name} has changed since the run began ({source.path}); "
            + (f"the run goes on with the copy in {self.folder}" if _plays_copy(name) else "the run goes on with it")
            for name, source in self.sources.items()
            if self._has_changed(name, source)
        ]

    def _has_changed(self, name: str, source: Source) -> bool:
        path = Path(source.path)
        try:
            return path.is_file() and self._copy(name).exists() and _digest(_read(name, path)) != source.sha256
        except (OSError, ValueError):
            return False


def _read(name: str, path: Path) -> dict[str, bytes]:
    """Return what a name means, in its file: the contents by their places in the copy, "" for the copy itself."""
    content = read_bytes(path)
    return {path.name: content, **neighbours(content, path.resolve().parent)} if in_file(name) else {"": content}


def _read_copy(name: str, copy: Path) -> dict[str, bytes]:
    if not in_file(name):
        return {"": read_bytes(copy)}
    if not copy.exists():
        raise FileNotFoundError
    # Python keeps what it has compiled there, too.
    return {path.relative_to(copy).as_posix(): read_bytes(path) for path in copy.rglob(f"*{PYTHON}")}


def _file_name(path: str) -> str:
    """Return the last part of a path that may be of another system."""
    return re.split(r"[/\\]", path)[-1]


def _digest(files: dict[str, bytes]) -> str:
    """Return the SHA-256 of a file, or of the list of those of a folder."""
    digests = {place: sha256(content).hexdigest() for place, content in files.items()}
    if "" in digests:
        return digests[""]
    lines = [f"{digest} {place}" for place, digest in sorted(digests.items())]
    return sha256("\n".join(lines).encode()).hexdigest()


def _plays_copy(name: str) -> bool:
    """Return whether a name means a file that says all, not a module."""
    return names_file(name) or in_file(name)


def _mark(path: Path) -> tuple[int, int, int] | None:
    """Return what a change of a file changes; None where there is none."""
    try:
        about = path.stat()
    except (OSError, ValueError):
        return None
    return about.st_ino, about.st_size, about.st_mtime_ns


def _read_index(path: Path) -> dict[str, Source]:
    sources = {}
    for name, entry in read_file(path).items():
        if (
            not isinstance(name, str)
            or not isinstance(entry, dict)
            or set(entry) != {"sha256", "path"}
            or not all(isinstance(value, str) for value in entry.values())
            or not re.fullmatch("[0-9a-f]{64}", entry["sha256"])
            or "\0" in entry["path"]
        ):
            raise ConfigError(f"{path}: must map names to their sha256 and path, got {shown({name: entry})}")
        sources[name] = Source(**entry)
    return sources
