"""One automaton for each holder: how many of which cards he has so far, along an order of the
cards.

What the sheet has settled is taken out first. Along the order, a holder's state is what each of his
counts still allows; states that cannot be completed are dropped and states with the same futures
are merged, so that the automaton is the smallest there is. Of several orders the one is kept for
which the product of the automata's widths, summed over the layers, is least: it foretells the
number of joint states almost perfectly. Layer ``i`` comes before the i-th card.
"""

from __future__ import annotations

import numpy as np

from ..bits import popcount
from ..kernels import inner
from .evidence import MAX_CARDS, MAX_HOLDERS, MAX_SETS

MAX_LAYERS = MAX_CARDS + 1
MAX_WORDS = 6  # 48 counts of up to 63 cards, 7 bits each, in words of 63 bits
# of one holder's automaton before merging; of all after it
MAX_STATES = 1 << 16
MAX_TOTAL = 1 << 18
SLOTS = 1 << 17
WORD = 63
# Why there is no plan: a holder's counts cannot all hold, or have too many states.
NO_DEAL = 2
INTRICATE = 3

PLAN = np.dtype(
    [
        ("num_holders", "i4"),
        ("size", "i4"),  # cards that are open, that is layers less one
        ("code", "i4"),  # 0, NO_DEAL or INTRICATE
        ("order", "i4", MAX_CARDS),  # the open cards as they are dealt with
        ("open", "i8", MAX_HOLDERS),  # the open cards that a holder may have
        ("held", "i8", MAX_HOLDERS),  # the cards that he certainly has
        ("num_counts", "i4", MAX_HOLDERS),  # counts that still say something,
        ("cells", "i8", (MAX_HOLDERS, MAX_SETS)),  # about which of his open cards,
        ("most", "i4", (MAX_HOLDERS, MAX_SETS)),  # at most how many,
        ("slack", "i4", (MAX_HOLDERS, MAX_SETS)),  # and by how many fewer at least
        ("missing", "i4"),  # how many cards the last holder still gets, -1 where the evidence does not fix it
        ("side", "i4"),  # which side of AUTOMATA holds the automata
    ],
    align=True,
)


# Room for the automata of all holders, for the best order so far and for the one on trial
# ("sides").
AUTOMATA = np.dtype(
    [
        ("without", "i8", (2, MAX_TOTAL)),  # next state when the card goes to somebody else, -1 none
        ("having", "i8", (2, MAX_TOTAL)),  # next state when he has it, -1 none
        ("ways", "f8", (2, MAX_TOTAL)),  # completions of the holder alone
        ("start", "i8", (2, MAX_LAYERS, MAX_HOLDERS)),  # first state of a layer
        ("width", "i8", (2, MAX_LAYERS, MAX_HOLDERS)),  # number of its states
        ("breadth", "f8", MAX_LAYERS),  # product of the widths
        ("shift", "i8", (MAX_LAYERS, MAX_HOLDERS)),  # where a holder's state lies in the key of a joint state
        ("words", "i8", (MAX_STATES, MAX_WORDS)),  # one holder's states before merging,
        ("after", "i8", (MAX_STATES, 2)),  # their successors without and with the card,
        ("merged", "i8", MAX_STATES),  # and what they are merged into, -1 dead
        ("begin", "i8", MAX_LAYERS + 1),  # first state of each layer before merging
        ("takes", "i8", (MAX_LAYERS, MAX_WORDS)),  # per card: what having it takes,
        ("limit", "i8", (MAX_LAYERS, MAX_WORDS)),  # what may be left after it,
        ("goes_on", "i8", (MAX_LAYERS, MAX_WORDS)),  # and which counts go on
        ("first", "i8", MAX_WORDS),  # the first state
        ("guards", "i8", MAX_WORDS),
        ("slots", "i8", SLOTS),  # a hash table that is never cleared: older numbers than the clock are vacant
        ("clock", "i8"),
        ("tick", "i8"),  # the clock of the hash table of joint states
        (
            "step",
            "i8",
            (2, MAX_HOLDERS),
        ),  # of the joint state at hand: each holder's part of the next key without and with the card
    ],
    align=True,
)


@inner
def scatter(key, mask):
    """Hash an int64 to a place in a table of ``mask + 1`` slots."""
    # By name: * of NumPy's scalars warns in plain Python where it wraps round, which is wanted
    # here.
    mixed = np.multiply(key, np.int64(-7046029254386353131))
    mixed ^= mixed >> 29
    return np.multiply(mixed, np.int64(-4658895280553007687)) >> 27 & mask


@inner
def bit_length(number):
    """Count the bits of a non-negative number."""
    bits = 0
    while number:
        number >>= 1
        bits += 1
    return bits


@inner
def _note_count(plan, h, cells, low, high):
    """Add a count of a holder; one on the same cards narrows the one that is there."""
    for j in range(plan["num_counts"][h]):
        if plan["cells"][h, j] == cells:
            low = max(low, plan["most"][h, j] - plan["slack"][h, j])
            plan["most"][h, j] = min(high, plan["most"][h, j])
            plan["slack"][h, j] = plan["most"][h, j] - low
            return
    j = plan["num_counts"][h]
    plan["cells"][h, j] = cells
    plan["most"][h, j] = high
    plan["slack"][h, j] = high - low
    plan["num_counts"][h] += 1


@inner
def take_out_settled(e, sheet, plan):
    """Reduce evidence to what the sheet leaves open; gives the mask of the open cards."""
    cards = np.int64(0)
    plan["num_holders"] = e["num_holders"]
    for h in range(e["num_holders"]):
        plan["open"][h] = sheet["can"][h] & ~sheet["has"][h]
        plan["held"][h] = sheet["has"][h]
        cards |= plan["open"][h]
        plan["num_counts"][h] = 0
        for s in range(e["num_sets"]):
            cells = e["sets"][s] & plan["open"][h]
            held = popcount(e["sets"][s] & sheet["has"][h])
            size = popcount(cells)
            low = max(e["least"][h, s] - held, 0)
            high = min(e["most"][h, s] - held, size)
            if low > 0 or high < size:
                _note_count(plan, h, cells, low, high)
    return cards


@inner
def _pack_counts(plan, h, a):
    """Pack a holder's counts into words: fields of what he may still take, each with a guard bit
    above it.

    With S the state, T what a card takes and G the guards, S + G - T keeps all guards while no
    count is exceeded, and limit + G - S keeps them while every count can still reach its least.
    Gives the number of words.
    """
    size = plan["size"]
    word = 0
    at = 0
    for w in range(MAX_WORDS):
        a["first"][w] = 0
        a["guards"][w] = 0
        for i in range(size):
            a["takes"][i, w] = 0
            a["limit"][i, w] = 0
            a["goes_on"][i, w] = 0
    for j in range(plan["num_counts"][h]):
        cells = plan["cells"][h, j]
        most = np.int64(plan["most"][h, j])
        slack = plan["slack"][h, j]
        bits = bit_length(most)
        if at + bits + 1 > WORD:
            word = word + 1
            at = 0
        one = np.int64(1) << at
        guard = np.int64(1) << (at + bits)
        a["first"][word] |= most << at
        a["guards"][word] |= guard
        left = popcount(cells)
        for i in range(size):
            if cells >> plan["order"][i] & 1:
                a["takes"][i, word] |= one
                left -= 1
            a["limit"][i, word] |= min(slack + left, most) << at
            if left:
                a["goes_on"][i, word] |= guard - one
        at += bits + 1
    return word + 1


@inner
def _successor(a, words, state, i, having, end):
    """Write the state after card ``i`` to place ``end``; false where a count would be exceeded or
    missed.
    """
    for w in range(words):
        guard = a["guards"][w]
        left = a["words"][state, w] + guard
        if having:
            left -= a["takes"][i, w]
        if left & guard != guard:
            return False
        left -= guard
        if (a["limit"][i, w] + guard - left) & guard != guard:
            return False
        a["words"][end, w] = left & a["goes_on"][i, w]
    return True


@inner
def _place(a, words, begin, end, mask):
    """Find the state written at ``end`` among those of its layer, from ``begin`` on; gives ``end``
    where it is new.
    """
    key = a["words"][end, 0]
    for w in range(1, words):
        key = key * 31 + a["words"][end, w]
    at = scatter(key, mask)
    while True:
        known = a["slots"][at] - a["clock"]
        if known < begin:
            a["slots"][at] = a["clock"] + end
            return end
        same = True
        for w in range(words):
            same = same and a["words"][known, w] == a["words"][end, w]
        if same:
            return known
        at = at + 1 & mask


@inner
def _grow(plan, h, a):
    """Build a holder's states layer by layer, forwards; false where there are too many."""
    words = _pack_counts(plan, h, a)
    a["clock"] += MAX_STATES
    for w in range(words):
        a["words"][0, w] = a["first"][w]
    a["begin"][0] = 0
    a["begin"][1] = 1
    for i in range(plan["size"]):
        begin = a["begin"][i + 1]
        end = begin
        width = begin - a["begin"][i]
        mask = (np.int64(4) << bit_length(width)) - 1
        if begin + 2 * width >= MAX_STATES:
            return False
        may = plan["open"][h] >> plan["order"][i] & 1
        for state in range(a["begin"][i], begin):
            for having in range(2):
                place = np.int64(-1)
                if having <= may and _successor(a, words, state, i, having, end):
                    place = _place(a, words, begin, end, mask)
                    end = max(end, place + 1)
                a["after"][state, having] = place
        a["begin"][i + 2] = end
    return True


@inner
def _pair_place(a, side, begin, end, mask):
    """As `_place`, for the merged state with the successors written at ``end``."""
    at = scatter(a["without"][side, end] << 32 ^ a["having"][side, end], mask)
    while True:
        known = a["slots"][at] - a["clock"]
        if known < begin:
            a["slots"][at] = a["clock"] + end
            return end
        if a["without"][side, known] == a["without"][side, end] and a["having"][side, known] == a["having"][side, end]:
            return known
        at = at + 1 & mask


@inner
def _merged_state(a, side, state, begin, end, later, mask):
    """Write the merged form of a state at ``end``, unless an equal one is there or it is dead;
    gives its place or -1.
    """
    without = a["after"][state, 0]
    having = a["after"][state, 1]
    without = a["merged"][without] if without >= 0 else np.int64(-1)
    having = a["merged"][having] if having >= 0 else np.int64(-1)
    if without < 0 and having < 0:
        return np.int64(-1)
    a["without"][side, end] = without
    a["having"][side, end] = having
    place = _pair_place(a, side, begin, end, mask)
    if place == end:
        a["ways"][side, end] = 0.0
        if without >= 0:
            a["ways"][side, end] += a["ways"][side, later + without]
        if having >= 0:
            a["ways"][side, end] += a["ways"][side, later + having]
    return place


@inner
def _merge(plan, h, a, side, free):
    """Drop dead states and merge those of equal future, backwards; states go into the arrays from
    ``free`` on.

    A successor is given by its place in its layer. Gives the first place that is free after them,
    -1 where nothing lives.
    """
    size = plan["size"]
    a["clock"] += MAX_TOTAL
    for state in range(a["begin"][size], a["begin"][size + 1]):
        a["merged"][state] = 0
    a["without"][side, free] = -1
    a["having"][side, free] = -1
    a["ways"][side, free] = 1.0
    a["start"][side, size, h] = free
    a["width"][side, size, h] = 1
    end = free + 1
    for i in range(size - 1, -1, -1):
        begin = end
        later = a["start"][side, i + 1, h]
        mask = (np.int64(2) << bit_length(a["begin"][i + 1] - a["begin"][i])) - 1
        for state in range(a["begin"][i], a["begin"][i + 1]):
            place = _merged_state(a, side, state, begin, end, later, mask)
            a["merged"][state] = place - begin if place >= 0 else -1
            end = max(end, place + 1)
        a["start"][side, i, h] = begin
        a["width"][side, i, h] = end - begin
    return end if a["width"][side, 0, h] else np.int64(-1)


@inner
def _set_order(plan, cards, order):
    """Take the open cards in the sequence of an order of all cards."""
    size = 0
    for card in order:
        if card >= 0 and cards >> card & 1:
            plan["order"][size] = card
            size += 1
    plan["size"] = size


@inner
def _try_order(plan, a, side, limit):
    """Build the automata of all holders; gives the breadth summed over the layers, or -1 where a
    holder has no way.

    It stops early, with a number that is no less than ``limit``, as soon as the breadth exceeds it.
    """
    size = np.int64(plan["size"])
    free = np.int64(0)
    total = np.inf
    for i in range(size + 1):
        a["breadth"][i] = 1.0
    for h in range(plan["num_holders"]):
        if not _grow(plan, h, a) or free + a["begin"][size + 1] >= MAX_TOTAL:
            return np.inf
        free = _merge(plan, h, a, side, free)
        if free < 0:
            return -1.0
        total = 0.0
        for i in range(size + 1):
            a["breadth"][i] *= a["width"][side, i, h]
            total += a["breadth"][i]
        if total >= limit:
            break
    return total


@inner
def make_plan(e, sheet, orders, plan, a):
    """Reduce evidence to what is open and build the automata along the best of some orders.

    Args:
        e: one EVIDENCE record.
        sheet: its SHEET record, not broken.
        orders: i8 [O, C] card numbers; filled up with -1.
        plan: one PLAN record, overwritten.
        a: one AUTOMATA record.
    """
    cards = take_out_settled(e, sheet, plan)
    least = np.inf
    chosen = -1
    side = np.int64(0)
    for o in range(orders.shape[0]):
        _set_order(plan, cards, orders[o])
        breadth = _try_order(plan, a, side, least)
        if breadth < 0.0:
            plan["code"] = NO_DEAL
            return
        if breadth < least:
            least = breadth
            chosen = o
            plan["side"] = side
            side = 1 - side
    plan["code"] = INTRICATE if chosen < 0 else 0
    if chosen >= 0:
        _set_order(plan, cards, orders[chosen])
