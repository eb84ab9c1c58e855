"""What game texts of all games have in common: lines with comments, a header, options, a generator, and the play.

A game adds how its deal is written and read. Each line is checked as it is read; nothing in a text is
ever executed.
"""

from __future__ import annotations

import io
from array import array
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, fields
from functools import cached_property
from typing import Any, ClassVar, NamedTuple, NoReturn, Self

import numpy as np

from .checks import is_collection, shown
from .doors import ANY, ArrayError, described
from .doors import array as checked_array
from .game import Records, player_name
from .naming import NotationError, alternatives, quoted
from .options import OptionError, parse_option

MAX_TEXT = 2_000_000  # characters of a game text
MAX_SHOWN = 40  # characters of a foreign word that an error repeats


def fail(number: int, line: str, message: str) -> NoReturn:
    """Refuse a line of a text."""
    raise NotationError(f"line {number}: {message}: {quoted(line)}")


class Lines:
    """The lines of a text that are neither empty nor comments (after ``#``), with their numbers."""

    def __init__(self, text: str) -> None:
        # One after the other: a list of a million short lines would take fifty times the memory of
        # the text.
        numbered = enumerate(io.StringIO(text, newline="\n"), 1)
        self._lines = ((number, line) for number, raw in numbered if (line := raw.partition("#")[0].rstrip()))
        self._end = text.count("\n") + 1
        self._next = next(self._lines, None)

    def next(self, expected: str) -> tuple[int, str]:
        """Return the next line with its number; raise an error with what was expected otherwise."""
        if self._next is None:
            raise NotationError(f"line {self._end}: the text ends where {expected} is expected")
        line = self._next
        self._next = next(self._lines, None)
        return line

    def value(self, key: str) -> tuple[int, str, str]:
        """Return number, text and value of the next line, which must be ``key: value``."""
        number, line = self.next(f"'{key}: ...'")
        found, _, value = line.partition(": ")
        if found != key or not value:
            fail(number, line, f"expected '{key}: ...'")
        return number, line, value

    def done(self) -> bool:
        """Whether all lines have been read."""
        return self._next is None


def check_text(text: object) -> None:
    """Check what is to be read as a game text before it is.

    Raises:
        NotationError: it is not a text, or too long.
    """
    if not isinstance(text, str):
        raise NotationError(f"a game text must be a str, got {quoted(text)}")
    if len(text) > MAX_TEXT:
        raise NotationError(f"a game text has at most {MAX_TEXT} characters, got {len(text)}")


def read_header(lines: Lines, header: str) -> None:
    """Read the first line, which names the game and the version of the format: ``sleuth game 1``."""
    number, line = lines.next(f"'{header}'")
    game, _, version = header.rpartition(" ")
    if line.startswith(f"{game} ") and line != header:
        fail(number, line, f"this version of the format is unknown, only {version} can be read")
    if line != header:
        fail(number, line, f"a game text starts with '{header}'")


def option_words(options: Any) -> str:
    """Return the options that are not the default, and the number of players, as words NAME=VALUE."""
    changed = (f.name for f in fields(options) if f.name == "num_players" or getattr(options, f.name) != f.default)
    return " ".join(f"{name}={getattr(options, name)}" for name in changed)


def read_options(lines: Lines, kind: type[Any]) -> Any:
    """Read the line of options (see `option_words`) of a game that has these options."""
    number, line, words = lines.value("options")
    names = [field.name for field in fields(kind)]
    chosen: dict[str, Any] = {}
    for word in words.split(" "):
        name, _, value = word.partition("=")
        if name not in names:
            fail(number, line, f"unknown option {quoted(name)}; expected {alternatives(name, names)}")
        if name in chosen:
            fail(number, line, f"option {name} is given twice")
        chosen[name] = parse_option(kind, name, value[:MAX_SHOWN])
    try:
        return kind(**chosen)
    except OptionError as error:
        fail(number, line, str(error))


def read_generator(lines: Lines) -> int:
    """Read the state of the random generator (u8)."""
    number, line, value = lines.value("generator")
    if len(value) != 18 or value[:2] != "0x" or not set(value[2:]) <= set("0123456789abcdef"):
        fail(number, line, "the generator must be 0x and 16 hexadecimal digits (0-9, a-f)")
    return int(value, 16)


# --- replaying ---


class Move(NamedTuple):
    """One action of a game, with the STATE before it and the STATE after it."""

    before: np.void
    action: int
    after: np.void


@dataclass(frozen=True)
class Transcription:
    """The functions of a game by which it is replayed, and by which its play is written and read.

    Args:
        state_type: the dtype STATE.
        make_rules: see `sleuth_env.game.Game`.
        legal: the kernel of that name.
        step: the kernel of that name.
        action_name: see `sleuth_env.game.Game`.
        parse_action: see `sleuth_env.game.Game`.
        one_state: returns one state as it was handed in as STATE [1], or raises an ArrayError.
        result_text: is given options and a state, and returns how the game stands or ended.
        announcement: is given options and a `Move`, and returns what a text says of the action
            besides its name, "" if nothing.
        announced: what messages call that, such as "the answer".
    """

    state_type: np.dtype[Any]
    make_rules: Callable[[Any], Records]
    legal: Callable[..., None]
    step: Callable[..., None]
    action_name: Callable[[int, Any], str]
    parse_action: Callable[[str, Any], int]
    one_state: Callable[[Any, Any, str], Records]
    result_text: Callable[[Any, np.void], str]
    announcement: Callable[[Any, Move], str]
    announced: str


class Replay:
    """One game under way."""

    def __init__(self, transcription: Transcription, options: Any, first_state: np.void) -> None:
        self.options = options
        self._transcription = transcription
        self._rules = transcription.make_rules(options)
        self._states = np.zeros(1, transcription.state_type)
        self._states[...] = first_state

    @property
    def state(self) -> np.void:
        """The game as it is now, STATE."""
        state: np.void = self._states[0]
        return state

    @property
    def result(self) -> str:
        """How the game stands, in words."""
        return self._transcription.result_text(self.options, self.state)

    def copy(self) -> np.void:
        """Return a copy of the game as it is now, STATE, that nothing can change."""
        # Bytes, because copies of a record array leave whatever was in memory in its padding.
        state: np.void = np.frombuffer(self._states.tobytes(), self._transcription.state_type)[0]
        return state

    def take(self, action: int) -> bool:
        """Take an action; return False if it is illegal, and then nothing has changed."""
        taken = np.zeros(1, np.uint8)
        rewards = np.zeros((1, self.options.num_players))
        self._transcription.step(self._rules, self._states, np.array([action], np.int64), taken, rewards)
        return bool(taken[0])

    def take_aloud(self, action: int) -> str | None:
        """Take an action and return what was announced; None if it is illegal, and then nothing has changed."""
        before = self.copy()
        if not self.take(action):
            return None
        return self._transcription.announcement(self.options, Move(before, action, self.state))

    def legal_names(self, name: str) -> str:
        """Return what the player to decide may do, in words; of many actions those whose names are nearest to one."""
        marks = np.zeros((1, int(self._rules["num_actions"][0])), np.uint8)
        self._transcription.legal(self._rules, self._states, marks)
        actions = np.flatnonzero(marks[0]).tolist()
        names = [self._transcription.action_name(action, self.options) for action in actions]
        return f"legal here: {alternatives(name, names)}" if names else "no action is legal in a finished game"


@dataclass(frozen=True, eq=False)
class PlayedGame:
    """A game read from its text; the games' own `GameRecord` says which game it is.

    Args:
        options: its options.
        actions: i8 [T], in order.
        first_state: STATE, the game as it was dealt.
        last_state: STATE, the game where the text ends.

    Raises:
        ArrayError: the actions are not integers, or a state is not one STATE record of a sound game.
    """

    transcription: ClassVar[Transcription]

    options: Any
    actions: np.ndarray
    first_state: np.void
    last_state: np.void

    def __post_init__(self) -> None:
        self.transcription.one_state(self.options, self.first_state, "first_state")
        self.transcription.one_state(self.options, self.last_state, "last_state")
        checked_array("actions", self.actions, np.int64, (ANY,))

    @classmethod
    def checked(cls, given: Any, name: str = "record") -> Self:
        """Return a game as `parse_game` returns it.

        Raises:
            ArrayError: it is something else.
        """
        if not isinstance(given, cls):
            raise ArrayError(f"{name} must be a game, as parse_game returns it, got {described(given)}")
        return given

    @classmethod
    def read(cls, text: str, read_deal: Callable[[Lines], tuple[Any, Records]]) -> Self:
        """Read a game text and replay it.

        Args:
            text: of the whole game.
            read_deal: reads all lines before those of the play; returns the options and STATE [1].

        Raises:
            NotationError: the text is wrong; the message has the number of the line, quotes it and
                says what is right.
        """
        check_text(text)
        lines = Lines(text)
        options, first = read_deal(lines)
        replay = Replay(cls.transcription, options, first[0])
        actions = array("q")
        first_state = replay.copy()
        while True:
            number, line = lines.next(f"an action or 'result: {replay.result}'")
            if line.startswith("result: "):
                break
            actions.append(_read_action(cls.transcription, replay, number, line))
        if line != f"result: {replay.result}":
            fail(number, line, f"the result must be '{replay.result}'")
        if not lines.done():
            fail(*lines.next(""), "nothing may follow the result")
        return cls(options, np.array(actions, np.int64), first_state, replay.copy())

    def moves(self) -> Iterator[Move]:
        """Replay the game, action by action.

        Raises:
            NotationError: an action is illegal where it stands.
        """
        replay = Replay(self.transcription, self.options, self.first_state)
        before = replay.copy()
        for number, action in enumerate(self.actions.tolist()):
            if not replay.take(action):
                raise NotationError(f"action {number} ({action}) is illegal where it stands")
            after = replay.copy()
            yield Move(before, action, after)
            before = after

    @cached_property
    def states(self) -> np.ndarray:
        """Every state of the game, STATE [T + 1]; ``states[t]`` is the one before ``actions[t]``.

        They are replayed at the first use and kept, ``STATE.itemsize`` bytes each.
        """
        copies = bytearray(self.first_state.tobytes())
        for move in self.moves():
            copies += move.after.tobytes()
        return np.frombuffer(copies, self.transcription.state_type)


def _read_action(transcription: Transcription, replay: Replay, number: int, line: str) -> int:
    """Check one line of play against the game so far and play it."""
    actor = int(replay.state["actor"])
    if actor < 0:
        fail(number, line, f"the game is finished ({replay.result}); expected 'result: {replay.result}'")
    player, _, rest = line.partition(": ")
    if player != player_name(actor):
        fail(number, line, f"expected '{player_name(actor)}: ACTION', who decides here, or 'result: {replay.result}'")
    name, arrow, said = rest.partition(" -> ")
    try:
        action = transcription.parse_action(name, replay.options)
    except NotationError as error:
        fail(number, line, str(error))
    right = replay.take_aloud(action)
    if right is None:
        fail(number, line, f"illegal action; {replay.legal_names(name)}")
    if arrow and said != right:
        fail(number, line, f"{transcription.announced} must be {right or 'left out'}, not {quoted(said)}")
    return action


# --- writing ---


def check_fresh(
    wrong: str, first: Records, head: Iterable[str], read_deal: Callable[[Lines], tuple[Any, Records]]
) -> None:
    """Check that reading a deal back gives the same state.

    Args:
        wrong: what to say first where it does not.
        first: STATE [1], the game as dealt.
        head: the lines of its text.
        read_deal: reads them; returns the options and STATE [1].

    Raises:
        NotationError: it does not.
    """
    try:
        fresh = read_deal(Lines("\n".join(head)))[1].tobytes() == first.tobytes()
    except NotationError as error:
        raise NotationError(f"{wrong}; written down, {error}") from None
    if not fresh:
        raise NotationError(f"{wrong}; this game is already under way")


def write_game(
    transcription: Transcription, options: Any, first: np.void, head: Iterable[str], actions: Iterable[int]
) -> str:
    """Write a game, finished or not, as a text.

    Args:
        transcription: the functions of the game.
        options: of the game.
        first: STATE, the game as dealt.
        head: the lines of the deal.
        actions: taken since, in order.

    Raises:
        NotationError: an action is illegal, or the text would be too long.
    """
    replay = Replay(transcription, options, first)
    body = list(_action_lines(transcription, replay, actions))
    text = "\n".join([*head, *body, *([""] if body else []), f"result: {replay.result}", ""])
    if len(text) > MAX_TEXT:
        raise NotationError(f"the game has {len(text)} characters, more than the {MAX_TEXT} of a game text")
    return text


class GrowingText:
    """The text of a game under way: an action adds a line, and nothing of before is replayed.

    Args:
        transcription: the functions of the game.
        options: of the game.
        deal: the game text of the deal, without an action.
    """

    def __init__(self, transcription: Transcription, options: Any, deal: str) -> None:
        self._transcription = transcription
        self._options = options
        # Without its result, and the end of that line.
        self._head = deal.split("\n")[:-2]
        self._body: list[str] = []

    @property
    def num_actions(self) -> int:
        """Number of actions in the text."""
        return len(self._body)

    def add(self, move: Move) -> None:
        """Add an action, which was legal."""
        name = self._transcription.action_name(move.action, self._options)
        said = self._transcription.announcement(self._options, move)
        self._body.append(_action_line(int(move.before["actor"]), name, said))

    def text(self, state: np.void) -> str:
        """Return the text of the game up to a state (STATE record), that after the last action."""
        result = self._transcription.result_text(self._options, state)
        return "\n".join([*self._head, *self._body, *([""] if self._body else []), f"result: {result}", ""])


def _action_line(seat: int, name: str, said: str) -> str:
    return f"{player_name(seat)}: {name}{' -> ' if said else ''}{said}"


def _action_lines(transcription: Transcription, replay: Replay, actions: Iterable[int]) -> Iterator[str]:
    if not is_collection(actions):
        raise NotationError(f"actions must be a collection of numbers of actions, got {shown(actions)}")
    for number, action in enumerate(actions):
        name = transcription.action_name(action, replay.options)
        seat = int(replay.state["actor"])
        said = replay.take_aloud(int(action))
        if said is None:
            where = replay.result
            raise NotationError(
                f"action {number} ({name}) is illegal where it stands ({where}); {replay.legal_names(name)}"
            )
        yield _action_line(seat, name, said)
