"""Schemes compared: what random tables published under each of them give away.

The experiment of the thesis' Table 1 for any scheme, base, margins and table shape: random tables
are published under a scheme, and SAP of each is worked out for numbers of known people. All schemes
get the same tables.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from hashlib import sha256
from typing import TYPE_CHECKING, Any

import numpy as np

from gamekeeper.algorithms.releases.perturbation import Scheme
from gamekeeper.algorithms.releases.scheme_names import SchemeLike, parse_scheme
from gamekeeper.algorithms.subtraction.experiment import (
    BANDS,
    SubtractionExperiment,
    subtraction_experiment,
)
from gamekeeper.attack.tables.options import ComparisonInput
from gamekeeper.errors import InputError, Reason
from gamekeeper.options import takes
from gamekeeper.results import Provenance, Result
from gamekeeper.wording import count_of, digits_text, shape_text, three_digits

if TYPE_CHECKING:
    import pyarrow as pa
    from matplotlib.figure import Figure


@dataclass(frozen=True, repr=False)
class SchemeComparison(Result):
    """SAP of random tables, under each scheme."""

    tells_of_records = False

    schemes: tuple[str, ...]
    experiments: tuple[SubtractionExperiment, ...]
    n_tables: int
    published: str
    provenance: Provenance

    def summary(self) -> dict[str, Any]:
        """Return the mean SAP of each scheme for the largest number of known people."""
        return {
            "tables": self.n_tables,
            "n": int(self.experiments[0].n[-1]),
            **{
                f"mean_sap {scheme}": float(found.means[-1])
                for scheme, found in zip(self.schemes, self.experiments, strict=True)
            },
        }

    def sentences(self) -> list[str]:
        """Return how the schemes compare, in words."""
        n = self.experiments[0].n
        said = [f"{count_of(self.n_tables, 'random table')}, {self.published}."]
        for number in _few(n):
            k = int(np.flatnonzero(n == number)[0])
            ranked = sorted(
                zip(self.schemes, self.experiments, strict=True), key=lambda pair: pair[1].means[k]
            )
            risks = ", ".join(
                f"{scheme} {three_digits(found.means[k])}" for scheme, found in ranked
            )
            said.append(
                f"Knowing {count_of(int(number), 'person', 'people')}, a zero is recovered with a"
                f" mean probability of: {risks}."
            )
        sampled = sum(found.n_sampled for found in self.experiments)
        if sampled:
            said.append(f"SAP of {count_of(sampled, 'table')} was estimated from random samples.")
        return said

    def to_arrow(self) -> pa.Table:
        """Return one row per scheme and number of known people: tables per band of SAP."""
        import pyarrow as pa

        columns: dict[str, list[Any]] = {"scheme": [], "n": [], "mean_sap": []}
        columns |= {f"sap_{band}": [] for band in BANDS}
        for scheme, found in zip(self.schemes, self.experiments, strict=True):
            for k, number in enumerate(found.n):
                columns["scheme"].append(scheme)
                columns["n"].append(int(number))
                columns["mean_sap"].append(float(found.means[k]))
                for band, count in zip(BANDS, found.counts[k], strict=True):
                    columns[f"sap_{band}"].append(int(count))
        return pa.table(columns)

    def few(self, most: int = 6) -> pa.Table:
        """Return a few rows of each scheme, evenly spaced, with the first and the last n."""
        table = self.to_arrow()
        n = len(self.experiments[0].n)
        chosen = np.unique(np.linspace(0, n - 1, min(n, most)).round().astype(np.int64))
        return table.take(np.concatenate([chosen + n * k for k in range(len(self.schemes))]))

    def plot(self) -> Figure:
        """Draw the mean SAP of each scheme over the number of known people; needs no display."""
        from gamekeeper.attack.tables.table_plots import plot_comparison

        return plot_comparison(self)


@takes(ComparisonInput)
def compare_schemes(schemes: Sequence[SchemeLike], asked: ComparisonInput) -> SchemeComparison:
    """Compare perturbation schemes on random tables.

    Schemes are such as "conventional:5", "random:3", "barnardization:0.8" or "exact". `margins` are
    the axes, from 0, of every margin that is published; without them, the table is published alone
    or with its total.

    Examples
    --------
    >>> found = compare_schemes(["conventional:5", "random:5"], tables=200, n=[5], seed=1)
    >>> found.summary()["mean_sap conventional:5"] > found.summary()["mean_sap random:5"]
    True
    """
    started = time.perf_counter()
    if not schemes:
        raise InputError(
            Reason.NOTHING_GIVEN,
            "Schemes were to be compared.",
            "None was given.",
            "Give at least one, such as 'conventional:5'.",
        )
    made = [parse_scheme(scheme) for scheme in schemes]
    shape, mean, total, tables = tuple(asked.shape), asked.mean, asked.total, asked.tables
    listed = None if asked.margins is None else [list(map(int, axes)) for axes in asked.margins]
    wrong = [
        m for m in listed or () if len(set(m)) < len(m) or not set(m) <= set(range(len(shape)))
    ]
    if wrong or listed == []:
        raise InputError(
            Reason.BAD_OPTION,
            "Schemes were to be compared on random tables with margins.",
            f"{count_of(len(wrong), 'margin has', 'margins have')} axes that the tables lack, or one"
            " twice."
            if wrong
            else "No margin was given.",
            f"The axes are 0 to {len(shape) - 1}; a margin without axes is the total.",
        )
    n = list(range(25)) if asked.n is None else [int(number) for number in asked.n]
    if not n:
        raise InputError(
            Reason.NOTHING_GIVEN,
            "Schemes were to be compared.",
            "No number of known people was given.",
            "Give at least one, such as 0 to 24.",
        )
    found: list[SubtractionExperiment] = []
    for number, scheme in enumerate(made):

        def tell(done: int, whole: int | None, before: int = number * tables) -> None:
            if asked.progress is not None:
                asked.progress(before + done, (whole or tables) * len(made))

        found.append(
            subtraction_experiment(
                scheme,
                total=total,
                margins=listed,
                n_tables=tables,
                shape=shape,
                mean=mean,
                n=n,
                seed=asked.seed,
                progress=tell,
            )
        )
    sizes = shape_text(shape)
    with_ = "with the margins asked for" if listed is not None else "with the total" * total
    return SchemeComparison(
        tuple(scheme.text for scheme in made),
        tuple(found),
        tables,
        f"{sizes} cells of mean {digits_text(mean)}, published {with_ or 'alone'}",
        Provenance(
            "comparison of schemes by SAP",
            "",
            {
                "shape": sizes,
                "mean": f"{mean:g}",
                "margins": "total" * total if listed is None else str(listed),
            },
            seed=asked.seed,
            fingerprint=_fingerprint(made, n, [sizes, f"{mean:g}", tables, total, listed]),
            seconds=time.perf_counter() - started,
        ),
    )


def _fingerprint(schemes: Sequence[Scheme], n: Sequence[int], tables: object) -> str:
    told = ([scheme.text for scheme in schemes], list(n), tables)
    return sha256(repr(told).encode("utf-8", "replace")).hexdigest()[:16]


def _few(n: Any) -> list[int]:
    wanted = [number for number in (5, 10, 20) if number in n]
    return wanted or [int(n[-1])]
