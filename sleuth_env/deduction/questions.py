"""What the answer to a question would tell: its joint distribution with the missing cards.

The last holder is the one whose cards are wanted ("missing"). The deals are the paths of a graph
(see `graph`), and what is wanted is their number by set of missing cards and answer. To count paths
by answer, every node carries a row of numbers instead of one: how many paths lead here with each
answer so far. To count them by missing card too, the graph is cut at the edges that give the last
holder a card. Every deal crosses the cut once; so above the cut (towards the start) each node
carries the paths to it by the answer so far, below it each node carries the paths from it by the
rest of the answer, and an edge across the cut multiplies the row at its one end with the row at its
other end and adds the products up by the whole answer (the sum-product algorithm on a chain).

With one missing card nothing else need be carried, since the edge across the cut says which one it
is. With two, the cut is where the last holder gets the second, and the first is carried along above
the cut; with three, the cut is again at the second, and the third is carried along below it. The
same question to several holders takes one pass: their rows lie next to one another.

A row is ordered first by the carried missing card (its "column", a number among the cards that may
be missing), then by the holder who is asked, then by answer. In the kernels ``i`` is a layer, ``h``
a holder and ``k`` the index of a holder among those who are asked.
"""

from __future__ import annotations

import numpy as np

from ..bits import popcount
from ..kernels import inner
from .evidence import MAX_CARDS, MAX_HOLDERS

MAX_MISSING = 3
# Numbers that the rows of one pass may take: 256 MB. Beyond it fewer holders are asked at once.
MOST_ROWS = 2**25
MAX_SHOWN = 6  # a question about more cards than this can only be answered with a number

WORTH = np.dtype(
    [
        ("information", "f8"),  # bits that the answer is expected to tell about the missing cards
        ("decides", "f8"),  # probability that it leaves only one possibility for them
        ("rightly", "f8"),  # probability that the likeliest of them after the answer is right
        ("surprise", "f8"),  # bits of the answer itself: what it is expected to tell about the whole deal
    ],
    align=True,
)


# A question to one or more holders on a graph of deals.
FRAME = np.dtype(
    [
        ("column", "i8", MAX_CARDS),  # [layer] number of its card among those that may be missing, -1 not one of them
        ("num_columns", "i8"),  # number of open cards that may be missing
        ("missing", "i8"),  # number of open missing cards
        ("cut", "i8"),  # the graph is cut where the last holder gets this one of their cards, counted from 1
        ("carries_first", "i8"),  # whether the first missing card is carried along above the cut
        ("carries_last", "i8"),  # whether the last missing card is carried along below it
        ("shown", "i8"),  # whether the answer is which cards, rather than how many
        ("num_asked", "i8"),  # number of holders who are asked at once
        ("index", "i8", MAX_HOLDERS),  # [H] this holder's index among those asked, or -1
        ("adds", "i8", (MAX_CARDS, MAX_HOLDERS)),  # [layer, k] what getting the card adds to the answer
        ("before", "i8", (MAX_CARDS + 1, MAX_HOLDERS)),  # [layer, k] largest answer from the layers before
        ("total", "i8", MAX_HOLDERS),  # [k] largest answer from all layers
        ("asked_begin", "i8"),  # first layer that adds to an answer
        ("asked_end", "i8"),  # layer after the last that does
        ("answers", "i8"),  # length of one holder's part of a row; numbers that nobody can answer are left out
        ("block", "i8"),  # length of the parts of all holders who are asked
        ("span", "i8"),  # length of a whole row
    ],
    align=True,
)


@inner
def set_missing(plan, evidence, sheet):
    """Note in the plan how many cards the last holder still gets, -1 if the evidence leaves it open."""
    last = plan["num_holders"] - 1
    missing = -1
    can = sheet["can"][last]
    has = sheet["has"][last]
    for s in range(evidence["num_sets"]):
        if evidence["sets"][s] & can == can and evidence["least"][last, s] == evidence["most"][last, s]:
            missing = evidence["least"][last, s] - popcount(has)
    plan["missing"] = 0 if can == has else missing


@inner
def num_outcomes(candidates, missing):
    """Return the number of sets of ``missing`` cards among the candidates, a binomial coefficient."""
    outcomes = np.int64(1)
    for k in range(missing):
        outcomes = outcomes * (candidates - k) // (k + 1)
    return outcomes


@inner
def set_columns(plan, frame):
    """Fill in the part of a FRAME record that is the same for all questions on a graph."""
    columns = 0
    allowed = plan["open"][plan["num_holders"] - 1]
    for i in range(plan["size"]):
        frame["column"][i] = -1
        if allowed >> plan["order"][i] & 1:
            frame["column"][i] = columns
            columns += 1
    missing = plan["missing"]
    frame["num_columns"] = columns
    frame["missing"] = missing
    frame["cut"] = max(missing, 1) if missing < MAX_MISSING else 2
    frame["carries_first"] = missing > 1
    frame["carries_last"] = missing == MAX_MISSING


@inner
def row_span(frame, block):
    """Return the length of a node's row, for questions whose answers take ``block`` numbers."""
    return block * frame["num_columns"] if frame["missing"] > 1 else block


@inner
def start_question(plan, shown, answers, frame):
    """Begin the part of a FRAME record that belongs to one question: nobody is asked it yet.

    Args:
        plan: one PLAN record.
        shown: whether the answer is which cards, rather than how many.
        answers: length of one holder's part of a row.
        frame: one FRAME record, after `set_columns`.
    """
    frame["shown"] = shown
    frame["num_asked"] = 0
    frame["answers"] = answers
    frame["asked_end"] = 0
    frame["asked_begin"] = plan["size"]
    frame["block"] = 0
    frame["span"] = 0
    for h in range(MAX_HOLDERS):
        frame["index"][h] = -1


@inner
def ask_also(plan, holder, cards, frame):
    """Put the question to one more holder (cards: mask of the open ones asked for).

    An answer is a number of cards or, where the cards are shown, a mask of them: bit ``j`` is the
    j-th of them along the layers.
    """
    total = np.int64(0)
    bit = np.int64(1)
    k = frame["num_asked"]
    shown = frame["shown"]
    for i in range(plan["size"]):
        frame["before"][i, k] = total
        asked = cards >> plan["order"][i] & 1
        frame["adds"][i, k] = asked * bit
        total += asked * bit
        bit <<= asked * shown
        if asked:
            frame["asked_end"] = max(frame["asked_end"], i + 1)
            frame["asked_begin"] = min(frame["asked_begin"], i)
    frame["before"][plan["size"], k] = total
    frame["total"][k] = total
    frame["index"][holder] = k
    frame["num_asked"] = k + 1
    frame["block"] = (k + 1) * frame["answers"]
    frame["span"] = row_span(frame, frame["block"])


@inner
def add(rows, target, source, length):
    """Add one stretch of the rows to another."""
    # Unsigned, so that the compiler knows that no index is negative.
    to = np.uint64(target)
    of = np.uint64(source)
    for j in range(np.uint64(length)):
        rows[to + j] += rows[of + j]


@inner
def _add_answered(rows, target, source, length, frame, i, holder):
    """Add one row to another when ``holder`` gets the card of layer ``i``.

    That holder's answer moves on, those of the others stay.
    """
    k = frame["index"][holder]
    shift = frame["adds"][i, k] if k >= 0 else np.int64(0)
    if shift == 0:
        add(rows, target, source, length)
        return
    answers = frame["answers"]
    block = frame["block"]
    for start in range(0, length, block):
        own = start + k * answers
        add(rows, target + start, source + start, own - start)
        add(rows, target + own + shift, source + own, answers - shift)
        add(rows, target + own + answers, source + own + answers, start + block - own - answers)


@inner
def add_times(table, target, rows, source, length, factor):
    """Add a stretch of the rows, times a factor, to a stretch of the table."""
    to = np.uint64(target)
    of = np.uint64(source)
    for j in range(np.uint64(length)):
        table[to + j] += factor * rows[of + j]


@inner
def clear(rows, start, length):
    for j in range(np.uint64(start), np.uint64(start + length)):
        rows[j] = 0.0


@inner
def scale(rows, start, length, factor):
    if factor != 1.0:
        for j in range(start, start + length):
            rows[j] *= factor


@inner
def _fill(rows, start, block, answers, paths):
    """Note a number of paths for all who are asked, with nothing answered."""
    for own in range(start, start + block, answers):
        rows[own] = paths


@inner
def _carry_back(plan, begin, live, edges, frame, rows):
    """Fill in the rows below the cut, from the end towards the start.

    They hold the paths to the end by the rest of the answer, with three missing cards by the last
    of them too.
    """
    size = plan["size"]
    last = plan["num_holders"] - 1
    cut = frame["cut"]
    span = frame["span"]
    block = frame["block"]
    end = size if frame["carries_last"] else frame["asked_end"]
    for node in range(begin[end], begin[size + 1]):
        if live[node]["placed"] >= cut:
            if node < begin[end + 1]:
                clear(rows, node * span, block)
            _fill(rows, node * span, block, frame["answers"], live[node]["finish"])
    for i in range(end - 1, -1, -1):
        for node in range(begin[i], begin[i + 1]):
            if live[node]["placed"] < cut:
                continue
            length = block if live[node]["placed"] == frame["missing"] else span
            row = node * span
            clear(rows, row, length)
            for edge in range(live[node]["first"], live[node + 1]["first"]):
                holder = edges[edge]["holder"]
                child = edges[edge]["child"] * span
                if holder == last:
                    add(rows, row + frame["column"][i] * block, child, block)
                else:
                    _add_answered(rows, row, child, length, frame, i, holder)
            scale(rows, row, length, live[node]["gain"])


@inner
def _join_one(frame, i, above, below, rows, table, start):
    """Do what `_join` does for one set of missing cards, whose part of the table is at ``start``."""
    if i < frame["asked_begin"]:  # nothing is answered above yet, and the paths there are the same for all holders
        add_times(table, start, rows, below, frame["block"], rows[above])
        return
    if i >= frame["asked_end"]:  # nothing more is answered below
        add_times(table, start, rows, above, frame["block"], rows[below])
        return
    for k in range(frame["num_asked"]):
        own = k * frame["answers"]
        after = frame["before"][i + 1, k]
        rest = frame["total"][k] - after + 1
        for a in range(min(frame["before"][i, k] + 1, frame["answers"])):
            if frame["shown"]:
                # The later cards are the higher bits of the answer, so only multiples of after + 1 occur below.
                for b in range(0, rest, after + 1):
                    table[start + own + a + b] += rows[above + own + a] * rows[below + own + b]
            else:
                length = min(rest, frame["answers"] - a)
                add_times(table, start + own + a, rows, below + own, length, rows[above + own + a])


@inner
def _join(frame, i, above, below, rows, table):
    """Count the deals that cross the cut by one edge, which gives the last holder layer ``i``'s card.

    Args:
        frame: one FRAME record.
        i: the layer.
        above, below: where the rows at the two ends of the edge start.
        rows: f8 [N * span].
        table: the question's table, to which the deals are added.
    """
    column = frame["column"][i]
    block = frame["block"]
    last_begin = column + 1 if frame["carries_last"] else 0
    last_end = frame["num_columns"] if frame["carries_last"] else 1
    for first in range(column if frame["carries_first"] else 1):
        for last in range(last_begin, last_end):
            outcome = column
            if frame["carries_first"]:
                outcome = column * (column - 1) // 2 + first
            if frame["carries_last"]:
                outcome += last * (last - 1) * (last - 2) // 6
            _join_one(frame, i, above + first * block, below + last * block, rows, table, outcome * block)


@inner
def _pass_on(live, edges, frame, i, node, last, carry, rows, table):
    """Pass a node's row above the cut on along its edges (if ``carry``), and across the cut."""
    placed = live[node]["placed"]
    block = frame["block"]
    span = frame["span"]
    row = node * span
    length = block if placed == 0 else span
    end = live[node + 1]["first"]
    # A node's edges are in the order of the holders, so that the last holder's is at the end.
    for edge in range(live[node]["first"] if carry else max(end - 1, live[node]["first"]), end):
        holder = edges[edge]["holder"]
        child = edges[edge]["child"] * span
        if holder == last and placed + 1 == frame["cut"]:
            _join(frame, i, row, child, rows, table)
        elif holder == last:
            add(rows, child + frame["column"][i] * block, row, block)
        elif carry:
            _add_answered(rows, child, row, length, frame, i, holder)


@inner
def _open_layer(begin, live, frame, i, untouched, rows):
    """Prepare the rows of a layer above the cut.

    They start with no paths or, where nothing can have been answered or carried so far
    (``untouched``), with the known number of paths.
    """
    block = frame["block"]
    span = frame["span"]
    for node in range(begin[i], begin[i + 1]):
        if live[node]["placed"] < frame["cut"]:
            clear(rows, node * span, block if live[node]["placed"] == 0 else span)
            if untouched:
                _fill(rows, node * span, block, frame["answers"], live[node]["reach"])


@inner
def _carry_on(plan, begin, live, edges, frame, rows, table):
    """Fill in the rows above the cut, from the start towards the end, and join them across it.

    They hold the paths from the start by the answer so far, with two or three missing cards by the
    first of them too.
    """
    size = plan["size"]
    last = plan["num_holders"] - 1
    block = frame["block"]
    span = frame["span"]
    first = 0 if frame["carries_first"] else frame["asked_begin"]
    _open_layer(begin, live, frame, 0, True, rows)
    for i in range(size):
        _open_layer(begin, live, frame, i + 1, i < first, rows)
        for node in range(begin[i], begin[i + 1]):
            if live[node]["placed"] < frame["cut"]:
                if i > first:
                    scale(rows, node * span, block if live[node]["placed"] == 0 else span, live[node]["gain"])
                _pass_on(live, edges, frame, i, node, last, i >= first, rows, table)
    if frame["missing"] == 0:
        for node in range(begin[size], begin[size + 1]):
            scale(rows, node * span, block, live[node]["gain"] if size > first else 1.0)
            add_times(table, 0, rows, node * span, block, 1.0)


@inner
def tabulate(plan, begin, live, edges, frame, rows, table):
    """Count the deals by set of open missing cards, holder asked, and answer.

    The sets are numbered by their columns in colex order: {a < b < c} is a + C(b, 2) + C(c, 3).
    Answers leave out the cards that are settled.

    Args:
        plan: one PLAN record.
        begin: i8, first node of each layer of the graph.
        live: LIVE [N + 1], the graph's nodes.
        edges: EDGE [E], the graph's edges.
        frame: one FRAME record, filled in.
        rows: f8 [N * span], overwritten.
        table: f8 [outcomes * asked * answers] or larger, overwritten from the front.
    """
    table[: num_outcomes(frame["num_columns"], frame["missing"]) * frame["block"]] = 0.0
    if frame["missing"]:
        _carry_back(plan, begin, live, edges, frame, rows)
    _carry_on(plan, begin, live, edges, frame, rows, table)


@inner
def _bits(part, whole):
    """Return a term of an entropy, in bits times the number of deals."""
    return part * np.log2(part / whole) if part > 0.0 else 0.0


@inner
def appraise(table, answers, worth):
    """Summarise the table of a question to one holder (f8 [outcomes, >= answers]) in a WORTH record."""
    count = 0.0
    information = 0.0
    decisive = 0.0
    rightly = 0.0
    surprise = 0.0
    outcomes = table.shape[0]
    for a in range(answers):
        row = 0.0
        most = 0.0
        ways = 0
        for o in range(outcomes):
            row += table[o, a]
            most = max(most, table[o, a])
            ways += table[o, a] > 0.0
        for o in range(outcomes):
            information += _bits(table[o, a], row)
        count += row
        decisive += row if ways == 1 else 0.0
        rightly += most
    for a in range(answers):
        row = 0.0
        for o in range(outcomes):
            row += table[o, a]
        surprise -= _bits(row, count)
    for o in range(outcomes):
        column = 0.0
        for a in range(answers):
            column += table[o, a]
        information -= _bits(column, count)
    worth["information"] = max(information / count, 0.0)
    worth["decides"] = decisive / count
    worth["rightly"] = rightly / count
    worth["surprise"] = max(surprise / count, 0.0)
