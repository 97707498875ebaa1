"""What a worker says of itself. It is sent there as it is: Gamekeeper may not be installed there."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

PACKAGES = ("gamekeeper", "numba", "numpy", "pyarrow")
"""What must be the same here and there for the same numbers to come out."""


def versions_here(packages: tuple[str, ...]) -> dict[str, str]:
    """Return the versions of Python and of packages; nothing for one that is not there."""
    import sys
    from importlib.metadata import PackageNotFoundError, version

    found = {"Python": ".".join(map(str, sys.version_info[:2]))}
    for package in packages:
        try:
            found[package] = version(package)
        except PackageNotFoundError:
            found[package] = ""
    return found


def tell_versions(packages: tuple[str, ...], batches: Iterator[Any]) -> Iterator[Any]:
    """Yield the versions that a worker has, for each of its tasks."""
    import json

    import pyarrow as pa

    for batch in batches:
        told = json.dumps(versions_here(packages))
        yield pa.RecordBatch.from_arrays([pa.array([told] * batch.num_rows)], names=["versions"])
