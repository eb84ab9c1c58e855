"""Work in shards by a Ray cluster, see `shards`.

Every task is one of Ray's. Ray does those of lost nodes again by itself.
"""

from __future__ import annotations

import logging
import pickle
import re
import socket
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from ..checks import one_line
from .seating import MatchError
from .tasks import GLANCE, ONE_THREAD, Done, Pool, Stopped, StoppedError, answer, packed

LOCAL = "local"
# Seconds to wait for a cluster: Ray itself tries for a quarter of an hour.
PATIENCE = 10


class _Cluster:
    """Do tasks on a cluster, see `Pool`."""

    def __init__(self, ray: Any) -> None:
        self.ray = ray
        # Ray's own count of how often a task is tried again is of lost workers and nodes only.
        self.remote = ray.remote(num_cpus=1, max_retries=-1)(answer)

    def map(
        self,
        function: Callable[[Any], Any],
        tasks: Sequence[Any],
        done: Done | None = None,
        stopped: Stopped | None = None,
    ) -> list[Any]:
        """Apply a function to each task, see `Pool`."""
        # Put once: every node fetches it once.
        content = self.ray.put(packed(function))
        indices = {self.remote.remote(content, packed(task)): index for index, task in enumerate(tasks)}
        results: dict[int, Any] = {}
        try:
            while len(results) < len(tasks):
                if stopped is not None and stopped():
                    raise StoppedError
                running = [reference for reference, index in indices.items() if index not in results]
                for reference in self.ray.wait(running, timeout=GLANCE)[0]:
                    is_result, value = pickle.loads(self.ray.get(reference))
                    if not is_result:
                        raise value
                    results[indices[reference]] = value
                    if done is not None:
                        done(indices[reference], value)
        except BaseException:
            for reference in indices:
                self.ray.cancel(reference, force=True)
            raise
        return [results[index] for index in range(len(tasks))]


@contextmanager
def open_cluster(address: str) -> Iterator[Pool]:
    """Connect to a cluster, see `open_pool`; one that this process is connected to is used as it is.

    Raises:
        MatchError: there is no such cluster.
    """
    import ray

    if ray.is_initialized():
        yield _Cluster(ray)
        return
    _check_reachable(address)
    try:
        ray.init(
            address,
            runtime_env={"env_vars": ONE_THREAD},
            include_dashboard=False if address == LOCAL else None,
            log_to_driver=False,
            logging_level=logging.ERROR,
        )
    except (ConnectionError, ValueError, RuntimeError) as error:
        raise MatchError(f"there is no Ray cluster at {address!r}: {one_line(str(error))}") from error
    try:
        yield _Cluster(ray)
    finally:
        ray.shutdown()


def _check_reachable(address: str) -> None:
    """Check that somebody listens at an address HOST:PORT.

    Raises:
        MatchError: nobody does.
    """
    parts = re.fullmatch(r"(?:ray://)?(.+):([0-9]{1,5})", address)
    if parts is None:
        return
    try:
        socket.create_connection((parts[1], int(parts[2])), PATIENCE).close()
    # There is no such port, or no such name.
    except (OSError, OverflowError, UnicodeError) as error:
        raise MatchError(f"there is no Ray cluster at {address!r}: {error}") from error
