"""The field's own measures as a result: lines of the file, a table of records, sentences."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from gamekeeper.attack.risk import FileRisk, RecordRisk
from gamekeeper.results import Provenance, Result

if TYPE_CHECKING:
    import pyarrow as pa
    from matplotlib.figure import Figure


@dataclass(frozen=True, repr=False)
class RiskMeasures(Result):
    """The measures that offices and their software know by name.

    Attributes
    ----------
    file
        One line per measure of the file.
    records
        Per record: the size of its class and, as far as they are known, the estimated people of its
        class, individual risk in its exact and approximate form, household risk, the number of
        its unsafe combinations, l-diversity and t-closeness of its class.
    unsafe
        Per key variable, in how many unsafe combinations of 1, 2, ... variables it has a part.
    told
        What was found, in sentences.
    """

    tells_of_records = False

    file: FileRisk
    records: RecordRisk
    unsafe: pa.Table
    told: tuple[str, ...]
    provenance: Provenance

    def __getitem__(self, name: str) -> Any:
        return self.file[name]

    def summary(self) -> dict[str, Any]:
        """Return the headline numbers."""
        return self.file.summary()

    def to_arrow(self) -> pa.Table:
        """Return one row per measure of the file."""
        return self.file.to_arrow()

    def sentences(self) -> list[str]:
        """Return what was found in a few sentences, without any value of the file."""
        return list(self.told)

    def plot(self) -> Figure:
        """Plot how the risk of records is distributed; needs no display."""
        return self.records.plot()
