"""Results of a risk assessment, per record and for the file.

A score ranks and has no other meaning. Only what estimates the chance of a correct match is
called a probability; which it is stands with each measure.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from gamekeeper.errors import InputError, Reason
from gamekeeper.results import Provenance, Result, arrow_table, table_html
from gamekeeper.wording import did_you_mean, quoted

if TYPE_CHECKING:
    import numpy as np
    import pyarrow as pa
    from matplotlib.figure import Figure
    from numpy.typing import NDArray

    from gamekeeper.data.keys.key_table import KeyTable
    from gamekeeper.data.keys.listed_records import ListedRecords

_SHOWN_RECORDS = 10


@dataclass(frozen=True, repr=False)
class RecordRisk(Result):
    """The risk of every record of a file, in the order of the file.

    Attributes
    ----------
    measure
        The column that ranks records.
    table
        One row per record: `record` (its number in the file, from 1), `class_size`, then the
        measures. Records that were left out have no class size and no measures.
    meanings
        What each column says, in words.
    n_elsewhere
        How many records are not in the table, because an engine elsewhere has them: of each of them
        the table has another one with its key, or it is not unique.
    counts
        How many records each row stands for, where it has the first record of every key; None where
        a row is a record.
    n_excluded
        How many of all were left out; told by the table where it has all.
    """

    measure: str
    table: pa.Table
    meanings: Mapping[str, str]
    provenance: Provenance
    n_elsewhere: int = 0
    n_excluded: int = 0
    counts: NDArray[np.int64] | None = None

    def summary(self) -> dict[str, Any]:
        """Return the headline numbers."""
        import pyarrow.compute as pc

        sizes = self.table["class_size"]
        largest = pc.max(self.table[self.measure]).as_py()
        return {
            "records": self.table.num_rows + self.n_elsewhere,
            "excluded": self.n_excluded if self.n_elsewhere else sizes.null_count,
            "sample_uniques": pc.sum(pc.equal(sizes, 1)).as_py() or 0,
            "measure": self.measure,
            "largest": "not known" if largest is None else largest,
        }

    def to_arrow(self) -> pa.Table:
        """Return one row per record, in the order of the file."""
        return self.table

    def top(self, n: int = _SHOWN_RECORDS, *, by: str = "") -> pa.Table:
        """Return the riskiest records, the riskiest first; of equals the one that comes first.

        They are ranked `by` a column, `measure` if empty. Records without a value are never among them.
        """
        import pyarrow as pa
        import pyarrow.compute as pc

        column = by or self.measure
        known = [
            field.name
            for field in self.table.schema
            if pa.types.is_integer(field.type) or pa.types.is_floating(field.type)
        ]
        if column not in known:
            raise InputError(
                Reason.UNKNOWN_NAME,
                f"Records were to be ranked by {quoted([column])}.",
                "There is no such measure.",
                did_you_mean(column, known),
            )
        if n < 1:
            raise InputError(
                Reason.BAD_OPTION,
                f"The {n} riskiest records were asked for.",
                "That is less than one.",
                "Give a positive whole number.",
            )
        kept = self.table.filter(pc.is_valid(self.table[column]))
        keys = [(column, "descending")]
        if column != "record":
            keys.append(("record", "ascending"))
        return kept.take(pc.sort_indices(kept, sort_keys=keys)[:n])

    def _repr_html_(self) -> str:
        shown = self.top()
        rows = zip(*(column.to_pylist() for column in shown.columns), strict=True)
        caption = f"{type(self).__name__}: {shown.num_rows} of {self.table.num_rows:,} records"
        return table_html(shown.column_names, rows, caption=f"{caption}, by {self.measure}")

    def plot(self) -> Figure:
        """Plot how the measure that ranks is distributed; needs no display."""
        from gamekeeper.attack.risk_plots import plot_records

        return plot_records(self)


def listed_risk(
    measure: str,
    listed: ListedRecords,
    table: pa.Table,
    meanings: Mapping[str, str],
    provenance: Provenance,
) -> RecordRisk:
    """Return results of listed records, which an engine elsewhere may have."""
    return RecordRisk(
        measure,
        table,
        meanings,
        provenance,
        n_elsewhere=listed.n_elsewhere,
        n_excluded=listed.table.n_excluded,
        counts=listed.counts if listed.by_key else None,
    )


def keyed_provenance(
    method: str,
    variant: str,
    key_table: KeyTable,
    parameters: Mapping[str, str],
    *,
    seed: int | None = None,
    seconds: float = 0.0,
) -> Provenance:
    """Return how a result came about that rests on the keys of a file."""
    return Provenance(
        method,
        variant,
        {"keys": ", ".join(key_table.keys), "missing": key_table.missing.value, **parameters},
        seed,
        key_table.coded.fingerprint,
        key_table.coded.engine.name,
        seconds=seconds,
    )


@dataclass(frozen=True, slots=True)
class RiskLine:
    """One measure of a file: its value, what share of the records it is, and what it means."""

    name: str
    value: Fraction | float | None
    meaning: str
    share: Fraction | None = None


def count_line(name: str, number: int, words: str, *, of: int = 0) -> RiskLine:
    """Return a number of records or the like as a line, with its share where there are some of all.

    Examples
    --------
    >>> count_line("sample_uniques", 2, "Sample uniques", of=8)
    RiskLine(name='sample_uniques', value=2, meaning='Sample uniques: 2.', share=Fraction(1, 4))
    """
    return RiskLine(name, number, f"{words}: {number:,}.", Fraction(number, of) if of else None)


@dataclass(frozen=True, repr=False)
class FileRisk(Result):
    """The risk of a whole file, one line per measure; `headline` names those of the summary."""

    tells_of_records = False

    lines: tuple[RiskLine, ...]
    headline: tuple[str, ...]
    provenance: Provenance

    def __getitem__(self, name: str) -> Fraction | float | None:
        for line in self.lines:
            if line.name == name:
                return line.value
        raise InputError(
            Reason.UNKNOWN_NAME,
            f"The measure {quoted([name])} of a file was asked for.",
            "There is no such measure.",
            did_you_mean(name, [line.name for line in self.lines]),
        )

    def summary(self) -> dict[str, Any]:
        """Return the headline numbers."""
        return {name: _plain(self[name]) for name in self.headline}

    def sentences(self) -> list[str]:
        """Return what each measure says, in words."""
        return [line.meaning for line in self.lines]

    def to_arrow(self) -> pa.Table:
        """Return one row per measure: the value as a number, exactly as a text, and in words."""
        columns = {
            "measure": "string",
            "value": "float64",
            "exact": "string",
            "share": "float64",
            "meaning": "string",
        }
        rows = [
            (
                line.name,
                None if line.value is None else float(line.value),
                "" if line.value is None else str(line.value),
                None if line.share is None else float(line.share),
                line.meaning,
            )
            for line in self.lines
        ]
        return arrow_table(columns, rows)


def _plain(value: Fraction | float | None) -> int | float | str:
    if value is None:
        return "not known"
    return float(value) if isinstance(value, Fraction) else value
