from __future__ import annotations

import pytest

from gamekeeper.algorithms.categories.partition_graph import PartitionGraph
from gamekeeper.errors import InputError
from gamekeeper.mapping.edits import (
    AddBands,
    AddCategory,
    AddForm,
    AddGroup,
    AddVariable,
    AskVariable,
    Edit,
    PruneGraph,
    RemoveCategory,
    RemoveForm,
    RemoveVariable,
    RenameCategory,
    RenameForm,
    RenameVariable,
    SetChildren,
    SplitCategory,
    apply_edits,
    edit_notes,
    weigh_edits,
)
from gamekeeper.mapping.edits.consequences import Consequence, ConsequenceKind
from gamekeeper.mapping.environment.environment import Environment, Form
from gamekeeper.mapping.variables.codes import Variable
from gamekeeper.mapping.variables.definitions import DEFINITION
from tests.mapping.edits.conftest import everything


def test_what_is_allowed_anyway_has_no_consequences(environment: Environment) -> None:
    edits = [
        SplitCategory(variable="Country", category="Wales", into=["North", "South"]),
        AddCategory(variable="Country", category="Celtic", children=["Scotland", "North", "South"]),
        RenameCategory(variable="Country", category="UK", to="U.K."),
        RenameVariable(variable="Country", to="Land"),
        RenameForm(form="Bank", to="Bank account"),
        RenameCategory(variable="Land", category="U.K.", to="Union"),
        AddForm(name="New"),
        RemoveForm(form="Clinic"),
    ]
    before = everything(environment)
    weighed = weigh_edits(environment, edits)
    assert weighed.rows == ()
    assert weighed.broken == ()
    assert weighed.summary()["edits"] == 8
    assert everything(environment) == before


def test_forms_that_break_are_shown_with_labels_lost_and_codes_retired(
    environment: Environment,
) -> None:
    weighed = weigh_edits(environment, [RemoveCategory(variable="Country", category="England")])
    codes = [code for code in environment.register("Country") if code != "C0.001"]
    by_kind = {kind: [row for row in weighed.rows if row.kind is kind] for kind in ConsequenceKind}
    assert by_kind[ConsequenceKind.BREAKS] == [
        Consequence(
            ConsequenceKind.BREAKS,
            "Country",
            "Club",
            'has only "outside this form\'s universe"; add the categories that the form offers.',
        )
    ]
    assert by_kind[ConsequenceKind.LOSES_LABELS] == [
        Consequence(ConsequenceKind.LOSES_LABELS, "Country", "Club", "'England'")
    ]
    # Without the English nobody's UK is what it was.
    changed = {row.form for row in by_kind[ConsequenceKind.CHANGES]}
    assert changed == {"Bank", "Shop"}
    retired = {row.detail for row in by_kind[ConsequenceKind.CODE_RETIRED]}
    assert retired == set(codes)
    assert weighed.broken == ("Club",)
    assert weighed.summary() == {
        "environment": "small",
        "edits": 1,
        "forms_that_break": 1,
        "forms_that_change": 2,
        "forms_that_lose_labels": 1,
        "forms_that_lose_a_variable": 0,
        "codes_retired": len(codes),
        "categories_gone": 1,
    }


def test_a_form_whose_categories_come_to_mean_something_else(environment: Environment) -> None:
    weighed = weigh_edits(
        environment,
        [
            SetChildren(variable="Country", category="UK", children=["Britain"]),
            SplitCategory(variable="Country", category="Abroad", into=["Ireland", "Elsewhere"]),
            SetChildren(
                variable="Country",
                category="Abroad",
                children=["Ireland", "Elsewhere", "N. Ireland"],
            ),
        ],
    )
    kinds = {(row.form, row.kind) for row in weighed.rows}
    assert kinds == {("Bank", ConsequenceKind.CHANGES), ("Shop", ConsequenceKind.BREAKS)}
    (change,) = (row for row in weighed.rows if row.form == "Bank")
    before = environment.code_of("Bank", "Country")
    assert change.detail.startswith(f"It was {before} and would be C2.")


def test_what_is_mended_by_a_later_edit_does_not_count(environment: Environment) -> None:
    edits = [
        RemoveCategory(variable="Country", category="Britain"),
        AskVariable(
            form="Shop",
            variable="Country",
            labels=["England", "Scotland", "Wales", "N. Ireland", "Abroad"],
        ),
    ]
    assert weigh_edits(environment, edits[:1]).broken == ("Shop",)
    assert weigh_edits(environment, edits).broken == ()


def test_a_variable_is_lost_with_its_labels(environment: Environment) -> None:
    weighed = weigh_edits(environment, [RemoveVariable(variable="Health")])
    assert [(row.kind, row.form, row.detail) for row in weighed.rows] == [
        (ConsequenceKind.LOSES_VARIABLE, "Clinic", "'good', 'fair', 'poor'"),
        (ConsequenceKind.LOSES_VARIABLE, "Shop", "'well', 'poor'"),
    ]


def test_what_cannot_be_done_at_all_is_refused(environment: Environment) -> None:
    with pytest.raises(InputError):
        weigh_edits(environment, [RemoveVariable(variable="Country")])


def test_categories_that_go_are_named() -> None:
    parts = {"Town": ["Leeds", "York"], "North": ["Town", "Moors"], "Wet": ["York", "Moors"]}
    place = Variable("Place", PartitionGraph(parts))
    environment = Environment([place], [Form("A", {"Place": ("North",)})])
    weighed = weigh_edits(environment, [PruneGraph(variable="Place", keep=("Town",))])
    assert [(str(row.kind), row.detail) for row in weighed.rows] == [("category gone", "'Wet'")]
    assert weighed.summary()["categories_gone"] == 1


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
