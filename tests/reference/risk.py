"""Checks of the worked examples of DIS, its calibrations, urns and matching strategies."""

from __future__ import annotations

import re
from collections.abc import Mapping
from fractions import Fraction
from typing import Any

import numpy as np

from gamekeeper.algorithms.uniques.dis import dis, special_dis
from gamekeeper.algorithms.uniques.scores import DIS_IS_MOST_VARIABLES, dis_is, dis_suda
from gamekeeper.algorithms.uniques.strategies import (
    StrategyValue,
    custom_strategies,
    evaluate_strategies,
    expected_draws,
    first_match_probabilities,
    matching_probabilities,
    numbered_strategies,
)
from tests.reference.cases import Case, Check
from tests.reference.counting import class_structure
from tests.reference.numbers import check_each, check_number
from tests.reference.uniques import coded, uniques, uniques_large, uniques_missing
from tests.twins.round_chances import match_chances

__all__ = ["RISK"]


def data_intrusion(case: Case) -> None:
    fraction = case.needs("pi")
    if "rows" not in case.given:
        found = {"dis": dis(case.needs("n1"), 2 * case.needs("n2"), fraction)}
    else:
        rows = case.needs("rows")
        sizes = class_structure(rows, coded(rows)[0])
        removed = case.given.get("b", 1)
        means = special_dis(sizes, fraction, removed)
        chances = match_chances(sizes, fraction, removed)
        found = {
            "E_correct_unique": means.correct,
            "E_unique": means.unique,
            "ratio": means.ratio,
            "p_any_unique": chances.any_unique,
            "mean_ratio_given_any": chances.mean_ratio,
            "dis_general": dis(sizes[1], 2 * sizes[2], fraction),
        }
    # Here null is a result: 0/0.
    for name in found.keys() & case.expected.keys():
        check_number(case, name, case.expected[name], found[name])


def dis_is_values(case: Case) -> None:
    n_variables = case.needs("K")
    power = None if n_variables <= DIS_IS_MOST_VARIABLES else Fraction(28 - n_variables, 20)
    found = dis_is(case.needs("is"), case.needs("dis"), n_variables, power=power)
    check_each(case, "dis_is", found.tolist())


def dis_suda_values(case: Case) -> None:
    found = dis_suda(case.needs("scores"), case.needs("dis"))
    check_each(case, "dis_suda", found.values.tolist())
    if case.defines("unallocated"):
        check_number(case, "unallocated", case.expected["unallocated"], found.unallocated)


def urn(case: Case) -> None:
    n_units, n_matches = case.needs("N"), case.needs("M")
    for name in case.expected:
        match = re.fullmatch(r"(pmf|mean)_(with|without)(?:_t1_to_(\d+))?", name)
        if match is None:
            continue
        what, how, last = match.groups()
        replacement = how == "with"
        if what == "mean":
            found = expected_draws(n_units, n_matches, replacement=replacement)
            check_number(case, name, case.expected[name], found)
        else:
            n_draws = int(last) if last else None
            check_each(
                case,
                name,
                first_match_probabilities(n_units, n_matches, n_draws, replacement=replacement),
            )


def matching(case: Case) -> None:
    population, sample = case.needs("F"), case.needs("f")
    wanted: dict[str, Any] = case.expected.get("strategies", {})
    counts = sorted({int(name.partition("r=")[2]) for name in wanted if "r=" in name})
    values = evaluate_strategies(population, sample, numbered_strategies(counts), exact=True)
    by_name = {value.name: value for value in values}
    for name, fields in wanted.items():
        _check_strategy(case, "strategies", name, fields, by_name[name])
    if case.defines("general_strategy"):
        chosen = np.isin(np.arange(len(population)), case.needs("selected_cells"))
        both = custom_strategies({"selected": lambda *_: chosen})
        for value in evaluate_strategies(population, sample, both, exact=True):
            fields = case.expected["general_strategy"].get(value.direction.value, {})
            _check_strategy(case, "general_strategy", value.direction.value, fields, value)
    probabilities = matching_probabilities(population, sample, exact=True)
    for name in ("pr_pu", "pr_pu_given_su", "pr_cm_given_um", "pr_cm_given_su"):
        if case.defines(name):
            check_number(case, name, case.expected[name], getattr(probabilities, name))


def _check_strategy(
    case: Case, field: str, name: str, wanted: Mapping[str, Any], value: StrategyValue
) -> None:
    for part, expected in wanted.items():
        at = f"{name}: {part}"
        if part in {"feasible", "direction"}:
            found = value.feasible if part == "feasible" else value.direction.value
            case.check(field, at, expected, found)
        else:
            check_number(case, field, expected, getattr(value, part), at)


RISK: Mapping[str, Check] = {
    "dis": data_intrusion,
    "dis_is": dis_is_values,
    "dis_suda": dis_suda_values,
    "matching": matching,
    "uniques": uniques,
    "uniques_large": uniques_large,
    "uniques_missing": uniques_missing,
    "urn": urn,
}
