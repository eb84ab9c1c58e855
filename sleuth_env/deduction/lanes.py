"""What many questions have in common, as numbers that are carried along a graph of deals.

Of the hand of a holder who is asked, these are:

- where cards are shown: in how many deals the holder has all cards of a set. The sets of different
  questions overlap, and each is counted once;
- where cards are counted: the sum over the deals of the number of ways to choose ``j`` of the cards
  asked for that the holder has (but for a factor, the factorial moments of the answer).

Neither changes where somebody else gets a card, or where the holder gets one that is not asked for.
So a node's row of such numbers, called lanes, is simply added to the rows of its children, and a
few lanes grow besides where the holder gets a card that is asked for. A lane is 0 until the first
layer that can add to it. The lanes are therefore put in the order in which they begin, and a row is
no longer than the lanes that have begun.

The graph is cut where the missing card is dealt, as in `questions`. On one side, above the cut,
lanes begin at the start and grow towards the end; on the other, below it, they begin at the end and
grow towards the start. An edge across the cut multiplies them (see `moments`).

In the kernels ``i`` is a layer, ``h`` a holder and ``q`` the index of a quantity. Sets of cards are
masks of the layers in which they are dealt.
"""

from __future__ import annotations

import numpy as np

from ..bits import lowest, popcount
from ..kernels import inner
from .automata import scatter

# A question as it is counted here.
QUESTION = np.dtype(
    [
        ("holder", "i4"),  # who is asked, or another of whom the same is known
        ("shown", "i4"),  # whether the answer is which cards, rather than how many
        ("most", "i4"),  # the largest number of the cards that the holder can have
        ("answers", "i4"),  # the number of answers
        ("layers", "i8"),  # mask of the layers of the open cards that are asked for
    ],
    align=True,
)
# What is counted of one holder's hand.
QUANTITY = np.dtype(
    [
        ("holder", "i4"),
        ("number", "i4"),  # 0: all of the cards; j: the ways to choose j of those that the holder has
        ("layers", "i8"),  # mask of the cards' layers
        ("begins", "i4", 2),  # [side] layer of the first row that has its lane, on the way to the cut
        ("lane", "i4", 2),  # [side] the number of its lane
        ("origin", "i4", 2),  # [side] the quantity from which it grows by one more card, -1 none
    ],
    align=True,
)
# A lane that grows when the holder gets a layer's card, by another lane or (-1) by all paths.
GROWTH = np.dtype([("lane", "i4"), ("origin", "i4")])
# A quantity to which the product of two lanes contributes.
PRODUCT = np.dtype([("above", "i4"), ("below", "i4"), ("quantity", "i4")])
ABOVE = 0
BELOW = 1


@inner
def layers_of(plan, cards):
    """Return the mask of the layers in which a mask of open cards is dealt."""
    layers = np.int64(0)
    for i in range(plan["size"]):
        layers |= (cards >> plan["order"][i] & 1) << i
    return layers


@inner
def most_of(plan, holder, cards):
    """Return the largest number of some open cards (a mask) that a holder can have."""
    most = popcount(cards)
    for j in range(plan["num_counts"][holder]):
        most = min(most, plan["most"][holder, j] + popcount(cards & ~plan["cells"][holder, j]))
    return most


@inner
def are_alike(plan, g, h):
    """Return whether two holders are interchangeable: any deal stays one when their hands are swapped.

    Where the same counts are known in another order, this is not seen.
    """
    if plan["open"][g] != plan["open"][h] or plan["num_counts"][g] != plan["num_counts"][h]:
        return False
    for j in range(plan["num_counts"][h]):
        same = plan["cells"][g, j] == plan["cells"][h, j]
        same = same and plan["most"][g, j] == plan["most"][h, j]
        if not same or plan["slack"][g, j] != plan["slack"][h, j]:
            return False
    return True


# --- what is counted ---


@inner
def _find(quantities, slots, holder, number, layers):
    """Return the slot with the index of a quantity, or the vacant one where it would be."""
    mask = slots.size - 1
    at = scatter(layers ^ np.int64(number) << 56 ^ np.int64(holder) << 52, mask)
    while slots[at] >= 0:
        found = quantities[slots[at]]
        if found["layers"] == layers and found["number"] == number and found["holder"] == holder:
            return at
        at = at + 1 & mask
    return at


@inner
def index_of(quantities, slots, holder, number, layers):
    """Return the index of a quantity, -1 for the empty set and what is not counted."""
    return np.int64(slots[_find(quantities, slots, holder, number, layers)]) if layers else np.int64(-1)


@inner
def _note(quantities, slots, end, holder, number, layers):
    """Add a quantity at ``end`` unless it is known, and return the new end."""
    at = _find(quantities, slots, holder, number, layers)
    if slots[at] >= 0:
        return end
    slots[at] = end
    quantities[end]["holder"] = holder
    quantities[end]["number"] = number
    quantities[end]["layers"] = layers
    return end + 1


@inner
def note_question(quantities, slots, end, question):
    """Add what must be counted for a question, and return the new end.

    Args:
        quantities: QUANTITY [Q].
        slots: i4, their hash table: indices, -1 vacant.
        end: the number of quantities.
        question: one QUESTION record.
    """
    holder = question["holder"]
    layers = question["layers"]
    if not question["shown"]:
        for number in range(1, question["most"] + 1):
            end = _note(quantities, slots, end, holder, number, layers)
        return end
    some = layers
    while some:
        if popcount(some) <= question["most"]:
            end = _note(quantities, slots, end, holder, 0, some)
        some = some - 1 & layers
    return end


@inner
def _nth(layers, n):
    """Return the n-th layer of a mask, counted from 1."""
    for _ in range(n - 1):
        layers &= layers - 1
    return lowest(layers)


@inner
def _needed(quantity):
    """Return how many of its cards the holder must have for a quantity not to be 0."""
    return np.int64(quantity["number"]) if quantity["number"] else popcount(quantity["layers"])


@inner
def begin_lanes(quantities, slots, end):
    """Fill in where the lanes of the quantities begin and from what they grow."""
    for q in range(end):
        quantity = quantities[q]
        layers = quantity["layers"]
        needed = _needed(quantity)
        quantity["begins"][ABOVE] = _nth(layers, needed) + 1
        quantity["begins"][BELOW] = _nth(layers, popcount(layers) - needed + 1)
        for side in range(2):
            if quantity["number"]:
                quantity["origin"][side] = q - 1 if needed > 1 else -1
            else:
                newest = quantity["begins"][side] - (side == ABOVE)
                rest = layers ^ np.int64(1) << newest
                quantity["origin"][side] = index_of(quantities, slots, quantity["holder"], 0, rest)


@inner
def number_lanes(quantities, end, size, widths):
    """Number the lanes in the order in which they begin, and note how many have begun in each row.

    Args:
        quantities: QUANTITY [>= end].
        end: the number of quantities.
        size: the number of layers with a card.
        widths: i8 [side, layer], overwritten.
    """
    widths[:] = 0
    for q in range(end):
        for side in range(2):
            widths[side, quantities[q]["begins"][side]] += 1
    for i in range(size):
        widths[ABOVE, i + 1] += widths[ABOVE, i]
        widths[BELOW, size - i - 1] += widths[BELOW, size - i]
    # Each layer's lanes are numbered downwards from the number that have begun.
    free = widths.copy()
    for q in range(end):
        for side in range(2):
            begins = quantities[q]["begins"][side]
            free[side, begins] -= 1
            quantities[q]["lane"][side] = free[side, begins]


@inner
def _grows(quantity, side, i):
    """Return whether a quantity's lane may grow by the card of layer ``i``, one of its own."""
    upto = (np.int64(2) << i) - 1
    passed = quantity["layers"] & (upto if side == ABOVE else ~(upto >> 1))
    return popcount(passed) >= _needed(quantity)


@inner
def list_growth(quantities, first, size, side, starts, growth):
    """List which lanes grow when a holder gets a layer's card.

    Args:
        quantities: QUANTITY [Q], those of each holder together.
        first: i8 [H + 1], each holder's first quantity.
        size: the number of layers with a card.
        side: `ABOVE` or `BELOW`.
        starts: i8 [size * H + 1], where the lanes of each layer and holder start; overwritten.
        growth: GROWTH [N], overwritten.
    """
    free = 0
    holders = first.size - 1
    for i in range(size):
        for h in range(holders):
            starts[i * holders + h] = free
            for q in range(first[h], first[h + 1]):
                quantity = quantities[q]
                if quantity["layers"] >> i & 1 and _grows(quantity, side, i):
                    origin = quantity["origin"][side]
                    growth[free]["lane"] = quantity["lane"][side]
                    growth[free]["origin"] = quantities[origin]["lane"][side] if origin >= 0 else -1
                    free += 1
    starts[size * holders] = free


@inner
def list_products(quantities, slots, end, i, products):
    """List the products of lanes at an edge that gives the last holder layer ``i``'s card.

    Quantities of which all cards lie on one side are not among them.

    Returns:
        The number of products, which are written to the front of ``products`` (PRODUCT [N]).
    """
    free = 0
    before = (np.int64(1) << i) - 1
    for q in range(end):
        quantity = quantities[q]
        number = quantity["number"]
        layers = quantity["layers"]
        low = layers & before
        high = layers & ~before & ~(np.int64(1) << i)
        if number == 0:
            # The holder does not have layer i's card, so nothing deals all of a set that it is in.
            if low | high != layers or low == 0 or high == 0:
                continue
            above = index_of(quantities, slots, quantity["holder"], 0, low)
            below = index_of(quantities, slots, quantity["holder"], 0, high)
            products[free]["above"] = quantities[above]["lane"][ABOVE]
            products[free]["below"] = quantities[below]["lane"][BELOW]
            products[free]["quantity"] = q
            free += 1
            continue
        for part in range(max(1, number - popcount(high)), min(number - 1, popcount(low)) + 1):
            products[free]["above"] = quantities[q - number + part]["lane"][ABOVE]
            products[free]["below"] = quantities[q - part]["lane"][BELOW]
            products[free]["quantity"] = q
            free += 1
    return free
