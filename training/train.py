"""The script ``python -m training.train``; ``--help`` explains it.

It guards `training.command`, whose imports take seconds, from the start.
"""

from __future__ import annotations

import signal
import sys
from collections.abc import Sequence
from importlib import import_module

from sleuth_command import noted_signals


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command; return its exit code."""
    return guarded("training.command", arguments, "training had not begun, nothing has changed")


def guarded(module: str, arguments: Sequence[str] | None, interrupted: str) -> int:
    """Run the ``command`` of a module.

    Args:
        module: its full name.
        arguments: of the command line; None for those of this process.
        interrupted: what to say where a signal ended the command before it had anything to say.

    Returns:
        The exit code.
    """
    with noted_signals(signal.SIGINT, signal.SIGTERM) as came:
        try:
            code: int = import_module(module).command(arguments, came)
            return code
        except BaseException as error:
            if came:
                text = str(error) if isinstance(error, KeyboardInterrupt) else ""
                sys.stderr.write(f"interrupted: {text or interrupted}\n")
                return 128 + came[-1]
            if isinstance(error, ModuleNotFoundError) and not str(error.name).startswith(("training", "sleuth_env")):
                sys.stderr.write(
                    f'error: training needs {error.name}, which is not installed: pip install ".[train]"\n'
                )
                return 1
            raise


if __name__ == "__main__":
    sys.exit(main())
