"""The command ``sleuth train``, in a clone also ``python -m training.train``; ``--help`` explains it.

It guards `training.command`, whose imports take seconds, from the start.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from importlib import import_module
from typing import Any

from sleuth_command import STOPPED, complain, end, noted_signals, open_missing_streams, silence


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command; return its exit code."""
    return guarded("command", arguments, "training had not begun, nothing has changed")


def guarded(module: str, arguments: Any, interrupted: str) -> int:
    """Run the ``command`` of a module.

    Args:
        module: its name in this package.
        arguments: of the command line, as its ``command`` takes them; None for those of this process.
        interrupted: what to say where a signal ended the command before it had anything to say.

    Returns:
        The exit code.
    """
    open_missing_streams()
    with noted_signals() as came:
        try:
            code: int = import_module(f".{module}", __package__).command(arguments, came)
            return code
        except BaseException as error:
            if came:
                text = str(error) if isinstance(error, KeyboardInterrupt) else ""
                complain(f"interrupted: {text or interrupted}\n")
                return STOPPED + came[0]
            if isinstance(error, ModuleNotFoundError) and not str(error.name).startswith(("training", "sleuth_env")):
                complain(f"error: training needs {missing(str(error.name))}\n")
                return 2
            raise
        finally:
            flush()


def missing(module: str, extra: str = "train") -> str:
    """Say of a module that is missing where it is to be had: in an extra of the package, or nowhere.

    >>> missing("fcntl")
    'the module fcntl of Python, which this system does not have'
    """
    if module.partition(".")[0] in sys.stdlib_module_names:
        return f"the module {module} of Python, which this system does not have"
    return f"{module}, which is not installed: {installing(extra)}"


def installing(extra: str) -> str:
    """Return the command that installs an extra of the package."""
    package = "." if __package__ == "training" else "sleuth-env"
    return f'pip install "{package}[{extra}]"'


def flush() -> None:
    """Write what is left for stdout; Python would fail at the end where nobody reads it."""
    try:
        sys.stdout.flush()
    except (OSError, ValueError):
        silence(sys.stdout)


if __name__ == "__main__":
    end(main())
