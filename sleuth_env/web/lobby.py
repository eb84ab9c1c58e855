"""The tables of a server: who may sit where, which games are in memory, and who plays on.

A game is in memory while somebody listens, and for a while after; else it is in its file, from which
it is taken up again when somebody comes back. So a server that was killed loses nothing, and games
that are over cost no memory. Games are played in threads, one step of a game at a time, so that the
event loop never waits for a bot.
"""

from __future__ import annotations

import asyncio
import re
import secrets
import sys
import time
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from concurrent.futures import Executor, ThreadPoolExecutor
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from functools import cached_property
from hmac import compare_digest
from pathlib import Path
from typing import Any, TypeVar

from ..checks import one_line, shown
from ..game import GAMES, Game, Transcribed, load_game, make_options, needed
from ..matches.players import make_players
from ..matches.program import close_programs, names_program, program_name
from ..policies.policy_file import pretrained_names
from .kept import About, DamagedError, Folder, Kept, new_name, new_secret, parse_token
from .messages import PERSON, closed, refused
from .offers import player_counts
from .room import Room, seats_of_people

T = TypeVar("T")
# Seconds for which a game without listeners stays in memory.
IDLE = 60.0
# Seconds between two looks for such games.
SWEEP = 10.0
# Of a seed that is drawn: with fewer, whoever sees a hand could try all deals and find the one that it is of.
SEED_BITS = 64
# The greatest seed that is a number in JSON; greater ones are texts of digits.
MOST_SEED = 2**53 - 1
_DIGITS = re.compile(r"\d{1,20}", re.ASCII)
# In the place of a seed: one that nobody knows yet.
NEW = "new"
# Messages that wait for a listener who is too slow to take them.
MOST_WAITING = 64
# Threads for games with players that may take their time, such as programs.
SLOW_THREADS = 16
LOST = "there is no such table, or its game has been deleted"
UNFINISHED = "the game is not over"


class LobbyError(ValueError):
    """What is asked for cannot be had; the message says why."""


class UnknownTableError(LobbyError):
    """There is no such table, or no longer."""


class BusyError(LobbyError):
    """There are too many tables or listeners."""


@dataclass(frozen=True)
class Limits:
    """How much a server does at once.

    Args:
        tables: games in memory.
        kept: games on disk.
        listeners: connections to seats.
        listeners_of_seat: the same of one seat.
    """

    tables: int = 200
    kept: int = 2000
    listeners: int = 1000
    listeners_of_seat: int = 8


@dataclass(frozen=True)
class Allowed:
    """Players that people may choose besides the bots and policies of the package.

    Args:
        names: what `make_players` takes, by what people are shown.
        greedy: whether policies take their best action.
        allow_pickle: see `make_players`.
    """

    names: Mapping[str, str] = field(default_factory=dict)
    greedy: bool = False
    allow_pickle: bool = False

    @classmethod
    def named(cls, names: Sequence[str], greedy: bool = False, allow_pickle: bool = False) -> Allowed:
        """Return the players of some names; people see neither folders nor what a program is told.

        >>> list(Allowed.named(["runs/a/best.safetensors", "runs/b/best.safetensors"]).names)
        ['best.safetensors', 'best.safetensors (2)']
        """
        found: dict[str, str] = {}
        for name in dict.fromkeys(names):
            label = program_name(name) if names_program(name) else name.replace("\\", "/").rpartition("/")[2]
            same = sum(other.partition(" (")[0] == label for other in found)
            found[f"{label} ({same + 1})" if same else label] = name
        return cls(found, greedy, allow_pickle)

    @cached_property
    def playable(self) -> dict[str, list[str]]:
        """What people are shown of those who can play a game, by the game.

        Raises:
            ValueError: one of them can play no game with any number of players.
        """
        games = {label: _games_of(name, self.greedy, self.allow_pickle) for label, name in self.names.items()}
        return {game: [label for label, those in games.items() if game in those] for game in GAMES}

    def public(self, text: str) -> str:
        """Return a message in which these players are called what people are shown."""
        for label, name in self.names.items():
            text = text.replace(name, label)
        return text


def _games_of(name: str, greedy: bool, allow_pickle: bool) -> list[str]:
    """Return the games that a player can play, with some number of players.

    Raises:
        ValueError: there is none.
    """
    if names_program(name):
        return list(GAMES)  # what a program plays it says when it is started
    found = []
    errors = []
    for game in map(load_game, GAMES):
        for number in player_counts(game):
            try:
                make_players(game, game.Options(num_players=number), [name], greedy, allow_pickle)
            except ValueError as error:
                errors.append(error)
            else:
                found.append(game.NAME)
                break
    if not found:
        raise errors[0]
    return found


@dataclass(eq=False)
class Listener:
    """Somebody who sees what a seat sees.

    Args:
        seat: the seat.
        messages: lines of JSON that are still to be sent; None is the last one.
    """

    seat: int
    messages: asyncio.Queue[str | None] = field(default_factory=lambda: asyncio.Queue(MOST_WAITING))

    def take(self, message: str | None) -> None:
        """Take a message to be sent; who does not read what they are sent is sent no more."""
        if self.messages.full():
            while not self.messages.empty():
                self.messages.get_nowait()
            message = None
        self.messages.put_nowait(message)


@dataclass(eq=False)
class Place:
    """A table in memory.

    Args:
        name: of the table.
        number: of the game at this table, from 1.
        about: who sits where.
        room: the game.
        pool: the threads in which it is played.
    """

    name: str
    number: int
    about: About
    room: Room
    pool: Executor
    lock: asyncio.Lock = field(default_factory=asyncio.Lock)
    listeners: list[Listener] = field(default_factory=list)
    left_at: float = field(default_factory=time.monotonic)
    playing: asyncio.Task[None] | None = None
    failed: set[int] = field(default_factory=set)  # seats whose failures have been reported
    unkept: bool = False  # whether its file does not have the last moves

    def deliver(self, seat: int, message: str) -> None:
        """Hand a message to all who listen to a seat."""
        for listener in self.listeners:
            if listener.seat == seat:
                listener.take(message)


def complain(text: str) -> None:
    """Tell whoever runs the server of a fault, in one line."""
    sys.stderr.write(f"sleuth: {one_line(text)}\n")


class Lobby:
    """All tables of a server. What is asynchronous is used in one event loop, within `open`.

    Args:
        folder: where the games are kept.
        allowed: players that people may choose besides those of the package.
        limits: how much is done at once.

    Raises:
        OSError: the folder cannot be used.
    """

    def __init__(self, folder: Path, allowed: Allowed | None = None, limits: Limits | None = None) -> None:
        self.limits = Limits() if limits is None else limits
        self.allowed = Allowed() if allowed is None else allowed
        self.folder = Folder(folder, self.limits.kept)
        self._places: dict[str, Place] = {}
        self._loading: dict[str, asyncio.Lock] = {}
        # Bots that decide at once share one thread: more of them would only wait for one another.
        self._quick = ThreadPoolExecutor(1, "sleuth-bots")
        self._slow = ThreadPoolExecutor(SLOW_THREADS, "sleuth-players")
        self._cannot_keep = False
        self._loop: asyncio.AbstractEventLoop | None = None

    # --- from the start to the end ---

    def check(self) -> int:
        """Read every game that is not over, and return how many there are; of a damaged one a line tells."""
        number = 0
        for name in list(self.folder.tables()):
            kept = self._read(name)
            if kept is None or kept.over:
                continue
            try:
                record_of(kept)
                number += 1
            except ValueError as error:
                complain(_damaged(name, error))
        return number

    @asynccontextmanager
    async def open(self) -> AsyncIterator[None]:
        """Look after the tables in the meantime; at the end nothing is left to be saved."""
        self._loop = asyncio.get_running_loop()
        sweeper = asyncio.create_task(self._sweep())
        try:
            yield
        finally:
            sweeper.cancel()
            for place in self._places.values():
                if place.playing is not None:
                    place.playing.cancel()
                close_programs(place.room.sitting.table.bots)
            for pool in (self._quick, self._slow):
                pool.shutdown(wait=False, cancel_futures=True)
            self.folder.close()

    async def _sweep(self) -> None:
        while True:
            await asyncio.sleep(SWEEP)
            for place in list(self._places.values()):
                if place.unkept and not place.lock.locked():
                    self._keep(place, place.room.text)
                if time.monotonic() - place.left_at > IDLE:
                    self._drop(place)

    def _drop(self, place: Place) -> bool:
        """Let a game go from memory if nobody needs it there; return whether it has gone."""
        if place.listeners or place.playing is not None or place.lock.locked():
            return False
        if place.unkept and not self._keep(place, place.room.text):
            return False
        if self._places.pop(place.name, None) is not None:
            close_programs(place.room.sitting.table.bots)
        return True

    async def _in_thread(self, pool: Executor, call: Callable[[], T]) -> T:
        return await asyncio.get_running_loop().run_in_executor(pool, call)

    # --- tables ---

    async def make_table(
        self, game: Any, players: Any, options: Any, seats: Any, seed: Any = None
    ) -> list[tuple[int, str]]:
        """Make a table; return the seats of people, each with its token.

        Args:
            game: the name of the game.
            players: their number.
            options: the options by name.
            seats: who plays in each seat, [P]: `PERSON`, or the name of a bot or of another player.
            seed: settles the game; None: drawn.

        Raises:
            LobbyError: there can be no such table; nothing has changed.
        """
        module, chosen = _read_options(game, players, options)
        who = _read_seats(seats, chosen.num_players)
        tokens = {str(seat): new_secret() for seat in seats_of_people(who)}
        about = About(module.NAME, who, tokens, _read_seed(seed))
        name = new_name()
        await self._in_thread(self._quick, lambda: self._lay(name, about, chosen))
        return [(int(seat), name + secret) for seat, secret in tokens.items()]

    def _lay(self, name: str, about: About, options: Any) -> None:
        """Write the file of a new table."""
        self.folder.make_room(self._places)
        if self.folder.is_full:
            raise BusyError(f"this server keeps {self.limits.kept} games, and all of them are being played")
        room, _ = self._room(name, 1, about, options, None)
        try:
            self.folder.write(name, 1, False, about, room.text)
        except OSError as error:
            raise BusyError(f"the table cannot be kept: {error.strerror}") from error

    def _room(self, name: str, number: int, about: About, options: Any, record: Any) -> tuple[Room, Executor]:
        """Return a game, and the threads in which it is played.

        Raises:
            LobbyError: not all of its players can play here.
        """
        game = load_game(about.game)
        players = self._players(game, options, about.seats)
        quick = [PERSON, *_quick_bots(game)]
        is_quick = all(who in quick for who in about.seats)
        replay = {int(seat): f"/table/{name}{secret}/replay?game={number}" for seat, secret in about.secrets.items()}
        room = Room(game, options, about.seats, players, about.seed, record, not is_quick, replay)
        return room, self._quick if is_quick else self._slow

    def _players(self, game: Game, options: Any, seats: Sequence[str]) -> list[Any]:
        """Return who plays in each seat, [P]; None for people."""
        known = [PERSON, *game.BOTS, *pretrained_names(game.NAME), *self.allowed.names]
        for who in seats:
            if who not in known:
                raise LobbyError(f"a seat is one of {', '.join(known)}, got {shown(who, 60)}")
        names = [self.allowed.names.get(who, who) for who in seats if who != PERSON]
        try:
            made = iter(make_players(game, options, names, self.allowed.greedy, self.allowed.allow_pickle))
        except ValueError as error:
            raise LobbyError(self.allowed.public(str(error))) from error
        return [None if who == PERSON else next(made) for who in seats]

    async def again(self, token: str, seed: Any = None) -> None:
        """Begin a new game at a table.

        Args:
            token: of a seat.
            seed: settles the game; None: the same as before; `NEW`: one that is drawn, as it must be
                where several people play.

        Raises:
            LobbyError: the game is not over, and somebody else plays, too; or the seed is wrong.
        """
        place, _ = await self.find(token)
        new_seed = place.about.seed if seed is None else _read_seed(None if seed == NEW else seed)
        async with place.lock:
            if not place.room.finished and len(place.room.people) > 1:
                raise LobbyError(f"{UNFINISHED}, and you do not play alone")
            if seed != NEW and len(place.room.people) > 1:
                raise LobbyError(f'seed must be "{NEW}" where several people play: whoever knows a seed knows the deal')
            await self._in_thread(self._quick, lambda: self._begin_again(place, new_seed))
            listening = {listener.seat for listener in place.listeners}
            shown = await self._in_thread(place.pool, lambda: {seat: place.room.listen(seat) for seat in listening})
            for seat, message in shown.items():
                place.deliver(seat, message)
        self._go_on(place)

    def _begin_again(self, place: Place, seed: int) -> None:
        """Put a new game in the place of one that is over, or that is given up."""
        about = replace(place.about, seed=seed)
        number = place.number + 1
        self.folder.make_room(self._places)
        room, pool = self._room(place.name, number, about, place.room.options, None)
        try:
            self.folder.write(place.name, number, False, about, room.text)
        except OSError as error:
            raise BusyError(f"the game cannot be kept: {error.strerror}") from error
        if not place.room.finished:
            self.folder.delete(place.name, place.number)
        close_programs(place.room.sitting.table.bots)
        place.about = about
        place.number = number
        place.room = room
        place.pool = pool
        place.failed = set()

    # --- seats ---

    async def find(self, token: str) -> tuple[Place, int]:
        """Return the table of a token, taken up again from its file if need be, and the seat there.

        Raises:
            UnknownTableError: there is none.
            LobbyError: its players cannot play here any more, or there are too many tables.
        """
        name, secret = parse_token(token)
        if name and name not in self._places:
            # Whoever comes second waits, and finds it.
            async with self._loading.setdefault(name, asyncio.Lock()):
                if name not in self._places:
                    await self._load(name, secret)
            self._loading.pop(name, None)
        place = self._places.get(name)
        seat = -1 if place is None else _seat_of(place.about, secret)
        if place is None or seat < 0:
            raise UnknownTableError(LOST)
        return place, seat

    async def check_token(self, token: str) -> None:
        """Check that a token is that of a seat; no game is taken up for it.

        Raises:
            UnknownTableError: it is not.
        """
        name, secret = parse_token(token)
        place = self._places.get(name)
        about = None if place is None else place.about
        if place is None and name:
            kept = await self._in_thread(self._quick, lambda: self._read(name))
            about = None if kept is None else kept.about
        if about is None or _seat_of(about, secret) < 0:
            raise UnknownTableError(LOST)

    async def _load(self, name: str, secret: str) -> None:
        """Take a game up again from its file, if there is one and the secret opens it."""
        kept = await self._in_thread(self._quick, lambda: self._read(name))
        if kept is None or _seat_of(kept.about, secret) < 0:
            return
        if len(self._places) >= self.limits.tables:
            self._drop_one()

        def load() -> Place:
            record = record_of(kept)
            room, pool = self._room(name, kept.number, kept.about, record.options, record)
            return Place(name, kept.number, kept.about, room, pool)

        try:
            self._places[name] = await self._in_thread(self._quick, load)
        except LobbyError:
            raise
        except ValueError as error:
            complain(_damaged(name, error))

    def _drop_one(self) -> None:
        """Let that game go from memory that nobody has needed for the longest time.

        Raises:
            BusyError: all are needed.
        """
        for place in sorted(self._places.values(), key=lambda place: place.left_at):
            if self._drop(place):
                return
        raise BusyError(f"people play at {self.limits.tables} tables now, and there can be no more")

    def _read(self, name: str, number: int = 0) -> Kept | None:
        """Return a game from its file; None where there is none, or it is damaged, which a line tells."""
        try:
            return self.folder.read(name, number)
        except (OSError, DamagedError) as error:
            complain(_damaged(name, error))
            return None

    async def listen(self, place: Place, seat: int) -> Listener:
        """Begin to listen to a seat; the first message waits already.

        Raises:
            BusyError: too many listen.
        """
        async with place.lock:
            if sum(len(other.listeners) for other in self._places.values()) >= self.limits.listeners:
                raise BusyError("too many people are connected")
            if sum(other.seat == seat for other in place.listeners) >= self.limits.listeners_of_seat:
                raise BusyError("this seat is open in too many windows")
            first = await self._in_thread(place.pool, lambda: place.room.listen(seat))
            listener = Listener(seat)
            listener.take(first)
            place.listeners.append(listener)
        self._go_on(place)
        return listener

    def leave(self, place: Place, listener: Listener) -> None:
        """Listen no more."""
        if listener in place.listeners:
            place.listeners.remove(listener)
        if all(other.seat != listener.seat for other in place.listeners):
            place.room.leave(listener.seat)
        place.left_at = time.monotonic()
        if place.room.finished:
            self._drop(place)

    # --- what happens at a table ---

    async def act(self, place: Place, seat: int, number: Any, name: Any) -> None:
        """Take a person's decision, and let the bots go on.

        Raises:
            RefusedError: it cannot be taken; nothing has changed.
        """
        async with place.lock:
            self._connect(place)
            await self._in_thread(place.pool, lambda: place.room.act(seat, number, name))
        self._go_on(place)

    async def odds(self, place: Place, seat: int) -> str:
        """Return what a seat may believe, as a line of JSON."""
        async with place.lock:
            return await self._in_thread(place.pool, lambda: place.room.odds(seat))

    def _connect(self, place: Place) -> None:
        """Let what a game tells reach its listeners, and its file, from whatever thread it is played in."""
        loop = asyncio.get_running_loop()
        place.room.tell = lambda seat, message: loop.call_soon_threadsafe(place.deliver, seat, message)
        place.room.keep = lambda text: self._keep(place, text)

    def _go_on(self, place: Place) -> None:
        """See to it that bots decide where they are to."""
        if place.playing is None and not place.room.is_at_rest:
            place.playing = asyncio.create_task(self._play(place))

    async def _play(self, place: Place) -> None:
        """Let bots decide; where that takes time, one by one, so that people are answered in between."""
        try:
            while place.listeners and not place.room.is_at_rest:
                async with place.lock:
                    self._connect(place)
                    play = place.room.play_round if place.room.stepwise else place.room.play_on
                    await self._in_thread(place.pool, play)
                    self._report_failures(place)
        except Exception as error:
            self._break_off(place, error)
        finally:
            place.playing = None

    def _report_failures(self, place: Place) -> None:
        """Report once where a program has failed; the people hear of it at the end, for its words may be secret."""
        for failure in place.room.failures:
            if failure.seat not in place.failed:
                place.failed.add(failure.seat)
                complain(f"{failure.player} has failed in seat {failure.seat} of a table: {failure.reason}")

    def _break_off(self, place: Place, error: Exception) -> None:
        """Let everybody go from a table at which a player cannot go on; its game stays in its file."""
        complain(f"a player has failed at a table: {type(error).__name__}: {error}")
        for listener in place.listeners:
            listener.take(closed("a player has failed, and the game cannot go on; it has been kept"))
            listener.take(None)

    def _keep(self, place: Place, text: str) -> bool:
        """Write a game, and return whether that was possible; if not it goes on in memory, and people are told."""
        try:
            self.folder.write(place.name, place.number, place.room.finished, place.about, text)
        except OSError as error:
            if not self._cannot_keep:
                complain(f"games cannot be kept: {error.filename}: {error.strerror}")
            self._cannot_keep = True
            if not place.unkept:
                place.unkept = True
                self._tell(place, "this game cannot be kept at the moment, and would be lost with the server")
            return False
        if place.unkept:
            self._tell(place, "this game is kept again")
        place.unkept = self._cannot_keep = False
        return True

    def _tell(self, place: Place, what: str) -> None:
        """Tell everybody at a table something that is not of the game, from whatever thread."""
        if self._loop is not None:
            for seat in place.room.people:
                self._loop.call_soon_threadsafe(place.deliver, seat, refused(what))

    # --- games that are over ---

    async def finished_game(self, token: str, number: Any = 0) -> Kept:
        """Return a game of a table that is over; default: the last one.

        Raises:
            UnknownTableError: there is no such table or game.
            LobbyError: it is not over.
        """
        name, secret = parse_token(token)
        place = self._places.get(name)
        if place is not None and place.room.finished and number in (0, place.number):
            # Its file may not have the last moves.
            kept: Kept | None = Kept(name, place.number, True, place.about, place.room.text)
        else:
            kept = await self._in_thread(self._quick, lambda: self._read(name, number)) if name else None
        if kept is None or _seat_of(kept.about, secret) < 0:
            raise UnknownTableError(LOST)
        if not kept.over:
            raise LobbyError(UNFINISHED)
        return kept


# --- what people ask for ---


def _read_options(game: Any, players: Any, options: Any) -> tuple[Game, Any]:
    """Return the game and the options that somebody asks for.

    Raises:
        LobbyError: there are none such.
    """
    if game not in GAMES:
        raise LobbyError(f"game must be one of {', '.join(GAMES)}, got {shown(game, 60)}")
    if not isinstance(options, dict) or "num_players" in options:
        raise LobbyError("options must be an object of options by name, without the number of players")
    if not all(type(value) in (bool, int, str) for value in (players, *options.values())):
        raise LobbyError("players and options must be numbers, truth values or texts")
    module = load_game(game)
    try:
        return module, make_options(module, {"num_players": players, **options})
    except ValueError as error:
        raise LobbyError(one_line(str(error))) from error


def _read_seats(seats: Any, num_players: int) -> list[str]:
    if not isinstance(seats, list) or len(seats) != num_players or not all(isinstance(who, str) for who in seats):
        raise LobbyError(f"seats must be a list of {num_players} names")
    if PERSON not in seats:
        raise LobbyError(f"at least one seat must be {PERSON!r}")
    return list(seats)


def _read_seed(seed: Any) -> int:
    if seed is None:
        return secrets.randbits(SEED_BITS)
    if isinstance(seed, str) and _DIGITS.fullmatch(seed) and int(seed) < 2**64:
        return int(seed)
    if type(seed) is not int or not 0 <= seed <= MOST_SEED:
        raise LobbyError(f"seed must be a whole number from 0 to {MOST_SEED}, or digits up to {2**64 - 1}, or null")
    return seed


def _quick_bots(game: Game) -> list[str]:
    """Return the bots that decide at once: the weakest ones, up to the default bot."""
    names = list(game.BOTS)
    return names[: names.index(game.DEFAULT_BOT) + 1]


# --- what is in files ---


def record_of(kept: Kept) -> Any:
    """Return the game of a file.

    Raises:
        ValueError: it is none.
    """
    if kept.about.game not in GAMES:
        raise DamagedError(f"there is no game {shown(kept.about.game, 60)}")
    record = needed(load_game(kept.about.game), Transcribed).parse_game(kept.text)
    if len(kept.about.seats) != record.options.num_players or (record.last_state["actor"] < 0) != kept.over:
        raise DamagedError("its last line is of another game")
    return record


def _seat_of(about: About, secret: str) -> int:
    """Return the seat that a secret opens; -1 where it opens none."""
    return next((int(seat) for seat, other in about.secrets.items() if compare_digest(secret, other)), -1)


def _damaged(name: str, error: Exception) -> str:
    why = error.strerror if isinstance(error, OSError) else str(error)
    return f"the game of table {name} cannot be taken up again, and is left as it is: {why}"
