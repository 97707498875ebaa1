"""The formats of classifications that can be read."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from gamekeeper.data.reading.apart import plain_of, send_plain
from gamekeeper.errors import InputError, Reason
from gamekeeper.importing.classifications.classification import (
    Classification,
    classification_of,
)
from gamekeeper.importing.classifications.code_lists import (
    is_census_tables,
    is_hrc,
    is_levels,
    is_parent_table,
    is_sdmx,
    read_census_tables,
    read_hrc,
    read_levels,
    read_parent_table,
    read_sdmx,
)
from gamekeeper.importing.files.limits import (
    MOST_MEGABYTES,
    WAY_AROUND,
    asked_to_import,
    malformed,
    require_file,
)
from gamekeeper.importing.files.opened import OpenedFile
from gamekeeper.wording import quoted


@dataclass(frozen=True, slots=True)
class ListFormat:
    """A format of classifications."""

    name: str
    description: str
    holds: Callable[[OpenedFile], bool]
    read: Callable[[OpenedFile], list[Classification]]


LIST_FORMATS: tuple[ListFormat, ...] = (
    ListFormat("sdmx", "SDMX code lists and hierarchical code lists (XML)", is_sdmx, read_sdmx),
    ListFormat("hrc", "hierarchies of tau-ARGUS", is_hrc, read_hrc),
    ListFormat(
        "census", "census classifications of the ONS (CSV)", is_census_tables, read_census_tables
    ),
    ListFormat(
        "parents", "codes with parents, SDMX code lists as CSV", is_parent_table, read_parent_table
    ),
    ListFormat("levels", "a row per category and a column per level (ARX)", is_levels, read_levels),
)


def read_classifications(
    path: str | Path, *, format_name: str | None = None, most_megabytes: int = MOST_MEGABYTES
) -> list[Classification]:
    """Read the classifications of a file; nothing is fetched."""
    path = Path(path)
    require_file(path, most_megabytes)
    found = plain_of(
        send_classifications,
        str(path),
        format_name,
        most_megabytes,
        path=path,
        asked=asked_to_import(path.name),
        do=WAY_AROUND,
    )
    return [classification_of(tree) for tree in found]


def send_classifications(
    out: BinaryIO, name: str, format_name: str | None, most_megabytes: int
) -> None:
    """Write the classifications of a file."""
    path = Path(name)
    file = OpenedFile(path, most_megabytes)
    for known in LIST_FORMATS:
        if known.name == format_name or (format_name is None and known.holds(file)):
            found = [one for one in known.read(file) if one.children or one.bands]
            if not found:
                raise malformed(path.name, "It has no categories.")
            send_plain(out, [one.as_plain() for one in found])
            return
    raise InputError(
        Reason.WRONG_SCHEMA,
        f"The classifications of {quoted([path.name])} were to be read.",
        "It is of no format that is known."
        if format_name is None
        else f"There is no format {quoted([format_name])}.",
        f"These are read: {'; '.join(f'{f.name} ({f.description})' for f in LIST_FORMATS)}.",
    )
