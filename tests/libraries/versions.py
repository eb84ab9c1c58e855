"""Write down the versions with which a library was tested: ``python tests/libraries/versions.py NAME``.

It is run in the environment of the tests, when they have passed, and writes versions.json next to
this file; `docs/make_tables.py` makes a table of that.
"""

from __future__ import annotations

import json
import platform
import re
import sys
from importlib.metadata import PackageNotFoundError, requires, version
from pathlib import Path

FILE = Path(__file__).with_name("versions.json")
# What else matters, where it is installed.
BESIDES = ("torch", "tensordict", "pettingzoo", "gymnasium", "numpy")


def versions(extra: str) -> dict[str, str]:
    """Return the installed versions of what an extra of the package asks for, and of what matters besides.

    Raises:
        ValueError: there is no such extra.
    """
    found = {"python": platform.python_version()}
    for name in dict.fromkeys([*_asked_by(extra), *BESIDES]):
        try:
            # Without what it was built for: "2.13.0+cpu".
            found[name] = version(name).partition("+")[0]
        except PackageNotFoundError:
            continue
    return found


def _asked_by(extra: str) -> list[str]:
    """Return the packages that an extra asks for; of the package's own extras in it, theirs, but for training's."""
    marker = re.compile(rf"extra == ['\"]{re.escape(extra)}['\"]")
    asked = [line for line in requires("sleuth-env") or [] if marker.search(line)]
    if not asked:
        raise ValueError(f"sleuth-env has no extra {extra!r}")
    names = []
    for line in asked:
        name, _, more = re.match(r"([\w.-]+)(\[([\w,-]+)\])?", line).groups()
        others = more.split(",") if name == "sleuth-env" and more else []
        names += [one for other in others if other != "train" for one in _asked_by(other)] if others else [name]
    return names


def main(extra: str) -> None:
    """Add an extra's versions to the file."""
    known = json.loads(FILE.read_text()) if FILE.exists() else {}
    known[extra] = versions(extra)
    FILE.write_text(json.dumps(dict(sorted(known.items())), indent=2) + "\n")
    sys.stdout.write(f"{extra}: {', '.join(' '.join(one) for one in known[extra].items())}\n")


if __name__ == "__main__":
    main(sys.argv[1])
