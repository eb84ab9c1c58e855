"""Bit masks and the per-game random generator that the kernels share.

A set of cards is an int64 mask: bit ``c`` is set when card ``c`` is in the set; 63 cards fit. The
random generator is SplitMix64 (Steele, Lea and Flood, "Fast splittable pseudorandom number
generators", 2014); its whole state is one uint64, so it can be a field of a game record and a row
of a batch draws what a batch of one draws.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from llvmlite import ir
from numba import types
from numba.extending import intrinsic, overload
from numpy.typing import NDArray

from .kernels import inner, kernel

GAMMA = np.uint64(0x9E3779B97F4A7C15)
MIX_1 = np.uint64(0xBF58476D1CE4E5B9)
MIX_2 = np.uint64(0x94D049BB133111EB)
S27 = np.uint64(27)
S30 = np.uint64(30)
S31 = np.uint64(31)
S32 = np.uint64(32)


def popcount(mask: int | np.integer[Any]) -> int:
    """Count the set bits of a non-negative int64 mask."""
    return int(mask).bit_count()


def lowest(mask: int | np.integer[Any]) -> int:
    """Return the index of the lowest set bit of an int64 mask that is not zero."""
    return (int(mask) & -int(mask)).bit_length() - 1


@intrinsic
def _ctpop(typingctx: Any, mask: Any) -> Any:
    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        """Emit the processor's instruction for it."""
        return builder.ctpop(args[0])

    return types.int64(types.int64), codegen


@intrinsic
def _cttz(typingctx: Any, mask: Any) -> Any:
    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        """Emit the processor's instruction for it."""
        return builder.cttz(args[0], ir.Constant(ir.IntType(1), 0))

    return types.int64(types.int64), codegen


@overload(popcount, strict=False)
def _popcount(mask: Any) -> Any:
    return lambda mask: _ctpop(types.int64(mask))  # type: ignore[call-arg]  # numba supplies the first argument


@overload(lowest, strict=False)
def _lowest(mask: Any) -> Any:
    return lambda mask: _cttz(types.int64(mask))  # type: ignore[call-arg]  # numba supplies the first argument


@inner
def members(mask):
    """Iterate over the indices of the set bits of an int64 mask, lowest first.

    In `deduction.sheet` and where observations are written the same loop stands by hand: with some eighteen bits a mask
    it is a fifth faster.
    """
    while mask != 0:
        yield lowest(mask)
        mask &= mask - 1


@kernel
def advance(generator):
    """Step a generator (uint64) to its next state."""
    # Here and below by name: + and * of NumPy's scalars warn in plain Python where they wrap round,
    # which is wanted here.
    return np.uint64(np.add(generator, GAMMA))


@kernel
def mixed(generator):
    """Turn a generator's state (uint64) into 64 random bits."""
    z = np.uint64(np.multiply(generator ^ (generator >> S30), MIX_1))
    z = np.uint64(np.multiply(z ^ (z >> S27), MIX_2))
    return np.uint64(z ^ (z >> S31))


def mixed_rows(generators: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """Do the same as `mixed` to whole arrays (uint64 [B])."""
    rows: NDArray[np.uint64] = getattr(mixed, "py_func", mixed)(generators)
    return rows


@kernel
def numbered(stream, number):
    """Return the random bits (uint64) with a number, from 1, of a stream (uint64): those after as many `advance`s."""
    return mixed(np.uint64(np.add(stream, np.multiply(np.uint64(number), GAMMA))))


@kernel
def below(random_bits, limit):
    """Map 64 random bits (uint64) to an integer in [0, limit), limit < 2**32."""
    return np.int64(((random_bits >> S32) * np.uint64(limit)) >> S32)


@kernel
def draw(game, limit):
    """Draw an integer in [0, limit) from the generator of a game.

    A game is any record with a field ``rng`` (uint64).
    """
    game["rng"] = advance(game["rng"])
    return below(mixed(game["rng"]), limit)


@kernel
def shuffle(game, cards, size):
    """Shuffle the first `size` cards of an array by the generator of a game (Fisher-Yates)."""
    for i in range(size - 1, 0, -1):
        j = draw(game, i + 1)
        cards[i], cards[j] = cards[j], cards[i]
