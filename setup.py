"""What `pyproject.toml` cannot say.

The page of the package is the README with links that lead somewhere: in a clone they lead to files
beside it, and on a package index there are none. Training and its configurations, which lie beside the
package, are built into it.
"""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

from setuptools import find_packages, setup

ROOT = Path(__file__).parent
# An image or a link of Markdown: the mark of an image, the text in brackets, the target.
LINK = re.compile(r"(!?)(\[[^\]]*\])\(([^)\s]+)\)")


def absolute(text: str, repository: str) -> str:
    """Return a page in which relative links lead into a repository, and pictures to the file itself."""

    def lead(found: re.Match[str]) -> str:
        mark, words, target = found.groups()
        if target.startswith(("https://", "#")):
            return found[0]
        return f"{mark}{words}({repository}/{'raw' if mark else 'blob'}/HEAD/{target})"

    return LINK.sub(lead, text)


def package_page() -> str:
    """Return the page of the package, in Markdown."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    return absolute((ROOT / "README.md").read_text(encoding="utf-8"), project["urls"]["Repository"])


# Folders that lie elsewhere, and what they are in the package.
ELSEWHERE = {"sleuth_env.training": "training", "sleuth_env.configs": "configs"}

# Also where a build frontend runs this file.
if __name__ == "__main__":
    setup(
        long_description=package_page(),
        long_description_content_type="text/markdown",
        packages=[*find_packages(include=["sleuth_env*"]), *ELSEWHERE],
        package_dir=ELSEWHERE,
    )
