"""A game of several people and of bots: what each seat is sent, and when.

A seat is sent a picture of all that it sees whenever that has changed, and never otherwise: a message
at a moment at which it notices nothing would tell that something hidden has happened. What it is sent
is made of its view and of what it was told, never of the state. Where others could tell by its
messages whether somebody had been offered something before them, a seat is shown the table without
the offer before and after it, whoever was first.

A room knows neither a network nor threads: whoever uses it calls one method at a time.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from ..checks import shown
from ..game import Game, Transcribed, needed, player_name
from ..matches.program import failures_of
from ..matches.rating import Failure
from ..matches.sitting import Sitting
from ..transcripts import GrowingText, Move
from .messages import NO_DECISION, PERSON, decision, encoded, odds, table_seen


class RefusedError(ValueError):
    """A message asks for what cannot be done now; nothing has changed, and the error says why."""


class Room:
    """One game of people and bots.

    To be set: `tell`, which is called with a seat and a message for it; `keep`, which is called with
    the text of the game so far before anybody is told what is new in it. To be read: `people` (their
    seats); `listening` (the seats to which somebody listens: for others no message is made);
    `stepwise` (whether every action is shown by itself).

    Args:
        game: the game module.
        options: of the game.
        seats: who plays in each seat as the others are told, [P]; `PERSON` is a person.
        players: who plays there, [P]; None: a person.
        seed: settles the deal and the bots' random choices.
        record: a game that is gone on with, as `parse_game` returns it.
        stepwise: whether every action is shown by itself, which takes time, and not only the table
            when somebody is to decide; several people always see every action by itself.
        replay: the address of the page that shows the game when it is over.
    """

    def __init__(
        self,
        game: Game,
        options: Any,
        seats: Sequence[str],
        players: Sequence[Any],
        seed: int,
        record: Any = None,
        stepwise: bool = False,
        replay: Mapping[int, str] | None = None,
    ) -> None:
        self.game = game
        self.options = options
        self.seats = list(seats)
        self.people = [seat for seat, player in enumerate(players) if player is None]
        self.listening: set[int] = set()
        self.tell: Callable[[int, str], object] = lambda seat, message: None
        self.keep: Callable[[str], object] = lambda text: None
        self.stepwise = stepwise or len(self.people) > 1
        self._replay = dict(replay or {})
        self.sitting = Sitting(game, options, players, seed, None if record is None else record.first_state)
        self._logs: dict[int, list[str]] = {seat: [] for seat in self.people}
        self._sent: dict[int, str] = {}
        self._ended: dict[int, dict[str, Any]] = {}
        self._odds: dict[int, tuple[bytes, str]] = {}
        self._begin()
        if record is not None:
            for _ in self.sitting.follow(record.actions.tolist()):
                self._catch_up()
            self._catch_up()

    def _begin(self) -> None:
        deal = needed(self.game, Transcribed).game_text(self.options, self.sitting.first_state, [])
        transcription = needed(self.game, Transcribed).parse_game(deal).transcription
        self._text = GrowingText(transcription, self.options, deal)
        self._state = self.sitting.first_state
        self._views = {seat: self.sitting.view(seat) for seat in self.people}

    # --- what happens ---

    def _catch_up(self) -> None:
        """Tell the people's logs, and the text, of the last action, if there is one of which they have not heard."""
        if self.sitting.actions and len(self.sitting.actions) > self._text.num_actions:
            state = self.sitting.table.states[0].copy()
            self._text.add(Move(self._state, self.sitting.actions[-1], state))
            self._state = state
            for seat, before in self._views.items():
                seen = self.sitting.view(seat)
                # What changes no view is noticed by nobody.
                if seen.tobytes() != before.tobytes():
                    self._logs[seat] += self.sitting.news(seen, before)
                    self._views[seat] = seen

    @property
    def text(self) -> str:
        """The game so far as a game text."""
        return self._text.text(self._state)

    @property
    def finished(self) -> bool:
        """Whether the game is over."""
        return self.sitting.finished

    @property
    def is_waiting(self) -> bool:
        """Whether a person is to decide."""
        return bool(self.sitting.table.waiting[0])

    @property
    def is_at_rest(self) -> bool:
        """Whether no bot is to decide."""
        return self.finished or self.is_waiting

    @property
    def failures(self) -> list[Failure]:
        """Where programs among the players have failed."""
        return failures_of(self.sitting.table.bots)

    def act(self, seat: int, number: Any, name: Any) -> None:
        """Take a person's decision.

        Args:
            seat: theirs.
            number: of the decision, as the message that asked for it says.
            name: of the action.

        Raises:
            RefusedError: it is not theirs to take, or no longer, or the action is not legal.
        """
        if self.finished:
            raise RefusedError("the game is over")
        # Neither says who decides instead.
        if not self._decides(seat):
            raise RefusedError("it is not for you to decide now")
        if type(number) is not int or number != self._number(seat):
            raise RefusedError(f"your decision now is number {self._number(seat)}, not {shown(number, 20)}")
        action = self.sitting.legal().get(name) if isinstance(name, str) else None
        if action is None:
            raise RefusedError(f"this is not legal now: {shown(name, 60)}")
        self._show_without_offer(seat)
        self.sitting.table.step(0, action)
        self._go_on()

    def play_round(self) -> None:
        """Let a bot decide, if one is to.

        Raises:
            ValueError: the bot has failed; nothing has changed.
        """
        if self.sitting.table.play_round():
            self._go_on()

    def play_on(self) -> None:
        """Let bots decide until a person is to decide or the game is over; see `play_round`."""
        while not self.is_at_rest:
            self.play_round()

    def _go_on(self) -> None:
        """Take note of an action."""
        self.sitting.note()
        self._catch_up()
        if self.stepwise or self.is_at_rest:
            self._show()

    # --- what is shown ---

    def _decides(self, seat: int) -> bool:
        return self.is_waiting and self.sitting.actor == seat

    def _number(self, seat: int) -> int:
        return int(self.sitting.table.decisions[0, seat])

    def _show(self) -> None:
        """Keep the game, and show everybody what is new to them."""
        self.keep(self.text)
        for seat in self.people:
            self._show_without_offer(seat)
            self._send(seat)

    def _show_without_offer(self, seat: int) -> None:
        """Show a seat the table as it is for whoever is not asked; nothing where this makes no difference."""
        if not self.stepwise or seat not in self.listening:
            return
        unasked = self.sitting.telling.unasked(self.options, self._views[seat])
        if unasked.tobytes() != self._views[seat].tobytes():
            self._send_text(seat, self._picture(seat, unasked, False))

    def _send(self, seat: int) -> None:
        if seat in self.listening:
            self._send_text(seat, self.message(seat))

    def _send_text(self, seat: int, text: str) -> None:
        if text != self._sent.get(seat):
            self._sent[seat] = text
            self.tell(seat, text)

    def message(self, seat: int) -> str:
        """Return what a seat sees now, as a line of JSON."""
        return self._picture(seat, self._views[seat], self._decides(seat))

    def listen(self, seat: int) -> str:
        """Return what somebody sees now who has begun to listen, as a line of JSON."""
        self.listening.add(seat)
        self._sent[seat] = self.message(seat)
        return self._sent[seat]

    def leave(self, seat: int) -> None:
        """Make no more messages for a seat: nobody listens any more."""
        self.listening.discard(seat)
        self._sent.pop(seat, None)

    def _picture(self, seat: int, seen: Any, decides: bool) -> str:
        asked = NO_DECISION
        if decides:
            asked = decision(self.game, self.options, seen, self._number(seat), self.sitting.legal())
        return encoded(
            {
                **table_seen(self.game, self.options, seen, seat, self.seats),
                "log": self._logs[seat],
                **asked,
                "odds": None,
                "questions": None,
                "policy": None,
                "ended": self._end_of(seat) if self.finished else None,
            }
        )

    def _end_of(self, seat: int) -> dict[str, Any]:
        """Return what a seat is told when the game is over: everything."""
        if seat not in self._ended:
            failed = [
                f"{self.seats[seat]} failed as {player_name(seat)}; {stand_in} played there from then on."
                for seat, stand_in in ((failure.seat, failure.stand_in) for failure in self.failures)
            ]
            self._ended[seat] = {
                "lines": [*self.sitting.ending(seat), *failed],
                "deal": needed(self.game, Transcribed).reveal(self.options, self.sitting.table.states[0]),
                "replay": self._replay.get(seat, ""),
                # As a text: a number of JSON may not hold it.
                "seed": str(self.sitting.seed),
            }
        return self._ended[seat]

    def odds(self, seat: int) -> str:
        """Return what a seat may believe, as a line of JSON."""
        content = self._views[seat].tobytes()
        if seat not in self._odds or self._odds[seat][0] != content:
            self._odds[seat] = content, encoded(odds(self.game, self.options, self._views[seat]))
        return self._odds[seat][1]


def seats_of_people(seats: Sequence[str]) -> list[int]:
    """Return the seats in which people sit.

    >>> seats_of_people(["person", "sheet", "person"])
    [0, 2]
    """
    return [seat for seat, who in enumerate(seats) if who == PERSON]
