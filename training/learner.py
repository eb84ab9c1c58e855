"""What a run asks of a learner, whatever its algorithm."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple, Protocol

import torch

from sleuth_env.game import Bot
from sleuth_env.policies.policy import Policy

# Who may sit in the other seats: by a name that stays the same when a run is resumed, the player
# and its share.
Opponents = Mapping[str, tuple[Bot, float]]


class Episode(NamedTuple):
    """What one of the learner's seats did in a game that has ended.

    Args:
        reward: the sum over the whole game.
        length: number of its decisions; 0 where somebody else ended the game before its first one
            (``maskable_ppo`` counts 1, for Stable-Baselines3 has no episode without a step).
        win_share: 1 for a won game, less for a shared win, 0 for a lost one.
    """

    reward: float
    length: int
    win_share: float


class Result(NamedTuple):
    """How a game ended that somebody has won.

    Args:
        players: who sat in each seat, by the names of `Opponents` or "learner".
        shares: the share of the win that each seat has; they add up to 1.
    """

    players: list[str]
    shares: list[float]


@dataclass(frozen=True)
class Learned:
    """What happened in one rollout and one update.

    Args:
        episodes: of the learner's seats in the games that have ended.
        statistics: of the update, by the names of their curves.
        results: of the games, where the learner's algorithm sees all seats.
    """

    episodes: list[Episode]
    statistics: dict[str, float]
    results: list[Result] = field(default_factory=list)


class Learner(Protocol):
    """A network that learns by playing."""

    @property
    def network(self) -> torch.nn.Module:
        """What learns."""
        ...

    @property
    def steps(self) -> int:
        """Decisions of the learner so far."""
        ...

    @property
    def updates(self) -> int:
        """Passes over rollouts so far."""
        ...

    def learn(self, progress: float, stopped: Callable[[], bool]) -> Learned | None:
        """Collect one rollout and learn from it.

        Args:
            progress: the share of the whole run that is done, 0 to 1, for settings that change with
                it.
            stopped: is asked before every step; once it returns True, the rollout is dropped.

        Returns:
            None where the rollout was dropped: nothing has changed, except that other games may be
                under way.
        """
        ...

    def load(self, policy: Policy) -> None:
        """Begin with the weights of a policy.

        Raises:
            ConfigError: it has another network or observation, or this algorithm cannot begin with
                one.
        """
        ...

    def set_opponents(self, opponents: Opponents) -> None:
        """Draw the opponents of games dealt from now on from these, in these shares.

        Games under way keep their players. After `restore` whoever is `seated` must be among these,
        with a share of 0 where no new games are to be theirs.
        """
        ...

    @property
    def seated(self) -> Sequence[str]:
        """The names of the opponents who sit in games under way and are stored with them."""
        ...

    def policy(self) -> Policy:
        """Return the learner as it is now as a player that needs no torch."""
        ...

    def state(self) -> dict[str, Any]:
        """Return all that `restore` needs as tensors and plain containers.

        The weights and the optimiser's state are "parameters".
        """
        ...

    def restore(self, state: dict[str, Any]) -> None:
        """Go on from a state, in which "steps" and "updates" are counted too.

        Whatever does not fit raises an error of any kind.
        """
        ...

    def close(self) -> None:
        """End the processes that learn with it, if there are any; it can still be asked for what it has learned."""
        ...
