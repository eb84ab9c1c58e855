"""The deals that evidence allows, as the paths of a layered graph.

A node of layer ``i`` is a state of every holder's automaton before the i-th open card is placed; an edge gives that card to
one holder. Every deal is exactly one path from layer 0 to the end. Numbers of paths are float64, exact below 2**53.

Where there are too many nodes, a layer is thinned without bias: nodes of heavy expected weight stay, the others stay
with a probability in proportion to it and count for as much more (``gain``). Four copies of the graph are then thinned
independently, side by side, so that their differences tell the error.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..bits import advance, inner, mixed
from .automata import MAX_LAYERS, bit_length, scatter
from .evidence import MAX_CARDS, MAX_HOLDERS

COPIES = 4
COPY_SHIFT = 61  # the two highest bits of a key are the number of the copy

RESULT = np.dtype(
    [
        ("code", "i4"),  # see worlds.py
        ("exact", "i4"),  # 0 where the graph has been thinned
        ("states", "i8"),  # nodes before the dead ones are dropped
        ("live", "i8"),  # nodes on a path to the end,
        ("edges", "i8"),  # and the edges between them
        ("count", "f8"),  # number of deals
        ("begin", "i8", MAX_LAYERS + 1),  # first node of each layer
        ("cells", "f8", (MAX_CARDS, MAX_HOLDERS)),  # deals in which a holder has the card of a layer
        ("last", "f8", (COPIES, MAX_CARDS)),  # the same for the last holder, of each copy
    ],
    align=True,
)


class Growth(NamedTuple):
    """Room for a graph while it is made."""

    key: np.ndarray  # i8 [N] the automata's states, packed
    child: np.ndarray  # i4 [N, MAX_HOLDERS] by who gets the card, -1 none
    reach: np.ndarray  # f8 [N] paths to here
    finish: np.ndarray  # f8 [N] paths from here, times the gain
    gain: np.ndarray  # f8 [N] how much the node counts for
    shift: np.ndarray  # i8 [MAX_LAYERS, MAX_HOLDERS] where a holder's state lies in a key
    step: np.ndarray  # i8 [2, MAX_HOLDERS] of the node at hand: each holder's part of the next key without and with the card
    slots: np.ndarray  # i8 [M, 2] hash table of keys; older numbers than ``clock`` are vacant
    clock: np.ndarray  # i8 [1]
    moved: np.ndarray  # i8 [N] where thinning puts a node of a layer, -1 nowhere


class Graph(NamedTuple):
    """The live part of a graph, with the edges of a node side by side."""

    first: np.ndarray  # i4 [N + 1] its first edge
    holder: np.ndarray  # i1 [E] who gets the card
    child: np.ndarray  # i4 [E] where the edge leads to
    reach: np.ndarray  # f8 [N]
    finish: np.ndarray  # f8 [N]
    gain: np.ndarray  # f8 [N]
    placed: np.ndarray  # i1 [N] cards that the last holder has got so far


def new_growth(nodes: int) -> Growth:
    """Make room for so many nodes; pages that are not used cost no memory."""
    slots = 1 << (2 * nodes).bit_length()
    return Growth(
        key=np.empty(nodes, np.int64),
        child=np.empty((nodes, MAX_HOLDERS), np.int32),
        reach=np.empty(nodes),
        finish=np.empty(nodes),
        gain=np.empty(nodes),
        shift=np.empty((MAX_LAYERS, MAX_HOLDERS), np.int64),
        step=np.empty((2, MAX_HOLDERS), np.int64),
        slots=np.zeros((slots, 2), np.int64),
        clock=np.ones(1, np.int64),
        moved=np.empty(nodes, np.int64),
    )


def new_graph(nodes: int, edges: int) -> Graph:
    """Make an empty graph."""
    return Graph(
        first=np.empty(nodes + 1, np.int32),
        holder=np.empty(edges, np.int8),
        child=np.empty(edges, np.int32),
        reach=np.empty(nodes),
        finish=np.empty(nodes),
        gain=np.empty(nodes),
        placed=np.empty(nodes, np.int8),
    )


@inner
def pack(plan, a, g):
    """Turn the automata's successors into their bits of the next layer's key; false where a key would be too long."""
    side, size = plan["side"], plan["size"]
    for i in range(size + 1):
        at = 0
        for h in range(plan["num_holders"]):
            g.shift[i, h] = at
            at += bit_length(a.width[side, i, h] - 1)
        if at > COPY_SHIFT:
            return False
    for i in range(size):
        for h in range(plan["num_holders"]):
            start, shift = a.start[side, i, h], g.shift[i + 1, h]
            for state in range(start, start + a.width[side, i, h]):
                if a.without[side, state] > 0:
                    a.without[side, state] <<= shift
                if a.having[side, state] > 0:
                    a.having[side, state] <<= shift
    return True


@inner
def _enter(g, key, weight, begin, end, mask):
    """Add weight to the node of the growing layer with a key; gives the node, which is ``end`` where it is new."""
    at = scatter(key, mask)
    while True:
        node = g.slots[at, 1] - g.clock[0]
        if node < begin:
            g.slots[at, 0], g.slots[at, 1] = key, g.clock[0] + end
            g.key[end], g.reach[end], g.gain[end] = key, weight, 1.0
            return end
        if g.slots[at, 0] == key:
            g.reach[node] += weight
            return node
        at = at + 1 & mask


@inner
def _successors(plan, a, g, i, key):
    """Write each holder's part of the next key without and with the card.

    Gives the next key if nobody had the card, how many holders must have it, and the last of these.
    """
    side, rest, musts, must = plan["side"], key & (np.int64(3) << COPY_SHIFT), 0, -1
    for h in range(plan["num_holders"]):
        width = a.width[side, i, h]
        state = a.start[side, i, h]
        if width > 1:
            state += key >> g.shift[i, h] & (np.int64(1) << bit_length(width - 1)) - 1
        without = a.without[side, state]
        g.step[0, h], g.step[1, h] = without, a.having[side, state]
        if without < 0:
            musts, must = musts + 1, h
        else:
            rest |= without
    return rest, musts, must


@inner
def _grow_layer(plan, a, g, i, begin, end, limit):
    """Make the nodes after the i-th card, from node ``end`` on; gives the number of nodes, -1 where there are too many."""
    top, holders = end, plan["num_holders"]
    mask = (np.int64(2) << bit_length(min(limit, (end - begin) * holders))) - 1
    for node in range(begin, top):
        for h in range(MAX_HOLDERS):
            g.child[node, h] = -1
        if end + holders > limit:
            return -1
        rest, musts, must = _successors(plan, a, g, i, g.key[node])
        if musts > 1:
            continue
        for h in range(holders):
            having = g.step[1, h]
            if having >= 0 and (musts == 0 or h == must):
                key = rest | having if musts else rest ^ g.step[0, h] | having
                child = _enter(g, key, g.reach[node], top, end, mask)
                g.child[node, h] = child
                end = max(end, child + 1)
    return end


@inner
def _promise(plan, a, g, i, node):
    """Estimate the weight of the deals through a node: as if the holders' hands had nothing to do with one another."""
    promise = g.reach[node]
    for h in range(plan["num_holders"]):
        state, width = a.start[plan["side"], i, h], a.width[plan["side"], i, h]
        if width > 1:
            state += g.key[node] >> g.shift[i, h] & (np.int64(1) << bit_length(width - 1)) - 1
        promise *= a.ways[plan["side"], state]
    return promise


@inner
def _light_limit(g, begin, end, keep):
    """Find the promise below which nodes are thinned so that ``keep`` of them are expected to be left.

    The promises are in ``finish``.
    """
    limit, known = np.inf, -1
    while True:
        light, heavy = 0.0, 0
        for node in range(begin, end):
            if g.finish[node] >= limit:
                heavy += 1
            else:
                light += g.finish[node]
        if heavy == known:
            return limit
        limit, known = light / max(keep - heavy, 1), heavy


@inner
def _thin_copy(plan, a, g, i, begin, end, free, keep, chance):
    """Thin the nodes of one copy in a layer and move those that stay to ``free`` and after; gives the next free place."""
    for node in range(begin, end):
        g.finish[node] = _promise(plan, a, g, i, node)
    limit = _light_limit(g, begin, end, keep) if end - begin > keep else 0.0
    for node in range(begin, end):
        promise, gain = g.finish[node], 1.0
        if promise < limit:
            chance += promise / limit
            gain = limit / promise if chance >= 1.0 else 0.0
            chance -= 1.0 if chance >= 1.0 else 0.0
        g.moved[node] = free if gain > 0.0 else -1
        if gain > 0.0:
            g.key[free], g.reach[free], g.gain[free] = g.key[node], g.reach[node] * gain, gain
            free += 1
    return free


@inner
def _thin_layer(plan, a, g, i, parents, begin, end, keep, bits):
    """Thin all copies of layer ``i``, whose nodes lie copy after copy; gives its new end."""
    free, copy_begin = begin, begin
    while copy_begin < end:
        copy_end = copy_begin + 1
        while copy_end < end and g.key[copy_end] >> COPY_SHIFT == g.key[copy_begin] >> COPY_SHIFT:
            copy_end += 1
        bits = advance(bits)
        chance = np.float64(mixed(bits) >> np.uint64(11)) * 2.0**-53
        free = _thin_copy(plan, a, g, i, copy_begin, copy_end, free, keep // COPIES, chance)
        copy_begin = copy_end
    for node in range(parents, begin):
        for h in range(plan["num_holders"]):
            if g.child[node, h] >= 0:
                g.child[node, h] = g.moved[g.child[node, h]]
    g.clock[0] += g.key.size
    return free


@inner
def grow(plan, a, g, result, cap, keep, bits):
    """Make the nodes of all layers.

    Args:
        plan: one PLAN record with ``code`` 0.
        a: its Automata; their successors are changed into bits of keys, once, see `pack`.
        g: Growth.
        result: one RESULT record; written are ``begin``, ``states``, ``exact``.
        cap: nodes at most, if ``keep`` is 0.
        keep: 0, or how many nodes of each layer are kept.
        bits: u8, randomness for thinning.

    Returns:
        Whether there was room.
    """
    copies = COPIES if keep else 1
    g.clock[0] += g.key.size
    result["begin"][0], result["exact"] = 0, 0 if keep else 1
    for copy in range(copies):
        g.key[copy], g.reach[copy], g.gain[copy] = np.int64(copy) << COPY_SHIFT, 1.0 / copies, 1.0
    parents, begin = 0, copies
    result["begin"][1] = copies
    for i in range(plan["size"]):
        end = _grow_layer(plan, a, g, i, parents, begin, g.key.size if keep else min(cap, g.key.size))
        if end < 0:
            return False
        if keep and end - begin > keep:
            bits = advance(bits)
            end = _thin_layer(plan, a, g, i + 1, parents, begin, end, keep, bits)
        parents, begin = begin, end
        result["begin"][i + 2] = end
    result["states"] = begin
    return True


@inner
def sum_up(plan, g, result):
    """Count the deals backwards: all of them, and those in which a holder has a card; mark the dead nodes (``finish`` 0)."""
    size, holders = plan["size"], plan["num_holders"]
    begin, last = result["begin"], holders - 1
    for node in range(begin[size], begin[size + 1]):
        g.finish[node] = g.gain[node]
    live, edges = begin[size + 1] - begin[size], 0
    result["last"][:] = 0.0
    for i in range(size - 1, -1, -1):
        result["cells"][i] = 0.0
        for node in range(begin[i], begin[i + 1]):
            paths = 0.0
            for h in range(holders):
                child = g.child[node, h]
                if child >= 0 and g.finish[child] > 0.0:
                    edges += 1
                    paths += g.finish[child]
                    result["cells"][i, h] += g.reach[node] * g.finish[child]
                    if h == last:
                        result["last"][g.key[node] >> COPY_SHIFT, i] += g.reach[node] * g.finish[child]
            g.finish[node] = paths * g.gain[node]
            live += paths > 0.0
    count = 0.0
    for node in range(begin[1]):
        count += g.reach[node] * g.finish[node]
    result["count"], result["live"], result["edges"] = count, live, edges


@inner
def keep_live(plan, g, result, graph):
    """Copy the live part of a graph; ``begin`` of the result becomes the layers of the copy."""
    size, last, free, edge = plan["size"], plan["num_holders"] - 1, 0, 0
    begin = result["begin"]
    for node in range(begin[size + 1]):
        g.moved[node] = free
        free += g.finish[node] > 0.0
    for node in range(begin[size + 1]):
        if g.finish[node] <= 0.0:
            continue
        live = g.moved[node]
        graph.first[live], graph.reach[live], graph.finish[live], graph.gain[live] = edge, g.reach[node], g.finish[node], g.gain[node]
        if node < begin[1]:
            graph.placed[live] = 0
        for h in range(plan["num_holders"] if node < begin[size] else 0):
            child = g.child[node, h]
            if child >= 0 and g.finish[child] > 0.0:
                graph.holder[edge], graph.child[edge] = h, g.moved[child]
                graph.placed[g.moved[child]] = graph.placed[live] + (h == last)
                edge += 1
    graph.first[free] = edge
    for i in range(size + 1):
        result["begin"][i] = g.moved[begin[i]]
    result["begin"][size + 1] = free
