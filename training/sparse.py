"""Observations without their zeros, and the product of such rows with a matrix.

Of the numbers of an observation all but one in twenty or so may be zero: answers not given, events
that did not happen. What is left out here is what a network's first layer multiplies by nothing;
the product costs a tenth of the dense one.
Axis letters: ``B`` rows, ``N`` numbers of an observation, ``E`` numbers that are not zero, ``H``
units.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch.nn.functional import embedding_bag

from sleuth_env.game import Records
from sleuth_env.kernels import inner, kernel

from .config import Config


@dataclass(frozen=True)
class SparseRows:
    """Rows of a matrix.

    Args:
        starts: where each row begins in the other two, and the end, i4 [B + 1].
        columns: i4 [E], rising in each row.
        values: f4 [E].
    """

    starts: NDArray[np.int32]
    columns: NDArray[np.int32]
    values: NDArray[np.float32]

    def __len__(self) -> int:
        """Return the number of rows, B."""
        return len(self.starts) - 1

    def check(self, width: int) -> None:
        """Check that these are rows of ``width`` numbers: the kernels that read them do not look.

        Raises:
            ValueError: they are not.
        """
        dtypes = (self.starts.dtype, self.columns.dtype, self.values.dtype)
        if (
            dtypes != (np.int32, np.int32, np.float32)
            or not self.starts.ndim == self.columns.ndim == self.values.ndim == 1
            or len(self.columns) != len(self.values)
            or not np.isfinite(self.values).all()
        ):
            raise ValueError("its observations are not rows of numbers")
        if (
            self.starts[:1].tolist() != [0]
            or self.starts[-1] != len(self.columns)
            or (np.diff(self.starts) < 0).any()
            or not ((self.columns >= 0) & (self.columns < width)).all()
        ):
            raise ValueError("its observations point outside")

    @classmethod
    def of(cls, matrix: NDArray[np.float32]) -> SparseRows:
        """Leave out the zeros of a matrix (f4 [B, N])."""
        return cls(*_packed(matrix))

    @classmethod
    def joined(cls, parts: Sequence[SparseRows]) -> SparseRows:
        """Put rows below one another."""
        ends = np.cumsum([0, *(len(part.columns) for part in parts)])
        starts = [part.starts[:-1] + end for part, end in zip(parts, ends, strict=False)]
        return cls(
            np.concatenate([*starts, ends[-1:]]).astype(np.int32),
            np.concatenate([part.columns for part in parts]),
            np.concatenate([part.values for part in parts]),
        )

    def take(self, rows: NDArray[np.int64]) -> SparseRows:
        """Return some of the rows, in this order."""
        return SparseRows(*_taken(self.starts, self.columns, self.values, rows))

    def transposed(self, size: int) -> SparseRows:
        """Return the columns of the matrix, of which there are ``size``, as rows."""
        return SparseRows(*_transposed(self.starts, self.columns, self.values, size))

    def times(self, matrix: torch.Tensor) -> torch.Tensor:
        """Multiply by a dense matrix (f4 [N, H]), on its device: f4 [B, H]."""
        starts, columns, values = (
            torch.from_numpy(array).to(matrix.device) for array in (self.starts, self.columns, self.values)
        )
        return embedding_bag(columns, matrix, starts, mode="sum", per_sample_weights=values, include_last_offset=True)

    def dense(self, size: int, device: Any = None) -> torch.Tensor:
        """Return the matrix with its zeros, f4 [B, N]."""
        whole = np.zeros((len(self), size), np.float32)
        whole[np.repeat(np.arange(len(self)), np.diff(self.starts)), self.columns] = self.values
        return torch.from_numpy(whole).to(device)

    def distinct_parts(
        self, places: NDArray[np.int32], number: int, width: int
    ) -> tuple[NDArray[np.float32], NDArray[np.int64]]:
        """Cut each row into parts, and keep equal ones once: most are equal to many others.

        Args:
            places: i4 [N]; a column goes to this number among the inputs of all parts, or (-1)
                nowhere.
            number: of parts.
            width: of a part.

        Returns:
            The parts that differ, f4 [U, width], and which of them each row's parts are,
            i8 [B, number].
        """
        bits = self.values.view(np.int32)
        return _distinct_parts(self.starts, self.columns, self.values, bits, places, number, width)


def observed(config: Config, views: Records) -> SparseRows:
    """Return the observations that belong to views (VIEW [B]), of the configuration's kind."""
    observer = config.module.Observer(config.module.make_rules(config.options), views, config.record)
    observations = np.empty((len(views), observer.layout.size), np.float32)
    observer.write(observations)
    return SparseRows.of(observations)


class Product(torch.autograd.Function):
    """The product of sparse rows and a matrix: ``Product.apply(rows, *blocks)``.

    The rows are constant; the matrix learns, and lies in blocks of columns.
    """

    @staticmethod
    def forward(context: Any, rows: SparseRows, *blocks: torch.Tensor) -> torch.Tensor:
        """Return ``rows`` times the whole matrix, f4 [B, H]."""
        context.rows = rows
        context.size = len(blocks[0])
        context.widths = [block.shape[1] for block in blocks]
        return torch.cat([rows.times(block) for block in blocks], dim=1)

    @staticmethod
    def backward(context: Any, gradient: torch.Tensor) -> tuple[torch.Tensor | None, ...]:
        """Return each block's gradient: the transposed rows times that of the block's product."""
        transposed = context.rows.transposed(context.size)
        return None, *(transposed.times(part.contiguous()) for part in gradient.split(context.widths, dim=1))


@kernel
def _packed(matrix: Any) -> Any:
    starts = np.zeros(len(matrix) + 1, np.int32)
    for k in range(len(matrix)):
        number = 0
        for i in range(matrix.shape[1]):
            number += matrix[k, i] != 0.0
        starts[k + 1] = starts[k] + number
    columns = np.empty(starts[-1], np.int32)
    values = np.empty(starts[-1], np.float32)
    at = 0
    for k in range(len(matrix)):
        for i in range(matrix.shape[1]):
            if matrix[k, i] != 0.0:
                columns[at] = i
                values[at] = matrix[k, i]
                at += 1
    return starts, columns, values


@kernel
def _taken(starts: Any, columns: Any, values: Any, rows: Any) -> Any:
    ends = np.zeros(rows.size + 1, np.int32)
    for k in range(rows.size):
        ends[k + 1] = ends[k] + starts[rows[k] + 1] - starts[rows[k]]
    some_columns = np.empty(ends[-1], np.int32)
    some_values = np.empty(ends[-1], np.float32)
    for k in range(rows.size):
        first = starts[rows[k]]
        last = starts[rows[k] + 1]
        some_columns[ends[k] : ends[k + 1]] = columns[first:last]
        some_values[ends[k] : ends[k + 1]] = values[first:last]
    return ends, some_columns, some_values


@kernel
def _transposed(starts: Any, columns: Any, values: Any, size: Any) -> Any:
    """Sort by column: count, add up, fill."""
    ends = np.zeros(size + 1, np.int32)
    for column in columns:
        ends[column + 1] += 1
    for i in range(size):
        ends[i + 1] += ends[i]
    at = ends[:-1].copy()
    rows = np.empty(columns.size, np.int32)
    sorted_values = np.empty(columns.size, np.float32)
    for k in range(starts.size - 1):
        for e in range(starts[k], starts[k + 1]):
            rows[at[columns[e]]] = k
            sorted_values[at[columns[e]]] = values[e]
            at[columns[e]] += 1
    return ends, rows, sorted_values


@kernel
def _distinct_parts(starts: Any, columns: Any, values: Any, bits: Any, places: Any, number: Any, width: Any) -> Any:
    """Look each part up in a hash table with open addressing."""
    most = (starts.size - 1) * number
    num_slots = 1
    while num_slots < 2 * most:
        num_slots *= 2
    slots = np.full(num_slots, -1, np.int32)
    distinct = np.empty((most, width), np.float32)
    found = 0
    which = np.empty((starts.size - 1, number), np.int64)
    parts = np.empty((number, width), np.float32)
    hashes = np.empty(number, np.int64)
    for k in range(starts.size - 1):
        parts[:] = 0.0
        hashes[:] = 0
        for e in range(starts[k], starts[k + 1]):
            place = places[columns[e]]
            if place >= 0:
                part = place // width
                at = place % width
                parts[part, at] = values[e]
                mixed = (np.int64(bits[e]) + at) * 0x9E3779B97F4A7C1
                hashes[part] += mixed ^ (mixed >> 31)
        for part in range(number):
            slot = hashes[part] & (num_slots - 1)
            while slots[slot] >= 0 and not _are_equal(distinct[slots[slot]], parts[part]):
                slot = (slot + 1) & (num_slots - 1)
            if slots[slot] < 0:
                slots[slot] = found
                distinct[found] = parts[part]
                found += 1
            which[k, part] = slots[slot]
    return distinct[:found].copy(), which


@inner
def _are_equal(one: Any, other: Any) -> Any:
    """Return whether two parts are equal."""
    differing = 0
    for i in range(one.size):
        differing += one[i] != other[i]
    return differing == 0
