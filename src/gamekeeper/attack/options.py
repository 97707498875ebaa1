"""Options of attacks on files of records: uniques, DIS, matching, models, measures, experiments.

An option has one text wherever it is asked for; only its default differs from one to another.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, fields
from enum import StrEnum
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from gamekeeper.attack.risk import RiskClasses
from gamekeeper.options import Option, option
from gamekeeper.prompt_syntax import MAX_MSUS, MAX_SECONDS, FractionLike, Missing, Pool

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from gamekeeper.algorithms.uniques.strategies import Predicate
    from gamekeeper.attack.models.fitting import ModelFit
    from gamekeeper.attack.models.inference import ModelRisk
    from gamekeeper.data.coding.codebook import Recode
    from gamekeeper.data.keys.key_table import KeyTable
    from gamekeeper.results import Progress

Seed = Annotated[int, Option("The same seed gives the same result.", least=0)]
Workers = Annotated[
    int | None, Option("How many at a time; by default one per core, at most two.", least=1)
]
MaxSize = Annotated[
    int | None, Option("Search combinations of so many variables at most; all by default.", least=1)
]
MaxSeconds = Annotated[
    float | None,
    Option("Refuse a search that is estimated to take longer; 0 for no limit.", least=0),
]
Power = Annotated[
    int, Option("The power of ten of the SUDA score; DIS-SUDA depends on it.", least=0, most=18)
]
Household = Annotated[
    str,
    Option(
        "Column that tells households, which are in the file with all their members: one member found is"
        " all found, and that members are alike is no sign that others are.",
        panel="The sample",
    ),
]
Whose = Annotated[
    str,
    Option(
        "Column that tells whose a record is, where people have several: the first record of each in the"
        " file is taken, and all that is said is of people. A sampling fraction is then the share of"
        " people who are in the file, not of records.",
        flags="--person",
        panel="The sample",
    ),
]
MissingInClasses = Annotated[
    Missing | str, Option("Whether a missing cell is a `category`, or its record is to `exclude`.")
]
MOST_CELLS = 5_000_000
"""The largest table that is made unasked to infer values of a person."""
Patient = Annotated[bool, Option("Search by mc3 or occam even where that may take hours.")]
_HOW = "How it is measured"
NUMBERS = (1, 2, 3, 4, 5, 6, 7)
"""The strategies of the thesis."""
COMPARED_FRACTIONS = Option("Sampling fraction; by default 1% and 5%.", flags="--fraction -f")
ATTACK_FRACTIONS = Option(
    "Try attacks at this fraction as well, in place of the usual range.", flags="--attack-fraction"
)
ATTACK_SAMPLES = Option("Samples at each fraction of attacks.", least=1)
COMPARED_MEASURES = Option(
    "suda, is, dis_suda, dis_is, mc3, annealing or occam.", flags="--measure"
)
COMPARED_STRATA = Option("Columns of strata.")
COMPARED_FOLDER = Option("Keep finished samples here; the same command resumes.", writes="folder")
DEFAULT_MEASURES = ("suda", "dis_is", "mc3", "annealing", "occam")
_THINNER = (Fraction(1, 2), Fraction(1, 4), Fraction(1, 10))


@dataclass(frozen=True, slots=True, kw_only=True)
class MeasuresOptions:
    """What may be asked of the field's own measures.

    `population` has the keys of everybody, counted alike, where they are known.
    """

    sensitive: tuple[str, ...] = option(
        (), "A sensitive variable: l-diversity and t-closeness of its values within classes."
    )
    ordered: tuple[str, ...] = option(
        (), "A sensitive variable whose categories are ordered: t-closeness by their order."
    )
    household: str = option("", "Column that says who lives together: household risk.")
    threshold: float = option(
        0.09,
        "Count records whose risk is above this; 0.09 is used for health data.",
        least=0,
        most=1,
    )
    recursive: float = option(3.0, "The c of recursive (c,l)-diversity.", least=1e-6, most=1e6)
    unsafe_below: int = option(
        3, "Combinations of categories with fewer records than this are unsafe.", least=2
    )
    dimension: int = option(
        3, "Look at combinations of up to so many key variables; 0 for none.", least=0, most=64
    )
    max_work: int = option(
        2_000_000_000,
        "Refuse to look at more than so many records times combinations of variables.",
        least=1,
    )
    max_cells: int = option(
        2_000_000,
        "Fit the log-linear model with interactions to tables of so many cells at most.",
        least=0,
    )
    population: KeyTable | None = None
    progress: Progress | None = None


class FitMethod(StrEnum):
    """How models are searched."""

    MC3 = "mc3"
    ANNEALING = "annealing"
    OCCAM = "occam"

    @property
    def words(self) -> str:
        """The method in words."""
        return _METHODS[self]


_METHODS = {
    FitMethod.MC3: "MC3, several chains with tempering, averaged",
    FitMethod.ANNEALING: "simulated annealing, the best model",
    FitMethod.OCCAM: "Occam's window, all models nearly as good as the best",
}


class Cooling(StrEnum):
    """How annealing is cooled: by how the scores spread, or by the fixed schedule of the thesis."""

    ADAPTIVE = "adaptive"
    THESIS = "thesis"


class Estimator(StrEnum):
    """How population sizes are inferred from the probabilities of models."""

    CALIBRATED = "calibrated"
    PRINTED = "printed"
    FINITE = "finite"

    @property
    def words(self) -> str:
        """The estimate in words."""
        return _ESTIMATORS[self]


_ESTIMATORS = {
    Estimator.CALIBRATED: "calibrated by pairs, near twins and triples of the sample",
    Estimator.PRINTED: "Poisson with maximum likelihood, as printed in the thesis",
    Estimator.FINITE: "binomial with maximum likelihood, over the people outside the sample",
}


class By(StrEnum):
    """What is done to a category to see what it adds."""

    SUPPRESSION = "suppression"
    COLLAPSING = "collapsing"


@dataclass(frozen=True, slots=True, kw_only=True)
class FitOptions:
    """What may be asked of a search for models.

    With `keep_partial`, what was found by then is returned if `progress` raises `Cancelled`.
    """

    method: FitMethod | str = option(
        FitMethod.MC3,
        "mc3: Markov chains, averaged. annealing: the best model, fastest. occam: all models"
        " nearly as good as the best.",
    )
    precision: float | None = option(
        None, "Total prior precision; by default several, from 1 up.", least=0
    )
    chains: int = option(4, "Chains, or runs of annealing.", least=1, most=1_000)
    most_sweeps: int = option(
        32_000, "How long chains may go on until they agree, in sweeps.", flags="--sweeps", least=4
    )
    burn_in: float = option(
        0.5, "The share of sweeps of a chain to leave out at its start.", least=0, most=1
    )
    thin: int = option(1, "Keep a model of a chain every so many sweeps.", least=1, most=1_000_000)
    cooling: Cooling | str = option(
        Cooling.ADAPTIVE,
        "How annealing cools. adaptive: by how scores spread. thesis: the fixed schedule, one edge"
        " at a time.",
    )
    window: float = option(
        20.0, "How many times less probable than the best a model of occam may be."
    )
    most_models: int = option(
        10_000, "How many models occam looks at, in either direction.", least=1
    )
    patient: Patient = False
    seed: Seed = 0
    workers: Workers = None
    progress: Progress | None = None
    keep_partial: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class InferOptions:
    """What may be asked of an inference from models.

    `fraction` is the sampling fraction, if another than that of the key table, one for all strata;
    `interval` the probability of intervals, and `seed` that of the draws behind those of the file.
    """

    estimator: Estimator | str = option(
        Estimator.CALIBRATED,
        "calibrated: corrected by the sample itself. printed: as in the thesis, to compare;"
        " finite: the same for large sampling fractions, binomial instead of Poisson.",
    )
    fraction: FractionLike | None = None
    household: Household = ""
    interval: float = 0.95
    seed: int = 0


@dataclass(frozen=True, slots=True)
class InferInput(InferOptions):
    """The models that an inference is made from, and what is asked of it."""

    fit: ModelFit


@dataclass(frozen=True, slots=True, kw_only=True)
class CategoriesOptions:
    """What may be asked of the categories of a variable."""

    by: By | str = option(
        By.SUPPRESSION,
        "suppression: without the records that have the category. collapsing: joined with each"
        " other category in turn.",
    )
    neighbours: bool = option(
        False, "Collapse neighbouring categories only, for a variable on a scale."
    )
    max_pairs: int = option(300, "Refuse to collapse more pairs than this.", least=1)
    progress: Progress | None = None


@dataclass(frozen=True, slots=True)
class CategoriesInput(CategoriesOptions):
    """The keys of the file, the variable whose categories are judged, and what is asked."""

    key_table: KeyTable
    variable: str


@dataclass(frozen=True, slots=True, kw_only=True)
class MeasureOptions:
    """What may be asked when everything is measured in one go."""

    household: Household = ""
    method: FitMethod | str = option(
        FitMethod.ANNEALING,
        "How models are searched. annealing: the best model, fastest. mc3: Markov chains,"
        " averaged. occam: all models nearly as good as the best.",
        panel=_HOW,
    )
    patient: Patient = False
    max_size: MaxSize = None
    max_seconds: MaxSeconds = MAX_SECONDS
    seed: Seed = 0
    workers: Workers = None
    progress: Progress | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class MatchingOptions:
    """What may be asked of matching strategies.

    - `population`: the keys of everybody, counted alike; or the number of people F in each class of
      `key_table.classes()`, in that order; or None, to have models infer it.
    - `population_size`: the number N of people, needed with a list of F.
    - `models`: what models inferred of the same keys, without a population; they are fitted and
      asked here where it is not given.
    - `strategies`: which of the strategies 1 to 7.
    - `predicates`: strategies of your own by name: `predicate(f, F)` tells for arrays of sample and
      population counts which classes are used; each is tried in both directions. With a list of F,
      people of classes without a record are one more class with f = 0; with models F is the
      expected count of sampled classes.
    - `exact`: exact fractions or floats, where the population is known; by default fractions up to
      10,000 classes.
    """

    r: Sequence[int] = option(
        (2, 3), "Sample class size of strategies 6 and 7; by default 2 and 3.", flags="--r", least=1
    )
    population: KeyTable | Sequence[int] | NDArray[Any] | None = None
    population_size: int | None = None
    models: ModelRisk | None = None
    strategies: Sequence[int] = NUMBERS
    predicates: Mapping[str, Predicate] | None = None
    exact: bool | None = None
    method: FitMethod | str = option(
        FitMethod.ANNEALING,
        "How models are searched where no population is given. annealing: the best model, fastest."
        " mc3: Markov chains, averaged. occam: all models nearly as good as the best.",
    )
    patient: Patient = False
    seed: Seed = 0
    workers: Workers = None
    progress: Progress | None = None


Measure = Callable[[Any, Any, Any], Mapping[str, float]]
"""A measure of one's own: codes, f and F of the sampled records in, named numbers out."""
FRACTIONS = Option("Sampling fraction.", flags="--fraction -f")
SAMPLES = Option("Samples at each fraction.", least=1)
MEASURES = Option("For measures: its name.", flags="--measure")
STRATIFY_BY = Option("Columns of strata, the outermost first.")
R = Option("Sample class size of strategies 6 and 7.", flags="--r", least=1)
WITH_MODELS = Option(
    "For fractions: compare attacks by annealed models as well; takes longer. `risk compare` has"
    " attacks by every measure."
)
FOLDER = Option(
    "Keep finished samples here (numbers only); the same command resumes.", writes="folder"
)
_PERCENTAGES = tuple(Fraction(percent, 100) for percent in range(1, 100))


@dataclass(frozen=True, slots=True, kw_only=True)
class SamplingOptions:
    """What all experiments have in common.

    `keys` are the key variables, by default those of the key table, which has its own answer to
    what is `missing` as well. A script that uses several processes must call an experiment below
    `if __name__ == "__main__":`, so that there is one unless more are asked for.
    """

    keys: Sequence[str] = field(default=(), kw_only=False)
    stratify_by: Annotated[str | Sequence[str], STRATIFY_BY] = ()
    missing: MissingInClasses = Missing.CATEGORY
    seed: Seed = 0
    workers: int = option(1, "How many at a time.", least=1)
    pool: Pool | str = option(Pool.PROCESSES, "What they are.")
    folder: Annotated[str | Path | None, FOLDER] = None
    progress: Progress | None = None


def of_sampling(asked: SamplingOptions) -> dict[str, Any]:
    """Return what all experiments have in common as keyword arguments."""
    return {item.name: getattr(asked, item.name) for item in fields(SamplingOptions)}


@dataclass(frozen=True, slots=True, kw_only=True)
class SimulateOptions(SamplingOptions):
    """What may be asked of a simulation with any set of measures."""

    fractions: Annotated[FractionLike | Sequence[FractionLike], FRACTIONS]
    samples: Annotated[int, SAMPLES] = 1
    measures: Annotated[Sequence[str | Measure], MEASURES] = (
        "pr_cm_given_um",
        "pr_cm_given_su",
        "dis",
    )
    r: Annotated[Sequence[int], R] = (1, 2, 3)
    max_size: MaxSize = None
    max_seconds: MaxSeconds = MAX_SECONDS
    power: Power = 6


@dataclass(frozen=True, slots=True, kw_only=True)
class StrategiesOptions(SamplingOptions):
    """What may be asked of the experiment on matching strategies."""

    fraction: Annotated[FractionLike, FRACTIONS] = Fraction(3, 100)
    samples: Annotated[int, SAMPLES] = 40
    r: Annotated[int, R] = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class FractionsOptions(SamplingOptions):
    """What may be asked of the experiment on sampling fractions."""

    fractions: Annotated[Sequence[FractionLike], FRACTIONS] = _PERCENTAGES
    samples: Annotated[int, SAMPLES] = 1
    with_models: Annotated[bool, WITH_MODELS] = False


@dataclass(frozen=True, slots=True, kw_only=True)
class PilotOptions(SamplingOptions):
    """What may be asked of the pilot study; `scores` are compared with 1/F."""

    fraction: Annotated[FractionLike, FRACTIONS] = Fraction(2, 100)
    samples: Annotated[int, SAMPLES] = 50
    scores: Sequence[str] = ("dis_suda", "dis_is", "is", "suda")
    max_size: MaxSize = None
    max_seconds: MaxSeconds = MAX_SECONDS
    power: Power = 6


@dataclass(frozen=True, slots=True, kw_only=True)
class CompareOptions:
    """What may be asked of a comparison of measures on samples of a known population.

    Measures are names from `MEASURES` of `measures`, or functions of your own that get a
    `SampleData` and return `Scores`. `attack_fractions` may be None for `ATTACK_FRACTIONS` of
    `compare`, 1% to 90%, as far as samples are not too large. A script that uses several workers
    must call a comparison below `if __name__ == "__main__":`; times are best taken with one.
    """

    keys: Sequence[str] = field(kw_only=False)
    fractions: Annotated[Sequence[FractionLike], COMPARED_FRACTIONS] = ("1%", "5%")
    samples: Annotated[int, SAMPLES] = 1
    attack_fractions: Annotated[Sequence[FractionLike] | None, ATTACK_FRACTIONS] = ()
    attack_samples: Annotated[int, ATTACK_SAMPLES] = 1
    measures: Annotated[Sequence[str | Callable[[Any], Any]], COMPARED_MEASURES] = DEFAULT_MEASURES
    missing: MissingInClasses = Missing.CATEGORY
    stratify_by: Annotated[Sequence[str], COMPARED_STRATA] = ()
    max_size: MaxSize = None
    max_seconds: MaxSeconds = MAX_SECONDS
    seed: Seed = 0
    workers: int = option(1, "How many processes score samples.", least=1)
    folder: Annotated[str | Path | None, COMPARED_FOLDER] = None
    progress: Progress | None = None


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
    rank_by: str = option(
        "dis_is", "What ranks records: dis_is, dis_suda, dis_is_suda, is, suda or pol."
    )
    classes: RiskClasses | str = option(
        "",
        "Risk classes by their lower thresholds on what ranks: 'high=0.2,medium=0.05'.",
        read=str,
    )
    power: Power = 6
    listing: bool = option(
        True,
        "Keep every minimal sample unique, or only count them (less memory, no explanations).",
        flags="--listing/--no-listing",
    )
    max_msus: int | None = option(
        MAX_MSUS, "Refuse to list more minimal sample uniques than this; 0 for no limit.", least=0
    )
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

    method: DisMethod | str = option(
        DisMethod.GENERAL, "general: from counts, exact. special: by simulation."
    )
    removed: int = option(1, "Records that a round removes together.", least=1)
    rounds: int = option(200_000, "At most so many rounds.", least=1)
    tolerance: float = option(0.005, "Stop at this standard error.", least=0)
    seed: Seed = 0
    original: KeyTable | None = None
    fraction: FractionLike | None = None
    progress: Progress | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class SpecialOptions:
    """What may be asked of special uniques.

    - `coarser`: for some key variables, coarser and coarser recodings of their codes; the
      geography, or whatever is to be told first, comes first.
    - `population`: the keys of everybody, counted alike, where they are known.
    - `thinner`: the shares of the file that thinner samples have. The kinds of their uniques, as
      seen in them, are compared with the whole file; a unique of the file is always unique in them.
    - `larger`: with a population, the larger sampling fractions to which the sample grows; by
      default twice and four times its own, and all.
    """

    special_size: int | None = option(
        None,
        "Call a unique special if so many variables set it apart; by default any number below that"
        " of the key variables, as the paper defines it.",
        least=1,
    )
    rounds: int = option(20, "How often to thin the file at each fraction.", least=0)
    max_size: MaxSize = None
    max_seconds: MaxSeconds = MAX_SECONDS
    seed: Seed = 0
    workers: Workers = None
    coarser: Mapping[str, Sequence[Recode]] | None = None
    population: KeyTable | None = None
    thinner: Sequence[FractionLike] = _THINNER
    larger: Sequence[FractionLike] | None = None
    progress: Progress | None = None
