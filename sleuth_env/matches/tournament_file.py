"""The games of a tournament in a file, in which they are kept as they are played.

A line of JSON says of which tournament they are, and one each has the games of a shard: where the
work ends in the middle of a line, that shard is played again. Each line ends with a checksum of the
rest of it, as a number that has been damaged still is a number.
Axis letters: ``B`` games, ``P`` seats.
"""

from __future__ import annotations

import hashlib
import json
import os
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..checks import shown
from ..files import read_bytes
from ..version import __version__
from .rating import Failure
from .schedule import Plan, Shard, deals_of, games_a_deal
from .seating import MatchError

FORM = "sleuth tournament 1"
CHECKSUM = "checksum"
# Hexadecimal digits of a checksum: it is against accidents, not against forgery.
CHECKSUM_DIGITS = 16


@dataclass(frozen=True)
class Played:
    """How the games of a shard ended.

    Args:
        places: i4 [B, P], see `Game.standings`.
        rewards: f8 [B, P].
        truncated: bool [B].
        failures: of programs that played.
    """

    places: NDArray[np.int32]
    rewards: NDArray[np.float64]
    truncated: NDArray[np.bool_]
    failures: tuple[Failure, ...] = ()


class KeptGames:
    """The games of a tournament that have been played, in a file where one is named.

    To be read: `played`, each deal as a shard of its own.

    Args:
        plan: of the tournament.
        path: of the file, which is made when the first games are added; None for none.

    Raises:
        MatchError: the file cannot be read, does not keep games, or is of another tournament.
    """

    def __init__(self, plan: Plan, path: str | os.PathLike[str] | None) -> None:
        self.played: dict[Shard, Played] = {}
        self._plan = plan
        self._path = None if path is None else Path(path)
        self._is_begun = False
        if self._path is not None:
            self._read(self._path)

    def add(self, shard: Shard, played: Played) -> None:
        """Add the games of a shard.

        Raises:
            OSError: they cannot be written.
        """
        self._note(shard, played)
        if self._path is None:
            return
        about = {
            "pair": [self._plan.players[number] for number in shard.pair],
            "deals": [shard.first, shard.end],
            "places": played.places.tolist(),
            "rewards": played.rewards.tolist(),
            "truncated": played.truncated.astype(int).tolist(),
        }
        if played.failures:
            about["failures"] = [asdict(failure) for failure in played.failures]
        content = _line(about) if self._is_begun else _line(_header(self._plan)) + _line(about)
        try:
            with self._path.open("ab") as file:
                file.write(content)
                file.flush()
                os.fsync(file.fileno())
        except OSError as error:
            # A full disk does not say which file it had no room for.
            raise OSError(error.errno, error.strerror or str(error), str(self._path)) from error
        self._is_begun = True

    def _note(self, shard: Shard, played: Played) -> None:
        games = len(played.places) // (shard.end - shard.first)
        for number, deal in enumerate(deals_of(shard)):
            part = slice(number * games, (number + 1) * games)
            # Which of the deals a program was at when it failed is not known.
            failures = () if number else played.failures
            self.played[deal] = Played(played.places[part], played.rewards[part], played.truncated[part], failures)

    def _read(self, path: Path) -> None:
        try:
            content = read_bytes(path)
        except FileNotFoundError:
            return
        except OSError as error:
            raise MatchError(f"{path} cannot be read: {error.strerror or error}") from error
        # What follows the last end of a line was not written to its end.
        *lines, rest = content.split(b"\n")
        header = _line(_header(self._plan))
        if not (lines or header.startswith(rest)):
            raise MatchError(f"{path} does not keep the games of a tournament: choose another file")
        if lines:
            _check_header(path, lines[0], _header(self._plan))
            self._is_begun = True
        for number, line in enumerate(lines[1:], 2):
            # Two that keep the games of one tournament at the same time both begin it. What else they
            # both write is the same, too.
            if line == lines[0]:
                continue
            try:
                shard, played = _shard(_content(line), self._plan)
            except (ValueError, TypeError, KeyError, OverflowError, RecursionError) as error:
                raise _damaged(path, number) from error
            self._note(shard, played)
        if rest:
            os.truncate(path, len(content) - len(rest))


def _line(content: dict[str, Any]) -> bytes:
    """Return what is said as a line, with its checksum at the end."""
    checksum = hashlib.sha256(_json(content)).hexdigest()[:CHECKSUM_DIGITS]
    return _json({**content, CHECKSUM: checksum}) + b"\n"


def _json(content: dict[str, Any]) -> bytes:
    return json.dumps(content, separators=(",", ":")).encode()


def _content(line: bytes) -> dict[str, Any]:
    """Return what a line says, without its checksum.

    Raises:
        ValueError, TypeError, KeyError, OverflowError, RecursionError: it is not as `_line` has written it.
    """
    content: dict[str, Any] = json.loads(line)
    del content[CHECKSUM]
    if _line(content) != line + b"\n":
        raise ValueError
    return content


def _damaged(path: Path, number: int) -> MatchError:
    return MatchError(f"{path} is damaged in line {number}: choose another file")


def _header(plan: Plan) -> dict[str, Any]:
    return {
        "form": FORM,
        "version": __version__,
        "game": plan.module,
        "options": asdict(plan.options),
        "seed": plan.seed,
        "greedy": plan.greedy,
        "players": list(plan.players),
        "files": list(plan.digests),
    }


def _check_header(path: Path, line: bytes, expected: dict[str, Any]) -> None:
    """Check that a file is of this tournament.

    Raises:
        MatchError: it is not, and the message says how the other one differs; or it is damaged.
    """
    try:
        found = json.loads(line)
    except (ValueError, RecursionError):
        found = None
    if not isinstance(found, dict) or found.get("form") != FORM or found.keys() != {*expected, CHECKSUM}:
        raise MatchError(f"{path} does not keep the games of a tournament: choose another file")
    try:
        found = _content(line)
    except (ValueError, RecursionError) as error:
        raise _damaged(path, 1) from error
    # As they are after a way through JSON.
    expected = json.loads(_json(expected))
    for name in expected:
        if found[name] == expected[name]:
            continue
        if name == "files" and isinstance(found[name], list):
            changed = [
                player
                for player, old, new in zip(expected["players"], found[name], expected[name], strict=False)
                if old != new
            ]
            raise MatchError(
                f"{path}: the file of the player {', '.join(changed)} has changed since these games were played: "
                "choose another file to play them again"
            )
        what, there, here = _difference(name, found[name], expected[name])
        raise MatchError(
            f"{path} is of another tournament: its {what} is {shown(there)}, and not {shown(here)}: choose another file"
        )


def _difference(name: str, found: Any, expected: Any) -> tuple[str, Any, Any]:
    """Return what differs between two values, and both of it: of options and lists the first that does."""
    if isinstance(found, dict) and isinstance(expected, dict):
        for key in sorted(found.keys() | expected.keys()):
            if found.get(key) != expected.get(key):
                return f"{name}.{key}", found.get(key), expected.get(key)
    if isinstance(found, list) and isinstance(expected, list):
        for number, (there, here) in enumerate(zip(found, expected, strict=False), 1):
            if there != here:
                return f"{name} {number}", there, here
        return f"number of {name}", len(found), len(expected)
    return name, found, expected


def _shard(about: Any, plan: Plan) -> tuple[Shard, Played]:
    """Return what a line says of a shard.

    Raises:
        ValueError, TypeError, KeyError, OverflowError: it says nothing of the kind.
    """
    first, end = (int(number) for number in about["deals"])
    pair = tuple(plan.players.index(name) for name in about["pair"])
    if not 0 <= first < end or pair not in ((), *plan.pairs):
        raise ValueError
    num_seats = plan.options.num_players
    places = np.array(about["places"])
    rewards = np.array(about["rewards"], np.float64)
    truncated = np.array(about["truncated"])
    games = (end - first) * games_a_deal(len(plan.players), num_seats)[not pair]
    if places.dtype.kind != "i" or truncated.dtype.kind != "i" or not np.isfinite(rewards).all():
        raise ValueError
    if places.shape != (games, num_seats) or rewards.shape != places.shape or truncated.shape != (games,):
        raise ValueError
    if places.min() < 0 or places.max() > num_seats or not np.isin(truncated, (0, 1)).all():
        raise ValueError
    failures = tuple(_failure(one) for one in about.get("failures", ()))
    return Shard(pair, first, end), Played(places.astype(np.int32), rewards, truncated.astype(np.bool_), failures)


def _failure(about: Any) -> Failure:
    """Return what a line says of a failure.

    Raises:
        ValueError, TypeError: it says nothing of the kind.
    """
    failure = Failure(**about)
    if any(type(getattr(failure, one.name)).__name__ != one.type for one in fields(failure)):
        raise ValueError
    return failure
