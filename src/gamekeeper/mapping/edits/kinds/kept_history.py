"""The history of an environment that was merged into another, kept where it went.

The revisions of the other store cannot be made again here: they were made on other contents. What
they did, in words, with who made them and when, goes with the merge as a record that changes
nothing.
"""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import BaseModel, Field

from gamekeeper.mapping.edits.kinds.record import Record
from gamekeeper.mapping.variables.definitions import STRICT, Names
from gamekeeper.options import Option


class KeptRevision(BaseModel):
    """A revision of another store, as its history had it."""

    model_config = STRICT

    of: str = Field(description="The environment that it was made in.")
    revision: int = Field(description="Its number there.")
    at: str = Field(description="When it was made, in UTC, such as 2031-05-17T09:30:00.000000Z.")
    who: str = Field(description="Who made it.")
    words: Names = Field(default=(), description="What it did.")
    note: str = Field(default="", description="What was written about it.")


class KeepHistory(Record):
    """Keep the history of an environment that is merged into this one; it changes nothing."""

    edit: Literal["keep-history"] = "keep-history"
    of: Annotated[str, Option("The environment that is merged.")]
    revisions: Annotated[
        tuple[KeptRevision, ...], Field(strict=False), Option("Its revisions, the newest first.")
    ] = ()
