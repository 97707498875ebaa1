"""What may be asked of the field's own measures."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated

from gamekeeper.options import Option

if TYPE_CHECKING:
    from gamekeeper.data.keys.key_table import KeyTable
    from gamekeeper.results import Progress


@dataclass(frozen=True, slots=True, kw_only=True)
class MeasuresOptions:
    """What may be asked of the field's own measures.

    `population` has the keys of everybody, counted alike, where they are known.
    """

    sensitive: Annotated[
        tuple[str, ...],
        Option("A sensitive variable: l-diversity and t-closeness of its values within classes."),
    ] = ()
    ordered: Annotated[
        tuple[str, ...],
        Option("A sensitive variable whose categories are ordered: t-closeness by their order."),
    ] = ()
    household: Annotated[str, Option("Column that says who lives together: household risk.")] = ""
    threshold: Annotated[
        float,
        Option(
            "Count records whose risk is above this; 0.09 is used for health data.", least=0, most=1
        ),
    ] = 0.09
    recursive: Annotated[
        float, Option("The c of recursive (c,l)-diversity.", least=1e-6, most=1e6)
    ] = 3.0
    unsafe_below: Annotated[
        int, Option("Combinations of categories with fewer records than this are unsafe.", least=2)
    ] = 3
    dimension: Annotated[
        int,
        Option(
            "Look at combinations of up to so many key variables; 0 for none.", least=0, most=64
        ),
    ] = 3
    max_work: Annotated[
        int,
        Option(
            "Refuse to look at more than so many records times combinations of variables.", least=1
        ),
    ] = 2_000_000_000
    max_cells: Annotated[
        int,
        Option(
            "Fit the log-linear model with interactions to tables of so many cells at most.",
            least=0,
        ),
    ] = 2_000_000
    population: KeyTable | None = None
    progress: Progress | None = None
