"""Checks of what users hand in: is this a whole number, one of these, one line."""

from __future__ import annotations

import operator
from collections.abc import Sequence
from typing import Any

MOST_MESSAGE = 500  # characters


def check_choice(name: str, value: Any, choices: Sequence[str | None]) -> None:
    """Raise ValueError, naming the legal values, unless a named setting has one of them."""
    if not (value is None or isinstance(value, str)) or value not in choices:
        raise ValueError(f"{name} must be one of {', '.join(map(repr, choices))}, got {value!r}")


def whole_number(value: Any) -> int | None:
    """Give an int, a NumPy integer or a 0-dimensional integer array as an int; None for anything
    else (a float, a bool, an array).
    """
    try:
        return None if isinstance(value, bool) or getattr(value, "ndim", 0) > 0 else operator.index(value)
    except TypeError:
        return None


def check_number(name: str, value: Any, least: int) -> int:
    """Give a named setting as an int; raise ValueError unless it is a whole number (see
    `whole_number`) of at least ``least``.
    """
    number = whole_number(value)
    if number is None or number < least:
        raise ValueError(f"{name} must be an integer of at least {least}, got {value!r}")
    return number


def check_seed(seed: Any) -> int | None:
    """Give a seed as an int, or None if there is none; raise ValueError if it is something else."""
    return None if seed is None else check_number("seed", seed, 0)


def one_line(text: str) -> str:
    """Give a text as one line of printable characters that is not too long to read."""
    printable = "".join(letter if letter.isprintable() else ascii(letter)[1:-1] for letter in text[:MOST_MESSAGE])
    return printable + (" ..." if len(text) > MOST_MESSAGE else "")
