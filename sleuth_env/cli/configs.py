"""The command ``sleuth configs``: the configurations to train by that come with the package."""

from __future__ import annotations

import argparse
import shutil
from collections.abc import Sequence
from itertools import takewhile
from pathlib import Path

from ..trainer import configurations, names_instead
from .arguments import CommandError
from .parser import Parser, command_parser
from .screen import in_two_columns
from .streams import show

DESCRIPTION = (
    "List the configurations to train by that come with the package, or show one. `sleuth train NAME` trains by one; "
    "`sleuth configs NAME > mine.yaml` begins one of your own."
)
COMMENT = "# "
# A command to type.
INDENTED = "#  "


def make_parser(words: Sequence[str]) -> Parser:
    """Make the parser of this command."""
    parser = command_parser("configs", DESCRIPTION, ["", "three_players"])
    parser.add_argument("name", nargs="?", metavar="NAME", help="show this configuration instead of the list")
    return parser


def run(args: argparse.Namespace) -> int:
    """List them, or show one."""
    known = configurations()
    if args.name is None:
        rows = {name: _summary(path) for name, path in known.items()}
        show([in_two_columns(rows, shutil.get_terminal_size().columns, margin=0)])
        return 0
    if args.name not in known:
        raise CommandError(f"there is no configuration {args.name!r}{names_instead(args.name)}")
    show([known[args.name].read_text(encoding="utf-8").rstrip()])
    return 0


def _summary(path: Path) -> str:
    """Return the first sentence of what a configuration says of itself."""
    lines = path.read_text(encoding="utf-8").splitlines()
    said = takewhile(lambda line: line.startswith(COMMENT) and not line.startswith(INDENTED), lines)
    text = " ".join(line.removeprefix(COMMENT) for line in said)
    return f"{text.partition('. ')[0].rstrip('.:')}."
