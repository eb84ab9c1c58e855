"""How a neutral environment is bound to a game: by a class variable."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any, ClassVar, Self, TypeVar, cast

from ..checks import shown
from ..game import Drawn, Game, check_game, has_part, load_game

T = TypeVar("T", bound="Bound")


class Bound:
    """A class whose subclasses each know their game.

    `made_by` is set in classes that were made while the program runs: a function and its arguments,
    which make the class again where a copy or a pickle is read.
    """

    game: ClassVar[Game]
    metadata: dict[str, Any]
    made_by: ClassVar[tuple[Callable[..., type], tuple[Any, ...]] | None] = None

    def __new__(cls, *arguments: Any, **named: Any) -> Self:
        """Return an object whose class is bound to a game.

        Raises:
            TypeError: the class is bound to none.
        """
        if not hasattr(cls, "game"):
            raise TypeError(
                f"{cls.__name__} plays no game of its own: make an environment of Sleuth (sleuth_v0.env(), SoloEnv, "
                "SoloVectorEnv, SleuthVectorEnv, SleuthVecEnv) or of Holmes (holmes_v0.env(), ...), or the class of "
                f"a game's module, sleuth_env.envs.binding.bound({cls.__name__}, game)"
            )
        return super().__new__(cls)

    def __reduce_ex__(self, protocol: Any) -> Any:
        """Return what makes an equal object, as pickle wants it; a class without a home is made again."""
        reduced = super().__reduce_ex__(protocol)
        return reduced if self.made_by is None else (_blank, self.made_by, *reduced[2:])


def _blank(make_class: Callable[..., type], arguments: tuple[Any, ...]) -> Any:
    made: Any = make_class(*arguments)
    return made.__new__(made)


def bound(face: type[T], game: Game) -> type[T]:
    """Return a neutral environment's class bound to a game.

    A game of this package has such classes by name (see `sleuth_v0`); for others this makes them.

    Raises:
        ValueError: it is not the class of a neutral environment.
        GameError: it is not a game.
    """
    if not isinstance(face, type) or not issubclass(face, Bound):
        raise ValueError(
            "face must be the class of a neutral environment: GameEnv, GameSoloEnv, GameSoloVectorEnv, GameVectorEnv "
            f"or LearnerGames, got {shown(face)}"
        )
    check_game(game)
    return cast(type[T], _bound(cast(Any, face), game.__name__))


@cache
def _bound(face: Any, game_name: str) -> type:
    game = load_game(game_name)
    metadata = {**face.metadata, "name": f"{game.NAME}_v0"}
    if not has_part(game, Drawn):
        metadata["render_modes"] = []
    name = f"{game.NAME.title()}{face.__name__.removeprefix('Game')}"
    contents = {"game": game, "metadata": metadata, "made_by": (_bound, (face, game_name))}
    return type(name, (face,), contents)
