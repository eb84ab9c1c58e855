"""The pencil sheet: what follows from evidence by quick local reasoning, carried on to a fixed
point.

Everything that is marked is certain; not everything that is certain is marked. Three levels, each
including the one before:

1. Each card has one holder; a count that is reached or that needs all that is left settles the
rest. 2. Every two counts of one holder, together with the size of his hand (subset, difference,
overlap, rest of the hand). 3. Every set of the catalogue adds up over all holders, which tightens
the bounds of each.

All rules only ever remove possibilities and are monotone, so the fixed point does not depend on
their order.
"""

from __future__ import annotations

import numpy as np

from ..bits import lowest, popcount
from ..kernels import inner, kernel
from .evidence import MAX_CARDS, MAX_HOLDERS, MAX_SETS, Contradiction, cards_of

SHEET = np.dtype(
    [
        ("can", "i8", MAX_HOLDERS),  # the cards that a holder may have (mask)
        ("has", "i8", MAX_HOLDERS),  # the cards that he certainly has
        ("broken", "i8"),  # 0, or the code of what was found contradictory, see broken_reason
    ],
    align=True,
)
# Codes start at 1 with holder * 48 + set; then a card; a set over all holders; (holder * 48 + set)
# * 48 + set.
BROKEN_CARD = MAX_HOLDERS * MAX_SETS
BROKEN_SUM = BROKEN_CARD + MAX_CARDS
BROKEN_PAIR = BROKEN_SUM + MAX_SETS
LEVEL = 3

# What is under way for one problem. The agenda says what each rule still has to look at: cards 0 or
# 1, single and paired a mask of holders, sums 0 or 1. The list is of the counts of one holder.
WORK = np.dtype(
    [
        ("can", "i8", MAX_HOLDERS),
        ("has", "i8", MAX_HOLDERS),
        ("live", "i8", MAX_HOLDERS),  # the sets whose bounds can still say something (mask)
        ("least", "i1", (MAX_HOLDERS, MAX_SETS)),
        ("most", "i1", (MAX_HOLDERS, MAX_SETS)),
        ("cards", "i8"),
        ("single", "i8"),
        ("paired", "i8"),
        ("sums", "i8"),
        ("cells", "i8", MAX_SETS),
        ("size", "i8", MAX_SETS),
        ("low", "i8", MAX_SETS),
        ("high", "i8", MAX_SETS),
        ("set", "i8", MAX_SETS),
    ],
    align=True,
)


@inner
def _start(e, w):
    """Copy the evidence into the working record and put everything on the agenda."""
    for s in range(e["num_sets"]):
        w["size"][s] = popcount(e["sets"][s])
    for h in range(e["num_holders"]):
        w["can"][h] = e["possible"][h] & e["cards"]
        w["has"][h] = 0
        told = e["cards"] & 0
        for s in range(e["num_sets"]):
            least = e["least"][h, s]
            most = e["most"][h, s]
            w["least"][h, s] = least
            w["most"][h, s] = most
            told |= np.int64(least > 0 or most < w["size"][s]) << s
        w["live"][h] = told
    w["cards"] = 1
    w["single"] = w["paired"] = (1 << int(e["num_holders"])) - 1
    w["sums"] = 1


@inner
def _one_holder_each(e, w):
    """Apply "each card has exactly one holder"; give 0 or a code."""
    can = w["can"]
    has = w["has"]
    once = twice = claimed = e["cards"] & 0
    for h in range(e["num_holders"]):
        if claimed & has[h]:
            return 1 + BROKEN_CARD + lowest(claimed & has[h])
        claimed |= has[h]
        twice |= once & can[h]
        once |= can[h]
    if once != e["cards"]:
        return 1 + BROKEN_CARD + lowest(e["cards"] & ~once)
    w["cards"] = 0
    for h in range(e["num_holders"]):
        may = can[h] & (has[h] | ~claimed)
        holds = has[h] | (may & ~twice)
        if may != can[h] or holds != has[h]:
            can[h] = may
            has[h] = holds
            w["cards"] = w["sums"] = 1
            w["single"] |= 1 << h
    return 0


@inner
def _single_counts(e, w):
    """Apply each count of the next holder alone (level 1) until nothing changes; give 0 or a code."""
    h = lowest(w["single"])
    w["single"] &= w["single"] - 1
    may = w["can"][h]
    holds = w["has"][h]
    live = w["live"][h]
    todo = live
    while todo:
        s = lowest(todo)
        todo &= todo - 1
        undecided = e["sets"][s] & may & ~holds
        size = popcount(undecided)
        held = popcount(e["sets"][s] & holds)
        low = w["least"][h, s] - held
        high = w["most"][h, s] - held
        if high < 0 or low > size:
            return 1 + h * MAX_SETS + s
        if low <= 0 and high >= size:
            live &= ~(1 << s)
        elif high == 0 or low == size:
            may = may & ~undecided if high == 0 else may
            holds = holds | undecided if high > 0 else holds
            live &= ~(1 << s)
            todo = live
    if may != w["can"][h] or holds != w["has"][h]:
        w["cards"] = w["sums"] = 1
    w["paired"] |= 1 << h
    w["can"][h] = may
    w["has"][h] = holds
    w["live"][h] = live
    return 0


@inner
def _list_counts(e, w, h):
    """List the counts of a holder that still say something, in terms of his undecided cells.

    Gives the length of the list and the bounds on how many of all his undecided cells he has.
    """
    undecided = w["can"][h] & ~w["has"][h]
    todo = w["live"][h]
    length = 0
    need_low = 0
    need_high = popcount(undecided)
    while todo:
        s = lowest(todo)
        todo &= todo - 1
        cells = e["sets"][s] & undecided
        held = popcount(e["sets"][s] & w["has"][h])
        size = popcount(cells)
        low = max(w["least"][h, s] - held, 0)
        high = min(w["most"][h, s] - held, size)
        if cells == undecided:
            need_low = max(need_low, low)
            need_high = min(need_high, high)
        w["cells"][length] = cells
        w["size"][length] = size
        w["set"][length] = s
        w["low"][length] = low
        w["high"][length] = high
        length += 1
    return length, need_low, need_high


@inner
def _paired_counts(e, w):
    """Apply every two counts of the next holder with the size of his hand (level 2); give 0 or a
    code.

    Two sets A and B cut the undecided cells into A only, both, B only, neither. Over these four the
    tight bounds of each part are known in closed form; a part is settled exactly when one of four
    inequalities is an equality.
    """
    h = lowest(w["paired"])
    w["paired"] &= w["paired"] - 1
    length, need_low, need_high = _list_counts(e, w, h)
    undecided = w["can"][h] & ~w["has"][h]
    total = popcount(undecided)
    yes = no = undecided & 0
    for i in range(1, length):
        a = w["cells"][i]
        size_a = w["size"][i]
        low_a = w["low"][i]
        high_a = w["high"][i]
        for j in range(i):
            b = w["cells"][j]
            size_b = w["size"][j]
            low_b = w["low"][j]
            high_b = w["high"][j]
            both = popcount(a & b)
            crowded = low_a + low_b - both - need_high
            sparse = need_low - high_a - high_b - (total - size_a - size_b + both)
            a_over_b = low_a - high_b - (size_a - both)
            b_over_a = low_b - high_a - (size_b - both)
            tightest = max(max(crowded, sparse), max(a_over_b, b_over_a))
            if tightest < 0:
                continue
            if tightest > 0:
                return 1 + BROKEN_PAIR + (h * MAX_SETS + w["set"][i]) * MAX_SETS + w["set"][j]
            if crowded == 0:
                yes = yes | (a & b)
                no = no | (undecided & ~(a | b))
            if sparse == 0:
                yes = yes | (undecided & ~(a | b))
                no = no | (a & b)
            if a_over_b == 0:
                yes = yes | (a & ~b)
                no = no | (b & ~a)
            if b_over_a == 0:
                yes = yes | (b & ~a)
                no = no | (a & ~b)
    if yes | no:
        w["can"][h] &= ~no
        w["has"][h] |= yes
        w["cards"] = w["sums"] = 1
        w["single"] |= 1 << h
    return 0


@inner
def _sums(e, w):
    """Make every set add up over all holders (level 3): what the others leave bounds each holder;
    give 0 or a code.
    """
    num_holders = e["num_holders"]
    w["sums"] = 0
    told = owned = e["cards"] & 0
    for h in range(num_holders):
        told |= w["live"][h]
        owned |= w["has"][h]
    while told:
        s = lowest(told)
        told &= told - 1
        cards = e["sets"][s]
        spare_low = spare_high = popcount(cards & ~owned)
        for h in range(num_holders):
            held = popcount(cards & w["has"][h])
            w["low"][h] = max(w["least"][h, s] - held, 0)
            w["high"][h] = min(w["most"][h, s] - held, popcount(cards & w["can"][h] & ~w["has"][h]))
            w["size"][h] = held
            spare_low -= w["high"][h]
            spare_high -= w["low"][h]
        if spare_low > 0 or spare_high < 0:
            return 1 + BROKEN_SUM + s
        for h in range(num_holders):
            low = max(spare_low + w["high"][h], w["low"][h])
            high = min(spare_high + w["low"][h], w["high"][h])
            if low > w["low"][h] or high < w["high"][h]:
                w["least"][h, s] = w["size"][h] + low
                w["most"][h, s] = w["size"][h] + high
                w["live"][h] |= 1 << s
                w["single"] |= 1 << h
    return 0


@kernel
def propagate(evidence, sheets, level=LEVEL):
    """Fill in the sheets by the rules up to a level, to the fixed point.

    Only holders that changed are looked at again, and a costlier rule waits until the cheaper ones
    are exhausted.

    Args:
        evidence: EVIDENCE [B].
        sheets: SHEET [B], overwritten; where ``broken`` is not 0 the marks mean nothing.
        level: 1, 2 or 3.
    """
    work = np.zeros(1, WORK)
    for b in range(evidence.size):
        # Taken from the array each time: a record does not keep alive what it lies in, so the array
        # must be needed to the end.
        e = evidence[b]
        w = work[0]
        code = 0
        _start(e, w)
        while code == 0:
            if w["cards"]:
                code = _one_holder_each(e, w)
            elif w["single"]:
                code = _single_counts(e, w)
            elif level >= 2 and w["paired"]:
                code = _paired_counts(e, w)
            elif level >= 3 and w["sums"]:
                code = _sums(e, w)
            else:
                break
        sheets[b]["broken"] = code
        for h in range(MAX_HOLDERS):
            used = h < e["num_holders"]
            sheets[b]["can"][h] = w["can"][h] if used else 0
            sheets[b]["has"][h] = w["has"][h] if used else 0


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
    propagate(evidence, sheets, level)
    for b in np.flatnonzero(sheets["broken"])[:1]:
        raise broken_reason(evidence[b], int(sheets["broken"][b]))
    return sheets


def broken_reason(evidence: np.void, code: int) -> Contradiction:
    """Put the code in a sheet's ``broken`` into words (evidence: one EVIDENCE record)."""
    at = code - 1
    if at >= BROKEN_PAIR:
        rest, second = divmod(at - BROKEN_PAIR, MAX_SETS)
        holder, first = divmod(rest, MAX_SETS)
        text = f"two constraints cannot both hold: {constraint_text(evidence, holder, first)}; {constraint_text(evidence, holder, second)}"
        return Contradiction(text, holder, int(evidence["sets"][first] | evidence["sets"][second]))
    if at >= BROKEN_SUM:
        cards = int(evidence["sets"][at - BROKEN_SUM])
        return Contradiction(
            f"the holders' bounds do not add up to the {cards.bit_count()} cards {cards_of(cards)}", cards=cards
        )
    if at >= BROKEN_CARD:
        return Contradiction(f"card {at - BROKEN_CARD} is left without exactly one holder", cards=1 << at - BROKEN_CARD)
    holder, place = divmod(at, MAX_SETS)
    return Contradiction(
        f"this cannot hold with the rest: {constraint_text(evidence, holder, place)}",
        holder,
        int(evidence["sets"][place]),
    )


def constraint_text(evidence: np.void, holder: int, place: int) -> str:
    """Put into words how many cards of a set a holder has (evidence: one EVIDENCE record)."""
    least = int(evidence["least"][holder, place])
    most = int(evidence["most"][holder, place])
    cards = cards_of(evidence["sets"][place])
    if least == 0 and most >= len(cards):
        return f"holder {holder} has what the other holders leave of the cards {cards}"
    if least > most:
        return f"holder {holder} has at least {least} and at most {most} of the cards {cards}"
    return f"holder {holder} has {f'exactly {least}' if least == most else f'{least} to {most}'} of the cards {cards}"
