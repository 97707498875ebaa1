from gamekeeper.mapping.edits.applying import apply_edits as apply_edits
from gamekeeper.mapping.edits.consequences import (
    Consequences as Consequences,
    weigh_edits as weigh_edits,
)
from gamekeeper.mapping.edits.describing import describe_edit as describe_edit
from gamekeeper.mapping.edits.edit import EDIT as EDIT, Edit as Edit
from gamekeeper.mapping.edits.kinds.bands import AddBands as AddBands, RemoveBands as RemoveBands
from gamekeeper.mapping.edits.kinds.categories import (
    AddCategory as AddCategory,
    DeepenGraph as DeepenGraph,
    FlattenGraph as FlattenGraph,
    OrderSinks as OrderSinks,
    PruneGraph as PruneGraph,
    RemoveCategory as RemoveCategory,
    RenameCategory as RenameCategory,
    SetChildren as SetChildren,
    SplitCategory as SplitCategory,
)
from gamekeeper.mapping.edits.kinds.environment import DescribeEnvironment as DescribeEnvironment
from gamekeeper.mapping.edits.kinds.forms import (
    AddForm as AddForm,
    AskVariable as AskVariable,
    DropVariable as DropVariable,
    RemoveForm as RemoveForm,
    RenameForm as RenameForm,
    SetMetadata as SetMetadata,
)
from gamekeeper.mapping.edits.kinds.groups import (
    AddGroup as AddGroup,
    RemoveGroup as RemoveGroup,
    RenameGroup as RenameGroup,
    ReplaceGroup as ReplaceGroup,
)
from gamekeeper.mapping.edits.kinds.kept_history import (
    KeepHistory as KeepHistory,
    KeptRevision as KeptRevision,
)
from gamekeeper.mapping.edits.kinds.questions import (
    AskQuestion as AskQuestion,
    DropQuestion as DropQuestion,
    SetUniverse as SetUniverse,
)
from gamekeeper.mapping.edits.kinds.record import edit_of as edit_of
from gamekeeper.mapping.edits.kinds.rules import (
    AllowCombination as AllowCombination,
    DeclareImpossible as DeclareImpossible,
    DeclareMetadata as DeclareMetadata,
    UndeclareMetadata as UndeclareMetadata,
)
from gamekeeper.mapping.edits.kinds.scenarios import (
    RemoveScenario as RemoveScenario,
    RenameScenario as RenameScenario,
    SaveScenario as SaveScenario,
)
from gamekeeper.mapping.edits.kinds.variables import (
    AddVariable as AddVariable,
    DescribeVariable as DescribeVariable,
    MarkSensitive as MarkSensitive,
    RemoveVariable as RemoveVariable,
    RenameVariable as RenameVariable,
    ReplaceVariable as ReplaceVariable,
    UnmarkSensitive as UnmarkSensitive,
)
from gamekeeper.mapping.edits.kinds.widening import WidenVariable as WidenVariable
from gamekeeper.mapping.edits.notes import edit_notes as edit_notes
from gamekeeper.mapping.edits.touching import touched as touched
