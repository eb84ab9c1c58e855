"""Threads that share a batch: each takes a part of its rows."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

T = TypeVar("T")


class Threads:
    """Do parts of some work at the same time; kernels and torch let go of the GIL.

    Each thread's products are its own: where torch splits every single one among threads, they wait
    for one another each time. A process that was forked, or that read a pickle, gets threads of its
    own.
    """

    def __init__(self, number: int) -> None:
        self.number = number
        self._closed = False
        self._pool: ThreadPoolExecutor | None = None
        self._process = 0

    def split(self, rows: NDArray[np.int64]) -> list[NDArray[np.int64]]:
        """Split rows into a part for each thread; none is empty."""
        return [part for part in np.array_split(rows, self.number) if len(part)]

    def each(self, work: Callable[..., T], *parts: Iterable[Any]) -> list[T]:
        """Do work on every part, as ``map`` does.

        Raises:
            RuntimeError: after `close`.
        """
        if self._closed:
            raise RuntimeError("these threads have been closed")
        return list(map(work, *parts) if self.number == 1 else self._threads().map(work, *parts))

    def _threads(self) -> ThreadPoolExecutor:
        # Threads do not live on in a forked process: work given to them would never be done.
        if self._pool is None or self._process != os.getpid():
            self._pool = ThreadPoolExecutor(self.number)
            self._process = os.getpid()
        return self._pool

    def close(self) -> None:
        """Let the threads go; nothing can be done afterwards."""
        self._closed = True
        if self._pool is not None and self._process == os.getpid():
            self._pool.shutdown()

    def __reduce__(self) -> tuple[type[Threads], tuple[int]]:
        """Copy the number only."""
        return Threads, (self.number,)
