"""The demo: from made-up forms to a scenario, and on to the risk of a file and of tables, as a story."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from gamekeeper.errors import Reason, StoreError
from gamekeeper.files.asides import make_folders, remove
from gamekeeper.files.writing import refusal, write_file
from gamekeeper.mapping.analysis.key_variables import KeyVariable, KeyVariableMap
from gamekeeper.mapping.analysis.options import MapOptions
from gamekeeper.mapping.edits import AskVariable
from gamekeeper.mapping.environment.environment import Environment
from gamekeeper.mapping.environment.overview import EnvironmentCheck, check_environment
from gamekeeper.mapping.environment.scenario import Scenario
from gamekeeper.report.drawings.graphs import draw_harmonization_graph
from gamekeeper.report.mapping.mapping_report import write_mapping_report
from gamekeeper.results import Progress
from gamekeeper.store.folder import write_environment
from gamekeeper.wording import count_of, shown_path
from gamekeeper.workbench.demo.environment import TARGET, demo_environment
from gamekeeper.workbench.demo.linkage import LinkageDemo, run_linkage_demo
from gamekeeper.workbench.demo.protection import ProtectionDemo, run_protection_demo
from gamekeeper.workbench.demo.questionnaires import write_questionnaires
from gamekeeper.workbench.demo.risk import STEPS as RISK_STEPS
from gamekeeper.workbench.demo.risk import RiskDemo, run_risk_demo
from gamekeeper.workbench.demo.tables import STEPS as TABLES_STEPS
from gamekeeper.workbench.demo.tables import TablesDemo, run_tables_demo
from gamekeeper.workbench.environment.editing import edit_store, import_folder
from gamekeeper.workbench.environment.mapping import analyse
from gamekeeper.workbench.environment.opening import opened
from gamekeeper.workbench.environment.scenarios import renew, save_scenario
from gamekeeper.workbench.outputs import require_outputs
from gamekeeper.workbench.requests.demo import DemoRequest
from gamekeeper.workbench.requests.environment.editing import Signature
from gamekeeper.workbench.requests.environment.mapping import (
    RenewScenarioRequest,
    SaveScenarioRequest,
)
from gamekeeper.workbench.requests.environment.shared import InStore, Person
from gamekeeper.workbench.requests.environment.store import ImportRequest

_GROUP = "Commercial"
_PREVALENCE = "10%"
_STEPS = 9 + RISK_STEPS + TABLES_STEPS
_WHO = "demo"
_SCENARIO = "A data broker"
_KEYS = 5
_CHANGED = 5
_MARK = "made-by-gamekeeper-demo.txt"
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

    Then the outcome is saved as a scenario, the environment changes, and the scenario is renewed.
    Then a sample of a made-up population is attacked under the scenario, and tables of a small
    area are; masked copies of the sample are linked with it. At last the sample is protected and
    attacked again.
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
    question = MapOptions(TARGET, groups=(_GROUP,), prevalence=_PREVALENCE, strict=False)
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
            scenario=_SCENARIO,
            question=question,
            attacker="Somebody who buys data sets of businesses",
            keys=dict.fromkeys(matchable[:_KEYS], ""),
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
    """Save what was concluded, let some forms change, and look again."""
    kept = ", ".join(f"{key.variable} at {key.code}" for key in scenario.keys)
    lines = [f"It is saved with {len(scenario.keys)} key variables: {kept}."]
    # A released variable that harmonization had made coarser is the one to watch.
    coarser = [key for key in scenario.keys if key.code.startswith("H")] or list(scenario.keys)
    watched = coarser[0].variable
    inside = environment.group(_GROUP).forms
    asking = [form for form in inside if watched in environment.form(form).instances]
    changed = [form for form in asking if environment.form(form).instances[watched]][:_CHANGED]
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
    mark = asked.output / _MARK
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
