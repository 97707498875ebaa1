"""Checks of the worked examples of SAP: single releases, numbers of recovered zeros, Table 1."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterator, Mapping
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gamekeeper.algorithms.releases.constraints import CountConstraints
from gamekeeper.algorithms.releases.schemes import Conventional, parse_scheme
from gamekeeper.algorithms.subtraction.probability import recovery_rule
from gamekeeper.algorithms.subtraction.recovered_zeros import recovered_zeros, small_area_risks
from gamekeeper.algorithms.subtraction.release import release_risk
from gamekeeper.algorithms.subtraction.zeros import BANDS, band_numbers, subtraction_experiment
from tests.reference.cases import Case, Check, ShapeError
from tests.reference.numbers import nearly

__all__ = ["TABLES_SAP"]

# The seed of the simulation that is given with Table 1.
_SEED = 2011
# Expectations are given with four decimals.
_ROUNDED = 6e-5


def subtraction(case: Case) -> None:
    """Check SAP of any release, for every number of known people."""
    names = [variable["name"] for variable in case.needs("variables")]
    shape = [variable["levels"] for variable in case.needs("variables")]
    margins: list[Any] = []
    for published in case.needs("release"):
        axes = tuple(names.index(name) for name in published["margin"])
        margins.append((axes, *_limits(published["scheme"], published["published"])))
    constraints = CountConstraints.of(shape, margins)
    found = release_risk(constraints, case.needs("true_table"))
    if found.fractions is None:
        raise ShapeError("the case is too large for exact fractions")
    case.describes("methods")
    case.compare("sap", [str(value) for value in found.fractions])
    if case.defines("sap_float"):
        floats = case.expected["sap_float"]
        case.check("sap_float", "in number", len(floats), len(found.values))
        for at, (wanted, value) in enumerate(zip(floats, found.values, strict=False)):
            case.check("sap_float", f"of {at}", wanted, nearly(wanted, float(value)))


def zero_counts(case: Case) -> None:
    """Check the distribution of the number of recovered zeros of a single table."""
    lower, upper = _limits(case.needs("scheme"), case.needs("published"))
    rule = recovery_rule(case.needs("true_table"), upper, lower=lower)
    for row in case.expected.get("rows") or []:
        found = recovered_zeros(rule, n=[row["n"]])
        if found.fractions is None or found.expected_fractions is None:
            raise ShapeError("the case is too large for exact fractions")
        masses = {str(k): str(p) for k, p in enumerate(found.fractions[0]) if p}
        case.check("rows", f"of {row['n']}: pmf", row["pmf"], masses)
        expected = str(found.expected_fractions[0])
        case.check("rows", f"of {row['n']}: expected", row["expected"], expected)
    if case.defines("rows"):
        ns = [row["n"] for row in case.expected["rows"]]
        case.check("rows", "in order", list(range(rule.population + 1)), ns)


def table_1(case: Case) -> None:
    """Check the expected numbers of tables per band, the simulation, and the printed numbers."""
    cells, mean, base = case.needs("cells"), case.needs("poisson_mean"), case.needs("base")
    n_tables, n = case.needs("n_tables"), tuple(case.needs("n"))
    exact = n_tables * expected_shares(cells, mean, base, n)
    for name in ("expected_counts", "paper_counts", "our_simulation"):
        if case.defines(name):
            case.check(name, "in number", len(case.expected[name]), len(n))
    for k, wanted in _entries(case, "expected_counts", len(n)):
        case.check("expected_counts", f"{k}", wanted, nearly(wanted, exact[k], absolute=_ROUNDED))
    simulated = subtraction_experiment(
        Conventional(base), n_tables=n_tables, shape=(cells,), mean=mean, n=n, seed=_SEED
    )
    for k, wanted in _entries(case, "our_simulation", len(n)):
        case.check("our_simulation", f"{k}", wanted, int(simulated.counts[k]))
    for k, wanted in _entries(case, "paper_counts", len(n)):
        error = math.sqrt(exact[k] * (1 - exact[k] / n_tables)) + 0.5
        case.check(
            "paper_counts", f"{k} within 5 errors", True, bool(abs(wanted - exact[k]) <= 5 * error)
        )
    if case.defines("paper_counts"):
        sums = [sum(row) for row in case.expected["paper_counts"]]
        case.check("paper_counts", "tables in all", [n_tables] * len(n), sums)


@lru_cache
def expected_shares(cells: int, mean: float, base: int, n: tuple[int, ...]) -> NDArray[np.float64]:
    """Return the exact expected share of tables in each band, from all tables that matter.

    Tables of conventionally rounded counts and total differ in SAP only by the sizes of their
    relevant cells and the rest; without a relevant cell by the people in cells above their lower
    limit and the rest; and without any such cell by all counts.
    """
    near = (base - 1) // 2
    chances = [math.exp(-mean)]
    while len(chances) < 30:
        chances.append(chances[-1] * mean / len(chances))
    states: dict[tuple[Any, ...], float] = {("known", ()): 1.0}
    for _ in range(cells):
        grown: defaultdict[tuple[Any, ...], float] = defaultdict(float)
        for state, share in states.items():
            for count, chance in enumerate(chances):
                if share * chance > 1e-13:
                    grown[_with_cell(state, count, base, near)] += share * chance
        states = grown
    shares = np.array(list(states.values()))
    tables = [np.array(list(_typical(state))) for state in states]
    lengths = np.array([len(table) for table in tables])
    bands = np.zeros((len(n), len(BANDS)))
    for length in np.unique(lengths):
        some = np.flatnonzero(lengths == length)
        counts, lower, upper = np.stack([tables[place] for place in some]).transpose(2, 0, 1)
        most = (counts.sum(axis=1) + near) // base * base + near
        risks = small_area_risks(counts, upper, lower=lower, total_upper=most, n=n)
        for row, numbers in zip(bands, band_numbers(risks).T, strict=True):
            row += np.bincount(numbers, weights=shares[some], minlength=len(BANDS))
    return bands


def _with_cell(state: tuple[Any, ...], count: int, base: int, near: int) -> tuple[Any, ...]:
    """Return the state of a table with one more cell."""
    kind = state[0]
    low = max(0, (count + near) // base * base - near)
    if count == (count + near) // base * base + near:
        if kind == "relevant":
            return ("relevant", tuple(sorted((*state[1], count))), state[2])
        rest = sum(state[1]) if kind == "known" else state[1] + state[2]
        return ("relevant", (count,), rest)
    if kind == "relevant":
        return ("relevant", state[1], state[2] + count)
    if kind == "unsure":
        at_limit = count == low
        return ("unsure", state[1] + (0 if at_limit else count), state[2] + at_limit * count)
    if count == low:
        return ("known", tuple(sorted((*state[1], count))))
    return ("unsure", count, sum(state[1]))


def _typical(state: tuple[Any, ...]) -> Iterator[tuple[int, int, int]]:
    """Yield the count and the limits of each cell of a table that stands for a state."""
    if state[0] == "known":
        yield from ((count, count, count + 1) for count in state[1])
    elif state[0] == "unsure":
        yield from ((state[1], 0, state[1] + 1), (state[2], state[2], state[2] + 1))
    else:
        yield from ((count, 0, count) for count in state[1])
        yield state[2], 0, state[2] + 1


def _entries(case: Case, name: str, n_rows: int) -> Iterator[tuple[tuple[int, int], Any]]:
    """Yield each expected value with its row and band."""
    for i, row in enumerate((case.expected.get(name) or [])[:n_rows]):
        if len(row) != len(BANDS):
            raise ShapeError(f"row {i} of '{name}' has {len(row)} bands, not {len(BANDS)}")
        for j, wanted in enumerate(row):
            yield (i, j), wanted


def _limits(scheme: Mapping[str, Any], published: Any) -> tuple[Any, Any]:
    if scheme["type"] == "interval":
        pairs = np.asarray(published)
        return pairs[..., 0], pairs[..., 1]
    return parse_scheme(scheme).limits(published)


TABLES_SAP: Mapping[str, Check] = {
    "tables_sap": subtraction,
    "tables_recovered_zero_counts": zero_counts,
    "tables_table1": table_1,
}
