from __future__ import annotations

from gamekeeper.mapping.edits import (
    AddBands,
    AddForm,
    AddGroup,
    AddVariable,
    Edit,
    RenameForm,
    SplitCategory,
    apply_edits,
    edit_notes,
)
from gamekeeper.mapping.environment.environment import Environment
from gamekeeper.mapping.variables.definitions import DEFINITION


def notes(environment: Environment, *edits: Edit) -> tuple[str, ...]:
    return edit_notes(environment, apply_edits(environment, edits), edits)


def test_near_duplicates_are_pointed_out(environment: Environment) -> None:
    sex = {"name": "Countries", "scale": "nominal", "categories": {"a": []}}
    assert notes(
        environment,
        AddVariable(definition=DEFINITION.validate_python(sex)),
        AddForm(name="Clinics"),
        AddGroup(name="Trades", forms=[]),
        SplitCategory(variable="Country", category="Wales", into=["Scotlan", "Rest"]),
    ) == (
        "The new form 'Clinics' is near to 'Clinic'.",
        "The new group 'Trades' is near to 'Trade'.",
        "The new category of 'Country', 'Scotlan', is near to 'Scotland'.",
    )


def test_parts_of_one_split_and_an_old_name_are_not_near(environment: Environment) -> None:
    split = SplitCategory(variable="Country", category="Abroad", into=["French", "Frenche"])
    assert notes(environment, split) == ()
    assert notes(environment, RenameForm(form="Clinic", to="Clinics")) == ()
    assert notes(environment, AddBands(variable="Age", bands=["16-65"])) == ()


def test_a_query_on_what_nothing_has_is_pointed_out(environment: Environment) -> None:
    (note,) = notes(environment, AddGroup(name="New", where="yaer > 2000 and has Age"))
    assert (
        note
        == "The query 'yaer > 2000 and has Age': key 'yaer': no form has it. Near to it: 'year'."
    )


def test_many_new_names_are_not_compared(environment: Environment) -> None:
    many = [AddForm(name=f"Clinics {'x' * number}") for number in range(1, 30)]
    assert notes(environment, *many, AddForm(name="Clinics")) == ()
