"""What variables, categories and MSU sizes contribute to the scores of a file: results and plots.

The file level is the sum over all minimal sample uniques (MSUs) of all sample uniques. For a
variable, only MSUs that contain it are summed; for a category, only those of records that have it.
An MSU of size s therefore counts for s variables, and the percentages of variables can sum to more
than 100. Sums are whole numbers of any size. D. Smith, thesis on statistical disclosure control,
chapter 8 (risk measures).

Every plot is a figure of its own that needs no display. Letters that the font lacks are replaced.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from gamekeeper.algorithms.uniques.minimal_uniques import MinimalUniques
from gamekeeper.arrow import pa
from gamekeeper.data.coding.codebook import CodedVariable
from gamekeeper.errors import InputError, Reason
from gamekeeper.results import Provenance, Result, name_bars, new_figure, ruled, table_html
from gamekeeper.wording import count_of, on_one_line

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from gamekeeper.algorithms.uniques.dis import DisStep
    from gamekeeper.attack.risk import RecordRisk

_INT64 = 2**63
_BAR = "#1f5f99"
# From the smallest MSUs, which weigh most, to the largest; distinct in grey as well.
_SHADES = ("#7d1b3a", "#d1690e", "#e3b23c", "#2a8a57", "#2f93aa", "#1f5f99", "#6b4fa0", "#8a939c")
_NAME_LETTERS, _N_BINS = 32, 20
NO_MSU = -1
"""The smallest size of a unique whose MSUs are all beyond the cap."""


@dataclass(frozen=True, slots=True)
class Contribution:
    """What the MSUs that use a variable, or a category of it, add to the scores of a file.

    - `category`: in words; empty for the variable as a whole.
    - `records`: those that have the category, or all that were counted.
    - `msus`, `is_scores`, `suda_scores`: the number of MSUs and sums of their scores, by size from 0.
    - `uniques`, `risky`: the sample uniques with such an MSU, and how many of them meet the lowest
      threshold of the risk classes; None where that is not known.
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
    """What each variable contributes, the largest IS first; an MSU counts for each of its variables."""

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
        return plot_variables(self, most=most)


@dataclass(frozen=True, repr=False)
class CategoryRisk(Result):
    """What each category contributes to the risk of a file, the largest IS first.

    Those of a variable sum to its value. Categories that no counted record has are left out.
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
        return plot_sizes(self)


def whole_numbers(values: Sequence[int]) -> pa.Array:
    """Return whole numbers as an Arrow array: int64 where all fit, else the nearest floats.

    >>> whole_numbers([1, 2]).type, whole_numbers([1, 10**30]).type
    (DataType(int64), DataType(double))
    """
    if all(-_INT64 <= value < _INT64 for value in values):
        return pa.array(values, pa.int64())
    return pa.array([float(value) for value in values], pa.float64())


def _contributions(
    lines: Sequence[Contribution], file_is: int, file_suda: int, named: Sequence[str]
) -> pa.Table:
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
    return pa.array([_percent(part, whole) for part in parts], pa.float64())


def _percent(part: int, whole: int) -> float | None:
    return float(Fraction(100 * part, whole)) if whole else None


def plot_records(risk: RecordRisk) -> Figure:
    """Plot how the measure that ranks is distributed over the records where it is above 0.

    A measure that never exceeds 1 has bins of equal width, a score has bins of equal ratio.

    >>> import pyarrow as pa
    >>> from gamekeeper.attack.risk import RecordRisk
    >>> from gamekeeper.results import Provenance
    >>> table = pa.table({"record": [1, 2, 3], "class_size": [1, 1, 2], "is": [6.0, 2.0, 0.0]})
    >>> figure = plot_records(RecordRisk("is", table, {}, Provenance("example")))
    >>> int(sum(bar.get_height() for bar in figure.axes[0].patches))
    2
    """
    import numpy as np

    figure, ax = _figure(4.2)
    column = risk.table[risk.measure]
    known = column.is_valid().to_numpy()
    values = column.drop_null().to_numpy().astype(np.float64)
    counts = np.ones(len(column), np.int64) if risk.counts is None else risk.counts
    is_above = values > 0
    above, weights = values[is_above], counts[known][is_above]
    n_above = int(weights.sum())
    largest = float(above.max()) if above.size else 1.0
    if largest <= 1:
        edges = np.linspace(0.0, 1.0, _N_BINS + 1)
    else:
        smallest = float(above.min())
        # One value only still needs a bin of some width.
        edges = np.geomspace(smallest / 1.05, largest * 1.05, _N_BINS + 1)
        ax.set_xscale("log")
    ax.hist(
        above, bins=edges.tolist(), weights=weights, color=_BAR, edgecolor="white", linewidth=0.5
    )
    _set_counts(ax, n_above)
    ax.set_xlabel(f"{risk.measure}, where above 0")
    ax.set_ylabel("Records (log scale)" if above.size else "Records")
    at_zero = int(counts[known].sum()) - n_above
    left_out = int(counts[~known].sum())
    notes = [f"{count_of(n_above, 'record')} above 0", f"{at_zero:,} at 0"]
    notes += [f"{left_out:,} without a value"] if left_out else []
    _title(ax, f"Distribution of risk: {', '.join(notes)}")
    return figure


def plot_sizes(risk: SizeRisk) -> Figure:
    """Plot the number of MSUs by size, and of the uniques whose smallest MSU has that size."""
    import numpy as np

    figure, ax = _figure(4.2)
    sizes = np.array([line.size for line in risk.lines])
    msus = [line.msus for line in risk.lines]
    smallest_of = [line.smallest_of for line in risk.lines]
    ax.bar(sizes - 0.2, msus, width=0.4, color=_BAR, label="MSUs")
    ax.bar(
        sizes + 0.2,
        smallest_of,
        width=0.4,
        color=_SHADES[1],
        label="sample uniques whose smallest MSU has this size",
    )
    _set_counts(ax, max(msus, default=0))
    ax.set_xticks(sizes.tolist())
    ax.set_xlabel("Variables in the minimal sample unique (MSU)")
    ax.set_ylabel("Number (log scale)" if any(msus) else "Number")
    ax.legend(frameon=False, loc="best")
    _title(ax, "Minimal sample uniques by size")
    return figure


def plot_variables(risk: VariableRisk, *, most: int = 20) -> Figure:
    """Plot the share of the file's IS that MSUs with each variable have, stacked by MSU size."""
    names = [line.variable for line in risk.lines]
    return _bars(risk, names, most, "variable", "variables")


def plot_categories(risk: CategoryRisk, *, most: int = 20) -> Figure:
    """Plot the share of the file's IS that MSUs with each category have, stacked by MSU size."""
    names = [f"{line.variable}: {line.category}" for line in risk.lines]
    return _bars(risk, names, most, "category", "categories")


def plot_convergence(steps: Sequence[DisStep], expected: Fraction | None) -> Figure:
    """Plot the running estimate of DIS with two standard errors, and what it tends to if known."""
    figure, ax = _figure(4.2)
    known = [step for step in steps if step.estimate is not None]
    rounds = [step.rounds for step in known]
    estimates = [step.estimate or 0.0 for step in known]
    errors = [2 * (step.standard_error or 0.0) for step in known]
    ax.plot(rounds, estimates, color=_BAR, linewidth=2, marker="o", markersize=3, label="estimate")
    ax.fill_between(
        rounds,
        [max(0.0, value - error) for value, error in zip(estimates, errors, strict=True)],
        [min(1.0, value + error) for value, error in zip(estimates, errors, strict=True)],
        color=_BAR,
        alpha=0.2,
        label="two standard errors",
    )
    if expected is not None:
        ax.axhline(float(expected), color=_SHADES[1], linestyle="--", label="by formula")
    ax.set_xlabel("Rounds")
    ax.set_ylabel("Correct among unique matches")
    ax.legend(frameon=False, loc="best")
    _title(ax, "Convergence of the simulated DIS")
    return figure


def _bars(
    risk: VariableRisk | CategoryRisk, names: Sequence[str], most: int, singular: str, plural: str
) -> Figure:
    if most < 1:
        raise InputError(
            Reason.BAD_OPTION,
            f"A plot of {most} bars was asked for.",
            "That is less than one.",
            "Give a positive whole number.",
        )
    lines, file_is = risk.lines[:most], risk.file_is
    figure, ax = _figure(1.4 + 0.28 * len(lines))
    places = list(range(len(lines)))
    starts = [0.0] * len(lines)
    n_sizes = max((len(line.msus) for line in lines), default=0)
    for size in range(n_sizes):
        widths = [100 * line.is_scores[size] / file_is if file_is else 0.0 for line in lines]
        if not any(widths):
            continue
        # Weights fall fast with the size: those beyond the last shade share it.
        shade = _SHADES[min(max(size - 1, 0), len(_SHADES) - 1)]
        ax.barh(places, widths, left=starts, color=shade, label=f"MSUs of size {size}")
        starts = [start + width for start, width in zip(starts, widths, strict=True)]
    name_bars(ax, names[:most], _NAME_LETTERS)
    ax.set_xlim(left=0)
    ax.set_xlabel("Percent of the file's IS; an MSU counts for each of its variables")
    if any(starts):
        ax.legend(frameon=False, loc="lower right")
    n_left = len(risk.lines) - len(lines)
    note = f" ({count_of(n_left, singular, plural)} more not shown)" if n_left else ""
    _title(ax, f"{plural.capitalize()} and their share of the IS{note}")
    return figure


def _figure(height: float) -> tuple[Figure, Axes]:
    figure = new_figure(8.0, height)
    return figure, ruled(figure.add_subplot())


def _set_counts(ax: Axes, most: int) -> None:
    """Set a logarithmic axis of counts, with room above the largest; a linear one if all are 0."""
    from matplotlib.ticker import FuncFormatter, NullFormatter

    if most:
        ax.set_yscale("log")
        ax.set_ylim(0.7, 1.5 * max(most, 7))
        ax.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:,.0f}"))
        ax.yaxis.set_minor_formatter(NullFormatter())


def _title(ax: Axes, text: str) -> None:
    ax.set_title(text, loc="left", parse_math=False)


def smallest_sizes(found: MinimalUniques) -> NDArray[np.int8]:
    """Return the size of the smallest MSU of each sample unique, -1 where none was found."""
    present = found.counts > 0
    return np.where(present.any(axis=1), present.argmax(axis=1), NO_MSU).astype(np.int8)


def variables_used(found: MinimalUniques) -> NDArray[np.uint64] | None:
    """Return, per sample unique, the variables of all its MSUs as bits; None without a list."""
    if found.masks is None or found.offsets is None:
        return None
    used = np.zeros(len(found.records), dtype=np.uint64)
    starts, stops = found.offsets[:-1], found.offsets[1:]
    listed = np.flatnonzero(stops > starts)
    if listed.size:
        used[listed] = np.bitwise_or.reduceat(found.masks, starts[listed])
    return used


def size_contributions(
    found: MinimalUniques, is_weights: Sequence[int], suda_weights: Sequence[int]
) -> tuple[SizeContribution, ...]:
    """Return the MSUs of each size from 1, or from 0 where the file is a single record."""
    msus = found.counts.sum(axis=0, dtype=np.int64).tolist()
    smallest = smallest_sizes(found)
    return tuple(
        SizeContribution(
            size,
            msus[size],
            int(np.count_nonzero(smallest == size)),
            is_weights[size],
            suda_weights[size],
        )
        for size in range(0 if msus[0] else 1, len(msus))
    )


def variable_contributions(
    found: MinimalUniques,
    variables: Sequence[CodedVariable],
    is_weights: Sequence[int],
    suda_weights: Sequence[int],
    risky: NDArray[np.bool_] | None,
) -> tuple[Contribution, ...]:
    """Return what each variable contributes, the largest IS first; `risky` tells of each unique."""
    used = variables_used(found)
    lines: list[Contribution] = []
    for place, variable in enumerate(variables):
        users = None if used is None else _has(used, place)
        msus = found.by_variable[place].tolist()
        lines.append(
            Contribution(
                variable.name,
                "",
                found.n_records,
                tuple(msus),
                _weighed(msus, is_weights),
                _weighed(msus, suda_weights),
                None if users is None else int(np.count_nonzero(users)),
                None if users is None or risky is None else int(np.count_nonzero(users & risky)),
            )
        )
    return _ranked(lines)


def category_contributions(
    found: MinimalUniques,
    variables: Sequence[CodedVariable],
    codes: NDArray[np.unsignedinteger[Any]],
    is_weights: Sequence[int],
    suda_weights: Sequence[int],
    risky: NDArray[np.bool_] | None,
    counts: NDArray[np.int64] | None = None,
) -> tuple[Contribution, ...]:
    """Return the contribution of each category that a counted record has, the largest IS first.

    `counts` says how many records a row of codes stands for; one if it is None.
    """
    used = variables_used(found)
    lines: list[Contribution] = []
    for place, variable in enumerate(variables):
        column = codes[:, place]
        n_codes = variable.n_codes
        records = np.bincount(column, counts, n_codes).astype(np.int64).tolist()
        uniques = at_risk = None
        if used is not None:
            users = _has(used, place)
            own = column[found.records]
            uniques = np.bincount(own[users], minlength=n_codes).tolist()
            if risky is not None:
                at_risk = np.bincount(own[users & risky], minlength=n_codes).tolist()
        lines += [
            Contribution(
                variable.name,
                variable.words[code],
                records[code],
                tuple(msus),
                _weighed(msus, is_weights),
                _weighed(msus, suda_weights),
                None if uniques is None else uniques[code],
                None if at_risk is None else at_risk[code],
            )
            for code, msus in enumerate(found.by_category[place].tolist())
            if records[code]
        ]
    return _ranked(lines)


def _weighed(msus: Sequence[int], weights: Sequence[int]) -> tuple[int, ...]:
    return tuple(number * weight for number, weight in zip(msus, weights, strict=True))


def _ranked(lines: list[Contribution]) -> tuple[Contribution, ...]:
    return tuple(sorted(lines, key=lambda line: -line.is_score))


def _has(used: NDArray[np.uint64], place: int) -> NDArray[np.bool_]:
    return (used >> np.uint64(place) & np.uint64(1)).astype(np.bool_)
