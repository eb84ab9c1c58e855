"""Draw the pictures of the pages: ``python docs/make_screenshots.py`` writes them into docs/_static.

A real browser plays until there is something to see. It needs what the tests of the pages need: the
extra ``browser`` and Chromium.
"""

from __future__ import annotations

import json
import random
import sys
import urllib.request
from io import BytesIO
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from PIL import Image
from playwright.sync_api import Browser, sync_playwright

ROOT = Path(__file__).parent.parent
sys.path.insert(0, str(ROOT))

# The tests lie beside this folder.
from tests.browser.clicking import Visitor
from tests.browser.conftest import CHROMIUM, QUIET
from tests.browser.serving import served
from tests.browser.test_pages import careful_action

PICTURES = ROOT / "docs" / "_static"
# Few colours make small files, and are enough for flat pictures.
PALETTE = 256


def make_table(address: str, game: str, seats: list[str], **options: Any) -> str:
    """Make a table; return the link of its only person."""
    asked = {"game": game, "players": len(seats), "options": options, "seats": seats, "seed": 5}
    content = json.dumps(asked).encode()
    request = urllib.request.Request(f"{address}/tables", content, {"Content-Type": "application/json"})
    with urllib.request.urlopen(request) as answer:
        return str(json.load(answer)["seats"][0]["link"])


def play_on(person: Visitor, least: int, word: str) -> None:
    """Play until some turn has come and there is an action that begins with a word and has a target."""
    rng = random.Random(3)
    while True:
        turn = person.table["facts"]["turn_number"]
        aimed = [name for name in person.table["legal"] if name.startswith(word) and "+" in name]
        if turn >= least and aimed:
            return
        person.act(careful_action(rng, person.table))


def keep(person: Visitor, name: str) -> None:
    """Write a picture of what is on the screen."""
    person.page.wait_for_timeout(300)
    drawn = Image.open(BytesIO(person.page.screenshot()))
    drawn.convert("RGB").quantize(PALETTE, kmeans=2).save(PICTURES / f"{name}.png", optimize=True)


def draw_sleuth(browser: Browser, address: str, name: str, size: tuple[int, int], scheme: str) -> None:
    """Draw a table of Sleuth with its odds, a question being chosen."""
    person = Visitor(browser, address, size, scheme)
    person.sit_down(make_table(address, "sleuth", ["person", "sheet", "sheet", "sheet"]))
    play_on(person, 14, "ask")
    person.page.click("#odds")
    person.page.wait_for_selector(".sheet-chance")
    person.page.click('[data-leads="ask +1"]')
    keep(person, name)
    person.close()


def draw_holmes(browser: Browser, address: str, name: str, size: tuple[int, int], scheme: str) -> None:
    """Draw a table of I Say, Holmes!, a target being chosen."""
    person = Visitor(browser, address, size, scheme)
    person.sit_down(make_table(address, "holmes", ["person", "counter", "counter", "counter"]))
    play_on(person, 14, "play")
    person.page.locator("[data-leads]").first.click()
    keep(person, name)
    person.close()


def main() -> None:
    """Draw all pictures."""
    with TemporaryDirectory() as folder, served(Path(folder)) as address, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=QUIET)
        draw_sleuth(browser, address, "table-sleuth", (1280, 900), "light")
        draw_holmes(browser, address, "table-holmes", (1280, 900), "dark")
        draw_sleuth(browser, address, "table-phone", (360, 740), "light")
        browser.close()


if __name__ == "__main__":
    main()
