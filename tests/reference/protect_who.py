"""Checks of the worked examples of who can be whom and of suppression."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gamekeeper.algorithms.suppression.both import suppress_both, suppress_released_to_people
from gamekeeper.algorithms.suppression.compatibility import count_candidates, find_matchings
from gamekeeper.algorithms.suppression.hitting_sets import rare_sets, suppress_own
from gamekeeper.algorithms.suppression.problem import SuppressionProblem
from tests.reference.cases import Case, Check
from tests.reference.data_files import rows_of_case
from tests.reference.numbers import check_each, check_number
from tests.reference.uniques import coded
from tests.twins.who_is_who import infrequent, optima

__all__ = ["PROTECT_WHO", "suppression_on_real_data", "wildcard_on_real_data"]

_FILES: Mapping[str, tuple[str, list[str]]] = {
    "testdata8": (
        "sdcmicro/testdata.csv",
        ["urbrur", "roof", "walls", "water", "electcon", "relat", "sex", "age"],
    ),
    "adult9": (
        "adult/adult_arx.csv",
        [
            "sex", "age", "race", "marital-status", "education", "native-country", "workclass",
            "occupation", "salary-class",
        ],
    ),
}  # fmt: skip
_MOST_CELLS = 15


def who_is_who(case: Case) -> None:
    codes, sets = _masked(case)
    found = find_matchings(codes, sets)
    case.compare("perfect_matchings", found.number)
    check_each(case, "probability_own_record", list(found.right))
    if case.defines("expected_correct"):
        check_number(case, "expected_correct", case.expected["expected_correct"], found.expected)
    fits = count_candidates(codes, codes, sets).people_to_released
    check_each(case, "one_over_candidates", [Fraction(1, n) for n in fits.tolist()])
    case.compare("matchable_candidates", found.candidates.tolist())


def suppression_counts(case: Case) -> None:
    codes, sets = _masked(case)
    found = count_candidates(codes, codes, sets, wildcard=True)
    assert found.wildcard is not None
    counts = {
        "own": found.own,
        "released_to_people": found.released_to_people,
        "people_to_released": found.people_to_released,
        "wildcard": found.wildcard,
    }
    for name, numbers in counts.items():
        case.compare(name, numbers.tolist())
    holds = {name: int(numbers.min()) for name, numbers in counts.items()}
    case.compare("holds_for_k", {**holds, "both": found.both})


def suppression(case: Case) -> None:
    codes, _ = coded(case.needs("rows"))
    k, weights = case.needs("k"), case.needs("weights")
    problem = SuppressionProblem(codes, k, weights)
    families = rare_sets(problem, [range(codes.shape[1])], codes.shape[1])
    sets = [
        sorted(_columns(each) for each in families.of_record(record))
        for record in range(len(codes))
    ]
    case.compare(
        "minimal_infrequent_sets", sets, canonical=lambda given: [sorted(s) for s in given]
    )
    assert sets == [infrequent(codes.tolist(), record, k) for record in range(len(codes))]
    found = suppress_released_to_people(problem)
    if case.defines("released_to_people_per_record"):
        _check_records(case, found.suppressed.tolist(), sets, weights)
    case.compare("released_to_people_total", int(found.cost))
    _check_optima(case, problem, codes, k, weights)


def _check_records(
    case: Case, suppressed: list[int], sets: list[list[list[int]]], weights: list[int]
) -> None:
    name = "released_to_people_per_record"
    expected: list[Any] = case.expected[name]
    case.check(name, "in number", len(expected), len(suppressed))
    for record, wanted in enumerate(expected):
        chosen = _columns(suppressed[record])
        case.check(name, f"of {record}", wanted["cost"], sum(weights[c] for c in chosen))
        cheapest = _cheapest(sets[record], weights)
        case.check(name, f"sets of {record}", wanted["column_sets"], cheapest)
        case.check(name, f"choice of {record}", True, chosen in cheapest)


def _check_optima(
    case: Case, problem: SuppressionProblem, codes: NDArray[Any], k: int, weights: list[int]
) -> None:
    """Compare optima with those of trying everything, and hold the methods against these."""
    wanted: dict[str, Any] = case.expected.get("optimum", {})
    if not wanted or codes.size > _MOST_CELLS:
        case.describes("optimum")
        return
    best = optima(codes.tolist(), k, weights)
    patterns = _number_of_optima(codes.tolist(), k, weights, best)
    for name, outcome in wanted.items():
        case.check("optimum", f"{name} cost", outcome["cost"], best[name])
        case.check(
            "optimum", f"{name} patterns", outcome["number_of_optimal_patterns"], patterns[name]
        )
    for name, way in (("both", suppress_both), ("own", suppress_own)):
        found = way(problem)
        is_between = found.lower_bound <= wanted[name]["cost"] <= found.cost
        case.check("optimum", f"{name} within bounds", True, is_between)


def _number_of_optima(
    rows: list[list[int]], k: int, costs: list[int], best: Mapping[str, int]
) -> dict[str, int]:
    from tests.twins.who_is_who import holds, patterns

    found = dict.fromkeys(best, 0)
    for stars in patterns(len(rows), range(len(rows[0]))):
        cost = sum(costs[c] for own in stars for c in own)
        if cost in best.values():
            for name, is_met in holds(rows, stars, k).items():
                found[name] += is_met and cost == best[name]
    return found


def _cheapest(sets: list[list[int]], weights: list[int]) -> list[list[int]]:
    """Return all cheapest sets of columns that meet every one of some sets."""
    every = [_columns(number) for number in range(1 << len(weights))]
    hitting = [chosen for chosen in every if all(set(chosen) & set(each) for each in sets)]
    least = min(sum(weights[c] for c in chosen) for chosen in hitting)
    return sorted(chosen for chosen in hitting if sum(weights[c] for c in chosen) == least)


def suppression_on_real_data(case: Case) -> None:
    """Check cells and records of the cheapest (k,1) suppression of a file that is not ours."""
    codes = _real(case)
    found = [suppress_released_to_people(SuppressionProblem(codes, k)) for k in case.needs("k")]
    case.compare("cells", [each.n_cells for each in found])
    case.compare("records", [each.n_records for each in found])


def wildcard_on_real_data(case: Case) -> None:
    """Check that one record suppressed wholly satisfies the wildcard rule and nothing else."""
    codes = _real(case)
    sets = np.zeros(len(codes), dtype=np.uint64)
    sets[0] = (1 << codes.shape[1]) - 1
    found = count_candidates(codes, codes, sets, wildcard=True)
    assert found.wildcard is not None
    case.compare("records_below_2_by_wildcard", int((found.wildcard < 2).sum()))
    before = count_candidates(codes, codes, sets * 0)
    below = int((before.released_to_people < 2).sum())
    # The record that is suppressed wholly fits everybody.
    own = int((found.released_to_people < 2).sum())
    case.check("records_below_2_by_released_to_people", "", below, own + int(before.own[0] < 2))
    case.compare("records_below_2_by_released_to_people", own)


def _real(case: Case) -> NDArray[np.uint32]:
    file, columns = ("", []) if "rows" in case.given else _FILES[case.needs("file")]
    codes, _ = coded(rows_of_case(case, columns, file=file))
    return codes


def _masked(case: Case) -> tuple[NDArray[np.uint32], NDArray[np.uint64]]:
    codes, _ = coded(case.needs("rows"))
    masked = case.needs("masked")
    sets = [sum(1 << c for c, cell in enumerate(row) if cell is None) for row in masked]
    return codes, np.array(sets, dtype=np.uint64)


def _columns(number: int) -> list[int]:
    return [c for c in range(64) if number >> c & 1]


PROTECT_WHO: Mapping[str, Check] = {
    "protect_who_is_who": who_is_who,
    "protect_suppression": suppression,
    "protect_suppression_counts": suppression_counts,
}
