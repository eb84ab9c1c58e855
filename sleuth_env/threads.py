"""Threads that share a batch: each takes a part of its rows."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

T = TypeVar("T")


class Threads:
    """Do parts of some work at the same time; kernels and torch let go of the GIL.

    Each thread's products are its own: where torch splits every single one among threads, they wait
    for one another each time.
    """

    def __init__(self, number: int) -> None:
        self.number = number
        self._pool = ThreadPoolExecutor(number) if number > 1 else None

    def split(self, rows: NDArray[np.int64]) -> list[NDArray[np.int64]]:
        """Split rows into a part for each thread; none is empty."""
        return [part for part in np.array_split(rows, self.number) if len(part)]

    def each(self, work: Callable[..., T], *parts: Iterable[Any]) -> list[T]:
        """Do work on every part, as ``map`` does."""
        return list(map(work, *parts) if self._pool is None else self._pool.map(work, *parts))

    def close(self) -> None:
        """Let the threads go; nothing can be done afterwards."""
        if self._pool is not None:
            self._pool.shutdown()
