from __future__ import annotations

import pytest

from gamekeeper.algorithms.categories.partition_graph import PartitionGraph
from gamekeeper.errors import InputError
from gamekeeper.mapping.edits import WidenVariable, apply_edits
from gamekeeper.mapping.environment.environment import Environment, Form
from gamekeeper.mapping.forms.questions import Answer, Question
from gamekeeper.mapping.variables.variable import ALSO, ELSE, OUTSIDE, Variable


def small() -> Environment:
    graph = {"partnered": ["married", "cohabiting"], "alone": ["single", "widowed"]}
    status = Variable("Status", PartitionGraph(graph))
    answers = [Answer(text=text, means=text) for text in ("partnered", "alone")]
    return Environment(
        [status],
        [
            Form("Fine", {"Status": ("married", "cohabiting", "single", "widowed")}),
            Form("Coarse", {"Status": ("partnered", "alone")}),
            Form("Club", {"Status": ("single", OUTSIDE)}),
            Form("Free", {"Status": ()}),
            Form("Rest", {"Status": ("single", ELSE)}),
            Form("Worded", questions=[Question(name="Q1", variable="Status", answers=answers)]),
            Form("Twice", {"Status": ("partnered", "alone", ALSO, "married", OUTSIDE)}),
        ],
    )


def valid(environment: Environment) -> bool:
    return not environment.faulty_instances("Status")


def words(environment: Environment, form: str) -> tuple[str, ...]:
    told = environment.categorization(form, "Status").partition
    assert told is not None
    return environment.variable("Status").words(told)


def test_people_whom_no_form_asked() -> None:
    before = small()
    after = apply_edits(before, [WidenVariable(variable="Status", category="other")])
    assert valid(after)
    assert after.form("Coarse").instances["Status"] == ("partnered", "alone", OUTSIDE)
    assert after.form("Worded").questions[0].outside
    assert after.categorization("Coarse", "Status").outside == ("other",)
    # Who has a place for all others has one for them.
    assert after.code_of("Club", "Status") == before.code_of("Club", "Status")
    assert after.code_of("Rest", "Status") == before.code_of("Rest", "Status")
    assert after.code_of("Coarse", "Status") != before.code_of("Coarse", "Status")
    assert after.code_of("Coarse", "Status") == after.code_of("Worded", "Status")
    assert before.code_of("Coarse", "Status") in after.register("Status").retired
    assert after.code_of("Free", "Status") == "C0.001"


def test_people_inside_a_finest_category() -> None:
    before = small()
    edit = WidenVariable(
        variable="Status",
        category="in civil partnership",
        inside="married",
        rest="in marriage",
        outside=["Fine"],
    )
    after = apply_edits(before, [edit])
    assert valid(after)
    assert after.form("Fine").instances["Status"][0] == "in marriage"
    assert after.categorization("Fine", "Status").outside == ("in civil partnership",)
    for form in ("Coarse", "Worded", "Twice", "Rest"):
        assert after.code_of(form, "Status") == before.code_of(form, "Status")
    assert after.code_of("Fine", "Status") != before.code_of("Fine", "Status")


def test_people_inside_a_coarser_category() -> None:
    before = small()
    edit = WidenVariable(variable="Status", category="betrothed", inside="partnered")
    after = apply_edits(before, [edit])
    assert valid(after)
    assert set(words(after, "Coarse")) == {"partnered", "alone"}
    assert after.code_of("Coarse", "Status") == before.code_of("Coarse", "Status")
    assert after.code_of("Worded", "Status") == before.code_of("Worded", "Status")
    # Whoever tells the partnered apart had no place for them.
    assert after.form("Fine").instances["Status"][-1] == OUTSIDE
    assert before.code_of("Fine", "Status") in after.register("Status").retired


@pytest.mark.parametrize(
    ("edit", "found"),
    [
        (WidenVariable(variable="Status", category="single"), "already"),
        (WidenVariable(variable="Status", category="x", inside="married"), "--rest"),
        (WidenVariable(variable="Status", category="x", inside="alone", rest="y"), "--rest away"),
        (WidenVariable(variable="Status", category="x", inside="nobody"), "nobody"),
        (WidenVariable(variable="Status", category="x", outside=["Fine"]), "--outside away"),
    ],
)
def test_what_does_not_fit_is_refused(edit: WidenVariable, found: str) -> None:
    with pytest.raises(InputError, match=found):
        apply_edits(small(), [edit])


def test_bands_are_not_widened() -> None:
    environment = Environment([Variable.of_bands("Age", ["0-15", "16+"])])
    with pytest.raises(InputError, match="interval"):
        apply_edits(environment, [WidenVariable(variable="Age", category="-1")])
