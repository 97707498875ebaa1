"""All edits as one type.

An edit is the same record in the programming interface, in the audit trail and on the wire.
"""

from __future__ import annotations

from typing import Annotated

from pydantic import Field, TypeAdapter

from gamekeeper.mapping.edits.bands import BandEdit
from gamekeeper.mapping.edits.categories import CategoryEdit
from gamekeeper.mapping.edits.environment import DescribeEnvironment
from gamekeeper.mapping.edits.forms import FormEdit
from gamekeeper.mapping.edits.groups import GroupEdit
from gamekeeper.mapping.edits.kept_history import KeepHistory
from gamekeeper.mapping.edits.questions import QuestionEdit
from gamekeeper.mapping.edits.rules import RuleEdit
from gamekeeper.mapping.edits.scenarios import ScenarioEdit
from gamekeeper.mapping.edits.variables import VariableEdit
from gamekeeper.mapping.edits.widening import WidenVariable

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
