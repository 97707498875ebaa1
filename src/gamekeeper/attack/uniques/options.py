"""What may be asked of attacks on sample uniques."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from fractions import Fraction
from typing import TYPE_CHECKING, Annotated

from gamekeeper.algorithms.sampling_fraction import FractionLike
from gamekeeper.algorithms.uniques.limits import MAX_MSUS, MAX_SECONDS
from gamekeeper.attack.risk_classes import RiskClasses
from gamekeeper.attack.shared_options import MaxSeconds, MaxSize, Power, Seed, Workers
from gamekeeper.options import Option

if TYPE_CHECKING:
    from gamekeeper.data.coding.recode import Recode
    from gamekeeper.data.keys.key_table import KeyTable
    from gamekeeper.results import Progress

_THINNER = (Fraction(1, 2), Fraction(1, 4), Fraction(1, 10))


class DisMethod(StrEnum):
    """How DIS is computed: from counts, or by simulation."""

    GENERAL = "general"
    SPECIAL = "special"


@dataclass(frozen=True, slots=True, kw_only=True)
class UniquesOptions:
    """What may be asked of the search for special uniques.

    `fraction` is the sampling fraction, if another than that of the key table.
    """

    max_size: MaxSize = None
    rank_by: Annotated[
        str, Option("What ranks records: dis_is, dis_suda, dis_is_suda, is, suda or pol.")
    ] = "dis_is"
    classes: Annotated[
        RiskClasses | str,
        Option(
            "Risk classes by their lower thresholds on what ranks: 'high=0.2,medium=0.05'.",
            read=str,
        ),
    ] = ""
    power: Power = 6
    listing: Annotated[
        bool,
        Option(
            "Keep every minimal sample unique, or only count them (less memory, no explanations).",
            flags="--listing/--no-listing",
        ),
    ] = True
    max_msus: Annotated[
        int | None,
        Option("Refuse to list more minimal sample uniques than this; 0 for no limit.", least=0),
    ] = MAX_MSUS
    max_seconds: MaxSeconds = MAX_SECONDS
    workers: Workers = None
    fraction: FractionLike | None = None
    progress: Progress | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class DisOptions:
    """What may be asked of data intrusion simulation.

    `original` has the same records before they were perturbed, in the same order and on the same
    key variables, for the special method; categories are the same where their words are.
    `fraction` is the sampling fraction, if another than that of the key table.
    """

    method: Annotated[
        DisMethod | str, Option("general: from counts, exact. special: by simulation.")
    ] = DisMethod.GENERAL
    removed: Annotated[int, Option("Records that a round removes together.", least=1)] = 1
    rounds: Annotated[int, Option("At most so many rounds.", least=1)] = 200_000
    tolerance: Annotated[float, Option("Stop at this standard error.", least=0)] = 0.005
    seed: Seed = 0
    original: KeyTable | None = None
    fraction: FractionLike | None = None
    progress: Progress | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class SpecialOptions:
    """What may be asked of special uniques.

    Attributes
    ----------
    coarser
        For some key variables, coarser and coarser recodings of their codes; the geography, or
        whatever is to be told first, comes first.
    population
        The keys of everybody, counted alike, where they are known.
    thinner
        The shares of the file that thinner samples have. The kinds of their uniques, as seen in
        them, are compared with the whole file; a unique of the file is always unique in them.
    larger
        With a population, the larger sampling fractions to which the sample grows; by default
        twice and four times its own, and all.
    """

    special_size: Annotated[
        int | None,
        Option(
            "Call a unique special if so many variables set it apart; by default any number below"
            " that of the key variables, as the paper defines it.",
            least=1,
        ),
    ] = None
    rounds: Annotated[int, Option("How often to thin the file at each fraction.", least=0)] = 20
    max_size: MaxSize = None
    max_seconds: MaxSeconds = MAX_SECONDS
    seed: Seed = 0
    workers: Workers = None
    coarser: Mapping[str, Sequence[Recode]] | None = None
    population: KeyTable | None = None
    thinner: Sequence[FractionLike] = _THINNER
    larger: Sequence[FractionLike] | None = None
    progress: Progress | None = None
