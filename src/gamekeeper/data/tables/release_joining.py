"""Releases in several files put together as one, and truths brought into the order of a release."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from itertools import count

import numpy as np

from gamekeeper.data.tables.axes import Axis, raise_all
from gamekeeper.data.tables.count_table import CountTable
from gamekeeper.data.tables.published_table import PublishedTable
from gamekeeper.data.tables.release import Release
from gamekeeper.data.tables.subtotals import Disjoint, asking, disjoint_names
from gamekeeper.errors import Problem, Reason
from gamekeeper.wording import count_of, quoted

_ASKED = "Several tables were given as one release."


def join_releases(
    releases: Sequence[Release], title: str = "", disjoint: Disjoint | None = None
) -> Release:
    """Return everything that several releases publish about one base table.

    Axes with the same name are the same axis and must have the same categories, in any order. An
    axis is disjoint if one of the releases says so, unless `disjoint` says otherwise.

    Examples
    --------
    >>> one = Release.typed({"sex": ["f", "m"]}, [{"margin": ["sex"], "counts": [3, 1]}])
    >>> two = Release.typed({"age": ["old", "young"]}, [{"margin": ["age"], "counts": [2, 2]}])
    >>> join_releases([one, two])
    Release(2 x 2 cells, 2 published tables)
    """
    axes: dict[str, Axis] = {}
    problems: list[Problem] = []
    for release in releases:
        for axis in release.axes:
            first = axes.setdefault(axis.name, axis)
            if set(first.categories) != set(axis.categories):
                different = set(first.categories) ^ set(axis.categories)
                found = (
                    f"{count_of(len(different), 'category is', 'categories are')} not in all tables"
                )
                problems.append(
                    Problem(
                        Reason.WRONG_SCHEMA,
                        f"axis {quoted([axis.name])}",
                        f"{found}: {quoted(sorted(different))}.",
                        "Write them alike, or give the release as JSON with groups.",
                    )
                )
    raise_all(_ASKED, problems)
    published = [
        _named(_ordered(table, release, axes), number)
        for number, release in enumerate(releases, start=1)
        for table in release.published
    ]
    if disjoint is None:
        said = {name for release in releases for name in release.disjoint}
        disjoint = [name for name in axes if name in said]
    made = tuple(axes.values())
    with asking(_ASKED):
        return Release(made, tuple(_told_apart(published)), title, disjoint_names(made, disjoint))


def align_truth(release: Release, truth: CountTable) -> CountTable:
    """Return a table of true counts with the axes and categories in the order of a release.

    Categories that the table lacks have nobody in them.

    Examples
    --------
    >>> release = Release.typed({"sex": ["f", "m"]}, [{"margin": ["sex"], "counts": [3, 0]}])
    >>> align_truth(release, CountTable.typed({"sex": ["m", "f"]}, [0, 3])).dense().tolist()
    [3, 0]
    """
    asked = "A release and the true counts behind it were given."
    problems: list[Problem] = []
    for name in sorted(set(release.names) ^ set(truth.names)):
        whose = "truth" if name in release.names else "release"
        problems.append(
            Problem(Reason.WRONG_SCHEMA, f"axis {quoted([name])}", f"the {whose} does not have it.")
        )
    for axis in release.axes:
        if axis.name in truth.names:
            unknown = set(truth.axis(axis.name).categories) - set(axis.categories)
            if unknown:
                n_unknown = count_of(len(unknown), "category", "categories")
                found = f"the release lacks {n_unknown} of the truth."
                problems.append(Problem(Reason.WRONG_SCHEMA, f"axis {quoted([axis.name])}", found))
    raise_all(asked, problems)
    if truth.axes == release.axes:
        return truth
    cells, counts = truth.nonzero
    places = dict(zip(truth.names, np.unravel_index(cells, truth.shape), strict=True))
    moved = np.zeros(len(cells), np.int64)
    for axis in release.axes:
        own = {name: number for number, name in enumerate(axis.categories)}
        order = np.array([own[name] for name in truth.axis(axis.name).categories], np.int64)
        moved = moved * len(axis) + order[places[axis.name]]
    return CountTable.of_cells(release.axes, moved, counts)


def _ordered(table: PublishedTable, release: Release, axes: dict[str, Axis]) -> PublishedTable:
    """Bring the counts of a table into the order of the joined axes' categories."""
    own = {axis.name: axis for axis in release.axes}
    counts, highs = table.counts, table.highs
    for number, name in enumerate(table.axes):
        if name in table.groups:
            continue
        places = {category: place for place, category in enumerate(own[name].categories)}
        order = [places[category] for category in axes[name].categories]
        counts = np.take(counts, order, number)
        highs = None if highs is None else np.take(highs, order, number)
    return replace(table, counts=counts, highs=highs)


def _told_apart(tables: Sequence[PublishedTable]) -> list[PublishedTable]:
    """Number the tables that share a name with another, by numbers that no table has."""
    names = Counter(table.name for table in tables)
    taken = set(names)
    made: list[PublishedTable] = []
    for table in tables:
        if names[table.name] == 1:
            made.append(table)
            continue
        free = (f"{table.name} ({k})" for k in count(1))
        name = next(name for name in free if name not in taken)
        taken.add(name)
        made.append(replace(table, name=name))
    return made


def _named(table: PublishedTable, number: int) -> PublishedTable:
    return table if table.name else replace(table, name=f"table {number}")
