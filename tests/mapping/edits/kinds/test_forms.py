from __future__ import annotations

import pytest

from gamekeeper.errors import Reason
from gamekeeper.mapping.edits import (
    AddForm,
    AskVariable,
    DropVariable,
    Edit,
    RemoveForm,
    RenameForm,
    SetMetadata,
    apply_edits,
)
from gamekeeper.mapping.environment.environment import Environment
from tests.mapping.edits.conftest import refusal


def test_a_form_is_added(environment: Environment) -> None:
    edit = AddForm(
        name="Library", metadata={"sector": "bank"}, variables={"Country": ["UK", "Abroad"]}
    )
    after = apply_edits(environment, [edit])
    assert after.code_of("Library", "Country") == environment.code_of("Bank", "Country")
    assert "Library" in after.group("Banks").forms
    assert "Library" not in environment.forms


def test_a_form_may_not_be_given_an_invalid_categorization(environment: Environment) -> None:
    edit = AddForm(name="New", variables={"Country": ["UK"], "Health": ["good", "well"], "Age": []})
    error = refusal(environment, edit)
    assert error.reason is Reason.NOT_A_CATEGORIZATION
    assert [problem.where for problem in error.problems] == [
        "form 'New', variable 'Country'",
        "form 'New', variable 'Health'",
    ]
    assert "misses 'Abroad'" in str(error)
    after = apply_edits(environment, [edit], unrestricted=True)
    assert not after.categorization("New", "Country").is_valid
    # The unrestricted editor does not invent categories either.
    unknown = AddForm(name="New", variables={"Country": ["Uk"], "Sex": []})
    error = refusal(environment, unknown, unrestricted=True)
    assert {problem.reason for problem in error.problems} == {Reason.UNKNOWN_NAME}
    assert len(error.problems) == 2


def test_a_fault_that_is_there_does_not_stop_other_edits(environment: Environment) -> None:
    assert not environment.categorization("Faulty", "Country").is_valid
    after = apply_edits(environment, [AskVariable(form="Faulty", variable="Age", labels=[])])
    assert not after.categorization("Faulty", "Country").is_valid
    mended = apply_edits(
        after, [AskVariable(form="Faulty", variable="Country", labels=["UK", "Abroad"])]
    )
    assert mended.categorization("Faulty", "Country").is_valid


def test_a_form_is_removed_from_the_groups_that_list_it(environment: Environment) -> None:
    after = apply_edits(environment, [RemoveForm(form="Bank")])
    assert "Bank" not in after.forms
    assert after.group("Trade").forms == ("Shop",)
    assert after.group("Banks").forms == ()
    assert after.register("Country").meaning("C2.001") == environment.register("Country").meaning(
        "C2.001"
    )


def test_a_form_is_renamed_everywhere(environment: Environment) -> None:
    after = apply_edits(environment, [RenameForm(form="Bank", to="Bank account")])
    assert after.form("Bank account").instances == environment.form("Bank").instances
    assert after.groups["Trade"].forms == ("Bank account", "Shop")
    assert after.group("Banks").forms == ("Bank account",)
    assert after.code_of("Bank account", "Age") == environment.code_of("Bank", "Age")
    shouted = apply_edits(environment, [RenameForm(form="Bank", to="BANK")])
    assert "BANK" in shouted.forms


def test_metadata_is_set_and_removed(environment: Environment) -> None:
    edit = SetMetadata(form="Bank", values={"sector": "shop", "online": True}, remove=["year"])
    after = apply_edits(environment, [edit])
    assert after.form("Bank").metadata == {"sector": "shop", "online": True}
    assert after.group("Banks").forms == ()
    assert environment.group("Banks").forms == ("Bank",)


def test_a_variable_is_asked_for_and_dropped(environment: Environment) -> None:
    asked = apply_edits(
        environment, [AskVariable(form="Club", variable="Health", labels=["well", "poor"])]
    )
    assert asked.code_of("Club", "Health") == environment.code_of("Shop", "Health")
    dropped = apply_edits(asked, [DropVariable(form="Club", variable="Country")])
    assert set(dropped.form("Club").instances) == {"Health"}


@pytest.mark.parametrize(
    ("edit", "reason", "words"),
    [
        (AddForm(name="Bank"), Reason.DUPLICATE, "form of the name 'Bank' already"),
        (AddForm(name="bänk"), Reason.DUPLICATE, "only in case, accents"),
        (AddForm(name=" "), Reason.BAD_NAME, "white space"),
        (RemoveForm(form="Bnak"), Reason.UNKNOWN_NAME, "Near to it: 'Bank'"),
        (RenameForm(form="Bank", to="Bank"), Reason.DUPLICATE, "already"),
        (RenameForm(form="Bank", to="shop"), Reason.DUPLICATE, "differs from 'Shop'"),
        (RenameForm(form="Bank", to="a\nb"), Reason.BAD_NAME, "U+000A"),
        (RenameForm(form="No", to="Yes"), Reason.UNKNOWN_NAME, "no such form"),
        (SetMetadata(form="Bank"), Reason.NOTHING_GIVEN, "nothing to set"),
        (SetMetadata(form="Bank", remove=["yaer"]), Reason.UNKNOWN_NAME, "Near to it: 'year'"),
        (
            SetMetadata(form="Bank", values={"year": 1}, remove=["year"]),
            Reason.BAD_OPTION,
            "set and removed",
        ),
        (
            AskVariable(form="Club", variable="Sex", labels=[]),
            Reason.UNKNOWN_NAME,
            "no such variable",
        ),
        (
            AskVariable(form="Club", variable="Health", labels=["god"]),
            Reason.UNKNOWN_NAME,
            "Near to it: 'good'",
        ),
        (
            AskVariable(form="Club", variable="Age", labels=["16-17"]),
            Reason.UNKNOWN_NAME,
            "add the band to the variable",
        ),
        (DropVariable(form="Club", variable="Age"), Reason.NOT_FOUND, "does not have it"),
    ],
)
def test_refusals(environment: Environment, edit: Edit, reason: Reason, words: str) -> None:
    error = refusal(environment, edit)
    assert error.reason is reason
    assert words in str(error)
    assert str(error).startswith("This edit was asked for: ")


def test_in_a_list_the_edit_that_is_refused_is_named(environment: Environment) -> None:
    error = refusal(environment, RemoveForm(form="Shop"), RemoveForm(form="Shop"))
    assert error.asked == "Edit 2 of 2 was asked for: remove the form 'Shop'."
