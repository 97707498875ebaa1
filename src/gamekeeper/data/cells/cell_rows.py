"""The rows of one published table: a label per axis, a figure, whether it is shown, and what goes with it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction

from gamekeeper.data.cells.statuses import Status
from gamekeeper.data.reading.numerals import Limits

Figures = list[Fraction | None]

_FEW_DECIMALS = 10**6


def without_dust(figure: Fraction) -> Fraction:
    """Return a figure without what floating point added to it: 27.778399999999998 is 27.7784.

    Examples
    --------
    >>> (
    ...     float(without_dust(Fraction("27.778399999999998"))),
    ...     float(without_dust(Fraction("0.1234567"))),
    ... )
    (27.7784, 0.1234567)
    """
    if figure.denominator <= _FEW_DECIMALS:
        return figure
    for digits in range(12, 16):
        short = Fraction(f"{float(figure):.{digits}g}")
        if short.denominator < figure.denominator and abs(short - figure) <= abs(figure) / 10**15:
            return short
    return figure


@dataclass(frozen=True, eq=False, repr=False)
class Share:
    """A column of percentages, means or ratios.

    Attributes
    ----------
    values, digits
        Each figure, None where there is none, and after how many decimals it was rounded.
    of
        What it is a share of: the axes over which the whole is summed, or `axis:label` for the cell with
        that label; nothing for a mean.
    times
        100 for percentages, 1 for shares, ratios and means.
    """

    name: str
    values: Figures
    digits: list[int]
    of: tuple[str, ...] = ()
    times: int = 100

    def label_of(self, axis: str) -> str | None:
        """Return the label that the whole has on an axis, "" for its total; None for that of the part.

        Examples
        --------
        >>> share = Share("per man", [], [], ("Sex:m", "Age"))
        >>> share.label_of("Sex"), share.label_of("Age"), share.label_of("Area")
        ('m', '', None)
        """
        if axis in self.of:
            return ""
        found = [own.partition(f"{axis}:")[2] for own in self.of if own.startswith(f"{axis}:")]
        return found[0] if found else None


@dataclass(frozen=True, eq=False)
class CellRows:
    """One published table.

    Attributes
    ----------
    labels
        For each axis the label of each row.
    figures
        The figure of each row, None where none is there; a hidden one is the truth.
    statuses
        What became of each cell.
    marks
        The status as it was written.
    counts, tops
        How many contribute to each cell, and the largest contributions, where they are told.
    lower_levels, upper_levels
        How far below and above the figure an attacker must be left in doubt, where that is told.
    shares, means
        Percentages, and means of the figure over the count, that are published beside it.
    totals
        For each axis the labels that stand for its whole, as the file says.
    hierarchies
        For each axis the file with its hierarchy, as the file says.
    hidden_limits
        The least and the largest count that a hidden cell may have, where the table says so.
    printed
        What stands in the place of each hidden figure, where the file shows it.
    limits
        What that says of the figure, by how it is written: '<5', '1-4'.
    outside
        For each axis labels that stand beside its hierarchy, such as that of what is not known.
    notices
        What to know of how it was read.
    """

    name: str
    axes: tuple[str, ...]
    labels: tuple[list[str], ...]
    figures: Figures
    statuses: list[Status]
    marks: list[str]
    counts: Figures | None = None
    tops: tuple[Figures, ...] = ()
    lower_levels: Figures | None = None
    upper_levels: Figures | None = None
    shares: tuple[Share, ...] = ()
    means: tuple[Share, ...] = ()
    totals: dict[str, tuple[str, ...]] = field(default_factory=dict[str, tuple[str, ...]])
    hierarchies: dict[str, str] = field(default_factory=dict[str, str])
    hidden_limits: tuple[int, int | None] | None = None
    printed: list[str] | None = None
    limits: Mapping[str, Limits] = field(default_factory=dict[str, Limits])
    outside: dict[str, tuple[str, ...]] = field(default_factory=dict[str, tuple[str, ...]])
    notices: tuple[str, ...] = ()

    def __len__(self) -> int:
        return len(self.figures)

    def __repr__(self) -> str:
        return f"CellRows({self.name!r}, {len(self):,} rows by {len(self.axes)} axes)"

    @property
    def n_hidden(self) -> int:
        """The number of hidden cells."""
        return sum(status.is_hidden for status in self.statuses)

    @classmethod
    def typed(
        cls,
        axes: Sequence[str],
        rows: Sequence[Sequence[object]],
        name: str = "table",
    ) -> CellRows:
        """Return a table from rows of labels and a figure, None for a hidden one.

        Examples
        --------
        >>> CellRows.typed(["area"], [["Total", 5], ["A", 3], ["B", None]])
        CellRows('table', 3 rows by 1 axes)
        """
        labels = tuple([str(row[at]) for row in rows] for at in range(len(axes)))
        figures = [
            None if row[len(axes)] is None else Fraction(str(row[len(axes)])) for row in rows
        ]
        statuses = [
            Status(str(row[len(axes) + 1]))
            if len(row) > len(axes) + 1
            else (Status.HIDDEN if figure is None else Status.SHOWN)
            for row, figure in zip(rows, figures, strict=True)
        ]
        return cls(name, tuple(axes), labels, figures, statuses, [str(s) for s in statuses])
