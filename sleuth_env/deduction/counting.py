"""The kernels of `worlds`: count the deals of some evidence, appraise questions, draw deals; and
the room they work in.
"""

from __future__ import annotations

import threading
from typing import NamedTuple

import numpy as np

from ..bits import advance, popcount
from ..kernels import inner, kernel
from .automata import AUTOMATA, INTRICATE, MAX_LAYERS, NO_DEAL, make_plan
from .evidence import MAX_HOLDERS
from .graph import EDGE, LIVE, NODE, grow, keep_live, new_slots, pack, sum_up
from .questions import (
    MAX_MISSING,
    appraise,
    ask_also,
    num_outcomes,
    row_span,
    set_columns,
    set_missing,
    start_question,
    tabulate,
)
from .sheet import LEVEL, propagate

CAP = 150_000
KEEP = 2_000
# Numbers that questions to several holders at once may need to be worked out: 256 MB. Beyond it
# fewer holders are asked at once.
MOST_ROWS = 2**25
ATTEMPTS = 4
# Why there is no graph, beside NO_DEAL and INTRICATE: the sheet is contradictory; thinning has left
# nothing.
BROKEN = 1
LOST = 4

ASK = np.dtype([("holder", "i4"), ("shown", "i4"), ("cards", "i8")], align=True)


class Room(NamedTuple):
    """What the kernels work in, one for each thread; pages that are not used cost no memory."""

    automata: np.ndarray  # AUTOMATA [1]
    nodes: np.ndarray  # NODE [N]
    slots: np.ndarray  # SLOT [M]
    live: np.ndarray  # LIVE [N + 1]
    edges: np.ndarray  # EDGE [E]


_rooms = threading.local()


def room(cap: int, keep: int) -> Room:
    """Give this thread's room for so many joint states; what was left in it is lost."""
    nodes = max(cap, (MAX_LAYERS + MAX_HOLDERS) * keep) + MAX_HOLDERS
    found: Room | None = getattr(_rooms, "room", None)
    if found is None or found.nodes.size < nodes:
        live = np.empty(nodes + 1, LIVE)
        edges = np.empty(MAX_HOLDERS * nodes, EDGE)
        found = _rooms.room = Room(np.zeros(1, AUTOMATA), np.empty(nodes, NODE), new_slots(nodes), live, edges)
    return found


@kernel
def each_once(orders, cards):
    """Tell whether every order (i8 [O, C], -1 fills up) has each card of a mask exactly once."""
    for order in orders:
        once = cards & 0
        for card in order:
            if card >= 0 and cards >> card & 1:
                if once >> card & 1:
                    return False
                once |= np.int64(1) << card
        if once != cards:
            return False
    return True


@inner
def _grow_thinned(plan, a, nodes, slots, result, keep, bits):
    """Make a thinned graph; by bad luck it may have no path to the end, then others are tried."""
    for _ in range(ATTEMPTS):
        bits = advance(bits)
        grow(plan, a, nodes, slots, result, np.int64(0), keep, bits)
        sum_up(plan, nodes, result)
        if result["count"] > 0.0:
            return


@inner
def _count(evidence, sheet, orders, cap, keep, bits, plan, result, a, nodes, slots):
    """Make the graph of one problem and sum it up; gives 0 or why there is none."""
    if sheet["broken"]:
        return BROKEN
    make_plan(evidence, sheet, orders, plan, a)
    set_missing(plan, evidence, sheet)
    if plan["code"]:
        return plan["code"]
    if not pack(plan, a):
        return INTRICATE
    if grow(plan, a, nodes, slots, result, cap, np.int64(0), bits):
        sum_up(plan, nodes, result)
        return 0 if result["count"] > 0.0 else NO_DEAL
    _grow_thinned(plan, a, nodes, slots, result, keep, bits)
    return 0 if result["count"] > 0.0 else LOST


@inner
def _write_marginals(plan, result, holders):
    """Turn numbers of deals into probabilities (holders: f8 [C, H])."""
    holders[:] = 0.0
    num_holders = plan["num_holders"]
    for card in range(holders.shape[0]):
        for h in range(num_holders):
            holders[card, h] = plan["held"][h] >> card & 1
    for i in range(plan["size"]):
        total = 0.0
        for h in range(num_holders):
            total += result["cells"][i, h]
        for h in range(num_holders):
            holders[plan["order"][i], h] = result["cells"][i, h] / total


@kernel
def measure(evidence, orders, cap, keep, seed, sheets, plans, results, holders, automata, nodes, slots):
    """Count the deals of one problem and leave their graph in the room.

    Args:
        evidence: EVIDENCE [1].
        orders: i8 [O, C].
        cap: joint states to count exactly.
        keep: joint states to keep of each layer beyond that.
        seed: u8.
        sheets: SHEET [1], plans: PLAN [1], results: RESULT [1], overwritten.
        holders: f8 [C, H], overwritten where the code in the result is 0.
        automata: AUTOMATA [1], nodes: NODE [N], slots: SLOT [M], room to work in.
    """
    propagate(evidence, sheets, LEVEL)
    results[0]["code"] = _count(
        evidence[0], sheets[0], orders, cap, keep, seed, plans[0], results[0], automata[0], nodes, slots
    )
    if results[0]["code"] == 0:
        _write_marginals(plans[0], results[0], holders)


@kernel
def keep_graph(plans, results, nodes, live, edges):
    """Copy the live part of the graph that `measure` left in ``nodes``."""
    keep_live(plans[0], nodes, results[0], live, edges)


@inner
def _same_question(asks, n):
    """Whether a question can be dealt with together with the one before it: the same cards, a later
    holder.
    """
    now = asks[n]
    before = asks[n - 1]
    return now["shown"] == before["shown"] and now["cards"] == before["cards"] and now["holder"] > before["holder"]


@inner
def _num_answers(plan, ask):
    """Count the answers to a question, without the settled cards; of the numbers none beyond what
    the holder can have.
    """
    holder = ask["holder"]
    cards = ask["cards"] & plan["open"][holder]
    size = popcount(cards)
    if ask["shown"]:
        return np.int64(1) << size
    most = size
    for s in range(plan["num_counts"][holder]):
        most = min(most, plan["most"][holder, s] + popcount(cards & ~plan["cells"][holder, s]))
    return most + 1


@inner
def _weigh_all(plan, result, live, edges, ask, asks, begin, end, worths):
    """Appraise some of the questions on one graph; gives the last one's table (ask: a FRAME record
    to work in).
    """
    most = np.int64(1)
    holders = np.int64(plan["num_holders"])
    set_columns(plan, ask)
    start_question(plan, np.int64(0), np.int64(0), ask)  # nobody is asked anything, should there be no questions
    outcomes = num_outcomes(ask["columns"], ask["missing"])
    for n in range(begin, end):
        most = max(most, _num_answers(plan, asks[n]))
    together = max(min(holders, MOST_ROWS // (row_span(ask, most) * result["live"] + 1)), 1)
    table = np.empty(outcomes * together * most)
    rows = np.empty(row_span(ask, most * together) * result["live"])
    n = begin
    while n < end:
        after = n + 1
        answers = _num_answers(plan, asks[n])
        while after < end and after - n < together and _same_question(asks, after):
            answers = max(answers, _num_answers(plan, asks[after]))
            after += 1
        start_question(plan, np.int64(asks[n]["shown"]), answers, ask)
        for m in range(n, after):
            ask_also(plan, asks[m]["holder"], asks[m]["cards"] & plan["open"][asks[m]["holder"]], ask)
        tabulate(plan, result["begin"], live, edges, ask, rows, table)
        for m in range(n, after):
            appraise(
                table[: outcomes * ask["block"]].reshape(outcomes, ask["block"])[:, (m - n) * answers :],
                answers,
                worths[m],
            )
        n = after
    return table[: outcomes * ask["block"]].reshape(outcomes, ask["block"])[:, : ask["answers"]]


@kernel
def weigh(plans, results, live, edges, frames, asks, worths):
    """Appraise questions on one graph.

    Args:
        plans: PLAN [1], with 0 to 3 open missing cards.
        results: RESULT [1].
        live: LIVE [N + 1], edges: EDGE [E], the graph that belongs to them.
        frames: FRAME [1] to work in.
        asks: ASK [N], none of the last holder, nor of more than six open cards to be shown.
        worths: WORTH [N], overwritten.

    Returns:
        The table of the last question, f8 [outcomes, answers], or, if it was put to several
        holders, of the first of them; see `tabulate`.
    """
    return _weigh_all(plans[0], results[0], live, edges, frames[0], asks, 0, asks.size, worths)


@kernel
def survey(
    evidence,
    orders,
    cap,
    keep,
    seed,
    starts,
    asks,
    sheets,
    results,
    holders,
    worths,
    plans,
    frames,
    automata,
    nodes,
    slots,
    live,
    edges,
):
    """Count the deals of many problems and appraise the questions that belong to each.

    Args:
        evidence: EVIDENCE [B].
        orders, cap, keep, seed: as in `measure`.
        starts: i8 [B + 1], where in ``asks`` the questions of each problem start.
        asks: ASK [N], as in `weigh`.
        sheets: SHEET [B], results: RESULT [B], holders: f8 [B, C, H], worths: WORTH [N],
            overwritten; numbers that belong to a result with a code, or where it is not known that
            at most three cards are missing, are NaN.
        plans: PLAN [1], frames: FRAME [1], and a `Room`'s automata, nodes, slots, live, edges: to
            work in.
    """
    propagate(evidence, sheets, LEVEL)
    # A record made here would be freed with its array after the array's last use.
    plan = plans[0]
    for b in range(evidence.size):
        result = results[b]
        result["code"] = _count(
            evidence[b], sheets[b], orders, cap, keep, seed, plan, result, automata[0], nodes, slots
        )
        holders[b] = np.nan
        if result["code"] == 0:
            _write_marginals(plan, result, holders[b])
        if result["code"] or plan["missing"] < 0 or plan["missing"] > MAX_MISSING:
            for n in range(starts[b], starts[b + 1]):
                worths[n]["information"] = np.nan
                worths[n]["decides"] = np.nan
                worths[n]["rightly"] = np.nan
                worths[n]["surprise"] = np.nan
        elif starts[b] < starts[b + 1]:
            keep_live(plan, nodes, result, live, edges)
            _weigh_all(plan, result, live, edges, frames[0], asks, starts[b], starts[b + 1], worths)


@kernel
def count_modulo(plans, results, live, edges):
    """Count the deals of an exact graph modulo 2**64 (u8)."""
    size = plans[0]["size"]
    begin = results[0]["begin"]
    counts = np.zeros(begin[size + 1], np.uint64)
    for node in range(begin[size], begin[size + 1]):
        counts[node] = 1
    for node in range(begin[size] - 1, -1, -1):
        for edge in range(live[node]["first"], live[node + 1]["first"]):
            counts[node] = np.add(counts[node], counts[edges[edge]["child"]])
    return counts[0]


@inner
def _choose(weights, first, end, chance):
    """Choose one of the places from ``first`` on in proportion to its weight (chance: in [0, 1))."""
    total = 0.0
    for place in range(first, end):
        total += weights[place]
    left = total * chance
    chosen = first
    for place in range(first, end):
        if weights[place] > 0.0 and left >= 0.0:
            chosen = place
        left -= weights[place]
    return chosen


@kernel
def draw(plans, results, live, edges, chances, deals):
    """Draw deals.

    Args:
        plans: PLAN [1], results: RESULT [1], live: LIVE [N + 1], edges: EDGE [E], the graph that
            belongs to them.
        chances: f8 [N, layers], uniform in [0, 1).
        deals: i1 [N, C], the open cards' holders are written.
    """
    plan = plans[0]
    begin = results[0]["begin"]
    roots = np.empty(begin[1])
    weights = np.empty(MAX_HOLDERS)
    for node in range(begin[1]):
        roots[node] = live[node]["reach"] * live[node]["finish"]
    for n in range(deals.shape[0]):
        node = _choose(roots, 0, roots.size, chances[n, plan["size"]])
        for i in range(plan["size"]):
            first = live[node]["first"]
            degree = live[node + 1]["first"] - first
            for j in range(degree):
                weights[j] = live[edges[first + j]["child"]]["finish"]
            edge = first + _choose(weights, 0, degree, chances[n, i])
            deals[n, plan["order"][i]] = edges[edge]["holder"]
            node = edges[edge]["child"]
