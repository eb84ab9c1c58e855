"""What the examples share: a task of each game, the command line, and how what was learned is judged.

An example trains one seat of three against `random` bots, or all of them against each other, and the
result plays `random` bots over equal deals.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sleuth_env import Player, holmes_v0, play_match, sleuth_v0, wrap_policy

OPPONENT = "random"


@dataclass(frozen=True)
class Task:
    """A game to learn: its environments, its options, and which actions an untrained network prefers."""

    environments: Any
    options: dict[str, Any]
    preferences: dict[str, float]  # block of actions -> what is added to the logits

    @property
    def game(self) -> Any:
        """The game module."""
        return self.environments.GAME

    def bias(self) -> NDArray[np.float32]:
        """Return the initial biases of a network's logits (f4 [A])."""
        options = self.game.Options(**self.options)
        bias = np.zeros(self.game.num_actions(options), np.float32)
        for block, preference in self.preferences.items():
            bias[self.game.action_blocks(options)[block]] = preference
        return bias

    def judged(self, choose: Callable[..., Any], deals: int) -> str:
        """Return how many games a function wins against two `random` bots, and how many a third one wins.

        Nobody may win, so that is not a third of all.

        Args:
            choose: from observations (f4 [B, N]) and masks (u1 [B, A]) to actions [B].
            deals: number of deals, each of which is played from every seat.
        """
        learned = self.win_share(wrap_policy(choose, game=self.game), deals)
        # Three equal players are one in the result, which wins what any of them does.
        chance = self.win_share(OPPONENT, deals) / 3
        return f"win share {learned:.3f}, that of {OPPONENT} {chance:.3f}"

    def win_share(self, player: Player, deals: int) -> float:
        """Return the share of games that a player wins against two `random` bots."""
        players = [player, OPPONENT, OPPONENT]
        return play_match(self.game, self.game.Options(**self.options), players, deals).entries[0].win_share


TASKS = {
    # Who accuses as often as they ask is out before they have seen anything.
    "sleuth": Task(sleuth_v0, {"num_players": 3}, {"accuse": -4.0, "final": -3.0}),
    # Whoever may escape wins the case by it, and it may be the only time that they can.
    "holmes": Task(holmes_v0, {"num_players": 3, "cases": 1}, {"escape": 3.0}),
}


def arguments(description: str | None, argv: Sequence[str] | None = None) -> argparse.Namespace:
    """Return the arguments of an example: `game`, `steps`, `seed` and `deals`."""
    parser = argparse.ArgumentParser(description=description, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--game", choices=TASKS, default="sleuth")
    parser.add_argument("--steps", type=int, default=20_000, help="number of decisions (default: %(default)s)")
    parser.add_argument("--seed", type=int, default=1, help="settles deals, weights and choices (default: %(default)s)")
    parser.add_argument("--deals", type=int, default=200, help="number of deals at the end (default: %(default)s)")
    return parser.parse_args(argv)
