"""Any sequence of edits, allowed or not: what was admitted stays, and codes keep their meaning."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from hypothesis import event, given
from hypothesis import strategies as st

from gamekeeper.algorithms.categories.partitions import Arbitrary, Partition
from gamekeeper.errors import InputError
from gamekeeper.mapping.edits import (
    AddBands,
    AddCategory,
    AddForm,
    AskVariable,
    DropVariable,
    Edit,
    OrderSinks,
    RemoveBands,
    RemoveCategory,
    RemoveForm,
    RenameCategory,
    RenameForm,
    RenameVariable,
    ReplaceVariable,
    SetChildren,
    SplitCategory,
    apply_edits,
    weigh_edits,
)
from gamekeeper.mapping.environment.environment import Environment
from gamekeeper.mapping.variables.categorization import categorize
from gamekeeper.mapping.variables.codes import Variable
from gamekeeper.mapping.variables.definitions import definition_of
from tests.mapping.edits.conftest import everything, small_environment

Blocks = frozenset[frozenset[str]]


def name_of(draw: st.DrawFn, known: Sequence[str]) -> str:
    """Mostly a new name, now and then one that is taken."""
    if draw(st.integers(0, 9)) == 0:
        return draw(st.sampled_from(known))
    return draw(st.text("abcxyz", min_size=1, max_size=4))


@st.composite
def edits_of(draw: st.DrawFn, environment: Environment) -> Edit:
    """An edit of what there is: often allowed, often not."""
    variable = draw(st.sampled_from(sorted(environment.variables.values(), key=lambda v: v.name)))
    names = variable.graph.categories
    category, sink = draw(st.sampled_from(names)), draw(st.sampled_from(variable.graph.sinks))
    some = draw(st.lists(st.sampled_from(names), unique=True, max_size=3))
    form = draw(st.sampled_from(sorted(environment.forms)))
    new = name_of(draw, names)
    if variable.bands:
        low = draw(st.integers(0, 30))
        band = f"{low}-{low + draw(st.integers(1, 9))}"
        return draw(
            st.sampled_from(
                [
                    AddBands(variable=variable.name, bands=[band]),
                    RemoveBands(variable=variable.name, bands=some or [category]),
                    AskVariable(form=form, variable=variable.name, labels=some),
                ]
            )
        )
    return draw(
        st.sampled_from(
            [
                AddCategory(variable=variable.name, category=new, children=some),
                SplitCategory(variable=variable.name, category=sink, into=[new, f"{new} or not"]),
                SplitCategory(variable=variable.name, category=sink, into=[new, f"{new} or not"]),
                SetChildren(variable=variable.name, category=category, children=some),
                SetChildren(
                    variable=variable.name,
                    category=category,
                    children=[s for s in variable.graph.sinks_of(category) if s != category],
                ),
                RenameCategory(variable=variable.name, category=category, to=new),
                RemoveCategory(variable=variable.name, category=category),
                OrderSinks(
                    variable=variable.name, order=draw(st.permutations(variable.graph.sinks))
                ),
                ReplaceVariable(variable=variable.name, definition=definition_of(variable)),
                RenameVariable(variable=variable.name, to=new),
                RenameForm(form=form, to=new),
                RemoveForm(form=form),
                AddForm(name=new, variables={variable.name: some}),
                AskVariable(form=form, variable=variable.name, labels=some),
                DropVariable(form=form, variable=variable.name),
            ]
        )
    )


def blocks_of(variable: Variable, meaning: Partition | Arbitrary) -> Blocks:
    """Return what a code means, in names of sinks."""
    if isinstance(meaning, Arbitrary):
        return frozenset()
    sinks = variable.graph.sinks
    return frozenset(frozenset(sinks[n] for n in block) for block in meaning.blocks())


def new_names(edit: Edit) -> tuple[dict[str, str], dict[str, str], dict[str, str]]:
    """Return the forms, variables and categories that an edit renames."""
    match edit:
        case RenameForm():
            return {edit.form: edit.to}, {}, {}
        case RenameVariable():
            return {}, {edit.variable: edit.to}, {}
        case RenameCategory():
            return {}, {}, {edit.category: edit.to}
        case _:
            return {}, {}, {}


@given(st.data())
def test_allowed_edits_keep_every_categorization_and_every_code(data: st.DataObject) -> None:
    environment = small_environment()
    for _ in range(data.draw(st.integers(1, 8))):
        edit = data.draw(edits_of(environment))
        before = everything(environment)
        try:
            after = apply_edits(environment, [edit])
        except InputError:
            assert everything(environment) == before
            continue
        assert everything(environment) == before
        event(type(edit).__name__)
        forms, variables, categories = new_names(edit)
        for name, variable in environment.variables.items():
            now = after.variable(variables.get(name, name))
            # A rename of a category is one of the variable that the edit names.
            own = categories if name == getattr(edit, "variable", "") else {}
            for selection in variable.graph.categorizations():
                again = categorize(now, [own.get(category, category) for category in selection])
                assert again.is_valid
            old, new = environment.register(name), after.register(now.name)
            assert not new.retired
            assert set(old) <= set(new)
            for code in old:
                assert blocks_of(now, new.meaning(code)) == frozenset(
                    frozenset(s for sink in block for s in now.graph.sinks_of(own.get(sink, sink)))
                    for block in blocks_of(variable, old.meaning(code))
                )
        for name, form in environment.forms.items():
            form_now = after.forms.get(forms.get(name, name))
            changed = isinstance(edit, AskVariable | DropVariable) and edit.form == name
            if form_now is None or changed:
                assert changed or edit == RemoveForm(form=name)
                continue
            for variable in form.instances:
                now = variables.get(variable, variable)
                assert (
                    after.categorization(form_now.name, now).is_valid
                    == environment.categorization(name, variable).is_valid
                )
                assert after.code_of(form_now.name, now) == environment.code_of(name, variable)
        environment = after


@pytest.mark.slow
@given(st.data())
def test_without_restriction_codes_keep_their_meaning_or_are_retired_for_good(
    data: st.DataObject,
) -> None:
    environment = small_environment()
    gone: dict[str, set[str]] = {}
    for _ in range(data.draw(st.integers(1, 8))):
        edit = data.draw(edits_of(environment))
        try:
            after = apply_edits(environment, [edit], unrestricted=True)
        except InputError:
            continue
        weighed = weigh_edits(environment, [edit])
        forms, variables, categories = new_names(edit)
        retired = {(row.variable, row.detail) for row in weighed.rows if row.kind == "code retired"}
        for name, variable in environment.variables.items():
            now = after.variable(variables.get(name, name))
            own = categories if name == getattr(edit, "variable", "") else {}
            old, new = environment.register(name), after.register(now.name)
            lost = gone.pop(name, set()) | (set(old) - set(new))
            assert lost == new.retired
            assert {code for n, code in retired if n == name} == set(old) - set(new)
            gone[now.name] = lost
            both = {s for s in variable.graph.sinks if own.get(s, s) in now.graph.sinks}
            for code in set(old) & set(new):
                assert int(code[1:].split(".")[0]) == len(blocks_of(now, new.meaning(code)))
                kept = {own.get(s, s) for s in both}
                assert {block & kept for block in blocks_of(now, new.meaning(code))} - {
                    frozenset()
                } == {
                    frozenset(own.get(s, s) for s in block & both)
                    for block in blocks_of(variable, old.meaning(code))
                } - {frozenset()}
        broken = {
            (name, variable)
            for name, form in environment.forms.items()
            if (form_now := after.forms.get(forms.get(name, name))) is not None
            for variable in form.instances
            if (now := variables.get(variable, variable)) in form_now.instances
            and environment.categorization(name, variable).is_valid
            and not after.categorization(form_now.name, now).is_valid
        }
        assert {(r.form, r.variable) for r in weighed.rows if r.kind == "breaks"} == broken
        environment = after


def weighed_slowly(environment: Environment, edit: Edit) -> set[tuple[str, str, str]]:
    """What an edit does to forms, by looking at every variable on every form."""
    after = apply_edits(environment, [edit], unrestricted=True)
    forms, variables, categories = new_names(edit)
    found: set[tuple[str, str, str]] = set()
    for form in environment.forms.values():
        now = after.forms.get(forms.get(form.name, form.name))
        if now is None:
            continue
        for variable in form.instances:
            new = variables.get(variable, variable)
            if new not in now.instances:
                found.add(("loses the variable", variable, form.name))
                continue
            own = categories if variable == getattr(edit, "variable", "") else {}
            was = environment.categorization(form.name, variable)
            will = after.categorization(now.name, new)
            if any(own.get(each, each) not in will.categories for each in was.categories):
                found.add(("loses labels", variable, form.name))
            if was.partition is None:
                continue
            if will.partition is None:
                found.add(("breaks", variable, form.name))
                continue
            register, code = after.register(new), environment.code(variable, was.partition)
            if code not in register or register.meaning(code) != will.partition:
                found.add(("changes", variable, form.name))
    return found


@given(st.data())
def test_what_edits_break_is_what_a_look_at_every_form_finds(data: st.DataObject) -> None:
    environment = small_environment()
    edit = data.draw(edits_of(environment))
    try:
        expected = weighed_slowly(environment, edit)
    except InputError:
        return
    rows = weigh_edits(environment, [edit]).rows
    assert {(row.kind.value, row.variable, row.form) for row in rows if row.form} == expected
