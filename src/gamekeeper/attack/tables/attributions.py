"""What the release lets anybody say about people: everyone of a kind is, or nobody is.

Statements follow from cells that are certainly empty under everything that is published; see
`gamekeeper.algorithms.bounds.attributions`. The number of people they concern is bounded by the same
release.
"""

from __future__ import annotations

import math
import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from gamekeeper.algorithms.bounds.attributions import (
    MOST_COMBINATIONS,
    MOST_STATEMENTS,
    Attribution,
    find_attributions,
)
from gamekeeper.algorithms.bounds.group_attributions import (
    GroupAttribution,
    find_group_attributions,
)
from gamekeeper.algorithms.releases.constraints import UNBOUNDED, CountConstraints, kept_axes
from gamekeeper.attack.tables.assumptions import assumptions, under_assumption
from gamekeeper.attack.tables.bounding import closed_sums, searched_sums
from gamekeeper.attack.tables.bounds import TableBounds, bound_cells
from gamekeeper.attack.tables.options import AttributionInput
from gamekeeper.data.tables.axes import Axis
from gamekeeper.data.tables.release import Release
from gamekeeper.errors import InputError, Reason
from gamekeeper.options import takes
from gamekeeper.results import Provenance, Result
from gamekeeper.wording import be, count_of, did_you_mean, digits_text, quoted

if TYPE_CHECKING:
    import pyarrow as pa

Integers = NDArray[np.int64]

_SHOWN = 10
_EXACT_CELLS = 2_000


@dataclass(frozen=True, repr=False)
class Attributions(Result):
    """The most general statements that hold for certain, those on most people first.

    Attributes
    ----------
    statements
        The attributions, by numbers of axes and categories.
    bounds
        The bounds that they follow from.
    groups
        Statements on most of a kind, or on all but a coalition, where they were asked for.
    n_no_news
        How many statements were left out, as everybody knows the cells to be empty.
    """

    axes: tuple[Axis, ...]
    statements: tuple[Attribution, ...]
    bounds: TableBounds
    provenance: Provenance
    groups: tuple[GroupAttribution, ...] = ()
    n_no_news: int = 0

    def of_kind(self, kind: str) -> tuple[Attribution, ...]:
        """Return the positive or the negative statements."""
        return tuple(one for one in self.statements if one.kind == kind)

    def words(self, one: Attribution | GroupAttribution) -> str:
        """Return a statement in words."""
        conditions = " and ".join(
            f"{self.axes[axis].name} {self.axes[axis].categories[category]}"
            for axis, category in zip(one.axes, one.categories, strict=True)
        )
        who = f" with {conditions}" if conditions else ""
        target = f"{self.axes[one.target].name} {self.axes[one.target].categories[one.category]}"
        if isinstance(one, GroupAttribution):
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
        first = under_assumption(first, "What can be said of people", self.provenance)
        certain = self.statements[:most]
        return [
            first,
            *(self.words(one) for one in (*certain, *self.groups[: most - len(certain)])),
        ]

    def to_arrow(self) -> pa.Table:
        """Return one row per statement, those on most people first."""
        import pyarrow as pa

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
        from gamekeeper.results import table_html

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
    found = asked.bounds or bound_cells(
        release, most_programs=asked.most_programs, progress=asked.progress
    )

    @cache
    def margin(axes: tuple[int, ...]) -> tuple[Integers, Integers]:
        return _margin_bounds(release.constraints, found, axes)

    def people(axes: tuple[int, ...], categories: tuple[int, ...]) -> tuple[int, int]:
        lower, upper = margin(axes)
        return int(lower[categories]), int(upper[categories])

    statements = find_attributions(
        found.upper == 0,
        people,
        max_conditions=asked.max_conditions,
        max_combinations=asked.max_combinations or MOST_COMBINATIONS,
        max_statements=asked.max_statements or MOST_STATEMENTS,
    )
    groups: tuple[GroupAttribution, ...] = ()
    if asked.share is not None or asked.coalition:
        groups = find_group_attributions(
            margin,
            len(names),
            share=None if asked.share is None else Fraction(str(asked.share)) / 100,
            coalition=asked.coalition,
            max_conditions=asked.max_conditions,
            max_statements=asked.max_statements or MOST_STATEMENTS,
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
            {"about": ", ".join(asked.about), **assumptions(release)},
            fingerprint=release.fingerprint,
            seconds=time.perf_counter() - started,
        ),
        tuple(told),
        len(about) - len(news),
    )


def _categories(
    axes: Sequence[Axis], named: Iterable[tuple[str, str]]
) -> frozenset[tuple[int, int]]:
    """Return categories that are named with their axes by the numbers of both."""
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
    one: Attribution, known: Sequence[frozenset[tuple[int, int]]], axes: Sequence[Axis]
) -> bool:
    """Whether a statement follows from cells that everybody knows to be empty."""
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
    exact = closed_sums(constraints, margin) or searched_sums(constraints, margin)
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


def _people(one: Attribution | GroupAttribution) -> str:
    if one.people_high >= UNBOUNDED and not one.people_low:
        return "any number of people"
    if one.people_high >= UNBOUNDED:
        return f"at least {count_of(one.people_low, 'person', 'people')}"
    if one.people_low == one.people_high:
        return count_of(one.people_low, "person", "people")
    return f"{one.people_low:,} to {count_of(one.people_high, 'person', 'people')}"
