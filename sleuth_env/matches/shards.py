"""Work in shards: tasks that are done one after the other, by several processes, or by a cluster.

What work is split into depends on the work alone, never on who does it, and a task is a function of
what it is given. So results are the same however many workers there are, and when one of them is
killed its task is simply done again.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from importlib.util import find_spec
from typing import Any

from ..checks import check_number, shown
from .seating import MatchError
from .tasks import Done, Stopped, StoppedError
from .tasks import Pool as Pool

MOST_WORKERS = 1024


def open_pool(workers: int = 1, ray: str | None = None) -> AbstractContextManager[Pool]:
    """Return whoever does tasks while the context lasts.

    Args:
        workers: number of processes; 1 is this process itself.
        ray: the address of a Ray cluster, or ``local`` for one that is started on this machine;
            `workers` then means nothing.

    Raises:
        MatchError: this is not a number of workers, or there is no such cluster, or no Ray.

    >>> from sleuth_env import open_pool
    >>> with open_pool() as pool:
    ...     pool.map(abs, [-1, 2, -3])
    [1, 2, 3]
    """
    check_workers(workers)
    if ray is not None and not isinstance(ray, str):
        raise MatchError(f"ray must be the address of a cluster, or 'local', or None, got {shown(ray)}")
    # Late: they import what most do without.
    if ray is not None:
        check_ray()
        from .cluster import open_cluster

        return open_cluster(ray)
    if workers == 1:
        return _this_process()
    from .processes import open_processes

    return open_processes(int(workers))


def check_ray() -> None:
    """Check that a Ray cluster can be used at all.

    Raises:
        MatchError: Ray is not installed.
    """
    if find_spec("ray") is None:
        raise MatchError('a Ray cluster needs ray, which is not installed: pip install "sleuth-env[ray]"')


def check_workers(workers: Any) -> None:
    """Check a number of workers.

    Raises:
        MatchError: it is none.
    """
    check_number("workers", workers, 1, MOST_WORKERS, MatchError)


class _ThisProcess:
    """Do tasks here, one after the other."""

    def map(
        self,
        function: Callable[[Any], Any],
        tasks: Sequence[Any],
        done: Done | None = None,
        stopped: Stopped | None = None,
    ) -> list[Any]:
        """Apply a function to each task, see `Pool`."""
        results = []
        for index, task in enumerate(tasks):
            if stopped is not None and stopped():
                raise StoppedError
            results.append(function(task))
            if done is not None:
                done(index, results[-1])
        return results


@contextmanager
def _this_process() -> Iterator[Pool]:
    yield _ThisProcess()
