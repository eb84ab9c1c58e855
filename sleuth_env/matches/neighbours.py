"""What lies beside a user's Python file, which the file may import.

Python has one module of each name, but two files may have neighbours of the same name that differ. So
the neighbours of a file are modules of the process only while code of this file runs.
"""

from __future__ import annotations

import ast
import importlib
import importlib.util
import os
import sys
import sysconfig
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.machinery import ModuleSpec, PathFinder
from pathlib import Path
from types import ModuleType
from typing import ClassVar

from ..files import read_bytes
from ..policies.policy_file import PolicyError

PYTHON = ".py"
MOST_FILE_BYTES = 1 << 26
PACKAGE = Path(__file__).parents[1]
# Files of players are modules of these names and a digest; they always are, because pickles name them.
PLAYER = "sleuth_player_"


def search_current_folder() -> None:
    """Let modules of the current folder be imported, after all others: the path of a script lacks it."""
    try:
        folder = os.getcwd()
    except OSError:
        # It has been removed.
        return
    if "" not in sys.path and folder not in sys.path:
        sys.path.append(folder)


class Neighbours:
    """The modules that a file imports from its folder.

    Args:
        content: of the file.
        folder: where it lies.

    Raises:
        PolicyError: what it imports, or what this imports in turn, has the name of a module of Python
            or of an installed one.
        OSError: one of these cannot be read.
    """

    _lock: ClassVar = threading.RLock()
    _running: ClassVar[Neighbours | None] = None  # whose modules are at hand

    def __init__(self, content: bytes, folder: Path) -> None:
        self._folder = folder
        self._names = _neighbours(content, folder)
        for name, place in self._names.items():
            if _is_installed(name):
                raise PolicyError(
                    f"it imports {name!r}, which is {place}, and a module that Python has already: rename it"
                )
        self._modules: dict[str, ModuleType] = {}
        self._hidden: dict[str, ModuleType] = {}  # others of these names
        self._count = 0  # of all modules, before code of the file runs
        self._writes_bytecode = False

    @contextmanager
    def at_hand(self) -> Iterator[None]:
        """Let code of the file run: it imports from its folder first."""
        with self._lock:
            outer = Neighbours._running
            if outer is not None:
                outer._put_away()
            self._put_forth()
            Neighbours._running = self
            try:
                yield
            finally:
                Neighbours._running = outer
                self._put_away()
                if outer is not None:
                    outer._put_forth()

    def _put_forth(self) -> None:
        if any(name in sys.modules for name in self._names):
            for name in list(sys.modules):
                if name.partition(".")[0] in self._names:
                    self._hidden[name] = sys.modules.pop(name)
        sys.modules.update(self._modules)
        sys.path.insert(0, str(self._folder))
        self._count = len(sys.modules)
        self._writes_bytecode = not sys.dont_write_bytecode
        # What Python keeps of a module may be that of another content: it looks at size and seconds only.
        sys.dont_write_bytecode = True

    def _put_away(self) -> None:
        sys.dont_write_bytecode = not self._writes_bytecode
        if str(self._folder) in sys.path:
            sys.path.remove(str(self._folder))
        # New modules stand behind all others; mostly there are none.
        new = list(sys.modules)[self._count :] if len(sys.modules) > self._count else []
        beside = {name for name in new if self._is_beside(name)}
        for name in new:
            if name.partition(".")[0] in beside:
                self._modules[name] = sys.modules[name]
        for name in self._modules:
            sys.modules.pop(name, None)
        sys.modules.update(self._hidden)
        self._hidden = {}

    def _is_beside(self, name: str) -> bool:
        """Return whether a module or package lies in the folder itself."""
        place = _place_of(getattr(sys.modules[name], "__spec__", None))
        if place is None or "." in name or name.startswith(PLAYER):
            return False
        return _whole(place).parent == self._folder


def neighbours(content: bytes, folder: Path) -> dict[str, bytes]:
    """Return the contents of what a file imports from its folder, and what this imports in turn.

    That is what it names in statements, and in calls of `import_module` and `__import__`.

    Args:
        content: of the file.
        folder: where it lies.

    Returns:
        The contents by their paths in the folder, with / between their parts.

    Raises:
        OSError: one of these cannot be read.
    """
    places = _neighbours(content, folder).values()
    return {path: source for place in places for path, source in _sources(place).items()}


def _neighbours(content: bytes, folder: Path) -> dict[str, Path]:
    """Return the places of the modules and packages that a file imports from its folder, by name."""
    importlib.invalidate_caches()
    found: dict[str, Path] = {}
    contents = [content]
    while contents:
        for name in _imports(contents.pop()):
            beside = _beside(folder, name)
            if beside is not None and name not in found:
                found[name] = beside
                contents.extend(_sources(beside).values())
    return found


def _imports(content: bytes) -> Iterator[str]:
    """Iterate over the modules and packages that a file imports, by the first part of their names."""
    try:
        tree = ast.parse(content)
    except (SyntaxError, ValueError):
        # Whoever imports it will say so.
        return
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name.partition(".")[0] for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.level == 0 and node.module is not None:
            yield node.module.partition(".")[0]
        elif isinstance(node, ast.Call) and _imports_by_name(node.func):
            yield from (str(one.value).partition(".")[0] for one in node.args if isinstance(one, ast.Constant))


def _imports_by_name(function: ast.expr) -> bool:
    name = function.attr if isinstance(function, ast.Attribute) else getattr(function, "id", "")
    return name in ("import_module", "__import__")


def _beside(folder: Path, name: str) -> Path | None:
    """Return the place of a module or package of a folder: its file, or the folder of one without a file."""
    place = _place_of(PathFinder.find_spec(name, [str(folder)])) if name.isidentifier() else None
    if place is None or place.parent == PACKAGE:
        return None
    if place.is_dir():
        # It gives way to any module and package.
        elsewhere = PathFinder.find_spec(name)
        if (elsewhere is not None and elsewhere.has_location) or not any(place.rglob(f"*{PYTHON}")):
            return None
    return place


def _is_installed(name: str) -> bool:
    """Return whether a module is one of Python, of this package, or has been imported and is installed."""
    if name in sys.stdlib_module_names or name == PACKAGE.name:
        return True
    place = _place_of(getattr(sys.modules.get(name), "__spec__", None))
    installed = (sysconfig.get_path("purelib"), sysconfig.get_path("platlib"))
    return place is not None and any(place.is_relative_to(folder) for folder in installed)


def _place_of(spec: ModuleSpec | None) -> Path | None:
    """Return where a module lies: its file, or the folder of a package without one; None for one of Python's own."""
    if spec is None:
        return None
    if spec.has_location and spec.origin is not None:
        return Path(spec.origin)
    return next(map(Path, spec.submodule_search_locations or ()), None)


def _whole(place: Path) -> Path:
    """Return what belongs to a module: its file, or the folder of a package."""
    return place.parent if place.name == f"__init__{PYTHON}" else place


def _sources(place: Path) -> dict[str, bytes]:
    """Return the contents of a module, or of all of a package, by their paths from the folder where it lies."""
    whole = _whole(place)
    files = whole.rglob(f"*{PYTHON}") if whole.is_dir() else [whole]
    return {file.relative_to(whole.parent).as_posix(): read_bytes(file, MOST_FILE_BYTES) for file in files}
