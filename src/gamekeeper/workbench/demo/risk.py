"""The demo of stage two: a sample of an invented country, attacked under the scenario."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from gamekeeper.attack.matching.result import MatchingRisk
from gamekeeper.attack.models.options import FitMethod, FitOptions
from gamekeeper.attack.uniques.suda import UniquesRisk
from gamekeeper.data.keys.key_table import KeyTable
from gamekeeper.data.population import WEIGHT, make_population, sample_population
from gamekeeper.mapping.environment.scenario import Scenario
from gamekeeper.report.tables import write_table
from gamekeeper.results import Progress
from gamekeeper.workbench.models import Inferred, infer_release
from gamekeeper.workbench.requests.microdata import MicrodataRequest, SampleDesign
from gamekeeper.workbench.requests.models import InferRequest
from gamekeeper.workbench.requests.risk import KeysRequest, MatchRequest, SudaRequest
from gamekeeper.workbench.risk import count_release, find_uniques, match_release

_PEOPLE = 150_000
_FRACTION = "2%"
_STRATA = "Place of residence"
STEPS = 5
"""How many steps `run_risk_demo` tells of."""


@dataclass(frozen=True, slots=True)
class RiskDemo:
    """What the attacks on the demo file found, and the files they left."""

    n_people: int
    fraction: str
    keys: KeyTable
    uniques: UniquesRisk
    matching: MatchingRisk
    inferred: Inferred
    truth: tuple[str, ...]
    models: tuple[str, ...]
    sample: Path
    population: Path
    report: Path


def run_risk_demo(
    output: Path, store: Path, scenario: Scenario, *, seed: int, progress: Progress
) -> RiskDemo:
    """Make up a country, draw the file to be released from it, and attack it.

    `progress` is told of steps 0 to `STEPS`.
    """
    progress(0, STEPS)
    sample, population = output / "census-sample.csv", output / "everybody.parquet"
    everybody = make_population(_PEOPLE, seed=seed)
    write_table(everybody, population)
    write_table(sample_population(everybody, _FRACTION, seed=seed, stratify_by=_STRATA), sample)
    progress(1, STEPS)
    microdata = MicrodataRequest(file=sample, scenario=scenario.name, environment=store)
    design = SampleDesign(weight=WEIGHT)
    keys = count_release(KeysRequest(microdata=microdata, design=design)).found.table
    progress(2, STEPS)
    report = output / "risk.html"
    uniques = find_uniques(
        SudaRequest(microdata=microdata, design=design, population=population, report=report)
    ).found
    progress(3, STEPS)
    matching = match_release(
        MatchRequest(microdata=microdata, design=design, population=population)
    ).found
    progress(4, STEPS)
    # The quickest method; the others find the same models here.
    fit = FitOptions(method=FitMethod.ANNEALING, seed=seed)
    inferred = infer_release(
        InferRequest(microdata=microdata, design=design, fit=fit, population=population)
    ).found
    progress(5, STEPS)
    return RiskDemo(
        _PEOPLE,
        _FRACTION,
        keys,
        uniques,
        matching,
        inferred,
        tuple(_truth(uniques, matching)),
        tuple(_models(inferred, matching)),
        sample,
        population,
        report,
    )


def _truth(uniques: UniquesRisk, matching: MatchingRisk) -> list[str]:
    """Compare what the file tells by itself with what the population shows."""
    dis = uniques.file["dis"]
    true_um, true_su = matching.file["pr_cm_given_um"], matching.file["pr_cm_given_su"]
    assert dis is not None
    assert true_um is not None
    assert true_su is not None
    n_uniques = matching.n_uniques
    cheap, sure = matching["5"], matching["4"]
    return [
        (
            f"DIS said that a unique match is right with probability {float(dis):.3f};"
            f" in truth it is {float(true_um):.3f}."
        ),
        (
            f"In truth {float(true_su) * n_uniques:,.0f} of the {n_uniques:,} uniques would be matched"
            " rightly; DIS-IS says which to look at first, and not how many these are."
        ),
        (
            f"Searching for just anybody who matches a unique takes {float(cheap.cost_without):,.0f}"
            f" people, and is right with probability {float(cheap.pr_cm):.3f}. Picking a unique first"
            f" takes {float(sure.cost_without):,.0f}, and is right with {float(sure.pr_cm):.3f}."
        ),
    ]


def _models(inferred: Inferred, matching: MatchingRisk) -> list[str]:
    """Tell what models add, and compare with the truth."""
    file, fit = inferred.risk.estimate.file, inferred.risk.fit
    true_su = matching.file["pr_cm_given_su"]
    true_unique = matching.file["pr_pu_given_su"]
    assert true_su is not None
    assert true_unique is not None
    assert inferred.attacks is not None
    first = inferred.attacks.values[0]
    variable = inferred.variables.lines[0]
    joined = "; ".join(f"{one} with {other}" for one, other in fit.edges(fit.search.best))
    n_uniques = matching.n_uniques
    left_out = (
        f" Without {variable.variable} it would be {variable.tau1_left:,.0f}."
        if variable.relative_tau1
        else ""
    )
    return [
        f"The best model joins {joined}.",
        (
            f"By its models {file.tau1.value:,.0f} of the {n_uniques:,} uniques"
            f" ({file.tau1.lower:,.0f} to {file.tau1.upper:,.0f}) are unique in the population; in"
            f" truth {float(true_unique) * n_uniques:,.0f} are.{left_out}"
        ),
        (
            f"It expects {file.tau2.value:,.0f} right matches; in truth it would be"
            f" {float(true_su) * n_uniques:,.0f}."
        ),
        (
            f"The {first.n_cells} keys that rank first are right with probability"
            f" {float(first.pr_cm):.2f}: an intruder who chooses well need not guess."
        ),
    ]
