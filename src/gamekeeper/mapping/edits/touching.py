"""What an edit writes, so that edits by several people can be told apart."""

from __future__ import annotations

from gamekeeper.mapping.edits.edit import Edit
from gamekeeper.mapping.edits.kinds.bands import BandEdit
from gamekeeper.mapping.edits.kinds.categories import CategoryEdit
from gamekeeper.mapping.edits.kinds.environment import DescribeEnvironment
from gamekeeper.mapping.edits.kinds.forms import (
    AddForm,
    AskVariable,
    DropVariable,
    RemoveForm,
    RenameForm,
    SetMetadata,
)
from gamekeeper.mapping.edits.kinds.groups import AddGroup, RemoveGroup, RenameGroup, ReplaceGroup
from gamekeeper.mapping.edits.kinds.kept_history import KeepHistory
from gamekeeper.mapping.edits.kinds.questions import AskQuestion, DropQuestion, SetUniverse
from gamekeeper.mapping.edits.kinds.rules import (
    AllowCombination,
    DeclareImpossible,
    DeclareMetadata,
    UndeclareMetadata,
)
from gamekeeper.mapping.edits.kinds.scenarios import RemoveScenario, RenameScenario, SaveScenario
from gamekeeper.mapping.edits.kinds.variables import (
    AddVariable,
    DescribeVariable,
    MarkSensitive,
    RemoveVariable,
    RenameVariable,
    ReplaceVariable,
    UnmarkSensitive,
)
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
    match edit:
        case AddForm(name=name):
            return frozenset({("form", name)})
        case RenameForm(form=old, to=new):
            return frozenset({("form", old), ("form", new)})
        case RemoveForm() | SetMetadata() | AskVariable() | DropVariable():
            return frozenset({("form", edit.form)})
        case AskQuestion() | DropQuestion() | SetUniverse():
            return frozenset({("form", edit.form)})
        case AddVariable(definition=definition):
            return frozenset({("variable", definition.name)})
        case RenameVariable(variable=old, to=new):
            return frozenset({("variable", old), ("variable", new)})
        case ReplaceVariable() | RemoveVariable() | DescribeVariable():
            return frozenset({("variable", edit.variable)})
        case MarkSensitive() | UnmarkSensitive() | WidenVariable():
            return frozenset({("variable", edit.variable)})
        case AddGroup(name=name):
            return frozenset({("group", name)})
        case RenameGroup(group=old, to=new):
            return frozenset({("group", old), ("group", new)})
        case ReplaceGroup() | RemoveGroup():
            return frozenset({("group", edit.group)})
        case SaveScenario(scenario=scenario):
            return frozenset({("scenario", scenario.name)})
        case RenameScenario(scenario=old, to=new):
            return frozenset({("scenario", old), ("scenario", new)})
        case RemoveScenario():
            return frozenset({("scenario", edit.scenario)})
        case (
            DescribeEnvironment()
            | KeepHistory()
            | DeclareMetadata()
            | UndeclareMetadata()
            | DeclareImpossible()
            | AllowCombination()
        ):
            return frozenset({("environment", "environment")})
        case _:
            return _of_variable(edit)


def _of_variable(edit: CategoryEdit | BandEdit) -> frozenset[tuple[str, str]]:
    return frozenset({("variable", edit.variable)})
