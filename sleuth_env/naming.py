"""Names of things that are numbered, strict both ways, and how a text that is none of them is refused.

A game's notation is made of these: ``x_name`` returns the one text of a value, and ``parse_x`` reads
that text and no other. Errors quote the text and say what would be right.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from difflib import get_close_matches
from typing import Any

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


class ActionNames:
    """The names of the actions of a game, of which there are more the more players it has.

    Each method is given the number of players, or the options of the game.

    Args:
        options: the class of the game's options.
        fewest: players of a game.
        most: players of a game.
        names: returns the names of all actions of a game of a number of players, in their order.
        forms: returns the forms that they have in such a game, for error messages.
    """

    def __init__(
        self,
        options: type[Any],
        fewest: int,
        most: int,
        names: Callable[[int], Sequence[str]],
        forms: Callable[[int], str],
    ) -> None:
        self._options = options
        self._fewest = fewest
        self._most = most
        self._names = names
        self._forms = forms
        self._made: dict[int, Names] = {}

    def of(self, game: Any) -> Names:
        """Return the names of all actions of a game.

        Raises:
            NotationError: there cannot be a game of this number of players.
        """
        number = self._num_players(game)
        if number not in self._made:
            self._made[number] = Names(f"an action of a game of {number}", self._names(number))
        return self._made[number]

    def name(self, action: int, game: Any) -> str:
        """Return the name of an action.

        Raises:
            NotationError: there is no such action, or no such game.
        """
        return self.of(game).name(action)

    def parse(self, text: str, game: Any) -> int:
        """Return the number of an action.

        Raises:
            NotationError: the text does not name an action of this game; the message shows the forms
                and the nearest names. Or there is no such game.
        """
        names = self.of(game)
        try:
            return names.parse(text)
        except NotationError as error:
            raise NotationError(f"{error} ({self._forms(self._num_players(game))})") from None

    def _num_players(self, game: Any) -> int:
        given = game.num_players if isinstance(game, self._options) else game
        number = whole_number(given)
        if number is None or not self._fewest <= number <= self._most:
            legal = f"an integer from {self._fewest} to {self._most}"
            raise NotationError(f"num_players must be {legal}, got {shown(given)}")
        return number
