"""The console script ``sleuth``, and the guard against Ctrl-C of every command line here.

It is loaded before anything that takes time to load, and lies next to the package, because
importing anything of `sleuth_env` imports Gymnasium first.
"""

from __future__ import annotations

import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def noted_signals(*numbers: int) -> Iterator[list[int]]:
    """Note signals and raise KeyboardInterrupt.

    A library that is being imported may turn the exception into another error; the note stays.
    """
    came: list[int] = []

    def stop(number: int, _: object) -> None:
        """Note it and stop."""
        came.append(number)
        raise KeyboardInterrupt

    before = {number: signal.signal(number, stop) for number in numbers}
    try:
        yield came
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def main() -> int:
    """Run the command ``sleuth`` and return its exit code."""
    with noted_signals(signal.SIGINT) as came:
        try:
            from sleuth_env.cli.commands import main as command

            # What is imported may have swallowed the exception.
            if came:
                raise KeyboardInterrupt
            return command()
        except BaseException:
            if not came:
                raise
            if sys.stderr is not None:
                sys.stderr.write("sleuth: interrupted\n")
            return 128 + signal.SIGINT


if __name__ == "__main__":
    sys.exit(main())
