from gamekeeper.protect.changes import ChangeLog as ChangeLog, VariableChange as VariableChange
from gamekeeper.protect.protected import Protected as Protected
from gamekeeper.protect.setting import Setting as Setting
from gamekeeper.protect.step import Step as Step
from gamekeeper.protect.steps import STEPS as STEPS, read_step as read_step
from gamekeeper.protect.targets import (
    Criterion as Criterion,
    Target as Target,
    parse_targets as parse_targets,
)
