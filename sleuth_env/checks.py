"""Checks of what users hand in: is this a whole number, one of these, one line; what was probably meant.

Each check raises the error class of its caller before anything changes, and names the value and the
legal alternatives.
"""

from __future__ import annotations

import inspect
import math
import operator
import os
from collections.abc import Callable, Iterable, Sequence
from difflib import get_close_matches
from typing import Any

import numpy as np

# Characters of a message, and of a word of it, such as the name of a file.
MAX_MESSAGE = 500
MAX_WORD = 200
# Characters of a wrong value.
MAX_SHOWN = 100
# Characters of a wrong word that is compared with the right ones.
MAX_COMPARED = 60


def whole_number(value: Any) -> int | None:
    """Return an int, a NumPy integer or a 0-dimensional integer array as an int.

    None stands for anything else: a float, a bool, an array.

    >>> whole_number(3), whole_number(3.0), whole_number(True)
    (3, None, None)
    """
    # The usual case, in every step of an environment.
    if type(value) is int:
        return value
    try:
        return None if isinstance(value, bool) or getattr(value, "ndim", 0) > 0 else operator.index(value)
    except TypeError:
        return None


def check_number(
    name: str, value: Any, least: int, most: int | None = None, error: Callable[[str], ValueError] = ValueError
) -> int:
    """Return a named setting as an int.

    Raises:
        ValueError: (or ``error``) the value is not a whole number (see `whole_number`) in the range.
    """
    number = whole_number(value)
    if number is None or number < least or (most is not None and number > most):
        legal = f"of at least {least}" if most is None else f"from {least} to {most}"
        raise error(f"{name} must be an integer {legal}, got {shown(value)}")
    return number


def check_flag(name: str, value: Any, error: Callable[[str], ValueError] = ValueError) -> bool:
    """Return a named setting that is True or False, of Python or NumPy, or one of the numbers 1 and 0.

    Raises:
        ValueError: (or ``error``) it is not.

    >>> check_flag("greedy", np.True_), check_flag("greedy", 0)
    (True, False)
    """
    number = int(value) if isinstance(value, (bool, np.bool_)) else whole_number(value)
    if number not in (0, 1):
        raise error(f"{name} must be True or False, got {shown(value)}")
    return bool(number)


def check_real(name: str, value: Any, error: Callable[[str], ValueError] = ValueError) -> float:
    """Return a named setting that is a finite number, of Python or NumPy, as a float.

    Raises:
        ValueError: (or ``error``) it is not.

    >>> check_real("reward", -1), check_real("reward", np.float32(0.5))
    (-1.0, 0.5)
    """
    is_number = isinstance(value, (int, float, np.integer, np.floating)) and not isinstance(value, bool)
    try:
        number = float(value) if is_number else math.nan
    except OverflowError:
        number = math.inf
    if not math.isfinite(number):
        raise error(f"{name} must be a finite number, got {shown(value)}")
    return number


def check_text(name: str, value: Any, error: Callable[[str], ValueError] = ValueError) -> str:
    """Return a named setting that is a text.

    Raises:
        ValueError: (or ``error``) it is not.
    """
    if not isinstance(value, str):
        raise error(f"{name} must be a text, got {shown(value)}")
    return value


def check_path(name: str, value: Any, error: Callable[[str], ValueError] = ValueError) -> str:
    """Return the name of a file, a text or a `pathlib.Path`, as a text.

    Raises:
        ValueError: (or ``error``) it is not one.
    """
    text = os.fspath(value) if isinstance(value, (str, os.PathLike)) else None
    if not isinstance(text, str) or not _is_name(text):
        raise error(f"{name} must be the name of a file, got {shown(value)}")
    return text


def _is_name(text: str) -> bool:
    """Return whether the system could have a file of this name."""
    try:
        return b"\0" not in os.fsencode(text)
    except UnicodeEncodeError:
        return False


def check_seed(seed: Any) -> int | None:
    """Return a seed as an int, or None if there is none.

    Raises:
        ValueError: the seed is neither.
    """
    return None if seed is None else check_number("seed", seed, 0)


def check_choice(name: str, value: Any, choices: Sequence[Any], error: Callable[[str], ValueError] = ValueError) -> Any:
    """Return a named setting that must be one of some values, and of the same type; NumPy's scalars count as Python's.

    Raises:
        ValueError: (or ``error``) it is not; the message lists the legal values.
    """
    plain = value.item() if isinstance(value, np.generic) else value
    if not any(type(plain) is type(choice) and plain == choice for choice in choices):
        raise error(f"{name} must be one of {', '.join(map(repr, choices))}, got {shown(value)}")
    return plain


def is_collection(some: Any) -> bool:
    """Return whether something can be gone through and is not a text; a single number in an array cannot.

    >>> is_collection([3]), is_collection("three"), is_collection(np.array(3))
    (True, False, False)
    """
    return isinstance(some, Iterable) and not isinstance(some, (str, bytes)) and getattr(some, "ndim", 1) > 0


def takes(function: Any, number: int, *names: str) -> bool:
    """Return whether something can be called with a number of arguments and some by name, as far as is known.

    >>> takes(lambda views, legal: 0, 2), takes(lambda views: 0, 2), takes(3, 0)
    (True, False, False)
    """
    if not callable(function):
        return False
    try:
        # Of the function itself: what it wraps may take something else.
        signature = inspect.signature(function, follow_wrapped=False)
    except (TypeError, ValueError):
        # Of a function in C: its signature is not known.
        return True
    try:
        signature.bind(*[None] * number, **dict.fromkeys(names))
    except TypeError:
        return False
    return True


def called_by(name: str, function: Any) -> str:
    """Return how a function is called, without types, for a message; what is not a function is shown.

    >>> called_by("act", lambda views, legal=None: 0), called_by("act", 3)
    ('act(views, legal=None)', '3')
    """
    if not callable(function):
        return f"{function!r:.{MAX_WORD}}"
    signature = inspect.signature(function, follow_wrapped=False)
    plain = [one.replace(annotation=inspect.Parameter.empty) for one in signature.parameters.values()]
    return f"{name}{signature.replace(parameters=plain, return_annotation=inspect.Signature.empty)}"


def nearest(word: str, known: Iterable[str], number: int = 1) -> list[str]:
    """Return the known words that are most like a word, best first; none where nothing is alike.

    >>> nearest("num_plaers", ["num_players", "missing"])
    ['num_players']
    """
    return get_close_matches(word[:MAX_COMPARED], list(known), number)


def did_you_mean(word: str, known: Iterable[str]) -> str:
    """Return a suggestion to put behind "unknown ...", or nothing.

    >>> did_you_mean("num_plaers", ["num_players", "missing"])
    ', did you mean num_players?'
    """
    found = nearest(word, known)
    return f", did you mean {found[0]}?" if found else ""


def shown(value: Any, most: int = MAX_SHOWN) -> str:
    """Return a value of any kind as a message quotes it: on one line, and not all of it where that is long.

    >>> shown(10**9), shown(["a", "b"]), shown("x" * 200, 5)
    ('1000000000', "['a', 'b']", "'xxxx...")
    """
    try:
        text = " ".join(repr(value).split())
    # Python writes no number of many thousands of digits; foreign classes may do anything.
    except Exception:
        if isinstance(value, int):
            return f"an integer of {value.bit_length()} bits"
        return f"a value of the type {type(value).__name__}, which cannot be shown"
    printable = "".join(letter if letter.isprintable() else ascii(letter)[1:-1] for letter in text[:most])
    return printable + ("..." if len(text) > most else "")


def one_line(text: str) -> str:
    """Return a text as one line of printable characters that is not too long to read, nor is a word of it.

    >>> one_line("no such\\n file")
    'no such file'
    """
    words = (word if len(word) <= MAX_WORD else f"{word[:MAX_WORD]}..." for word in text.split())
    line = " ".join(words)
    printable = "".join(letter if letter.isprintable() else ascii(letter)[1:-1] for letter in line[:MAX_MESSAGE])
    return printable + (" ..." if len(line) > MAX_MESSAGE else "")
