"""Machine instructions for compiled kernels: count bits, find the lowest one, meet sets at once."""

from __future__ import annotations

from typing import Any

from llvmlite import ir
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


def _met_subsets(
    typing: Any, start: Any, m0: Any, m1: Any, m2: Any, m3: Any, m4: Any, m5: Any
) -> Any:
    def code(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        word, lanes = ir.IntType(64), ir.VectorType(ir.IntType(64), 8)

        def in_all_lanes(value: Any) -> Any:
            one = builder.insert_element(ir.Constant(lanes, ir.Undefined), value, word(0))
            places = ir.Constant(ir.VectorType(ir.IntType(32), 8), [0] * 8)
            return builder.shuffle_vector(one, ir.Constant(lanes, ir.Undefined), places)

        start, first, second = args[0], args[1:4], args[4:7]
        # Lane i meets those of the first three masks that are in the bits of i.
        met = in_all_lanes(start)
        for bit, mask in enumerate(first):
            left_out = ir.Constant(lanes, [0 if lane >> bit & 1 else -1 for lane in range(8)])
            met = builder.and_(met, builder.or_(in_all_lanes(mask), left_out))
        found = word(0)
        others = [word(-1)]
        for mask in second:
            others += [builder.and_(other, mask) for other in others]
        for number, other in enumerate(others):
            some = builder.icmp_unsigned(
                "!=", builder.and_(met, in_all_lanes(other)), ir.Constant(lanes, [0] * 8)
            )
            bits = builder.zext(builder.bitcast(some, ir.IntType(8)), word)
            found = builder.or_(found, builder.shl(bits, word(8 * number)))
        return found

    return types.uint64(*[types.uint64] * 7), code


# A kernel kept by numba itself does not notice an edit here (`kernel_cache` does); they never change.
count_bits: Any = intrinsic(_count_bits)
lowest_bit: Any = intrinsic(_lowest_bit)
# met_subsets(start, m0, ..., m5): bit L says whether start and all masks in the bits of L have a
# member in common.
met_subsets: Any = intrinsic(_met_subsets)
