"""The console script ``sleuth``; what every command line here does about signals and lost streams.

It is loaded before anything that takes time to load, and lies next to the package, because
importing anything of `sleuth_env` imports Gymnasium first.
"""

from __future__ import annotations

import _thread
import atexit
import os
import signal
import sys
import threading
import time
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from importlib import import_module
from typing import Any, NoReturn, TextIO

COMMAND = "sleuth_env.cli.commands"
# What asks a process to stop, as far as the system has it: Ctrl-C, `kill`, a closed terminal, and on
# Windows Ctrl-Break or a closed console.
STOPPING = [getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP", "SIGBREAK") if hasattr(signal, name)]
# What a person types, who may ask a second time.
TYPED = [getattr(signal, name) for name in ("SIGINT", "SIGBREAK") if hasattr(signal, name)]
# The exit code of a process that a signal has stopped, less the number of the signal.
STOPPED = 128
# Seconds. The end of a session or a terminal sends several signals, which count as one.
ECHO = 5
# Seconds after which a stop that was dropped is tried again.
AGAIN = 0.05


# --- signals ---


@contextmanager
def handled(handler: Callable[[int, Any], None]) -> Iterator[dict[int, Any]]:
    """Answer what asks the process to stop by a handler, and yield the handlers of before.

    Only the main thread can have handlers, so in any other nothing changes. A hang-up that is
    ignored (``nohup``) stays ignored.
    """
    before: dict[int, Any] = {}
    if threading.current_thread() is threading.main_thread():
        before = {number: signal.getsignal(number) for number in STOPPING}
        if before.get(getattr(signal, "SIGHUP", 0)) == signal.SIG_IGN:
            del before[signal.SIGHUP]
    for number in before:
        signal.signal(number, handler)
    try:
        yield before
    finally:
        for number, handler_before in before.items():
            # None is a handler that was not installed by Python, and cannot be.
            signal.signal(number, signal.SIG_DFL if handler_before is None else handler_before)


@contextmanager
def noted_signals() -> Iterator[list[int]]:
    """Note signals and raise KeyboardInterrupt.

    A library that is being imported may turn the exception into another error; the note stays.
    Python drops what a callback raises that nobody has called from Python, such as one of the
    compiler's; it is then raised again.
    """
    came: list[int] = []
    last = -float(ECHO)
    report_before = sys.unraisablehook

    def stop(number: int, _: object) -> None:
        """Note it and stop; what is being saved is not stopped by an echo."""
        nonlocal last
        # What it breaks off, such as a prompt, may be said to be unfinished.
        warnings.filterwarnings("ignore", message="coroutine .* was never awaited")
        echo = time.monotonic() - last < ECHO and number not in TYPED
        last = time.monotonic()
        came.append(number)
        if echo:
            return
        if not _held:
            raise KeyboardInterrupt
        _held[-1].came = True
        _held[-1].stop()

    def dropped(report: Any) -> None:
        """Raise a dropped exception of ours again, when the callback is left; report any other."""
        nonlocal last
        if not came or not isinstance(report.exc_value, KeyboardInterrupt):
            report_before(report)
            return
        last = -float(ECHO)
        again = threading.Timer(AGAIN, interrupt_main_thread, [came[-1]])
        again.daemon = True
        again.start()

    sys.unraisablehook = dropped
    try:
        with handled(stop):
            yield came
    finally:
        sys.unraisablehook = report_before


@dataclass(eq=False)
class _Held:
    """What must not be broken off.

    Args:
        stop: asks it to end.
        came: whether it has been asked to.
    """

    stop: Callable[[], object]
    came: bool = False


_held: list[_Held] = []


@contextmanager
def stopped_by(stop: Callable[[], object]) -> Iterator[None]:
    """Within it, what asks the process to stop calls a function; KeyboardInterrupt is raised at the end.

    It is for what must not be broken off just anywhere, such as an event loop, which would hand the
    exception to whatever it is doing.
    """
    held = _Held(stop)
    _held.append(held)
    try:
        yield
    finally:
        _held.remove(held)
        if held.came:
            raise KeyboardInterrupt


def interrupt_main_thread(number: int) -> None:
    """Send a signal to the main thread of this process, which may be asleep."""
    main_thread = threading.main_thread().ident
    if hasattr(signal, "pthread_kill") and main_thread is not None:
        signal.pthread_kill(main_thread, number)
    else:
        # Windows wakes no sleeper by it.
        _thread.interrupt_main(signal.Signals(number))


# --- streams ---


def open_missing_streams() -> None:
    """Replace standard streams that the process was started without, which are None.

    Else the next file that is opened takes the place of one, and gets what is written to it.
    """
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:
            setattr(sys, name, open(os.devnull, mode, encoding="utf-8"))  # noqa: SIM115


def silence(stream: TextIO | None) -> None:
    """Let go what is left in the buffer of a stream that nobody reads: Python would fail to write it at the end."""
    # A stream that replaces a standard one may have no file.
    with suppress(OSError, ValueError, AttributeError):
        null = os.open(os.devnull, os.O_WRONLY)
        os.dup2(null, stream.fileno())  # type: ignore[union-attr]
        os.close(null)


def complain(text: str) -> None:
    """Write a text to stderr if anybody can read it."""
    if sys.stderr is None:
        return
    try:
        sys.stderr.write(text)
        sys.stderr.flush()
    except (OSError, ValueError):
        silence(sys.stderr)
    except RuntimeError:
        # A signal came while something was being written there.
        pass


# --- the script ---


def main() -> int:
    """Run the command ``sleuth`` and return its exit code."""
    with noted_signals() as came:
        try:
            # By its name: the command stands above this file, and uses it.
            command = import_module(COMMAND).main
            # What is imported may have swallowed the exception.
            if came:
                raise KeyboardInterrupt
            code: int = command()
        except BaseException:
            if not came:
                raise
            complain("sleuth: interrupted\n")
            code = STOPPED + came[0]
    return STOPPED + came[0] if came and code else code


def end(code: int) -> NoReturn:
    """End the process with the exit code of a command.

    Once a KeyboardInterrupt has passed through `exec`, as in a library that was being imported, Python
    would end as if killed by Ctrl-C, whatever the code is.
    """
    if code <= STOPPED:
        sys.exit(code)
    atexit._run_exitfuncs()
    for stream in (sys.stdout, sys.stderr):
        with suppress(OSError, ValueError, AttributeError):
            stream.flush()
    os._exit(code)


def script() -> NoReturn:
    """Run the command ``sleuth`` and end the process."""
    end(main())


if __name__ == "__main__":
    script()
