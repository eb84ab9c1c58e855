"""Decisions: what others choose, how an action is drawn among the legal ones, and batches of what was decided.

Axis letters: ``D`` decisions, ``A`` actions.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from sleuth_env.actions import any_refusal
from sleuth_env.matches.seating import Player, checked_actions

from .config import Config
from .sparse import SparseRows

Ints = NDArray[np.int64]

# --- what others choose ---


def legal_choice(config: Config, player: Player, called: str, chosen: Any, legal: NDArray[np.uint8]) -> Ints:
    """Return what a player has chosen in some games, i8 [D].

    Args:
        config: the run's.
        player: who has chosen.
        called: what messages call it.
        chosen: what it has returned.
        legal: u1 [D, A].

    Raises:
        IllegalAction: an action is illegal.
        MatchError: it is something else than one integer for each game.
    """
    actions = checked_actions(player, chosen, len(legal))
    inside = (actions >= 0) & (actions < legal.shape[1])
    is_legal = inside & (legal[np.arange(len(legal)), np.where(inside, actions, 0)] > 0)
    for row in np.flatnonzero(~is_legal)[:1]:
        raise any_refusal(config.module, config.options, int(actions[row]), legal[row], called)
    return actions


# --- the distribution over the legal actions ---

NEVER = 1e30  # exp(-NEVER) is zero, also times NEVER


def masked_log_probs(logits: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
    """Return the log-probability of every action, f4 [D, A].

    Args:
        logits: f4 [D, A].
        mask: f4 [D, A], 1 where an action is legal, else 0; there the result is about -NEVER.
    """
    # Adding is ten times faster than filling by a condition.
    return torch.log_softmax(logits + (mask - 1) * NEVER, dim=-1)


def log_probs_of(actions: torch.Tensor, log_probs: torch.Tensor) -> torch.Tensor:
    """Return the log-probability (f4 [D]) of one action a row (i8 [D]) from all (f4 [D, A])."""
    return log_probs.gather(1, actions[:, None])[:, 0]


def entropies(log_probs: torch.Tensor) -> torch.Tensor:
    """Return the entropy of each row (f4 [D]) in nats."""
    # softmax gives the probabilities several times faster than exp where most of them are zero.
    return -(torch.softmax(log_probs, dim=-1) * log_probs).sum(dim=-1)


def sampled(log_probs: torch.Tensor, mask: torch.Tensor, uniform: torch.Tensor) -> torch.Tensor:
    """Draw an action a row (i8 [D]) by inverting the distribution function.

    Args:
        log_probs: f4 [D, A].
        mask: f4 [D, A], 1 where an action is legal, else 0.
        uniform: f4 [D, 1], in [0, 1).
    """
    cumulative = torch.softmax(log_probs, dim=-1).cumsum(dim=-1)
    # The first action above; should rounding leave none that is legal, the first legal one.
    return (mask * (1 + (cumulative > uniform * cumulative[:, -1:]).float())).argmax(dim=-1)


def first_offered(config: Config) -> int:
    """Return the first of the actions that answer an offer, out of turn; A where there are none."""
    blocks = config.module.action_blocks(config.options)
    starts = [blocks[name].start for name in config.module.OFFERED]
    return min(starts, default=config.module.num_actions(config.options))


def by_width(legal: NDArray[np.uint8], offered: int, rows: Ints) -> list[tuple[Ints, int]]:
    """Split decisions into those that need all logits and those that need the last ones only.

    Most decisions may be answers to an offer, and these few actions.

    Args:
        legal: u1 [D, A].
        offered: see `first_offered`.
        rows: which decisions.

    Returns:
        For each of the two that is not empty, its rows and the first action that they need.
    """
    wide = legal[rows, :offered].any(axis=1)
    return [(some, first) for some, first in ((rows[wide], 0), (rows[~wide], offered)) if len(some)]


# --- what was decided ---


@dataclass(frozen=True)
class Decisions:
    """A batch of decisions.

    Args:
        observations: what was seen, D rows.
        legal: the legal actions, u1 [D, A].
        actions: those taken, i8 [D].
        log_probs: with which they were drawn, f4 [D].
        values: the network's, f4 [D].
    """

    observations: SparseRows
    legal: NDArray[np.uint8]
    actions: Ints
    log_probs: NDArray[np.float32]
    values: NDArray[np.float32]

    def __len__(self) -> int:
        """Return the number of decisions, D."""
        return len(self.actions)

    def check(self, width: int, num_actions: int) -> None:
        """Check that the arrays fit one another, with observations of ``width`` numbers.

        Raises:
            ValueError: they do not.
        """
        self.observations.check(width)
        number = len(self.observations)
        if (
            self.legal.shape != (number, num_actions)
            or self.legal.dtype != np.uint8
            or self.actions.shape != (number,)
            or self.actions.dtype != np.int64
        ):
            raise ValueError("its decisions do not fit one another")
        if (
            not ((self.actions >= 0) & (self.actions < num_actions)).all()
            or not self.legal[np.arange(number), self.actions].all()
        ):
            raise ValueError("its decisions are not legal")
        for array in (self.log_probs, self.values):
            if array.shape != (number,) or array.dtype != np.float32 or not np.isfinite(array).all():
                raise ValueError("its decisions have no finite numbers")

    def take(self, rows: Ints) -> Decisions:
        """Return some of them, in this order."""
        return Decisions(
            self.observations.take(rows), self.legal[rows], self.actions[rows], self.log_probs[rows], self.values[rows]
        )

    @classmethod
    def joined(cls, parts: Sequence[Decisions]) -> Decisions:
        """Put batches behind one another."""
        arrays = (
            np.concatenate([getattr(part, name) for part in parts])
            for name in ("legal", "actions", "log_probs", "values")
        )
        return cls(SparseRows.joined([part.observations for part in parts]), *arrays)

    @classmethod
    def none(cls, num_actions: int) -> Decisions:
        """Return an empty batch."""
        floats = np.zeros(0, np.float32)
        observations = SparseRows(np.zeros(1, np.int32), np.zeros(0, np.int32), floats)
        legal = np.zeros((0, num_actions), np.uint8)
        return cls(observations, legal, np.zeros(0, np.int64), floats, floats)
