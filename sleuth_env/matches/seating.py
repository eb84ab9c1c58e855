"""Who may sit at a table: what a player is, what its methods take, and copies of those who remember.

All of it is checked before a game begins, so that no mistake shows itself only at the first move.
Axis letters: ``B`` games, ``K`` some of them, ``A`` actions.
"""

from __future__ import annotations

import copy
from collections.abc import Iterable, Iterator
from types import ModuleType
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from ..checks import called_by, shown, takes
from ..doors import described, numbers_of
from ..game import Bot, Game, Records, game_of, opaque

# The methods that a table calls, and what it hands them.
METHODS = {
    "seated": ("options",),
    "act": ("views", "legal", "seeds"),
    "act_in": ("views", "legal", "seeds", "games", "seats"),
    "forget": ("games",),
}
WHAT_PLAYS = f"an object with a name and a method act({', '.join(METHODS['act'])})"


class MatchError(ValueError):
    """A match cannot be played as asked."""


class Remembering(Protocol):
    """A player that remembers games: it is told which game, and which seat, each decision is of.

    A table plays a copy of it (`copy.deepcopy`) in each seat where it sits, so that what one seat
    has seen stays unknown to the others, also where one object fills several seats of a game. A
    copy is asked for one seat only, in all the games of the table; ``__deepcopy__`` may let copies
    share what is not a memory, such as the weights of a network. A method ``forget(games)``, if there
    is one, is told the numbers (i8 [K]) of games that nobody plays any further, among them perhaps
    some that this copy has never seen.
    """

    @property
    def name(self) -> str:
        """What tables and game texts call it."""
        ...

    def act_in(
        self,
        views: Records,
        legal: NDArray[np.uint8],
        seeds: NDArray[np.uint64],
        games: NDArray[np.int64],
        seats: NDArray[np.int64],
        /,
    ) -> NDArray[np.int64]:
        """Choose one legal action a row (i8 [B]); see `Bot.act`.

        Args:
            views: VIEW [B].
            legal: u1 [B, A].
            seeds: u8 [B].
            games: i8 [B], the number of the game; a number that it has not seen is a new game. No
                number comes twice. It says nothing about the deal, and an action that depended on it
                would depend on the size of the batch.
            seats: i8 [B], its seat, the same in all rows.
        """
        ...


Player = Bot | Remembering


def has(player: Any, name: str) -> bool:
    """Return whether a player has one of the methods; None in its place says that it has not."""
    return getattr(player, name, None) is not None


def remembers(player: Any) -> bool:
    """Return whether a player is to be told which game it plays, see `Remembering`."""
    return callable(getattr(player, "act_in", None))


def weighs(player: Any) -> bool:
    """Return whether a player can say what actions are worth to it, see `training.lessons.Weighing`."""
    return callable(getattr(player, "worths_in" if remembers(player) else "worths", None))


def is_player(player: Any) -> bool:
    """Return whether an object has a name and a method `act` or `act_in`."""
    return (
        not isinstance(player, type)
        and isinstance(getattr(player, "name", None), str)
        and (callable(getattr(player, "act", None)) or remembers(player))
    )


def seated(player: Any, options: Any, game: Game, called: str | None = None) -> Any:
    """Return a player for a game with these options: what its method `seated` returns, or itself.

    Args:
        player: what is to play.
        options: of the game.
        game: the game module.
        called: what messages call it; default: by its name.

    Raises:
        MatchError: this is not a player, or one of another game, `seated` does not return one, a
            method does not take what a table hands it, or one that remembers cannot be copied.
    """
    if not is_player(player):
        raise MatchError(f"a player is {WHAT_PLAYS}, got {shown(player)}")
    called = f"player {player.name!r}" if called is None else called
    _check_game(player, game, called)
    _check_methods(player, called)
    if has(player, "seated"):
        player = player.seated(options)
        if not is_player(player):
            raise MatchError(f"{called}: seated() must return a player, {WHAT_PLAYS}, got {shown(player)}")
        _check_methods(player, called)
    if remembers(player):
        # Only to see that it can be done: tables make their own.
        copied(player, called)
    return player


def _check_game(player: Any, game: Game, called: str) -> None:
    """Check that a player is not of another game, as far as it says of which it is, or has options of one."""
    own = getattr(player, "game", None)
    name = own.NAME if isinstance(own, ModuleType) and hasattr(own, "NAME") else ""
    options = getattr(player, "options", None)
    if not name and not isinstance(options, game.Options):
        name = game_of(options)
    if name and name != game.NAME:
        raise MatchError(f"{called} is a player of the game {name}, and {game.NAME} is played: make it for {game.NAME}")


def _check_methods(player: Any, called: str) -> None:
    for name, arguments in METHODS.items():
        # A table asks one that remembers by `act_in` only.
        unused = name == "act" and remembers(player)
        if has(player, name) and not unused and not takes(getattr(player, name), len(arguments)):
            got = called_by(name, getattr(player, name))
            raise MatchError(f"{called}: {name} must be a method {name}({', '.join(arguments)}), got {got}")


def copied(player: Remembering, called: str) -> Remembering:
    """Return a copy of a player that remembers, see `Remembering`.

    Raises:
        MatchError: it cannot be copied, or the copy does not remember.
    """
    try:
        found = copy.deepcopy(player)
    except Exception as error:
        raise MatchError(f"{called} cannot be copied: {type(error).__name__}: {error}") from error
    if not remembers(found):
        raise MatchError(
            f"{called} cannot be copied: __deepcopy__ must return a player with a method act_in, got {shown(found)}"
        )
    return found


class Copies:
    """The copies of players who remember, one for each seat that they play, made when they are first needed."""

    def __init__(self) -> None:
        # By identity: what a player is called or numbered may change.
        self._of: list[tuple[Remembering, dict[int, Remembering]]] = []

    def act(
        self,
        player: Remembering,
        views: Records,
        legal: NDArray[np.uint8],
        seeds: NDArray[np.uint64],
        games: NDArray[np.int64],
        seats: NDArray[np.int64],
    ) -> NDArray[np.int64]:
        """Let the copies of a player decide in some games and seats, see `Remembering.act_in` (i8 [B]).

        Raises:
            MatchError: the player cannot be copied, or returns something else than actions.
        """
        actions = np.zeros(len(seats), np.int64)
        for copied_player, at in self.by_seat(player, seats):
            mine = opaque(views)[at].view(views.dtype)
            chosen = copied_player.act_in(mine, legal[at], seeds[at], games[at], seats[at])
            actions[at] = checked_actions(player, chosen, len(at))
        return actions

    def by_seat(self, player: Remembering, seats: NDArray[np.int64]) -> Iterator[tuple[Any, NDArray[np.int64]]]:
        """Yield the copies of a player that play some seats (i8 [B]), and the rows (i8 [K]) in which each does.

        Raises:
            MatchError: the player cannot be copied.
        """
        for seat in np.unique(seats).tolist():
            yield self.of(player, seat), np.flatnonzero(seats == seat)

    def of(self, player: Remembering, seat: int) -> Remembering:
        """Return the copy of a player that plays a seat.

        Raises:
            MatchError: see `copied`.
        """
        copies = next((copies for original, copies in self._of if original is player), None)
        if copies is None:
            copies = {}
            self._of.append((player, copies))
        if seat not in copies:
            copies[seat] = copied(player, f"player {player.name!r}")
        return copies[seat]

    def __len__(self) -> int:
        """Return the number of players who have copies."""
        return len(self._of)

    def __contains__(self, player: Any) -> bool:
        """Return whether a player has copies."""
        return any(original is player for original, _ in self._of)

    def keep(self, players: Iterable[Any]) -> None:
        """Let go the copies of all but these players."""
        here = {id(player) for player in players}
        self._of = [pair for pair in self._of if id(pair[0]) in here]

    def forget(self, games: NDArray[np.int64]) -> None:
        """Pass on to those who can forget that nobody plays some games (i8 [K]) any further."""
        if not len(games):
            return
        for _, copies in self._of:
            for player in copies.values():
                if has(player, "forget"):
                    player.forget(games.copy())  # type: ignore[attr-defined]


def checked_actions(bot: Player, chosen: Any, number: int) -> NDArray[np.int64]:
    """Return a bot's actions in some games (i8 [number]).

    Raises:
        MatchError: it has returned something else.
    """
    actions = numbers_of(chosen, number)
    if actions is None:
        raise MatchError(
            f"bot {bot.name!r} must return one action for each game, "
            f"integers that fit int64, of the shape {(number,)}, but returned {described(chosen)}"
        )
    return actions
