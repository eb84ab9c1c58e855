"""One game, step by step: people in some seats, bots in the others.

It is played at a `Table` of one game, from which the terminal's session and the browser's rooms take
what they show. Whoever plays a step notes it afterwards: what a person is told of an action needs
the view of before.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cached_property
from typing import Any

import numpy as np

from ..game import Bot, Game, Told, Transcribed, needed
from .table import LEARNER_SEAT, Table


class Sitting:
    """A game under way.

    To be read: `table`; `actions` (what has been noted, in order); `first_state` (STATE, the deal).

    Args:
        game: the game module.
        options: of the game.
        players: who plays in each seat, [P]; None: a person.
        seed: settles the deal and the bots' random choices (u8).
        first_state: STATE, a deal that is played instead; the seed then settles no more than the
            bots' random choices.

    Raises:
        MissingPartError: the game cannot be told or written as text.
    """

    def __init__(
        self, game: Game, options: Any, players: Sequence[Bot | None], seed: int, first_state: Any = None
    ) -> None:
        self.telling = needed(game, Told).telling
        self.transcribed = needed(game, Transcribed)
        self.game = game
        self.options = options
        self.seed = seed
        bots = [player for player in players if player is not None]
        numbers = iter(range(len(bots)))
        seats = [LEARNER_SEAT if player is None else next(numbers) for player in players]
        self.table = Table(game, options, 1, bots, seats)
        self.table.deal(0, seed)
        if first_state is not None:
            self.table.states[0] = first_state
        self.first_state = self.table.states[0].copy()
        self.actions: list[int] = []

    @cached_property
    def action_names(self) -> list[str]:
        """The names of all actions."""
        return [self.game.action_name(a, self.options) for a in range(self.game.num_actions(self.options))]

    @property
    def finished(self) -> bool:
        """Whether the game is over."""
        return bool(self.table.finished[0])

    @property
    def actor(self) -> int:
        """The seat that decides next; -1 when the game is over."""
        return int(self.table.states["actor"][0])

    def view(self, seat: int) -> Any:
        """Return what a seat knows now (VIEW record)."""
        return self.table.views(0, seat)[0]

    def legal(self) -> dict[str, int]:
        """Return the legal actions of whoever decides next: their numbers by their names."""
        return {self.action_names[a]: int(a) for a in np.flatnonzero(self.table.legal(0)[0])}

    def note(self) -> int:
        """Note the last action that was taken at the table, and return it."""
        action = int(self.table.last_actions[0])
        self.actions.append(action)
        return action

    def news(self, seen: Any, before: Any) -> list[str]:
        """Return what a seat may know of the action that was noted last, line by line, see `Telling.news`.

        Args:
            seen: what it knows now (VIEW record).
            before: what it knew before the action (VIEW record).
        """
        return self.telling.news(self.options, self.table.states[0], self.actions[-1], seen, before)

    def follow(self, actions: Sequence[int]) -> Iterator[int]:
        """Play the game again from its deal, with given actions, and iterate over who took each, before it is taken.

        To players that remember games it is a new one, which they are led through: of what has been
        taken back they know nothing.
        """
        seats = self.table.seats.copy()
        self.table.deal(0, self.seed)
        self.table.states[0] = self.first_state
        self.actions = []
        for action in actions:
            yield self.actor
            self.table.remind(0)
            self.table.seats[:] = LEARNER_SEAT
            self.table.step(0, action)
            self.table.seats[:] = seats
            self.actions.append(int(action))

    @property
    def text(self) -> str:
        """The game so far as a game text, hidden cards included."""
        return self.transcribed.game_text(self.options, self.first_state, self.actions)

    @property
    def record(self) -> Any:
        """The game so far, as `parse_game` returns it."""
        return self.transcribed.parse_game(self.text)

    def ending(self, seat: int) -> list[str]:
        """Return what a person is told when the game is over, line by line."""
        places = self.table.standings(0)[0]
        return [*self.telling.ending(self.record, seat), _placed(places.tolist(), seat)]


def _placed(places: Sequence[int], seat: int) -> str:
    """Return which place a seat has taken, in words."""
    place = places[seat]
    if place == 0:
        return "You have not won."
    if places.count(place) > 1:
        return f"You share place {place}."
    return "You win!" if place == 1 else f"You take place {place}."
