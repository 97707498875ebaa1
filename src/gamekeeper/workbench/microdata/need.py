"""What an attack needs of the machine, asked before the records of a file are read."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from gamekeeper.budget import require_memory
from gamekeeper.data.coding.first_records import FIRST_RECORDS, first_codes
from gamekeeper.data.reading.source import Source
from gamekeeper.wording import at_start, count_of


@dataclass(frozen=True, slots=True)
class Need:
    """What an attack needs of the machine, asked before a file is read.

    Attributes
    ----------
    bytes_of
        The bytes that it takes, at least, for a number of records and of variables.
    look
        Refuses by the codes of the first records and the number of all, where that can be told.
    """

    bytes_of: Callable[[int, int], int]
    look: Callable[[NDArray[np.uint32], int], None] | None = None


def require_room(source: Source, columns: Sequence[str], need: Need) -> None:
    """Refuse a file that is too large for an attack, before its records are read."""
    n_records = source.about_records()
    if n_records is None or not set(columns) <= set(source.names):
        # Names that are not there are told, together with others, by whoever reads.
        return
    n_keys, variables = len(columns), count_of(len(columns), "variable")
    is_exact = source.n_records is not None
    records = f"{'' if is_exact else 'about '}{count_of(n_records, 'record')}"
    require_memory(
        f"{at_start(records)} of {source.words} were to be read.",
        need.bytes_of(n_records, n_keys),
        f"What is kept of {records}{f' with {variables}' if columns else ''}",
        "Take a random part of the records, or one region at a time",
    )
    if need.look is not None and is_exact and n_records > FIRST_RECORDS:
        need.look(first_codes(source, columns), n_records)
