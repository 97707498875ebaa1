"""Worked examples of clusterings, and of matching classes of files without common variables."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from gamekeeper.algorithms.structure.clusterings import agglomerate, conjunction
from gamekeeper.algorithms.structure.group_matching import match_groups
from tests.reference.cases import Case
from tests.twins.linking import best_rows

__all__ = ["LINKAGE_STRUCTURE", "clustering", "reidentification"]

_CRITERIA = {"upgma": "average", "centroid": "centroid"}
_FOUR = ("upgma,manhattan", "centroid,manhattan", "upgma,taxonomic", "centroid,taxonomic")


def clustering(case: Case) -> None:
    values = case.needs("X")
    for name, expected in case.expected.get("clusters", {}).items():
        case.check("clusters", name, expected, _blocks(_labels(values, name)))
    columns = [_labels(values, f"{name},k=3") for name in _FOUR]
    classes = conjunction(np.stack(columns, axis=1)).classes
    case.compare("intersection_of_4_partitions_k3", _blocks(classes))
    if case.defines("upgma_taxonomic_merge_heights"):
        found = agglomerate(values, dissimilarity="taxonomic").heights.tolist()
        expected = case.expected["upgma_taxonomic_merge_heights"]
        # The last digits depend on the order of additions.
        agrees = len(found) == len(expected) and all(
            math.isclose(*pair, rel_tol=1e-12) for pair in zip(found, expected, strict=True)
        )
        case.check("upgma_taxonomic_merge_heights", "", expected, expected if agrees else found)


def reidentification(case: Case) -> None:
    if "rowsA_24" in case.given:
        _paper(case)
        return
    a, b = case.needs("rowsA"), case.needs("rowsB")
    case.compare("max_S_bijective", _most(a, b))
    case.compare("max_S_maps", _most(a, b, injective=False, allow_degenerate=True))
    identity = [
        {int(label): int(label) for label in set(column)} for column in zip(*a, strict=True)
    ]
    similarity, rows = best_rows(a, b, identity)
    case.compare("S_identity_f_best_m", similarity)
    case.compare("best_m_for_identity_f_0based_all_optima", rows)


def _paper(case: Case) -> None:
    b = case.needs("rowsB")
    printed = _mappings(case.needs("f_table5"))
    with_free = _mappings(case.needs("f_table5_with_f5prime"))
    free_fifth = [True, True, True, True, False, True]
    for n_rows in (24, 26):
        a = case.needs(f"rowsA_{n_rows}")
        case.compare(f"S_{n_rows}_f_best_m", best_rows(a, b, printed)[0])
        case.compare(f"S_{n_rows}_fprime_best_m", best_rows(a, b, with_free)[0])
        searches: dict[str, dict[str, Any]] = {
            "bijective": {},
            "f5_free_others_bijective": {"injective": free_fifth},
            "maps": {"injective": False, "allow_degenerate": True},
        }
        for which, options in searches.items():
            name = f"max_S_{n_rows}_{which}"
            # Each takes a second or so.
            if case.defines(name):
                case.compare(name, _most(a, b, **options))
    a = case.needs("rowsA_24")
    case.compare("S_24_f_printed_m1", _similarity(a, b, printed, case.needs("m1_24")))
    case.compare("S_24_fprime_printed_m2", _similarity(a, b, with_free, case.needs("m2_24")))


def _most(a: list[list[int]], b: list[list[int]], **options: Any) -> int:
    """Return the greatest similarity; -1 if it is not proven, which is never expected."""
    found = match_groups(a, b, exact=True, **options)
    return found.similarity if found.is_optimal else -1


def _similarity(
    a: list[list[int]], b: list[list[int]], mappings: list[dict[int, int]], groups: list[int]
) -> int:
    """Return the similarity at given rows of B, each alone to choose from."""
    return sum(
        best_rows([row], [b[group - 1]], mappings)[0] for row, group in zip(a, groups, strict=True)
    )


def _mappings(written: list[dict[str, int]]) -> list[dict[int, int]]:
    return [{int(label): value for label, value in mapping.items()} for mapping in written]


def _labels(values: list[list[float]], name: str) -> np.ndarray[Any, Any]:
    criterion, dissimilarity, number = name.split(",")
    dendrogram = agglomerate(values, criterion=_CRITERIA[criterion], dissimilarity=dissimilarity)
    return dendrogram.cut(int(number.removeprefix("k=")))


def _blocks(labels: np.ndarray[Any, Any]) -> list[list[int]]:
    return [np.flatnonzero(labels == label).tolist() for label in range(int(labels.max()) + 1)]


LINKAGE_STRUCTURE = {"clustering": clustering, "reidentification": reidentification}
"""The kinds checked here; they join the runner's."""
