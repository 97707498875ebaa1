from __future__ import annotations

import pickle
import re
import runpy

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gamekeeper import errors
from gamekeeper.errors import (
    Cancelled,
    GamekeeperError,
    InputError,
    LimitError,
    Problem,
    Reason,
    StoreError,
    fault_place,
    refuse,
)
from gamekeeper.wording import count_of, did_you_mean, quoted, unfit_character


@pytest.mark.parametrize(
    ("kind", "exit_code"),
    [(GamekeeperError, 1), (InputError, 2), (StoreError, 2), (LimitError, 3), (Cancelled, 130)],
)
def test_every_error_has_its_exit_code(kind, exit_code):
    assert kind.exit_code == exit_code
    assert issubclass(kind, GamekeeperError)


def test_the_tree_in_the_docstring_is_the_tree():
    drawn = re.findall(r"[├└]── (\w+) .*exit code (\d+)", errors.__doc__ or "")
    real = {(kind.__name__, str(kind.exit_code)) for kind in GamekeeperError.__subclasses__()}
    assert set(drawn) == real


def test_reason_codes_are_stable_words():
    values = [reason.value for reason in Reason]
    assert len(values) == len(set(values))
    assert all(re.fullmatch(r"[a-z]+(-[a-z]+)*", value) for value in values)
    assert Reason.UNKNOWN_NAME == "unknown-name"


def test_an_error_says_what_was_asked_found_and_to_do():
    error = InputError(Reason.NOT_FOUND, "A file was asked for.", "There is none.", "Make one.")
    assert error.message == "A file was asked for. There is none. Make one."
    assert str(error) == error.message
    assert (error.asked, error.found, error.do) == tuple(error.args)
    bare = InputError(Reason.NOT_FOUND, "A file was asked for.", "There is none.")
    assert str(bare) == "A file was asked for. There is none."


def test_an_error_lists_every_problem_up_to_a_screenful():
    problems = [Problem(Reason.DUPLICATE, f"form {n}", "is there twice.") for n in range(100)]
    error = InputError(Reason.DUPLICATE, "Asked.", "Found.", problems=iter(problems))
    lines = str(error).splitlines()
    assert error.problems == tuple(problems)
    assert lines[0] == "Asked. Found."
    assert lines[1] == "  - form 0: is there twice."
    assert lines[-1] == "  - and 60 more"
    assert len(lines) == 42
    few = InputError(Reason.DUPLICATE, "Asked.", "Found.", problems=problems[:40])
    assert "more" not in str(few)


def test_all_problems_are_raised_at_once_under_the_reason_of_the_first():
    errors.refuse([], "Forms were asked for.", "0 faults.")
    first = Problem(Reason.DUPLICATE, "form 'Bank'", "is there twice.")
    second = Problem(Reason.BAD_NAME, "form ''", "is empty.")
    with pytest.raises(InputError) as caught:
        errors.refuse([first, second], "Forms were asked for.", "2 faults.", "Mend them.")
    assert caught.value.reason is Reason.DUPLICATE
    assert caught.value.problems == (first, second)
    assert caught.value.message == "Forms were asked for. 2 faults. Mend them."


def test_a_problem_says_where_and_what_to_do():
    assert (
        str(Problem(Reason.BAD_NAME, "here", "is wrong.", "Mend it.")) == "here: is wrong. Mend it."
    )


def test_cancelled_work_says_that_nothing_changed():
    error = Cancelled("A map was asked for.")
    assert error.reason is Reason.CANCELLED
    assert str(error) == "A map was asked for. The work was cancelled. Nothing was changed."


@pytest.mark.parametrize(
    ("name", "known", "said"),
    [
        ("regoin", ["region", "sex", "age"], "Near to it: 'region'."),
        ("REGION", ["region", "sex"], "Near to it: 'region'."),
        ("region", ["Region"], "Near to it: 'Region'."),
        ("height", ["sex", "age"], "There are: 'age', 'sex'."),
        ("height", [], "There are none."),
        ("x", [f"name {n:02}" for n in range(20)], "and 12 more."),
    ],
)
def test_near_names_are_offered(name, known, said):
    assert said in did_you_mean(name, iter(known))


@given(st.text(), st.lists(st.text(max_size=8), max_size=30))
def test_offered_names_are_known_ones(name, known):
    said = did_you_mean(name, known)
    assert not unfit_character(said)
    assert len(said) < 700


def test_names_are_quoted_and_cut():
    assert quoted(["Age"]) == "'Age'"
    assert quoted([]) == ""
    assert quoted(map(str, range(10))).endswith("'7' and 2 more")
    assert quoted("abc", most=3) == "'a', 'b', 'c'"


@given(st.text(min_size=1, max_size=300))
def test_quoted_names_are_short_and_fit_to_show(name):
    shown = quoted([name])
    assert len(shown) <= 62
    assert not unfit_character(shown)


def test_numbers_come_with_their_nouns():
    assert count_of(0, "form") == "0 forms"
    assert count_of(1, "form") == "1 form"
    assert count_of(1_234, "category", "categories") == "1,234 categories"


@pytest.mark.parametrize("kind", [InputError, StoreError, LimitError])
def test_errors_survive_the_way_between_processes(kind):
    problem = Problem(Reason.DUPLICATE, "here", "is there twice.")
    error = kind(Reason.DUPLICATE, "Asked.", "Found.", "Do.", problems=[problem])
    again = pickle.loads(pickle.dumps(error))
    assert type(again) is kind
    assert str(again) == str(error)
    assert again.reason is error.reason
    assert again.problems == error.problems
    assert str(pickle.loads(pickle.dumps(Cancelled("Asked.")))) == str(Cancelled("Asked."))


def test_a_fault_is_where_the_package_was_last_whatever_folders_are_called(tmp_path):
    # What we call is no place of ours, though its file lies in a folder of our name.
    folder = tmp_path / "gamekeeper"
    folder.mkdir()
    script = folder / "elsewhere.py"
    script.write_text("def names():\n    yield {}['a']\n", encoding="utf-8")
    with pytest.raises(KeyError) as caught:
        quoted(runpy.run_path(str(script))["names"]())
    assert fault_place(caught.value).startswith("quoted, line ")
    assert fault_place(KeyError("never raised")) == "unknown place"


def test_refusing_tells_all_problems_with_the_reason_of_the_first() -> None:
    refuse([], "A file was to be read.", "Nothing is wrong.")
    problems = [Problem(Reason.DUPLICATE, "a", "twice."), Problem(Reason.BAD_OPTION, "b", "odd.")]
    with pytest.raises(InputError) as caught:
        refuse(problems, "A file was to be read.", "2 faults were found.", "Mend them.")
    assert caught.value.reason is Reason.DUPLICATE
    assert caught.value.problems == tuple(problems)
