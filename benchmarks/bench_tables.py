"""Exact bounds of tables of counts: all cells, against two integer programs for each.

The large table is 20 x 20 x 10 with Poisson counts of gamma means, released by its three 2-way
margins. The baseline solves a fresh integer program for each bound of 50 random cells and is scaled
to all cells. Each program is cut off after some seconds, so the factor shown is at least that. With
the environment variable GAMEKEEPER_DATA the Czech autoworkers and Rochdale tables are bounded too.
"""

from __future__ import annotations

import csv
import itertools
import os
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.measure import Row, measured
from gamekeeper.algorithms.bounds.integer_bounds import IntegerBounds, integer_bounds
from gamekeeper.algorithms.releases.constraints import CountConstraints
from gamekeeper.attack.tables.bounds import bound_cells
from gamekeeper.data.tables.axes import Axis
from gamekeeper.data.tables.count_table import CountTable
from gamekeeper.data.tables.release import Release, make_release

__all__ = ["rows"]

BASELINE_CELLS = 50
BASELINE_SECONDS = 1.0


def draw(shape: tuple[int, ...], seed: int = 3) -> NDArray[np.int64]:
    """Draw counts that vary as those of real tables do, with many zeros."""
    rng = np.random.default_rng(seed)
    return rng.poisson(rng.gamma(0.7, 3.0, size=shape))


def released(table: NDArray[np.int64], size: int) -> CountConstraints:
    """Return all exact margins over some number of axes."""
    known = CountConstraints.of(
        table.shape,
        [
            (kept, table.sum(axis=tuple(a for a in range(table.ndim) if a not in kept)))
            for kept in itertools.combinations(range(table.ndim), size)
        ],
    )
    len(known.rows)  # made once
    return known


def rows(seconds: float = BASELINE_SECONDS) -> Iterator[Row]:
    """Measure exact bounds, on one core."""
    integer_bounds(released(draw((3, 3, 3)), 2))  # compiles
    known = released(draw((20, 20, 10)), 2)
    row, found = measured(
        "exact bounds of 20 x 20 x 10 from all 2-way margins",
        lambda: integer_bounds(known),
        output=lambda found: 2 * found.lower.size,
        aim="20 times faster than programs",
        memory=False,
    )
    yield _named(row, _settled(found))
    base, (cut, wrong) = measured(
        f"two integer programs for each of {BASELINE_CELLS} of its cells",
        lambda: _by_programs(known, found, seconds),
        output=lambda _: 2 * BASELINE_CELLS,
        memory=False,
    )
    scaled = base.wall * found.lower.size / BASELINE_CELLS
    note = f"{cut} cut off after {seconds:g} s, {wrong} of the others disagree"
    yield _named(
        base, f"({note}; all cells {scaled:,.0f} s, {scaled / row.wall:,.0f} times as long)"
    )
    yield from _published()


def _by_programs(known: CountConstraints, found: IntegerBounds, seconds: float) -> tuple[int, int]:
    """Return how many programs were cut off, and how many others found another bound."""
    cells = np.random.default_rng(0).choice(known.size, BASELINE_CELLS, replace=False)
    cut = wrong = 0
    for cell in cells.tolist():
        for sign, bounds in ((1, found.lower), (-1, found.upper)):
            best = _program(known, cell, sign, seconds)
            cut += best is None
            wrong += best is not None and best != int(bounds.reshape(-1)[cell])
    return cut, wrong


def _program(known: CountConstraints, cell: int, sign: int, seconds: float) -> int | None:
    import highspy

    rows, size = known.rows, known.size
    highs: Any = highspy.Highs()
    for option, value in (("output_flag", False), ("threads", 1), ("time_limit", seconds)):
        highs.setOptionValue(option, value)
    model: Any = highspy.HighsLp()
    model.num_col_, model.num_row_ = size, len(rows)
    cost = np.zeros(size)
    cost[cell] = sign
    model.col_cost_, model.col_lower_ = cost, np.zeros(size)
    model.col_upper_ = np.full(size, highspy.kHighsInf)
    model.row_lower_ = rows.lower.astype(np.float64)
    model.row_upper_ = rows.upper.astype(np.float64)
    model.integrality_ = [highspy.HighsVarType.kInteger] * size
    model.a_matrix_.format_ = highspy.MatrixFormat.kRowwise
    model.a_matrix_.start_ = rows.starts.astype(np.int32)
    model.a_matrix_.index_ = rows.cells.astype(np.int32)
    model.a_matrix_.value_ = np.ones(len(rows.cells))
    highs.passModel(model)
    highs.run()
    if highs.getModelStatus() != highspy.HighsModelStatus.kOptimal:
        return None
    return round(sign * highs.getInfo().objective_function_value)


def _published() -> Iterator[Row]:
    folder = Path(os.environ.get("GAMEKEEPER_DATA", "")) / "tables"
    for name, file, sizes in (
        ("Czech autoworkers", "czech_autoworkers_2x6.csv", (2, 3, 4, 5)),
        ("Rochdale", "rochdale_2x8.csv", (2, 3, 4, 7)),
    ):
        if not (folder / file).is_file():
            continue
        table = _read(folder / file)
        for size in sizes:
            known = released(table, size)
            release = _release(table, size)
            bound_cells(release)  # compiled before it is timed
            row, bounds = measured(
                f"{name} from all {size}-way margins, as chosen",
                lambda release=release: bound_cells(release),
                output=lambda found: 2 * found.n_cells,
                aim="1 s",
                memory=False,
            )
            yield _named(row, f"({bounds.tight.mean():.0%} proven; {bounds.provenance.variant})")
            row, found = measured(
                f"{name} from all {size}-way margins, by integer programs",
                lambda known=known: integer_bounds(known),
                output=lambda found: 2 * found.lower.size,
                memory=False,
            )
            yield _named(row, _settled(found))


def _release(table: NDArray[np.int64], size: int) -> Release:
    axes = tuple(Axis(f"axis {k}", tuple(map(str, range(n)))) for k, n in enumerate(table.shape))
    names = [axis.name for axis in axes]
    return make_release(CountTable(axes, table), list(itertools.combinations(names, size)), "exact")


def _read(path: Path) -> NDArray[np.int64]:
    with path.open(encoding="utf-8", newline="") as lines:
        header, *records = csv.reader(lines)
    n_axes = len(header) - 1
    categories = [list(dict.fromkeys(r[a] for r in records)) for a in range(n_axes)]
    table = np.zeros([len(each) for each in categories], np.int64)
    for record in records:
        table[tuple(categories[a].index(record[a]) for a in range(n_axes))] = int(record[-1])
    return table


def _settled(found: IntegerBounds) -> str:
    return (
        f"({found.tight.mean():.0%} of cells proven; {found.tables} tables, "
        f"{found.relaxations} linear and {found.programs} integer programs)"
    )


def _named(row: Row, note: str) -> Row:
    return Row(f"{row.name} {note}", row.output, row.wall, row.cpu, row.peak_mb, row.aim)


if __name__ == "__main__":
    limit = float(sys.argv[1]) if len(sys.argv) > 1 else BASELINE_SECONDS
    for row in rows(limit):
        print(
            f"{row.name}: {row.output:,} out, {row.wall:.2f} s wall, {row.cpu:.2f} s CPU"
            + (f", aim {row.aim}" if row.aim else ""),
            flush=True,
        )
