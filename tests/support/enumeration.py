"""All deals that satisfy some evidence, found by trying every deal: slow and obvious."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from itertools import product

import numpy as np

from sleuth_env.deduction.evidence import Constraint, cards_of

Deal = tuple[set[int], ...]


@lru_cache
def all_deals(num_holders: int, cards: range) -> list[Deal]:
    """Return every way to hand out the cards: for each holder the set of their cards."""
    return [
        tuple({card for card, holder in zip(cards, holders, strict=True) if holder == h} for h in range(num_holders))
        for holders in product(range(num_holders), repeat=len(cards))
    ]


def satisfies(deal: Deal, constraints: Sequence[Constraint], possible: dict[int, set[int]]) -> bool:
    """Return whether a deal agrees with all that is known."""
    if not all(deal[holder] <= allowed for holder, allowed in possible.items()):
        return False
    return all(least <= len(deal[holder].intersection(cards)) <= most for holder, cards, least, most in constraints)


def assert_sound(sheet: np.void, deals: Sequence[Deal]) -> None:
    """Check that every mark on a sheet is true in every deal."""
    for deal in deals:
        for h, hand in enumerate(deal):
            assert set(cards_of(sheet["has"][h])) <= hand <= set(cards_of(sheet["can"][h]))
