"""All deals that evidence allows: how many there are, how likely each card is to lie where, what a
question would tell.

Every deal that is consistent with the evidence counts the same. So nothing is inferred from what
others chose to ask: the probabilities are "uniform over consistent deals", whatever the players'
strategies. What is proved is in `certain`; a probability of exactly 0 proves something, too, unless
the result says that it is an estimate (`exact` false). The last holder is the one whose cards are
wanted, called "missing". Axis letters: ``C`` cards, ``H`` holders, ``B`` problems, ``N`` questions
or draws.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from functools import cached_property
from itertools import combinations
from typing import NamedTuple

import numpy as np

from .automata import NO_DEAL, PLAN
from .conflicts import conflict
from .counting import ASK, BROKEN, CAP, KEEP, count_modulo, draw, each_once, keep_graph, measure, room, survey, weigh
from .evidence import EVIDENCE, MAX_CARDS, EvidenceError, cards_of, checked_cards, checked_number, mask_of
from .graph import COPIES, EDGE, LIVE, RESULT
from .questions import FRAME, MAX_MISSING, MAX_SHOWN, WORTH
from .sheet import SHEET

ONE_ORDER = np.arange(MAX_CARDS)[None, :]
MOST_STATES = 2**28  # that a graph may be asked to have: nodes are numbered by 32 bits
MOST_DEALS = 10**9  # that may be drawn at once
# The relative error of a float64 count, well below 2**-46, must leave the remainder modulo 2**64
# without doubt.
MOST_COUNTED = 2**109


class IntricateError(RuntimeError):
    """The evidence is too intricate to be counted: one holder's counts alone have too many states."""


class Answers(NamedTuple):
    """The joint distribution of a question's answer and the missing cards; what has probability 0
    is left out.
    """

    answers: np.ndarray  # i8 [A] numbers of cards or, where they are shown, masks of them
    outcomes: np.ndarray  # i8 [O] masks of the missing cards
    table: np.ndarray  # f8 [A, O] probabilities


class Worlds:
    """All deals that satisfy some evidence.

    Args:
        evidence: EVIDENCE [1]; its last holder is "missing".
        orders: i8 [O, C] orders of the cards, the best of which is used; -1 fills up. It matters
            for speed only: cards that are in the same sets should follow one another.
        num_cards: C, the length of the results' axis of cards.
        cap: how many joint states may be counted exactly, from 0; memory grows with it, about 150
            bytes each.
        keep: how many joint states of each layer are kept where that is not enough, from 1.
        seed: for the random choice of these, below 2**64.

    Attributes:
        exact: whether the numbers are exact. Otherwise `count` is an unbiased estimate,
            probabilities are ratios of such ones (see `error`), what questions are said to tell is
            too much, the more so the fewer states are kept; and only `certain` is proved.
        states: how many joint states there were.
        holders: f8 [C, H], probability that a holder has a card; rows of cards that are not asked
            for are 0.
        sheet: SHEET [1], what quick reasoning finds.

    Raises:
        EvidenceError: an argument is not of this kind.
        Contradiction: no deal satisfies the evidence; the message names a smallest set of counts
            that cannot all hold.
        IntricateError: the evidence is far too intricate.
    """

    def __init__(
        self,
        evidence: np.ndarray,
        orders: np.ndarray = ONE_ORDER,
        num_cards: int = MAX_CARDS,
        cap: int = CAP,
        keep: int = KEEP,
        seed: int = 0,
    ) -> None:
        self.evidence = _checked_evidence(evidence)
        self.num_cards = checked_number("num_cards", num_cards, 1, MAX_CARDS)
        if int(evidence["cards"][0]) >> num_cards:
            checked_cards(cards_of(evidence["cards"][0]), num_cards)
        orders = _checked_orders(orders, evidence)
        (cap, keep) = _checked_states(cap, keep)
        checked_number("seed", seed, 0, 2**64 - 1)
        self.sheet = np.zeros(1, SHEET)
        self._plan = np.zeros(1, PLAN)
        self._result = np.zeros(1, RESULT)
        self.holders = np.zeros((num_cards, int(evidence["num_holders"][0])))
        space = room(cap, keep)
        measure(
            evidence, orders, cap, keep, np.uint64(seed), self.sheet, self._plan, self._result, self.holders, *space[:3]
        )
        result = self._result[0]
        if result["code"]:
            raise self._failure(int(result["code"]), orders, cap)
        self.exact = bool(result["exact"])
        self.states = int(result["states"])
        graph = np.empty(int(result["live"]) + 1, LIVE), np.empty(int(result["edges"]), EDGE)
        keep_graph(self._plan, self._result, space.nodes, *graph)
        self._graph = self._plan, self._result, *graph

    def _failure(self, code: int, orders: np.ndarray, cap: int) -> Exception:
        if code in (BROKEN, NO_DEAL):
            return conflict(self.evidence, lambda evidence: _fits(evidence, orders, cap))
        return IntricateError(
            f"the evidence is too intricate to be counted (code {code}); a larger cap or keep may help"
        )

    @cached_property
    def count(self) -> int:
        """The number of deals: exactly below 2**109, and to about 46 bits beyond; a rounded
        estimate where `exact` is false.
        """
        approximate = int(self._result["count"][0])
        if not self.exact or not 2**53 <= approximate < MOST_COUNTED:
            return approximate
        # A float64 errs by less than 2**63 here, so that the remainder modulo 2**64 settles the
        # rest.
        remainder = int(count_modulo(*self._graph))
        return approximate + (remainder - approximate + 2**63) % 2**64 - 2**63

    @property
    def missing(self) -> np.ndarray:
        """Probability of each card to be missing, f8 [C]."""
        return self.holders[:, -1]

    @cached_property
    def missing_sets(self) -> tuple[np.ndarray, np.ndarray]:
        """The sets of cards that may be missing (masks, i8 [S]) and their probabilities (f8 [S])."""
        if self.holders.shape[1] == 1:  # there is nobody to be asked
            return np.array([self.evidence["cards"][0]]), np.ones(1)
        _, outcomes, table = self.question(0, (), False)
        return outcomes, table[0]

    @cached_property
    def certain(self) -> np.ndarray:
        """What is proved, i1 [C, H]: 1 the holder has the card, 0 he has it not, -1 open; all -1
        where it is not asked for.
        """
        proved = np.full(self.holders.shape, -1, np.int8)
        for card in cards_of(self.evidence["cards"][0]):
            if self.exact:
                can = self.holders[card] > 0
                # A probability of 1 may have been rounded.
                has = can & (can.sum() == 1)
            else:
                can, has = (self.sheet[field][0, : proved.shape[1]] >> card & 1 == 1 for field in ("can", "has"))
            proved[card, ~can] = 0
            proved[card, has] = 1
        return proved

    @cached_property
    def error(self) -> float:
        """The expected total variation between `missing` and its exact values, estimated; 0 where
        they are exact.

        Taken from what leaving out each of the independent copies of the thinned graph would change
        (jackknife).
        """
        if self.exact or not self._plan["missing"][0]:
            return 0.0
        copies = self._result["last"][0, :, : self._plan["size"][0]]
        others = copies.sum(axis=0) - copies
        shares = others / others.sum(axis=1, keepdims=True)
        deviation = np.sqrt((COPIES - 1) * shares.var(axis=0))
        return float(0.5 * np.sqrt(2 / np.pi) * deviation.sum())

    def sample(self, n: int, rng: np.random.Generator) -> np.ndarray:
        """Draw deals, independent and all equally likely: i1 [n, C], the holder of each card, -1
        where it is not asked for.

        Raises:
            EvidenceError: ``n`` is no number of deals, or ``rng`` no generator.
        """
        n = checked_number("the number of deals", n, 0, MOST_DEALS)
        if not isinstance(rng, np.random.Generator):
            raise EvidenceError(f"deals are drawn by a numpy.random.Generator, got {rng!r}")
        deals = np.full((n, self.num_cards), -1, np.int8)
        for holder in range(self.holders.shape[1]):
            deals[:, cards_of(self._plan["held"][0, holder])] = holder
        draw(*self._graph, rng.random((n, int(self._plan["size"][0]) + 1)), deals)
        return deals

    def question(self, holder: int, cards: Collection[int], shown: bool = False) -> Answers:
        """Tell how the answer to a question and the missing cards hang together.

        Args:
            holder: who is asked, any but the last.
            cards: the cards that he is asked for.
            shown: whether he shows which of them he has, at most six open ones, or says how many.

        Raises:
            EvidenceError: it is no question, or more than three missing cards are open.
        """
        mask = self._mask(cards)
        asks = self._asks([holder], [mask], [shown])
        plan = self._plan[0]
        last = self.holders.shape[1] - 1
        table = weigh(*self._graph, np.empty(1, FRAME), asks, np.zeros(1, WORTH)).T
        order = plan["order"][: plan["size"]].tolist()
        values = _answer_values(mask & int(plan["held"][holder]), _chosen(order, int(asks["cards"][0])), shown)[
            : len(table)
        ]
        sets = np.array(
            [
                mask_of(some) | int(plan["held"][last])
                for some in _colex(_chosen(order, int(plan["open"][last])), int(plan["missing"]))
            ]
        )
        rows = table.any(axis=1)
        kept = table.any(axis=0)
        return Answers(values[rows], sets[kept], table[rows][:, kept] / table.sum())

    def _mask(self, cards: Collection[int]) -> int:
        """Give the mask of the cards of a question."""
        return mask_of(checked_cards(cards, self.num_cards))

    def _asks(
        self, holders: Sequence[int] | np.ndarray, cards: Sequence[int] | np.ndarray, shown: Sequence[bool] | np.ndarray
    ) -> np.ndarray:
        """Write questions down, with the open cards only, and check them: the kernels count on it."""
        last = self.holders.shape[1] - 1
        if not len(holders) == len(cards) == len(shown):
            raise EvidenceError(
                f"each question needs a holder, cards and shown, got {len(holders)}, {len(cards)} and {len(shown)} of them"
            )
        asks = np.zeros(len(holders), ASK)
        if last == 0:
            raise EvidenceError("there is nobody who could be asked")
        asks["holder"] = [checked_number("the holder who is asked", holder, 0, last - 1) for holder in holders]
        asks["cards"] = [
            checked_number("the mask of a question's cards", mask, 0, (1 << self.num_cards) - 1) for mask in cards
        ]
        if not np.isin(shown, (0, 1)).all():
            raise EvidenceError(f"shown must be True or False, got {shown!r}")
        asks["shown"] = shown
        if not 0 <= self._plan["missing"][0] <= MAX_MISSING:
            raise EvidenceError(
                f"questions can be appraised only where the evidence says that 0 to {MAX_MISSING} more cards are missing"
            )
        asks["cards"] &= self._plan["open"][0, asks["holder"]]
        if (np.bitwise_count(asks["cards"][asks["shown"] != 0]) > MAX_SHOWN).any():
            raise EvidenceError(f"at most {MAX_SHOWN} cards whose holder is open can be shown")
        return asks

    def worths(
        self, holders: Sequence[int] | np.ndarray, cards: Sequence[int] | np.ndarray, shown: Sequence[bool] | np.ndarray
    ) -> np.ndarray:
        """Appraise many questions at once.

        Args:
            holders: [N] who is asked.
            cards: [N] masks of the cards asked for.
            shown: [N] whether the cards are shown.

        Returns:
            WORTH [N]: ``information``, ``decides``, ``rightly``, ``surprise``.

        Raises:
            EvidenceError: as `question`.
        """
        asks = self._asks(holders, cards, shown)
        worths = np.zeros(asks.size, WORTH)
        weigh(*self._graph, np.empty(1, FRAME), asks, worths)
        return worths

    def information(self, holder: int, cards: Collection[int], shown: bool = False) -> float:
        """Give the bits that the answer to a question is expected to tell about the missing cards."""
        return float(self.worths([holder], [self._mask(cards)], [shown])["information"][0])

    def decides(self, holder: int, cards: Collection[int], shown: bool = False) -> float:
        """Give the probability that the answer to a question leaves only one possibility for the
        missing cards.
        """
        return float(self.worths([holder], [self._mask(cards)], [shown])["decides"][0])


def _checked_evidence(evidence: np.ndarray) -> np.ndarray:
    """Check that evidence can be counted."""
    if getattr(evidence, "dtype", None) != EVIDENCE or evidence.shape != (1,):
        raise EvidenceError(
            f"evidence must be one EVIDENCE record in an array, as make_evidence gives it, got {evidence!r:.200}"
        )
    checked_number("num_holders", int(evidence["num_holders"][0]), 1, evidence["possible"].shape[1])
    return evidence


def _checked_orders(orders: np.ndarray, evidence: np.ndarray) -> np.ndarray:
    """Check that every order has each of the evidence's cards once."""
    found = np.asarray(orders)
    if (
        found.ndim != 2
        or not len(found)
        or found.dtype.kind not in "iu"
        or found.min(initial=-1) < -1
        or found.max(initial=-1) >= MAX_CARDS
    ):
        raise EvidenceError(f"orders must be rows of card numbers, -1 for none, got {found!r:.200}")
    found = found.astype(np.int64, copy=False)
    cards = evidence["cards"][0]
    if not each_once(found, cards):
        raise EvidenceError(f"every order must have each of the cards {cards_of(cards)} once")
    return found


def _checked_states(cap: int, keep: int) -> tuple[int, int]:
    """Check how many joint states may be counted, see `Worlds`."""
    return checked_number("cap", cap, 0, MOST_STATES), checked_number("keep", keep, 1, MOST_STATES // (2 * MAX_CARDS))


def survey_all(
    evidence: np.ndarray,
    orders: np.ndarray,
    starts: np.ndarray,
    asks: np.ndarray,
    results: np.ndarray,
    holders: np.ndarray,
    worths: np.ndarray,
    cap: int = CAP,
    keep: int = KEEP,
) -> None:
    """Count the deals of many problems and appraise the questions that belong to each, see
    `counting.survey`; raises EvidenceError as `Worlds`.
    """
    cap, keep = _checked_states(cap, keep)
    sheets = np.empty(evidence.size, SHEET)
    plans = np.zeros(1, PLAN)
    frames = np.empty(1, FRAME)
    survey(
        evidence,
        orders,
        cap,
        keep,
        np.uint64(0),
        starts,
        asks,
        sheets,
        results,
        holders,
        worths,
        plans,
        frames,
        *room(cap, keep),
    )


def _chosen(order: list[int], mask: int) -> list[int]:
    """Give the cards of a mask in the sequence of an order."""
    return [card for card in order if mask >> card & 1]


def _colex(cards: list[int], size: int) -> list[tuple[int, ...]]:
    """List the sets of so many cards in the order in which a question's table has them."""
    return sorted(combinations(cards, size), key=lambda some: [cards.index(card) for card in reversed(some)])


def _answer_values(held: int, cards: list[int], shown: bool) -> np.ndarray:
    """Give the answers of a question's table: how many or which cards, with those that are
    certainly held.
    """
    if not shown:
        return held.bit_count() + np.arange(len(cards) + 1)
    return np.array(
        [held | mask_of(card for j, card in enumerate(cards) if bits >> j & 1) for bits in range(1 << len(cards))]
    )


def _fits(evidence: np.ndarray, orders: np.ndarray, cap: int) -> bool:
    """Tell whether some deal satisfies evidence; also where that would be too much to count."""
    space = room(cap, KEEP)
    holders = np.empty((MAX_CARDS, int(evidence["num_holders"][0])))
    result = np.zeros(1, RESULT)
    measure(
        evidence, orders, cap, KEEP, np.uint64(0), np.zeros(1, SHEET), np.zeros(1, PLAN), result, holders, *space[:3]
    )
    return int(result["code"][0]) not in (BROKEN, NO_DEAL)
