"""The deduction sheet: what follows from evidence by quick local reasoning, up to a fixed point.

The sheet has a row for each card and a column for each holder; its cells are marked "has", "has
not" or left open. Every mark is certain; not everything that is certain is marked. There are three
levels of rules, each including those before it:

1. Each card has one holder. A count that is reached, or that needs every card left, settles the
   rest of its set.
2. Every two counts of one holder, taken together with the size of their hand, settle what the two
   sets share, what only one of them has, or the rest of the hand.
3. The counts of every set of the catalogue add up over all holders, which tightens each bound.

All rules only ever remove possibilities and are monotone, so the fixed point does not depend on
their order. `worlds` finds all that is certain, but takes longer.

In the kernels ``e`` is one EVIDENCE record, ``w`` one WORK record, ``h`` a holder and ``s`` the
place of a set in the catalogue. A rule returns 0, or the code of the contradiction it has found.
"""

from __future__ import annotations

import numpy as np

from ..bits import lowest, popcount
from ..checks import check_number
from ..kernels import inner, kernel
from ..rows import copy_row
from .evidence import MAX_CARDS, MAX_HOLDERS, MAX_SETS, Contradiction, EvidenceError, cards_of, checked_evidence

SHEET = np.dtype(
    [
        ("can", "i8", MAX_HOLDERS),  # [H] masks of the cards that a holder may have
        ("has", "i8", MAX_HOLDERS),  # [H] masks of the cards that a holder certainly has
        ("broken", "i8"),  # 0, or the code of a contradiction, see broken_reason
    ],
    align=True,
)
# A code is 1 plus a number from one of four ranges: a count (holder * 48 + set), a card, a set over
# all holders, and two counts of one holder ((holder * 48 + set) * 48 + set).
BROKEN_CARD = MAX_HOLDERS * MAX_SETS
BROKEN_SUM = BROKEN_CARD + MAX_CARDS
BROKEN_PAIR = BROKEN_SUM + MAX_SETS
LEVEL = 3

# A sheet that has been filled in with nothing left to do, and the evidence that it was made of.
KEPT = np.dtype(
    [
        ("num_holders", "i4"),  # as in EVIDENCE; 0: nothing is kept
        ("num_sets", "i4"),  # the same
        ("cards", "i8"),  # the same
        ("possible", "i8", MAX_HOLDERS),  # the same
        ("said_least", "i1", (MAX_HOLDERS, MAX_SETS)),  # `least` of the evidence
        ("said_most", "i1", (MAX_HOLDERS, MAX_SETS)),  # `most` of the evidence
        ("can", "i8", MAX_HOLDERS),  # as in WORK, from here on
        ("has", "i8", MAX_HOLDERS),
        ("live", "i8", MAX_HOLDERS),
        ("least", "i1", (MAX_HOLDERS, MAX_SETS)),
        ("most", "i1", (MAX_HOLDERS, MAX_SETS)),
    ],
    align=True,
)

# The working state of one problem. The agenda says what each rule still has to look at; the list is
# of the counts of one holder, in terms of the open cells in their column.
WORK = np.dtype(
    [
        ("can", "i8", MAX_HOLDERS),  # [H] as in SHEET
        ("has", "i8", MAX_HOLDERS),  # [H] as in SHEET
        ("live", "i8", MAX_HOLDERS),  # [H] masks of the sets whose bounds may still settle something
        ("least", "i1", (MAX_HOLDERS, MAX_SETS)),  # [H, S] bounds, tightened as the work goes on
        ("most", "i1", (MAX_HOLDERS, MAX_SETS)),  # [H, S] the same
        ("cards", "i8"),  # agenda: 1 if "one holder each" must look again
        ("single", "i8"),  # agenda: mask of the holders whose counts must be looked at one by one
        ("paired", "i8"),  # agenda: mask of the holders whose counts must be looked at in pairs
        ("sums", "i8"),  # agenda: 1 if the sums over all holders must be looked at
        ("cells", "i8", MAX_SETS),  # list: mask of the open cells that a count is about
        ("size", "i8", MAX_SETS),  # list: number of these cells
        ("low", "i8", MAX_SETS),  # list: at least this many of them are "has"
        ("high", "i8", MAX_SETS),  # list: at most this many
        ("set", "i8", MAX_SETS),  # list: place of the count's set in the catalogue
    ],
    align=True,
)


@inner
def _start(e, w):
    """Copy the evidence into the working record and put everything on the agenda.

    Bounds that exclude each other are found here: the rules narrow bounds, and leave no others so.
    """
    code = 0
    for s in range(e["num_sets"]):
        w["size"][s] = popcount(e["sets"][s])
    for h in range(e["num_holders"]):
        w["can"][h] = e["possible"][h] & e["cards"]
        w["has"][h] = 0
        live = e["cards"] & 0
        for s in range(e["num_sets"]):
            least = e["least"][h, s]
            most = e["most"][h, s]
            w["least"][h, s] = least
            w["most"][h, s] = most
            if least > most:
                code = 1 + h * MAX_SETS + s
            live |= np.int64(least > 0 or most < w["size"][s]) << s
        w["live"][h] = live
    w["cards"] = 1
    w["single"] = w["paired"] = (1 << int(e["num_holders"])) - 1
    w["sums"] = 1
    return code


@inner
def _says_all_of(e, kept):
    """Return whether evidence says all that the evidence said from which a KEPT record was filled in."""
    if e["num_holders"] != kept["num_holders"] or e["num_sets"] != kept["num_sets"] or e["cards"] != kept["cards"]:
        return False
    says = True
    for h in range(e["num_holders"]):
        says &= e["possible"][h] & ~kept["possible"][h] == 0
        for s in range(e["num_sets"]):
            says &= e["least"][h, s] >= kept["said_least"][h, s]
            says &= e["most"][h, s] <= kept["said_most"][h, s]
    return says


@inner
def _start_from(e, kept, w):
    """Take up the work where it ended with less evidence, and put on the agenda what is new in the evidence."""
    code = 0
    w["cards"] = w["single"] = w["paired"] = w["sums"] = 0
    for h in range(e["num_holders"]):
        w["can"][h] = kept["can"][h] & e["possible"][h]
        w["has"][h] = kept["has"][h]
        w["live"][h] = kept["live"][h]
        copy_row(kept["least"][h], w["least"][h], MAX_SETS)
        copy_row(kept["most"][h], w["most"][h], MAX_SETS)
        new = e["possible"][h] != kept["possible"][h]
        if new:
            w["cards"] = 1
        # Looked at as a whole first, which the processor does for many sets at a time.
        differs = False
        for s in range(e["num_sets"]):
            differs |= e["least"][h, s] != kept["said_least"][h, s] or e["most"][h, s] != kept["said_most"][h, s]
        if differs:
            for s in range(e["num_sets"]):
                if e["least"][h, s] != kept["said_least"][h, s] or e["most"][h, s] != kept["said_most"][h, s]:
                    w["least"][h, s] = max(w["least"][h, s], e["least"][h, s])
                    w["most"][h, s] = min(w["most"][h, s], e["most"][h, s])
                    w["live"][h] |= np.int64(1) << s
                    if w["least"][h, s] > w["most"][h, s]:
                        code = 1 + h * MAX_SETS + s
        if new or differs:
            w["sums"] = 1
            w["single"] |= 1 << h
    return code


@inner
def _keep(e, w, kept):
    """Keep where the work on some evidence has ended."""
    kept["num_holders"] = e["num_holders"]
    kept["num_sets"] = e["num_sets"]
    kept["cards"] = e["cards"]
    for h in range(e["num_holders"]):
        kept["possible"][h] = e["possible"][h]
        kept["can"][h] = w["can"][h]
        kept["has"][h] = w["has"][h]
        kept["live"][h] = w["live"][h]
        copy_row(e["least"][h], kept["said_least"][h], MAX_SETS)
        copy_row(e["most"][h], kept["said_most"][h], MAX_SETS)
        copy_row(w["least"][h], kept["least"][h], MAX_SETS)
        copy_row(w["most"][h], kept["most"][h], MAX_SETS)


@inner
def _one_holder_each(e, w):
    """Apply "each card has exactly one holder" (level 1)."""
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
    """Apply each count of the next holder by itself (level 1) until nothing changes."""
    h = lowest(w["single"])
    w["single"] &= w["single"] - 1
    may = w["can"][h]
    holds = w["has"][h]
    live = w["live"][h]
    todo = live
    while todo:
        s = lowest(todo)
        todo &= todo - 1
        open_cells = e["sets"][s] & may & ~holds
        size = popcount(open_cells)
        held = popcount(e["sets"][s] & holds)
        low = w["least"][h, s] - held
        high = w["most"][h, s] - held
        if high < 0 or low > size:
            return 1 + h * MAX_SETS + s
        if low <= 0 and high >= size:
            live &= ~(1 << s)
        elif high == 0 or low == size:
            may = may & ~open_cells if high == 0 else may
            holds = holds | open_cells if high > 0 else holds
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
    """List the counts of a holder that may still settle something, in terms of their open cells.

    Returns:
        The length of the list, and the bounds on how many of all their open cells are "has".
    """
    open_cells = w["can"][h] & ~w["has"][h]
    todo = w["live"][h]
    length = 0
    need_low = 0
    need_high = popcount(open_cells)
    while todo:
        s = lowest(todo)
        todo &= todo - 1
        cells = e["sets"][s] & open_cells
        held = popcount(e["sets"][s] & w["has"][h])
        size = popcount(cells)
        low = max(w["least"][h, s] - held, 0)
        high = min(w["most"][h, s] - held, size)
        if cells == open_cells:
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
    """Apply every two counts of the next holder together with the size of their hand (level 2).

    Two sets A and B cut the open cells into four parts: A only, both, B only, neither. The tight
    bounds on each part have a closed form; a part is settled exactly when one of four inequalities
    is an equality.
    """
    h = lowest(w["paired"])
    w["paired"] &= w["paired"] - 1
    length, need_low, need_high = _list_counts(e, w, h)
    open_cells = w["can"][h] & ~w["has"][h]
    total = popcount(open_cells)
    yes = no = open_cells & 0
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
                no = no | (open_cells & ~(a | b))
            if sparse == 0:
                yes = yes | (open_cells & ~(a | b))
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
    """Make the counts of every set add up over all holders (level 3).

    What the other holders leave of a set bounds what each holder has of it.
    """
    num_holders = e["num_holders"]
    w["sums"] = 0
    live = owned = e["cards"] & 0
    for h in range(num_holders):
        live |= w["live"][h]
        owned |= w["has"][h]
    while live:
        s = lowest(live)
        live &= live - 1
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


@inner
def fill_in(e, w, sheet, level):
    """Fill in one sheet, see `propagate` (w: one WORK record, overwritten)."""
    _finish(e, w, sheet, level, _start(e, w))


@inner
def fill_in_again(e, kept, w, sheet):
    """Fill in one sheet by all rules as `fill_in` does, faster where little has been said since the last time.

    Args:
        e: one EVIDENCE record.
        kept: one KEPT record, of whatever evidence, or zeros; overwritten. As the order of the rules
            does not matter, work that was done with less evidence need not be done again. Where the
            cards are the same, so must be the catalogue of sets.
        w: one WORK record, overwritten.
        sheet: one SHEET record, overwritten.
    """
    code = _start_from(e, kept, w) if _says_all_of(e, kept) else _start(e, w)
    _finish(e, w, sheet, LEVEL, code)
    if sheet["broken"] == 0:
        _keep(e, w, kept)
    else:
        kept["num_holders"] = 0


@inner
def _finish(e, w, sheet, level, code):
    """Work off the agenda and write the sheet, which is broken where there is a code already.

    Only holders that have changed are looked at again, and a costly rule waits until the cheaper
    ones are exhausted.
    """
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
    sheet["broken"] = code
    for h in range(MAX_HOLDERS):
        used = h < e["num_holders"]
        sheet["can"][h] = w["can"][h] if used else 0
        sheet["has"][h] = w["has"][h] if used else 0


@kernel
def propagate(evidence, sheets, level):
    """Fill in sheets by the rules up to a level, until nothing changes.

    Args:
        evidence: EVIDENCE [B].
        sheets: SHEET [B], overwritten; where ``broken`` is not 0 the marks are meaningless.
        level: 1, 2 or 3.
    """
    work = np.zeros(1, WORK)
    for b in range(evidence.size):
        # Taken from the array each time: a record does not keep the array alive that it lies in,
        # so the array itself must be used in every round.
        fill_in(evidence[b], work[0], sheets[b], level)


def solve(evidence: np.ndarray, level: int = LEVEL) -> np.ndarray:
    """Return the sheets of some evidence.

    Holder 0 has two of the cards 0 to 2, and two of the cards 0 to 3: so the other one has card 3.

    >>> from sleuth_env.deduction import make_evidence
    >>> sheet = solve(make_evidence(2, range(5), [(0, [0, 1, 2], 2, 2), (0, [0, 1, 2, 3], 2, 2)]))
    >>> bin(sheet["has"][0, 1])
    '0b1000'

    Args:
        evidence: EVIDENCE [B].
        level: the highest level of rules to use, 1 to 3.

    Returns:
        SHEET [B], a new array.

    Raises:
        EvidenceError: this is not evidence, or not a level.
        Contradiction: no deal satisfies the evidence of one problem; the message names the
            constraint.
    """
    evidence = checked_evidence(evidence)
    level = check_number("level", level, 1, LEVEL, EvidenceError)
    sheets = np.zeros(evidence.shape, SHEET)
    propagate(evidence, sheets, level)
    for b in np.flatnonzero(sheets["broken"])[:1]:
        raise broken_reason(evidence[b], int(sheets["broken"][b]))
    return sheets


def broken_reason(evidence: np.void, code: int) -> Contradiction:
    """Return the error that says what the code in a sheet's ``broken`` means.

    Args:
        evidence: one EVIDENCE record.
        code: not 0.
    """
    number = code - 1
    if number >= BROKEN_PAIR:
        count, second = divmod(number - BROKEN_PAIR, MAX_SETS)
        holder, first = divmod(count, MAX_SETS)
        texts = "; ".join(constraint_text(evidence, holder, place) for place in (first, second))
        cards = int(evidence["sets"][first] | evidence["sets"][second])
        return Contradiction(f"two constraints cannot both hold: {texts}", holder, cards)
    if number >= BROKEN_SUM:
        cards = int(evidence["sets"][number - BROKEN_SUM])
        text = f"the holders' bounds do not add up to the {cards.bit_count()} cards {cards_of(cards)}"
        return Contradiction(text, cards=cards)
    if number >= BROKEN_CARD:
        card = number - BROKEN_CARD
        return Contradiction(f"card {card} is left without exactly one holder", cards=1 << card)
    holder, place = divmod(number, MAX_SETS)
    text = f"this cannot hold with the rest: {constraint_text(evidence, holder, place)}"
    return Contradiction(text, holder, int(evidence["sets"][place]))


def constraint_text(evidence: np.void, holder: int, place: int) -> str:
    """Return in words how many cards of a set a holder has (evidence: one EVIDENCE record)."""
    least = int(evidence["least"][holder, place])
    most = int(evidence["most"][holder, place])
    cards = cards_of(evidence["sets"][place])
    if least == 0 and most >= len(cards):
        return f"holder {holder} has what the other holders leave of the cards {cards}"
    if least > most:
        return f"holder {holder} has at least {least} and at most {most} of the cards {cards}"
    return f"holder {holder} has {f'exactly {least}' if least == most else f'{least} to {most}'} of the cards {cards}"
