"""A person at the table: a game played in the terminal by typing the notation.

The person is shown views only; the rest of the game stays hidden until it is over.
"""

from __future__ import annotations

import shutil
import sys
from collections.abc import Callable, Sequence
from difflib import get_close_matches
from typing import Any

import numpy as np

from ..game import Bot, load_game
from ..matches.table import LEARNER_SEAT, Table
from ..sleuth.cards import Options
from ..sleuth.drawing.text import draw_ansi, draw_belief
from ..sleuth.notation import action_names, event_text, gem_names, search_card_names
from ..sleuth.state import MUST_ACCUSE, OFFER, OUT, RIGHT, SECOND, TURN
from ..sleuth.telling import counted, is_public, private_lines, seat_names
from ..sleuth.transcript import game_text, result_text
from .arguments import one_line
from .streams import WriteError, read_line, write_text

COMMANDS = {
    "help": "this text",
    "sheet": "what you know: the cells still open, search cards, the last events",
    "odds": "each gem's chance to be missing and the questions that tell most",
    "legal": "the numbered list of your legal actions; legal WORD ... lists those that contain all the words",
    "save": "write the game so far to a new file, save FILE; it shows every hidden card",
    "quit": "leave the game",
}
FORMS = {
    "ask +K QUESTION with CARD": "ask the K-th player to your left, for instance: ask +1 blue-opal with free-blue",
    "final +K QUESTION": "final question: free, but you must accuse at once",
    "exchange": "exchange all four search cards",
    "accuse GEM": "for instance: accuse blue-opal-pair; with more missing gems name them one after the other",
    "pass": "decline an offer to accuse (Enter alone does too), or end the turn after one of two questions",
}
PROMPTS = {
    TURN: "your turn",
    SECOND: "second question, accuse or pass",
    OFFER: "accuse or pass (Enter: pass)",
    MUST_ACCUSE: "now accuse",
}
NEAR = 4
LISTED = 8
QUOTED = 60
SAVED = "Saved to {}: it shows every hidden card; sleuth replay tells it."


class QuitError(Exception):
    """The person has left the game."""


def line_reader() -> Callable[[str, Sequence[str]], str]:
    """Give what reads a line: with completion on a terminal, else plainly."""
    if not (sys.stdin.isatty() and sys.stdout.isatty()):
        return read_plainly
    from prompt_toolkit import PromptSession
    from prompt_toolkit.completion import WordCompleter

    session: PromptSession[str] = PromptSession()
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
    size = max(map(len, entries)) + 1
    height = -(-len(entries) // max(1, width // size))
    rows = ("".join(entry.ljust(size) for entry in entries[row::height]) for row in range(height))
    return "\n".join(row.rstrip() for row in rows)


class Session:
    """One game of a person against bots.

    Args:
        options: of the game.
        opponents: the other players, the one to the person's left first.
        seat: the person's seat.
        seed: settles the deal and the bots' random choices (u8).
        read: gives a line that the person types, from a prompt and the words that may be completed;
            EOFError at the end of input.
        write: shows a text.
        colour: whether the sheet is coloured.
    """

    def __init__(
        self,
        options: Options,
        opponents: Sequence[Bot],
        seat: int,
        seed: int,
        read: Callable[[str, Sequence[str]], str],
        write: Callable[[str], object],
        colour: bool = False,
    ) -> None:
        self.options = options
        self.seat = seat
        self.read = read
        self.write = write
        self.colour = colour
        seats = np.full(options.num_players, LEARNER_SEAT)
        for k in range(1, options.num_players):
            seats[(seat + k) % options.num_players] = k - 1
        self.table = Table(load_game("sleuth_env.sleuth"), options, 1, opponents, seats)
        self.table.deal(0, seed)
        self.first_state = self.table.states[0].copy()
        self.actions: list[int] = []
        self.names = seat_names(self.view, "you")
        self._listed = False

    @property
    def view(self) -> Any:
        """What the person knows now (VIEW record)."""
        return self.table.views(0, self.seat)[0]

    @property
    def text(self) -> str:
        """The game so far as a game text, hidden cards included."""
        return game_text(self.options, self.first_state, self.actions)

    def run(self) -> None:
        """Play until the game is over, the person quits or the input ends.

        Raises:
            QuitError, EOFError: the game is not over.
        """
        others = (f"{name} is {bot.name}" for name, bot in zip(self.names[1:], self.table.bots, strict=True))
        self.write(f"You are player_{self.seat}; to your left, in the order of play: {', '.join(others)}.")
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
        """Ask the person until he chooses a legal action, and take it."""
        names = action_names(self.options.num_players)
        legal = {names[a]: int(a) for a in np.flatnonzero(self.table.legal(0)[0])}
        self._listed = False
        self._announce_decision()
        phase = int(self.view["phase"])
        while True:
            line = self.read(f"{PROMPTS[phase]}> ", [*COMMANDS, *legal]).strip()
            name = self._understand(line or ("pass" if phase == OFFER else ""), legal)
            if name is not None:
                self.table.step(0, legal[name])
                return

    def _announce_decision(self) -> None:
        view = self.view
        if view["phase"] in (TURN, SECOND):
            cards = ", ".join(search_card_names(view["search"][0]))
            self.write(f"Turn {int(view['turn_number'])} is yours; your search cards: {cards}.")
        if view["accusing"]:
            self.write(
                f"Named so far: {', '.join(gem_names(view['accusing']))}; name another of the {self.options.missing} missing gems."
            )

    def _understand(self, typed: str, legal: dict[str, int]) -> str | None:
        """Carry out a command, or give the name of the action that a line means; None where there
        is nothing to take.
        """
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
        paid = [name for name in legal if name.startswith(f"{line} with ")]
        if len(paid) == 1:
            return paid[0]
        if paid:
            self.write(f"{line!r} can be paid with several cards: {', '.join(paid)}.")
        else:
            self._hint(line, list(legal))
        return None

    def _numbered(self, digits: str, names: list[str]) -> str | None:
        number = int(digits) if len(digits) < QUOTED else 0
        if self._listed and 1 <= number <= len(names):
            return names[number - 1]
        self.write(
            f"There is no number {digits[:QUOTED]} in the list."
            if self._listed
            else "Type legal first to see the numbered list."
        )
        return None

    def _hint(self, line: str, names: list[str]) -> None:
        """Say why a line is no legal action, with those it may have meant."""
        if not line:
            self.write("Type an action; help shows the forms, legal lists what you may do.")
            return
        known = any(name == line or name.startswith(f"{line} with ") for name in action_names(self.options.num_players))
        wrong = "is not legal now" if known else "is no action"
        near = [name for name in names if name.startswith(line)][:LISTED] or get_close_matches(
            line, [*names, *COMMANDS], n=NEAR, cutoff=0.5
        )
        meant = f"; perhaps: {', '.join(near)}" if near else "; help shows the forms, legal lists what you may do"
        self.write(f"{line[:QUOTED]!r} {wrong}{meant}.")

    def _list_legal(self, words: str, legal: dict[str, int]) -> None:
        shown = [
            f"{number:4}  {name}" for number, name in enumerate(legal, 1) if all(word in name for word in words.split())
        ]
        self.write(
            in_columns(shown, shutil.get_terminal_size().columns)
            if shown
            else f"No legal action contains {words[:QUOTED]!r}."
        )
        self._listed = True

    def _help(self) -> None:
        rows = {**FORMS, **COMMANDS}
        self.write("\n".join(f"  {name:<26} {meaning}" for name, meaning in rows.items()))

    def _show_sheet(self) -> None:
        self.write(draw_ansi(self.options, self.view, self.colour))

    def _show_odds(self) -> None:
        self.write(draw_belief(self.options, self.view, self.colour))

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
        """Tell the last action as far as the person may know it."""
        action = int(self.table.last_actions[0])
        view = self.view
        self.actions.append(action)
        if not is_public(self.options, self.table.states[0], action):
            return
        self.write(f"  {event_text(view['events'][0], self.names)}")
        for line in private_lines(self.options, view, self.names):
            self.write(f"    {line}")
        own = int(view["standing"][0])
        if int(view["events"][0, 1]) == 0 and own in (OUT, RIGHT) and not self.table.finished[0]:
            self.write("You are out; the others play on." if own == OUT else "You were right; the others play on.")

    def _tell_result(self) -> None:
        state = self.table.states[0]
        self.write(f"Game over after {counted(int(state['turn_number']), 'turn')}: {result_text(state)}.")
        self.write(f"Missing: {', '.join(gem_names(state['missing_gems']))}.")
        place = int(state["place"][self.seat])
        self.write("You win!" if place == 1 else f"You take place {place}." if place else "You have not won.")
