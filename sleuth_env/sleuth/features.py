"""From a view to network input: one layout table says what lies where, and writes it.

Own seat first, opponents in turn order, so that one network serves all seats. Every number is a
float32 in [0, 1]. The observation keeps all that the seat knows but the order of older events. Axis
letters: ``P`` players, ``O`` = P - 1 opponents, ``H`` = P holders (the opponents, then the missing
gems), ``N`` the size of the observation.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache, partial
from math import comb, log2
from typing import Self

import numpy as np

from ..checks import check_choice
from ..deduction.evidence import EVIDENCE
from ..deduction.sheet import KEPT, LEVEL, SHEET, WORK, fill_in, fill_in_again
from ..kernels import kernel
from ..layout import (
    CLEAR_BITS,
    EQUALS,
    FRACTION,
    KNOWN,
    NUMBER,
    ONE_HOT,
    ROWS_AT_ONCE,
    Block,
    Layout,
    block_maker,
    words_of,
    write_rows,
)
from ..layout import Observer as LayoutObserver
from .belief import Odds, odds
from .cards import NUM_GEMS, NUM_QUESTIONS, NUM_SEARCH_CARDS, QUESTIONS, Options, make_rules, question_gems
from .checked import checked_rules, checked_views
from .clues import read_clues, read_sheet
from .state import ASKER, CARD, COUNT, EVENT_FIELDS, IN, KIND, NUM_EVENT_KINDS, NUM_PHASES, OUT, QUESTION, RIGHT, TARGET
from .view import VIEW

RECORDS = ("sheet", "raw", "exact")
# Bytes of sheets that an observer keeps.
MOST_KEPT = 2**23
LARGEST_COUNT = max(question_gems(question).bit_count() for question in range(NUM_QUESTIONS))
LARGEST_QUESTION = max(len(question) for question in QUESTIONS)


def _record_blocks(block: Callable[..., Block], missing: int, record: str) -> list[Block]:
    """Return the information record.

    It is what the sheet proves, only what the seat was shown, or what a count of all deals says.
    """
    if record == "raw":
        return [block("seen", "seat gem"), block("missing_gems", "gem")]
    if record == "exact":
        # No answer tells more than which of all sets of gems is missing.
        most = log2(comb(NUM_GEMS, missing))
        return [
            block("chance", "holder gem", FRACTION),
            block("information", "opponent question", FRACTION, scale=most),
        ]
    return [
        block("certain_yes", "holder gem", field="has"),
        block("certain_no", "holder gem", CLEAR_BITS, field="can"),
    ]


def _blocks(players: int, missing: int, max_turns: int, record: str) -> list[Block]:
    """Return the layout table: every block in the order in which it lies in the observation."""
    sizes = {
        "gem": NUM_GEMS,
        "question": NUM_QUESTIONS,
        "search_card": NUM_SEARCH_CARDS,
        "seat": players,
        "asker": players,
        "holder": players,
        "opponent": players - 1,
        "event": players,
        "kind": NUM_EVENT_KINDS,
        "phase": NUM_PHASES,
        "elements": LARGEST_QUESTION,
        "number": 1,
    }
    block = block_maker(sizes)
    event = partial(block, field="events", columns=EVENT_FIELDS)
    return [
        block("hand", "gem"),
        block("table", "gem"),
        *_record_blocks(block, missing, record),
        block("answer_known", "seat question number", KNOWN, field="answers", only="told"),
        block("answer_count", "seat question number", NUMBER, field="answers", scale=LARGEST_COUNT, only="told"),
        block("askers", "seat question asker", only="told"),
        block("seen_by", "seat gem"),
        block("search", "seat search_card"),
        block("spent", "seat search_card"),
        block("discards", "search_card"),
        block("pile_size", "number", NUMBER, scale=NUM_SEARCH_CARDS),
        block("exchanges", "seat number", NUMBER, scale=max_turns),
        block("in_contention", "seat number", EQUALS, field="standing", base=IN),
        block("out", "seat number", EQUALS, field="standing", base=OUT),
        block("right", "seat number", EQUALS, field="standing", base=RIGHT),
        block("place", "seat number", NUMBER, scale=players),
        block("turn", "seat", ONE_HOT),
        block("phase", "phase", ONE_HOT),
        block("to_act", "number", EQUALS, base=1),
        block("first_target", "seat", ONE_HOT),
        block("first_elements", "elements", ONE_HOT, base=1),
        block("accusing", "gem"),
        block("accused", "gem"),
        event("event_kind", "event kind", ONE_HOT, base=1, column=KIND),
        event("event_asker", "event seat", ONE_HOT, column=ASKER),
        event("event_target", "event seat", ONE_HOT, column=TARGET),
        event("event_question", "event question", ONE_HOT, column=QUESTION),
        event("event_card", "event search_card", ONE_HOT, column=CARD),
        event("event_count", "event number", NUMBER, scale=LARGEST_COUNT, column=COUNT),
        block("turn_number", "number", NUMBER, scale=max_turns),
    ]


@lru_cache(maxsize=64)
def _layout(players: int, missing: int, max_turns: int, record: str) -> Layout:
    return Layout(_blocks(players, missing, max_turns, record), VIEW, SHEET)


def observation_layout(options: Options, record: str = "sheet") -> Layout:
    """Return the layout of the observations of a game.

    Args:
        options: the game's options.
        record: "sheet" (what the deduction sheet proves of each gem), "raw" (no deduction: only
            what was shown) or "exact" (the chances of each gem and what each question is expected
            to tell, see `odds`).

    Raises:
        ValueError: an unknown record.

    >>> layout = observation_layout(Options(num_players=4))
    >>> layout.size, layout["hand"], [block.axes for block in layout][2]
    (2580, slice(0, 36, None), ('holder', 'gem'))
    """
    # Before the cache, which takes nothing that cannot be hashed.
    record = check_choice("record", record, RECORDS)
    make_rules(options)  # it refuses what are no options
    return _layout(options.num_players, options.missing, options.max_turns, record)


def observation_size(options: Options, record: str = "sheet") -> int:
    """Return the number of numbers of an observation, N.

    >>> observation_size(Options(num_players=4))
    2580
    """
    return observation_layout(options, record).size


@kernel
def _write(rules, codes, views, view_words, evidence, work, kept, sheets, sheet_words, one, half, out):
    """Write observations and the sheets they need; return the first broken row, -1 if none is.

    Broken is a row whose view no deal satisfies. Evidence (EVIDENCE [1]), work (WORK [1]) and sheets, of
    `ROWS_AT_ONCE` rows or none, are working space; kept (KEPT [B, P], or none) is what was on each
    seat's sheet before. What is 1 is written as ``one``, and ``half`` is added to fractions, so
    that whole numbers are rounded to the nearest.
    """
    for first in range(0, out.shape[0], ROWS_AT_ONCE):
        last = min(first + ROWS_AT_ONCE, out.shape[0])
        if sheets.size:
            for b in range(first, last):
                read_clues(rules[0], views[b], evidence[0])
                if kept.size:
                    # What may lie in a view must not lead beyond an array.
                    seat = views[b]["seat"] % kept.shape[1]
                    fill_in_again(evidence[0], kept[b, seat], work[0], sheets[b - first])
                else:
                    fill_in(evidence[0], work[0], sheets[b - first], LEVEL)
                if sheets[b - first]["broken"]:
                    return b
        write_rows(codes, view_words[first:last], sheet_words, one, half, out[first:last])
    return -1


class Observer(LayoutObserver):
    """The writer of Sleuth's observations, see `sleuth_env.layout.Observer`.

    Its writes raise `Contradiction` for a view that no deal satisfies (not with "raw"); it cannot
    come from a game.

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
        sizes = (int(rules[name][0]) for name in ("num_players", "missing", "max_turns"))
        super().__init__(_layout(*sizes, record), views)
        self._rules = rules
        self._exact = record == "exact"
        rows = ROWS_AT_ONCE if record == "sheet" else 0
        self._evidence = np.empty(1, EVIDENCE)
        self._work = np.empty(1, WORK)
        self._kept = np.zeros((0, 0), KEPT)
        self._sheets = np.empty(rows, SHEET)
        self._sheet_words = words_of(self._sheets)

    def remember(self) -> Self:
        """Keep the sheets of all seats from write to write, see `sleuth_env.layout.Observer.remember`."""
        shape = (self._views.size, int(self._rules["num_players"][0]))
        # What does not fit into the caches of a processor takes longer to look up than to work out again.
        if self._sheets.size and np.prod(shape) * KEPT.itemsize <= MOST_KEPT:
            self._kept = np.zeros(shape, KEPT)
        return self

    def check(self) -> None:
        """Check the views as they lie there now, see `checked.checked_views`."""
        checked_views(self._rules, self._views)

    def _fill(self, number: int, one: float, half: float, out: np.ndarray) -> None:
        broken = _write(
            self._rules,
            self.layout.code,
            self._views,
            self._words,
            self._evidence,
            self._work,
            self._kept,
            self._sheets,
            self._sheet_words,
            one,
            half,
            out,
        )
        if broken >= 0:
            read_sheet(self._rules, self._views[broken : broken + 1])
        if self._exact and len(out):
            _write_odds(self.layout, odds(self._rules, self._views[:number]), one, half, out)


def write_observations(rules: np.ndarray, views: np.ndarray, out: np.ndarray, record: str = "sheet") -> None:
    """Write the observations of views once, see `Observer`.

    Args:
        rules: RULES [1].
        views: VIEW [B].
        out: float32 or int8 [B, N], written.
        record: see `observation_layout`.

    Raises:
        ArrayError: these are not rules or not views, the views are of another kind of game, or
            ``out`` has another shape or another type, or is read-only.
        Contradiction: a view that no deal satisfies (not with "raw"); it cannot come from a game.
    """
    rules = checked_rules(rules)
    Observer(rules, checked_views(rules, views), record).write(out)


def _write_odds(layout: Layout, found: Odds, one: float, half: float, out: np.ndarray) -> None:
    """Write the blocks that are made of `Odds`."""
    for block in layout:
        if block.encoding == FRACTION:
            # Rounding may carry a bound a little too far.
            fractions = np.clip(getattr(found, block.field) / block.scale, 0.0, 1.0)
            rounded = np.clip(fractions * one + half, 1.0, one - half) if half else fractions * one
            shares = np.where((fractions > 0) & (fractions < 1), rounded, fractions * one)
            out[:, layout[block.name]] = shares.reshape(len(out), block.size)
