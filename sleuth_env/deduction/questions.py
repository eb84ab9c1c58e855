"""What the answer to a question would tell: its joint distribution with the missing cards, on a graph of deals.

The last holder is the one whose cards are wanted ("missing"). The graph is cut where he gets one of his cards: above the
cut every node carries the paths to it by the answer so far, below it the paths from it by the rest of the answer, and
the edges across put the two together. With one missing card nothing else need be carried; of two the first and of three
the first and the last are carried along as well.
"""

from __future__ import annotations

from typing import NamedTuple

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


class Frame(NamedTuple):
    """The fixed part of a question's tables on one graph."""

    column: np.ndarray  # i8 [MAX_CARDS] per layer: the number of its card among those that may be missing, -1 cannot be
    adds: np.ndarray  # i8 [MAX_CARDS] per layer: what having the card adds to the answer
    before: np.ndarray  # i8 [MAX_CARDS + 1] what the layers before add together


class Ask(NamedTuple):
    """The varying part: one question."""

    holder: int
    answers: int
    columns: int
    missing: int  # open missing cards
    cut: int  # the graph is cut where the last holder gets this one of his cards
    on: bool  # whether the first missing card is carried along above the cut,
    back: bool  # and the last one below
    shown: bool
    span: int  # numbers that a node carries


def new_frame() -> Frame:
    """Make room for a frame."""
    return Frame(np.empty(MAX_CARDS, np.int64), np.empty(MAX_CARDS, np.int64), np.empty(MAX_CARDS + 1, np.int64))


@inner
def open_missing(plan, evidence, sheet):
    """Count the missing cards that are still open, -1 where the evidence does not fix how many are missing."""
    last = plan["num_holders"] - 1
    for s in range(evidence["num_sets"]):
        if evidence["sets"][s] & sheet["can"][last] == sheet["can"][last] and evidence["least"][last, s] == evidence["most"][last, s]:
            return np.int64(evidence["least"][last, s]) - popcount(sheet["has"][last])
    return np.int64(0) if plan["open"][last] == 0 else np.int64(-1)


@inner
def num_outcomes(candidates, missing):
    """Count the sets of so many missing cards among the candidates."""
    outcomes = np.int64(1)
    for k in range(missing):
        outcomes = outcomes * (candidates - k) // (k + 1)
    return outcomes


@inner
def set_columns(plan, frame):
    """Number the cards that may be missing along the layers; gives how many there are."""
    columns, allowed = 0, plan["open"][plan["num_holders"] - 1]
    for i in range(plan["size"]):
        frame.column[i] = -1
        if allowed >> plan["order"][i] & 1:
            frame.column[i] = columns
            columns += 1
    return columns


@inner
def set_answers(plan, frame, cards, shown):
    """Note what each layer adds to an answer about some cards of one holder; gives the number of answers.

    An answer is a number of cards or, where they are shown, which ones: bit ``j`` is the j-th of them along the layers.
    """
    total, bit = 0, 1
    for i in range(plan["size"]):
        frame.before[i] = total
        asked = cards >> plan["order"][i] & 1
        frame.adds[i] = (bit if shown else 1) if asked else 0
        total += frame.adds[i]
        bit <<= asked
    frame.before[plan["size"]] = total
    return total + 1


@inner
def _add_shifted(target, into, source, out, length, shift):
    for j in range(length - shift):
        target[into + j + shift] += source[out + j]


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
def _carry_back(plan, begin, graph, frame, ask, rows):
    """Fill in, below the cut, the paths to the end by the rest of the answer (and by the last missing card of three)."""
    size, last = plan["size"], plan["num_holders"] - 1
    top = size
    while not ask.back and top > 0 and frame.adds[top - 1] == 0:
        top -= 1
    for node in range(begin[top], begin[size + 1]):
        if graph.placed[node] >= ask.cut:
            if node < begin[top + 1]:
                _clear(rows, node * ask.span, ask.answers)
            rows[node * ask.span] = graph.finish[node]
    for i in range(top - 1, -1, -1):
        for node in range(begin[i], begin[i + 1]):
            if graph.placed[node] < ask.cut:
                continue
            length, at = ask.answers if graph.placed[node] == ask.missing else ask.span, node * ask.span
            _clear(rows, at, length)
            for edge in range(graph.first[node], graph.first[node + 1]):
                to, child = graph.holder[edge], graph.child[edge] * ask.span
                if to == last:
                    _add_shifted(rows, at + frame.column[i] * ask.answers, rows, child, ask.answers, 0)
                else:
                    _add_shifted(rows, at, rows, child, length, frame.adds[i] if to == ask.holder else 0)
            _scale(rows, at, length, graph.gain[node])


@inner
def _join(frame, ask, i, above, below, rows, table):
    """Put the two parts of the deals together in which the card of layer ``i`` is the missing card at the cut."""
    column, answers = frame.column[i], ask.answers
    most_above, step = frame.before[i], frame.before[i + 1] + 1 if ask.shown else 1
    most_below = answers - 1 - frame.before[i + 1]
    for first in range(column if ask.on else 1):
        at = above + first * answers
        for last in range(column + 1 if ask.back else 0, ask.columns if ask.back else 1):
            outcome = column
            if ask.on:
                outcome = column * (column - 1) // 2 + first
            if ask.back:
                outcome += last * (last - 1) * (last - 2) // 6
            start = below + last * answers
            for a in range(most_above + 1):
                for b in range(0, most_below + 1, step):
                    table[a + b, outcome] += rows[at + a] * rows[start + b]


@inner
def _pass_on(graph, frame, ask, i, node, last, carry, rows, table):
    """Pass a node's row above the cut on along its edges (if ``carry``), and across the cut."""
    at, length = node * ask.span, ask.answers if graph.placed[node] == 0 else ask.span
    for edge in range(graph.first[node], graph.first[node + 1]):
        to, child = graph.holder[edge], graph.child[edge] * ask.span
        if to == last and graph.placed[node] + 1 == ask.cut:
            _join(frame, ask, i, at, child, rows, table)
        elif to == last:
            _add_shifted(rows, child + frame.column[i] * ask.answers, rows, at, ask.answers, 0)
        elif carry:
            _add_shifted(rows, child, rows, at, length, frame.adds[i] if to == ask.holder else 0)


@inner
def _open_layer(begin, graph, ask, i, fresh, rows):
    """Prepare the rows of a layer above the cut: no paths yet or, before anything is carried, those counted long ago."""
    for node in range(begin[i], begin[i + 1]):
        if graph.placed[node] < ask.cut:
            at = node * ask.span
            _clear(rows, at, ask.answers if graph.placed[node] == 0 else ask.span)
            if fresh:
                rows[at] = graph.reach[node]


@inner
def _carry_on(plan, begin, graph, frame, ask, rows, table):
    """Carry, above the cut, the paths from the start by the answer so far (and by the first missing card), and join."""
    size, last = plan["size"], plan["num_holders"] - 1
    bottom = 0
    while not ask.on and bottom < size and frame.adds[bottom] == 0:
        bottom += 1
    _open_layer(begin, graph, ask, 0, True, rows)
    for i in range(size):
        _open_layer(begin, graph, ask, i + 1, i < bottom, rows)
        for node in range(begin[i], begin[i + 1]):
            if graph.placed[node] < ask.cut:
                if i > bottom:
                    _scale(rows, node * ask.span, ask.answers if graph.placed[node] == 0 else ask.span, graph.gain[node])
                _pass_on(graph, frame, ask, i, node, last, i >= bottom, rows, table)
    if ask.missing == 0:
        for node in range(begin[size], begin[size + 1]):
            _scale(rows, node * ask.span, ask.answers, graph.gain[node] if size > bottom else 1.0)
            for a in range(ask.answers):
                table[a, 0] += rows[node * ask.span + a]


@inner
def row_span(answers, columns, missing):
    """Give the numbers that a node carries for a question."""
    return answers * columns if missing > 1 else answers


@inner
def tabulate(plan, begin, graph, frame, missing, columns, holder, cards, shown, rows, table):
    """Fill in a question's table: deals by answer (without the settled cards) and set of open missing cards.

    The sets are numbered by their columns in colex order: {a < b < c} is a + C(b, 2) + C(c, 3).

    Args:
        plan: one PLAN record.
        begin: i8, first node of each layer of the graph.
        graph: Graph.
        frame: Frame with its columns set.
        missing: open missing cards, 0 to 3.
        columns: cards that may be missing.
        holder: who is asked, not the last one.
        cards: the open cards of his that are asked for (mask).
        shown: whether the answer is which cards, or how many.
        rows: f8 [nodes * row_span], overwritten.
        table: f8 [answers, outcomes] or larger, overwritten.

    Returns:
        The number of answers.
    """
    answers = set_answers(plan, frame, cards, shown)
    ask = Ask(holder, answers, columns, missing, max(missing, 1) if missing < MAX_MISSING else 2, missing > 1, missing == MAX_MISSING, shown, row_span(answers, columns, missing))
    table[:answers, : num_outcomes(columns, missing)] = 0.0
    if missing:
        _carry_back(plan, begin, graph, frame, ask, rows)
    _carry_on(plan, begin, graph, frame, ask, rows, table)
    return answers


@inner
def _bits(part, whole):
    return part * np.log2(part / whole) if part > 0.0 else 0.0


@inner
def appraise(table, answers, outcomes, worth):
    """Sum a question's table up into one WORTH record."""
    count, information, decisive, surprise = 0.0, 0.0, 0.0, 0.0
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
