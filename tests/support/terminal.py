"""A person at the terminal, for tests: what is typed, what is said, and the text of the game."""

from __future__ import annotations

import io
import random
import sys
from collections.abc import Callable, Sequence
from functools import lru_cache

import pytest

from sleuth_env import sleuth
from sleuth_env.cli.session import COMMANDS, Session
from sleuth_env.sleuth import Options, make_bot


def type_in(monkeypatch: pytest.MonkeyPatch, text: str) -> None:
    monkeypatch.setattr(sys, "stdin", io.StringIO(text))


def without_notice(errors: str) -> str:
    """Leave out the notice that kernels are being compiled, which a first run writes to stderr."""
    return "".join(line for line in errors.splitlines(True) if not line.startswith("sleuth-env: compiling"))


def said(capsys: pytest.CaptureFixture[str]) -> tuple[str, str]:
    """Return what was written to stdout and, but for that notice, to stderr."""
    output, errors = capsys.readouterr()
    return output, without_notice(errors)


def scripted(seed: int, accuse: float = 0.02) -> Callable[[str, Sequence[str]], str]:
    """Type random legal actions, rarely accusations."""
    rng = random.Random(seed)

    def read(prompt: str, words: Sequence[str]) -> str:
        names = [word for word in words if word not in COMMANDS]
        quiet = [name for name in names if not name.startswith(("accuse", "final"))]
        return rng.choice(quiet if quiet and rng.random() >= accuse else names)

    return read


@lru_cache(maxsize=1)
def played_game() -> str:
    """Return the text of a game of somebody who plays at random against two sheet bots."""
    options = Options(num_players=3)
    bots = [make_bot("sheet", options)] * 2
    session = Session(sleuth, options, bots, 0, 11, scripted(11), lambda text: None, confirm=False)
    session.run()
    return session.text
