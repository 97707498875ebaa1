"""What an edit asks for, as one sentence."""

from __future__ import annotations

from collections.abc import Sequence

from gamekeeper.mapping.edits.edit import Edit
from gamekeeper.mapping.edits.kinds import (
    bands,
    categories,
    environment,
    forms,
    groups,
    kept_history,
    questions,
    rules,
    scenarios,
    variables,
    widening,
)
from gamekeeper.wording import count_of, quoted


def describe_edit(edit: Edit) -> str:
    """Return an edit in words.

    Examples
    --------
    >>> from gamekeeper.mapping.edits import RenameForm
    >>> describe_edit(RenameForm(form="Bank", to="Bank account"))
    "Rename the form 'Bank' to 'Bank account'."
    """
    return f"{_words(edit)}."


def _words(edit: Edit) -> str:
    match edit:
        case forms.AddForm():
            fed = {name for question in edit.questions for name in question.variables}
            number = count_of(len(fed.union(edit.variables)), "variable")
            return f"Add the form {_q(edit.name)} with {number}{_of_questions(edit)}"
        case forms.RemoveForm():
            return f"Remove the form {_q(edit.form)}"
        case forms.RenameForm():
            return f"Rename the form {_q(edit.form)} to {_q(edit.to)}"
        case forms.SetMetadata():
            set_ = f"set {quoted(edit.values)}" if edit.values else ""
            remove = f"remove {quoted(edit.remove)}" if edit.remove else ""
            what = " and ".join(part for part in (set_, remove) if part) or "change nothing"
            of = "" if edit.question is None else f"the question {_q(edit.question)} of "
            return f"{what[0].upper()}{what[1:]} in the metadata of {of}the form {_q(edit.form)}"
        case forms.AskVariable():
            detail = _number(edit.labels) if edit.labels else "any level of detail"
            return f"Let the form {_q(edit.form)} ask for {_q(edit.variable)} in {detail}"
        case forms.DropVariable():
            return f"Let the form {_q(edit.form)} no longer ask for {_q(edit.variable)}"
        case questions.AskQuestion(question=asked):
            fed = f", for {quoted(asked.variables)}" if asked.variables else ", for no variable"
            return f"Let the form {_q(edit.form)} ask the question {_q(asked.name)}{fed}"
        case questions.DropQuestion():
            return f"Take the question {_q(edit.question)} off the form {_q(edit.form)}"
        case questions.SetUniverse(universe=universe):
            if universe is None:
                return f"Let the form {_q(edit.form)} be for anybody"
            told = [universe.wording] if universe.wording else list(universe.within)
            return f"Say who the form {_q(edit.form)} is for: {quoted(told, letters=200)}"
        case variables.AddVariable(definition=new):
            return f"Add the variable {_q(new.name)} on the {new.scale} scale"
        case variables.ReplaceVariable():
            return f"Define the variable {_q(edit.variable)} anew"
        case variables.RemoveVariable():
            return f"Remove the variable {_q(edit.variable)}"
        case variables.RenameVariable():
            return f"Rename the variable {_q(edit.variable)} to {_q(edit.to)}"
        case variables.MarkSensitive():
            return f"Mark as sensitive in {_q(edit.variable)}: {quoted(edit.categories)}"
        case variables.UnmarkSensitive():
            return f"Mark as sensitive no longer in {_q(edit.variable)}: {quoted(edit.categories)}"
        case variables.DescribeVariable():
            return f"Describe the variable {_q(edit.variable)}"
        case categories.AddCategory():
            made = f"made of {quoted(edit.children)}" if edit.children else "as a new sink"
            return f"Add to {_q(edit.variable)} the category {_q(edit.category)}, {made}"
        case widening.WidenVariable():
            was = "outside all forms" if edit.inside is None else f"inside {_q(edit.inside)}"
            return f"Widen {_q(edit.variable)} by {_q(edit.category)}, until now {was}"
        case categories.SplitCategory():
            return f"Split {_category(edit)} into {quoted(edit.into)}"
        case categories.SetChildren():
            made = quoted(edit.children) if edit.children else "nothing, as a sink"
            return f"Make {_category(edit)} of {made}"
        case categories.RenameCategory():
            return f"Rename {_category(edit)} to {_q(edit.to)}"
        case categories.FlattenGraph():
            return f"Flatten the partition graph of {_q(edit.variable)}"
        case categories.DeepenGraph():
            return f"Deepen the partition graph of {_q(edit.variable)}"
        case categories.PruneGraph():
            return f"Prune the partition graph of {_q(edit.variable)} to what is used"
        case categories.RemoveCategory():
            return f"Remove {_category(edit)}"
        case categories.OrderSinks():
            return f"Order the sinks of {_q(edit.variable)}: {quoted(edit.order)}"
        case bands.AddBands():
            return f"Add to {_q(edit.variable)} the bands {quoted(edit.bands)}"
        case bands.RemoveBands():
            return f"Remove from {_q(edit.variable)} the bands {quoted(edit.bands)}"
        case groups.AddGroup():
            return f"Add the group {_q(edit.name)}{_definition(edit)}"
        case groups.ReplaceGroup():
            return f"Define the group {_q(edit.group)} anew{_definition(edit)}"
        case groups.RenameGroup():
            return f"Rename the group {_q(edit.group)} to {_q(edit.to)}"
        case groups.RemoveGroup():
            return f"Remove the group {_q(edit.group)}"
        case scenarios.SaveScenario(scenario=saved):
            keys = count_of(len(saved.key_variables), "key variable")
            return f"Save the scenario {_q(saved.name)} with {keys} for {_q(saved.target)}"
        case scenarios.RenameScenario():
            return f"Rename the scenario {_q(edit.scenario)} to {_q(edit.to)}"
        case scenarios.RemoveScenario():
            return f"Remove the scenario {_q(edit.scenario)}"
        case rules.DeclareMetadata():
            must = ", required" if edit.required else ""
            listed = f", with {count_of(len(edit.values), 'value')}" if edit.values else ""
            return f"Declare the metadata {_q(edit.key)} of {edit.of}s{must}{listed}"
        case rules.UndeclareMetadata():
            return f"Declare the metadata {_q(edit.key)} of {edit.of}s no longer"
        case rules.DeclareImpossible():
            return f"Declare impossible: {_combination(edit)}"
        case rules.AllowCombination():
            return f"Allow again: {_combination(edit)}"
        case kept_history.KeepHistory():
            kept = count_of(len(edit.revisions), "revision")
            return f"Keep the history of {_q(edit.of)}, {kept}"
        case environment.DescribeEnvironment():
            if edit.name is None:
                return "Describe the environment"
            described = " and describe it" if edit.description is not None else ""
            return f"Name the environment {_q(edit.name)}{described}"


def _q(name: str) -> str:
    return quoted([name])


def _number(labels: Sequence[str]) -> str:
    return count_of(len(labels), "category", "categories")


def _category(
    edit: categories.SplitCategory
    | categories.SetChildren
    | categories.RenameCategory
    | categories.RemoveCategory,
) -> str:
    return f"the category {_q(edit.category)} of {_q(edit.variable)}"


def _of_questions(edit: forms.AddForm) -> str:
    return f" and {count_of(len(edit.questions), 'question')}" if edit.questions else ""


def _combination(edit: rules.DeclareImpossible | rules.AllowCombination) -> str:
    return " with ".join(
        f"{_q(variable)} {quoted(labels)}" for variable, labels in edit.combination.items()
    )


def _definition(edit: groups.AddGroup | groups.ReplaceGroup) -> str:
    if edit.where is not None:
        return f": the forms where {quoted([edit.where], letters=200)}"
    if edit.forms is not None:
        return f": {count_of(len(edit.forms), 'form')} by hand"
    for way in ("union", "intersection", "difference"):
        if (parts := getattr(edit, way)) is not None:
            return f": the {way} of {quoted(parts)}"
    return ""
