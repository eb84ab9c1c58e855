"""The pencil sheet: what follows from evidence by quick local reasoning, carried on to a fixed point.

Everything that is marked is certain; not everything that is certain is marked. Three levels, each including the one before:

1. Each card has one holder; a count that is reached or that needs all that is left settles the rest.
2. Every two counts of one holder, together with the size of his hand (subset, difference, overlap, rest of the hand).
3. Every set of the catalogue adds up over all holders, which tightens the bounds of each.

All rules only ever remove possibilities and are monotone, so the fixed point does not depend on their order.
"""

from __future__ import annotations

import numpy as np

from ..bits import kernel, lowest, popcount
from .evidence import MAX_CARDS, MAX_HOLDERS, MAX_SETS, Contradiction, cards_of

SHEET = np.dtype(
    [
        ("can", "i8", MAX_HOLDERS),  # the cards that a holder may have (mask)
        ("has", "i8", MAX_HOLDERS),  # the cards that he certainly has
        ("broken", "i4"),  # 0, or the code of what was found contradictory, see broken_reason
    ],
    align=True,
)
# Codes start at 1 with holder * 48 + set; then a card; a set over all holders; (holder * 48 + set) * 48 + set.
BROKEN_CARD = MAX_HOLDERS * MAX_SETS
BROKEN_SUM = BROKEN_CARD + MAX_CARDS
BROKEN_PAIR = BROKEN_SUM + MAX_SETS
LEVEL = 3
NONE, FULL = np.int64(0), np.int64(-1)


@kernel
def _one_holder_each(num_holders, cards, can, has):
    """Apply "each card has exactly one holder"; give the mask of the changed holders, or -1 - a card that has not."""
    once, twice, claimed = np.int64(0), np.int64(0), np.int64(0)
    for h in range(num_holders):
        if claimed & has[h]:
            return -1 - lowest(claimed & has[h])
        claimed |= has[h]
        twice |= once & can[h]
        once |= can[h]
    if once != cards:
        return -1 - lowest(cards & ~once)
    changed = np.int64(0)
    for h in range(num_holders):
        may = can[h] & (has[h] | ~claimed)
        holds = has[h] | (may & ~twice)
        if may != can[h] or holds != has[h]:
            changed |= np.int64(1) << h
            can[h], has[h] = may, holds
    return changed


@kernel
def _single_counts(h, sets, least, most, can, has, live):
    """Apply each count of one holder alone (level 1) until nothing changes.

    ``live`` [H] is the mask of the sets whose bounds can still say something. Gives 1 when a cell was settled, 0, or
    -1 - a set that cannot be satisfied.
    """
    may, holds, alive = can[h], has[h], live[h]
    todo = alive
    while todo:
        s = lowest(todo)
        todo &= todo - 1
        undecided = sets[s] & may & ~holds
        size, held = popcount(undecided), popcount(sets[s] & holds)
        low, high = least[h, s] - held, most[h, s] - held
        if high < 0 or low > size:
            return -1 - s
        if low <= 0 and high >= size:
            alive &= ~(np.int64(1) << s)
        elif high == 0 or low == size:
            may &= ~undecided if high == 0 else FULL
            holds |= undecided if high > 0 else NONE
            alive &= ~(np.int64(1) << s)
            todo = alive
    changed = may != can[h] or holds != has[h]
    can[h], has[h], live[h] = may, holds, alive
    return 1 if changed else 0


@kernel
def _open_counts(h, sets, least, most, can, has, live, work):
    """List the counts of a holder that still say something, in terms of his undecided cells.

    Writes into ``work`` i8 [5, S]: cells, their number, least, most, the set. Gives the length of the list and the bounds on
    how many of all his undecided cells he has.
    """
    undecided = can[h] & ~has[h]
    length, need_low, need_high = 0, 0, popcount(undecided)
    todo = live[h]
    while todo:
        s = lowest(todo)
        todo &= todo - 1
        held = popcount(sets[s] & has[h])
        work[0, length], work[4, length] = sets[s] & undecided, s
        work[1, length] = popcount(sets[s] & undecided)
        work[2, length] = max(least[h, s] - held, 0)
        work[3, length] = min(most[h, s] - held, work[1, length])
        if work[0, length] == undecided:
            need_low, need_high = max(need_low, work[2, length]), min(need_high, work[3, length])
        length += 1
    return length, need_low, need_high


@kernel
def _paired_counts(h, sets, least, most, can, has, live, work):
    """Apply every two counts of one holder with the size of his hand (level 2).

    Two sets A and B cut the undecided cells into A only, both, B only, neither. Over these four the tight bounds of
    each part are known in closed form; a part is settled exactly when one of four inequalities is an equality.
    Gives 1 when a cell was settled, 0, or
    -1 - (set * 48 + set) for a pair that cannot be satisfied.
    """
    length, need_low, need_high = _open_counts(h, sets, least, most, can, has, live, work)
    undecided = can[h] & ~has[h]
    total = popcount(undecided)
    yes, no = NONE, NONE
    for i in range(1, length):
        a, size_a, low_a, high_a = work[0, i], work[1, i], work[2, i], work[3, i]
        for j in range(i):
            b, size_b, low_b, high_b = work[0, j], work[1, j], work[2, j], work[3, j]
            both = popcount(a & b)
            crowded = low_a + low_b - both - need_high
            sparse = need_low - high_a - high_b - (total - size_a - size_b + both)
            a_over_b = low_a - high_b - (size_a - both)
            b_over_a = low_b - high_a - (size_b - both)
            if crowded < 0 and sparse < 0 and a_over_b < 0 and b_over_a < 0:
                continue
            if crowded > 0 or sparse > 0 or a_over_b > 0 or b_over_a > 0:
                return -1 - (work[4, i] * MAX_SETS + work[4, j])
            if crowded == 0:
                yes, no = yes | (a & b), no | (undecided & ~(a | b))
            if sparse == 0:
                yes, no = yes | (undecided & ~(a | b)), no | (a & b)
            if a_over_b == 0:
                yes, no = yes | (a & ~b), no | (b & ~a)
            if b_over_a == 0:
                yes, no = yes | (b & ~a), no | (a & ~b)
    can[h] &= ~no
    has[h] |= yes
    return 1 if yes | no else 0


@kernel
def _sums(num_holders, sets, least, most, can, has, live, work):
    """Make every set add up over all holders (level 3): tighten the bounds of each holder by what the others leave.

    Gives the mask of the holders with a tighter bound, or -1 - a set that cannot add up.
    """
    told, owned = NONE, NONE
    for h in range(num_holders):
        told |= live[h]
        owned |= has[h]
    free = ~owned
    changed = NONE
    while told:
        s = lowest(told)
        told &= told - 1
        spare_low = spare_high = popcount(sets[s] & free)
        for h in range(num_holders):
            held = popcount(sets[s] & has[h])
            work[0, h] = held
            work[1, h] = max(least[h, s] - held, 0)
            work[2, h] = min(most[h, s] - held, popcount(sets[s] & can[h] & ~has[h]))
            spare_low -= work[2, h]
            spare_high -= work[1, h]
        if spare_low > 0 or spare_high < 0:
            return -1 - s
        for h in range(num_holders):
            low, high = spare_low + work[2, h], spare_high + work[1, h]
            if low > work[1, h] or high < work[2, h]:
                least[h, s] = work[0, h] + max(low, work[1, h])
                most[h, s] = work[0, h] + min(high, work[2, h])
                live[h] |= np.int64(1) << s
                changed |= np.int64(1) << h
    return changed


@kernel
def _settle(num_holders, cards, sets, least, most, can, has, live, work, level):
    """Apply all rules up to a level until nothing changes; give 0 or the code of what is contradictory.

    Only holders that changed are looked at again, and a costlier rule waits until the cheaper ones are exhausted.
    """
    everybody = (np.int64(1) << num_holders) - 1
    single, paired, summed, dealt = everybody, everybody, True, True
    while True:
        if dealt:
            changed = _one_holder_each(num_holders, cards, can, has)
            if changed < 0:
                return BROKEN_CARD - changed
            single, dealt = single | changed, changed != 0
        elif single:
            h = lowest(single)
            single &= single - 1
            changed = _single_counts(h, sets, least, most, can, has, live)
            if changed < 0:
                return h * MAX_SETS - changed
            dealt = changed > 0 or dealt
            paired, summed = paired | np.int64(1) << h, True
        elif paired and level >= 2:
            h = lowest(paired)
            paired &= paired - 1
            changed = _paired_counts(h, sets, least, most, can, has, live, work)
            if changed < 0:
                return BROKEN_PAIR + h * MAX_SETS * MAX_SETS - changed
            if changed:
                single, dealt = single | np.int64(1) << h, True
        elif summed and level >= 3:
            summed = False
            changed = _sums(num_holders, sets, least, most, can, has, live, work)
            if changed < 0:
                return BROKEN_SUM - changed
            single |= changed
        else:
            return 0


@kernel
def propagate_to(evidence, sheets, level):
    """Fill in the sheets by the rules up to a level.

    Args:
        evidence: EVIDENCE [B].
        sheets: SHEET [B], overwritten; where ``broken`` is not 0 the marks mean nothing.
        level: 1, 2 or 3.
    """
    least, most = np.empty((MAX_HOLDERS, MAX_SETS), np.int64), np.empty((MAX_HOLDERS, MAX_SETS), np.int64)
    can, has, live = np.empty(MAX_HOLDERS, np.int64), np.empty(MAX_HOLDERS, np.int64), np.empty(MAX_HOLDERS, np.int64)
    work = np.empty((5, MAX_SETS), np.int64)
    for b in range(evidence.size):
        e, sheet = evidence[b], sheets[b]
        for h in range(e["num_holders"]):
            can[h], has[h] = e["possible"][h] & e["cards"], 0
            live[h] = (np.int64(1) << e["num_sets"]) - 1
            for s in range(e["num_sets"]):
                least[h, s], most[h, s] = e["least"][h, s], e["most"][h, s]
        sheet["broken"] = _settle(e["num_holders"], e["cards"], e["sets"], least, most, can, has, live, work, level)
        for h in range(MAX_HOLDERS):
            used = h < e["num_holders"]
            sheet["can"][h], sheet["has"][h] = can[h] if used else 0, has[h] if used else 0


@kernel
def propagate(evidence, sheets):
    """Fill in the sheets (SHEET [B], overwritten) by all rules; where ``broken`` is not 0 the marks mean nothing."""
    propagate_to(evidence, sheets, LEVEL)


def solve(evidence: np.ndarray, level: int = LEVEL) -> np.ndarray:
    """Give the sheets of some evidence.

    Args:
        evidence: EVIDENCE [B].
        level: the highest level of rules to use, 1 to 3.

    Returns:
        SHEET [B], a new array.

    Raises:
        Contradiction: no deal satisfies one of them; the message names the constraint.
    """
    sheets = np.zeros(evidence.shape, SHEET)
    propagate_to(evidence, sheets, level)
    for b in np.flatnonzero(sheets["broken"])[:1]:
        raise broken_reason(evidence[b], int(sheets["broken"][b]))
    return sheets


def broken_reason(evidence: np.void, code: int) -> Contradiction:
    """Put the code in a sheet's ``broken`` into words (evidence: one EVIDENCE record)."""
    at = code - 1
    if at >= BROKEN_PAIR:
        rest, second = divmod(at - BROKEN_PAIR, MAX_SETS)
        holder, first = divmod(rest, MAX_SETS)
        text = f"two constraints cannot both hold: {_constraint_text(evidence, holder, first)}; {_constraint_text(evidence, holder, second)}"
        return Contradiction(text, holder, int(evidence["sets"][first] | evidence["sets"][second]))
    if at >= BROKEN_SUM:
        cards = int(evidence["sets"][at - BROKEN_SUM])
        return Contradiction(f"the holders' bounds do not add up to the {cards.bit_count()} cards {cards_of(cards)}", cards=cards)
    if at >= BROKEN_CARD:
        return Contradiction(f"card {at - BROKEN_CARD} is left without exactly one holder", cards=1 << at - BROKEN_CARD)
    holder, place = divmod(at, MAX_SETS)
    return Contradiction(f"this cannot hold: {_constraint_text(evidence, holder, place)}", holder, int(evidence["sets"][place]))


def _constraint_text(evidence: np.void, holder: int, place: int) -> str:
    least, most = evidence["least"][holder, place], evidence["most"][holder, place]
    number = f"exactly {least}" if least == most else f"{least} to {most}"
    return f"holder {holder} has {number} of the cards {cards_of(evidence['sets'][place])}"
