"""The scripts of a page as one: modules of JavaScript that import one another, put into one text.

The modules are files of the folder ``static`` and keep to a few forms, each at the beginning of a line:

- ``import { one, two as other } from "./name.js";``
- ``export function name``, ``export async function name``, ``export class Name``, ``export const NAME``

Each becomes a function that is called once and returns what it exports, so names of modules do not
get into one another's way.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from pathlib import Path

STATIC = Path(__file__).parent / "static"
IMPORT = re.compile(r'^import \{([^{}]*)\} from "\./([a-z_]+)\.js";$', re.M)
EXPORT = re.compile(r"^export (?=(?:(?:async )?function|class|const) (\w+))", re.M)
# Whatever else would need a loader of modules.
OTHER = re.compile(r"^\s*(?:import|export)\b|\bimport\s*\(", re.M)


class ModuleFormError(ValueError):
    """A module does not keep to the forms; the message names it and quotes the line."""


def read_static(name: str) -> str:
    """Return the text of a file of the folder ``static``."""
    return (STATIC / name).read_text(encoding="utf-8")


def in_one_script(name: str, read: Callable[[str], str] = read_static) -> str:
    """Return a module and all that it imports as one script, in which nothing is imported.

    Args:
        name: of the module, such as ``replay``.
        read: returns the text of a file by its name.

    Raises:
        ModuleFormError: a module has another form, or modules import one another in a circle.

    >>> files = {"a.js": 'import { b } from "./b.js";\\nb();', "b.js": "export function b() {}"}
    >>> print(in_one_script("a", files.__getitem__))
    const $b = (() => {
    function b() {}
    return { b };
    })();
    {
    const { b } = $b;
    b();
    }
    """
    *needed, last = _in_order(name, read, ())
    parts = [
        f"const ${module} = (() => {{\n{text}\nreturn {{ {', '.join(names)} }};\n}})();"
        for module, text, names in needed
    ]
    return "\n".join([*parts, f"{{\n{last[1]}\n}}"])


def _in_order(name: str, read: Callable[[str], str], above: tuple[str, ...]) -> list[tuple[str, str, list[str]]]:
    """Return the modules that one needs and itself, each after those that it needs.

    Each is its name, its text without the words of modules, and the names that it exports.
    """
    if name in above:
        raise ModuleFormError(f"modules import one another in a circle: {' -> '.join((*above, name))}")
    text = read(f"{name}.js").strip()
    found: dict[str, tuple[str, str, list[str]]] = {}
    for imported in IMPORT.finditer(text):
        for module in _in_order(imported[2], read, (*above, name)):
            found.setdefault(module[0], module)
    names = [exported[1] for exported in EXPORT.finditer(text)]
    text = EXPORT.sub("", IMPORT.sub(_taken, text))
    if other := OTHER.search(text):
        line = text[other.start() :].strip().partition("\n")[0]
        raise ModuleFormError(
            f"{name}.js: {line!r} is not a form of an import or an export that can be put into a page"
        )
    return [*found.values(), (name, text, names)]


def _taken(imported: re.Match[str]) -> str:
    """Return an import as a statement that takes the names from what the module returned."""
    names = ", ".join(_renamed(imported[1]))
    return f"const {{ {names} }} = ${imported[2]};"


def _renamed(names: str) -> Iterator[str]:
    for name in names.split(","):
        if name.strip():
            yield re.sub(r"\s+as\s+", ": ", name.strip())
