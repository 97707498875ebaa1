"""A release of counts that are shown or hidden, as published cells: groups are sums of the categories."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from itertools import product

from gamekeeper.algorithms.releases.perturbation import HIDDEN
from gamekeeper.algorithms.releases.schemes import Exact, Suppressed
from gamekeeper.data.cells.cell_rows import CellRows
from gamekeeper.data.cells.hierarchy import Hierarchy
from gamekeeper.data.cells.statuses import Status
from gamekeeper.data.tables.release import Release
from gamekeeper.errors import InputError, Problem, Reason
from gamekeeper.wording import quoted


def cells_of_release(release: Release) -> tuple[list[CellRows], dict[str, Hierarchy]]:
    """Return the tables of a release, and the hierarchies that its groups make.

    Raises
    ------
    InputError
        A table shows counts that are not the true ones, or intervals of them.
    """
    problems = [
        Problem(
            Reason.BAD_OPTION,
            f"table {quoted([table.name])}",
            f"is published as '{table.scheme.text}'.",
        )
        for table in release.published
        if not isinstance(table.scheme, Exact | Suppressed)
    ]
    if problems:
        raise InputError(
            Reason.BAD_OPTION,
            "A release was to be audited for what its hidden cells are.",
            "Some of its tables are rounded, perturbed or given as intervals.",
            "Bound their cells instead, and hold them to the same rules (--rule of tables bounds).",
            problems=problems,
        )
    tables: list[CellRows] = []
    ways: dict[str, dict[str, tuple[str, ...]]] = {}
    by_name = {axis.name: axis for axis in release.axes}
    for table in release.published:
        labels = [
            tuple(table.groups[name]) if name in table.groups else by_name[name].categories
            for name in table.axes
        ]
        for name, groups in table.groups.items():
            ways.setdefault(name, {}).update(
                {label: tuple(own) for label, own in groups.items() if tuple(own) != (label,)}
            )
        keys = list(product(*labels))
        flat = table.counts.reshape(-1).tolist()
        figures = [None if count == HIDDEN else Fraction(count) for count in flat]
        tables.append(
            CellRows(
                table.name,
                table.axes,
                tuple([key[at] for key in keys] for at in range(len(table.axes))),
                figures,
                [Status.HIDDEN if figure is None else Status.SHOWN for figure in figures],
                ["" for _ in figures],
                hidden_limits=table.hidden_limits,
            )
        )
    made: dict[str, Hierarchy] = {}
    for name in dict.fromkeys(name for table in release.published for name in table.axes):
        children = {**ways.get(name, {}), **dict.fromkeys(by_name[name].categories, ())}
        source = f"{'the groups of ' if name in ways else ''}axis {quoted([name])}"
        tree = Hierarchy.of_tree(children, source)
        made[name] = replace(tree, is_told=name in ways or name in release.disjoint)
    return tables, made
