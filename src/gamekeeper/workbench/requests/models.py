"""What people ask of an intruder with models: fit them, infer, compare measures on a population."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Annotated

from gamekeeper.algorithms.uniques.limits import MAX_SECONDS
from gamekeeper.attack.judging import options as judging
from gamekeeper.attack.models.options import (
    MOST_CELLS,
    CategoriesOptions,
    FitOptions,
    InferOptions,
)
from gamekeeper.attack.shared_options import MaxSeconds, MaxSize, Seed, Whose, Workers
from gamekeeper.attack.simulation.options import SAMPLES
from gamekeeper.options import Option
from gamekeeper.prompt_syntax import pairs_of
from gamekeeper.report.audience import Audience
from gamekeeper.workbench.requests.counting import EngineRequest
from gamekeeper.workbench.requests.microdata import MicrodataRequest, SampleDesign
from gamekeeper.workbench.requests.shared import (
    CountedRecords,
    Identifier,
    Population,
    Raw,
    Replace,
    Report,
    ReportFor,
    Top,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelRequest:
    """Fit models to the keys of a file."""

    microdata: MicrodataRequest
    design: SampleDesign = field(default_factory=SampleDesign)
    counting: EngineRequest = field(default_factory=EngineRequest)
    fit: FitOptions = field(default_factory=FitOptions)
    plot: Annotated[
        Path | None,
        Option("Write a plot to this .svg or .png.", writes="picture", label="Model graph"),
    ] = None
    replace: Replace = False


@dataclass(frozen=True, slots=True, kw_only=True)
class InferRequest:
    """Fit models, and infer how many people share the key of each record."""

    microdata: MicrodataRequest
    design: SampleDesign = field(default_factory=SampleDesign)
    counting: EngineRequest = field(default_factory=EngineRequest)
    fit: FitOptions = field(default_factory=FitOptions)
    infer: InferOptions = field(default_factory=InferOptions)
    person: Whose = ""
    population: Population = None
    categories: Annotated[str, Option("A key variable whose categories to judge as well.")] = ""
    of_categories: CategoriesOptions = field(default_factory=CategoriesOptions)
    known: Annotated[
        Mapping[str, str],
        Option(
            "VARIABLE=VALUE known of a person.", read=partial(pairs_of, "--known VARIABLE=VALUE")
        ),
    ] = field(default_factory=dict[str, str])
    ask: Annotated[tuple[str, ...], Option("Variable to infer from what is known.")] = ()
    ask_precision: Annotated[
        float,
        Option(
            "Prior precision of that inference; 0 for maximum likelihood, where values that do not"
            " occur together are impossible.",
            least=0,
        ),
    ] = 1.0
    most_cells: Annotated[
        int, Option("Refuse an inference that needs a table of more cells.", least=1)
    ] = MOST_CELLS
    identifier: Identifier = ""
    records: CountedRecords = None
    top: Top = 10
    report: Report = None
    report_for: ReportFor = Audience.INTERNAL
    replace: Replace = False
    raw: Raw = False


@dataclass(frozen=True, slots=True, kw_only=True)
class CompareRequest:
    """Judge measures of risk against the truth."""

    microdata: MicrodataRequest
    fractions: Annotated[tuple[str, ...], judging.FRACTIONS] = ("1%", "5%")
    samples: Annotated[int, SAMPLES] = 1
    attacks: Annotated[
        bool | None,
        Option(
            "Try attacks over the range of sampling fractions as well, 1% to 90% as far as samples"
            " are not too large; by default with --report.",
            flags="--attacks/--no-attacks",
        ),
    ] = None
    attack_fractions: Annotated[tuple[str, ...], judging.ATTACK_FRACTIONS] = ()
    attack_samples: Annotated[int, judging.ATTACK_SAMPLES] = 1
    measures: Annotated[tuple[str, ...], judging.MEASURES] = judging.DEFAULT_MEASURES
    stratify_by: Annotated[tuple[str, ...], judging.STRATIFY_BY] = ()
    max_size: MaxSize = None
    max_seconds: MaxSeconds = MAX_SECONDS
    seed: Seed = 0
    workers: Workers = None
    folder: Annotated[Path | None, judging.FOLDER] = None
    report: Annotated[
        Path | None,
        Option(
            "Write figures, tables and timings to this HTML file.", writes="page", label="Report"
        ),
    ] = None
    replace: Replace = False
