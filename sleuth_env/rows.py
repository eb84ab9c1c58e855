"""Copy rows of bytes, as fast as the processor can.

A loop over a few tens of bytes is what a compiler makes the least of: it copies them one by one.
"""

from __future__ import annotations

from typing import Any

from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic, overload
from numpy.typing import NDArray


def copy_row(source: NDArray[Any], target: NDArray[Any], size: int) -> None:
    """Copy the first numbers of one contiguous row into another of the same type.

    Args:
        source: i1 or u1 [at least size].
        target: of the same type, [at least size], written; it lies apart from the source.
        size: how many.
    """
    target[:size] = source[:size]


@intrinsic
def _memcpy(typingctx: Any, source: Any, target: Any, size: Any) -> Any:
    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        """Emit a copy of bytes, of which the compiler knows how to make a few instructions."""
        source_type, target_type, _ = signature.args
        source_array = context.make_array(source_type)(context, builder, args[0])
        target_array = context.make_array(target_type)(context, builder, args[1])
        cgutils.raw_memcpy(builder, target_array.data, source_array.data, args[2], 1)  # type: ignore[no-untyped-call]
        return ir.Constant(ir.IntType(8), 0)

    return types.int8(source, target, types.intp), codegen


@overload(copy_row, strict=False)
def _copy_row(source: Any, target: Any, size: Any) -> Any:
    def copy(source: Any, target: Any, size: Any) -> None:
        _memcpy(source, target, size)  # type: ignore[call-arg]  # numba supplies the first argument

    return copy
