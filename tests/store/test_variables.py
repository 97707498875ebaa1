from __future__ import annotations

import math
from fractions import Fraction
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gamekeeper.algorithms.categories.bands import Band, BandStyle
from gamekeeper.algorithms.categories.partition_graph import PartitionGraph
from gamekeeper.algorithms.categories.partitions import Partition
from gamekeeper.errors import Problem, Reason, StoreError
from gamekeeper.mapping.environment.environment import Environment
from gamekeeper.mapping.variables.codes import CodeRegister
from gamekeeper.mapping.variables.variable import Scale, Variable
from gamekeeper.store.folder import write_environment
from gamekeeper.store.models import VARIABLE_FILE
from gamekeeper.store.variables import register_of, tree_of, variable_of
from tests.given.categorizations import partition_graph_children, partitions


def kept(variable: Variable, register: CodeRegister) -> tuple[Variable | None, CodeRegister]:
    """Return a variable and its codes after a journey through a file."""
    problems: list[Problem] = []
    file = VARIABLE_FILE.validate_python(tree_of(variable, register))
    again = variable_of(file, "x.json", problems)
    codes = CodeRegister() if again is None else register_of(file, again, "x.json", problems)
    assert not problems
    return again, codes


@st.composite
def band_variables(draw: st.DrawFn) -> Variable:
    style = draw(st.sampled_from(BandStyle))
    scale = 1 if style is BandStyle.INCLUSIVE else draw(st.sampled_from([1, 10, 8]))
    cuts = draw(st.lists(st.integers(-40, 40), unique=True, min_size=2, max_size=8).map(sorted))
    bounds = [Fraction(cut, scale) for cut in cuts]
    exact = [cut.numerator if cut.denominator == 1 else cut for cut in bounds]
    ends = [draw(st.sampled_from([-math.inf, exact[0]])), *exact[1:-1]]
    ends.append(draw(st.sampled_from([exact[-1], math.inf])))
    pairs = st.tuples(st.sampled_from(ends), st.sampled_from(ends))
    bands = draw(st.lists(pairs.filter(lambda pair: pair[0] < pair[1]), max_size=6))
    return Variable.of_bands(
        "Number",
        [Band(low, high).name(style) for low, high in bands],
        style=style,
        space=Band(ends[0], ends[-1]),
        description=draw(st.sampled_from(["", "in metres"])),
    )


@given(band_variables(), st.data())
def test_variables_of_bands_survive(variable: Variable, data: st.DataObject) -> None:
    n_sinks = len(variable.graph.sinks)
    register = CodeRegister().with_harmonizations(data.draw(st.lists(partitions(n_sinks))))
    assert kept(variable, register) == (variable, register)


@given(partition_graph_children(), st.data())
def test_variables_of_categories_survive(
    children: dict[str, list[str]], data: st.DataObject
) -> None:
    sinks = [name for name, below in children.items() if not below]
    order = data.draw(st.none() | st.permutations(sinks))
    variable = Variable("X", PartitionGraph(children, order=order))
    register = CodeRegister().with_observed(data.draw(st.lists(partitions(len(sinks)))))
    assert kept(variable, register) == (variable, register)


def test_codes_are_in_order() -> None:
    variable = Variable("X", PartitionGraph({"all": [f"s{number}" for number in range(12)]}))
    sizes = [10, 2, 1, 2, 12]
    labels = [[min(number, size - 1) for number in range(12)] for size in sizes]
    labels[3] = [0] * 11 + [1]
    register = CodeRegister().with_harmonizations(Partition.from_labels(row) for row in labels)
    assert list(tree_of(variable, register)["codes"]) == [
        "H1.001",
        "H2.001",
        "H2.002",
        "H10.001",
        "H12.001",
    ]


@pytest.mark.parametrize(
    ("style", "low", "high", "sinks"),
    [
        ("inclusive", 0, None, ("0-15", "16-64", "65+")),
        ("inclusive", 16, 90, ("16-64", "65-90")),
        ("inclusive", None, 65, ("under 16", "16-64", "65")),
        ("half-open", 0, 65, ("0-16", "16-65")),
        ("half-open", None, 99.5, ("-inf-16", "16-65", "65-99.5")),
    ],
)
def test_the_range_ends_as_the_style_writes_it(
    style: str, low: float | None, high: float | None, sinks: tuple[str, ...]
) -> None:
    band = "16-64" if style == "inclusive" else "16-65"
    tree = {"name": "Age", "scale": "interval", "bands": [band], "style": style}
    file = VARIABLE_FILE.validate_python({**tree, "from": low, "to": high})
    variable = variable_of(file, "age.json", [])
    assert variable is not None
    assert variable.graph.sinks == sinks
    written = tree_of(variable, CodeRegister())
    assert (written["from"], written["to"]) == (low, high)


def test_a_number_finer_than_json_is_refused(tmp_path: Path) -> None:
    fine = Variable.of_bands("X", ["0-0.12345678901234567890123"], style=BandStyle.HALF_OPEN)
    with pytest.raises(StoreError):
        write_environment(Environment([fine]), tmp_path)


def test_a_natural_order_without_a_scale_is_kept() -> None:
    graph = PartitionGraph({"all": ["b", "a"]}, order=["b", "a"])
    variable = Variable("X", graph, Scale.NOMINAL)
    assert tree_of(variable, CodeRegister())["order"] == ["b", "a"]
    ordered = Variable("X", PartitionGraph({"all": ["a", "b"]}), Scale.NOMINAL)
    assert "order" not in tree_of(ordered, CodeRegister())


def test_retired_codes_survive_in_order() -> None:
    variable = Variable("X", PartitionGraph({"a": [], "b": []}))
    retired = ["C2.010", "C2.009", "H1.001", "C10.001"]
    register = CodeRegister([("C2.001", Partition.finest(2))], retired=retired)
    assert kept(variable, register) == (variable, register)
    assert tree_of(variable, register)["retired"] == ["C2.009", "C2.010", "C10.001", "H1.001"]
    assert "retired" not in tree_of(variable, CodeRegister())


@pytest.mark.parametrize(
    ("code", "found"),
    [("C2.001", "is retired and has a meaning."), ("C0.001", "is retired, and C0.001 never is.")],
)
def test_codes_that_cannot_be_retired_are_faults(code: str, found: str) -> None:
    variable = Variable("X", PartitionGraph({"a": [], "b": []}))
    register = CodeRegister([("C2.001", Partition.finest(2))])
    tree = {**tree_of(variable, register), "retired": ["H1.001", code]}
    problems: list[Problem] = []
    read = register_of(VARIABLE_FILE.validate_python(tree), variable, "x.json", problems)
    (problem,) = problems
    assert (problem.reason, problem.found) == (Reason.INCONSISTENT_CODE, found)
    assert problem.where == f"x.json, code '{code}'"
    assert read.retired == {"H1.001"}
