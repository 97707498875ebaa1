"""Two machine instructions on 64 bits, for compiled kernels: count bits, find the lowest one."""

from __future__ import annotations

from typing import Any

from numba import types
from numba.extending import intrinsic


def _count_bits(typing: Any, value: Any) -> Any:
    def code(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return builder.ctpop(args[0])

    return types.uint64(types.uint64), code


def _lowest_bit(typing: Any, value: Any) -> Any:
    def code(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return builder.cttz(args[0], context.get_constant(types.boolean, 1))

    return types.uint64(types.uint64), code


# A kernel kept by numba itself does not notice an edit here (`kernel_cache` does); they never change.
count_bits: Any = intrinsic(_count_bits)
lowest_bit: Any = intrinsic(_lowest_bit)
