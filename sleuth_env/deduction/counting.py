"""The kernels of `worlds`: count the deals of some evidence, appraise questions, draw deals.

Counting goes through four steps, each in a file of its own. The quick rules of the `sheet` settle
what they can. Along an order of the cards that are left open, each holder's counts become an
automaton (`automata`). The product of these automata is grown layer by layer as a graph whose paths
are the deals (`graph`), with equal joint states merged as they appear; paths are then counted
backwards, which gives the number of deals and of those in which a holder has a card. What an answer
would tell is counted on the same graph (`questions`). If the graph has more than ``cap`` nodes, it
is grown again with thinned layers, and the numbers become unbiased estimates. Who needs only the
best question is spared most of the work by a `shortlist`.

All of this works in a `Room`, scratch arrays that are made once for each thread. Axis letters:
``B`` problems, ``C`` cards, ``H`` holders, ``N`` questions or draws.
"""

from __future__ import annotations

import threading
from typing import NamedTuple

import numpy as np

from ..bits import advance, popcount
from ..kernels import inner, kernel
from .automata import AUTOMATA, INTRICATE, MAX_LAYERS, NO_DEAL, PLAN, make_plan
from .evidence import MAX_CARDS, MAX_HOLDERS
from .graph import EDGE, LIVE, NODE, grow, keep_live, new_slots, pack, sum_up
from .lanes import most_of
from .questions import (
    FRAME,
    MAX_MISSING,
    MOST_ROWS,
    appraise,
    ask_also,
    num_outcomes,
    row_span,
    set_columns,
    set_missing,
    start_question,
    tabulate,
)
from .sheet import LEVEL, SHEET, propagate
from .shortlist import know_nothing, shortlist

CAP = 150_000
KEEP = 2_000
ATTEMPTS = 4
# Codes of a result without a graph, besides NO_DEAL and INTRICATE.
BROKEN = 1  # the sheet is contradictory
LOST = 4  # thinning has left no path to the end

ASK = np.dtype(
    [
        ("holder", "i4"),  # who is asked, any but the last
        ("shown", "i4"),  # whether the cards are shown, rather than their number told
        ("cards", "i8"),  # mask of the cards asked for
    ],
    align=True,
)


class Room(NamedTuple):
    """The scratch arrays of the kernels, and how large a graph they may hold.

    Pages of the arrays that are not used cost no memory.
    """

    cap: int  # joint states to count exactly
    keep: int  # joint states to keep of each layer where that is not enough
    automata: np.ndarray  # AUTOMATA [1]
    nodes: np.ndarray  # NODE [N]
    slots: np.ndarray  # SLOT [M]
    live: np.ndarray  # LIVE [N + 1]
    edges: np.ndarray  # EDGE [E]


_rooms = threading.local()


def room_for(cap: int, keep: int) -> Room:
    """Return this thread's room, large enough for a number of joint states; its contents are lost."""
    nodes = max(cap, (MAX_LAYERS + MAX_HOLDERS) * keep) + MAX_HOLDERS
    found: Room | None = getattr(_rooms, "room", None)
    if found is None or found.nodes.size < nodes:
        found = Room(
            cap=cap,
            keep=keep,
            automata=np.zeros(1, AUTOMATA),
            nodes=np.empty(nodes, NODE),
            slots=new_slots(nodes),
            live=np.empty(nodes + 1, LIVE),
            edges=np.empty(MAX_HOLDERS * nodes, EDGE),
        )
    elif (found.cap, found.keep) != (cap, keep):
        found = found._replace(cap=cap, keep=keep)
    _rooms.room = found
    return found


@kernel
def are_cards(orders):
    """Return whether orders (i8 [O, C]) consist of card numbers and -1."""
    for order in orders:
        for card in order:
            if card < -1 or card >= MAX_CARDS:
                return False
    return True


@kernel
def each_once(orders, cards):
    """Return whether every order (i8 [O, C], padded with -1) has each card of a mask exactly once."""
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
def _grow_thinned(plan, a, nodes, slots, result, keep, rng):
    """Make a thinned graph; try again if by bad luck it has no path to the end."""
    for _ in range(ATTEMPTS):
        rng = advance(rng)
        grow(plan, a, nodes, slots, result, np.int64(0), keep, rng)
        sum_up(plan, nodes, result)
        if result["count"] > 0.0:
            return


@inner
def _count(evidence, sheet, orders, rng, plan, result, room):
    """Make the graph of one problem in the room and sum it up; return 0 or why there is none."""
    a = room.automata[0]
    nodes = room.nodes
    slots = room.slots
    if sheet["broken"]:
        return BROKEN
    make_plan(evidence, sheet, orders, plan, a)
    set_missing(plan, evidence, sheet)
    if plan["code"]:
        return plan["code"]
    if not pack(plan, a):
        return INTRICATE
    if grow(plan, a, nodes, slots, result, room.cap, np.int64(0), rng):
        sum_up(plan, nodes, result)
        return 0 if result["count"] > 0.0 else NO_DEAL
    _grow_thinned(plan, a, nodes, slots, result, room.keep, rng)
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
def measure(evidence, orders, seed, sheets, plans, results, holders, room):
    """Count the deals of one problem and leave their graph in the room.

    Args:
        evidence: EVIDENCE [1].
        orders: i8 [O, C] card numbers, padded with -1.
        seed: u8, for the random choice of states where the graph is thinned.
        sheets: SHEET [1], overwritten.
        plans: PLAN [1], overwritten.
        results: RESULT [1], overwritten.
        holders: f8 [C, H], overwritten where the code in the result is 0.
        room: `Room`.
    """
    propagate(evidence, sheets, LEVEL)
    results[0]["code"] = _count(evidence[0], sheets[0], orders, seed, plans[0], results[0], room)
    if results[0]["code"] == 0:
        _write_marginals(plans[0], results[0], holders)


@kernel
def keep_graph(plans, results, nodes, live, edges):
    """Copy the live part of the graph that `measure` left in ``nodes``."""
    keep_live(plans[0], nodes, results[0], live, edges)


@inner
def _same_question(asks, n):
    """Return whether a question goes together with the one before: same cards, a later holder."""
    now = asks[n]
    before = asks[n - 1]
    return now["shown"] == before["shown"] and now["cards"] == before["cards"] and now["holder"] > before["holder"]


@inner
def _open_cards(plan, ask):
    """Return the mask of a question's cards that are not settled for its holder (ask: one ASK record)."""
    return ask["cards"] & plan["open"][ask["holder"]]


@inner
def _num_answers(plan, ask):
    """Return the number of answers to a question, not counting the settled cards.

    Numbers that exceed what the holder can have are not among them.
    """
    cards = _open_cards(plan, ask)
    return np.int64(1) << popcount(cards) if ask["shown"] else most_of(plan, ask["holder"], cards) + 1


@inner
def _weigh_all(plan, result, live, edges, frame, asks, wanted, worths):
    """Appraise questions (ASK [N]) on one graph, and return the last one's table (frame: scratch).

    Those that are not wanted (bool [N]) are left out.
    """
    most = np.int64(1)
    holders = np.int64(plan["num_holders"])
    set_columns(plan, frame)
    # Nobody is asked anything: this fills in the frame in case the list of questions is empty.
    start_question(plan, np.int64(0), np.int64(0), frame)
    outcomes = num_outcomes(frame["num_columns"], frame["missing"])
    for n in range(asks.size):
        most = max(most, _num_answers(plan, asks[n]))
    together = max(min(holders, MOST_ROWS // (row_span(frame, most) * result["live"] + 1)), 1)
    table = np.empty(outcomes * together * most)
    rows = np.empty(row_span(frame, most * together) * result["live"])
    n = 0
    while n < asks.size:
        after = n + 1
        answers = _num_answers(plan, asks[n])
        some = wanted[n]
        while after < asks.size and after - n < together and _same_question(asks, after):
            answers = max(answers, _num_answers(plan, asks[after]))
            some = some or wanted[after]
            after += 1
        if some:
            # All of them are counted, since the rounding of each depends on the others.
            start_question(plan, np.int64(asks[n]["shown"]), answers, frame)
            for m in range(n, after):
                ask_also(plan, asks[m]["holder"], _open_cards(plan, asks[m]), frame)
            tabulate(plan, result["begin"], live, edges, frame, rows, table)
            by_outcome = table[: outcomes * frame["block"]].reshape(outcomes, frame["block"])
            for m in range(n, after):
                if wanted[m]:
                    appraise(by_outcome[:, (m - n) * answers :], answers, worths[m])
        n = after
    return table[: outcomes * frame["block"]].reshape(outcomes, frame["block"])[:, : frame["answers"]]


@kernel
def weigh(plans, results, live, edges, frames, asks, worths):
    """Appraise questions on one graph.

    Args:
        plans: PLAN [1], with 0 to 3 open missing cards.
        results: RESULT [1].
        live: LIVE [N + 1], the graph's nodes.
        edges: EDGE [E], the graph's edges.
        frames: FRAME [1], scratch.
        asks: ASK [N], none to the last holder, none of more than six open cards to be shown.
        worths: WORTH [N], overwritten.

    Returns:
        The table of the last question, f8 [outcomes, answers]; if it was put to several holders,
        that of the first of them. See `tabulate`.
    """
    wanted = np.ones(asks.size, np.bool_)
    return _weigh_all(plans[0], results[0], live, edges, frames[0], asks, wanted, worths)


@kernel
def survey(evidence, orders, starts, asks, aims, bonus, least, results, holders, worths, room):
    """Count the deals of many problems and appraise the questions that belong to each.

    Numbers of a problem whose result has a code are NaN, and so are those of its questions if it is
    not known that at most three cards are missing.

    Args:
        evidence: EVIDENCE [B].
        orders: i8 [O, C] card numbers, padded with -1.
        starts: i8 [B + 1], where in ``asks`` the questions of each problem start.
        asks: ASK [N], as in `weigh`.
        aims: AIM [1], which of them are to be appraised.
        bonus, least: f8 [N] and f8 [B], by what they are compared, see `shortlist`.
        results: RESULT [B], overwritten.
        holders: f8 [B, C, H], overwritten.
        worths: WORTH [N], overwritten; NaN where a question is certainly not the best.
        room: `Room`.
    """
    live = room.live
    edges = room.edges
    sheets = np.empty(1, SHEET)
    plans = np.zeros(1, PLAN)
    frames = np.empty(1, FRAME)
    for b in range(evidence.size):
        # Taken from the array each time: a record does not keep the array alive that it lies in,
        # so the array itself must be used in every round.
        plan = plans[0]
        result = results[b]
        propagate(evidence[b : b + 1], sheets, LEVEL)
        result["code"] = _count(evidence[b], sheets[0], orders, np.uint64(0), plan, result, room)
        holders[b] = np.nan
        if result["code"] == 0:
            _write_marginals(plan, result, holders[b])
        own = slice(starts[b], starts[b + 1])
        if result["code"] or plan["missing"] < 0 or plan["missing"] > MAX_MISSING:
            for n in range(starts[b], starts[b + 1]):
                know_nothing(worths[n])
        elif starts[b] < starts[b + 1]:
            keep_live(plan, room.nodes, result, live, edges)
            wanted = np.empty(starts[b + 1] - starts[b], np.bool_)
            shortlist(
                plan,
                result,
                live,
                edges,
                frames[0],
                aims[0],
                asks[own],
                bonus[own],
                least[b],
                worths[own],
                wanted,
            )
            if wanted.any():
                _weigh_all(plan, result, live, edges, frames[0], asks[own], wanted, worths[own])


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
            # np.add, because + of NumPy scalars warns of the intended overflow in plain Python.
            counts[node] = np.add(counts[node], counts[edges[edge]["child"]])
    return counts[0]


@inner
def _choose(weights, first, end, uniform):
    """Choose a place from ``first`` up to ``end`` in proportion to its weight (uniform: in [0, 1))."""
    total = 0.0
    for place in range(first, end):
        total += weights[place]
    left = total * uniform
    chosen = first
    for place in range(first, end):
        if weights[place] > 0.0 and left >= 0.0:
            chosen = place
        left -= weights[place]
    return chosen


@kernel
def draw(plans, results, live, edges, uniforms, deals):
    """Draw deals: independent random paths of the graph, all equally likely.

    Args:
        plans: PLAN [1].
        results: RESULT [1].
        live: LIVE [N + 1], the graph's nodes.
        edges: EDGE [E], the graph's edges.
        uniforms: f8 [N, layers], uniform in [0, 1).
        deals: i1 [N, C], where the holders of the open cards are written.
    """
    plan = plans[0]
    begin = results[0]["begin"]
    roots = np.empty(begin[1])
    weights = np.empty(MAX_HOLDERS)
    for node in range(begin[1]):
        roots[node] = live[node]["reach"] * live[node]["finish"]
    for n in range(deals.shape[0]):
        node = _choose(roots, 0, roots.size, uniforms[n, plan["size"]])
        for i in range(plan["size"]):
            first = live[node]["first"]
            degree = live[node + 1]["first"] - first
            for j in range(degree):
                weights[j] = live[edges[first + j]["child"]]["finish"]
            edge = first + _choose(weights, 0, degree, uniforms[n, i])
            deals[n, plan["order"][i]] = edges[edge]["holder"]
            node = edges[edge]["child"]
