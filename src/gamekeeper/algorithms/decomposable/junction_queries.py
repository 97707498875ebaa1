"""Questions to a decomposable model: how likely are some values of a target given others.

An intruder who knows some variables of a person asks the model for the rest. The joint distribution
is the product over cliques of p(clique)/p(separator); the junction tree is collected towards its
root, each clique handing its parent a table over their separator and the asked variables below it,
so no table of all variables is ever made. Tables hold the cells that have a probability: with maximum
likelihood those that occur in the sample, with a prior precision all cells of a clique. Several
models are averaged by their weights, jointly with what is known, so that a model under which the
known values are unlikely counts for less. Lauritzen and Spiegelhalter 1988; Smith's thesis, ch. 6.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from gamekeeper.algorithms.class_numbers import class_numbers
from gamekeeper.algorithms.decomposable.adjacency_masks import AdjacencyLike, members
from gamekeeper.algorithms.decomposable.junction_tree import ClassTable, JunctionTree, junction_tree
from gamekeeper.errors import InputError, LimitError, Problem, Reason
from gamekeeper.wording import count_of

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]


@dataclass(frozen=True, slots=True, repr=False)
class Distribution:
    """The distribution of some variables given what is known.

    Attributes
    ----------
    variables
        The asked variables, ascending.
    codes
        Their codes, a row for each combination with a probability above 0.
    probabilities
        Of the combinations, summing to 1; empty where the known values are impossible.
    known_probability
        The probability of what is known.
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
    models: Sequence[AdjacencyLike | JunctionTree],
    targets: Sequence[int],
    known: Mapping[int, int | Collection[int]],
    *,
    weights: ArrayLike | None = None,
    precision: float = 0.0,
    most_cells: int = 5_000_000,
) -> Distribution:
    """Return the distribution of target variables given known values of others.

    Parameters
    ----------
    table
        The classes of the sample, from which margins are counted.
    models
        Decomposable graphs as adjacency masks, or junction trees.
    targets
        The variables that are asked for; none gives the probability of what is known.
    known
        Per known variable its code, or the codes it may have.
    weights
        Of the models; equal if not given.
    precision
        0 for maximum likelihood, else the total precision of the hyper-Dirichlet prior.
    most_cells
        The limit on the cells of one table.

    Examples
    --------
    >>> table = ClassTable([[0, 0], [0, 1], [1, 1]], [3, 1, 4])
    >>> found = infer_values(table, [[0b10, 0b01]], [1], {0: 0})
    >>> found.codes.ravel(), found.probabilities, found.known_probability
    (array([0, 1]), array([0.75, 0.25]), 0.5)
    """
    asked = tuple(sorted(set(targets)))
    allowed = _checked(table, asked, known, len(models), weights)
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
        kept = {*members(tree.separators[at]), *asked}
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
    variables = tuple(members(clique))
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
    return math.prod(float(table.levels[v]) for v in members(mask))


def _joined(first: _Factor, second: _Factor, most_cells: int) -> _Factor:
    """Return the product of two tables, over all their variables."""
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
    """Return the table summed over all variables but some."""
    columns = factor.codes[:, [factor.variables.index(v) for v in kept]]
    (numbers,) = class_numbers(columns)
    _, first = np.unique(numbers, return_index=True)
    values = np.bincount(numbers, factor.values, len(first)).astype(np.float64)
    return _Factor(kept, columns[first], values)


def _require(n_cells: int, most_cells: int) -> None:
    if n_cells > most_cells:
        raise LimitError(
            Reason.TOO_LARGE,
            "Values were to be inferred from a model.",
            f"A table would have {n_cells:,} cells; the limit is {most_cells:,}.",
            "Ask for fewer variables at once (--ask), take precision 0 (--ask-precision), or raise"
            " most_cells (--most-cells).",
        )


def _checked(
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
