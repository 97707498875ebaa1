"""The demo as a story: from made-up forms to a scenario, on to the risk of a file and of tables.

A sample of an invented country is assessed under the scenario; the smallest place is published,
rounded with its margins; two masked copies of the file are linked with it; at last the file is
protected, attacked again, and written with a map.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.csv

from gamekeeper.attack.linkage.files import MaskingComparison
from gamekeeper.attack.linkage.options import MaskingOptions
from gamekeeper.attack.matching_result import MatchingRisk
from gamekeeper.attack.tables.bounds import TableBounds, bound_cells
from gamekeeper.attack.tables.feasible import Attributions, infer_attributions
from gamekeeper.attack.tables.subtraction import SubtractionAttack, subtract_known
from gamekeeper.data.population import WEIGHT, make_population, sample_population
from gamekeeper.data.tables.count_table import CountTable
from gamekeeper.data.tables.release import make_release, tabulate
from gamekeeper.data.tables.release_file import write_release
from gamekeeper.errors import Reason, StoreError
from gamekeeper.files import make_folders, refusal, remove, write_file
from gamekeeper.mapping.analysis.key_variables import KeyVariable, KeyVariableMap
from gamekeeper.mapping.edits import AskVariable
from gamekeeper.mapping.environment.asked import MapOptions
from gamekeeper.mapping.environment.environment import Environment
from gamekeeper.mapping.environment.overview import EnvironmentCheck, check_environment
from gamekeeper.mapping.environment.rules import Scenario
from gamekeeper.protection.attacking.attacks import AttackName
from gamekeeper.protection.attacking.result import FileAttack
from gamekeeper.protection.plan import Plan
from gamekeeper.report.graphs import draw_harmonization_graph
from gamekeeper.report.mapping_report import write_mapping_report
from gamekeeper.report.page import write_risk_report
from gamekeeper.report.tables import write_table
from gamekeeper.report.tables_report import released_report
from gamekeeper.results import Progress
from gamekeeper.store.folder import write_environment
from gamekeeper.wording import count_of, percent_text, share_text, shown_path
from gamekeeper.workbench.answers import require_outputs
from gamekeeper.workbench.assessment import Assessment, assess_release
from gamekeeper.workbench.demo_place import TARGET, demo_environment, write_questionnaires
from gamekeeper.workbench.environment.editing import edit_store, import_folder
from gamekeeper.workbench.environment.mapping import analyse, renew, save_scenario
from gamekeeper.workbench.environment.opening import opened
from gamekeeper.workbench.linkage import evaluate_files
from gamekeeper.workbench.microdata import open_microdata
from gamekeeper.workbench.protection.applying import ReleasedFile, apply_recipe
from gamekeeper.workbench.protection.trying import try_protection
from gamekeeper.workbench.requests import records
from gamekeeper.workbench.requests.assessment import AssessRequest
from gamekeeper.workbench.requests.editing import (
    RenewScenarioRequest,
    SaveScenarioRequest,
    Signature,
)
from gamekeeper.workbench.requests.environment import ImportRequest, InStore, Person
from gamekeeper.workbench.requests.protection import (
    ApplyRequest,
    Method,
    ReleaseOptions,
    Searched,
    TryRequest,
)
from gamekeeper.workbench.requests.shared import DemoRequest
from gamekeeper.workbench.risk import match_release

_PEOPLE = 150_000
_FRACTION = "2%"
_PLACE = "Place of residence"
RISK_STEPS = 4
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
    """Make up a country, draw the file to be released from it, and assess it, in `RISK_STEPS` steps."""
    progress(0, RISK_STEPS)
    sample, population = output / "census-sample.csv", output / "everybody.parquet"
    everybody = make_population(_PEOPLE, seed=seed)
    write_table(everybody, population, raw=True)
    progress(1, RISK_STEPS)
    write_table(
        sample_population(everybody, _FRACTION, seed=seed, stratify_by=_PLACE), sample, raw=True
    )
    progress(2, RISK_STEPS)
    microdata = records.MicrodataRequest(file=sample, scenario=scenario.name, environment=store)
    design = records.SampleDesign(weight=WEIGHT)
    report = output / "risk.html"
    assessment = assess_release(
        AssessRequest(microdata=microdata, design=design, policy="hdx", report=report, replace=True)
    ).found
    progress(3, RISK_STEPS)
    matching = match_release(
        records.MatchRequest(microdata=microdata, design=design, population=population)
    ).found
    progress(4, RISK_STEPS)
    truth = tuple(_truth(assessment, matching))
    return RiskDemo(_PEOPLE, _FRACTION, assessment, truth, sample, population, report)


def _truth(assessment: Assessment, matching: MatchingRisk) -> list[str]:
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


_AXES = ("Number of cars", "Country of birth")
_SCHEME = "conventional:3"
_KNOWN = 5
TABLES_STEPS = 2
"""How many steps `run_tables_demo` tells of."""


@dataclass(frozen=True, slots=True)
class TablesDemo:
    """What the published tables of one place give away."""

    place: str
    axes: tuple[str, ...]
    n_people: int
    n_true_zeros: int
    alone: TableBounds
    bounds: TableBounds
    attributions: Attributions
    subtraction: SubtractionAttack
    release: Path
    report: Path

    def sentences(self) -> list[str]:
        """Tell how the rounding fails, in words."""
        risk = self.subtraction.risk
        cells = self.bounds.n_cells
        said = [
            (
                f"By itself the rounded table hides every count: of {cells} cells,"
                f" {self.alone.n_known} can be worked out."
            ),
            (
                f"With its margins and its total, rounded the same way, {self.bounds.n_known} can, and"
                f" {self.bounds.n_zeros} of the {self.n_true_zeros} empty cells are known to be empty."
            ),
        ]
        certain = [one for one in self.attributions.statements if one.certain]
        positive = [one for one in certain if one.kind == "positive"]
        said += [self.attributions.words(one) for one in (positive or certain)[:2]]
        at = int(np.flatnonzero(risk.n == _KNOWN)[0])
        said.append(
            f"Without margins a neighbour who knows {_KNOWN} of the {self.n_people:,} people finds a"
            f" cell with nobody else in it with probability {risk.values[at]:.2f}."
        )
        return said


def run_tables_demo(output: Path, population: Path, *, progress: Progress) -> TablesDemo:
    """Publish the table of the smallest place, rounded with its margins, and attack it."""
    progress(0, TABLES_STEPS)
    place, truth = _smallest_place(population)
    margins = (_AXES, _AXES[:1], _AXES[1:], ())
    release = make_release(truth, margins, _SCHEME, title=f"{' by '.join(_AXES)}, {place}")
    written = output / "small-area-release.json"
    write_release(release, written, truth)
    bounds = bound_cells(release)
    progress(1, TABLES_STEPS)
    alone = make_release(truth, margins[:1], _SCHEME)
    subtraction = subtract_known(alone, truth, n=range(21))
    attributions = infer_attributions(release, bounds=bounds)
    report = output / "tables.html"
    with_margins = subtract_known(release, truth, n=range(21))
    write_risk_report(
        released_report(release, bounds, attributions, subtraction=with_margins), report
    )
    progress(2, TABLES_STEPS)
    return TablesDemo(
        place,
        _AXES,
        truth.total,
        int(np.count_nonzero(truth.dense() == 0)),
        bound_cells(alone),
        bounds,
        attributions,
        subtraction,
        written,
        report,
    )


def _smallest_place(population: Path) -> tuple[str, CountTable]:
    request = records.MicrodataRequest(file=population, keys=(_PLACE, *_AXES))
    counted = tabulate(open_microdata(request).coded, (_PLACE, *_AXES))
    counts = counted.dense()
    smallest = int(counts.sum(axis=(1, 2)).argmin())
    return counted.axes[0].categories[smallest], CountTable(counted.axes[1:], counts[smallest])


_VARIABLES = (
    *("Age", "Sex", "Marital status", "Household size", "Number of cars"),
    *("Economic activity", "Income"),
)
_YEARS = 3
_SHARE = 0.15


@dataclass(frozen=True, slots=True)
class LinkageDemo:
    """How many records of each masked copy are re-identified."""

    n_records: int
    rates: MaskingComparison
    files: tuple[Path, ...]

    def sentences(self) -> list[str]:
        """Tell what was done and who is found again, in words."""
        return [
            (
                f"Ages are blurred by up to {_YEARS} years in one copy; in the other,"
                f" {share_text(_SHARE)} of the values of each variable are swapped between records."
            ),
            *self.rates.sentences(),
            f"Links drawn by lot would be right for one record of {self.n_records:,}.",
        ]


def run_linkage_demo(output: Path, sample: Path, *, seed: int) -> LinkageDemo:
    """Mask the first records of a file in two ways, and link the copies with the original."""
    as_text = pyarrow.csv.ConvertOptions(
        column_types=dict.fromkeys(_VARIABLES, pa.string()), include_columns=list(_VARIABLES)
    )
    table = pyarrow.csv.read_csv(sample, convert_options=as_text).slice(0, 1_000)
    rng = np.random.default_rng(seed)
    versions = {
        "original-part": table,
        "blurred-ages": _blurred(table, rng),
        "swapped-values": _swapped(table, rng),
    }
    files: list[Path] = []
    for name, masked in versions.items():
        file = output / f"{name}.csv"
        write_table(masked, file, raw=True)
        files.append(file)
    rates = evaluate_files(
        records.EvaluateRequest(
            original=files[0],
            masked=tuple(files[1:]),
            columns=records.ComparedColumns(kinds={"Age": "ordinal"}),
            options=MaskingOptions(seed=seed),
        )
    )
    return LinkageDemo(table.num_rows, rates, tuple(files))


def _blurred(table: pa.Table, rng: np.random.Generator) -> pa.Table:
    place = table.column_names.index("Age")
    # Some ages are written as a number with a plus sign.
    ages = [int(str(age).rstrip("+")) for age in table["Age"].to_pylist()]
    moved = np.clip(ages + rng.integers(-_YEARS, _YEARS + 1, len(ages)), 0, None)
    return table.set_column(place, "Age", pa.array([str(age) for age in moved]))


def _swapped(table: pa.Table, rng: np.random.Generator) -> pa.Table:
    for place, name in enumerate(table.column_names):
        chosen = np.flatnonzero(rng.random(table.num_rows) < _SHARE)
        order = np.arange(table.num_rows)
        order[chosen] = chosen[rng.permutation(len(chosen))]
        table = table.set_column(place, name, table[name].take(pa.array(order)))
    return table


@dataclass(frozen=True, slots=True)
class ProtectionDemo:
    """Candidates, the release of the best, and where the files are."""

    plan: Plan
    released: ReleasedFile
    release: Path
    map: Path
    report: Path

    def sentences(self) -> list[str]:
        """Tell what was tried, what was released and what is left for an intruder, in words."""
        tried = [f"Candidate {c.number}, {c.sentence}" for c in self.plan.candidates]
        best = self.plan.nearest
        assert best is not None
        before, after = self.released.before, self.released.after
        return [
            f"Before: {before.sentences()[0]}",
            *tried,
            (
                f"Candidate {best.number} is released; the release was attacked again, under the same"
                " scenario:"
            ),
            after.sentences()[0],
            (
                f"Somebody who knows the keys of all would match {_share(after)} of them rightly,"
                f" and {_share(before)} before (expected)."
            ),
            (
                f"{self.release.name} is the release, its records shuffled, {self.map.name} shows what"
                f" each candidate costs, and {self.report.name} tells before and after."
            ),
        ]


def run_protection_demo(
    output: Path, store: Path, sample: Path, scenario: Scenario, *, seed: int
) -> ProtectionDemo:
    """Try suppression and recoding for one target, and release the best of them.

    Categories are those that forms of the environment have, so that the release fits other data.
    """
    recipe, drawn = output / "recipe.json", output / "risk-utility-map.svg"
    release, report = output / "released-sample.csv", output / "protection.html"
    for earlier in (recipe, drawn, release, report):
        remove(earlier)
    plan = try_protection(
        TryRequest(
            microdata=records.MicrodataRequest(
                file=sample, scenario=scenario.name, environment=store
            ),
            design=records.SampleDesign(weight="Weight"),
            targets=("both>=3",),
            methods=(Method.SUPPRESS, Method.RECODE),
            # So long that the clock stops no search: a demo tells the same story every time.
            search=Searched(observed=tuple(key.variable for key in scenario.keys), seconds=600.0),
            recipe=recipe,
            plot=drawn,
            seed=seed,
            workers=1,
        )
    ).found
    released = apply_recipe(
        ApplyRequest(
            recipe=recipe,
            file=sample,
            environment=store,
            release=ReleaseOptions(output=release, report=report, leave_out=("Household",)),
            attacks=(AttackName.LINKAGE,),
            workers=1,
        )
    ).found
    return ProtectionDemo(plan, released, release, drawn, report)


def _share(attack: FileAttack) -> str:
    if attack.expected is None:
        return "an unknown share"
    return percent_text(attack.expected / max(attack.n_people, 1))


_GROUP = "Commercial"
_STEPS = 9 + RISK_STEPS + TABLES_STEPS
_WHO = "demo"
_MARKED = "Everything here is made up by 'gamekeeper demo'. The next demo replaces it.\n"


@dataclass(frozen=True, slots=True)
class Demo:
    """What the demo found; `open_first` has the three pages to look at, by what they tell."""

    store: Path
    check: EnvironmentCheck
    outcome: KeyVariableMap
    story: tuple[str, ...]
    later: tuple[str, ...]
    scenario: Scenario
    risk: RiskDemo
    tables: TablesDemo
    linkage: LinkageDemo
    protection: ProtectionDemo
    open_first: Mapping[str, Path]


def run_demo(asked: DemoRequest, *, progress: Progress | None = None) -> Demo:
    """Make up an environment, keep it in a store, map its target, and write a report.

    The outcome is saved as a scenario, the environment changes, and the scenario is renewed. A sample of
    a made-up population is attacked under the scenario, tables of a small area are, and masked copies of
    the sample are linked with it. At last the sample is protected and attacked again.
    """

    def step(number: int) -> None:
        if progress is not None:
            progress(number, _STEPS)

    step(0)
    output, seed = asked.output, asked.seed
    _claim(asked)
    folder, store = output / "environment", output / "norland.gk"
    write_environment(demo_environment(), folder)
    for earlier in (store, store.with_name(f"{store.name}.backup")):
        remove(earlier)
    write_questionnaires(output / "questionnaires")
    place, who = InStore(store=store), Person(who=_WHO)
    import_folder(ImportRequest(folder=folder, place=place, person=who))
    step(1)
    with opened(store) as there:
        environment = there.environment
    check = check_environment(environment)
    step(2)
    question = MapOptions(TARGET, groups=(_GROUP,), prevalence="10%", strict=False)
    outcome = analyse(environment, question)
    step(3)
    report = output / "report.html"
    write_mapping_report(outcome, environment, report)
    step(4)
    drawn = _most_telling(outcome)
    picture = output / "harmonization-graph.svg"
    draw_harmonization_graph(environment, drawn.variable).save(picture)
    step(5)
    matchable = [item.variable for item in outcome.variables if item.maximal]
    scenario, _ = save_scenario(
        SaveScenarioRequest(
            place=place,
            scenario="A data broker",
            question=question,
            attacker="Somebody who buys data sets of businesses",
            keys=dict.fromkeys(matchable[:5], ""),
            person=who,
        )
    )
    step(6)
    # Before the world changes: what follows makes the scenario stale.
    risk = run_risk_demo(
        output, store, scenario, seed=seed, progress=lambda done, _: step(6 + done)
    )
    protection = run_protection_demo(output, store, risk.sample, scenario, seed=seed)
    step(7 + RISK_STEPS)
    later = _later(store, environment, scenario)
    step(8 + RISK_STEPS)
    tables = run_tables_demo(
        output, risk.population, progress=lambda done, _: step(8 + RISK_STEPS + done)
    )
    linkage = run_linkage_demo(output, risk.sample, seed=seed)
    step(_STEPS)
    return Demo(
        store,
        check,
        outcome,
        tuple(_story(environment, outcome)),
        tuple(later),
        scenario,
        risk,
        tables,
        linkage,
        protection,
        {
            "the assessment of the file": risk.report,
            "which variables an intruder could match on": report,
            "what the tables give away": tables.report,
        },
    )


def _later(store: Path, environment: Environment, scenario: Scenario) -> list[str]:
    kept = ", ".join(f"{key.variable} at {key.code}" for key in scenario.keys)
    lines = [f"It is saved with {len(scenario.keys)} key variables: {kept}."]
    # A released variable that harmonization had made coarser is the one to watch.
    coarser = [key for key in scenario.keys if key.code.startswith("H")] or list(scenario.keys)
    watched = coarser[0].variable
    inside = environment.group(_GROUP).forms
    asking = [form for form in inside if watched in environment.form(form).instances]
    changed = [form for form in asking if environment.form(form).instances[watched]][:5]
    edits = [AskVariable(form=form, variable=watched, labels=()) for form in changed]
    edited = edit_store(store, edits, Signature(person=Person(who=_WHO), note="new wording"))
    lines.append(
        f"Then {count_of(len(changed), 'form')} of businesses begin to take any detail of"
        f" {watched} (revision {edited.revision}). The scenario says:"
    )
    reviewed, renewed = renew(
        RenewScenarioRequest(
            place=InStore(store=store), scenario=scenario.name, person=Person(who=_WHO)
        )
    )
    lines += [f"  {sentence}" for sentence in reviewed.sentences]
    lines.append(
        f"That is accepted (revision {renewed.revision}): the scenario rests on the forms as they are now."
    )
    return lines


def _claim(asked: DemoRequest) -> None:
    """Make the folder of the demo, or take one that an earlier demo made; no other."""
    require_outputs(asked)
    mark = asked.output / "made-by-gamekeeper-demo.txt"
    if asked.output.is_dir() and any(asked.output.iterdir()) and not mark.is_file():
        raise StoreError(
            Reason.NOT_WRITABLE,
            f"The demo was to be written to {shown_path(asked.output)}.",
            "The folder holds things that no demo has marked as its own.",
            "Name a new folder (--output), or remove this one.",
        )
    try:
        make_folders(asked.output, [])
    except OSError as error:
        raise refusal(f"The folder {shown_path(asked.output)} was to be made.", error) from error
    write_file(mark, _MARKED.encode(), private=False)


def _most_telling(outcome: KeyVariableMap) -> KeyVariable:
    """Choose a variable whose result arose by harmonization, else the first of all."""
    harmonized = [item for item in outcome.variables if item.codes and item.codes[0][0] == "H"]
    return (harmonized or list(outcome.variables))[0]


def _story(environment: Environment, outcome: KeyVariableMap) -> list[str]:
    matchable = [item for item in outcome.variables if item.maximal]
    first = matchable[0]
    planned = count_of(len(outcome.variables), "variable")
    lines = [
        f"Of {planned} planned for release, {len(matchable)} match one in ten of these data sets.",
        f"The most useful to an intruder is {first.variable}, at {first.maximal[0].code}: {first.why}.",
    ]
    told = _most_telling(outcome)
    if told.maximal and told is not first:
        words = "; ".join(told.maximal[0].categories)
        own = environment.variable(told.variable)
        lines.append(
            f"{own.name} is released as {told.target_code}, but the forms cut it differently:"
            f" they can be matched on {told.maximal[0].code} only ({words})."
        )
    hidden = [
        item
        for item in matchable
        if item.effective != math.inf and item.effective > item.n_categories
    ]
    if hidden:
        most = max(hidden, key=lambda item: float(item.effective) / item.n_categories)
        lines.append(
            f"Beware of {most.variable}: harmonized it has {int(most.n_categories)} categories,"
            f" but single forms match it with {float(most.effective):.1f} effective categories,"
            " because their categories overlap."
        )
    return lines
