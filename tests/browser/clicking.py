"""A person in front of a page: what they see, and how they come to an action by clicking only."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import axe_playwright_python
from playwright.sync_api import Browser, Page

PATIENCE = 60_000  # milliseconds
MOST_WAITS = 15_000  # of 20 milliseconds each: where kernels are compiled, a first answer takes its time
AXE = Path(axe_playwright_python.__file__).parent / "axe.min.js"
RULES = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]
# What leads to an action is clicked on the way to it; what has been picked already is not clicked again.
LEADS = """() => [...document.querySelectorAll("#table [data-leads]")]
    .filter((button) => button.getAttribute("aria-pressed") !== "true")
    .map((button) => button.dataset.leads)"""
# Click everything that can be picked, in every order that leads on, and write down which actions there are.
EXPLORE = """() => {
    const found = {};
    const clicked = new Set();
    const note = () => {
        const here = {};
        for (const button of document.querySelectorAll("#table [data-action]")) {
            here[button.dataset.action] = (here[button.dataset.action] ?? 0) + 1;
        }
        for (const [name, count] of Object.entries(here)) found[name] = Math.max(found[name] ?? 0, count);
    };
    const walk = (prefix) => {
        note();
        const leads = [...document.querySelectorAll("#table [data-leads]")]
            .map((button) => button.dataset.leads)
            .filter((lead) => lead.startsWith(prefix) && !clicked.has(lead));
        for (const lead of leads) {
            if (clicked.has(lead)) continue;
            clicked.add(lead);
            const button = document.querySelector(`#table [data-leads="${lead}"]`);
            if (!button) continue;
            button.click();
            walk(lead + " ");
        }
    };
    walk("");
    return found;
}"""
# Everything of the table that a test compares, read at one moment.
READ = """() => {
    const all = (selector, read) => [...document.querySelectorAll("#table " + selector)].map(read);
    return {
        decision: document.getElementById("table").dataset.decision,
        log: all("[data-log] li", (line) => line.textContent),
        sheet: all("[data-item]", (cell) => [
            cell.dataset.item, cell.dataset.place, cell.dataset.sign,
            (cell.querySelector("button") ?? cell).firstChild.textContent,
        ]),
        gems: all("[data-hand] [data-gem]", (card) => card.textContent),
        held: all("[data-held]", (card) => [card.dataset.held, card.textContent]),
        players: all("[data-player]", (panel) => panel.textContent),
        search: all("[data-player]", (panel) =>
            [...panel.querySelectorAll("[data-search-card]")].map((card) => card.textContent)),
        answers: all("[data-answer]", (cell) => [cell.dataset.answer, cell.querySelector("b").textContent]),
        prompt: all("[data-prompt]", (head) => head.textContent)[0],
        current: all("[data-current]", (card) => card.dataset.current)[0],
        location: all("[data-location]", (card) => card.textContent)[0],
        width: document.documentElement.scrollWidth,
        room: document.documentElement.clientWidth,
    };
}"""


class Visitor:
    """A browser of one person: its page, and all that went wrong in it.

    To be read: `page`; `tables`, the table messages that it was sent; `faults`, errors of the console
    and of the page, and requests to other hosts.

    Args:
        browser: where a context of its own is opened.
        address: of the server.
        size: of the window, width and height.
        scheme: light or dark.
    """

    def __init__(
        self, browser: Browser, address: str, size: tuple[int, int] = (1280, 800), scheme: Any = "light"
    ) -> None:
        self.address = address
        self.context = browser.new_context(
            viewport={"width": size[0], "height": size[1]}, color_scheme=scheme, reduced_motion="reduce"
        )
        self.page: Page = self.context.new_page()
        self.page.set_default_timeout(PATIENCE)
        self.tables: list[dict[str, Any]] = []
        self.faults: list[str] = []
        self.page.on("console", lambda said: said.type in ("error", "warning") and self.faults.append(said.text))
        self.page.on("pageerror", lambda error: self.faults.append(str(error)))
        self.page.on("request", lambda request: self._note_request(request.url))
        self.page.on("websocket", lambda socket: socket.on("framereceived", self._note_frame))

    def _note_request(self, url: str) -> None:
        if not url.startswith((self.address, self.address.replace("http", "ws", 1))):
            self.faults.append(f"request to {url}")

    def _note_frame(self, frame: str | bytes) -> None:
        message = json.loads(frame)
        if message["type"] == "table":
            self.tables.append(message)

    @property
    def table(self) -> dict[str, Any]:
        """The last table that the page was sent."""
        return self.tables[-1]

    def visit(self, link: str) -> None:
        """Open a page of the server."""
        self.page.goto(self.address + link)

    def sit_down(self, link: str) -> None:
        """Open the page of a seat, and wait until this seat is to decide or the game is over."""
        self.visit(link)
        self.wait_for_turn()

    def wait_for_turn(self, before: int = 0) -> None:
        """Wait until the seat is to decide, or the game is over, by a table that came after ``before`` others."""
        for _ in range(MOST_WAITS):
            if len(self.tables) > before and (self.table["decision"] is not None or self.table["ended"]):
                self.page.wait_for_function(
                    "decision => document.getElementById('table').dataset.decision === decision",
                    arg=str(self.table["decision"] if self.table["decision"] is not None else ""),
                )
                return
            self.page.wait_for_timeout(20)
        raise TimeoutError(f"nothing to decide after {len(self.tables)} tables")

    def click_to(self, action: str) -> None:
        """Come to a legal action by clicking, and click it; confirm it where it is asked whether one is sure."""
        doubtful = action in self.table["doubts"]
        self.click_on_the_way(action)
        self.page.click(f'#table [data-action="{action}"]')
        if doubtful:
            self.page.click("#doubt-yes")

    def click_on_the_way(self, action: str) -> None:
        """Click what leads to an action, until there is a button for it."""
        while not self.page.locator(f'#table [data-action="{action}"]').count():
            leads = [lead for lead in self.page.evaluate(LEADS) if f"{action} ".startswith(f"{lead} ")]
            assert leads, f"nothing leads to {action}"
            self.page.click(f'#table [data-leads="{max(leads, key=len)}"]')

    def act(self, action: str) -> None:
        """Take an action by clicking, and wait until the next one is to be taken, or the game is over."""
        before = len(self.tables)
        self.click_to(action)
        self.wait_for_turn(before)

    def explored(self) -> dict[str, int]:
        """Return how many buttons there are at once for each action, all ways of picking taken together."""
        found: dict[str, int] = self.page.evaluate(EXPLORE)
        return found

    def read(self) -> dict[str, Any]:
        """Return what the table on the page says."""
        said: dict[str, Any] = self.page.evaluate(READ)
        return said

    def violations(self) -> list[str]:
        """Return what axe-core finds on the page."""
        if not self.page.evaluate("() => Boolean(window.axe)"):
            # Past the policy of the page, as a person's own tool would be.
            self.page.evaluate(AXE.read_text(encoding="utf-8"))
        found = self.page.evaluate("rules => axe.run({ runOnly: rules })", RULES)
        return [
            f"{violation['id']}: {node['html'][:200]} {node['failureSummary'][:300]}"
            for violation in found["violations"]
            for node in violation["nodes"][:3]
        ]

    def close(self) -> None:
        """Close the browser of this person."""
        self.context.close()
