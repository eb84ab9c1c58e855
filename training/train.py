"""The script ``python -m training.train``: see ``--help``. It guards `training.command`, whose imports take seconds, from the start."""

from __future__ import annotations

import signal
import sys
from collections.abc import Callable, Sequence

from sleuth_command import noted_signals


def guarded(run: Callable[[Sequence[int]], int], unharmed: str) -> int:
    """Run a command that imports what takes time; give its exit code.

    Args:
        run: the command; it is handed the signals that have come, also those that a library has swallowed.
        unharmed: what an interrupted user is told where the command has not said more.
    """
    with noted_signals(signal.SIGINT, signal.SIGTERM) as came:
        try:
            return run(came)
        except BaseException as error:
            if came:
                text = str(error) if isinstance(error, KeyboardInterrupt) else ""
                sys.stderr.write(f"interrupted: {text or unharmed}\n")
                return 128 + came[-1]
            if isinstance(error, ModuleNotFoundError) and not str(error.name).startswith(("training", "sleuth_env")):
                sys.stderr.write(f'error: training needs {error.name}, which is not installed: pip install ".[train]"\n')
                return 1
            raise


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command; give its exit code."""

    def run(came: Sequence[int]) -> int:
        """Import what takes time, and train."""
        from .command import command

        return command(arguments, came)

    return guarded(run, "training had not begun, nothing has changed")


if __name__ == "__main__":
    sys.exit(main())
