"""Published tables from plain values, as they are typed in or stand in a file."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from gamekeeper.algorithms.releases.constraints import UNBOUNDED
from gamekeeper.algorithms.releases.perturbation import HIDDEN, Scheme
from gamekeeper.algorithms.releases.scheme_names import parse_scheme
from gamekeeper.algorithms.releases.schemes import Exact, Interval, Suppressed
from gamekeeper.data.tables.axes import Axis, cell_words
from gamekeeper.data.tables.count_cells import given_counts, given_intervals
from gamekeeper.data.tables.published_table import PublishedTable, published_axes
from gamekeeper.errors import InputError, Problem, Reason
from gamekeeper.wording import did_you_mean, quoted

Integers = NDArray[np.int64]

_FIELDS = ("name", "margin", "scheme", "counts", "hidden", "groups")
_SHOWN_CELLS = 20


def typed_table(
    axes: Sequence[Axis], given: Mapping[str, Any], number: int, problems: list[Problem]
) -> PublishedTable | None:
    """Return a published table from its fields; None after adding every problem."""
    found: list[Problem] = []
    names = _names(given.get("margin"))
    name = given.get("name") or " by ".join(names or ()) or "total"
    where = f"table {quoted([str(name)])}" if names is not None else f"published table {number}"
    found += [
        Problem(
            Reason.WRONG_SCHEMA,
            where,
            f"has the field {quoted([str(field)])}, which is not known.",
            did_you_mean(str(field), _FIELDS),
        )
        for field in given
        if field not in _FIELDS
    ]
    found += [
        Problem(Reason.WRONG_SCHEMA, where, f"has no field '{field}'.")
        for field in ("margin", "counts")
        if field not in given
    ]
    if "margin" in given and names is None:
        said = "its margin is no list of names of axes."
        found.append(Problem(Reason.WRONG_SCHEMA, where, said))
    if not isinstance(name, str):
        found.append(Problem(Reason.BAD_NAME, where, "its name is no text."))
    groups = _groups(given.get("groups"), where, found)
    hidden = _hidden(given.get("hidden"), where, found)
    scheme = _scheme(given.get("scheme", "exact"), where, found)
    own = None
    if names is not None and groups is not None:
        own = published_axes(axes, names, groups, where, found)
    counts, highs = None, None
    if own is not None and scheme is not None and "counts" in given:
        if isinstance(scheme, Interval):
            ends = given_intervals(given["counts"], own, where, found)
            if ends is not None:
                counts, highs = checked_intervals(scheme, ends, own, where, found)
        else:
            counts = given_counts(given["counts"], own, where, found, hidden=True)
    problems += found
    if found or counts is None or scheme is None or names is None:
        return None
    return PublishedTable(str(name), names, scheme, counts, highs, groups or {}, hidden)


def _names(given: object) -> tuple[str, ...] | None:
    if not isinstance(given, list | tuple):
        return None
    names = cast("Sequence[object]", given)
    if not all(isinstance(name, str) for name in names):
        return None
    return tuple(str(name) for name in names)


def _groups(
    given: object, where: str, problems: list[Problem]
) -> dict[str, dict[str, tuple[str, ...]]] | None:
    """Return groups by axis and label; None after adding a problem."""
    said = "its groups are no lists of categories under labels, by the name of an axis."
    wrong = Problem(Reason.WRONG_SCHEMA, where, said)
    made: dict[str, dict[str, tuple[str, ...]]] = {}
    if given is None:
        return made
    if not isinstance(given, Mapping):
        problems.append(wrong)
        return None
    for axis, groups in cast("Mapping[object, object]", given).items():
        if not isinstance(groups, Mapping):
            problems.append(wrong)
            return None
        own = {
            str(label): _names(categories)
            for label, categories in cast("Mapping[object, object]", groups).items()
        }
        if None in own.values():
            problems.append(wrong)
            return None
        made[str(axis)] = cast("dict[str, tuple[str, ...]]", own)
    return made


def _hidden(given: object, where: str, problems: list[Problem]) -> tuple[int, int | None] | None:
    if given is None:
        return None
    ends = cast("Sequence[object]", given) if isinstance(given, list | tuple) else ()
    if len(ends) == 2 and _is_count(ends[0]) and (ends[1] is None or _is_count(ends[1])):
        return cast("tuple[int, int | None]", tuple(ends))
    said = "the limits of its hidden cells are no pair of counts."
    do = "Give a pair such as [1, 4], with null for no upper limit."
    problems.append(Problem(Reason.WRONG_SCHEMA, where, said, do))
    return None


def _is_count(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and 0 <= value < UNBOUNDED


def _scheme(given: Any, where: str, problems: list[Problem]) -> Scheme | None:
    if not isinstance(given, str | Scheme | Mapping):
        said = "its scheme is neither a text nor an object."
        problems.append(Problem(Reason.WRONG_SCHEMA, where, said))
        return None
    try:
        return parse_scheme(cast("Any", given))
    except InputError as error:
        said = f"{error.asked} {error.found}"
        problems.append(Problem(error.reason, where, said, error.do))
        return None


def limits_within(
    scheme: Scheme,
    ends: tuple[Integers, Integers],
    own: Sequence[Axis],
    where: str,
    problems: list[Problem],
) -> tuple[Integers, Integers] | None:
    """Return limits of counts of which some are shown, some hidden, and some printed as limits.

    None after adding a problem: where shown counts are not the true ones, or a limit is nothing that
    the scheme hides.
    """
    low, high = (part.copy().reshape(-1) for part in ends)
    is_limit, is_hidden = low != high, low == HIDDEN
    least, most = scheme.reach(HIDDEN) or (0, None)
    most = UNBOUNDED if most is None else most
    low[is_limit] = np.maximum(low[is_limit], least)
    high[is_limit] = np.minimum(high[is_limit], most)
    wrong = np.flatnonzero((low > high) & is_limit).tolist()
    shown = low[~is_limit & ~is_hidden]
    if not isinstance(scheme, Exact | Suppressed):
        said = f"some cells are limits, and the others counts under '{scheme.text}'."
        do = "Read such tables as exact or suppressed ones, or write every count as an interval."
        problems.append(Problem(Reason.BAD_OPTION, where, said, do))
    elif not scheme.possible(shown).all():
        said = f"a published count cannot come from '{scheme.text}'."
        problems.append(Problem(Reason.IMPOSSIBLE_COUNT, where, said, "Check the scheme."))
    elif wrong:
        said = f"a limit is nothing that '{scheme.text}' hides ({cell_words(own, wrong[0])})."
        problems.append(Problem(Reason.IMPOSSIBLE_COUNT, where, said, "Check the scheme."))
    else:
        return low.reshape(ends[0].shape), high.reshape(ends[0].shape)
    return None


def checked_intervals(
    scheme: Interval,
    ends: tuple[Integers, Integers],
    own: Sequence[Axis],
    where: str,
    problems: list[Problem],
) -> tuple[Integers | None, Integers | None]:
    """Return lower limits, and the upper ones where the scheme does not tell them.

    Both are None after adding a problem for intervals that the scheme never publishes.
    """
    if not scheme.cuts:
        return ends
    low, high = (part.reshape(-1).tolist() for part in ends)
    wrong = [
        cell
        for cell, (first, last) in enumerate(zip(low, high, strict=True))
        if first != HIDDEN and not scheme.admits(first, None if last >= UNBOUNDED else last)
    ]
    problems += [
        Problem(
            Reason.IMPOSSIBLE_COUNT,
            f"{where}, {cell_words(own, cell)}",
            f"the published interval cannot come from '{scheme.text}'.",
            "Check the interval and the scheme.",
        )
        for cell in wrong[:_SHOWN_CELLS]
    ]
    return (None, None) if wrong else (ends[0], None)
