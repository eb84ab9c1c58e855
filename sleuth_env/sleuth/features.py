"""View to network input: one layout table says what lies where in the flat observation, and writes it.

Own seat first, opponents in turn order, so that one network serves all seats. Every number is a float32 in [0, 1].
The observation keeps all that the seat knows but the order of older events. Axis letters: ``P`` players, ``O`` = P - 1
opponents, ``H`` = P holders (the opponents, then the missing gems), ``N`` the size of the observation.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass
from dataclasses import field as dataclass_field
from functools import lru_cache
from math import comb, log2, prod
from typing import Any

import numpy as np

from ..bits import inner, kernel, lowest
from ..deduction.evidence import EVIDENCE
from ..deduction.sheet import SHEET, propagate
from .cards import NUM_GEMS, NUM_QUESTIONS, NUM_SEARCH_CARDS, QUESTIONS, Options, question_gems
from .clues import clues, read_sheet
from .odds import Odds, odds
from .state import ASKER, CARD, COUNT, EVENT_FIELDS, IN, KIND, NUM_EVENT_KINDS, NUM_PHASES, OUT, QUESTION, RIGHT, TARGET
from .view import VIEW

INT8_ONE = 127
# What stands for 1, and what rounds a fraction of it, in observations of each type.
ONES = {np.dtype(np.float32): (1.0, 0.0), np.dtype(np.int8): (float(INT8_ONE), 0.5)}
RECORDS = ("sheet", "raw", "exact")
LARGEST_COUNT = max(question_gems(question).bit_count() for question in range(NUM_QUESTIONS))
LARGEST_QUESTION = max(len(question) for question in QUESTIONS)

# How a number of the view becomes a row of inputs:
BITS = 0  # a mask: one input a bit
CLEAR_BITS = 1  # a mask: one input a bit that is not set
ONE_HOT = 2  # a number: the input number - base is 1; none when it is outside
EQUALS = 3  # one input: whether the number is base
KNOWN = 4  # one input: whether the number is among those that the masks of `only` name
NUMBER = 5  # one input: the number divided by scale; 0 when it is negative
FRACTION = 6  # one input a number of `Odds`, divided by scale


@dataclass(frozen=True)
class Block:
    """Describe one named block of the observation.

    Args:
        name: its name.
        field: the field of the view (or of the sheet: can, has; or of `Odds`) that it is made of.
        shape: its shape; the last axis is what one number of the field becomes, the axes before it are numbers of the field.
        encoding: BITS, CLEAR_BITS, ONE_HOT, EQUALS, KNOWN, NUMBER or FRACTION.
        scale: NUMBER and FRACTION divide by it.
        base: see ONE_HOT and EQUALS.
        column: for fields with several columns a row: which one.
        only: a field of masks, one for each number of the first axis: nothing is written of what they do not name. With BITS, KNOWN or NUMBER.
    """

    name: str
    field: str
    shape: tuple[int, ...]
    encoding: int = BITS
    scale: float = 1.0
    base: int = 0
    column: int = 0
    only: str = dataclass_field(default="", repr=False)  # how it is written, not what: no part of the digest

    @property
    def size(self) -> int:
        """How many inputs it has."""
        return prod(self.shape)


def _record_blocks(players: int, missing: int, record: str) -> list[Block]:
    """The information record: what the sheet proves, only what the seat was shown, or what a count of all deals says."""
    if record == "raw":
        return [Block("seen", "seen", (players, NUM_GEMS)), Block("missing_gems", "missing_gems", (NUM_GEMS,))]
    if record == "exact":
        # No answer tells more than which of all sets of gems is missing.
        most = log2(comb(NUM_GEMS, missing))
        chance = Block("chance", "chance", (players, NUM_GEMS), FRACTION)
        return [chance, Block("information", "information", (players - 1, NUM_QUESTIONS), FRACTION, scale=most)]
    return [Block("certain_yes", "has", (players, NUM_GEMS)), Block("certain_no", "can", (players, NUM_GEMS), CLEAR_BITS)]


def _event_blocks(players: int) -> list[Block]:
    return [
        Block("event_kind", "events", (players, NUM_EVENT_KINDS), ONE_HOT, base=1, column=KIND),
        Block("event_asker", "events", (players, players), ONE_HOT, column=ASKER),
        Block("event_target", "events", (players, players), ONE_HOT, column=TARGET),
        Block("event_question", "events", (players, NUM_QUESTIONS), ONE_HOT, column=QUESTION),
        Block("event_card", "events", (players, NUM_SEARCH_CARDS), ONE_HOT, column=CARD),
        Block("event_count", "events", (players, 1), NUMBER, scale=LARGEST_COUNT, column=COUNT),
    ]


def _blocks(players: int, missing: int, max_turns: int, record: str) -> list[Block]:
    """The layout table: every block in the order in which it lies in the observation."""
    return [
        Block("hand", "hand", (NUM_GEMS,)),
        Block("table", "table", (NUM_GEMS,)),
        *_record_blocks(players, missing, record),
        Block("answer_known", "answers", (players, NUM_QUESTIONS, 1), KNOWN, only="told"),
        Block("answer_count", "answers", (players, NUM_QUESTIONS, 1), NUMBER, scale=LARGEST_COUNT, only="told"),
        Block("askers", "askers", (players, NUM_QUESTIONS, players), only="told"),
        Block("seen_by", "seen_by", (players, NUM_GEMS)),
        Block("search", "search", (players, NUM_SEARCH_CARDS)),
        Block("spent", "spent", (players, NUM_SEARCH_CARDS)),
        Block("discards", "discards", (NUM_SEARCH_CARDS,)),
        Block("pile_size", "pile_size", (1,), NUMBER, scale=NUM_SEARCH_CARDS),
        Block("exchanges", "exchanges", (players, 1), NUMBER, scale=max_turns),
        Block("in_contention", "standing", (players, 1), EQUALS, base=IN),
        Block("out", "standing", (players, 1), EQUALS, base=OUT),
        Block("right", "standing", (players, 1), EQUALS, base=RIGHT),
        Block("place", "place", (players, 1), NUMBER, scale=players),
        Block("turn", "turn", (players,), ONE_HOT),
        Block("phase", "phase", (NUM_PHASES,), ONE_HOT),
        Block("to_act", "to_act", (1,), EQUALS, base=1),
        Block("first_target", "first_target", (players,), ONE_HOT),
        Block("first_elements", "first_elements", (LARGEST_QUESTION,), ONE_HOT, base=1),
        Block("accusing", "accusing", (NUM_GEMS,)),
        Block("accused", "accused", (NUM_GEMS,)),
        *_event_blocks(players),
        Block("turn_number", "turn_number", (1,), NUMBER, scale=max_turns),
    ]


# A block as the kernel reads it: groups of rows of `width` inputs from `at` on, made of one number each, `stride` items apart.
CODE = np.dtype(
    [(name, "i8") for name in ("encoding", "from_sheet", "item_size", "start", "stride", "only", "groups", "rows", "width", "base", "at")] + [("scale", "f8")],
    align=True,
)


def _encode(block: Block, at: int) -> tuple[Any, ...]:
    from_sheet = block.field in (SHEET.names or ())
    record = SHEET if from_sheet else VIEW
    dtype, offset = record.fields[block.field][:2]  # type: ignore[index]
    item_size = dtype.base.itemsize
    stride = EVENT_FIELDS if block.field == "events" else 1
    width = block.shape[-1]
    start, only = offset // item_size + block.column, -1 if not block.only else VIEW.fields[block.only][1] // 8  # type: ignore[index]
    groups = block.shape[0] if block.only else 1
    rows = block.size // width // groups
    return (block.encoding, from_sheet, item_size, start, stride, only, groups, rows, width, block.base, at, block.scale)


class Layout:
    """Say where each block lies in the flat observation of a game.

    Iterating gives the blocks in order; `layout["hand"]` is a block's slice; `size` is N.
    """

    def __init__(self, blocks: list[Block]) -> None:
        self.blocks = tuple(blocks)
        ends = np.cumsum([block.size for block in blocks]).tolist()
        self._slices = {block.name: slice(end - block.size, end) for block, end in zip(blocks, ends, strict=True)}
        self.size: int = ends[-1]
        self.code = np.array([_encode(block, self[block.name].start) for block in blocks if block.encoding != FRACTION], CODE)

    def __iter__(self) -> Iterator[Block]:
        return iter(self.blocks)

    def __getitem__(self, name: str) -> slice:
        return self._slices[name]

    @property
    def digest(self) -> str:
        """Name the layout by a hash of every block's name, shape, encoding and scale: 16 hexadecimal digits."""
        return hashlib.sha256(repr(self.blocks).encode()).hexdigest()[:16]

    def views(self, observation: np.ndarray) -> dict[str, np.ndarray]:
        """Give the blocks of observations (float32 [..., N]) by name, reshaped, as views of the same memory.

        Raises:
            ValueError: the last axis is not N.
        """
        if observation.shape[-1:] != (self.size,):
            raise ValueError(f"an observation of this layout has {self.size} numbers in its last axis, got the shape {observation.shape}")
        return {block.name: observation[..., self[block.name]].reshape(*observation.shape[:-1], *block.shape) for block in self.blocks}


@lru_cache(maxsize=64)
def _layout(players: int, missing: int, max_turns: int, record: str) -> Layout:
    if record not in RECORDS:
        raise ValueError(f"record must be one of {', '.join(map(repr, RECORDS))}, got {record!r}")
    return Layout(_blocks(players, missing, max_turns, record))


def observation_layout(options: Options, record: str = "sheet") -> Layout:
    """Give the layout of the observations of a game.

    Args:
        options: the game's options.
        record: "sheet" (what the deduction sheet proves of each gem), "raw" (no deduction: only what was shown) or "exact"
            (the chances of each gem and what each question is expected to tell, see `odds`).

    Raises:
        ValueError: an unknown record.
    """
    return _layout(options.num_players, options.missing, options.max_turns, record)


def observation_size(options: Options, record: str = "sheet") -> int:
    """Count the numbers of an observation, N."""
    return observation_layout(options, record).size


# Blocks are written for some rows at once: their output stays in the nearest cache, and the same branch is taken many times
# in a row. Rows are given by their number, for a slice would cost more than what is done with it.
ROWS_AT_ONCE = 16


@inner
def _write_mask(out, b, at, mask, one):
    while mask != 0:
        out[b, at + lowest(mask)] = one
        mask &= mask - 1


@inner
def _fraction(share, one, half):
    """Give a share of ``one``; where whole numbers are rounded, what is more than 0 and less than 1 stays so."""
    if half == 0.0 or share <= 0.0 or share >= 1.0:
        return share * one
    return min(max(share * one + half, 1.0), one - half)


@inner
def _write_amount(out, b, at, number, scale, one, half):
    out[b, at] = _fraction(max(number, 0) / scale, one, half)


@inner
def _write_one_hot(out, b, at, place, width, one):
    # Without a branch, which would be guessed wrong often: where the place is outside, what is written is the zero that is there.
    inside = place >= 0 and place < width
    out[b, at + place * inside] = one * inside


@inner
def _number(words, b, item, size):
    """Read a number of a record of 8-byte words: the item-th of those that are ``size`` bytes long."""
    first, bits = item * size, 64 - 8 * size
    # Shifted up and down again, the bytes beside it are gone and the sign is kept.
    return (words[b, first >> 3] >> ((first & 7) << 3)) << bits >> bits


@inner
def _write_column(out, at, code, words, item, one, half):
    """Write what the item-th number of every record becomes. What is asked of the code is asked once, not for every record."""
    encoding, size, width, base, scale = code["encoding"], code["item_size"], code["width"], code["base"], code["scale"]
    if encoding in (BITS, CLEAR_BITS):
        inside, flip = (1 << width) - 1, -1 if encoding == CLEAR_BITS else 0
        for b in range(out.shape[0]):
            _write_mask(out, b, at, (_number(words, b, item, size) ^ flip) & inside, one)
    elif encoding == ONE_HOT:
        for b in range(out.shape[0]):
            _write_one_hot(out, b, at, _number(words, b, item, size) - base, width, one)
    elif encoding == EQUALS:
        for b in range(out.shape[0]):
            out[b, at] = one * (_number(words, b, item, size) == base)
    else:
        for b in range(out.shape[0]):
            _write_amount(out, b, at, _number(words, b, item, size), scale, one, half)


@inner
def _write_block(out, code, words, one, half):
    """Write one block from the numbers of records."""
    item, at = code["start"], code["at"]
    for _ in range(code["rows"]):
        _write_column(out, at, code, words, item, one, half)
        item += code["stride"]
        at += code["width"]


@inner
def _write_named(out, code, words, one, half):
    """Write one block, of which masks (one for each group of rows) name what there is to write."""
    item, at, encoding, size, width, scale = code["start"], code["at"], code["encoding"], code["item_size"], code["width"], code["scale"]
    for k in range(code["groups"]):
        for b in range(out.shape[0]):
            todo = words[b, code["only"] + k]
            while todo:
                i = lowest(todo)
                todo &= todo - 1
                if encoding == KNOWN:
                    out[b, at + i] = one
                elif encoding == BITS:
                    _write_mask(out, b, at + i * width, _number(words, b, item + i, size) & ((1 << width) - 1), one)
                else:
                    _write_amount(out, b, at + i, _number(words, b, item + i, size), scale, one, half)
        item += code["rows"]
        at += code["rows"] * width


@inner
def _write_rows(codes, views, sheets, one, half, out):
    """Write every block of some rows; the records come as arrays of 8-byte words."""
    out[:, :] = 0.0
    for i in range(codes.size):
        if codes[i]["only"] >= 0:
            _write_named(out, codes[i], views, one, half)
        elif codes[i]["from_sheet"]:
            _write_block(out, codes[i], sheets, one, half)
        else:
            _write_block(out, codes[i], views, one, half)


@kernel
def _write(rules, codes, views, view_words, evidence, sheets, sheet_words, one, half, out):
    """Write observations, whose sheets are made on the way; evidence and sheets, of `ROWS_AT_ONCE` rows or none, are working space.

    What is 1 is written as ``one``, and ``half`` is added to fractions, so that whole numbers are rounded to the nearest.
    Gives the first row whose view no deal satisfies, -1 if there is none.
    """
    for first in range(0, out.shape[0], ROWS_AT_ONCE):
        last = min(first + ROWS_AT_ONCE, out.shape[0])
        if sheets.size:
            clues(rules, views[first:last], evidence)
            propagate(evidence[: last - first], sheets)
            for b in range(last - first):
                if sheets[b]["broken"]:
                    return first + b
        _write_rows(codes, view_words[first:last], sheet_words, one, half, out[first:last])
    return -1


def _words(records: np.ndarray) -> np.ndarray:
    return records.view("i8").reshape(records.size, records.dtype.itemsize // 8)


class Observer:
    """Write the observations of views that lie in one array, which may be filled anew between one `write` and the next.

    Args:
        rules: RULES [1].
        views: VIEW [B], contiguous.
        record: see `observation_layout`.

    Raises:
        ValueError: an unknown record.
    """

    def __init__(self, rules: np.ndarray, views: np.ndarray, record: str = "sheet") -> None:
        self.layout = _layout(int(rules["num_players"][0]), int(rules["missing"][0]), int(rules["max_turns"][0]), record)
        self._rules, self._views, self._exact, self._shape = rules, views, record == "exact", (views.size, self.layout.size)
        rows = ROWS_AT_ONCE if record == "sheet" else 0
        evidence, sheets = np.empty(rows, EVIDENCE), np.empty(rows, SHEET)
        self._given = (rules, self.layout.code, views, _words(views), evidence, sheets, _words(sheets))

    def write(self, out: np.ndarray) -> None:
        """Write the observations.

        Args:
            out: float32 [B, N], or int8 [B, N], in which `INT8_ONE` is 1; overwritten.

        Raises:
            ValueError: `out` has another shape or another type, or is read-only.
            Contradiction: a view that no deal satisfies (not with "raw"); it cannot come from a game.
        """
        self.write_first(self._shape[0], out)

    def write_first(self, number: int, out: np.ndarray) -> None:
        """Write the observations of the first views only (``number``, at most B) into as many rows, see `write`."""
        if not 0 <= number <= self._shape[0]:
            raise ValueError(f"there are {self._shape[0]} views to write the first of, got {number}")
        if not out.flags.writeable:
            raise ValueError("out cannot be written to")
        if out.shape != (number, self._shape[1]) or out.dtype not in ONES:
            raise ValueError(f"out must be float32 or int8 of the shape {(number, self._shape[1])}, got {out.dtype} of the shape {out.shape}")
        one, half = ONES[out.dtype]
        broken = _write(*self._given, one, half, out)
        if broken >= 0:
            read_sheet(self._rules, self._views[broken : broken + 1])
        if self._exact and len(out):
            _write_odds(self.layout, odds(self._rules, self._views[:number]), one, half, out)


def write_observations(rules: np.ndarray, views: np.ndarray, out: np.ndarray, record: str = "sheet") -> None:
    """Write the observations of views (VIEW [B]) into ``out`` (float32 or int8 [B, N]) once, see `Observer`."""
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
