"""One automaton for each holder: which hands their own counts allow, along an order of the cards.

What the sheet has settled is taken out first; the cards that are left are called open. They are
dealt with one after the other, and layer ``i`` comes before the i-th of them. A holder's state at a
layer says what each of their counts still allows. States that cannot be completed are dropped and
states with the same futures are merged, so that the automaton is the smallest one possible (the
layered form of minimising an acyclic automaton). Of several orders the one is kept for which the
product of the automata's widths, summed over the layers, is least: it predicts the number of joint
states (see `graph`) almost perfectly.

In the kernels ``e`` is one EVIDENCE record, ``a`` one AUTOMATA record, ``h`` a holder, ``i`` a layer
and ``s`` the place of a set in the catalogue.
"""

from __future__ import annotations

import numpy as np

from ..bits import popcount
from ..kernels import inner
from .evidence import MAX_CARDS, MAX_HOLDERS, MAX_SETS

MAX_LAYERS = MAX_CARDS + 1
MAX_WORDS = 6  # 48 counts of up to 63 cards, 7 bits each, in words of 63 bits
MAX_STATES = 1 << 16  # of one holder's automaton before merging
MAX_TOTAL = 1 << 18  # states of all holders' automata after merging
SLOTS = 1 << 17
WORD = 63
# Codes of a plan that could not be made; see `counting` for those of a result.
NO_DEAL = 2  # a holder's counts cannot all hold
INTRICATE = 3  # they have too many states

PLAN = np.dtype(
    [
        ("num_holders", "i4"),
        ("size", "i4"),  # number of open cards; there is one layer more
        ("code", "i4"),  # 0, NO_DEAL or INTRICATE
        ("order", "i4", MAX_CARDS),  # the open cards in the order in which they are dealt with
        ("open", "i8", MAX_HOLDERS),  # [H] masks of the open cards that a holder may have
        ("held", "i8", MAX_HOLDERS),  # [H] masks of the cards that a holder certainly has
        ("num_counts", "i4", MAX_HOLDERS),  # [H] number of counts that may still settle something
        ("cells", "i8", (MAX_HOLDERS, MAX_SETS)),  # [H, count] mask of the open cards that a count is about
        ("most", "i4", (MAX_HOLDERS, MAX_SETS)),  # [H, count] the holder gets at most this many of them
        ("slack", "i4", (MAX_HOLDERS, MAX_SETS)),  # [H, count] "most" less the least number of them
        ("missing", "i4"),  # number of cards the last holder still gets, -1 where the evidence does not fix it
        ("side", "i4"),  # which side of AUTOMATA holds the automata
    ],
    align=True,
)


# Scratch space for the automata of all holders. There are two "sides": one for the best order so
# far and one for the order on trial.
AUTOMATA = np.dtype(
    [
        ("without", "i8", (2, MAX_TOTAL)),  # [side, state] next state if somebody else gets the card, -1 none
        ("having", "i8", (2, MAX_TOTAL)),  # [side, state] next state if the holder gets it, -1 none
        ("ways", "f8", (2, MAX_TOTAL)),  # [side, state] number of ways in which this holder alone can go on
        ("start", "i8", (2, MAX_LAYERS, MAX_HOLDERS)),  # [side, layer, H] first state of a layer
        ("width", "i8", (2, MAX_LAYERS, MAX_HOLDERS)),  # [side, layer, H] number of its states
        ("breadth", "f8", MAX_LAYERS),  # [layer] product of the holders' widths
        ("shift", "i8", (MAX_LAYERS, MAX_HOLDERS)),  # [layer, H] first bit of a holder's state in a joint state's key
        ("words", "i8", (MAX_STATES, MAX_WORDS)),  # [state, word] one holder's states before merging
        ("after", "i8", (MAX_STATES, 2)),  # [state, 0 or 1] their successors without and with the card, -1 none
        ("merged", "i8", MAX_STATES),  # [state] what they are merged into, -1 dead
        ("begin", "i8", MAX_LAYERS + 1),  # [layer] first state of each layer before merging
        ("takes", "i8", (MAX_LAYERS, MAX_WORDS)),  # [layer, word] what getting the card uses up
        ("limit", "i8", (MAX_LAYERS, MAX_WORDS)),  # [layer, word] what may be left after the card
        ("goes_on", "i8", (MAX_LAYERS, MAX_WORDS)),  # [layer, word] mask of the counts with cards still to come
        ("first", "i8", MAX_WORDS),  # [word] the first state
        ("guards", "i8", MAX_WORDS),  # [word] the guard bits, see _pack_counts
        ("slots", "i8", SLOTS),  # a hash table that is never cleared: a number below the clock means vacant
        ("clock", "i8"),
        ("tick", "i8"),  # the clock of the hash table of joint states, see `graph`
        ("step", "i8", (2, MAX_HOLDERS)),  # [0 or 1, H] parts of the next key, without and with the card
    ],
    align=True,
)


@inner
def scatter(key, mask):
    """Hash an int64 to a place in a table of ``mask + 1`` slots."""
    # np.multiply, because * of NumPy scalars warns of the intended overflow in plain Python.
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
    """Add a count of a holder; one on the same cards narrows the existing one."""
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
    """Reduce evidence to what the sheet leaves open; return the mask of the open cards."""
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
    """Pack a holder's counts into words, and return the number of words.

    Each count has a field for the number of cards that the holder may still get, and a guard bit
    above it, so that one subtraction treats all fields of a word at once (Lamport, "Multiple byte
    processing with full-word instructions", 1975). With S the state, T what a card takes and G the
    guards, S + G - T keeps all guard bits set as long as no count is exceeded, and limit + G - S
    keeps them as long as every count can still reach its least number.
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
    """Write the state after card ``i`` to place ``end``; false if it breaks a count."""
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
    """Return the place of the state written at ``end`` in its layer, ``end`` itself if it is new.

    The layer begins at ``begin``; ``mask + 1`` is the part of the hash table in use.
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
    """Build a holder's states layer by layer, forwards; false if there are too many."""
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
    """Do the same as `_place` for the merged state whose successors are written at ``end``."""
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
    """Return the place of a state's merged form, -1 if the state is dead.

    The merged form is written at ``end`` unless its layer already has an equal one.
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
    """Drop dead states and merge those with equal futures, backwards.

    The merged states go into the arrays from ``free`` on; a successor is stored as its place within
    its layer.

    Returns:
        The first free place after them, -1 if no state is alive.
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
    """Put the open cards in the order in which an order of all cards has them."""
    size = 0
    for card in order:
        if card >= 0 and cards >> card & 1:
            plan["order"][size] = card
            size += 1
    plan["size"] = size


@inner
def _try_order(plan, a, side, limit):
    """Build the automata of all holders along the plan's order.

    Returns:
        The breadth summed over the layers; -1 if some holder's counts cannot all hold; a number of
        at least ``limit`` as soon as it is clear that the sum reaches it.
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
        orders: i8 [O, C] card numbers, padded with -1.
        plan: one PLAN record, overwritten but for ``missing``.
        a: one AUTOMATA record, overwritten.
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
