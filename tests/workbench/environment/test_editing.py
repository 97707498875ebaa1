"""Merged environments keep the history of each."""

from __future__ import annotations

import pytest

from gamekeeper.errors import InputError
from gamekeeper.mapping.edits import AddForm, AddVariable
from gamekeeper.mapping.variables.codes import Variable
from gamekeeper.mapping.variables.definitions import definition_of
from gamekeeper.store.database.environment_store import EnvironmentStore
from gamekeeper.workbench.environment.browsing import list_history
from gamekeeper.workbench.environment.editing import merge
from gamekeeper.workbench.requests.environment import HistoryRequest, InStore, MergeRequest, Person


def made(path, name, who, *edits):
    with EnvironmentStore.create(path, name=name, who=who) as store:
        for edit in edits:
            store.apply([edit], who=who, note=f"by {who}")
    return path


@pytest.fixture
def offices(tmp_path):
    age = AddVariable(definition=definition_of(Variable.of_bands("Age", ["0-15", "16+"])))
    asks = {"Age": ("0-15", "16+")}
    return [
        made(tmp_path / "north.gk", "North", "ann", age),
        made(tmp_path / "south.gk", "South", "bob", age, AddForm(name="Gym", variables=asks)),
        made(tmp_path / "west.gk", "West", "cy", age, AddForm(name="Spa", variables=asks)),
    ]


def joined(store, other, **more):
    person = Person(who="dee")
    return merge(MergeRequest(place=InStore(store=store), other=other, person=person, **more))


def told(store, **more):
    asked = HistoryRequest(place=InStore(store=store), merged=True, **more)
    return [(row[0], row[1], row[3]) for row in list_history(asked).rows]


def test_the_history_of_a_merged_environment_is_kept_with_who_and_when(offices):
    north, south, _ = offices
    joined(north, south)
    kept = {row for row in told(north) if row[0]}
    assert kept == {("South", 1, "bob"), ("South", 2, "bob"), ("South", 3, "bob")}
    assert ("South", 3, "bob") in told(north, form="Gym")
    assert not [row for row in told(north, by="cy") if row[0]]
    # Without asking, the list has the revisions of this store alone.
    plain = list_history(HistoryRequest(place=InStore(store=north)))
    assert plain.columns[0] == "revision"
    assert [row[0] for row in plain.rows] == [3, 2, 1]


def test_what_was_kept_goes_on_with_a_further_merge(offices):
    north, south, west = offices
    joined(south, west)
    joined(north, south)
    kept = {(row[0], row[1]) for row in told(north) if row[0]}
    assert kept == {("South", n) for n in (1, 2, 3, 4)} | {("West", n) for n in (1, 2, 3)}
    with EnvironmentStore.open(north) as store:
        before = store.environment()
        assert set(before.forms) == {"Gym", "Spa"}
        store.undo(who="dee")
        assert not store.environment().forms
        store.redo(who="dee")
        assert store.environment().forms == before.forms


def test_a_merge_of_what_is_here_makes_no_revision(offices):
    north, south, _ = offices
    joined(north, south)
    assert joined(north, south).edited is None
    with EnvironmentStore.open(north) as store:
        assert store.revision == 3


def test_a_decision_on_no_conflict_changes_nothing(offices):
    north, south, _ = offices
    with pytest.raises(InputError, match="Gmy"):
        joined(north, south, decisions={"form:Gmy": "ours"})
    with EnvironmentStore.open(north) as store:
        assert store.revision == 2
