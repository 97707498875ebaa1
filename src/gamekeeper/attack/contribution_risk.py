"""What variables, categories and MSU sizes contribute to the risk of a file, as results.

Scores are kept as whole numbers of any size. MSU stands for minimal sample unique.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from gamekeeper.results import Provenance, Result, table_html
from gamekeeper.wording import on_one_line

if TYPE_CHECKING:
    import pyarrow as pa
    from matplotlib.figure import Figure

_INT64 = 2**63


@dataclass(frozen=True, slots=True)
class Contribution:
    """What the MSUs that use a variable, or a category of it, add to the scores of a file.

    Attributes
    ----------
    category
        The category in words; empty for the variable as a whole.
    records
        The records that have the category, or all that were counted.
    msus, is_scores, suda_scores
        The number of MSUs, and the sums of their scores, by MSU size from 0.
    uniques, risky
        The sample uniques with such an MSU, and how many of them meet the lowest threshold of
        the risk classes; None where that is not known.
    """

    variable: str
    category: str
    records: int
    msus: tuple[int, ...]
    is_scores: tuple[int, ...]
    suda_scores: tuple[int, ...]
    uniques: int | None
    risky: int | None

    @property
    def is_score(self) -> int:
        """The sum of the IS scores over all sizes."""
        return sum(self.is_scores)

    @property
    def suda_score(self) -> int:
        """The sum of the SUDA scores over all sizes."""
        return sum(self.suda_scores)


@dataclass(frozen=True, repr=False)
class VariableRisk(Result):
    """What each variable contributes to the risk of a file, the largest IS first.

    An MSU counts for each of its variables, so that the percentages can sum to more than 100.
    """

    tells_of_records = False

    lines: tuple[Contribution, ...]
    file_is: int
    file_suda: int
    provenance: Provenance

    def summary(self) -> dict[str, Any]:
        """Return the headline numbers."""
        leading = self.lines[0]
        share = _percent(leading.is_score, self.file_is)
        return {
            "variables": len(self.lines),
            "first": on_one_line(leading.variable, 60) if leading.is_score else "none",
            "is_percent": 0.0 if share is None else round(share, 2),
        }

    def to_arrow(self) -> pa.Table:
        """Return one row per variable; percentages are of the file level."""
        return _contributions(self.lines, self.file_is, self.file_suda, ["variable"])

    def by_size(self) -> pa.Table:
        """Return one row per variable and MSU size, in the order of the variables."""
        import pyarrow as pa

        cells = [
            (line.variable, size, line.msus[size], line.is_scores[size], line.suda_scores[size])
            for line in self.lines
            for size in range(1, len(line.msus))
        ]
        columns: list[list[Any]] = [list(column) for column in zip(*cells, strict=True)]
        names, sizes, msus, is_scores, suda_scores = columns or [[], [], [], [], []]
        return pa.table(
            {
                "variable": pa.array(names, pa.string()),
                "size": pa.array(sizes, pa.int32()),
                "msus": pa.array(msus, pa.int64()),
                "is": whole_numbers(is_scores),
                "is_percent": _percents(is_scores, self.file_is),
                "suda": whole_numbers(suda_scores),
                "suda_percent": _percents(suda_scores, self.file_suda),
            }
        )

    def plot(self, *, most: int = 20) -> Figure:
        """Plot the contributions of the first variables by MSU size; needs no display."""
        from gamekeeper.attack.risk_plots import plot_variables

        return plot_variables(self, most=most)


@dataclass(frozen=True, repr=False)
class CategoryRisk(Result):
    """What each category contributes to the risk of a file, the largest IS first.

    The values of a variable's categories sum to the value of the variable. Categories that no
    counted record has are left out.
    """

    lines: tuple[Contribution, ...]
    file_is: int
    file_suda: int
    provenance: Provenance

    def summary(self) -> dict[str, Any]:
        """Return the headline numbers."""
        return {
            "variables": len({line.variable for line in self.lines}),
            "categories": len(self.lines),
            "contributing": sum(line.is_score > 0 for line in self.lines),
        }

    def to_arrow(self) -> pa.Table:
        """Return one row per category; percentages are of the file level."""
        named = ["variable", "category", "records"]
        return _contributions(self.lines, self.file_is, self.file_suda, named)

    def _repr_html_(self) -> str:
        # Without the categories, which are values of the file: a notebook travels further.
        rows: list[tuple[str, int, int, float | None]] = []
        for name in dict.fromkeys(line.variable for line in self.lines):
            own = [line for line in self.lines if line.variable == name]
            adding = sum(line.is_score > 0 for line in own)
            largest = max(line.is_score for line in own)
            rows.append((name, len(own), adding, _percent(largest, self.file_is)))
        header = ["variable", "categories", "contributing", "largest is_percent"]
        return table_html(header, rows, caption=type(self).__name__)

    def plot(self, *, most: int = 20) -> Figure:
        """Plot the categories that contribute most; needs no display."""
        from gamekeeper.attack.risk_plots import plot_categories

        return plot_categories(self, most=most)


@dataclass(frozen=True, slots=True)
class SizeContribution:
    """The MSUs of one size: how many, how many uniques have none smaller, weights, scores."""

    size: int
    msus: int
    smallest_of: int
    is_weight: int
    suda_weight: int

    @property
    def is_score(self) -> int:
        """The sum of their IS scores."""
        return self.msus * self.is_weight

    @property
    def suda_score(self) -> int:
        """The sum of their SUDA scores."""
        return self.msus * self.suda_weight


@dataclass(frozen=True, repr=False)
class SizeRisk(Result):
    """MSUs by size: how many there are and what they add to the scores of the file."""

    tells_of_records = False

    lines: tuple[SizeContribution, ...]
    provenance: Provenance

    def summary(self) -> dict[str, Any]:
        """Return the headline numbers."""
        found = [line.size for line in self.lines if line.msus]
        return {
            "msus": sum(line.msus for line in self.lines),
            "smallest": min(found, default=0),
            "largest": max(found, default=0),
            "searched_to": max(line.size for line in self.lines),
        }

    def to_arrow(self) -> pa.Table:
        """Return one row per size; the percentages sum to 100."""
        import pyarrow as pa

        lines = self.lines
        is_scores = [line.is_score for line in lines]
        suda_scores = [line.suda_score for line in lines]
        return pa.table(
            {
                "size": pa.array([line.size for line in lines], pa.int32()),
                "msus": pa.array([line.msus for line in lines], pa.int64()),
                "smallest_of": pa.array([line.smallest_of for line in lines], pa.int64()),
                "is_weight": whole_numbers([line.is_weight for line in lines]),
                "is": whole_numbers(is_scores),
                "is_percent": _percents(is_scores, sum(is_scores)),
                "suda_weight": whole_numbers([line.suda_weight for line in lines]),
                "suda": whole_numbers(suda_scores),
                "suda_percent": _percents(suda_scores, sum(suda_scores)),
            }
        )

    def plot(self) -> Figure:
        """Plot the number of MSUs by size; needs no display."""
        from gamekeeper.attack.risk_plots import plot_sizes

        return plot_sizes(self)


def whole_numbers(values: Sequence[int]) -> pa.Array:
    """Return whole numbers as an Arrow array: int64 where all fit, else the nearest floats.

    Examples
    --------
    >>> whole_numbers([1, 2]).type, whole_numbers([1, 10**30]).type
    (DataType(int64), DataType(double))
    """
    import pyarrow as pa

    if all(-_INT64 <= value < _INT64 for value in values):
        return pa.array(values, pa.int64())
    return pa.array([float(value) for value in values], pa.float64())


def _contributions(
    lines: Sequence[Contribution], file_is: int, file_suda: int, named: Sequence[str]
) -> pa.Table:
    import pyarrow as pa

    is_scores = [line.is_score for line in lines]
    suda_scores = [line.suda_score for line in lines]
    columns = {
        "variable": pa.array([line.variable for line in lines], pa.string()),
        "category": pa.array([line.category for line in lines], pa.string()),
        "records": pa.array([line.records for line in lines], pa.int64()),
        "msus": pa.array([sum(line.msus) for line in lines], pa.int64()),
        "uniques": pa.array([line.uniques for line in lines], pa.int64()),
        "risky_records": pa.array([line.risky for line in lines], pa.int64()),
        "is": whole_numbers(is_scores),
        "is_percent": _percents(is_scores, file_is),
        "suda": whole_numbers(suda_scores),
        "suda_percent": _percents(suda_scores, file_suda),
    }
    measures = ("msus", "uniques", "risky_records", "is", "is_percent", "suda", "suda_percent")
    return pa.table({name: columns[name] for name in (*named, *measures)})


def _percents(parts: Sequence[int], whole: int) -> pa.Array:
    import pyarrow as pa

    return pa.array([_percent(part, whole) for part in parts], pa.float64())


def _percent(part: int, whole: int) -> float | None:
    return float(Fraction(100 * part, whole)) if whole else None
