"""What an edit writes, so that edits by several people can be told apart."""

from __future__ import annotations

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


def touched(edit: Edit) -> frozenset[tuple[str, str]]:
    """Return what an edit names to write it, as pairs of a kind and a name.

    A rename also reaches forms and groups that the edit does not name; those are not here. The
    environment itself is ``("environment", "environment")``.

    Examples
    --------
    >>> from gamekeeper.mapping.edits import RenameForm
    >>> sorted(touched(RenameForm(form="Bank", to="Bank account")))
    [('form', 'Bank'), ('form', 'Bank account')]
    """
    match edit:
        case forms.AddForm(name=name):
            return frozenset({("form", name)})
        case forms.RenameForm(form=old, to=new):
            return frozenset({("form", old), ("form", new)})
        case forms.RemoveForm() | forms.SetMetadata() | forms.AskVariable() | forms.DropVariable():
            return frozenset({("form", edit.form)})
        case questions.AskQuestion() | questions.DropQuestion() | questions.SetUniverse():
            return frozenset({("form", edit.form)})
        case variables.AddVariable(definition=definition):
            return frozenset({("variable", definition.name)})
        case variables.RenameVariable(variable=old, to=new):
            return frozenset({("variable", old), ("variable", new)})
        case (
            variables.ReplaceVariable() | variables.RemoveVariable() | variables.DescribeVariable()
        ):
            return frozenset({("variable", edit.variable)})
        case variables.MarkSensitive() | variables.UnmarkSensitive() | widening.WidenVariable():
            return frozenset({("variable", edit.variable)})
        case groups.AddGroup(name=name):
            return frozenset({("group", name)})
        case groups.RenameGroup(group=old, to=new):
            return frozenset({("group", old), ("group", new)})
        case groups.ReplaceGroup() | groups.RemoveGroup():
            return frozenset({("group", edit.group)})
        case scenarios.SaveScenario(scenario=scenario):
            return frozenset({("scenario", scenario.name)})
        case scenarios.RenameScenario(scenario=old, to=new):
            return frozenset({("scenario", old), ("scenario", new)})
        case scenarios.RemoveScenario():
            return frozenset({("scenario", edit.scenario)})
        case (
            environment.DescribeEnvironment()
            | kept_history.KeepHistory()
            | rules.DeclareMetadata()
            | rules.UndeclareMetadata()
            | rules.DeclareImpossible()
            | rules.AllowCombination()
        ):
            return frozenset({("environment", "environment")})
        case _:
            return _of_variable(edit)


def _of_variable(edit: categories.CategoryEdit | bands.BandEdit) -> frozenset[tuple[str, str]]:
    return frozenset({("variable", edit.variable)})
