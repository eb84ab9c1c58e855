"""The rule book as data: titles, tokens, options and the numbering of actions.

Everything that is printed on cards and tokens lies in ``cards.json``, and only there; it is read and
validated when this module is imported. Axis letters: ``T`` = 38 titles, ``V`` = 5 villains, ``A``
actions, ``P`` seats. Source: docs/holmes.md; the rule book of *I Say, Holmes!* by Alan Emrich.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import lru_cache, partial
from itertools import pairwise
from pathlib import Path
from typing import Any, TypedDict

import numpy as np

from ..checks import check_choice, check_number
from ..options import OptionError, documented, no_options, option

CATEGORIES = ("travel", "city", "country", "information", "action", "i-say", "interrupt", "villain", "start")
TARGETS = ("none", "one", "optional", "all")
NO_TARGET, ONE_TARGET, OPTIONAL_TARGET, ALL_TARGETS = range(4)
PERMISSIONS = ("not-moving", "city", "moving")
# Words of the lists besides the titles.
KINDS = ("any-travel", "similar-location", "dissimilar-location", "i-say")
LOCATIONS = ("city", "country")
NUM_REWARDS = 4
REWARDS = ("winner", "rank", "points", "case")
WINNER, RANK, POINTS, CASE = range(NUM_REWARDS)

# What a card makes the players do; what a card draws besides stands in the data. A title that is not
# named here has no instructions of its own.
EFFECTS = {
    "dense-fog": "fog",
    "fleet-street": "token",
    "clue": "random cards",
    "disguise": "highest card",
    "telegram": "telegram",
    "arrest": "arrest",
    "constabulary": "gift",
    "sherlock-holmes": "arrest if guilty",
    "dr-watson": "arrest if guilty",
    "inspector-lestrade": "whole hand",
    "mycroft-holmes": "exchange",
    "irene-adler": "discard",
    "irregulars": "highest cards",
    "mrs-hudson": "shuffle",
}
NUM_EFFECTS = 14
(
    NO_EFFECT,
    FOG_EFFECT,
    TOKEN_EFFECT,
    RANDOM_CARDS,
    HIGHEST_CARD,
    TELEGRAM_EFFECT,
    ARREST_EFFECT,
    GIFT_EFFECT,
    ARREST_IF_GUILTY,
    WHOLE_HAND,
    EXCHANGE_EFFECT,
    DISCARD_EFFECT,
    HIGHEST_CARDS,
    SHUFFLE_EFFECT,
) = range(NUM_EFFECTS)
EFFECT_NAMES = ("", *dict.fromkeys(EFFECTS.values()))


class CardsError(ValueError):
    """The data of the game are not what the rules can be played with; the message says where."""


def digest(data: Any) -> str:
    """Return the first 16 hexadecimal digits of the SHA-256 of the data, by which game texts know it."""
    text = json.dumps(data, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def check_cards(data: Mapping[str, Any]) -> None:
    """Check the data of the game.

    Raises:
        CardsError: a name or a number is not what the rules can be played with.
    """
    titles = [card["title"] for card in data["titles"]]
    for words, what in ((titles, "titles"), (list(data["say_types"]), "say_types")):
        if len(set(words)) != len(words):
            raise CardsError(f"cards.json: {what} must all be different, got {words}")
    wanted = {"titles": 38, "books": 6, "villain_tokens": 5, "say_types": 3, "say_tokens": 3, "telegrams": 8}
    for what, number in wanted.items():
        if len(data[what]) != number:
            raise CardsError(f"cards.json: {what} must be {number}, got {len(data[what])}")
    for card in data["titles"]:
        _check_card(card, titles)
    copies = sum(card["copies"] for card in data["titles"])
    if copies != 125:
        raise CardsError(f"cards.json: there must be 125 cards, got {copies}")
    for name in (*EFFECTS, *data["draws"], "alibi", "mastermind", "afoot"):
        _check_known("a title with instructions", name, titles)
    _check_stacks(data)
    _check_tokens(data)


def _check_known(what: str, name: str, known: Iterable[str]) -> None:
    if name not in known:
        raise CardsError(f"cards.json: {what} must be one of {', '.join(known)}, got {name!r}")


def _check_card(card: Mapping[str, Any], titles: list[str]) -> None:
    title = card["title"]
    _check_known(f"category of {title}", card["category"], CATEGORIES)
    _check_known(f"target of {title}", card["target"], TARGETS)
    for word in card["follows"] or ():
        _check_known(f"a word in follows of {title}", word, (*titles, *KINDS))
    is_say = card["category"] == "i-say"
    if is_say != ("permission" in card):
        raise CardsError(f"cards.json: {title} must have a permission if it is an I Say card, and only then")
    if is_say:
        _check_known(f"permission of {title}", card["permission"], PERMISSIONS)
    number = card["copies"]
    if number < 1 or len(card["set_up"]) != 6 or sum(card["set_up"]) > number or min(card["set_up"]) < 0:
        raise CardsError(f"cards.json: set_up of {title} must be six numbers of in all at most {number} copies")
    if not 0 <= card["value"] <= 15:
        raise CardsError(f"cards.json: value of {title} must be from 0 to 15, got {card['value']}")


def _check_stacks(data: Mapping[str, Any]) -> None:
    if (data["min_players"], data["max_players"], data["hand_size"]) != (3, 8, 6):
        raise CardsError("cards.json: min_players, max_players and hand_size must be 3, 8 and 6")
    for i in range(6):
        cards = sum(sum(card["set_up"][: i + 1]) for card in data["titles"])
        if cards != 6 * (3 + i):
            raise CardsError(
                f"cards.json: the Deal Out Stack of {3 + i} players must be {6 * (3 + i)} cards, got {cards}"
            )
    for card in data["titles"]:
        if card["title"] == "afoot" and (card["copies"], card["set_up"][0]) != (1, 1):
            raise CardsError("cards.json: afoot must be one card, always dealt")


def _check_tokens(data: Mapping[str, Any]) -> None:
    villains = [card["title"] for card in data["titles"] if card["category"] == "villain"]
    if [token["title"] for token in data["villain_tokens"]] != villains:
        raise CardsError(f"cards.json: villain_tokens must be {villains}, in this order")
    if [token["type"] for token in data["say_tokens"]] != list(data["say_types"]):
        raise CardsError(f"cards.json: say_tokens must be of {data['say_types']}, in this order")
    if any(len(token["points"]) != 5 or min(token["points"]) < 1 for token in data["say_tokens"]):
        raise CardsError("cards.json: there must be five say_tokens of a type, of at least one point each")
    thresholds = [book["threshold"] for book in data["books"]]
    if sorted(set(thresholds)) != thresholds:
        raise CardsError(f"cards.json: thresholds of the books must rise, got {thresholds}")


def _read() -> dict[str, Any]:
    data: dict[str, Any] = json.loads(Path(__file__).with_name("cards.json").read_text(encoding="utf-8"))
    check_cards(data)
    return data


CARDS = _read()
DIGEST = digest(CARDS)
RECONSTRUCTED: dict[str, str] = CARDS["reconstructed"]

# --- names, in the order of their numbers ---

TITLES: tuple[str, ...] = tuple(card["title"] for card in CARDS["titles"])
TITLE_NAMES: tuple[str, ...] = tuple(card["name"] for card in CARDS["titles"])  # as printed
CATEGORY: tuple[str, ...] = tuple(card["category"] for card in CARDS["titles"])
COPIES: tuple[int, ...] = tuple(card["copies"] for card in CARDS["titles"])
VALUES: tuple[int, ...] = tuple(card["value"] for card in CARDS["titles"])
SAY_TYPES: tuple[str, ...] = tuple(CARDS["say_types"])
BOOKS: tuple[str, ...] = tuple(book["book"] for book in CARDS["books"])
BOOK_NAMES: tuple[str, ...] = tuple(book["name"] for book in CARDS["books"])
VILLAINS: tuple[str, ...] = tuple(token["title"] for token in CARDS["villain_tokens"])
TELEGRAMS: tuple[str, ...] = tuple(token["telegram"] for token in CARDS["telegrams"])

NUM_TITLES = len(TITLES)
NUM_CARDS = sum(COPIES)
NUM_BOOKS = len(BOOKS)
NUM_VILLAINS = len(VILLAINS)
NUM_TELEGRAMS = len(TELEGRAMS)
NUM_SAY_TYPES = len(SAY_TYPES)
SAY_TOKENS = 5  # of each type
MIN_PLAYERS: int = CARDS["min_players"]
MAX_PLAYERS: int = CARDS["max_players"]
HAND_SIZE: int = CARDS["hand_size"]
MAX_IMPROMPTUS = 50  # Impromptu Arrests in a turn
NOBODY = -1  # also: nothing, no title
ALIBI = TITLES.index("alibi")
MASTERMIND = TITLES.index("mastermind")
# The last title; no action but the first Current card's play, which is none, is of it.
AFOOT = TITLES.index("afoot")
# The titles that can be chosen from a hand, and that sheets and observations speak of: all but afoot.
NUM_HAND_TITLES = NUM_TITLES - 1
# The columns of a sheet: the titles and room behind them, for the processor computes with 32 bytes at once.
NUM_COLUMNS = 64


def titles_of(*categories: str) -> tuple[int, ...]:
    """Return the numbers of the titles of some categories.

    >>> [TITLES[title] for title in titles_of("interrupt")]
    ['alibi', 'mastermind']
    """
    return tuple(title for title in range(NUM_TITLES) if CATEGORY[title] in categories)


def title_mask(titles: Iterable[int]) -> int:
    """Return the int64 mask of some titles: bit ``t`` is set for title ``t``."""
    return sum(1 << title for title in set(titles))


VILLAIN_TITLES = titles_of("villain")
SAY_TITLES = titles_of("i-say")
INTERRUPTS = titles_of("interrupt")
LOCATION_TITLES = titles_of(*LOCATIONS)


def suitable_titles(current: int, city: bool) -> tuple[int, ...]:
    """Return the titles that are Suitable to a Current card; I Say cards are not counted as such.

    Args:
        current: title of the Current card.
        city: whether the Location marker shows city.

    >>> [TITLES[title] for title in suitable_titles(TITLES.index("boat"), city=True)][:3]
    ['dense-fog', 'countryside', 'village']
    """
    listed: set[int] = set()
    for word in CARDS["titles"][current]["follows"] or ():
        if word == "any-travel":
            listed.update(titles_of("travel"))
        elif word in ("similar-location", "dissimilar-location"):
            listed.update(titles_of(LOCATIONS[city != (word == "similar-location")]))
        elif word != "i-say":
            listed.add(TITLES.index(word))
    return tuple(sorted(listed - set(VILLAIN_TITLES) - set(INTERRUPTS) - set(SAY_TITLES) - {AFOOT}))


def permissible_titles(current: int) -> tuple[int, ...]:
    """Return the I Say cards whose restriction a Current card meets.

    >>> [TITLES[title] for title in permissible_titles(TITLES.index("train"))]
    ['irene-adler']
    """
    category = CATEGORY[current]
    met = {"not-moving": category != "travel", "moving": category == "travel", "city": category == "city"}
    return tuple(title for title in SAY_TITLES if met[CARDS["titles"][title]["permission"]])


def _target(title: int) -> int:
    return TARGETS.index(CARDS["titles"][title]["target"])


# The titles that are played without naming a target, and those that are played on somebody, in the
# order of their actions.
_NEVER_PLAYED = (*VILLAIN_TITLES, AFOOT)
PLAIN_TITLES = tuple(t for t in range(NUM_TITLES) if t not in _NEVER_PLAYED and _target(t) != ONE_TARGET)
AIMED_TITLES = tuple(t for t in range(NUM_TITLES) if _target(t) in (ONE_TARGET, OPTIONAL_TARGET))
NUM_PLAIN = len(PLAIN_TITLES)
NUM_AIMED = len(AIMED_TITLES)


@documented
@dataclass(frozen=True)
class Options:
    """Which game is played; every field is validated.

    Args:
        {options}

    Raises:
        OptionError: a value is not legal; the message names it and the legal ones.

    >>> Options(num_players=3, cases=1).reward
    'winner'
    """

    num_players: int = option(4, "3 to 8", "number of players")
    cases: int = option(
        0,
        "0 or more",
        "number of cases after which the game ends at the latest; 0: it ends with His Last Bow only",
        minor=True,
    )
    fast_play: bool = option(
        False, "False, True", "any number of cards may be played in a turn (variant), instead of a second one"
    )
    new_case_location: str = option(
        "kept", "kept, city", "the Location marker at the beginning of a new case: as it lies, or city"
    )
    after_alibi: str = option(
        "turn_order", "turn_order, left_of_alibi", "whose turn follows an Alibi: the next in order, or left of its user"
    )
    must_arrest: bool = option(
        False, "False, True", "a Guilty hand seen by Sherlock Holmes or Dr. Watson is arrested at once"
    )
    guilty_hand: str = option(
        "counts", "counts, discarded", "whether the cards of a Guilty hand count for the Grand Total, Villains apart"
    )
    reward: str = option(
        "winner",
        "winner, rank, points, case",
        "what is paid for: the victory, the place, the points, or each closed case",
        minor=True,
    )
    max_turns: int = option(1500, "1 or more", "number of turns after which the game is truncated", minor=True)

    def __post_init__(self) -> None:
        self._check_number("num_players", MIN_PLAYERS, MAX_PLAYERS)
        self._check_number("cases", 0, 2**31 - 1)
        for name in ("fast_play", "must_arrest"):
            self._check_choice(name, (False, True))
        self._check_choice("new_case_location", ("kept", "city"))
        self._check_choice("after_alibi", ("turn_order", "left_of_alibi"))
        self._check_choice("guilty_hand", ("counts", "discarded"))
        self._check_choice("reward", REWARDS)
        self._check_number("max_turns", 1, 2**31 - 1)

    def _check_number(self, name: str, least: int, most: int) -> None:
        error = partial(OptionError, option=name)
        object.__setattr__(self, name, check_number(name, getattr(self, name), least, most, error))

    def _check_choice(self, name: str, choices: tuple[Any, ...]) -> None:
        error = partial(OptionError, option=name)
        object.__setattr__(self, name, check_choice(name, getattr(self, name), choices, error))


class OptionValues(TypedDict, total=False):
    """The fields of `Options` as keyword arguments, for type checkers."""

    num_players: int
    cases: int
    fast_play: bool
    new_case_location: str
    after_alibi: str
    must_arrest: bool
    guilty_hand: str
    reward: str
    max_turns: int


# Everything a kernel needs to know of the game in one record: the options, where each block of
# actions starts, the tables of cards and tokens. It is an argument of every kernel, because numba
# freezes globals into its cache. Masks are of titles: bit t stands for title t.
# Numbers are i8 whatever their size: kernels that take some of them are then compiled once, and not for i4 and i8.
RULES = np.dtype(
    [
        ("num_players", "i8"),
        ("cases", "i8"),
        ("fast_play", "i8"),
        ("city_again", "i8"),  # 1: the marker shows city in a new case
        ("left_of_alibi", "i8"),  # 1: the turn after an alibi is that of its user's left neighbour
        ("must_arrest", "i8"),
        ("guilty_discarded", "i8"),  # 1: guilty_hand="discarded"
        ("reward", "i8"),  # WINNER, RANK, POINTS or CASE
        ("max_turns", "i8"),
        # The numbering of actions: blocks in this order, the first at 0.
        ("aimed_at", "i8"),  # (k - 1) * NUM_AIMED + index of the title
        ("choose_at", "i8"),  # + title
        ("arrest_at", "i8"),  # + k - 1
        ("from_at", "i8"),  # + k
        ("token_at", "i8"),  # + k * NUM_SAY_TYPES + type; k = 0 is the pool
        ("draw_at", "i8"),
        ("escape_at", "i8"),
        ("pass_at", "i8"),
        ("num_actions", "i8"),
        ("plain_index", "i8", NUM_TITLES),  # [T] number of the action that plays a title without target, -1 none
        ("plain_title", "i8", NUM_PLAIN),  # the title of each of these actions
        ("aimed_index", "i8", NUM_TITLES),  # [T] place among the titles that are played on somebody, -1 none
        ("aimed_title", "i8", NUM_AIMED),  # the title of each of these
        # The cards.
        ("copies", "i1", NUM_TITLES),  # [T] in the game
        ("sheet_copies", "i1", NUM_COLUMNS),  # the same, a column of a sheet each; then 0
        ("stack", "i1", NUM_TITLES),  # [T] in the Deal Out Stack of this number of players
        ("stack_size", "i8"),
        ("stack_cards", "i1", NUM_CARDS),  # the titles of the Deal Out Stack in order, with repeats
        ("rest_size", "i8"),
        ("rest_cards", "i1", NUM_CARDS),  # the titles of all others, the draw pile, in order, with repeats; then -1
        ("value", "i8", NUM_TITLES),  # [T] case value
        ("draws", "i8", NUM_TITLES),  # [T] cards that the instructions make somebody draw
        ("effect", "i8", NUM_TITLES),  # [T] NO_EFFECT, FOG_EFFECT, ...: the other instructions
        ("target", "i8", NUM_TITLES),  # [T] NO_TARGET, ONE_TARGET, OPTIONAL_TARGET or ALL_TARGETS
        ("counters", "i8", NUM_TITLES),  # [T] mask of the Interrupts that may answer it
        ("impromptu_counters", "i8"),  # mask of the Interrupts that may answer an Impromptu Arrest
        ("suitable", "i8", (NUM_TITLES, 2)),  # [T, city] mask of the titles that are Suitable to a Current card
        ("permissible", "i8", NUM_TITLES),  # [T] mask of the I Say cards that a Current card permits
        ("lists_say", "i8", NUM_TITLES),  # [T] 1 where the list of the Current card names i-say
        ("is_city", "i8", NUM_TITLES),  # [T] 1 city card, 0 country card, -1 not a location
        ("travel", "i8"),  # mask of the travel cards
        ("says", "i8"),  # mask of the I Say cards
        ("interrupts", "i8"),  # mask
        ("villains", "i8"),  # mask of the Villain cards
        ("aimed", "i8"),  # mask of the titles that are played on somebody
        ("plain", "i8"),  # mask of the titles that are played without naming a target
        ("deduction_hand", "i8"),  # a hand of that size at the beginning of a turn allows a second card
        ("clue_cards", "i8"),  # random cards that a hand shows
        # The tokens.
        ("villain_title", "i8", NUM_VILLAINS),  # the title of each Villain token
        ("villain_points", "i8", NUM_VILLAINS),
        ("book_threshold", "i8", NUM_BOOKS),  # rising
        ("book_points", "i8", NUM_BOOKS),
        ("book_ends", "i8", NUM_BOOKS),  # 1 where taking it ends the game
        ("say_points", "i1", (NUM_SAY_TYPES, SAY_TOKENS)),
        ("telegram_points", "i8", (NUM_TELEGRAMS, 3)),  # for the owner, his left and his right neighbour
    ],
    align=True,
)


def make_rules(options: Options) -> np.ndarray:
    """Return the rules of a game as the read-only record that all kernels take (RULES [1]).

    Raises:
        OptionError: these are not `Options`.
    """
    if not isinstance(options, Options):
        raise no_options("holmes", options)
    return _rules(options)


@lru_cache(maxsize=64)
def _rules(options: Options) -> np.ndarray:
    rules = np.zeros(1, RULES)
    record = rules[0]
    for name in ("num_players", "cases", "fast_play", "must_arrest", "max_turns"):
        record[name] = getattr(options, name)
    record["city_again"] = options.new_case_location == "city"
    record["left_of_alibi"] = options.after_alibi == "left_of_alibi"
    record["guilty_discarded"] = options.guilty_hand == "discarded"
    record["reward"] = REWARDS.index(options.reward)
    _number_actions(record, options.num_players)
    _write_cards(record, options.num_players)
    _write_lists(record)
    _write_tokens(record)
    rules.flags.writeable = False
    return rules


def _number_actions(record: Any, num_players: int) -> None:
    opponents = num_players - 1
    sizes = (
        ("aimed_at", NUM_PLAIN),
        ("choose_at", opponents * NUM_AIMED),
        ("arrest_at", NUM_HAND_TITLES),
        ("from_at", opponents),
        ("token_at", num_players),
        ("draw_at", num_players * NUM_SAY_TYPES),
        ("escape_at", 1),
        ("pass_at", 1),
        ("num_actions", 1),
    )
    at = 0
    for name, size in sizes:
        at += size
        record[name] = at
    record["plain_index"] = -1
    record["aimed_index"] = -1
    record["plain_title"] = PLAIN_TITLES
    record["aimed_title"] = AIMED_TITLES
    record["plain_index"][list(PLAIN_TITLES)] = range(NUM_PLAIN)
    record["aimed_index"][list(AIMED_TITLES)] = range(NUM_AIMED)
    record["plain"] = title_mask(PLAIN_TITLES)
    record["aimed"] = title_mask(AIMED_TITLES)


def _write_cards(record: Any, num_players: int) -> None:
    record["copies"] = COPIES
    record["sheet_copies"][:NUM_TITLES] = COPIES
    record["value"] = VALUES
    record["deduction_hand"] = CARDS["deduction_hand"]
    record["clue_cards"] = CARDS["clue_cards"]
    for title, card in enumerate(CARDS["titles"]):
        record["stack"][title] = sum(card["set_up"][: num_players - MIN_PLAYERS + 1])
        record["draws"][title] = CARDS["draws"].get(card["title"], 0)
        record["effect"][title] = EFFECT_NAMES.index(EFFECTS.get(card["title"], ""))
        record["target"][title] = _target(title)
        record["counters"][title] = _interrupt_mask(card)
    for name, copies in (("stack", record["stack"]), ("rest", record["copies"] - record["stack"])):
        cards = [title for title in range(NUM_TITLES) for _ in range(copies[title])]
        record[f"{name}_size"] = len(cards)
        record[f"{name}_cards"] = [*cards, *[NOBODY] * (NUM_CARDS - len(cards))]
    record["impromptu_counters"] = _interrupt_mask(CARDS["impromptu_arrest"])


def _interrupt_mask(flags: Mapping[str, Any]) -> int:
    return title_mask(title for title in INTERRUPTS if flags[TITLES[title]])


def _write_lists(record: Any) -> None:
    for title, card in enumerate(CARDS["titles"]):
        for city in (0, 1):
            record["suitable"][title, city] = title_mask(suitable_titles(title, bool(city)))
        record["permissible"][title] = title_mask(permissible_titles(title))
        record["lists_say"][title] = "i-say" in (card["follows"] or ())
        record["is_city"][title] = {"city": 1, "country": 0}.get(card["category"], -1)
    record["travel"] = title_mask(titles_of("travel"))
    record["says"] = title_mask(SAY_TITLES)
    record["interrupts"] = title_mask(INTERRUPTS)
    record["villains"] = title_mask(VILLAIN_TITLES)


def _write_tokens(record: Any) -> None:
    record["villain_title"] = [TITLES.index(name) for name in VILLAINS]
    record["villain_points"] = [token["points"] for token in CARDS["villain_tokens"]]
    record["book_threshold"] = [book["threshold"] for book in CARDS["books"]]
    record["book_points"] = [book["points"] for book in CARDS["books"]]
    record["book_ends"] = [book.get("ends_game", False) for book in CARDS["books"]]
    record["say_points"] = [sorted(token["points"]) for token in CARDS["say_tokens"]]
    record["telegram_points"] = [[token[whose] for whose in ("owner", "left", "right")] for token in CARDS["telegrams"]]


def num_actions(options: Options) -> int:
    """Return the number of actions of a game: 105, 125, 145, 165, 185, 205 for 3 to 8 players."""
    return int(make_rules(options)["num_actions"][0])


# See `sleuth_env.game.Game`.
OFFERED: tuple[str, ...] = ()
DECLINE = ""
SCORED = {"title": "choose"}


def action_blocks(options: Options) -> dict[str, slice]:
    """Return the named blocks of the actions, in their order.

    >>> action_blocks(Options(num_players=3))["choose"]
    slice(51, 88, None)
    """
    rules = make_rules(options)[0]
    names = ("play", "play_on", "choose", "arrest", "from", "token", "draw", "escape", "pass")
    fields = (
        "aimed_at",
        "choose_at",
        "arrest_at",
        "from_at",
        "token_at",
        "draw_at",
        "escape_at",
        "pass_at",
        "num_actions",
    )
    edges = [0, *(int(rules[field]) for field in fields)]
    return {name: slice(start, end) for name, (start, end) in zip(names, pairwise(edges), strict=True)}
