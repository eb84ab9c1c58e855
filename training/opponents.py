"""The pool from which opponents are drawn: named bots and past selves of the learner."""

from __future__ import annotations

import csv
from collections.abc import Iterable, Sequence
from dataclasses import astuple, dataclass
from io import StringIO
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sleuth_env import sleuth
from sleuth_env.files import write_atomically
from sleuth_env.matches.players import make_player
from sleuth_env.policies.policy import Policy, load_policy, save_policy
from sleuth_env.policies.policy_file import SUFFIX

from .checkpoint import package_versions
from .config import Config
from .learner import Opponents, Result

LEARNER_PLAYER = "learner"
STEP = 4.0
COLUMNS = ("player", "rating", "games", "wins")


def results_of(names: Sequence[str], players: NDArray[np.int64], shares: NDArray[np.float64]) -> list[Result]:
    """Return who sat where, and the shares of the win, in the games that somebody has won."""
    won = shares.max(axis=1) > 0
    return [
        Result([names[number] for number in seats], each)
        for seats, each in zip(players[won].tolist(), shares[won].tolist(), strict=True)
    ]


@dataclass
class Member:
    """A player's rating, and in how many seats it is from: those of games that somebody won, and
    those won by it.
    """

    rating: float = 0.0
    games: int = 0
    wins: int = 0


class League:
    """Rate everybody who plays in a run; who has left the pool keeps the last rating."""

    def __init__(self) -> None:
        self.members = {LEARNER_PLAYER: Member()}

    def enter(self, names: Iterable[str]) -> None:
        """Let opponents in, where they are new with the rating of the learner: a snapshot plays as
        he does.
        """
        for name in names:
            self.members.setdefault(name, Member(self.members[LEARNER_PLAYER].rating))

    def count(self, results: Iterable[Result]) -> None:
        """Take finished games in, one after the other."""
        for names, shares in results:
            seats = [self.members[name] for name in names]
            strengths = 10 ** (np.array([member.rating for member in seats]) / 400)
            for seat, (member, expected) in enumerate(zip(seats, (strengths / strengths.sum()).tolist(), strict=True)):
                member.rating += STEP * (shares[seat] - expected)
                member.games += 1
                member.wins += shares[seat] == 1

    def rating(self, name: str = LEARNER_PLAYER) -> float:
        """Give how much better than the first opponent somebody is."""
        return self.members[name].rating - list(self.members.values())[:2][-1].rating

    def row(self) -> dict[str, float]:
        """Give what the curve shows: the learner's rating, once there are games that count."""
        return {"league/rating": round(self.rating(), 1)} if self.members[LEARNER_PLAYER].games else {}

    def write(self, path: Path) -> None:
        """Write all ratings as CSV, the best first, once there are games that count."""
        if not self.members[LEARNER_PLAYER].games:
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
        self.members = {
            name: Member(float(rating), int(games), int(wins)) for name, (rating, games, wins) in state.items()
        }
        if not all(np.isfinite(member.rating) for member in self.members.values()):
            raise ValueError("its ratings are not finite numbers")
        if LEARNER_PLAYER not in self.members:
            raise ValueError("a league without a learner")


class Pool:
    """Hold every opponent loaded once; a snapshot is a policy file in the run's ``pool`` folder.

    Args:
        config: the run's.
        folder: the run folder.

    Raises:
        ValueError: a named bot or policy file cannot play this game.
    """

    def __init__(self, config: Config, folder: Path) -> None:
        self.settings = config.opponents
        self.folder = folder / "pool"
        self.bots = {name: make_player(name, config.options) for name, share in self.settings.bots.items() if share > 0}
        self.past_selves: dict[str, Policy] = {}

    def add(self, policy: Policy) -> None:
        """Take a snapshot in, and let the oldest one go where the pool is full (its file stays)."""
        if not self.settings.past_selves:
            return
        self.folder.mkdir(exist_ok=True)
        name = f"{policy.steps:012d}"
        policy.name = f"self-{policy.steps}"
        save_policy(policy, self.folder / f"{name}{SUFFIX}", package_versions())
        self.past_selves[name] = policy
        for old in list(self.past_selves)[: -self.settings.pool_size]:
            del self.past_selves[old]

    def restore(self, names: list[str]) -> None:
        """Load the snapshots of a checkpoint.

        Raises:
            PolicyError: one is not there any more, or damaged.
        """
        self.past_selves = {name: load_policy(self.folder / f"{name}{SUFFIX}", sleuth) for name in names}

    def opponents(self) -> Opponents:
        """Give the players and the share of each; past selves divide theirs equally."""
        each = self.settings.past_selves / max(len(self.past_selves), 1)
        bots = {name: (bot, self.settings.bots[name]) for name, bot in self.bots.items()}
        return bots | {name: (policy, each) for name, policy in self.past_selves.items()}
