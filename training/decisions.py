"""Batches of decisions, as `training.ppo` collects them and learns from them.

Axis letters: ``D`` decisions, ``A`` actions.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from .sparse import SparseRows


@dataclass(frozen=True)
class Decisions:
    """A batch of decisions: what was seen (D rows), what was legal (u1 [D, A]), the action (i8), its log-probability (f4), the value (f4)."""

    seen: SparseRows
    legal: NDArray[np.uint8]
    actions: NDArray[np.int64]
    log_probs: NDArray[np.float32]
    values: NDArray[np.float32]

    def __len__(self) -> int:
        """Count them."""
        return len(self.actions)

    def check(self, width: int, num_actions: int) -> None:
        """Raise ValueError unless the arrays fit one another, with observations of so many numbers and so many actions."""
        self.seen.check(width)
        number, floats = len(self.seen), (self.log_probs, self.values)
        if self.legal.shape != (number, num_actions) or self.legal.dtype != np.uint8 or self.actions.shape != (number,) or self.actions.dtype != np.int64:
            raise ValueError("its decisions do not fit one another")
        if not ((self.actions >= 0) & (self.actions < num_actions)).all() or not self.legal[np.arange(number), self.actions].all():
            raise ValueError("its decisions are not legal")
        if any(array.shape != (number,) or array.dtype != np.float32 or not np.isfinite(array).all() for array in floats):
            raise ValueError("its decisions have no finite numbers")

    def take(self, rows: NDArray[np.int64]) -> Decisions:
        """Give some of them, in this order."""
        return Decisions(self.seen.take(rows), self.legal[rows], self.actions[rows], self.log_probs[rows], self.values[rows])

    @classmethod
    def joined(cls, parts: Sequence[Decisions]) -> Decisions:
        """Put batches behind one another."""
        arrays = (np.concatenate([getattr(part, name) for part in parts]) for name in ("legal", "actions", "log_probs", "values"))
        return cls(SparseRows.joined([part.seen for part in parts]), *arrays)

    @classmethod
    def none(cls, num_actions: int) -> Decisions:
        """Give an empty batch."""
        floats, ints = np.zeros(0, np.float32), np.zeros(0, np.int64)
        return cls(SparseRows(np.zeros(1, np.int32), np.zeros(0, np.int32), floats), np.zeros((0, num_actions), np.uint8), ints, floats, floats)
