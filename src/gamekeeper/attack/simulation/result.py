"""What a simulation found: one number per sample and measure, and their means."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

from gamekeeper.attack.simulation.measure_words import measure_words
from gamekeeper.errors import InputError, Problem, Reason
from gamekeeper.results import EVERYTHING, Cell, Listing, Provenance, Result, make_listing
from gamekeeper.wording import count_of, did_you_mean, digits_text, fraction_text, quoted

if TYPE_CHECKING:
    import pyarrow as pa
    from matplotlib.figure import Figure
    from numpy.typing import NDArray

_TOLD = 8


@dataclass(frozen=True, slots=True)
class Mean:
    """The mean of a measure over the samples of one fraction in which it is defined.

    The standard error is that of the mean over repeated samples; it needs two of them.
    """

    fraction: Fraction
    measure: str
    samples: int
    mean: float | None
    standard_error: float | None
    least: float | None
    most: float | None


@dataclass(frozen=True, repr=False, eq=False)
class SimulationResult(Result):
    """The measures of every sample that was drawn.

    Attributes
    ----------
    n_records, n_population_uniques
        The size of the notional population and its uniques on the key variables.
    keys
        The key variables.
    fractions
        The sampling fraction of each sample.
    measures
        The names of the numbers.
    values
        One row per sample, one column per measure; NaN where a measure is not defined.
    """

    tells_of_records = False

    n_records: int
    n_population_uniques: int
    keys: tuple[str, ...]
    fractions: tuple[Fraction, ...]
    measures: tuple[str, ...]
    values: NDArray[np.float64]
    provenance: Provenance

    def summary(self) -> dict[str, Any]:
        """Return the headline numbers."""
        steps = sorted(set(self.fractions))
        return {
            "records": self.n_records,
            "population_uniques": self.n_population_uniques,
            "keys": ", ".join(self.keys),
            "samples": len(self.fractions),
            "fractions": " to ".join(dict.fromkeys(fraction_text(end) for end in _ends(steps))),
            "measures": len(self.measures),
        }

    def to_arrow(self) -> pa.Table:
        """Return one line per sample and measure; an undefined measure has no value."""
        import pyarrow as pa

        n_samples, n_measures = self.values.shape
        flat = self.values.ravel()
        return pa.table(
            {
                "sample": np.repeat(np.arange(1, n_samples + 1), n_measures),
                "fraction": np.repeat([float(item) for item in self.fractions], n_measures),
                "measure": pa.array(list(self.measures) * n_samples, pa.string()),
                "value": pa.array(flat, pa.float64(), mask=np.isnan(flat)),
            }
        )

    def column(self, measure: str) -> NDArray[np.float64]:
        """Return one measure over all samples; NaN where it is not defined."""
        if measure not in self.measures:
            raise InputError(
                Reason.UNKNOWN_NAME,
                f"The measure {quoted([measure])} of a simulation was asked for.",
                "It was not among those computed.",
                did_you_mean(measure, self.measures),
            )
        return self.values[:, self.measures.index(measure)]

    def mean(self, measure: str, fraction: Fraction | None = None) -> Mean:
        """Return the mean of a measure over the samples of a fraction, or of the only one."""
        steps = set(self.fractions)
        if fraction is None and len(steps) == 1:
            fraction = next(iter(steps))
        if fraction is None or fraction not in steps:
            raise InputError(
                Reason.BAD_OPTION,
                f"The mean of the measure {quoted([measure])} was asked for.",
                f"There are {count_of(len(steps), 'sampling fraction')}, and none was named.",
                "Name the fraction that is meant.",
            )
        chosen = np.array([item == fraction for item in self.fractions])
        given = self.column(measure)[chosen]
        given = given[~np.isnan(given)]
        if not given.size:
            return Mean(fraction, measure, 0, None, None, None, None)
        error = float(given.std(ddof=1)) / math.sqrt(given.size) if given.size > 1 else None
        return Mean(
            fraction,
            measure,
            int(given.size),
            math.fsum(given.tolist()) / given.size,
            error,
            float(given.min()),
            float(given.max()),
        )

    def means(self) -> Listing:
        """Return the mean of every measure for every fraction, with standard error and range."""
        rows: list[tuple[Cell, ...]] = []
        for fraction in sorted(set(self.fractions)):
            for name in self.measures:
                line = self.mean(name, fraction)
                rows.append(
                    (
                        float(fraction), name, line.samples, line.mean, line.standard_error,
                        line.least, line.most,
                    )
                )  # fmt: skip
        columns = ("fraction", "measure", "samples", "mean", "standard_error", "least", "most")
        return make_listing("means of a simulation", columns, rows, EVERYTHING)

    def sentences(self) -> list[str]:
        """Return what was found, in words, for the first measures."""
        steps = sorted(set(self.fractions))
        drawn = count_of(len(self.fractions), "sample")
        ends = _ends(steps)
        size = " to ".join(dict.fromkeys(fraction_text(end) for end in ends))
        were = "was" if len(self.fractions) == 1 else "were"
        what = (
            f"{drawn} of {size} {were} drawn from a population of "
            f"{count_of(self.n_records, 'record')}, {self.n_population_uniques:,} of them unique "
            f"on {count_of(len(self.keys), 'key variable')}."
        )
        lines = [what]
        for name in self.measures[:_TOLD]:
            means = [self.mean(name, fraction) for fraction in ends]
            lines.append(f"{measure_words(name)}: {_told(means)}.")
        if len(self.measures) > _TOLD:
            lines.append(f"{len(self.measures) - _TOLD} more measures are in the table of means.")
        return lines

    def plot(self, measures: Sequence[str] = ()) -> Figure:
        """Plot measures against the sampling fraction, every sample a point, with their means.

        The first eight measures by default.
        """
        from gamekeeper.attack.simulation.simulation_plots import plot_measures

        unknown = [name for name in measures if name not in self.measures]
        if unknown:
            raise InputError(
                Reason.UNKNOWN_NAME,
                "A plot of a simulation was asked for.",
                f"{count_of(len(unknown), 'measure')} to plot cannot be found:",
                problems=[
                    Problem(Reason.UNKNOWN_NAME, quoted([name]), did_you_mean(name, self.measures))
                    for name in unknown
                ],
            )
        return plot_measures(self, measures or self.measures[:_TOLD])


def _ends(steps: Sequence[Fraction]) -> list[Fraction]:
    return list(dict.fromkeys((steps[0], steps[-1])))


def _told(means: Sequence[Mean]) -> str:
    parts: list[str] = []
    for line in means:
        if line.mean is None:
            text = "not defined in any sample"
        elif line.standard_error is None or line.least is None or line.most is None:
            text = digits_text(line.mean, 4)
        else:
            text = (
                f"{digits_text(line.mean, 4)} on average (standard error {digits_text(line.standard_error, 2)}; "
                f"from {digits_text(line.least, 4)} to {digits_text(line.most, 4)})"
            )
        parts.append(text + (f" at {fraction_text(line.fraction)}" if len(means) > 1 else ""))
    return ", and ".join(parts)
