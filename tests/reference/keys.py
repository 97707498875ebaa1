"""Checks of the worked examples of key variable mapping, one small function per kind."""

from __future__ import annotations

import math
from collections.abc import Mapping
from itertools import permutations

from gamekeeper import InputError, Variable, map_key_variables
from gamekeeper.algorithms.categories.partitions import SinkSets, bits, topological_order
from gamekeeper.errors import Reason
from gamekeeper.mapping import (
    BandGraph,
    BandStyle,
    PartitionGraph,
    Scale,
    categorize,
    find_violations,
    harmonize,
    is_null,
    parse_prevalence,
    threshold,
)
from tests.reference.cases import Case, Check, ShapeError
from tests.reference.categorizations import Ground, n_categories, sorted_blocks, written
from tests.reference.keys_analysis import (
    kvm_analysis,
    kvm_target_in_environment,
    kvm_universe,
)
from tests.reference.keys_figure_11 import age_figure_11

__all__ = ["KEYS"]


def add_node_intervals(case: Case) -> None:
    grown = BandGraph(case.needs("first"), BandStyle.HALF_OPEN)
    for category in case.needs("add"):
        grown.add(category)
    graph = grown.graph
    case.compare("sinks", sorted(graph.sinks), canonical=sorted)
    case.compare("n_sinks", len(graph.sinks))
    for name, sinks in case.expected.get("sink_sets", {}).items():
        case.check("sink_sets", f"of {name}", sorted(sinks), sorted(graph.sinks_of(name)))
    # Other layouts would be as good, but ours is the corrected algorithm itself.
    case.compare("reference_edges", sorted(map(list, graph.edges)), canonical=sorted)
    case.compare("n_nodes_reference", len(graph.categories))
    case.describes("remainder_not_interval", "sinks_if_not_split")


def categorization(case: Case) -> None:
    variable = Variable("X", _graph(case))
    found = categorize(variable, case.needs("selected"))
    case.compare("valid", found.is_valid)
    case.compare("exhaustive", found.is_exhaustive)
    case.compare("mutually_exclusive", found.is_exclusive)
    case.compare("unreached_sinks", sorted(found.missed), canonical=sorted)
    overlaps = {sink: sorted(names) for sink, names in (found.overlaps or {}).items()}
    case.compare("overlaps", overlaps, canonical=_sorted_values)
    partition = found.partition
    case.compare(
        "set_partition",
        None if partition is None else written(partition, variable.graph.sinks),
        canonical=sorted_blocks,
    )


def codes(case: Case) -> None:
    observed = case.needs("observed")
    forms = {f"form {number}": given for number, given in enumerate(observed)}
    environment = Ground(observed).environment(forms)
    case.compare("codes", [environment.code_of(form, "X") for form in forms])


def harmonization_graph(case: Case) -> None:
    observed = case.needs("observed")
    ground = Ground(observed)
    environment = ground.environment({str(number): c for number, c in enumerate(observed)})
    graph = environment.harmonization_graph("X")
    names = [str(ground.write(node)) for node in graph.nodes]
    found = {
        name: {
            "letter": "C" if position in graph.observed else "H",
            "n_categories": n_categories(node, arbitrary=0),
            "code": environment.code("X", node),
        }
        for position, (name, node) in enumerate(zip(names, graph.nodes, strict=True))
    }
    nodes = case.expected.get("nodes", [])
    expected_names = [str(sorted_blocks(node["partition"])) for node in nodes]
    if case.defines("nodes"):
        case.check("nodes", "", sorted(expected_names), sorted(names))
    harmonizations = [node.get("n_categories") for node in nodes if node.get("letter") == "H"]
    for name, node in zip(expected_names, nodes, strict=True):
        ours = found.get(name, {})
        for field in ("letter", "n_categories", "code"):
            # Harmonizations of the same size may be numbered in any order.
            is_free = field == "code" and harmonizations.count(node.get("n_categories")) > 1
            if node.get(field) is not None and not (is_free and node.get("letter") == "H"):
                case.check("nodes", f"{field} of {name}", node[field], ours.get(field))
    case.compare(
        "edges",
        sorted([names[coarser], names[finer]] for coarser, finer in graph.edges),
        canonical=lambda pairs: sorted([expected_names[a], expected_names[b]] for a, b in pairs),
    )
    top = set(names) - {names[finer] for _, finer in graph.edges}
    case.compare("source_node", sorted(top), canonical=lambda node: [expected_names[node]])
    case.compare("n_nodes", len(graph.nodes))
    case.compare("n_edges", len(graph.edges))
    case.compare("n_generated", len(graph.nodes) - len(graph.observed))
    case.compare("n_subset_harmonizations", len(graph.nodes))


def harmonization(case: Case) -> None:
    given = case.needs("categorizations")
    ground = Ground(given)
    found = harmonize(ground.read(c) for c in given)
    case.compare("harmonization", ground.write(found), canonical=sorted_blocks)
    case.compare("n_categories", n_categories(found, arbitrary="arbitrary"))


def ordinal_contiguity(case: Case) -> None:
    order = case.needs("ordered_sinks")
    case.compare("contiguous", [_is_run(order, category) for category in case.needs("categories")])


def partition_graph_validity(case: Case) -> None:
    children = _children(case)
    violations = find_violations(
        children,
        extensions=case.given.get("extensions"),
        sample_space=case.given.get("sample_space"),
    )
    case.compare("valid", not violations)
    kinds = {violation.kind.value for violation in violations}
    case.compare("violation_kinds", sorted(kinds), canonical=sorted)
    parents = {violation.parent for violation in violations if violation.parent}
    case.compare("offending_parents", sorted(parents), canonical=sorted)
    order = topological_order(children)
    sinks = [node for node in sorted(children) if not children[node]]
    if order is not None:
        sets = SinkSets(children, order, sinks)
        reached = {node: sorted(sinks[number] for number in bits(sets[node])) for node in children}
        case.compare("sinks", sinks, canonical=sorted)
        case.compare("sink_sets", reached, canonical=_sorted_values)
    if case.defines("valid") and not case.given.get("extensions"):
        case.check("valid", "as a graph", case.expected["valid"], _is_made(children))


def prevalence(case: Case) -> None:
    given, expected = case.needs("rows"), case.expected.get("rows", [])
    case.check("rows", "in number", len(expected), len(given))
    for number, (row, wanted) in enumerate(zip(given, expected, strict=False), start=1):
        share = parse_prevalence(row["p"])
        found = {
            "N": threshold(row["E"], share),
            "null": is_null(row["E"], row["S"], share),
            **{name: row[name] for name in ("E", "S", "p")},
        }
        for name, value in wanted.items():
            if name != "float_trap":
                case.check("rows", f"{number}: {name}", value, found.get(name))


def size_profile(case: Case) -> None:
    target, given = case.needs("target"), case.needs("categorizations")
    forms = {f"form {number}": c for number, c in enumerate(given)}
    environment = Ground([target, *given]).environment({"target": target, **forms})
    (found,) = map_key_variables(environment, "target").variables
    if found.curve is None:
        raise ShapeError("there are more harmonizations than are searched")
    sizes = ["arbitrary" if size == math.inf else size for size in found.curve.sizes]
    case.compare("sizes", sizes)


def subcategory(case: Case) -> None:
    graph = _graph(case)
    pairs = [[a, b] for a, b in permutations(graph.categories, 2) if graph.is_subcategory(a, b)]
    case.compare("subcategory_pairs", sorted(pairs), canonical=sorted)
    found = graph.categorizations()
    case.compare("n_valid_categorizations", len(found))
    case.compare("valid_categorizations", sorted_blocks(found), canonical=sorted_blocks)


KEYS: Mapping[str, Check] = {
    "keys_add_node_intervals": add_node_intervals,
    "keys_age_figure11": age_figure_11,
    "keys_categorization": categorization,
    "keys_codes": codes,
    "keys_harmonization_graph": harmonization_graph,
    "keys_harmonize": harmonization,
    "keys_kvm_analysis": kvm_analysis,
    "keys_kvm_universe": kvm_universe,
    "keys_kvm_target_in_environment": kvm_target_in_environment,
    "keys_ordinal_contiguity": ordinal_contiguity,
    "keys_partition_graph_validity": partition_graph_validity,
    "keys_prevalence": prevalence,
    "keys_size_profile": size_profile,
    "keys_subcategory": subcategory,
}


def _children(case: Case) -> dict[str, list[str]]:
    children: dict[str, list[str]] = {node: [] for node in case.needs("nodes")}
    for parent, child in case.needs("edges"):
        children.setdefault(parent, []).append(child)
        children.setdefault(child, [])
    return children


def _graph(case: Case) -> PartitionGraph:
    return PartitionGraph.from_edges(case.needs("nodes"), map(tuple, case.needs("edges")))


def _is_made(children: Mapping[str, list[str]]) -> bool:
    try:
        PartitionGraph(children)
    except InputError:
        return False
    return True


def _is_run(order: list[str], category: list[str]) -> bool:
    """Tell whether a category is accepted on the ordinal scale."""
    graph = PartitionGraph({**{sink: [] for sink in order}, "the category": category}, order=order)
    try:
        Variable("X", graph, Scale.ORDINAL)
    except InputError as error:
        if error.reason is not Reason.NOT_CONTIGUOUS:
            raise
        return False
    return True


def _sorted_values(lists: Mapping[str, list[str]]) -> dict[str, list[str]]:
    return {name: sorted(members) for name, members in lists.items()}
