"""The bot `sheet`: it estimates from the information sheet how much a question tells.

The estimates are cheap: no deal is enumerated, see `estimates`. ``probabilities`` f8 [H, C] are
those. Holders as in `clues`: opponents in turn order, then "missing".
"""

from __future__ import annotations

import math

import numpy as np

from ...bits import members, popcount
from ...deduction.evidence import EVIDENCE, MAX_HOLDERS
from ...deduction.sheet import LEVEL, SHEET, WORK, fill_in
from ...kernels import inner, kernel
from ..belief import affordable
from ..cards import NUM_QUESTIONS
from ..estimates import entropy_of, estimate, estimating_space
from ..rules import is_shown
from .base import Bot, accusation_or_pass, best_ask, checking, evidence_and_sheets, make_costs, what_remains

FITTING_ROUNDS = 2
# The most hypothetical answers that are followed up in one decision, which bounds its time.
MAX_TRIALS = 120
MAX_CANDIDATES = 4
# A gem that may be missing counts for this much more than another.
CANDIDATE_WEIGHT = 1.0
# The number is announced to everybody: this share of what it tells is lost to the opponents.
LEAK = 0.3
# In bits. A question that tells less is not worth a turn: better to exchange. A free search card is
# worth keeping.
SHEET_COSTS = make_costs(turn=0.2, free_element=0.3, free=0.6, tie_break=1e-6)


@inner
def working_space():
    """Return what the choices below write into.

    They are EVIDENCE, SHEET and WORK [1], COUNT [H * S], f8 [C], f8 [H, C] and f8 [H, Q].
    """
    return (
        np.empty(1, EVIDENCE),
        np.empty(1, SHEET),
        np.empty(1, WORK),
        *estimating_space(),
        np.empty((MAX_HOLDERS, NUM_QUESTIONS), np.float64),
    )


@inner
def sheet_worth(e, sheet, probabilities, holder, question, shown):
    """Estimate what a question is worth.

    It is worth the bits that it tells, more for a gem that may be missing, less what the others
    learn.

    Args:
        e: one EVIDENCE record.
        sheet: its SHEET record.
        probabilities: f8 [H, C] from `estimate`.
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
    bits = 0.0
    variance = 0.0
    weight = 0.0
    size = popcount(cells)
    for c in members(cells):
        p = probabilities[holder, c]
        cell_weight = 1.0 + CANDIDATE_WEIGHT * ((candidates >> c) & 1)
        if shown:
            bits += cell_weight * entropy_of(p)
        variance += p * (1.0 - p)
        weight += cell_weight
    if size == 0:
        return 0.0
    # A number spreads like a normal distribution: this is exact for one even cell and close beyond.
    number_bits = 0.5 * math.log2(1.0 + 12.0 * variance) * weight / size
    if not shown:
        return number_bits * (1.0 - LEAK)
    return bits * (size - 1.0) / size if number_known else bits - LEAK * number_bits


@inner
def _subset(cells, index):
    """Return the subset of some cells that an index (0 to 2**size - 1) stands for."""
    chosen = cells & 0
    while index:
        if index & 1:
            chosen |= cells & -cells
        cells &= cells - 1
        index >>= 1
    return chosen


@inner
def _pose(e, sheet, holder, question, shown, answer, trial):
    """Write evidence with a hypothetical answer into `trial`; False when no answer is left.

    An answer is an index: of the number of undecided cells that the holder has or, if shown, of
    which ones. What the sheet has already made of the evidence goes along, so that the answer is
    quickly followed up.
    """
    cells = e["sets"][question] & sheet["can"][holder] & ~sheet["has"][holder]
    size = popcount(cells)
    if answer >= (1 << size if shown else size + 1):
        return False
    trial[0] = e
    subset = _subset(cells, answer) if shown else cells & 0
    for h in range(e["num_holders"]):
        trial[0]["possible"][h] = sheet["can"][h] & ~subset
    if shown:
        trial[0]["possible"][holder] = sheet["can"][holder] & (subset | ~cells)
    number = popcount(e["sets"][question] & sheet["has"][holder]) + (popcount(subset) if shown else answer)
    trial[0]["least"][holder, question] = max(number, int(e["least"][holder, question]))
    trial[0]["most"][holder, question] = min(number, int(e["most"][holder, question]))
    return True


@inner
def _worth_posing(e, sheet, holder, question, shown):
    """Whether a question touches a gem that may be missing and has enough answers to decide.

    That is, at least as many answers as gems that may be missing.
    """
    last = e["num_holders"] - 1
    cells = e["sets"][question] & sheet["can"][holder] & ~sheet["has"][holder]
    candidates = sheet["can"][last] & ~sheet["has"][last]
    answers = 1 << popcount(cells) if shown else popcount(cells) + 1
    return cells & candidates != 0 and answers >= popcount(candidates)


@inner
def _deciding_question(rules, legal, e, sheet, space):
    """Return a final question whose every possible answer would prove all missing gems, -1 if there is none.

    Each answer is added to the evidence and followed up by the sheet's rules; one that contradicts
    it cannot be given. Nothing is tried while more than MAX_CANDIDATES gems may be missing, and no
    further question after MAX_TRIALS answers.

    Args:
        rules: one RULES record.
        legal: u1 [A].
        e: one EVIDENCE record from `clues`.
        sheet: its SHEET record.
        space: from `working_space`.
    """
    trial, trial_sheet, work = space[:3]
    last = int(e["num_holders"]) - 1
    trials = 0
    candidates = popcount(sheet["can"][last] & ~sheet["has"][last])
    if not legal[rules["final_at"]] or not 1 < candidates <= MAX_CANDIDATES:
        return -1
    for at in range(last * NUM_QUESTIONS):
        holder = at // NUM_QUESTIONS
        question = at % NUM_QUESTIONS
        shown = is_shown(rules, question)
        decides = _worth_posing(e, sheet, holder, question, shown)
        answer = np.int64(0)
        while decides and _pose(e, sheet, holder, question, shown, answer, trial):
            fill_in(trial[0], work[0], trial_sheet[0], LEVEL)
            decides = trial_sheet[0]["broken"] != 0 or popcount(trial_sheet[0]["has"][last]) == rules["missing"]
            answer += 1
        trials += int(answer)
        if decides:
            return int(rules["final_at"]) + at
        if trials > MAX_TRIALS:
            break
    return -1


@inner
def _most_telling(rules, v, legal, bits, e, sheet, costs, space):
    """Return the ask that promises to tell most after the price of its search card, -1 if none tells enough."""
    counts, totals, probabilities, worths = space[3:]
    estimate(e, sheet, FITTING_ROUNDS, counts, totals, probabilities)
    for question in members(affordable(rules, v)):
        shown = is_shown(rules, question)
        for holder in range(e["num_holders"] - 1):
            worths[holder, question] = sheet_worth(e, sheet, probabilities, holder, question, shown)
    return best_ask(rules, v, legal, bits, worths, costs)


@inner
def choose_by_sheet(rules, v, legal, bits, e, sheet, costs, space):
    """Choose one action as `sheet` does.

    Args:
        rules: one RULES record.
        v: one VIEW record.
        legal: u1 [A].
        bits: u8, settles ties.
        e: one EVIDENCE record from `clues`.
        sheet: its SHEET record.
        costs: one COSTS record.
        space: from `working_space`.
    """
    action = accusation_or_pass(rules, v, sheet)
    if action < 0:
        action = _deciding_question(rules, legal, e, sheet, space)
    if action < 0:
        action = _most_telling(rules, v, legal, bits, e, sheet, costs, space)
    return what_remains(rules, legal, bits, action)


@kernel
def play_by_sheet(rules, views, legal, seeds, evidence, sheets, costs, actions):
    """Choose in every game as `sheet` does.

    Args:
        rules: RULES [1].
        views: VIEW [B].
        legal: u1 [B, A].
        seeds: u8 [B], they settle ties.
        evidence: EVIDENCE [B] from `clues`.
        sheets: SHEET [B] from `propagate`.
        costs: COSTS [1].
        actions: i8 [B], written.
    """
    space = working_space()
    for b in range(views.size):
        actions[b] = choose_by_sheet(rules[0], views[b], legal[b], seeds[b], evidence[b], sheets[b], costs[0], space)


class SheetBot(Bot):
    """Ask what promises to tell most, exchange worthless cards, accuse what is proved."""

    name = "sheet"

    @checking
    def act(self, views: np.ndarray, legal: np.ndarray, seeds: np.ndarray) -> np.ndarray:
        """Choose an action in every game, see `Bot.act`."""
        evidence, sheets = evidence_and_sheets(self.rules, views)
        actions = np.empty(views.size, np.int64)
        play_by_sheet(self.rules, views, legal, seeds, evidence, sheets, SHEET_COSTS, actions)
        return actions
