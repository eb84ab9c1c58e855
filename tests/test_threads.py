"""Threads that share a batch."""

from __future__ import annotations

import threading

import numpy as np
import pytest

from sleuth_env.threads import Threads


@pytest.mark.parametrize("number", [1, 2, 5])
def test_rows_are_split_in_order_and_no_part_is_empty(number: int) -> None:
    threads = Threads(number)
    for size in (0, 1, 3, 12):
        parts = threads.split(np.arange(size))
        assert np.concatenate([np.zeros(0, np.int64), *parts]).tolist() == list(range(size))
        assert len(parts) == min(number, size)
        assert all(len(part) for part in parts)


def test_parts_are_worked_on_at_the_same_time_and_given_in_order() -> None:
    # Nobody passes the barrier alone.
    barrier = threading.Barrier(3, timeout=60)
    assert Threads(3).each(lambda a, b: (barrier.wait() >= 0, a + b), [1, 2, 3], [10, 20, 30]) == [
        (True, 11),
        (True, 22),
        (True, 33),
    ]
    assert Threads(1).each(lambda a, b: a + b, [1, 2, 3], [10, 20, 30]) == [11, 22, 33]


def test_an_error_of_a_part_is_raised() -> None:
    with pytest.raises(ZeroDivisionError):
        Threads(2).each(lambda a: 1 // a, [1, 0])
