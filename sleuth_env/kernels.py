"""Compile a kernel at its first use, keep it for later starts, and say so where it takes long."""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import Any

from numba import njit
from numba.core import event

from .kernel_cache import KernelCache

NOTICE = "compiling kernels, which takes some minutes the first time; `sleuth compile` does it beforehand"
# Seconds of compiling before it is announced: less looks like no hang.
PATIENCE = 1.0
# Seconds without any compiling after which the next long one is announced again.
QUIET = 5.0


def kernel(function: Any) -> Any:
    """Compile a function at its first use: serial and without the GIL.

    A caller that wants threads splits the batch.
    """
    compiled: Any = njit(nogil=True)(function)
    # Without compilation (NUMBA_DISABLE_JIT) it is the function itself.
    if compiled is not function:
        compiled._cache = KernelCache(compiled, _warn)
    return compiled


# For functions that only kernels call: without an entry from Python they take half the time to
# compile, and calling one from Python crashes.
no_entry: Any = {"no_cpython_wrapper": True, "no_cfunc_wrapper": True}
inner = njit(**no_entry)


def _say(message: str) -> None:
    """Write a line on stderr, if there is one."""
    with suppress(AttributeError, OSError, ValueError):
        sys.stderr.write(f"sleuth-env: {message}\n")
        sys.stderr.flush()


# What was wrong with the files of kernels, and whether the kernel was lost for later starts.
_troubles: list[tuple[str, bool]] = []


def _warn(message: str, lost: bool) -> None:
    """Say what is wrong with the files of kernels, once a process: what ails one ails most of them."""
    if not _troubles:
        _say(message)
    _troubles.append((message, lost))


class _CompileNotice(event.Listener):
    """Say that kernels are being compiled, whenever one or several in a row take long.

    It looks like a hang otherwise. numba calls this for one kernel at a time, and for the kernels
    that it calls meanwhile.
    """

    def __init__(self) -> None:
        self.compiled = 0
        self.announced = True
        self._depth = 0
        self._began = 0.0
        self._ended = -QUIET
        # Seconds spent since the last quiet time, and whether it has been said.
        self._spent = 0.0
        self._said = False
        self._timer: threading.Timer | None = None

    def on_start(self, event: Any) -> None:
        """Begin to wait for the notice, at the first kernel."""
        if not _is_kernel(event):
            return
        self._depth += 1
        if self._depth > 1:
            return
        self._began = time.monotonic()
        if self._began - self._ended > QUIET:
            self._spent = 0.0
            self._said = False
        if self.announced and not self._said:
            self._timer = threading.Timer(max(0.0, PATIENCE - self._spent), self._announce)
            self._timer.daemon = True
            self._timer.start()

    def on_end(self, event: Any) -> None:
        """Stop waiting."""
        if not _is_kernel(event):
            return
        self.compiled += 1
        self._depth -= 1
        if self._depth:
            return
        self._ended = time.monotonic()
        self._spent += self._ended - self._began
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _announce(self) -> None:
        self._said = True
        _say(NOTICE)


def _is_kernel(event: Any) -> bool:
    return isinstance(event.data["dispatcher"]._cache, KernelCache)


# numba fires this event only where no file has the compiled kernel yet.
_notice = _CompileNotice()
event.register("numba:compile", _notice)  # type: ignore[no-untyped-call]


@dataclass
class Compiled:
    """What has been compiled meanwhile.

    Args:
        number: of kernels.
        lost: why some of them could not be kept for later starts; empty if all could.
    """

    number: int = 0
    lost: tuple[str, ...] = ()


@contextmanager
def compiling(announced: bool = True) -> Iterator[Compiled]:
    """Find out what is compiled meanwhile; the result is filled in at the end.

    Args:
        announced: whether it is said, as always, that it takes long.
    """
    found = Compiled()
    number = _notice.compiled
    troubles = len(_troubles)
    before = _notice.announced
    _notice.announced = announced
    try:
        yield found
    finally:
        _notice.announced = before
        found.number = _notice.compiled - number
        found.lost = tuple(message for message, lost in _troubles[troubles:] if lost)
