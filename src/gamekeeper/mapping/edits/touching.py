"""What an edit writes, so that edits by several people can be told apart."""

from __future__ import annotations

from gamekeeper.mapping.edits.edit import Edit
from gamekeeper.mapping.edits.kinds.bands import BandEdit
from gamekeeper.mapping.edits.kinds.categories import CategoryEdit
from gamekeeper.mapping.edits.kinds.forms import AddForm, FormEdit, RenameForm
from gamekeeper.mapping.edits.kinds.groups import AddGroup, GroupEdit, RenameGroup
from gamekeeper.mapping.edits.kinds.questions import QuestionEdit
from gamekeeper.mapping.edits.kinds.scenarios import RenameScenario, SaveScenario, ScenarioEdit
from gamekeeper.mapping.edits.kinds.variables import AddVariable, RenameVariable, VariableEdit
from gamekeeper.mapping.edits.kinds.widening import WidenVariable


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
    kind, name = _written(edit)
    renames = isinstance(edit, RenameForm | RenameVariable | RenameGroup | RenameScenario)
    return frozenset({(kind, name), (kind, edit.to if renames else name)})


def _written(edit: Edit) -> tuple[str, str]:
    if isinstance(edit, FormEdit | QuestionEdit):
        return "form", edit.name if isinstance(edit, AddForm) else edit.form
    if isinstance(edit, AddVariable):
        return "variable", edit.definition.name
    if isinstance(edit, VariableEdit | CategoryEdit | WidenVariable | BandEdit):
        return "variable", edit.variable
    if isinstance(edit, GroupEdit):
        return "group", edit.name if isinstance(edit, AddGroup) else edit.group
    if isinstance(edit, SaveScenario):
        return "scenario", edit.scenario.name
    if isinstance(edit, ScenarioEdit):
        return "scenario", edit.scenario
    return "environment", "environment"
