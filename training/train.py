"""The script ``python -m training.train``: see ``--help``. It guards `training.command`, whose imports take seconds, from the start."""

from __future__ import annotations

import signal
import sys
from collections.abc import Sequence

from sleuth_command import noted_signals


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command; give its exit code."""
    with noted_signals(signal.SIGINT, signal.SIGTERM) as came:
        try:
            from .command import command

            return command(arguments, came)
        except BaseException as error:
            if came:
                text = str(error) if isinstance(error, KeyboardInterrupt) else ""
                sys.stderr.write(f"interrupted: {text or 'training had not begun, nothing has changed'}\n")
                return 128 + came[-1]
            if isinstance(error, ModuleNotFoundError) and not str(error.name).startswith(("training", "sleuth_env")):
                sys.stderr.write(f'error: training needs {error.name}, which is not installed: pip install ".[train]"\n')
                return 1
            raise


if __name__ == "__main__":
    sys.exit(main())
