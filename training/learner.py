"""What a run asks of a learner, whatever its algorithm."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple, Protocol

import torch

from sleuth_env.game import Bot
from sleuth_env.policies.policy import Policy

# Who may sit in the other seats: by a name that stays the same when a run is resumed, the player
# and its share.
Opponents = Mapping[str, tuple[Bot, float]]
# A game that somebody has won: who sat in each seat, by these names or "learner", and the seat of
# who came first.
Result = tuple[list[str], list[float]]


class Episode(NamedTuple):
    """A game of the learner's seat that has ended."""

    reward: float
    length: int
    win_share: float


@dataclass(frozen=True)
class Learned:
    """What happened in one rollout and one update.

    Args:
        episodes: reward and number of decisions of the learner's seat in each game that has ended.
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
            progress: how much of the whole run is done, 0 to 1, for settings that change with it.
            stopped: is asked before every step; once it says True, the rollout is dropped.

        Returns:
            None where the rollout was dropped: nothing has changed, but that other games may be
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
        """Draw the opponents of games dealt from now on from these, in these shares."""
        ...

    def policy(self) -> Policy:
        """Give the learner as it is now as a player that needs no torch."""
        ...

    def state(self) -> dict[str, Any]:
        """Give all that `restore` needs as tensors and plain containers; the weights and the
        optimiser's state are "parameters".
        """
        ...

    def restore(self, state: dict[str, Any]) -> None:
        """Go on from a state, in which "steps" and "updates" are counted too; whatever does not fit
        raises an error of any kind.
        """
        ...
