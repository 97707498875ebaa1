"""How links hold when part of the files is left out: the rest is linked anew, several times.

A tenth of the records of both files, at least one, is left out at random each time. A link that
comes back whenever both its records are there does not hang on who else is in the files.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from gamekeeper.algorithms.linkage.candidate_pairs import CandidatePairs
from gamekeeper.algorithms.linkage.objective import Objective
from gamekeeper.attack.linkage.options import LinkMethod
from gamekeeper.attack.linkage.pairs.linking import link_pairs
from gamekeeper.results import Progress
from gamekeeper.wording import count_of, percent_range, percent_text

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]

_LEFT_OUT = 0.1


@dataclass(frozen=True, eq=False)
class Resampled:
    """Links of files with a part left out.

    Attributes
    ----------
    stability
        For each record of the first file how often its link came back, of the times that both
        records were there; NaN without link, or where they never were.
    rates
        The share of records that were re-identified each time, of those with a partner there;
        None where truth is not known.
    """

    stability: Floats
    rates: Floats | None
    n_times: int

    def of_rows(self, rows: Integers) -> Resampled:
        """Return the same with the records of the first file in another order."""
        return replace(self, stability=self.stability[rows])

    def sentences(self) -> list[str]:
        """Return what held, in words."""
        known = self.stability[~np.isnan(self.stability)]
        said = [
            (
                f"With a tenth of both files left out, {count_of(self.n_times, 'time')}, a link came"
                f" back in {percent_text(known.mean() if known.size else 0)} of the times that both its"
                " records were there, on average."
            )
        ]
        if self.rates is not None and self.rates.size:
            low, high = np.quantile(self.rates, [0.025, 0.975])
            said.append(
                "Of the records whose partner was there,"
                + (
                    f" {percent_text(low)} were re-identified."
                    if percent_text(low) == percent_text(high)
                    else f" {percent_range(low, high)} were re-identified."
                )
            )
        return said


@dataclass(frozen=True, eq=False)
class _Part:
    """An objective for some of the records."""

    whole: Objective
    rows: Integers
    columns: Integers

    @property
    def shape(self) -> tuple[int, int]:
        return len(self.rows), len(self.columns)

    @property
    def notes(self) -> tuple[str, ...]:
        return ()

    def add_block(self, out: NDArray[np.float64], rows: slice) -> None:
        i = np.repeat(self.rows[rows], len(self.columns))
        j = np.tile(self.columns, len(self.rows[rows]))
        out += self.whole.pairs(i, j).reshape(out.shape)

    def pairs(self, rows: NDArray[np.integer], columns: NDArray[np.integer]) -> Floats:
        return self.whole.pairs(self.rows[rows], self.columns[columns])


def resample_links(
    objective: Objective,
    method: LinkMethod,
    links: Integers,
    *,
    candidates: CandidatePairs | None,
    most_cost: float | None = None,
    truth: Integers | None,
    resamples: int,
    max_pairs: int,
    stay_unlinked: bool = False,
    seed: int,
    progress: Progress | None = None,
) -> Resampled:
    """Link the files with a tenth of both left out, several times.

    With `stay_unlinked`, records without a link have none: more than costs speaks against it.
    """
    n_rows, n_columns = objective.shape
    came_back = np.zeros(n_rows, np.int64)
    were_there = np.zeros(n_rows, np.int64)
    rates: list[float] = []
    for number, child in enumerate(np.random.SeedSequence(seed).spawn(resamples)):
        rng = np.random.default_rng(child)
        rows, columns = (
            np.sort(rng.permutation(n)[: n - max(int(n * _LEFT_OUT), int(n > 1))])
            for n in (n_rows, n_columns)
        )
        part = _Part(objective, rows, columns)
        found = link_pairs(
            part,
            method,
            candidates=_within(candidates, rows, columns),
            most_cost=most_cost,
            max_pairs=max_pairs,
            margins=False,
        )
        is_link = (found.columns >= 0) & ((links[rows] >= 0) | (not stay_unlinked))
        again = np.where(is_link, columns[found.columns], -1)
        here = np.zeros(n_columns + 1, np.bool_)
        here[columns] = True
        linked = (links[rows] >= 0) & here[links[rows]]
        were_there[rows] += linked
        came_back[rows] += linked & (again == links[rows])
        if truth is not None:
            has_partner = (truth[rows] >= 0) & here[truth[rows]]
            right = has_partner & (again == truth[rows])
            rates.append(float(right.sum() / max(has_partner.sum(), 1)))
        if progress is not None:
            progress(number + 1, resamples)
    with np.errstate(invalid="ignore"):
        stability = np.where(were_there > 0, came_back / np.maximum(were_there, 1), np.nan)
    return Resampled(stability, np.array(rates) if truth is not None else None, resamples)


def _within(
    candidates: CandidatePairs | None, rows: Integers, columns: Integers
) -> CandidatePairs | None:
    if candidates is None:
        return None
    row_of = np.full(candidates.shape[0], -1, np.int64)
    column_of = np.full(candidates.shape[1], -1, np.int64)
    row_of[rows], column_of[columns] = np.arange(len(rows)), np.arange(len(columns))
    i, j = row_of[candidates.rows()], column_of[candidates.columns]
    kept = (i >= 0) & (j >= 0)
    return CandidatePairs.from_pairs(i[kept], j[kept], (len(rows), len(columns)))
