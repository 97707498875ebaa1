from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

from gamekeeper.errors import InputError, Reason
from gamekeeper.mapping.environment.environment import Environment
from gamekeeper.store.graph_file import read_named_graph


def refused(path: Path, tree: Any) -> InputError:
    path.write_text(json.dumps(tree))
    with pytest.raises(InputError) as caught:
        read_named_graph(path)
    return caught.value


def test_nodes_and_edges(tmp_path: Path) -> None:
    path = tmp_path / "sex.json"
    tree = {"source": {"any": 1}, "nodes": ["any", "f", "m"], "edges": [["any", "f"], ["any", "m"]]}
    path.write_text(json.dumps(tree))
    _, graph = read_named_graph(path)
    assert graph.edges == (("any", "f"), ("any", "m"))
    assert read_named_graph(path) == ("sex", graph)


@pytest.mark.parametrize("name", ["Age", "Region", "Health"])
def test_a_variable_file(environment: Environment, folder: Path, name: str) -> None:
    _, graph = read_named_graph(str(folder / f"variables/{name.lower()}.json"))
    assert graph == environment.variable(name).graph


def test_the_name_in_a_variable_file_counts(environment: Environment, folder: Path) -> None:
    path = (folder / "variables/age.json").rename(folder / "other.json")
    assert read_named_graph(path) == ("Age", environment.variable("Age").graph)


def test_nodes_and_files_that_would_disturb_a_terminal(tmp_path: Path) -> None:
    error = refused(tmp_path / "g.json", {"nodes": ["a\x1b[2J"], "edges": []})
    assert error.reason is Reason.BAD_NAME
    assert "holds U+001B, a control character" in str(error)
    with pytest.raises(InputError) as caught:
        read_named_graph(tmp_path / "no\x1b[2J.json")
    for said in (error, caught.value):
        assert str(said).replace("\n", "").isprintable()


def test_a_cycle_and_an_overlap_have_witnesses(tmp_path: Path) -> None:
    error = refused(tmp_path / "g.json", {"nodes": ["a", "b"], "edges": [["a", "b"], ["b", "a"]]})
    assert error.reason is Reason.NOT_A_PARTITION_GRAPH
    assert "the cycle a → b → a" in str(error)
    edges = [["a", "b"], ["a", "c"], ["b", "d"], ["c", "d"]]
    error = refused(tmp_path / "g.json", {"nodes": list("abcd"), "edges": edges})
    assert "the children 'b', 'c' of 'a' share 'd'" in str(error)


def test_unknown_and_repeated_nodes(tmp_path: Path) -> None:
    tree = {"nodes": ["any", "woman", "man", "man"], "edges": [["any", "woman"], ["any", "mann"]]}
    error = refused(tmp_path / "g.json", tree)
    assert {problem.reason for problem in error.problems} == {
        Reason.UNKNOWN_NAME,
        Reason.DUPLICATE,
    }
    assert "edge 2: names 'mann', which is not a node. Near to it: 'man'" in str(error)


def test_an_edge_has_two_ends(tmp_path: Path) -> None:
    error = refused(tmp_path / "g.json", {"nodes": ["a"], "edges": [["a"], ["a", "a", "a"]]})
    assert [problem.where for problem in error.problems] == [
        "g.json, field 'edges', item 1",
        "g.json, field 'edges', item 2",
    ]


def test_no_nodes_at_all(tmp_path: Path) -> None:
    assert "It has no categories." in str(refused(tmp_path / "g.json", {"nodes": [], "edges": []}))
    assert "lacks the field 'nodes'" in str(refused(tmp_path / "g.json", {"edges": []}))
    assert "lacks the field 'scale'" in str(refused(tmp_path / "g.json", {"name": "x"}))


def test_a_file_that_is_not_there(tmp_path: Path) -> None:
    for path in (tmp_path / "none.json", tmp_path):
        with pytest.raises(InputError) as caught:
            read_named_graph(path)
        assert caught.value.reason is Reason.NOT_READABLE


@pytest.mark.parametrize(
    ("name", "n_nodes", "n_sinks"), [("age", 103, 61), ("marital_status", None, None)]
)
def test_the_graphs_of_the_original_system(
    name: str, n_nodes: int | None, n_sinks: int | None
) -> None:
    """The graphs that were published with the Key Variable Mapping System; not bundled."""
    folder = os.environ.get("GAMEKEEPER_DATA")
    if not folder:
        pytest.skip("GAMEKEEPER_DATA does not name a folder with kvms/age.json")
    path = Path(folder) / "kvms" / f"{name}.json"
    _, graph = read_named_graph(path)
    published = json.loads(path.read_text(encoding="utf-8"))
    assert set(graph.categories) == set(published["nodes"])
    assert set(graph.edges) == {(parent, child) for parent, child in published["edges"]}
    assert len(graph.categories) == (n_nodes or len(published["nodes"]))
    assert n_sinks is None or len(graph.sinks) == n_sinks
