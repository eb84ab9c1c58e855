"""The examples of `examples/` as modules."""

from __future__ import annotations

import importlib
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

FOLDER = Path(__file__).parents[2] / "examples"


def example(name: str) -> ModuleType:
    """Return an example, or what the examples share ("tasks"), as a module."""
    # They import each other as scripts do.
    if str(FOLDER) not in sys.path:
        sys.path.insert(0, str(FOLDER))
    return importlib.import_module(name)


def said_by(name: str, arguments: dict[str, Any], capsys: pytest.CaptureFixture[str]) -> str:
    """Run an example as a script is run with these options, and return what it prints."""
    module = example(name)
    words = [word for option, value in arguments.items() for word in (f"--{option}", str(value))]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sys, "argv", [f"{name}.py", *words])
        module.main()
    return capsys.readouterr().out
