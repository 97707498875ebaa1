"""What somebody learns who knows n of the people: SAP of a release, of each area or each key.

The intruder takes the n people out of the table. Where nobody else can be left in a cell, a zero is
recovered, and zeros are what discloses: nobody else is like that. SAP(n) is the probability that n
people known at random recover at least one; see `gamekeeper.algorithms.subtraction.probability`.

Within a combination of categories of some axes there is a table over the other axes: the
conditional table of people whose key is known. Either each of them is a population of its own, of
which n people are known (small areas, each with its neighbours), or n people of the whole
population are known, and what counts is a zero within the key.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from gamekeeper.algorithms.releases.constraints import UNBOUNDED, CountConstraints, CountMargin
from gamekeeper.algorithms.subtraction import probability
from gamekeeper.algorithms.subtraction.recovered_zeros import recovered_zeros, small_area_risks
from gamekeeper.algorithms.subtraction.release import (
    MAX_SAMPLES,
    release_group_risks,
    release_risk,
    release_rule,
)
from gamekeeper.algorithms.subtraction.zeros import MAX_BITS, release_zeros
from gamekeeper.arrow import pa
from gamekeeper.attack.tables import bounding
from gamekeeper.attack.tables.options import SubtractionInput, WithinInput
from gamekeeper.data.tables.axes import Axis, unknown_axes
from gamekeeper.data.tables.release import Release, check_truth
from gamekeeper.errors import InputError, LimitError, Problem, Reason
from gamekeeper.options import takes
from gamekeeper.results import Progress, Provenance, Result, table_html
from gamekeeper.wording import count_of, digits_text, three_digits

if TYPE_CHECKING:
    from matplotlib.figure import Figure

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]
_MOST_N, _DETAIL = 100, 10
# Which cell and how many takes a decision for each cell and ordering.
_DETAIL_DRAWS = 500
_ASKED = "The probability of recovering zeros was asked for."
_DEFAULT_N = (1, 2, 3, 5, 10, 20)
_THRESHOLD = 0.1
_MOST_CELLS = 3_000


@dataclass(frozen=True, repr=False)
class CellRecovery(Result):
    """Which cells and categories recover zeros when n people are known: for each its probability."""

    axes: tuple[Axis, ...]
    n: int
    cells: Floats
    categories: tuple[Floats, ...]
    provenance: Provenance

    def summary(self) -> dict[str, Any]:
        """Return the headline numbers."""
        return {
            "n": self.n,
            "cells": self.cells.size,
            "expected_zeros": float(self.cells.sum()),
            "largest": float(self.cells.max(initial=0.0)),
        }

    def to_arrow(self) -> pa.Table:
        """Return one row per category, then one per cell that can recover a zero."""
        rows: list[dict[str, Any]] = []
        for axis, risks in zip(self.axes, self.categories, strict=False):
            rows += [
                {"what": "category", "where": f"{axis.name} {name}", "probability": float(risk)}
                for name, risk in zip(axis.categories, risks, strict=True)
            ]
        for place in np.argwhere(self.cells > 0):
            where = ", ".join(
                f"{axis.name} {axis.categories[k]}"
                for axis, k in zip(self.axes, place, strict=True)
            )
            risk = float(self.cells[tuple(place)])
            rows.append({"what": "cell", "where": where, "probability": risk})
        rows.sort(key=lambda row: (row["what"] == "cell", -row["probability"]))
        schema = pa.schema(
            [("what", pa.string()), ("where", pa.string()), ("probability", pa.float64())]
        )
        return pa.Table.from_pylist(rows, schema=schema)

    def few(self, most: int = 10) -> pa.Table:
        """Return the categories and the cells of the largest probabilities, so many of each."""
        table = self.to_arrow()
        n_categories = sum(len(risks) for risks in self.categories)
        n_cells = min(most, table.num_rows - n_categories)
        places = [*range(min(most, n_categories)), *range(n_categories, n_categories + n_cells)]
        return table.take(np.array(places, np.int64))

    def _repr_html_(self) -> str:
        return table_html(("measure", "value"), self.summary().items(), caption=type(self).__name__)


@dataclass(frozen=True, repr=False)
class SubtractionAttack(Result):
    """SAP of a release for numbers of known people, exact or with what it lies between.

    - `expected`, `distribution`: the expected number of recovered zeros, and the probability of
      each number of them, for each n; None where they are not known.
    - `detail`: which cells and categories are to blame at one n; None where it is not known.
    """

    tells_of_records = False

    risk: probability.SubtractionRisk
    expected: Floats | None
    distribution: Floats | None
    detail: CellRecovery | None
    notes: tuple[str, ...]
    provenance: Provenance

    def summary(self) -> dict[str, Any]:
        """Return the headline numbers; from how many people on is left out where it is not known."""
        ends = {"possible_from": self.risk.possible_from, "certain_from": self.risk.certain_from}
        return {
            "population": self.risk.population,
            **{name: number for name, number in ends.items() if number is not None},
            "exact": self.risk.is_exact,
            "largest_n": int(self.risk.n.max(initial=0)),
            "largest_sap": float(self.risk.values.max(initial=0.0)),
        }

    def sentences(self) -> list[str]:
        """Return what the curve says, in words."""
        risk = self.risk
        said = [f"The table has {count_of(risk.population, 'person', 'people')} in it."]
        if not risk.values.size:
            return said
        if risk.values[0] == 1 and risk.n[0] == 0:
            said += self._given_away()
        else:
            said += [
                f"Somebody who knows {count_of(int(risk.n[k]), 'person', 'people')} at random"
                f" recovers a zero with probability {_probability(risk, k)}."
                for k in _told(risk)
            ]
        if risk.possible_from is not None and risk.possible_from > 0:
            said.append(
                "A zero can be recovered from"
                f" {count_of(risk.possible_from, 'known person', 'known people')} on"
                + (
                    f", and always is from {risk.certain_from:,} on."
                    if risk.certain_from is not None
                    else "."
                )
            )
        elif not risk.values.any() and risk.draws == 0:
            said.append("No number of known people that was asked for recovers a zero.")
        if risk.draws:
            said.append(
                f"Estimated from {risk.draws:,} random orders of the population; intervals are of 95%"
                " for each number of people."
            )
        said[0] = bounding.under_assumption(said[0], "What is learnt", self.provenance)
        return [*said, *self.notes]

    def _given_away(self) -> list[str]:
        said = "The release gives a zero away to anybody: nobody has to be known."
        if self.expected is None:
            return [said]
        alone, most = float(self.expected[0]), float(self.expected[-1])
        people = count_of(int(self.risk.n[-1]), "person", "people")
        if alone > 1:
            said = f"The release gives {alone:,.0f} zeros away to anybody: nobody has to be known."
        if len(self.risk.n) == 1:
            return [said]
        return [
            said,
            f"Somebody who knows {people} recovers {digits_text(most - alone, 3)} more on average.",
        ]

    def to_arrow(self) -> pa.Table:
        """Return one row per number of known people."""
        risk = self.risk
        exact = (
            [str(value) for value in risk.fractions]
            if risk.fractions is not None
            else [""] * len(risk.n)
        )
        columns: dict[str, Any] = {
            "n": pa.array(risk.n),
            "sap": pa.array(risk.values),
            "exact": pa.array([text if len(text) <= 40 else "" for text in exact], pa.string()),
            "lower": pa.array(risk.lower),
            "upper": pa.array(risk.upper),
        }
        if self.expected is not None:
            columns["expected_zeros"] = pa.array(self.expected)
        return pa.table(columns)

    def few(self, most: int = 15) -> pa.Table:
        """Return some of the rows, evenly spaced, with the first and the last."""
        table = self.to_arrow()
        if table.num_rows <= most:
            return table
        return table.take(np.linspace(0, table.num_rows - 1, most).round().astype(np.int64))

    def plot(self) -> Figure:
        """Draw SAP over the number of known people; needs no display."""
        from gamekeeper.attack.tables.comparison import plot_subtraction

        return plot_subtraction(self)


@takes(SubtractionInput)
def subtract_known(release: Release, asked: SubtractionInput) -> SubtractionAttack:
    """Return SAP of a release: what somebody learns who knows n people.

    `truth` is the true base table, which the steward has. Above the population, SAP stays where it
    is for the whole population. Cells and categories are told for 10 people or the largest n,
    unless `at` says otherwise.

    Examples
    --------
    >>> from gamekeeper.data.tables.count_table import CountTable
    >>> table = CountTable.typed({"sex": ["f", "m"]}, [3, 1])
    >>> counts = [{"margin": ["sex"], "scheme": "random:5", "counts": [5, 5]}]
    >>> total = {"margin": [], "scheme": "random:5", "counts": 0}
    >>> release = Release.typed({"sex": ["f", "m"]}, [*counts, total])
    >>> [str(value) for value in subtract_known(release, table).risk.fractions]
    ['0', '0', '0', '1/4', '1']
    """
    started = time.perf_counter()
    bounding.require_cells(release, _ASKED)
    check_truth(release, asked.truth)
    counts = asked.truth.dense()
    population = int(counts.sum())
    known = range(min(population, _MOST_N) + 1) if asked.n is None else map(int, asked.n)
    n, method, draws, seed = list(known), asked.method, asked.draws, asked.seed
    most = asked.max_samples or MAX_SAMPLES
    with bounding.consistent(release, _ASKED):
        risk = release_risk(
            release.constraints, counts, n=n, method=method, draws=draws, seed=seed,
            progress=asked.progress, max_samples=most,
        )  # fmt: skip
    provenance = Provenance(
        "subtraction attribution probability",
        risk.method,
        {"n": _numbers(n), "draws": str(risk.draws), **bounding.assumptions(release, asked.truth)},
        seed=seed if risk.draws else None,
        fingerprint=release.fingerprint,
        seconds=time.perf_counter() - started,
    )
    chosen = min(_DETAIL, max(n, default=0)) if asked.at is None else asked.at
    rule = release_rule(release.constraints, counts.reshape(-1))
    if rule is not None:
        expected, distribution = _numbers_of_zeros(rule, n)
        cells = probability.cell_recovery(rule, n=[chosen]).reshape(release.shape)
        categories = _by_category(release, counts, chosen)
        detail = CellRecovery(release.axes, chosen, cells, categories, provenance)
        return SubtractionAttack(risk, expected, distribution, detail, (), provenance)
    fewer = min(draws, _DETAIL_DRAWS)
    zeros = release_zeros(
        release.constraints, counts, n=[*n, chosen], method=method, max_samples=most,
        max_bits=asked.max_bits or MAX_BITS, draws=fewer, seed=seed,
    )  # fmt: skip
    categories = _by_category(
        release, counts, chosen, method=method, max_samples=most, draws=fewer, seed=seed
    )
    detail = CellRecovery(release.axes, chosen, zeros.cells[-1], categories, provenance)
    notes = (
        (f"How many zeros and where is estimated from {fewer:,} random orders of the population.",)
        if zeros.draws
        else ()
    )
    return SubtractionAttack(
        risk, zeros.zeros.expected[:-1], zeros.zeros.probabilities[:-1], detail, notes, provenance
    )


def _by_category(release: Release, counts: Integers, n: int, **options: Any) -> tuple[Floats, ...]:
    found: list[Floats] = []
    for axis in range(len(release.shape)):
        groups = probability.cell_groups(release.shape, (axis,))
        risks = release_group_risks(release.constraints, counts, groups, n=[n], **options)
        found.append(np.array([float(risk.values[0]) for risk in risks]))
    return tuple(found)


def _numbers_of_zeros(
    rule: probability.RecoveryRule, asked: Sequence[int]
) -> tuple[Floats, Floats | None]:
    try:
        zeros = recovered_zeros(rule, n=asked)
    except LimitError:
        return probability.cell_recovery(rule, n=asked).reshape(len(asked), -1).sum(axis=1), None
    return zeros.expected, zeros.probabilities


def _told(risk: probability.SubtractionRisk) -> list[int]:
    """Choose a few numbers of people to speak of: the first that matter, and the last."""
    above = np.flatnonzero(risk.values > 0)
    chosen = {len(risk.n) - 1}
    chosen |= {k for k in range(len(risk.n)) if risk.n[k] in (1, 5, 10)}
    if above.size:
        chosen.add(int(above[0]))
    return sorted(chosen)


def _probability(risk: probability.SubtractionRisk, k: int) -> str:
    value = three_digits(risk.values[k])
    if risk.draws:
        return f"{value} ({three_digits(risk.lower[k])} to {three_digits(risk.upper[k])})"
    return value


def _numbers(asked: Sequence[int]) -> str:
    if len(asked) > 1 and list(asked) == list(range(asked[0], asked[-1] + 1)):
        return f"{asked[0]}-{asked[-1]}"
    return ",".join(map(str, asked))


@dataclass(frozen=True, repr=False)
class ConditionalSubtraction(Result):
    """SAP of each area or key: a row in the order of the categories, a column for each n.

    Known are n people of the table itself (`own_people`), or of the whole population.
    """

    keys: tuple[Axis, ...]
    n: Integers
    populations: Integers
    values: Floats
    own_people: bool
    n_sampled: int
    notes: tuple[str, ...]
    provenance: Provenance

    @property
    def n_tables(self) -> int:
        """The number of tables."""
        return len(self.values)

    def words(self, table: int) -> str:
        """Return the categories of a table, in words."""
        shape = tuple(len(axis.categories) for axis in self.keys)
        place = np.unravel_index(table, shape)
        return ", ".join(
            f"{axis.name} {axis.categories[int(k)]}"
            for axis, k in zip(self.keys, place, strict=True)
        )

    def summary(self) -> dict[str, Any]:
        """Return the headline numbers."""
        last = self.values[:, -1] if self.values.size else np.zeros(0)
        return {
            "tables": self.n_tables,
            "n": int(self.n[-1]) if len(self.n) else 0,
            "mean_sap": float(last.mean()) if last.size else 0.0,
            "above_0.1": int(np.count_nonzero(last > _THRESHOLD)),
            "certain": int(np.count_nonzero(last == 1)),
        }

    def sentences(self) -> list[str]:
        """Return what the tables say, in words."""
        names = " by ".join(axis.name for axis in self.keys)
        whose = "of the same table" if self.own_people else "of the whole population"
        said = [f"{count_of(self.n_tables, 'table')}, one for each {names}."]
        for k, number in enumerate(self.n):
            risks = self.values[:, k]
            said.append(
                f"Knowing {count_of(int(number), 'person', 'people')} {whose}: a zero is recovered"
                f" with probability {three_digits(risks.mean())} on average, above {digits_text(_THRESHOLD)} in"
                f" {count_of(int(np.count_nonzero(risks > _THRESHOLD)), 'table')}, for certain in"
                f" {np.count_nonzero(risks == 1):,}."
            )
        said[0] = bounding.under_assumption(said[0], "What is learnt", self.provenance)
        return [*said, *self.notes]

    def to_arrow(self) -> pa.Table:
        """Return one row per table, the riskiest first."""
        order = np.lexsort((np.arange(self.n_tables), *(-self.values.T)))
        columns: dict[str, Any] = {
            "table": pa.array([self.words(int(k)) for k in order], pa.string()),
            "people": pa.array(self.populations[order]),
        }
        for k, number in enumerate(self.n):
            columns[f"sap_{number}"] = pa.array(self.values[order, k])
        return pa.table(columns)

    def plot(self) -> Figure:
        """Draw how SAP is distributed over the tables, for each n; needs no display."""
        from gamekeeper.attack.tables.comparison import plot_tables

        return plot_tables(self)

    def _repr_html_(self) -> str:
        return table_html(("measure", "value"), self.summary().items(), caption=type(self).__name__)


@takes(WithinInput)
def subtract_within(release: Release, asked: WithinInput) -> ConditionalSubtraction:
    """Return SAP of the conditional table of each combination of categories of the keys.

    `truth` is the true base table, and `keys` are the axes that are known of a person, or the area.

    Examples
    --------
    >>> from gamekeeper.data.tables.count_table import CountTable
    >>> table = CountTable.typed({"area": ["a", "b"], "work": ["yes", "no"]}, [[4, 1], [6, 7]])
    >>> release = Release.typed(
    ...     {"area": ["a", "b"], "work": ["yes", "no"]},
    ...     [{"margin": ["area", "work"], "scheme": "conventional:3", "counts": [[3, 0], [6, 6]]}],
    ... )
    >>> subtract_within(release, table, ["area"], n=[1, 2]).values.round(2).tolist()
    [[0.2, 0.4], [0.0, 0.0]]
    """
    started = time.perf_counter()
    bounding.require_cells(release, "SAP within areas or keys was asked for.")
    check_truth(release, asked.truth)
    axes = _axis_numbers(release, asked.keys)
    n = sorted({int(k) for k in (_DEFAULT_N if asked.n is None else asked.n)})
    if not n:
        raise InputError(
            Reason.NOTHING_GIVEN,
            "SAP within areas or keys was asked for.",
            "No number of known people was given.",
            "Give at least one, such as 1 to 20.",
        )
    counts, own_people = asked.truth.dense(), asked.own_people
    groups = probability.cell_groups(release.shape, axes)
    notes: list[str] = []
    n_sampled = 0
    with bounding.consistent(release, "SAP within areas or keys was asked for."):
        constraints = release.constraints
        apart = [margin for margin in constraints.margins if _tells_apart(margin, axes)]
        is_whole = len(apart) == len(constraints.margins)
        if own_people and (is_whole or _is_large(constraints, counts)):
            values, n_sampled = _in_each(
                constraints.shape, apart, counts, axes, n, asked.draws, asked.seed, asked.progress
            )
            if not is_whole:
                notes.append(
                    "The release is too large to be taken as a whole: published tables that do not"
                    " tell these apart are not used, and risks may be higher."
                )
        else:
            risks = release_group_risks(
                constraints, counts, groups, n=n, own_people=own_people, draws=asked.draws,
                seed=asked.seed, progress=asked.progress,
            )  # fmt: skip
            values = np.array([risk.values for risk in risks])
            n_sampled = sum(risk.draws > 0 for risk in risks)
    if n_sampled:
        sampled = count_of(n_sampled, "table was", "tables were")
        notes.append(f"{sampled} estimated from {asked.draws:,} random orders of the people.")
    populations = np.bincount(groups.reshape(-1), counts.reshape(-1)).astype(np.int64)
    return ConditionalSubtraction(
        tuple(release.axes[axis] for axis in axes),
        np.array(n, np.int64),
        populations,
        values,
        own_people,
        n_sampled,
        tuple(notes),
        Provenance(
            "subtraction attribution probability",
            "of each conditional table",
            {
                "keys": ", ".join(asked.keys),
                "n": ",".join(map(str, n)),
                **bounding.assumptions(release, asked.truth),
            },
            seed=asked.seed if n_sampled else None,
            fingerprint=release.fingerprint,
            seconds=time.perf_counter() - started,
        ),
    )


def _is_large(constraints: CountConstraints, counts: Integers) -> bool:
    """Whether a search over the whole release for each of the tables would take too long."""
    return constraints.size > _MOST_CELLS and release_rule(constraints, counts.reshape(-1)) is None


def _in_each(
    base: tuple[int, ...],
    margins: list[CountMargin],
    counts: Integers,
    axes: tuple[int, ...],
    asked: list[int],
    draws: int,
    seed: int,
    progress: Progress | None,
) -> tuple[Floats, int]:
    shape = tuple(base[axis] for axis in axes)
    others = tuple(axis for axis in range(len(base)) if axis not in axes)
    rest = tuple(base[axis] for axis in others)
    first = (*axes, *others)
    tables = counts.transpose(first).reshape(-1, *rest)
    vector = _as_vectors(margins, axes, others, len(tables), rest)
    if vector is not None:
        lower, upper, total = vector
        values = small_area_risks(
            tables.reshape(len(tables), -1), upper, n=asked, lower=lower, total_upper=total
        )
        return values, 0
    found = np.zeros((len(tables), len(asked)))
    n_sampled = 0
    for number, place in enumerate(np.ndindex(*shape)):
        part = CountConstraints(rest, tuple(_within(m, axes, place, others) for m in margins))
        risk = release_risk(part, tables[number], n=asked, draws=draws, seed=seed)
        found[number] = risk.values
        n_sampled += risk.draws > 0
        if progress is not None:
            progress(number + 1, len(tables))
    return found, n_sampled


def _tells_apart(margin: CountMargin, axes: tuple[int, ...]) -> bool:
    return all(
        np.array_equal(margin.groups[axis], np.arange(len(margin.groups[axis]))) for axis in axes
    )


def _within(
    margin: CountMargin, axes: tuple[int, ...], place: tuple[int, ...], others: tuple[int, ...]
) -> CountMargin:
    chosen: list[Any] = [slice(None)] * len(margin.groups)
    for axis, category in zip(axes, place, strict=True):
        chosen[axis] = category
    return CountMargin(
        tuple(margin.groups[axis] for axis in others),
        np.ascontiguousarray(margin.lower[tuple(chosen)]),
        np.ascontiguousarray(margin.upper[tuple(chosen)]),
    )


def _as_vectors(
    margins: list[CountMargin],
    axes: tuple[int, ...],
    others: tuple[int, ...],
    n_tables: int,
    rest: tuple[int, ...],
) -> tuple[Integers, Integers, Integers | None] | None:
    """Return limits of all tables at once where each is a table, alone or with its total."""
    size = int(np.prod(rest, dtype=np.int64))
    lower = np.zeros((n_tables, size), np.int64)
    upper = np.full((n_tables, size), UNBOUNDED, np.int64)
    total: Integers | None = None
    for margin in margins:
        low = margin.lower.transpose(*axes, *others).reshape(n_tables, -1)
        high = margin.upper.transpose(*axes, *others).reshape(n_tables, -1)
        if low.shape[1] == size and margin.plain:
            lower, upper = np.maximum(lower, low), np.minimum(upper, high)
        elif low.shape[1] == 1:
            total = high[:, 0] if total is None else np.minimum(total, high[:, 0])
        else:
            return None
    return lower, upper, total


def _axis_numbers(release: Release, keys: Sequence[str]) -> tuple[int, ...]:
    names = list(release.names)
    problems = unknown_axes(keys, names, "is not in the release.")
    if not keys or len(set(keys)) != len(keys) or len(set(keys)) >= len(names):
        problems.append(
            Problem(Reason.BAD_OPTION, "keys", "they must be some axes, and leave at least one.")
        )
    if problems:
        raise InputError(
            Reason.BAD_OPTION,
            "SAP within areas or keys was asked for.",
            "The keys cannot be used.",
            problems=problems,
        )
    return tuple(sorted(names.index(name) for name in keys))
