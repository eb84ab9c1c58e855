"""From a view to network input: one layout table says what lies where, and writes it.

Own seat first, then the opponents to the left, so that one network serves all seats. Every number is
a float32 in [0, 1]; copies are divided by the title's copies in the game. The observation keeps all
that the seat knows but older events. Source: docs/holmes.md, "Observations". Axis letters: ``P``
players, ``H`` = P holders (the opponents, then the draw pile), ``T`` titles, ``N`` the size of the
observation.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache, partial

import numpy as np

from ..checks import check_choice
from ..kernels import inner, kernel
from ..layout import BITS, EQUALS, FRACTION, NUMBER, ONE_HOT, ROWS_AT_ONCE, Block, Layout, block_maker, write_rows
from ..layout import Observer as LayoutObserver
from .cards import (
    NUM_BOOKS,
    NUM_CARDS,
    NUM_HAND_TITLES,
    NUM_SAY_TYPES,
    NUM_TELEGRAMS,
    NUM_TITLES,
    NUM_VILLAINS,
    SAY_TOKENS,
    Options,
    make_rules,
)
from .checked import checked_rules, checked_views
from .state import EVENT_FIELDS, KIND, NUM_EVENT_KINDS, NUM_PHASES, PLAYER, TARGET, TITLE
from .view import VIEW

RECORDS = ("sheet", "raw")
# What is more counts as this much.
LARGEST_HAND = 20
LARGEST_CASE = 20
# The blocks that are written here: shares, and the events, which lie in one field together.
NUM_BESIDES = 14
(
    HAND_COPIES,
    HAND_SIZES,
    DISCARDS,
    SHOWN,
    SHOWN_AGE,
    CERTAIN_YES,
    LEAST,
    MOST,
    SEEN_BY,
    CASE_NUMBER,
    EVENT_KIND,
    EVENT_PLAYER,
    EVENT_TARGET,
    EVENT_TITLE,
) = range(NUM_BESIDES)
BESIDES = (
    "hand_copies",
    "hand_sizes",
    "discards",
    "shown",
    "shown_age",
    "certain_yes",
    "least",
    "most",
    "seen_by",
    "case_number",
    "event_kind",
    "event_player",
    "event_target",
    "event_title",
)


def _record_blocks(block: Callable[..., Block], record: str) -> list[Block]:
    """Return the information record: what the sheet proves, or only what the seat was shown."""
    if record == "raw":
        return [
            block("shown", "seat title", FRACTION),
            block("shown_whole", "seat number", EQUALS, base=1),
            block("shown_age", "seat number", FRACTION),
        ]
    return [
        block("certain_yes", "holder title", FRACTION, field="least"),
        block("certain_no", "holder title", FRACTION, field="most"),
        block("least", "holder title", FRACTION),
        block("most", "holder title", FRACTION),
    ]


def _blocks(players: int, max_turns: int, record: str) -> list[Block]:
    """Return the layout table: every block in the order in which it lies in the observation."""
    sizes = {
        "title": NUM_HAND_TITLES,
        "card": NUM_TITLES,
        "seat": players,
        "holder": players,
        "say_type": NUM_SAY_TYPES,
        "book": NUM_BOOKS,
        "villain": NUM_VILLAINS,
        "phase": NUM_PHASES,
        "event": 2 * players,
        "kind": NUM_EVENT_KINDS,
        "number": 1,
    }
    block = block_maker(sizes)
    event = partial(block, encoding=ONE_HOT, field="events", columns=EVENT_FIELDS)
    return [
        block("hand", "title", BITS, field="held"),
        block("hand_copies", "title", FRACTION, field="hand"),
        block("current", "card", ONE_HOT),
        block("city", "number", EQUALS, base=1),
        block("hand_sizes", "seat number", FRACTION, scale=LARGEST_HAND),
        block("pile_size", "number", NUMBER, scale=NUM_CARDS),
        block("discards", "title", FRACTION),
        *_record_blocks(block, record),
        block("seen_by", "seat title", FRACTION),
        block("say_tokens", "seat say_type"),
        block("books", "seat book"),
        block("villain_tokens", "seat villain"),
        block("telegrams", "seat number", NUMBER, scale=NUM_TELEGRAMS),
        block("say_pool", "say_type number", NUMBER, scale=SAY_TOKENS),
        block("telegram_pool", "number", NUMBER, scale=NUM_TELEGRAMS),
        block("turn", "seat", ONE_HOT),
        block("phase", "phase", ONE_HOT),
        block("to_act", "number", EQUALS, base=1),
        block("card", "card", ONE_HOT),
        block("player", "seat", ONE_HOT),
        block("target", "seat", ONE_HOT),
        block("tried", "seat"),
        block("drawn", "title", ONE_HOT),
        event("event_kind", "event kind", column=KIND),
        event("event_player", "event seat", column=PLAYER),
        event("event_target", "event seat", column=TARGET),
        event("event_title", "event card", column=TITLE),
        block("case_number", "number", FRACTION, scale=LARGEST_CASE),
        block("turn_number", "number", NUMBER, scale=max_turns),
    ]


@lru_cache(maxsize=64)
def _layout(players: int, max_turns: int, record: str) -> Layout:
    return Layout(_blocks(players, max_turns, record), VIEW)


def observation_layout(options: Options, record: str = "sheet") -> Layout:
    """Return the layout of the observations of a game.

    Args:
        options: the game's options.
        record: "sheet" (what the deduction sheet proves of each title and holder) or "raw" (no
            deduction: only what was shown).

    Raises:
        ValueError: an unknown record.

    >>> layout = observation_layout(Options(num_players=4))
    >>> layout.size, layout["hand"], [block.axes for block in layout][7]
    (1516, slice(0, 37, None), ('holder', 'title'))
    """
    # Before the cache, which takes nothing that cannot be hashed.
    record = check_choice("record", record, RECORDS)
    make_rules(options)  # it refuses what are no options
    return _layout(options.num_players, options.max_turns, record)


def observation_size(options: Options, record: str = "sheet") -> int:
    """Return the number of numbers of an observation, N.

    >>> observation_size(Options(num_players=4), "raw")
    1080
    """
    return observation_layout(options, record).size


@inner
def _share(number, whole, one, half):
    """Return a share of ``one``, at most all of it; rounded, what is more than 0 and less than 1 stays so."""
    if number <= 0:
        return 0.0 * one
    if number >= whole:
        return one
    share = number / whole * one
    return share if half == 0.0 else min(max(share + half, 1.0), one - half)


@inner
def _write_copies(shares, parts, row, at, copies, half):
    """Write copies of each title.

    Args:
        shares: f4 or i1 [T, C], what each number of copies of a title is written as.
        parts: f8 [T], what one copy is of those in the game.
        row: f4 or i1 [N], one observation.
        at: where.
        copies: i1 [T].
        half: see `_share`.
    """
    # A place that is a sum might be negative, for the compiler, which would keep it from writing many at once.
    block = row[at : at + NUM_HAND_TITLES]
    if half == 0.0:
        # Computed without the table, and of numbers of 4 bytes, many at once.
        for t in range(NUM_HAND_TITLES):
            block[t] = min(np.int32(max(copies[t], np.int8(0))) * parts[t], 1.0)
    else:
        for t in range(NUM_HAND_TITLES):
            block[t] = shares[t, copies[t]]


@inner
def _write_certain(row, at, least, most, size, mark):
    """Write which titles a holder surely has and, ``size`` further on, surely has not."""
    has = row[at : at + NUM_HAND_TITLES]
    has_not = row[at + size : at + size + NUM_HAND_TITLES]
    nothing = mark - mark
    # Loops of which the compiler knows the length, and which are short, it writes out one by one.
    for t in range(has.size):
        has[t] = mark if least[t] > 0 else nothing
    for t in range(has_not.size):
        has_not[t] = mark if most[t] == 0 else nothing


@inner
def _write_sheet(shares, parts, row, at, num_players, v, mark, half):
    """Write what the sheet says; the four blocks lie one behind the other."""
    size = num_players * NUM_HAND_TITLES
    for h in range(num_players):
        _write_certain(row, at, v["least"][h], v["most"][h], size, mark)
        _write_copies(shares, parts, row, at + 2 * size, v["least"][h], half)
        _write_copies(shares, parts, row, at + 3 * size, v["most"][h], half)
        at += NUM_HAND_TITLES


@inner
def _write_one(row, at, place, width, mark):
    if 0 <= place < width:
        row[at + place] = mark


@inner
def _write_events(places, row, num_players, v, mark):
    for i in range(2 * num_players):
        event = v["events"][i]
        _write_one(row, places[EVENT_KIND] + i * NUM_EVENT_KINDS, event[KIND], NUM_EVENT_KINDS, mark)
        _write_one(row, places[EVENT_PLAYER] + i * num_players, event[PLAYER], num_players, mark)
        _write_one(row, places[EVENT_TARGET] + i * num_players, event[TARGET], num_players, mark)
        _write_one(row, places[EVENT_TITLE] + i * NUM_TITLES, event[TITLE], NUM_TITLES, mark)


@inner
def _write_besides(shares, parts, places, num_players, v, row, one, mark, half):
    """Write the blocks of `BESIDES`.

    Args:
        shares: see `_write_copies`.
        parts: see `_write_copies`.
        places: i8 [F], where each of `BESIDES` lies, -1 where it is not part of the record.
        num_players: number of players.
        v: one VIEW record.
        row: f4 or i1 [N].
        one: what 1 is written as.
        mark: the same, of the type of the row.
        half: see `_share`.
    """
    _write_copies(shares, parts, row, places[HAND_COPIES], v["hand"], half)
    _write_copies(shares, parts, row, places[DISCARDS], v["discards"], half)
    for k in range(num_players):
        row[places[HAND_SIZES] + k] = _share(v["hand_sizes"][k], LARGEST_HAND, one, half)
    for k in range(1, num_players):
        _write_copies(shares, parts, row, places[SEEN_BY] + k * NUM_HAND_TITLES, v["seen_by"][k], half)
    row[places[CASE_NUMBER]] = _share(v["case_number"], LARGEST_CASE, one, half)
    _write_events(places, row, num_players, v, mark)
    if places[SHOWN] < 0:
        _write_sheet(shares, parts, row, places[CERTAIN_YES], num_players, v, mark, half)
        return
    for k in range(1, num_players):
        _write_copies(shares, parts, row, places[SHOWN] + k * NUM_HAND_TITLES, v["shown"][k], half)
        if v["shown_turn"][k] > 0:
            age = max(1, 1 + v["turn_number"] - v["shown_turn"][k])
            row[places[SHOWN_AGE] + k] = _share(1, age, one, half)


@kernel
def _write(codes, places, shares, parts, num_players, views, words, one, mark, half, out):
    """Write observations.

    What is 1 is written as ``one``, which is ``mark`` in the type of ``out``; ``half`` is added to
    shares before rounding.
    """
    for first in range(0, out.shape[0], ROWS_AT_ONCE):
        last = min(first + ROWS_AT_ONCE, out.shape[0])
        write_rows(codes, words[first:last], words[first:last], one, half, out[first:last])
        for b in range(first, last):
            _write_besides(shares, parts, places, num_players, views[b], out[b], one, mark, half)


@lru_cache(maxsize=64)
def _shares(content: bytes, one: float, half: float, dtype: str) -> np.ndarray:
    """Return what each number of copies of a title (i1 [T], as bytes) is written as, [T, 256].

    Numbers are bytes that may be negative, and then written as nothing.
    """
    copies = np.frombuffer(content, np.int8).astype(np.float64)[:, None]
    numbers = np.arange(256).astype(np.int8)[None, :]
    fractions = np.clip(numbers / copies, 0.0, 1.0)
    written = fractions * one
    if half:
        between = (fractions > 0) & (fractions < 1)
        written = np.where(between, np.clip(written + half, 1.0, one - half), written)
    return np.ascontiguousarray(written.astype(dtype))


class Observer(LayoutObserver):
    """The writer of the observations of I Say, Holmes!, see `sleuth_env.layout.Observer`.

    Args:
        rules: RULES [1].
        views: VIEW [B], contiguous.
        record: see `observation_layout`.

    Raises:
        ValueError: an unknown record.
        ArrayError: these are not rules, or not views.
    """

    def __init__(self, rules: np.ndarray, views: np.ndarray, record: str = "sheet") -> None:
        rules = checked_rules(rules)
        record = check_choice("record", record, RECORDS)
        super().__init__(_layout(int(rules["num_players"][0]), int(rules["max_turns"][0]), record), views)
        self._rules = rules
        written = {block.name for block in self.layout}
        self._places = np.array([self.layout[name].start if name in written else -1 for name in BESIDES])
        self._codes = self.layout.code[~np.isin(self.layout.code["at"], self._places)]
        self._parts = 1.0 / rules["copies"][0]

    def check(self) -> None:
        """Check the views as they lie there now, see `checked.checked_views`."""
        checked_views(self._rules, self._views)

    def _fill(self, number: int, one: float, half: float, out: np.ndarray) -> None:
        shares = _shares(self._rules["copies"].tobytes(), one, half, out.dtype.str)
        players = int(self._rules["num_players"][0])
        _write(
            self._codes,
            self._places,
            shares,
            self._parts,
            players,
            self._views,
            self._words[:number],
            one,
            out.dtype.type(one),
            half,
            out,
        )


def write_observations(rules: np.ndarray, views: np.ndarray, out: np.ndarray, record: str = "sheet") -> None:
    """Write the observations of views once, see `Observer`.

    Args:
        rules: RULES [1].
        views: VIEW [B].
        out: float32 or int8 [B, N], written.
        record: see `observation_layout`.

    Raises:
        ArrayError: these are not rules or not views, the views are of another kind of game, or
            ``out`` has another shape or type, or is read-only.
    """
    rules = checked_rules(rules)
    Observer(rules, checked_views(rules, views), record).write(out)
