"""The size of the terminal, and text laid out in it."""

from __future__ import annotations

import io
import os
import shutil
import sys
import textwrap
from collections.abc import Mapping, Sequence

# Prose is not wider than this, however wide the terminal is.
WIDEST_PROSE = 100
USUAL_SIZE = (80, 24)
# What a colour begins with.
ESCAPE = "\x1b"


def drawing_size() -> tuple[int, int]:
    """Return the columns and lines that a drawing may have.

    0 stands for enough: nothing that is written to a file or a pipe is cut to the size of a
    terminal, unless COLUMNS asks for it.
    """
    if not sys.stdout.isatty() and not os.environ.get("COLUMNS", "").isdecimal():
        return 0, 0
    columns, lines = shutil.get_terminal_size(USUAL_SIZE)
    return columns, lines if sys.stdout.isatty() or "LINES" in os.environ else 0


def columns_for_prose() -> int:
    """Return the columns that a list or a paragraph may have."""
    return min((drawing_size()[0] or USUAL_SIZE[0]) - 1, WIDEST_PROSE)


def in_paragraphs(paragraphs: Sequence[str], width: int) -> str:
    """Lay out paragraphs with an empty line between two."""
    return "\n\n".join(wrapped(paragraph, width) for paragraph in paragraphs)


def wrapped(text: str, width: int) -> str:
    """Break a line between words where it is longer than a width; the names of a notation are words."""
    return "\n".join(textwrap.wrap(text, max(width, 20), break_on_hyphens=False))


def fitted(text: str, columns: int) -> str:
    """Break the lines of a text that are longer than a number of columns, between words; 0: none is too long.

    Drawings fit already; in coloured ones there is more than is seen.

    >>> print(fitted("  asked opal with opal: 2", 16))
      asked opal
        with opal: 2
    """
    return "\n".join(_fitted(line, columns) for line in text.split("\n")) if columns else text


def _fitted(line: str, columns: int) -> str:
    if len(line) <= columns or ESCAPE in line:
        return line
    indent = " " * (len(line) - len(line.lstrip()))
    lines = textwrap.wrap(
        line.strip(),
        max(columns, len(indent) + 20),
        initial_indent=indent,
        subsequent_indent=f"{indent}  ",
        break_on_hyphens=False,
    )
    return "\n".join(lines)


def in_two_columns(rows: Mapping[str, str], width: int, margin: int = 2) -> str:
    """Lay out names, behind a margin, and what each means, which is broken to the right of them."""
    indent = margin + max(map(len, rows)) + 2
    lines = []
    for name, meaning in rows.items():
        first = f"{' ' * margin}{name}".ljust(indent)
        lines += textwrap.wrap(
            meaning,
            max(width, indent + 20),
            initial_indent=first,
            subsequent_indent=" " * indent,
            break_on_hyphens=False,
        )
    return "\n".join(lines)


def in_columns(entries: Sequence[str], width: int) -> str:
    """Lay out entries in as many columns as fit, to be read downwards."""
    from rich.columns import Columns
    from rich.console import Console
    from rich.text import Text

    size = max(map(len, entries))
    file = io.StringIO()
    # An entry that is wider than the terminal is not broken.
    console = Console(file=file, width=max(width, size + 1), color_system=None, legacy_windows=False)
    console.print(Columns(map(Text, entries), width=size, column_first=True))
    return "\n".join(line.rstrip() for line in file.getvalue().splitlines())
