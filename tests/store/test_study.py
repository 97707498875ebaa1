from __future__ import annotations

import random
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


def test_no_flipped_bit_changes_what_a_study_says(study):
    """A checksum of all that is kept: what comes out is what was written, or one clear error."""
    for number in range(4):
        study.add({"label": f"candidate {number}", "parent": number, "lost_share": 0.25 + number})
    study.choose(3)
    told = (study.about, study.current, study.candidates())
    content = study.path.read_bytes()
    rng = random.Random(1)
    refused = 0
    for place in rng.sample(range(8 * len(content)), 250):
        damaged = bytearray(content)
        damaged[place // 8] ^= 1 << place % 8
        study.path.write_bytes(bytes(damaged))
        try:
            opened = Study.open(study.path)
            assert (opened.about, opened.current, opened.candidates()) == told
        except GamekeeperError:
            refused += 1
    assert refused
    # Aimed at what is kept: every bit of the text of a candidate.
    start = content.index(b"candidate 2")
    for place in range(8 * len(b"candidate 2")):
        damaged = bytearray(content)
        damaged[start + place // 8] ^= 1 << place % 8
        study.path.write_bytes(bytes(damaged))
        with pytest.raises(GamekeeperError):
            Study.open(study.path).candidates()
        with pytest.raises(GamekeeperError):
            Study.open(study.path).undo()
