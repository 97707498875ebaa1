"""Which categories of an axis are sums of others: trees, several trees at once, partition graphs.

A category may be a sum in several ways, regions of counties and, across them, of sizes of place, so
that nothing needs to be nested. What goes round in a circle, or counts a part twice, is refused. In
files: `.hrc` of tau-ARGUS, codes with parents, a column per level.

Of the labels that published tables use, sums are those that are declared, that codes tell, or that
are found. Nothing is concluded that nobody confirmed: labels that may hold others are asked about.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import pairwise
from pathlib import Path

import numpy as np

from gamekeeper.algorithms.releases.schemes import HIDDEN, Interval
from gamekeeper.data.tables import subtotals
from gamekeeper.data.tables.axes import Axis, PublishedTable, raise_all, unknown_axes
from gamekeeper.data.tables.cell_file import CellRows, tool_text
from gamekeeper.errors import InputError, Problem, Reason, refuse
from gamekeeper.wording import count_of, did_you_mean, joined, quoted

_SHOWN = 6


@dataclass(frozen=True, eq=False)
class Hierarchy:
    """The sums among the categories of an axis.

    - `parts`: for each category the ways in which it is the sum of others.
    - `source`: where that is from, in words.
    - `roots`: the categories that are part of no other.
    - `tops`: the roots of each tree, where several are joined.
    - `open_parts`: parts that stand for what a category has besides those that are named.
    - `is_told`: whether somebody said that there are no other sums.

    Examples
    --------
    >>> tree = Hierarchy.of_tree({"A": ["A1", "A2"]}, "a tree")
    >>> tree.parts, tree.roots
    ({'A': (('A1', 'A2'),)}, ('A',))
    """

    parts: Mapping[str, tuple[tuple[str, ...], ...]]
    source: str
    roots: tuple[str, ...] = ()
    tops: tuple[tuple[str, ...], ...] = ()
    open_parts: tuple[str, ...] = ()
    is_told: bool = True

    @property
    def labels(self) -> tuple[str, ...]:
        """Every category: sums, their parts, and those that are neither."""
        inner = (one for ways in self.parts.values() for way in ways for one in way)
        return tuple(dict.fromkeys([*self.parts, *inner, *self.roots]))

    @classmethod
    def of_tree(cls, children: Mapping[str, Iterable[str]], source: str) -> Hierarchy:
        """Return a hierarchy in which each category is a sum in one way, or not at all."""
        made = {label: (tuple(own),) for label, own in children.items() if tuple(own)}
        return cls.of_ways(made, source, labels=children)

    @classmethod
    def of_ways(
        cls, ways: Mapping[str, Sequence[Sequence[str]]], source: str, labels: Iterable[str] = ()
    ) -> Hierarchy:
        """Return a hierarchy, or raise one error with all that is wrong with it."""
        parts = {
            label: tuple(tuple(dict.fromkeys(own)) for own in listed if len(own))
            for label, listed in ways.items()
        }
        parts = {label: listed for label, listed in parts.items() if listed}
        problems = _problems(parts)
        refuse(
            problems,
            f"A hierarchy was to be read from {source}.",
            "Its categories cannot be sums of each other.",
            "Mend the hierarchy.",
        )
        every = dict.fromkeys(
            [*labels, *parts, *(one for own in parts.values() for way in own for one in way)]
        )
        inner = {one for own in parts.values() for way in own for one in way}
        return cls(parts, source, tuple(label for label in every if label not in inner))

    @classmethod
    def of_parents(cls, pairs: Iterable[tuple[str, str]], source: str) -> Hierarchy:
        """Return a hierarchy from categories with the one that each is part of ("" for none)."""
        children: dict[str, list[str]] = {}
        for label, parent in pairs:
            children.setdefault(label, [])
            if parent and parent != label and label not in children.setdefault(parent, []):
                children[parent].append(label)
        return cls.of_tree(children, source)

    @classmethod
    def of_levels(cls, rows: Iterable[Sequence[str]], source: str) -> Hierarchy:
        """Return a hierarchy from one row per finest category, coarse to fine or fine to coarse.

        A category of a coarse level is the sum of those beside it on the next finer level.
        """
        listed = [[cell.strip() for cell in row] for row in rows]
        width = max(map(len, listed), default=0)
        sizes = [len({row[at] for row in listed if at < len(row)}) for at in range(width)]
        order = sorted(range(width), key=lambda at: (sizes[at], at))
        children: dict[str, list[str]] = {}
        for row in listed:
            chain = [row[at] for at in order if at < len(row) and row[at]]
            for label in chain:
                # A category that is the same on all levels is part of nothing.
                children.setdefault(label, [])
            for coarse, fine in pairwise(chain):
                if coarse != fine and fine not in children.setdefault(coarse, []):
                    children[coarse].append(fine)
        return cls.of_tree(children, source)

    def joined(self, other: Hierarchy) -> Hierarchy:
        """Return both hierarchies at once, nested in each other or not."""
        ways = {
            label: [
                *self.parts.get(label, ()),
                *(w for w in other.parts.get(label, ()) if w not in self.parts.get(label, ())),
            ]
            for label in dict.fromkeys([*self.parts, *other.parts])
        }
        made = Hierarchy.of_ways(
            ways, f"{self.source} and {other.source}", [*self.roots, *other.roots]
        )
        tops = (*(self.tops or (self.roots,)), *(other.tops or (other.roots,)))
        return replace(made, tops=tops)

    def with_open(self, labels: Iterable[str]) -> Hierarchy:
        """Return the hierarchy in which some categories may hold more than their parts."""
        more = {label: f"{label} besides these" for label in labels if label in self.parts}
        parts = {
            label: tuple((*way, more[label]) for way in ways) if label in more else ways
            for label, ways in self.parts.items()
        }
        return replace(self, parts=parts, open_parts=tuple(more.values()))

    def beside(self, labels: Iterable[str]) -> Hierarchy:
        """Return the hierarchy with categories that stand beside its roots."""
        more = [label for label in labels if label not in self.roots and label not in self.parts]
        return replace(self, roots=(*self.roots, *more)) if more else self

    def with_total(self, label: str) -> Hierarchy:
        """Return the hierarchy with a category that is the whole axis: the sum of the roots of each tree.

        Where trees share parts in another way, it is the sum of all that is finest.
        """
        if label in self.parts or not self.parts:
            return self
        leaves = _leaves(self.parts, self.roots)
        every = frozenset().union(*(leaves[root] for root in self.roots))
        ways = [
            tuple(root for root in top if root != label)
            for top in self.tops or (self.roots,)
            if sum(len(leaves[root]) for root in top) == len(every)
            and frozenset().union(*(leaves[root] for root in top)) == every
        ]
        parts = {**self.parts, label: tuple(ways) or (tuple(sorted(every - {label})),)}
        return replace(self, parts=parts, roots=(label,), tops=())

    def total_problems(self, label: str, used: Iterable[str], where: str) -> list[Problem]:
        """Return a problem where the label of the whole axis lies within the hierarchy.

        What is beside it, or above it, counts only if it is used: a table may be of a part of what a
        classification is of.
        """
        if label not in self.labels:
            return []
        leaves = _leaves(self.parts, self.labels)
        own, is_sum = leaves[label], label in self.parts
        others = [one for one in (used if is_sum else self.labels) if one in leaves]
        over = [
            one
            for one in others
            if one != label and own <= leaves[one] and (own < leaves[one] or not is_sum)
        ]
        beside = [one for one in others if is_sum and not own & leaves[one]]
        if not over and not beside:
            return []
        said = f"{quoted([label])} is to stand for the whole axis (--total), and the hierarchy has "
        said += f"it as a part of {quoted(over, most=_SHOWN)}." if over else ""
        said += "" if over else f"{quoted(beside, most=_SHOWN)} beside it."
        do = "Name the label of the whole axis as the total, or leave it out of the hierarchy."
        return [Problem(Reason.BAD_OPTION, where, said, do)]

    def __repr__(self) -> str:
        return f"Hierarchy({len(self.parts)} sums, from {self.source})"


def hierarchy_by_codes(labels: Sequence[str], source: str = "codes") -> Hierarchy:
    """Return the hierarchy in which a code is part of the longest other that it begins with.

    >>> hierarchy_by_codes(["A", "A01", "A011", "A02", "B"]).parts
    {'A': (('A01', 'A02'),), 'A01': (('A011',),)}
    """
    known = set(labels)
    pairs = [
        (
            label,
            next((label[:end] for end in range(len(label) - 1, 0, -1) if label[:end] in known), ""),
        )
        for label in labels
    ]
    return Hierarchy.of_parents(pairs, source)


def _problems(parts: Mapping[str, tuple[tuple[str, ...], ...]]) -> list[Problem]:
    problems: list[Problem] = []
    state: dict[str, int] = {}
    for start in parts:
        path: list[tuple[str, list[str]]] = []
        if state.get(start):
            continue
        state[start] = 1
        path.append((start, [one for way in parts[start] for one in way]))
        while path:
            label, waiting = path[-1]
            if not waiting:
                state[label] = 2
                path.pop()
                continue
            below = waiting.pop()
            if state.get(below) == 1:
                names = [own for own, _ in path]
                circle = names[names.index(below) :]
                said = f"goes round in a circle: {joined([quoted([own]) for own in (*circle, below)], _SHOWN)}."
                problems.append(
                    Problem(Reason.NOT_A_PARTITION_GRAPH, f"category {quoted([below])}", said)
                )
            elif not state.get(below):
                state[below] = 1
                path.append((below, [one for way in parts.get(below, ()) for one in way]))
    return problems or _twice(parts)


def _leaves(
    parts: Mapping[str, tuple[tuple[str, ...], ...]], labels: Iterable[str]
) -> dict[str, frozenset[str]]:
    """Return what each of some categories, and all below them, holds by the first way."""
    leaves: dict[str, frozenset[str]] = {}
    for label in labels:
        waiting = [label]
        while waiting:
            at = waiting[-1]
            missing = [one for way in parts.get(at, ()) for one in way if one not in leaves]
            if missing:
                waiting += missing
                continue
            waiting.pop()
            ways = parts.get(at, ())
            leaves[at] = (
                frozenset().union(*(leaves[one] for one in ways[0])) if ways else frozenset([at])
            )
    return leaves


def _twice(parts: Mapping[str, tuple[tuple[str, ...], ...]]) -> list[Problem]:
    """Return the categories that hold something twice by one way, or less by one than by another."""
    leaves = _leaves(parts, parts)
    problems: list[Problem] = []
    for label, ways in parts.items():
        where = f"category {quoted([label])}"
        every = [frozenset().union(*(leaves[one] for one in way)) for way in ways]
        for way, own in zip(ways, every, strict=True):
            if sum(len(leaves[one]) for one in way) > len(own):
                said = f"counts something twice in {quoted(way, most=_SHOWN)}."
                problems.append(Problem(Reason.NOT_A_PARTITION_GRAPH, where, said))
        if len(set(every)) > 1:
            odd = frozenset().union(*every) - every[0].intersection(*every)
            said = f"holds different things by different ways (see {quoted(sorted(odd), most=_SHOWN)})."
            problems.append(Problem(Reason.NOT_A_PARTITION_GRAPH, where, said))
    return problems


_CODES = ("code", "id", "category", "label", "name")
_PARENTS = ("parent", "parent_code", "parentid", "parent_id", "part_of", "broader")
_MOST_BYTES = 64 << 20


def read_hierarchy(path: str | Path, *, lead: str = "@") -> Hierarchy:
    """Read which categories are sums of others.

    A `.hrc` file has a code on each line, after as many lead signs as its level. A text file (CSV) has a
    column `parent` beside that of codes, or else one column per level.
    """
    file = Path(path)
    asked = f"A hierarchy was to be read from file {quoted([file.name])}."
    if not lead:
        raise InputError(
            Reason.BAD_OPTION, asked, "The sign that it indents with is empty.", "Name one, as '@'."
        )
    if file.is_file() and file.stat().st_size > _MOST_BYTES:
        raise InputError(
            Reason.TOO_LARGE, asked, "It is larger than a hierarchy can be.", "Check the file."
        )
    text = tool_text(file, asked)
    source = f"file {quoted([file.name])}"
    if file.suffix.lower() == ".hrc":
        return _of_hrc(text, lead, source, asked)
    rows = _rows(text)
    if len(rows) < 2:
        raise InputError(Reason.NOTHING_GIVEN, asked, "It has no rows.", "Check the file.")
    header = [cell.strip() for cell in rows[0]]
    folded = [cell.casefold() for cell in header]
    code = next((folded.index(name) for name in _CODES if name in folded), None)
    parent = next((folded.index(name) for name in _PARENTS if name in folded), None)
    if parent is not None:
        code = next(at for at in range(len(header)) if at != parent) if code is None else code
        pairs = [(_cell(row, code), _cell(row, parent)) for row in rows[1:]]
        return Hierarchy.of_parents([pair for pair in pairs if pair[0]], source)
    if len(header) < 2:
        raise InputError(
            Reason.WRONG_SCHEMA,
            asked,
            "It has one column, so that nothing is said of what adds up.",
            "Give codes with a column 'parent', one column per level, or a .hrc file.",
        )
    return Hierarchy.of_levels(rows[1:], source)


def _of_hrc(text: str, lead: str, source: str, asked: str) -> Hierarchy:
    over: list[str] = []
    pairs: list[tuple[str, str]] = []
    problems: list[Problem] = []
    places: dict[str, int] = {}
    for number, line in enumerate(text.splitlines(), 1):
        bare = line.lstrip()
        code = bare
        level = 0
        while code.startswith(lead):
            code, level = code[len(lead) :], level + 1
        # Blanks before and after a code are padding: ' 1' and '1' are one.
        code = code.strip()
        if not code:
            continue
        if level > len(over):
            said = f"is {level} levels deep after {max(len(over) - 1, 0)}."
            problems.append(Problem(Reason.MALFORMED, f"line {number}", said))
            continue
        if code in places:
            said = f"has the code of line {places[code]} again."
            problems.append(Problem(Reason.DUPLICATE, f"line {number}", said))
            continue
        places[code] = number
        over[level:] = [code]
        pairs.append((code, over[level - 1] if level else ""))
    refuse(problems, asked, "It is no hierarchy.", "Mend these lines.")
    return Hierarchy.of_parents(pairs, source)


def _rows(text: str) -> list[list[str]]:
    first = text.split("\n", 1)[0]
    delimiter = max(";\t,", key=first.count) if any(mark in first for mark in ";\t,") else ","
    return [
        row
        for row in csv.reader(io.StringIO(text), delimiter=delimiter)
        if any(cell.strip() for cell in row)
    ]


def _cell(row: Sequence[str], at: int) -> str:
    return row[at].strip() if at < len(row) else ""


_MOST = 2**52


def undeclared_sums(
    axis: str, labels: Sequence[str], tables: Sequence[CellRows]
) -> tuple[subtotals.Subtotal, ...]:
    """Return the labels of an axis that may be sums of others, by their words, codes and figures."""
    published = [made for table in tables if (made := _lines(axis, labels, table)) is not None]
    return subtotals.find_subtotals(Axis(axis, tuple(labels)), published)


def detected_hierarchy(
    axis: str, labels: Sequence[str], found: Sequence[subtotals.Subtotal]
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
    if len(lines) * len(labels) > subtotals.MOST_FIGURES:
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
            problems += subtotals.subtotal_problems(
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
            problems += subtotals.subtotal_problems(name, found)
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
