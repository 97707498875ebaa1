"""What may be asked of an assessment."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated

from gamekeeper.algorithms.uniques.limits import MAX_SECONDS
from gamekeeper.attack.models.options import FitMethod, Patient
from gamekeeper.attack.shared_options import Household, MaxSeconds, MaxSize, Seed, Workers
from gamekeeper.options import Option

if TYPE_CHECKING:
    from gamekeeper.results import Progress

_HOW = "How it is measured"


@dataclass(frozen=True, slots=True, kw_only=True)
class MeasureOptions:
    """What may be asked when everything is measured in one go."""

    household: Household = ""
    method: Annotated[
        FitMethod | str,
        Option(
            "How models are searched. annealing: the best model, fastest. mc3: Markov chains,"
            " averaged. occam: all models nearly as good as the best.",
            panel=_HOW,
        ),
    ] = FitMethod.ANNEALING
    patient: Patient = False
    max_size: MaxSize = None
    max_seconds: MaxSeconds = MAX_SECONDS
    seed: Seed = 0
    workers: Workers = None
    progress: Progress | None = None
