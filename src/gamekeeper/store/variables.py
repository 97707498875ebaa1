"""From a variable file to a variable with its codes, and back.

The categories of a code are kept by name, so that they outlast a new order of the sinks.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from gamekeeper.algorithms.categories.partition_graph import PartitionGraph
from gamekeeper.algorithms.categories.partitions import ARBITRARY, Arbitrary, Partition
from gamekeeper.errors import InputError, Problem, Reason
from gamekeeper.mapping.variables import definitions
from gamekeeper.mapping.variables.category_blocks import blocks_of
from gamekeeper.mapping.variables.codes import ARBITRARY_CODE, CodeRegister, code_order
from gamekeeper.mapping.variables.variable import Variable
from gamekeeper.store.models import VARIABLE_FILE, IntervalFile, NominalFile, OrdinalFile
from gamekeeper.store.parsing import check
from gamekeeper.wording import count_of, did_you_mean, quoted

_ANEW = "Correct it, or remove all codes of the variable to have them given anew."


def variable_of(
    file: NominalFile | OrdinalFile | IntervalFile, where: str, problems: list[Problem]
) -> Variable | None:
    """Return the variable of a file, or None after adding what is wrong with it."""
    try:
        return definitions.variable_of(file)
    except InputError as error:
        problems.extend(problems_of(error, where))
        return None


def checked_file(
    tree: Any, variable: Variable, where: str, problems: list[Problem]
) -> NominalFile | OrdinalFile | IntervalFile | None:
    """Return the file of a variable, after adding what is wrong with it: it must lead back to it."""
    file = check(tree, where, VARIABLE_FILE, problems)
    if file is not None and variable_of(file, where, problems) != variable:
        found = "is not what its bands or its categories come to."
        do = "Make a variable on the interval scale with Variable.of_bands."
        problems.append(Problem(Reason.WRONG_SCHEMA, where, found, do))
    return file


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
    return CodeRegister(entries, retired=_retired(file, where, problems))


def tree_of(variable: Variable, register: CodeRegister) -> dict[str, Any]:
    """Return what the file of a variable and its codes holds, as plain values."""
    tree = definitions.definition_tree(variable)
    if len(register):
        tree["codes"] = codes_of(variable, register)
    if register.retired:
        tree["retired"] = retired_of(register)
    return tree


def codes_of(variable: Variable, register: CodeRegister) -> dict[str, list[list[str]]]:
    """Return the codes of a variable as its file has them, in order."""
    codes = sorted(register, key=code_order)
    meanings = {code: blocks_of(variable, register.meaning(code)) for code in codes}
    return {code: [list(block) for block in blocks] for code, blocks in meanings.items()}


def retired_of(register: CodeRegister) -> list[str]:
    """Return the retired codes of a variable as its file has them, in order."""
    return sorted(register.retired, key=code_order)


def problems_of(error: InputError, where: str) -> list[Problem]:
    """Return the problems of an error, each with the file that it is in."""
    if not error.problems:
        return [Problem(error.reason, where, error.found, error.do)]
    return [Problem(p.reason, f"{where}, {p.where}", p.found, p.do) for p in error.problems]


def _retired(
    file: NominalFile | OrdinalFile | IntervalFile, where: str, problems: list[Problem]
) -> list[str]:
    """Return the retired codes of a file that can be so, after adding what is wrong with others."""
    retired: list[str] = []
    for code in dict.fromkeys(file.retired):
        if code in file.codes:
            found, do = "is retired and has a meaning.", "Leave it out of one of the two."
        elif code[1:].startswith("0."):
            found, do = f"is retired, and {ARBITRARY_CODE} never is.", "Leave it out."
        else:
            retired.append(code)
            continue
        place = f"{where}, code {quoted([code])}"
        problems.append(Problem(Reason.INCONSISTENT_CODE, place, found, do))
    return retired


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
