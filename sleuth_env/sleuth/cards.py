"""The rule book as data: gems, questions, search cards, options and the numbering of actions.

Axis letters: ``C`` = 36 gem cards, ``Q`` = 43 questions, ``S`` = 54 search cards, ``A`` actions,
``P`` seats. Sources: the Eagle-Gryphon rule book of *Sleuth* by Sid Sackson; the composition of the
54 search cards follows the lists of a Schmidt edition.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache, partial
from itertools import combinations, pairwise, product
from typing import Any, TypedDict

import numpy as np

from ..checks import check_choice, check_number
from ..options import OptionError, documented, no_options, option

COLOURS = ("red", "blue", "green", "yellow")
KINDS = ("diamond", "pearl", "opal")
TYPES = ("solitaire", "pair", "cluster")
CATEGORIES = (COLOURS, KINDS, TYPES)
ELEMENTS = COLOURS + KINDS + TYPES

# A gem card is one value of every category; a question one value, or two of different categories.
GEMS = tuple(product(*CATEGORIES))
QUESTIONS = tuple((element,) for element in ELEMENTS) + tuple(
    pair for first, second in combinations(CATEGORIES, 2) for pair in product(first, second)
)

# A search card is its list of questions: one, those with its free element, or all.
ALLOWED = (
    tuple((question,) for question in QUESTIONS)
    + tuple(tuple(q for q in QUESTIONS if element in q) for element in ELEMENTS)
    + (QUESTIONS,)
)
NUM_GEMS = len(GEMS)
NUM_QUESTIONS = len(QUESTIONS)
NUM_SEARCH_CARDS = len(ALLOWED)
FIRST_FREE = NUM_QUESTIONS
PLAIN_FREE = NUM_SEARCH_CARDS - 1

# What may be asked and what it may be paid with, ordered by question, then by card.
PAIRS = tuple(
    (q, card) for q in range(NUM_QUESTIONS) for card in range(NUM_SEARCH_CARDS) if QUESTIONS[q] in ALLOWED[card]
)
NUM_PAIRS = len(PAIRS)

ALL_GEMS = (1 << NUM_GEMS) - 1
ALL_SEARCH_CARDS = (1 << NUM_SEARCH_CARDS) - 1
ALL_QUESTIONS = (1 << NUM_QUESTIONS) - 1
SEARCH_HAND = 4
MIN_PLAYERS = 3
MAX_PLAYERS = 7
HAND_SIZE = {3: 11, 4: 8, 5: 7, 6: 5, 7: 5}


def question_gems(question: int) -> int:
    """Return the mask of the gem cards that match a question (int, 36 bits)."""
    return sum(1 << c for c, gem in enumerate(GEMS) if set(QUESTIONS[question]) <= set(gem))


def card_kind(card: int) -> int:
    """Return what a search card allows: 0 one question, 1 those with its element, 2 all."""
    return int(card >= FIRST_FREE) + int(card == PLAIN_FREE)


@documented
@dataclass(frozen=True)
class Options:
    """Which game is played; every field is validated.

    Args:
        {options}

    Raises:
        OptionError: a value is not legal; the message names it and the legal ones.

    >>> Options(num_players=3, winners=2).hand_size
    11
    """

    num_players: int = option(4, "3 to 7", "number of players")
    missing: int = option(
        1,
        "1, 2 or 3; more than 1 with 3 or 4 players",
        'number of gems set aside (variant "additional missing gems")',
    )
    winners: int = option(
        1,
        "1 to num_players - 1",
        'number of places that are played for (variant "playing for second, third, ...")',
    )
    double_interrogation: bool = option(
        False, "False, True", 'two questions a turn instead of one (variant "additional interrogations")'
    )
    super_sleuth: bool = option(
        False, "False, True", 'two-element questions are answered with the number only (variant "Super Sleuth")'
    )
    first_player: str = option("random", "random, seat_0", "who begins (the rule books differ)", minor=True)
    accuse: str = option(
        "any_time",
        "any_time, own_turn",
        "when players may accuse: after every answer, or only on their own turn (a simplification)",
    )
    offer_order: str = option(
        "random",
        "random, clockwise",
        "in which order players are offered to accuse: at random, or clockwise from the asker",
        minor=True,
    )
    announce_result: bool = option(
        True, "True, False; False with winners > 1", "others learn whether an accusation was right"
    )
    last_survivor_wins: bool = option(False, "False, True", "the last player left in wins when all the others are out")
    max_turns: int = option(300, "1 or more", "number of turns after which the game is truncated", minor=True)

    def __post_init__(self) -> None:
        self._check_number("num_players", MIN_PLAYERS, MAX_PLAYERS)
        self._check_number("missing", 1, 3)
        if self.missing > 1 and self.num_players > 4:
            raise OptionError(
                f"missing={self.missing} needs 3 or 4 players, got num_players={self.num_players}; "
                "with more players missing is 1",
                "missing",
            )
        self._check_number("winners", 1, self.num_players - 1)
        for name in ("double_interrogation", "super_sleuth", "announce_result", "last_survivor_wins"):
            self._check_choice(name, (False, True))
        self._check_choice("first_player", ("random", "seat_0"))
        self._check_choice("accuse", ("any_time", "own_turn"))
        self._check_choice("offer_order", ("random", "clockwise"))
        if not self.announce_result and self.winners == 1:
            raise OptionError(
                "announce_result=False needs winners > 1, got winners=1; with one winner announce_result is True",
                "announce_result",
            )
        self._check_number("max_turns", 1, 2**31 - 1)

    def _check_number(self, name: str, least: int, most: int) -> None:
        error = partial(OptionError, option=name)
        object.__setattr__(self, name, check_number(name, getattr(self, name), least, most, error))

    def _check_choice(self, name: str, choices: tuple[Any, ...]) -> None:
        error = partial(OptionError, option=name)
        object.__setattr__(self, name, check_choice(name, getattr(self, name), choices, error))

    @property
    def hand_size(self) -> int:
        """Gem cards in each hand."""
        return HAND_SIZE[self.num_players]

    @property
    def table_size(self) -> int:
        """Gem cards face up on the table."""
        return NUM_GEMS - self.num_players * self.hand_size - self.missing


class OptionValues(TypedDict, total=False):
    """The fields of `Options` as keyword arguments, for type checkers."""

    num_players: int
    missing: int
    winners: int
    double_interrogation: bool
    super_sleuth: bool
    first_player: str
    accuse: str
    offer_order: str
    announce_result: bool
    last_survivor_wins: bool
    max_turns: int


# Everything a kernel needs to know of the game in one record: the tables of the cards, the options,
# where each block of actions starts. It is an argument of every kernel, because numba freezes
# globals into its cache.
RULES = np.dtype(
    [
        ("num_players", "i4"),
        ("missing", "i4"),
        ("winners", "i4"),
        ("double_interrogation", "i4"),
        ("super_sleuth", "i4"),
        ("first_random", "i4"),
        ("any_time", "i4"),
        ("offers_random", "i4"),
        ("announce_result", "i4"),
        ("last_survivor_wins", "i4"),
        ("max_turns", "i4"),
        ("hand_size", "i4"),
        ("final_at", "i4"),
        ("exchange_at", "i4"),
        ("accuse_at", "i4"),
        ("pass_at", "i4"),
        ("num_actions", "i4"),
        ("question_gems", "i8", NUM_QUESTIONS),
        ("num_elements", "i4", NUM_QUESTIONS),
        ("pair_question", "i4", NUM_PAIRS),
        ("pair_card", "i4", NUM_PAIRS),
        ("num_card_pairs", "i4", NUM_SEARCH_CARDS),
        ("card_pairs", "i4", (NUM_SEARCH_CARDS, NUM_QUESTIONS)),
    ],
    align=True,
)


def make_rules(options: Options) -> np.ndarray:
    """Return the rules of a game as the read-only record that all kernels take (RULES [1]).

    Raises:
        OptionError: these are not `Options`.
    """
    if not isinstance(options, Options):
        raise no_options("sleuth", options)
    return _rules(options)


@lru_cache(maxsize=64)
def _rules(options: Options) -> np.ndarray:
    rules = np.zeros(1, RULES)
    record = rules[0]
    for name in (
        "num_players",
        "missing",
        "winners",
        "double_interrogation",
        "super_sleuth",
        "announce_result",
        "last_survivor_wins",
    ):
        record[name] = getattr(options, name)
    record["max_turns"] = options.max_turns
    record["hand_size"] = options.hand_size
    record["first_random"] = options.first_player == "random"
    record["any_time"] = options.accuse == "any_time"
    record["offers_random"] = options.offer_order == "random"
    opponents = options.num_players - 1
    record["final_at"] = opponents * NUM_PAIRS
    record["exchange_at"] = record["final_at"] + opponents * NUM_QUESTIONS
    record["accuse_at"] = record["exchange_at"] + 1
    record["pass_at"] = record["accuse_at"] + NUM_GEMS
    record["num_actions"] = record["pass_at"] + 1
    record["question_gems"] = [question_gems(q) for q in range(NUM_QUESTIONS)]
    record["num_elements"] = [len(question) for question in QUESTIONS]
    record["pair_question"], record["pair_card"] = zip(*PAIRS, strict=True)
    for pair, (_, card) in enumerate(PAIRS):
        record["card_pairs"][card, record["num_card_pairs"][card]] = pair
        record["num_card_pairs"][card] += 1
    rules.flags.writeable = False
    return rules


def num_actions(options: Options) -> int:
    """Return the number of actions of a game: 448, 653, 858, 1063, 1268 for 3 to 7 players."""
    return int(make_rules(options)["num_actions"][0])


# See `sleuth_env.game.Game`.
OFFERED = ("accuse", "pass")
DECLINE = "pass"
SCORED = {"gem": "accuse"}


def action_blocks(options: Options) -> dict[str, slice]:
    """Return the named blocks of the actions, in their order.

    >>> action_blocks(Options(num_players=3))["accuse"]
    slice(411, 447, None)
    """
    rules = make_rules(options)[0]
    names = ("ask", "final", "exchange", "accuse", "pass")
    edges = [0, *(int(rules[field]) for field in ("final_at", "exchange_at", "accuse_at", "pass_at", "num_actions"))]
    return {name: slice(start, end) for name, (start, end) in zip(names, pairwise(edges), strict=True)}
