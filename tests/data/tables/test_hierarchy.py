from __future__ import annotations

import pytest

from gamekeeper.data.tables.hierarchy import Hierarchy, hierarchy_by_codes, read_hierarchy
from gamekeeper.errors import InputError, Reason


def written(tmp_path, name, text):
    path = tmp_path / name
    path.write_bytes(text.encode())
    return path


def test_a_hrc_file_is_read_with_blanks_and_lead_signs(tmp_path):
    made = read_hierarchy(written(tmp_path, "region.hrc", "Nr\n@ 1\n@ 2\nOs \n@ 4\n@@41\n@@42\n"))
    assert made.parts == {"Nr": (("1", "2"),), "Os": (("4",),), "4": (("41", "42"),)}
    assert made.roots == ("Nr", "Os")


def test_parents_and_levels_are_read_from_text(tmp_path):
    parents = read_hierarchy(written(tmp_path, "p.csv", "code;parent\nA;\nA1;A\nA2;A\n"))
    assert parents.parts == {"A": (("A1", "A2"),)}
    levels = read_hierarchy(
        written(tmp_path, "l.csv", "A10,A21,A88\nAZ,A,01\nAZ,A,02\nBE,B,05\nBE,C,10\n")
    )
    assert levels.parts == {
        "AZ": (("A",),), "A": (("01", "02"),), "BE": (("B", "C"),), "B": (("05",),), "C": (("10",),)
    }  # fmt: skip


@pytest.mark.parametrize(
    ("name", "text", "reason"),
    [
        ("a.csv", "code,parent\nA,B\nB,C\nC,A\n", Reason.NOT_A_PARTITION_GRAPH),
        ("a.hrc", "A\n@@A1\n", Reason.MALFORMED),
        ("a.hrc", "A\n@A1\nB\n@A1\n", Reason.DUPLICATE),
        ("a.csv", "code\nA\n", Reason.WRONG_SCHEMA),
        ("a.csv", "code,parent\n", Reason.NOTHING_GIVEN),
    ],
)
def test_what_is_no_hierarchy_is_refused(tmp_path, name, text, reason):
    with pytest.raises(InputError) as error:
        read_hierarchy(written(tmp_path, name, text))
    assert error.value.reason is reason


def test_a_file_that_is_not_there_is_told(tmp_path):
    with pytest.raises(InputError) as error:
        read_hierarchy(tmp_path / "none.hrc")
    assert error.value.reason is Reason.NOT_FOUND


def test_what_holds_something_twice_is_refused():
    with pytest.raises(InputError, match="twice"):
        Hierarchy.of_ways({"A": [["B", "C"]], "B": [["x", "y"]], "C": [["y", "z"]]}, "test")
    with pytest.raises(InputError, match="different things"):
        Hierarchy.of_ways({"A": [["x", "y"], ["x", "z"]]}, "test")


def test_two_trees_of_one_axis_need_not_be_nested():
    first = Hierarchy.of_tree({"county": ["a", "b"], "rest": ["c", "d"]}, "one")
    second = Hierarchy.of_tree({"small": ["a", "c"], "large": ["b", "d"]}, "two")
    both = first.joined(second)
    assert set(both.parts) == {"county", "rest", "small", "large"}


def test_codes_that_start_with_dots_are_read_as_they_are():
    assert hierarchy_by_codes([".A", ".A1", ".A2"]).parts == {".A": ((".A1", ".A2"),)}


def test_a_file_without_a_sign_that_indents_is_refused(tmp_path):
    with pytest.raises(InputError) as caught:
        read_hierarchy(written(tmp_path, "h.hrc", "A\n@B\n"), lead="")
    assert caught.value.reason is Reason.BAD_OPTION
