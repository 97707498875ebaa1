"""Whether known people recover a zero of any release: decided exactly, one sample and cell at a time.

The release is any set of constraints on a table. A cell with s_j = c_j is a recovered zero exactly
if no table of whole numbers fits the release, has every known person and has more than c_j in j.
Propagation and branching decide most questions within microseconds; what they cannot decide in
some thousand steps goes to an integer programme.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from gamekeeper.algorithms.releases.constraints import CountConstraints, NoTableError
from gamekeeper.errors import Problem, Reason, refuse

Integers = NDArray[np.int64]

# A step looks at every cell; with thousands of them an integer programme is the faster way.
_MOST_NODES, _FEWEST_NODES = 2_000, 50
_CELLS_LOOKED_AT = 200_000
_KEPT = 256


def checked_truth(constraints: CountConstraints, truth: ArrayLike) -> Integers:
    """Return the true table, flat, or refuse one that contradicts the release."""
    given = np.asarray(truth)
    problems: list[Problem] = []
    if given.size != constraints.size:
        found = f"{given.size:,} cells, not {constraints.size:,}."
        problems.append(Problem(Reason.MALFORMED, "true table", found))
    elif (
        not bool(np.equal(np.mod(given.astype(np.float64), 1), 0).all()) or given.min(initial=0) < 0
    ):
        found = "not all counts are whole numbers from 0 up."
        problems.append(Problem(Reason.BAD_COUNT, "true table", found))
    elif not constraints.admits(given):
        rows = constraints.rows
        sums = rows.sums(given.astype(np.int64).reshape(-1))
        n_wrong = int(np.sum((sums < rows.lower) | (sums > rows.upper)))
        found = f"it does not fit {n_wrong:,} of {len(rows):,} published counts."
        problems.append(Problem(Reason.CONFLICTING_COUNTS, "true table", found))
    refuse(
        problems,
        "The probability of recovering zeros of a release was asked for.",
        "The true table cannot have led to this release.",
        "Give the table that the release was made from.",
    )
    return given.astype(np.int64).reshape(-1)


class RecoveryOracle:
    """Answers whether a sample recovers a zero in a cell.

    Parameters
    ----------
    constraints, truth
        What is published, and the true counts, flat.
    within
        The cells whose zeros count, flat; all if not given.
    among
        The cells whose people can be known, flat; all if not given.
    max_nodes
        Steps of a search before a question goes to an integer programme; by default 2,000, and
        fewer above 100 cells.

    Attributes
    ----------
    truth
        The true counts, flat.
    everybody
        The people who can be known, by cell.
    candidates
        The cells in which a zero is recovered when everybody is known.
    recovered_at_once
        Whether a zero is recovered when nobody is known.
    """

    def __init__(
        self,
        constraints: CountConstraints,
        truth: Integers,
        *,
        within: NDArray[np.bool_] | None = None,
        among: NDArray[np.bool_] | None = None,
        max_nodes: int | None = None,
    ) -> None:
        from gamekeeper.algorithms.releases.propagation_kernels import propagate, rows_of_cells

        if max_nodes is None:
            fewer = _CELLS_LOOKED_AT // max(constraints.size, 1)
            max_nodes = min(_MOST_NODES, max(_FEWEST_NODES, fewer))
        self.max_nodes = max_nodes
        self._constraints = constraints
        self.truth = truth
        self.everybody = truth if among is None else np.where(among, truth, 0)
        rows = constraints.rows
        cell_starts, cell_rows = rows_of_cells(rows.starts, rows.cells, constraints.size)
        self._rows = (
            rows.starts, rows.cells, rows.lower, rows.upper, cell_starts, cell_rows,
        )  # fmt: skip
        self._sums = rows.sums(truth)
        lower, upper = (limits.reshape(-1).copy() for limits in constraints.cell_limits())
        wrong = int(
            propagate(*self._rows, lower, upper, np.arange(len(rows), dtype=np.int64), len(rows))
        )
        if wrong >= 0:
            raise NoTableError([wrong])
        self._limits = (lower, upper)
        n_cells = constraints.size
        kept = max(8, min(_KEPT, 20_000_000 // max(n_cells, 1)))
        self._pool = (
            np.zeros((kept, n_cells), np.int64),
            np.zeros((kept, n_cells), np.int64),
            np.zeros(kept, np.int64),
        )
        self._sizes = np.zeros(2, np.int64)
        nobody = np.zeros(n_cells, np.int64)
        self.candidates = np.array(
            [
                cell
                for cell in range(n_cells)
                if (within is None or within[cell])
                and (among is None or among[cell])
                and self.recovers(self.everybody, cell)
            ],
            np.int64,
        )
        self.recovered_at_once = any(
            truth[cell] == 0 and self.recovers(nobody, int(cell)) for cell in self.candidates
        )

    def recovers(self, sample: Integers, cell: int) -> bool:
        """Return whether a sample that holds all people of a cell recovers a zero there."""
        from gamekeeper.algorithms.subtraction.oracle_kernels import ASKED, NONE, UNDECIDED

        none, nothing = np.empty(0, np.int64), np.empty((0, 0), np.int64)
        answer = self._run(none, nothing, ASKED, 0, 0, nothing, np.append(sample, cell))
        if answer == UNDECIDED:
            return self._settle(sample, cell)
        return answer == NONE

    def larger_table(self, sample: Integers, cell: int) -> Integers | None:
        """Return a table with the sample and more than the truth in a cell, or None."""
        if self.recovers(sample, cell):
            return None
        tables = self._pool[0]
        fits = (tables[:, cell] > self.truth[cell]) & np.all(tables >= sample, axis=1)
        return tables[int(np.flatnonzero(fits)[0])].copy()

    def first_recoveries(self, orders: Integers) -> Integers:
        """Return for each ordering of the people how many must be known to recover a zero.

        For use where everybody together recovers one and nobody none.
        """
        from gamekeeper.algorithms.subtraction.oracle_kernels import ANY

        first = np.zeros((len(orders), 1), np.int64)
        self._go_through(orders, ANY, first)
        return first[:, 0]

    def cell_recoveries(self, orders: Integers) -> Integers:
        """Return the same for each of the candidates by itself, a column for each."""
        from gamekeeper.algorithms.subtraction.oracle_kernels import EACH

        first = np.zeros((len(orders), len(self.candidates)), np.int64)
        self._go_through(orders, EACH, first)
        return first

    def _go_through(self, orders: Integers, purpose: int, first: Integers) -> None:
        """Fill in what is found for all orderings, and settle what the kernel cannot decide."""
        asked = np.zeros(self._constraints.size + 1, np.int64)
        last = min(int(self.truth.sum()), orders.shape[1] + 1)
        candidates = self.candidates.copy()
        done = 0
        while done < len(orders):
            done = self._run(candidates, orders, purpose, done, last, first, asked)
            if done < len(orders):
                self._settle(asked[:-1].copy(), int(asked[-1]))

    def _run(
        self,
        candidates: Integers,
        orders: Integers,
        purpose: int,
        done: int,
        last: int,
        first: Integers,
        asked: Integers,
    ) -> int:
        from gamekeeper.algorithms.subtraction.oracle_kernels import find_recoveries

        return int(
            find_recoveries(
                *(self._rows, self._sums, self._limits, self.truth, candidates, self._pool),
                *(self._sizes, orders, purpose, done, last, first, asked, self.max_nodes),
            )
        )

    def _settle(self, sample: Integers, cell: int) -> bool:
        """Decide by an integer programme and keep the answer; return whether recovered."""
        from gamekeeper.algorithms.bounds.integer_bounds import feasible_table

        known = sample.copy()
        known[cell] = self.truth[cell] + 1
        table = feasible_table(self._constraints.at_least(known.reshape(self._constraints.shape)))
        tables, samples, of_cell = self._pool
        is_recovered = table is None
        place = int(self._sizes[int(is_recovered)]) % len(tables)
        if table is None:
            samples[place], of_cell[place] = sample, cell
        else:
            tables[place] = np.asarray(table, np.int64).reshape(-1)
        self._sizes[int(is_recovered)] += 1
        return is_recovered
