"""What people ask of the demo."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

from gamekeeper.options import Option


@dataclass(frozen=True, slots=True, kw_only=True)
class DemoRequest:
    """Where the demo writes to, and which people it makes up."""

    output: Annotated[
        Path,
        Option(
            "Folder to write to: a new one, or that of an earlier demo, which is replaced.",
            flags="--output -o",
            writes="folder",
        ),
    ] = Path("demo-output")
    seed: Annotated[int, Option("Another seed makes up other people.")] = 2026
