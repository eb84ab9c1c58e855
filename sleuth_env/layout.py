"""What lies where in an observation: named blocks with named axes, and the kernels that write them.

A game lists its blocks; networks and learners find their way by the names of blocks and axes, never
by sizes. Axis letters: ``B`` rows, ``N`` numbers of an observation.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from dataclasses import field as dataclass_field
from math import prod
from typing import Any, Self

import numpy as np

from .bits import lowest
from .checks import check_number, shown
from .doors import ArrayError, described, is_array
from .kernels import inner, kernel

INT8_ONE = 127
# What stands for 1, and what rounds a fraction of it, in observations of each type.
ONES = {np.dtype(np.float32): (1.0, 0.0), np.dtype(np.int8): (float(INT8_ONE), 0.5)}

# How a number of the view becomes a row of inputs:
BITS = 0  # a mask: one input a bit
CLEAR_BITS = 1  # a mask: one input a bit that is not set
ONE_HOT = 2  # a number: the input number - base is 1; none when it is outside
EQUALS = 3  # one input: whether the number is base
KNOWN = 4  # one input: whether the number is among those that the masks of `only` name
NUMBER = 5  # one input: the number divided by scale; 0 when it is negative
FRACTION = 6  # one input a number that the game computes besides, divided by scale; written by the game itself

# For games that derive no record from a view.
NO_SHEET = np.dtype([])


@dataclass(frozen=True)
class Block:
    """One named block of an observation.

    Args:
        name: its name.
        field: the field of the view or of the sheet that it is made of (with FRACTION: of what the
            game computes besides).
        shape: its shape; the last axis is what one number of the field becomes, the axes before it
            are numbers of the field.
        axes: the name of each axis of the shape, such as ``("holder", "gem")``.
        encoding: BITS, CLEAR_BITS, ONE_HOT, EQUALS, KNOWN, NUMBER or FRACTION.
        scale: NUMBER and FRACTION divide by it.
        base: see ONE_HOT and EQUALS.
        column: for fields with several columns a row: which one.
        columns: for fields with several columns a row: how many there are.
        only: a field of masks, one for each number of the first axis: nothing is written of what
            they do not name. With BITS, KNOWN or NUMBER.
    """

    name: str
    field: str
    shape: tuple[int, ...]
    encoding: int = BITS
    scale: float = 1.0
    base: int = 0
    column: int = 0
    # What follows says how the block is written and read, not what its numbers are: no part of the
    # digest.
    only: str = dataclass_field(default="", repr=False)
    columns: int = dataclass_field(default=1, repr=False)
    axes: tuple[str, ...] = dataclass_field(default=(), repr=False)

    @property
    def size(self) -> int:
        """How many inputs it has."""
        return prod(self.shape)


# A block as the kernel reads it: groups of rows of `width` inputs from `at` on, made of one number
# each, `stride` items apart.
CODE = np.dtype(
    [
        (name, "i8")
        for name in (
            "encoding",
            "from_sheet",
            "item_size",
            "start",
            "stride",
            "only",
            "groups",
            "rows",
            "width",
            "base",
            "at",
        )
    ]
    + [("scale", "f8")],
    align=True,
)


def block_maker(sizes: Mapping[str, int]) -> Callable[..., Block]:
    """Return a function that makes blocks from the names of their axes.

    Args:
        sizes: of each axis.

    >>> block = block_maker({"seat": 4, "gem": 36})
    >>> block("seen", "seat gem").shape
    (4, 36)
    """

    def block(name: str, axes: str, encoding: int = BITS, field: str | None = None, **named: Any) -> Block:
        """Return a block, made of the field of its own name unless another is given."""
        names = tuple(axes.split())
        return Block(name, field or name, tuple(sizes[axis] for axis in names), encoding, axes=names, **named)

    return block


def _encode(block: Block, at: int, view: np.dtype[Any], sheet: np.dtype[Any]) -> tuple[Any, ...]:
    """Return a block as the kernel reads it (CODE), from the dtypes of view and sheet."""
    from_sheet = block.field in (sheet.names or ())
    dtype, offset = (sheet if from_sheet else view).fields[block.field][:2]  # type: ignore[index]
    item_size = dtype.base.itemsize
    if dtype.base.kind != "i" or offset % item_size:
        raise ValueError(f"{block.field} must be signed integers at a multiple of their size, got {dtype} at {offset}")
    start = offset // item_size + block.column
    only = view.fields[block.only][1] // 8 if block.only else -1  # type: ignore[index]
    width = block.shape[-1]
    groups = block.shape[0] if block.only else 1
    rows = block.size // width // groups
    return (
        block.encoding,
        from_sheet,
        item_size,
        start,
        block.columns,
        only,
        groups,
        rows,
        width,
        block.base,
        at,
        block.scale,
    )


class Layout:
    """Where each block lies in the flat observation of a game.

    Iterating yields the blocks in order; ``layout["hand"]`` is a block's slice; `size` is N.

    Args:
        blocks: in the order in which they lie in the observation.
        view: the dtype of the game's views.
        sheet: the dtype of the record that the game derives from a view, if it has one.

    Raises:
        ValueError: a dtype has not a multiple of 8 bytes, or a block's field is not of aligned signed
            integers.
    """

    def __init__(self, blocks: Sequence[Block], view: np.dtype[Any], sheet: np.dtype[Any] = NO_SHEET) -> None:
        for name, dtype in (("view", view), ("sheet", sheet)):
            if dtype.itemsize % 8:
                raise ValueError(f"the {name} must have a multiple of 8 bytes, got {dtype.itemsize}: use align=True")
        self.blocks = tuple(blocks)
        self.view = view
        ends = np.cumsum([block.size for block in blocks]).tolist()
        self._slices = {block.name: slice(end - block.size, end) for block, end in zip(blocks, ends, strict=True)}
        self.size: int = ends[-1]
        written = [block for block in blocks if block.encoding != FRACTION]
        self.code = np.array([_encode(block, self[block.name].start, view, sheet) for block in written], CODE)

    def __iter__(self) -> Iterator[Block]:
        return iter(self.blocks)

    def __getitem__(self, name: str) -> slice:
        if not isinstance(name, str) or name not in self._slices:
            raise KeyError(f"the blocks are {', '.join(self._slices)}, got {shown(name)}")
        return self._slices[name]

    @property
    def digest(self) -> str:
        """A hash of every block's name, shape, encoding and scale: 16 hexadecimal digits."""
        return hashlib.sha256(repr(self.blocks).encode()).hexdigest()[:16]

    def views(self, observation: np.ndarray) -> dict[str, np.ndarray]:
        """Return the blocks of observations (float32 [..., N]) by name, as views of the same memory.

        Raises:
            ArrayError: it is not an array, or its last axis is not N.
        """
        if not is_array(observation) or observation.shape[-1:] != (self.size,):
            raise ArrayError(
                f"observation must be an array with the {self.size} numbers of this layout in its last axis, "
                f"got {described(observation)}"
            )
        return {
            block.name: observation[..., self[block.name]].reshape(*observation.shape[:-1], *block.shape)
            for block in self.blocks
        }


# Blocks are written for some rows at once: their output stays in the nearest cache, and the same
# branch is taken many times in a row. Rows are given by their number, for a slice would cost more
# than what is done with it.
ROWS_AT_ONCE = 16


@inner
def _write_mask(out, b, at, mask, one):
    while mask != 0:
        out[b, at + lowest(mask)] = one
        mask &= mask - 1


@inner
def _fraction(share, one, half):
    """Return a share of ``one``; rounded, what is more than 0 and less than 1 stays so."""
    if half == 0.0 or share <= 0.0 or share >= 1.0:
        return share * one
    return min(max(share * one + half, 1.0), one - half)


@inner
def _write_amount(out, b, at, number, scale, one, half):
    out[b, at] = _fraction(max(number, 0) / scale, one, half)


@inner
def _write_one_hot(out, b, at, place, width, one):
    # Without a branch, which would be guessed wrong often: where the place is outside, what is
    # written is the zero that is there.
    inside = place >= 0 and place < width
    out[b, at + place * inside] = one * inside


@inner
def _number(words, b, item, size):
    """Read a number of a record of 8-byte words: the item-th of those that are ``size`` bytes long."""
    first = item * size
    bits = 64 - 8 * size
    # Shifted up and down again, the bytes beside it are gone and the sign is kept.
    return (words[b, first >> 3] >> ((first & 7) << 3)) << bits >> bits


@inner
def _write_column(out, at, code, words, item, one, half):
    """Write what the item-th number of every record becomes.

    What is asked of the code is asked once, not for every record.
    """
    encoding = code["encoding"]
    size = code["item_size"]
    width = code["width"]
    base = code["base"]
    scale = code["scale"]
    if encoding in (BITS, CLEAR_BITS):
        inside = (1 << width) - 1
        flip = -1 if encoding == CLEAR_BITS else 0
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
    item = code["start"]
    at = code["at"]
    for _ in range(code["rows"]):
        _write_column(out, at, code, words, item, one, half)
        item += code["stride"]
        at += code["width"]


@inner
def _write_named(out, code, words, one, half):
    """Write one block, of which masks (one for each group of rows) name what there is to write."""
    item = code["start"]
    at = code["at"]
    encoding = code["encoding"]
    size = code["item_size"]
    width = code["width"]
    scale = code["scale"]
    inside = ~(np.int64(-1) << code["rows"]) if code["rows"] < 64 else np.int64(-1)
    for k in range(code["groups"]):
        for b in range(out.shape[0]):
            # What is named beyond the rows there are would be written beyond the block.
            todo = words[b, code["only"] + k] & inside
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
def write_rows(codes, views, sheets, one, half, out):
    """Write every block of some rows; the records come as arrays of 8-byte words."""
    out[:, :] = 0.0
    for i in range(codes.size):
        if codes[i]["only"] >= 0:
            _write_named(out, codes[i], views, one, half)
        elif codes[i]["from_sheet"]:
            _write_block(out, codes[i], sheets, one, half)
        else:
            _write_block(out, codes[i], views, one, half)


def words_of(records: np.ndarray) -> np.ndarray:
    """Return records as rows of 8-byte words (i8 [B, words])."""
    return records.view("i8").reshape(records.size, records.dtype.itemsize // 8)


@kernel
def _write_all(code, views, one, half, out):
    write_rows(code, views, views, one, half, out)


class Observer:
    """Write the observations of views that lie in one array, which may be filled again between writes.

    As it is it serves games whose blocks are fields of the view. A game that derives a sheet from
    the view, or computes some blocks itself, overrides `_fill`.

    What is written is always inside of the observations, whatever lies in the views.

    Args:
        layout: of the observations.
        views: VIEW [B], contiguous.

    Raises:
        ArrayError: the views are not an array of the layout's records, or not contiguous.
    """

    def __init__(self, layout: Layout, views: np.ndarray) -> None:
        if not is_array(views) or views.dtype != layout.view:
            raise ArrayError(f"views must be VIEW records, of the shape (any,), got {described(views)}")
        if views.ndim != 1 or not views.flags.c_contiguous or not views.flags.aligned:
            raise ArrayError(
                f"views must be contiguous, of the shape (any,), got the shape {views.shape} and steps {views.strides}"
            )
        self.layout = layout
        self._views = views
        self._words = words_of(views)

    def remember(self) -> Self:
        """Keep what helps from write to write, for views of the same games each time; return this observer.

        What is written stays the same, whatever lies in the views. It takes some memory.
        """
        return self

    def check(self) -> None:
        """Check the views as they lie there now; a game that can tell wrong ones says what is wrong.

        Raises:
            ArrayError: one cannot come from a game of the kind that the layout is for.
        """

    def write(self, out: np.ndarray) -> None:
        """Write the observations.

        Args:
            out: float32 [B, N], or int8 [B, N], in which `INT8_ONE` is 1; overwritten.

        Raises:
            ValueError: ``out`` has another shape or another type, or is read-only.
        """
        self.write_first(self._views.size, out)

    def write_first(self, number: int, out: np.ndarray) -> None:
        """Write the observations of the first views only (``number``, at most B) into as many rows, see `write`."""
        number = check_number("number", number, 0, self._views.size)
        shape = (number, self.layout.size)
        if not is_array(out):
            raise ArrayError(f"out must be float32 or int8 of the shape {shape}, got {described(out)}")
        if not out.flags.writeable:
            raise ArrayError("out cannot be written to: it is read-only")
        if out.shape != shape or out.dtype not in ONES:
            raise ArrayError(
                f"out must be float32 or int8 of the shape {shape}, got {out.dtype} of the shape {out.shape}"
            )
        one, half = ONES[out.dtype]
        if out.flags.c_contiguous and out.flags.aligned:
            self._fill(number, one, half, out)
        else:
            # Kernels are compiled for one order in memory only.
            ordered = np.empty(shape, out.dtype)
            self._fill(number, one, half, ordered)
            out[...] = ordered

    def written(self) -> np.ndarray:
        """Return the observations in a new array, float32 [B, N]."""
        out = np.empty((self._views.size, self.layout.size), np.float32)
        self._fill(self._views.size, *ONES[out.dtype], out)
        return out

    def _fill(self, number: int, one: float, half: float, out: np.ndarray) -> None:
        """Write ``number`` rows, in which 1 is written as ``one`` and fractions are rounded by ``half``."""
        _write_all(self.layout.code, self._words[:number], one, half, out)
