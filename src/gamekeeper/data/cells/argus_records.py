"""Records as tau-ARGUS keeps them: a file of fixed columns or with a separator, described by its `.rda`."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

from gamekeeper.data.cells.argus_file import (
    ArgusVariable,
    beside,
    by_variable,
    described,
    separated,
)
from gamekeeper.data.cells.hierarchy import Hierarchy
from gamekeeper.data.cells.hierarchy_file import read_hierarchy
from gamekeeper.data.cells.tool_text import tool_text
from gamekeeper.data.reading.source import Source, open_source
from gamekeeper.errors import InputError, Reason
from gamekeeper.wording import quoted


@dataclass(frozen=True)
class ArgusRecords:
    """Records, and what their description says of the columns.

    Attributes
    ----------
    hierarchies
        For each axis with one, its hierarchy.
    weight, holding, request
        The columns with the weight, the holding, and who asked for protection; "" for none.
    """

    source: Source
    hierarchies: dict[str, Hierarchy] = field(default_factory=dict[str, Hierarchy])
    weight: str = ""
    holding: str = ""
    request: str = ""


def read_argus_records(data: Path, description: Path) -> ArgusRecords:
    """Read records of tau-ARGUS."""
    import pyarrow as pa

    asked = f"Records were to be read from file {quoted([data.name])}."
    separator, variables = described(tool_text(description, asked))
    placed = [variable for variable in variables if variable.width]
    lines = [line for line in tool_text(data, asked).splitlines() if line.strip()]
    if separator is not None or len(placed) < len(variables):
        rows = separated("\n".join(lines), separator or ",", asked)
        if rows and [cell.strip() for cell in rows[0]] == [v.name for v in variables]:
            rows = rows[1:]
    else:
        rows = [[line[v.start - 1 : v.start - 1 + v.width] for v in placed] for line in lines]
    columns = by_variable(rows, variables, asked, "It has no records.", "Check the description.")
    for variable in variables:
        if {"NUMERIC", "WEIGHT"} & set(variable.tags):
            columns[variable.name] = [own.replace(",", ".") for own in columns[variable.name]]
    tagged = {tag: v.name for v in reversed(variables) for tag in v.tags}
    return ArgusRecords(
        open_source(pa.table(columns)),
        {
            v.name: own
            for v in variables
            if (own := _hierarchy(v, columns[v.name], description)) is not None
        },
        tagged.get("WEIGHT", ""),
        tagged.get("HOLDING", ""),
        tagged.get("REQUEST", ""),
    )


def _hierarchy(variable: ArgusVariable, codes: list[str], description: Path) -> Hierarchy | None:
    if "HIERCODELIST" in variable.tags:
        file = beside(description.parent, variable.tags["HIERCODELIST"])
        if file is None:
            raise InputError(
                Reason.NOT_FOUND,
                f"Records were to be read by the description {quoted([description.name])}.",
                f"The hierarchy {quoted([variable.tags['HIERCODELIST']])} is not beside it.",
                "Put it there.",
            )
        lead = variable.tags.get("HIERLEADSTRING") or "@"
        return read_hierarchy(file, lead=lead).beside(variable.missing)
    if "HIERLEVELS" not in variable.tags:
        return None
    widths = [int(own) for own in variable.tags["HIERLEVELS"].split() if own.isdecimal()]
    ends = [sum(widths[: at + 1]) for at, width in enumerate(widths) if width]
    chains = [[code[:end] for end in ends if end <= len(code)] for code in dict.fromkeys(codes)]
    pairs = [
        (below, over)
        for chain in chains
        for over, below in zip(["", *chain], chain, strict=False)
        if over != below
    ]
    return Hierarchy.of_parents(dict.fromkeys(pairs), f"digits of {quoted([variable.name])}")
