"""A pen for drawings in letters: text of a fixed width, in colour where the terminal shows it."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from ..checks import check_flag, check_number

BOLD = "1"
DIM = "2"


class Pen:
    """Write text of a fixed width, in colour where the terminal shows it."""

    def __init__(self, colour: bool) -> None:
        self.colour = check_flag("colour", colour)

    def write(self, text: str, code: str = "", width: int = 0) -> str:
        """Return a text with its colour code, padded to a width."""
        padding = " " * max(0, width - len(text))
        return (f"\x1b[{code}m{text}\x1b[0m" if self.colour and code else text) + padding


def checked_size(columns: Any, lines: Any) -> tuple[int, int]:
    """Return the columns and lines of a terminal as ints; 0 stands for enough.

    Raises:
        ValueError: they are not whole numbers of at least 0.
    """
    return check_number("columns", columns, 0), check_number("lines", lines, 0)


def text_of(lines: Iterable[str]) -> str:
    """Return the lines of a drawing as a text, without the spaces that end them.

    >>> text_of(["a  ", " b"])
    'a\\n b\\n'
    """
    return "\n".join(line.rstrip() for line in lines) + "\n"
