"""What the words of a command line mean; whatever is wrong with them is said in one line."""

from __future__ import annotations

import argparse
import csv
import io
import math
import os
import re
import stat
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

from ..checks import did_you_mean
from ..game import GAMES, Game, load_game, make_options
from ..matches.neighbours import search_current_folder
from ..options import UnknownOptionError, described, parse_option
from ..policies.policy_file import names_file

# How several names stand in one word.
LISTED = "separated by commas (a name with a comma in double quotes)"


class CommandError(ValueError):
    """What was typed after ``sleuth`` cannot be done; the message says why."""


def whole(least: int, most: int) -> Callable[[str], int]:
    """Make a reader of whole numbers that says what it wants."""

    def read(text: str) -> int:
        """Read one."""
        if not re.fullmatch(r"-?[0-9]{1,30}", text) or not least <= int(text) <= most:
            raise argparse.ArgumentTypeError(f"must be a whole number from {least} to {most}, got {text[:40]!r}")
        return int(text)

    return read


def perhaps_whole(text: str) -> int | str:
    """Read a whole number; what is not one stays text, for whoever knows the range to refuse.

    >>> perhaps_whole("3"), perhaps_whole("x")
    (3, 'x')
    """
    return int(text) if re.fullmatch("-?[0-9]{1,30}", text) else text


def real(least: float, most: float) -> Callable[[str], float]:
    """Make a reader of numbers that says what it wants."""

    def read(text: str) -> float:
        """Read one."""
        try:
            value = float(text)
        except ValueError:
            value = math.nan
        # Not a number is in no range.
        if not least <= value <= most:
            raise argparse.ArgumentTypeError(f"must be a number from {least:g} to {most:g}, got {text[:40]!r}")
        return value

    return read


def some(allowed: Sequence[str]) -> Callable[[str], list[str]]:
    """Make a reader of lists, separated by commas, of what is allowed."""

    def names(text: str) -> list[str]:
        """Read one."""
        found = text.split(",")
        for name in found:
            if name not in allowed:
                raise argparse.ArgumentTypeError(
                    f"must be some of {', '.join(allowed)}, separated by commas, got {name[:40]!r}"
                )
        return list(dict.fromkeys(found))

    return names


def steps(text: str) -> tuple[int, int | None]:
    """Read a range of steps: its ends, None where it goes to the last one."""
    match = re.fullmatch(r"([0-9]{0,9}):([0-9]{0,9})|([0-9]{1,9})", text)
    if not match:
        raise argparse.ArgumentTypeError(f"must be a number or FROM:TO, such as 5, 10:20, :20, 10:, got {text[:40]!r}")
    first, last, only = match.groups()
    ends = (int(only), int(only)) if only else (int(first or 1), int(last) if last else None)
    if 0 in ends:
        raise argparse.ArgumentTypeError(f"steps are counted from 1, got {text!r}")
    if ends[1] is not None and ends[0] > ends[1]:
        raise argparse.ArgumentTypeError(f"FROM must not be after TO, got {text!r}")
    return ends


def file_name(text: str) -> str:
    """Read the name of a file."""
    if not text or "\0" in text:
        raise argparse.ArgumentTypeError(f"must be the name of a file, got {text[:40]!r}")
    return text


def game_named(name: str) -> Game:
    """Read the name of a game, which may be a module of the current folder."""
    if name not in GAMES:
        search_current_folder()
    try:
        return load_game(name)
    except ValueError as error:
        raise argparse.ArgumentTypeError(str(error)) from error


def one_option_each(words: Iterable[str]) -> Iterator[str]:
    """Repeat ``--options`` before each further word NAME=VALUE that follows it.

    argparse would read everything that follows as options; so it reads one, and the words after
    them as what they are.

    >>> list(one_option_each(["--options", "missing=2", "winners=2", "sheet"]))
    ['--options', 'missing=2', '--options', 'winners=2', 'sheet']
    """
    words = iter(words)
    previous = ""
    listing = False
    for word in words:
        begins = word.partition("=")[0] == "--options"
        value = listing and re.match(r"[A-Za-z_]\w*=", word) is not None
        if value and previous != "--options":
            yield "--options"
        yield word
        if word == "--":
            yield from words
        listing = begins or value
        previous = word


def given_options(game: Game, words: Sequence[str]) -> dict[str, Any]:
    """Read options as words NAME=VALUE.

    Raises:
        CommandError: a word is not of this form, or a name is there twice.
        UnknownOptionError: the game has no option of a name.
    """
    known = [about.name for about in described(game.Options)]
    named: dict[str, Any] = {}
    for word in words:
        name, equals, value = word.partition("=")
        if not equals:
            raise CommandError(f"an option is NAME=VALUE, such as max_turns=100, got {word[:60]!r}")
        if name not in known:
            guess = did_you_mean(name, known)
            raise UnknownOptionError(
                f"unknown option {name[:60]!r}{guess}; the options of {game.NAME} are {', '.join(known)}"
            )
        if name in named:
            raise CommandError(f"option {name} is given twice")
        named[name] = parse_option(game.Options, name, value)
    return named


def named_options(game: Game, words: Sequence[str], **fixed: Any) -> Any:
    """Return the options of a game from words NAME=VALUE.

    Args:
        game: a game module.
        words: what was typed after ``--options``.
        fixed: options that the command settles itself.
    """
    named = given_options(game, words)
    for name, value in fixed.items():
        if named.setdefault(name, value) != value:
            raise CommandError(f"{name}={named[name]} does not fit: the game has {name}={value}")
    return make_options(game, named)


def listed(text: str, flag: str) -> list[str]:
    """Read names separated by commas; one with a comma in it stands in double quotes.

    >>> listed('sheet,"a,b.safetensors"', "--against")
    ['sheet', 'a,b.safetensors']
    """
    try:
        names = [name.strip() for name in next(csv.reader([text], skipinitialspace=True, strict=True), [])]
    except csv.Error:
        names = []
    if not names or not all(names):
        raise CommandError(f"{flag} must be names {LISTED}, got {text[:60]!r}")
    # Quotes that were meant for it may have been the shell's.
    if len(names) > 1 and names_file(text) and Path(text).is_file():
        return [text]
    return names


def joined(names: Iterable[str]) -> str:
    """Write names so that `listed` reads them.

    >>> joined(["sheet", "a,b.safetensors"])
    'sheet,"a,b.safetensors"'
    """
    text = io.StringIO()
    csv.writer(text, lineterminator="").writerow(names)
    return text.getvalue()


def check_no_player(name: str | None, game: Game, players: Iterable[str]) -> None:
    """Refuse to write a file from which somebody plays."""
    if name is None:
        return
    # Late, for it imports what plays.
    from ..matches.players import sources_of

    for player in players:
        if any(are_same(name, source) for source in sources_of(player, game)):
            raise CommandError(f"{name} cannot be written: it is the file of the player {player}")


def are_same(name: str, path: Path) -> bool:
    """Return whether a name means the file at a path, through links and whether it is there or not."""
    try:
        return os.path.samefile(name, path)
    except ValueError:
        return False
    # One of them is not there, and may be written by the name of the other.
    except OSError:
        return os.path.realpath(name) == os.path.realpath(path)


def check_writable(name: str | None) -> None:
    """Find out before a long run, not after it, that a file cannot be written."""
    if name is None or name == "-":
        return
    try:
        why = why_not_writable(name)
    except OSError as error:
        raise CommandError(f"{name[:60]} cannot be written: {error.strerror or error}") from error
    if why:
        raise CommandError(f"{name} cannot be written: {why}")


def why_not_writable(name: str) -> str:
    """Return why a file cannot be written; empty where nothing is known against it.

    Raises:
        OSError: nothing can be found out about it.
    """
    path = Path(name)
    place = path if path.exists() else path.parent
    if not place.exists():
        return "its folder does not exist"
    if place == path.parent and not place.is_dir():
        return "what should be its folder is none"
    about = place.stat()
    if path.is_dir():
        return "it is a folder"
    if stat.S_ISFIFO(about.st_mode) or stat.S_ISSOCK(about.st_mode) or stat.S_ISBLK(about.st_mode):
        # Opening a pipe would wait for somebody who reads it.
        return "it is not a regular file"
    if stat.S_ISREG(about.st_mode) and _is_output(about):
        return "it is where the standard output goes"
    return "" if os.access(place, os.W_OK) else "permission denied"


def _is_output(about: os.stat_result) -> bool:
    try:
        return os.path.samestat(about, os.fstat(sys.stdout.fileno()))
    # What replaces the standard output may be no file.
    except (OSError, ValueError, AttributeError):
        return False
