"""A protected file: the new codes, where they differ from the old ones, and what was found."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, ClassVar

from gamekeeper.data.coding.coded_table import CodedTable
from gamekeeper.protect.changes import ChangeLog
from gamekeeper.results import Provenance, Result
from gamekeeper.wording import count_of, joined

if TYPE_CHECKING:
    import pyarrow as pa

    from gamekeeper.protect.step import Step


@dataclass(frozen=True, repr=False, eq=False)
class Protected(Result):
    """A file after one step or after several.

    A suppressed cell has code 0 like a missing one; `log.suppressed(variable)` tells the two apart.

    Attributes
    ----------
    before
        The file as it was.
    table
        The file as it is now, with the same variables and numeric columns, its records in the order of
        the original: for work inside. What is written for others is shuffled.
    log
        Where they differ.
    told
        What was done, in words, without a category of the file.
    found
        What the step found, as plain values that a recipe keeps: cells, lower bounds, losses.
    frozen
        The steps that do the same without searching; empty where the step itself does.
    """

    tells_of_records: ClassVar[bool] = False
    why_no_plot: ClassVar[str] = "it is a file; the map of a study draws what it costs"

    before: CodedTable
    table: CodedTable
    log: ChangeLog
    told: tuple[str, ...]
    provenance: Provenance
    found: Mapping[str, Any] = field(default_factory=dict[str, Any])
    frozen: tuple[Step, ...] = ()

    @property
    def fingerprints(self) -> tuple[str, str]:
        """What stands for the data before and after."""
        return self.before.fingerprint, self.table.fingerprint

    def then(self, later: Protected) -> Protected:
        """Return the file after this step and another one, which was done to its table."""
        return replace(
            later,
            before=self.before,
            log=self.log.then(later.log),
            told=(*self.told, *later.told),
            frozen=(),
        )

    def summary(self) -> dict[str, Any]:
        """Return how much was changed."""
        return {
            "records": self.log.n_left,
            "left_out": self.log.n_records - self.log.n_left,
            "suppressed": self.log.n_suppressed,
            "changed": self.log.n_changed,
        }

    def sentences(self) -> list[str]:
        """Return what was done, in words."""
        return [self._changes(), *self.told]

    def _changes(self) -> str:
        log = self.log
        n_recoded = sum(change.recode is not None for change in log.variables.values())
        n_out, n_stars = log.n_records - log.n_left, log.n_suppressed
        n_other = log.n_changed - n_stars
        parts = [
            count_of(number, one, many)
            for number, one, many in (
                (n_recoded, "variable has coarser categories", "variables have coarser categories"),
                (n_stars, "cell is suppressed", "cells are suppressed"),
                (n_other, "cell has another value", "cells have another value"),
                (n_out, "record is left out", "records are left out"),
            )
            if number
        ]
        return f"{joined(parts)}; no other value was changed." if parts else "Nothing was changed."

    def to_arrow(self) -> pa.Table:
        """Return one row per variable that was changed."""
        import pyarrow as pa

        schema = pa.schema(
            {
                "variable": pa.string(),
                "recoded": pa.bool_(),
                "categories": pa.int64(),
                "suppressed": pa.int64(),
                "changed": pa.int64(),
                "changed_share": pa.float64(),
            }
        )
        return pa.Table.from_pylist(self.log.rows(), schema)
