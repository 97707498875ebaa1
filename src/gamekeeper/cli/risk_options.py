"""Options that several commands of stage two share."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

__all__ = ["MaxSize", "Plot", "Population", "Seed", "Workers"]

Seed = Annotated[int, typer.Option(help="The same seed gives the same result.", min=0)]
Workers = Annotated[
    int | None,
    typer.Option(help="How many at a time; by default one per core.", min=1, show_default=False),
]
Plot = Annotated[
    Path | None, typer.Option(help="Write a plot to this .svg or .png.", show_default=False)
]
Population = Annotated[
    Path | None,
    typer.Option(
        help="A file with everybody in it, of the same columns: then nothing is estimated.",
        show_default=False,
    ),
]
MaxSize = Annotated[
    int | None,
    typer.Option(
        "--max-size",
        help="Search combinations of so many variables at most; all by default.",
        min=1,
        show_default=False,
    ),
]
