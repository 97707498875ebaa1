from __future__ import annotations

import pytest

from gamekeeper.errors import InputError, Reason
from gamekeeper.mapping.environment.environment import Environment, Form, Group
from gamekeeper.mapping.environment.listing import (
    find_forms,
    list_forms,
    list_groups,
    list_variables,
)
from gamekeeper.mapping.variables.variable import Variable
from gamekeeper.results import Page

AGE = Variable.of_bands("Age", ["0-15", "16+"], description="Years since birth")
ENVIRONMENT = Environment(
    [AGE, Variable.of_bands("Income", ["0-99", "100+"])],
    [
        Form("Bank", {"Age": ["0-15", "16+"]}, {"year": 2030, "sector": "bank", "form": "paper"}),
        Form("Shop", {"Age": [], "Income": []}, {"year": 2029}),
        Form("Club", {"Age": ["16+"]}, {"year": "unknown"}),
    ],
    [Group("Recent", where="year >= 2030"), Group("Two", ["Bank", "Shop"], "By hand")],
)


def test_forms_have_a_column_per_key():
    made = list_forms(ENVIRONMENT)
    assert made.columns == ("form", "variables", "year", "form (metadata)", "sector")
    assert made.rows[0] == ("Bank", 1, 2030, "paper", "bank")
    assert made.rows[1] == ("Shop", 2, 2029, None, None)
    assert made.summary()["total"] == 3


def test_forms_are_filtered_and_sorted():
    made = list_forms(ENVIRONMENT, where="has Age", page=Page("year", descending=True, size=2))
    assert [row[0] for row in made.rows] == ["Club", "Bank"]
    assert made.total == 3
    assert [form.name for form in find_forms(ENVIRONMENT, "has Income")] == ["Shop"]


def test_a_query_for_what_nobody_has_names_the_near_ones():
    with pytest.raises(InputError) as caught:
        find_forms(ENVIRONMENT, "yeer = 2030 and has Agge")
    assert [problem.reason for problem in caught.value.problems] == [Reason.UNKNOWN_NAME] * 2
    assert "'year'" in str(caught.value)
    assert "'Age'" in str(caught.value)


def test_variables_and_groups():
    made = list_variables(ENVIRONMENT, matching="AGE")
    assert made.rows == (("Age", "interval", 3, 2, 3, 2, "Years since birth"),)
    groups = list_groups(ENVIRONMENT, page=Page("group"))
    assert groups.rows == (
        ("Recent", 1, "where year >= 2030", ""),
        ("Two", 2, "by hand", "By hand"),
    )


@pytest.mark.parametrize(
    ("where", "named"),
    [
        ("code of Age finer than C9.001", "code 'C9.001' of 'Age'"),
        ("code of age in (C2.001, C8.001)", "code 'C8.001' of 'Age'"),
        ("category of Age = 99+", "category '99+' of 'Age'"),
        ("not category of Age in (16+, 12)", "category '12' of 'Age'"),
    ],
)
def test_codes_and_categories_that_are_not_known_are_named(where: str, named: str) -> None:
    age = Variable.of_bands("Age", ["0-15", "16+"])
    known = Environment([age], [Form("Bank", {"Age": ("0-15", "16+")})])
    assert [form.name for form in find_forms(known, "code of Age = C2.001")] == ["Bank"]
    assert [form.name for form in find_forms(known, "category of Age = '16 or over'")] == ["Bank"]
    with pytest.raises(InputError) as refused:
        find_forms(known, where)
    assert named in str(refused.value)
