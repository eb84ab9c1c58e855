"""How a neutral environment is bound to a game: by a class variable, as in PettingZoo's face."""

from __future__ import annotations

from functools import cache
from typing import ClassVar, TypeVar, cast

from ..game import Game

T = TypeVar("T", bound="Bound")


class Bound:
    """A class whose subclasses each know their game."""

    game: ClassVar[Game]


@cache
def bound(face: type[T], game: Game) -> type[T]:
    """Return a neutral environment's class bound to a game.

    A game of this package has such classes by name (see `sleuth_v0`); for others this makes them.
    """
    return cast(type[T], type(f"{game.NAME.title()}{face.__name__.removeprefix('Game')}", (face,), {"game": game}))
