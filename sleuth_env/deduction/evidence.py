"""What is known about hidden cards: who may hold each card, and how many of which cards each holder
has.

Nothing here knows a game. Cards are numbered 0 to 62 and lie with exactly one of the holders; a set
of cards is an int64 mask. The sets that are spoken of form one catalogue for all holders, and every
holder has bounds on how many cards of each set he holds. Axis letters: ``B`` problems, ``H``
holders, ``S`` sets of the catalogue.
"""

from __future__ import annotations

import operator
from collections.abc import Collection, Iterable, Mapping
from typing import Any, NamedTuple

import numpy as np

MAX_HOLDERS = 7
MAX_SETS = 48
MAX_CARDS = 63

EVIDENCE = np.dtype(
    [
        ("num_holders", "i4"),
        ("num_sets", "i4"),
        ("cards", "i8"),  # the cards whose holder is asked for
        ("sets", "i8", MAX_SETS),  # the catalogue, each a subset of cards
        ("possible", "i8", MAX_HOLDERS),  # the cards that a holder may have
        ("least", "i1", (MAX_HOLDERS, MAX_SETS)),  # bounds on how many cards of a set he has; beyond num_sets unused
        ("most", "i1", (MAX_HOLDERS, MAX_SETS)),
    ],
    align=True,
)


class EvidenceError(ValueError):
    """The description of the evidence makes no sense; the message says what is wrong with it."""


class Contradiction(ValueError):  # noqa: N818
    """No deal of the cards satisfies the evidence; the message names the first thing that was found
    broken.

    Attributes:
        holder: whose constraint is broken, -1 where it is not about one holder.
        cards: the cards it is about (mask).
    """

    def __init__(self, message: str, holder: int = -1, cards: int = 0) -> None:
        super().__init__(message)
        self.holder = holder
        self.cards = cards


class Constraint(NamedTuple):
    """Holder ``holder`` has at least ``least`` and at most ``most`` of ``cards``."""

    holder: int
    cards: Collection[int]
    least: int
    most: int


def mask_of(cards: Iterable[int]) -> int:
    """Give the mask of some card numbers."""
    # As Python's: a shifted integer of NumPy overflows.
    return sum(1 << int(card) for card in set(cards))


def checked_number(name: str, value: Any, least: int, most: int) -> int:
    """Give a whole number as an int.

    Raises:
        EvidenceError: it is no whole number from ``least`` to ``most``.
    """
    try:
        number = None if isinstance(value, (bool, np.bool_)) else operator.index(value)
    except TypeError:
        number = None
    if number is None or not least <= number <= most:
        raise EvidenceError(f"{name} must be a whole number from {least} to {most}, got {value!r}")
    return number


def checked_cards(cards: Iterable[int], number: int = MAX_CARDS) -> list[int]:
    """Give card numbers as a list of int.

    Raises:
        EvidenceError: one of them is no whole number below ``number``, or they are no collection of
            numbers.
    """
    if isinstance(cards, (str, bytes)) or not isinstance(cards, Iterable):
        raise EvidenceError(f"cards must be a collection of numbers from 0 to {number - 1}, got {cards!r}")
    return [checked_number("a card", card, 0, number - 1) for card in cards]


def cards_of(mask: int) -> list[int]:
    """Give the card numbers of a mask, ascending."""
    return [card for card in range(MAX_CARDS) if int(mask) >> card & 1]


def make_evidence(
    num_holders: int,
    cards: Collection[int],
    constraints: Iterable[Constraint | tuple[int, Collection[int], int, int]] = (),
    possible: Mapping[int, Collection[int]] | None = None,
) -> np.ndarray:
    """Describe what is known about some cards.

    Args:
        num_holders: 1 to 7; holders are numbered from 0.
        cards: the numbers (0 to 62) of the cards to place; each has exactly one holder.
        constraints: (holder, cards, least, most); one on all cards bounds the size of a hand.
            Several on the same cards of the same holder must all hold.
        possible: for a holder the only cards he may have; holders that are not named may have any.

    Returns:
        EVIDENCE [1].

    Raises:
        EvidenceError: something is no whole number or out of range, a card is not to be placed, or
            there are more than 48 different sets.
    """
    evidence = np.zeros(1, EVIDENCE)
    record = evidence[0]
    placed = checked_cards(cards)
    record["num_holders"] = checked_number("num_holders", num_holders, 1, MAX_HOLDERS)
    record["cards"] = mask_of(placed)
    record["possible"][:num_holders] = record["cards"]
    for holder, allowed in (possible or {}).items():
        record["possible"][_checked_holder(holder, num_holders)] = _checked_mask(allowed, placed)
    for constraint in constraints:
        _add_constraint(record, Constraint(*constraint), placed)
    return evidence


def _checked_holder(holder: int, num_holders: int) -> int:
    return checked_number("a holder", holder, 0, num_holders - 1)


def _checked_mask(some: Iterable[int], cards: list[int]) -> int:
    some = checked_cards(some)
    strange = sorted(set(some) - set(cards))
    if strange:
        raise EvidenceError(f"the cards {strange} are not among the cards to place, {sorted(cards)}")
    return mask_of(some)


def _add_constraint(record: np.void, constraint: Constraint, cards: list[int]) -> None:
    holder = _checked_holder(constraint.holder, int(record["num_holders"]))
    mask = _checked_mask(constraint.cards, cards)
    least, most = (checked_number(name, getattr(constraint, name), 0, MAX_CARDS) for name in ("least", "most"))
    if least > most:
        raise EvidenceError(f"a constraint needs least <= most, got {constraint}")
    at = _catalogue_place(record, mask)
    record["least"][holder, at] = max(record["least"][holder, at], least)
    record["most"][holder, at] = min(record["most"][holder, at], most)


def _catalogue_place(record: np.void, mask: int) -> int:
    """Find a set in the catalogue, or write it at the end with bounds that say nothing."""
    size = int(record["num_sets"])
    known = np.flatnonzero(record["sets"][:size] == mask)
    if known.size:
        return int(known[0])
    if size == MAX_SETS:
        raise EvidenceError(f"there may be at most {MAX_SETS} different sets of cards")
    record["sets"][size] = mask
    record["most"][:, size] = mask.bit_count()
    record["num_sets"] = size + 1
    return size
