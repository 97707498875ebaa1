"""Scores of margins: what the records say for a clique of a decomposable model.

Under a hyper-Dirichlet prior that spreads a total precision evenly over the cells, the marginal
likelihood of the records over a set C of variables is

    p(C) = Gamma(a) / Gamma(a + n) * product over cells of Gamma(a_i + n_i) / Gamma(a_i)

with a_i = a / number of cells. Cells are those of the declared categories, observed or not, and
the records are ordered, so there is no multinomial coefficient. Empty cells contribute 1 and equal
counts contribute equally, so only the counts of counts enter. A decomposable model has the product
over its cliques divided by the product over its separators (Dawid and Lauritzen, Hyper Markov laws
in the statistical analysis of decomposable graphical models, 1993). A score costs one pass over
the distinct rows; scores are kept in a table of fixed size.

Where not even the distinct rows fit into memory, somebody else, such as a cluster that has the
records, supplies the counts of counts, asked for by sets of variables, many at a time. Scores are
the same to the last bit. What walks from model to model one margin at a time would ask too often:
this is for searches that list what they want, as a climb does.
"""

from __future__ import annotations

import copy
import math
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from gamekeeper.algorithms.classes import class_numbers
from gamekeeper.errors import InputError, Problem, Reason
from gamekeeper.wording import count_of

if TYPE_CHECKING:
    from gamekeeper.algorithms.models.kernels import CountingRoom, Margins


MOST_VARIABLES = 64
_MOST_KEPT = 1 << 20


class MarginScores:
    """Log marginal likelihoods of margins and of decomposable models.

    Codes have a row per record and a column per variable (1 to 64), of integers from 0 up. `levels`
    is per variable the number of categories that are declared, observed or not, at least as many as
    are observed; those observed if it is not given. `precision` is the total prior precision, above
    0. `counts` says how often each row occurs; once each if it is not given. `most_kept` scores are
    kept, 16 bytes each; when there are more, some are computed again.

    Examples
    --------
    >>> scores = MarginScores(np.array([[0, 0], [0, 0], [1, 1], [1, 1]]), [2, 2])
    >>> round(scores.score(0b01), 4), round(scores.score(0b11), 4)
    (-3.7534, -5.5044)
    >>> round(scores.log_bayes_factor([0, 0], 0, 1), 4)
    2.0025
    """

    def __init__(
        self,
        codes: ArrayLike,
        levels: Sequence[int] | NDArray[np.integer] | None = None,
        *,
        precision: float = 1.0,
        counts: ArrayLike | None = None,
        most_kept: int = _MOST_KEPT,
    ) -> None:
        from gamekeeper.algorithms.models.kernels import Margins

        table = np.asarray(codes)
        weights = None if counts is None else np.asarray(counts)
        _check_table(table, weights, precision)
        n_rows, m = table.shape
        columns, observed = _ranked(table)
        if levels is None:
            declared = [max(n, 1) for n in observed]
        else:
            declared = _checked_levels(levels, observed)
        weighted = np.ones(n_rows, np.int64) if weights is None else weights.astype(np.int64)
        radix = np.array([max(n, 1) for n in observed], np.uint64)
        (classes,) = class_numbers(columns.T)
        n_distinct = int(classes.max(initial=-1)) + 1
        first = np.zeros(n_distinct, np.int64)
        first[classes] = np.arange(n_rows)
        totals = np.zeros(n_distinct, np.int64)
        np.add.at(totals, classes, weighted)
        first, totals = first[totals > 0], totals[totals > 0]
        kept = 1 << max(4, min(m + 2, int(most_kept).bit_length() - 1))
        self.n_records = int(totals.sum())
        self.n_rows = len(first)
        self.n_variables = m
        self.levels = tuple(declared)
        self.precision = float(precision)
        self._margins = Margins(
            np.ascontiguousarray(columns[:, first]),
            totals,
            radix,
            np.array([math.log(n) for n in declared]),
            np.array([self.precision]),
            0,
            np.zeros((1, kept, 2), np.uint64),
        )

    @classmethod
    def at_precisions(
        cls,
        codes: ArrayLike,
        levels: Sequence[int] | NDArray[np.integer] | None,
        precisions: Sequence[float],
        *,
        counts: ArrayLike | None = None,
    ) -> list[MarginScores]:
        """Return scores of the same records for several precisions, which share their counts.

        Examples
        --------
        >>> table = np.array([[0, 0], [0, 0], [1, 1], [1, 1]])
        >>> sparse, rich = MarginScores.at_precisions(table, [2, 2], [1.0, 10.0])
        >>> round(sparse.score(0b01), 4), rich.precision
        (-3.7534, 10.0)
        """
        for precision in precisions:
            _check_table(np.asarray(codes), None, precision)
        one = cls(codes, levels, precision=precisions[0], counts=counts)
        kept = np.zeros((len(precisions), *one.margins.kept.shape[1:]), np.uint64)
        one._margins = one.margins._replace(kept=kept)
        return one.with_precisions(precisions)

    def with_precisions(self, precisions: Sequence[float]) -> list[MarginScores]:
        """Return these scores for several precisions; what is counted for one is there for all."""
        made: list[MarginScores] = []
        for place, precision in enumerate(precisions):
            each = copy.copy(self)
            each.precision = float(precision)
            each._margins = self._margins._replace(
                precisions=np.array(precisions, dtype=np.float64), chosen=place
            )
            made.append(each)
        return made

    @property
    def margins(self) -> Margins:
        """What the compiled searches need; scores kept by one are there for all."""
        return self._margins

    def score(self, mask: int) -> float:
        """Return the log marginal likelihood of the records over a set of variables.

        The set is given by its bits: bit v stands for variable v. That of the empty set is 0.
        """
        return float(self.scores([mask])[0])

    def scores(self, masks: Sequence[int] | NDArray[np.uint64]) -> NDArray[np.float64]:
        """Return the log marginal likelihood over each set of variables."""
        sets = [int(mask) for mask in masks]
        wrong = sum(not 0 <= mask < 1 << self.n_variables for mask in sets)
        if wrong:
            raise InputError(
                Reason.BAD_OPTION,
                f"Scores of {count_of(len(sets), 'margin')} were asked for.",
                f"{wrong:,} of them name variables that are not among"
                f" the {count_of(self.n_variables, 'variable')}.",
                "Give sets as sums of 2**v, for variables v from 0 up.",
            )
        return self._scored(np.array(sets, np.uint64))

    def of_graphs(
        self, graphs: NDArray[np.uint64], room: CountingRoom | None = None
    ) -> NDArray[np.float64]:
        """Return the log marginal likelihoods of models, one in each row of sets of neighbours.

        That of a model that is not decomposable, and of those after it, is NaN. A thread that asks
        again and again brings room to count in.
        """
        from gamekeeper.algorithms.models.walk_kernels import list_margins

        n, m = graphs.shape
        masks = np.zeros((n, 2 * m), np.uint64)
        n_right = int(list_margins(graphs, np.zeros(m, np.int64), masks))
        found = np.full(n, np.nan)
        each = self._scored(masks[:n_right].ravel(), room).reshape(n_right, m, 2)
        # One after the other, so that the sum does not depend on how many there are.
        found[:n_right] = np.cumsum(each[:, :, 0] - each[:, :, 1], axis=1)[:, -1]
        return found

    def edge_factors(self, graph: NDArray[np.uint64]) -> NDArray[np.float64]:
        """Return the log Bayes factor of toggling each edge v < w; NaN where it is not legal."""
        m = self.n_variables
        edges, factors = self.changes(graph, double=False)
        found = np.full((m, m), np.nan)
        found[edges[:, 0], edges[:, 1]] = factors
        return found

    def changes(
        self, graph: NDArray[np.uint64], *, double: bool
    ) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
        """Return the legal changes of one edge, or of two at a vertex, and log Bayes factors.

        A row of edges is v, w and -1, or v, w, u for the edges (v, w) and then (v, u).
        """
        from gamekeeper.algorithms.models.walk_kernels import list_changes

        m = self.n_variables
        n_most = m * (m - 1) // 2 + double * m * (m - 1) * (m - 2)
        edges, signs = np.empty((n_most, 3), np.int64), np.empty((n_most, 2))
        # A row more, as the margins of an edge are written before its change is known to count.
        masks = np.zeros((n_most + 1, 8), np.uint64)
        n = int(list_changes(graph, double, edges, signs, masks))
        n_edges = 2 if double else 1
        each = self._scored(masks[:n, : 4 * n_edges].ravel()).reshape(n, n_edges, 4)
        gains = each[:, :, 0] + each[:, :, 1] - each[:, :, 2] - each[:, :, 3]
        return edges[:n], (signs[:n, :n_edges] * gains).sum(axis=1)

    def log_marginal_likelihood(self, adjacency: Sequence[int] | NDArray[np.uint64]) -> float:
        """Return the log marginal likelihood of a decomposable model, given by sets of neighbours."""
        total = float(self.of_graphs(self.checked_graph(adjacency)[None])[0])
        if math.isnan(total):
            raise InputError(
                Reason.BAD_OPTION,
                "The marginal likelihood of a model was asked for.",
                "Its graph has a cycle of four or more variables without a chord.",
                "Add edges until the graph is decomposable.",
            )
        return total

    def log_bayes_factor(
        self, adjacency: Sequence[int] | NDArray[np.uint64], v: int, w: int
    ) -> float:
        """Return the log Bayes factor of the model with edge (v, w) toggled against the model.

        The edge is added if it is absent and deleted if it is there; four scores are enough.
        """
        graph = self.checked_graph(adjacency)
        asked = f"A Bayes factor for the edge between variables {v} and {w} was asked for."
        if not (0 <= v < len(graph) and 0 <= w < len(graph)) or v == w:
            raise InputError(
                Reason.BAD_OPTION,
                asked,
                "These are not two of the variables.",
                f"Name two different variables from 0 to {len(graph) - 1}.",
            )
        found = float(self.edge_factors(graph)[min(v, w), max(v, w)])
        if math.isnan(found):
            verb = "deleted" if int(graph[v]) >> w & 1 else "added"
            raise InputError(
                Reason.BAD_OPTION,
                asked,
                f"The graph is not decomposable when the edge is {verb}.",
                "Choose a legal edge, or compare two whole models by log_marginal_likelihood.",
            )
        return found

    def checked_graph(self, adjacency: Sequence[int] | NDArray[np.uint64]) -> NDArray[np.uint64]:
        """Return a graph as an array of its own, after checking that it is one."""
        m = self.n_variables
        rows = [int(row) for row in adjacency]
        fits = len(rows) == m and all(0 <= row < 1 << m for row in rows)
        if not fits or not all(
            not rows[v] >> v & 1 and all((rows[v] >> w & 1) == (rows[w] >> v & 1) for w in range(v))
            for v in range(m)
        ):
            raise InputError(
                Reason.BAD_OPTION,
                f"A model of {count_of(m, 'variable')} was asked for.",
                f"The {count_of(len(rows), 'set')} of neighbours are not a graph of them.",
                "Give per variable the set of its neighbours as bits; if w is a neighbour of v,"
                " v is one of w, and no variable is its own.",
            )
        return np.array(rows, np.uint64)

    def _scored(
        self, masks: NDArray[np.uint64], room: CountingRoom | None = None
    ) -> NDArray[np.float64]:
        from gamekeeper.algorithms.models.kernels import counting_room, fill_scores

        room = counting_room(self._margins) if room is None else room
        found = np.empty(len(masks))
        fill_scores(masks, len(masks), self._margins, room, found)
        return found

    def __repr__(self) -> str:
        return (
            f"MarginScores({count_of(self.n_records, 'record')},"
            f" {count_of(self.n_variables, 'variable')}, precision={self.precision:g})"
        )


def declared_levels(codes: ArrayLike, n_codes: Sequence[int]) -> tuple[int, ...]:
    """Return the number of categories per variable, of codes where 0 is a missing cell.

    All codes of the code list count, observed or not; missing counts where it occurs. A variable
    has at least one category.

    Examples
    --------
    >>> declared_levels(np.array([[1, 0], [3, 2]]), [5, 3])
    (4, 3)
    """
    table = np.asarray(codes)
    has_missing = (table == 0).any(axis=0)
    return tuple(
        max(n - 1 + int(missing), 1) for n, missing in zip(n_codes, has_missing, strict=True)
    )


def _check_table(
    table: NDArray[np.integer], counts: NDArray[np.integer] | None, precision: float
) -> None:
    problems: list[Problem] = []
    if table.ndim != 2 or not 1 <= table.shape[1] <= MOST_VARIABLES:
        found = f"an array of shape {table.shape}."
        do = f"Give a row per record and 1 to {MOST_VARIABLES} columns."
        problems.append(Problem(Reason.BAD_OPTION, "codes", found, do))
    if not np.issubdtype(table.dtype, np.integer) or (table.size > 0 and int(table.min()) < 0):
        found = f"numbers of type {table.dtype}, or some below 0."
        problems.append(Problem(Reason.BAD_OPTION, "codes", found, "Give integers from 0 up."))
    if not (math.isfinite(precision) and precision > 0):
        found, do = "not a number above 0.", "The usual one is 1."
        problems.append(Problem(Reason.BAD_OPTION, "precision", found, do))
    if counts is not None and (
        counts.shape != table.shape[:1]
        or not np.issubdtype(counts.dtype, np.integer)
        or (counts.size > 0 and int(counts.min()) < 0)
    ):
        found = f"an array of shape {counts.shape} and type {counts.dtype}."
        do = "Give one integer from 0 up per row."
        problems.append(Problem(Reason.BAD_OPTION, "counts", found, do))
    if problems:
        raise InputError(
            Reason.BAD_OPTION,
            "Scores of margins were asked for.",
            f"{count_of(len(problems), 'argument')} cannot be used.",
            problems=problems,
        )


def _ranked(table: NDArray[np.integer]) -> tuple[NDArray[np.unsignedinteger], list[int]]:
    """Return columns with codes replaced by their ranks, and how many there are of each."""
    observed: list[int] = []
    ranks: list[NDArray[np.integer]] = []
    for column in table.T:
        top = int(column.max(initial=0))
        if top < 4 * max(len(column), 1024):
            seen = np.zeros(top + 1, np.int64)
            seen[column] = 1
            ranks.append((np.cumsum(seen) - 1)[column])
            observed.append(int(seen.sum()) if len(column) else 0)
        else:
            values, places = np.unique(column, return_inverse=True)
            ranks.append(places)
            observed.append(len(values))
    kind = np.uint16 if max(observed) <= 1 << 16 else np.uint32
    columns = np.empty((len(ranks), len(table)), kind)
    for place, column in enumerate(ranks):
        columns[place] = column
    return columns, observed


def _checked_levels(
    levels: Sequence[int] | NDArray[np.integer], observed: Sequence[int]
) -> list[int]:
    declared = [int(n) for n in levels]
    problems = [
        Problem(
            Reason.BAD_OPTION,
            f"variable {v}",
            f"{count_of(n, 'category', 'categories')} declared, {seen} observed.",
            "Declare every category that occurs, missing included, and at least one.",
        )
        for v, (n, seen) in enumerate(zip(declared, observed, strict=False))
        if n < max(seen, 1)
    ]
    if len(declared) != len(observed):
        found = f"{count_of(len(declared), 'number')} for {count_of(len(observed), 'variable')}."
        problems.append(Problem(Reason.BAD_OPTION, "levels", found, "Give one per variable."))
    if problems:
        raise InputError(
            Reason.BAD_OPTION,
            "Scores of margins with declared categories were asked for.",
            "The declared numbers do not fit the records.",
            problems=problems,
        )
    return declared


Sizes = tuple[NDArray[np.int64], NDArray[np.int64]]
"""The numbers of records that cells of a margin have, rising, and how many cells have each."""

Supplier = Callable[[Sequence[int]], Sequence[Sizes]]
"""Tells the sizes of cells for sets of variables, given by their bits."""


class SuppliedScores(MarginScores):
    """Log marginal likelihoods from supplied sizes of cells, for so many distinct rows.

    Examples
    --------
    >>> table = np.array([[0, 0], [0, 0], [1, 1], [1, 1]])
    >>> def count(masks):
    ...     return [(np.array([2]), np.array([2])) for _ in masks]
    >>> supplied = SuppliedScores(count, 2, [2, 2])
    >>> supplied.score(0b11) == MarginScores(table, [2, 2]).score(0b11)
    True
    """

    def __init__(
        self, supplier: Supplier, n_rows: int, levels: Sequence[int], *, precision: float = 1.0
    ) -> None:
        # The one row of each variable says what there is besides counts: its categories.
        super().__init__(np.zeros((1, len(levels)), np.int64), levels, precision=precision)
        self.n_rows = n_rows
        self._supplier = supplier
        self._known: dict[int, NDArray[np.float64]] = {}

    @classmethod
    def at_each_precision(
        cls, supplier: Supplier, n_rows: int, levels: Sequence[int], precisions: Sequence[float]
    ) -> list[MarginScores]:
        """Return scores for several precisions; what is counted for one is counted for all."""
        return cls(supplier, n_rows, levels, precision=precisions[0]).with_precisions(precisions)

    def _scored(self, masks: NDArray[np.uint64], room: Any = None) -> NDArray[np.float64]:
        from gamekeeper.algorithms.models.kernels import scores_of_sizes

        del room
        wanted = [int(mask) for mask in masks]
        new = [mask for mask in dict.fromkeys(wanted) if mask and mask not in self._known]
        for mask, (sizes, cells) in zip(new, self._supplier(new) if new else (), strict=True):
            self._known[mask] = scores_of_sizes(mask, sizes, cells, self._margins)
        chosen = self._margins.chosen
        return np.array([self._known[mask][chosen] if mask else 0.0 for mask in wanted])

    def __repr__(self) -> str:
        return f"SuppliedScores({self.n_variables} variables, precision={self.precision:g})"


def supplied_levels(lowest: Sequence[int], n_codes: Sequence[int]) -> tuple[int, ...]:
    """Return the number of categories per variable, given its lowest code, 0 being a missing cell.

    Examples
    --------
    >>> supplied_levels([1, 0], [5, 3])
    (4, 3)
    """
    return tuple(max(n - int(low > 0), 1) for low, n in zip(lowest, n_codes, strict=True))
