"""Records of games that no text could hold, because hidden things change on the way."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from sleuth_env import holmes
from sleuth_env.holmes.transcript import GameRecord as HolmesRecord
from sleuth_env.sleuth.transcript import GameRecord
from sleuth_env.transcripts import Move
from tests.support.games import holmes_changed
from tests.support.substitution import History


@dataclass(frozen=True, eq=False)
class Played(GameRecord):
    """The record of a history of Sleuth."""

    history: History

    def moves(self) -> Iterator[Move]:
        states = [states[0] for states in self.history.states]
        for before, action, after in zip(states[:-1], self.history.actions, states[1:], strict=True):
            yield Move(before, action, after)


def record_of(history: History) -> Played:
    actions = np.array(history.actions, np.int64)
    return Played(history.options, actions, history.states[0][0], history.states[-1][0], history)


@dataclass(frozen=True, eq=False)
class Redealt(HolmesRecord):
    """A game of I Say, Holmes! in which all that a seat cannot know is another at every moment."""

    moments: list[np.ndarray]  # STATE [1] each

    def moves(self) -> Iterator[Move]:
        for at, action in enumerate(self.actions.tolist()):
            yield Move(self.moments[at][0], action, self.moments[at + 1][0])


def redealt(record: HolmesRecord, viewer: int, seed: int) -> Redealt:
    """Change all that a seat cannot know of a game, see `holmes_substitution`."""
    chances = np.random.default_rng(seed)
    moments = [
        holmes_changed(record.options, record.states[at : at + 1], viewer, chances) for at in range(len(record.states))
    ]
    assert all(len(holmes.problems(holmes.make_rules(record.options), states)) == 0 for states in moments)
    return Redealt(record.options, record.actions, moments[0][0], moments[-1][0], moments)
