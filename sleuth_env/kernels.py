"""Compile a kernel, and say so once."""

from __future__ import annotations

import sys
from typing import Any

from numba import njit
from numba.core import event

KEPT = "they are kept for later starts"
NOT_KEPT = "they cannot be kept for later starts: set NUMBA_CACHE_DIR to a folder that can be written"
_notice = {"about": KEPT}


# The modules whose kernels are announced, other packages' games among them.
_modules: set[str] = set()


def kernel(function: Any) -> Any:
    """Compile a function at its first use: serial and without the GIL.

    A caller that wants threads splits the batch.
    """
    _modules.add(function.__module__)
    try:
        return njit(cache=True, nogil=True)(function)
    except RuntimeError:
        # Neither beside the code nor in the user's own folders can numba write.
        _notice["about"] = NOT_KEPT
        return njit(nogil=True)(function)


# For functions that only kernels call: without an entry from Python they take half the time to
# compile, and calling one from Python crashes.
no_entry: Any = {"no_cpython_wrapper": True, "no_cfunc_wrapper": True}
inner = njit(**no_entry)


class _CompileNotice(event.Listener):
    """Say once a process, on stderr, that kernels are being compiled.

    It takes seconds and looks like a hang otherwise.
    """

    def __init__(self) -> None:
        self.said = False

    def on_start(self, event: Any) -> None:
        """Say it, if a kernel of this package is the first one to be compiled."""
        module = getattr(event.data["dispatcher"].py_func, "__module__", "")
        if not self.said and (module in _modules or module.startswith("sleuth_env")):
            self.said = True
            sys.stderr.write(f"sleuth-env: compiling kernels at their first use; {_notice['about']}\n")
            sys.stderr.flush()

    def on_end(self, event: Any) -> None:
        """Say nothing."""


# numba fires this event only where its on-disk cache has no compiled kernel yet.
event.register("numba:compile", _CompileNotice())  # type: ignore[no-untyped-call]
