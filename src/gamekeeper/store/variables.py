"""From a variable file to a variable with its codes, and back.

A partition graph on the interval scale follows from its bands, so only these are kept. The
categories of a code are kept by name, so that they outlast a new order of the sinks.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any

import numpy as np

from gamekeeper.algorithms.intervals import Band, BandStyle
from gamekeeper.algorithms.partition_graph import PartitionGraph
from gamekeeper.algorithms.partitions import ARBITRARY, Arbitrary, Partition
from gamekeeper.errors import InputError, Problem, Reason, count_of, did_you_mean, quoted
from gamekeeper.mapping.codes import CodeRegister
from gamekeeper.mapping.variable import Scale, Variable
from gamekeeper.store.models import IntervalFile, NominalFile, OrdinalFile

__all__ = ["codes_of", "problems_of", "register_of", "tree_of", "variable_of"]

_ANEW = "Correct it, or remove all codes of the variable to have them given anew."


def variable_of(
    file: NominalFile | OrdinalFile | IntervalFile, where: str, problems: list[Problem]
) -> Variable | None:
    """Return the variable of a file, or None after adding what is wrong with it."""
    found = (
        _range_problems(file, where)
        if isinstance(file, IntervalFile)
        else _child_problems(file, where)
    )
    if not found:
        try:
            return _variable(file)
        except InputError as error:
            found = problems_of(error, where)
    problems.extend(found)
    return None


def register_of(
    file: NominalFile | OrdinalFile | IntervalFile,
    variable: Variable,
    where: str,
    problems: list[Problem],
) -> CodeRegister:
    """Return the codes in a file, after adding what is wrong with them."""
    sinks = {sink: [number] for number, sink in enumerate(variable.graph.sinks)}
    meanings: dict[tuple[str, Partition | Arbitrary], str] = {}
    entries: list[tuple[str, Partition | Arbitrary]] = []
    for code, blocks in file.codes.items():
        place = f"{where}, code {quoted([code])}"
        meaning = _meaning(variable, blocks, sinks, place, problems)
        if meaning is None:
            continue
        size = 0 if isinstance(meaning, Arbitrary) else meaning.n_blocks
        other = meanings.setdefault((code[0], meaning), code)
        if int(code[1:].partition(".")[0]) != size:
            number = count_of(size, "category", "categories")
            found = f"has {number}, which is not what it says."
            problems.append(Problem(Reason.INCONSISTENT_CODE, place, found, _ANEW))
        elif other != code:
            found = f"means the same as {quoted([other])}."
            problems.append(Problem(Reason.INCONSISTENT_CODE, place, found, "Leave one out."))
        else:
            entries.append((code, meaning))
    return CodeRegister(entries)


def tree_of(variable: Variable, register: CodeRegister) -> dict[str, Any]:
    """Return what the file of a variable and its codes holds, as plain values."""
    graph = variable.graph
    tree: dict[str, Any] = {"name": variable.name}
    if variable.description:
        tree["description"] = variable.description
    tree["scale"] = variable.scale.value
    if variable.scale is Scale.INTERVAL:
        space = variable.space or Band(0, math.inf)
        whole = variable.style is BandStyle.INCLUSIVE
        ordered = sorted(variable.bands, key=variable.bands.__getitem__)
        tree["bands"] = [name for name in ordered if variable.bands[name] != space]
        tree["style"] = variable.style.value
        tree["from"] = _number(space.low)
        tree["to"] = _number(space.high - 1 if whole else space.high)
    else:
        tree["categories"] = {name: list(graph.children(name)) for name in graph.categories}
        if variable.scale is Scale.ORDINAL or list(graph.sinks) != sorted(graph.sinks):
            tree["order"] = list(graph.sinks)
    if len(register):
        tree["codes"] = codes_of(variable, register)
    return tree


def codes_of(variable: Variable, register: CodeRegister) -> dict[str, list[list[str]]]:
    """Return the codes of a variable as its file has them, in order."""
    codes = sorted(register, key=_rank)
    return {code: _blocks(variable.graph, register.meaning(code)) for code in codes}


def problems_of(error: InputError, where: str) -> list[Problem]:
    """Return the problems of an error, each with the file that it is in."""
    if not error.problems:
        return [Problem(error.reason, where, error.found, error.do)]
    return [Problem(p.reason, f"{where}, {p.where}", p.found, p.do) for p in error.problems]


def _variable(file: NominalFile | OrdinalFile | IntervalFile) -> Variable:
    if isinstance(file, IntervalFile):
        return Variable.of_bands(
            file.name,
            file.bands,
            style=BandStyle(file.style),
            space=_space(file),
            description=file.description,
        )
    graph = PartitionGraph(file.categories, order=file.order)
    return Variable(file.name, graph, Scale(file.scale), file.description)


def _child_problems(file: NominalFile | OrdinalFile, where: str) -> list[Problem]:
    return [
        Problem(
            Reason.UNKNOWN_NAME,
            f"{where}, category {quoted([category])}",
            f"has the child {quoted([child])}, which is not a category.",
            did_you_mean(child, file.categories),
        )
        for category, children in file.categories.items()
        for child in children
        if child not in file.categories
    ]


def _range_problems(file: IntervalFile, where: str) -> list[Problem]:
    space = _space(file)
    if file.style == "inclusive" and any(isinstance(b, Fraction) for b in (space.low, space.high)):
        found = "is not between whole numbers, as the inclusive style asks for."
        do = "Use whole numbers or the half-open style."
    elif space.low >= space.high:
        found, do = "is empty.", "Let 'from' be below 'to'."
    else:
        return []
    return [Problem(Reason.BAD_BAND, f"{where}, range 'from' to 'to'", found, do)]


def _space(file: IntervalFile) -> Band:
    low, high = _bound(file.low, -math.inf), _bound(file.high, math.inf)
    return Band(low, high + 1 if file.style == "inclusive" else high)


def _bound(number: float | None, end: float) -> int | Fraction | float:
    if number is None:
        return end
    exact = Fraction(repr(number))
    return exact.numerator if exact.denominator == 1 else exact


def _number(bound: int | Fraction | float) -> int | float | None:
    if isinstance(bound, float):
        return None
    return float(bound) if isinstance(bound, Fraction) else bound


def _rank(code: str) -> tuple[str, int, int]:
    size, _, number = code[1:].partition(".")
    return (code[0], int(size), int(number))


def _blocks(graph: PartitionGraph, meaning: Partition | Arbitrary) -> list[list[str]]:
    if isinstance(meaning, Arbitrary):
        return []
    return [list(graph.cover(sum(1 << number for number in block))) for block in meaning.blocks()]


def _sinks_below(graph: PartitionGraph, category: str, sinks: Mapping[str, list[int]]) -> list[int]:
    # Down the graph, not by bit set: that would cost every category the length of all sinks.
    found: list[int] = []
    waiting = [category]
    while waiting:
        node = waiting.pop()
        if node in sinks:
            found += sinks[node]
        else:
            waiting += graph.children(node)
    return found


def _meaning(
    variable: Variable,
    blocks: Sequence[Sequence[str]],
    sinks: dict[str, list[int]],
    where: str,
    problems: list[Problem],
) -> Partition | Arbitrary | None:
    """Return the partition that blocks of category names make, or None after saying why not.

    `sinks` holds the sinks of the categories met so far.
    """
    if not blocks:
        return ARBITRARY
    labels = [-1] * len(variable.graph.sinks)
    placed: list[int] = []
    unknown: list[str] = []
    for block in blocks:
        members: list[int] = []
        for name in block:
            if name not in sinks:
                category = variable.resolve(name)
                if category is None:
                    unknown.append(name)
                    continue
                sinks[name] = _sinks_below(variable.graph, category, sinks)
            members += sinks[name]
        placed += members
        first = min(members, default=0)
        for number in members:
            labels[number] = first
    missed = [number for number, label in enumerate(labels) if label < 0]
    if not unknown and not missed and len(placed) == len(labels) and all(blocks):
        return Partition(np.array(labels, dtype=np.int32), len(blocks))
    problems += [
        Problem(
            Reason.UNKNOWN_NAME,
            where,
            f"names {quoted([name])}, which is not a category.",
            did_you_mean(name, variable.graph.categories),
        )
        for name in dict.fromkeys(unknown)
    ]
    names = variable.graph.sinks
    twice = sorted(number for number, count in Counter(placed).items() if count > 1)
    for is_so, found in (
        (twice, f"holds {quoted(names[number] for number in twice)} twice."),
        (missed and not unknown, f"leaves out {quoted(names[number] for number in missed)}."),
        (not all(blocks), "has a category that is made up of nothing."),
    ):
        if is_so:
            problems.append(Problem(Reason.INCONSISTENT_CODE, where, found, _ANEW))
    return None
