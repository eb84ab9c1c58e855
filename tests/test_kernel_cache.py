"""Compiled code is that of the source as it is, and no state of its files stops anybody."""

from __future__ import annotations

import importlib
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numba
import numpy as np
import pytest
from numba.core import config, event

from sleuth_env import kernel_cache, kernels

ROOT = Path(__file__).parents[1]
# A package whose kernel depends on every kind of thing that numba freezes into it.
TOY = {
    "__init__": "",
    "constants": """
import enum
import numpy as np

FACTOR = 2
WEIGHTS = np.array([1, 5])
LABEL = "on"

class Kind(enum.IntEnum):
    LOW = 3

class Mode(enum.Enum):
    SLOW = 6

STEP = 20
""",
    "parts": """
from numba.extending import overload
from sleuth_env.kernels import inner, kernel
from . import constants

def taught(number):
    return number + 10

@overload(taught)
def _taught(number):
    return lambda number: number + 10

@inner
def scaled(number):
    return number * constants.FACTOR

@kernel
def dotted(number):
    return number + 30

@kernel
def called(number, more=1):
    return number + more
""",
    "whole": """
import warnings
import numpy as np
import toy.constants
import toy.parts
from numba.core.errors import NumbaExperimentalFeatureWarning
from sleuth_env.kernels import kernel
from .constants import LABEL, WEIGHTS, Kind, Mode
from .parts import called, scaled, taught

def adder(by):
    @kernel
    def added(number):
        return number + by
    return added

added = adder(4)
# As numba calls functions in a tuple.
warnings.simplefilter("ignore", NumbaExperimentalFeatureWarning)
adders = (adder(40), adder(50))
mode = Mode.SLOW

@kernel
def run(number):
    \"\"\"Compute.\"\"\"
    total = scaled(number) + called(number) + taught(number) + WEIGHTS[1] + Kind.LOW
    square = lambda value: value ** 2
    if LABEL == "on":
        total += square(number)
    total += toy.constants.STEP + toy.parts.dotted(0) + adders[0](0) + mode.value
    return added(total)
""",
}
RESULT = 7 * 2 + 8 + 17 + 5 + 3 + 49 + 4 + 20 + 30 + 40 + 6
# What is changed: the file, the text there, what stands there instead, what it adds to the result.
EDITS = {
    "a constant of another file": ("constants", "FACTOR = 2", "FACTOR = 3", 7),
    "an array": ("constants", "[1, 5]", "[1, 6]", 1),
    "a text": ("constants", '"on"', '"no"', -49),
    "an enumeration": ("constants", "LOW = 3", "LOW = 4", 1),
    "an inner function": ("parts", "number * constants", "2 * number * constants", 14),
    "a called kernel": ("parts", "number + more", "number + 2 * more", 1),
    "a default": ("parts", "more=1", "more=2", 1),
    "what numba was taught": ("parts", "lambda number: number + 10", "lambda number: number + 11", 1),
    "a closure": ("whole", "adder(4)", "adder(5)", 1),
    "a constant by its dotted name": ("constants", "STEP = 20", "STEP = 21", 1),
    "a kernel by its dotted name": ("parts", "number + 30", "number + 31", 1),
    "a closure in a tuple": ("whole", "adder(40)", "adder(41)", 1),
    "a member of an enumeration": ("constants", "SLOW = 6", "SLOW = 7", 1),
    "a function within": ("whole", "value ** 2", "value ** 2 + 1", 1),
    "itself": ("whole", "return added(total)", "return added(total) + 1", 1),
}
# What a process of its own does.
PROGRAM = "import toy.whole; print(int(toy.whole.run(7)))"


class Counter(event.Listener):
    """Count what is compiled."""

    def __init__(self) -> None:
        self.number = 0

    def on_start(self, event: Any) -> None:
        self.number += 1

    def on_end(self, event: Any) -> None:
        """Count beginnings only."""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Write the toy package; return the folder that it lies in, beside that of the compiled kernels."""
    (tmp_path / "toy").mkdir()
    for name, text in TOY.items():
        (tmp_path / "toy" / f"{name}.py").write_text(text)
    monkeypatch.setattr(config, "CACHE_DIR", str(tmp_path / "cache"))
    # Python itself goes by the second in which a file was written.
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    monkeypatch.syspath_prepend(str(tmp_path))
    return tmp_path


def forget_toys() -> None:
    """Let the toy package be imported anew."""
    for name in [name for name in sys.modules if name.partition(".")[0] == "toy"]:
        del sys.modules[name]
    importlib.invalidate_caches()


def started() -> tuple[int, int]:
    """Import the toy package anew, as the next start does; return its result and how much was compiled."""
    forget_toys()
    with event.install_listener("numba:compile", Counter()) as counter:
        result = int(importlib.import_module("toy.whole").run(7))
    return result, counter.number


def edit(folder: Path, name: str, there: str, instead: str) -> None:
    path = folder / "toy" / f"{name}.py"
    text = path.read_text()
    times = (path.stat().st_atime_ns, path.stat().st_mtime_ns)
    assert there in text
    path.write_text(text.replace(there, instead))
    os.utime(path, ns=times)


def kept(folder: Path) -> list[Path]:
    return sorted((folder / "cache").rglob("*.kernel"))


def process(folder: Path, before: str = "", **environment: str) -> tuple[str, str]:
    """Let a process run the toy package; return what it writes on stdout and stderr."""
    named = {"PYTHONPATH": f"{folder}{os.pathsep}{ROOT}", "NUMBA_CACHE_DIR": str(folder / "cache")}
    run = subprocess.run(
        ["bash", "-c", f'{before} exec "$0" "$@"', sys.executable, "-B", "-c", PROGRAM],
        env={**os.environ, **named, **environment},
        capture_output=True,
        text=True,
        check=True,
    )
    return run.stdout.strip(), run.stderr


# --- never stale ---


@pytest.mark.parametrize("change", EDITS)
def test_after_a_change_of_the_source_the_next_start_computes_by_it(folder: Path, change: str) -> None:
    assert started()[0] == RESULT
    name, there, instead, more = EDITS[change]
    edit(folder, name, there, instead)
    result, compiled = started()
    assert result == RESULT + more
    assert compiled > 0
    assert started() == (RESULT + more, 0)


# What else of numba a kernel may use: how it is made and used, what is changed, the result before and after that.
MAKINGS = {
    "a type": ("from numba import int64 as W", "W(x)", ("int64", "int8"), 1000, -24),
    "a named tuple": ("W = namedtuple('N', 'a b')(1, 2)", "x + W.a", ("a b", "b a"), 1001, 1002),
    "a ufunc": ("@vectorize(['int64(int64)'])\ndef g(x):\n    return x + 1", "g(x)", ("x + 1", "x + 2"), 1001, 1002),
    "a ufunc compiled as needed": ("@vectorize\ndef g(x):\n    return x + 1", "g(x)", ("x + 1", "x + 2"), 1001, 1002),
    "types of a ufunc": (
        "@vectorize(['float64(float64)'])\ndef g(x):\n    return x / 2 + 0.5",
        "int(10 * g(x))",
        ("float64(float64)", "int64(int64)"),
        5005,
        5000,
    ),
    "a stencil": ("@stencil\ndef g(a):\n    return a[0] + 1", "g(np.full(3, x))[1]", ("+ 1", "+ 2"), 1001, 1002),
    "a compiled class": (
        "@jitclass([('v', int64)])\nclass G:\n    def __init__(self, v):\n        self.v = v + 1",
        "G(x).v",
        ("+ 1", "+ 2"),
        1001,
        1002,
    ),
    "a field of a compiled class": (
        "@jitclass([('v', int64)])\nclass G:\n    def __init__(self, v):\n        self.v = v",
        "G(x).v",
        ("'v', int64", "'v', int8"),
        1000,
        -24,
    ),
}
MAKING = """
from collections import namedtuple
import numpy as np
from numba import int8, int64, stencil, vectorize
from numba.experimental import jitclass
from sleuth_env.kernels import kernel

{made}

@kernel
def run(x):
    return {used}
"""


@pytest.mark.parametrize("making", MAKINGS)
def test_what_numba_makes_of_other_things_counts(folder: Path, making: str) -> None:
    made, used, (there, instead), before, after = MAKINGS[making]
    (folder / "toy" / "whole.py").write_text(MAKING.format(made=made, used=used))
    for result in (before, before, after):
        if result == after:
            edit(folder, "whole", there, instead)
        forget_toys()
        assert int(importlib.import_module("toy.whole").run(1000)) == result


def test_a_kernel_is_not_kept_that_reads_what_may_change_unnoticed(
    folder: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(kernels, "_troubles", [])
    odd = """
from numba.core import types
from numba.core.imputils import lower_constant
from numba.extending import models, register_model, typeof_impl
from sleuth_env.kernels import kernel

class Odd:
    pass

class OddType(types.Opaque):
    pass

odd_type = OddType("odd")
register_model(OddType)(models.OpaqueModel)
typeof_impl.register(Odd)(lambda value, context: odd_type)
lower_constant(OddType)(lambda context, builder, of, value: context.get_dummy_value())
odd = Odd()

@kernel
def run(x):
    odd
    return x
"""
    (folder / "toy" / "whole.py").write_text(odd)
    assert started()[0] == 7
    assert (
        "toy.whole.run cannot be kept: UnknownValueError: a value of the type Odd may have changed"
        in capsys.readouterr().err
    )
    assert not kept(folder)


def test_a_start_after_no_change_or_one_of_words_compiles_nothing(folder: Path) -> None:
    assert started()[1] > 0
    assert started() == (RESULT, 0)
    edit(folder, "whole", "Compute.", "Compute it.")
    edit(folder, "parts", "@inner", "# Why it is so.\n\n@inner")
    edit(folder, "constants", "LABEL", "UNUSED = 1\nLABEL")
    assert started() == (RESULT, 0)


def test_a_kernels_flags_and_numbas_switches_count(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    started()
    edit(folder, "parts", "@inner", "@__import__('numba').njit(boundscheck=True)")
    assert started()[1] > 0
    monkeypatch.setattr(config, "OPT", 0)
    assert started()[1] > 0


def test_the_versions_and_the_processor_count(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    started()
    assert numba.__version__ in kernel_cache.VERSIONS
    assert np.__version__ in kernel_cache.VERSIONS
    monkeypatch.setattr(kernel_cache, "VERSIONS", (*kernel_cache.VERSIONS[:-1], "9.9"))
    assert started()[1] > 0
    codegen = type(numba.core.registry.cpu_target.target_context.codegen())
    monkeypatch.setattr(codegen, "magic_tuple", lambda self: ("another", "processor"))
    assert started()[1] > 0


def test_another_process_takes_what_one_has_compiled_and_follows_a_change(folder: Path) -> None:
    assert process(folder)[0] == str(RESULT)
    before = [path.stat().st_mtime_ns for path in kept(folder)]
    assert process(folder) == (str(RESULT), "")
    assert [path.stat().st_mtime_ns for path in kept(folder)] == before
    edit(folder, "constants", "FACTOR = 2", "FACTOR = 3")
    assert process(folder)[0] == str(RESULT + 7)


def test_old_files_of_a_kernel_are_removed(folder: Path) -> None:
    started()
    number = len(kept(folder))
    for factor in range(3, 6):
        edit(folder, "constants", f"FACTOR = {factor - 1}", f"FACTOR = {factor}")
        started()
        assert len(kept(folder)) == number


def test_a_running_process_keeps_what_it_was_started_with(folder: Path) -> None:
    module = started() and sys.modules["toy.whole"]
    edit(folder, "constants", "FACTOR = 2", "FACTOR = 3")
    # For another type of argument it is compiled only now, from what was imported.
    assert int(module.run(np.int32(7))) == RESULT  # type: ignore[attr-defined]
    assert started()[0] == RESULT + 7


def test_every_part_of_a_kernel_of_this_package_is_looked_at() -> None:
    from sleuth_env.bits import advance, draw
    from sleuth_env.sleuth import legal

    digest = kernel_cache.source_digest(draw)
    assert digest == kernel_cache.source_digest(draw)
    assert len({kernel_cache.source_digest(of) for of in (draw, advance, getattr(legal, "kernel", legal))}) == 3


# --- never fatal ---


def troubles(said: str) -> list[str]:
    """Return the lines on stderr, but for the notice of a machine that takes long to compile."""
    return [line for line in said.splitlines() if kernels.NOTICE not in line]


DAMAGES: dict[str, Callable[[Path], object]] = {
    "empty": lambda path: path.write_bytes(b""),
    "cut": lambda path: path.write_bytes(path.read_bytes()[:-100]),
    "garbage": lambda path: path.write_bytes(os.urandom(5000)),
    "one bit": lambda path: path.write_bytes(path.read_bytes()[:-1] + bytes([path.read_bytes()[-1] ^ 1])),
}


@pytest.mark.parametrize("damage", DAMAGES)
def test_a_damaged_file_costs_a_line_and_is_replaced(
    folder: Path, damage: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(kernels, "_troubles", [])
    started()
    for path in kept(folder):
        DAMAGES[damage](path)
    assert started()[0] == RESULT
    said = capsys.readouterr().err
    assert len(troubles(said)) == 1
    assert said.startswith("sleuth-env: ")
    assert "the file is damaged" in said
    assert started() == (RESULT, 0)


PLACES: dict[str, Callable[[Path], object]] = {
    "a folder": lambda path: path.mkdir(),
    "a pipe": os.mkfifo,
    # Nobody could read it to its end.
    "a device": lambda path: path.symlink_to("/dev/zero"),
    "a large file": lambda path: path.touch() or os.truncate(path, kernel_cache.MOST_FILE_BYTES + 1),
}


@pytest.mark.parametrize("place", PLACES)
def test_what_is_not_a_file_of_a_kernel_costs_a_line_and_is_neither_waited_for_nor_read(
    folder: Path, place: str
) -> None:
    process(folder)
    for path in kept(folder):
        path.unlink()
        PLACES[place](path)
    result, said = process(folder)
    assert result == str(RESULT)
    assert len(troubles(said)) == 1


def test_a_full_disk_costs_a_line_and_leaves_nothing_half_written(folder: Path) -> None:
    result, said = process(folder, "ulimit -f 1;")
    assert result == str(RESULT)
    assert len(troubles(said)) == 1
    assert "cannot be kept for later starts" in said
    assert "File too large" in said
    assert not [path for path in (folder / "cache").rglob("*") if path.is_file()]


def test_a_folder_that_cannot_be_written_costs_a_line(folder: Path) -> None:
    (folder / "cache").write_text("not a folder")
    result, said = process(folder)
    assert result == str(RESULT)
    assert len(troubles(said)) == 1
    assert "set NUMBA_CACHE_DIR to a folder that can be written" in said


def test_closed_stderr_does_not_matter(folder: Path) -> None:
    (folder / "cache").write_text("not a folder")
    assert process(folder, "exec 2>&-;") == (str(RESULT), "")


def test_processes_that_compile_at_the_same_time_do_not_disturb_each_other(folder: Path) -> None:
    environment = {"PYTHONPATH": f"{folder}{os.pathsep}{ROOT}", "NUMBA_CACHE_DIR": str(folder / "cache")}
    running = [
        subprocess.Popen(
            [sys.executable, "-B", "-c", PROGRAM], env={**os.environ, **environment}, stdout=subprocess.PIPE, text=True
        )
        for _ in range(3)
    ]
    assert [process.communicate()[0].strip() for process in running] == [str(RESULT)] * 3
    assert process(folder) == (str(RESULT), "")
    assert all(path.suffix == ".kernel" for path in (folder / "cache").rglob("*") if path.is_file())


# --- where files lie ---


def test_without_a_folder_of_ones_own_kernels_lie_beside_the_source_or_in_the_users_cache(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(config, "CACHE_DIR", "")
    monkeypatch.setenv("XDG_CACHE_HOME", str(folder / "users"))
    started()
    beside = folder / "toy" / "__pycache__"
    assert list(beside.glob("*.kernel"))
    assert not (folder / "users").exists()
    for path in beside.iterdir():
        path.unlink()
    beside.rmdir()
    # As in a place where only an administrator may write.
    beside.write_text("not a folder")
    started()
    assert list((folder / "users").rglob("*.kernel"))
    assert started() == (RESULT, 0)


def test_a_damaged_file_is_replaced_by_a_good_one_of_another_folder(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(kernels, "_troubles", [])
    monkeypatch.setattr(config, "CACHE_DIR", "")
    monkeypatch.setenv("XDG_CACHE_HOME", str(folder / "users"))
    started()
    capsys.readouterr()
    beside = folder / "toy" / "__pycache__"
    users = Path(kernel_cache.AppDirs(appname="numba", appauthor=False).user_cache_dir)
    assert not users.exists()
    good = {path.name: path.read_bytes() for path in beside.iterdir()}
    below = kernel_cache._CacheLocator.get_suitable_cache_subpath(str(folder / "toy" / "whole.py"))
    (users / below).mkdir(parents=True)
    for name, content in good.items():
        (users / below / name).write_bytes(content)
        (beside / name).write_bytes(b"damaged")
    assert started() == (RESULT, 0)
    assert capsys.readouterr().err == ""
    # Those that it calls are part of it.
    (name,) = [name for name in good if name.startswith("toy.whole.run-")]
    assert (beside / name).read_bytes() == good[name]


def test_a_plain_function_stays_one_where_nothing_is_compiled(folder: Path) -> None:
    assert process(folder, NUMBA_DISABLE_JIT="1") == (str(RESULT), "")
    assert not kept(folder)


# --- the notice ---


def compile_for(seconds: float) -> None:
    """Do as numba does that compiles a kernel for some time."""
    import time

    from sleuth_env.bits import advance

    with event.trigger_event("numba:compile", data={"dispatcher": advance}):
        time.sleep(seconds)


@pytest.fixture
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kernels, "PATIENCE", 0.1)
    monkeypatch.setattr(kernels, "QUIET", 0.2)


@pytest.mark.usefixtures("quick")
def test_what_takes_long_is_announced_each_time_and_what_does_not_is_not(capsys: pytest.CaptureFixture[str]) -> None:
    import time

    time.sleep(0.25)
    compile_for(0.01)
    assert capsys.readouterr().err == ""
    time.sleep(0.25)
    compile_for(0.3)
    compile_for(0.3)
    assert capsys.readouterr().err == f"sleuth-env: {kernels.NOTICE}\n"
    time.sleep(0.25)
    compile_for(0.3)
    assert capsys.readouterr().err == f"sleuth-env: {kernels.NOTICE}\n"


@pytest.mark.usefixtures("quick")
def test_many_that_are_compiled_in_a_row_are_announced_once(capsys: pytest.CaptureFixture[str]) -> None:
    import time

    time.sleep(0.25)
    for _ in range(10):
        compile_for(0.03)
    assert capsys.readouterr().err == f"sleuth-env: {kernels.NOTICE}\n"
