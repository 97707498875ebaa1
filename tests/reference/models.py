"""Checks of the worked examples of decomposable graphs and dynamic junction trees.

Kinds of other parts of the models are checked in modules of their own and join `MODELS` below.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import combinations
from typing import Any, TypeAlias

from gamekeeper.algorithms.decomposable.dynamic_junction_tree import DynamicJunctionTree, Rotation
from gamekeeper.algorithms.decomposable.graphs import (
    Adjacency,
    adjacency_of,
    decomposable_graphs,
    edges_of,
    fill_in,
    is_decomposable,
    maximal_cliques,
    members,
    moral_graph,
    separators,
)
from tests.reference.cases import Case, Check, ShapeError
from tests.reference.models_match import match_probability
from tests.reference.models_scores import extras, models

__all__ = ["MODELS"]

Name: TypeAlias = str | int
Pairs: TypeAlias = list[tuple[Name, ...]]

# A case without a graph of its own is about this network.
ASIA = ("AT", "SL", "SB", "TE", "LE", "EX", "ED", "BD")


class Names:
    """The names of the variables of a case, in order, for what the library calls by number."""

    def __init__(self, names: Iterable[Name]) -> None:
        self.names = sorted(set(names), key=_in_order)
        # The keys of a JSON object are texts, even where names are numbers.
        self._numbers = {str(name): number for number, name in enumerate(self.names)}

    def __len__(self) -> int:
        return len(self.names)

    def number(self, name: Name) -> int:
        if str(name) not in self._numbers:
            raise ShapeError(f"there is no variable '{name}'")
        return self._numbers[str(name)]

    def numbers(self, names: Iterable[Name]) -> list[int]:
        return [self.number(name) for name in names]

    def of(self, numbers: Iterable[int]) -> tuple[Name, ...]:
        return tuple(sorted((self.names[number] for number in numbers), key=_in_order))

    def of_mask(self, mask: int) -> tuple[Name, ...]:
        return self.of(members(mask))

    def of_edges(self, edges: Iterable[Sequence[int]]) -> Pairs:
        return _sets(self.of(edge) for edge in edges)

    def tree(self, tree: DynamicJunctionTree) -> dict[str, Any]:
        return {
            str(name): {
                "clique": list(self.of_mask(clique)),
                "parent": None if parent is None else self.names[parent],
            }
            for name, clique, parent in zip(self.names, tree.cliques, tree.parents, strict=True)
        }


def graphs(case: Case) -> None:
    if "n" in case.given:
        found = [sum(1 for _ in decomposable_graphs(n)) for n in case.needs("n")]
        case.compare("count", found)
        return
    names = Names(case.needs("nodes"))
    graph = adjacency_of(len(names), [names.numbers(edge) for edge in case.needs("edges")])
    decomposable = is_decomposable(graph)
    case.compare("decomposable", decomposable)
    if not decomposable:
        return
    cliques = [names.of_mask(clique) for clique in maximal_cliques(graph)]
    case.compare("maximal_cliques", _sets(cliques), canonical=_sets)
    wanted = case.expected.get("separators") or []
    between = [names.of_mask(separator) for separator in separators(graph)]
    if [] not in wanted:
        between = [separator for separator in between if separator]
    case.compare("separators", _sets(between), canonical=_sets)
    tree = DynamicJunctionTree.of_graph(graph)
    pairs = list(combinations(range(len(names)), 2))
    added = [pair for pair in pairs if tree.can_add(*pair)]
    deleted = [pair for pair in pairs if tree.can_delete(*pair)]
    case.compare("legal_additions", names.of_edges(added), canonical=_sets)
    case.compare("legal_deletions", names.of_edges(deleted), canonical=_sets)


def junction_trees(case: Case) -> None:
    names, graph = _graph(case)
    if "orderings" in case.given:
        orderings = [names.numbers(ordering) for ordering in case.needs("orderings")]
        found = [names.of_edges(fill_in(graph, ordering)) for ordering in orderings]
        case.compare("fill_in", found, canonical=lambda lists: [_sets(pairs) for pairs in lists])
        return
    ordering = names.numbers(case.needs("ordering"))
    case.compare("fill_in", names.of_edges(fill_in(graph, ordering)), canonical=_sets)
    tree = DynamicJunctionTree.of_ordering(graph, ordering)
    if "rotate" in case.given:
        _check_rotation(case, names, tree.rotate(names.number(case.needs("rotate"))))
    elif "add" in case.given or "delete" in case.given:
        if "add" in case.given:
            tree.add_edge(*names.numbers(case.needs("add")))
        else:
            tree.delete_edge(*names.numbers(case.needs("delete")))
        _check_moved(case, names, tree)
        return
    case.compare("djt", names.tree(tree), canonical=_tree)
    case.compare("graph_edges", names.of_edges(edges_of(tree.graph())), canonical=_sets)
    if case.defines("rotations"):
        _check_rotations(case, names, tree)


def _graph(case: Case) -> tuple[Names, Adjacency]:
    if "edges" in case.given:
        edges = case.needs("edges")
        # Variables without edges may be named in the list of nodes or in the ordering alone.
        orderings = [case.given.get("ordering", ()), *case.given.get("orderings", ())]
        names = Names(
            [*case.given.get("nodes", ()), *(name for part in orderings for name in part)]
        )
        return names, adjacency_of(len(names), [names.numbers(edge) for edge in edges])
    arrows = case.given.get("directed_edges", ASIA)
    names = Names([*case.given.get("nodes", ()), *(name for arrow in arrows for name in arrow)])
    numbered = [names.numbers(arrow) for arrow in arrows]
    moral = moral_graph(len(names), numbered)
    added = set(edges_of(moral)) - set(edges_of(adjacency_of(len(names), numbered)))
    case.compare("moral_edges_added", names.of_edges(added), canonical=_sets)
    return names, moral


def _check_moved(case: Case, names: Names, tree: DynamicJunctionTree) -> None:
    """Compare the graph; a tree may be any that is valid and stands for the graph."""
    case.describes("note")
    case.compare("graph_edges", names.of_edges(edges_of(tree.graph())), canonical=_sets)
    if not case.defines("djt"):
        return
    found, wanted = names.tree(tree), _tree(case.expected["djt"])
    if found != wanted and set(found) == set(wanted):
        parts = [wanted[str(name)] for name in names.names]
        other = DynamicJunctionTree(
            [sum(1 << names.number(name) for name in part["clique"]) for part in parts],
            [None if p["parent"] is None else names.number(p["parent"]) for p in parts],
        )
        if other.graph() == tree.graph():
            found = wanted
    case.check("djt", "", wanted, found)


def _check_rotations(case: Case, names: Names, tree: DynamicJunctionTree) -> None:
    wanted = case.expected["rotations"]
    possible = [names.names[v] for v, parent in enumerate(tree.parents) if parent is not None]
    given = sorted((rotation["rotate"] for rotation in wanted), key=_in_order)
    case.check("rotations", "that are possible", given, possible)
    for expected in wanted:
        turned = tree.copy()
        v = names.number(expected["rotate"])
        found = _rotation(names, turned.rotate(v)) | {"djt": names.tree(turned)}
        for field, value in expected.items():
            right = _tree(value) if field == "djt" else _canonical(value)
            at = f"of {expected['rotate']}: {field}"
            case.check("rotations", at, right, found.get(field))


def _check_rotation(case: Case, names: Names, rotation: Rotation) -> None:
    for field, value in _rotation(names, rotation).items():
        # An empty list is a result.
        if field in case.expected:
            case.check(field, "", _canonical(case.expected[field]), value)


def _rotation(names: Names, rotation: Rotation) -> dict[str, Any]:
    return {
        "rotate": names.names[rotation.label],
        "with_parent": names.names[rotation.parent],
        "U_v": list(names.of_mask(rotation.beside_label)),
        "U_w": list(names.of_mask(rotation.beside_parent)),
        "U_vw": list(names.of_mask(rotation.beside_both)),
        "edges_added": names.of_edges(rotation.edges_added),
        "edges_removed": names.of_edges(rotation.edges_removed),
    }


def _canonical(value: Any) -> Any:
    if not isinstance(value, list):
        return value
    if value and isinstance(value[0], list):
        return _sets(value)
    return sorted(value, key=_in_order)


def _tree(labels: Mapping[str, Any]) -> dict[str, Any]:
    return {
        str(label): {"clique": sorted(part["clique"], key=_in_order), "parent": part["parent"]}
        for label, part in labels.items()
    }


def _sets(sets: Iterable[Iterable[Name]]) -> Pairs:
    each = [tuple(sorted(one, key=_in_order)) for one in sets]
    return sorted(each, key=lambda one: [_in_order(name) for name in one])


def _in_order(name: Name) -> tuple[bool, Name]:
    return isinstance(name, str), name


MODELS: Mapping[str, Check] = {
    "graphs": graphs,
    "djt": junction_trees,
    "extras": extras,
    "match_probability": match_probability,
    "models": models,
}
