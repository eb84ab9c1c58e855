"""The games of a server on disk: a game text each, with a comment that says who sits where.

A table has a number of its own, and its games are counted; a game that is over is in a file of another
name. Files are written whole or not at all, and only their owner may read them: they show every
hidden card, and the tokens by which people come back to their seats.
"""

from __future__ import annotations

import json
import re
import secrets
from collections.abc import Collection, Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from ..files import read_bytes, write_atomically
from ..locks import locked
from ..transcripts import MAX_TEXT

REMARK = "# sleuth serve: "
VERSION = 1
# Bytes of the name of a table, and of what makes a token impossible to guess.
NAME_BYTES = 8
SECRET_BYTES = 18
_FILE = re.compile(r"([0-9a-f]{16})-(\d{1,6})(\.over)?\.txt")
_TOKEN = re.compile(r"([0-9a-f]{16})([\w-]{24})", re.ASCII)
# Of a remark, besides the text of the game: it names players.
MOST_REMARK = 100_000


class DamagedError(ValueError):
    """A file does not hold a game of this server; the message says why, without its name."""


@dataclass(frozen=True)
class About:
    """What is kept of a table besides its game text.

    Args:
        game: the name of the game.
        seats: who plays in each seat, [P], as it was asked for.
        secrets: what the token of each person ends in, by their seat as a text.
        seed: of the game.
    """

    game: str
    seats: list[str]
    secrets: dict[str, str]
    seed: int


@dataclass(frozen=True)
class Kept:
    """A game as its file says.

    Args:
        table: the name of its table.
        number: of the game at this table, from 1.
        over: whether it is over.
        about: who sits where.
        text: the game text.
    """

    table: str
    number: int
    over: bool
    about: About
    text: str


def new_name() -> str:
    """Return the name of a new table."""
    return secrets.token_hex(NAME_BYTES)


def new_secret() -> str:
    """Return what nobody can guess."""
    return secrets.token_urlsafe(SECRET_BYTES)


def parse_token(token: str) -> tuple[str, str]:
    """Return the name of the table, and the secret, of a token; "" for both where it is none.

    >>> parse_token("0123456789abcdef" + "s" * 24)
    ('0123456789abcdef', 'ssssssssssssssssssssssss')
    >>> parse_token("../secret")
    ('', '')
    """
    found = _TOKEN.fullmatch(token)
    return (found[1], found[2]) if found else ("", "")


class Folder:
    """The folder of a server's games, which no other server uses as long as this process lives, or until `close`.

    Args:
        path: of the folder, which is made if it does not exist.
        most: games that are kept; the oldest are deleted.

    Raises:
        OSError: it cannot be made or read, or another server uses it.
    """

    def __init__(self, path: Path, most: int) -> None:
        path.mkdir(mode=0o700, parents=True, exist_ok=True)
        self._lock = locked(path, "keeps its games there")
        self.path = path
        for leftover in path.glob("*.partial"):
            # Of a server that was killed while it wrote.
            leftover.unlink(missing_ok=True)
        self.most = most
        self._number = sum(1 for _ in self._files())

    def close(self) -> None:
        """Let another server use the folder."""
        self._lock.release()

    def write(self, table: str, number: int, over: bool, about: About, text: str) -> None:
        """Write a game.

        Raises:
            OSError: it cannot be written.
        """
        remark = json.dumps({"version": VERSION, **asdict(about)})
        path = self._path(table, number, over)
        is_new = not path.exists()
        # To wait for the disk at every move would take longer than all the rest.
        write_atomically(path, f"{text}{REMARK}{remark}\n".encode(), private=True, synced=over)
        self._number += is_new
        if over:
            self._delete(self._path(table, number, False))

    def read(self, table: str, number: int = 0) -> Kept | None:
        """Return a game of a table; default: the last one; None where there is none.

        Raises:
            OSError: it cannot be read.
            DamagedError: the file holds something else.
        """
        there = [found for found in self._files(f"{table}-*.txt") if number in (0, found[1])]
        if not there:
            return None
        # Both are there where the server was killed between writing one and deleting the other.
        _, number, over = max(there, key=lambda found: found[1:])
        content = read_bytes(self._path(table, number, over), 4 * MAX_TEXT + MOST_REMARK)
        about, text = _parted(content)
        return Kept(table, number, over, about, text)

    def delete(self, table: str, number: int) -> None:
        """Delete a game that is not over: it has been given up."""
        self._delete(self._path(table, number, False))

    def tables(self) -> Iterator[str]:
        """Iterate over the names of all tables."""
        yield from dict.fromkeys(table for table, _, _ in self._files())

    def make_room(self, playing: Collection[str]) -> None:
        """Delete the oldest games where there are too many, those that are over first.

        Args:
            playing: the names of tables of which nothing is deleted but games that are over.
        """
        if self._number < self.most:
            return
        ages = []
        for table, number, over in self._files():
            path = self._path(table, number, over)
            if over or table not in playing:
                ages.append((not over, path.stat().st_mtime if path.exists() else 0.0, path))
        self._number = sum(1 for _ in self._files())
        for _, _, path in sorted(ages)[: self._number - self.most + 1]:
            self._delete(path)

    @property
    def is_full(self) -> bool:
        """Whether another game finds no room."""
        return self._number >= self.most

    def _files(self, pattern: str = "*.txt") -> Iterator[tuple[str, int, bool]]:
        """Iterate over table and number of each game, and whether it is over."""
        for path in self.path.glob(pattern):
            if found := _FILE.fullmatch(path.name):
                yield found[1], int(found[2]), bool(found[3])

    def _path(self, table: str, number: int, over: bool) -> Path:
        return self.path / f"{table}-{number}{'.over' * over}.txt"

    def _delete(self, path: Path) -> None:
        if path.exists():
            path.unlink(missing_ok=True)
            self._number -= 1


def _parted(content: bytes) -> tuple[About, str]:
    """Return what the content of a file says of its table, and the game text."""
    try:
        text, _, remark = content.decode().rpartition(REMARK)
        given = json.loads(remark)
    except (ValueError, RecursionError) as error:
        raise DamagedError("its last line does not say who sits where") from error
    if not isinstance(given, dict) or given.pop("version", None) != VERSION:
        raise DamagedError(f"it is not of version {VERSION} of such files")
    return _checked(given), text


def _checked(given: dict[str, Any]) -> About:
    kinds = {"game": str, "seats": list, "secrets": dict, "seed": int}
    if set(given) != set(kinds) or not all(type(given[name]) is kind for name, kind in kinds.items()):
        raise DamagedError("its last line does not say who sits where")
    about = About(**given)
    texts = [*about.seats, *about.secrets, *about.secrets.values()]
    seats = [str(seat) for seat in range(len(about.seats))]
    if not all(isinstance(text, str) for text in texts) or not set(about.secrets) <= set(seats):
        raise DamagedError("its last line does not say who sits where")
    if not 0 <= about.seed < 2**64:
        raise DamagedError("its last line has no seed from 0 to 18446744073709551615")
    return about
