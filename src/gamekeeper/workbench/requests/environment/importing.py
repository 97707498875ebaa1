"""What can be asked when instruments and classifications are imported."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated

from gamekeeper.options import Option
from gamekeeper.prompt_syntax import Scalar, values_of
from gamekeeper.workbench.requests.environment.editing import Signature
from gamekeeper.workbench.requests.environment.shared import InStore

_Format = Annotated[
    str | None, Option("The format, if it is not told from the file.", flags="--file-format")
]
_Megabytes = Annotated[int, Option("The largest file to read, in megabytes.", least=1)]


@dataclass(frozen=True, slots=True, kw_only=True)
class ImportFormsRequest:
    """Instruments to bring in as forms, and what to do with what is proposed."""

    place: InStore
    files: Annotated[
        tuple[Path, ...],
        Option("Questionnaires, dictionaries or codebooks.", flags="FILE...", is_argument=True),
    ] = ()
    name: Annotated[str | None, Option("The name of the form; for one file.")] = None
    take_sure: Annotated[bool, Option("Enter what is sure, in one revision.")] = False
    ask: Annotated[
        bool, Option("Ask at the prompt; with --take-sure about what is not sure, else about all.")
    ] = False
    metadata: Annotated[
        Mapping[str, Scalar],
        Option("Metadata of the forms, KEY=VALUE.", flags="--set -s", read=values_of),
    ] = field(default_factory=dict[str, Scalar])
    new: Annotated[
        Mapping[str, Scalar],
        Option("QUESTION=VARIABLE: make a variable of the answers to a question.", read=values_of),
    ] = field(default_factory=dict[str, Scalar])
    decisions: Annotated[
        Path | None, Option("Enter what this file of decisions takes, and read no instrument.")
    ] = None
    save: Annotated[
        Path | None,
        Option(
            "Write the decisions to this .json, to be read, changed and entered.", writes="json"
        ),
    ] = None
    edits: Annotated[
        Path | None, Option("Write the edits to this .json, and make none.", writes="json")
    ] = None
    replace: Annotated[bool, Option("Replace files that are there.")] = False
    file_format: _Format = None
    most_megabytes: _Megabytes = 50
    signature: Signature = field(default_factory=Signature)


@dataclass(frozen=True, slots=True, kw_only=True)
class ImportVariableRequest:
    """A classification to bring in as a variable."""

    place: InStore
    file: Annotated[Path, Option("SDMX, .hrc, levels, parents or census tables.", is_argument=True)]
    variable: Annotated[str | None, Option("Its name; by default that of the list.")] = None
    only: Annotated[tuple[str, ...], Option("The list to take, where a file has several.")] = ()
    file_format: _Format = None
    most_megabytes: _Megabytes = 50
