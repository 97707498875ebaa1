"""What may be asked of linkage: each option with its name, default, range and help text.

Classes whose names end in `Input` add what is no option: the data, and what is known of them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from functools import partial
from typing import TYPE_CHECKING, Annotated

from gamekeeper.errors import InputError, Reason
from gamekeeper.options import Option, option
from gamekeeper.prompt_syntax import names_of, whole_pairs_of
from gamekeeper.wording import quoted

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import ArrayLike, NDArray

    from gamekeeper.algorithms.structure.clusterings import Clusterer, Technique
    from gamekeeper.attack.linkage.columns import LinkVariable
    from gamekeeper.data.coding.coded_table import CodedTable
    from gamekeeper.results import Progress


class LinkMethod(StrEnum):
    """How records are linked once costs are known."""

    OPTIMAL = "optimal"
    GREEDY = "greedy"
    GREEDY_ROWS = "greedy-rows"
    NEAREST = "nearest"


class ObjectiveName(StrEnum):
    """How distances of several variables become one cost."""

    EQUAL = "equal"
    WEIGHTED = "weighted"
    ESTIMATED = "estimated"
    LEXICOGRAPHIC = "lexicographic"
    MAHALANOBIS = "mahalanobis"
    FELLEGI_SUNTER = "fellegi-sunter"


class Individuals(StrEnum):
    """How single records are linked by structure."""

    AUTO = "auto"
    WHOLE = "whole"
    CLUSTERS = "clusters"
    GROUPS = "groups"
    NONE = "none"


def _clusters(typed: str) -> int | tuple[int, ...] | None:
    if not typed.strip():
        return None
    try:
        numbers = tuple(int(part) for part in typed.split(","))
    except ValueError:
        raise InputError(
            Reason.BAD_OPTION,
            f"Numbers of clusters were given as {quoted([typed])}.",
            "They cannot be read.",
            "Write 5, or 4,4,4,4,7,5.",
        ) from None
    return numbers[0] if len(numbers) == 1 else numbers


_Block = Annotated[
    Sequence[str], Option("Columns that must agree (mapped ones: be compatible).", read=names_of)
]
_Window = Annotated[
    Mapping[str, int],
    Option(
        "COLUMN=NUMBER: compare records within so many places of each other in the order of this"
        " column, besides those that --block takes.",
        read=partial(whole_pairs_of, "--window COLUMN=NUMBER"),
    ),
]
_Neighbours = Annotated[
    int | None,
    Option(
        "Compare each record with so many nearest ones by all columns of numbers, dates and ranks,"
        " besides those that --block and --window take.",
        least=1,
    ),
]
_MaxPairs = Annotated[
    int | None,
    Option(
        "Lifts the limit on pairs to compare: 400,000,000, or 100,000,000 after blocking.", least=1
    ),
]
_Seed = Annotated[
    int,
    Option(
        "The same seed gives the same result; it draws the order of records, which decides among"
        " equals.",
        least=0,
    ),
]
_Weights = Annotated[Sequence[float], Option("One per variable, for the objective weighted.")]


@dataclass(frozen=True, slots=True, kw_only=True)
class LinkOptions:
    """How two files that share variables are linked."""

    everybody: bool = option(
        False,
        "Every record has a partner in the other file, or as many as there are: link all. By"
        " default records without a probable partner stay unlinked.",
    )
    objective: ObjectiveName | str | None = option(
        None,
        "How distances become one cost: equal or weighted sums, weights estimated from the data,"
        " lexicographic in the order of the columns, mahalanobis, fellegi-sunter by EM.",
        default_text="fellegi-sunter; with --everybody estimated",
    )
    method: LinkMethod | str = option(
        LinkMethod.OPTIMAL,
        "optimal: one to one at the least total cost. greedy: the cheapest pair first."
        " greedy-rows: record by record. nearest: not one to one.",
    )
    block: _Block = ()
    window: _Window = field(default_factory=dict[str, int])
    neighbours: _Neighbours = None
    unlinked: float | None = option(
        None,
        "Leave records unlinked rather than link them badly: with fellegi-sunter the least"
        " probability of a match; otherwise the most a link may cost.",
        default_text="0.5 with fellegi-sunter, unless --everybody",
    )
    resamples: int = option(
        0, "So often leave out a tenth of both files and link the rest.", least=0, most=1_000_000
    )
    max_pairs: _MaxPairs = None
    seed: _Seed = 0

    @property
    def chosen_objective(self) -> ObjectiveName:
        """The objective that was asked for, or what suits the question."""
        if self.objective is not None:
            return ObjectiveName(self.objective)
        return ObjectiveName.ESTIMATED if self.everybody else ObjectiveName.FELLEGI_SUNTER

    @property
    def least_worth(self) -> float | None:
        """The probability below which, or the cost above which, records stay unlinked."""
        if self.unlinked is not None:
            return self.unlinked
        is_weighed = self.chosen_objective is ObjectiveName.FELLEGI_SUNTER
        return 0.5 if is_weighed and not self.everybody else None


@dataclass(frozen=True, slots=True)
class LinkInput(LinkOptions):
    """A second file, the variables to compare, and how."""

    b: CodedTable
    variables: Sequence[LinkVariable | str]
    weights: _Weights = field(default=(), kw_only=True)
    steps: Sequence[int | None] = field(default=(), kw_only=True)
    truth: NDArray[np.int64] | None = field(default=None, kw_only=True)
    decimals: tuple[str, str] = field(default=(".", "."), kw_only=True)
    progress: Progress | None = field(default=None, kw_only=True)


@dataclass(frozen=True, slots=True, kw_only=True)
class MaskingOptions:
    """How masked versions of a file are linked with it."""

    objectives: Sequence[ObjectiveName | str] = option(
        (ObjectiveName.ESTIMATED,),
        "As for link files; all that are given are tried.",
        flags="--objective",
        default_text="estimated",
    )
    methods: Sequence[LinkMethod | str] = option(
        (LinkMethod.OPTIMAL, LinkMethod.NEAREST),
        "As for link files; all that are given are tried.",
        flags="--method",
        default_text="optimal and nearest",
    )
    block: _Block = ()
    window: _Window = field(default_factory=dict[str, int])
    neighbours: _Neighbours = None
    max_pairs: _MaxPairs = None
    seed: _Seed = 0


@dataclass(frozen=True, slots=True)
class MaskingInput(MaskingOptions):
    """The masked versions by name, the variables to compare, and who is who."""

    masked: Mapping[str, CodedTable]
    variables: Sequence[LinkVariable]
    truths: Mapping[str, NDArray[np.int64]] = field(kw_only=True)
    weights: _Weights = field(default=(), kw_only=True)
    steps: Sequence[int | None] = field(default=(), kw_only=True)
    decimals: Mapping[str, str] = field(default_factory=dict[str, str], kw_only=True)
    decimal: str = field(default=".", kw_only=True)
    progress: Progress | None = field(default=None, kw_only=True)


@dataclass(frozen=True, slots=True, kw_only=True)
class StructureOptions:
    """How files without common variables are linked."""

    n_clusters: int | Sequence[int] | None = option(
        None,
        "Number of clusters, one for all or one per clustering: 5, or 4,4,4,4,7,5. Chosen alike in"
        " both files by default.",
        flags="--clusters",
        read=_clusters,
    )
    one_to_one: bool = option(False, "Match different groups with different groups.")
    individuals: Individuals | str = option(
        Individuals.AUTO,
        "Single records: over the whole files by all distances within them, by distances to"
        " matched clusters, within matched groups, or none. auto: whole up to 5,000 records,"
        " clusters up to 10,000.",
    )
    leave_out: bool = option(
        False, "Find out what each clustering carries. Needs to know who is who."
    )
    halves: int | None = option(
        None,
        "Link so often from half of the columns of each file, to see whether links come back: 6 by"
        " default, for files of up to 300 records. 0: do not.",
        least=0,
        most=1_000,
    )
    restarts: int = option(
        40, "So many starts of the search for matching groups.", least=1, most=1_000_000
    )
    most_records: int | None = option(
        None, "Lifts the limit of 28,000 records, whose clustering takes 3.2 GB.", least=1
    )
    seed: _Seed = 0


@dataclass(frozen=True, slots=True)
class StructureInput(StructureOptions):
    """A second file, how both are clustered, and who is who."""

    b: ArrayLike
    techniques: Sequence[Technique | Clusterer] | None = field(default=None, kw_only=True)
    weights: tuple[ArrayLike, ArrayLike] | None = field(default=None, kw_only=True)
    origins: tuple[ArrayLike, ArrayLike] | None = field(default=None, kw_only=True)
    notes: tuple[str, ...] = field(default=(), kw_only=True)
    truth: ArrayLike | None = field(default=None, kw_only=True)
    progress: Progress | None = field(default=None, kw_only=True)
