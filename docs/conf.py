"""How Sphinx builds the manual: ``make docs``. Nothing here needs a network."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
# The manual is of this tree, whatever is installed.
sys.path.insert(0, str(ROOT))

from docs.make_replays import write_replays  # noqa: E402
from sleuth_env import __version__  # noqa: E402

project = "sleuth-env"
author = "The sleuth-env authors"
copyright = author
release = __version__
version = release

extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.napoleon"]
exclude_patterns = ["_build"]
html_theme = "furo"
html_static_path = ["_static"]
html_title = f"sleuth-env {release}"

# What stands between single backticks is code.
default_role = "code"
# Links to headings, by the names that GitHub gives them.
myst_heading_anchors = 3
myst_enable_extensions = ["deflist"]

autodoc_member_order = "bysource"
autodoc_typehints = "signature"
# A class is described by its own docstring, not by that of its constructor.
autoclass_content = "class"
napoleon_google_docstring = True
napoleon_numpy_docstring = False


def setup(app: Any) -> None:
    """Put the replays that a page shows beside the pages."""
    app.connect("build-finished", lambda built, error: error or write_replays(Path(built.outdir) / "replays"))
