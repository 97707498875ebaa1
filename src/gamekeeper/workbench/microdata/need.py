"""What an attack needs of the machine, asked before the records of a file are read."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from gamekeeper.budget import require_memory, workers_of
from gamekeeper.data.coding.first_records import FIRST_RECORDS, first_codes
from gamekeeper.data.engine.bringing import FEWER_RECORDS, MOST_BROUGHT
from gamekeeper.data.reading.source import Source
from gamekeeper.errors import LimitError, Reason
from gamekeeper.wording import at_start, count_of, number_text

WITHOUT_HOUSEHOLDS = (
    "Leave out --household: then it works on different keys, of any number of records."
)
_MOST_SAMPLES = 8


@dataclass(frozen=True, slots=True)
class Need:
    """What an attack needs of the machine, asked before a file is read.

    Attributes
    ----------
    bytes_of
        The bytes that it takes, at least, for a number of records and of variables.
    look
        Refuses by the codes of the first records and the number of all, where that can be told.
    most_elsewhere
        So many records at most where an engine elsewhere has them and arrays come from it; as many
        as come at all if None.
    by_key
        Whether it works on different keys where an engine elsewhere counts: how many there are is
        not known before, and is asked then (`require_brought`).
    do
        A way around of its own where there are too many elsewhere, as a sentence.
    """

    bytes_of: Callable[[int, int], int]
    look: Callable[[NDArray[np.uint32], int], None] | None = None
    most_elsewhere: int | None = None
    by_key: bool = False
    do: str = ""


def require_room(
    source: Source, columns: Sequence[str], need: Need, *, elsewhere: bool = False
) -> None:
    """Refuse a file that is too large for an attack, before its records are read.

    Where an engine elsewhere keeps the records (`elsewhere`), this machine holds arrays with a cell
    for each only if the attack needs them, and so many at most.
    """
    n_records = source.about_records()
    if elsewhere and need.by_key:
        return
    if n_records is None or not set(columns) <= set(source.names):
        # Names that are not there are told, together with others, by whoever reads.
        return
    n_keys, variables = len(columns), count_of(len(columns), "variable")
    is_exact = source.n_records is not None
    records = f"{'' if is_exact else 'about '}{count_of(n_records, 'record')}"
    asked = f"{at_start(records)} of {source.words} were to be read."
    most = need.most_elsewhere or MOST_BROUGHT
    if elsewhere and n_records > most:
        raise LimitError(
            Reason.TOO_LARGE,
            asked,
            "What is asked for has results of every record, which come to this machine:"
            f" {number_text(most)} at most.",
            f"{need.do}{' ' if need.do else ''}{FEWER_RECORDS}.",
        )
    require_memory(
        asked,
        need.bytes_of(n_records, n_keys),
        f"What is kept of {records}{f' with {variables}' if columns else ''}",
        FEWER_RECORDS,
    )
    if need.look is not None and is_exact and n_records > FIRST_RECORDS:
        need.look(first_codes(source, columns), n_records)


def sampling_workers(asked: int | None) -> int:
    """Return how many samples are worked on at a time: as asked, else one per core, eight at most."""
    return workers_of(asked or min(os.cpu_count() or 1, _MOST_SAMPLES))
