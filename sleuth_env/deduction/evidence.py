"""What is known about hidden cards: who may hold each one, and how many of which cards they hold.

Nothing here knows a game. Cards are numbered 0 to 62, and each lies with exactly one of the
holders; a set of cards is an int64 mask. The sets that constraints speak of form one catalogue for
all holders, and every holder has bounds on how many cards of each set they hold. Axis letters:
``B`` problems, ``H`` holders, ``S`` sets of the catalogue.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from typing import Any, NamedTuple

import numpy as np

from ..checks import check_number, is_collection, shown
from ..doors import ANY, ArrayError, described, records
from ..kernels import kernel

MAX_HOLDERS = 7
MAX_SETS = 48
MAX_CARDS = 63

EVIDENCE = np.dtype(
    [
        ("num_holders", "i4"),
        ("num_sets", "i4"),  # length of the catalogue; what lies beyond it is not read
        ("cards", "i8"),  # mask of the cards to place
        ("sets", "i8", MAX_SETS),  # [S] the catalogue, each entry a subset of cards
        ("possible", "i8", MAX_HOLDERS),  # [H] masks of the cards that a holder may have
        ("least", "i1", (MAX_HOLDERS, MAX_SETS)),  # [H, S] a holder has at least this many cards of a set
        ("most", "i1", (MAX_HOLDERS, MAX_SETS)),  # [H, S] and at most this many
    ],
    align=True,
)


class EvidenceError(ValueError):
    """An argument is of the wrong kind or out of range; the message says which and why."""


class Contradiction(ValueError):  # noqa: N818
    """No deal of the cards satisfies the evidence; the message names what was found to conflict.

    Attributes:
        holder: whose constraint is broken, -1 where it concerns several holders.
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
    """Return the mask of some card numbers.

    >>> mask_of([0, 3])
    9
    """
    # Python integers, because shifting a NumPy integer overflows.
    return sum(1 << int(card) for card in set(cards))


def cards_of(mask: int) -> list[int]:
    """Return the card numbers of a mask, ascending.

    >>> cards_of(9)
    [0, 3]
    """
    return [card for card in range(MAX_CARDS) if int(mask) >> card & 1]


def checked_cards(cards: Iterable[int], number: int = MAX_CARDS) -> list[int]:
    """Return card numbers as a list of int.

    Raises:
        EvidenceError: ``cards`` cannot be iterated over, or one of them is not a whole number below
            ``number``.
    """
    if not is_collection(cards):
        raise EvidenceError(f"cards must be a collection of numbers from 0 to {number - 1}, got {shown(cards)}")
    return [check_number("a card", card, 0, number - 1, EvidenceError) for card in cards]


def make_evidence(
    num_holders: int,
    cards: Collection[int],
    constraints: Iterable[Constraint | tuple[int, Collection[int], int, int]] = (),
    possible: Mapping[int, Collection[int]] | None = None,
) -> np.ndarray:
    """Write down what is known about some cards.

    Three holders share the cards 0 to 4: the first has two of them, among these exactly one of the
    cards 0 and 1; the last one may only have card 4.

    >>> evidence = make_evidence(3, range(5), [(0, range(5), 2, 2), (0, [0, 1], 1, 1)], {2: [4]})
    >>> evidence["possible"][0, :3].tolist()
    [31, 31, 16]

    Args:
        num_holders: 1 to 7; holders are numbered from 0.
        cards: the numbers (0 to 62) of the cards to place; each has exactly one holder.
        constraints: (holder, cards, least, most); one on all cards bounds the size of a hand.
            Several on the same cards of the same holder must all hold.
        possible: for a holder, the only cards they may have; other holders may have any.

    Returns:
        EVIDENCE [1].

    Raises:
        EvidenceError: something is not a whole number or out of range, a constraint names a card
            that is not to be placed, or there are more than 48 different sets.
    """
    evidence = np.zeros(1, EVIDENCE)
    record = evidence[0]
    placed = checked_cards(cards)
    number = check_number("num_holders", num_holders, 1, MAX_HOLDERS, EvidenceError)
    record["num_holders"] = number
    record["cards"] = mask_of(placed)
    record["possible"][:number] = record["cards"]
    if not isinstance(possible, Mapping | None):
        raise EvidenceError(f"possible must be a mapping from holders to cards, got {described(possible)}")
    for holder, allowed in (possible or {}).items():
        record["possible"][_checked_holder(holder, number)] = _checked_mask(allowed, placed)
    if not is_collection(constraints):
        raise EvidenceError(f"constraints must be a collection, got {described(constraints)}")
    for constraint in constraints:
        if not isinstance(constraint, (tuple, list)) or len(constraint) != len(Constraint._fields):
            raise EvidenceError(f"a constraint is (holder, cards, least, most), got {described(constraint)}")
        _add_constraint(record, Constraint(*constraint), placed)
    return evidence


def checked_evidence(evidence: np.ndarray) -> np.ndarray:
    """Return evidence (EVIDENCE [B]) in the form that kernels take, if it is all that they take for granted.

    Evidence need not come from `make_evidence`. It may be contradictory.

    Raises:
        EvidenceError: it is not an array of EVIDENCE records, a length of a record is out of range,
            or its sets are not subsets of its cards.
    """
    try:
        found = records("evidence", evidence, EVIDENCE, (ANY,), "EVIDENCE")
    except ArrayError as error:
        raise EvidenceError(f"{error}; make_evidence returns such a record") from None
    row = _first_unsound(found)
    if row >= 0:
        raise EvidenceError(_unsoundness(found[row]))
    return found


@kernel
def _first_unsound(evidence: Any) -> int:
    """Return the first row of evidence (EVIDENCE [B]) with a number or a set out of range; -1 if there is none."""
    for b in range(evidence.size):
        e = evidence[b]
        if not 1 <= e["num_holders"] <= MAX_HOLDERS or not 0 <= e["num_sets"] <= MAX_SETS or e["cards"] < 0:
            return b
        for s in range(e["num_sets"]):
            if e["sets"][s] & ~e["cards"]:
                return b
    return -1


def _unsoundness(record: np.void) -> str:
    """Return what is wrong with an unsound record of evidence."""
    for name, least, most in (("num_holders", 1, MAX_HOLDERS), ("num_sets", 0, MAX_SETS)):
        if not least <= record[name] <= most:
            return f"{name} must be an integer from {least} to {most}, got {record[name]}"
    cards = int(record["cards"])
    if cards < 0:
        return f"cards of the evidence must be a mask of the cards 0 to {MAX_CARDS - 1}, got {cards}"
    sets = record["sets"][: record["num_sets"]].tolist()
    strange = next(some for some in sets if some & ~cards)
    return f"the sets of the evidence must be subsets of its cards, {cards_of(cards)}, got the mask {strange}"


def _checked_holder(holder: int, num_holders: int) -> int:
    return check_number("a holder", holder, 0, num_holders - 1, EvidenceError)


def _checked_mask(some: Iterable[int], cards: list[int]) -> int:
    """Return the mask of some of the cards to place."""
    some = checked_cards(some)
    unknown = sorted(set(some) - set(cards))
    if unknown:
        raise EvidenceError(f"the cards {unknown} are not among the cards to place, {sorted(cards)}")
    return mask_of(some)


def _add_constraint(record: np.void, constraint: Constraint, cards: list[int]) -> None:
    holder = _checked_holder(constraint.holder, int(record["num_holders"]))
    mask = _checked_mask(constraint.cards, cards)
    least = check_number("least", constraint.least, 0, MAX_CARDS, EvidenceError)
    most = check_number("most", constraint.most, 0, MAX_CARDS, EvidenceError)
    if least > most:
        raise EvidenceError(f"a constraint needs least <= most, got {constraint}")
    place = _catalogue_place(record, mask)
    record["least"][holder, place] = max(record["least"][holder, place], least)
    record["most"][holder, place] = min(record["most"][holder, place], most)


def _catalogue_place(record: np.void, mask: int) -> int:
    """Return a set's place in the catalogue; a new set is appended, with bounds that allow anything."""
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
