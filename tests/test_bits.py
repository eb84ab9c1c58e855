"""Bit masks and random numbers: compiled and plain Python give the same, published results."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sleuth_env import bits, kernels
from tests.support.oracle import Generator

MASKS = st.integers(0, 2**63 - 1)
GAME = np.dtype([("rng", "u8"), ("cards", "i1", 54)])


@kernels.kernel
def popcounts(masks, out):
    for i in range(masks.size):
        out[i] = bits.popcount(masks[i])


@kernels.kernel
def lowest_bits(masks, out):
    for i in range(masks.size):
        out[i] = bits.lowest(masks[i])


# The first example may have to compile.
@settings(deadline=None)
@given(masks=st.lists(MASKS, min_size=1))
def test_popcount_counts_the_set_bits(masks: list[int]) -> None:
    compiled = np.zeros(len(masks), "i8")
    popcounts(np.array(masks), compiled)
    expected = [bin(mask).count("1") for mask in masks]
    assert compiled.tolist() == [bits.popcount(mask) for mask in masks] == expected


# The first example may have to compile.
@settings(deadline=None)
@given(masks=st.lists(MASKS.filter(bool), min_size=1))
def test_lowest_gives_the_lowest_set_bit(masks: list[int]) -> None:
    compiled = np.zeros(len(masks), "i8")
    lowest_bits(np.array(masks), compiled)
    expected = [bin(mask)[::-1].index("1") for mask in masks]
    assert compiled.tolist() == [bits.lowest(mask) for mask in masks] == expected


@pytest.mark.parametrize("mask", [0, 1 << 62, 2**63 - 1])
def test_popcount_at_the_edges(mask: int) -> None:
    compiled = np.zeros(1, "i8")
    popcounts(np.array([mask]), compiled)
    assert compiled[0] == bits.popcount(mask) == bin(mask).count("1")


def test_the_generator_gives_the_published_numbers_of_splitmix64() -> None:
    state = np.uint64(1234567)
    numbers = []
    for _ in range(5):
        state = np.uint64(bits.advance(state))
        numbers.append(int(bits.mixed(state)))
    assert numbers == [
        6457827717110365317,
        3203168211198807973,
        9817491932198370423,
        4593380528125082431,
        16408922859458223821,
    ]


# The first example may have to compile.
@settings(deadline=None)
@given(seed=st.integers(0, 2**64 - 1), limit=st.integers(1, 2**32 - 1))
def test_a_draw_is_in_range_and_the_same_as_the_oracles(seed: int, limit: int) -> None:
    game = np.zeros(1, GAME)
    generator = Generator(seed)
    game["rng"] = seed
    drawn = bits.draw(game[0], limit)
    assert 0 <= drawn < limit
    assert (drawn, int(game["rng"][0])) == (generator.below(limit), generator.state)


def test_draws_are_spread_evenly() -> None:
    game = np.zeros(1, GAME)
    counts = Counter(int(bits.draw(game[0], 7)) for _ in range(70_000))
    # 10,000 expected for each, standard deviation 93: seven deviations are allowed, for a fixed
    # seed that never changes.
    assert set(counts) == set(range(7))
    assert all(9_350 < count < 10_650 for count in counts.values())


# The first example may have to compile.
@settings(deadline=None)
@given(seed=st.integers(0, 2**64 - 1), size=st.integers(0, 54))
def test_a_shuffle_moves_the_first_cards_only_and_is_the_oracles(seed: int, size: int) -> None:
    game = np.zeros(1, GAME)
    game["rng"] = seed
    game["cards"] = np.arange(54)
    bits.shuffle(game[0], game["cards"][0], size)
    generator = Generator(seed)
    assert game["cards"][0].tolist() == [*generator.shuffled(range(size)), *range(size, 54)]
    assert int(game["rng"][0]) == generator.state


def test_every_order_of_three_cards_is_equally_likely() -> None:
    game = np.zeros(1, GAME)
    orders: Counter[tuple[int, ...]] = Counter()
    for _ in range(12_000):
        game["cards"][0, :3] = [0, 1, 2]
        bits.shuffle(game[0], game["cards"][0], 3)
        orders[tuple(game["cards"][0, :3].tolist())] += 1
    assert len(orders) == 6
    assert all(1_750 < count < 2_250 for count in orders.values())


@pytest.mark.parametrize("python", [False, True])
@pytest.mark.filterwarnings("error")
def test_numbers_wrap_round_without_a_warning(python: bool) -> None:
    advance, mixed = (function.py_func if python else function for function in (bits.advance, bits.mixed))
    assert int(advance(np.uint64(2**64 - 1))) == int(bits.GAMMA) - 1
    assert int(mixed(np.uint64(2**64 - 1))) == int(bits.mixed_rows(np.array([2**64 - 1], np.uint64))[0])


@kernels.kernel
def members_of(masks, out):
    for i in range(masks.size):
        for member in bits.members(masks[i]):
            out[i, member] += 1


@settings(deadline=None)  # the first call compiles
@given(st.lists(st.integers(0, 2**63 - 1), min_size=1, max_size=8))
def test_members_are_the_set_bits_lowest_first(masks: list[int]) -> None:
    expected = [[i for i in range(63) if mask >> i & 1] for mask in masks]
    compiled = np.zeros((len(masks), 63), np.int64)
    members_of(np.array(masks), compiled)
    assert [np.flatnonzero(row).tolist() for row in compiled] == expected
    assert compiled.max(initial=0) <= 1
