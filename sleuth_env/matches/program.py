"""Programs as players: ``exec:COMMAND``, any program that keeps the protocol of docs/protocol.md.

A program is told what a seat knows, as text and as data, and its legal actions; it answers with one of
them. Both are lines of JSON. Each seat has a process of its own, so that what one seat sees stays
unknown to the others; it plays all games of the table in that seat at once. A program that fails
(silence, rubbish, illegal answers, a crash) is ended, and a bot plays its seat from then on.
Axis letters: ``B`` games, ``A`` actions.
"""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
import time
import warnings
import weakref
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..checks import one_line, shown
from ..game import Game, OfGame, Records, check_game, check_options
from ..words import known_facts, legal_names, rules_text, text_of
from .process import LineProcess, ProcessError
from .rating import Failure
from .seating import MatchError

PROTOCOL = 1
PREFIX = "exec:"
FORM = "exec:COMMAND"
# Seconds for a decision, and for the start, unless a decision may take longer.
LIMIT = 10.0
LEAST_LIMIT = 0.01
MOST_LIMIT = 86_400.0
START_LIMIT = 60.0
# Lines in a row that answer nothing before a program has failed.
MOST_REFUSED = 3
# Seeds are handed to a bot as 64 bits; numbers of JSON are exact up to 53.
SEED_BITS = 53
LONGEST_REASON = 300
LONGEST_NAME = 80
LISTED = 8

_TEXT = re.compile(r"exec:(?:(\d{1,5}(?:\.\d{1,3})?)s:)?(.*)", re.S)


def names_program(text: str) -> bool:
    """Return whether a player's name means a program that is to be started.

    >>> names_program("exec:python3 player.py"), names_program("sheet")
    (True, False)
    """
    return text.startswith(PREFIX)


def parse_program(text: str) -> tuple[float, list[str] | str]:
    """Return the seconds that a program has for a decision, and its command.

    The command is split into words as a shell would, but no shell runs it; on Windows it is the
    command line.

    >>> parse_program("exec:python3 player.py --level 2"), parse_program("exec:0.5s:./player")
    ((10.0, ['python3', 'player.py', '--level', '2']), (0.5, ['./player']))

    Raises:
        MatchError: the command is empty, its program does not exist, or the time is out of its range.
    """
    found = _TEXT.fullmatch(text)
    limit = float(found[1]) if found and found[1] else LIMIT
    command = found[2].strip() if found else ""
    if not LEAST_LIMIT <= limit <= MOST_LIMIT:
        raise MatchError(f"player {text[:100]!r}: the time must be from {LEAST_LIMIT:g}s to {MOST_LIMIT:g}s")
    try:
        words = shlex.split(command, posix=os.name == "posix")
    except ValueError as error:
        raise MatchError(f"player {text[:100]!r}: the command cannot be split into words: {error}") from error
    if not words or "\0" in command:
        raise MatchError(f"a program as a player is {FORM}, or exec:5s:COMMAND for another time, got {text[:100]!r}")
    return limit, words if os.name == "posix" else command


def _words(text: str) -> list[str]:
    """Return the words of a program's command.

    Raises:
        MatchError: see `parse_program`.
    """
    _, command = parse_program(text)
    # On Windows, words keep their quotes.
    return command if isinstance(command, list) else [word.strip('"') for word in shlex.split(command, posix=False)]


def program_name(text: str) -> str:
    """Return what a program is called in what may be published: its own name, without its folder.

    What follows it is left out, for it may be secret, but for the name of a file right after it, which an
    interpreter plays.

    >>> program_name("exec:5s:/opt/bin/player --token 1234"), program_name("exec:python3 -m player")
    ('exec:player', 'exec:python3')
    """
    try:
        words = _words(text)
    except MatchError:
        # Nobody plays it.
        return PREFIX
    named = words[:2] if os.path.isfile("".join(words[1:2])) else words[:1]
    return PREFIX + " ".join(re.split(r"[/\\]", word)[-1] for word in named)


def check_program(text: str) -> None:
    """Refuse a program that cannot be started, before anybody waits for it.

    Raises:
        MatchError: see `parse_program`; or there is no such program.
    """
    _, command = parse_program(text)
    first = command[0] if isinstance(command, list) else ""
    if first and shutil.which(first) is None:
        raise MatchError(f"player {text[:100]!r}: there is no program {first[:100]!r} that can be run")


def files_of(text: str) -> list[Path]:
    """Return the files that are words of a program's command, in their order.

    Without a first word that is looked for on the path: that is an interpreter, or is installed.

    Raises:
        MatchError: see `parse_program`.
    """
    words = _words(text)
    if not os.path.dirname(words[0]):
        words = words[1:]
    # Not Path.is_file, for a word may be longer than any name of a file.
    return [Path(word) for word in words if os.path.isfile(word)]


# --- what is sent ---


def hello_line(game: Game, options: Any, seat: int, limit: float) -> str:
    """Return the first line that a program is sent."""
    return json.dumps(
        {
            "type": "hello",
            "protocol": PROTOCOL,
            "game": game.NAME,
            "options": asdict(options),
            "seat": seat,
            "limit": limit,
            "rules": rules_text(options, game),
        }
    )


def decide_line(
    game: Game, options: Any, number: int, of_game: int, seat: int, view: Any, legal: Sequence[str], seed: Any
) -> str:
    """Return the line that asks a program for a decision.

    Args:
        game: the game module.
        options: of the game.
        number: of the question.
        of_game: the number of the game.
        seat: that decides.
        view: one VIEW record: all that is told is taken from it.
        legal: the names of the legal actions.
        seed: 64 random bits.
    """
    facts = known_facts(game, options, view)
    return json.dumps(
        {
            "type": "decide",
            "id": number,
            "game": of_game,
            "seat": seat,
            "seed": int(seed) >> 64 - SEED_BITS,
            "text": text_of(game, options, view, facts, legal),
            "facts": facts,
            "legal": legal,
        }
    )


# --- the talk with one process ---


class ProgramError(Exception):
    """A program has failed; the message says how."""


class RefusedError(Exception):
    """A line of a program answers no question; the message says why.

    Args:
        why: the reason.
        number: of the question that was meant, None if that is not known.
    """

    def __init__(self, why: str, number: int | None = None) -> None:
        super().__init__(why)
        self.number = number


@dataclass(frozen=True)
class Question:
    """A decision that a program has been asked for.

    Args:
        row: of the batch.
        legal: the legal actions by name.
    """

    row: int
    legal: dict[str, int]


class Talk:
    """One process of a program that plays one seat.

    Args:
        command: see `parse_program`.
        game: the game module.
        options: of the game.
        seat: that it plays.
        limit: seconds for a decision.

    Raises:
        ProgramError: it does not start, or does not answer as it should.
    """

    def __init__(self, command: list[str] | str, game: Game, options: Any, seat: int, limit: float) -> None:
        self.game = game
        self.options = options
        self.seat = seat
        self.limit = limit
        self.name = ""
        self._asked = 0
        self._open: dict[int, Question] = {}
        # Questions of a batch that was broken off, by Ctrl-C for instance: their answers may still come.
        self._stale: set[int] = set()
        self._games: set[int] = set()
        try:
            self.process = LineProcess(command)
        except ProcessError as error:
            raise ProgramError(str(error)) from error
        try:
            self._greet()
        except BaseException:
            self.process.stop(grace=0)
            raise

    def _greet(self) -> None:
        self.process.send(hello_line(self.game, self.options, self.seat, self.limit))
        start = max(self.limit, START_LIMIT)
        line = self._line(start)
        if line is None:
            raise ProgramError(f"it has not answered hello within {start:g} s{self._last_words()}")
        answer = _object(line)
        if answer is None or answer.get("type") != "hello":
            raise ProgramError(
                f'its first line must be {{"type": "hello", "protocol": {PROTOCOL}}}, got {_shown(line)}'
            )
        # True and 1.0 are equal to 1.
        if type(answer.get("protocol")) is not int or answer["protocol"] != PROTOCOL:
            raise ProgramError(f"it keeps protocol {shown(answer.get('protocol'), 20)}, not {PROTOCOL}")
        self.name = one_line(str(answer.get("name", "")))[:LONGEST_NAME]

    def decide(
        self, views: Records, legal: NDArray[np.uint8], seeds: NDArray[np.uint64], games: Sequence[int]
    ) -> Iterator[tuple[int, int]]:
        """Ask for decisions, and iterate over rows and their actions as they are answered.

        Args:
            views: VIEW [B].
            legal: u1 [B, A].
            seeds: u8 [B].
            games: the number of each game.

        Raises:
            ProgramError: the program fails before all are answered.
        """
        self._stale |= set(self._open)
        self._open = {}
        for row, of_game in enumerate(games):
            self._asked += 1
            names = legal_names(self.game, self.options, legal[row])
            numbers = np.flatnonzero(legal[row]).tolist()
            self._open[self._asked] = Question(row, dict(zip(names, numbers, strict=True)))
            self._games.add(of_game)
            about = (self._asked, of_game, self.seat, views[row], names, seeds[row])
            self.process.send(decide_line(self.game, self.options, *about))
        yield from self._answers()

    def _answers(self) -> Iterator[tuple[int, int]]:
        """Iterate over the answers to all open questions; the time begins again with each."""
        deadline = time.monotonic() + self.limit
        refused = 0
        why = ""
        while self._open:
            line = self._line(deadline - time.monotonic())
            if line is None:
                before = f"; its last line was refused: {why}" if why else self._last_words()
                raise ProgramError(f"it has not answered within {self.limit:g} s{before}")
            try:
                answered = self._answered(line)
            except RefusedError as error:
                refused += 1
                why = str(error)
                if refused == MOST_REFUSED:
                    message = f"{MOST_REFUSED} lines in a row are no answers; the last one: {why}"
                    raise ProgramError(message) from error
                self.process.send(json.dumps({"type": "refused", "id": error.number, "reason": why}))
                continue
            if answered is not None:
                yield answered
                deadline = time.monotonic() + self.limit
                refused = 0
                why = ""

    def _answered(self, line: str) -> tuple[int, int] | None:
        """Return the row that a line answers, and its action; None for one that nobody waits for any more.

        Raises:
            RefusedError: it does not answer.
        """
        answer = _object(line)
        if answer is None:
            raise RefusedError(
                f"an answer is a JSON object on a line of stdout, where nothing else belongs, got {_shown(line)}"
            )
        number = answer.get("id")
        if type(number) is int and number in self._stale:
            self._stale.remove(number)
            return None
        if type(number) is not int or number not in self._open:
            raise RefusedError(f"id must be that of an open question, got {shown(number, 40)}")
        question = self._open[number]
        action = answer.get("action")
        if not isinstance(action, str) or action not in question.legal:
            few = ", ".join(list(question.legal)[:LISTED])
            more = f" and {len(question.legal) - LISTED} more" if len(question.legal) > LISTED else ""
            raise RefusedError(f"action {shown(action, 60)} is not legal; legal are {few}{more}", number)
        del self._open[number]
        return question.row, question.legal[action]

    def forget(self, games: Iterable[int]) -> None:
        """Tell the program which games nobody plays any further, of those that it knows."""
        over = self._games.intersection(games)
        if over:
            self._games -= over
            self.process.send(json.dumps({"type": "over", "games": sorted(over)}))

    def _line(self, seconds: float) -> str | None:
        try:
            return self.process.receive(seconds)
        except ProcessError as error:
            raise ProgramError(f"{error}{self._last_words()}") from error

    def _last_words(self) -> str:
        """Return the last line of the program's stderr, as a message quotes it."""
        lines = self.process.errors.split("\n")
        last = next((line for line in reversed(lines) if line.strip()), "")
        return f"; the end of its stderr: {one_line(last)[-LONGEST_REASON:]}" if last else ""


def _object(line: str) -> dict[str, Any] | None:
    """Return the JSON object of a line, None where it is something else."""
    try:
        found = json.loads(line)
    except (ValueError, RecursionError):
        return None
    return found if isinstance(found, dict) else None


def _shown(line: str) -> str:
    return shown(line, 80)


# --- the player ---


@dataclass(eq=False)
class _Seat:
    """What is known of a program in one seat.

    Args:
        seat: that it plays, -1 before it is asked.
        answered: number of its decisions.
        replaced: number of decisions that the bot took for it.
        reason: how it has failed, "" while it has not.
    """

    seat: int = -1
    answered: int = 0
    replaced: int = 0
    reason: str = ""


@dataclass
class _Family:
    """What a player shares with the copies of it that play the seats."""

    seats: list[_Seat] = field(default_factory=list)
    talks: weakref.WeakSet[Talk] = field(default_factory=weakref.WeakSet)


class ProgramPlayer(OfGame):
    """A program as a player, see docs/protocol.md; it remembers, so each seat is played by a copy (`Remembering`).

    No process is started before the first decision.

    Args:
        text: its name, ``exec:COMMAND``.
        options: of the game.
        game: the game module.

    Raises:
        MatchError: there is no such program.
        ValueError: these are not a game and its options.
    """

    def __init__(self, text: str, options: Any, game: Game) -> None:
        check_program(text)
        check_options(check_game(game), options)
        self.name = text
        self.game = game
        self.options = options
        self.rules = None
        # The weakest: nobody plays better for having failed.
        self.stand_in: str = next(iter(game.BOTS))
        self._begin(_Family())

    def _begin(self, family: _Family) -> None:
        self._family = family
        self._seat = _Seat()
        self._talk: Talk | None = None

    def seated(self, options: Any) -> ProgramPlayer:
        """Return the same program as a player of another table: its processes and failures are its own."""
        return ProgramPlayer(self.name, options, self.game)

    def __deepcopy__(self, memo: dict[int, Any]) -> ProgramPlayer:
        other = type(self).__new__(type(self))
        vars(other).update(vars(self))
        other._begin(self._family)
        return other

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in super().__getstate__().items() if name[0] != "_"}

    def __setstate__(self, state: dict[str, Any]) -> None:
        super().__setstate__(state)
        self._begin(_Family())

    def act_in(
        self,
        views: Records,
        legal: NDArray[np.uint8],
        seeds: NDArray[np.uint64],
        games: NDArray[np.int64],
        seats: NDArray[np.int64],
    ) -> NDArray[np.int64]:
        """Choose one legal action a row, see `Remembering.act_in`."""
        actions = np.full(len(legal), -1, np.int64)
        if self._talk is not None and not self._talk.process.is_ours:
            # It answers the process that this one was forked from.
            self._begin(_Family())
        if not self._seat.reason:
            try:
                talk = self._started(int(seats[0]))
                for row, action in talk.decide(views, legal, seeds, games.tolist()):
                    actions[row] = action
                    self._seat.answered += 1
            except ProgramError as error:
                self._fail(str(error))
        open_rows = np.flatnonzero(actions < 0)
        if len(open_rows):
            self._seat.replaced += len(open_rows)
            bot = self.game.make_bot(self.stand_in, self.options)
            actions[open_rows] = bot.act(views[open_rows], legal[open_rows], seeds[open_rows])
        return actions

    def _started(self, seat: int) -> Talk:
        if self._talk is None or self._talk.process.is_stopped:
            if self._seat not in self._family.seats:
                self._family.seats.append(self._seat)
            self._seat.seat = seat
            limit, command = parse_program(self.name)
            self._talk = Talk(command, self.game, self.options, seat, limit)
            self._family.talks.add(self._talk)
        return self._talk

    def _fail(self, reason: str) -> None:
        self._seat.reason = reason[:LONGEST_REASON]
        if self._talk is not None:
            self._talk.process.stop(grace=0)
            self._talk = None

    def try_out(self) -> None:
        """Start the program, and end it once it has said hello.

        Raises:
            MatchError: it does not start, or does not answer as it should.
        """
        limit, command = parse_program(self.name)
        try:
            Talk(command, self.game, self.options, 0, limit).process.stop()
        except ProgramError as error:
            raise MatchError(f"player {shown(self.name)} cannot play: {one_line(str(error))}") from error

    def forget(self, games: NDArray[np.int64]) -> None:
        """Tell the program which games (i8 [K]) nobody plays any further."""
        if self._talk is not None:
            self._talk.forget(games.tolist())

    def failures(self) -> list[Failure]:
        """Return where the program has failed, in the order in which it was first asked."""
        return [
            Failure(self.name, seat.seat, seat.reason, seat.answered, self.stand_in, seat.replaced)
            for seat in self._family.seats
            if seat.reason
        ]

    def close(self) -> None:
        """End all processes; what plays on afterwards starts new ones."""
        for talk in list(self._family.talks):
            talk.process.stop()


def close_programs(players: Iterable[Any]) -> None:
    """End the processes of those players that are programs."""
    for player in players:
        if isinstance(player, ProgramPlayer):
            player.close()


def warn_of_failures(players: Iterable[Any], warned: set[tuple[str, int]], stacklevel: int) -> None:
    """Give a RuntimeWarning for each program that has failed, once for each seat.

    Args:
        players: those who play, programs among them.
        warned: of which programs, and in which seats, it has been said; changed.
        stacklevel: see `warnings.warn`, as seen from the caller.
    """
    for failure in failures_of(players):
        if (failure.player, failure.seat) not in warned:
            warned.add((failure.player, failure.seat))
            warnings.warn(
                f"{one_line(failure.player)} has failed in seat {failure.seat}: {one_line(failure.reason)}; "
                f"{failure.stand_in} plays there from now on",
                RuntimeWarning,
                stacklevel=stacklevel + 1,
            )


def failures_of(players: Iterable[Any]) -> list[Failure]:
    """Return where players that are programs have failed."""
    return [failure for player in players if isinstance(player, ProgramPlayer) for failure in player.failures()]
