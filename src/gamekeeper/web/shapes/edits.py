"""Edits on the wire: the records of `mapping.edits` as they are, and what they did or would do."""

from __future__ import annotations

from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field

from gamekeeper.mapping.edits import Edit
from gamekeeper.web.shapes.common import Named, named
from gamekeeper.workbench.environment.editing import Edited, Preview

OneEdit = Annotated[Edit, Field(discriminator="edit")]
"""Any edit; told apart by its field `edit`, so that a fault is told once and not for every kind."""

_MOST_EDITS = 20_000
_SHOWN = 200


class EditsAsked(BaseModel):
    """Edits to be made together, or not at all."""

    model_config = ConfigDict(extra="forbid")

    edits: Annotated[list[OneEdit], Field(min_length=1, max_length=_MOST_EDITS)]
    base: int | None = Field(
        default=None, ge=1, description="The revision on which they were thought out."
    )
    note: str = Field(default="", max_length=10_000, description="A word for the history.")
    unrestricted: bool = Field(
        default=False, description="Whether earlier categorizations may be lost."
    )
    key: str = Field(
        default="",
        max_length=100,
        pattern="^[A-Za-z0-9_-]*$",
        description="The same for the same save: what was saved under it already is not saved again.",
    )


class EditedShape(BaseModel):
    """What was acknowledged."""

    revision: int
    words: list[str]
    notes: list[str]


def edited_shape(edited: Edited) -> EditedShape:
    """Return what was acknowledged as it goes over the wire."""
    return EditedShape.model_validate(edited, from_attributes=True)


class ConsequenceShape(BaseModel):
    """What would happen to a variable on a form, or to a code."""

    kind: str
    variable: Named
    form: Named | None
    detail: str


class PreviewShape(BaseModel):
    """What edits would do."""

    words: list[str]
    notes: list[str]
    n_consequences: int
    consequences: list[ConsequenceShape] = Field(description="Of very many the first.")
    n_broken: int = Field(description="Forms with a categorization that would not be valid.")


def preview_shape(found: Preview) -> PreviewShape:
    """Return what edits would do as it goes over the wire."""
    rows = found.consequences.rows
    return PreviewShape(
        words=list(found.words[:_SHOWN]),
        notes=list(found.notes),
        n_consequences=len(rows),
        consequences=[
            ConsequenceShape(
                kind=row.kind.value,
                variable=named(row.variable),
                form=named(row.form) if row.form else None,
                detail=row.detail,
            )
            for row in rows[:_SHOWN]
        ],
        n_broken=len(found.consequences.broken),
    )
