"""Checks of the worked examples of decomposable releases and their bounds."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from gamekeeper.algorithms.bounds.frechet import closed_bounds
from gamekeeper.algorithms.releases.constraints import CountConstraints
from gamekeeper.algorithms.releases.structure import release_structure, structure_of_axes
from tests.reference.cases import Case, ShapeError

__all__ = ["tables_decomposable"]


def tables_decomposable(case: Case) -> None:
    if "margins" in case.given:
        margins = case.needs("margins")
        names = sorted({name for margin in margins for name in margin})
        axes = [_numbers(names, margin) for margin in margins]
        structure = structure_of_axes(len(names), axes)
        case.compare("decomposable", structure.decomposable)
        if structure.decomposable:
            case.compare("separators", _named(names, structure.separators), canonical=_in_order)
        return
    variables = case.needs("variables")
    names = [variable["name"] for variable in variables]
    published = case.needs("release")
    if any(table["scheme"]["type"] != "exact" for table in published):
        raise ShapeError("a margin is not exact")
    constraints = CountConstraints.of(
        [variable["levels"] for variable in variables],
        [(_numbers(names, table["margin"]), table["published"]) for table in published],
    )
    structure = release_structure(constraints)
    case.compare("decomposable", structure.decomposable)
    if not structure.decomposable:
        return
    case.compare("separators", _named(names, structure.separators), canonical=_in_order)
    lower, upper = closed_bounds(constraints)
    case.compare("lower", lower.tolist())
    case.compare("upper", upper.tolist())


def _numbers(names: Sequence[str], margin: Iterable[str]) -> list[int]:
    missing = [name for name in margin if name not in names]
    if missing:
        raise ShapeError(f"there is no variable '{missing[0]}'")
    return [names.index(name) for name in margin]


def _named(names: Sequence[str], sets: Iterable[Iterable[int]]) -> list[list[str]]:
    return _in_order([names[axis] for axis in axes] for axes in sets)


def _in_order(sets: Iterable[Iterable[str]]) -> list[list[str]]:
    return sorted(sorted(one) for one in sets)
