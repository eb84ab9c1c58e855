"""Rollouts: decisions, what follows each of them, and the advantage estimate.

A decision belongs to a trajectory: one seat's decisions in one game, in their order, however many
others decide in between. What the seat gets until it decides again, or until the game ends, is the
decision's reward; only then is the decision complete. Where a rollout ends before that, the
decision **waits**: its value bootstraps the one before it, and it is learned from in the rollout
that completes it, with the log-probability with which it was drawn. To drop it instead would leave
out most often the decisions whose outcome is long in coming, such as a seat's last ones.

Schulman, Moritz, Levine, Jordan, Abbeel, "High-dimensional continuous control using generalized
advantage estimation", 2016.
Axis letters: ``B`` games, ``K`` some of them, ``P`` seats, ``D`` decisions.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sleuth_env.kernels import kernel

from .decisions import Decisions
from .learner import Episode, Result

Ints = NDArray[np.int64]
Floats = NDArray[np.float32]
Rewards = NDArray[np.float64]

# Instead of the number of the decision that follows in a trajectory:
OPEN = -1  # it is not known yet
ENDED = -2  # there is none, the game has ended


class Rollout:
    """Collect decisions and what follows each of them.

    `rewards`, `final_values` and `followers` are what `advantages_of` takes, with room for all;
    `last` is the number of the last decision of each seat of each game under way (i8 [B, P], -1
    where there is none).

    Args:
        waiting: decisions of the rollout before that are not complete; they come first.
        last: whose they are.
        room: the most decisions that will be added.
    """

    def __init__(self, waiting: Decisions, last: Ints, room: int) -> None:
        self.waiting = len(waiting)
        self.parts = [waiting]
        self.size = len(waiting)
        self.last = last.copy()
        self.followers = np.full(self.size + room, OPEN, np.int64)
        self.rewards = np.zeros(self.size + room, np.float32)
        self.final_values = np.zeros(self.size + room, np.float32)
        self.episodes: list[Episode] = []
        self.results: list[Result] = []

    @property
    def fresh(self) -> int:
        """Number of decisions that were added."""
        return self.size - self.waiting

    def add(self, decisions: Decisions, games: Ints, seats: Ints, rewards: Rewards) -> None:
        """Add decisions.

        Args:
            decisions: D of them.
            games: in which they were taken, i8 [D], all different.
            seats: which took them, i8 [D].
            rewards: what each seat has got since its last decision, f8 [D]; that one's reward.
        """
        numbers = np.arange(self.size, self.size + len(decisions))
        before = self.last[games, seats]
        has_decided = before >= 0
        self.followers[before[has_decided]] = numbers[has_decided]
        self.rewards[before[has_decided]] = rewards[has_decided]
        self.last[games, seats] = numbers
        self.parts.append(decisions)
        self.size += len(decisions)

    def end(self, games: Ints, rewards: Rewards, final_values: Floats) -> None:
        """End games.

        Args:
            games: i8 [K].
            rewards: what each seat has got since its last decision, f8 [K, P].
            final_values: of each seat after the end, f4 [K, P].
        """
        before = self.last[games]
        has_decided = before >= 0
        self.followers[before[has_decided]] = ENDED
        self.rewards[before[has_decided]] = rewards[has_decided]
        self.final_values[before[has_decided]] = final_values[has_decided]
        self.last[games] = -1

    def left(self, decisions: Decisions) -> tuple[Decisions, Ints]:
        """Return the decisions that still wait, and whose they are (i8 [B, P])."""
        numbers = np.flatnonzero(self.followers[: self.size] == OPEN)
        return decisions.take(numbers), np.where(self.last >= 0, np.searchsorted(numbers, self.last), -1)


@dataclass(frozen=True)
class Collected:
    """What a rollout has brought.

    Args:
        decisions: D, those that waited before it among them.
        followers: i8 [D], see `advantages_of`; so are the next two.
        rewards: f4 [D].
        final_values: f4 [D].
        fresh: number of decisions that were added.
        episodes: of the learner's seats in the games that have ended.
        results: of these games.
    """

    decisions: Decisions
    followers: Ints
    rewards: Floats
    final_values: Floats
    fresh: int
    episodes: list[Episode]
    results: list[Result]

    @classmethod
    def of(cls, rollout: Rollout, decisions: Decisions) -> Collected:
        """Return what a rollout has brought, with its decisions joined."""
        arrays = (array[: rollout.size] for array in (rollout.followers, rollout.rewards, rollout.final_values))
        return cls(decisions, *arrays, rollout.fresh, rollout.episodes, rollout.results)

    @classmethod
    def joined(cls, parts: Sequence[Collected]) -> Collected:
        """Put what several shards have brought behind one another."""
        starts = np.cumsum([0, *(len(part.decisions) for part in parts)])
        followers = [
            np.where(part.followers >= 0, part.followers + start, part.followers)
            for part, start in zip(parts, starts, strict=False)
        ]
        return cls(
            Decisions.joined([part.decisions for part in parts]),
            np.concatenate(followers),
            np.concatenate([part.rewards for part in parts]),
            np.concatenate([part.final_values for part in parts]),
            sum(part.fresh for part in parts),
            [episode for part in parts for episode in part.episodes],
            [result for part in parts for result in part.results],
        )


@kernel
def advantages_of(rewards: Any, values: Any, final_values: Any, followers: Any, gamma: Any, gae_lambda: Any) -> Any:
    """Return the generalised advantage estimate of decisions whose trajectories are interleaved.

    Args:
        rewards: f4 [D], between a decision and the same seat's next one, or the game's end.
        values: f4 [D], the network's.
        final_values: f4 [D], the value after a game's truncation; zero where the seat's reward was
            settled.
        followers: i8 [D], the number of the trajectory's next decision, always a greater one, or
            `ENDED` or `OPEN`.
        gamma: the discount of a decision.
        gae_lambda: the estimate's lambda.

    Returns:
        f4 [D]; zero where the follower is `OPEN`, because nothing is known of what comes.
    """
    advantages = np.zeros(rewards.size, np.float32)
    for i in range(rewards.size - 1, -1, -1):
        follower = followers[i]
        if follower >= 0:
            delta = rewards[i] + gamma * values[follower] - values[i]
            advantages[i] = delta + gamma * gae_lambda * advantages[follower]
        elif follower == ENDED:
            advantages[i] = rewards[i] + gamma * final_values[i] - values[i]
    return advantages
