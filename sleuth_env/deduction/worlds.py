"""All deals that evidence allows: their number, where each card may lie, what an answer would tell.

Every deal that is consistent with the evidence counts the same. So nothing is inferred from what
others chose to ask: the probabilities are "uniform over consistent deals", whatever the players'
strategies. What is proved is in `certain`; a probability of exactly 0 is a proof too, unless the
result says that it is an estimate (`exact` false). The last holder is the one whose cards are
wanted, called "missing". Axis letters: ``C`` cards, ``H`` holders, ``B`` problems, ``N`` questions
or draws.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from functools import cached_property
from itertools import combinations
from typing import NamedTuple

import numpy as np

from ..checks import check_flag, check_number, is_collection
from ..checks import shown as shown_as
from ..doors import ANY, ArrayError, array, described, is_array
from .automata import NO_DEAL, PLAN
from .conflicts import conflict
from .counting import (
    ASK,
    BROKEN,
    CAP,
    KEEP,
    are_cards,
    count_modulo,
    draw,
    each_once,
    keep_graph,
    measure,
    room_for,
    survey,
    weigh,
)
from .evidence import EVIDENCE, MAX_CARDS, EvidenceError, cards_of, checked_cards, checked_evidence, mask_of
from .graph import COPIES, EDGE, LIVE, RESULT
from .questions import FRAME, MAX_MISSING, MAX_SHOWN, WORTH
from .sheet import SHEET

ONE_ORDER = np.arange(MAX_CARDS)[None, :]
MOST_STATES = 2**28  # largest cap: nodes have 32-bit numbers
MOST_DEALS = 10**9  # deals that may be drawn at once
# Below this, the relative error of a float64 count, well below 2**-46, is so small that the count
# modulo 2**64 settles the exact number.
MOST_COUNTED = 2**109


class IntricateError(RuntimeError):
    """The evidence is too intricate to be counted."""


class Answers(NamedTuple):
    """The joint distribution of a question's answer and the missing cards.

    Answers and sets of missing cards with probability 0 are left out.
    """

    answers: np.ndarray  # i8 [answer] numbers of cards or, where the cards are shown, masks of them
    outcomes: np.ndarray  # i8 [outcome] masks of the missing cards
    table: np.ndarray  # f8 [answer, outcome] probabilities, which add up to 1


class Worlds:
    """All deals that satisfy some evidence.

    Two players hold three and two of six cards, one card is missing, and the first player has
    exactly one of the cards 0 and 1.

    >>> from sleuth_env.deduction import make_evidence
    >>> deck = range(6)
    >>> hands = [(0, deck, 3, 3), (1, deck, 2, 2), (2, deck, 1, 1)]
    >>> worlds = Worlds(make_evidence(3, deck, [*hands, (0, [0, 1], 1, 1)]), num_cards=6)
    >>> worlds.count
    36
    >>> worlds.holders[0].round(3).tolist()  # where card 0 may lie
    [0.5, 0.333, 0.167]

    Args:
        evidence: EVIDENCE [1]; its last holder is "missing".
        orders: i8 [O, C] orders of the cards, padded with -1, the best of which is used. They
            matter for speed only: cards that are in the same sets should follow one another.
        num_cards: C, the length of the results' axis of cards.
        cap: number of joint states that may be counted exactly, from 0; memory grows with it, about
            150 bytes each.
        keep: number of joint states of each layer to keep where that is not enough, from 1.
        seed: for the random choice of these, below 2**64.

    Attributes:
        exact: whether the numbers are exact. Otherwise `count` is an unbiased estimate,
            probabilities are ratios of such estimates (see `error`), questions seem to tell more
            than they do, the more so the fewer states are kept; and only `certain` is proved.
        states: number of joint states.
        holders: f8 [C, H], probability that a holder has a card; 0 for cards that are not among the
            evidence's.
        sheet: SHEET [1], what quick reasoning finds.

    Raises:
        EvidenceError: an argument is of the wrong kind or out of range.
        Contradiction: no deal satisfies the evidence; the message names a minimal set of counts
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
        evidence = self.evidence = _checked_evidence(evidence)
        self.num_cards = check_number("num_cards", num_cards, 1, MAX_CARDS, EvidenceError)
        if int(evidence["cards"][0]) >> self.num_cards:
            checked_cards(cards_of(evidence["cards"][0]), self.num_cards)
        orders = _checked_orders(orders, evidence)
        cap, keep = _checked_states(cap, keep)
        seed = check_number("seed", seed, 0, 2**64 - 1, EvidenceError)
        self.sheet = np.zeros(1, SHEET)
        self._plan = np.zeros(1, PLAN)
        self._result = np.zeros(1, RESULT)
        self.holders = np.zeros((num_cards, int(evidence["num_holders"][0])))
        room = room_for(cap, keep)
        measure(evidence, orders, np.uint64(seed), self.sheet, self._plan, self._result, self.holders, room)
        result = self._result[0]
        if result["code"]:
            raise self._failure(int(result["code"]), orders, cap)
        self.exact = bool(result["exact"])
        self.states = int(result["states"])
        live = np.empty(int(result["live"]) + 1, LIVE)
        edges = np.empty(int(result["edges"]), EDGE)
        keep_graph(self._plan, self._result, room.nodes, live, edges)
        self._graph = self._plan, self._result, live, edges

    def _failure(self, code: int, orders: np.ndarray, cap: int) -> Exception:
        if code in (BROKEN, NO_DEAL):
            return conflict(self.evidence, lambda evidence: _fits(evidence, orders, cap))
        return IntricateError(
            f"the evidence is too intricate to be counted (code {code}); a larger cap or keep may help"
        )

    @cached_property
    def count(self) -> int:
        """Number of deals: exact below 2**109, and to about 46 bits beyond.

        Where `exact` is false it is a rounded estimate.
        """
        approximate = int(self._result["count"][0])
        if not self.exact or not 2**53 <= approximate < MOST_COUNTED:
            return approximate
        # The float64 is off by less than 2**63 here, so the remainder modulo 2**64 settles the rest.
        remainder = int(count_modulo(*self._graph))
        return approximate + (remainder - approximate + 2**63) % 2**64 - 2**63

    @property
    def missing(self) -> np.ndarray:
        """Probability that each card is missing, f8 [C]."""
        return self.holders[:, -1]

    @cached_property
    def missing_sets(self) -> tuple[np.ndarray, np.ndarray]:
        """The sets of cards that may be missing (masks, i8 [S]) and their probabilities (f8 [S])."""
        if self.holders.shape[1] == 1:  # there is nobody to ask
            return np.array([self.evidence["cards"][0]]), np.ones(1)
        _, outcomes, table = self.question(0, (), False)
        return outcomes, table[0]

    @cached_property
    def certain(self) -> np.ndarray:
        """What is proved, i1 [C, H]: 1 the holder has the card, 0 they do not have it, -1 open.

        It is -1 throughout for cards that are not among the evidence's.
        """
        proved = np.full(self.holders.shape, -1, np.int8)
        for card in cards_of(self.evidence["cards"][0]):
            if self.exact:
                can = self.holders[card] > 0
                # Not a probability of 1, which may have been rounded.
                has = can & (can.sum() == 1)
            else:
                can = self.sheet["can"][0, : proved.shape[1]] >> card & 1 == 1
                has = self.sheet["has"][0, : proved.shape[1]] >> card & 1 == 1
            proved[card, ~can] = 0
            proved[card, has] = 1
        return proved

    @cached_property
    def error(self) -> float:
        """Estimated total variation distance between `missing` and its exact values; 0 if exact.

        It is the jackknife estimate: how much `missing` changes when each of the independent copies
        of the thinned graph is left out.
        """
        if self.exact or not self._plan["missing"][0]:
            return 0.0
        copies = self._result["last"][0, :, : self._plan["size"][0]]
        others = copies.sum(axis=0) - copies
        shares = others / others.sum(axis=1, keepdims=True)
        deviation = np.sqrt((COPIES - 1) * shares.var(axis=0))
        return float(0.5 * np.sqrt(2 / np.pi) * deviation.sum())

    def sample(self, n: int, rng: np.random.Generator) -> np.ndarray:
        """Draw independent, equally likely deals.

        >>> from sleuth_env.deduction import make_evidence
        >>> worlds = Worlds(make_evidence(2, range(3), [(1, [0, 1], 2, 2), (1, [2], 0, 0)]), num_cards=4)
        >>> worlds.sample(2, np.random.default_rng(0)).tolist()
        [[1, 1, 0, -1], [1, 1, 0, -1]]

        Returns:
            i1 [n, C], the holder of each card, -1 for cards that are not among the evidence's.

        Raises:
            EvidenceError: ``n`` is not a number of deals, or ``rng`` not a generator.
        """
        n = check_number("the number of deals", n, 0, MOST_DEALS, EvidenceError)
        if not isinstance(rng, np.random.Generator):
            raise EvidenceError(f"deals are drawn by a numpy.random.Generator, got {shown_as(rng)}")
        deals = np.full((n, self.num_cards), -1, np.int8)
        for holder in range(self.holders.shape[1]):
            deals[:, cards_of(self._plan["held"][0, holder])] = holder
        draw(*self._graph, rng.random((n, int(self._plan["size"][0]) + 1)), deals)
        return deals

    def question(self, holder: int, cards: Collection[int], shown: bool = False) -> Answers:
        """Return the joint distribution of a question's answer and the missing cards.

        >>> from sleuth_env.deduction import make_evidence
        >>> evidence = make_evidence(2, range(3), [(0, range(3), 2, 2), (1, range(3), 1, 1)])
        >>> found = Worlds(evidence, num_cards=3).question(0, [0, 1])  # how many of the cards 0 and 1?
        >>> found.answers.tolist(), found.outcomes.tolist()
        ([1, 2], [1, 2, 4])
        >>> found.table.round(2).tolist()
        [[0.33, 0.33, 0.0], [0.0, 0.0, 0.33]]

        Args:
            holder: who is asked, any but the last.
            cards: the cards asked for.
            shown: whether the answer is which of them the holder has (at most six of them may be
                open), rather than how many.

        Raises:
            EvidenceError: this is not a question, or more than three missing cards are open.
        """
        mask = self._mask(cards)
        asks = self._asks([holder], [mask], [shown])
        plan = self._plan[0]
        table = weigh(*self._graph, np.empty(1, FRAME), asks, np.zeros(1, WORTH)).T
        order = plan["order"][: plan["size"]].tolist()
        asked = _in_order(order, int(asks["cards"][0]))
        values = _answer_values(mask & int(plan["held"][holder]), asked, shown)[: len(table)]
        last = self.holders.shape[1] - 1
        candidates = _in_order(order, int(plan["open"][last]))
        held = int(plan["held"][last])
        sets = np.array([mask_of(some) | held for some in _colex(candidates, int(plan["missing"]))])
        rows = table.any(axis=1)
        columns = table.any(axis=0)
        return Answers(values[rows], sets[columns], table[rows][:, columns] / table.sum())

    def _mask(self, cards: Collection[int]) -> int:
        """Return the mask of the cards of a question."""
        return mask_of(checked_cards(cards, self.num_cards))

    def _asks(
        self, holders: Sequence[int] | np.ndarray, cards: Sequence[int] | np.ndarray, shown: Sequence[bool] | np.ndarray
    ) -> np.ndarray:
        """Check questions, for the kernels rely on it, and return them with the open cards only."""
        last = self.holders.shape[1] - 1
        for name, some in (("holders", holders), ("cards", cards), ("shown", shown)):
            if not is_collection(some) or not hasattr(some, "__len__"):
                raise EvidenceError(f"{name} must be a sequence with one for each question, got {described(some)}")
        if not len(holders) == len(cards) == len(shown):
            raise EvidenceError(
                "each question needs a holder, cards and shown, "
                f"got {len(holders)}, {len(cards)} and {len(shown)} of them"
            )
        asks = np.zeros(len(holders), ASK)
        if last == 0:
            raise EvidenceError("there is nobody who could be asked")
        most = (1 << self.num_cards) - 1
        asks["holder"] = [
            check_number("the holder who is asked", holder, 0, last - 1, EvidenceError) for holder in holders
        ]
        asks["cards"] = [check_number("the mask of a question's cards", mask, 0, most, EvidenceError) for mask in cards]
        asks["shown"] = [check_flag("shown", one, EvidenceError) for one in shown]
        if not 0 <= self._plan["missing"][0] <= MAX_MISSING:
            raise EvidenceError(
                f"questions can be appraised only if the evidence says that 0 to {MAX_MISSING} more cards are missing"
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
            WORTH [N], see its fields: ``information``, ``decides``, ``rightly``, ``surprise``.

        Raises:
            EvidenceError: as `question`.
        """
        asks = self._asks(holders, cards, shown)
        worths = np.zeros(asks.size, WORTH)
        weigh(*self._graph, np.empty(1, FRAME), asks, worths)
        return worths

    def information(self, holder: int, cards: Collection[int], shown: bool = False) -> float:
        """Return the bits that an answer is expected to tell about the missing cards, see `question`."""
        return float(self.worths([holder], [self._mask(cards)], [shown])["information"][0])

    def decides(self, holder: int, cards: Collection[int], shown: bool = False) -> float:
        """Return the probability that an answer leaves only one possibility for the missing cards."""
        return float(self.worths([holder], [self._mask(cards)], [shown])["decides"][0])


def _checked_evidence(evidence: np.ndarray) -> np.ndarray:
    """Check that evidence can be counted, and return it."""
    if not is_array(evidence) or evidence.dtype != EVIDENCE or evidence.shape != (1,):
        raise EvidenceError(
            f"evidence must be one EVIDENCE record in an array, as make_evidence returns it, got {described(evidence)}"
        )
    return checked_evidence(evidence)


def _checked_orders(orders: np.ndarray, evidence: np.ndarray) -> np.ndarray:
    """Check that every order has each of the evidence's cards once; return the orders as i8."""
    try:
        found = array("orders", orders, np.int64, (ANY, ANY))
    except ArrayError:
        found = np.empty((0, 0), np.int64)
    if not len(found) or not are_cards(found):
        raise EvidenceError(f"orders must be rows of card numbers, -1 for none, got {orders!r:.200}")
    cards = evidence["cards"][0]
    if not each_once(found, cards):
        raise EvidenceError(f"every order must have each of the cards {cards_of(cards)} once")
    return found


def _checked_states(cap: int, keep: int) -> tuple[int, int]:
    """Check the numbers of joint states that may be counted and kept, see `Worlds`."""
    return (
        check_number("cap", cap, 0, MOST_STATES, EvidenceError),
        check_number("keep", keep, 1, MOST_STATES // (2 * MAX_CARDS), EvidenceError),
    )


def survey_all(
    evidence: np.ndarray,
    orders: np.ndarray,
    starts: np.ndarray,
    asks: np.ndarray,
    aim: np.ndarray,
    bonus: np.ndarray,
    least: np.ndarray,
    results: np.ndarray,
    holders: np.ndarray,
    worths: np.ndarray,
    cap: int = CAP,
    keep: int = KEEP,
) -> None:
    """Count the deals of many problems and appraise the questions that belong to each.

    The arguments are those of `counting.survey`.

    Raises:
        EvidenceError: ``cap`` or ``keep`` is out of range, see `Worlds`.
    """
    room = room_for(*_checked_states(cap, keep))
    survey(evidence, orders, starts, asks, aim, bonus, least, results, holders, worths, room)


def _in_order(order: list[int], mask: int) -> list[int]:
    """Return the cards of a mask in the sequence of an order."""
    return [card for card in order if mask >> card & 1]


def _colex(cards: list[int], size: int) -> list[tuple[int, ...]]:
    """List the subsets of a size in the order in which a question's table has them."""
    return sorted(combinations(cards, size), key=lambda some: [cards.index(card) for card in reversed(some)])


def _answer_values(held: int, cards: list[int], shown: bool) -> np.ndarray:
    """Return the answers of a question's table, including the cards that are certainly held.

    Args:
        held: mask of the cards asked for that the holder certainly has.
        cards: the open cards asked for, in the order of the layers.
        shown: whether the answers are masks of cards, rather than numbers.
    """
    if not shown:
        return held.bit_count() + np.arange(len(cards) + 1)
    return np.array(
        [held | mask_of(card for j, card in enumerate(cards) if bits >> j & 1) for bits in range(1 << len(cards))]
    )


def _fits(evidence: np.ndarray, orders: np.ndarray, cap: int) -> bool:
    """Return whether some deal satisfies evidence; also true if there is too much to count."""
    holders = np.empty((MAX_CARDS, int(evidence["num_holders"][0])))
    result = np.zeros(1, RESULT)
    sheet = np.zeros(1, SHEET)
    plan = np.zeros(1, PLAN)
    measure(evidence, orders, np.uint64(0), sheet, plan, result, holders, room_for(cap, KEEP))
    return int(result["code"][0]) not in (BROKEN, NO_DEAL)
