"""Opening a page from the disk, which asks for nothing else and has no fault."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

DESK = (1280, 800)
PHONE = (360, 740)


@contextmanager
def opened(browser: Browser, path: Path, size: tuple[int, int] = DESK, scheme: Any = "light") -> Iterator[Page]:
    """Open a page; in the end nothing may have been asked for but it, and nothing gone wrong."""
    context = browser.new_context(viewport={"width": size[0], "height": size[1]}, color_scheme=scheme)
    faults: list[str] = []
    asked: list[str] = []
    page = context.new_page()
    page.on("console", lambda message: faults.append(message.text) if message.type in ("error", "warning") else None)
    page.on("pageerror", lambda error: faults.append(str(error)))
    page.on("request", lambda request: asked.append(request.url))
    page.goto(path.as_uri())
    yield page
    assert faults == []
    assert asked == [path.as_uri()]
    context.close()


def check_fit(page: Page) -> None:
    """Check that a page does not scroll to the side, and that axe finds nothing against it."""
    from axe_playwright_python.sync_playwright import Axe

    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    found = Axe().run(page)
    assert found.violations_count == 0, found.generate_report()
