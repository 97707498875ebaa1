"""All edits as one type: each in words, what it writes, and the environment after some of them.

An edit is the same record in the programming interface, in the audit trail and on the wire. The
normal editor allows only what leaves every earlier categorization admitted, gives forms valid
categorizations and removes nothing that is in use. The unrestricted editor is for mending
mistakes; `weigh_edits` tells beforehand what it would break.

An environment with a changed form is another environment, and to make one costs the number of all
forms. So a run of edits that each change one form is worked out form by form, and the environment
is made once. Whatever does not go smoothly is left to be made edit by edit, which finds the fault
and names the edit.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import Annotated

from pydantic import Field, TypeAdapter

from gamekeeper.errors import InputError
from gamekeeper.mapping.edits import categories, forms, variables
from gamekeeper.mapping.edits.environment import (
    AddGroup,
    AllowCombination,
    DeclareImpossible,
    DeclareMetadata,
    DescribeEnvironment,
    GroupEdit,
    KeepHistory,
    RenameGroup,
    RenameScenario,
    ReplaceGroup,
    RuleEdit,
    SaveScenario,
    ScenarioEdit,
    UndeclareMetadata,
    apply_environment_edit,
    apply_group_edit,
    apply_rule_edit,
    apply_scenario_edit,
)
from gamekeeper.mapping.environment.environment import Environment
from gamekeeper.mapping.environment.rules import metadata_problems
from gamekeeper.mapping.forms.form import Form
from gamekeeper.mapping.scenario.document import Renamed, follow_renames
from gamekeeper.mapping.variables.categorization import categorize
from gamekeeper.wording import count_of, quoted

Edit = (
    forms.FormEdit
    | forms.QuestionEdit
    | variables.VariableEdit
    | categories.CategoryEdit
    | variables.WidenVariable
    | categories.BandEdit
    | GroupEdit
    | ScenarioEdit
    | RuleEdit
    | DescribeEnvironment
    | KeepHistory
)

EDIT: TypeAdapter[Edit] = TypeAdapter(Annotated[Edit, Field(discriminator="edit")])
"""Reads an edit of plain values, and with `dump_python(edit, mode="json", by_alias=True)` gives
the plain values of an edit."""


# Sentences that need nothing but the names in the fields of an edit.
_PLAIN = {
    "remove-form": "Remove the form {form}",
    "rename-form": "Rename the form {form} to {to}",
    "drop-variable": "Let the form {form} no longer ask for {variable}",
    "drop-question": "Take the question {question} off the form {form}",
    "replace-variable": "Define the variable {variable} anew",
    "remove-variable": "Remove the variable {variable}",
    "rename-variable": "Rename the variable {variable} to {to}",
    "describe-variable": "Describe the variable {variable}",
    "mark-sensitive": "Mark as sensitive in {variable}: {categories}",
    "unmark-sensitive": "Mark as sensitive no longer in {variable}: {categories}",
    "split-category": "Split the category {category} of {variable} into {into}",
    "rename-category": "Rename the category {category} of {variable} to {to}",
    "remove-category": "Remove the category {category} of {variable}",
    "flatten-graph": "Flatten the partition graph of {variable}",
    "deepen-graph": "Deepen the partition graph of {variable}",
    "prune-graph": "Prune the partition graph of {variable} to what is used",
    "order-sinks": "Order the sinks of {variable}: {order}",
    "add-bands": "Add to {variable} the bands {bands}",
    "remove-bands": "Remove from {variable} the bands {bands}",
    "rename-group": "Rename the group {group} to {to}",
    "remove-group": "Remove the group {group}",
    "rename-scenario": "Rename the scenario {scenario} to {to}",
    "remove-scenario": "Remove the scenario {scenario}",
}


def describe_edit(edit: Edit) -> str:
    """Return an edit in words.

    Examples
    --------
    >>> describe_edit(forms.RenameForm(form="Bank", to="Bank account"))
    "Rename the form 'Bank' to 'Bank account'."
    """
    return f"{_words(edit)}."


def _words(edit: Edit) -> str:
    match edit:
        case forms.AddForm():
            fed = {name for question in edit.questions for name in question.variables}
            asked = count_of(len(fed.union(edit.variables)), "variable")
            if edit.questions:
                asked += f" and {count_of(len(edit.questions), 'question')}"
            return f"Add the form {_q(edit.name)} with {asked}"
        case forms.SetMetadata():
            set_ = f"set {quoted(edit.values)}" if edit.values else ""
            remove = f"remove {quoted(edit.remove)}" if edit.remove else ""
            what = " and ".join(part for part in (set_, remove) if part) or "change nothing"
            of = "" if edit.question is None else f"the question {_q(edit.question)} of "
            return f"{what[0].upper()}{what[1:]} in the metadata of {of}the form {_q(edit.form)}"
        case forms.AskVariable(labels=labels):
            detail = "any level of detail"
            if labels:
                detail = count_of(len(labels), "category", "categories")
            return f"Let the form {_q(edit.form)} ask for {_q(edit.variable)} in {detail}"
        case forms.AskQuestion(question=asked):
            fed = f", for {quoted(asked.variables)}" if asked.variables else ", for no variable"
            return f"Let the form {_q(edit.form)} ask the question {_q(asked.name)}{fed}"
        case forms.SetUniverse(universe=universe):
            if universe is None:
                return f"Let the form {_q(edit.form)} be for anybody"
            told = [universe.wording] if universe.wording else list(universe.within)
            return f"Say who the form {_q(edit.form)} is for: {quoted(told, letters=200)}"
        case variables.AddVariable(definition=new):
            return f"Add the variable {_q(new.name)} on the {new.scale} scale"
        case categories.AddCategory():
            made = f"made of {quoted(edit.children)}" if edit.children else "as a new sink"
            return f"Add to {_q(edit.variable)} the category {_q(edit.category)}, {made}"
        case variables.WidenVariable():
            was = "outside all forms" if edit.inside is None else f"inside {_q(edit.inside)}"
            return f"Widen {_q(edit.variable)} by {_q(edit.category)}, until now {was}"
        case categories.SetChildren():
            made = quoted(edit.children) if edit.children else "nothing, as a sink"
            return f"Make the category {_q(edit.category)} of {_q(edit.variable)} of {made}"
        case AddGroup():
            return f"Add the group {_q(edit.name)}{_definition(edit)}"
        case ReplaceGroup():
            return f"Define the group {_q(edit.group)} anew{_definition(edit)}"
        case SaveScenario(scenario=saved):
            keys = count_of(len(saved.key_variables), "key variable")
            return f"Save the scenario {_q(saved.name)} with {keys} for {_q(saved.target)}"
        case DeclareMetadata():
            must = ", required" if edit.required else ""
            listed = f", with {count_of(len(edit.values), 'value')}" if edit.values else ""
            return f"Declare the metadata {_q(edit.key)} of {edit.of}s{must}{listed}"
        case UndeclareMetadata():
            return f"Declare the metadata {_q(edit.key)} of {edit.of}s no longer"
        case DeclareImpossible():
            return f"Declare impossible: {_combination(edit)}"
        case AllowCombination():
            return f"Allow again: {_combination(edit)}"
        case KeepHistory():
            kept = count_of(len(edit.revisions), "revision")
            return f"Keep the history of {_q(edit.of)}, {kept}"
        case DescribeEnvironment():
            if edit.name is None:
                return "Describe the environment"
            described = " and describe it" if edit.description is not None else ""
            return f"Name the environment {_q(edit.name)}{described}"
        case _:
            names = {
                name: quoted([own] if isinstance(own, str) else own)
                for name, own in edit
                if isinstance(own, str | tuple)
            }
            return _PLAIN[edit.edit].format_map(names)


def _q(name: str) -> str:
    return quoted([name])


def _combination(edit: DeclareImpossible | AllowCombination) -> str:
    return " with ".join(
        f"{_q(variable)} {quoted(labels)}" for variable, labels in edit.combination.items()
    )


def _definition(edit: AddGroup | ReplaceGroup) -> str:
    if edit.where is not None:
        return f": the forms where {quoted([edit.where], letters=200)}"
    if edit.forms is not None:
        return f": {count_of(len(edit.forms), 'form')} by hand"
    for way in ("union", "intersection", "difference"):
        if (parts := getattr(edit, way)) is not None:
            return f": the {way} of {quoted(parts)}"
    return ""


_OneForm = (
    forms.AddForm | forms.SetMetadata | forms.AskVariable | forms.DropVariable | forms.QuestionEdit
)


def run_length(edits: Sequence[Edit], start: int) -> int:
    """Return how many edits from one on change a single form each."""
    end = start
    while end < len(edits) and isinstance(edits[end], _OneForm):
        end += 1
    return end - start


def apply_run(
    environment: Environment, edits: Sequence[Edit], *, unrestricted: bool
) -> tuple[Environment, int]:
    """Return the environment after edits of single forms, and how many were made.

    The first edit that does not go smoothly, and all after it, are not made.
    """
    drafts: dict[str, Form] = {}
    done = 0

    @cache
    def is_valid(variable: str, labels: tuple[str, ...]) -> bool:
        return categorize(environment.variable(variable), labels).is_valid

    def is_fine(change: forms.FormChange) -> bool:
        form = change.form
        return all(
            is_valid(name, form.instances[name]) for name in change.given
        ) and not metadata_problems(environment.rules, form, change.keys, change.questions)

    for edit in edits:
        try:
            change = _changed(environment, drafts, edit)
            if not unrestricted and not is_fine(change):
                break
        except InputError:
            break
        drafts[change.form.name] = change.form
        done += 1
    try:
        return environment.changed(forms=drafts), done
    except InputError:
        return environment, 0


def _changed(environment: Environment, drafts: dict[str, Form], edit: Edit) -> forms.FormChange:
    name = edit.name if isinstance(edit, forms.AddForm) else edit.form  # pyright: ignore[reportAttributeAccessIssue]
    known = drafts.get(name) or environment.forms.get(name)
    if isinstance(edit, forms.QuestionEdit):
        return forms.form_with_question(known or environment.form(name), edit)
    assert isinstance(
        edit, forms.AddForm | forms.SetMetadata | forms.AskVariable | forms.DropVariable
    )
    return forms.changed_form(environment, known, edit)


def apply_edits(
    environment: Environment, edits: Sequence[Edit], *, unrestricted: bool = False
) -> Environment:
    """Return the environment after some edits, applied one after the other.

    Without restriction earlier categorizations may be lost. If an edit is refused, with everything
    that is wrong with it, none counts.

    Examples
    --------
    >>> from gamekeeper.mapping.edits import AskVariable, SplitCategory
    >>> from gamekeeper.mapping.variables.codes import Variable
    >>> from gamekeeper.algorithms.categories.partition_graph import PartitionGraph
    >>> country = Variable("Country", PartitionGraph({"England": [], "Other": []}))
    >>> environment = Environment([country], [Form("Bank", {"Country": ["England", "Other"]})])
    >>> split = SplitCategory(variable="Country", category="Other", into=["Wales", "Elsewhere"])
    >>> apply_edits(environment, [split]).variable("Country").graph.sinks
    ('Elsewhere', 'England', 'Wales')
    >>> apply_edits(
    ...     environment, [forms.AskVariable(form="Bank", variable="Country", labels=["Other"])]
    ... )
    Traceback (most recent call last):
    gamekeeper.errors.InputError: This edit was asked for: let the form 'Bank' ask for 'Country'
    in 1 category. It has 1 categorization that does not fit its variable. Select categories that
    reach every sink once; the unrestricted editor lets others pass.
      - form 'Bank', variable 'Country': misses 'England'; if the form does not ask these people,
        add the category "outside this form's universe". Change the labels.
    """
    number = 0
    one_by_one = 0
    while number < len(edits):
        length = run_length(edits, number)
        if length > 1 and number >= one_by_one:
            run = edits[number : number + length]
            environment, done = apply_run(environment, run, unrestricted=unrestricted)
            number += done
            if done == length:
                continue
            # The next has a fault; if none was made, the fault is between them.
            one_by_one = number + (1 if done else length)
        edit = edits[number]
        number += 1
        try:
            after = _applied(environment, edit, unrestricted=unrestricted)
            environment = follow_renames(environment, after, _renamed(edit))
        except InputError as error:
            words = describe_edit(edit)
            which = f"Edit {number} of {len(edits)}" if len(edits) > 1 else "This edit"
            raise InputError(
                error.reason,
                f"{which} was asked for: {words[0].lower()}{words[1:]}",
                error.found,
                error.do,
                problems=error.problems,
            ) from error
    return environment


def _renamed(edit: Edit) -> Renamed:
    match edit:
        case forms.RenameForm(form=old, to=new):
            return Renamed(forms={old: new})
        case RenameGroup(group=old, to=new):
            return Renamed(groups={old: new})
        case variables.RenameVariable(variable=old, to=new):
            return Renamed(variables={old: new})
        case categories.RenameCategory(variable=variable, category=old, to=new):
            return Renamed(categories={variable: {old: new}})
        case _:
            return Renamed()


def _applied(environment: Environment, edit: Edit, *, unrestricted: bool) -> Environment:
    if isinstance(edit, forms.FormEdit):
        return forms.apply_form_edit(environment, edit, unrestricted=unrestricted)
    if isinstance(edit, forms.QuestionEdit):
        return forms.apply_question_edit(environment, edit, unrestricted=unrestricted)
    if isinstance(edit, variables.VariableEdit):
        return variables.apply_variable_edit(environment, edit, unrestricted=unrestricted)
    if isinstance(edit, categories.CategoryEdit):
        return categories.apply_category_edit(environment, edit, unrestricted=unrestricted)
    if isinstance(edit, variables.WidenVariable):
        return variables.apply_widening(environment, edit)
    if isinstance(edit, categories.BandEdit):
        return categories.apply_band_edit(environment, edit, unrestricted=unrestricted)
    if isinstance(edit, GroupEdit):
        return apply_group_edit(environment, edit)
    if isinstance(edit, ScenarioEdit):
        return apply_scenario_edit(environment, edit)
    if isinstance(edit, RuleEdit):
        return apply_rule_edit(environment, edit)
    if isinstance(edit, KeepHistory):
        return environment
    return apply_environment_edit(environment, edit)


def touched(edit: Edit) -> frozenset[tuple[str, str]]:
    """Return what an edit names to write it, as pairs of a kind and a name.

    A rename also reaches forms and groups that the edit does not name; those are not here. The
    environment itself is ``("environment", "environment")``.

    Examples
    --------
    >>> sorted(touched(forms.RenameForm(form="Bank", to="Bank account")))
    [('form', 'Bank'), ('form', 'Bank account')]
    """
    kind, name = _written(edit)
    renames = isinstance(
        edit, forms.RenameForm | variables.RenameVariable | RenameGroup | RenameScenario
    )
    return frozenset({(kind, name), (kind, edit.to if renames else name)})


def _written(edit: Edit) -> tuple[str, str]:
    if isinstance(edit, forms.FormEdit | forms.QuestionEdit):
        return "form", edit.name if isinstance(edit, forms.AddForm) else edit.form
    if isinstance(edit, variables.AddVariable):
        return "variable", edit.definition.name
    if isinstance(
        edit,
        variables.VariableEdit
        | categories.CategoryEdit
        | variables.WidenVariable
        | categories.BandEdit,
    ):
        return "variable", edit.variable
    if isinstance(edit, GroupEdit):
        return "group", edit.name if isinstance(edit, AddGroup) else edit.group
    if isinstance(edit, SaveScenario):
        return "scenario", edit.scenario.name
    if isinstance(edit, ScenarioEdit):
        return "scenario", edit.scenario
    return "environment", "environment"
