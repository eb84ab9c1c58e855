"""The panel of beliefs: the chance of every gem in its place, and the best questions."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest

from sleuth_env.cli.streams import PLAIN
from sleuth_env.deduction.worlds import IntricateError, Worlds
from sleuth_env.sleuth import (
    FINISHED,
    OUT,
    Options,
    action_name,
    belief,
    draw_ansi,
    draw_belief,
    legal,
    make_rules,
    new_states,
    num_actions,
    parse_game,
)
from sleuth_env.sleuth.belief import ORDERS, beliefs
from sleuth_env.sleuth.drawing import scene as module
from sleuth_env.sleuth.drawing.scene import gem_at, make_panel
from sleuth_env.sleuth.drawing.text import COLUMNS
from sleuth_env.sleuth.notation import question_name
from sleuth_env.sleuth.state import OFFER, SECOND, TURN
from sleuth_env.sleuth.view import VIEW, view
from tests.support.positions import evidence_of

FILES = [
    file
    for file in sorted((Path(__file__).parent / "games").glob("*.txt"))
    if not file.stem.startswith(("six", "seven", "holmes"))
]
each_game = pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)


def seen(options: Options, state: np.void, seat: int) -> np.ndarray:
    """Return what a seat knows of a state, VIEW [1]."""
    states = new_states(1)
    views = np.zeros(1, VIEW)
    states[0] = state
    view(make_rules(options), states, np.array([seat]), views)
    return views


def positions(file: Path, every: int = 9):
    """Yield options, state and views (VIEW [1]) of a golden game.

    They are those of some positions and the last, of seats in turn and of the actor.
    """
    game = parse_game(file.read_text())
    for t in [*range(0, len(game.states), every), len(game.states) - 1]:
        state = game.states[t]
        for seat in {t % game.options.num_players, max(int(state["actor"]), 0)}:
            yield game.options, state, seen(game.options, state, seat)


@each_game
def test_every_gem_has_its_chance_to_be_missing_in_its_place(file: Path) -> None:
    for options, _, views in positions(file):
        worlds = belief(make_rules(options), views)
        lines = [
            line
            for line in draw_belief(options, views[0]).splitlines()
            if line.startswith(("diamond", "pearl", "opal"))
        ]
        for row, line in enumerate(lines):
            for column in range(4):
                gem = gem_at(row, column)
                mark = line[20 + 9 * column : 29 + 9 * column].strip()
                if mark in ("you", "table"):
                    assert int(views[{"you": "hand", "table": "table"}[mark]][0]) >> gem & 1
                elif mark in ("·", "MISSING"):
                    assert worlds.certain[gem, -1] == (mark == "MISSING")
                else:
                    assert mark == f"{worlds.missing[gem]:.1%}"
                    assert worlds.certain[gem, -1] == -1


@each_game
def test_the_best_questions_are_listed_best_first(file: Path) -> None:
    for options, _, views in positions(file):
        now = bool(views["to_act"][0] and views["phase"][0] in (TURN, SECOND))
        worths = beliefs(make_rules(options), views, now=now).worths[0]
        panel = make_panel(options, views[0])
        told = {f"ask +{h + 1} {question_name(q)}": worths[h, q] for h, q in np.argwhere(worths["information"] > 1e-9)}
        for question in panel.prospects:
            worth = told.pop(question.name)
            assert (question.information, question.decides) == pytest.approx((worth["information"], worth["decides"]))
        bits = [round(question.information, 9) for question in panel.prospects]
        assert bits == sorted(bits, reverse=True)
        if panel.prospects:
            assert max((worth["information"] for worth in told.values()), default=0) <= bits[-1] + 1e-8
            assert ("you may ask now" in panel.heading) == now


def test_what_may_be_asked_now_is_legal() -> None:
    asked = set()
    for file in FILES:
        for options, state, views in positions(file):
            marks = np.zeros((1, num_actions(options)), np.uint8)
            states = new_states(1)
            states[0] = state
            legal(make_rules(options), states, marks)
            names = [action_name(int(action), options.num_players) for action in np.flatnonzero(marks[0])]
            panel = make_panel(options, views[0])
            if "now" in panel.heading:
                assert all(
                    any(name.startswith(f"{question.name} with ") for name in names) for question in panel.prospects
                )
                asked.add(int(views["phase"][0]))
    assert asked == {TURN, SECOND}


@each_game
def test_who_is_out_or_in_a_finished_game_asks_nothing(file: Path) -> None:
    for options, _, views in positions(file):
        over = views["phase"][0] == FINISHED or views["standing"][0, 0] == OUT
        assert (make_panel(options, views[0]).heading == "You ask nothing more") >= over


def test_the_number_of_deals_is_that_of_the_count() -> None:
    for options, _, views in positions(FILES[0]):
        count = belief(make_rules(options), views).count
        said = "1 deal fits" if count == 1 else f"{count:,} deals fit"
        assert draw_belief(options, views[0]).startswith(f"{said} what you know")


@each_game
def test_the_panel_fits_the_terminal_and_needs_no_character_that_cannot_be_plain(file: Path) -> None:
    for options, _, views in positions(file, every=25):
        text = draw_ansi(options, views[0], belief=True)
        assert max(map(len, text.splitlines())) <= COLUMNS
        assert text.translate(PLAIN).isascii()
        coloured = re.sub(r"\x1b\[[0-9;]*m", "", draw_ansi(options, views[0], colour=True, belief=True))
        assert [line.rstrip() for line in coloured.splitlines()] == text.splitlines()


def test_the_panel_follows_the_drawing_and_only_when_it_is_wanted() -> None:
    options, _, views = next(positions(FILES[0]))
    plain = draw_ansi(options, views[0])
    panel = draw_belief(options, views[0])
    assert "deals fit" not in plain
    assert draw_ansi(options, views[0], belief=True) == f"{plain}{'─' * COLUMNS}\n{panel}"


@pytest.mark.parametrize(
    ("chance", "written"), [(0.00001, "<0.1%"), (0.99999, ">99.9%"), (0.5, "50.0%"), (0.123456, "12.3%")]
)
def test_no_chance_is_rounded_to_a_certainty(chance: float, written: str, monkeypatch: pytest.MonkeyPatch) -> None:
    options, _, views = next(positions(FILES[0]))

    class Rounded(Worlds):
        """Chances of which some are nearly certain."""

        missing = np.full(36, chance)  # type: ignore[assignment]

    monkeypatch.setattr(module, "belief", lambda rules, views: Rounded(evidence_of(options, views), ORDERS, 36))
    assert written in draw_belief(options, views[0])


def test_an_estimate_is_called_one(monkeypatch: pytest.MonkeyPatch) -> None:
    options, _, views = next(positions(FILES[0]))
    monkeypatch.setattr(
        module, "belief", lambda rules, views: Worlds(evidence_of(options, views), ORDERS, 36, cap=1, keep=20)
    )
    assert re.match(
        r"About [\d.e+]+ deals fit what you know; the chances are estimates "
        r"with an expected error of [\d.]+% in all, and bits are overstated\n",
        draw_belief(options, views[0]),
    )


def test_what_is_too_intricate_to_be_counted_is_said_to_be(monkeypatch: pytest.MonkeyPatch) -> None:
    options, _, views = next(positions(FILES[0]))

    def refuse(rules: np.ndarray, views: np.ndarray) -> Worlds:
        raise IntricateError

    monkeypatch.setattr(module, "belief", refuse)
    assert draw_belief(options, views[0]) == "The deals that fit what you know cannot be counted\n"


def test_at_an_offer_the_questions_are_those_of_the_cards() -> None:
    headings = {
        make_panel(options, views[0]).heading
        for file in FILES
        for options, _, views in positions(file)
        if views["phase"][0] == OFFER
    }
    assert any(heading.endswith("that your cards allow") for heading in headings)
    assert not any("now" in heading for heading in headings)
