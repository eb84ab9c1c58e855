"""What lies beside a user's Python file, which the file may import.

A process has one module of each name, and the folders of all files that were named are searched
after the others. So a module that lies beside a file might be another's, of the same name; which
one it is says `check_neighbours` before the file is run.
"""

from __future__ import annotations

import ast
import importlib
import importlib.util
import os
import sys
from collections.abc import Iterator
from pathlib import Path

from ..files import read_bytes
from ..policies.policy_file import PolicyError

PYTHON = ".py"
MOST_FILE_BYTES = 1 << 26


def search_current_folder() -> None:
    """Let modules of the current folder be imported, after all others: the path of a script lacks it."""
    try:
        folder = os.getcwd()
    except OSError:
        # It has been removed.
        return
    if "" not in sys.path:
        search_folder(folder)


def search_folder(folder: str | Path) -> None:
    """Let modules of a folder be imported, after all others."""
    if str(folder) not in sys.path:
        sys.path.append(str(folder))


def neighbours(content: bytes, folder: Path) -> dict[str, bytes]:
    """Return the contents of what a file imports from its folder, and what this imports in turn.

    Args:
        content: of the file.
        folder: where it lies.

    Returns:
        The contents by their paths in the folder.

    Raises:
        OSError: one of these cannot be read.
    """
    found = _neighbours(content, folder).items()
    return {
        str(file.parent.relative_to(folder) / place): source
        for _, file in found
        for place, source in _sources(file).items()
    }


def check_neighbours(content: bytes, folder: Path) -> None:
    """See that a file gets what lies beside it, and no other module of the same name.

    Modules of the same content are as good as one: a folder may be copied. See `neighbours`.

    Args:
        content: of the file.
        folder: where it lies, which is searched (`search_folder`).

    Raises:
        PolicyError: what it imports, or what this imports in turn, lies there and would not be taken from there.
        OSError: one of these cannot be read.
    """
    importlib.invalidate_caches()
    for name, beside in _neighbours(content, folder).items():
        found = _found(name)
        if found is None or (found != beside and _sources(found) != _sources(beside)):
            raise PolicyError(
                f"it imports {name!r}, which would not be {beside}, but {found or 'a module of Python'}, "
                "and they differ: give one of them another name"
            )


def _neighbours(content: bytes, folder: Path) -> dict[str, Path]:
    """Return the files of the modules and packages that a file imports from its folder, by name."""
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


def _beside(folder: Path, name: str) -> Path | None:
    """Return the file of a module or package of a folder."""
    files = (folder / name / f"__init__{PYTHON}", folder / f"{name}{PYTHON}")
    return next((file for file in files if file.is_file()), None)


def _found(name: str) -> Path | None:
    """Return the file that Python takes for the name of a module; None where it has none."""
    if name in sys.modules:
        file = getattr(sys.modules[name], "__file__", None)
    else:
        spec = importlib.util.find_spec(name)
        file = spec.origin if spec is not None and spec.has_location else None
    return None if file is None else Path(file)


def _sources(file: Path) -> dict[str, bytes]:
    """Return the contents of a module, or of all of a package, by their places in it."""
    package = file.parent
    files = package.rglob(f"*{PYTHON}") if file.name == f"__init__{PYTHON}" else [file]
    return {str(path.relative_to(package)): read_bytes(path, MOST_FILE_BYTES) for path in files}
