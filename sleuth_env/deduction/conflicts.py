"""Why no deal satisfies some evidence: a minimal set of counts that cannot all hold.

It is found by deletion: leave out one count after the other, and put back those without which a
deal exists (the deletion filter of Chinneck and Dravnieks, "Locating minimal infeasible constraint
sets in linear programs", 1991).
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from .evidence import Contradiction
from .sheet import constraint_text

Count = tuple[int, int]  # holder, place in the catalogue of sets


def conflict(evidence: np.ndarray, fits: Callable[[np.ndarray], bool]) -> Contradiction:
    """Return an error that names contradictory counts, none of which can be left out.

    Args:
        evidence: EVIDENCE [1] that no deal satisfies.
        fits: whether some deal satisfies the evidence it is given.
    """
    evidence = evidence.copy()
    needed = _restrictive(evidence)
    # Whole holders first: most of them do not matter, and each try counts all deals.
    for holder in range(int(evidence["num_holders"][0])):
        needed = _without(evidence, needed, [count for count in needed if count[0] == holder], fits)
    for count in list(needed):
        needed = _without(evidence, needed, [count], fits)
    cards = 0
    for _, place in needed:
        cards |= int(evidence["sets"][0, place])
    text = (
        "; ".join(constraint_text(evidence[0], *count) for count in needed)
        or "each card lies with one holder who may have it"
    )
    holders = {holder for holder, _ in needed}
    return Contradiction(f"no deal satisfies all of this: {text}", holders.pop() if len(holders) == 1 else -1, cards)


def _restrictive(evidence: np.ndarray) -> list[Count]:
    """List the counts that exclude anything."""
    size = np.bitwise_count(evidence["sets"][0])
    used = np.arange(size.size) < evidence["num_sets"][0]
    restrictive = used & ((evidence["least"][0] > 0) | (evidence["most"][0] < size))
    return [(int(h), int(s)) for h, s in np.argwhere(restrictive) if h < evidence["num_holders"][0]]


def _without(
    evidence: np.ndarray, needed: list[Count], some: list[Count], fits: Callable[[np.ndarray], bool]
) -> list[Count]:
    """Drop some counts from the evidence if the rest is still contradictory; return those needed."""
    before = evidence.copy()
    for holder, place in some:
        evidence["least"][0, holder, place] = 0
        evidence["most"][0, holder, place] = int(evidence["sets"][0, place]).bit_count()
    if not fits(evidence):
        return [count for count in needed if count not in some]
    evidence[:] = before
    return needed
