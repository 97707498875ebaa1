"""The tables that agree with a release: how many, how probable each count is, what holds in all.

Bounds say what is possible, not what is likely. An intruder who knows the perturbation scheme can
weigh every table that agrees with the release by the probability that the scheme would have
published what it did, and by a prior.

What anybody can say about people, that everyone of a kind is something or nobody is, follows from
cells that are certainly empty under everything that is published; see
`gamekeeper.algorithms.bounds.attributions`. The same release bounds how many people are concerned.
"""

from __future__ import annotations

import math
import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gamekeeper.algorithms.bounds import attributions
from gamekeeper.algorithms.feasible import counting
from gamekeeper.algorithms.feasible.independent_parts import Likelihood
from gamekeeper.algorithms.feasible.sampling import DrawingTime, estimate_tables
from gamekeeper.algorithms.releases.constraints import UNBOUNDED, CountConstraints, kept_axes
from gamekeeper.arrow import pa
from gamekeeper.attack.tables import bounding
from gamekeeper.attack.tables.bounds import TableBounds, bounds_of_release
from gamekeeper.attack.tables.options import PRIORS, AttributionInput, BoundsInput, FeasibleInput
from gamekeeper.budget import require_memory
from gamekeeper.data.tables.axes import Axis, category_columns
from gamekeeper.data.tables.release import Release
from gamekeeper.errors import InputError, LimitError, Reason
from gamekeeper.options import takes
from gamekeeper.results import Provenance, Result, table_html
from gamekeeper.wording import at_start, be, count_of, did_you_mean, digits_text, large_text, quoted

Integers = NDArray[np.int64]
MOST_TABLES = 10_000_000
_PILOT = 2_000
# Before tables are counted, before they are listed, and before they are drawn.
_PILOTS = 400 + 400 + 200
_SURE = 0.95
# Measured on tables of 2^14 to 2^16 cells: parts, rows and a distribution for each.
_CELL_BYTES = 2_300
# Gelman's rules of thumb for walks.
_ENOUGH_DRAWS, _SETTLED = 400, 1.05
# Above this a likelihood is too long to be listed, and the scheme too vague to matter.
_LONGEST = 10_000
_SHOWN = 10
_EXACT_CELLS = 2_000


@dataclass(frozen=True, repr=False)
class FeasibleTables(Result):
    """How many tables agree with a release, and the distribution of each cell over them.

    - `number`: how many there are; None where there are endless ones, or too many to count.
    - `estimate`, `error`: an estimate and its standard error where they were too many to count.
    - `cells`: the distribution of each cell; None where it does not exist.
    """

    axes: tuple[Axis, ...]
    number: int | None
    estimate: float | None
    error: float | None
    is_endless: bool
    prior: str
    cells: counting.CellPosteriors | None
    tables: Integers | None
    notes: tuple[str, ...]
    provenance: Provenance

    def summary(self) -> dict[str, Any]:
        """Return the headline numbers; those that are not known are left out."""
        told: dict[str, Any] = {"endless": self.is_endless}
        if self.number is not None:
            told["tables"] = self.number if self.number < 2**53 else f"{Decimal(self.number):.3e}"
        if self.estimate is not None:
            told["estimate"] = self.estimate
        return {
            **told,
            "prior": self.prior,
            "exact": self.cells is not None and self.cells.exact,
            "probably_known": self.n_probable,
        }

    @property
    def n_probable(self) -> int:
        """How many cells have a count with a probability of at least 0.95."""
        return 0 if self.cells is None else int(np.count_nonzero(self.cells.largest >= _SURE))

    def sentences(self) -> list[str]:
        """Return what was found, in words."""
        said: list[str] = []
        if self.is_endless:
            said.append("Infinitely many tables agree with the release: some cells have no limit.")
        elif self.number is not None:
            verb = "agrees" if self.number == 1 else "agree"
            said.append(
                f"{at_start(large_text(self.number))} {'table' if self.number == 1 else 'tables'}"
                f" {verb} with the release"
                + (": it is given away whole." if self.number == 1 else ".")
            )
        elif self.estimate is not None:
            said.append(
                f"About {digits_text(self.estimate, 3)} tables agree with the release (standard error"
                f" {digits_text(self.error or 0, 2)}), estimated from random ones: more than --most (most in"
                " Python) allows to visit."
            )
        if self.cells is not None:
            cells = self.cells
            n_empty = int(np.count_nonzero(cells.p_zero >= _SURE))
            said.append(
                f"Given the schemes and a {self.prior} prior, {self.n_probable:,} of"
                f" {count_of(len(cells.first), 'cell')}"
                f" {'has' if self.n_probable == 1 else 'have'} one count that is at least 95%"
                f" probable, and {n_empty:,} {be(n_empty)} empty with a"
                " probability of at least 95%."
            )
            if not cells.exact:
                said.append(_worth(cells))
        what = "Which tables agree with the release"
        first = [bounding.under_assumption(one, what, self.provenance) for one in said[:1]]
        return [*first, *said[1:], *self.notes]

    def to_arrow(self) -> pa.Table:
        """Return one row per cell: mean, most probable count, interval, probability of 0."""
        columns = category_columns(self.axes, np.arange(math.prod(map(len, self.axes))))
        if self.cells is None:
            return pa.table(columns)
        low, high = self.cells.interval()
        taken = {name.lower() for name in columns}
        for name, values in (
            ("mean", self.cells.mean),
            ("most_probable", self.cells.mode),
            ("from_95", low),
            ("to_95", high),
            ("p_zero", self.cells.p_zero),
            ("p_zero_error", self.cells.p_zero_error),
        ):
            columns[name if name not in taken else f"{name}_count"] = pa.array(values.reshape(-1))
        return pa.table(columns)

    def top(self, n: int) -> pa.Table:
        """Return the cells whose most probable count is most probable."""
        assert self.cells is not None
        return self.to_arrow().take(np.argsort(-self.cells.largest, kind="stable")[:n])

    def _repr_html_(self) -> str:
        return table_html(("measure", "value"), self.summary().items(), caption=type(self).__name__)


@takes(FeasibleInput)
def explore_tables(release: Release, asked: FeasibleInput) -> FeasibleTables:
    """Count the tables that agree with a release, and weigh them.

    Beyond the most that may be visited, their number is estimated. Tables themselves are returned
    if there are at most as many as are to be listed.

    Examples
    --------
    >>> release = Release.typed(
    ...     {"sex": ["f", "m"]}, [{"margin": ["sex"], "scheme": "random:3", "counts": [0, 3]}]
    ... )
    >>> found = explore_tables(release)
    >>> found.number, found.cells.p_zero.round(2).tolist()
    (15, [0.5, 0.0])
    """
    started = time.perf_counter()
    prior, draws, seed, workers = asked.prior, asked.draws, asked.seed, asked.workers
    if prior not in PRIORS:
        raise InputError(
            Reason.BAD_OPTION,
            f"The prior {quoted([prior])} was asked for.",
            "There is no such prior.",
            f"There are: {quoted(PRIORS)}.",
        )
    constraints = release.constraints
    notes: list[str] = []
    number = estimate = error = tables = cells = None
    is_endless = False
    words = "The tables that agree with a release were asked for."
    bounding.require_cells(release, words)
    require_memory(
        words,
        release.size * _CELL_BYTES,
        f"The distributions of {count_of(release.size, 'cell')}",
        "Bound the cells instead (gamekeeper tables bounds), or attack tables of fewer axes or"
        " categories",
    )
    within = DrawingTime(asked.max_seconds or None, draws + min(draws, _PILOT) + _PILOTS)
    with bounding.consistent(release, words):
        try:
            number = counting.count_tables(
                constraints, most=asked.most or MOST_TABLES, within=within, progress=asked.progress
            )
            is_endless = number is None
        except LimitError:
            guess = estimate_tables(
                constraints, draws=min(draws, _PILOT), seed=seed, workers=workers, within=within
            )
            estimate, error = guess or (None, None)
        if asked.listed and number is not None and number <= asked.listed:
            tables = counting.list_tables(constraints, most=asked.listed)
        elif asked.listed:
            notes.append(f"The tables are not listed: there are more than {asked.listed:,}.")
        if is_endless and prior != "poisson":
            notes.append(
                "How probable counts are is not known: some cells have no limit. The prior"
                " 'poisson' makes them finite."
            )
        else:
            cells = counting.cell_posteriors(
                constraints,
                _likelihoods(release),
                prior,  # pyright: ignore[reportArgumentType]
                draws=draws,
                seed=seed,
                workers=workers,
                within=within,
                progress=asked.progress,
            )
    is_sampled = estimate is not None or (cells is not None and not cells.exact)
    return FeasibleTables(
        release.axes,
        number,
        estimate,
        error,
        is_endless,
        prior,
        cells,
        tables,
        tuple(notes),
        Provenance(
            "feasible tables",
            "sampled" if is_sampled else "exact",
            {
                "prior": prior,
                "draws": str(draws) if is_sampled else "0",
                **bounding.assumptions(release),
            },
            seed=seed if is_sampled else None,
            fingerprint=release.fingerprint,
            seconds=time.perf_counter() - started,
        ),
    )


def _likelihoods(release: Release) -> list[list[Likelihood | None] | None]:
    """Return for each margin what its schemes say beyond limits; None where that is nothing."""
    found: list[list[Likelihood | None] | None] = []
    row = 0
    for margin in release.constraints.margins:
        entries: list[Likelihood | None] = []
        widths = np.where(margin.upper >= UNBOUNDED, UNBOUNDED, margin.upper - margin.lower)
        for width in widths.reshape(-1):
            entries.append(_weighed(release, row) if width < _LONGEST else None)
            row += 1
        found.append(entries if any(entry is not None for entry in entries) else None)
    return found


def _weighed(release: Release, row: int) -> Likelihood | None:
    first, chances = release.row_likelihood(row)
    if chances is None or all(chance == Fraction(1) for chance in chances):
        return None
    return first, chances


def _worth(cells: counting.CellPosteriors) -> str:
    said = (
        "These are estimates from random tables, worth"
        f" {cells.effective_size:,.0f} independent ones at least"
    )
    if cells.r_hat > 1:
        said += f"; walks agree to an R-hat of {cells.r_hat:.2f} (1 is best)"
    if cells.effective_size >= _ENOUGH_DRAWS and cells.r_hat <= _SETTLED:
        return f"{said}. That is enough for one or two digits."
    return f"{said}. That is too little to rely on: ask for more draws."


@dataclass(frozen=True, repr=False)
class Attributions(Result):
    """The most general statements that hold for certain, those on most people first.

    - `groups`: statements on most of a kind, or on all but a coalition, where they were asked for.
    - `n_no_news`: how many statements were left out, as everybody knows the cells to be empty.
    """

    axes: tuple[Axis, ...]
    statements: tuple[attributions.Attribution, ...]
    bounds: TableBounds
    provenance: Provenance
    groups: tuple[attributions.GroupAttribution, ...] = ()
    n_no_news: int = 0

    def of_kind(self, kind: str) -> tuple[attributions.Attribution, ...]:
        """Return the positive or the negative statements."""
        return tuple(one for one in self.statements if one.kind == kind)

    def words(self, one: attributions.Attribution | attributions.GroupAttribution) -> str:
        """Return a statement in words."""
        conditions = " and ".join(
            f"{self.axes[axis].name} {self.axes[axis].categories[category]}"
            for axis, category in zip(one.axes, one.categories, strict=True)
        )
        who = f" with {conditions}" if conditions else ""
        target = f"{self.axes[one.target].name} {self.axes[one.target].categories[one.category]}"
        if isinstance(one, attributions.GroupAttribution):
            have = f"{one.others:,} at most" if one.kind == "coalition" else _at_least(one.share)
            if one.kind == "share":
                kind = f"those{who}" if who else "all"
                return (
                    f"At least {have} of {kind} have {target}: {one.least:,} or more have it, at most"
                    f" {one.others:,} have not ({_people(one)})."
                )
            return (
                f"All{who} but {have} have {target}, so that these know it of the others"
                f" ({_people(one)})."
            )
        verb = "Everyone" if one.kind == "positive" else "Nobody"
        doubt = "" if one.certain else ", if there is anybody"
        return f"{verb}{who} has {target}{doubt} ({_people(one)})."

    def summary(self) -> dict[str, Any]:
        """Return the headline numbers."""
        return {
            "positive": len(self.of_kind("positive")),
            "negative": len(self.of_kind("negative")),
            "certainly_empty": self.bounds.n_zeros,
            "cells": self.bounds.n_cells,
        } | (
            {
                "shares": sum(one.kind == "share" for one in self.groups),
                "coalitions": sum(one.kind == "coalition" for one in self.groups),
                "no_news": self.n_no_news,
            }
            if self.groups or self.n_no_news
            else {}
        )

    def sentences(self, most: int = _SHOWN) -> list[str]:
        """Return what can be said, and the statements that concern most people."""
        positive, negative = len(self.of_kind("positive")), len(self.of_kind("negative"))
        n_statements = len(self.statements)
        first = (
            f"{count_of(n_statements, 'statement')} about people"
            f" {be(n_statements)} certain: {positive:,} that everyone of a kind"
            f" has something, {negative:,} that nobody has."
            if n_statements
            else "Nothing can be said of anybody for certain."
        )
        if self.groups:
            shares = sum(one.kind == "share" for one in self.groups)
            first += (
                f" {shares:,} more {'holds' if shares == 1 else 'hold'} for most of a kind,"
                f" {len(self.groups) - shares:,} for all but a few who can know it."
            )
        if self.n_no_news:
            first += f" {count_of(self.n_no_news, 'statement')} on cells that are known to be empty left out."
        first = bounding.under_assumption(first, "What can be said of people", self.provenance)
        certain = self.statements[:most]
        return [
            first,
            *(self.words(one) for one in (*certain, *self.groups[: most - len(certain)])),
        ]

    def to_arrow(self) -> pa.Table:
        """Return one row per statement, those on most people first."""
        every = (*self.statements, *self.groups)
        most = [None if one.people_high >= UNBOUNDED else one.people_high for one in every]
        return pa.table(
            {
                "statement": pa.array([self.words(one) for one in every], pa.string()),
                "kind": pa.array([one.kind for one in every], pa.string()),
                "conditions": pa.array([len(one.axes) for one in every], pa.int64()),
                "about": pa.array([self.axes[one.target].name for one in every], pa.string()),
                "people_from": pa.array([one.people_low for one in every], pa.int64()),
                "people_to": pa.array(most, pa.int64()),
            }
        )

    def _repr_html_(self) -> str:
        return table_html(("measure", "value"), self.summary().items(), caption=type(self).__name__)


@takes(AttributionInput)
def infer_attributions(release: Release, asked: AttributionInput) -> Attributions:
    """Return what anybody can say for certain about people of a kind.

    `bounds` are those of the cells, where they are known already; else programs find them.

    Examples
    --------
    >>> release = Release.typed(
    ...     {"age": ["16-17", "18-24"], "work": ["yes", "no"]},
    ...     [{"margin": ["age", "work"], "counts": [[0, 4], [5, 2]]}],
    ... )
    >>> infer_attributions(release).sentences()[1]
    'Everyone with work yes has age 18-24 (5 people).'
    """
    started = time.perf_counter()
    names = [axis.name for axis in release.axes]
    wanted = {_axis_number(names, name) for name in asked.about} or set(range(len(names)))
    found = asked.bounds or bounds_of_release(
        release, BoundsInput(most_programs=asked.most_programs, progress=asked.progress)
    )

    @cache
    def margin(axes: tuple[int, ...]) -> tuple[Integers, Integers]:
        return _margin_bounds(release.constraints, found, axes)

    def people(axes: tuple[int, ...], categories: tuple[int, ...]) -> tuple[int, int]:
        lower, upper = margin(axes)
        return int(lower[categories]), int(upper[categories])

    statements = attributions.find_attributions(
        found.upper == 0,
        people,
        max_conditions=asked.max_conditions,
        max_combinations=asked.max_combinations or attributions.MOST_COMBINATIONS,
        max_statements=asked.max_statements or attributions.MOST_STATEMENTS,
    )
    groups: tuple[attributions.GroupAttribution, ...] = ()
    if asked.share is not None or asked.coalition:
        groups = attributions.find_group_attributions(
            margin,
            len(names),
            share=None if asked.share is None else Fraction(str(asked.share)) / 100,
            coalition=asked.coalition,
            max_conditions=asked.max_conditions,
            max_statements=asked.max_statements or attributions.MOST_STATEMENTS,
        )
    known = [_categories(release.axes, one.items()) for one in asked.structural]
    first = _categories(
        release.axes,
        [(name, category) for name, own in asked.sensitive.items() for category in own],
    )
    about = [one for one in statements if one.target in wanted]
    news = [one for one in about if not _is_no_news(one, known, release.axes)]
    told = [one for one in groups if one.target in wanted]
    for listed in (news, told):
        # The order among equals stays: most people first.
        listed.sort(key=lambda one: (one.target, one.category) not in first)
    return Attributions(
        release.axes,
        tuple(news),
        found,
        Provenance(
            "logical attributions",
            found.provenance.variant,
            {"about": ", ".join(asked.about), **bounding.assumptions(release)},
            fingerprint=release.fingerprint,
            seconds=time.perf_counter() - started,
        ),
        tuple(told),
        len(about) - len(news),
    )


def _categories(
    axes: Sequence[Axis], named: Iterable[tuple[str, str]]
) -> frozenset[tuple[int, int]]:
    return frozenset(_category(axes, name, category) for name, category in named)


def _category(axes: Sequence[Axis], name: str, category: str) -> tuple[int, int]:
    number = _axis_number([axis.name for axis in axes], name)
    if category not in axes[number].categories:
        raise InputError(
            Reason.UNKNOWN_NAME,
            f"The category {quoted([category])} of {quoted([name])} was named.",
            "The release has no such category.",
            did_you_mean(category, axes[number].categories),
        )
    return number, axes[number].categories.index(category)


def _is_no_news(
    one: attributions.Attribution, known: Sequence[frozenset[tuple[int, int]]], axes: Sequence[Axis]
) -> bool:
    if not known:
        return False
    conditions = set(zip(one.axes, one.categories, strict=True))
    empty = (
        [one.category]
        if one.kind == "negative"
        else [at for at in range(len(axes[one.target])) if at != one.category]
    )
    return all(
        any(cell <= conditions | {(one.target, category)} for cell in known) for category in empty
    )


def _margin_bounds(
    constraints: CountConstraints, found: TableBounds, axes: tuple[int, ...]
) -> tuple[Integers, Integers]:
    """Bound the cells of a marginal table: exactly in small tables, else by what is published."""
    lower, upper = _summed(found.lower, found.upper, axes)
    for margin in constraints.margins:
        if margin.plain and set(axes) <= set(margin.axes):
            low, high = _summed(margin.lower, margin.upper, axes)
            lower, upper = np.maximum(lower, low), np.minimum(upper, high)
    if constraints.size > _EXACT_CELLS or np.array_equal(lower, upper):
        return lower, upper
    blank = np.zeros([constraints.shape[axis] for axis in axes], np.int64)
    margin = kept_axes(constraints.shape, axes, blank)
    exact = bounding.closed_sums(constraints, margin) or bounding.searched_sums(constraints, margin)
    return exact.lower.reshape(blank.shape), exact.upper.reshape(blank.shape)


def _summed(lower: Integers, upper: Integers, axes: tuple[int, ...]) -> tuple[Integers, Integers]:
    others = tuple(axis for axis in range(lower.ndim) if axis not in axes)
    is_open = (upper >= UNBOUNDED).any(axis=others)
    highs = np.where(upper >= UNBOUNDED, 0, upper).sum(axis=others)
    return lower.sum(axis=others), np.where(is_open, UNBOUNDED, highs)


def _axis_number(names: Sequence[str], name: str) -> int:
    if name not in names:
        raise InputError(
            Reason.UNKNOWN_NAME,
            f"Statements about {quoted([name])} were asked for.",
            "The release has no such axis.",
            did_you_mean(name, names),
        )
    return names.index(name)


def _at_least(share: Fraction) -> str:
    """Return a share in percent, never more than it is.

    Examples
    --------
    >>> _at_least(Fraction(19, 20)), _at_least(Fraction(9999, 10000))
    ('95%', '99.9%')
    """
    return f"{digits_text(math.floor(share * 1000) / 10)}%"


def _people(one: attributions.Attribution | attributions.GroupAttribution) -> str:
    if one.people_high >= UNBOUNDED and not one.people_low:
        return "any number of people"
    if one.people_high >= UNBOUNDED:
        return f"at least {count_of(one.people_low, 'person', 'people')}"
    if one.people_low == one.people_high:
        return count_of(one.people_low, "person", "people")
    return f"{one.people_low:,} to {count_of(one.people_high, 'person', 'people')}"
