"""The edit of an environment as a whole: its name and description."""

from __future__ import annotations

from typing import Annotated, Literal

from gamekeeper.errors import InputError, Reason
from gamekeeper.mapping.edits.kinds.record import Record
from gamekeeper.mapping.environment.environment import Environment
from gamekeeper.options import Option


class DescribeEnvironment(Record):
    """Name or describe the environment."""

    edit: Literal["describe-environment"] = "describe-environment"
    name: Annotated[str | None, Option("A new name; by default it stays as it is.")] = None
    description: Annotated[
        str | None, Option("A new description; by default it stays as it is.")
    ] = None


def apply_environment_edit(environment: Environment, edit: DescribeEnvironment) -> Environment:
    """Return the environment under another name or description."""
    if edit.name is None and edit.description is None:
        raise InputError(
            Reason.NOTHING_GIVEN,
            "The environment was to be described.",
            "Neither a name nor a description was given.",
            "Give one of them.",
        )
    return environment.changed(name=edit.name, description=edit.description)
