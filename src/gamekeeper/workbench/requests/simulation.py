"""What people ask of repeated samples from a notional population."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Annotated

from gamekeeper.algorithms.uniques.limits import MAX_SECONDS
from gamekeeper.attack.shared_options import MaxSeconds, MaxSize, Seed, Workers
from gamekeeper.attack.simulation.options import (
    FOLDER,
    FRACTIONS,
    MEASURES,
    SAMPLES,
    STRATIFY_BY,
    WITH_MODELS,
    R,
)
from gamekeeper.options import Option
from gamekeeper.workbench.requests.microdata import MicrodataRequest
from gamekeeper.workbench.requests.shared import Plot, Raw, Replace, table_output


class ExperimentKind(StrEnum):
    """What is done with the samples of a simulation."""

    STRATEGIES = "strategies"
    FRACTIONS = "fractions"
    PILOT = "pilot"
    MEASURES = "measures"


@dataclass(frozen=True, slots=True, kw_only=True)
class SimulateRequest:
    """Take a file as everybody there is; what is left out is as the experiment has it."""

    microdata: MicrodataRequest
    experiment: Annotated[
        ExperimentKind,
        Option(
            "strategies: probability against cost of seven strategies. fractions: measures against"
            " the sampling fraction. pilot: do scores follow the true chance of a match?"
            " measures: any set of measures."
        ),
    ] = ExperimentKind.FRACTIONS
    fractions: Annotated[tuple[str, ...], FRACTIONS] = ()
    samples: Annotated[int | None, SAMPLES] = None
    measures: Annotated[tuple[str, ...], MEASURES] = ()
    stratify_by: Annotated[tuple[str, ...], STRATIFY_BY] = ()
    r: Annotated[int | None, R] = None
    max_size: MaxSize = None
    max_seconds: MaxSeconds = MAX_SECONDS
    with_models: Annotated[bool, WITH_MODELS] = False
    seed: Seed = 0
    workers: Workers = None
    folder: Annotated[Path | None, FOLDER] = None
    plot: Plot = None
    output: Annotated[
        Path | None,
        table_output("Write every number to this .csv, .parquet or .xlsx.", label="Every number"),
    ] = None
    replace: Replace = False
    raw: Raw = False
