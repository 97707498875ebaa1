"""What people ask of a file before they attack it."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated

from gamekeeper.options import Option
from gamekeeper.store.place import StorePlace
from gamekeeper.workbench.requests.microdata import Columns, Numbers, Unmapped
from gamekeeper.workbench.requests.reading import Reading
from gamekeeper.workbench.requests.shared import in_environment


@dataclass(frozen=True, slots=True, kw_only=True)
class LookRequest:
    """A first look at a file."""

    file: Annotated[Path, Option("File of microdata. It is read in place.", is_argument=True)]
    scenario: Annotated[str, Option("Suggest the key variables of this scenario.")] = ""
    environment: Annotated[
        StorePlace | None, in_environment("The store or folder that has the scenario.")
    ] = None
    columns: Columns = field(default_factory=dict[str, str])
    unmapped: Unmapped = None
    numbers: Numbers = ()
    values: Annotated[
        bool,
        Option(
            "List the values of columns with up to 100 levels. What is printed is then as"
            " confidential as the file."
        ),
    ] = False
    reading: Reading = field(default_factory=Reading)
