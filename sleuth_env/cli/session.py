"""A person at the table: a game played in the terminal by typing the notation.

The person is shown views only; the rest of the game stays hidden until it is over. What a game's
actions, events and prompts are called is the affair of its `telling`.
"""

from __future__ import annotations

import shutil
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from functools import cached_property
from itertools import count
from typing import Any

from sleuth_command import stopped_by

from ..checks import nearest, one_line
from ..game import Believes, Bot, Drawn, Game, MissingPartError, needed, player_name
from ..matches.program import failures_of
from ..matches.sitting import Sitting
from ..matches.table import Table
from .screen import columns_for_prose, drawing_size, in_columns, in_paragraphs, in_two_columns, wrapped
from .streams import (
    WriteError,
    check_fruitless,
    leads_nowhere,
    no_longer_than_a_line,
    paste_as_typed,
    read_line,
    write_text,
)

COMMANDS = {
    "help": "this text; ? and h are short for it",
    "rules": "the rules in brief",
    "sheet": "what you know",
    "odds": "what you may believe about the hidden cards",
    "legal": "the numbered list of your legal actions; legal WORD ... lists those that contain all the words",
    "wait": "decline every offer until you can prove what you need, or type it again, or undo; w is short for it",
    "undo": "take your last decision back, with all that came after it",
    "save": "write the game so far to a new file, save FILE; it shows every hidden card",
    "quit": "leave the game; what was saved can be gone on with",
}
SHORT = {"?": "help", "h": "help", "w": "wait"}
# Those behind which more words may stand.
WITH_WORDS = ("legal", "save")
# After the end of a game.
LAST_COMMANDS = ("review", "sheet", "save", "quit")
YES = ("yes", "y")
NO = ("no", "n")
NEAR = 4
CONSIDERED = 16
# How like the first word of an action that may lose the game a typed word must be for it to be proposed.
ALIKE = 0.7
LISTED = 8
QUOTED = 60
DECIDING_NOTHING = "lines in a row that decide nothing"
# Lines of a terminal that has room for a drawing and a menu.
ROOMY = 32
SAVED = "Saved to {}: it shows every hidden card; sleuth replay tells it."


class QuitError(Exception):
    """The person has left the game."""


@dataclass(frozen=True)
class Begun:
    """A game that was left, as its text says.

    Args:
        record: the game, as `parse_game` returns it.
        taken_back: number of decisions that had been taken back.
        waited: which of the person's actions `wait` took for them, by their numbers from 0.
    """

    record: Any
    taken_back: int = 0
    waited: frozenset[int] = frozenset()


def line_reader() -> Callable[[str, Sequence[str]], str]:
    """Return a function that reads a line: with completion on a terminal, else plainly."""
    return prompt_reader() if sys.stdin.isatty() and sys.stdout.isatty() else read_plainly


def prompt_reader() -> Callable[[str, Sequence[str]], str]:
    """Return a function that reads a line from a terminal; what asks the process to stop leaves the prompt."""
    from prompt_toolkit import PromptSession
    from prompt_toolkit.completion import WordCompleter
    from prompt_toolkit.shortcuts import CompleteStyle

    # A menu of completions takes lines of which a small terminal has none to spare: there Tab lists them.
    roomy = shutil.get_terminal_size().lines >= ROOMY
    style = CompleteStyle.COLUMN if roomy else CompleteStyle.READLINE_LIKE
    session: PromptSession[str] = PromptSession(key_bindings=paste_as_typed(), complete_style=style)
    session.default_buffer.on_text_insert += no_longer_than_a_line
    stopping = False

    def stop() -> None:
        """Leave the prompt, wherever it is."""
        nonlocal stopping
        stopping = True
        if session.app.loop is not None and not session.app.loop.is_closed():
            session.app.loop.call_soon_threadsafe(leave)

    def leave() -> None:
        """Leave the prompt if that has been asked for; also when it has only begun."""
        future = session.app.future
        if stopping and future is not None and not future.done():
            session.app.exit(exception=KeyboardInterrupt)

    def read(prompt: str, words: Sequence[str]) -> str:
        completer = WordCompleter(list(words), ignore_case=True, sentence=True)
        with stopped_by(stop):
            return session.prompt(prompt, completer=completer, pre_run=leave)

    return read


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
        begun: a game that is gone on with; the seed then settles no more than the bots' random
            choices.
        confirm: whether to ask before an action that may lose the game is taken.
        remark: what a saved text says of the opponents, as the words of a command.

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
        begun: Begun | None = None,
        confirm: bool = True,
        remark: str = "",
    ) -> None:
        self.drawn = needed(game, Drawn)
        self.game = game
        self.opponents = list(opponents)
        self.options = options
        self.seat = seat
        self.seed = seed
        self.read = read
        self.write = write
        self.colour = colour
        self.confirm = confirm
        self.remark = remark
        first_state = None if begun is None else begun.record.first_state
        # In the order of the seats: the first opponent sits to the person's left.
        last = options.num_players - 1 - seat
        self.sitting = Sitting(game, options, [*opponents[last:], None, *opponents[:last]], seed, first_state)
        self.telling = self.sitting.telling
        self.undone = 0 if begun is None else begun.taken_back
        self._decided: list[int] = []  # how many actions had been taken before each of the person's decisions
        self._failed: set[int] = set()  # seats of programs that have failed
        self._waited: set[int] = set() if begun is None else set(begun.waited)  # the same of what `wait` has taken
        # The most decisions that the person has taken, and how many have been taken back since.
        self._furthest = 0
        self._futile = 0
        self._waits = False
        self._listed: dict[int, str] = {}
        self._doubtful = ""
        self._before: Any = None  # what the person knew before the last action
        if begun is not None:
            own = self._go_to(begun.record.actions.tolist())
            self._decided = [taken for taken in own if taken not in self._waited]

    @property
    def table(self) -> Table:
        """The table at which the game is played."""
        return self.sitting.table

    @table.setter
    def table(self, table: Table) -> None:
        self.sitting.table = table

    @property
    def actions(self) -> list[int]:
        """What has been done so far."""
        return self.sitting.actions

    @property
    def action_names(self) -> list[str]:
        """The names of all actions."""
        return self.sitting.action_names

    @property
    def view(self) -> Any:
        """What the person knows now (VIEW record)."""
        return self.sitting.view(self.seat)

    @property
    def text(self) -> str:
        """The game so far as a game text, hidden cards included, with how it was played in comments."""
        return f"{self.sitting.text}{''.join(f'# {line}{chr(10)}' for line in self._remarks())}"

    def _remarks(self) -> Iterator[str]:
        yield f"sleuth play --seat {self.seat} --seed {self.seed} {self.remark}".rstrip()
        if self.undone:
            yield f"decisions taken back: {self.undone}"
        if self._waited:
            yield f"steps that wait took: {' '.join(str(taken + 1) for taken in sorted(self._waited))}"

    @cached_property
    def commands(self) -> dict[str, str]:
        """The commands, and what each means; there is nothing to wait for where a game has no offers."""
        return {name: meaning for name, meaning in COMMANDS.items() if name != "wait" or self.game.OFFERED}

    def run(self) -> None:
        """Play until the game is over, the person quits or the input ends.

        Raises:
            QuitError, EOFError: the game is not over.
        """
        self._prose(self.telling.rules(self.options)[0])
        names = self.telling.seat_names(self.view, "you")[1:]
        others = (f"{name} is {bot.name}" for name, bot in zip(names, self.opponents, strict=True))
        self._prose(f"You are {player_name(self.seat)}; to your left, in the order of play: {', '.join(others)}.")
        self.write("Type help for the forms of actions and the commands, rules for the rules.")
        self._show_sheet()
        fresh = True
        while not self.table.finished[0]:
            self._before = self.view
            acted = self._decide(fresh) if self.table.waiting[0] else self.table.play_round()
            fresh = False
            self._tell_failures()
            if acted:
                self._tell_last()
        self._tell_result()

    def _tell_failures(self) -> None:
        """Say once of each seat that its program has failed, and who plays there now."""
        for failure in failures_of(self.table.bots):
            if failure.seat not in self._failed:
                self._failed.add(failure.seat)
                who = f"{one_line(failure.player)} has failed as {player_name(failure.seat)}"
                self._prose(f"{who}: {one_line(failure.reason)}; {failure.stand_in} plays there from now on.")

    def look_back(self) -> None:
        """Let the person look back on a finished game until they leave it or the input ends."""
        self._prose("Type review to see what you knew at each of your turns, save FILE to keep the game; Enter ends.")
        for fruitless in count():
            # The game has been played, whatever else comes out of a pipe.
            if leads_nowhere(fruitless):
                return
            try:
                typed = self.read("the game is over> ", LAST_COMMANDS)
            except EOFError:
                return
            word, _, rest = typed.strip().partition(" ")
            word = word.lower()
            if word in ("", "quit"):
                return
            if word in LAST_COMMANDS and self._refuses(word, rest.strip()):
                continue
            if word == "review":
                self._review()
            elif word == "sheet":
                self._show_sheet()
            elif word == "save":
                self._save(rest.strip())
            else:
                self._prose(f"{word[:QUOTED]!r} is not one of {', '.join(LAST_COMMANDS)}.")

    # --- decisions ---

    def _decide(self, fresh: bool = False) -> bool:
        """Ask the person until they choose a legal action, and take it.

        Args:
            fresh: whether the sheet has just been drawn.

        Returns:
            Whether they did; not where they took their last decision back.
        """
        legal = self.sitting.legal()
        unsaid = self.telling.unsaid(self.options, self.view)
        if self._waits and unsaid in legal and not self._can_prove():
            self._waited.add(len(self.actions))
            self.table.step(0, legal[unsaid])
            return True
        self._listed = {}
        self._doubtful = ""
        taken = len(self._decided)
        if not fresh and self._out_of_offers(legal):
            self._show_sheet()
        self._announce_decision()
        check_fruitless(self._futile, "decisions taken back without getting further")
        fruitless = 0
        while True:
            check_fruitless(fruitless, DECIDING_NOTHING)
            fruitless += 1
            prompt = self.telling.prompt(self.options, self.view)
            alone = f" (Enter: {unsaid})" if unsaid else ""
            line = self.read(f"{prompt}{alone}> ", [*self.commands, *legal]).strip()
            name = self._understand(line or ("" if self._doubtful else unsaid), legal)
            if len(self._decided) < taken:
                return False
            if name is not None:
                self._decided.append(len(self.actions))
                if len(self._decided) > self._furthest:
                    self._furthest = len(self._decided)
                    self._futile = 0
                self.table.step(0, legal[name])
                return True

    def _can_prove(self) -> bool:
        """Whether the person, who waits for that, can prove what they need; if so they wait no longer."""
        if not self.telling.proved(self.options, self.view):
            return False
        self._waits = False
        self.write("You can prove it now.")
        return True

    def _out_of_offers(self, legal: dict[str, int]) -> bool:
        """Return whether the person may do more than answer an offer: a turn of theirs has begun, or goes on."""
        blocks = self.game.action_blocks(self.options)
        offered = [blocks[name] for name in self.game.OFFERED]
        return not all(any(block.start <= action < block.stop for block in offered) for action in legal.values())

    def _announce_decision(self) -> None:
        for line in self.telling.announcement(self.options, self.view):
            self._prose(line)

    def _understand(self, typed: str, legal: dict[str, int]) -> str | None:
        """Carry out a command, or return the name of the action that a line means, if any."""
        line = " ".join(typed.lower().split())
        if self._doubtful:
            doubtful = self._doubtful
            self._doubtful = ""
            if line in YES or line == doubtful:
                return doubtful
            if line in NO or not line:
                self.write("It was not done.")
                return None
        if line in legal:
            return self._confirmed(line, legal)
        word, _, rest = line.partition(" ")
        word = SHORT.get(word, word)
        if word in self.commands:
            return self._obey(word, rest, typed, legal)
        if line.isdecimal():
            name = self._numbered(line)
            return None if name is None else self._confirmed(name, legal)
        meant = self.telling.meant(line, legal)
        if len(meant) == 1:
            return self._confirmed(meant[0], legal)
        if meant:
            self._list(f"{line!r} is short for several actions; type a number:", dict(enumerate(meant, 1)))
        else:
            self._hint(line, list(legal))
        return None

    def _obey(self, word: str, rest: str, typed: str, legal: dict[str, int]) -> str | None:
        """Carry out a command; return the name of the action that `wait` takes at once, if any."""
        if self._refuses(word, rest):
            return None
        commands: dict[str, Callable[[], None]] = {
            "help": self._help,
            "rules": self._show_rules,
            "sheet": self._show_sheet,
            "odds": self._show_odds,
            "legal": lambda: self._list_legal(rest, legal),
            "wait": self._wait,
            "undo": self._undo,
            # The name of a file is taken as it was typed.
            "save": lambda: self._save("".join(typed.split(maxsplit=1)[1:])),
            "quit": self._quit,
        }
        commands[word]()
        if word == "wait" and self._waits:
            unsaid = self.telling.unsaid(self.options, self.view)
            return unsaid if unsaid in legal else None
        return None

    def _refuses(self, word: str, rest: str) -> bool:
        """Return whether a command takes no words, and say so where there are some."""
        refused = bool(rest) and word not in WITH_WORDS
        if refused:
            self._prose(f"{word} stands alone, without {rest[:QUOTED]!r}.")
        return refused

    def _confirmed(self, name: str, legal: dict[str, int]) -> str | None:
        """Return the name of an action, or None if the person must confirm first that they mean it."""
        doubt = self.telling.doubt(self.options, self.view, legal[name]) if self.confirm else ""
        if not doubt:
            return name
        self._doubtful = name
        self._prose(f"{doubt} Type yes for {name}, no to think again.")
        return None

    def _numbered(self, digits: str) -> str | None:
        number = int(digits) if len(digits) < QUOTED else 0
        if number in self._listed:
            return self._listed[number]
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
        hint = self.telling.hint(self.options, self.view, line)
        if hint:
            self._prose(hint)
            return
        wrong = "is not legal now" if self.telling.meant(line, self.action_names) else "is not an action"
        begun = [name for name in names if name.startswith(line)]
        near = self._harmless(line, begun)[:LISTED]
        near = near or self._harmless(line, nearest(line, [*names, *self.commands], CONSIDERED))[:NEAR]
        perhaps = f"perhaps: {', '.join(near)}" if near else "help shows the forms, legal lists what you may do"
        self._prose(f"{line[:QUOTED]!r} {wrong}; {perhaps}.")

    def _harmless(self, line: str, names: list[str]) -> list[str]:
        """Return those names of actions and commands that may be proposed to somebody who typed a line.

        One that may lose the game is proposed only to whoever typed nearly its first word.
        """
        seen = self.view
        first = line.partition(" ")[0]

        def is_harmless(name: str) -> bool:
            """Return whether one may be proposed."""
            if name in self.commands or SequenceMatcher(None, first, name.split()[0]).ratio() >= ALIKE:
                return True
            return not self.telling.doubt(self.options, seen, self.action_names.index(name))

        return [name for name in names if is_harmless(name)]

    def _list(self, heading: str, entries: dict[int, str]) -> None:
        """Show actions with numbers, which may be typed afterwards."""
        self._prose(heading)
        self.write(in_columns([f"{number:4}  {name}" for number, name in entries.items()], columns_for_prose()))
        self._listed = entries

    def _list_legal(self, words: str, legal: dict[str, int]) -> None:
        entries = {number: name for number, name in enumerate(legal, 1) if all(word in name for word in words.split())}
        if entries:
            self.write(in_columns([f"{number:4}  {name}" for number, name in entries.items()], columns_for_prose()))
        else:
            self.write(f"No legal action contains {words[:QUOTED]!r}.")
        # Every number stays what it is, whichever of them are shown.
        self._listed = dict(enumerate(legal, 1))

    # --- commands ---

    def _help(self) -> None:
        self.write(in_two_columns({**self.telling.FORMS, **self.commands}, columns_for_prose()))

    def _show_rules(self) -> None:
        self.write(in_paragraphs(self.telling.rules(self.options, typed=True), columns_for_prose()))

    def _show_sheet(self) -> None:
        self.write(self.drawn.draw_ansi(self.options, self.view, self.colour, *drawing_size()))

    def _show_odds(self) -> None:
        try:
            needed(self.game, Believes)
        except MissingPartError as error:
            self.write(f"{error}.")
            return
        self.write(self.telling.draw_odds(self.options, self.view, self.colour, *drawing_size()))

    def _wait(self) -> None:
        if not self._waits and self.telling.proved(self.options, self.view):
            self.write("You can prove it now.")
            return
        self._waits = not self._waits
        if self._waits:
            self._prose("Offers are declined for you until you can prove what you need; wait again ends that.")
        else:
            self.write("You are asked at every offer.")

    def _undo(self) -> None:
        """Go back to the person's last decision; the bots then choose as they would have."""
        if not self._decided:
            self.write("There is no decision of yours to take back.")
            return
        kept = self._decided.pop()
        waited = self._waits
        self._waits = False
        self._waited = {taken for taken in self._waited if taken < kept}
        self.undone += 1
        self._futile += 1
        self._go_to(self.actions[:kept])
        self.write(f"Your last decision was taken back.{' You are asked at every offer again.' * waited}")

    def _go_to(self, actions: Sequence[int]) -> list[int]:
        """Play the game again from its deal, with given actions, see `Sitting.follow`.

        Returns:
            How many actions had been taken before each of the person's.
        """
        return [taken for taken, actor in enumerate(self.sitting.follow(actions)) if actor == self.seat]

    def _quit(self) -> None:
        raise QuitError

    def _save(self, name: str) -> None:
        """Write the game text to a new file, or say why it cannot be written."""
        if not name:
            self.write("save needs the name of a file: save FILE.")
            return
        try:
            write_text(name, self.text, replace=False)
        except (WriteError, ValueError) as error:
            self.write(f"{one_line(str(error))}.")
            return
        self.write(SAVED.format(name))

    # --- what is told ---

    def _prose(self, text: str) -> None:
        columns = drawing_size()[0]
        self.write(wrapped(text, columns_for_prose()) if columns else text)

    def _tell_last(self) -> None:
        """Report the last action as far as the person may know it."""
        self.sitting.note()
        for line in self.sitting.news(self.view, self._before):
            self.write(line)

    def _review(self) -> None:
        for line in self.telling.review(self.sitting.record, self.seat):
            self.write(line)

    def _tell_result(self) -> None:
        for line in self.sitting.ending(self.seat):
            self.write(line)
