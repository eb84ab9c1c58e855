"""What the command line reads and writes: the standard streams, made fit to use, and files."""

from __future__ import annotations

import codecs
import errno
import io
import os
import shutil
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from ..files import read_bytes, write_atomically
from .arguments import CommandError, why_not_writable

if TYPE_CHECKING:
    from prompt_toolkit.buffer import Buffer
    from prompt_toolkit.key_binding import KeyBindings, KeyPressEvent

# The signs of a drawing where the terminal's encoding lacks them, as in the locale C. Python's own
# substitute is a question mark, which means something in a drawing.
PLAIN_ERRORS = "sleuth_env.plain"
PLAIN = str.maketrans({"·": ".", "─": "-", "═": "=", "│": "|", "…": "~"})

# Characters. An endless line must not fill the memory.
LONGEST_LINE = 100_000
LONGEST_TYPED = 1000
# A longer text that is pasted is none that anybody means for a prompt.
LONGEST_PASTE = 20_000
# Lines, or decisions, in a row of which nothing comes.
MOST_FRUITLESS = 100


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
    """Read a file of text, - for stdin, of at most a number of bytes.

    Raises:
        CommandError: it cannot be read, is not text, or is larger.
    """
    try:
        if name != "-":
            return io.TextIOWrapper(io.BytesIO(read_bytes(name, limit)), encoding="utf-8-sig").read()
        if hasattr(sys.stdin, "reconfigure"):
            sys.stdin.reconfigure(encoding="utf-8-sig", errors="strict")
        text = sys.stdin.read(limit + 1)
        if len(text) > limit:
            raise OSError(f"it is larger than any game text ({limit} bytes)")
        return text
    except OSError as error:
        more = "; - reads stdin" if os.path.exists(name) and not os.path.isfile(name) else ""
        more = "" if os.path.isdir(name) else more
        raise CommandError(f"{called(name)} cannot be read: {error.strerror or error}{more}") from error
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


def leads_nowhere(number: int) -> bool:
    """Return whether the input, which nobody types, has gone on for too long without effect; see `check_fruitless`."""
    return number >= MOST_FRUITLESS and not sys.stdin.isatty()


def check_fruitless(number: int, what: str) -> None:
    """Refuse to go on where an input that nobody types leads nowhere.

    Args:
        number: how much of it has come of which nothing came.
        what: is counted.

    Raises:
        CommandError: it is too much.
    """
    if leads_nowhere(number):
        raise CommandError(f"the input has {MOST_FRUITLESS} {what}")


def paste_as_typed() -> KeyBindings:
    """Return a key binding that reads pasted text as if it were typed: the end of a line is Enter.

    What follows the first line is kept by prompt_toolkit for the next prompt.
    """
    from prompt_toolkit.key_binding import KeyBindings, KeyPress
    from prompt_toolkit.keys import Keys

    bindings = KeyBindings()

    @bindings.add(Keys.BracketedPaste)
    def _(event: KeyPressEvent) -> None:
        """Type the text, but for what is not a letter."""
        if len(event.data) > LONGEST_PASTE:
            event.app.output.bell()
            return
        text = event.data.replace("\r\n", "\n").replace("\r", "\n").replace("\t", " ")
        keys = [Keys.ControlM if sign == "\n" else sign for sign in text if sign == "\n" or sign.isprintable()]
        event.key_processor.feed_multiple([KeyPress(key) for key in keys], first=True)

    return bindings


def no_longer_than_a_line(buffer: Buffer) -> None:
    """Cut what is typed off where it is longer than anything that is meant: it takes ever longer to draw."""
    if len(buffer.text) > LONGEST_TYPED:
        buffer.text = buffer.text[:LONGEST_TYPED]


def called(name: str) -> str:
    """Return what messages call a file."""
    return "stdin" if name == "-" else name


def write_text(name: str, text: str, replace: bool = True) -> None:
    """Write a file whole, or leave everything as it was.

    Args:
        name: of the file.
        text: its content.
        replace: whether an existing file may be replaced.

    Raises:
        WriteError: it cannot be written.
    """
    try:
        content = text.encode()
        if not replace:
            _write_new(Path(name), content)
        elif why := why_not_writable(name):
            raise WriteError(f"{name} cannot be written: {why}")
        else:
            _replace(Path(os.path.realpath(name)), content)
    except FileExistsError as error:
        raise WriteError(f"{name} exists and was left as it is: choose another name") from error
    except OSError as error:
        raise WriteError(f"{name} cannot be written: {error.strerror or error}") from error
    except ValueError as error:
        # A null character, or one that names of files cannot have here.
        raise WriteError(f"{name!r} cannot be the name of a file") from error


def _write_new(path: Path, content: bytes) -> None:
    """Write a file that is not there yet; half of one does not stay."""
    with path.open("xb") as file:
        try:
            file.write(content)
            file.flush()
        except BaseException:
            path.unlink(missing_ok=True)
            raise


def _replace(path: Path, content: bytes) -> None:
    """Write a file in the place of another, or to a device."""
    if not path.exists() or path.is_file():
        try:
            write_atomically(path, content)
            return
        except OSError as error:
            # A folder that takes no files, or a file that is mounted: it cannot be exchanged.
            if not path.exists() or error.errno not in (errno.EACCES, errno.EPERM, errno.EBUSY, errno.EXDEV):
                raise
    with path.open("wb") as file:
        file.write(content)
