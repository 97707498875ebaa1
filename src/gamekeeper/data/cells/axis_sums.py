"""Which labels of the axes of published tables are sums of others: as declared, by codes, or as found.

Nothing is concluded that nobody confirmed: labels that may hold others are told, and asked about.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from fractions import Fraction

import numpy as np

from gamekeeper.algorithms.releases.schemes import HIDDEN, Interval
from gamekeeper.data.cells.cell_file import CellRows
from gamekeeper.data.cells.hierarchy import Hierarchy, hierarchy_by_codes
from gamekeeper.data.tables.axes import Axis, PublishedTable, raise_all, unknown_axes
from gamekeeper.data.tables.subtotals import (
    MOST_FIGURES,
    Subtotal,
    find_subtotals,
    subtotal_problems,
)
from gamekeeper.errors import InputError, Problem, Reason
from gamekeeper.wording import count_of, did_you_mean, quoted

_MOST = 2**52


def undeclared_sums(
    axis: str, labels: Sequence[str], tables: Sequence[CellRows]
) -> tuple[Subtotal, ...]:
    """Return the labels of an axis that may be sums of others, by their words, codes and figures."""
    published = [made for table in tables if (made := _lines(axis, labels, table)) is not None]
    return find_subtotals(Axis(axis, tuple(labels)), published)


def detected_hierarchy(
    axis: str, labels: Sequence[str], found: Sequence[Subtotal]
) -> tuple[Hierarchy, tuple[str, ...]]:
    """Return the sums that were found as a hierarchy, and the labels that are the whole axis.

    Of nested sums, a label is the sum of what is next below it.
    """
    wholes = tuple(one.whole for one in found if not one.parts)
    below = {one.whole: set(one.parts) for one in found if one.parts}
    for _ in range(len(below)):
        # A part that is a sum itself stands for its own parts.
        before = {whole: frozenset(parts) for whole, parts in below.items()}
        for whole, parts in below.items():
            inner = {deep for part in parts if part in below for deep in before[part]}
            below[whole] = parts - inner
        if all(below[whole] == set(parts) for whole, parts in before.items()):
            break
    order = {label: at for at, label in enumerate(labels)}
    children = {whole: sorted(parts, key=order.__getitem__) for whole, parts in below.items()}
    return Hierarchy.of_tree(children, f"sums found on axis {quoted([axis])}"), wholes


def confirmed(axis: str, made: Hierarchy, tables: Sequence[CellRows]) -> Hierarchy:
    """Return a hierarchy that nobody declared, as far as published figures bear it out.

    Where a figure is less than those of its parts together, it is no sum of them; where it is more, it
    holds more than these parts. What no line allows to compare is taken as it was asked for: if that
    is wrong, more seems to be given away than is, and nothing seems safer.
    """
    inner = (part for ways in made.parts.values() for way in ways for part in way)
    labels = list(dict.fromkeys([*made.parts, *inner]))
    places = {label: at for at, label in enumerate(labels)}
    published = [one for table in tables if (one := _lines(axis, labels, table)) is not None]
    # Of figures with decimals, each may be off by one in the last.
    is_whole = all(f.denominator == 1 for t in tables for f in t.figures if f is not None)
    kept: dict[str, tuple[tuple[str, ...], ...]] = {}
    open_: list[str] = []
    for whole, ways in made.parts.items():
        own = [places[part] for part in ways[0]]
        allowed = 0 if is_whole else len(own)
        more = less = same = False
        for table in published:
            known = (table.counts[:, [places[whole], *own]] != HIDDEN).all(axis=1)
            lower, upper = (ends[known] for ends in table.limits)
            least = lower[:, places[whole]] - upper[:, own].sum(axis=1)
            most = upper[:, places[whole]] - lower[:, own].sum(axis=1)
            more |= bool((least > allowed).any())
            less |= bool((most < -allowed).any())
            same |= bool(((least <= allowed) & (most >= -allowed)).any())
        if not less or same:
            kept[whole] = ways
        if more and not less:
            open_.append(whole)
    return Hierarchy.of_ways(kept, made.source, labels).with_open(open_)


def _lines(axis: str, labels: Sequence[str], table: CellRows) -> PublishedTable | None:
    """Return the published figures of a table as lines by labels, whole numbers after scaling."""
    if axis not in table.axes:
        return None
    at = table.axes.index(axis)
    others = [own for number, own in enumerate(table.labels) if number != at]
    keys = list(zip(*others, strict=True)) if others else [()] * len(table)
    lines: dict[tuple[str, ...], int] = {}
    for key in keys:
        lines.setdefault(key, len(lines))
    if len(lines) * len(labels) > MOST_FIGURES:
        raise InputError(
            Reason.POSSIBLE_SUBTOTALS,
            "Published tables were to be put together.",
            f"Axis {quoted([axis])} has {len(labels):,} labels by {len(lines):,} lines, too many to look for"
            " labels that are sums of others.",
            f"Say how they add up (--hierarchy {axis}=FILE), or that nobody is counted under two of them"
            f" (--disjoint {axis}).",
        )
    places: Mapping[str, int] = {label: number for number, label in enumerate(labels)}
    counts = np.full((len(lines), len(labels)), HIDDEN, np.int64)
    highs = counts.copy()
    shown = [table.span(row) for row in range(len(table))]
    scale = scale_of([end for own in shown if own is not None for end in own])
    for key, label, own in zip(keys, table.labels[at], shown, strict=True):
        if own is not None and label in places:
            low, high = (round(end * scale) for end in own)
            if 0 <= high < _MOST and (low >= 0 or low < high):
                counts[lines[key], places[label]] = max(low, 0)
                highs[lines[key], places[label]] = high
    return PublishedTable(table.name, ("line", axis), Interval(), counts, highs)


def scale_of(figures: Sequence[Fraction], most_decimals: int = 6) -> int:
    """Return the power of ten that makes figures whole; of more decimals than that, the most."""
    decimals = 0
    for denominator in {figure.denominator for figure in figures}:
        while decimals < most_decimals and (10**decimals) % denominator:
            decimals += 1
    return 10**decimals


Declared = Mapping[str, Hierarchy | str]
"""For each axis its hierarchy, or "detected" for sums that are found, or "codes" for prefixes."""

ASKED = "Published tables were to be put together."
_SHOWN = 6


def wholes_of(totals: Sequence[str], labels: Sequence[str]) -> tuple[str, ...]:
    """Return the labels of the whole axis that are in use, whatever their case; or the first named."""
    known = {total.strip().casefold() for total in totals}
    return tuple(label for label in labels if label.casefold() in known) or tuple(totals[:1])


def axis_hierarchies(
    tables: Sequence[CellRows],
    labels: Mapping[str, tuple[str, ...]],
    totals: dict[str, tuple[str, ...]],
    declared: dict[str, Hierarchy | str],
    disjoint: Sequence[str],
) -> tuple[dict[str, Hierarchy], list[str]]:
    """Return the hierarchy of each axis, or raise one error with all that is doubtful."""
    problems = unknown_axes((*declared, *disjoint), labels, "is not in the tables.")
    raise_all(ASKED, problems)
    made: dict[str, Hierarchy] = {}
    notices: list[str] = []
    for name, own in labels.items():
        wholes = {label.casefold() for label in totals[name]}
        inner = [label for label in own if label.casefold() not in wholes]
        given = declared.get(name)
        if isinstance(given, Hierarchy):
            whole = wholes_of(totals[name], own)[0]
            outside = _outside(name, inner, given)
            outside += given.total_problems(whole, own, f"axis {quoted([name])}")
            problems += outside
            made[name] = given if outside else given.with_total(whole)
            if name in disjoint:
                made[name] = replace(made[name], is_told=True)
            notices += _checked_sums(name, given, inner)
            continue
        if given == "codes":
            by_codes = hierarchy_by_codes(inner, f"codes of axis {quoted([name])}")
            made[name] = confirmed(name, by_codes, tables)
            notices += _taken(name, made[name])
            parts = {part for ways in made[name].parts.values() for way in ways for part in way}
            roots = [label for label in inner if label not in parts]
            # Codes tell of what begins with others: not of labels that stand alone, nor of a second
            # name of the whole axis.
            is_told = name in disjoint or all(label in made[name].parts for label in roots)
            made[name] = replace(made[name], is_told=is_told)
            every = () if name in disjoint else undeclared_sums(name, roots, tables)
            alone = set(roots) - set(made[name].parts)
            problems += subtotal_problems(
                name, [one for one in every if not one.parts or one.whole in alone]
            )
            continue
        found = () if name in disjoint else undeclared_sums(name, inner, tables)
        if given == "detected":
            detected, more = detected_hierarchy(name, inner, found)
            made[name] = confirmed(name, detected, tables)
            made[name] = replace(made[name], is_told=name in disjoint)
            totals[name] = (*totals[name], *more)
            notices += _taken(name, made[name])
        elif given is not None:
            do = "Name a file with a hierarchy, 'codes' or 'detected'."
            problems.append(
                Problem(Reason.BAD_OPTION, f"axis {quoted([name])}", "has no such hierarchy.", do)
            )
        else:
            made[name] = Hierarchy({}, "nothing", tuple(inner), is_told=name in disjoint)
            problems += subtotal_problems(name, found)
            problems += [] if found or name in disjoint else _differing(name, tables, wholes)
    if problems:
        raise InputError(
            problems[0].reason,
            ASKED,
            "It is not known which labels are sums of others. Were they taken for categories that"
            " exclude each other, cells would look safer than they are."
            if problems[0].reason is Reason.POSSIBLE_SUBTOTALS
            else "Their labels do not fit together.",
            "Say how labels add up: --hierarchy AXIS=FILE (.hrc, or CSV with parents or levels),"
            " AXIS=codes where a code begins with that of its whole, or AXIS=detected to take the sums"
            " listed here. If nobody is counted under two of them: --disjoint AXIS. A label of the"
            " whole axis is named by --total.",
            problems=problems,
        )
    return made, notices


def never_listed(name: str, made: Hierarchy, tables: Sequence[CellRows]) -> tuple[str, ...]:
    """Return the finest categories without a row that no table could have been expected to list.

    A part without a row is missing where a table lists its whole and another part of it. Where whole
    and parts stand in different tables, as classifications do that are not nested, nobody left it out.
    """
    own = [set(table.labels[table.axes.index(name)]) for table in tables if name in table.axes]
    used = set[str]().union(*own)
    apart: dict[str, None] = {}
    missing: set[str] = set()
    for whole in [label for label in made.parts if label in used]:
        for way in made.parts[whole]:
            named, unnamed = _named_parts(way, made, used)
            if any(whole in labels and labels & named for labels in own):
                missing |= unnamed
            else:
                apart |= dict.fromkeys(sorted(unnamed))
    return tuple(label for label in apart if label not in missing)


def _named_parts(way: Sequence[str], made: Hierarchy, used: set[str]) -> tuple[set[str], set[str]]:
    """Return the parts of a sum that tables list, and the finest of the others."""
    named: set[str] = set()
    unnamed: set[str] = set()
    waiting = list(way)
    while waiting:
        part = waiting.pop()
        if part in used:
            named.add(part)
        elif made.parts.get(part):
            waiting += made.parts[part][0]
        else:
            unnamed.add(part)
    return named, unnamed


def _taken(name: str, made: Hierarchy) -> list[str]:
    """Return what is taken as sums, and which of them may hold more than their parts."""
    few = [
        f"{quoted([whole])} of {quoted([p for p in ways[0] if p not in made.open_parts], most=4)}"
        for whole, ways in list(made.parts.items())[:3]
    ]
    more = f", and {len(made.parts) - 3} more" if len(made.parts) > 3 else ""
    listed_ = f": {'; '.join(few)}{more}" if few else ""
    sums = count_of(len(made.parts), "label is taken as a sum", "labels are taken as sums")
    said = [f"On axis {quoted([name])}, {sums}{listed_}."]
    if made.open_parts:
        some = [whole for whole, ways in made.parts.items() if ways[0][-1] in made.open_parts]
        said.append(
            f"On axis {quoted([name])}, some labels may hold more than that: {quoted(some, most=_SHOWN)}."
        )
    return said


def _outside(name: str, labels: Sequence[str], given: Hierarchy) -> list[Problem]:
    known = set(given.labels)
    odd = [label for label in labels if label not in known]
    if not odd:
        return []
    said = f"{count_of(len(odd), 'label is', 'labels are')} not in its hierarchy: {quoted(odd, most=_SHOWN)}."
    do = did_you_mean(odd[0], known) or "Add them, or name them as totals (--total)."
    return [Problem(Reason.UNKNOWN_NAME, f"axis {quoted([name])}", said, do)]


def _checked_sums(name: str, given: Hierarchy, labels: Sequence[str]) -> list[str]:
    if not given.parts or any(label in given.parts for label in labels):
        return []
    return [f"No label of axis {quoted([name])} is a sum by {given.source}."]


def _differing(name: str, tables: Sequence[CellRows], wholes: set[str]) -> list[Problem]:
    """Return a problem where tables have different labels on an axis that nothing is said of."""
    sets = [
        frozenset(label for label in t.labels[t.axes.index(name)] if label.casefold() not in wholes)
        for t in tables
        if name in t.axes
    ]
    sets = [own for own in sets if own]
    # A table of fewer labels has none that could hold others which are not asked about already.
    if not sets or frozenset().union(*sets) == max(sets, key=len):
        return []
    odd = sorted(frozenset().union(*sets) - sets[0].intersection(*sets))
    said = f"the tables have different labels there ({quoted(odd, most=_SHOWN)}), which may hold each other."
    return [Problem(Reason.POSSIBLE_SUBTOTALS, f"axis {quoted([name])}", said)]
