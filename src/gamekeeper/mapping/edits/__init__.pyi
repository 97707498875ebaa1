from gamekeeper.mapping.edits.applying import apply_edits as apply_edits
from gamekeeper.mapping.edits.consequences import (
    Consequences as Consequences,
    weigh_edits as weigh_edits,
)
from gamekeeper.mapping.edits.applying import describe_edit as describe_edit
from gamekeeper.mapping.edits.applying import EDIT as EDIT, Edit as Edit
from gamekeeper.mapping.edits.categories import AddBands as AddBands, RemoveBands as RemoveBands
from gamekeeper.mapping.edits.categories import (
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
from gamekeeper.mapping.edits.environment import DescribeEnvironment as DescribeEnvironment
from gamekeeper.mapping.edits.forms import (
    AddForm as AddForm,
    AskVariable as AskVariable,
    DropVariable as DropVariable,
    RemoveForm as RemoveForm,
    RenameForm as RenameForm,
    SetMetadata as SetMetadata,
)
from gamekeeper.mapping.edits.environment import (
    AddGroup as AddGroup,
    RemoveGroup as RemoveGroup,
    RenameGroup as RenameGroup,
    ReplaceGroup as ReplaceGroup,
)
from gamekeeper.mapping.edits.environment import (
    KeepHistory as KeepHistory,
    KeptRevision as KeptRevision,
)
from gamekeeper.mapping.edits.forms import (
    AskQuestion as AskQuestion,
    DropQuestion as DropQuestion,
    SetUniverse as SetUniverse,
)
from gamekeeper.mapping.edits.environment import edit_of as edit_of
from gamekeeper.mapping.edits.environment import (
    AllowCombination as AllowCombination,
    DeclareImpossible as DeclareImpossible,
    DeclareMetadata as DeclareMetadata,
    UndeclareMetadata as UndeclareMetadata,
)
from gamekeeper.mapping.edits.environment import (
    RemoveScenario as RemoveScenario,
    RenameScenario as RenameScenario,
    SaveScenario as SaveScenario,
)
from gamekeeper.mapping.edits.variables import (
    AddVariable as AddVariable,
    DescribeVariable as DescribeVariable,
    MarkSensitive as MarkSensitive,
    RemoveVariable as RemoveVariable,
    RenameVariable as RenameVariable,
    ReplaceVariable as ReplaceVariable,
    UnmarkSensitive as UnmarkSensitive,
)
from gamekeeper.mapping.edits.variables import WidenVariable as WidenVariable
from gamekeeper.mapping.edits.consequences import edit_notes as edit_notes
from gamekeeper.mapping.edits.applying import touched as touched
