"""The environment as a whole on the wire: what it holds, what is wrong in it, what was done last."""

from __future__ import annotations

from pydantic import BaseModel, Field

from gamekeeper.mapping.environment.environment import Environment
from gamekeeper.store.database.environment_store import EnvironmentStore
from gamekeeper.web.shapes.common import Named, RevisionShape, named, revision_shape

_SHOWN_FAULTS = 200
_SHOWN_CHANGES = 8


class FaultShape(BaseModel):
    """A categorization that is not valid, and why."""

    form: Named
    variable: Named
    fault: str


class EnvironmentShape(BaseModel):
    """What the overview shows."""

    name: str
    description: str
    revision: int
    readonly: bool = Field(description="Whether the store can only be read here.")
    n_forms: int
    n_variables: int
    n_groups: int
    n_scenarios: int
    n_questions: int = Field(description="Variables on forms, all together.")
    n_faults: int
    faults: list[FaultShape] = Field(description="Of very many the first.")
    changes: list[RevisionShape] = Field(description="The newest first.")


def environment_shape(
    environment: Environment, revision: int, store: EnvironmentStore
) -> EnvironmentShape:
    """Return the environment as its overview shows it."""
    faults = [
        FaultShape(form=named(form), variable=named(variable), fault=fault)
        for variable in environment.variables
        for form, fault in environment.faulty_instances(variable).items()
    ]
    return EnvironmentShape(
        name=environment.name,
        description=environment.description,
        revision=revision,
        readonly=store.readonly,
        n_forms=len(environment.forms),
        n_variables=len(environment.variables),
        n_groups=len(environment.groups),
        n_scenarios=len(environment.scenarios),
        n_questions=environment.n_instances,
        n_faults=len(faults),
        faults=faults[:_SHOWN_FAULTS],
        changes=[revision_shape(each) for each in store.history(most=_SHOWN_CHANGES)],
    )
