"""How many games fit into the memory of this machine."""

from __future__ import annotations

import math
import os
from collections.abc import Callable
from functools import cache

UNKNOWN = 2**44  # bytes, where the system does not say: more than any machine for which that is so
UNITS = ("bytes", "kB", "MB", "GB", "TB", "PB")
# What a game costs besides its arrays: its random generator.
OBJECTS = 1_000


@cache
def machine_memory() -> int:
    """Return the memory of this machine in bytes."""
    try:
        return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (AttributeError, ValueError, OSError):
        return UNKNOWN


def check_fits(name: str, number: int, bytes_each: int, error: Callable[[str], ValueError] = ValueError) -> int:
    """Return a number of games that fit into memory.

    Args:
        name: of the setting.
        number: of games.
        bytes_each: the size of the arrays of a game.
        error: the class of error.

    Raises:
        ValueError: (or ``error``) they do not fit.

    >>> check_fits("num_envs", 64, 10_000)
    64
    """
    most = machine_memory() // (bytes_each + OBJECTS)
    if number > most:
        given = f"{number}" if number < 10**15 else f"{number:.3g}" if number < 10**300 else "a greater number"
        raise error(
            f"{name} must be at most {most}, got {given}: a game takes {_size(bytes_each + OBJECTS)}, "
            f"and this machine has {_size(machine_memory())} of memory"
        )
    return number


def _size(number: float) -> str:
    power = min(len(UNITS) - 1, int(math.log10(max(number, 1)) // 3))
    return f"{number / 1000**power:.3g} {UNITS[power]}"
