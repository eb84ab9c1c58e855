"""What holds for all tests."""

from __future__ import annotations

import pytest


@pytest.fixture(autouse=True)
def no_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    """Forget the terminal of whoever runs the tests: its size shapes what the command writes."""
    for name in ("COLUMNS", "LINES"):
        monkeypatch.delenv(name, raising=False)
