"""How much a question promises to tell: cheap estimates from a sheet, without enumerating deals.

``chances`` f8 [H, C] are rough probabilities that a holder has a gem, made to agree with the counts one after the
other (iterative proportional fitting). Holders as in `clues`: opponents in turn order, then "missing".
"""

from __future__ import annotations

import math

import numpy as np

from ..bits import kernel, lowest, popcount
from ..deduction.sheet import propagate
from .cards import NUM_GEMS, NUM_QUESTIONS

ROUNDS = 2
# At most so many hypothetical answers are followed up in one decision, which bounds its time.
MAX_TRIALS = 120
MAX_CANDIDATES = 4
# A gem that may be missing counts for so much more.
CANDIDATE_WEIGHT = 1.0
# A number tells less than the cards themselves.
NUMBER_WEIGHT = 1.0


@kernel
def _scale(row, cells, number):
    """Make the chances in some cells of one holder sum to a number."""
    total, todo = 0.0, cells
    while todo:
        total += row[lowest(todo)]
        todo &= todo - 1
    if total <= 0.0:
        return
    factor = number / total
    while cells:
        row[lowest(cells)] *= factor
        cells &= cells - 1


@kernel
def _share(chances, num_holders, cards):
    """Make the chances of each gem sum to 1 over its holders."""
    while cards:
        c = lowest(cards)
        cards &= cards - 1
        total = 0.0
        for h in range(num_holders):
            total += chances[h, c]
        if total > 0.0:
            for h in range(num_holders):
                chances[h, c] /= total


@kernel
def estimate(e, sheet, chances):
    """Fill in rough chances for the undecided cells of a sheet (0 in all other cells).

    Args:
        e: one EVIDENCE record from `clues`.
        sheet: its SHEET record, not broken.
        chances: f8 [H, C], overwritten.
    """
    free = e["cards"]
    for h in range(e["num_holders"]):
        free &= ~sheet["has"][h]
        undecided = sheet["can"][h] & ~sheet["has"][h]
        for c in range(NUM_GEMS):
            chances[h, c] = (undecided >> c) & 1
    for _ in range(ROUNDS):
        for h in range(e["num_holders"]):
            undecided = sheet["can"][h] & ~sheet["has"][h]
            for s in range(e["num_sets"]):
                cells = e["sets"][s] & undecided
                if cells and e["least"][h, s] == e["most"][h, s]:
                    _scale(chances[h], cells, e["least"][h, s] - popcount(e["sets"][s] & sheet["has"][h]))
        _share(chances, e["num_holders"], free)


@kernel
def _entropy(p):
    return -(p * math.log2(p) + (1.0 - p) * math.log2(1.0 - p)) if 0.0 < p < 1.0 else 0.0


@kernel
def worth(e, sheet, chances, holder, question, shown):
    """Estimate how much a question tells, in bits where a gem that may be missing counts for more.

    Args:
        e: one EVIDENCE record.
        sheet: its SHEET record.
        chances: f8 [H, C] from `estimate`.
        holder: whom to ask.
        question: what to ask.
        shown: whether the asker sees the cards.
    """
    last = e["num_holders"] - 1
    cells = e["sets"][question] & sheet["can"][holder] & ~sheet["has"][holder]
    candidates = sheet["can"][last] & ~sheet["has"][last]
    number_known = e["least"][holder, question] == e["most"][holder, question]
    if number_known and not shown:
        return 0.0
    bits, variance, weight, size = 0.0, 0.0, 0.0, popcount(cells)
    while cells:
        c = lowest(cells)
        cells &= cells - 1
        p = chances[holder, c]
        cell = 1.0 + CANDIDATE_WEIGHT * ((candidates >> c) & 1)
        bits += cell * _entropy(p)
        variance += p * (1.0 - p)
        weight += cell
    if shown:
        return bits * (size - 1.0) / size if number_known and size else bits
    return NUMBER_WEIGHT * 0.5 * math.log2(1.0 + 4.0 * variance) * weight / size if size else 0.0


@kernel
def best_guess(sheet, chances, last, named):
    """Give the gem most likely to be missing that is not named yet (a mask); certain ones first."""
    best, best_chance = -1, -1.0
    todo = sheet["can"][last] & ~named
    while todo:
        c = lowest(todo)
        todo &= todo - 1
        chance = 2.0 if (sheet["has"][last] >> c) & 1 else chances[last, c]
        if chance > best_chance:
            best, best_chance = c, chance
    return best


@kernel
def _solves(trial, trial_sheet, missing):
    """Say whether an answer that can be given at all leaves every missing gem known."""
    propagate(trial, trial_sheet)
    last = trial[0]["num_holders"] - 1
    return trial_sheet[0]["broken"] != 0 or popcount(trial_sheet[0]["has"][last]) == missing


@kernel
def _start_trial(e, sheet, trial):
    """Copy the evidence and what the sheet has made of it, so that a hypothetical answer is quickly followed up."""
    trial[0] = e
    for h in range(e["num_holders"]):
        trial[0]["possible"][h] = sheet["can"][h]


@kernel
def _decides(e, sheet, holder, question, shown, missing, trial, trial_sheet):
    """Say whether every answer to a question leaves the missing gems known; also give the number of answers tried."""
    held = popcount(e["sets"][question] & sheet["has"][holder])
    cells = e["sets"][question] & sheet["can"][holder] & ~sheet["has"][holder]
    subset, tried = cells, 0
    while True:
        number = held + popcount(subset) if shown else held + tried
        if e["least"][holder, question] <= number <= e["most"][holder, question]:
            _start_trial(e, sheet, trial)
            if shown:
                trial[0]["possible"][holder] &= subset | ~cells
                for h in range(e["num_holders"]):
                    trial[0]["possible"][h] &= ~subset if h != holder else -1
            trial[0]["least"][holder, question] = number
            trial[0]["most"][holder, question] = number
            if not _solves(trial, trial_sheet, missing):
                return False, tried + 1
        tried += 1
        if (shown and subset == 0) or (not shown and tried > popcount(cells)):
            return True, tried
        subset = (subset - 1) & cells


@kernel
def deciding_question(rules, e, sheet, trial, trial_sheet):
    """Find a question whose every answer leaves the missing gems known.

    Each possible answer is added to the evidence and followed up by the sheet's rules; questions that do not touch a
    gem that may be missing are not tried, nor any once there are more than a few such gems.

    Returns:
        holder * 43 + question, or -1.
    """
    last = e["num_holders"] - 1
    candidates = sheet["can"][last] & ~sheet["has"][last]
    trials = 0
    if popcount(candidates) > MAX_CANDIDATES:
        return -1
    for holder in range(last):
        undecided = sheet["can"][holder] & ~sheet["has"][holder]
        for question in range(NUM_QUESTIONS):
            cells = e["sets"][question] & undecided
            shown = rules["num_elements"][question] == 2 and not rules["super_sleuth"]
            answers = 1 << popcount(cells) if shown else popcount(cells) + 1
            if cells & candidates and answers >= popcount(candidates) and trials < MAX_TRIALS:
                decides, tried = _decides(e, sheet, holder, question, shown, rules["missing"], trial, trial_sheet)
                trials += tried
                if decides:
                    return holder * NUM_QUESTIONS + question
    return -1
