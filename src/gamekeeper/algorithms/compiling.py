"""How kernels are compiled: those that Python calls, and those that only kernels call.

What Python calls is kept on disk: beside the package, or in the user's cache folder where the
package cannot be written to (the environment variable NUMBA_CACHE_DIR names another place). Where
neither can be written to, each process compiles anew. What only kernels call is compiled into
those that call it; without wrappers for Python that takes about half the time. A kernel is compiled
anew when a file has changed that anything compiled into it comes from (`kernel_cache`).

Compilation takes longer than most answers, so kernels keep to what compiles fast: whole arrays are
copied in loops (an assignment of one array to another has its error messages compiled, at two
seconds), room is given by the caller, and a number that an inner kernel takes and gives back starts
as np.int64(0), since it would be compiled once for the constant 0 and again for integers. Loops with
a condition are not over a constant number of places, since unrolled they can take minutes.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import numba

from gamekeeper.algorithms.kernel_cache import kept_on_disk

_Function = TypeVar("_Function", bound=Callable[..., Any])
# The published types of numba do not know all options.
_njit: Any = numba.njit


def kernel(function: _Function) -> _Function:
    """Compile what Python calls, and keep it on disk where that is possible."""
    return kept_on_disk(_njit(nogil=True)(function))


def inner(function: _Function) -> _Function:
    """Compile what only kernels call."""
    return _njit(nogil=True, no_cpython_wrapper=True, no_cfunc_wrapper=True)(function)
