"""What may be asked of a comparison of measures."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from gamekeeper.algorithms.sampling_fraction import FractionLike
from gamekeeper.algorithms.uniques.limits import MAX_SECONDS
from gamekeeper.attack.shared_options import MaxSeconds, MaxSize, MissingInClasses, Seed
from gamekeeper.attack.simulation.options import SAMPLES
from gamekeeper.data.keys.missing import Missing
from gamekeeper.options import Option

if TYPE_CHECKING:
    from gamekeeper.results import Progress

FRACTIONS = Option("Sampling fraction; by default 1% and 5%.", flags="--fraction -f")
ATTACK_FRACTIONS = Option(
    "Try attacks at this fraction as well, in place of the usual range.", flags="--attack-fraction"
)
ATTACK_SAMPLES = Option("Samples at each fraction of attacks.", least=1)
MEASURES = Option("suda, is, dis_suda, dis_is, mc3, annealing or occam.", flags="--measure")
STRATIFY_BY = Option("Columns of strata.")
FOLDER = Option("Keep finished samples here; the same command resumes.", writes="folder")
DEFAULT_MEASURES = ("suda", "dis_is", "mc3", "annealing", "occam")


@dataclass(frozen=True, slots=True, kw_only=True)
class CompareOptions:
    """What may be asked of a comparison of measures on samples of a known population.

    Measures are names from `MEASURES` of `measures`, or functions of your own that get a
    `SampleData` and return `Scores`. `attack_fractions` may be None for `ATTACK_FRACTIONS` of
    `compare`, 1% to 90%, as far as samples are not too large. A script that uses several workers
    must call a comparison below `if __name__ == "__main__":`; times are best taken with one.
    """

    keys: Sequence[str] = field(kw_only=False)
    fractions: Annotated[Sequence[FractionLike], FRACTIONS] = ("1%", "5%")
    samples: Annotated[int, SAMPLES] = 1
    attack_fractions: Annotated[Sequence[FractionLike] | None, ATTACK_FRACTIONS] = ()
    attack_samples: Annotated[int, ATTACK_SAMPLES] = 1
    measures: Annotated[Sequence[str | Callable[[Any], Any]], MEASURES] = DEFAULT_MEASURES
    missing: MissingInClasses = Missing.CATEGORY
    stratify_by: Annotated[Sequence[str], STRATIFY_BY] = ()
    max_size: MaxSize = None
    max_seconds: MaxSeconds = MAX_SECONDS
    seed: Seed = 0
    workers: Annotated[int, Option("How many processes score samples.", least=1)] = 1
    folder: Annotated[str | Path | None, FOLDER] = None
    progress: Progress | None = None
