"""The common manners of results.

A result is a frozen dataclass that makes one Arrow table of itself and carries its provenance.
Its `repr` shows headline numbers, never records. Arrow, pandas and matplotlib are imported only
when asked for.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field
from functools import cache
from typing import TYPE_CHECKING, Any, ClassVar

from gamekeeper.errors import InputError, Reason
from gamekeeper.results.html import table_html

if TYPE_CHECKING:
    import pandas as pd
    import pyarrow as pa

Progress = Callable[[int, int | None], None]
"""Called by long work with what is done and, where known, the whole; it may raise `Cancelled`."""


@cache
def package_version() -> str:
    """Return the version of the installed package."""
    # Imported here: it brings the whole of e-mail along.
    from importlib.metadata import version

    return version("gamekeeper")


@dataclass(frozen=True, slots=True)
class Provenance:
    """How a result came about, so that it can be repeated."""

    method: str
    variant: str = ""
    parameters: Mapping[str, str] = field(default_factory=dict[str, str])
    seed: int | None = None
    fingerprint: str = ""
    engine: str = "python"
    version: str = field(default_factory=package_version)
    seconds: float = 0.0

    def to_dict(self) -> dict[str, Any]:
        """Return the provenance as plain values."""
        return {**asdict(self), "parameters": dict(self.parameters)}


class Result(ABC):
    """What a reader may ask of any result."""

    provenance: Provenance
    why_no_plot: ClassVar[str] = "it is a list to be read"
    tells_of_records: ClassVar[bool] = True
    """Whether its rows are single records, cells or categories, and not figures of the whole."""

    @abstractmethod
    def summary(self) -> dict[str, Any]:
        """Return the headline numbers as plain values."""

    @abstractmethod
    def to_arrow(self) -> pa.Table:
        """Return the result as one Arrow table."""

    def to_frame(self) -> pd.DataFrame:
        """Return the result as a pandas data frame, where pandas is installed."""
        try:
            return self.to_arrow().to_pandas()
        except ModuleNotFoundError as error:
            raise InputError(
                Reason.MISSING_PACKAGE,
                "A pandas data frame was asked for.",
                "The package pandas is not installed.",
                "Install 'gamekeeper[frames]', or use to_arrow().",
            ) from error

    def plot(self) -> Any:
        """Return a figure of the result; one that has nothing to draw says why."""
        raise InputError(
            Reason.BAD_OPTION,
            f"A plot of {type(self).__name__} was asked for.",
            f"There is nothing to draw: {self.why_no_plot}.",
            "Take its table (to_frame() or to_arrow()).",
        )

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        """Hand the table to any library that reads Arrow streams (DuckDB, Polars, pandas)."""
        return self.to_arrow().__arrow_c_stream__(requested_schema)

    def __repr__(self) -> str:
        shown = ", ".join(f"{name}={value!r}" for name, value in self.summary().items())
        return f"{type(self).__name__}({shown})"

    def _repr_html_(self) -> str:
        table = self.to_arrow()
        rows = zip(*(column.to_pylist() for column in table.columns), strict=True)
        return table_html(table.column_names, rows, caption=type(self).__name__)
