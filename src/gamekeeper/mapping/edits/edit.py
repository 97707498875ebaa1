"""All edits as one type.

An edit is the same record in the programming interface, in the audit trail and on the wire.
"""

from __future__ import annotations

from typing import Annotated

from pydantic import Field, TypeAdapter

from gamekeeper.mapping.edits.kinds.bands import BandEdit
from gamekeeper.mapping.edits.kinds.categories import CategoryEdit
from gamekeeper.mapping.edits.kinds.environment import DescribeEnvironment
from gamekeeper.mapping.edits.kinds.forms import FormEdit
from gamekeeper.mapping.edits.kinds.groups import GroupEdit
from gamekeeper.mapping.edits.kinds.kept_history import KeepHistory
from gamekeeper.mapping.edits.kinds.questions import QuestionEdit
from gamekeeper.mapping.edits.kinds.rules import RuleEdit
from gamekeeper.mapping.edits.kinds.scenarios import ScenarioEdit
from gamekeeper.mapping.edits.kinds.variables import VariableEdit
from gamekeeper.mapping.edits.kinds.widening import WidenVariable

Edit = (
    FormEdit
    | QuestionEdit
    | VariableEdit
    | CategoryEdit
    | WidenVariable
    | BandEdit
    | GroupEdit
    | ScenarioEdit
    | RuleEdit
    | DescribeEnvironment
    | KeepHistory
)

EDIT: TypeAdapter[Edit] = TypeAdapter(Annotated[Edit, Field(discriminator="edit")])
"""Reads an edit of plain values, and with `dump_python(edit, mode="json", by_alias=True)` gives
the plain values of an edit."""
