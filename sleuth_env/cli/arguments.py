"""What the command line's words mean; whatever is wrong with them is said in one line."""

from __future__ import annotations

import argparse
import math
import os
import re
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

LONGEST_WORD = 200

# The legal values of the game's options, for the help.
OPTION_VALUES = {
    "num_players": "3 to 7",
    "missing": "1, 2 or 3; more than 1 with 3 or 4 players",
    "winners": "1 to num_players - 1",
    "double_interrogation": "True, False",
    "super_sleuth": "True, False",
    "first_player": "random, seat_0",
    "accuse": "any_time, own_turn",
    "offer_order": "random, clockwise",
    "announce_result": "True, False; False with winners > 1",
    "last_survivor_wins": "True, False",
    "max_turns": "1 or more",
}


class CommandError(ValueError):
    """What was typed after ``sleuth`` cannot be done; the message says why."""


def one_line(message: str) -> str:
    """Give a message as one line of printable characters in which no word, such as the name of a
    file, is too long to read.
    """
    words = (word if len(word) <= LONGEST_WORD else f"{word[:LONGEST_WORD]}..." for word in message.split())
    return "".join(letter if letter.isprintable() else ascii(letter)[1:-1] for letter in " ".join(words))


def whole(least: int, most: int) -> Callable[[str], int]:
    """Make a reader of whole numbers that says what it wants."""

    def read(text: str) -> int:
        """Read one."""
        if not re.fullmatch(r"-?[0-9]{1,30}", text) or not least <= int(text) <= most:
            raise argparse.ArgumentTypeError(f"must be a whole number from {least} to {most}, got {text[:40]!r}")
        return int(text)

    return read


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
    """Give what reads a list, separated by commas, of what is allowed."""

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


def options_last(words: Sequence[str]) -> list[str]:
    """Move the words NAME=VALUE of ``--options``, wherever they stand, to the end, so that those
    after them are read as what they are.
    """
    end = words.index("--") if "--" in words else len(words)
    values: list[str] = []
    others: list[str] = []
    listing = False
    for at, word in enumerate(words[:end]):
        follows = at + 1 < end and not words[at + 1].startswith("-")
        if listing and (words[at - 1] == "--options" or re.match(r"[A-Za-z_]\w*=", word)):
            values.append(word)
        elif listing := word.startswith("--options=") or (word == "--options" and follows):
            values += [word.partition("=")[2]] if "=" in word else []
        else:
            others.append(word)
    return [*others, *(["--options", *values] if values else []), *words[end:]]


def named_options(words: Sequence[str], **fixed: Any) -> Any:
    """Make Options of words NAME=VALUE; `fixed` are settled by the command itself."""
    from ..game import load_game, make_options
    from ..options import parse_option
    from ..sleuth.cards import Options

    named: dict[str, Any] = dict(fixed)
    given: set[str] = set()
    for word in words:
        name, equals, value = word.partition("=")
        if not equals:
            raise CommandError(f"an option is NAME=VALUE, such as winners=2, got {word[:60]!r}")
        if name in given:
            raise CommandError(f"option {name} is given twice")
        given.add(name)
        named[name] = parse_option(Options, name, value)
        if name in fixed and named[name] != fixed[name]:
            raise CommandError(f"{name}={value} does not fit: the game has {name}={fixed[name]}")
    return make_options(load_game("sleuth_env.sleuth"), named)


def listed(text: str, flag: str) -> list[str]:
    """Read names separated by commas."""
    names = [name.strip() for name in text.split(",")]
    if not all(names):
        raise CommandError(f"{flag} must be names separated by commas, got {text[:60]!r}")
    return names


def check_writable(name: str | None) -> None:
    """Find out before a long run, not after it, that a file cannot be written."""
    if name is None or name == "-":
        return
    try:
        path = Path(name)
        place = path if path.exists() else path.parent
        folder = path.is_dir()
        there = place.exists()
        allowed = os.access(place, os.W_OK)
    except OSError as error:
        raise CommandError(f"{name[:60]} cannot be written: {error.strerror or error}") from error
    if folder or not there or not allowed:
        why = "it is a folder" if folder else "permission denied" if there else "its folder does not exist"
        raise CommandError(f"{name} cannot be written: {why}")
