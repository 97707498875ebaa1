"""Edits of the bands of a variable on the interval scale.

The partition graph follows from the bands. A new band may cut sinks, which stay as categories, so
to add bands is always safe. A band that others cut out stays as long as they do.
"""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from gamekeeper.errors import InputError, Problem, Reason, refuse
from gamekeeper.mapping.edits.kinds.record import OfVariable, Record
from gamekeeper.mapping.edits.kinds.variable_change import with_variable
from gamekeeper.mapping.environment.environment import Environment
from gamekeeper.mapping.variables.definitions import Names
from gamekeeper.mapping.variables.variable import Variable
from gamekeeper.options import Option
from gamekeeper.wording import count_of, did_you_mean, quoted

_Bands = Annotated[
    Names,
    Field(min_length=1),
    Option(
        "The bands as printed: 16-24, 25 to 34, 65+, under 16.", flags="BAND...", is_argument=True
    ),
]


class AddBands(Record):
    """Add bands to a variable; those that it has already are passed over."""

    edit: Literal["add-bands"] = "add-bands"
    variable: OfVariable
    bands: _Bands


class RemoveBands(Record):
    """Remove bands from a variable, also from the selections of all forms."""

    edit: Literal["remove-bands"] = "remove-bands"
    variable: OfVariable
    bands: _Bands


BandEdit = AddBands | RemoveBands


def apply_band_edit(
    environment: Environment, edit: BandEdit, *, unrestricted: bool = False
) -> Environment:
    """Return the environment after an edit of the bands of a variable."""
    before = environment.variable(edit.variable)
    if not before.bands:
        raise InputError(
            Reason.BAD_OPTION,
            f"The bands of {quoted([before.name])} were to be changed.",
            f"{quoted([before.name])} is on the {before.scale.value} scale and has no bands.",
            "Add, split or remove categories.",
        )
    if isinstance(edit, AddBands):
        after = _of_bands(before, [*before.bands, *edit.bands])
        if after == before:
            raise InputError(
                Reason.DUPLICATE,
                f"Bands were to be added to {quoted([before.name])}.",
                f"{quoted([before.name])} has them already.",
            )
    else:
        gone = _named(before, edit)
        after = _of_bands(before, [band for band in before.bands if band not in gone])
        _require_gone(after, gone)
    return with_variable(environment, after, unrestricted=unrestricted)


def _of_bands(variable: Variable, bands: list[str]) -> Variable:
    return Variable.of_bands(
        variable.name,
        bands,
        style=variable.style,
        space=variable.space,
        description=variable.description,
        sensitive=variable.sensitive,
    )


def _named(variable: Variable, edit: RemoveBands) -> set[str]:
    """Return the categories that some bands are, however they are written."""
    problems: list[Problem] = []
    gone: set[str] = set()
    for band in edit.bands:
        category = variable.resolve(band)
        if category is None:
            found = f"is not a band of {quoted([variable.name])}."
            near = did_you_mean(band, variable.bands)
            problems.append(Problem(Reason.UNKNOWN_NAME, f"band {quoted([band])}", found, near))
        else:
            gone.add(category)
    refuse(
        problems,
        f"Bands were to be removed from {quoted([variable.name])}.",
        f"{count_of(len(problems), 'of them is', 'of them are')} not there.",
    )
    return gone


def _require_gone(after: Variable, gone: set[str]) -> None:
    problems = [
        Problem(
            Reason.NOT_REMOVABLE,
            f"band {quoted([band])}",
            "is the whole range."
            if after.bands[band] == after.space
            else "is what other bands leave between them.",
            "Leave it." if after.bands[band] == after.space else "Remove those as well.",
        )
        for band in sorted(gone)
        if band in after.bands
    ]
    refuse(
        problems,
        f"Bands were to be removed from {quoted([after.name])}.",
        f"{count_of(len(problems), 'of them', 'of them')} would come back.",
    )
