"""What may be asked of repeated samples from a notional population.

The same option has one text wherever it is asked for; only its default differs from one experiment
to another.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, fields
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from gamekeeper.algorithms.sampling_fraction import FractionLike
from gamekeeper.algorithms.uniques.limits import MAX_SECONDS
from gamekeeper.attack.shared_options import MaxSeconds, MaxSize, MissingInClasses, Power, Seed
from gamekeeper.data.engine.pool import Pool
from gamekeeper.data.keys.missing import Missing
from gamekeeper.options import Option

if TYPE_CHECKING:
    from gamekeeper.results import Progress

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
    workers: Annotated[int, Option("How many at a time.", least=1)] = 1
    pool: Annotated[Pool | str, Option("What they are.")] = Pool.PROCESSES
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
