from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gamekeeper.errors import InputError, Reason
from gamekeeper.mapping.environment.environment import Environment
from gamekeeper.mapping.forms.form import Form
from gamekeeper.mapping.forms.groups import Group, members

FORMS = [
    Form(name, {}, {"Form Type": medium, "year": year})
    for name, medium, year in (
        ("Survey V", "On-line", 2029),
        ("Survey W", "On-line", 2030),
        ("Survey X", "Paper", 2030),
        ("Survey Y", "Paper", 2031),
        ("Survey Z", "On-line", 2031),
    )
]
ONLINE = Group("On-line", where="Form Type = On-line")
RECENT = Group("Recent", where="year >= 2030")
BY_HAND = Group("Group1", ["Survey Z", "Survey X", "Survey Y"])


def environment(*groups: Group) -> Environment:
    return Environment([], FORMS, [ONLINE, RECENT, BY_HAND, *groups])


def test_groups_by_hand_and_by_query():
    made = environment()
    assert made.group("On-line").forms == ("Survey V", "Survey W", "Survey Z")
    assert made.group("Group1").forms == ("Survey Z", "Survey X", "Survey Y")
    assert made.groups["On-line"].forms == ()


@pytest.mark.parametrize(
    ("how", "letters"),
    [("union", "VWXYZ"), ("intersection", "Z"), ("difference", "VW")],
)
def test_groups_from_groups(how, letters):
    made = environment(Group("both", **{how: ["On-line", "Group1"]}))
    assert made.group("both").forms == tuple(f"Survey {letter}" for letter in letters)


def test_groups_of_groups_follow_the_forms():
    made = environment(
        Group("rest", difference=["Recent", "On-line"]),
        Group("all", union=["rest", "On-line"]),
    )
    assert made.group("all").forms == tuple(form.name for form in FORMS)
    grown = made.with_form(Form("Survey U", {}, {"Form Type": "Paper", "year": 2035}))
    assert "Survey U" in grown.group("all").forms
    assert "Survey U" not in made.group("all").forms
    shrunk = grown.changed(forms={"Survey V": None})
    assert "Survey V" not in shrunk.group("all").forms


def test_every_fault_of_groups_is_named():
    with pytest.raises(InputError) as caught:
        environment(
            Group("a", union=["b"]),
            Group("b", intersection=["c", "On-line"]),
            Group("c", difference=["a"]),
            Group("d", union=["On-lin"]),
            Group("e", where="year >="),
            Group("f", ["Survey Q"]),
            Group("g", union=["a"]),
        )
    found = [(problem.reason, problem.where) for problem in caught.value.problems]
    assert found == [
        (Reason.UNKNOWN_NAME, "group 'd'"),
        (Reason.BAD_QUERY, "group 'e', its query"),
        (Reason.UNKNOWN_NAME, "group 'f'"),
        (Reason.BAD_OPTION, "group 'a'"),
        (Reason.BAD_OPTION, "group 'b'"),
        (Reason.BAD_OPTION, "group 'c'"),
    ]


def test_groups_nested_too_deep_are_refused_and_broad_sharing_is_quick():
    chain = [Group("0", ["Survey V"]), *(Group(str(n), union=[str(n - 1)]) for n in range(1, 150))]
    with pytest.raises(InputError, match="deep"):
        environment(*chain)
    doubled = [Group("0", ["Survey V"])]
    for n in range(1, 60):
        doubled += [Group(f"{n}", union=[f"{n - 1}"]), Group(f"{n}b", union=[f"{n - 1}"])]
    wide = Group("wide", union=[group.name for group in doubled])
    assert environment(*doubled, wide).group("wide").forms == ("Survey V",)


def test_one_way_only():
    with pytest.raises(InputError, match="in 2 ways"):
        Group("x", where="year = 2030", union=["On-line"])
    with pytest.raises(InputError, match="one string"):
        Group("x", union="On-line")
    assert Group("x", union=["On-line"]).definition == {"union": ("On-line",)}
    assert ONLINE.definition == {"where": "Form Type = On-line"}
    assert BY_HAND.definition == {"forms": BY_HAND.forms}


@given(st.data())
def test_combinations_are_those_of_sets(data):
    forms = {form.name: form for form in FORMS}
    sets = data.draw(st.lists(st.sets(st.sampled_from(sorted(forms))), min_size=1, max_size=4))
    groups = {str(n): Group(str(n), sorted(names)) for n, names in enumerate(sets)}
    first, rest = sets[0], sets[1:]
    for how, expected in (
        ("union", first.union(*rest)),
        ("intersection", first.intersection(*rest)),
        ("difference", first.difference(*rest)),
    ):
        made = {**groups, "made": Group("made", **{how: list(groups)})}
        assert set(members("made", made, forms)) == expected
