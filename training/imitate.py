"""The command ``sleuth imitate``, in a clone also ``python -m training.imitate``; ``--help`` explains it.

It guards `training.imitation`, whose imports take seconds, from the start.
"""

from __future__ import annotations

from collections.abc import Sequence

from sleuth_command import end

from .train import guarded


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command; return its exit code."""
    return guarded("imitation", arguments, "nothing has been written")


if __name__ == "__main__":
    end(main())
