"""View to network input: one layout table says what lies where in the flat observation, and writes
it.

Own seat first, opponents in turn order, so that one network serves all seats. Every number is a
float32 in [0, 1]. The observation keeps all that the seat knows but the order of older events. Axis
letters: ``P`` players, ``O`` = P - 1 opponents, ``H`` = P holders (the opponents, then the missing
gems), ``N`` the size of the observation.
"""

from __future__ import annotations

from functools import lru_cache
from math import comb, log2

import numpy as np

from ..deduction.evidence import EVIDENCE
from ..deduction.sheet import SHEET, propagate
from ..kernels import kernel
from ..layout import (
    CLEAR_BITS,
    EQUALS,
    FRACTION,
    KNOWN,
    NUMBER,
    ONE_HOT,
    ONES,
    ROWS_AT_ONCE,
    Block,
    Layout,
    words_of,
    write_rows,
)
from .belief import Odds, odds
from .cards import NUM_GEMS, NUM_QUESTIONS, NUM_SEARCH_CARDS, QUESTIONS, Options, question_gems
from .clues import clues, read_sheet
from .state import ASKER, CARD, COUNT, EVENT_FIELDS, IN, KIND, NUM_EVENT_KINDS, NUM_PHASES, OUT, QUESTION, RIGHT, TARGET
from .view import VIEW

RECORDS = ("sheet", "raw", "exact")
LARGEST_COUNT = max(question_gems(question).bit_count() for question in range(NUM_QUESTIONS))
LARGEST_QUESTION = max(len(question) for question in QUESTIONS)


def _record_blocks(players: int, missing: int, record: str) -> list[Block]:
    """The information record: what the sheet proves, only what the seat was shown, or what a count
    of all deals says.
    """
    if record == "raw":
        return [
            Block("seen", "seen", (players, NUM_GEMS), axes=("seat", "gem")),
            Block("missing_gems", "missing_gems", (NUM_GEMS,), axes=("gem",)),
        ]
    if record == "exact":
        # No answer tells more than which of all sets of gems is missing.
        most = log2(comb(NUM_GEMS, missing))
        chance = Block("chance", "chance", (players, NUM_GEMS), FRACTION, axes=("holder", "gem"))
        return [
            chance,
            Block(
                "information",
                "information",
                (players - 1, NUM_QUESTIONS),
                FRACTION,
                scale=most,
                axes=("opponent", "question"),
            ),
        ]
    return [
        Block("certain_yes", "has", (players, NUM_GEMS), axes=("holder", "gem")),
        Block("certain_no", "can", (players, NUM_GEMS), CLEAR_BITS, axes=("holder", "gem")),
    ]


def _event_blocks(players: int) -> list[Block]:
    return [
        Block(
            "event_kind",
            "events",
            (players, NUM_EVENT_KINDS),
            ONE_HOT,
            base=1,
            column=KIND,
            columns=EVENT_FIELDS,
            axes=("event", "kind"),
        ),
        Block(
            "event_asker",
            "events",
            (players, players),
            ONE_HOT,
            column=ASKER,
            columns=EVENT_FIELDS,
            axes=("event", "seat"),
        ),
        Block(
            "event_target",
            "events",
            (players, players),
            ONE_HOT,
            column=TARGET,
            columns=EVENT_FIELDS,
            axes=("event", "seat"),
        ),
        Block(
            "event_question",
            "events",
            (players, NUM_QUESTIONS),
            ONE_HOT,
            column=QUESTION,
            columns=EVENT_FIELDS,
            axes=("event", "question"),
        ),
        Block(
            "event_card",
            "events",
            (players, NUM_SEARCH_CARDS),
            ONE_HOT,
            column=CARD,
            columns=EVENT_FIELDS,
            axes=("event", "search_card"),
        ),
        Block(
            "event_count",
            "events",
            (players, 1),
            NUMBER,
            scale=LARGEST_COUNT,
            column=COUNT,
            columns=EVENT_FIELDS,
            axes=("event", "number"),
        ),
    ]


def _blocks(players: int, missing: int, max_turns: int, record: str) -> list[Block]:
    """The layout table: every block in the order in which it lies in the observation."""
    return [
        Block("hand", "hand", (NUM_GEMS,), axes=("gem",)),
        Block("table", "table", (NUM_GEMS,), axes=("gem",)),
        *_record_blocks(players, missing, record),
        Block(
            "answer_known",
            "answers",
            (players, NUM_QUESTIONS, 1),
            KNOWN,
            only="told",
            axes=("seat", "question", "number"),
        ),
        Block(
            "answer_count",
            "answers",
            (players, NUM_QUESTIONS, 1),
            NUMBER,
            scale=LARGEST_COUNT,
            only="told",
            axes=("seat", "question", "number"),
        ),
        Block("askers", "askers", (players, NUM_QUESTIONS, players), only="told", axes=("seat", "question", "asker")),
        Block("seen_by", "seen_by", (players, NUM_GEMS), axes=("seat", "gem")),
        Block("search", "search", (players, NUM_SEARCH_CARDS), axes=("seat", "search_card")),
        Block("spent", "spent", (players, NUM_SEARCH_CARDS), axes=("seat", "search_card")),
        Block("discards", "discards", (NUM_SEARCH_CARDS,), axes=("search_card",)),
        Block("pile_size", "pile_size", (1,), NUMBER, scale=NUM_SEARCH_CARDS, axes=("number",)),
        Block("exchanges", "exchanges", (players, 1), NUMBER, scale=max_turns, axes=("seat", "number")),
        Block("in_contention", "standing", (players, 1), EQUALS, base=IN, axes=("seat", "number")),
        Block("out", "standing", (players, 1), EQUALS, base=OUT, axes=("seat", "number")),
        Block("right", "standing", (players, 1), EQUALS, base=RIGHT, axes=("seat", "number")),
        Block("place", "place", (players, 1), NUMBER, scale=players, axes=("seat", "number")),
        Block("turn", "turn", (players,), ONE_HOT, axes=("seat",)),
        Block("phase", "phase", (NUM_PHASES,), ONE_HOT, axes=("phase",)),
        Block("to_act", "to_act", (1,), EQUALS, base=1, axes=("number",)),
        Block("first_target", "first_target", (players,), ONE_HOT, axes=("seat",)),
        Block("first_elements", "first_elements", (LARGEST_QUESTION,), ONE_HOT, base=1, axes=("number",)),
        Block("accusing", "accusing", (NUM_GEMS,), axes=("gem",)),
        Block("accused", "accused", (NUM_GEMS,), axes=("gem",)),
        *_event_blocks(players),
        Block("turn_number", "turn_number", (1,), NUMBER, scale=max_turns, axes=("number",)),
    ]


@lru_cache(maxsize=64)
def _layout(players: int, missing: int, max_turns: int, record: str) -> Layout:
    if record not in RECORDS:
        raise ValueError(f"record must be one of {', '.join(map(repr, RECORDS))}, got {record!r}")
    return Layout(_blocks(players, missing, max_turns, record), VIEW, SHEET)


def observation_layout(options: Options, record: str = "sheet") -> Layout:
    """Give the layout of the observations of a game.

    Args:
        options: the game's options.
        record: "sheet" (what the deduction sheet proves of each gem), "raw" (no deduction: only
            what was shown) or "exact" (the chances of each gem and what each question is expected
            to tell, see `odds`).

    Raises:
        ValueError: an unknown record.
    """
    return _layout(options.num_players, options.missing, options.max_turns, record)


def observation_size(options: Options, record: str = "sheet") -> int:
    """Count the numbers of an observation, N."""
    return observation_layout(options, record).size


@kernel
def _write(rules, codes, views, view_words, evidence, sheets, sheet_words, one, half, out):
    """Write observations, whose sheets are made on the way; evidence and sheets, of `ROWS_AT_ONCE`
    rows or none, are working space.

    What is 1 is written as ``one``, and ``half`` is added to fractions, so that whole numbers are
    rounded to the nearest. Gives the first row whose view no deal satisfies, -1 if there is none.
    """
    for first in range(0, out.shape[0], ROWS_AT_ONCE):
        last = min(first + ROWS_AT_ONCE, out.shape[0])
        if sheets.size:
            clues(rules, views[first:last], evidence)
            propagate(evidence[: last - first], sheets)
            for b in range(last - first):
                if sheets[b]["broken"]:
                    return first + b
        write_rows(codes, view_words[first:last], sheet_words, one, half, out[first:last])
    return -1


class Observer:
    """Write the observations of views that lie in one array, which may be filled anew between one
    `write` and the next.

    Args:
        rules: RULES [1].
        views: VIEW [B], contiguous.
        record: see `observation_layout`.

    Raises:
        ValueError: an unknown record.
    """

    def __init__(self, rules: np.ndarray, views: np.ndarray, record: str = "sheet") -> None:
        self.layout = _layout(
            int(rules["num_players"][0]), int(rules["missing"][0]), int(rules["max_turns"][0]), record
        )
        self._rules = rules
        self._views = views
        self._exact = record == "exact"
        self._shape = (views.size, self.layout.size)
        rows = ROWS_AT_ONCE if record == "sheet" else 0
        evidence = np.empty(rows, EVIDENCE)
        sheets = np.empty(rows, SHEET)
        self._given = (rules, self.layout.code, views, words_of(views), evidence, sheets, words_of(sheets))

    def write(self, out: np.ndarray) -> None:
        """Write the observations.

        Args:
            out: float32 [B, N], or int8 [B, N], in which `INT8_ONE` is 1; overwritten.

        Raises:
            ValueError: `out` has another shape or another type, or is read-only.
            Contradiction: a view that no deal satisfies (not with "raw"); it cannot come from a
                game.
        """
        self.write_first(self._shape[0], out)

    def write_first(self, number: int, out: np.ndarray) -> None:
        """Write the observations of the first views only (``number``, at most B) into as many rows,
        see `write`.
        """
        if not 0 <= number <= self._shape[0]:
            raise ValueError(f"there are {self._shape[0]} views to write the first of, got {number}")
        if not out.flags.writeable:
            raise ValueError("out cannot be written to")
        if out.shape != (number, self._shape[1]) or out.dtype not in ONES:
            raise ValueError(
                f"out must be float32 or int8 of the shape {(number, self._shape[1])}, got {out.dtype} of the shape {out.shape}"
            )
        one, half = ONES[out.dtype]
        broken = _write(*self._given, one, half, out)
        if broken >= 0:
            read_sheet(self._rules, self._views[broken : broken + 1])
        if self._exact and len(out):
            _write_odds(self.layout, odds(self._rules, self._views[:number]), one, half, out)


def write_observations(rules: np.ndarray, views: np.ndarray, out: np.ndarray, record: str = "sheet") -> None:
    """Write the observations of views (VIEW [B]) into ``out`` (float32 or int8 [B, N]) once, see
    `Observer`.
    """
    Observer(rules, views, record).write(out)


def _write_odds(layout: Layout, found: Odds, one: float, half: float, out: np.ndarray) -> None:
    """Write the blocks that are made of `Odds`."""
    for block in layout:
        if block.encoding == FRACTION:
            # Rounding may carry a bound a little too far.
            fractions = np.clip(getattr(found, block.field) / block.scale, 0.0, 1.0)
            rounded = np.clip(fractions * one + half, 1.0, one - half) if half else fractions * one
            shares = np.where((fractions > 0) & (fractions < 1), rounded, fractions * one)
            out[:, layout[block.name]] = shares.reshape(len(out), block.size)
