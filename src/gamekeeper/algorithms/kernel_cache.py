"""Kernels kept on disk, and compiled anew when anything that is compiled into them has changed.

numba keeps a compiled function as long as the file that it is written in stays as it is (its stamp is
the file's hash, numba 0.68). Functions of other files that are compiled into it, and constants from
there, are not looked at: after an edit of a helper, or an upgrade of the package, the kernel would
go on as it was. Here the stamp covers the files of all helpers too, and the values of all constants
that a kernel or its helpers name.

The folder is beside the package, or the user's cache folder where that cannot be written to, or the
one that NUMBA_CACHE_DIR names. Where there is none, each process compiles for itself.
"""

from __future__ import annotations

import hashlib
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from types import FunctionType, ModuleType
from typing import Any

import numpy as np
from numba.core.caching import FunctionCache, IndexDataCacheFile


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
