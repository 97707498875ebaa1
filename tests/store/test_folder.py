from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gamekeeper.algorithms.categories.partition_graph import PartitionGraph
from gamekeeper.algorithms.categories.partitions import Partition
from gamekeeper.errors import Cancelled, InputError, Reason, StoreError
from gamekeeper.mapping.environment.environment import Environment, Form, Group
from gamekeeper.mapping.variables.codes import CodeRegister, Scale, Variable, name_problems
from gamekeeper.store.folder import (
    read_environment,
    read_named_graph,
    write_codes,
    write_environment,
)
from gamekeeper.wording import folded
from tests.given.categorizations import environments
from tests.given.published import published_file
from tests.store.conftest import Edit
from tests.store.everything import everything_in


def snapshot(folder: Path) -> dict[str, tuple[bytes, int]]:
    return {
        str(path.relative_to(folder)): (path.read_bytes(), path.stat().st_mtime_ns)
        for path in folder.rglob("*")
        if path.is_file()
    }


def test_to_write_and_to_read_is_the_identity(environment: Environment, folder: Path) -> None:
    again = read_environment(folder)
    assert everything_in(again) == everything_in(environment)
    assert list(again.forms) == sorted(environment.forms)


@given(environments())
def test_any_environment_survives(environment: Environment) -> None:
    with tempfile.TemporaryDirectory() as place:
        write_environment(environment, place)
        assert everything_in(read_environment(place)) == everything_in(environment)


fit = st.characters(codec="utf-8", exclude_categories=["Cc", "Cn", "Co", "Cs", "Zl", "Zp"])
names = st.text(fit, min_size=1, max_size=12).filter(lambda name: not name_problems("form", [name]))
numbers = st.integers(-(10**20), 10**20) | st.floats(allow_nan=False, allow_infinity=False)
texts = st.text(st.characters(codec="utf-8"))


values = st.dictionaries(texts, st.none() | st.booleans() | numbers | texts)


@given(st.lists(st.tuples(names, values), unique_by=lambda item: folded(item[0])))
def test_any_names_and_metadata_survive(metadata: list[tuple[str, dict[str, str]]]) -> None:
    environment = Environment([], [Form(name, {}, given) for name, given in metadata])
    with tempfile.TemporaryDirectory() as place:
        write_environment(environment, place)
        again = read_environment(place)
    assert again.forms == environment.forms
    kinds = [[type(value) for value in form.metadata.values()] for form in again.forms.values()]
    assert sorted(map(str, kinds)) == sorted(
        str([type(form.metadata[key]) for key in sorted(form.metadata)])
        for form in environment.forms.values()
    )


def test_files_are_sorted_indented_utf8_and_end_in_a_newline(folder: Path) -> None:
    text = (folder / "forms/bank.json").read_text(encoding="utf-8")
    tree = json.loads(text)
    assert text == json.dumps(tree, indent=1, ensure_ascii=False) + "\n"
    assert list(tree) == ["name", "metadata", "variables"]
    assert list(tree["variables"]) == sorted(tree["variables"])
    assert list(tree["metadata"]) == sorted(tree["metadata"])
    assert "École" in (folder / "forms/ecole.json").read_text(encoding="utf-8")
    assert json.loads((folder / "groups/trade.json").read_text())["forms"] == ["Bank", "Shop"]


def test_codes_stay_when_the_environment_grows(environment: Environment, folder: Path) -> None:
    before = environment.register("Age")
    read = read_environment(folder)
    # A form that comes first in the alphabet would take C4.001 if codes were given anew.
    grown = read.with_form(Form("Aardvark", {"Age": ("0-17", "18-24", "25-64", "65+")}))
    after = grown.register("Age")
    assert len(after) > len(before)
    assert all(after.meaning(code) == before.meaning(code) for code in before)
    write_environment(grown, folder)
    assert read_environment(folder).register("Age") == after


def test_an_observed_harmonization_keeps_both_its_codes(tmp_path: Path) -> None:
    cross = Variable("X", PartitionGraph({"ab": ["a", "b"], "bc": ["b", "c"], "abc": ["ab", "c"]}))
    crossing = [Form("1", {"X": ("ab", "c")}), Form("2", {"X": ("a", "bc")})]
    environment = Environment([cross], crossing)
    assert "H1.001" in environment.register("X")
    environment = environment.with_form(Form("3", {"X": ("abc",)}))
    write_environment(environment, tmp_path)
    register = read_environment(tmp_path).register("X")
    whole = Partition.from_labels([0, 0, 0])
    assert (register.code(whole), register.alias(whole)) == ("C1.001", "H1.001")


def test_only_what_changed_is_written(environment: Environment, folder: Path) -> None:
    before = snapshot(folder)
    write_environment(environment, folder)
    assert snapshot(folder) == before
    write_environment(environment.with_form(Form("New", {"Health": ("well", "poor")})), folder)
    after = snapshot(folder)
    assert {name for name in after if after[name] != before.get(name)} == {"forms/new.json"}


def test_what_is_gone_is_removed_and_strangers_stay(folder: Path) -> None:
    (folder / "README.md").write_text("mine")
    (folder / "forms/README.txt").write_text("mine")
    (folder / "forms/.hidden.json").write_text("mine")
    small = Environment([], [Form("Empty")], name="small")
    write_environment(small, folder)
    assert set(snapshot(folder)) == {
        "environment.json",
        "README.md",
        "forms/empty.json",
        "forms/README.txt",
        "forms/.hidden.json",
    }
    assert everything_in(read_environment(folder)) == everything_in(small)


def test_a_file_keeps_the_name_that_a_person_gave_it(
    environment: Environment, folder: Path
) -> None:
    (folder / "forms/bank.json").rename(folder / "forms/my own bank.json")
    before = snapshot(folder)
    write_environment(environment, folder)
    assert snapshot(folder) == before
    changed = environment.with_form(Form("Bank", {"Age": ()}))
    write_environment(changed, folder)
    assert set(snapshot(folder)) == set(before)
    assert read_environment(folder).forms["Bank"].instances == {"Age": ()}


def test_names_that_look_alike_have_files_of_their_own(tmp_path: Path) -> None:
    names = ["A b", "a-b", "A_B", "?", "!", "con", "x" * 100, "x" * 101]
    environment = Environment([], [Form(name, {}, {"is": name}) for name in names])
    write_environment(environment, tmp_path)
    assert len(list((tmp_path / "forms").iterdir())) == len(names)
    assert read_environment(tmp_path).forms == environment.forms


def test_two_files_that_swap_their_names(environment: Environment, folder: Path) -> None:
    bank, shop = folder / "forms/bank.json", folder / "forms/shop.json"
    texts = bank.read_bytes(), shop.read_bytes()
    shop.write_bytes(texts[0])
    bank.write_bytes(texts[1])
    assert everything_in(read_environment(folder)) == everything_in(environment)
    write_environment(environment, folder)
    assert (bank.read_bytes(), shop.read_bytes()) == texts


def test_progress_is_told_and_may_cancel(environment: Environment, folder: Path) -> None:
    told: list[tuple[int, int | None]] = []
    read_environment(folder, progress=lambda done, total: told.append((done, total)))
    parts = (environment.forms, environment.variables, environment.groups, environment.scenarios)
    n_files = sum(map(len, parts))
    assert told[-1] == (n_files, n_files)

    def stop(done: int, total: int | None) -> None:
        raise Cancelled("Reading was asked for.")

    with pytest.raises(Cancelled):
        read_environment(folder, progress=stop)


def test_equal_labels_share_their_memory(tmp_path: Path) -> None:
    sex = Variable("Sex", PartitionGraph({"any": ["female", "male"]}))
    forms = [Form(name, {"Sex": ("female", "male")}) for name in "ab"]
    write_environment(Environment([sex], forms), tmp_path)
    (tmp_path / "forms/c.json").write_text(
        '{"name": "c", "variables": {"Sex": ["female", "male"]}}'
    )
    read = read_environment(tmp_path)
    assert len({id(form.instances["Sex"]) for form in read.forms.values()}) == 1


def test_hidden_files_do_not_fill_a_folder(environment: Environment, tmp_path: Path) -> None:
    (tmp_path / ".git").mkdir()
    write_environment(environment, tmp_path)
    assert read_environment(tmp_path).name == "small"


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("survey.csv", "id,age\n1,30\n"),
        ("environment.json", "{}"),
        ("environment.json", "not JSON"),
        ("environment.json", '{"format": "gamekeeper environment", "version": 2, "name": "x"}'),
    ],
)
def test_another_folder_is_refused(
    environment: Environment, tmp_path: Path, name: str, text: str
) -> None:
    (tmp_path / name).write_text(text)
    before = snapshot(tmp_path)
    with pytest.raises(StoreError, match="Nothing was changed"):
        write_environment(environment, tmp_path)
    assert snapshot(tmp_path) == before


def test_a_file_in_place_of_a_folder_is_refused(environment: Environment, tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_text("mine")
    for place in (path, path / "below", path / "below" / "that"):
        with pytest.raises(StoreError) as caught:
            write_environment(environment, place)
        assert f"'{path}' is a file. Nothing was changed." in str(caught.value)
    assert path.read_text() == "mine"


@pytest.mark.parametrize(
    "name", ["forms/bank.json", "forms/other.json", "forms/x.txt", "variables/x.json"]
)
def test_a_file_that_is_not_ours_is_neither_replaced_nor_removed(
    environment: Environment, folder: Path, name: str
) -> None:
    (folder / name).write_text('{"id": 1, "age": 30}')
    before = snapshot(folder)
    with pytest.raises(StoreError) as caught:
        write_environment(environment.with_form(Form("New")), folder)
    assert [problem.where for problem in caught.value.problems] == [name]
    assert snapshot(folder) == before


def test_what_no_file_can_hold_is_refused_all_at_once(tmp_path: Path) -> None:
    graph = PartitionGraph({"all": ["low", "high"]}, order=["low", "high"])
    environment = Environment(
        [Variable("By hand", graph, Scale.INTERVAL)],
        [
            Form("Endless", {}, {"limit": float("inf")}),
            Form("Nested", {}, {"list": [1]}),  # type: ignore[dict-item]
            Form("Half", {}, {"text": "\ud800"}),
        ],
        [Group("Half", (), "\udfff")],
    )
    with pytest.raises(StoreError) as caught:
        write_environment(environment, tmp_path / "new")
    places = [problem.where.partition(",")[0] for problem in caught.value.problems]
    assert places == [
        "variable 'By hand'",
        "form 'Endless'",
        "form 'Nested'",
        "form 'Half'",
        "group 'Half'",
    ]
    assert not (tmp_path / "new").exists()


@contextmanager
def without_rights(folder: Path) -> Iterator[None]:
    """Take the right to write in a folder from whoever runs the tests, root or not."""
    modes = {path: path.stat().st_mode for path in [folder, *folder.rglob("*")] if path.is_dir()}
    for path in modes:
        path.chmod(0o555)
    is_root = os.geteuid() == 0
    if is_root:
        os.seteuid(65534)
    try:
        yield
    finally:
        if is_root:
            os.seteuid(0)
        for path, mode in modes.items():
            path.chmod(mode)


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has other rights")
def test_a_read_only_folder_is_left_as_it_was(environment: Environment) -> None:
    place = Path(tempfile.mkdtemp())
    try:
        place.chmod(0o755)
        write_environment(environment, place / "environment")
        before = snapshot(place)
        with without_rights(place), pytest.raises(StoreError) as caught:
            write_environment(environment.with_form(Form("New")), place / "environment")
        assert caught.value.reason is Reason.NOT_WRITABLE
        assert "Permission denied. Nothing was changed." in str(caught.value)
        assert f"refused '{place}/environment/forms/new.json'" in str(caught.value)
        assert snapshot(place) == before
        with without_rights(place), pytest.raises(StoreError):
            write_environment(environment, place / "new")
        assert snapshot(place) == before
    finally:
        shutil.rmtree(place)


_FULL = """
import resource, sys
from gamekeeper.errors import StoreError
from gamekeeper.mapping.environment.environment import Environment, Form
from gamekeeper.store.folder import read_environment, write_environment
environment = read_environment(sys.argv[1])
grown = environment.with_form(Form("Aaa")).with_form(Form("Large", {}, {"text": "x" * 100_000}))
resource.setrlimit(resource.RLIMIT_FSIZE, (50_000, 50_000))
for place in sys.argv[1:]:
    try:
        write_environment(grown, place)
    except StoreError as error:
        print(error.reason.value, "Nothing was changed." in str(error))
"""


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no such limit")
def test_a_disk_without_room_leaves_the_folder_as_it_was(folder: Path, tmp_path: Path) -> None:
    before = snapshot(folder)
    new = tmp_path / "some" / "new"
    done = subprocess.run(
        [sys.executable, "-c", _FULL, str(folder), str(new)],
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.split() == ["disk-full", "True"] * 2
    assert snapshot(folder) == before
    assert not (tmp_path / "some").exists()


def test_an_empty_environment_needs_no_folders(tmp_path: Path) -> None:
    write_environment(Environment([], name="none"), tmp_path / "a/b")
    assert [path.name for path in (tmp_path / "a/b").iterdir()] == ["environment.json"]
    assert read_environment(tmp_path / "a/b").name == "none"


def test_a_path_that_cannot_be_is_an_input_error(environment: Environment, tmp_path: Path) -> None:
    for path in (tmp_path / ("x" * 5_000), tmp_path / "environment.json" / "below"):
        with pytest.raises(InputError):
            read_environment(path)
    with pytest.raises(StoreError):
        write_environment(environment, tmp_path / ("x" * 5_000))


BY_HAND = {
    "environment.json": '{"name": "mine", "version": 1, "format": "gamekeeper environment"}',
    "variables/my age.json": '{"scale": "interval", "to": 1e2, "name": "Age",'
    ' "bands": ["under 16", "16 to 24"]}',
    "variables/sex.JSON": '{"codes": {"C2.007": [["male"], ["female"]]}, "scale": "nominal",'
    ' "categories": {"any": ["male", "female"], "male": [], "female": []},\n\n "name": "Sex"}',
    "variables/unused.json": '{"name": "Unused", "scale": "nominal", "categories": {"é": []}}',
    "forms/z.json": '{"variables": {"Sex": ["male", "female"], "Age": ["<16", "16+"]},'
    ' "name": "Bank"}',
    "forms/a.json": '{"name": "Shop", "variables": {"Sex": ["any"], "Age": ["0-24", "25+"]}}',
    "groups/g.json": '{"forms": ["Shop", "Bank"], "name": "all"}',
}


@pytest.fixture
def by_hand(tmp_path: Path) -> Path:
    for name, text in BY_HAND.items():
        path = tmp_path / "mine" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    bands = {"bands": ["under 16", "16 to 24", "0-24", "25+", "16+"]}
    age = tmp_path / "mine/variables/my age.json"
    age.write_text(json.dumps(json.loads(age.read_text()) | bands))
    return tmp_path / "mine"


def test_only_codes_of_variables_are_touched(by_hand: Path) -> None:
    before = snapshot(by_hand)
    environment = read_environment(by_hand)
    written = write_codes(environment, by_hand)
    after = snapshot(by_hand)
    changed = tuple(sorted(name for name in before if after[name] != before[name]))
    assert written == changed == ("variables/my age.json", "variables/sex.JSON")
    assert after.keys() == before.keys()
    for name in changed:
        old, new = json.loads(before[name][0]), json.loads(after[name][0])
        assert list(new) == (list(old) if "codes" in old else [*old, "codes"])
        assert {**new, "codes": 0} == {**old, "codes": 0}
        text = after[name][0].decode()
        assert text == json.dumps(new, indent=1, ensure_ascii=False) + "\n"
    again = read_environment(by_hand)
    assert everything_in(again) == everything_in(environment)


def test_codes_that_are_there_stay_in_the_words_of_a_person(by_hand: Path) -> None:
    write_codes(read_environment(by_hand), by_hand)
    codes = json.loads((by_hand / "variables/sex.JSON").read_text())["codes"]
    assert codes == {"C1.001": [["any"]], "C2.007": [["male"], ["female"]]}
    assert list(codes) == ["C1.001", "C2.007"]


def test_nothing_is_written_twice(by_hand: Path) -> None:
    write_codes(read_environment(by_hand), by_hand)
    before = snapshot(by_hand)
    assert write_codes(read_environment(by_hand), by_hand) == ()
    assert snapshot(by_hand) == before


def test_a_folder_as_we_write_it_is_left_alone(environment: Environment, folder: Path) -> None:
    before = snapshot(folder)
    assert write_codes(environment, folder) == ()
    assert snapshot(folder) == before


def test_codes_of_one_more_form_are_added(folder: Path) -> None:
    grown = read_environment(folder).with_form(Form("New", {"Health": ("good", "fair", "poor")}))
    assert write_codes(grown, folder) == ()
    grown = grown.with_form(Form("Newer", {"Region": ("UK",)}))
    assert write_codes(grown, folder) == ("variables/region.json",)
    assert read_environment(folder).register("Region") == grown.register("Region")


def test_retired_codes_are_written_and_kept(folder: Path, edit: Edit) -> None:
    edit("variables/health.json", lambda tree: tree.update(retired=["C3.007"]))
    environment = read_environment(folder)
    assert environment.register("Health").retired == {"C3.007"}
    before = snapshot(folder)
    assert write_codes(environment, folder) == ()
    assert snapshot(folder) == before
    register = environment.register("Health")
    more = CodeRegister(
        ((code, register.meaning(code)) for code in register), retired=["C3.007", "H1.009"]
    )
    grown = environment.changed(
        variables={"Health": environment.variable("Health")}, registers={"Health": more}
    )
    write_environment(grown, folder)
    assert read_environment(folder).register("Health") == more
    edit("variables/health.json", lambda tree: tree.update(retired=["C3.007"]))
    assert write_codes(grown, folder) == ("variables/health.json",)
    assert read_environment(folder).register("Health") == more


Change = Callable[[dict[str, Any]], None]


@pytest.mark.parametrize(
    ("change", "reason", "words"),
    [
        (lambda tree: tree.update(name="Wealth"), Reason.WRONG_SCHEMA, "is of 'Wealth', which"),
        (lambda tree: tree.update(description="new"), Reason.WRONG_SCHEMA, "or has otherwise"),
        (lambda tree: tree.update(scale="x"), Reason.WRONG_SCHEMA, "is none of"),
        (lambda tree: tree.update(order=["x"]), Reason.NOT_A_PARTITION_GRAPH, "Not a sink: 'x'"),
        (
            lambda tree: tree.update(codes={"C2.001": [["good"], ["fair", "poor"]]}),
            Reason.INCONSISTENT_CODE,
            "has codes that mean something else in the environment: 'C2.001'.",
        ),
        (
            lambda tree: tree.update(codes={"C2.009": [["good"], ["fair", "poor"]]}),
            Reason.INCONSISTENT_CODE,
            "'C2.009'",
        ),
        (lambda tree: tree.update(retired=["H9.001"]), Reason.INCONSISTENT_CODE, "'H9.001'"),
    ],
)
def test_a_file_that_changed_since_is_refused(
    folder: Path, edit: Edit, change: Change, reason: Reason, words: str
) -> None:
    environment = read_environment(folder).with_form(Form("New", {"Region": ("UK",)}))
    edit("variables/health.json", change)
    before = snapshot(folder)
    with pytest.raises(StoreError, match="Nothing was changed") as caught:
        write_codes(environment, folder)
    assert caught.value.reason is reason
    assert words in str(caught.value)
    assert snapshot(folder) == before


def test_a_variable_without_a_file_is_refused(environment: Environment, folder: Path) -> None:
    (folder / "variables/age.json").unlink()
    with pytest.raises(StoreError, match=r"variable 'Age': has no file\."):
        write_codes(environment, folder)


def test_files_that_cannot_be_read_are_named(environment: Environment, folder: Path) -> None:
    (folder / "variables/age.json").unlink()
    (folder / "variables/age.json").mkdir()
    with pytest.raises(StoreError) as caught:
        write_codes(environment, folder)
    assert [problem.reason for problem in caught.value.problems] == [
        Reason.NOT_READABLE,
        Reason.NOT_FOUND,
    ]


def test_codes_are_not_written_to_another_folder(tmp_path: Path) -> None:
    sex = Variable("Sex", PartitionGraph({"any": ["female", "male"]}))
    with pytest.raises(StoreError, match="Nothing was changed"):
        write_codes(Environment([sex]), tmp_path)
    assert list(tmp_path.iterdir()) == []


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
    assert {problem.reason for problem in error.problems} == {Reason.UNKNOWN_NAME, Reason.DUPLICATE}
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
    path = published_file(f"kvms/{name}.json")
    _, graph = read_named_graph(path)
    published = json.loads(path.read_text(encoding="utf-8"))
    assert set(graph.categories) == set(published["nodes"])
    assert set(graph.edges) == {(parent, child) for parent, child in published["edges"]}
    assert len(graph.categories) == (n_nodes or len(published["nodes"]))
    assert n_sinks is None or len(graph.sinks) == n_sinks
