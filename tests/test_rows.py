"""Rows of bytes are copied as they are, and no others."""

from __future__ import annotations

import numpy as np

from sleuth_env.kernels import kernel
from sleuth_env.rows import copy_row


@kernel
def copied(source: np.ndarray, target: np.ndarray) -> None:
    copy_row(source, target[2:], 38)


def test_a_row_is_copied_up_to_its_size() -> None:
    source = np.arange(50, dtype=np.int8)
    target = np.full(50, -1, np.int8)
    copied(source, target)
    assert target.tolist() == [-1, -1, *range(38), *[-1] * 10]


def test_without_compilation_the_same_is_copied() -> None:
    target = np.zeros(5, np.int8)
    copy_row(np.arange(1, 6, dtype=np.int8), target, 3)
    assert target.tolist() == [1, 2, 3, 0, 0]
