"""How kernels are compiled by numba, kept on disk, and given machine instructions that count bits.

What Python calls is kept on disk: beside the package, in the user's cache folder where that cannot
be written to, or in the folder that NUMBA_CACHE_DIR names. Where there is none, each process
compiles for itself. What only kernels call is compiled into those that call it; without wrappers
for Python that takes about half the time.

numba keeps a compiled function as long as the file that it is written in stays as it is (its stamp
is the file's hash, numba 0.68). Functions of other files that are compiled into it, and constants
from there, are not looked at: after an edit of a helper, or an upgrade of the package, the kernel
would go on as it was. Here the stamp covers the files of all helpers too, and the values of all
constants that a kernel or its helpers name.

Compilation takes longer than most answers, so kernels keep to what compiles fast: whole arrays are
copied in loops (an assignment of one array to another has its error messages compiled, at two
seconds), room is given by the caller, and a number that an inner kernel takes and gives back starts
as np.int64(0), since it would be compiled once for the constant 0 and again for integers. Loops
with a condition are not over a constant number of places, since unrolled they can take minutes.
"""

from __future__ import annotations

import hashlib
import sys
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from types import FunctionType, ModuleType
from typing import Any, TypeVar

import numba
import numpy as np
from llvmlite import ir
from numba import types
from numba.core.caching import FunctionCache, IndexDataCacheFile
from numba.extending import intrinsic


def kept_on_disk(dispatcher: Any) -> Any:
    """Keep what numba compiles for a function on disk, where there is a folder for it.

    Examples
    --------
    A decorator above that of numba, which must not have `cache=True` itself:

    >>> import numba
    >>> @kept_on_disk
    ... @numba.njit
    ... def twice(x):
    ...     return 2 * x
    >>> twice(4)
    8
    """
    try:
        kept: Any = FunctionCache(dispatcher.py_func)
    except RuntimeError:
        # No folder can be written to, or the function has no file.
        return dispatcher
    stamp = hashlib.sha256()
    for name, content in sorted(set(compiled_from(dispatcher.py_func))):
        stamp.update(f"{name}\0{content}\0".encode())
    kept._cache_file = IndexDataCacheFile(
        cache_path=kept.cache_path,
        filename_base=kept._impl.filename_base,
        source_stamp=stamp.digest(),
    )
    dispatcher._cache = kept
    return dispatcher


def compiled_from(function: FunctionType) -> Iterator[tuple[str, str]]:
    """Yield what is compiled into a function: files with their hashes, constants with their values.

    Files are those of the function and of everything of its package that it names, and so on for
    the functions that those name.
    """
    package = function.__module__.partition(".")[0]
    waiting, seen = [function], {function}
    while waiting:
        here = waiting.pop()
        yield _file_of(here.__module__)
        for name in here.__code__.co_names:
            value = here.__globals__.get(name)
            module = str(getattr(value, "__module__", ""))
            if isinstance(value, np.ndarray):
                yield f"{here.__module__}.{name}", repr((value.dtype, value.tolist()))
            elif isinstance(value, int | float | str | tuple | np.generic):
                yield f"{here.__module__}.{name}", repr(value)
            elif isinstance(value, ModuleType) and value.__name__.startswith(f"{package}."):
                yield _file_of(value.__name__)
            elif module.partition(".")[0] == package:
                yield _file_of(module)
                inner = getattr(value, "py_func", None)
                if isinstance(inner, FunctionType) and inner not in seen:
                    seen.add(inner)
                    waiting.append(inner)


@cache
def _file_of(module: str) -> tuple[str, str]:
    path = getattr(sys.modules[module], "__file__", None)
    if path is None or not Path(path).is_file():
        return module, ""
    return module, hashlib.sha256(Path(path).read_bytes()).hexdigest()


_Function = TypeVar("_Function", bound=Callable[..., Any])
# The published types of numba do not know all options.
_njit: Any = numba.njit


def kernel(function: _Function) -> _Function:
    """Compile what Python calls, and keep it on disk where that is possible."""
    return kept_on_disk(_njit(nogil=True)(function))


def inner(function: _Function) -> _Function:
    """Compile what only kernels call."""
    return _njit(nogil=True, no_cpython_wrapper=True, no_cfunc_wrapper=True)(function)


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


# A kernel kept by numba itself does not notice an edit here (`kept_on_disk` does); they never change.
count_bits: Any = intrinsic(_count_bits)
lowest_bit: Any = intrinsic(_lowest_bit)
# met_subsets(start, m0, ..., m5): bit L says whether start and all masks in the bits of L have a
# member in common.
met_subsets: Any = intrinsic(_met_subsets)
