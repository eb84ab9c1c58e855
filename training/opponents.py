"""Who plays in a run: the pool from which opponents are drawn, and everybody's ratings.

Axis letters: ``B`` games, ``P`` seats.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import astuple, dataclass
from hashlib import sha256
from io import StringIO
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sleuth_env.files import read_bytes, write_atomically
from sleuth_env.game import Bot
from sleuth_env.matches.seating import remembers
from sleuth_env.policies.policy import Policy, load_policy, save_policy
from sleuth_env.policies.policy_file import SUFFIX, PolicyError

from .checkpoint import SNAPSHOT, package_versions
from .config import Config
from .inputs import Inputs
from .learner import Opponents, Result

# The learner's name among the players.
LEARNER_PLAYER = "learner"
# The most by which one game can change a rating.
STEP = 4.0
COLUMNS = ("player", "rating", "games", "wins")


# --- opponents ---


class Pool:
    """Hold every opponent loaded once: named players, and past selves.

    A past self is a policy file in the folder ``pool``.

    Args:
        config: the run's.
        folder: the run folder.
        inputs: makes the named players.
        apart: whether games go from process to process even where there is one shard.

    Raises:
        ValueError: a named bot or policy file cannot play this game.
    """

    def __init__(self, config: Config, folder: Path, inputs: Inputs, apart: bool = False) -> None:
        self.game = config.module
        self.inputs = inputs
        self.settings = config.opponents
        self.folder = folder / "pool"
        named = [name for name, share in self.settings.bots.items() if share > 0]
        self.bots = {name: inputs.player(name) for name in named}
        for name, bot in self.bots.items():
            # A shard goes from process to process, and what a player remembers does not.
            if config.shards > 1 and remembers(bot):
                raise ValueError(f"opponent {name} remembers games, which needs shards: 1, got shards: {config.shards}")
            if apart and remembers(bot):
                raise ValueError(f"opponent {name} remembers games, which only one process can play: leave out --ray")
        self.past_selves: dict[str, Policy] = {}
        self._digests: dict[str, str] = {}  # SHA-256 of the files that were written or read
        self.weights: dict[str, float] = {}  # of the past selves; who has none here is new to `weigh`

    def add(self, policy: Policy) -> None:
        """Take a snapshot in, and let the oldest one go where the pool is full (its file stays)."""
        if not self.settings.past_selves:
            return
        self.folder.mkdir(exist_ok=True)
        name = f"{policy.steps:012d}"
        policy.name = f"self-{policy.steps}"
        path = self.folder / f"{name}{SUFFIX}"
        save_policy(policy, path, package_versions())
        self._digests[name] = sha256(read_bytes(path)).hexdigest()
        self.past_selves[name] = policy
        for old in list(self.past_selves)[: -self.settings.pool_size]:
            del self.past_selves[old]

    def digests(self, names: Iterable[str]) -> dict[str, str]:
        """Return the SHA-256 of the files of some past selves; other names are left out."""
        return {name: self._digests[name] for name in names if name in self._digests}

    def weigh(self, chance: Callable[[str], float]) -> None:
        """Draw past selves by their strengths from now on, see `opponents.focus` of the configuration.

        It is prioritised fictitious self-play: Vinyals et al., "Grandmaster level in StarCraft II using
        multi-agent reinforcement learning", 2019.

        Args:
            chance: returns the chance of one of them to win against the learner.
        """
        self.weights = {name: chance(name) ** self.settings.focus for name in self.past_selves}

    def restore(
        self, names: Iterable[str], digests: Mapping[str, str], weights: Mapping[str, float] | None = None
    ) -> None:
        """Load the snapshots of a checkpoint.

        Args:
            names: of those that play, the oldest first.
            digests: what `digests` gave when the checkpoint was written; older ones have none.
            weights: what `weights` were then; the same.

        Raises:
            PolicyError: one is missing, damaged, or of another game.
            ValueError: a weight is not a finite number of at least 0.
        """
        self.weights = {name: float(weight) for name, weight in (weights or {}).items()}
        if not all(0 <= weight < np.inf for weight in self.weights.values()):
            raise ValueError("its weights of past selves are not finite numbers of at least 0")
        self._digests = dict(digests)
        self.past_selves = {name: self._past_self(name) for name in names}

    def player(self, name: str) -> Bot:
        """Return somebody who has played in this run, for games that are still under way.

        Raises:
            ValueError: a file is missing, damaged, or of another game.
        """
        if name in self.past_selves:
            return self.past_selves[name]
        if name in self.bots:
            return self.bots[name]
        bot: Bot = self._past_self(name) if re.fullmatch(SNAPSHOT, name) else self.inputs.player(name)
        return bot

    def _past_self(self, name: str) -> Policy:
        path = self.folder / f"{name}{SUFFIX}"
        if path.exists():
            digest = sha256(read_bytes(path)).hexdigest()
            if self._digests.setdefault(name, digest) != digest:
                raise PolicyError(f"{path} is damaged: it is not the snapshot that the checkpoint was written with")
        return load_policy(path, self.game)

    def opponents(self) -> Opponents:
        """Return the players and the share of each; past selves divide theirs by their weights."""
        weights = {name: self.weights.get(name, 1.0) for name in self.past_selves}
        if not any(weights.values()):
            weights = dict.fromkeys(weights, 1.0)
        total = sum(weights.values())
        bots = {name: (bot, self.settings.bots[name]) for name, bot in self.bots.items()}
        return bots | {
            name: (policy, self.settings.past_selves * weights[name] / total)
            for name, policy in self.past_selves.items()
        }


# --- ratings ---


def results_of(names: Sequence[str], players: NDArray[np.int64], shares: NDArray[np.float64]) -> list[Result]:
    """Return who sat where, and each seat's share of the win, in the games that somebody has won.

    Args:
        names: of the players, by their numbers.
        players: who sat in each seat (i8 [B, P]).
        shares: of the win (f8 [B, P], see `matches.rating.win_shares`); zeros where nobody has won.
    """
    won = shares.max(axis=1) > 0
    seated = [[names[number] for number in seats] for seats in players[won].tolist()]
    return [Result(*game) for game in zip(seated, shares[won].tolist(), strict=True)]


@dataclass
class Member:
    """A player's rating, and what it is from.

    Args:
        rating: 400 points are ten times the chance to win.
        games: number of seats in games that somebody has won.
        wins: number of these seats that have won; a tie is shared.
    """

    rating: float = 0.0
    games: int = 0
    wins: float = 0.0


class League:
    """Rate everybody who plays in a run; a player who has left the pool keeps the last rating.

    Elo's rule for several players: the expected shares are in proportion to the strengths (Luce's
    model), and each rating moves with what a seat has won beyond its expected share.
    """

    def __init__(self) -> None:
        self.members = {LEARNER_PLAYER: Member()}

    def enter(self, names: Iterable[str]) -> None:
        """Let opponents in; new ones get the learner's rating, for a snapshot plays like it."""
        for name in names:
            self.members.setdefault(name, Member(self.members[LEARNER_PLAYER].rating))

    def count(self, results: Iterable[Result]) -> None:
        """Count finished games, one after the other."""
        for names, shares in results:
            seats = [self.members[name] for name in names]
            strengths = 10 ** (np.array([member.rating for member in seats]) / 400)
            expected = (strengths / strengths.sum()).tolist()
            for member, share, expected_share in zip(seats, shares, expected, strict=True):
                member.rating += STEP * (share - expected_share)
                member.games += 1
                member.wins += share

    def rating(self, name: str = LEARNER_PLAYER) -> float:
        """Return how much better than the first opponent somebody is; 0 before anybody entered."""
        first = list(self.members.values())[:2][-1]
        return self.members[name].rating - first.rating

    def chance(self, name: str) -> float:
        """Return somebody's chance to win a game of two against the learner."""
        return float(1 / (1 + 10 ** ((self.members[LEARNER_PLAYER].rating - self.members[name].rating) / 400)))

    def row(self) -> dict[str, float]:
        """Return what the curve shows: the learner's rating, once there are games that count."""
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
            wins = f"{member.wins:.2f}".removesuffix(".00")
            writer.writerow([name, f"{self.rating(name):.1f}", member.games, wins])
        write_atomically(path, text.getvalue().encode())

    def state(self) -> dict[str, Any]:
        """Return what `restore` needs, as plain containers."""
        return {name: list(astuple(member)) for name, member in self.members.items()}

    def restore(self, state: dict[str, Any]) -> None:
        """Go on from a state; whatever does not fit raises an error of any kind."""
        self.members = {
            name: Member(float(rating), int(games), float(wins)) for name, (rating, games, wins) in state.items()
        }
        if not all(np.isfinite(member.rating) and np.isfinite(member.wins) for member in self.members.values()):
            raise ValueError("its ratings are not finite numbers")
        if LEARNER_PLAYER not in self.members:
            raise ValueError("a league without a learner")
