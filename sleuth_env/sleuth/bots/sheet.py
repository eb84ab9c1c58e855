"""How much a question promises to tell: cheap estimates from a sheet, without enumerating deals.

``chances`` f8 [H, C] are rough probabilities that a holder has a gem, made to agree with the counts
one after the other (iterative proportional fitting). Holders as in `clues`: opponents in turn
order, then "missing".
"""

from __future__ import annotations

import math

import numpy as np

from ...bits import advance, below, lowest, mixed, popcount
from ...deduction.evidence import EVIDENCE, MAX_HOLDERS
from ...deduction.sheet import SHEET, propagate
from ...kernels import inner, kernel
from ..cards import FIRST_FREE, NUM_GEMS, NUM_PAIRS, NUM_QUESTIONS, PLAIN_FREE
from ..rules import is_shown
from .simple import CautiousBot

ROUNDS = 2
# At most so many hypothetical answers are followed up in one decision, which bounds its time.
MAX_TRIALS = 120
MAX_CANDIDATES = 4
# A gem that may be missing counts for so much more.
CANDIDATE_WEIGHT = 1.0
# A free search card is worth keeping: what it costs to spend one, in bits.
FREE_COST = 0.3
PLAIN_FREE_COST = 0.6
# Asks that tell less, in bits, are not worth a turn: better to exchange.
WORTHLESS = 0.2
TIE_BREAK = 1e-6
# The number is announced to everybody: this share of what it tells is lost to the opponents.
LEAK = 0.3


@inner
def _scale(row, cells, number):
    """Make the chances in some cells of one holder sum to a number."""
    total = 0.0
    todo = cells
    while todo:
        total += row[lowest(todo)]
        todo &= todo - 1
    if total <= 0.0:
        return
    factor = number / total
    while cells:
        row[lowest(cells)] *= factor
        cells &= cells - 1


@inner
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


@inner
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


@inner
def _entropy(p):
    return -(p * math.log2(p) + (1.0 - p) * math.log2(1.0 - p)) if 0.0 < p < 1.0 else 0.0


@inner
def worth(e, sheet, chances, holder, question, shown):
    """Estimate what a question is worth: bits told, more for a gem that may be missing, less what
    the others learn.

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
    bits = 0.0
    variance = 0.0
    weight = 0.0
    size = popcount(cells)
    while cells:
        c = lowest(cells)
        cells &= cells - 1
        p = chances[holder, c]
        cell = 1.0 + CANDIDATE_WEIGHT * ((candidates >> c) & 1)
        bits += cell * _entropy(p)
        variance += p * (1.0 - p)
        weight += cell
    if size == 0:
        return 0.0
    # A number spreads like a normal distribution: this is exact for one even cell and close beyond.
    number_bits = 0.5 * math.log2(1.0 + 12.0 * variance) * weight / size
    if not shown:
        return number_bits * (1.0 - LEAK)
    return bits * (size - 1.0) / size if number_known else bits - LEAK * number_bits


@inner
def _subset(cells, index):
    """Give the subset of some cells that an index (0 to 2**size - 1) stands for."""
    chosen = cells & 0
    while index:
        if index & 1:
            chosen |= cells & -cells
        cells &= cells - 1
        index >>= 1
    return chosen


@inner
def _pose(e, sheet, holder, question, shown, answer, trial):
    """Write evidence with a hypothetical answer; give False once there is no further answer.

    An answer is an index: of the number of undecided cells that the holder has or, if shown, of
        which ones. What the
    sheet has already made of the evidence goes along, so that the answer is quickly followed up.
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
    """Say whether a question touches a gem that may be missing and has answers enough to tell all
    of those apart.
    """
    last = e["num_holders"] - 1
    cells = e["sets"][question] & sheet["can"][holder] & ~sheet["has"][holder]
    candidates = sheet["can"][last] & ~sheet["has"][last]
    answers = 1 << popcount(cells) if shown else popcount(cells) + 1
    return cells & candidates != 0 and answers >= popcount(candidates)


@kernel
def ask_deciding(rules, views, legal, evidence, sheets, trial, trial_sheet, actions):
    """Where a turn is still open, ask a final question whose every possible answer leaves all
    missing gems known.

    Each answer is added to the evidence and followed up by the sheet's rules; one that contradicts
    it cannot be given. Nothing is tried while more than MAX_CANDIDATES gems may be missing, nor
    more than MAX_TRIALS answers or so.

    Args:
        rules: RULES [1].
        views: VIEW [B].
        legal: u1 [B, A].
        evidence: EVIDENCE [B] from `clues`.
        sheets: SHEET [B] from `propagate`.
        trial: EVIDENCE [1], working space.
        trial_sheet: SHEET [1], working space.
        actions: i8 [B], changed where it is -1 and there is such a question.
    """
    for b in range(views.size):
        e = evidence[b]
        sheet = sheets[b]
        last = int(e["num_holders"]) - 1
        trials = 0
        candidates = popcount(sheet["can"][last] & ~sheet["has"][last])
        if actions[b] >= 0 or not legal[b, rules[0]["final_at"]] or not 1 < candidates <= MAX_CANDIDATES:
            continue
        for at in range(last * NUM_QUESTIONS):
            holder = at // NUM_QUESTIONS
            question = at % NUM_QUESTIONS
            shown = is_shown(rules[0], question)
            decides = _worth_posing(e, sheet, holder, question, shown)
            answer = np.int64(0)
            while decides and _pose(e, sheet, holder, question, shown, answer, trial):
                propagate(trial, trial_sheet)
                decides = trial_sheet[0]["broken"] != 0 or popcount(trial_sheet[0]["has"][last]) == rules[0]["missing"]
                answer += 1
            trials += int(answer)
            if decides:
                actions[b] = rules[0]["final_at"] + at
            if decides or trials > MAX_TRIALS:
                break


@inner
def _price(card):
    return PLAIN_FREE_COST if card == PLAIN_FREE else (FREE_COST if card >= FIRST_FREE else 0.0)


@kernel
def ask_best(rules, views, legal, seeds, evidence, sheets, actions):
    """Where nothing is chosen yet, ask what promises most after the price of its search card, if it
    tells enough.

    Args:
        rules: RULES [1].
        views: VIEW [B].
        legal: u1 [B, A].
        seeds: u8 [B], they settle ties.
        evidence: EVIDENCE [B] from `clues`.
        sheets: SHEET [B] from `propagate`.
        actions: i8 [B], changed where it is -1 and there is such an ask.
    """
    chances = np.empty((MAX_HOLDERS, NUM_GEMS), np.float64)
    r = rules[0]
    for b in range(views.size):
        if actions[b] >= 0:
            continue
        e = evidence[b]
        sheet = sheets[b]
        cards = views[b]["search"][0]
        estimate(e, sheet, chances)
        best_value = -1e9
        bits = seeds[b]
        opponents = int(e["num_holders"]) - 1
        while cards:
            card = lowest(cards)
            cards &= cards - 1
            for i in range(r["num_card_pairs"][card] * opponents):
                holder = i % opponents
                pair = r["card_pairs"][card, i // opponents]
                action = holder * NUM_PAIRS + pair
                question = r["pair_question"][pair]
                told = worth(e, sheet, chances, holder, question, is_shown(r, question)) if legal[b, action] else 0.0
                bits = advance(bits)
                value = told - _price(card) + TIE_BREAK * below(mixed(bits), 1024)
                if told > WORTHLESS and value > best_value:
                    actions[b] = action
                    best_value = value


class SheetBot(CautiousBot):
    """Ask what promises to tell most, exchange worthless cards, accuse when the missing gems are
    proved.
    """

    name = "sheet"

    def _ask(
        self,
        views: np.ndarray,
        legal: np.ndarray,
        seeds: np.ndarray,
        evidence: np.ndarray,
        sheets: np.ndarray,
        actions: np.ndarray,
    ) -> None:
        ask_deciding(self.rules, views, legal, evidence, sheets, np.empty(1, EVIDENCE), np.empty(1, SHEET), actions)
        ask_best(self.rules, views, legal, seeds, evidence, sheets, actions)
