"""The examples in docstrings, and those of the manual that show what Python answers, are true."""

from __future__ import annotations

import doctest
import importlib
import pkgutil
import re
from collections.abc import Iterator
from types import ModuleType

import pytest

import sleuth_env
from docs.make_tables import ROOT, pages

FLAGS = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE


# Libraries that an extra brings, whose modules are left out where they are not installed.
OPTIONAL = {"ray"}


def public_modules() -> Iterator[ModuleType]:
    """Import every module of the package that has no underscore in its name."""
    yield sleuth_env
    for found in pkgutil.walk_packages(sleuth_env.__path__, "sleuth_env."):
        if not any(part.startswith("_") for part in found.name.split(".")):
            try:
                yield importlib.import_module(found.name)
            except ModuleNotFoundError as error:
                if error.name not in OPTIONAL:
                    raise


def documented_kernels(module: ModuleType) -> Iterator[tuple[str, str]]:
    """Find the docstrings of compiled functions, which `doctest` takes for data."""
    for name, value in vars(module).items():
        source = getattr(value, "py_func", None)
        if source is not None and source.__module__ == module.__name__ and source.__doc__:
            yield f"{module.__name__}.{name}", source.__doc__


def examples_in_modules() -> Iterator[doctest.DocTest]:
    """Find the examples of all docstrings."""
    for module in public_modules():
        yield from doctest.DocTestFinder(exclude_empty=True).find(module)
        for name, text in documented_kernels(module):
            yield doctest.DocTestParser().get_doctest(text, dict(vars(module)), name, module.__file__, 0)


def examples_in_pages() -> Iterator[doctest.DocTest]:
    """Find the examples of each page, which follow from one another."""
    for path in pages():
        blocks = re.findall(r"^```pycon\n(.*?)^```", path.read_text(), re.M | re.S)
        name = path.relative_to(ROOT).as_posix()
        yield doctest.DocTestParser().get_doctest("\n".join(blocks), {}, name, str(path), 0)


def with_examples(found: Iterator[doctest.DocTest]) -> list[doctest.DocTest]:
    return [test for test in found if test.examples]


IN_MODULES = with_examples(examples_in_modules())
IN_PAGES = with_examples(examples_in_pages())


@pytest.mark.parametrize("test", IN_MODULES + IN_PAGES, ids=lambda test: test.name)
def test_the_examples_are_true(test: doctest.DocTest) -> None:
    said: list[str] = []
    doctest.DocTestRunner(optionflags=FLAGS).run(test, out=said.append)
    assert not said, "".join(said)


def test_there_are_examples_in_docstrings_and_pages() -> None:
    assert IN_MODULES
    assert IN_PAGES
