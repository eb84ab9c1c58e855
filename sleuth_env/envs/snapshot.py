"""What `get_state` of every environment returns: one form for all of them, checked in one place.

A snapshot comes from outside: from a file, a pickle, another process. Three things are looked at
before an environment goes back to one. Everything in it is of the type and in the range that it must
have, and agrees with the rest. Its digest is that of its contents, which finds what was damaged by
accident, though the result may be another perfect game. And its games are sound by the rules
(`Game.problems`), so that no snapshot, whoever made it, can harm the kernels, which look at nothing.
Axis letters: ``B`` games.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields, replace
from hashlib import blake2b
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..checks import shown
from ..doors import described, is_array
from ..game import Game, Records, opaque

NOT_A_SNAPSHOT = "that is not a snapshot, which get_state() takes"
# Whether a part of a snapshot is as it should be.
Fits = Callable[[Any], bool]


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
        digest: of all the rest, as `get_state` found it. Whoever changes a snapshot on purpose sets
            it to "", ``replace(snapshot, states=..., digest="")``: then it is not compared.
    """

    face: str
    game: str
    options: Mapping[str, Any]
    states: NDArray[np.uint8]
    streams: Sequence[Mapping[str, Any]]
    more: Mapping[str, Any] = field(default_factory=dict)
    digest: str = ""

    def sealed(self) -> Snapshot:
        """Return this snapshot with the digest of its contents."""
        return replace(self, digest=self._digest())

    def check(
        self, face: str, game: Game, options: Any, num_games: int, parts: Mapping[str, Fits]
    ) -> list[np.random.Generator]:
        """Check that this snapshot fits an environment, and that it is as it was taken.

        Args:
            face: the kind of environment.
            game: its game.
            options: its options.
            num_games: B.
            parts: what it keeps besides, by name, with a function that says whether it is right.

        Returns:
            Its random generators.

        Raises:
            ValueError: the snapshot is of something else, lacks something, or is damaged.
        """
        if not (_is(face, self.face) and _is(game.NAME, self.game)):
            raise ValueError(
                f"the snapshot is of an environment of {shown(self.game)} of the kind {shown(self.face)}, "
                f"this one is of {game.NAME!r} and of the kind {face!r}"
            )
        if not _is(asdict(options), _as_dict(self.options)):
            raise ValueError(
                f"the snapshot is of a game with {shown(self.options, 1000)}, this one has {asdict(options)}"
            )
        shape = (num_games, game.STATE.itemsize)
        streams = self.streams if isinstance(self.streams, (list, tuple)) else ()
        if not of_kind(self.states, np.uint8, shape) or len(streams) != num_games:
            raise ValueError(
                f"a snapshot of these games has states of the shape {shape} and as many streams, "
                f"got {described(self.states)} and {shown(self.streams)}"
            )
        more = _as_dict(self.more)
        lacking = [name for name in parts if name not in more]
        if lacking:
            raise ValueError(f"{NOT_A_SNAPSHOT}: it lacks {', '.join(lacking)}")
        # What nobody knows, nobody could check.
        for name in more:
            if name not in parts:
                raise ValueError(f"{NOT_A_SNAPSHOT}: unknown part {shown(name)}; its parts are {', '.join(parts)}")
        for name, fits in parts.items():
            if not _does_fit(fits, more[name]):
                raise misfit(name, more[name])
        generators = [generator_of(stream) for stream in streams]
        # Only now: all that goes into it is of a known kind.
        if not _is("", self.digest) and not _is(self._digest(), self.digest):
            raise ValueError("the snapshot has been damaged or changed since get_state() took it: its digest is wrong")
        return generators

    def records(self, game: Game, rules: Records) -> Records:
        """Return the games under way as records, STATE [B], a copy.

        Args:
            game: the game module.
            rules: RULES [1].

        Raises:
            ValueError: one of them is not sound.
        """
        return sound_records(self.states, game, rules)

    def _digest(self) -> str:
        digest = blake2b(digest_size=16)

        def take_in(part: Any) -> None:
            if isinstance(part, Mapping):
                for name, value in part.items():
                    digest.update(f"{name!r}:".encode())
                    take_in(value)
            elif isinstance(part, np.ndarray):
                digest.update(f"{part.dtype.str}{part.shape}".encode())
                digest.update(np.ascontiguousarray(part).data)
            else:
                digest.update(f"{part!r},".encode())

        for part in (self.face, self.game, self.options, self.states, list(self.streams), self.more):
            take_in(part)
        return digest.hexdigest()


def bytes_of(states: Records) -> NDArray[np.uint8]:
    """Return records as bytes (u1 [B, bytes of a record]), a copy."""
    return opaque(states).copy().view(np.uint8).reshape(len(states), -1)


def sound_records(given: NDArray[np.uint8], game: Game, rules: Records) -> Records:
    """Return bytes (u1 [B, bytes of a record]) as records, a copy that the kernels may be given.

    Raises:
        ValueError: a game is not sound.
    """
    states = game.new_states(len(given))
    opaque(states)[:] = np.ascontiguousarray(given).view(opaque(states).dtype)[:, 0]
    found = game.problems(rules, states)
    if found:
        raise ValueError(f"the snapshot has a game that cannot be: {found[0]}")
    return states


def misfit(name: str, value: Any) -> ValueError:
    """Return the error for a part of a snapshot that is not as it should be."""
    return ValueError(f"{name} of the snapshot does not fit this environment: {shown(value)}")


def _is(wanted: str | dict[str, Any], found: Any) -> bool:
    """Return whether what is in a snapshot is this text or dictionary of plain values."""
    return isinstance(found, type(wanted)) and _does_fit(lambda value: bool(value == wanted), found)


def _as_dict(found: Any) -> dict[str, Any]:
    """Return a mapping as a dictionary; an empty one stands for anything else."""
    return dict(found) if isinstance(found, Mapping) and _does_fit(lambda value: bool(dict(value)), found) else {}


def _does_fit(fits: Fits, value: Any) -> bool:
    """Return whether a part is right; what cannot even be looked at is not."""
    try:
        return fits(value)
    # Of numbers beyond all limits, of containers that hold themselves, of foreign classes.
    except Exception:
        return False


def of_kind(value: Any, dtype: Any, shape: tuple[int, ...]) -> bool:
    """Return whether something is an array of this type and shape."""
    return is_array(value) and value.dtype == dtype and value.shape == shape


def like(array: NDArray[Any], least: float | None = None, most: float | None = None) -> Fits:
    """Return the check for an array of the same type and shape: finite, and within bounds."""

    def fits(value: Any) -> bool:
        if not of_kind(value, array.dtype, array.shape):
            return False
        if array.dtype == np.bool_:
            # Other bytes than 0 and 1 are true in one place and false in another.
            return bool((value.view(np.uint8) <= 1).all())
        finite = array.dtype.kind != "f" or np.isfinite(value).all()
        return bool(finite and (least is None or (value >= least).all()) and (most is None or (value <= most).all()))

    return fits


def snapshot_of(given: Any) -> Snapshot:
    """Return what was handed to ``set_state`` as a snapshot.

    Raises:
        ValueError: it is something else.
    """
    # One that was unpickled may lack anything.
    if not isinstance(given, Snapshot) or not all(hasattr(given, each.name) for each in fields(Snapshot)):
        raise ValueError(f"{NOT_A_SNAPSHOT}: got {shown(given)}")
    return given


def generator_of(stream: Any) -> np.random.Generator:
    """Return a generator in a state that was taken of another.

    Raises:
        ValueError: it is not such a state.
    """
    bits = np.random.PCG64(0)
    try:
        bits.state = stream
        # The setter takes what it can use of a number, and any increment; those of PCG64 are odd.
        is_whole = bits.state == stream and stream["state"]["inc"] % 2 == 1 and stream["has_uint32"] in (0, 1)
    except Exception as error:  # whatever NumPy's setter makes of foreign objects
        raise ValueError(f"{NOT_A_SNAPSHOT}: {shown(stream)} is not the state of a generator") from error
    if not is_whole:
        raise ValueError(f"{NOT_A_SNAPSHOT}: {shown(stream)} is not the state of a generator")
    return np.random.Generator(bits)
