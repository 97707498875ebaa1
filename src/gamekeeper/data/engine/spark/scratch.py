"""The folder in which everything lies between two steps, seen by this machine and all workers."""

from __future__ import annotations

import re
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from gamekeeper.errors import Reason, StoreError
from gamekeeper.files.asides import temporary_folder
from gamekeeper.files.scratch import share_as_parent

if TYPE_CHECKING:
    import pyarrow as pa

_BATCH = 1 << 20


def make_scratch(within: Path | str | None) -> Path:
    """Make a folder of an engine's own; see `own_folder`."""
    try:
        return own_folder(within)
    except OSError as error:
        raise StoreError(
            Reason.NOT_WRITABLE,
            "An engine was to be opened.",
            f"Nothing can be written into its scratch folder ({error.strerror}).",
            "Name a folder that exists and can be written to, and that all workers see (GAMEKEEPER_SCRATCH).",
        ) from None


def own_folder(within: Path | str | None) -> Path:
    """Make a folder which its owner alone can look into, or a group as well (`share_as_parent`)."""
    made = temporary_folder(within)
    share_as_parent(made)
    return made


def location(path: Path) -> str:
    """Return where Spark is to write: in the file system that is mounted, whatever its own is.

    From the root on: workers are in folders of their own.
    """
    return f"file://{path.absolute()}"


def pattern(path: Path) -> str:
    """Return where Spark is to read, with what would be a pattern written out."""
    return location(Path(re.sub(r"[][{}*?\\]", r"\\\g<0>", str(path))))


def parts(folder: Path) -> list[Path]:
    """Return the files of a folder that Spark wrote, in the order of their rows."""
    return sorted(path for path in folder.iterdir() if path.name.startswith("part-"))


def count_rows(folder: Path) -> int:
    """Return how many rows this machine sees in a folder that Spark wrote."""
    import pyarrow.parquet as parquet

    return sum(parquet.read_metadata(path).num_rows for path in parts(folder))


def batches(folder: Path) -> Iterator[pa.RecordBatch]:
    """Return the rows of a folder that Spark wrote, in their order."""
    import pyarrow.parquet as parquet

    for path in parts(folder):
        with parquet.ParquetFile(path) as file:
            yield from file.iter_batches(_BATCH)


def remove_folder(folder: Path) -> None:
    """Remove a folder with all there is in it, if it is there."""
    shutil.rmtree(folder, ignore_errors=True)
