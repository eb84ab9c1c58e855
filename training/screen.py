"""What the terminal shows of long work: a bar, else a plain line now and then."""

from __future__ import annotations

import sys
import time

from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

SECONDS_BETWEEN_LINES = 5


class Screen:
    """Show progress: a bar on a terminal, else a plain line now and then.

    Args:
        total: how much there is to do.
        done: how much of it is done already.
        unit: of what.
    """

    def __init__(self, total: int, done: int = 0, unit: str = "steps") -> None:
        self.total = total
        self.unit = unit
        self._last_line = 0.0
        self._bar: Progress | None = None
        if sys.stdout.isatty():
            columns = (
                BarColumn(),
                TextColumn(f"{{task.completed:,.0f}} of {{task.total:,.0f}} {unit}"),
                TimeRemainingColumn(),
                TextColumn("{task.description}"),
            )
            self._bar = Progress(*columns)
            self._task = self._bar.add_task("", total=total, completed=done)
            self._bar.start()

    def show(self, done: int, text: str, always: bool = False) -> None:
        """Show how much is done, and a text; ``always`` also where the last line is only a moment
        old.
        """
        if self._bar is not None:
            self._bar.update(self._task, completed=done, description=text)
        elif always or time.monotonic() - self._last_line > SECONDS_BETWEEN_LINES:
            self._last_line = time.monotonic()
            sys.stdout.write(f"{done:>12,} of {max(done, self.total):,} {self.unit}   {text}\n")
            sys.stdout.flush()

    def close(self) -> None:
        """Take the bar away."""
        if self._bar is not None:
            self._bar.stop()
