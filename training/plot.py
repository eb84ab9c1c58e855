"""The command ``sleuth plot``, in a clone also ``python -m training.plot``; ``--help`` explains it.

It guards `training.figure`, whose imports take seconds, from the start.
"""

from __future__ import annotations

from collections.abc import Sequence

from sleuth_command import end

from .train import guarded


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command; return its exit code."""
    return guarded("figure", arguments, "nothing was drawn")


if __name__ == "__main__":
    end(main())
