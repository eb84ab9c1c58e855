"""Another game for tests, which is played like Sleuth but has less around it."""

from __future__ import annotations

import sys
from types import ModuleType

import pytest

from sleuth_env import sleuth
from sleuth_env.game import _imported


def another_game(monkeypatch: pytest.MonkeyPatch) -> str:
    """Make a game module called "another", with one bot and one record; return its full name."""
    module = ModuleType("another_game")
    names = {name: value for name, value in vars(sleuth).items() if not name.startswith("__")}
    less = {"NAME": "another", "BOTS": {"random": sleuth.BOTS["random"]}, "NETWORKS": {}, "SCORED": {}}
    vars(module).update(names | less | {"RECORDS": ("raw",), "DEFAULT_BOT": "random"})
    monkeypatch.setitem(sys.modules, module.__name__, module)
    # It remembers the module of the test before.
    _imported.cache_clear()
    return module.__name__
