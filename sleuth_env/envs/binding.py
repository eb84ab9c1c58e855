"""How a neutral environment is bound to a game: by a class variable."""

from __future__ import annotations

from functools import cache
from typing import Any, ClassVar, TypeVar, cast

from ..game import Game

T = TypeVar("T", bound="Bound")


class Bound:
    """A class whose subclasses each know their game."""

    game: ClassVar[Game]
    metadata: dict[str, Any]


@cache
def bound(face: type[T], game: Game) -> type[T]:
    """Return a neutral environment's class bound to a game.

    A game of this package has such classes by name (see `sleuth_v0`); for others this makes them.
    """
    name = f"{game.NAME.title()}{face.__name__.removeprefix('Game')}"
    metadata = {**face.metadata, "name": f"{game.NAME}_v0"}
    return cast(type[T], type(name, (face,), {"game": game, "metadata": metadata}))
