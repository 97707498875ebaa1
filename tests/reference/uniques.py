"""Checks of the worked examples of minimal sample uniques and their scores."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gamekeeper.algorithms.uniques.dis import dis
from gamekeeper.algorithms.uniques.minimal_uniques import MinimalUniques
from gamekeeper.algorithms.uniques.scores import (
    ScoreKind,
    percentages,
    proportions_of_lattice,
    size_weights,
    weigh,
)
from tests.reference.cases import Case, ShapeError
from tests.reference.counting import class_structure, minimal_uniques
from tests.reference.data_files import rows_of_case
from tests.reference.numbers import check_each, check_number

__all__ = ["coded", "uniques", "uniques_large", "uniques_missing"]


def uniques(case: Case) -> None:
    rows = case.needs("rows")
    policy: str = case.given.get("missing", "")
    codes, values = coded(rows, missing=bool(policy))
    cap = case.given.get("max_size")
    found = minimal_uniques(codes, missing=policy or "category", max_size=cap)
    sizes = class_structure(rows, codes if not policy else coded(rows)[0])
    case.compare("partition_structure", {str(size): n for size, n in sizes.items()})
    case.compare("sample_uniques", found.records.tolist(), canonical=sorted)
    case.compare("msus", _listed(found), canonical=_in_order)
    case.compare("msu_count_by_size", _by_size(found.by_size), canonical=_without_zeros)
    power = case.given.get("power_of_ten", 6)
    scores = {
        name: weigh(found.counts, size_weights(len(values), kind, power=power, max_size=cap))
        for name, kind in (
            ("suda_score", ScoreKind.SUDA),
            ("is", ScoreKind.IS),
            ("suda2_tool_score", ScoreKind.TOOL_IS),
        )
    }
    for name, of_uniques in scores.items():
        case.compare(name, _per_record(found, of_uniques.tolist()))
    shares = proportions_of_lattice(scores["is"], len(values), exact=True)
    check_each(case, "pol", _per_record(found, shares.tolist()))
    weights = size_weights(len(values), max_size=found.max_size)
    total = int(weigh(found.by_size, weights))
    case.compare("file_level", total)
    levels: list[int] = weigh(found.by_variable, weights).tolist()
    case.compare("variable_level", levels)
    check_each(case, "variable_percent", percentages(levels, total) or [None] * len(levels))
    by_category = [
        dict(zip(words, weigh(counts, weights).tolist()[1:], strict=True))
        for words, counts in zip(values, found.by_category, strict=True)
    ]
    case.compare("category_level", by_category)


def uniques_missing(case: Case) -> None:
    codes, _ = coded(case.needs("rows"), missing=True)
    for policy in ("category", "ignore", "wildcard"):
        found = minimal_uniques(codes, missing=policy)
        case.compare(policy, _listed(found), canonical=_in_order)


def uniques_large(case: Case) -> None:
    columns: list[str] = case.needs("columns")
    rows = rows_of_case(case, columns)
    codes, _ = coded(rows)
    found = minimal_uniques(codes, listing=False)
    sizes = class_structure(rows, codes)
    case.compare("n1", sizes[1])
    case.compare("n2", sizes[2])
    case.compare("distinct", sum(sizes.values()))
    case.compare("sample_uniques", found.n_uniques)
    case.compare("msu_count_by_size", _by_size(found.by_size), canonical=_without_zeros)
    weights = size_weights(len(columns))
    scores = weigh(found.counts, weights)
    case.compare("file_level_is", int(scores.sum()))
    levels: list[int] = weigh(found.by_variable, weights).tolist()
    case.compare("variable_level_is", dict(zip(columns, levels, strict=True)))
    ranked = np.lexsort((found.records, -scores))
    for name in case.expected:
        if top := re.fullmatch(r"top(\d+)_records_by_is", name):
            places = ranked[: int(top[1])].tolist()
            case.compare(name, [_top(found, scores, place) for place in places])
        elif asked := re.fullmatch(r"dis_pi_(.+)", name):
            value = dis(sizes[1], 2 * sizes[2], asked[1])
            check_number(case, name, case.expected[name], value)


def _top(found: MinimalUniques, scores: NDArray[Any], place: int) -> dict[str, Any]:
    return {
        "record": int(found.records[place]),
        "is": int(scores[place]),
        "msu_count_by_size": _by_size(found.counts[place]),
    }


def coded(
    rows: Sequence[Sequence[Any]], *, missing: bool = False
) -> tuple[NDArray[np.uint32], list[list[str]]]:
    """Return codes 1, 2, ... in the order of values as text, and those texts per variable."""
    if not rows or any(len(row) != len(rows[0]) for row in rows):
        raise ShapeError("the rows are not all of the same length")
    values = [
        sorted({str(cell) for cell in column if cell is not None or not missing})
        for column in zip(*rows, strict=True)
    ]
    numbers = [{text: code for code, text in enumerate(texts, start=1)} for texts in values]
    codes = [
        [numbered.get(str(cell), 0) for cell, numbered in zip(row, numbers, strict=True)]
        for row in rows
    ]
    return np.array(codes, dtype=np.uint32).reshape(len(rows), -1), values


def _listed(found: MinimalUniques) -> list[list[list[int]]]:
    return _in_order([found.of_record(record) for record in range(found.n_records)])


def _in_order(lists: Any) -> list[list[list[int]]]:
    return [sorted([sorted(msu) for msu in msus]) for msus in lists]


def _by_size(counts: NDArray[Any]) -> dict[str, int]:
    return {str(size): n for size, n in enumerate(counts.tolist()) if n}


def _without_zeros(counts: dict[str, Any]) -> dict[str, Any]:
    return {size: n for size, n in counts.items() if n != 0}


def _per_record(found: MinimalUniques, values: Sequence[Any]) -> list[Any]:
    """Return values of sample uniques for every record, None for the others."""
    by_record = dict(zip(found.records.tolist(), values, strict=True))
    return [by_record.get(record) for record in range(found.n_records)]
