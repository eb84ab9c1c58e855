"""Who is who among the players of a table, so that a snapshot goes on with those who were playing."""

from __future__ import annotations

import os
import weakref
from collections.abc import Sequence
from contextlib import suppress
from typing import Any, NamedTuple

from ..checks import shown, whole_number


class Identity(NamedTuple):
    """What a snapshot knows of a player.

    Args:
        name: the text that was given, or an object's name.
        number: 1 for the first player of this name at a table, 2 for another one of the same name.
    """

    name: str
    number: int


class Identities:
    """Distinguish the players of a table, also those who have left it and come back.

    A text means the same player again; so does an object, as long as it exists. In another process,
    where objects are others, players are known by their names and by the order in which those of the
    same name came.
    """

    def __init__(self) -> None:
        self._known: list[tuple[Any, Identity]] = []  # those who play
        self._texts: dict[str, Identity] = {}
        self._objects: list[tuple[weakref.ref[Any], Identity]] = []
        self._counts: dict[str, int] = {}

    def note(self, players: Sequence[Any], given: Sequence[Any], staying: Sequence[Any] = ()) -> None:
        """Take note of players who come to the table.

        Args:
            players: the players.
            given: the text or object that each was made of.
            staying: the others who play; whoever else was there has left.
        """
        new = [(player, self._identity(player, seat)) for player, seat in zip(players, given, strict=True)]
        self._known = [*new, *((player, self.of(player)) for player in staying)]
        self._objects = [(reference, identity) for reference, identity in self._objects if reference() is not None]

    def of(self, player: Any) -> Identity:
        """Return who somebody at the table is."""
        found = next((identity for known, identity in self._known if known is player), None)
        if found is None:
            # Whoever was put there by hand.
            found = self._identity(player, player)
            self._known.append((player, found))
        return found

    def _identity(self, player: Any, given: Any) -> Identity:
        if isinstance(given, (str, os.PathLike)):
            text = os.fspath(given)
            self._texts[text] = self._texts.get(text) or self._next(text)
            return self._texts[text]
        found = next((identity for reference, identity in self._objects if reference() is given), None)
        if found is None:
            found = self._next(player.name)
            # Classes with __slots__ cannot be referred to: such an object is another one when it comes back.
            with suppress(TypeError):
                self._objects.append((weakref.ref(given), found))
        return found

    def _next(self, name: str) -> Identity:
        self._counts[name] = self._counts.get(name, 0) + 1
        return Identity(name, self._counts[name])

    # A reference cannot be pickled; in another process objects are others.
    def __getstate__(self) -> dict[str, Any]:
        return {**vars(self), "_objects": []}


def are_identities(value: Any) -> bool:
    """Return whether something is a list of identities as a snapshot holds them."""
    return isinstance(value, list) and all(
        isinstance(one, (list, tuple))
        and len(one) == len(Identity._fields)
        and isinstance(one[0], str)
        and (whole_number(one[1]) or 0) > 0
        for one in value
    )


def moved_numbers(there: Sequence[Any], here: Sequence[Identity], seated: Sequence[int]) -> dict[int, int]:
    """Return the numbers that the players of a snapshot have at a table.

    Args:
        there: the identities in the snapshot, see `are_identities`.
        here: those at the table.
        seated: the numbers in the snapshot that are asked for.

    Raises:
        ValueError: one of them does not play at the table.
    """
    moved = {}
    for number in seated:
        wanted = Identity(*there[number])
        if wanted not in here:
            but = ", another player of this name" if any(one.name == wanted.name for one in here) else ""
            raise ValueError(
                f"the snapshot has games against {shown(wanted.name)}, who does not play here{but}: "
                f"the opponents here are {', '.join(dict.fromkeys(shown(one.name) for one in here))}"
            )
        # Somebody may have several numbers.
        stays = number < len(here) and here[number] == wanted
        moved[number] = number if stays else here.index(wanted)
    return moved
