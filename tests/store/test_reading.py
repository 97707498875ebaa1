"""Files of a folder: none is left out without a word, and the shortcut for ours never differs."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gamekeeper.algorithms.categories.bands import BandStyle
from gamekeeper.algorithms.categories.partition_graph import PartitionGraph
from gamekeeper.algorithms.categories.partitions import Partition
from gamekeeper.errors import InputError, Problem, Reason, StoreError
from gamekeeper.mapping.environment.environment import Environment, Form
from gamekeeper.mapping.variables.codes import CodeRegister, Scale, Variable
from gamekeeper.store.file_shapes import VARIABLE_FILE, parse
from gamekeeper.store.folder import read_environment, write_environment
from gamekeeper.store.reading import FORM_FILE, FormReader, register_of, tree_of, variable_of
from tests.given.categorizations import band_variables, partition_graph_children, partitions
from tests.store.conftest import the_only
from tests.store.everything import everything_in

labels = st.text(st.sampled_from('ab],:{}"\\ \n\té\u2028'), max_size=6)
variables = st.dictionaries(labels, st.lists(labels, max_size=3), max_size=4)
SPOILERS = [
    *b'" ] [ { } , : 1 \\ \xff \\ud800 "name":"x", "a":[],'.split(),
    *(b"", b" ", b"\n", b"],\n", b' "variables": {\n', b"]\n }\n}\n"),
]
metadata = st.dictionaries(labels, labels | st.integers() | st.none(), max_size=2)


def as_parsed(data: bytes) -> tuple[Form | None, list[Problem]]:
    problems: list[Problem] = []
    file = parse(data, "f.json", FORM_FILE, problems)
    if file is None:
        return None, problems
    given = {name: tuple(offered) for name, offered in file.variables.items()}
    return Form(file.name, given, file.metadata), problems


def as_read(reader: FormReader, data: bytes) -> tuple[Form | None, list[Problem]]:
    problems: list[Problem] = []
    return reader.read(data, "f.json", problems), problems


def written(tree: object) -> bytes:
    return (json.dumps(tree, indent=1, ensure_ascii=False) + "\n").encode()


@given(st.lists(st.tuples(labels, metadata, variables), min_size=1, max_size=3))
def test_what_we_write_is_read_the_same(forms: list[tuple[str, object, object]]) -> None:
    reader = FormReader()
    for name, about, offered in forms:
        data = written({"name": name, "metadata": about, "variables": offered})
        form, problems = as_read(reader, data)
        assert (form, problems) == as_parsed(data)
        assert form is not None


@given(metadata, variables.filter(bool), st.data(), st.sampled_from(SPOILERS))
def test_spoilt_files_are_read_the_same(
    about: object, offered: object, data: st.DataObject, inserted: bytes
) -> None:
    text = written({"name": "x", "metadata": about, "variables": offered})
    reader = FormReader()
    reader.read(text, "f.json", [])
    at = data.draw(st.integers(0, len(text)))
    cut = data.draw(st.integers(0, 3))
    spoilt = text[:at] + inserted + text[at + cut :]
    assert as_read(reader, spoilt) == as_parsed(spoilt)


def test_the_shortcut_is_taken() -> None:
    """Else the tests above would compare the same thing with itself."""
    reader = FormReader()
    data = written({"name": "x", "metadata": {}, "variables": {"Age": ["0-9", "10+"], "Sex": []}})
    shortcut = reader._as_written(data)
    assert shortcut == Form("x", {"Age": ("0-9", "10+"), "Sex": ()}, {})
    assert reader._as_written(data.replace(b"\n ", b"\n  ")) is None


@pytest.mark.parametrize(
    "text",
    [
        '{\n "name": "x",\n "variables": {\n  "Age": [],\n  "Age": [\n   "a"\n  ]\n }\n}\n',
        '{\n "name": "x",\n "variables": {\n  "Age": [], "Age": [],\n  "Sex": []\n }\n}\n',
        '{\n "variables": {},\n "name": "x",\n "variables": {\n  "Age": []\n }\n}\n',
        '{\n "name": "x",\n "name": "x",\n "variables": {\n  "Age": []\n }\n}\n',
    ],
)
def test_what_comes_twice_is_not_passed_over(text: str) -> None:
    json.loads(text)
    form, (problem,) = as_read(FormReader(), text.encode())
    assert form is None
    assert problem.reason is Reason.DUPLICATE


Refused = Callable[[], InputError]


def test_a_folder_below_forms_is_not_passed_over(folder: Path, refused: Refused) -> None:
    (folder / "forms/uk").mkdir()
    problem = the_only(refused())
    assert problem.where == "forms/uk"
    assert "only the files in forms are read" in problem.found


@pytest.mark.parametrize("name", ["tax.json.txt", "tax", "tax.csv", "tax.json~", "readme-2.md"])
def test_files_of_another_ending_are_not_passed_over(
    folder: Path, refused: Refused, name: str
) -> None:
    for kind in ("forms", "groups", "variables"):
        (folder / kind / name).write_text("mine")
    problems = refused().problems
    assert sorted(str(problem) for problem in problems) == [
        f"{kind}/{name}: is not a .json file. Take it away or rename it."
        for kind in ("forms", "groups", "variables")
    ]


def test_files_with_a_large_ending_are_read_and_notes_are_passed_over(
    environment: Environment, folder: Path
) -> None:
    for kind, name in [("forms", "bank"), ("groups", "trade"), ("variables", "age")]:
        (folder / kind / f"{name}.json").rename(folder / kind / f"{name}.JSON")
        for note in ("README", "ReadMe.md", "readme.de.txt", ".gitkeep"):
            (folder / kind / note).write_text("mine")
    assert everything_in(read_environment(folder)) == everything_in(environment)


@pytest.mark.skipif(sys.platform != "linux", reason="other systems have no such names")
@pytest.mark.parametrize("name", ["\x1b[31mred.json", "a\u202eb.json", "half\udcff.json", "x\n"])
def test_names_of_files_never_disturb_a_terminal(folder: Path, refused: Refused, name: str) -> None:
    (folder / "forms" / name).write_bytes((folder / "forms/empty.json").read_bytes())
    error = refused()
    assert the_only(error).reason is Reason.BAD_NAME
    assert str(error).replace("\n", "").isprintable()


def test_a_file_in_place_of_the_forms(folder: Path, refused: Refused) -> None:
    for path in (folder / "forms").iterdir():
        path.unlink()
    (folder / "forms").rmdir()
    (folder / "forms").write_text("id,age")
    assert "folder forms" in {problem.where for problem in refused().problems}


def test_forms_need_variables(folder: Path, refused: Refused) -> None:
    for path in (folder / "variables").iterdir():
        path.unlink()
    (folder / "variables").rmdir()
    assert str(the_only(refused())).startswith("folder variables: is missing, but forms have")
    (folder / "variables").mkdir()
    assert str(the_only(refused())).startswith("folder variables: holds no files, but forms have")


def test_groups_need_forms(folder: Path, refused: Refused) -> None:
    (folder / "forms").rename(folder / "elsewhere")
    problem = the_only(refused())
    assert str(problem).startswith("folder forms: is missing, but groups name forms.")
    (folder / "groups/trade.json").unlink()
    (folder / "groups/other-trade.json").unlink()
    assert read_environment(folder).forms == {}


def kept(variable: Variable, register: CodeRegister) -> tuple[Variable | None, CodeRegister]:
    """Return a variable and its codes after a journey through a file."""
    problems: list[Problem] = []
    file = VARIABLE_FILE.validate_python(tree_of(variable, register))
    again = variable_of(file, "x.json", problems)
    codes = CodeRegister() if again is None else register_of(file, again, "x.json", problems)
    assert not problems
    return again, codes


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
