"""The demo of stage two: a sample of an invented country, assessed under the scenario."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from gamekeeper.attack.matching.result import MatchingRisk
from gamekeeper.data.population import WEIGHT, make_population, sample_population
from gamekeeper.mapping.environment.scenario import Scenario
from gamekeeper.report.tables import write_table
from gamekeeper.results import Progress
from gamekeeper.workbench.assessment.result import Assessment
from gamekeeper.workbench.assessment.running import assess_release
from gamekeeper.workbench.requests.assessment import AssessRequest
from gamekeeper.workbench.requests.microdata import MicrodataRequest, SampleDesign
from gamekeeper.workbench.requests.risk import MatchRequest
from gamekeeper.workbench.risk import match_release

_PEOPLE = 150_000
_FRACTION = "2%"
_STRATA = "Place of residence"
_POLICY = "hdx"
STEPS = 4
"""How many steps `run_risk_demo` tells of."""


@dataclass(frozen=True, slots=True)
class RiskDemo:
    """What the assessment of the demo file found, the truth beside it, and the files they left."""

    n_people: int
    fraction: str
    assessment: Assessment
    truth: tuple[str, ...]
    sample: Path
    population: Path
    report: Path


def run_risk_demo(
    output: Path, store: Path, scenario: Scenario, *, seed: int, progress: Progress
) -> RiskDemo:
    """Make up a country, draw the file to be released from it, and assess it.

    `progress` is told of steps 0 to `STEPS`.
    """
    progress(0, STEPS)
    sample, population = output / "census-sample.csv", output / "everybody.parquet"
    everybody = make_population(_PEOPLE, seed=seed)
    write_table(everybody, population, raw=True)
    progress(1, STEPS)
    write_table(
        sample_population(everybody, _FRACTION, seed=seed, stratify_by=_STRATA), sample, raw=True
    )
    progress(2, STEPS)
    microdata = MicrodataRequest(file=sample, scenario=scenario.name, environment=store)
    design = SampleDesign(weight=WEIGHT)
    report = output / "risk.html"
    assessment = assess_release(
        AssessRequest(
            microdata=microdata, design=design, policy=_POLICY, report=report, replace=True
        )
    ).found
    progress(3, STEPS)
    matching = match_release(
        MatchRequest(microdata=microdata, design=design, population=population)
    ).found
    progress(4, STEPS)
    truth = tuple(_truth(assessment, matching))
    return RiskDemo(_PEOPLE, _FRACTION, assessment, truth, sample, population, report)


def _truth(assessment: Assessment, matching: MatchingRisk) -> list[str]:
    """Compare what the file tells by itself with what the population shows."""
    chances, n_uniques = assessment.measured.chances, matching.n_uniques
    right, unique, linked = (
        matching.file[name] for name in ("pr_cm_given_su", "pr_pu_given_su", "pr_cm_given_um")
    )
    assert right is not None
    assert unique is not None
    assert linked is not None
    assert chances.unique_match is not None
    return [
        (
            f"Right matches: estimated {chances.right_matches.count_text}, in truth"
            f" {float(right) * n_uniques:,.0f} of the {n_uniques:,} unique records."
        ),
        (
            f"Unique in the population: estimated {chances.population_uniques.count_text}, in truth"
            f" {float(unique) * n_uniques:,.0f}."
        ),
        (
            f"A unique match is right with probability {chances.unique_match.text} as estimated, and"
            f" {float(linked):.3f} in truth."
        ),
    ]
