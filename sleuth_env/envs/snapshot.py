"""What `get_state` of every environment returns: one form for all of them.

Axis letters: ``B`` games.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..game import Game, Records, opaque

NOT_A_SNAPSHOT = "that is not a snapshot, which get_state() takes"


@dataclass(frozen=True, eq=False)
class Snapshot:
    """A moment of an environment, from which everything goes on as it did: arrays and plain containers.

    Args:
        face: the kind of environment that it is of, such as "aec".
        game: the game's name.
        options: the game's options.
        states: the games under way as bytes, u1 [B, bytes of a record].
        streams: the state of each random generator from which games are dealt.
        more: what this kind of environment keeps besides, by name.
    """

    face: str
    game: str
    options: Mapping[str, Any]
    states: NDArray[np.uint8]
    streams: Sequence[Mapping[str, Any]]
    more: Mapping[str, Any] = field(default_factory=dict)

    def check(self, face: str, game: Game, options: Any, num_games: int, names: Sequence[str]) -> None:
        """Check that this snapshot fits an environment.

        Args:
            face: the kind of environment.
            game: its game.
            options: its options.
            num_games: B.
            names: of what it keeps besides.

        Raises:
            ValueError: the snapshot is of something else, or lacks something.
        """
        if (self.face, self.game) != (face, game.NAME):
            raise ValueError(
                f"the snapshot is of an environment of {self.game!r} of the kind {self.face!r}, "
                f"this one is of {game.NAME!r} and of the kind {face!r}"
            )
        if self.options != asdict(options):
            raise ValueError(f"the snapshot is of a game with {self.options}, this one has {asdict(options)}")
        shape = (num_games, game.STATE.itemsize)
        found = getattr(self.states, "shape", None)
        streams = self.streams if isinstance(self.streams, (list, tuple)) else ()
        if found != shape or self.states.dtype != np.uint8 or len(streams) != num_games:
            raise ValueError(
                f"a snapshot of these games has states of the shape {shape} and as many streams, got {found!s:.100}"
            )
        more = self.more if isinstance(self.more, Mapping) else {}
        lacking = [name for name in names if name not in more]
        if lacking:
            raise ValueError(f"{NOT_A_SNAPSHOT}: it lacks {', '.join(lacking)}")

    def records(self, game: Game) -> Records:
        """Return the games under way as records, STATE [B]."""
        states: Records = np.ascontiguousarray(self.states).view(game.STATE)[:, 0]
        return states

    def generators(self) -> list[np.random.Generator]:
        """Return the random generators.

        Raises:
            ValueError: a stream is not the state of a generator.
        """
        return [generator_of(stream) for stream in self.streams]


def bytes_of(states: Records) -> NDArray[np.uint8]:
    """Return records as bytes (u1 [B, bytes of a record]), a copy."""
    return opaque(states).copy().view(np.uint8).reshape(len(states), -1)


def snapshot_of(given: Any) -> Snapshot:
    """Return what was handed to ``set_state`` as a snapshot.

    Raises:
        ValueError: it is something else.
    """
    if not isinstance(given, Snapshot):
        raise ValueError(f"{NOT_A_SNAPSHOT}: got {given!r:.100}")
    return given


def generator_of(stream: Any) -> np.random.Generator:
    """Return a generator in a state that was taken of another.

    Raises:
        ValueError: it is not such a state.
    """
    bits = np.random.PCG64(0)
    try:
        bits.state = stream
    except (TypeError, ValueError, KeyError) as error:
        raise ValueError(f"{NOT_A_SNAPSHOT}: {stream!r:.100} is not the state of a generator") from error
    return np.random.Generator(bits)
