from __future__ import annotations

import sqlite3
import stat
from contextlib import closing

import pytest

from gamekeeper.errors import GamekeeperError, InputError, Reason, StoreError
from gamekeeper.store.study import Study


@pytest.fixture
def study(tmp_path):
    return Study.create(tmp_path / "study.gkp", {"keys": ["Age"]})


def test_candidates_are_a_tree_and_undo_goes_back_along_it(study):
    one = study.add({"label": "one", "parent": 0})
    two = study.add({"label": "two", "parent": one})
    study.choose(two)
    assert study.undo() == one
    three = study.add({"label": "three", "parent": study.current})
    assert (study.undo(), study.current) == (0, 0)
    again = Study.open(study.path)
    assert [(c["number"], c["parent"], c["label"]) for c in again.candidates()] == [
        (one, 0, "one"), (two, one, "two"), (three, one, "three"),
    ]  # fmt: skip
    assert again.about == {"keys": ["Age"]}


def test_there_is_nothing_to_undo_at_the_file_itself(study):
    with pytest.raises(InputError) as error:
        study.undo()
    assert error.value.reason is Reason.NOTHING_TO_UNDO
    with pytest.raises(InputError):
        study.choose(3)


def test_a_study_is_for_its_owner_and_is_never_replaced(study):
    assert stat.S_IMODE(study.path.stat().st_mode) == 0o600
    with pytest.raises(StoreError):
        Study.create(study.path, {})


def test_what_is_no_study_is_refused(tmp_path, study):
    (tmp_path / "text.gkp").write_text("no study")
    with closing(sqlite3.connect(tmp_path / "other.gkp")) as other:
        other.execute("CREATE TABLE a (b)")
    for name in ("none.gkp", "text.gkp", "other.gkp"):
        with pytest.raises(InputError):
            Study.open(tmp_path / name)
    connection = sqlite3.connect(study.path)
    connection.execute("PRAGMA user_version = 9")
    connection.close()
    with pytest.raises(InputError) as error:
        Study.open(study.path)
    assert error.value.reason is Reason.NEWER_VERSION


def test_a_damaged_study_is_one_clear_error(study):
    content = study.path.read_bytes()
    study.path.write_bytes(content[:4096] + b"\xff" * (len(content) - 4096))
    with pytest.raises(GamekeeperError):
        study.candidates()
