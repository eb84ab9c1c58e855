"""A real browser opens replay pages from the disk and steps through them."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("playwright")

from playwright.sync_api import Browser, Page

from sleuth_env.policies.policy import load_policy
from sleuth_env.web.frames import Replay, make_replay
from sleuth_env.web.replay_page import replay_page
from tests.support.pages import GOOD_BOTS, bot_game

from .opening import DESK, PHONE, check_fit, opened

pytestmark = pytest.mark.browser

GAMES: list[tuple[str, dict[str, Any], str | None]] = [
    ("sleuth", {"num_players": 3}, "pretrained:sleuth-4p"),
    ("holmes", {"num_players": 4, "max_turns": 25}, None),
]
DEALT = "The cards have been dealt."


@pytest.fixture(scope="module", params=GAMES, ids=lambda given: given[0])
def written(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Replay]:
    """A page on the disk, and what it should show."""
    name, options, policy = request.param
    record = bot_game(name, GOOD_BOTS[name], **options)
    loaded = None if policy is None else load_policy(policy)
    path = tmp_path_factory.mktemp("page") / "game.html"
    path.write_text(replay_page(record, loaded))
    return path, make_replay(record, loaded)


@contextmanager
def opened_replay(browser: Browser, path: Path, size: tuple[int, int] = DESK, scheme: str = "light") -> Iterator[Page]:
    """Open a replay page and wait until it is drawn."""
    with opened(browser, path, size, scheme) as page:
        page.wait_for_selector("[data-step-text]")
        yield page


def step_text(page: Page) -> str:
    return page.locator("[data-step-text]").text_content() or ""


def shown_step(page: Page) -> int:
    return int(page.locator("html").get_attribute("data-step") or -1)


def test_every_step_is_told_as_replay_tells_it(browser: Browser, written: tuple[Path, Replay]) -> None:
    path, replay = written
    last = len(replay.steps) - 1
    with opened_replay(browser, path) as page:
        for seat in range(-1, len(replay.private)):
            texts = replay.revealed if seat < 0 else replay.private[seat]
            page.select_option("#viewpoint", str(seat))
            page.evaluate("document.activeElement.blur()")
            page.keyboard.press("Home")
            for step, text in enumerate(texts):
                assert shown_step(page) == step
                assert step_text(page) == (text or DEALT)
                page.keyboard.press("ArrowRight")
            ending = replay.ending_revealed if seat < 0 else replay.ending
            assert page.locator("[data-ending]").text_content() == ending
            page.keyboard.press("ArrowLeft")
            assert shown_step(page) == max(last - 1, 0)
            page.keyboard.press("End")
            assert shown_step(page) == last


def test_buttons_and_the_slider_step(browser: Browser, written: tuple[Path, Replay]) -> None:
    path, replay = written
    last = len(replay.steps) - 1
    with opened_replay(browser, path) as page:
        page.get_by_role("button", name="Step forward").click()
        assert shown_step(page) == 1
        page.get_by_role("button", name="Last step").click()
        assert shown_step(page) == last
        assert page.get_by_role("button", name="Step forward").is_disabled()
        page.get_by_role("button", name="Step back").click()
        assert shown_step(page) == last - 1
        page.get_by_role("button", name="First step").click()
        assert shown_step(page) == 0
        page.get_by_role("slider").fill("2")
        assert shown_step(page) == 2
        assert page.get_by_role("slider").get_attribute("aria-valuetext") == f"step 2 of {last}"
        page.get_by_role("button", name="Play").click()
        page.wait_for_selector("html[data-step='3']", state="attached")


def test_a_seat_sees_its_table_with_odds_and_without(browser: Browser, written: tuple[Path, Replay]) -> None:
    path, replay = written
    step = len(replay.steps) // 2
    with opened_replay(browser, path) as page:
        page.select_option("#viewpoint", "1")
        page.get_by_role("slider").fill(str(step))
        frame = replay.frames[1][step]
        cells = page.locator("td[data-item][data-place]")
        assert cells.count() == sum(len(signs) for signs in frame["board"]["items"].values())
        assert page.locator("td.sheet-chance").count() == sum(len(row) for row in frame["odds"]["items"].values())
        assert page.locator("[data-log] li").all_text_contents() == [line.strip() for line in frame["log"]]
        assert page.locator("[data-questions] li").count() == min(len(frame["questions"]), 5)
        page.get_by_label("odds").uncheck()
        assert page.locator("td.sheet-chance").count() == 0
        assert page.locator("[data-action]").count() == 0


def test_the_policys_bars_are_its_probabilities(browser: Browser, written: tuple[Path, Replay]) -> None:
    path, replay = written
    with opened_replay(browser, path) as page:
        for step in range(len(replay.steps)):
            deciding = [seat for seat, frames in enumerate(replay.frames) if frames[step]["decision"] is not None]
            for seat in deciding[:1]:
                frame = replay.frames[seat][step]
                page.select_option("#viewpoint", str(seat))
                page.get_by_role("slider").fill(str(step))
                assert page.locator("[data-did]").last.text_content() == (frame["did"] or "the text ends here")
                if frame["policy"]:
                    within = sum(len(decision["policy"]) for decision in frame["within"])
                    assert page.locator("[data-policy]").count() == len(frame["policy"]) + within


def test_names_are_shown_and_never_run(browser: Browser, tmp_path: Path) -> None:
    path = tmp_path / "game.html"
    players = [f"{seat}</script><img src=x onerror=alert(1)><b>" for seat in range(3)]
    path.write_text(replay_page(bot_game("sleuth", "sheet", num_players=3), title=players[0], players=players))
    with opened_replay(browser, path) as page:
        page.on("dialog", lambda dialog: pytest.fail(dialog.message))
        options = page.locator("#viewpoint option").all_text_contents()
        assert options[1:] == [f"player_{seat}: {name}" for seat, name in enumerate(players)]
        assert page.locator("h1").text_content() == f"{players[0]}: replay"
        page.select_option("#viewpoint", "0")
        assert page.locator("img").count() == 0
        assert players[1] in (page.locator("[data-player='+1']").text_content() or "")


@pytest.mark.parametrize("size", [DESK, PHONE], ids=["desk", "phone"])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_page_is_fit_for_everybody(
    size: tuple[int, int], scheme: str, browser: Browser, written: tuple[Path, Replay]
) -> None:
    path, replay = written
    with opened_replay(browser, path, size, scheme) as page:
        for seat, step in (("-1", 1), ("0", len(replay.steps) // 2), ("1", len(replay.steps) - 1)):
            page.select_option("#viewpoint", seat)
            page.get_by_role("slider").fill(str(step))
            check_fit(page)
