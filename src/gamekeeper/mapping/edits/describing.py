"""What an edit asks for, as one sentence."""

from __future__ import annotations

from gamekeeper.mapping.edits.edit import Edit
from gamekeeper.mapping.edits.kinds import (
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
    >>> from gamekeeper.mapping.edits import RenameForm
    >>> describe_edit(RenameForm(form="Bank", to="Bank account"))
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
        case questions.AskQuestion(question=asked):
            fed = f", for {quoted(asked.variables)}" if asked.variables else ", for no variable"
            return f"Let the form {_q(edit.form)} ask the question {_q(asked.name)}{fed}"
        case questions.SetUniverse(universe=universe):
            if universe is None:
                return f"Let the form {_q(edit.form)} be for anybody"
            told = [universe.wording] if universe.wording else list(universe.within)
            return f"Say who the form {_q(edit.form)} is for: {quoted(told, letters=200)}"
        case variables.AddVariable(definition=new):
            return f"Add the variable {_q(new.name)} on the {new.scale} scale"
        case categories.AddCategory():
            made = f"made of {quoted(edit.children)}" if edit.children else "as a new sink"
            return f"Add to {_q(edit.variable)} the category {_q(edit.category)}, {made}"
        case widening.WidenVariable():
            was = "outside all forms" if edit.inside is None else f"inside {_q(edit.inside)}"
            return f"Widen {_q(edit.variable)} by {_q(edit.category)}, until now {was}"
        case categories.SetChildren():
            made = quoted(edit.children) if edit.children else "nothing, as a sink"
            return f"Make the category {_q(edit.category)} of {_q(edit.variable)} of {made}"
        case groups.AddGroup():
            return f"Add the group {_q(edit.name)}{_definition(edit)}"
        case groups.ReplaceGroup():
            return f"Define the group {_q(edit.group)} anew{_definition(edit)}"
        case scenarios.SaveScenario(scenario=saved):
            keys = count_of(len(saved.key_variables), "key variable")
            return f"Save the scenario {_q(saved.name)} with {keys} for {_q(saved.target)}"
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
        case _:
            names = {
                name: quoted([own] if isinstance(own, str) else own)
                for name, own in edit
                if isinstance(own, str | tuple)
            }
            return _PLAIN[edit.edit].format_map(names)


def _q(name: str) -> str:
    return quoted([name])


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
