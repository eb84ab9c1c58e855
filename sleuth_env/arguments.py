"""What the command line's words mean; whatever is wrong with them is said in one line."""

from __future__ import annotations

import argparse
import dataclasses
import os
import re
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any


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


def steps(text: str) -> tuple[int, int | None]:
    """Read a range of steps: its ends, None where it goes to the last one."""
    match = re.fullmatch(r"([0-9]{0,9}):([0-9]{0,9})|([0-9]{1,9})", text)
    if not match:
        raise argparse.ArgumentTypeError(f"must be a number or FROM:TO, such as 5, 10:20, :20, 10:, got {text[:40]!r}")
    first, last, only = match.groups()
    return (int(only), int(only)) if only else (int(first or 1), int(last) if last else None)


def named_options(words: Sequence[str], **fixed: Any) -> Any:
    """Make Options of words NAME=VALUE; `fixed` are settled by the command itself."""
    from .game import load_game, make_options
    from .sleuth.cards import Options

    defaults = {field.name: field.default for field in dataclasses.fields(Options)}
    named: dict[str, Any] = dict(fixed)
    given: set[str] = set()
    for word in words:
        name, equals, value = word.partition("=")
        if not equals:
            raise CommandError(f"an option is NAME=VALUE, such as winners=2, got {word[:60]!r}")
        if name in given:
            raise CommandError(f"option {name} is given twice")
        given.add(name)
        named[name] = _option_value(value, defaults.get(name))
        if name in fixed and named[name] != fixed[name]:
            raise CommandError(f"{name}={value} does not fit: the game has {name}={fixed[name]}")
    return make_options(load_game("sleuth_env.sleuth"), named)


def _option_value(text: str, default: Any) -> Any:
    """Turn the text of an option into the type of its default; what does not fit stays text, and Options refuses it."""
    if isinstance(default, bool):
        return {"true": True, "false": False}.get(text.lower(), text)
    return int(text) if isinstance(default, int) and re.fullmatch(r"-?[0-9]{1,15}", text) else text


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
    path = Path(name)
    place = path if path.exists() else path.parent
    if path.is_dir() or not place.exists() or not os.access(place, os.W_OK):
        why = "it is a folder" if path.is_dir() else "its folder does not exist" if not place.exists() else "permission denied"
        raise CommandError(f"{name} cannot be written: {why}")
