"""Batches of decisions, as `training.ppo` collects them and learns from them.

Axis letters: ``D`` decisions, ``A`` actions.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray

from .sparse import SparseRows


@dataclass(frozen=True)
class Decisions:
    """A batch of decisions: what was seen (D rows), what was legal (u1 [D, A]), the action (i8),
    its log-probability (f4), the value (f4).
    """

    seen: SparseRows
    legal: NDArray[np.uint8]
    actions: NDArray[np.int64]
    log_probs: NDArray[np.float32]
    values: NDArray[np.float32]

    def __len__(self) -> int:
        """Count them."""
        return len(self.actions)

    def check(self, width: int, num_actions: int) -> None:
        """Raise ValueError unless the arrays fit one another, with observations of so many numbers
        and so many actions.
        """
        self.seen.check(width)
        number = len(self.seen)
        floats = (self.log_probs, self.values)
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
        if any(
            array.shape != (number,) or array.dtype != np.float32 or not np.isfinite(array).all() for array in floats
        ):
            raise ValueError("its decisions have no finite numbers")

    def take(self, rows: NDArray[np.int64]) -> Decisions:
        """Give some of them, in this order."""
        return Decisions(
            self.seen.take(rows), self.legal[rows], self.actions[rows], self.log_probs[rows], self.values[rows]
        )

    @classmethod
    def joined(cls, parts: Sequence[Decisions]) -> Decisions:
        """Put batches behind one another."""
        arrays = (
            np.concatenate([getattr(part, name) for part in parts])
            for name in ("legal", "actions", "log_probs", "values")
        )
        return cls(SparseRows.joined([part.seen for part in parts]), *arrays)

    @classmethod
    def none(cls, num_actions: int) -> Decisions:
        """Give an empty batch."""
        floats = np.zeros(0, np.float32)
        ints = np.zeros(0, np.int64)
        return cls(
            SparseRows(np.zeros(1, np.int32), np.zeros(0, np.int32), floats),
            np.zeros((0, num_actions), np.uint8),
            ints,
            floats,
            floats,
        )


NEVER = 1e30  # exp(-NEVER) is zero, also times NEVER


def masked_log_probs(logits: torch.Tensor, legal: torch.Tensor) -> torch.Tensor:
    """Give the log-probability of every action (f4 [D, A]), about -NEVER where it is not legal (f4
    [D, A], 1 where it is, else 0).
    """
    # Adding is ten times faster than filling by a condition.
    return torch.log_softmax(logits + (legal - 1) * NEVER, dim=-1)


def entropies(log_probs: torch.Tensor) -> torch.Tensor:
    """Give the entropy of each row in nats, f4 [D]."""
    # softmax gives the probabilities several times faster than exp where most of them are zero.
    return -(torch.softmax(log_probs, dim=-1) * log_probs).sum(dim=-1)


def sampled(log_probs: torch.Tensor, legal: torch.Tensor, uniform: torch.Tensor) -> torch.Tensor:
    """Draw an action a row (i8 [D]) by inverting the distribution function at ``uniform`` (f4 [D,
    1], in [0, 1)).
    """
    heights = torch.softmax(log_probs, dim=-1).cumsum(dim=-1)
    # The first action above; should rounding leave none that is legal, the first legal one.
    return (legal * (1 + (heights > uniform * heights[:, -1:]).float())).argmax(dim=-1)


def by_width(legal: NDArray[np.uint8], late: int, rows: NDArray[np.int64]) -> list[tuple[NDArray[np.int64], int]]:
    """Split some rows of legal actions (u1 [D, A]) into those that need all logits and those that
    need only the ones from ``late`` on.

    Gives, for each of the two that is not empty, its rows and its first action. Most decisions of
    Sleuth are offers to accuse: a twentieth of the actions.
    """
    wide = legal[rows, :late].any(axis=1)
    return [(some, first) for some, first in ((rows[wide], 0), (rows[~wide], late)) if len(some)]
