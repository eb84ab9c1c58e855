"""View to network input: one layout table says what lies where in the flat observation, and writes it.

Own seat first, opponents in turn order, so that one network serves all seats. Every number is a float32 in [0, 1].
The observation keeps all that the seat knows but the order of older events. Axis letters: ``P`` players, ``O`` = P - 1
opponents, ``H`` = P holders (the opponents, then the missing gems), ``N`` the size of the observation.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from math import prod
from typing import Any

import numpy as np

from ..bits import inner, kernel, lowest
from ..deduction.sheet import SHEET
from .cards import NUM_GEMS, NUM_QUESTIONS, NUM_SEARCH_CARDS, QUESTIONS, Options, question_gems
from .clues import read_sheet
from .state import ASKER, CARD, COUNT, EVENT_FIELDS, IN, KIND, NUM_EVENT_KINDS, NUM_PHASES, OUT, QUESTION, RIGHT, TARGET
from .view import VIEW

RECORDS = ("sheet", "raw")
LARGEST_COUNT = max(question_gems(question).bit_count() for question in range(NUM_QUESTIONS))
LARGEST_QUESTION = max(len(question) for question in QUESTIONS)

# How a number of the view becomes a row of inputs:
BITS = 0  # a mask: one input a bit
CLEAR_BITS = 1  # a mask: one input a bit that is not set
ONE_HOT = 2  # a number: the input number - base is 1; none when it is outside
EQUALS = 3  # one input: whether the number is base
KNOWN = 4  # one input: whether the number is not negative
NUMBER = 5  # one input: the number divided by scale; 0 when it is negative


@dataclass(frozen=True)
class Block:
    """Describe one named block of the observation.

    Args:
        name: its name.
        field: the field of the view (or of the sheet: can, has) that it is made of.
        shape: its shape; the last axis is what one number of the field becomes, the axes before it are numbers of the field.
        encoding: BITS, CLEAR_BITS, ONE_HOT, EQUALS, KNOWN or NUMBER.
        scale: NUMBER divides by it.
        base: see ONE_HOT and EQUALS.
        column: for fields with several columns a row: which one.
    """

    name: str
    field: str
    shape: tuple[int, ...]
    encoding: int = BITS
    scale: float = 1.0
    base: int = 0
    column: int = 0

    @property
    def size(self) -> int:
        """How many inputs it has."""
        return prod(self.shape)


def _record_blocks(players: int, record: str) -> list[Block]:
    """The information record: what the sheet proves, or only what the seat was shown."""
    if record == "raw":
        return [Block("seen", "seen", (players, NUM_GEMS)), Block("missing_gems", "missing_gems", (NUM_GEMS,))]
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


def _blocks(players: int, max_turns: int, record: str) -> list[Block]:
    """The layout table: every block in the order in which it lies in the observation."""
    return [
        Block("hand", "hand", (NUM_GEMS,)),
        Block("table", "table", (NUM_GEMS,)),
        *_record_blocks(players, record),
        Block("answer_known", "answers", (players, NUM_QUESTIONS, 1), KNOWN),
        Block("answer_count", "answers", (players, NUM_QUESTIONS, 1), NUMBER, scale=LARGEST_COUNT),
        Block("askers", "askers", (players, NUM_QUESTIONS, players)),
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


# A block as the kernel reads it: rows of `width` inputs from `at` on, made of one number each, `stride` items apart.
CODE = np.dtype(
    [(name, "i8") for name in ("encoding", "from_sheet", "item_size", "start", "stride", "rows", "width", "base", "at")] + [("scale", "f8")],
    align=True,
)


def _encode(block: Block, at: int) -> tuple[Any, ...]:
    from_sheet = block.field in (SHEET.names or ())
    record = SHEET if from_sheet else VIEW
    dtype, offset = record.fields[block.field][:2]  # type: ignore[index]
    item_size = dtype.base.itemsize
    stride = EVENT_FIELDS if block.field == "events" else 1
    width = block.shape[-1]
    return (block.encoding, from_sheet, item_size, offset // item_size + block.column, stride, block.size // width, width, block.base, at, block.scale)


class Layout:
    """Say where each block lies in the flat observation of a game.

    Iterating gives the blocks in order; `layout["hand"]` is a block's slice; `size` is N.
    """

    def __init__(self, blocks: list[Block]) -> None:
        self.blocks = tuple(blocks)
        ends = np.cumsum([block.size for block in blocks]).tolist()
        self._slices = {block.name: slice(end - block.size, end) for block, end in zip(blocks, ends, strict=True)}
        self.size: int = ends[-1]
        self.code = np.array([_encode(block, self[block.name].start) for block in blocks], CODE)

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
def _layout(players: int, max_turns: int, record: str) -> Layout:
    if record not in RECORDS:
        raise ValueError(f"record must be one of {', '.join(map(repr, RECORDS))}, got {record!r}")
    return Layout(_blocks(players, max_turns, record))


def observation_layout(options: Options, record: str = "sheet") -> Layout:
    """Give the layout of the observations of a game.

    Args:
        options: the game's options.
        record: "sheet" (what the deduction sheet proves of each gem) or "raw" (no deduction: only what was shown).

    Raises:
        ValueError: an unknown record.
    """
    return _layout(options.num_players, options.max_turns, record)


def observation_size(options: Options, record: str = "sheet") -> int:
    """Count the numbers of an observation, N."""
    return observation_layout(options, record).size


@inner
def _write_bits(row, at, width, mask):
    mask &= (1 << width) - 1
    while mask != 0:
        row[at + lowest(mask)] = 1.0
        mask &= mask - 1


@inner
def _write_number(row, at, encoding, width, base, scale, number):
    if encoding == BITS:
        _write_bits(row, at, width, number)
    elif encoding == CLEAR_BITS:
        _write_bits(row, at, width, ~number)
    elif encoding == ONE_HOT:
        if 0 <= number - base < width:
            row[at + number - base] = 1.0
    elif encoding == EQUALS:
        row[at] = number == base
    elif encoding == KNOWN:
        row[at] = number >= 0
    elif number > 0:
        row[at] = number / scale


@inner
def _write_block(row, code, numbers):
    """Write one block from the numbers of a record, read as integers of the block's item size."""
    encoding, width, base, scale = code["encoding"], code["width"], code["base"], code["scale"]
    item, at = code["start"], code["at"]
    for _ in range(code["rows"]):
        _write_number(row, at, encoding, width, base, scale, np.int64(numbers[item]))
        item += code["stride"]
        at += width


@kernel
def _write(codes, views_8, views_4, views_1, sheets_8, out):
    """Write every block; the records come as plain arrays of their 8, 4 and 1 byte numbers."""
    for b in range(out.shape[0]):
        out[b, :] = 0.0
        for i in range(codes.size):
            if codes[i]["from_sheet"]:
                _write_block(out[b], codes[i], sheets_8[b])
            elif codes[i]["item_size"] == 8:
                _write_block(out[b], codes[i], views_8[b])
            elif codes[i]["item_size"] == 4:
                _write_block(out[b], codes[i], views_4[b])
            else:
                _write_block(out[b], codes[i], views_1[b])


def _numbers(records: np.ndarray, kind: str) -> np.ndarray:
    return records.view(kind).reshape(records.size, -1)


def write_observations(rules: np.ndarray, views: np.ndarray, out: np.ndarray, record: str = "sheet") -> None:
    """Write the observations of views.

    Args:
        rules: RULES [1].
        views: VIEW [B], contiguous.
        out: float32 [B, N], overwritten.
        record: see `observation_layout`.

    Raises:
        ValueError: an unknown record, or `out` has another shape.
    """
    layout = _layout(int(rules["num_players"][0]), int(rules["max_turns"][0]), record)
    if out.shape != (views.size, layout.size):
        raise ValueError(f"out must have the shape {(views.size, layout.size)}, got {out.shape}")
    if not views.size:
        return
    sheets = read_sheet(rules, views) if record == "sheet" else np.zeros(views.size, SHEET)
    _write(layout.code, _numbers(views, "i8"), _numbers(views, "i4"), _numbers(views, "i1"), _numbers(sheets, "i8"), out)
