"""Ratings of the learner, its past selves and the named bots, from the games that training plays anyway.

The model is Luce's (1959): the winner of a game is one of its seats, each with a chance in proportion to 10 ** (rating / 400). After each game that
somebody has won, every seat's rating moves by `STEP` times what it won more than was expected of it (Elo's rule for more than two players). So ratings
follow a learner that changes; where nobody does they settle within two thousand games, but for noise of about 30 points.
Only differences mean anything: 400 points are ten times as many games won against each other at one table. Ratings are told as
differences to the first opponent, whose own is 0.
"""

from __future__ import annotations

import csv
from collections.abc import Iterable, Sequence
from dataclasses import astuple, dataclass
from io import StringIO
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sleuth_env.policy_file import write_atomically

from .learner import Result

LEARNER = "learner"
STEP = 4.0
COLUMNS = ("player", "rating", "games", "wins")


def results_of(names: Sequence[str], players: NDArray[np.int64], rewards: NDArray[np.float64]) -> list[Result]:
    """Give who sat where and who came first in the games that somebody has won.

    Args:
        names: of the players, by their numbers.
        players: who sat in each seat (i8 [B, P]).
        rewards: of the seats at the end (f8 [B, P]); positive only where one was right, greatest where he was the first.
    """
    won = rewards.max(axis=1) > 0
    return [([names[number] for number in seats], first) for seats, first in zip(players[won].tolist(), rewards[won].argmax(axis=1).tolist(), strict=True)]


@dataclass
class Member:
    """A player's rating, and in how many seats it is from: those of games that somebody won, and those won by it."""

    rating: float = 0.0
    games: int = 0
    wins: int = 0


class League:
    """Rate everybody who plays in a run; who has left the pool keeps the last rating."""

    def __init__(self) -> None:
        self.members = {LEARNER: Member()}

    def enter(self, names: Iterable[str]) -> None:
        """Let opponents in, where they are new with the rating of the learner: a snapshot plays as he does."""
        for name in names:
            self.members.setdefault(name, Member(self.members[LEARNER].rating))

    def count(self, results: Iterable[Result]) -> None:
        """Take finished games in, one after the other."""
        for names, first in results:
            seats = [self.members[name] for name in names]
            strengths = 10 ** (np.array([member.rating for member in seats]) / 400)
            for seat, (member, expected) in enumerate(zip(seats, (strengths / strengths.sum()).tolist(), strict=True)):
                member.rating += STEP * ((seat == first) - expected)
                member.games += 1
                member.wins += seat == first

    def rating(self, name: str = LEARNER) -> float:
        """Give how much better than the first opponent somebody is."""
        return self.members[name].rating - list(self.members.values())[:2][-1].rating

    def row(self) -> dict[str, float]:
        """Give what the curve shows: the learner's rating, once there are games that count."""
        return {"league/rating": round(self.rating(), 1)} if self.members[LEARNER].games else {}

    def write(self, path: Path) -> None:
        """Write all ratings as CSV, the best first, once there are games that count."""
        if not self.members[LEARNER].games:
            return
        text = StringIO(newline="")
        writer = csv.writer(text)
        writer.writerow(COLUMNS)
        for name in sorted(self.members, key=self.rating, reverse=True):
            member = self.members[name]
            writer.writerow([name, f"{self.rating(name):.1f}", member.games, member.wins])
        write_atomically(path, text.getvalue().encode())

    def state(self) -> dict[str, Any]:
        """Give what `restore` needs, as plain containers."""
        return {name: list(astuple(member)) for name, member in self.members.items()}

    def restore(self, state: dict[str, Any]) -> None:
        """Go on from a state; whatever does not fit raises an error of any kind."""
        self.members = {name: Member(float(rating), int(games), int(wins)) for name, (rating, games, wins) in state.items()}
        if not all(np.isfinite(member.rating) for member in self.members.values()):
            raise ValueError("its ratings are not finite numbers")
        if LEARNER not in self.members:
            raise ValueError("a league without a learner")
