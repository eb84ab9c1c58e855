"""What the command line reads and writes: the standard streams, made fit to use, and files."""

from __future__ import annotations

import codecs
import os
import shutil
import stat
import sys
from collections.abc import Sequence

from .arguments import CommandError

# The signs of a drawing where the terminal's encoding lacks them, as in the locale C. Python's own
# substitute is a question mark, which means something in a drawing.
PLAIN_ERRORS = "sleuth_env.plain"
PLAIN = str.maketrans({"·": ".", "─": "-", "═": "=", "│": "|", "…": "~"})

# Characters. An endless line must not fill the memory.
LONGEST_LINE = 100_000


class WriteError(Exception):
    """Something could not be written; the message says why."""


def _plainly(error: UnicodeError) -> tuple[str | bytes, int]:
    """Replace what an encoding lacks by the sign of `PLAIN`, else by its number.

    It is an error handler of `codecs`.
    """
    if not isinstance(error, UnicodeEncodeError):
        raise error
    text = error.object[error.start : error.end].translate(PLAIN)
    return text.encode("ascii", "backslashreplace").decode("ascii"), error.end


def prepare_streams() -> None:
    """Make the standard streams fit to use whatever the process was started with.

    Raises:
        WriteError: stdout is closed.
    """
    if sys.stdout is None:
        raise WriteError("the output cannot be written: stdout is closed")
    for name, mode in (("stdin", "r"), ("stderr", "w")):
        # A stream that was closed is None.
        if getattr(sys, name) is None:
            setattr(sys, name, open(os.devnull, mode, encoding="utf-8"))  # noqa: SIM115
    codecs.register_error(PLAIN_ERRORS, _plainly)
    # Foreign bytes of the input are kept as they are: they may be part of the name of a file.
    handlers = ((sys.stdin, "surrogateescape"), (sys.stdout, PLAIN_ERRORS), (sys.stderr, PLAIN_ERRORS))
    for stream, errors in handlers:
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors=errors)


def in_colour() -> bool:
    """Return whether what is shown may be coloured."""
    return sys.stdout.isatty() and "NO_COLOR" not in os.environ and os.environ.get("TERM") != "dumb"


def warn_of_a_narrow_terminal(needed: int) -> None:
    """Say that drawings will look broken where a terminal has fewer columns than they need."""
    columns = shutil.get_terminal_size((needed, 24)).columns
    if sys.stdout.isatty() and columns < needed:
        sys.stderr.write(
            f"sleuth: drawings are {needed} columns wide, this terminal has {columns}: "
            "make it wider, or its letters smaller\n"
        )


def show(lines: Sequence[str]) -> None:
    """Write lines to stdout."""
    sys.stdout.write("\n".join(lines) + "\n")


def read_text(name: str, limit: int) -> str:
    """Read a file of text, - for stdin, up to a number of characters.

    Raises:
        CommandError: it cannot be read, or is not text.
    """
    try:
        if name == "-":
            if hasattr(sys.stdin, "reconfigure"):
                sys.stdin.reconfigure(encoding="utf-8-sig", errors="strict")
            return sys.stdin.read(limit)
        mode = os.stat(name).st_mode
        if not stat.S_ISREG(mode) and not stat.S_ISDIR(mode):
            # Opening a pipe that nobody writes to would wait forever.
            raise CommandError(f"{name} cannot be read: it is not a regular file; - reads stdin")
        with open(name, encoding="utf-8-sig") as file:
            return file.read(limit)
    except OSError as error:
        raise CommandError(f"{called(name)} cannot be read: {error.strerror or error}") from error
    except UnicodeDecodeError as error:
        raise CommandError(f"{called(name)} is not a game text: it is not UTF-8") from error


def read_line() -> str:
    """Read a line from stdin, with its end; empty where the input has ended.

    Raises:
        CommandError: it cannot be read, or does not end.
    """
    try:
        line = sys.stdin.readline(LONGEST_LINE)
    except OSError as error:
        raise CommandError(f"the input cannot be read: {error.strerror or error}") from error
    if len(line) == LONGEST_LINE:
        raise CommandError(f"the input has a line of {LONGEST_LINE} characters or more")
    return line


def called(name: str) -> str:
    """Return what messages call a file."""
    return "stdin" if name == "-" else name


def write_text(name: str, text: str, replace: bool = True) -> None:
    """Write a file.

    Args:
        name: of the file.
        text: its content.
        replace: whether an existing file may be replaced.

    Raises:
        WriteError: it cannot be written.
    """
    try:
        with open(name, "w" if replace else "x", encoding="utf-8") as file:
            file.write(text)
    except FileExistsError as error:
        raise WriteError(f"{name} exists and was left as it is: choose another name") from error
    except OSError as error:
        raise WriteError(f"{name} cannot be written: {error.strerror or error}") from error
    except ValueError as error:
        # A null character, or one that names of files cannot have here.
        raise WriteError(f"{name!r} cannot be the name of a file") from error
