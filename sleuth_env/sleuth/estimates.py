"""Rough estimates from the information sheet, in microseconds: where gems lie, and what a question tells.

No deal is enumerated. ``probabilities`` f8 [H, C] say how likely a holder is to have a gem; they are
made to agree with the announced numbers one after the other (iterative proportional fitting). What a
question tells is computed as if the cells of a holder were independent of one another. Holders as in
`clues`: opponents in turn order, then "missing".
"""

from __future__ import annotations

import math

import numpy as np

from ..bits import members, popcount
from ..deduction.evidence import MAX_HOLDERS, MAX_SETS
from ..kernels import inner
from .cards import NUM_GEMS

# A gem is not said to be missing for certain: where it lies otherwise would be divided by nothing.
MOST_MISSING = 0.999
# Nor to be held for certain, for the same reason.
MOST_HELD = 1.0 - 1e-12
# How many of some undecided cells a holder has.
COUNT = np.dtype([("holder", "i8"), ("cells", "i8"), ("number", "i8")])


@inner
def _scale(row, cells, number):
    """Make the probabilities in some cells of one holder sum to a number."""
    total = 0.0
    for c in members(cells):
        total += row[c]
    if total <= 0.0:
        return
    factor = number / total
    for c in members(cells):
        row[c] *= factor


@inner
def _normalise(probabilities, num_holders, totals):
    """Make the probabilities of each gem sum to 1 over its holders, if any may have it."""
    totals[:] = 0.0
    for h in range(num_holders):
        for c in range(NUM_GEMS):
            totals[c] += probabilities[h, c]
    for c in range(NUM_GEMS):
        totals[c] = totals[c] if totals[c] > 0.0 else 1.0
    for h in range(num_holders):
        for c in range(NUM_GEMS):
            probabilities[h, c] /= totals[c]


@inner
def _list_counts(e, sheet, counts):
    """List the numbers that are known of undecided cells in `counts` (COUNT [H * S]); return how many there are."""
    length = 0
    for h in range(e["num_holders"]):
        undecided = sheet["can"][h] & ~sheet["has"][h]
        for s in range(e["num_sets"]):
            cells = e["sets"][s] & undecided
            if cells and e["least"][h, s] == e["most"][h, s]:
                counts[length]["holder"] = h
                counts[length]["cells"] = cells
                counts[length]["number"] = e["least"][h, s] - popcount(e["sets"][s] & sheet["has"][h])
                length += 1
    return length


@inner
def estimate(e, sheet, rounds, counts, totals, probabilities):
    """Fill in rough probabilities for the undecided cells of a sheet (0 in all other cells).

    Args:
        e: one EVIDENCE record from `clues`.
        sheet: its SHEET record, not broken.
        rounds: how often all that is known is fitted to; more are better.
        counts: COUNT [H * S], working space.
        totals: f8 [C], working space.
        probabilities: f8 [H, C], overwritten.
    """
    for h in range(e["num_holders"]):
        undecided = sheet["can"][h] & ~sheet["has"][h]
        for c in range(NUM_GEMS):
            probabilities[h, c] = (undecided >> c) & 1
    length = _list_counts(e, sheet, counts)
    for _ in range(rounds):
        for i in range(length):
            _scale(probabilities[counts[i]["holder"]], counts[i]["cells"], counts[i]["number"])
        _normalise(probabilities, e["num_holders"], totals)


@inner
def entropy_of(p):
    return -(p * math.log2(p) + (1.0 - p) * math.log2(1.0 - p)) if 0.0 < p < 1.0 else 0.0


@inner
def estimating_space():
    """Return what `estimate` writes into: COUNT [H * S], f8 [C] and f8 [H, C]."""
    return (
        np.empty(MAX_HOLDERS * MAX_SETS, COUNT),
        np.empty(NUM_GEMS, np.float64),
        np.empty((MAX_HOLDERS, NUM_GEMS), np.float64),
    )


@inner
def information_space():
    """Return what `information` writes into: f8 [C] four times."""
    return (
        np.empty(NUM_GEMS, np.float64),
        np.empty(NUM_GEMS, np.float64),
        np.empty(NUM_GEMS + 1, np.float64),
        np.empty(NUM_GEMS + 1, np.float64),
    )


@inner
def _bits(distribution, size):
    total = 0.0
    for i in range(size):
        if distribution[i] > 0.0:
            total -= distribution[i] * math.log2(distribution[i])
    return total


@inner
def _list_cells(e, sheet, probabilities, holder, question, held, aside):
    """List the open cells that a question touches.

    Args:
        e, sheet, probabilities, holder, question: see `information`.
        held: f8 [C], written: how likely the holder has the gem of each cell, if it is not missing.
        aside: f8 [C], written: how likely that gem is missing.

    Returns:
        The number of cells, and how likely a missing gem is among them.
    """
    last = e["num_holders"] - 1
    among = 0.0
    size = 0
    for c in members(e["sets"][question] & sheet["can"][holder] & ~sheet["has"][holder]):
        aside[size] = min(probabilities[last, c], MOST_MISSING)
        held[size] = min(probabilities[holder, c] / (1.0 - aside[size]), 1.0)
        among += aside[size]
        size += 1
    return size, among


@inner
def _number_without(size, held, gone, number):
    """Write how likely the holder has each number of the gems if one of them, or none (-1), is missing.

    Args:
        size, held: see `_list_cells`.
        gone: the cell of the missing gem.
        number: f8 [C + 1], written up to the number of the other cells.

    Returns:
        That number.
    """
    number[0] = 1.0
    cells = 0
    for i in range(size):
        if i != gone:
            cells += 1
            number[cells] = number[cells - 1] * held[i]
            for k in range(cells - 1, 0, -1):
                number[k] = number[k] * (1.0 - held[i]) + number[k - 1] * held[i]
            number[0] *= 1.0 - held[i]
    return cells


@inner
def _chance_to_show(size, held, gone, shown):
    """Return how likely the holder has just the gems of a mask of cells, if one, or none (-1), is missing."""
    chance = 1.0
    for i in range(size):
        has = shown >> i & 1
        if i == gone:
            chance *= 1 - has
        else:
            chance *= held[i] if has else 1.0 - held[i]
    return chance


@inner
def _number_information(size, outside, held, aside, number, mixture):
    """Return what the number tells of gems that the holder has; see `_list_cells` (number, mixture: f8 [C + 1])."""
    mixture[: size + 1] = 0.0
    left = 0.0
    for gone in range(-1, size):
        weight = outside if gone < 0 else aside[gone]
        cells = _number_without(size, held, gone, number)
        left += weight * _bits(number, cells + 1)
        for k in range(cells + 1):
            mixture[k] += weight * number[k]
    return _bits(mixture, size + 1) - left


@inner
def _gems_information(size, outside, held, aside, odds):
    """Return what it tells to be shown the gems that the holder has; see `_list_cells` (odds: f8 [C], written)."""
    left = 0.0
    for i in range(size):
        left += (1.0 - aside[i]) * entropy_of(held[i])
        held[i] = min(held[i], MOST_HELD)
        odds[i] = aside[i] / (1.0 - held[i])
    bits = 0.0
    for shown in range(1 << size):
        # How likely just these are shown: if none of the cells is missing, or one that is not shown.
        chance = 1.0
        missing = outside
        for i in range(size):
            if shown >> i & 1:
                chance *= held[i]
            else:
                chance *= 1.0 - held[i]
                missing += odds[i]
        chance *= missing
        if chance > 0.0:
            bits -= chance * math.log2(chance)
    return bits - left


@inner
def information(e, sheet, probabilities, holder, question, shown, space):
    """Estimate how many bits the answer to a question tells about a missing gem.

    Args:
        e: one EVIDENCE record.
        sheet: its SHEET record.
        probabilities: f8 [H, C] from `estimate`; those of a gem to be missing add up to 1.
        holder: whom to ask.
        question: what to ask.
        shown: whether the asker sees the cards.
        space: from `information_space`.
    """
    held, aside, number, mixture = space
    size, among = _list_cells(e, sheet, probabilities, holder, question, held, aside)
    if among <= 0.0:
        return 0.0
    outside = max(1.0 - among, 0.0)
    if shown:
        return max(_gems_information(size, outside, held, aside, number), 0.0)
    return max(_number_information(size, outside, held, aside, number, mixture), 0.0)


@inner
def chance_after(e, sheet, probabilities, holder, question, shown, space):
    """Estimate how likely the likeliest missing gem is right after the answer to a question.

    The arguments are those of `information`.
    """
    held, aside, number, best = space
    size, _ = _list_cells(e, sheet, probabilities, holder, question, held, aside)
    last = e["num_holders"] - 1
    touched = e["sets"][question] & sheet["can"][holder] & ~sheet["has"][holder]
    elsewhere = 0.0
    for c in members(sheet["can"][last] & ~touched):
        elsewhere = max(elsewhere, probabilities[last, c])
    total = 0.0
    if shown:
        for gems in range(1 << size):
            most = 0.0
            for gone in range(-1, size):
                weight = elsewhere if gone < 0 else aside[gone]
                most = max(most, weight * _chance_to_show(size, held, gone, gems))
            total += most
        return total
    best[: size + 1] = 0.0
    for gone in range(-1, size):
        weight = elsewhere if gone < 0 else aside[gone]
        cells = _number_without(size, held, gone, number)
        for k in range(cells + 1):
            best[k] = max(best[k], weight * number[k])
    for k in range(size + 1):
        total += best[k]
    return total


@inner
def normalise_missing(e, probabilities):
    """Make the probabilities of a gem to be missing (the last row of f8 [H, C]) add up to 1."""
    last = e["num_holders"] - 1
    total = 0.0
    for c in range(NUM_GEMS):
        total += probabilities[last, c]
    for c in range(NUM_GEMS):
        probabilities[last, c] /= max(total, 1e-9)
