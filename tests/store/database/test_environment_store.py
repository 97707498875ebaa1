"""What a store does: edits, history, undo, looking back, locking, codes."""

from __future__ import annotations

import sqlite3
import subprocess
import sys
import tempfile
import time
from contextlib import closing
from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path
from threading import Thread
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gamekeeper.algorithms.categories.partition_graph import PartitionGraph
from gamekeeper.algorithms.categories.partitions import Partition
from gamekeeper.errors import InputError, Reason, StoreError
from gamekeeper.mapping.edits import (
    AddForm,
    AddVariable,
    AskVariable,
    DescribeEnvironment,
    DropVariable,
    Edit,
    RemoveForm,
    RemoveVariable,
    RenameForm,
    RenameVariable,
    SetMetadata,
    SplitCategory,
)
from gamekeeper.mapping.environment.environment import Environment, Form
from gamekeeper.mapping.variables.codes import Variable, name_problems
from gamekeeper.mapping.variables.definitions import definition_of
from gamekeeper.store.database.environment_store import EnvironmentStore
from gamekeeper.store.database.revisions import Action
from gamekeeper.wording import folded
from tests.given.categorizations import environments
from tests.store.database.conftest import WHO, documents, everything, refusal

RENAME = RenameForm(form="Bank", to="Savings bank")


def marked(form: str, value: object = 1) -> SetMetadata:
    return SetMetadata(form=form, values={"mark": value})


def test_what_is_kept_is_what_was_given(
    store: EnvironmentStore, path: Path, environment: Environment
) -> None:
    assert everything(store.environment()) == everything(environment)
    with EnvironmentStore.open(path) as other:
        assert everything(other.environment()) == everything(environment)
        assert list(other.environment().forms) == sorted(environment.forms)


@pytest.mark.slow
@settings(max_examples=10)
@given(environments())
def test_any_environment_survives(environment: Environment) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "forms.gk"
        EnvironmentStore.create(path, environment, who=WHO).close()
        with EnvironmentStore.open(path) as store:
            assert everything(store.environment()) == everything(environment)


letters = st.text(st.characters(codec="utf-8"))
names = st.text(st.characters(codec="utf-8"), min_size=1, max_size=12).filter(
    lambda name: not name_problems("form", [name])
)
numbers = st.integers(-(10**20), 10**20) | st.floats(allow_nan=False, allow_infinity=False)
values = st.dictionaries(letters, st.none() | st.booleans() | numbers | letters)


@pytest.mark.slow
@settings(max_examples=15)
@given(st.lists(st.tuples(names, values), unique_by=lambda item: folded(item[0])))
def test_any_names_and_metadata_survive(given_forms: list[tuple[str, dict[str, Any]]]) -> None:
    environment = Environment([], [Form(name, {}, own) for name, own in given_forms])
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "forms.gk"
        EnvironmentStore.create(path, environment, who=WHO).close()
        with EnvironmentStore.open(path) as store:
            assert documents(store.environment()) == documents(environment)


def test_an_empty_store_can_be_named(path: Path) -> None:
    with EnvironmentStore.create(path, who=WHO, name="mine", description="Not yours.") as store:
        empty = store.environment()
    assert (empty.name, empty.description, empty.forms) == ("mine", "Not yours.", {})


def test_an_edit_is_acknowledged_with_everything_about_it(store: EnvironmentStore) -> None:
    before = datetime.now(UTC)
    made = store.apply([RENAME, marked("Shop")], who="ben", note="They merged.\nIn May.")
    assert (made.number, made.who, made.action, made.of) == (2, "ben", Action.EDIT, None)
    assert before <= made.at <= datetime.now(UTC)
    assert made.edits == (RENAME, marked("Shop"))
    assert made.words[0] == "Rename the form 'Bank' to 'Savings bank'."
    assert made.touched == {("form", "Bank"), ("form", "Savings bank"), ("form", "Shop")}
    assert store.history(most=1) == (made,)
    assert store.environment().groups["Trade"].forms == ("Savings bank", "Shop")


def test_near_names_are_pointed_out(store: EnvironmentStore) -> None:
    made = store.apply([AddForm(name="Clinics")], who=WHO)
    assert made.notes == ("The new form 'Clinics' is near to 'Clinic'.",)


def test_one_refused_edit_refuses_all(store: EnvironmentStore) -> None:
    before = everything(store.environment())
    refusal(lambda: store.apply([RENAME, RemoveForm(form="nobody")], who=WHO), Reason.UNKNOWN_NAME)
    assert (store.revision, everything(store.environment())) == (1, before)


def test_no_edit_at_all(store: EnvironmentStore) -> None:
    refusal(lambda: store.apply([], who=WHO), Reason.NOTHING_GIVEN)


@pytest.mark.parametrize(
    ("who", "note"), [("", ""), ("a\x1bb", ""), (WHO, "\x00"), (WHO, "\ud800")]
)
def test_history_has_no_unfit_names_and_notes(store: EnvironmentStore, who: str, note: str) -> None:
    refusal(lambda: store.apply([RENAME], who=who, note=note), Reason.BAD_NAME)
    assert store.revision == 1


def test_half_a_character_is_refused(store: EnvironmentStore, path: Path) -> None:
    error = refusal(lambda: store.apply([marked("Shop", "\ud800")], who=WHO), Reason.WRONG_ENCODING)
    assert error.problems[0].where == "form 'Shop'"
    describe = DescribeEnvironment(description="\ud800")
    refusal(lambda: store.apply([describe], who=WHO), Reason.WRONG_ENCODING)
    half = Environment([], [Form("A", {}, {"\ud800": 1})])
    other = path.with_name("other.gk")
    refusal(lambda: EnvironmentStore.create(other, half, who=WHO), Reason.WRONG_ENCODING)
    assert not other.exists()
    assert store.revision == 1


def test_values_that_equal_each_other_are_still_told_apart(store: EnvironmentStore) -> None:
    for value in (1, True, 1.0, "1", None, 10**20, -0.0, 0.0):
        store.apply([marked("Shop", value)], who=WHO)
        with EnvironmentStore.open(store.path) as other:
            found = other.environment().form("Shop").metadata["mark"]
        assert repr(found) == repr(value)


def test_long_and_hostile_names(store: EnvironmentStore) -> None:
    names = ["x'); DROP TABLE form; --", '"; DELETE FROM form', "%s %(x)s :x ?", "é" * 10_000]
    store.apply([AddForm(name=name, metadata={name: name}) for name in names], who=names[0])
    store.apply([AddVariable(definition=definition_of(sinks(names[3], *names)))], who=names[0])
    store.apply([AskVariable(form="Shop", variable=names[3], labels=names)], who=names[0])
    store.apply([RemoveForm(form=names[0])], who=names[0])
    with EnvironmentStore.open(store.path) as other:
        assert documents(other.environment()) == documents(store.environment())
        assert len(other.history(touching=names[0], who=names[0])) == 2
    store.check()


def sinks(name: str, *categories: str) -> Variable:
    return Variable(name, PartitionGraph({category: [] for category in categories}))


def test_selections_that_no_form_makes_are_forgotten(store: EnvironmentStore) -> None:
    def kept() -> list[tuple[str, ...]]:
        with closing(sqlite3.connect(store.path)) as connection:
            return connection.execute("SELECT labels FROM selection ORDER BY labels").fetchall()

    before = kept()
    store.apply([RenameVariable(variable="Country", to="Land"), RemoveForm(form="Club")], who=WHO)
    assert len(kept()) == len(before) - 1
    store.undo(who=WHO)
    assert kept() == before


def test_a_name_may_change_its_case(store: EnvironmentStore) -> None:
    store.apply([RenameForm(form="Bank", to="BANK")], who=WHO)
    store.apply([RenameVariable(variable="Age", to="ÂGE")], who=WHO)
    before = store.environment()
    with EnvironmentStore.open(store.path) as other:
        assert everything(other.environment()) == everything(before)
    assert before.code_of("BANK", "ÂGE") == "C3.001"


def test_undo_and_redo(store: EnvironmentStore) -> None:
    states = [everything(store.environment())]
    for edit in (RENAME, marked("Shop"), RemoveForm(form="Shop")):
        store.apply([edit], who=WHO)
        states.append(everything(store.environment()))
    undone = store.undo(who=WHO)
    assert (undone.action, undone.of, undone.number) == (Action.UNDO, 4, 5)
    assert undone.words == ("Undo revision 4: remove the form 'Shop'.",)
    assert undone.touched == {("form", "Shop")}
    assert everything(store.environment()) == states[2]
    assert store.undo(who=WHO).of == 3
    assert everything(store.environment()) == states[1]
    assert store.redo(who=WHO).of == 3
    assert everything(store.environment()) == states[2]
    again = store.redo(who=WHO)
    assert again.words == ("Redo revision 4: remove the form 'Shop'.",)
    assert everything(store.environment()) == states[3]
    refusal(lambda: store.redo(who=WHO), Reason.NOTHING_TO_UNDO)
    for number in (4, 3, 2):
        assert store.undo(who=WHO).of == number
    assert everything(store.environment()) == states[0]
    refusal(lambda: store.undo(who=WHO), Reason.NOTHING_TO_UNDO)
    store.apply([marked("Clinic")], who=WHO)
    refusal(lambda: store.redo(who=WHO), Reason.NOTHING_TO_UNDO)


def test_the_work_of_others_is_undone_only_when_asked(store: EnvironmentStore) -> None:
    store.apply([RENAME], who="ben")
    error = refusal(lambda: store.undo(who=WHO), Reason.NOTHING_TO_UNDO)
    assert "revision 2 by 'ben'" in error.found
    store.undo(who=WHO, anyone=True)
    refusal(lambda: store.redo(who="ben"), Reason.NOTHING_TO_UNDO)
    assert store.redo(who="ben", anyone=True).who == "ben"


def test_history_is_filtered(store: EnvironmentStore) -> None:
    store.apply([RENAME], who="ben")
    middle = store.apply([marked("Shop")], who=WHO).at
    store.apply([marked("Clinic")], who="ben")
    store.undo(who="ben")

    def numbers(**how: Any) -> list[int]:
        return [revision.number for revision in store.history(**how)]

    assert numbers() == [5, 4, 3, 2, 1]
    assert numbers(most=2) == [5, 4]
    assert numbers(who="ben") == [5, 4, 2]
    assert numbers(touching=("form", "clinic")) == [5, 4]
    assert numbers(touching="BANK") == [2]
    assert numbers(touching=("group", "Bank")) == []
    assert numbers(since=3) == [5, 4, 3]
    assert numbers(since=middle, until=middle) == [3]
    assert numbers(until=2) == [2, 1]
    refusal(lambda: numbers(since=datetime(2031, 1, 1)), Reason.BAD_OPTION)  # noqa: DTZ001


def test_the_environment_as_it_was(store: EnvironmentStore) -> None:
    states = {1: documents(store.environment())}
    times = {1: store.history()[0].at}
    for number, edit in enumerate((RENAME, marked("Shop"), RemoveForm(form="Shop")), start=2):
        time.sleep(0.002)
        times[number] = store.apply([edit], who=WHO).at
        states[number] = documents(store.environment())
    east = timezone(timedelta(hours=5))
    for number in states:
        assert documents(store.environment(as_of=number)) == states[number]
        moment = times[number].astimezone(east)
        assert documents(store.environment(as_of=moment)) == states[number]
        assert (
            documents(store.environment(as_of=moment + timedelta(milliseconds=1))) == states[number]
        )
    error = refusal(
        lambda: store.environment(as_of=times[1] - timedelta(microseconds=1)), Reason.NOT_FOUND
    )
    assert f"The store begins on {times[1]:%Y-%m-%d at %H:%M:%S} UTC." == error.found
    naive = datetime(2031, 1, 1)  # noqa: DTZ001
    refusal(lambda: store.environment(as_of=naive), Reason.BAD_OPTION)
    for number in (0, 5, -1):
        error = refusal(lambda number=number: store.environment(as_of=number), Reason.NOT_FOUND)
        assert error.found == f"There is no revision {number}; they are 1 to 4."


def test_time_never_goes_back(store: EnvironmentStore, monkeypatch: pytest.MonkeyPatch) -> None:
    class Earlier(datetime):
        @classmethod
        def now(cls, tz: Any = None) -> Any:
            return datetime(2001, 1, 1, tzinfo=UTC)

    first = store.apply([RENAME], who=WHO).at
    monkeypatch.setattr("gamekeeper.store.database.revisions.datetime", Earlier)
    assert store.apply([marked("Shop")], who=WHO).at == first


def test_a_stale_edit_is_refused_and_told_why(store: EnvironmentStore) -> None:
    with EnvironmentStore.open(store.path) as other:
        other.environment()
        store.apply([marked("Shop"), RENAME], who="ben")
        error = refusal(lambda: other.apply([marked("SHOP", 2)], who=WHO), Reason.STALE)
        (problem,) = error.problems
        assert problem.where == "form 'Shop'"
        assert "was changed in revision 2 by 'ben' on " in problem.found
        assert "Set 'mark' in the metadata of the form 'Shop'. And 1 more." in problem.found
        assert (other.revision, other.history(most=1)[0].number) == (1, 2)
        # Having seen it, the same person may go on.
        assert other.environment().form("Shop").metadata["mark"] == 1
        other.apply([marked("Shop", 2)], who=WHO)
    assert store.environment().form("Shop").metadata["mark"] == 2


def test_edits_of_other_parts_are_made_in_the_newest_environment(store: EnvironmentStore) -> None:
    with EnvironmentStore.open(store.path) as other:
        other.environment()
        store.apply([RENAME, RenameVariable(variable="Age", to="Years")], who="ben")
        other.apply([marked("Shop")], who=WHO)
        assert "Savings bank" in other.environment().forms
        assert documents(other.environment()) == documents(store.environment())


def test_what_became_impossible_says_what_happened(store: EnvironmentStore) -> None:
    with EnvironmentStore.open(store.path) as other:
        other.environment()
        store.apply([RenameVariable(variable="Age", to="Years")], who="ben")
        ask = AskVariable(form="Shop", variable="Age", labels=())
        error = refusal(lambda: other.apply([ask], who=WHO), Reason.UNKNOWN_NAME)
    assert "It was based on revision 1, and 1 revision came since." in error.found
    assert "Rename the variable 'Age' to 'Years'." in error.problems[-1].found


def test_a_base_can_be_given(store: EnvironmentStore) -> None:
    store.apply([marked("Shop")], who="ben")
    refusal(lambda: store.apply([marked("Shop", 2)], who=WHO, base=1), Reason.STALE)
    store.apply([marked("Shop", 2)], who=WHO, base=2)
    error = refusal(lambda: store.apply([marked("Clinic")], who=WHO, base=9), Reason.STALE)
    assert "an older state was restored" in error.found


def test_an_undo_makes_stale_too(store: EnvironmentStore) -> None:
    store.apply([marked("Shop")], who="ben")
    with EnvironmentStore.open(store.path) as other:
        other.environment()
        store.undo(who="ben")
        refusal(lambda: other.apply([marked("Shop", 2)], who=WHO), Reason.STALE)


def test_a_reader_sees_the_work_of_others(store: EnvironmentStore) -> None:
    with EnvironmentStore.open(store.path, readonly=True) as reader:
        first = reader.environment()
        assert reader.environment() is first
        store.apply([RENAME], who=WHO)
        store.apply([SplitCategory(variable="Country", category="NI", into=["a", "b"])], who=WHO)
        store.apply([RemoveForm(form="Shop"), AddForm(name="SHOP")], who=WHO)
        assert everything(reader.environment()) == everything(store.environment())
        assert "Bank" in first.forms
        refusal(lambda: reader.apply([RENAME], who=WHO), Reason.READ_ONLY)
        refusal(lambda: reader.save_codes(first), Reason.READ_ONLY)


def test_codes_of_a_variable_that_was_removed_are_not_given_again(store: EnvironmentStore) -> None:
    def asked() -> list[Edit]:
        x = AddVariable(definition=definition_of(sinks("X", "a", "b")))
        return [x, AskVariable(form="Shop", variable="X", labels=("a", "b"))]

    removed = [DropVariable(form="Shop", variable="X"), RemoveVariable(variable="X")]
    store.apply(asked(), who=WHO)
    assert store.environment().code_of("Shop", "X") == "C2.001"
    store.apply(removed, who=WHO)
    store.apply(asked(), who=WHO)
    environment = store.environment()
    assert environment.code_of("Shop", "X") == "C2.002"
    assert environment.register("X").retired == {"C2.001"}
    # Within one revision too.
    store.apply([*removed, *asked()], who=WHO)
    assert store.environment().code_of("Shop", "X") == "C2.003"
    for _ in range(3):
        store.undo(who=WHO)
    assert store.environment().code_of("Shop", "X") == "C2.001"
    assert store.environment().register("X").retired == {"C2.002", "C2.003"}
    with EnvironmentStore.open(store.path) as other:
        assert everything(other.environment()) == everything(store.environment())


def test_a_renamed_variable_keeps_its_codes(store: EnvironmentStore) -> None:
    before = store.environment().register("Country")
    store.apply([RenameVariable(variable="Country", to="Land")], who=WHO)
    ask = AskVariable(form="École", variable="Land", labels=("England", "Wales", "NI", "Abroad"))
    store.apply([ask], who=WHO)
    later = store.environment().register("Land")
    assert set(before) < set(later)
    store.undo(who=WHO)
    store.undo(who=WHO)
    # What was learnt under the other name is known under the old one.
    register = store.environment().register("Country")
    assert {code: register.meaning(code) for code in later} == {
        code: later.meaning(code) for code in later
    }


def test_codes_met_in_an_analysis_are_saved(store: EnvironmentStore) -> None:
    environment = store.environment()
    assert store.save_codes(environment) == 0
    strange = Partition.from_labels([0, 1, 0, 1])
    code = environment.code("Country", strange)
    with EnvironmentStore.open(store.path) as other:
        stale = other.environment()
        assert store.save_codes(environment) == 1
        assert other.environment().given_codes("Country").meaning(code) == strange
        assert store.revision == other.revision == 1
        # Another analysis gave the same code to something else.
        stale.code("Country", Partition.from_labels([0, 0, 1, 1]))
        error = refusal(lambda: other.save_codes(stale), Reason.STALE)
        assert code in error.problems[0].found
    store.apply([SplitCategory(variable="Country", category="NI", into=["a", "b"])], who=WHO)
    environment.code("Country", Partition.from_labels([0, 1, 1, 0]))
    refusal(lambda: store.save_codes(environment), Reason.STALE)
    store.undo(who=WHO)
    assert store.environment().given_codes("Country").meaning(code) == strange
    assert store.environment(as_of=1).given_codes("Country").meaning(code) == strange
    store.check()


def test_replaced_environments_keep_the_codes_of_the_store(store: EnvironmentStore) -> None:
    kept = store.environment().register("Country")
    other = Environment(
        [sinks("Country", "England", "Wales", "NI", "Abroad"), sinks("New", "a", "b")],
        [Form("Bank", {"Country": ("Abroad", "England", "NI", "Wales"), "New": ()})],
        name="other",
    )
    made = store.replace(other, who="ben", note="From the folder.")
    assert made.action is Action.IMPORT
    assert made.words[0].startswith("Replace the environment; 4 variables, 5 forms and 3 groups")
    environment = store.environment()
    assert documents(environment) == documents(other)
    register = environment.register("Country")
    assert all(register.meaning(code) == kept.meaning(code) for code in kept)
    store.undo(who="ben")
    assert documents(store.environment()) == documents(store.environment(as_of=1))
    with EnvironmentStore.open(store.path) as again:
        assert everything(again.environment()) == everything(store.environment())
    store.check()


def test_codes_that_mean_something_else_are_given_anew_and_told(path: Path) -> None:
    def one(*labels: str) -> Environment:
        graph = PartitionGraph({"ab": ["a", "b"], "bc": ["b", "c"]})
        return Environment([Variable("X", graph)], [Form("F", {"X": labels})])

    with EnvironmentStore.create(path, one("ab", "c"), who=WHO) as store:
        made = store.replace(one("a", "bc"), who=WHO)
        assert store.environment().code_of("F", "X") == "C2.002"
        (note,) = made.notes
        assert note.startswith("Codes of 'X' in the environment given mean something else")
        assert note.endswith("were given anew: 'C2.001'.")


def test_several_threads_share_a_store(store: EnvironmentStore) -> None:
    failures: list[BaseException] = []

    def work(number: int) -> None:
        try:
            for step in range(5):
                store.apply([AddForm(name=f"Form {number} of {step}")], who=f"thread {number}")
                store.environment()
        except BaseException as error:
            failures.append(error)
            raise

    threads = [Thread(target=work, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures
    assert store.revision == 21
    assert len(store.environment().forms) == 25
    store.check()


def test_a_path_of_any_characters(tmp_path: Path) -> None:
    for name in ("a b", "what?", "100%", "50%20", "#1", "é;'\"", "-x", "a&mode=memory"):
        with EnvironmentStore.create(tmp_path / name, who=WHO) as store:
            store.apply([AddForm(name="A")], who=WHO)
        with EnvironmentStore.open(tmp_path / name) as again:
            assert list(again.environment().forms) == ["A"]
    assert len([entry for entry in tmp_path.iterdir() if entry.suffix != ".backup"]) == 8


def test_a_link_is_followed(store: EnvironmentStore, path: Path, tmp_path: Path) -> None:
    store.close()
    (tmp_path / "elsewhere").mkdir()
    link = tmp_path / "elsewhere" / "link.gk"
    link.symlink_to(path)
    with EnvironmentStore.open(link) as linked:
        linked.apply([RENAME], who=WHO)
    assert list(link.parent.iterdir()) == [link]
    with EnvironmentStore.open(path) as again:
        assert again.revision == 2


@pytest.mark.slow
def test_the_database_is_imported_only_when_it_is_used(path: Path) -> None:
    code = """
import sys
import gamekeeper
from gamekeeper.workbench.environment import editing
from gamekeeper.workbench.environment import opening as environments
heavy = lambda: [name for name in ("sqlalchemy", "alembic") if name in sys.modules]
print(heavy())
from gamekeeper.store.database.environment_store import EnvironmentStore
with EnvironmentStore.open(sys.argv[1]) as store:
    store.environment()
print(heavy())
"""
    EnvironmentStore.create(path, who=WHO).close()
    done = subprocess.run(
        [sys.executable, "-c", code, str(path)], capture_output=True, text=True, check=True
    )
    assert done.stdout.split("\n")[:2] == ["[]", "['sqlalchemy']"]


def test_an_error_on_the_way_is_the_one_that_is_told(path: Path) -> None:
    path.with_name("forms.gk.backup").mkdir()

    def fail() -> None:
        with EnvironmentStore.create(path, who=WHO) as store:
            store.apply([AddForm(name="A")], who=WHO)
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        fail()
    with EnvironmentStore.open(path) as store:
        store.apply([AddForm(name="B")], who=WHO)
        with pytest.raises(StoreError):
            store.close()
    with EnvironmentStore.open(path) as store:
        assert list(store.environment().forms) == ["A", "B"]


def test_errors_of_edits_are_those_of_the_editor(store: EnvironmentStore) -> None:
    with pytest.raises(InputError) as caught:
        store.apply([AddForm(name="bank")], who=WHO)
    assert caught.value.reason is Reason.DUPLICATE


def test_a_check_tells_how_far_it_is(path: Path) -> None:
    told: list[tuple[int, int | None]] = []
    with EnvironmentStore.create(path, who=WHO) as store:
        for number in range(3):
            store.apply([AddForm(name=f"Form {number}")], who=WHO)
        store.check(progress=lambda done, total: told.append((done, total)))
    assert told == [(0, 3), (1, 3), (2, 3)]
