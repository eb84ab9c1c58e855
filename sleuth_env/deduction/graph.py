"""The deals that evidence allows, as the paths of a layered graph.

The open cards are dealt one after the other. A node of layer ``i`` is a joint state, one state of
every holder's automaton, before the i-th card is dealt; an edge gives that card to one holder.
Every deal is exactly one path from layer 0 to the end, so that deals are counted by dynamic
programming, forwards (``reach``) and backwards (``finish``), and the deals that use an edge are
the product of the two (the forward-backward algorithm of hidden Markov models). Numbers of paths
are float64, exact below 2**53.

Where there are too many nodes, a layer is thinned without bias: nodes with a large expected weight
stay as they are; every other one stays with a probability in proportion to its weight, and then
counts for correspondingly more (``gain``). This is the resampling of Fearnhead and Clifford,
"On-line inference for hidden Markov models via particle filters", 2003. Four copies of the graph
are thinned independently, next to one another, so that their differences estimate the error.

In the kernels ``a`` is one AUTOMATA record, ``h`` a holder and ``i`` a layer.
"""

from __future__ import annotations

import numpy as np

from ..bits import advance, mixed
from ..kernels import inner
from .automata import MAX_LAYERS, bit_length, scatter
from .evidence import MAX_CARDS, MAX_HOLDERS

COPIES = 4
COPY_SHIFT = 61  # the two highest bits of a key are the number of the copy

RESULT = np.dtype(
    [
        ("code", "i4"),  # 0, or why there is no graph: BROKEN, NO_DEAL, INTRICATE or LOST, see `counting`
        ("exact", "i4"),  # 0 where the graph has been thinned
        ("states", "i8"),  # number of nodes before the dead ones are dropped
        ("live", "i8"),  # number of nodes on a path to the end
        ("edges", "i8"),  # number of edges between these
        ("count", "f8"),  # number of deals
        ("begin", "i8", MAX_LAYERS + 1),  # [layer] first node of each layer
        ("cells", "f8", (MAX_CARDS, MAX_HOLDERS)),  # [layer, H] deals in which a holder gets the layer's card
        ("last", "f8", (COPIES, MAX_CARDS)),  # [copy, layer] those of the last holder in each copy of the graph
    ],
    align=True,
)


# A node while the graph is made.
NODE = np.dtype(
    [
        ("key", "i8"),  # the automata's states, packed, and the number of the copy
        ("reach", "f8"),  # number of paths to here
        ("finish", "f8"),  # number of paths from here, times the gain
        ("gain", "f8"),  # weight of the node, 1 unless thinned
        ("child", "i4", MAX_HOLDERS),  # [H] the node after the holder gets the card, -1 none
        ("moved", "i4"),  # its place after a layer is thinned or the graph copied, -1 dropped
    ],
    align=True,
)
# A place of a hash table that is never cleared: a node number below the clock means vacant.
SLOT = np.dtype([("key", "i8"), ("node", "i8")])

# The live part of a finished graph. A node's edges lie next to one another, in the order of the
# holders; one more node at the end says where the last edges end.
LIVE = np.dtype(
    [
        ("first", "i4"),  # the node's first edge
        ("placed", "i4"),  # number of cards that the last holder has got
        ("reach", "f8"),  # as in NODE
        ("finish", "f8"),
        ("gain", "f8"),
    ]
)
EDGE = np.dtype([("child", "i4"), ("holder", "i4")])


def new_slots(nodes: int) -> np.ndarray:
    """Return an empty hash table that is large enough for a number of nodes."""
    return np.zeros(1 << (2 * nodes).bit_length(), SLOT)


@inner
def pack(plan, a):
    """Shift the automata's successors to their bits of the next key; false if a key is too long."""
    side = plan["side"]
    size = plan["size"]
    for i in range(size + 1):
        at = 0
        for h in range(plan["num_holders"]):
            a["shift"][i, h] = at
            at += bit_length(a["width"][side, i, h] - 1)
        if at > COPY_SHIFT:
            return False
    for i in range(size):
        for h in range(plan["num_holders"]):
            start = a["start"][side, i, h]
            shift = a["shift"][i + 1, h]
            for state in range(start, start + a["width"][side, i, h]):
                if a["without"][side, state] > 0:
                    a["without"][side, state] <<= shift
                if a["having"][side, state] > 0:
                    a["having"][side, state] <<= shift
    return True


@inner
def _enter(a, nodes, slots, key, weight, begin, end, mask):
    """Add weight to the node with this key in the growing layer, and return the node.

    The layer begins at ``begin``; the node is ``end`` where it is new.
    """
    at = scatter(key, mask)
    while True:
        node = slots[at]["node"] - a["tick"]
        if node < begin:
            slots[at]["key"] = key
            slots[at]["node"] = a["tick"] + end
            nodes[end]["key"] = key
            nodes[end]["reach"] = weight
            nodes[end]["gain"] = 1.0
            return end
        if slots[at]["key"] == key:
            nodes[node]["reach"] += weight
            return node
        at = at + 1 & mask


@inner
def _successors(plan, a, i, key):
    """Write each holder's part of the next key, without and with the card, to ``a["step"]``.

    Returns:
        The next key if nobody got the card, the number of holders who must get it, and the last of
        these.
    """
    side = plan["side"]
    rest = key & (np.int64(3) << COPY_SHIFT)
    musts = 0
    must = -1
    for h in range(plan["num_holders"]):
        width = a["width"][side, i, h]
        state = a["start"][side, i, h]
        if width > 1:
            state += key >> a["shift"][i, h] & (np.int64(1) << bit_length(width - 1)) - 1
        without = a["without"][side, state]
        a["step"][0, h] = without
        a["step"][1, h] = a["having"][side, state]
        if without < 0:
            musts = musts + 1
            must = h
        else:
            rest |= without
    return rest, musts, must


@inner
def _grow_layer(plan, a, nodes, slots, i, begin, end, limit):
    """Make the nodes after the i-th card, from node ``end`` on.

    Returns:
        The number of nodes so far, -1 where there are too many.
    """
    top = end
    holders = plan["num_holders"]
    mask = (np.int64(2) << bit_length(min(limit, (end - begin) * holders))) - 1
    for node in range(begin, top):
        for h in range(MAX_HOLDERS):
            nodes[node]["child"][h] = -1
        if end + holders > limit:
            return -1
        rest, musts, must = _successors(plan, a, i, nodes[node]["key"])
        if musts > 1:
            continue
        for h in range(holders):
            having = a["step"][1, h]
            if having >= 0 and (musts == 0 or h == must):
                key = rest | having if musts else rest ^ a["step"][0, h] | having
                child = _enter(a, nodes, slots, key, nodes[node]["reach"], top, end, mask)
                nodes[node]["child"][h] = child
                end = max(end, child + 1)
    return end


@inner
def _promise(plan, a, nodes, i, node):
    """Estimate the weight of the deals through a node, as if the holders' hands were independent."""
    promise = nodes[node]["reach"]
    for h in range(plan["num_holders"]):
        state = a["start"][plan["side"], i, h]
        width = a["width"][plan["side"], i, h]
        if width > 1:
            state += nodes[node]["key"] >> a["shift"][i, h] & (np.int64(1) << bit_length(width - 1)) - 1
        promise *= a["ways"][plan["side"], state]
    return promise


@inner
def _light_limit(nodes, begin, end, keep):
    """Return the promise below which nodes are thinned so that about ``keep`` of them stay.

    The promises are in ``finish``.
    """
    limit = np.inf
    known = -1
    while True:
        light = 0.0
        heavy = 0
        for node in range(begin, end):
            if nodes[node]["finish"] >= limit:
                heavy += 1
            else:
                light += nodes[node]["finish"]
        # Apart from rounding, the limit only ever falls and the number of heavy nodes grows.
        if heavy <= known or heavy >= keep:
            return limit
        limit = light / (keep - heavy)
        known = heavy


@inner
def _thin_copy(plan, a, nodes, i, begin, end, free, keep, share):
    """Thin the nodes of one copy in a layer, and return the next free place.

    The nodes that stay move to ``free`` and after. A light node stays when the running sum of the
    light nodes' shares passes 1, which happens to each with a probability in proportion to its
    promise: ``share``, uniform in [0, 1), is where that sum starts.
    """
    for node in range(begin, end):
        nodes[node]["finish"] = _promise(plan, a, nodes, i, node)
    limit = _light_limit(nodes, begin, end, keep) if end - begin > keep else 0.0
    for node in range(begin, end):
        promise = nodes[node]["finish"]
        gain = 1.0
        if promise < limit:
            share += promise / limit
            gain = limit / promise if share >= 1.0 else 0.0
            share -= 1.0 if share >= 1.0 else 0.0
        nodes[node]["moved"] = free if gain > 0.0 else -1
        if gain > 0.0:
            nodes[free]["key"] = nodes[node]["key"]
            nodes[free]["reach"] = nodes[node]["reach"] * gain
            nodes[free]["gain"] = gain
            free += 1
    return free


@inner
def _thin_layer(plan, a, nodes, i, parents, begin, end, keep, rng):
    """Thin all copies of layer ``i``, whose nodes lie copy after copy, and return its new end."""
    free = begin
    copy_begin = begin
    while copy_begin < end:
        copy_end = copy_begin + 1
        while copy_end < end and nodes[copy_end]["key"] >> COPY_SHIFT == nodes[copy_begin]["key"] >> COPY_SHIFT:
            copy_end += 1
        rng = advance(rng)
        share = np.float64(mixed(rng) >> np.uint64(11)) * 2.0**-53
        free = _thin_copy(plan, a, nodes, i, copy_begin, copy_end, free, keep // COPIES, share)
        copy_begin = copy_end
    for node in range(parents, begin):
        for h in range(plan["num_holders"]):
            if nodes[node]["child"][h] >= 0:
                nodes[node]["child"][h] = nodes[nodes[node]["child"][h]]["moved"]
    a["tick"] += nodes.size
    return free


@inner
def grow(plan, a, nodes, slots, result, cap, keep, rng):
    """Make the nodes of all layers.

    Args:
        plan: one PLAN record with ``code`` 0.
        a: one AUTOMATA record, packed.
        nodes: NODE [N], overwritten.
        slots: SLOT [M], made for N nodes.
        result: one RESULT record; ``begin``, ``states`` and ``exact`` are written.
        cap: largest number of nodes, if ``keep`` is 0.
        keep: 0, or the number of nodes of each layer to keep.
        rng: u8, state of the random generator for thinning.

    Returns:
        Whether the graph fits.
    """
    copies = COPIES if keep else 1
    a["tick"] += nodes.size
    result["begin"][0] = 0
    result["exact"] = 0 if keep else 1
    for copy in range(copies):
        nodes[copy]["key"] = np.int64(copy) << COPY_SHIFT
        nodes[copy]["reach"] = 1.0 / copies
        nodes[copy]["gain"] = 1.0
    parents = np.int64(0)
    begin = np.int64(copies)
    result["begin"][1] = copies
    for i in range(plan["size"]):
        end = _grow_layer(plan, a, nodes, slots, i, parents, begin, nodes.size if keep else min(cap, nodes.size))
        if end < 0:
            return False
        if keep and end - begin > keep:
            rng = advance(rng)
            end = _thin_layer(plan, a, nodes, i + 1, parents, begin, end, keep, rng)
        parents = begin
        begin = end
        result["begin"][i + 2] = end
    result["states"] = begin
    return True


@inner
def _clear_sums(size, holders, result):
    for i in range(size):
        for h in range(holders):
            result["cells"][i, h] = 0.0
        for copy in range(COPIES):
            result["last"][copy, i] = 0.0


@inner
def sum_up(plan, nodes, result):
    """Count the deals backwards: all of them, and those in which a holder has a card.

    Dead nodes are left with ``finish`` 0.
    """
    size = plan["size"]
    holders = plan["num_holders"]
    begin = result["begin"]
    last = holders - 1
    for node in range(begin[size], begin[size + 1]):
        nodes[node]["finish"] = nodes[node]["gain"]
    live = begin[size + 1] - begin[size]
    edges = 0
    _clear_sums(size, holders, result)
    for i in range(size - 1, -1, -1):
        for node in range(begin[i], begin[i + 1]):
            paths = 0.0
            for h in range(holders):
                child = nodes[node]["child"][h]
                if child >= 0 and nodes[child]["finish"] > 0.0:
                    edges += 1
                    paths += nodes[child]["finish"]
                    result["cells"][i, h] += nodes[node]["reach"] * nodes[child]["finish"]
                    if h == last:
                        result["last"][nodes[node]["key"] >> COPY_SHIFT, i] += (
                            nodes[node]["reach"] * nodes[child]["finish"]
                        )
            nodes[node]["finish"] = paths * nodes[node]["gain"]
            live += paths > 0.0
    count = 0.0
    for node in range(begin[1]):
        count += nodes[node]["reach"] * nodes[node]["finish"]
    result["count"] = count
    result["live"] = live
    result["edges"] = edges


@inner
def keep_live(plan, nodes, result, live, edges):
    """Copy the live part of a graph; the result's ``begin`` is changed to the copy's layers."""
    size = plan["size"]
    last = plan["num_holders"] - 1
    free = 0
    edge = 0
    begin = result["begin"]
    for n in range(begin[size + 1]):
        nodes[n]["moved"] = free
        free += nodes[n]["finish"] > 0.0
    for n in range(begin[size + 1]):
        node = nodes[n]
        if node["finish"] <= 0.0:
            continue
        kept = live[node["moved"]]
        kept["first"] = edge
        kept["reach"] = node["reach"]
        kept["finish"] = node["finish"]
        kept["gain"] = node["gain"]
        if n < begin[1]:
            kept["placed"] = 0
        for h in range(plan["num_holders"] if n < begin[size] else 0):
            child = node["child"][h]
            if child >= 0 and nodes[child]["finish"] > 0.0:
                edges[edge]["holder"] = h
                edges[edge]["child"] = nodes[child]["moved"]
                live[nodes[child]["moved"]]["placed"] = kept["placed"] + (h == last)
                edge += 1
    live[free]["first"] = edge
    for i in range(size + 1):
        begin[i] = nodes[begin[i]]["moved"]
    begin[size + 1] = free
