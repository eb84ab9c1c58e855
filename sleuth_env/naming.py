"""Names of things that are numbered, strict both ways, and how a text that is none of them is refused.

A game's notation is made of these: ``x_name`` returns the one text of a value, and ``parse_x`` reads
that text and no other. Errors quote the text and say what would be right.
"""

from __future__ import annotations

from collections.abc import Sequence
from difflib import get_close_matches

from .checks import shown, whole_number

# Characters of a wrong text that an error repeats and that are compared with the right ones.
MAX_QUOTED = 60
# Alternatives that an error lists; of more it lists the nearest.
MAX_LISTED = 12


class NotationError(ValueError):
    """A text is not in the notation, or a value has no name.

    The message quotes it and lists alternatives.
    """


def quoted(text: object) -> str:
    """Return a text, or what was handed in instead, as a message quotes it: printable characters, not too many."""
    if not isinstance(text, str):
        return shown(text, MAX_QUOTED)
    rest = len(text) - MAX_QUOTED
    return ascii(text[:MAX_QUOTED]) + (f" and {rest} more characters" if rest > 0 else "")


def alternatives(text: str, names: Sequence[str]) -> str:
    """Return what could have been meant: all names if they are few, else those nearest."""
    if len(names) <= MAX_LISTED:
        return "one of " + ", ".join(names)
    nearest = get_close_matches(text[:MAX_QUOTED], names, n=4, cutoff=0.3) or names[:4]
    return f"one of {len(names)} names, such as " + ", ".join(nearest)


class Names:
    """The names of a kind of things that are numbered from 0.

    Args:
        what: the kind in the singular, with its article, for error messages.
        names: the name of each number, all different.
    """

    def __init__(self, what: str, names: Sequence[str]) -> None:
        self.what = what
        self.names = tuple(names)
        self._index = {name: i for i, name in enumerate(self.names)}

    def name(self, index: int) -> str:
        """Return the name of a number.

        Raises:
            NotationError: there is no such number.
        """
        number = whole_number(index)
        if number is None or not 0 <= number < len(self.names):
            got = quoted(index if number is None else number)
            raise NotationError(f"{self.what} must be an integer from 0 to {len(self.names) - 1}, got {got}")
        return self.names[number]

    def parse(self, text: str) -> int:
        """Return the number of a name.

        Raises:
            NotationError: the text is not a name; the message lists names.
        """
        index = self._index.get(text) if isinstance(text, str) else None
        if index is None:
            meant = alternatives(text if isinstance(text, str) else "", self.names)
            raise NotationError(f"{quoted(text)} is not {self.what}; expected {meant}")
        return index
