"""Which labels of the axes of published tables are sums of others: as declared, by codes, or as found.

Nothing is concluded that nobody confirmed: labels that may hold others are told, and asked about.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from gamekeeper.data.cells.cell_rows import CellRows
from gamekeeper.data.cells.hierarchy import Hierarchy, hierarchy_by_codes
from gamekeeper.data.cells.undeclared_sums import (
    confirmed,
    detected_hierarchy,
    undeclared_sums,
)
from gamekeeper.data.tables.axes import raise_all, unknown_axes
from gamekeeper.data.tables.subtotals import subtotal_problems
from gamekeeper.errors import InputError, Problem, Reason
from gamekeeper.wording import count_of, did_you_mean, quoted

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
