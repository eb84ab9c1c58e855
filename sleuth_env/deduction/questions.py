"""What the answer to a question would tell: its joint distribution with the missing cards, on a graph of deals.

The last holder is the one whose cards are wanted ("missing"). The graph is cut where he gets one of his cards: above the
cut every node carries the paths to it by the answer so far, below it the paths from it by the rest of the answer, and
the edges across put the two together. With one missing card nothing else need be carried; of two the first and of three
the first and the last are carried along as well.
"""

from __future__ import annotations

import numpy as np

from ..bits import inner, popcount
from .evidence import MAX_CARDS

MAX_MISSING = 3
MAX_SHOWN = 6  # a question about more cards than this can only be answered with a number

WORTH = np.dtype(
    [
        ("information", "f8"),  # bits that the answer is expected to tell about the missing cards
        ("decides", "f8"),  # probability that it leaves only one possibility for them
        ("surprise", "f8"),  # bits of the answer itself: what it is expected to tell about the whole deal
    ],
    align=True,
)


# A question on a graph of deals.
FRAME = np.dtype(
    [
        ("column", "i8", MAX_CARDS),  # per layer: the number of its card among those that may be missing, -1 cannot be
        ("columns", "i8"),  # how many these are
        ("missing", "i8"),  # open missing cards
        ("cut", "i8"),  # the graph is cut where the last holder gets this one of his cards
        ("on", "i8"),  # whether the first missing card is carried along above the cut,
        ("back", "i8"),  # and the last one below
        ("holder", "i8"),  # who is asked
        ("shown", "i8"),
        ("adds", "i8", MAX_CARDS),  # per layer: what having the card adds to the answer
        ("before", "i8", MAX_CARDS + 1),  # what the layers before add together
        ("answers", "i8"),  # how many there are
        ("span", "i8"),  # numbers that a node carries
    ],
    align=True,
)


@inner
def set_missing(plan, evidence, sheet):
    """Note in the plan how many cards the last holder still gets, -1 where the evidence does not fix it."""
    last, missing = plan["num_holders"] - 1, -1
    can, has = sheet["can"][last], sheet["has"][last]
    for s in range(evidence["num_sets"]):
        if evidence["sets"][s] & can == can and evidence["least"][last, s] == evidence["most"][last, s]:
            missing = evidence["least"][last, s] - popcount(has)
    plan["missing"] = 0 if can == has else missing


@inner
def num_outcomes(candidates, missing):
    """Count the sets of so many missing cards among the candidates."""
    outcomes = np.int64(1)
    for k in range(missing):
        outcomes = outcomes * (candidates - k) // (k + 1)
    return outcomes


@inner
def set_columns(plan, ask):
    """Fill in the part of a FRAME record that is the same for all questions."""
    columns, allowed = 0, plan["open"][plan["num_holders"] - 1]
    for i in range(plan["size"]):
        ask["column"][i] = -1
        if allowed >> plan["order"][i] & 1:
            ask["column"][i] = columns
            columns += 1
    missing = plan["missing"]
    ask["columns"], ask["missing"] = columns, missing
    ask["cut"] = max(missing, 1) if missing < MAX_MISSING else 2
    ask["on"], ask["back"] = missing > 1, missing == MAX_MISSING


@inner
def row_span(ask, answers):
    """Give the numbers that a node carries for a question with so many answers."""
    return answers * ask["columns"] if ask["missing"] > 1 else answers


@inner
def set_question(plan, holder, cards, shown, ask):
    """Fill in the part of a FRAME record that belongs to a question (cards: open ones of the holder; shown: 0 or 1).

    An answer is a number of cards or, where they are shown, which ones: bit ``j`` is the j-th of them along the layers.
    """
    total, bit = np.int64(0), np.int64(1)
    for i in range(plan["size"]):
        ask["before"][i] = total
        asked = cards >> plan["order"][i] & 1
        ask["adds"][i] = asked * bit
        total += asked * bit
        bit <<= asked * shown
    ask["before"][plan["size"]] = total
    ask["holder"], ask["shown"], ask["answers"], ask["span"] = holder, shown, total + 1, row_span(ask, total + 1)


@inner
def _add_shifted(rows, target, source, length, shift):
    for j in range(length - shift):
        rows[target + j + shift] += rows[source + j]


@inner
def _clear(rows, at, length):
    for j in range(at, at + length):
        rows[j] = 0.0


@inner
def _scale(rows, at, length, factor):
    if factor != 1.0:
        for j in range(at, at + length):
            rows[j] *= factor


@inner
def _carry_back(plan, begin, live, edges, ask, rows):
    """Fill in, below the cut, the paths to the end by the rest of the answer (and by the last missing card of three)."""
    size, last = plan["size"], plan["num_holders"] - 1
    cut, span, answers, holder = ask["cut"], ask["span"], ask["answers"], ask["holder"]
    top = size
    while not ask["back"] and top > 0 and ask["adds"][top - 1] == 0:
        top -= 1
    for node in range(begin[top], begin[size + 1]):
        if live[node]["placed"] >= cut:
            if node < begin[top + 1]:
                _clear(rows, node * span, answers)
            rows[node * span] = live[node]["finish"]
    for i in range(top - 1, -1, -1):
        adds = ask["adds"][i]
        for node in range(begin[i], begin[i + 1]):
            if live[node]["placed"] < cut:
                continue
            length, at = answers if live[node]["placed"] == ask["missing"] else span, node * span
            _clear(rows, at, length)
            for edge in range(live[node]["first"], live[node + 1]["first"]):
                to, child = edges[edge]["holder"], edges[edge]["child"] * span
                if to == last:
                    _add_shifted(rows, at + ask["column"][i] * answers, child, answers, 0)
                else:
                    _add_shifted(rows, at, child, length, adds if to == holder else 0)
            _scale(rows, at, length, live[node]["gain"])


@inner
def _join(ask, i, above, below, rows, table):
    """Put the two parts of the deals together in which the card of layer ``i`` is the missing card at the cut."""
    column, answers = ask["column"][i], ask["answers"]
    most_above, step = ask["before"][i], ask["before"][i + 1] + 1 if ask["shown"] else 1
    most_below = answers - 1 - ask["before"][i + 1]
    for first in range(column if ask["on"] else 1):
        at = above + first * answers
        for last in range(column + 1 if ask["back"] else 0, ask["columns"] if ask["back"] else 1):
            outcome = column
            if ask["on"]:
                outcome = column * (column - 1) // 2 + first
            if ask["back"]:
                outcome += last * (last - 1) * (last - 2) // 6
            start = below + last * answers
            for a in range(most_above + 1):
                for b in range(0, most_below + 1, step):
                    table[a + b, outcome] += rows[at + a] * rows[start + b]


@inner
def _pass_on(live, edges, ask, i, node, last, carry, rows, table):
    """Pass a node's row above the cut on along its edges (if ``carry``), and across the cut."""
    placed, answers, span, holder, adds = live[node]["placed"], ask["answers"], ask["span"], ask["holder"], ask["adds"][i]
    at, length = node * span, answers if placed == 0 else span
    for edge in range(live[node]["first"], live[node + 1]["first"]):
        to, child = edges[edge]["holder"], edges[edge]["child"] * span
        if to == last and placed + 1 == ask["cut"]:
            _join(ask, i, at, child, rows, table)
        elif to == last:
            _add_shifted(rows, child + ask["column"][i] * answers, at, answers, 0)
        elif carry:
            _add_shifted(rows, child, at, length, adds if to == holder else 0)


@inner
def _open_layer(begin, live, ask, i, fresh, rows):
    """Prepare the rows of a layer above the cut: no paths yet or, before anything is carried, those counted long ago."""
    for node in range(begin[i], begin[i + 1]):
        if live[node]["placed"] < ask["cut"]:
            at = node * ask["span"]
            _clear(rows, at, ask["answers"] if live[node]["placed"] == 0 else ask["span"])
            if fresh:
                rows[at] = live[node]["reach"]


@inner
def _carry_on(plan, begin, live, edges, ask, rows, table):
    """Carry, above the cut, the paths from the start by the answer so far (and by the first missing card), and join."""
    size, last = plan["size"], plan["num_holders"] - 1
    bottom = 0
    while not ask["on"] and bottom < size and ask["adds"][bottom] == 0:
        bottom += 1
    _open_layer(begin, live, ask, 0, True, rows)
    for i in range(size):
        _open_layer(begin, live, ask, i + 1, i < bottom, rows)
        for node in range(begin[i], begin[i + 1]):
            if live[node]["placed"] < ask["cut"]:
                if i > bottom:
                    _scale(rows, node * ask["span"], ask["answers"] if live[node]["placed"] == 0 else ask["span"], live[node]["gain"])
                _pass_on(live, edges, ask, i, node, last, i >= bottom, rows, table)
    if ask["missing"] == 0:
        for node in range(begin[size], begin[size + 1]):
            _scale(rows, node * ask["span"], ask["answers"], live[node]["gain"] if size > bottom else 1.0)
            for a in range(ask["answers"]):
                table[a, 0] += rows[node * ask["span"] + a]


@inner
def tabulate(plan, begin, live, edges, ask, rows, table):
    """Fill in a question's table: deals by answer (without the settled cards) and set of open missing cards.

    The sets are numbered by their columns in colex order: {a < b < c} is a + C(b, 2) + C(c, 3).

    Args:
        plan: one PLAN record.
        begin: i8, first node of each layer of the graph.
        live: LIVE [N + 1], edges: EDGE [E], the graph.
        ask: one FRAME record, filled in.
        rows: f8 [N * span], overwritten.
        table: f8 [answers, outcomes] or larger, overwritten.
    """
    for answer in range(ask["answers"]):
        for outcome in range(table.shape[1]):
            table[answer, outcome] = 0.0
    if ask["missing"]:
        _carry_back(plan, begin, live, edges, ask, rows)
    _carry_on(plan, begin, live, edges, ask, rows, table)


@inner
def _bits(part, whole):
    return part * np.log2(part / whole) if part > 0.0 else 0.0


@inner
def appraise(table, answers, worth):
    """Sum a question's table up into one WORTH record."""
    count, information, decisive, surprise, outcomes = 0.0, 0.0, 0.0, 0.0, table.shape[1]
    for a in range(answers):
        for o in range(outcomes):
            count += table[a, o]
    for a in range(answers):
        row, ways = 0.0, 0
        for o in range(outcomes):
            row += table[a, o]
            ways += table[a, o] > 0.0
        for o in range(outcomes):
            information += _bits(table[a, o], row)
        surprise -= _bits(row, count)
        decisive += row if ways == 1 else 0.0
    for o in range(outcomes):
        column = 0.0
        for a in range(answers):
            column += table[a, o]
        information -= _bits(column, count)
    worth["information"] = max(information / count, 0.0)
    worth["decides"] = decisive / count
    worth["surprise"] = max(surprise / count, 0.0)
