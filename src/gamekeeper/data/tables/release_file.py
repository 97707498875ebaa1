"""Files of releases: JSON with the axes, the published tables and, where wanted, the true counts.

::

    {
        "format": "gamekeeper-release",
        "version": 1,
        "title": "",
        "axes": [{"name": "age", "categories": ["16-17", "18-24"]}],
        "disjoint": ["age"],
        "published": [
            {
                "name": "age",
                "margin": ["age"],
                "scheme": "conventional:3",
                "counts": [0, null],
                "hidden": [1, 4],
                "groups": {"age": {"young": ["16-17", "18-24"]}},
            }
        ],
        "truth": null,
    }

Counts are nested lists in the order of the margin; a hidden count is null, an interval a pair of
limits, where null means no upper one. Axes are disjoint if everybody has one category of them; where
this is not said, labels that may be sums of others are questioned. True counts are nested lists, or
an object of `cells` and `counts` with the non-zero cells. Releases in several files are put together
as one, and truths are brought into the order of a release.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import count
from pathlib import Path
from typing import Any, cast

import numpy as np

from gamekeeper.algorithms.releases.constraints import UNBOUNDED
from gamekeeper.algorithms.releases.schemes import HIDDEN, Interval
from gamekeeper.data.tables.axes import Axis, PublishedTable, axis_problems, raise_all
from gamekeeper.data.tables.count_table import CountTable, given_counts
from gamekeeper.data.tables.release import Release, check_truth
from gamekeeper.data.tables.subtotals import Disjoint, asking, disjoint_names
from gamekeeper.errors import InputError, Problem, Reason
from gamekeeper.files import require_ordinary, write_file
from gamekeeper.wording import count_of, did_you_mean, quoted

FORMAT = "gamekeeper-release"
VERSION = 1

_FIELDS = ("format", "version", "title", "axes", "disjoint", "published", "truth")


def read_release(path: str | Path, *, disjoint: Disjoint = ()) -> Release:
    """Read a release; true counts in the file are checked and left.

    `disjoint` are axes whose categories exclude each other, besides those that the file names.

    Examples
    --------
    >>> import tempfile
    >>> release = Release.typed(
    ...     {"age": ["16-17", "18-24"]}, [{"margin": ["age"], "counts": [3, 0]}]
    ... )
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder, "release.json")
    ...     write_release(release, path)
    ...     read_release(path).fingerprint == release.fingerprint
    True
    """
    return read_release_and_truth(path, disjoint=disjoint)[0]


def read_release_and_truth(
    path: str | Path, *, disjoint: Disjoint = (), added_up: Collection[str] = ()
) -> tuple[Release, CountTable | None]:
    """Read a release and the true counts behind it; None where the file has none.

    Of axes that are `added_up` it is said elsewhere which labels are sums of others.

    The `InputError` has every problem of the file, also where the true counts cannot be those
    behind the release; or labels that may be sums of others.

    >>> import tempfile
    >>> truth = CountTable.typed({"age": ["16-17", "18-24"]}, [3, 1])
    >>> release = Release.typed(truth.axes, [{"margin": ["age"], "counts": [3, None]}])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder, "release.json")
    ...     write_release(release, path, truth)
    ...     read_release_and_truth(path)[1].total
    4
    """
    file = Path(path)
    asked = f"The release in file {quoted([file.name])} was to be read."
    tree = _tree(file, asked)
    problems: list[Problem] = []
    axes = _axes(tree.get("axes"), problems)
    problems += [
        Problem(
            Reason.WRONG_SCHEMA,
            f"field {quoted([field])}",
            "is not known.",
            did_you_mean(field, _FIELDS),
        )
        for field in tree
        if field not in _FIELDS
    ]
    title = tree.get("title", "")
    if not isinstance(title, str):
        problems.append(Problem(Reason.WRONG_SCHEMA, "title", "is no text."))
    tables = tree.get("published")
    if not _is_list_of_objects(tables):
        said = "is no list of published tables."
        problems.append(Problem(Reason.WRONG_SCHEMA, "published", said))
    said = _disjoint(tree.get("disjoint", []), problems)
    release, truth = None, None
    if axes is not None:
        if _is_list_of_objects(tables):
            told = [axis.name for axis in axes if axis.name in added_up]
            names = (*said, *disjoint_names(axes, disjoint), *told)
            listed = cast("list[dict[str, Any]]", tables)
            try:
                with asking(asked):
                    release = Release.typed(axes, listed, str(title), names)
            except InputError as error:
                if error.reason is Reason.POSSIBLE_SUBTOTALS and not problems:
                    raise
                problems += error.problems
        truth = _truth(tree.get("truth"), axes, problems)
    raise_all(asked, problems)
    assert release is not None
    if truth is not None:
        check_truth(release, truth)
    return release, truth


def write_release(release: Release, path: str | Path, truth: CountTable | None = None) -> None:
    """Write a release, with the true counts only if they are given; a file there is replaced.

    Whoever gets a file with true counts gets them, too.
    """
    if truth is not None:
        check_truth(release, truth)
    axes = [{"name": axis.name, "categories": list(axis.categories)} for axis in release.axes]
    lines = [
        "{",
        f'"format": {_json(FORMAT)}, "version": {VERSION}, "title": {_json(release.title)},',
        f'"axes": [\n{_listed(axes)}\n],',
        *([f'"disjoint": {_json(list(release.disjoint))},'] if release.disjoint else []),
        f'"published": [\n{_listed(map(_plain_table, release.published))}\n],',
        f'"truth": {_json(_plain_truth(truth))}',
        "}",
    ]
    text = "\n".join(lines) + "\n"
    write_file(path, text.encode(), private=True, asked="A release was to be written to {}.")


def _listed(items: Iterable[object]) -> str:
    return ",\n".join(map(_json, items))


def _json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False)


def _plain_table(table: PublishedTable) -> dict[str, object]:
    plain: dict[str, object] = {
        "name": table.name,
        "margin": list(table.axes),
        "scheme": table.scheme.text,
        "counts": _plain_counts(table),
    }
    if table.hidden is not None:
        plain["hidden"] = list(table.hidden)
    if table.groups:
        plain["groups"] = {
            axis: {label: list(own) for label, own in groups.items()}
            for axis, groups in table.groups.items()
        }
    return plain


def _plain_counts(table: PublishedTable) -> object:
    cells = np.empty(table.counts.size, object)
    if isinstance(table.scheme, Interval):
        lower, upper = (limits.reshape(-1).tolist() for limits in table.limits)
        for cell, (low, high) in enumerate(zip(lower, upper, strict=True)):
            cells[cell] = (low, None if high >= UNBOUNDED else high)
    else:
        cells[:] = table.counts.reshape(-1)
    cells[table.counts.reshape(-1) == HIDDEN] = None
    return cells.reshape(table.counts.shape).tolist()


def _plain_truth(truth: CountTable | None) -> object:
    if truth is None:
        return None
    if truth.cells is None:
        return truth.counts.tolist()
    return {"cells": truth.cells.tolist(), "counts": truth.counts.tolist()}


def _tree(file: Path, asked: str) -> Mapping[str, Any]:
    """Return what a file holds, if it is a release of a known version."""
    reason, found, do, tree = None, "", "Check the file.", None
    try:
        require_ordinary(file)
        text = file.read_bytes().decode("utf-8-sig")
        tree = json.loads(text, object_pairs_hook=_fields)
    except FileNotFoundError:
        reason, found, do = Reason.NOT_FOUND, "There is no such file.", "Check the path."
    except OSError as error:
        reason, found = Reason.NOT_READABLE, f"It cannot be opened: {error.strerror}."
    except UnicodeDecodeError:
        reason, found = Reason.WRONG_ENCODING, "Its text is not encoded in UTF-8."
    except _TwiceError as error:
        reason, found = Reason.DUPLICATE, f"An object has the field {quoted([error.field])} twice."
    except json.JSONDecodeError as error:
        reason = Reason.MALFORMED
        found = f"It is not JSON: see line {error.lineno}, column {error.colno}."
    except (RecursionError, ValueError):
        reason, found = Reason.MALFORMED, "Its JSON is nested too deeply, or a number is too long."
    if reason is None and (not isinstance(tree, dict) or tree.get("format") != FORMAT):
        reason, found = Reason.WRONG_SCHEMA, f"It does not say that its format is '{FORMAT}'."
    if reason is not None:
        raise InputError(reason, asked, found, do)
    made = cast("dict[str, Any]", tree)
    version = made.get("version")
    if isinstance(version, bool) or not isinstance(version, int) or version < 1:
        raise InputError(Reason.WRONG_SCHEMA, asked, "It has no version.", f"This is {VERSION}.")
    if version > VERSION:
        raise InputError(
            Reason.NEWER_VERSION,
            asked,
            f"It is of version {version}, newer than version {VERSION}, the last that is known.",
            "Update Gamekeeper.",
        )
    return made


class _TwiceError(Exception):
    def __init__(self, field: str) -> None:
        super().__init__()
        self.field = field


def _fields(pairs: Sequence[tuple[str, Any]]) -> dict[str, Any]:
    made: dict[str, Any] = {}
    for field, value in pairs:
        if field in made:
            raise _TwiceError(field)
        made[field] = value
    return made


def _is_list_of_objects(given: object) -> bool:
    return isinstance(given, list) and all(
        isinstance(item, dict) for item in cast("list[object]", given)
    )


def _axes(given: object, problems: list[Problem]) -> tuple[Axis, ...] | None:
    axes: list[Axis] = []
    wrong = not _is_list_of_objects(given)
    for item in [] if wrong else cast("list[dict[str, Any]]", given):
        name, categories = item.get("name"), item.get("categories")
        if (
            set(item) != {"name", "categories"}
            or not isinstance(name, str)
            or not isinstance(categories, list)
            or not all(isinstance(own, str) for own in cast("list[object]", categories))
        ):
            wrong = True
            continue
        axes.append(Axis(name, tuple(cast("list[str]", categories))))
    if wrong:
        said = "is no list of objects with a 'name' and a list of 'categories', all texts."
        problems.append(Problem(Reason.WRONG_SCHEMA, "axes", said))
        return None
    found = axis_problems(axes)
    problems += found
    return None if found else tuple(axes)


def _disjoint(given: object, problems: list[Problem]) -> list[str]:
    names = cast("list[object]", given) if isinstance(given, list) else [None]
    if all(isinstance(name, str) for name in names):
        return cast("list[str]", names)
    problems.append(Problem(Reason.WRONG_SCHEMA, "disjoint", "is no list of names of axes."))
    return []


def _truth(given: object, axes: tuple[Axis, ...], problems: list[Problem]) -> CountTable | None:
    if given is None:
        return None
    try:
        if isinstance(given, dict):
            return _sparse(cast("dict[str, object]", given), axes, problems)
        counts = given_counts(given, axes, "truth", problems)
        return None if counts is None else CountTable(axes, counts)
    except InputError as error:
        problems += [Problem(p.reason, "truth", p.found, p.do) for p in error.problems]
    return None


def _sparse(
    given: Mapping[str, object], axes: tuple[Axis, ...], problems: list[Problem]
) -> CountTable | None:
    lists = [given.get("cells"), given.get("counts")]
    whole = all(
        isinstance(part, list)
        and all(type(number) is int and 0 <= number < UNBOUNDED for number in cast("list[object]", part))
        for part in lists
    )  # fmt: skip
    if set(given) != {"cells", "counts"} or not whole:
        said = "it is no object of 'cells' and 'counts', both lists of whole numbers from 0 up."
        problems.append(Problem(Reason.BAD_COUNT, "truth", said))
        return None
    cells, counts = (np.array(part, np.int64) for part in lists)
    if len(cells) != len(counts):
        said = f"it has {len(cells):,} cells and {len(counts):,} counts."
        problems.append(Problem(Reason.MALFORMED, "truth", said))
        return None
    return CountTable(axes, counts, cells)


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
