"""The pool from which opponents are drawn: named bots and past selves of the learner."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from sleuth_env import sleuth
from sleuth_env.policy import Policy, load_policy, make_player, save_policy
from sleuth_env.policy_file import SUFFIX

from .config import Config
from .versions import package_versions


class Pool:
    """Hold every opponent loaded once; a snapshot is a policy file in the run's ``pool`` folder.

    Args:
        config: the run's.
        folder: the run folder.

    Raises:
        ValueError: a named bot or policy file cannot play this game.
    """

    def __init__(self, config: Config, folder: Path) -> None:
        self.settings, self.folder = config.opponents, folder / "pool"
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

    def opponents(self) -> tuple[list[Any], list[float]]:
        """Give the players and the share of each; past selves divide theirs equally."""
        players, shares = list(self.bots.values()), [self.settings.bots[name] for name in self.bots]
        each = self.settings.past_selves / max(len(self.past_selves), 1)
        return [*players, *self.past_selves.values()], [*shares, *(each for _ in self.past_selves)]
