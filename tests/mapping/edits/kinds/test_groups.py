from __future__ import annotations

import pytest

from gamekeeper.errors import Reason
from gamekeeper.mapping.edits import (
    AddForm,
    AddGroup,
    Edit,
    RemoveGroup,
    RenameGroup,
    ReplaceGroup,
    apply_edits,
)
from gamekeeper.mapping.environment.environment import Environment
from tests.mapping.edits.conftest import refusal


def test_groups_of_every_kind_are_added(environment: Environment) -> None:
    edits = [
        AddGroup(name="Sick", where="sector = health", description="Ill."),
        AddGroup(name="None", forms=[]),
        AddGroup(name="Both", intersection=["Trade", "Banks"]),
        AddGroup(name="Rest", difference=["Trade", "Banks"]),
        AddForm(name="Ward", metadata={"sector": "Health"}),
    ]
    after = apply_edits(environment, edits)
    assert after.group("Sick").forms == ("Clinic", "Ward")
    assert after.group("Sick").description == "Ill."
    assert after.group("None").forms == ()
    assert after.group("Both").forms == ("Bank",)
    assert after.group("Rest").forms == ("Shop",)


def test_a_group_is_defined_anew(environment: Environment) -> None:
    described = apply_edits(
        environment, [ReplaceGroup(group="Trade", where="year > 2000", description="New.")]
    )
    assert described.group("Either").forms == ("Bank",)
    again = apply_edits(described, [ReplaceGroup(group="Trade", forms=["Club"])])
    assert again.group("Trade").description == "New."
    assert set(again.group("Either").forms) == {"Bank", "Club"}


def test_a_group_is_renamed_in_the_groups_made_from_it(environment: Environment) -> None:
    after = apply_edits(environment, [RenameGroup(group="Trade", to="Commerce")])
    assert after.groups["Either"].union == ("Commerce", "Banks")
    assert after.group("Either").forms == environment.group("Either").forms
    assert after.groups["Commerce"].forms == ("Bank", "Shop")
    live = apply_edits(after, [RenameGroup(group="Banks", to="banks")])
    assert live.groups["banks"].where == environment.groups["Banks"].where
    assert live.groups["banks"].forms == ()


def test_a_group_in_use_is_not_removed(environment: Environment) -> None:
    for unrestricted in (False, True):
        error = refusal(environment, RemoveGroup(group="Banks"), unrestricted=unrestricted)
        assert error.reason is Reason.IN_USE
        assert "the group 'Either' is made from it" in str(error)
    after = apply_edits(environment, [RemoveGroup(group="Either"), RemoveGroup(group="Banks")])
    assert list(after.groups) == ["Trade"]


@pytest.mark.parametrize(
    ("edit", "reason", "words"),
    [
        (AddGroup(name="Trade", forms=[]), Reason.DUPLICATE, "already"),
        (AddGroup(name="TRADE", forms=[]), Reason.DUPLICATE, "only in case"),
        (AddGroup(name="x"), Reason.BAD_OPTION, "in no way"),
        (AddGroup(name="x", union=[]), Reason.BAD_OPTION, "exactly one of 'forms', 'where'"),
        (AddGroup(name="x", forms=[], where="a = 1"), Reason.BAD_OPTION, "2 ways"),
        (AddGroup(name="x", where="a ="), Reason.BAD_QUERY, "a value was expected"),
        (AddGroup(name="x", forms=["Bnak"]), Reason.UNKNOWN_NAME, "Near to it: 'Bank'"),
        (AddGroup(name="x", union=["Tarde"]), Reason.UNKNOWN_NAME, "Near to it: 'Trade'"),
        (AddGroup(name="x", union=["x"]), Reason.BAD_OPTION, "made from itself"),
        (ReplaceGroup(group="Trade", union=["Either"]), Reason.BAD_OPTION, "made from itself"),
        (ReplaceGroup(group="Trde", forms=[]), Reason.UNKNOWN_NAME, "Near to it: 'Trade'"),
        (RenameGroup(group="Trade", to="banks"), Reason.DUPLICATE, "differs from 'Banks'"),
        (RenameGroup(group="No", to="Yes"), Reason.UNKNOWN_NAME, "no such group"),
        (RemoveGroup(group="No"), Reason.UNKNOWN_NAME, "no such group"),
    ],
)
def test_refusals(environment: Environment, edit: Edit, reason: Reason, words: str) -> None:
    error = refusal(environment, edit)
    assert error.reason is reason
    assert words in str(error)
