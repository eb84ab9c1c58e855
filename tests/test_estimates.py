"""Estimates of what a question tells are those of independent cells, counted one by one."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

from sleuth_env.deduction.evidence import MAX_HOLDERS
from sleuth_env.kernels import kernel
from sleuth_env.sleuth.bots.base import evidence_and_sheets
from sleuth_env.sleuth.cards import NUM_GEMS, NUM_QUESTIONS, Options
from sleuth_env.sleuth.estimates import (
    chance_after,
    estimate,
    estimating_space,
    information,
    information_space,
    normalise_missing,
)
from sleuth_env.sleuth.rules import is_shown
from tests.support.bot_games import BotGames
from tests.support.strategies import option_name


@kernel
def appraise(rules, evidence, sheets, probabilities, told, chances):
    """Write the estimates of one situation (f8 [H, C], and f8 [H, Q] twice)."""
    counts, totals, rough = estimating_space()
    cells = information_space()
    estimate(evidence[0], sheets[0], 8, counts, totals, rough)
    normalise_missing(evidence[0], rough)
    probabilities[:] = rough
    for holder in range(evidence[0]["num_holders"] - 1):
        for question in range(NUM_QUESTIONS):
            shown = is_shown(rules[0], question)
            told[holder, question] = information(evidence[0], sheets[0], rough, holder, question, shown, cells)
            chances[holder, question] = chance_after(evidence[0], sheets[0], rough, holder, question, shown, cells)


def counted(probabilities: np.ndarray, last: int, holder: int, gems: list[int], are_shown: bool) -> tuple[float, float]:
    """Return what a question tells about the missing gem, in bits, and the chance to be right after it."""
    aside = probabilities[last]
    joint: dict[tuple, float] = {}
    for missing in np.flatnonzero(aside):
        open_cells = [gem for gem in gems if gem != missing]
        for has in product((False, True), repeat=len(open_cells)):
            chance = aside[missing]
            for gem, is_held in zip(open_cells, has, strict=True):
                p = min(probabilities[holder, gem] / (1 - aside[gem]), 1.0)
                chance *= p if is_held else 1 - p
            answer = tuple(np.array(open_cells)[list(has)]) if are_shown else sum(has)
            joint[missing, answer] = joint.get((missing, answer), 0.0) + chance
    answers: dict = {}
    likeliest: dict = {}
    for (_, answer), chance in joint.items():
        answers[answer] = answers.get(answer, 0.0) + chance
        likeliest[answer] = max(likeliest.get(answer, 0.0), chance)
    bits = sum(
        chance * np.log2(chance / (aside[missing] * answers[answer]))
        for (missing, answer), chance in joint.items()
        if chance > 0
    )
    return bits, sum(likeliest.values())


@pytest.mark.parametrize(
    "options", [Options(3), Options(5, super_sleuth=True), Options(4, double_interrogation=True)], ids=option_name
)
def test_they_are_what_counting_says_of_independent_cells(options: Options) -> None:
    games = BotGames(options, ("sheet", "cautious"), 1, seed=2)
    compared = 0
    for decisions in games.play(60):
        evidence, sheets = evidence_and_sheets(games.rules, decisions.views)
        last = options.num_players - 1
        if np.bitwise_count(sheets["has"][0, last]) == options.missing:
            break
        probabilities = np.zeros((MAX_HOLDERS, NUM_GEMS))
        told = np.zeros((MAX_HOLDERS, NUM_QUESTIONS))
        chances = np.zeros((MAX_HOLDERS, NUM_QUESTIONS))
        appraise(games.rules, evidence, sheets, probabilities, told, chances)
        assert probabilities[last].sum() == pytest.approx(1)
        for holder, question in product(range(last), range(0, NUM_QUESTIONS, 5)):
            undecided = int(sheets["can"][0, holder]) & ~int(sheets["has"][0, holder])
            touched = int(games.rules["question_gems"][0, question]) & undecided
            gems = [c for c in range(NUM_GEMS) if touched >> c & 1]
            are_shown = games.rules["num_elements"][0, question] == 2 and not options.super_sleuth
            if len(gems) > 6:
                continue
            bits, chance = counted(probabilities, last, holder, gems, bool(are_shown))
            assert told[holder, question] == pytest.approx(bits, abs=1e-9)
            assert chances[holder, question] == pytest.approx(chance, abs=1e-9)
            compared += 1
    assert compared > 100
