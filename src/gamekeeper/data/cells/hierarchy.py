"""Which categories of an axis are sums of others: trees, several trees at once, partition graphs.

A category may be a sum in several ways, regions of counties and, across them, of sizes of place, so
that nothing needs to be nested. What goes round in a circle, or counts a part twice, is refused. In
files: `.hrc` of tau-ARGUS, codes with parents, a column per level.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from pathlib import Path

from gamekeeper.data.cells.cell_file import tool_text
from gamekeeper.errors import InputError, Problem, Reason, refuse
from gamekeeper.wording import joined, quoted

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
