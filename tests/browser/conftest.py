"""The server and the browser of these tests."""

from __future__ import annotations

import json
import threading
import time
import urllib.request
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("playwright")
pytest.importorskip("axe_playwright_python")

import uvicorn
from playwright.sync_api import Browser, sync_playwright

from .clicking import Visitor
from .stand_in import app

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
def address() -> Iterator[str]:
    """Start a server of games; return its address."""
    server = uvicorn.Server(uvicorn.Config(app, port=0, log_level="warning"))
    thread = threading.Thread(target=server.run, daemon=True)
    thread.start()
    while not server.started:
        time.sleep(0.02)
    port = server.servers[0].sockets[0].getsockname()[1]
    yield f"http://127.0.0.1:{port}"
    server.should_exit = True
    thread.join(10)


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    """Start the browser that the system has."""
    if not CHROMIUM.exists():
        pytest.skip(f"there is no {CHROMIUM}: install the package chromium")
    with sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=CHROMIUM, args=QUIET)
        yield chromium
        chromium.close()


@pytest.fixture
def visitor(browser: Browser, address: str) -> Iterator[Callable[..., Visitor]]:
    """Return a function that makes a person with a browser of their own, who must have met no fault in the end."""
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
