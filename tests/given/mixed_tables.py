"""Random tables of one base, small enough to go through all that could have been published so.

Each is rounded, perturbed, suppressed or exact, has subtotals or not, is of some axes or all, and may
hide cells; several are linked by the axes that they share.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import product

import numpy as np
from numpy.typing import NDArray

from gamekeeper.algorithms.releases.schemes import HIDDEN, parse_scheme
from gamekeeper.data.tables.cell_file import CellRows, Status
from gamekeeper.data.tables.hierarchy import Hierarchy
from gamekeeper.data.tables.table_set import TableSet

Integers = NDArray[np.int64]

# Of each axis: the finest labels, and those that are sums of them. The last two are not nested.
_AXES = (
    (("p", "q"), {}),
    (("A1", "A2", "B"), {"A": ("A1", "A2")}),
    (("A1", "A2", "B1", "B2"), {"A": ("A1", "A2"), "B": ("B1", "B2")}),
    (("a", "b", "c"), {"ab": ("a", "b"), "bc": ("b", "c")}),
    (("a", "b", "c", "d"), {"abc": ("a", "b", "c"), "cd": ("c", "d")}),
)
_SCHEMES = (
    "exact", "exact", "conventional:3", "conventional:3", "conventional:4:random", "conventional:5",
    "random:2", "random:3", "barnardization:0.5", "suppressed:3",
)  # fmt: skip
_MOST_TABLES = 60_000


@dataclass(frozen=True, eq=False)
class MixedTables:
    """Published tables, and every base table that would have been published so.

    - `possible`: a row per base table, a column per cell that is published: its true count.
    - `cells`: the label on each axis, "Total" where it is whole, of each of these cells.
    - `truth`: the true count of each of them.
    """

    tables: TableSet
    possible: Integers
    cells: tuple[tuple[str, ...], ...]
    truth: Integers


_PLACES = {
    "p": "Leeds", "q": "York", "A": "Kent", "A1": "Dover", "A2": "Hythe", "B": "Devon", "B1": "Exeter",
    "B2": "Totnes", "Total": "Total",
}  # fmt: skip


def mixed_tables(rng: np.random.Generator, *, is_told: bool = True) -> MixedTables | None:
    """Return random tables; None where there are too many that would have been published so.

    Where nobody told how labels add up (`is_told`), they have names that tell nothing either. Then an
    `InputError` may be raised.
    """
    # That labels divide the same people in two ways is not looked for where nobody tells it.
    choice = _AXES if is_told else _AXES[:3]
    kinds = [choice[int(rng.integers(len(choice)))] for _ in range(1 + int(rng.random() < 0.5))]
    sizes = [len(finest) for finest, _ in kinds]
    if np.prod(sizes) > 6:
        return None
    names = tuple("xy"[: len(kinds)])
    truth = rng.integers(0, 1 + int(rng.integers(1, 8)), sizes)
    axes = [_members(*kind) for kind in kinds]
    listed: list[tuple[CellRows, list[tuple[str, ...]]]] = []
    for number in range(int(rng.integers(1, 4))):
        kept = [at for at in range(len(kinds)) if rng.random() < 0.75] or [0]
        used = [
            _some_labels(rng, own, is_told) if at in kept else ["Total"]
            for at, own in enumerate(axes)
        ]
        keys = list(product(*used))
        made = _table(
            rng, f"t{number}", names, kept, keys, [_sum(axes, truth, key) for key in keys]
        )
        listed.append((made, keys))
    keys = list(dict.fromkeys(key for _, own in listed for key in own))
    bases = _bases(axes, tuple(sizes), listed)
    if bases is None:
        return None
    true = np.array([_sum(axes, truth, key) for key in keys], np.int64)
    possible = np.column_stack([_sums(axes, bases, key) for key in keys])
    hierarchies = {
        name: Hierarchy.of_tree({**sums, **dict.fromkeys(finest, ())}, "the case")
        if not _is_crossed(sums)
        else Hierarchy.of_ways(
            {**{label: [parts] for label, parts in sums.items()}}, "the case", labels=finest
        )
        for name, (finest, sums) in zip(names, kinds, strict=True)
        if any(name in table.axes for table, _ in listed)
    }
    if not is_told:
        hierarchies = {}
        keys = [tuple(_PLACES[label] for label in key) for key in keys]
        listed = [
            (replace(t, labels=tuple([_PLACES[one] for one in own] for own in t.labels)), own_keys)
            for t, own_keys in listed
        ]
    tables = TableSet.of([table for table, _ in listed], hierarchies, absent="hidden")
    return MixedTables(tables, possible, tuple(keys), true)


def _is_crossed(sums: dict[str, tuple[str, ...]]) -> bool:
    every = [part for parts in sums.values() for part in parts]
    return len(set(every)) < len(every)


def _members(finest: tuple[str, ...], sums: dict[str, tuple[str, ...]]) -> dict[str, list[int]]:
    """Return the finest categories of each label, by number."""
    place = {label: at for at, label in enumerate(finest)}
    own = {label: [at] for label, at in place.items()}
    own |= {label: [place[part] for part in parts] for label, parts in sums.items()}
    return {**own, "Total": list(range(len(finest)))}


def _some_labels(
    rng: np.random.Generator, own: dict[str, list[int]], may_leave_out: bool
) -> list[str]:
    """Return the labels of an axis that a table has: all, or without some sums, or some sums alone."""
    finest = [label for label, parts in own.items() if len(parts) == 1]
    sums = [label for label in own if label not in finest]
    kept = [label for label in sums if rng.random() < 0.75]
    is_whole = rng.random() < 0.85 or not kept or not may_leave_out
    return [*(finest if is_whole else []), *kept]


def _sum(axes: list[dict[str, list[int]]], truth: Integers, key: tuple[str, ...]) -> int:
    return int(truth[np.ix_(*(own[label] for own, label in zip(axes, key, strict=True)))].sum())


def _sums(axes: list[dict[str, list[int]]], bases: Integers, key: tuple[str, ...]) -> Integers:
    places = [own[label] for own, label in zip(axes, key, strict=True)]
    return bases[np.ix_(range(len(bases)), *places)].sum(axis=tuple(range(1, bases.ndim)))


def _table(
    rng: np.random.Generator,
    name: str,
    names: tuple[str, ...],
    kept: list[int],
    keys: list[tuple[str, ...]],
    counts: list[int],
) -> CellRows:
    scheme = parse_scheme(_SCHEMES[int(rng.integers(len(_SCHEMES)))])
    published = scheme.publish(np.array(counts, np.int64), rng).tolist()
    hide = float(rng.choice([0.0, 0.2, 0.5])) if scheme.name != "suppressed" else 0.0
    figures: list[Fraction | None] = [
        None if count == HIDDEN or rng.random() < hide else Fraction(count) for count in published
    ]
    return CellRows(
        name,
        tuple(names[at] for at in kept),
        tuple([key[at] for key in keys] for at in kept),
        figures,
        [Status.HIDDEN if figure is None else Status.SHOWN for figure in figures],
        ["" for _ in figures],
        scheme=scheme,
    )


def _bases(
    axes: list[dict[str, list[int]]],
    shape: tuple[int, ...],
    listed: list[tuple[CellRows, list[tuple[str, ...]]]],
) -> Integers | None:
    """Return every base table that agrees; None where one cell has no limit, or there are too many."""
    rows: list[tuple[NDArray[np.bool_], int, int | None]] = []
    for table, keys in listed:
        for key, figure in zip(keys, table.figures, strict=True):
            inside = np.zeros(shape, bool)
            inside[np.ix_(*(own[label] for own, label in zip(axes, key, strict=True)))] = True
            if figure is not None:
                ends = table.scheme.bounds(int(figure))
            else:
                ends = table.scheme.reach(HIDDEN) or (0, None)
            rows.append((inside.reshape(-1), *ends))
    n_cells = int(np.prod(shape))
    tables = np.zeros((1, 0), np.int64)
    for cell in range(n_cells):
        most = [high for inside, _, high in rows if high is not None and inside[cell]]
        if not most:
            return None
        values = np.arange(min(most) + 1, dtype=np.int64)
        if len(tables) * len(values) > 40 * _MOST_TABLES:
            return None
        tables = np.column_stack(
            [np.repeat(tables, len(values), axis=0), np.tile(values, len(tables))]
        )
        is_left = np.ones(len(tables), bool)
        for inside, low, high in rows:
            own = tables[:, inside[: cell + 1]].sum(axis=1)
            if high is not None:
                is_left &= own <= high
            if not inside[cell + 1 :].any():
                is_left &= own >= low
        tables = tables[is_left]
        if len(tables) > _MOST_TABLES:
            return None
    return tables.reshape(-1, *shape)
