"""The examples of other libraries: short, tested, and about tasks that can be played.

They are run in `tests/libraries`, where the libraries are.
"""

from __future__ import annotations

import json
import re
import tomllib
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.libraries.versions import FILE
from tests.support.examples import FOLDER, example

ROOT = Path(__file__).parents[1]
EXTRAS = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["optional-dependencies"]
EXAMPLES = sorted(FOLDER.glob("with_*.py"))
TESTED = sorted(path.stem.removeprefix("test_") for path in (ROOT / "tests/libraries").glob("test_*.py"))
TASKS = example("tasks").TASKS


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_an_example_is_short_and_has_an_extra_and_a_test(path: Path) -> None:
    library = path.stem.removeprefix("with_")
    assert path.read_text().count("\n") < 80
    assert library in TESTED
    assert library in EXTRAS


def test_every_library_has_an_extra_and_the_versions_with_which_it_was_tested() -> None:
    assert set(TESTED) <= set(EXTRAS)
    assert sorted(json.loads(FILE.read_text())) == TESTED


def test_the_script_tests_the_libraries_that_have_a_test() -> None:
    script = (ROOT / ".ci/libraries").read_text()
    assert "tests/libraries/test_*.py" in script
    assert re.search(r"^test-libraries:\n\t.*\.ci/libraries", (ROOT / "Makefile").read_text(), re.M)


@pytest.mark.parametrize("task", TASKS.values(), ids=TASKS)
def test_a_task_prefers_the_actions_of_whole_blocks(task: Any) -> None:
    bias = task.bias()
    blocks = task.game.action_blocks(task.game.Options(**task.options))
    assert bias.dtype == np.float32
    for name, block in blocks.items():
        assert set(bias[block]) == {task.preferences.get(name, 0.0)}


@pytest.mark.parametrize("task", TASKS.values(), ids=TASKS)
def test_what_was_learned_is_judged_by_legal_games(task: Any) -> None:
    rng = np.random.default_rng(1)

    def choose(observations: Any, masks: Any) -> Any:
        assert masks.any(axis=1).all()
        return (masks * rng.random(masks.shape)).argmax(axis=1)

    said = re.fullmatch(r"win share (0\.\d+), that of random (0\.\d+)", task.judged(choose, 20))
    assert said is not None
    # It chooses as the bot does.
    assert float(said[1]) == pytest.approx(float(said[2]), abs=0.1)
