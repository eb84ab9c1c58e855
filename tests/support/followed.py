"""A table at which everybody does what they did in a history: the same course, whatever is hidden."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from sleuth_env.game import kernels_of


class FollowedTable:
    """What `matches.table.Table` is to those who show a game to one person.

    Args:
        game: the game module.
        history: the options, the states (STATE [1]) before each action and at the end, and the actions.
        seat: of the person.
        bots: the others.
    """

    def __init__(self, game: Any, history: Any, seat: int, bots: Sequence[Any]) -> None:
        self.game = game
        # Behind the doors, which do not let every game with other secrets pass.
        self.kernels = kernels_of(game)
        self.rules = game.make_rules(history.options)
        self.history = history
        self.seat = seat
        self.bots = bots
        self.at = 0

    @property
    def states(self) -> np.ndarray:
        return self.history.states[self.at]

    @property
    def finished(self) -> np.ndarray:
        return np.array([self.at == len(self.history.actions)])

    @property
    def waiting(self) -> np.ndarray:
        return ~self.finished & (self.states["actor"] == self.seat)

    @property
    def last_actions(self) -> np.ndarray:
        return np.array([self.history.actions[self.at - 1]])

    @property
    def decisions(self) -> np.ndarray:
        actors = [int(states["actor"][0]) for states in self.history.states[: self.at]]
        return np.bincount(actors, minlength=self.history.options.num_players)[None]

    def views(self, rows: int, seat: int) -> np.ndarray:
        seen = np.zeros(1, self.game.VIEW)
        self.kernels.view(self.rules, self.states, np.array([seat]), seen)
        return seen

    def legal(self, rows: int) -> np.ndarray:
        marks = np.zeros((1, self.game.num_actions(self.history.options)), "u1")
        self.kernels.legal(self.rules, self.states, marks)
        return marks

    def step(self, rows: int, action: int) -> None:
        assert action == self.history.actions[self.at]
        self.at += 1

    def play_round(self) -> bool:
        self.at += 1
        return True
