"""Links of two files as a result: which record is which, how sure that is, how often it is true.

What carried links is told by the variables in which linked records agree, nearly agree or differ.
How links hold is told by linking anew, several times, with a tenth of the records of both files, at
least one, left out at random. A link that comes back whenever both its records are there does not
hang on who else is in the files.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from gamekeeper.algorithms.linkage.blocking import CandidatePairs
from gamekeeper.algorithms.linkage.comparison import Comparison
from gamekeeper.algorithms.linkage.fellegi_sunter import FellegiSunterModel
from gamekeeper.algorithms.linkage.objective import Objective
from gamekeeper.arrow import arrow_table, pa
from gamekeeper.attack.linkage.columns import LinkVariable
from gamekeeper.attack.linkage.group_links import GroupLinks
from gamekeeper.attack.linkage.linking import Linked, ahead_of, link_pairs
from gamekeeper.attack.linkage.options import LinkMethod
from gamekeeper.attack.linkage.partners import Partners
from gamekeeper.attack.linkage.truth import (
    Calibration,
    bands_table,
    by_margin,
    calibrate,
    plot_links,
    share_interval,
)
from gamekeeper.results import Progress, Provenance, Result, table_html
from gamekeeper.wording import (
    be,
    count_of,
    digits_text,
    joined,
    percent_range,
    percent_text,
    share_text,
    times_text,
)

if TYPE_CHECKING:
    from matplotlib.figure import Figure

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]
_LEFT_OUT = 0.1
_MOST_LINKS, _NEAR = 20_000, 0.25
_ROUNDING = 1e-12


@dataclass(frozen=True, eq=False)
class Resampled:
    """Links of files with a part left out.

    - `stability`: for each record of the first file how often its link came back, of the times that
      both records were there; NaN without link, or where they never were.
    - `rates`: the share of records that were re-identified each time, of those with a partner
      there; None where truth is not known.
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


@dataclass(frozen=True, slots=True)
class ExampleLink:
    """A link in words: records numbered from 0, and the variables in which they agree, or do not."""

    record: int
    other: int
    agree: tuple[str, ...]
    near: tuple[str, ...]
    differ: tuple[str, ...]
    missing: tuple[str, ...]

    def words(self) -> str:
        """Return the link in words, without any value."""
        parts = [
            f"{joined(names)} {text if len(names) > 1 else one}"
            for names, one, text in (
                (self.agree, "agrees", "agree"),
                (self.near, "nearly agrees", "nearly agree"),
                (self.differ, "differs", "differ"),
                (self.missing, "is missing", "are missing"),
            )
            if names
        ]
        return "; ".join(parts)


@dataclass(frozen=True, slots=True)
class Carried:
    """For each variable the share of links that agree, nearly agree, differ or miss a value.

    - `shares`: a row per variable: equal, within a quarter of the usual distance, farther, missing.
    - `chance`: the share of pairs of different people that agree; NaN where that is not known.
    - `weights`: the mean weight of the links, for each variable; NaN where costs are no weights.
    """

    names: tuple[str, ...]
    shares: Floats
    chance: Floats
    weights: Floats
    n_links: int
    examples: tuple[ExampleLink, ...]

    def to_arrow(self) -> pa.Table:
        """Return one row per variable, those that say most first."""
        key = np.nan_to_num(self.weights, nan=0.0) if np.isfinite(self.weights).any() else None
        order = np.argsort(-(self.shares[:, 0] if key is None else key), kind="stable")
        columns = {
            "variable": pa.array([self.names[k] for k in order], pa.string()),
            "agree_share": pa.array(self.shares[order, 0]),
            "nearly_share": pa.array(self.shares[order, 1]),
            "differ_share": pa.array(self.shares[order, 2]),
            "missing_share": pa.array(self.shares[order, 3]),
        }
        if np.isfinite(self.weights).any():
            columns["agree_by_chance_share"] = pa.array(
                self.chance[order], mask=~np.isfinite(self.chance[order])
            )
            columns["mean_weight"] = pa.array(
                self.weights[order], mask=~np.isfinite(self.weights[order])
            )
        return pa.table(columns)


def what_carried(
    comparisons: Sequence[Comparison],
    columns: Integers,
    orders: tuple[Integers, Integers],
    model: FellegiSunterModel | None,
    examples: Integers,
) -> Carried | None:
    """Look at links, at most 20,000 of them, evenly spread; None without links.

    Records are in the order of the comparisons; `orders` has their numbers in the two files.
    `columns` are records of the second file, `examples` those of the first to be told in words.
    """
    linked = np.flatnonzero(columns >= 0)
    if not len(linked):
        return None
    rows = linked[:: max(len(linked) // _MOST_LINKS, 1)]
    told = examples[columns[examples] >= 0]
    names = tuple(one.name for one in comparisons)
    shares = np.zeros((len(names), 4))
    weights, chance = np.full(len(names), np.nan), np.full(len(names), np.nan)
    kinds = np.zeros((len(names), len(told)), np.int64)
    for k, comparison in enumerate(comparisons):
        plain = comparison.with_missing(math.nan)
        mean = comparison.mean_distance()
        near = _NEAR * (mean if mean > 0 else 0.0)
        distances = plain.pairs(rows, columns[rows])
        shares[k] = np.bincount(_kinds(distances, near), minlength=4) / len(rows)
        kinds[k] = _kinds(plain.pairs(told, columns[told]), near)
        if model is not None and comparison.name in model.names:
            place = model.names.index(comparison.name)
            levels = np.searchsorted(model.limits[place], distances[~np.isnan(distances)])
            found = model.weights[place][levels]
            weights[k] = float(found.sum()) / len(rows)
            chance[k] = float(model.u[place][0])
    made = tuple(
        ExampleLink(
            int(orders[0][row]),
            int(orders[1][columns[row]]),
            *(
                tuple(name for name, kind in zip(names, kinds[:, at], strict=True) if kind == one)
                for one in range(4)
            ),
        )
        for at, row in enumerate(told)
    )
    return Carried(names, shares, chance, weights, len(rows), made)


def _kinds(distances: Floats, near: float) -> Integers:
    """Return 0 for equal, 1 for near, 2 for others, 3 for missing."""
    found = np.where(distances <= near, 1, 2)
    found[distances == 0] = 0
    found[np.isnan(distances)] = 3
    return found.astype(np.int64)


@dataclass(frozen=True, repr=False)
class FileLinks(Result):
    """The links between the records of two files.

    - `truth`: the true partner of each record of the first file, -1 for none; None if not known.
    - `by_chance`: about how many links would be correct if they were drawn at random from the pairs
      that were compared; None where truth is not known.
    - `resampled`: how links hold when a part of both files is left out; None if not asked for.
    - `partners`: how many people are in both files, and what to expect of links; None where all
      were to be linked, or costs are no weights of agreement.
    - `weights`: for each variable the weight of each level of agreement, and how often it is found
      among matches and others; None where costs are no weights of agreement.
    - `carried`: in which variables linked records agree, with examples; None without links.
    - `groups`: the groups of equal records that links are to; None if to single records.
    """

    variables: tuple[LinkVariable, ...]
    linked: Linked
    truth: Integers | None
    by_chance: float | None
    n_records: tuple[int, int]
    resampled: Resampled | None
    notes: tuple[str, ...]
    provenance: Provenance
    partners: Partners | None = None
    weights: FellegiSunterModel | None = None
    carried: Carried | None = None
    groups: GroupLinks | None = None

    @property
    def n_linked(self) -> int:
        """The number of links."""
        return int(np.count_nonzero(self.linked.columns >= 0))

    @property
    def is_correct(self) -> NDArray[np.bool_] | None:
        """Whether each record is linked to its true partner; None where truth is not known."""
        if self.truth is None:
            return None
        return (self.linked.columns == self.truth) & (self.linked.columns >= 0)

    @property
    def n_correct(self) -> int | None:
        """The number of correct links."""
        correct = self.is_correct
        return None if correct is None else int(np.count_nonzero(correct))

    @property
    def n_with_partner(self) -> int | None:
        """The number of records of the first file that have a partner; None where not known."""
        return None if self.truth is None else int(np.count_nonzero(self.truth >= 0))

    @property
    def rate(self) -> float | None:
        """The share of the records of the first file that are re-identified."""
        correct = self.n_correct
        if correct is None or not self.n_records[0]:
            return None
        return correct / self.n_records[0]

    @property
    def rate_and_interval(self) -> tuple[float, float, float]:
        """That share and its interval at 95%; nobody counts as re-identified without a truth."""
        correct, n_records = self.n_correct or 0, self.n_records[0]
        return correct / max(n_records, 1), *share_interval(correct, n_records)

    @property
    def precision(self) -> float | None:
        """The share of the links that are correct; None where not known, or nothing is linked."""
        correct = self.n_correct
        return None if correct is None or not self.n_linked else correct / self.n_linked

    @property
    def recall(self) -> float | None:
        """The share of the records with a partner that are linked to it; None where not known."""
        correct, known = self.n_correct, self.n_with_partner
        return None if correct is None or not known else correct / known

    @property
    def margins(self) -> Floats:
        """Second least less least cost of each record; NaN where there is no candidate."""
        with np.errstate(invalid="ignore"):
            return self.linked.second - self.linked.best

    @property
    def calibration(self) -> Calibration | None:
        """Stated probabilities held against the truth; None where one of them is not known."""
        correct, stated = self.is_correct, self.linked.probabilities
        return None if correct is None or stated is None else calibrate(stated, correct)

    def summary(self) -> dict[str, Any]:
        """Return the headline numbers; those of correct links only where truth is known."""
        linked, partners = self.linked, self.partners
        expected = {} if partners is None else partners.summary(linked.probabilities)
        numbers = {
            "records_a": self.n_records[0],
            "records_b": self.n_records[1],
            "links": self.n_linked,
            **expected,
            "with_partner": self.n_with_partner,
            "correct": self.n_correct,
            "precision": self.precision,
            "recall": self.recall,
            **({} if self.groups is None else self.groups.summary()),
            "by_chance": self.by_chance,
            "total_cost": linked.total,
            "lower_bound": linked.lower_bound,
            "sure_links": None if linked.is_sure is None else int(linked.is_sure.sum()),
        }
        # What is expected stays: None says that it is not known.
        return {
            name: number
            for name, number in numbers.items()
            if number is not None or name in expected
        }

    def sentences(self) -> list[str]:
        """Return what the links say, in words: what is right where that is known, then the rest."""
        linked, (n_a, n_b) = self.linked, self.n_records
        how_many = (
            f"{self.n_linked:,} of the {count_of(n_a, 'record')} of the first file"
            f" {be(self.n_linked)} linked with the {n_b:,} of the second, on"
            f" {count_of(len(self.variables), 'variable')}."
        )
        said = [how_many, *self._right()]
        if self.groups is not None:
            said += self.groups.sentences(self.n_records[self.groups.side])
        if self.partners is not None:
            # Links that may all be wrong are no success: that comes before their number.
            is_doubtful = self.truth is None and self.partners.overlap.low == 0
            in_both = self.partners.sentence(is_truth_known=self.truth is not None)
            said.insert(0 if is_doubtful else len(said), in_both)
            if not self.n_linked and self.partners.overlap.high:
                # Before the count, which would look like safety.
                said.insert(
                    int(is_doubtful),
                    "That no link is made does not show that nobody can be re-identified: somebody who"
                    " knows that all are in both files links everybody (--everybody of link files).",
                )
            if linked.probabilities is not None and self.truth is None:
                said += self.partners.expectations(linked.probabilities)
        calibration = self.calibration
        if calibration is not None:
            said.append(calibration.sentence())
        if self.resampled is not None:
            said += self.resampled.sentences()
        if linked.is_sure is not None and self.n_linked:
            n_sure = int(linked.is_sure.sum())
            said.append(
                "No other links cost as little together."
                if n_sure == self.n_linked
                else f"{count_of(n_sure, 'link is', 'links are')} the same in all links that cost as"
                f" little together; {self.n_linked - n_sure:,} could be another."
            )
        if linked.gap_to_bound and linked.lower_bound is not None:
            said.append(
                f"The links cost {digits_text(linked.total)} together; no one-to-one links could cost less than"
                f" {digits_text(linked.lower_bound)} ({share_text(linked.gap_to_bound)} less)."
            )
        return [*said, *self.notes]

    def _right(self) -> list[str]:
        correct, known, n_a = self.n_correct, self.n_with_partner, self.n_records[0]
        if correct is None or known is None or self.by_chance is None or not n_a:
            return []
        blocked = self.provenance.parameters["blocking"]
        among = " among the pairs that blocking left" if blocked else ""
        chance = f" Links drawn at random{among} would be correct {times_text(self.by_chance)}."
        if not known:
            wrong = "all links are wrong" if self.n_linked else "no link is made"
            return [f"No record of the first file has a partner in the second: {wrong}."]
        low, high = share_interval(correct, known)
        if known == n_a == self.n_linked:
            return [
                f"{count_of(correct, 'link is', 'links are')} correct: {percent_text(correct / n_a)}"
                f" of the records of the first file are re-identified ({percent_range(low, high)})."
                + chance
            ]
        right = "No link is correct"
        if correct:
            right = (
                f"{count_of(correct, 'link is', 'links are')} correct, a precision of"
                f" {percent_text(correct / max(self.n_linked, 1))}"
            )
        have = count_of(known, "record of the first file has", "records of the first file have")
        return [
            f"{right}. {have} a partner in the second: {percent_text(correct / known)} of them are"
            f" re-identified, the recall ({percent_range(low, high)})." + chance
        ]

    def to_arrow(self) -> pa.Table:
        """Return one row per record of the first file, numbered from 1 as in the files."""
        linked = self.linked
        columns: dict[str, Any] = {
            "record": pa.array(np.arange(1, self.n_records[0] + 1)),
            "linked_to": pa.array(linked.columns + 1, mask=linked.columns < 0),
        }
        if linked.probabilities is not None:
            columns["probability"] = _masked(linked.probabilities)
        # Sums of weights leave the best pair a little above 0.
        columns["cost"] = _masked(np.where(linked.costs < _ROUNDING, 0.0, linked.costs))
        columns |= {"margin": _masked(self.margins), "increase": _masked(linked.increases)}
        if linked.is_sure is not None:
            columns["in_every_optimum"] = pa.array(linked.is_sure)
        if self.resampled is not None:
            columns["stability"] = _masked(self.resampled.stability)
        correct = self.is_correct
        if correct is not None:
            columns["correct"] = pa.array(correct)
        if self.groups is not None:
            columns["group_size"] = pa.array(self.groups.sizes, mask=self.groups.sizes == 0)
            columns["group_probability"] = _masked(self.groups.probabilities)
            if self.groups.is_right is not None:
                columns["in_right_group"] = pa.array(self.groups.is_right)
        return pa.table(columns)

    def top(self, n: int) -> pa.Table:
        """Return the links that are surest, none where nothing is linked.

        Those whose increase is largest; where it was not worked out, those that cost least compared
        with the best other candidate of the record. Those without another come last, by costs.
        """
        linked = self.linked
        ahead = ahead_of(linked.costs, linked.best, linked.second)
        ahead = np.where(np.isnan(linked.increases), ahead, linked.increases)
        is_unlike = ~np.isfinite(ahead)
        order = np.lexsort((linked.costs, np.where(is_unlike, 0.0, -ahead), is_unlike))
        return self.to_arrow().take(order[linked.columns[order] >= 0][:n])

    def margin_table(self) -> pa.Table | None:
        """Return the share of right links by fifths of the margin; None where truth is not known."""
        correct = self.is_correct
        if correct is None:
            return None
        bands = by_margin(self.margins, correct, self.linked.columns >= 0)
        return bands_table(bands, "margin", with_stated=False)

    def weights_table(self) -> pa.Table | None:
        """Return one row per variable and level: its weight; None where there are no weights."""
        model = self.weights
        if model is None:
            return None
        numbers = dict.fromkeys(("up_to", "m", "u", "weight"), "float64")
        rows = [
            (name, level, *cells)
            for name, limits, *of_levels in zip(
                model.names, model.limits, model.m, model.u, model.weights, strict=True
            )
            for level, cells in enumerate(zip((*limits, None), *of_levels, strict=True))
        ]
        return arrow_table({"variable": "string", "level": "int64", **numbers}, rows)

    def plot(self) -> Figure:
        """Draw how margins are distributed, correct and wrong links apart where truth is known."""
        return plot_links(self)

    def _repr_html_(self) -> str:
        return table_html(("measure", "value"), self.summary().items(), caption=type(self).__name__)


def _masked(values: Floats) -> Any:
    return pa.array(values, mask=~np.isfinite(values))
