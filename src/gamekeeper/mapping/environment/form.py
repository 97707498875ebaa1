"""A form: what a data set asks of people, and in which categories."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from gamekeeper.errors import InputError, Reason
from gamekeeper.wording import quoted

Metadata = str | int | float | bool | None
"""A value of free metadata."""


@dataclass(frozen=True)
class Form:
    """A form: its name, its metadata, and per variable the labels of the categories it offers.

    An empty list of labels means that the form takes any level of detail.
    """

    name: str
    instances: Mapping[str, tuple[str, ...]] = field(default_factory=dict[str, tuple[str, ...]])
    metadata: Mapping[str, Metadata] = field(default_factory=dict[str, Metadata])

    def __post_init__(self) -> None:
        # Lists are at hand in notebooks and files; selections are compared and must not change.
        taken = dict(self.instances)
        listed = [variable for variable, labels in taken.items() if type(labels) is not tuple]
        if bare := [variable for variable in listed if isinstance(taken[variable], str)]:
            raise InputError(
                Reason.BAD_OPTION,
                f"The form {quoted([self.name])} was asked for.",
                f"Its labels are one string for {quoted(bare)}.",
                "Give a list of labels for every variable.",
            )
        taken.update((variable, tuple(taken[variable])) for variable in listed)
        object.__setattr__(self, "instances", taken)
