from __future__ import annotations

from dataclasses import replace

from gamekeeper.algorithms.categories.partition_graph import PartitionGraph
from gamekeeper.mapping.edits import apply_edits
from gamekeeper.mapping.edits.two_environments import (
    Conflict,
    compare_environments,
    map_codes,
    plan_merge,
)
from gamekeeper.mapping.environment.environment import Environment, Form, Group
from gamekeeper.mapping.variables.codes import Variable

SEX = Variable("Sex", PartitionGraph({"female": [], "male": []}))


def ours() -> Environment:
    country = {"UK": ["England", "Wales"], "Abroad": []}
    return Environment(
        [
            SEX,
            Variable.of_bands("Age", ["0-15", "16+"]),
            Variable("Country", PartitionGraph(country)),
        ],
        [
            Form("Bank", {"Sex": ("female", "male"), "Age": ("0-15", "16+")}),
            Form("Shop", {"Country": ("UK", "Abroad")}),
        ],
        [Group("All", ("Bank", "Shop"))],
        name="Ours",
    )


def theirs() -> Environment:
    country = {"UK": [], "Abroad": ["France", "Elsewhere"]}
    other_sex = Variable("Sex", PartitionGraph({"f": [], "m": []}))
    return Environment(
        [
            other_sex,
            Variable.of_bands("Age", ["0-17", "18+"]),
            Variable("Country", PartitionGraph(country)),
        ],
        [
            Form("Bank", {"Sex": ("f", "m"), "Age": ("0-17", "18+")}),
            Form("Club", {"Age": ("0-17", "18+")}),
        ],
        [Group("All", ("Bank", "Club"))],
        name="Theirs",
    )


def test_conflicts_are_listed_and_nothing_is_lost_when_decided() -> None:
    plan = plan_merge(ours(), theirs())
    assert plan.conflicts == [
        Conflict("variable", "Sex", "has other categories"),
        Conflict("variable", "Country", "has other categories"),
        Conflict("form", "Bank", "is another form"),
        Conflict("group", "All", "is defined otherwise"),
    ]
    decisions = {
        ("variable", "Sex"): "Sex (theirs)",
        ("variable", "Country"): "ours",
        ("form", "Bank"): "Bank (theirs)",
        ("group", "All"): "All of theirs",
    }
    plan = plan_merge(ours(), theirs(), decisions)
    assert plan.conflicts == []
    merged = apply_edits(ours(), plan.edits)
    assert set(merged.forms) == {"Bank", "Shop", "Bank (theirs)", "Club"}
    assert merged.form("Bank (theirs)").instances["Sex (theirs)"] == ("f", "m")
    assert merged.group("All of theirs").forms == ("Bank (theirs)", "Club")
    assert merged.variable("Age").graph.sinks == ("0-15", "16-17", "18+")
    # Ours mean what they meant.
    for form in ours().forms:
        assert merged.form(form) == ours().form(form)
    mapped = {(v, code): our for v, code, our in map_codes(theirs(), merged, plan.variables)}
    assert mapped["Sex", "C2.001"] == merged.code_of("Bank (theirs)", "Sex (theirs)")
    assert mapped["Age", "C2.001"] == merged.code_of("Club", "Age")
    assert mapped["Age", "C2.001"] != "C2.001"


def test_what_extends_the_other_is_taken_without_asking() -> None:
    finer = {"UK": ["England", "Wales"], "Abroad": ["France", "Elsewhere"]}
    wider = Environment([Variable("Country", PartitionGraph(finer))])
    plan = plan_merge(ours(), wider)
    assert plan.conflicts == []
    after = apply_edits(ours(), plan.edits)
    assert set(after.variable("Country").graph.sinks) == {"England", "Wales", "France", "Elsewhere"}
    assert plan_merge(wider, ours()).conflicts == []
    assert plan_merge(ours(), ours()).edits == []


def test_theirs_takes_the_place_of_ours_in_groups_too() -> None:
    there = theirs()
    there = there.changed(groups={"All": None}, forms={"Club": None})
    decisions = {
        ("variable", "Sex"): "Sex 2",
        ("variable", "Country"): "ours",
        ("form", "Bank"): "theirs",
    }
    merged = apply_edits(ours(), plan_merge(ours(), there, decisions).edits)
    assert "Sex 2" in merged.form("Bank").instances
    assert merged.group("All").forms == ("Bank", "Shop")


def test_differences_in_words() -> None:
    before = ours()
    sex = replace(before.variable("Sex"), sensitive=frozenset(["male"]))
    changed = before.changed(
        variables={"Sex": sex},
        forms={
            "Shop": Form("Shop", {"Country": ("England", "Wales", "Abroad")}, {"year": 2031}),
            "New": Form("New"),
            "Bank": None,
        },
        groups={"All": None},
    )
    found = compare_environments(before, changed)
    assert [(row.kind, row.name, row.what) for row in found.rows] == [
        ("variable", "Sex", "has other sensitive categories"),
        ("form", "Bank", "is gone"),
        ("form", "New", "is new"),
        ("form", "Shop", "'year' is 2031"),
        ("form", "Shop", "asks for 'Country' in other labels (C2.001 before, C3.001 now)"),
        ("group", "All", "is gone"),
    ]
    assert found.sentences == ("1 variable, 3 forms and 1 group differ.",)
    assert compare_environments(before, ours()).rows == ()


def test_what_either_office_marks_as_sensitive_stays_marked() -> None:
    plain = Variable("Ill", PartitionGraph({"yes": [], "no": []}))
    marked = replace(plain, sensitive=frozenset({"yes"}))
    for mine, other in ((plain, marked), (marked, plain)):
        first = Environment([mine], [])
        plan = plan_merge(first, Environment([other], []))
        assert not plan.conflicts
        assert apply_edits(first, plan.edits).variable("Ill").sensitive == {"yes"}
    finer = Variable("Ill", PartitionGraph({"yes": ["asthma", "other"], "no": []}))
    first = Environment([marked], [])
    after = apply_edits(first, plan_merge(first, Environment([finer], [])).edits)
    assert after.variable("Ill").sensitive == {"yes"}
    assert "asthma" in after.variable("Ill").graph


def test_decisions_on_what_is_no_conflict_are_named() -> None:
    plan = plan_merge(ours(), ours(), {("form", "Bnak"): "ours"})
    assert [(item.kind, item.name) for item in plan.conflicts] == [("form", "Bnak")]


def test_ours_cannot_stay_where_their_forms_have_other_categories() -> None:
    plan = plan_merge(ours(), theirs(), {("variable", "Sex"): "ours", ("form", "Bank"): "B2"})
    sex = [item for item in plan.conflicts if item.name == "Sex"]
    assert len(sex) == 1
    assert "'f', 'm'" in sex[0].what
    assert "rename" in sex[0].what
