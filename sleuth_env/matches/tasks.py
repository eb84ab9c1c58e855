"""Tasks: what is asked of whoever does them, and how they travel to other processes."""

from __future__ import annotations

import pickle
import traceback
from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import Any, Protocol

import cloudpickle

from ..checks import shown
from .seating import MatchError

# Seconds between two looks whether to stop.
GLANCE = 0.1
# A worker computes with one thread: there is a worker for each core.
ONE_THREAD = dict.fromkeys(
    ("NUMBA_NUM_THREADS", "OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "VECLIB_MAXIMUM_THREADS"), "1"
)

Done = Callable[[int, Any], object]
Stopped = Callable[[], bool]


class WorkerError(MatchError):
    """Workers end by themselves, whatever they are given; the message says how."""


class StartError(OSError):
    """Workers cannot be started, whatever they are to do; its `strerror` says that, and why."""


class StoppedError(Exception):
    """Work was stopped before its end, as asked."""


class Pool(Protocol):
    """Whoever does tasks."""

    def map(
        self,
        function: Callable[[Any], Any],
        tasks: Sequence[Any],
        done: Done | None = None,
        stopped: Stopped | None = None,
    ) -> list[Any]:
        """Apply a function to each task.

        Args:
            function: of a task; it is sent to each worker once, also what a `functools.partial`
                holds, and must not keep anything.
            tasks: what it is given, each sent to one worker.
            done: is called in this process with the index of a task and its result, as each
                finishes.
            stopped: is asked now and then; once it returns True, nothing more is done.

        Returns:
            The results, in the order of the tasks.

        Raises:
            StoppedError: `stopped` has returned True.
            WorkerError: workers end by themselves again and again.
            StartError: workers cannot be started.
            Exception: whatever a task has raised.
        """
        ...


def packed(content: Any, called: str = "") -> bytes:
    """Return something as bytes; what the running script has made, too.

    Args:
        content: of any kind.
        called: what messages call it.

    Raises:
        MatchError: it cannot be sent to another process.
    """
    try:
        found: bytes = cloudpickle.dumps(content)
    # Whatever the classes of users raise.
    except Exception as error:
        raise MatchError(
            f"{called or shown(content)} cannot be sent to another process, use one worker: "
            f"{type(error).__name__}: {error}"
        ) from error
    return found


def answer(function: bytes, task: bytes) -> bytes:
    """Return whether there is a result of a function and a task, and which; else the error: all of them pickled."""
    try:
        content: bytes = cloudpickle.dumps((True, _function(function)(pickle.loads(task))))
    # Whatever it is, the process that asks is to raise it.
    except BaseException as error:
        return _packed_error(error)
    return content


@lru_cache(maxsize=1)
def _function(content: bytes) -> Any:
    return pickle.loads(content)


def _packed_error(error: BaseException) -> bytes:
    """Return an error as bytes, with where it was raised as a note; as a plain one where it cannot be pickled."""
    error.add_note(f"In a worker process:\n{''.join(traceback.format_exception(error))}")
    try:
        content: bytes = cloudpickle.dumps((False, error))
        pickle.loads(content)
    # Whatever the classes of users raise.
    except Exception:
        content = pickle.dumps((False, RuntimeError(f"{type(error).__name__}: {error}")))
    return content
