"""Junction trees of decomposable models: cell probabilities of classes, and values given others.

The maximal cliques of a decomposable graph can be ordered so that what a clique shares with all
earlier ones, its separator, lies within one of them, its parent (running intersection). Under the
model a cell has the probability

    p = product of clique margins / product of separator margins                     (equation 15)

Margins are counted in the sample (maximum likelihood, as in the thesis). The class's own records
are part of these counts: a sample unique whose variables lie in one clique gets 1/n whatever the
truth. So a class may count with all its records, or always with one. The latter depends on the
other classes only, like leaving them out, but keeps the probabilities of the thesis for sample
uniques. Margins are counted once for all models that share them: one sort of the distinct rows
each.

An intruder who knows some variables of a person asks the model for the rest. The junction tree is
collected towards its root, each clique handing its parent a table over their separator and the
asked variables below it, so no table of all variables is ever made. Tables hold the cells that have
a probability: with maximum likelihood those that occur in the sample, with a prior precision all
cells of a clique. Several models are averaged by their weights, jointly with what is known, so that
a model under which the known values are unlikely counts for less.

Lauritzen and Spiegelhalter 1988; Smith's thesis, chapters 6 and 7.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from gamekeeper.algorithms.classes import class_numbers, dense_numbers, equal_rows
from gamekeeper.algorithms.decomposable import graphs
from gamekeeper.errors import InputError, LimitError, Problem, Reason
from gamekeeper.wording import count_of

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]

MOST_VARIABLES = 64
_MOST_NUMBERS = 2**62


@dataclass(frozen=True, slots=True)
class JunctionTree:
    """The cliques of a decomposable graph in an order with running intersection, as masks.

    A separator is what a clique shares with its parent, 0 for the first of each component; a parent
    is a position among cliques, -1 for these.
    """

    graph: graphs.Adjacency
    cliques: tuple[int, ...]
    separators: tuple[int, ...]
    parents: tuple[int, ...]


def junction_tree(adjacency: graphs.AdjacencyLike) -> JunctionTree:
    """Return the junction tree (or forest) of a decomposable graph.

    Examples
    --------
    >>> tree = junction_tree([0b010, 0b101, 0b010])
    >>> tree.cliques, tree.separators, tree.parents
    ((3, 6), (0, 2), (-1, 0))
    """
    graph, ordering = graphs.require_decomposable(adjacency, "A junction tree was asked for.")
    # In reverse of a perfect elimination, cliques come by their first variable to be eliminated.
    place = {v: len(ordering) - at for at, v in enumerate(ordering)}
    by_place = sorted(
        graphs.maximal_cliques(graph), key=lambda c: max(place[v] for v in graphs.members(c))
    )
    separators: list[int] = []
    parents: list[int] = []
    seen = 0
    for clique in by_place:
        shared = clique & seen
        holders = (at for at, c in enumerate(by_place[: len(parents)]) if not shared & ~c)
        separators.append(shared)
        parents.append(next(holders) if shared else -1)
        seen |= clique
    return JunctionTree(graph, tuple(by_place), tuple(separators), tuple(parents))


class ClassTable:
    """The classes of a sample: distinct rows of codes with their numbers of records.

    Codes are from 0 up, of 1 to 64 variables. `levels` are the declared numbers of categories;
    those observed if not given.

    Examples
    --------
    >>> table = ClassTable([[0, 0], [0, 1], [1, 1]], [3, 1, 2])
    >>> table.margin(0b01)
    array([4., 4., 2.])
    """

    def __init__(
        self, rows: ArrayLike, counts: ArrayLike, levels: Sequence[int] | None = None
    ) -> None:
        table, sizes = np.asarray(rows), np.asarray(counts)
        declared = _checked_levels(table, sizes, levels)
        # Unsigned codes of 64 bits and signed numbers would meet as floats.
        self.rows: NDArray[np.integer[Any]] = (
            table.astype(np.int64) if table.dtype == np.uint64 else table
        )
        self.counts: Integers = sizes.astype(np.int64)
        self.levels: tuple[int, ...] = declared
        self.records: Integers = self.counts
        self._homes: Integers | None = None
        self.n_records = int(self.counts.sum())
        self._margins: dict[int, NDArray[np.integer[Any]]] = {}

    @classmethod
    def of_households(
        cls,
        rows: ArrayLike,
        classes: Integers,
        households: Integers,
        levels: Sequence[int] | None = None,
    ) -> ClassTable:
        """Return the classes of a sample of whole households, in which households are counted.

        Members of a household come into the sample together: that two of them are alike, in all or
        in some variables, says nothing of people outside. So `counts` and margins are numbers of
        households that have somebody with these codes, and `records` those of people. Of each
        record there are the row of its class and the number of its household.

        Examples
        --------
        Two sisters and a stranger; their brother.

        >>> rows, of, homes = [[0, 5], [1, 5]], np.array([0, 0, 0, 1]), np.array([4, 4, 7, 4])
        >>> made = ClassTable.of_households(rows, of, homes)
        >>> made.counts.tolist(), made.records.tolist(), made.margin(0b10).tolist()
        ([2, 1], [3, 1], [2.0, 2.0])
        """
        pairs = np.unique(np.stack([classes, households], axis=1), axis=0)
        made = cls(rows, np.bincount(pairs[:, 0]), levels)
        made.records = np.bincount(classes).astype(np.int64)
        made.n_records = len(np.unique(households))
        made._homes = pairs
        return made

    def totals(self, numbers: NDArray[np.integer[Any]], n: int = 0) -> Floats:
        """Return how many records, or households, there are of each number that classes have.

        Numbers are from 0 up, and `n` how many there are at least.
        """
        if self._homes is None:
            return np.bincount(numbers, weights=self.counts, minlength=n).astype(np.float64)
        of, home = numbers[self._homes[:, 0]], self._homes[:, 1]
        order = np.lexsort((home, of))
        of, home = of[order], home[order]
        new = np.ones(len(of), dtype=bool)
        new[1:] = (of[1:] != of[:-1]) | (home[1:] != home[:-1])
        return np.bincount(of[new], minlength=n).astype(np.float64)

    @property
    def n_variables(self) -> int:
        """The number of variables."""
        return self.rows.shape[1]

    def __len__(self) -> int:
        return len(self.rows)

    def __repr__(self) -> str:
        return (
            f"ClassTable({count_of(len(self), 'class', 'classes')},"
            f" {count_of(self.n_records, 'record')}, {count_of(self.n_variables, 'variable')})"
        )

    def margin(self, mask: int) -> Floats:
        """Return per class the number of records with the same codes on a set of variables."""
        if mask not in self._margins:
            numbers = self.numbers(mask)
            totals = self.totals(numbers)
            # Kept for all models, so as narrow as the number of records allows.
            narrow = np.min_scalar_type(self.n_records)
            self._margins[mask] = totals.astype(narrow)[numbers]
        return self._margins[mask].astype(np.float64)

    def margin_of(self, mask: int, rows: NDArray[np.integer[Any]]) -> Floats:
        """Return the number of records with the codes of any rows on a set of variables."""
        numbers, n_numbers = _numbered(np.concatenate([self.rows, rows]), mask, self.levels)
        totals = self.totals(numbers[: len(self)], n_numbers)
        return totals[numbers[len(self) :]].astype(np.float64)

    def numbers(self, mask: int) -> Integers:
        """Return numbers from 0 up that are equal for classes with the same codes on a set."""
        return _numbered(self.rows, mask, self.levels)[0]


def log_cell_probabilities(
    table: ClassTable, models: Sequence[graphs.AdjacencyLike | JunctionTree]
) -> Floats:
    """Return the logarithm of the cell probability of each class, a row for each model.

    Models are decomposable graphs as adjacency masks, or junction trees; a class counts with all its
    records.

    Examples
    --------
    Two variables that are independent in the model: 3/4 times 1/4.

    >>> table = ClassTable([[0, 0], [0, 1], [1, 1]], [2, 1, 1])
    >>> np.exp(log_cell_probabilities(table, [[0b00, 0b00]]))
    array([[0.375, 0.375, 0.125]])
    """
    logs: dict[int, Floats] = {}
    found = np.zeros((len(models), len(table)))
    for model, line in zip(models, found, strict=True):
        tree = _as_tree(model, table)
        for clique, separator in zip(tree.cliques, tree.separators, strict=True):
            for mask in {clique, separator} - logs.keys():
                logs[mask] = np.log(table.margin(mask))
            line += logs[clique] - logs[separator]
    return found


def mean_log_probabilities(
    table: ClassTable,
    models: Sequence[graphs.AdjacencyLike | JunctionTree],
    shares: Sequence[float],
) -> Floats:
    """Return the mean over models of the log cell probability, each class counted as one record.

    As `log_cell_probabilities` but for that, weighted, and without a row for each model: a margin
    enters with its mean power.

    Examples
    --------
    >>> table = ClassTable([[0, 0], [0, 1], [1, 1]], [1, 1, 1])
    >>> np.exp(mean_log_probabilities(table, [[0b00, 0b00]], [1.0])).round(3)
    array([0.222, 0.444, 0.222])
    """
    powers: defaultdict[int, float] = defaultdict(float)
    for model, share in zip(models, shares, strict=True):
        tree = _as_tree(model, table)
        for clique, separator in zip(tree.cliques, tree.separators, strict=True):
            powers[clique] += share
            powers[separator] -= share
    total = np.zeros(len(table))
    for mask, power in powers.items():
        total += power * np.log(table.margin(mask) - (table.counts - 1))
    return total


def _as_tree(model: graphs.AdjacencyLike | JunctionTree, table: ClassTable) -> JunctionTree:
    tree = model if isinstance(model, JunctionTree) else junction_tree(model)
    if len(tree.graph) != table.n_variables:
        raise InputError(
            Reason.BAD_OPTION,
            f"Cell probabilities of {count_of(table.n_variables, 'variable')} were asked for.",
            f"The model has {count_of(len(tree.graph), 'variable')}.",
            "Give models of the same variables.",
        )
    return tree


def _numbered(
    rows: NDArray[np.integer[Any]], mask: int, levels: Sequence[int]
) -> tuple[Integers, int]:
    """Return a number for the codes of each row on a set of variables, and how many there are."""
    numbers, span = np.zeros(len(rows), dtype=np.int64), 1
    for v in graphs.members(mask):
        if span * levels[v] > _MOST_NUMBERS:
            numbers = dense_numbers(numbers)
            span = int(numbers.max(initial=-1)) + 1
        numbers, span = numbers * levels[v] + rows[:, v], span * levels[v]
    # Sorting is dearer than a sparse count, unless the count would be mostly empty.
    if span > 4 * len(rows) + 1024:
        numbers = dense_numbers(numbers)
        span = int(numbers.max(initial=-1)) + 1
    return numbers.astype(np.int64, copy=False), span


def _checked_levels(
    rows: NDArray[Any], counts: NDArray[Any], levels: Sequence[int] | None
) -> tuple[int, ...]:
    problems: list[Problem] = []

    def note(where: str, found: str, do: str) -> None:
        problems.append(Problem(Reason.BAD_OPTION, where, found, do))

    is_table = rows.ndim == 2 and np.issubdtype(rows.dtype, np.integer)
    if not is_table or not 1 <= rows.shape[1] <= MOST_VARIABLES or bool(np.any(rows < 0)):
        note("rows", "They are no table of codes from 0 up.", "Give 1 to 64 columns of integers.")
    elif levels is not None:
        observed = [int(column.max(initial=0)) + 1 for column in rows.T]
        if len(levels) != len(observed):
            found = f"There are {len(levels)} for {count_of(len(observed), 'variable')}."
            note("levels", found, "Give one number for each.")
        for v, (declared, seen) in enumerate(zip(levels, observed, strict=False)):
            if declared < seen:
                found = f"{declared} declared, codes need {seen}."
                note(f"levels of variable {v}", found, "Declare at least as many.")
    if counts.ndim != 1 or len(counts) != len(rows) or not np.issubdtype(counts.dtype, np.integer):
        note("counts", "There is not one whole number for each class.", "Give one for each row.")
    elif not len(counts) or bool(np.any(counts < 1)):
        found = "There are none." if not len(counts) else "Some are below 1."
        note("counts", found, "Give the classes of a sample with at least one record.")
    if problems:
        raise InputError(
            Reason.BAD_OPTION,
            "The classes of a sample were given.",
            "They cannot be used.",
            problems=problems,
        )
    if levels is not None:
        return tuple(max(int(level), 1) for level in levels)
    return tuple(int(column.max(initial=0)) + 1 for column in rows.T)


@dataclass(frozen=True, slots=True, repr=False)
class Distribution:
    """The distribution of some variables, ascending, given what is known.

    It has a row of codes for each combination with a probability above 0. Probabilities sum to 1,
    and are none where the known values are impossible; `known_probability` is that of what is
    known.
    """

    variables: tuple[int, ...]
    codes: Integers
    probabilities: Floats
    known_probability: float

    def __repr__(self) -> str:
        return (
            f"Distribution({count_of(len(self.variables), 'variable')},"
            f" {count_of(len(self.probabilities), 'combination')})"
        )


@dataclass(frozen=True, slots=True)
class _Factor:
    variables: tuple[int, ...]
    codes: Integers
    values: Floats


def infer_values(
    table: ClassTable,
    models: Sequence[graphs.AdjacencyLike | JunctionTree],
    targets: Sequence[int],
    known: Mapping[int, int | Collection[int]],
    *,
    weights: ArrayLike | None = None,
    precision: float = 0.0,
    most_cells: int = 5_000_000,
) -> Distribution:
    """Return the distribution of target variables given known values of others.

    - `models`: decomposable graphs as adjacency masks, or junction trees; equal weights if none are
      given.
    - `targets`: the variables that are asked for; none gives the probability of what is known.
    - `known`: per known variable its code, or the codes it may have.
    - `precision`: 0 for maximum likelihood, else the total precision of the hyper-Dirichlet prior.
    - `most_cells`: the limit on the cells of one table.

    Examples
    --------
    >>> table = ClassTable([[0, 0], [0, 1], [1, 1]], [3, 1, 4])
    >>> found = infer_values(table, [[0b10, 0b01]], [1], {0: 0})
    >>> found.codes.ravel(), found.probabilities, found.known_probability
    (array([0, 1]), array([0.75, 0.25]), 0.5)
    """
    asked = tuple(sorted(set(targets)))
    allowed = _allowed_values(table, asked, known, len(models), weights)
    shares = np.ones(len(models)) if weights is None else np.asarray(weights, dtype=np.float64)
    parts: list[_Factor] = []
    for model, share in zip(models, shares / shares.sum(), strict=True):
        tree = model if isinstance(model, JunctionTree) else junction_tree(model)
        part = _collected(table, tree, asked, allowed, precision, most_cells)
        parts.append(_Factor(asked, part.codes, part.values * share))
    codes = np.concatenate([part.codes for part in parts])
    values = np.concatenate([part.values for part in parts])
    total = _summed(_Factor(asked, codes, values), asked)
    known_probability = float(total.values.sum())
    kept = total.values > 0
    order = np.lexsort(total.codes[kept].T[::-1]) if asked else slice(None)
    shown = total.values[kept][order]
    return Distribution(
        asked,
        total.codes[kept][order],
        shown / known_probability if len(shown) else shown,
        known_probability,
    )


def _collected(
    table: ClassTable,
    tree: JunctionTree,
    asked: tuple[int, ...],
    allowed: Mapping[int, Integers],
    precision: float,
    most_cells: int,
) -> _Factor:
    """Return the joint table of the asked variables and the known values under one model."""
    waiting: dict[int, list[_Factor]] = {at: [] for at in range(-1, len(tree.cliques))}
    for at in range(len(tree.cliques) - 1, -1, -1):
        factor = _conditional(
            table, tree.cliques[at], tree.separators[at], allowed, precision, most_cells
        )
        for message in waiting[at]:
            factor = _joined(factor, message, most_cells)
        kept = {*graphs.members(tree.separators[at]), *asked}
        factor = _summed(factor, tuple(v for v in factor.variables if v in kept))
        waiting[tree.parents[at]].append(factor)
    result = _Factor((), np.zeros((1, 0), dtype=np.int64), np.ones(1))
    for factor in waiting[-1]:
        result = _joined(result, factor, most_cells)
    order = [result.variables.index(v) for v in asked]
    return _Factor(asked, result.codes[:, order], result.values)


def _conditional(
    table: ClassTable,
    clique: int,
    separator: int,
    allowed: Mapping[int, Integers],
    precision: float,
    most_cells: int,
) -> _Factor:
    """Return p(clique)/p(separator) over the cells that agree with what is known."""
    variables = tuple(graphs.members(clique))
    if precision:
        spans = [allowed.get(v, np.arange(table.levels[v])) for v in variables]
        _require(math.prod(len(span) for span in spans), most_cells)
        grid = np.meshgrid(*spans, indexing="ij")
        codes = np.stack([axis.ravel() for axis in grid], axis=1)
    else:
        agrees = np.ones(len(table), dtype=bool)
        for v in variables:
            if v in allowed:
                agrees &= np.isin(table.rows[:, v], allowed[v])
        numbers = table.numbers(clique)[agrees]
        _, first = np.unique(numbers, return_index=True)
        codes = table.rows[agrees][first][:, list(variables)].astype(np.int64)
    rows = np.zeros((len(codes), table.n_variables), dtype=np.int64)
    rows[:, list(variables)] = codes
    above = table.margin_of(clique, rows) + precision / _cells(table, clique)
    below = table.margin_of(separator, rows) + precision / _cells(table, separator)
    return _Factor(variables, codes, above / below)


def _cells(table: ClassTable, mask: int) -> float:
    return math.prod(float(table.levels[v]) for v in graphs.members(mask))


def _joined(first: _Factor, second: _Factor, most_cells: int) -> _Factor:
    shared = [v for v in first.variables if v in second.variables]
    added = [v for v in second.variables if v not in first.variables]
    ours, theirs = _shared_numbers(first, second, shared)
    order = np.argsort(theirs, kind="stable")
    start = np.searchsorted(theirs[order], ours, side="left")
    n_matches = np.searchsorted(theirs[order], ours, side="right") - start
    n_cells = int(n_matches.sum())
    _require(n_cells, most_cells)
    left = np.repeat(np.arange(len(ours)), n_matches)
    within = np.arange(n_cells) - np.repeat(np.cumsum(n_matches) - n_matches, n_matches)
    right = order[np.repeat(start, n_matches) + within]
    columns = [second.variables.index(v) for v in added]
    codes = np.concatenate([first.codes[left], second.codes[right][:, columns]], axis=1)
    values = first.values[left] * second.values[right]
    return _Factor((*first.variables, *added), codes, values)


def _shared_numbers(
    first: _Factor, second: _Factor, shared: Sequence[int]
) -> tuple[Integers, Integers]:
    both = np.concatenate(
        [factor.codes[:, [factor.variables.index(v) for v in shared]] for factor in (first, second)]
    )
    (numbers,) = class_numbers(both)
    return numbers[: len(first.codes)], numbers[len(first.codes) :]


def _summed(factor: _Factor, kept: tuple[int, ...]) -> _Factor:
    columns = factor.codes[:, [factor.variables.index(v) for v in kept]]
    found = equal_rows(columns)
    values = np.bincount(found.numbers, factor.values, len(found.firsts)).astype(np.float64)
    return _Factor(kept, columns[found.firsts], values)


def _require(n_cells: int, most_cells: int) -> None:
    if n_cells > most_cells:
        raise LimitError(
            Reason.TOO_LARGE,
            "Values were to be inferred from a model.",
            f"A table would have {n_cells:,} cells; the limit is {most_cells:,}.",
            "Ask for fewer variables at once (--ask), take precision 0 (--ask-precision), or raise"
            " most_cells (--most-cells).",
        )


def _allowed_values(
    table: ClassTable,
    asked: tuple[int, ...],
    known: Mapping[int, int | Collection[int]],
    n_models: int,
    weights: ArrayLike | None,
) -> dict[int, Integers]:
    problems: list[Problem] = []
    variables = range(table.n_variables)
    wrong = [v for v in (*asked, *known) if v not in variables]
    if wrong:
        found = f"{count_of(len(wrong), 'variable')} not among 0 to {table.n_variables - 1}."
        problems.append(Problem(Reason.UNKNOWN_NAME, "variables", found))
    both = sorted(set(asked) & set(known))
    if both:
        found = f"Known as well as asked for: {', '.join(map(str, both))}."
        problems.append(Problem(Reason.BAD_OPTION, "variables", found))
    allowed: dict[int, Integers] = {}
    for v, codes in known.items():
        chosen: Any = [codes] if isinstance(codes, int | np.integer) else list(codes)
        allowed[v] = np.unique(np.asarray(chosen, dtype=np.int64))
        level = table.levels[v] if v in variables else 0
        if v in variables and (not chosen or allowed[v][0] < 0 or allowed[v][-1] >= level):
            found = f"No codes are given, or some are not among 0 to {level - 1}."
            problems.append(Problem(Reason.BAD_OPTION, f"known variable {v}", found))
    given = None if weights is None else np.asarray(weights, dtype=np.float64)
    if given is not None and not (
        given.shape == (n_models,) and np.all(given >= 0) and 0 < given.sum() < math.inf
    ):
        problems.append(
            Problem(Reason.BAD_OPTION, "weights", "Not one, 0 or more, for each model.")
        )
    if not n_models:
        problems.append(Problem(Reason.NOTHING_GIVEN, "models", "There are none."))
    if problems:
        raise InputError(
            Reason.BAD_OPTION,
            "Values were to be inferred from models.",
            "The question cannot be answered as it is put.",
            problems=problems,
        )
    return allowed
