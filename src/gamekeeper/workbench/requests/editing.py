"""What people ask when they edit or import, and of stage one: analyses, graphs, checks, scenarios.

Most edits are asked for by the fields of their record (`gamekeeper.mapping.edits`) alone; here are
what all edits share, and edits that are more than a record.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from typing import Annotated

from gamekeeper.errors import InputError, Reason
from gamekeeper.mapping.environment.asked import MapOptions, MaxNodes
from gamekeeper.options import Option, option
from gamekeeper.prompt_syntax import MAX_KEYS, MAX_NODES, Scalar, lists_of, values_of
from gamekeeper.store.place import StorePlace, store_place
from gamekeeper.wording import quoted
from gamekeeper.workbench.requests.environment import AsOf, EnvironmentAt, InStore, Opened, Person
from gamekeeper.workbench.requests.shared import Replace, WrittenPage


@dataclass(frozen=True, slots=True, kw_only=True)
class Signature:
    """Who makes an edit, with which word, on the ground of which revision."""

    person: Person = field(default_factory=Person)
    note: str = option("", "A word for the history.")
    base: int | None = option(
        None,
        "The revision that the edit is based on: it is refused if what it touches has changed"
        " since.",
        least=1,
    )
    # For programs: the same for the same save, which is then not made twice.
    key: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Freedom:
    """Whether earlier categorizations may be lost."""

    unrestricted: bool = option(
        False, "For mending mistakes: first shows which forms would break, and does it with --yes."
    )
    yes: bool = option(False, "Go ahead with an unrestricted edit.", flags="--yes -y")


def _asked_variable(text: str) -> tuple[str, tuple[str, ...]]:
    variable, equals, labels = text.partition("=")
    if not equals or not variable.strip():
        raise InputError(
            Reason.BAD_OPTION,
            f"The variable {quoted([text])} was to be asked.",
            "That is not VARIABLE=LABEL; LABEL.",
            'Write "Age=0-15; 16-64; 65+", or "Age=" for any level of detail.',
        )
    return variable.strip(), tuple(part.strip() for part in labels.split(";") if part.strip())


_Metadata = Annotated[
    Mapping[str, Scalar], Option("Metadata, KEY=VALUE.", flags="--set -s", read=values_of)
]


@dataclass(frozen=True, slots=True, kw_only=True)
class AddFormRequest:
    """A form: described here, like another, or from a file."""

    place: InStore
    form: str | None = option(None, "Its name, unless a file has it.", is_argument=True)
    metadata: _Metadata = field(default_factory=dict[str, Scalar])
    ask: Mapping[str, tuple[str, ...]] = option(
        {},
        "VARIABLE=LABEL; LABEL; ... as it is on the form; VARIABLE= for any level of detail.",
        flags="--ask -a",
        read=lambda typed: dict(map(_asked_variable, typed)),
    )
    like: str | None = option(None, "Start from a copy of this form.")
    file: Path | None = option(None, "A JSON file as in the forms folder.")


@dataclass(frozen=True, slots=True, kw_only=True)
class AskVariableRequest:
    """A variable on a form."""

    place: InStore
    form: Annotated[str, Option("The form.", is_argument=True)]
    variable: Annotated[str, Option("The variable.", is_argument=True)]
    labels: tuple[str, ...] = option(
        (), "The categories offered.", flags="LABEL...", is_argument=True
    )
    any_detail: bool = option(False, "The form takes any level of detail.")


def _answers(typed: Sequence[str]) -> dict[str, str | None]:
    read: dict[str, str | None] = {}
    for text in typed:
        printed, equals, means = text.rpartition("=")
        printed, means = (printed.strip(), means.strip()) if equals else (text.strip(), None)
        if not printed or printed in read:
            raise InputError(
                Reason.BAD_OPTION,
                f"The answer {quoted([text])} was given.",
                "It is given twice." if printed else "It has no words.",
                'Write each answer once, with the category that it means: "Wed=married".',
            )
        read[printed] = means or None
    return read


Within = Annotated[
    Mapping[str, tuple[str, ...]],
    Option(
        "VARIABLE=CATEGORY; CATEGORY of the people who are asked; nobody else is.",
        flags="--within",
        read=lists_of,
    ),
]


@dataclass(frozen=True, slots=True, kw_only=True)
class AskQuestionRequest:
    """A question of a form, in its own words."""

    place: InStore
    form: Annotated[str, Option("The form.", is_argument=True)]
    question: str | None = option(
        None, "Its name on the form, such as Q12; unless a file has it.", is_argument=True
    )
    text: str = option("", "The question as it is printed.", flags="--text -t")
    variable: str | None = option(None, "The variable that it feeds.", flags="--variable -v")
    answers: Mapping[str, str | None] = option(
        {},
        "A printed answer with the category that it means, ANSWER=CATEGORY, or ANSWER where it"
        " means what it says.",
        flags="--answer -a",
        read=_answers,
    )
    no_answers: Mapping[str, str | None] = option(
        {},
        "A printed answer that is none, ANSWER=WHY: refused, don't know, not stated, not"
        " applicable, undecided.",
        flags="--no-answer -n",
        read=_answers,
    )
    boxes: Mapping[str, str | None] = option(
        {},
        "A box to tick with the variable that it ticks, ANSWER=VARIABLE: the first category of"
        " that variable that is called yes or like the answer.",
        flags="--box",
        read=_answers,
    )
    multiple: bool = option(False, "Several answers may be given.")
    outside: bool = option(False, "Categories that no answer means are people who are not asked.")
    asked_of: str = option("", "Who is asked, as the form says it.")
    within: Within = field(default_factory=dict[str, tuple[str, ...]])
    metadata: _Metadata = field(default_factory=dict[str, Scalar])
    file: Path | None = option(None, "A JSON file with the question.")


@dataclass(frozen=True, slots=True, kw_only=True)
class UniverseRequest:
    """Who a form is for."""

    place: InStore
    form: Annotated[str, Option("The form.", is_argument=True)]
    wording: str = option("", "Who is asked, as the form says it.", is_argument=True)
    within: Within = field(default_factory=dict[str, tuple[str, ...]])
    anybody: bool = option(False, "Take back what was said: the form is for anybody.")


@dataclass(frozen=True, slots=True, kw_only=True)
class AddVariableRequest:
    """A variable: described here or from a file."""

    place: InStore
    variable: str | None = option(None, "Its name, unless a file has it.", is_argument=True)
    categories: tuple[str, ...] = option(
        (), "A category, or one with its parts: 'UK: England; Wales'.", flags="--category -c"
    )
    bands: tuple[str, ...] = option((), "A band of a number: 16-24, 65+.", flags="--band -b")
    any_of: tuple[str, ...] = option(
        (), "A box to tick: the finest categories are the sets of boxes, so ten at most."
    )
    ordinal: bool = option(False, "The finest categories are in order, as given.")
    description: str = option("", "What it means.")
    file: Path | None = option(None, "A JSON file as in the variables folder.")


@dataclass(frozen=True, slots=True, kw_only=True)
class ReplaceVariableRequest:
    """Another definition of a variable."""

    place: InStore
    variable: Annotated[str, Option("The variable.", is_argument=True)]
    file: Annotated[Path, Option("A JSON file as in the variables folder.", is_argument=True)]


@dataclass(frozen=True, slots=True, kw_only=True)
class EditFileRequest:
    """Edits of a file."""

    place: InStore
    file: Annotated[Path, Option("JSON file with a list of edits.", is_argument=True)]


_Format = Annotated[
    str | None, Option("The format, if it is not told from the file.", flags="--file-format")
]
_Megabytes = Annotated[int, Option("The largest file to read, in megabytes.", least=1)]


@dataclass(frozen=True, slots=True, kw_only=True)
class ImportFormsRequest:
    """Instruments to bring in as forms, and what to do with what is proposed."""

    place: InStore
    files: tuple[Path, ...] = option(
        (), "Questionnaires, dictionaries or codebooks.", flags="FILE...", is_argument=True
    )
    name: str | None = option(None, "The name of the form; for one file.")
    take_sure: bool = option(False, "Enter what is sure, in one revision.")
    ask: bool = option(
        False, "Ask at the prompt; with --take-sure about what is not sure, else about all."
    )
    metadata: Mapping[str, Scalar] = option(
        {}, "Metadata of the forms, KEY=VALUE.", flags="--set -s", read=values_of
    )
    new: Mapping[str, Scalar] = option(
        {}, "QUESTION=VARIABLE: make a variable of the answers to a question.", read=values_of
    )
    decisions: Path | None = option(
        None, "Enter what this file of decisions takes, and read no instrument."
    )
    save: Path | None = option(
        None, "Write the decisions to this .json, to be read, changed and entered.", writes="json"
    )
    edits: Path | None = option(
        None, "Write the edits to this .json, and make none.", writes="json"
    )
    replace: bool = option(False, "Replace files that are there.")
    file_format: _Format = None
    most_megabytes: _Megabytes = 50
    signature: Signature = field(default_factory=Signature)


@dataclass(frozen=True, slots=True, kw_only=True)
class ImportVariableRequest:
    """A classification to bring in as a variable."""

    place: InStore
    file: Annotated[Path, Option("SDMX, .hrc, levels, parents or census tables.", is_argument=True)]
    variable: str | None = option(None, "Its name; by default that of the list.")
    only: tuple[str, ...] = option((), "The list to take, where a file has several.")
    file_format: _Format = None
    most_megabytes: _Megabytes = 50


_GraphAt = Annotated[
    StorePlace,
    Option(
        "Store (a file, or postgresql://... on a server) or folder of an environment, or a file with"
        " a partition graph.",
        is_argument=True,
        read=store_place,
    ),
]


class Kind(StrEnum):
    """Which graph of a variable."""

    HARMONIZATION = "harmonization"
    PARTITION = "partition"


@dataclass(frozen=True, slots=True, kw_only=True)
class MapRequest:
    """An analysis, and what is made of it."""

    opened: Opened
    question: MapOptions
    curves: bool = option(False, "Print code size against prevalence instead.")
    evidence: bool = option(False, "Print the names of the forms behind every code instead.")
    joint: bool = option(
        False, "Print the largest composite keys by how many of the same forms hold them instead."
    )
    most_keys: int = option(MAX_KEYS, "How many composite keys are looked at, at most.", least=1)
    report: WrittenPage = None
    plot: Path | None = option(
        None, "Draw the curves to this .svg or .png file.", writes="picture", label="Written"
    )
    replace: Replace = False


@dataclass(frozen=True, slots=True, kw_only=True)
class GraphRequest:
    """The graph of the codes of a variable, or that of its categories."""

    path: _GraphAt
    variable: str | None = option(None, "The variable.", is_argument=True)
    kind: Kind = option(Kind.HARMONIZATION, "The graph of codes, or the graph of categories.")
    form: str | None = option(None, "Mark the categories that this form offers (partition graph).")
    deepen: bool = option(False, "Mostly fewer edges, more levels (partition graph).")
    codes: tuple[str, ...] = option((), "Only the harmonization of these codes.", flags="--code -c")
    output: Path | None = option(
        None,
        "Draw it to this .svg or .png file.",
        flags="--output -o",
        writes="picture",
        label="Drawn",
    )
    max_nodes: MaxNodes = MAX_NODES
    as_of: AsOf = ""
    replace: Replace = False


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckRequest:
    """A check of an environment or of one partition graph."""

    path: _GraphAt
    assign: bool = option(False, "Write the codes into the folder, so that they stay.")


def _chosen_keys(typed: Sequence[str]) -> dict[str, str] | None:
    chosen: dict[str, str] = {}
    for text in typed:
        variable, _, code = (part.strip() for part in text.rpartition("="))
        if not variable:
            variable, code = code, ""
        if variable in chosen:
            raise InputError(
                Reason.DUPLICATE,
                "Key variables were chosen.",
                f"{quoted([variable])} is chosen twice.",
                "Leave one out.",
            )
        chosen[variable] = code
    return chosen or None


@dataclass(frozen=True, slots=True, kw_only=True)
class SaveScenarioRequest:
    """An analysis whose outcome is saved under a name."""

    place: InStore
    scenario: Annotated[str, Option("The scenario.", is_argument=True)]
    question: MapOptions
    attacker: str = option("", "Who would match, and with which aim.")
    description: str = option("", "What it is about.")
    keys: Mapping[str, str] | None = option(
        None,
        "A key variable to take, VARIABLE or VARIABLE=CODE. By default all that can be matched, at"
        " the finest code.",
        flags="--key -k",
        read=_chosen_keys,
    )
    replace: bool = option(False, "Replace a scenario of that name.")
    person: Person = field(default_factory=Person)
    note: str = option("", "A word for the history.")


@dataclass(frozen=True, slots=True, kw_only=True)
class ReviewRequest:
    """What has become of a scenario."""

    environment: EnvironmentAt
    scenario: Annotated[str, Option("The scenario.", is_argument=True)]
    max_nodes: MaxNodes = MAX_NODES


@dataclass(frozen=True, slots=True, kw_only=True)
class RenewScenarioRequest:
    """A scenario whose review is accepted."""

    place: InStore
    scenario: Annotated[str, Option("The scenario.", is_argument=True)]
    max_nodes: MaxNodes = MAX_NODES
    person: Person = field(default_factory=Person)
    note: str = option("", "A word for the history.")


@dataclass(frozen=True, slots=True, kw_only=True)
class ExportScenarioRequest:
    """A scenario that is written to a file."""

    opened: Opened
    scenario: Annotated[str, Option("The scenario.", is_argument=True)]
    file: Annotated[
        Path, Option("The JSON file to write.", is_argument=True, writes="json", label="Written")
    ]
    replace: Replace = False
