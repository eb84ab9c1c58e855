"""The rule book as data: gems, questions, search cards, options and the numbering of actions.

Axis letters: ``C`` = 36 gem cards, ``Q`` = 43 questions, ``S`` = 54 search cards, ``A`` actions,
    ``P`` seats.
Sources: the Eagle-Gryphon rule book of *Sleuth* by Sid Sackson; the composition of the 54 search
    cards follows
the lists of a Schmidt edition.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, fields
from functools import lru_cache
from itertools import combinations, product
from typing import Any

import numpy as np

COLOURS = ("red", "blue", "green", "yellow")
KINDS = ("diamond", "pearl", "opal")
TYPES = ("solitaire", "pair", "cluster")
CATEGORIES = (COLOURS, KINDS, TYPES)
ELEMENTS = COLOURS + KINDS + TYPES

# A gem card is one value of every category; a question is one value, or two of different
# categories.
GEMS = tuple(product(*CATEGORIES))
QUESTIONS = tuple((element,) for element in ELEMENTS) + tuple(
    pair for first, second in combinations(CATEGORIES, 2) for pair in product(first, second)
)

# A search card is its list of questions: itself, or whatever contains its free element, or
# anything.
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
SEARCH_HAND = 4
MIN_PLAYERS = 3
MAX_PLAYERS = 7
HAND_SIZE = {3: 11, 4: 8, 5: 7, 6: 5, 7: 5}


def question_gems(question: int) -> int:
    """Give the mask of the gem cards that match a question (int, 36 bits)."""
    return sum(1 << c for c, gem in enumerate(GEMS) if set(QUESTIONS[question]) <= set(gem))


class OptionError(ValueError):
    """An option has a value that the rules do not know; the message lists the legal ones."""


@dataclass(frozen=True)
class Options:
    """Say which game is played; every field is validated.

    Args:
        num_players: 3 to 7.
        missing: gems set aside, 1; 2 or 3 with three or four players (variant "additional missing
            gems").
        winners: how many places are played for, 1 to num_players - 1 (variant "playing for second,
            third, ...").
        double_interrogation: one or two questions a turn (variant "additional interrogations").
        super_sleuth: two-element questions are answered with the number only (variant "Super
            Sleuth").
        first_player: "random", or "seat_0" (the rule books differ).
        accuse: "any_time" (after every answer everybody is offered to accuse), or "own_turn" (a
            simplification).
        offer_order: "random", or "clockwise" from the asker.
        announce_result: whether a right or wrong accusation is announced; False only with winners >
            1.
        last_survivor_wins: whether the last player left in wins when all the others are out.
        max_turns: the game is truncated after so many turns, at least 1.

    Raises:
        OptionError: a value is not legal; the message names it and the legal ones.
    """

    num_players: int = 4
    missing: int = 1
    winners: int = 1
    double_interrogation: bool = False
    super_sleuth: bool = False
    first_player: str = "random"
    accuse: str = "any_time"
    offer_order: str = "random"
    announce_result: bool = True
    last_survivor_wins: bool = False
    max_turns: int = 300

    def __post_init__(self) -> None:
        self._check_number("num_players", MIN_PLAYERS, MAX_PLAYERS)
        self._check_number("missing", 1, 3)
        if self.missing > 1 and self.num_players > 4:
            raise OptionError(
                f"missing={self.missing} needs 3 or 4 players, got num_players={self.num_players}; with more players missing is 1"
            )
        self._check_number("winners", 1, self.num_players - 1)
        for name in ("double_interrogation", "super_sleuth", "announce_result", "last_survivor_wins"):
            self._check_choice(name, (False, True))
        self._check_choice("first_player", ("random", "seat_0"))
        self._check_choice("accuse", ("any_time", "own_turn"))
        self._check_choice("offer_order", ("random", "clockwise"))
        if not self.announce_result and self.winners == 1:
            raise OptionError(
                "announce_result=False needs winners > 1, got winners=1; with one winner announce_result is True"
            )
        self._check_number("max_turns", 1, 2**31 - 1)

    def _check_number(self, name: str, least: int, most: int) -> None:
        value = getattr(self, name)
        if (
            isinstance(value, (bool, np.bool_))
            or not isinstance(value, (int, np.integer))
            or not least <= value <= most
        ):
            raise OptionError(f"{name} must be an integer from {least} to {most}, got {value!r}")
        object.__setattr__(self, name, int(value))

    def _check_choice(self, name: str, choices: tuple[Any, ...]) -> None:
        value = getattr(self, name)
        value = value.item() if isinstance(value, (np.bool_, np.str_)) else value
        if type(value) is not type(choices[0]) or value not in choices:
            raise OptionError(f"{name} must be one of {', '.join(map(repr, choices))}, got {value!r}")
        object.__setattr__(self, name, value)

    @property
    def hand_size(self) -> int:
        """Gem cards in each hand."""
        return HAND_SIZE[self.num_players]

    @property
    def table_size(self) -> int:
        """Gem cards face up on the table."""
        return NUM_GEMS - self.num_players * self.hand_size - self.missing


_DEFAULTS = {field.name: field.default for field in fields(Options)}


def parse_option(name: str, text: str) -> int | bool | str:
    """Turn the text of an option into its type; what does not fit stays text, which `Options`
    refuses in its own words.
    """
    default = _DEFAULTS.get(name)
    if isinstance(default, bool):
        return {"true": True, "True": True, "false": False, "False": False}.get(text, text)
    return int(text) if isinstance(default, int) and re.fullmatch("-?[0-9]{1,15}", text) else text


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
    """Give the rules of a game as the read-only record that all kernels take (RULES [1]).

    Raises:
        OptionError: these are no `Options`.
    """
    if not isinstance(options, Options):
        raise OptionError(f"options must be Options(num_players=..., ...), got {options!r}")
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
    """Count the actions of a game: 448, 653, 858, 1063, 1268 for 3 to 7 players."""
    return int(make_rules(options)["num_actions"][0])
