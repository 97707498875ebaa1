"""What people ask of protection: candidates for targets, a release by a recipe, an audit."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from gamekeeper.attack.options import Seed, Workers
from gamekeeper.data.writing.released_cells import CellLook
from gamekeeper.options import Option, defaulting, option, part_of
from gamekeeper.prompt_syntax import names_of
from gamekeeper.protection.attacking.attacks import AttackName
from gamekeeper.protection.recoding.options import SearchOptions
from gamekeeper.protection.suppression import Suppress
from gamekeeper.protection.utility.measuring import UtilityOptions
from gamekeeper.store.place import StorePlace
from gamekeeper.workbench.requests import records, shared

_aim = partial(Option, panel="What is to be reached")
_aim_option = defaulting(_aim)
_method = defaulting(partial(Option, panel="What may be done"))
_written = defaulting(partial(Option, panel="What is written"))

# The seed draws again what was drawn: who stands where in a release, and what was perturbed.
_CONFIDENTIAL = "It is as confidential as the file, for it has the seed."
_RECIPE = "Recipe (as confidential as the file)"

if TYPE_CHECKING:
    Wished = Suppress
    Searched = SearchOptions
    Analysed = UtilityOptions
else:
    Wished = part_of(
        Suppress, "costs", "pinned", "related", "weighted", "household_variables", "max_work"
    )
    Searched = part_of(
        SearchOptions,
        *("variables", "factors", "ways", "levels", "whole_levels", "observed", "together"),
        *("keep", "forbid", "at_least", "seconds"),
    )
    Analysed = part_of(UtilityOptions, "analyses")


class Method(StrEnum):
    """What may be tried for a target."""

    SUPPRESS = "suppress"
    RECODE = "recode"
    BOTH = "both"


Household = Annotated[
    str,
    Option("Column that tells households: what they have in common is one cell for all members."),
]
Sensitive = Annotated[
    tuple[str, ...], Option("A sensitive variable, for policies that ask for it.")
]
ResponseKnowledge = Annotated[
    bool,
    _aim(
        "Whether an intruder may know who is in the file. Where nobody can, candidates are counted from"
        " records to people, and targets that name no criterion ask for (k,1) instead of both.",
        flags="--response-knowledge/--no-response-knowledge",
    ),
]
Attacks = Annotated[
    tuple[AttackName, ...],
    _aim("What to attack with besides what targets need: linkage, assessment.", flags="--attack"),
]
_Seed = Annotated[
    int | None,
    Option(
        "The one seed of all that is drawn; keep it secret. By default one is drawn and kept in the"
        " recipe.",
        least=0,
    ),
]
_Study = Annotated[
    Path, Option("A study that 'protect try --study' made.", is_argument=True, flags="STUDY")
]
_Recipe = Annotated[
    Path, Option("A recipe that 'protect try --recipe' wrote.", is_argument=True, flags="RECIPE")
]


@dataclass(frozen=True, slots=True, kw_only=True)
class TryRequest:
    """Try candidates for targets, attack each again, keep them in a study."""

    microdata: records.MicrodataRequest
    design: records.SampleDesign = field(default_factory=records.SampleDesign)
    household: Household = ""
    identifier: shared.Identifier = ""
    sensitive: Sensitive = ()
    response_knowledge: ResponseKnowledge = True
    targets: tuple[str, ...] = _aim_option(
        (),
        "What is to be reached: 'both>=3' (everybody fits 3 records and every record 3 people),"
        " '(k,1)>=3', 'own>=3', 'assignments>=2', 'expected matches<=0.5%', 'linkage<=2%',"
        " 'policy=k3', or any criterion of policies: 'global_risk<=3%'. Exit code 4 where one is"
        " missed.",
        flags="--target -t",
    )
    attacks: Attacks = ()
    methods: tuple[Method, ...] = _method(
        (),
        "What may be tried: suppress, recode, both together; all of them by default.",
        flags="--method",
    )
    steps: tuple[str, ...] = _method(
        (),
        "Try this instead: a step and its options, 'suppress k=3 criterion=own', 'pram"
        " variables=Sex keep=0.8', or as JSON. Several are done one after the other.",
        flags="--step",
    )
    wishes: Wished = field(default_factory=Wished)
    search: Searched = field(default_factory=Searched)
    utility: Analysed = field(default_factory=Analysed)
    study: Path | None = _written(
        None,
        "Keep all candidates in this .gkp, which is as confidential as the file; one that is there"
        " goes on.",
    )
    recipe: Path | None = _written(
        None,
        f"Write the recipe of the best candidate to this .json. {_CONFIDENTIAL}",
        writes="json",
        label=_RECIPE,
    )
    plot: shared.Plot = None
    seed: _Seed = None
    workers: Workers = None
    replace: shared.Replace = False


@dataclass(frozen=True, slots=True, kw_only=True)
class StudyRequest:
    """Look at all candidates of a study."""

    study: _Study
    output: Path | None = shared.table_option(
        None, "Write the candidates to this .csv, .parquet or .xlsx.", label="Candidates"
    )
    plot: shared.Plot = None
    replace: shared.Replace = False
    raw: shared.Raw = False


@dataclass(frozen=True, slots=True, kw_only=True)
class ChooseRequest:
    """Choose the candidate that the next one is made from, and write its recipe."""

    study: _Study
    candidate: Annotated[
        int,
        Option("The number of the candidate; 0 for the file itself.", is_argument=True, least=0),
    ]
    recipe: Path | None = option(
        None, f"Write its recipe to this .json. {_CONFIDENTIAL}", writes="json", label=_RECIPE
    )
    replace: shared.Replace = False


@dataclass(frozen=True, slots=True, kw_only=True)
class UndoRequest:
    """Go back to the candidate that the current one was made from."""

    study: _Study


@dataclass(frozen=True, slots=True, kw_only=True)
class ReleaseOptions:
    """How a release is written."""

    output: Path | None = _written(
        None,
        "Write the release to this file: in the format of the original, or .csv or .parquet.",
        flags="--output -o",
        writes="release",
        label="Release",
    )
    leave_out: tuple[str, ...] = _written(
        (), "Columns that are not released, such as names and addresses.", read=names_of
    )
    keep_order: bool = _written(
        False,
        "Write the records in the order of the original, which tells who stood beside whom. By"
        " default they are shuffled, by the seed.",
    )
    look: CellLook = _written(
        CellLook.EMPTY,
        "How a suppressed cell looks: empty, a code, or a code that SPSS or Stata declare as"
        " missing.",
        flags="--suppressed",
    )
    code: str = _written("-9", "The code of a suppressed cell.")
    report: Path | None = _written(
        None,
        "Write the internal report, before and after, to this .html: it has figures of risk.",
        writes="page",
        label="Internal report",
    )
    public: Path | None = _written(
        None,
        "Write the report for everybody to this .html: methods and loss, nothing on risk.",
        writes="public",
        label="Public report",
    )
    written: Path | None = _written(
        None,
        "Write the recipe as it was used, with what was reached and in which order the release is, to"
        f" this .json. {_CONFIDENTIAL}",
        flags="--recipe",
        writes="json",
        label=_RECIPE,
    )
    external: Path | None = _written(
        None,
        "Write the recipe for people outside, without seed, journal and risk, to this .json.",
        flags="--public-recipe",
        writes="external",
        label="Public recipe",
    )
    changes: Path | None = _written(
        None,
        "Write where cells were changed, never what was there, to this .csv, .parquet or .xlsx.",
        writes="changes",
        label="Log of changes",
    )
    why: str = _written("", "Why, for the journal of the recipe.")


@dataclass(frozen=True, slots=True, kw_only=True)
class ApplyRequest:
    """Apply a recipe to the file that it was made for, and write the release."""

    recipe: _Recipe
    file: Annotated[Path, Option("The file that is protected.", is_argument=True)]
    environment: StorePlace | None = shared.environment_option(
        None, "The store or folder with the scenario, where it is not where it was."
    )
    values: records.Values = None
    unmapped: records.Unmapped = None
    numbers: records.Numbers = ()
    release: ReleaseOptions = field(default_factory=ReleaseOptions)
    attacks: Attacks = ()
    utility: Analysed = field(default_factory=Analysed)
    reading: shared.Reading = field(default_factory=shared.Reading)
    workers: Workers = None
    replace: shared.Replace = False


@dataclass(frozen=True, slots=True, kw_only=True)
class ReplayRequest:
    """Apply a recipe to another file of the same kind, such as next year's, and attack again."""

    apply: ApplyRequest
    anew: bool = option(
        False,
        "Whether recodings are searched anew for this file, or taken as they were found.",
        flags="--anew/--frozen",
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditRequest:
    """Attack anybody's masking of a file: who can be whom, links, an assessment, utility."""

    microdata: records.MicrodataRequest
    released: Annotated[Path, Option("The released file.", is_argument=True, flags="RELEASED")]
    design: records.SampleDesign = field(default_factory=records.SampleDesign)
    household: Household = ""
    identifier: str = option(
        "", "Column of both files that says which record is whose.", flags="--id"
    )
    recipe: Path | None = option(
        None,
        "The recipe that 'protect apply --recipe' wrote with the release: it says in which order"
        " its records are.",
    )
    same_order: bool = option(
        False,
        "Released records are in the order of the original, one for one. A release of 'protect"
        " apply' is not, unless with --keep-order.",
    )
    sensitive: Sensitive = ()
    unlinked: bool = option(
        False, "Released records are nobody's, as in synthetic data, whatever their number."
    )
    suppressed_values: tuple[str, ...] = option(
        (),
        "A value of the released file that stands for a suppressed cell, such as -9.",
        flags="--suppressed-value",
    )
    response_knowledge: ResponseKnowledge = True
    targets: tuple[str, ...] = option(
        (), "Hold the release to a target, as 'protect try' has them.", flags="--target -t"
    )
    utility: Analysed = field(default_factory=Analysed)
    report: shared.Report = None
    seed: Seed = 0
    workers: Workers = None
    output: Path | None = shared.table_option(
        None, "Write the figures to this .csv, .parquet or .xlsx.", label="Figures"
    )
    replace: shared.Replace = False
    raw: shared.Raw = False
