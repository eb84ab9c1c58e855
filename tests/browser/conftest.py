"""The server and the browser of these tests."""

from __future__ import annotations

import json
import urllib.request
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from .serving import served

if TYPE_CHECKING:
    from playwright.sync_api import Browser

    from .clicking import Visitor

CHROMIUM = Path("/usr/bin/chromium")
# Nothing but the pages may talk with anybody.
QUIET = (
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)
Make = Callable[..., list[str]]


@pytest.fixture(scope="session")
def address(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Start a server of games; return its address."""
    with served(tmp_path_factory.mktemp("tables")) as found:
        yield found


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    """Start the browser that the system has."""
    if not CHROMIUM.exists():
        pytest.skip(f"there is no {CHROMIUM}: install the package chromium")
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=CHROMIUM, args=QUIET)
        yield chromium
        chromium.close()


@pytest.fixture
def visitor(browser: Browser, address: str) -> Iterator[Callable[..., Visitor]]:
    """Return a function that makes a person with a browser of their own, who must have met no fault in the end."""
    from .clicking import Visitor

    made: list[Visitor] = []

    def make_visitor(*args: Any, **named: Any) -> Visitor:
        made.append(Visitor(browser, address, *args, **named))
        return made[-1]

    yield make_visitor
    faults = [fault for person in made for fault in person.faults]
    for person in made:
        person.close()
    assert not faults


@pytest.fixture
def make_table(address: str) -> Make:
    """Return a function that makes a table and returns the links of its people."""

    def post(game: str, seats: list[str], seed: int | None = None, **options: Any) -> list[str]:
        asked = {"game": game, "players": len(seats), "options": options, "seats": seats, "seed": seed}
        request = urllib.request.Request(
            f"{address}/tables", json.dumps(asked).encode(), {"Content-Type": "application/json"}
        )
        with urllib.request.urlopen(request) as answer:
            return [seat["link"] for seat in json.load(answer)["seats"]]

    return post
