"""A partition graph from a single file: that of a variable, or a list of nodes and edges."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from pydantic import TypeAdapter

from gamekeeper.algorithms.categories.partition_graph import PartitionGraph
from gamekeeper.errors import InputError, Problem, Reason
from gamekeeper.mapping.names import name_problems
from gamekeeper.store.layout import read_tree
from gamekeeper.store.models import VARIABLE_FILE, GraphFile
from gamekeeper.store.parsing import check_once
from gamekeeper.store.variables import problems_of, variable_of
from gamekeeper.wording import count_of, did_you_mean, quoted, shown_path

_GRAPH_FILE = TypeAdapter(GraphFile)


def read_named_graph(path: str | Path) -> tuple[str, PartitionGraph]:
    """Read a partition graph with its name.

    Parameters
    ----------
    path
        A variable file of an environment, or a file with the fields `nodes`, a list of
        categories, and `edges`, a list of pairs of a category and a child. Other fields of the
        latter are passed over; its name is that of the file without the ending.

    Raises
    ------
    InputError
        With every problem of the file.

    Examples
    --------
    >>> import tempfile
    >>> text = '{"nodes": ["any", "female", "male"], "edges": [["any", "female"], ["any", "male"]]}'
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder) / "sex.json"
    ...     _ = path.write_text(text)
    ...     name, graph = read_named_graph(path)
    >>> name, graph.sinks
    ('sex', ('female', 'male'))
    """
    file = Path(path)
    problems: list[Problem] = []
    named = _named_graph(file, problems)
    if named is None:
        raise InputError(
            problems[0].reason,
            f"The partition graph in {shown_path(file)} was to be read.",
            f"The file has {count_of(len(problems), 'fault')}.",
            "Give a variable file of an environment, or a file with nodes and edges.",
            problems=problems,
        )
    return named


def _named_graph(path: Path, problems: list[Problem]) -> tuple[str, PartitionGraph] | None:
    where, own = shown_path(path.name)[1:-1], shown_path(path.stem)[1:-1]
    read = read_tree(path.parent, path.name, where, problems)
    if read is None:
        return None
    tree, repeated = read
    if _has_nodes(tree):
        edges = check_once(tree, repeated, where, _GRAPH_FILE, problems)
        graph = None if edges is None else _from_edges(edges, where, problems)
        return None if graph is None else (own, graph)
    file = check_once(tree, repeated, where, VARIABLE_FILE, problems)
    variable = None if file is None else variable_of(file, where, problems)
    return None if variable is None else (variable.name, variable.graph)


def _has_nodes(tree: Any) -> bool:
    return isinstance(tree, dict) and "scale" not in tree and bool({"nodes", "edges"} & set(tree))


def _from_edges(file: GraphFile, where: str, problems: list[Problem]) -> PartitionGraph | None:
    nodes = dict.fromkeys(file.nodes)
    found = [
        Problem(
            Reason.UNKNOWN_NAME,
            f"{where}, edge {number}",
            f"names {quoted([name])}, which is not a node.",
            did_you_mean(name, nodes),
        )
        for number, edge in enumerate(file.edges, start=1)
        for name in edge
        if name not in nodes
    ]
    found += [
        Problem(p.reason, f"{where}, {p.where}", p.found, p.do)
        for p in name_problems("node", nodes)
    ]
    if len(nodes) < len(file.nodes):
        twice = quoted(name for name in nodes if file.nodes.count(name) > 1)
        found.append(
            Problem(Reason.DUPLICATE, where, f"has the nodes {twice} twice.", "Leave one out.")
        )
    if not found:
        try:
            return PartitionGraph.from_edges(
                nodes, [(parent, child) for parent, child in file.edges]
            )
        except InputError as error:
            found = problems_of(error, where)
    problems.extend(found)
    return None
