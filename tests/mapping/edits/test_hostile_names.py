"""Names that somebody might give by mistake or in bad faith: accepted whole, or one clear error."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from gamekeeper.errors import Reason
from gamekeeper.mapping.edits import (
    EDIT,
    AddCategory,
    AddForm,
    AddGroup,
    AddVariable,
    AskVariable,
    DescribeEnvironment,
    Edit,
    RenameCategory,
    RenameForm,
    RenameGroup,
    RenameVariable,
    SplitCategory,
    apply_edits,
    describe_edit,
    edit_notes,
)
from gamekeeper.mapping.environment.environment import Environment
from gamekeeper.mapping.variables.definitions import DEFINITION
from tests.mapping.edits.conftest import refusal


def variable_of(name: str, category: str = "a") -> AddVariable:
    tree = {"name": name, "scale": "nominal", "categories": {category: []}}
    return AddVariable(definition=DEFINITION.validate_python(tree))


GIVING: dict[str, Callable[[str], Edit]] = {
    "form": lambda name: AddForm(name=name),
    "form renamed": lambda name: RenameForm(form="Bank", to=name),
    "variable": variable_of,
    "variable renamed": lambda name: RenameVariable(variable="Country", to=name),
    "variable's category": lambda name: variable_of("Sex", name),
    "category": lambda name: AddCategory(
        variable="Country", category=name, children=["Wales", "Abroad"]
    ),
    "category split": lambda name: SplitCategory(
        variable="Country", category="Wales", into=[name, "rest of it"]
    ),
    "category renamed": lambda name: RenameCategory(variable="Country", category="UK", to=name),
    "group": lambda name: AddGroup(name=name, forms=[]),
    "group renamed": lambda name: RenameGroup(group="Trade", to=name),
    "environment": lambda name: DescribeEnvironment(name=name),
}


@pytest.fixture(params=GIVING)
def giving(request: pytest.FixtureRequest) -> Callable[[str], Edit]:
    return GIVING[request.param]


@pytest.mark.parametrize(
    "name",
    [
        "",
        " ",
        "a\x00b",
        "a\nb",
        "\x1b[2Jx",
        "a\u202eb",
        "\ufeffa",
        " padded",
        "\u200d",
        "x" * 20_001,
    ],
    ids=ascii,
)
def test_an_unfit_name_is_one_clear_error(
    environment: Environment, giving: Callable[[str], Edit], name: str
) -> None:
    for unrestricted in (False, True):
        error = refusal(environment, giving(name), unrestricted=unrestricted)
        assert error.reason is Reason.BAD_NAME
        assert len(error.problems) == 1
        text = str(error)
        assert len(text) < 1_000
        assert not any(unfit in text for unfit in "\x00\x1b\u202e")


@pytest.mark.parametrize(
    "name",
    ["x" * 10_000, "é" * 19_999 + "z", "'; DROP TABLE form; --", "ª", "نعم", "👩‍👩‍👧", "<b>"],
)
def test_any_other_name_is_kept_whole(
    environment: Environment, giving: Callable[[str], Edit], name: str
) -> None:
    edit = giving(name)
    after = apply_edits(environment, [edit])
    graphs = [set(variable.graph.categories) for variable in after.variables.values()]
    assert name in {after.name, *after.forms, *after.variables, *after.groups}.union(*graphs)
    assert EDIT.validate_json(EDIT.dump_json(edit, by_alias=True)) == edit
    assert len(describe_edit(edit)) < 500
    assert edit_notes(environment, after, [edit]) == ()


def test_a_long_label_is_looked_for_and_not_found(environment: Environment) -> None:
    for label in ("x" * 10_000, "1" * 10_000, "1 - " * 2_500, "é" * 1_000_000):
        for variable in ("Country", "Age"):
            edit = AskVariable(form="Bank", variable=variable, labels=[label])
            error = refusal(environment, edit)
            assert error.reason is Reason.UNKNOWN_NAME
            assert len(str(error)) < 1_000


@pytest.mark.parametrize(
    ("edit", "other"),
    [
        (AddForm(name="BANK"), "Bank"),
        (AddForm(name="ba\u0301nk"), "Bank"),
        (AddForm(name="ｂａｎｋ"), "Bank"),
        (variable_of("hēalth"), "Health"),
        (AddGroup(name="trade", forms=[]), "Trade"),
        (AddCategory(variable="Country", category="WALES", children=["Wales"]), "Wales"),
        (SplitCategory(variable="Country", category="Wales", into=["abroad", "rest"]), "Abroad"),
        (RenameCategory(variable="Country", category="UK", to="Ábroad"), "Abroad"),
    ],
    ids=lambda value: ascii(value)[:40],
)
def test_names_that_differ_only_in_case_or_accents_are_refused(
    environment: Environment, edit: Edit, other: str
) -> None:
    error = refusal(environment, edit)
    assert error.reason is Reason.DUPLICATE
    assert f"differs from '{other}' only in case, accents or white space" in str(error)


def test_a_category_may_change_its_own_case(environment: Environment) -> None:
    edit = RenameCategory(variable="Country", category="Abroad", to="ABROAD")
    after = apply_edits(environment, [edit])
    assert after.form("Bank").instances["Country"] == ("UK", "ABROAD")
