"""What the answer to a question would tell: its joint distribution with the missing cards, on a
graph of deals.

The last holder is the one whose cards are wanted ("missing"). The graph is cut where he gets one of
his cards: above the cut every node carries the paths to it by the answer so far, below it the paths
from it by the rest of the answer, and the edges across put the two together. With one missing card
nothing else need be carried; of two the first and of three the first and the last are carried along
as well.
"""

from __future__ import annotations

import numpy as np

from ..bits import popcount
from ..kernels import inner
from .evidence import MAX_CARDS, MAX_HOLDERS

MAX_MISSING = 3
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
        ("column", "i8", MAX_CARDS),  # per layer: the number of its card among those that may be missing, -1 cannot be
        ("columns", "i8"),  # how many these are
        ("missing", "i8"),  # open missing cards
        ("cut", "i8"),  # the graph is cut where the last holder gets this one of his cards
        ("on", "i8"),  # whether the first missing card is carried along above the cut,
        ("back", "i8"),  # and the last one below
        ("shown", "i8"),
        ("asked", "i8"),  # how many holders are asked, all at once,
        ("index", "i8", MAX_HOLDERS),  # and per holder: the how manieth of them he is, -1 not asked
        ("adds", "i8", (MAX_CARDS, MAX_HOLDERS)),  # per layer and asked holder: what having the card adds to the answer
        ("before", "i8", (MAX_CARDS + 1, MAX_HOLDERS)),  # what the layers before add together
        ("total", "i8", MAX_HOLDERS),  # and what all layers add together
        ("top", "i8"),  # the layer after the last that adds anything,
        ("bottom", "i8"),  # and the first that does
        ("answers", "i8"),  # room for the answers of one holder; numbers of cards that nobody can have are left out
        ("block", "i8"),  # and of all that are asked,
        ("span", "i8"),  # numbers that a node carries
    ],
    align=True,
)


@inner
def set_missing(plan, evidence, sheet):
    """Note in the plan how many cards the last holder still gets, -1 where the evidence does not
    fix it.
    """
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
    """Count the sets of so many missing cards among the candidates."""
    outcomes = np.int64(1)
    for k in range(missing):
        outcomes = outcomes * (candidates - k) // (k + 1)
    return outcomes


@inner
def set_columns(plan, ask):
    """Fill in the part of a FRAME record that is the same for all questions."""
    columns = 0
    allowed = plan["open"][plan["num_holders"] - 1]
    for i in range(plan["size"]):
        ask["column"][i] = -1
        if allowed >> plan["order"][i] & 1:
            ask["column"][i] = columns
            columns += 1
    missing = plan["missing"]
    ask["columns"] = columns
    ask["missing"] = missing
    ask["cut"] = max(missing, 1) if missing < MAX_MISSING else 2
    ask["on"] = missing > 1
    ask["back"] = missing == MAX_MISSING


@inner
def row_span(ask, block):
    """Give the numbers that a node carries for questions with so many answers together."""
    return block * ask["columns"] if ask["missing"] > 1 else block


@inner
def start_question(plan, shown, answers, ask):
    """Begin the part of a FRAME record that belongs to a question: nobody is asked yet (answers:
    room for those of each).
    """
    ask["shown"] = shown
    ask["asked"] = 0
    ask["answers"] = answers
    ask["top"] = 0
    ask["bottom"] = plan["size"]
    ask["block"] = 0
    ask["span"] = 0
    for h in range(MAX_HOLDERS):
        ask["index"][h] = -1


@inner
def ask_also(plan, holder, cards, ask):
    """Put the question to one more holder (cards: the open ones of his that are asked for).

    An answer is a number of cards or, where they are shown, which ones: bit ``j`` is the j-th of
        them along the layers.
    """
    total = np.int64(0)
    bit = np.int64(1)
    k = ask["asked"]
    shown = ask["shown"]
    for i in range(plan["size"]):
        ask["before"][i, k] = total
        asked = cards >> plan["order"][i] & 1
        ask["adds"][i, k] = asked * bit
        total += asked * bit
        bit <<= asked * shown
        if asked:
            ask["top"] = max(ask["top"], i + 1)
            ask["bottom"] = min(ask["bottom"], i)
    ask["before"][plan["size"], k] = total
    ask["total"][k] = total
    ask["index"][holder] = k
    ask["asked"] = k + 1
    ask["block"] = (k + 1) * ask["answers"]
    ask["span"] = row_span(ask, ask["block"])


@inner
def _add(rows, target, source, length):
    # Unsigned, so that the compiler knows that no index is negative.
    onto = np.uint64(target)
    some = np.uint64(source)
    for j in range(np.uint64(length)):
        rows[onto + j] += rows[some + j]


@inner
def _add_answered(rows, target, source, length, ask, i, to):
    """Add one row to another when a holder gets the card of layer ``i``: his answer moves on, the
    others' stay.
    """
    k = ask["index"][to]
    shift = ask["adds"][i, k] if k >= 0 else np.int64(0)
    if shift == 0:
        _add(rows, target, source, length)
        return
    answers = ask["answers"]
    block = ask["block"]
    for start in range(0, length, block):
        own = start + k * answers
        _add(rows, target + start, source + start, own - start)
        _add(rows, target + own + shift, source + own, answers - shift)
        _add(rows, target + own + answers, source + own + answers, start + block - own - answers)


@inner
def _clear(rows, at, length):
    for j in range(np.uint64(at), np.uint64(at + length)):
        rows[j] = 0.0


@inner
def _scale(rows, at, length, factor):
    if factor != 1.0:
        for j in range(at, at + length):
            rows[j] *= factor


@inner
def _fill(rows, at, block, answers, value):
    """Note for all who are asked: so many paths, with nothing answered."""
    for start in range(at, at + block, answers):
        rows[start] = value


@inner
def _carry_back(plan, begin, live, edges, ask, rows):
    """Fill in, below the cut, the paths to the end by the rest of the answer (and by the last
    missing card of three).
    """
    size = plan["size"]
    last = plan["num_holders"] - 1
    cut = ask["cut"]
    span = ask["span"]
    block = ask["block"]
    top = size if ask["back"] else ask["top"]
    for node in range(begin[top], begin[size + 1]):
        if live[node]["placed"] >= cut:
            if node < begin[top + 1]:
                _clear(rows, node * span, block)
            _fill(rows, node * span, block, ask["answers"], live[node]["finish"])
    for i in range(top - 1, -1, -1):
        for node in range(begin[i], begin[i + 1]):
            if live[node]["placed"] < cut:
                continue
            length = block if live[node]["placed"] == ask["missing"] else span
            at = node * span
            _clear(rows, at, length)
            for edge in range(live[node]["first"], live[node + 1]["first"]):
                to = edges[edge]["holder"]
                child = edges[edge]["child"] * span
                if to == last:
                    _add(rows, at + ask["column"][i] * block, child, block)
                else:
                    _add_answered(rows, at, child, length, ask, i, to)
            _scale(rows, at, length, live[node]["gain"])


@inner
def _add_times(table, target, rows, source, length, factor):
    onto = np.uint64(target)
    some = np.uint64(source)
    for j in range(np.uint64(length)):
        table[onto + j] += factor * rows[some + j]


@inner
def _join_one(ask, i, above, below, rows, table, at):
    """As `_join`, for one set of missing cards."""
    if i < ask["bottom"]:  # nothing is answered above yet, and the paths there are the same for all who are asked
        _add_times(table, at, rows, below, ask["block"], rows[above])
        return
    if i >= ask["top"]:  # nothing more is answered below
        _add_times(table, at, rows, above, ask["block"], rows[below])
        return
    for k in range(ask["asked"]):
        start = k * ask["answers"]
        after = ask["before"][i + 1, k]
        rest = ask["total"][k] - after + 1
        for a in range(min(ask["before"][i, k] + 1, ask["answers"])):
            if ask["shown"]:
                for b in range(0, rest, after + 1):
                    table[at + start + a + b] += rows[above + start + a] * rows[below + start + b]
            else:
                _add_times(
                    table, at + start + a, rows, below + start, min(rest, ask["answers"] - a), rows[above + start + a]
                )


@inner
def _join(ask, i, above, below, rows, table):
    """Put the two parts of the deals together in which the card of layer ``i`` is the missing card
    at the cut.
    """
    column = ask["column"][i]
    block = ask["block"]
    for first in range(column if ask["on"] else 1):
        for last in range(column + 1 if ask["back"] else 0, ask["columns"] if ask["back"] else 1):
            outcome = column
            if ask["on"]:
                outcome = column * (column - 1) // 2 + first
            if ask["back"]:
                outcome += last * (last - 1) * (last - 2) // 6
            _join_one(ask, i, above + first * block, below + last * block, rows, table, outcome * block)


@inner
def _pass_on(live, edges, ask, i, node, last, carry, rows, table):
    """Pass a node's row above the cut on along its edges (if ``carry``), and across the cut."""
    placed = live[node]["placed"]
    block = ask["block"]
    span = ask["span"]
    at = node * span
    length = block if placed == 0 else span
    end = live[node + 1]["first"]
    # A node's edges are in the order of the holders, so that the last holder's is at the end.
    for edge in range(live[node]["first"] if carry else max(end - 1, live[node]["first"]), end):
        to = edges[edge]["holder"]
        child = edges[edge]["child"] * span
        if to == last and placed + 1 == ask["cut"]:
            _join(ask, i, at, child, rows, table)
        elif to == last:
            _add(rows, child + ask["column"][i] * block, at, block)
        elif carry:
            _add_answered(rows, child, at, length, ask, i, to)


@inner
def _open_layer(begin, live, ask, i, fresh, rows):
    """Prepare the rows of a layer above the cut: no paths yet or, before anything is carried, those
    counted long ago.
    """
    block = ask["block"]
    span = ask["span"]
    for node in range(begin[i], begin[i + 1]):
        if live[node]["placed"] < ask["cut"]:
            _clear(rows, node * span, block if live[node]["placed"] == 0 else span)
            if fresh:
                _fill(rows, node * span, block, ask["answers"], live[node]["reach"])


@inner
def _carry_on(plan, begin, live, edges, ask, rows, table):
    """Carry, above the cut, the paths from the start by the answer so far (and by the first missing
    card), and join.
    """
    size = plan["size"]
    last = plan["num_holders"] - 1
    block = ask["block"]
    span = ask["span"]
    bottom = 0 if ask["on"] else ask["bottom"]
    _open_layer(begin, live, ask, 0, True, rows)
    for i in range(size):
        _open_layer(begin, live, ask, i + 1, i < bottom, rows)
        for node in range(begin[i], begin[i + 1]):
            if live[node]["placed"] < ask["cut"]:
                if i > bottom:
                    _scale(rows, node * span, block if live[node]["placed"] == 0 else span, live[node]["gain"])
                _pass_on(live, edges, ask, i, node, last, i >= bottom, rows, table)
    if ask["missing"] == 0:
        for node in range(begin[size], begin[size + 1]):
            _scale(rows, node * span, block, live[node]["gain"] if size > bottom else 1.0)
            _add_times(table, 0, rows, node * span, block, 1.0)


@inner
def tabulate(plan, begin, live, edges, ask, rows, table):
    """Fill in a question's tables: deals by set of open missing cards, holder asked, answer
    (without the settled cards).

    The sets are numbered by their columns in colex order: {a < b < c} is a + C(b, 2) + C(c, 3).

    Args:
        plan: one PLAN record.
        begin: i8, first node of each layer of the graph.
        live: LIVE [N + 1], edges: EDGE [E], the graph.
        ask: one FRAME record, filled in.
        rows: f8 [N * span], overwritten.
        table: f8 [outcomes * asked * answers] or larger, overwritten from the front.
    """
    table[: num_outcomes(ask["columns"], ask["missing"]) * ask["block"]] = 0.0
    if ask["missing"]:
        _carry_back(plan, begin, live, edges, ask, rows)
    _carry_on(plan, begin, live, edges, ask, rows, table)


@inner
def _bits(part, whole):
    return part * np.log2(part / whole) if part > 0.0 else 0.0


@inner
def appraise(table, answers, worth):
    """Sum the table of a question to one holder (f8 [outcomes, >= answers]) up into one WORTH
    record.
    """
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
