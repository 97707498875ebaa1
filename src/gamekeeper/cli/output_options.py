"""Options of commands on tables and linkage that say where to write."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from gamekeeper.cli.show import say

__all__ = ["Draws", "Output", "Report", "say_files"]

Output = Annotated[
    Path | None,
    typer.Option("--output", "-o", help="Write to this .csv or .parquet.", show_default=False),
]
Report = Annotated[
    Path | None, typer.Option(help="Write an HTML report to this file.", show_default=False)
]
Draws = Annotated[int, typer.Option(help="How many random draws, where they are needed.", min=1)]


def say_files(*files: Path | None) -> None:
    """Say which files were written."""
    written = [str(file) for file in files if file is not None]
    if written:
        say(f"Written: {', '.join(written)}")
