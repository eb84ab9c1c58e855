"""A real browser opens the pages of tournaments and of learning curves from the disk."""

from __future__ import annotations

from pathlib import Path

import pytest

pytest.importorskip("playwright")

from playwright.sync_api import Browser

from sleuth_env import sleuth
from sleuth_env.matches import strengths
from sleuth_env.matches.tournament import play_tournament
from sleuth_env.sleuth import Options
from sleuth_env.web.curves_page import Level, Line, Panel, curves_page
from sleuth_env.web.tournament_page import tournament_page

from .opening import DESK, PHONE, check_fit, opened

pytestmark = pytest.mark.browser

every_size = pytest.mark.parametrize("size", [DESK, PHONE], ids=["desk", "phone"])
every_scheme = pytest.mark.parametrize("scheme", ["light", "dark"])


@pytest.fixture(scope="module")
def tournament(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The page of a small tournament."""
    patch = pytest.MonkeyPatch()
    patch.setattr(strengths, "RESAMPLES", 20)
    try:
        result = play_tournament(sleuth, Options(num_players=3, max_turns=12), ["random", "cautious", "sheet"], 4, 5)
    finally:
        patch.undo()
    path = tmp_path_factory.mktemp("page") / "tournament.html"
    path.write_text(tournament_page(result))
    return path


@pytest.fixture(scope="module")
def curves(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A page of curves, of which one has gaps."""
    lines = [Line("runs/one", [0.2, 0.3, 0.5]), Line("runs/two", [None, 0.4, None])]
    panels = [
        Panel(f"against {name}", [0.0, 1e6, 2e6], lines, [Level("equally good", 1 / 3)]) for name in ("random", "sheet")
    ]
    path = tmp_path_factory.mktemp("page") / "curves.html"
    path.write_text(curves_page("Learning curves", "decisions of the learner", panels))
    return path


@every_size
@every_scheme
def test_the_page_of_a_tournament_is_fit_for_everybody(
    size: tuple[int, int], scheme: str, browser: Browser, tournament: Path
) -> None:
    with opened(browser, tournament, size, scheme) as page:
        assert page.locator(".cross tbody tr").count() == 3
        check_fit(page)


@every_size
@every_scheme
def test_the_page_of_curves_is_fit_for_everybody(
    size: tuple[int, int], scheme: str, browser: Browser, curves: Path
) -> None:
    with opened(browser, curves, size, scheme) as page:
        page.wait_for_selector("svg.curves")
        for summary in page.locator("summary").all():
            summary.click()
        check_fit(page)


@every_size
def test_the_scale_of_a_single_panel_can_be_read(size: tuple[int, int], browser: Browser, tmp_path: Path) -> None:
    panel = Panel("against sheet", [0.0, 1e6], [Line("runs/one", [0.3, 0.45])], [])
    path = tmp_path / "curves.html"
    path.write_text(curves_page("Learning curves", "decisions of the learner", [panel]))
    with opened(browser, path, size) as page:
        page.wait_for_selector("svg.curves")
        texts = page.locator(".curve-text").evaluate_all(
            "all => all.map((text) => [text.textContent, text.getBBox().x, text.getBoundingClientRect().height])"
        )
        assert "37.5 %" in [words for words, _, _ in texts]
        assert all(left >= 0 for _, left, _ in texts)
        assert all(height < 24 for _, _, height in texts)


def test_values_are_read_off_by_pointing_at_them(browser: Browser, curves: Path) -> None:
    with opened(browser, curves) as page:
        picture = page.locator("svg.curves").first
        picture.wait_for()
        box = picture.bounding_box()
        assert box is not None
        values = page.locator(".curve-legend").first.locator("b")
        assert values.all_text_contents() == ["50 %", "\N{EN DASH}"]
        page.mouse.move(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
        assert values.all_text_contents() == ["30 %", "40 %"]
        assert page.locator(".curve-place").first.text_content() == "decisions of the learner 1M"
