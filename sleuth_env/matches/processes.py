"""Work in shards by several processes, see `shards`."""

from __future__ import annotations

import multiprocessing
import os
import pickle
import signal
import sys
import threading
import time
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from multiprocessing.connection import Connection, wait
from types import ModuleType
from typing import Any

from .process import stop_all
from .tasks import GLANCE, ONE_THREAD, Done, Pool, StartError, Stopped, StoppedError, WorkerError, answer, packed

# Times in a row that a worker may end by itself at one task, or before its first.
MOST_DEATHS = 3
# Seconds for workers to end by themselves, and where they are told to: they may be in the middle of a kernel.
PARTING = 5.0
GRACE = 1.0


# --- in a worker ---


def work(connection: Connection) -> None:
    """Answer tasks: a function, or None for the one before, and what it is given, both pickled.

    The first answer says that the worker is ready. The process ends with the one that has started it,
    and leaves Ctrl-C to that. Where it is told to end, so are the programs that it has started.
    """
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, _end)
    if hasattr(signal, "pthread_sigmask"):
        signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})
    threading.Thread(target=_end_with_parent, daemon=True).start()
    function = b""
    try:
        connection.send_bytes(pickle.dumps((True, None)))
        while True:
            given, task = connection.recv()
            function = given or function
            connection.send_bytes(answer(function, task))
    except (EOFError, OSError):
        # Nobody asks any more.
        return


def _end_with_parent() -> None:
    parent = multiprocessing.parent_process()
    assert parent is not None
    parent.join()
    _end()


def _end(*_: Any) -> None:
    """End this process at once, and the programs that it has started."""
    stop_all()
    os._exit(1)


# --- in the process that asks ---


class _Worker:
    """A process that does one task at a time.

    Raises:
        StartError: it cannot be started.
    """

    def __init__(self) -> None:
        context = multiprocessing.get_context("spawn")
        try:
            self.connection, there = context.Pipe()
            self.process = context.Process(target=work, args=(there,), daemon=True)
            with _apart():
                self.process.start()
        except OSError as error:
            raise StartError(error.errno, f"the workers cannot be started: {error.strerror or error}") from error
        there.close()
        self.is_ready = False
        self.index: int | None = None  # of the task that it does
        self.knows = -1  # the number of the function that it has been sent

    def receive(self) -> tuple[bool, Any] | None:
        """Return the answer that has come, whether it is a result, and which; None where the worker has ended."""
        try:
            answer: tuple[bool, Any] = pickle.loads(self.connection.recv_bytes())
        except (EOFError, OSError):
            return None
        return answer

    def send(self, content: Any) -> None:
        """Send something; that the worker has ended shows when it is to answer."""
        try:
            self.connection.send(content)
        except OSError:
            self.process.kill()

    def kill(self, grace: float = 0.0) -> None:
        """End the process, which has some seconds to end by itself."""
        self.connection.close()
        self.process.join(grace)
        self.process.kill()
        self.process.join()


@contextmanager
def _apart() -> Iterator[None]:
    """Let a process start that has one thread, is not meant by Ctrl-C, and does not run the script that runs here.

    That may lack the guard ``if __name__ == "__main__"``, or be no file at all.
    """
    before = {name: os.environ.get(name) for name in ONE_THREAD}
    script = sys.modules["__main__"]
    mask = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT}) if hasattr(signal, "pthread_sigmask") else None
    os.environ.update(ONE_THREAD)
    sys.modules["__main__"] = ModuleType("__main__")
    try:
        yield
    finally:
        sys.modules["__main__"] = script
        for name, value in before.items():
            if value is None:
                del os.environ[name]
            else:
                os.environ[name] = value
        if mask is not None:
            signal.pthread_sigmask(signal.SIG_SETMASK, mask)


@dataclass
class _Work:
    """What is left of the tasks of one `map`.

    Args:
        function: pickled.
        tasks: all of them.
        number: of the `map`.
    """

    function: bytes
    tasks: Sequence[Any]
    number: int
    results: dict[int, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.waiting = deque(range(len(self.tasks)))
        self.deaths = [0] * len(self.tasks)

    @property
    def left(self) -> int:
        """Number of tasks that are not done."""
        return len(self.tasks) - len(self.results)


class _Processes:
    """Do tasks in processes, see `Pool`."""

    def __init__(self, number: int) -> None:
        self.number = number
        self.workers: list[_Worker] = []
        self._maps = 0
        self._failed_starts = 0

    def map(
        self,
        function: Callable[[Any], Any],
        tasks: Sequence[Any],
        done: Done | None = None,
        stopped: Stopped | None = None,
    ) -> list[Any]:
        """Apply a function to each task, see `Pool`."""
        self._maps += 1
        work = _Work(packed(function), tasks, self._maps)
        try:
            while work.left:
                if stopped is not None and stopped():
                    raise StoppedError
                self._start(min(self.number, work.left))
                self._give(work)
                for worker, answer in self._answers(None if stopped is None else GLANCE):
                    index = self._take(work, worker, answer)
                    if index is not None and done is not None:
                        done(index, work.results[index])
        except BaseException:
            self._end([worker for worker in self.workers if worker.index is not None])
            raise
        return [work.results[index] for index in range(len(tasks))]

    def _give(self, work: _Work) -> None:
        """Hand tasks to the workers that have none."""
        for worker in self.workers:
            if worker.is_ready and worker.index is None and work.waiting:
                worker.index = work.waiting.popleft()
                known = worker.knows == work.number
                worker.knows = work.number
                worker.send((None if known else work.function, packed(work.tasks[worker.index])))

    def _take(self, work: _Work, worker: _Worker, answer: tuple[bool, Any] | None) -> int | None:
        """Take an answer; return the index of the task that is done by it."""
        index = worker.index
        if answer is None:
            self.workers.remove(worker)
            if index is not None:
                work.waiting.appendleft(index)
            self._check_death(worker, work.deaths)
            return None
        worker.index = None
        if not worker.is_ready:
            worker.is_ready = True
            self._failed_starts = 0
            return None
        assert index is not None
        is_result, value = answer
        if not is_result:
            raise value
        work.results[index] = value
        return index

    def _start(self, number: int) -> None:
        while len(self.workers) < number:
            self.workers.append(_Worker())

    def _answers(self, patience: float | None) -> list[tuple[_Worker, tuple[bool, Any] | None]]:
        """Wait for answers, at most for some seconds."""
        ready = wait([worker.connection for worker in self.workers], patience)
        return [(worker, worker.receive()) for worker in self.workers if worker.connection in ready]

    def _check_death(self, worker: _Worker, deaths: list[int]) -> None:
        """Bury a worker that has ended by itself.

        Raises:
            WorkerError: it was the last of too many.
        """
        worker.kill()
        if worker.index is None:
            self._failed_starts += 1
            number = self._failed_starts
        else:
            deaths[worker.index] += 1
            number = deaths[worker.index]
        if number >= MOST_DEATHS:
            code = worker.process.exitcode or 0
            how = f"killed by {signal.Signals(-code).name}" if code < 0 else f"exit code {code}"
            what = "before it began" if worker.index is None else "at the same task"
            raise WorkerError(
                f"a worker process has ended {MOST_DEATHS} times {what} ({how}): perhaps memory is short; "
                "use fewer workers"
            )

    def _end(self, workers: Sequence[_Worker]) -> None:
        for worker in workers:
            worker.process.terminate()
        deadline = time.monotonic() + GRACE
        for worker in workers:
            worker.kill(max(deadline - time.monotonic(), 0.0))
        self.workers = [worker for worker in self.workers if worker not in workers]

    def close(self) -> None:
        """Let the workers end by themselves, and end those that do not, or have not even begun."""
        try:
            self._end([worker for worker in self.workers if not worker.is_ready])
            for worker in self.workers:
                worker.connection.close()
            for worker in self.workers:
                worker.process.join(PARTING)
        finally:
            self._end(self.workers)


@contextmanager
def open_processes(number: int) -> Iterator[Pool]:
    """Return workers, see `open_pool`; each starts when it is needed."""
    pool = _Processes(number)
    try:
        yield pool
    except BaseException:
        pool._end(pool.workers)
        raise
    pool.close()
