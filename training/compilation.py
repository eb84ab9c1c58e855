"""Compile the kernels of training beforehand: ``python -m training.compilation``, which ``sleuth compile`` runs."""

from __future__ import annotations

import numpy as np

from sleuth_env.kernels import compiling

from .rollout import ENDED, advantages_of
from .sparse import SparseRows


def main() -> None:
    """Call every kernel of training with the types of arguments that it is called with."""
    # Whoever runs it says so.
    with compiling(announced=False):
        rows = SparseRows.of(np.ones((2, 4), np.float32))
        rows.take(np.arange(2))
        rows.transposed(4)
        rows.distinct_parts(np.arange(4, dtype=np.int32), 2, 2)
        numbers = np.zeros(2, np.float32)
        advantages_of(numbers, numbers, numbers, np.full(2, ENDED), 1.0, 0.95)


if __name__ == "__main__":
    main()
