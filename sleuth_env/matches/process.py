"""A program that is talked to in lines over its stdin and stdout, and is never waited for in vain.

Three threads move the bytes, so that nothing that the program does, or does not do, holds up whoever
talks to it: it may stop reading, write without an end, or be silent. When it is stopped, its whole
process group ends with it where the system has such groups.
"""

from __future__ import annotations

import os
import queue
import signal
import subprocess
import threading
import time
import weakref
from collections import deque
from collections.abc import Sequence
from contextlib import suppress
from typing import IO, Any

HAS_GROUPS = hasattr(os, "killpg")
# Bytes of a line, lines that wait to be read, bytes of stderr that are kept.
LONGEST_LINE = 1 << 20
MOST_WAITING = 1000
KEPT_OF_STDERR = 4000
CHUNK = 1 << 16
# Seconds that a program has to end by itself, and that its threads have afterwards.
GRACE = 1.0
TICK = 0.02

# The programs that run: whoever ends without Python's own end has to end them.
_running: weakref.WeakSet[LineProcess] = weakref.WeakSet()


class ProcessError(Exception):
    """The program has ended, or breaks off the talk; the message says how."""


class LineProcess:
    """A running program.

    It ends at the latest when this object does.

    Args:
        command: the program and its arguments; on Windows the command line.

    Raises:
        ProcessError: it cannot be started.
    """

    def __init__(self, command: Sequence[str] | str) -> None:
        pipe = subprocess.PIPE
        try:
            # In a session of its own, Ctrl-C in the terminal does not reach it, and all that it starts can be ended.
            self._process = subprocess.Popen(
                command, stdin=pipe, stdout=pipe, stderr=pipe, bufsize=0, start_new_session=HAS_GROUPS
            )
        except (OSError, ValueError) as error:
            raise ProcessError(f"it cannot be started: {getattr(error, 'strerror', None) or error}") from error
        self._owner = os.getpid()
        self._finalizer = weakref.finalize(self, _kill, self._process, self._owner)
        _running.add(self)
        self._outgoing: queue.SimpleQueue[bytes | None] = queue.SimpleQueue()
        self._incoming: queue.Queue[str | ProcessError | None] = queue.Queue(MOST_WAITING)
        self._stopped = threading.Event()
        self._errors: deque[int] = deque(maxlen=KEPT_OF_STDERR)
        # They must not know this object, or it would never end.
        self._threads = [
            threading.Thread(target=target, args=args, daemon=True)
            for target, args in (
                (_write, (self._process.stdin, self._outgoing)),
                (_read, (self._process.stdout, self._incoming, self._stopped)),
                (_keep, (self._process.stderr, self._errors)),
            )
        ]
        for thread in self._threads:
            thread.start()

    def send(self, line: str) -> None:
        """Send a line, without waiting until it is read."""
        self._outgoing.put(f"{line}\n".encode())

    def receive(self, seconds: float) -> str | None:
        """Return the next line, without its end; None where none has come within a time.

        Raises:
            ProcessError: there will be none.
        """
        try:
            found = self._incoming.get(timeout=max(seconds, 0))
        except queue.Empty:
            return None
        if isinstance(found, ProcessError):
            raise found
        if found is None:
            raise ProcessError(self._how_it_ended())
        return found

    @property
    def is_ours(self) -> bool:
        """Whether this process has started it, and not one that this was forked from."""
        return self._owner == os.getpid()

    @property
    def is_stopped(self) -> bool:
        """Whether it has been stopped."""
        return not self._finalizer.alive

    @property
    def errors(self) -> str:
        """The end of what the program has written to stderr; all of it, where the program has ended."""
        if _has_ended(self._process):
            self._threads[-1].join(GRACE)
        return bytes(self._errors).decode(errors="replace")

    def stop(self, grace: float = GRACE) -> bool:
        """End the program, and whatever it has started; return whether it had ended by itself.

        Its input ends first, and it has some seconds to end by itself.
        """
        if self.is_stopped:
            return True
        self._outgoing.put(None)
        deadline = time.monotonic() + grace
        while not (ended := _has_ended(self._process)) and time.monotonic() < deadline:
            time.sleep(TICK)
        self.end()
        for thread in self._threads:
            thread.join(GRACE)
        for thread, pipe in zip(self._threads, _pipes(self._process), strict=True):
            # What has left the group may still hold the other end; then the pipe stays as it is.
            if not thread.is_alive():
                with suppress(OSError):
                    pipe.close()
        return ended

    def end(self) -> None:
        """End the program, and whatever it has started, at once; its threads end by themselves."""
        self._stopped.set()
        self._finalizer()

    def _how_it_ended(self) -> str:
        """Return how the program has ended, without forgetting its number, by which its group is known."""
        deadline = time.monotonic() + GRACE
        while not _has_ended(self._process) and time.monotonic() < deadline:
            time.sleep(TICK)
        code = _exit_code(self._process)
        if code is None:
            return "it has closed its stdout"
        if code < 0:
            return f"it was ended by signal {-code}"
        return f"it has ended with exit code {code}"


def stop_all() -> None:
    """End all programs, and whatever they have started, at once."""
    for process in list(_running):
        process.end()


def _pipes(process: subprocess.Popen[bytes]) -> list[IO[bytes]]:
    return [pipe for pipe in (process.stdin, process.stdout, process.stderr) if pipe is not None]


def _write(pipe: IO[bytes], lines: queue.SimpleQueue[bytes | None]) -> None:
    """Write lines into a pipe, until None says that there are no more."""
    with suppress(OSError, ValueError):
        while (line := lines.get()) is not None:
            rest = memoryview(line)
            while rest:
                rest = rest[os.write(pipe.fileno(), rest) :]
    with suppress(OSError):
        pipe.close()


def _read(pipe: IO[bytes], lines: queue.Queue[Any], stopped: threading.Event) -> None:
    """Read the lines of a pipe; None, or an error, is behind the last one."""
    rest = b""
    last: ProcessError | None = None
    with suppress(OSError, ValueError):
        while chunk := os.read(pipe.fileno(), CHUNK):
            *whole, rest = (rest + chunk).split(b"\n")
            for line in whole:
                if not _put(lines, line.decode(errors="replace").rstrip("\r"), stopped):
                    return
            if len(rest) > LONGEST_LINE:
                last = ProcessError(f"it has written a line of more than {LONGEST_LINE} bytes")
                break
    if rest and last is None:
        # The last line need not have an end.
        _put(lines, rest.decode(errors="replace"), stopped)
    _put(lines, last, stopped)


def _put(lines: queue.Queue[Any], line: str | ProcessError | None, stopped: threading.Event) -> bool:
    """Put a line where it is read; return False if nobody reads any more."""
    while not stopped.is_set():
        with suppress(queue.Full):
            lines.put(line, timeout=GRACE)
            return True
    return False


def _keep(pipe: IO[bytes], kept: deque[int]) -> None:
    """Read a pipe to its end and keep the last bytes, so that nobody has to wait because it is full."""
    with suppress(OSError, ValueError):
        while chunk := os.read(pipe.fileno(), CHUNK):
            kept.extend(chunk[-KEPT_OF_STDERR:])


# --- the end ---


def _has_ended(process: subprocess.Popen[bytes]) -> bool:
    return _exit_code(process) is not None


def _exit_code(process: subprocess.Popen[bytes]) -> int | None:
    """Return the exit code, negative for a signal, None while it runs.

    Where it can be, the process is left for `_kill` to collect: as long as it is not, no other
    process gets its number, which is also that of its group.
    """
    if process.returncode is not None or not hasattr(os, "waitid"):
        return process.poll()
    try:
        about = os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT)
    except ChildProcessError:
        return process.poll()
    if about is None:
        return None
    return about.si_status if about.si_code == os.CLD_EXITED else -about.si_status


def _kill(process: subprocess.Popen[bytes], owner: int) -> None:
    """End a process and its group, and collect it."""
    # A copy of the owner, made by fork, must not end what is not its own.
    if os.getpid() != owner:
        return
    with suppress(OSError):
        if HAS_GROUPS:
            os.killpg(process.pid, signal.SIGKILL)
        else:
            process.kill()
    with suppress(subprocess.TimeoutExpired):
        process.wait(GRACE)
