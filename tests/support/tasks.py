"""Tasks for other processes, and players who end the process that they play in."""

from __future__ import annotations

import os
import signal
import time
from pathlib import Path
from typing import Any

import numpy as np

from sleuth_env.sleuth import Options, make_bot


def process_of(number: int) -> tuple[int, int]:
    """Return a number, and which process was asked."""
    return number, os.getpid()


def later(seconds: float) -> float:
    """Return a number after that time."""
    time.sleep(seconds)
    return seconds


def threads_of(_: int) -> str | None:
    """Return how many threads libraries are told to use here."""
    return os.environ.get("OMP_NUM_THREADS")


def refused(number: int) -> None:
    """Raise an error."""
    raise ValueError(f"nobody likes {number}")


def kill_once(mark: str) -> str:
    """End the process by SIGKILL, if the file is not there yet, and return its name."""
    if not Path(mark).exists():
        Path(mark).touch()
        os.kill(os.getpid(), signal.SIGKILL)
    return mark


def kill_always(_: int) -> None:
    """End the process by SIGKILL."""
    os.kill(os.getpid(), signal.SIGKILL)


class Lethal:
    """The sheet bot, which at its third decision ends the process, unless a file is there, which it makes."""

    name = "lethal"

    def __init__(self, mark: Path) -> None:
        self.mark = mark
        self.bot = make_bot("sheet", Options(num_players=3))
        self.asked = 0

    def act(self, views: Any, legal: Any, seeds: Any) -> Any:
        """Choose."""
        self.asked += 1
        if self.asked == 3:
            kill_once(str(self.mark))
        return self.bot.act(views, legal, seeds)


class Counting:
    """Remembers how often it has decided in each game, and takes that legal action, counted from behind."""

    name = "counting"

    def __init__(self) -> None:
        self.decided: dict[int, int] = {}

    def act_in(self, views: Any, legal: Any, seeds: Any, games: Any, seats: Any) -> Any:
        """Choose."""
        actions = np.zeros(len(legal), np.int64)
        for row, game in enumerate(games.tolist()):
            number = self.decided[game] = self.decided.get(game, 0) + 1
            choices = np.flatnonzero(legal[row])
            actions[row] = choices[-1 - number % len(choices)]
        return actions

    def forget(self, games: Any) -> None:
        """Forget games."""
        for game in games.tolist():
            self.decided.pop(game, None)
