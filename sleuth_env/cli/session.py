"""A person at the table: a game played in the terminal by typing the notation.

The person is shown views only; the rest of the game stays hidden until it is over. What a game's
actions, events and prompts are called is the affair of its `telling`.
"""

from __future__ import annotations

import io
import shutil
import sys
from collections.abc import Callable, Sequence
from functools import cached_property
from itertools import count
from typing import Any

import numpy as np

from ..checks import nearest, one_line
from ..game import Believes, Bot, Drawn, Game, MissingPartError, Told, Transcribed, needed, player_name
from ..matches.table import LEARNER_SEAT, Table
from .streams import WriteError, check_fruitless, paste_as_typed, read_line, write_text

COMMANDS = {
    "help": "this text",
    "sheet": "what you know",
    "odds": "what you may believe about the hidden cards",
    "legal": "the numbered list of your legal actions; legal WORD ... lists those that contain all the words",
    "save": "write the game so far to a new file, save FILE; it shows every hidden card",
    "quit": "leave the game",
}
NEAR = 4
LISTED = 8
QUOTED = 60
SAVED = "Saved to {}: it shows every hidden card; sleuth replay tells it."


class QuitError(Exception):
    """The person has left the game."""


def line_reader() -> Callable[[str, Sequence[str]], str]:
    """Return a function that reads a line: with completion on a terminal, else plainly."""
    if not (sys.stdin.isatty() and sys.stdout.isatty()):
        return read_plainly
    from prompt_toolkit import PromptSession
    from prompt_toolkit.completion import WordCompleter

    session: PromptSession[str] = PromptSession(key_bindings=paste_as_typed())
    return lambda prompt, words: session.prompt(
        prompt, completer=WordCompleter(list(words), ignore_case=True, sentence=True)
    )


def read_plainly(prompt: str, words: Sequence[str]) -> str:
    """Read a line from stdin and repeat it after the prompt, as a terminal would.

    Raises:
        EOFError: the input has ended.
        CommandError: stdin cannot be read, or a line of it does not end.
    """
    sys.stdout.write(prompt)
    sys.stdout.flush()
    line = read_line()
    if not line:
        raise EOFError
    if not sys.stdin.isatty():
        sys.stdout.write(line.rstrip("\n") + "\n")
    return line


def in_columns(entries: Sequence[str], width: int) -> str:
    """Lay out entries in as many columns as fit, to be read downwards."""
    from rich.columns import Columns
    from rich.console import Console
    from rich.text import Text

    size = max(map(len, entries))
    file = io.StringIO()
    # An entry that is wider than the terminal is not broken.
    console = Console(file=file, width=max(width, size + 1), color_system=None, legacy_windows=False)
    console.print(Columns(map(Text, entries), width=size, column_first=True))
    return "\n".join(line.rstrip() for line in file.getvalue().splitlines())


class Session:
    """One game of a person against bots.

    Args:
        game: the game module.
        options: of the game.
        opponents: the other players, the one to the person's left first.
        seat: the person's seat.
        seed: settles the deal and the bots' random choices (u8).
        read: returns a line that the person types, from a prompt and the words that may be
            completed; EOFError at the end of input.
        write: shows a text.
        colour: whether the sheet is coloured.

    Raises:
        MissingPartError: the game cannot be told, drawn or written as text.
    """

    def __init__(
        self,
        game: Game,
        options: Any,
        opponents: Sequence[Bot],
        seat: int,
        seed: int,
        read: Callable[[str, Sequence[str]], str],
        write: Callable[[str], object],
        colour: bool = False,
    ) -> None:
        self.telling = needed(game, Told).telling
        self.drawn = needed(game, Drawn)
        self.transcribed = needed(game, Transcribed)
        self.game = game
        self.options = options
        self.seat = seat
        self.read = read
        self.write = write
        self.colour = colour
        seats = np.full(options.num_players, LEARNER_SEAT)
        for k in range(1, options.num_players):
            seats[(seat + k) % options.num_players] = k - 1
        self.table = Table(game, options, 1, opponents, seats)
        self.table.deal(0, seed)
        self.first_state = self.table.states[0].copy()
        self.actions: list[int] = []
        self._listed = False

    @property
    def view(self) -> Any:
        """What the person knows now (VIEW record)."""
        return self.table.views(0, self.seat)[0]

    @property
    def text(self) -> str:
        """The game so far as a game text, hidden cards included."""
        return self.transcribed.game_text(self.options, self.first_state, self.actions)

    @cached_property
    def action_names(self) -> list[str]:
        """The names of all actions."""
        return [self.game.action_name(a, self.options) for a in range(self.game.num_actions(self.options))]

    def run(self) -> None:
        """Play until the game is over, the person quits or the input ends.

        Raises:
            QuitError, EOFError: the game is not over.
        """
        names = self.telling.seat_names(self.view, "you")[1:]
        others = (f"{name} is {bot.name}" for name, bot in zip(names, self.table.bots, strict=True))
        self.write(f"You are {player_name(self.seat)}; to your left, in the order of play: {', '.join(others)}.")
        self.write("Type help for the forms of actions and the commands.")
        self._show_sheet()
        while not self.table.finished[0]:
            if self.table.waiting[0]:
                self._decide()
            else:
                self.table.play_round()
            self._tell_last()
        self._tell_result()

    def _decide(self) -> None:
        """Ask the person until they choose a legal action, and take it."""
        legal = {self.action_names[a]: int(a) for a in np.flatnonzero(self.table.legal(0)[0])}
        self._listed = False
        self._announce_decision()
        prompt = self.telling.prompt(self.options, self.view)
        for fruitless in count():
            check_fruitless(fruitless)
            line = self.read(f"{prompt}> ", [*COMMANDS, *legal]).strip()
            name = self._understand(line or self.telling.unsaid(self.options, self.view), legal)
            if name is not None:
                self.table.step(0, legal[name])
                return

    def _announce_decision(self) -> None:
        for line in self.telling.announcement(self.options, self.view):
            self.write(line)

    def _understand(self, typed: str, legal: dict[str, int]) -> str | None:
        """Carry out a command, or return the name of the action that a line means, if any."""
        line = " ".join(typed.lower().split())
        if line in legal:
            return line
        word, _, rest = line.partition(" ")
        commands: dict[str, Callable[[], None]] = {
            "help": self._help,
            "sheet": self._show_sheet,
            "odds": self._show_odds,
            "legal": lambda: self._list_legal(rest, legal),
            # The name of a file is taken as it was typed.
            "save": lambda: self._save("".join(typed.split(maxsplit=1)[1:])),
            "quit": self._quit,
        }
        if word in commands:
            commands[word]()
            return None
        if line.isdecimal():
            return self._numbered(line, list(legal))
        meant = self.telling.meant(line, legal)
        if len(meant) == 1:
            return meant[0]
        if meant:
            self.write(f"{line!r} is short for several actions: {', '.join(meant)}.")
        else:
            self._hint(line, list(legal))
        return None

    def _numbered(self, digits: str, names: list[str]) -> str | None:
        number = int(digits) if len(digits) < QUOTED else 0
        if self._listed and 1 <= number <= len(names):
            return names[number - 1]
        if self._listed:
            self.write(f"There is no number {digits[:QUOTED]} in the list.")
        else:
            self.write("Type legal first to see the numbered list.")
        return None

    def _hint(self, line: str, names: list[str]) -> None:
        """Say why a line is not a legal action, with those that it may have meant."""
        if not line:
            self.write("Type an action; help shows the forms, legal lists what you may do.")
            return
        wrong = "is not legal now" if self.telling.meant(line, self.action_names) else "is not an action"
        begun = [name for name in names if name.startswith(line)]
        near = begun[:LISTED] or nearest(line, [*names, *COMMANDS], NEAR)
        perhaps = f"perhaps: {', '.join(near)}" if near else "help shows the forms, legal lists what you may do"
        self.write(f"{line[:QUOTED]!r} {wrong}; {perhaps}.")

    def _list_legal(self, words: str, legal: dict[str, int]) -> None:
        shown = [
            f"{number:4}  {name}" for number, name in enumerate(legal, 1) if all(word in name for word in words.split())
        ]
        if shown:
            self.write(in_columns(shown, shutil.get_terminal_size().columns))
        else:
            self.write(f"No legal action contains {words[:QUOTED]!r}.")
        self._listed = True

    def _help(self) -> None:
        rows = {**self.telling.FORMS, **COMMANDS}
        self.write("\n".join(f"  {name:<26} {meaning}" for name, meaning in rows.items()))

    def _show_sheet(self) -> None:
        self.write(self.drawn.draw_ansi(self.options, self.view, self.colour))

    def _show_odds(self) -> None:
        try:
            needed(self.game, Believes)
        except MissingPartError as error:
            self.write(f"{error}.")
            return
        self.write(self.telling.draw_odds(self.options, self.view, self.colour))

    def _quit(self) -> None:
        raise QuitError

    def _save(self, name: str) -> None:
        """Write the game text to a new file, or say why it cannot be written."""
        if not name:
            self.write("save needs the name of a file: save FILE.")
            return
        try:
            write_text(name, self.text, replace=False)
        except WriteError as error:
            self.write(f"{one_line(str(error))}.")
            return
        self.write(SAVED.format(name))

    def _tell_last(self) -> None:
        """Report the last action as far as the person may know it."""
        action = int(self.table.last_actions[0])
        self.actions.append(action)
        for line in self.telling.news(self.options, self.table.states[0], action, self.view):
            self.write(line)

    def _tell_result(self) -> None:
        for line in self.telling.ending(self.options, self.table.states[0]):
            self.write(line)
        places = self.table.standings(0)[0]
        place = int(places[self.seat])
        if place == 0:
            self.write("You have not won.")
        elif (places == place).sum() > 1:
            self.write(f"You share place {place}.")
        else:
            self.write("You win!" if place == 1 else f"You take place {place}.")
