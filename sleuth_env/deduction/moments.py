"""What all questions on a graph would tell, from numbers that the questions share.

`questions` counts the deals by missing card and answer, for one question after the other. Here many
questions are counted in one pass over the graph, by the `lanes` of all that they have in common,
which are at most a few hundred for each holder. The numbers of deals by answer follow from these by
inclusion and exclusion. That subtracts, so that they are exact but for rounding, and a 0 may come
out as hardly more; otherwise they are the same. There must be one missing card.

Where holders are interchangeable, because the same is known of all of them, only the first is
looked at.

In the kernels ``i`` is a layer and ``h`` a holder.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..bits import popcount
from ..kernels import inner
from .automata import bit_length
from .lanes import (
    ABOVE,
    BELOW,
    GROWTH,
    PRODUCT,
    QUANTITY,
    QUESTION,
    are_alike,
    begin_lanes,
    index_of,
    layers_of,
    list_growth,
    list_products,
    most_of,
    note_question,
    number_lanes,
)
from .questions import MOST_ROWS, add, add_times, appraise, clear, scale

# Rows are a multiple of this long, so that their loops have no remainder.
LINE = 8
# Holders are looked at together while their lanes are not more than this: the rows of a layer
# should stay in the processor's cache.
TOGETHER = 256


class Graph(NamedTuple):
    """A graph of deals with one missing card, its nodes numbered on each side of the cut."""

    begin: np.ndarray  # i8 [layer], first node of each layer
    live: np.ndarray  # LIVE [N + 1]
    edges: np.ndarray  # EDGE [E]
    ranks: np.ndarray  # i4 [N], a node's number among those of its layer and side
    sizes: np.ndarray  # i8 [side, layer], the number of these


class Rows(NamedTuple):
    """The lanes of all nodes, in rows; above the cut only those of the newest two layers."""

    numbers: np.ndarray  # f8, the rows one after the other
    spans: np.ndarray  # i8 [side, layer], the length of a row
    places: np.ndarray  # i8 [side, layer], where the layer's first row starts
    starts: np.ndarray  # i8 [side, size * H + 1], where in `growth` each layer and holder start
    growth: np.ndarray  # GROWTH [side, N]


# --- how it is counted ---


@inner
def _number_nodes(plan, begin, live, ranks, sizes):
    """Number the nodes of each layer, those above the cut and those below apart, see `Graph`."""
    sizes[:] = 0
    for i in range(plan["size"] + 1):
        for node in range(begin[i], begin[i + 1]):
            # No card of the last holder is placed above the cut, and one below it.
            side = live[node]["placed"]
            ranks[node] = sizes[side, i]
            sizes[side, i] += 1


@inner
def _row_of(graph, rows, side, i, node):
    """Return where the row of a node in layer ``i`` starts."""
    return rows.places[side, i] + graph.ranks[node] * rows.spans[side, i]


@inner
def _grow(rows, side, at, target, source, paths):
    """Add to the lanes that grow by a card (``at``: by which layer's, and which holder gets it)."""
    numbers = rows.numbers
    growth = rows.growth[side]
    # Unsigned, so that the compiler knows that no index is negative.
    to = np.uint64(target)
    of = np.uint64(source)
    for g in range(np.uint64(rows.starts[side, at]), np.uint64(rows.starts[side, at + 1])):
        origin = growth[g]["origin"]
        numbers[to + np.uint64(growth[g]["lane"])] += numbers[of + np.uint64(origin)] if origin >= 0 else paths


@inner
def _carry_back(plan, graph, rows):
    """Fill in the rows below the cut, from the end towards the start."""
    holders = plan["num_holders"]
    live = graph.live
    for i in range(plan["size"] - 1, -1, -1):
        span = rows.spans[BELOW, i]
        later = rows.spans[BELOW, i + 1]
        for node in range(graph.begin[i], graph.begin[i + 1]):
            if live[node]["placed"] == 0 or span == 0:
                continue
            row = _row_of(graph, rows, BELOW, i, node)
            clear(rows.numbers, row, span)
            for edge in range(live[node]["first"], live[node + 1]["first"]):
                child = graph.edges[edge]["child"]
                source = _row_of(graph, rows, BELOW, i + 1, child)
                add(rows.numbers, row, source, later)
                at = i * holders + graph.edges[edge]["holder"]
                _grow(rows, BELOW, at, row, source, live[child]["finish"])
            scale(rows.numbers, row, span, live[node]["gain"])


@inner
def _carry_on(plan, graph, rows, i):
    """Fill in the rows above the cut of the layer after ``i``."""
    holders = plan["num_holders"]
    live = graph.live
    span = rows.spans[ABOVE, i]
    later = rows.spans[ABOVE, i + 1]
    for node in range(graph.begin[i + 1], graph.begin[i + 2]):
        if live[node]["placed"] == 0:
            clear(rows.numbers, _row_of(graph, rows, ABOVE, i + 1, node), later)
    for node in range(graph.begin[i], graph.begin[i + 1]):
        if live[node]["placed"]:
            continue
        row = _row_of(graph, rows, ABOVE, i, node)
        for edge in range(live[node]["first"], live[node + 1]["first"]):
            holder = graph.edges[edge]["holder"]
            if holder < holders - 1:
                target = _row_of(graph, rows, ABOVE, i + 1, graph.edges[edge]["child"])
                add(rows.numbers, target, row, span)
                _grow(rows, ABOVE, i * holders + holder, target, row, live[node]["reach"])
    for node in range(graph.begin[i + 1], graph.begin[i + 2]):
        if live[node]["placed"] == 0:
            scale(rows.numbers, _row_of(graph, rows, ABOVE, i + 1, node), later, live[node]["gain"])


@inner
def _join(plan, graph, rows, products, i, sums):
    """Sum up over the edges that give the last holder layer ``i``'s card.

    Args:
        plan: one PLAN record.
        graph: `Graph`.
        rows: `Rows`.
        products: PRODUCT [N], of this layer.
        i: the layer.
        sums: f8, overwritten: first the lanes above, times all paths below, next the lanes below,
            times all paths above, then the products, and last all paths.
    """
    last = plan["num_holders"] - 1
    live = graph.live
    span = rows.spans[ABOVE, i]
    later = rows.spans[BELOW, i + 1]
    combined = sums[span + later :]
    sums[:] = 0.0
    total = 0.0
    for node in range(graph.begin[i], graph.begin[i + 1]):
        # A node's edges are in the order of the holders, so that the last holder's is at the end.
        edge = live[node + 1]["first"] - 1
        if live[node]["placed"] or edge < live[node]["first"] or graph.edges[edge]["holder"] != last:
            continue
        child = graph.edges[edge]["child"]
        reach = live[node]["reach"]
        finish = live[child]["finish"]
        above = _row_of(graph, rows, ABOVE, i, node)
        below = _row_of(graph, rows, BELOW, i + 1, child)
        add_times(sums, 0, rows.numbers, above, span, finish)
        add_times(sums, span, rows.numbers, below, later, reach)
        for p in range(products.size):
            combined[p] += rows.numbers[above + products[p]["above"]] * rows.numbers[below + products[p]["below"]]
        total += reach * finish
    combined[products.size] = total


@inner
def _collect(quantities, end, rows, widths, products, i, sums, moments):
    """Write a layer's sums (see `_join`) as moments (f8 [> Q]): of each quantity, and then of all paths.

    A quantity is the sum over all ways in which its cards may lie on the two sides.
    """
    span = rows.spans[ABOVE, i]
    later = rows.spans[BELOW, i + 1]
    combined = sums[span + later :]
    for q in range(end):
        above = quantities[q]["lane"][ABOVE]
        below = quantities[q]["lane"][BELOW]
        moments[q] = sums[above] if above < widths[ABOVE, i] else 0.0
        moments[q] += sums[span + below] if below < widths[BELOW, i + 1] else 0.0
    for p in range(products.size):
        moments[products[p]["quantity"]] += combined[p]
    moments[end] = combined[products.size]


@inner
def _place_rows(widths, sizes, spans, places):
    """Fill in ``spans`` and ``places`` of `Rows`, and return the length of ``numbers``.

    Args:
        widths: i8 [side, layer], the number of lanes that have begun.
        sizes: i8 [side, layer], see `Graph`.
        spans, places: i8 [side, layer], overwritten.
    """
    free = np.int64(0)
    most = np.int64(0)
    for i in range(widths.shape[1]):
        for side in range(2):
            spans[side, i] = (widths[side, i] + LINE - 1) // LINE * LINE
        places[BELOW, i] = free
        free += spans[BELOW, i] * sizes[BELOW, i]
        most = max(most, spans[ABOVE, i] * sizes[ABOVE, i])
    for i in range(widths.shape[1]):
        places[ABOVE, i] = free + i % 2 * most
    return free + 2 * most


@inner
def _tally(plan, graph, quantities, slots, first, columns, moments):
    """Count the deals by missing card, weighted by every quantity.

    Args:
        plan: one PLAN record.
        graph: `Graph`.
        quantities: QUANTITY [Q], those of each holder together.
        slots: i4, the hash table of the quantities.
        first: i8 [H + 1], each holder's first quantity.
        columns: i8 [layer], number of its card among those that may be missing, -1 not one of them.
        moments: f8 [outcomes, > Q], overwritten; all deals come after the quantities.

    Returns:
        Whether the rows fit.
    """
    size = np.int64(plan["size"])
    holders = np.int64(plan["num_holders"])
    end = first[holders]
    widths = np.empty((2, size + 1), np.int64)
    begin_lanes(quantities, slots, end)
    number_lanes(quantities, end, size, widths)
    spans = np.empty_like(widths)
    places = np.empty_like(widths)
    needed = _place_rows(widths, graph.sizes, spans, places)
    if needed > MOST_ROWS:
        return False
    grown = 0
    combined = 0
    for q in range(end):
        grown += popcount(quantities[q]["layers"])
        combined += max(quantities[q]["number"] - 1, 1)
    starts = np.empty((2, size * holders + 1), np.int64)
    growth = np.empty((2, grown), GROWTH)
    for side in range(2):
        list_growth(quantities, first, size, side, starts[side], growth[side])
    rows = Rows(np.empty(needed), spans, places, starts, growth)
    products = np.empty(combined, PRODUCT)
    sums = np.empty(2 * (end + LINE) + combined + 1)
    _carry_back(plan, graph, rows)
    for i in range(size):
        if columns[i] >= 0:
            some = products[: list_products(quantities, slots, end, i, products)]
            _join(plan, graph, rows, some, i, sums)
            _collect(quantities, end, rows, widths, some, i, sums, moments[columns[i]])
        _carry_on(plan, graph, rows, i)
    return True


# --- what it tells ---


@inner
def _by_number(moments, q, most, end, cells):
    """Turn the moments of a number of cards into the deals by number (cells: f8 [most + 1])."""
    cells[0] = moments[end]
    for number in range(1, most + 1):
        cells[number] = moments[q + number - 1]
    # A polynomial in x - 1 becomes one in x.
    for k in range(most):
        for j in range(most - 1, k - 1, -1):
            cells[j] -= cells[j + 1]


@inner
def _by_cards(quantities, slots, moments, holder, layers, end, cells):
    """Turn the deals with all cards of each subset into those with exactly these (cells: f8 [2**cards])."""
    some = layers & 0
    for answer in range(1 << popcount(layers)):
        q = index_of(quantities, slots, holder, 0, some)
        cells[answer] = 0.0 if q < 0 else moments[q]
        some = some - layers & layers
    cells[0] = moments[end]
    for bit in range(popcount(layers)):
        for answer in range(1 << popcount(layers)):
            if answer >> bit & 1 == 0:
                cells[answer] -= cells[answer | 1 << bit]


@inner
def _tabulate(quantities, slots, moments, question, end, table):
    """Write the joint distribution of a question's answer and the missing card.

    Args:
        quantities: QUANTITY [Q].
        slots: i4, the hash table of the quantities.
        moments: f8 [outcomes, > Q], see `_tally`.
        question: one QUESTION record.
        end: the number of quantities.
        table: f8 [outcomes, answers], overwritten.
    """
    holder = question["holder"]
    layers = question["layers"]
    for o in range(moments.shape[0]):
        cells = table[o]
        if question["shown"]:
            _by_cards(quantities, slots, moments[o], holder, layers, end, cells)
        else:
            q = index_of(quantities, slots, holder, 1, layers)
            _by_number(moments[o], q, question["most"], end, cells)
        for answer in range(cells.size):
            # Below 0 by rounding only.
            cells[answer] = max(cells[answer], 0.0)


@inner
def _note_alike(plan, exact, alike):
    """Note for each holder the first who is like them (i8 [H]).

    A thinned graph is not the same for holders who are alike, and so they are taken for different.
    """
    for h in range(plan["num_holders"]):
        alike[h] = h
        for g in range(h - 1, -1, -1):
            if exact and are_alike(plan, g, h):
                alike[h] = g


@inner
def _note_questions(plan, alike, asks, questions):
    """Write questions (ASK [N]) as QUESTION [N]: to the first of the holders who are alike."""
    for n in range(asks.size):
        question = questions[n]
        holder = alike[asks[n]["holder"]]
        cards = asks[n]["cards"] & plan["open"][holder]
        question["holder"] = holder
        question["shown"] = asks[n]["shown"]
        question["most"] = most_of(plan, holder, cards)
        question["answers"] = 1 << popcount(cards) if asks[n]["shown"] else question["most"] + 1
        question["layers"] = layers_of(plan, cards)


@inner
def _copy_worth(questions, n, near, worths):
    """Copy the worth of an equal question among the ``near`` ones before; return whether there is one."""
    now = questions[n]
    for m in range(max(n - near, 0), n):
        before = questions[m]
        same = before["holder"] == now["holder"] and before["layers"] == now["layers"]
        if same and before["shown"] == now["shown"]:
            worths[n] = worths[m]
            return True
    return False


@inner
def _appraise_some(plan, graph, questions, group, room, frame, worths):
    """Appraise the questions (QUESTION [N]) to some holders, see `appraise_by_moments`.

    Args:
        group: mask of the holders.
        room: at least the number of quantities that this takes.
    """
    holders = np.int64(plan["num_holders"])
    quantities = np.empty(room, QUANTITY)
    slots = np.full(np.int64(4) << bit_length(room), -1, np.int32)
    first = np.empty(holders + 1, np.int64)
    end = np.int64(0)
    answers = np.int64(1)
    for h in range(holders):
        first[h] = end
        for n in range(questions.size):
            if questions[n]["holder"] == h and group >> h & 1:
                answers = max(answers, np.int64(questions[n]["answers"]))
                end = note_question(quantities, slots, end, questions[n])
    first[holders] = end
    moments = np.zeros((frame["num_columns"], end + 1))
    if not _tally(plan, graph, quantities, slots, first, frame["column"], moments):
        return False
    table = np.empty((moments.shape[0], answers))
    for n in range(questions.size):
        question = questions[n]
        if group >> question["holder"] & 1 and not _copy_worth(questions, n, holders, worths):
            _tabulate(quantities, slots, moments, question, end, table[:, : question["answers"]])
            appraise(table, question["answers"], worths[n])
            # It depends on zeros, which rounding may hide.
            worths[n]["decides"] = np.nan
    return True


@inner
def appraise_by_moments(plan, exact, begin, live, edges, frame, asks, worths):
    """Appraise questions by the same numbers as `questions`, but for rounding.

    Args:
        plan: one PLAN record with one missing card.
        exact: whether the graph is exact.
        begin: i8, first node of each layer of the graph.
        live: LIVE [N + 1], the graph's nodes.
        edges: EDGE [E], the graph's edges.
        frame: one FRAME record, after `set_columns`.
        asks: ASK [N].
        worths: WORTH [N], overwritten; NaN for ``decides``.

    Returns:
        Whether the rows fit; if not, the worths mean nothing.
    """
    holders = np.int64(plan["num_holders"])
    size = np.int64(plan["size"])
    ranks = np.empty(begin[size + 1], np.int32)
    sizes = np.empty((2, size + 1), np.int64)
    _number_nodes(plan, begin, live, ranks, sizes)
    graph = Graph(begin, live, edges, ranks, sizes)
    alike = np.empty(holders, np.int64)
    _note_alike(plan, exact, alike)
    questions = np.empty(asks.size, QUESTION)
    _note_questions(plan, alike, asks, questions)
    needed = np.zeros(holders, np.int64)
    for n in range(questions.size):
        needed[questions[n]["holder"]] += questions[n]["answers"]
    group = np.int64(0)
    room = np.int64(0)
    for h in range(holders):
        if group and (h == holders - 1 or room + needed[h] > TOGETHER):
            if not _appraise_some(plan, graph, questions, group, room, frame, worths):
                return False
            group = group & 0
            room = room & 0
        if needed[h]:
            group |= np.int64(1) << h
            room += needed[h]
    return True
