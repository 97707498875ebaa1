"""Edits of an environment: typed records, what they do, and what they would break. Begin with `edit`."""

from gamekeeper.mapping.edits.applying import apply_edits
from gamekeeper.mapping.edits.consequences import Consequences, weigh_edits
from gamekeeper.mapping.edits.describing import describe_edit
from gamekeeper.mapping.edits.edit import EDIT, Edit
from gamekeeper.mapping.edits.kinds.bands import AddBands, RemoveBands
from gamekeeper.mapping.edits.kinds.categories import (
    AddCategory,
    DeepenGraph,
    FlattenGraph,
    OrderSinks,
    PruneGraph,
    RemoveCategory,
    RenameCategory,
    SetChildren,
    SplitCategory,
)
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
from gamekeeper.mapping.edits.kinds.kept_history import KeepHistory, KeptRevision
from gamekeeper.mapping.edits.kinds.questions import AskQuestion, DropQuestion, SetUniverse
from gamekeeper.mapping.edits.kinds.record import edit_of
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
from gamekeeper.mapping.edits.notes import edit_notes
from gamekeeper.mapping.edits.touching import touched

__all__ = [
    "EDIT",
    "AddBands",
    "AddCategory",
    "AddForm",
    "AddGroup",
    "AddVariable",
    "AllowCombination",
    "AskQuestion",
    "AskVariable",
    "Consequences",
    "DeclareImpossible",
    "DeclareMetadata",
    "DeepenGraph",
    "DescribeEnvironment",
    "DescribeVariable",
    "DropQuestion",
    "DropVariable",
    "Edit",
    "FlattenGraph",
    "KeepHistory",
    "KeptRevision",
    "MarkSensitive",
    "OrderSinks",
    "PruneGraph",
    "RemoveBands",
    "RemoveCategory",
    "RemoveForm",
    "RemoveGroup",
    "RemoveScenario",
    "RemoveVariable",
    "RenameCategory",
    "RenameForm",
    "RenameGroup",
    "RenameScenario",
    "RenameVariable",
    "ReplaceGroup",
    "ReplaceVariable",
    "SaveScenario",
    "SetChildren",
    "SetMetadata",
    "SetUniverse",
    "SplitCategory",
    "UndeclareMetadata",
    "UnmarkSensitive",
    "WidenVariable",
    "apply_edits",
    "describe_edit",
    "edit_notes",
    "edit_of",
    "touched",
    "weigh_edits",
]
