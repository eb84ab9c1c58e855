"""What game texts of all games have in common: lines with comments, a header, options, a generator.

Each line is checked as it is read; nothing in a text is ever executed.
"""

from __future__ import annotations

import io
from dataclasses import fields
from typing import Any, NoReturn

from .naming import NotationError, alternatives, quoted
from .options import OptionError, parse_option

MAX_TEXT = 2_000_000  # characters of a game text
MAX_SHOWN = 40  # characters of a foreign word that an error repeats


def fail(number: int, line: str, message: str) -> NoReturn:
    """Refuse a line of a text."""
    raise NotationError(f"line {number}: {message}: {quoted(line)}")


class Lines:
    """The lines of a text that are neither empty nor comments (after ``#``), with their numbers."""

    def __init__(self, text: str) -> None:
        # One after the other: a list of a million short lines would take fifty times the memory of
        # the text.
        numbered = enumerate(io.StringIO(text, newline="\n"), 1)
        self._lines = ((number, line) for number, raw in numbered if (line := raw.partition("#")[0].rstrip()))
        self._end = text.count("\n") + 1
        self._next = next(self._lines, None)

    def next(self, expected: str) -> tuple[int, str]:
        """Return the next line with its number; raise an error with what was expected otherwise."""
        if self._next is None:
            raise NotationError(f"line {self._end}: the text ends where {expected} is expected")
        line = self._next
        self._next = next(self._lines, None)
        return line

    def value(self, key: str) -> tuple[int, str, str]:
        """Return number, text and value of the next line, which must be ``key: value``."""
        number, line = self.next(f"'{key}: ...'")
        found, _, value = line.partition(": ")
        if found != key or not value:
            fail(number, line, f"expected '{key}: ...'")
        return number, line, value

    def done(self) -> bool:
        """Whether all lines have been read."""
        return self._next is None


def check_text(text: object) -> None:
    """Check what is to be read as a game text before it is.

    Raises:
        NotationError: it is not a text, or too long.
    """
    if not isinstance(text, str):
        raise NotationError(f"a game text must be a str, got {quoted(text)}")
    if len(text) > MAX_TEXT:
        raise NotationError(f"a game text has at most {MAX_TEXT} characters, got {len(text)}")


def read_header(lines: Lines, header: str) -> None:
    """Read the first line, which names the game and the version of the format: ``sleuth game 1``."""
    number, line = lines.next(f"'{header}'")
    game, _, version = header.rpartition(" ")
    if line.startswith(f"{game} ") and line != header:
        fail(number, line, f"this version of the format is unknown, only {version} can be read")
    if line != header:
        fail(number, line, f"a game text starts with '{header}'")


def option_words(options: Any) -> str:
    """Return the options that are not the default, and the number of players, as words NAME=VALUE."""
    changed = (f.name for f in fields(options) if f.name == "num_players" or getattr(options, f.name) != f.default)
    return " ".join(f"{name}={getattr(options, name)}" for name in changed)


def read_options(lines: Lines, kind: type[Any]) -> Any:
    """Read the line of options (see `option_words`) of a game that has these options."""
    number, line, words = lines.value("options")
    names = [field.name for field in fields(kind)]
    chosen: dict[str, Any] = {}
    for word in words.split(" "):
        name, _, value = word.partition("=")
        if name not in names:
            fail(number, line, f"unknown option {quoted(name)}; expected {alternatives(name, names)}")
        if name in chosen:
            fail(number, line, f"option {name} is given twice")
        chosen[name] = parse_option(kind, name, value[:MAX_SHOWN])
    try:
        return kind(**chosen)
    except OptionError as error:
        fail(number, line, str(error))


def read_generator(lines: Lines) -> int:
    """Read the state of the random generator (u8)."""
    number, line, value = lines.value("generator")
    if len(value) != 18 or value[:2] != "0x" or not set(value[2:]) <= set("0123456789abcdef"):
        fail(number, line, "the generator must be 0x and 16 hexadecimal digits (0-9, a-f)")
    return int(value, 16)
