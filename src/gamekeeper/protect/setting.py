"""What holds for every step of a recipe: the keys, how records are told apart, the one seed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import sha256
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from gamekeeper.algorithms.counter_stream import CounterStream
from gamekeeper.data.coding.codebook import MISSING
from gamekeeper.data.coding.coded_table import CodedTable
from gamekeeper.data.keys.missing import Missing
from gamekeeper.errors import InputError, Reason
from gamekeeper.wording import count_of, quoted

if TYPE_CHECKING:
    from gamekeeper.mapping.environment.environment import Environment
    from gamekeeper.results import Progress


@dataclass(frozen=True, kw_only=True)
class Setting:
    """What holds for every step.

    Attributes
    ----------
    keys
        The variables that an intruder could match on, all of them among those of the table.
    missing
        What a missing cell of the input means.
    weight
        The numeric column of the table with sampling weights; empty where there are none.
    strata, household, identifier
        Variables of the table that tell strata, households and records; empty where there are none.
    fraction
        The share of the population that is in the file, as `count_keys` takes it; None where it is
        not given.
    sensitive
        Variables that finding a class of records must not give away.
    response_knowledge
        Whether an intruder may know that somebody is in the file (response knowledge).
    seed
        The one seed of the recipe.
    environment, sinks
        Where categories are looked up, and what the codes of variables mean there (for each code
        from 1 on the sinks), for those that are coded as a scenario says.
    numbers
        Variables whose small whole numbers are numbers, and no codes of bands.
    decimal
        How numbers of the file are written.
    workers
        How many work at a time; the result is the same.
    progress
        Told how far the work is; it may raise to cancel it.
    """

    keys: tuple[str, ...]
    missing: Missing = Missing.CATEGORY
    weight: str = ""
    strata: str = ""
    household: str = ""
    identifier: str = ""
    fraction: Any = None
    sensitive: tuple[str, ...] = ()
    response_knowledge: bool = True
    seed: int = 0
    environment: Environment | None = field(default=None, repr=False)
    sinks: Mapping[str, Sequence[Sequence[int]]] = field(
        default_factory=dict[str, Sequence[Sequence[int]]], repr=False
    )
    numbers: tuple[str, ...] = ()
    decimal: str = "."
    workers: int | None = None
    progress: Progress | None = field(default=None, repr=False)

    def stream(self, place: int, do: str, variable: str = "") -> CounterStream:
        """Return the stream of random numbers of a step, by its place in the recipe from 1."""
        return CounterStream(self.seed, (f"{place} {do}", variable))

    def households(self, table: CodedTable) -> NDArray[np.int64] | None:
        """Return a number of each record's household, who has none being one; None without a column."""
        if not self.household:
            return None
        codes = table.codes(self.household).astype(np.int64)
        alone = codes == MISSING
        codes[alone] = codes.max(initial=0) + 1 + np.arange(int(alone.sum()))
        return codes

    def records(self, table: CodedTable) -> NDArray[np.uint64]:
        """Return what each record is drawn by: its identifier, else its place in the file.

        With an identifier, nothing that is drawn depends on the order of the records.
        """
        if not self.identifier:
            return np.arange(table.n_records, dtype=np.uint64)
        codes = table.codes(self.identifier)
        counts = np.bincount(codes, minlength=1)
        n_twice = int(counts[1:][counts[1:] > 1].sum())
        n_none = int(counts[MISSING])
        if n_twice or n_none:
            raise InputError(
                Reason.DUPLICATE,
                f"Records were to be told apart by {quoted([self.identifier])}.",
                f"{count_of(n_none, 'record has', 'records have')} none, and"
                f" {count_of(n_twice, 'record shares', 'records share')} one with another.",
                "Name a column with another value for each record (--id), or none: then records"
                " are told apart by their place in the file.",
            )
        values = table.codebook[self.identifier].values
        named = [int.from_bytes(sha256(v.encode()).digest()[:8], "little") for v in values]
        return np.array(named, dtype=np.uint64)[codes]
