"""What every edit is: a strict, frozen record whose field `edit` says which one it is."""

from __future__ import annotations

from collections.abc import Collection
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field

from gamekeeper.errors import InputError, Reason
from gamekeeper.mapping.environment.definitions import STRICT
from gamekeeper.wording import quoted

__all__ = ["Names", "Record", "require_new"]

# A list is as good as a tuple; what is in it is checked strictly all the same.
Names = Annotated[tuple[str, ...], Field(strict=False)]
"""Names in an order."""


def _ask_for_the_name(schema: dict[str, Any]) -> None:
    """Let the JSON Schema require the name of the edit, which in Python goes without saying."""
    del schema["properties"]["edit"]["default"]
    schema["required"] = ["edit", *schema.get("required", ())]


class Record(BaseModel):
    """An edit of an environment."""

    model_config = STRICT | ConfigDict(json_schema_extra=_ask_for_the_name)


def require_new(kind: str, name: str, known: Collection[str]) -> None:
    """Refuse a name that is taken."""
    if name in known:
        raise InputError(
            Reason.DUPLICATE,
            f"The {kind} {quoted([name])} was to be added.",
            f"There is a {kind} of the name {quoted([name])} already.",
            "Choose another name.",
        )
