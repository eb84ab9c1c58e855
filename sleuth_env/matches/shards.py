"""Work in shards (a stand-in)."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any


class Pool:
    """Do tasks here, one after the other."""

    def map(
        self, function: Callable[[Any], Any], tasks: Sequence[Any], done: Callable[[int, Any], object] | None = None
    ) -> list[Any]:
        """Apply a function to each task."""
        results = []
        for index, task in enumerate(tasks):
            results.append(function(task))
            if done is not None:
                done(index, results[-1])
        return results


@contextmanager
def open_pool(workers: int = 1, ray: str | None = None) -> Iterator[Pool]:
    """Return whoever does tasks while the context lasts."""
    yield Pool()
