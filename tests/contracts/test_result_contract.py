"""The exam that every result passes. A new result type needs an example here."""

from __future__ import annotations

import dataclasses
import importlib
import json
import math
import pkgutil
from fractions import Fraction
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import gamekeeper
from gamekeeper.algorithms.categories.partition_graph import PartitionGraph
from gamekeeper.algorithms.releases.primary_rules import Contributions
from gamekeeper.attack.contributions import CategoryRisk, SizeRisk, VariableRisk
from gamekeeper.attack.experiments.attack_experiment import AttackExperiment
from gamekeeper.attack.experiments.compare import Comparison, compare_measures
from gamekeeper.attack.experiments.judgement import Judgement, judge
from gamekeeper.attack.experiments.pilot import (
    FractionExperiment,
    PilotStudy,
    StrategyExperiment,
    fraction_experiment,
    pilot_study,
    strategy_experiment,
)
from gamekeeper.attack.experiments.simulate import SimulationResult, simulate
from gamekeeper.attack.linkage.columns import LinkVariable
from gamekeeper.attack.linkage.files import (
    FileLinks,
    MaskingComparison,
    compare_maskings,
    link_files,
)
from gamekeeper.attack.linkage.structure import StructureLinks, link_structure
from gamekeeper.attack.matching import RankedAttack, assess_matching, rank_attacks
from gamekeeper.attack.matching_result import MatchingRisk
from gamekeeper.attack.measures import RiskMeasures, measure_risk
from gamekeeper.attack.models.fitting import ModelFit, fit_models
from gamekeeper.attack.models.inference import ModelRisk, infer_risk
from gamekeeper.attack.models.levels import Inference, RelativeRisk, categories_risk, infer_target
from gamekeeper.attack.risk import FileRisk, RecordRisk
from gamekeeper.attack.tables.audit_result import TableAudit
from gamekeeper.attack.tables.auditing import MarkedTable, audit_tables, mark_cells
from gamekeeper.attack.tables.bounds import TableBounds, bound_cells
from gamekeeper.attack.tables.comparison import SchemeComparison, compare_schemes
from gamekeeper.attack.tables.feasible import (
    Attributions,
    FeasibleTables,
    explore_tables,
    infer_attributions,
)
from gamekeeper.attack.tables.subtraction import (
    CellRecovery,
    ConditionalSubtraction,
    SubtractionAttack,
    subtract_known,
    subtract_within,
)
from gamekeeper.attack.uniques.dis import DisRisk, assess_dis
from gamekeeper.attack.uniques.records import Explanations
from gamekeeper.attack.uniques.special import SpecialUniques, assess_special_uniques
from gamekeeper.attack.uniques.special_trials import SpecialProperties
from gamekeeper.attack.uniques.suda import UniquesRisk, assess_uniques
from gamekeeper.attack.what_if import WhatIf, compare_recoded
from gamekeeper.data.coding.coded_table import coded_from_codes
from gamekeeper.data.keys.counting import count_keys
from gamekeeper.data.keys.key_table import KeyTable
from gamekeeper.data.tables.cell_file import CellRows
from gamekeeper.data.tables.count_table import CountTable
from gamekeeper.data.tables.magnitudes import MagnitudeTable
from gamekeeper.data.tables.release import Release, make_release
from gamekeeper.data.tables.table_set import TableSet
from gamekeeper.errors import InputError
from gamekeeper.mapping.analysis.composite_keys import CompositeKeys, find_composite_keys
from gamekeeper.mapping.analysis.key_mapping import MapLevels, map_key_variables, map_levels
from gamekeeper.mapping.analysis.key_variables import KeyEvidence, KeyVariableMap, SizeCurves
from gamekeeper.mapping.edits import Consequences, RemoveCategory, weigh_edits
from gamekeeper.mapping.edits.two_environments import EnvironmentDifference, compare_environments
from gamekeeper.mapping.environment.asked import MapOptions
from gamekeeper.mapping.environment.environment import Environment, Form
from gamekeeper.mapping.environment.overview import (
    CategoryTable,
    CodeTable,
    EnvironmentCheck,
    check_environment,
    list_categories,
    list_codes,
    list_forms,
)
from gamekeeper.mapping.scenario.proposal import propose_scenario
from gamekeeper.mapping.scenario.review import ScenarioReview, review_scenario
from gamekeeper.mapping.variables.codes import Variable
from gamekeeper.protection.attacking.attacks import AttackName, attack_file
from gamekeeper.protection.attacking.result import FileAttack
from gamekeeper.protection.plan import Plan, RiskUtilityMap
from gamekeeper.protection.recoding.search import (
    SearchedRecoding,
    SearchRecoding,
    search_for_recoding,
)
from gamekeeper.protection.step import ChangeLog, Protected, Setting, VariableChange
from gamekeeper.protection.targets import parse_targets
from gamekeeper.protection.trials import Trying, Wishes
from gamekeeper.protection.utility.measuring import measure_utility
from gamekeeper.protection.utility.result import Utility
from gamekeeper.results import Listing, Provenance, Result, package_version
from gamekeeper.workbench.assessment import Assessment, assess
from gamekeeper.workbench.protection.applying import ReleasedFile, apply_recipe
from gamekeeper.workbench.protection.auditing import ReleaseAudit, audit_release
from gamekeeper.workbench.protection.trying import try_protection
from gamekeeper.workbench.requests.protection import (
    ApplyRequest,
    AuditRequest,
    Method,
    TryRequest,
)
from gamekeeper.workbench.requests.records import LookRequest, MicrodataRequest
from gamekeeper.workbench.risk import FileLook, look_at

MARKUP = "<b>bold</b> & co"


def environment():
    graph = PartitionGraph({MARKUP: ["one", "two"], "rest": [], "two or rest": ["two", "rest"]})
    return Environment(
        [Variable("Kind", graph)],
        [
            Form("Target", {"Kind": ("one", "two", "rest")}),
            Form("Bank", {"Kind": (MARKUP, "rest")}),
            Form("Shop", {"Kind": ("one", "two or rest")}),
            Form("Club", {"Kind": ()}),
        ],
        name=MARKUP,
    )


def review():
    before = environment()
    outcome = map_key_variables(before, "Target", forms=["Bank"])
    scenario = propose_scenario(outcome, before, name=MARKUP, forms=["Bank"])
    return review_scenario(scenario, before.with_form(Form("Bank", {"Kind": ()})), revision=2)


KEYS = ("Kind", "Place")
PEOPLE = [[1, 1], [1, 1], [1, 1], [1, 2], [1, 2], [2, 1], [2, 2], [3, 1]]


def people():
    words = (("missing", MARKUP, "two or rest", "three"), ("missing", "North", "South"))
    return coded_from_codes(PEOPLE, KEYS, words)


def key_table():
    return count_keys(people(), KEYS, fraction="1/4")


def uniques():
    return assess_uniques(key_table())


def assessment():
    words = [[people().codebook[key].words[code] for code in column] for key, column in
             zip(KEYS, zip(*PEOPLE, strict=True), strict=True)]  # fmt: skip
    data = pa.table(dict(zip(KEYS, words, strict=True)))
    return assess(data, keys=KEYS, fraction="1/4", policy="hdx")


def special():
    return assess_special_uniques(key_table(), rounds=2)


def looked():
    with TemporaryDirectory() as folder:
        file = Path(folder, "people.csv")
        file.write_text(f"Kind,Place\n{MARKUP},North\n", encoding="utf-8")
        return look_at(LookRequest(file=file))


def inferred():
    table = key_table()
    return infer_risk(table, fit_models(table, method="occam"))


def counts():
    axes = {"Kind": [MARKUP, "two or rest"], "Place": ["North", "South", "<b>West</b>"]}
    return CountTable.typed(axes, [[3, 1, 0], [2, 2, 4]])


def released() -> Release:
    return make_release(counts(), [("Kind", "Place"), ()], "conventional:3", title=MARKUP)


def subtracted():
    return subtract_known(released(), counts())


HIDDEN = [["Total", 9], ["a", None], ["b", 4], ["c", 2]]
MARKED = MagnitudeTable(
    "firms",
    ("Kind",),
    (("a",),),
    (Fraction(9),),
    (Contributions.of([5, 4]),),
    2,
    "0123456789abcdef",
)
LINKED = [LinkVariable(name) for name in KEYS]


def maskings():
    truths = {"mild": range(len(PEOPLE))}
    return compare_maskings(people(), {"mild": people()}, LINKED, truths=truths)


def attacked() -> FileAttack:
    table = people()
    nothing = ChangeLog(table.n_records)
    return attack_file(table, table, nothing, Setting(keys=KEYS), tuple(AttackName), wildcard=True)


def planned() -> Plan:
    wishes = Wishes(methods=("suppress",))
    return Trying(people(), Setting(keys=KEYS), parse_targets(["both>=2"])).run(wishes)


def people_file(folder: str) -> Path:
    words = [[people().codebook[key].words[code] for code in column] for key, column in
             zip(KEYS, zip(*PEOPLE, strict=True), strict=True)]  # fmt: skip
    file = Path(folder, "people.parquet")
    pq.write_table(pa.table(dict(zip(KEYS, words, strict=True))), file)
    return file


def released_file() -> ReleasedFile:
    with TemporaryDirectory() as folder:
        file = people_file(folder)
        recipe = Path(folder, "recipe.json")
        try_protection(
            TryRequest(
                microdata=MicrodataRequest(file=file, keys=KEYS),
                targets=("both>=2",),
                methods=(Method.SUPPRESS,),
                recipe=recipe,
                seed=1,
            )
        )
        return apply_recipe(ApplyRequest(recipe=recipe, file=file)).found


def audited() -> ReleaseAudit:
    with TemporaryDirectory() as folder:
        file = people_file(folder)
        asked = AuditRequest(
            microdata=MicrodataRequest(file=file, keys=KEYS), released=file, same_order=True
        )
        return audit_release(asked).found


def protected() -> Protected:
    table = people()
    made = Provenance("protection: nothing", seed=0, fingerprint=table.fingerprint)
    none = VariableChange.of_cells(suppressed=np.zeros(len(PEOPLE), dtype=np.bool_))
    return Protected(table, table, ChangeLog(len(PEOPLE), {"Kind": none}), (), made)


EXAMPLES = {
    Protected: protected,
    SearchedRecoding: lambda: search_for_recoding(
        people(), Setting(keys=tuple(people().codebook.names)), SearchRecoding(k=2)
    ),
    FileAttack: attacked,
    Plan: planned,
    RiskUtilityMap: lambda: planned().map,
    ReleasedFile: released_file,
    ReleaseAudit: audited,
    Utility: lambda: measure_utility(people(), people()),
    KeyVariableMap: lambda: map_key_variables(environment(), "Target", forms=["Bank"]),
    MapLevels: lambda: map_levels(environment(), MapOptions("Target", forms=["Bank"])),
    SizeCurves: lambda: map_key_variables(environment(), "Target").curves(),
    KeyEvidence: lambda: map_key_variables(environment(), "Target").evidence(),
    CompositeKeys: lambda: find_composite_keys(
        map_key_variables(environment(), "Target"), environment()
    ),
    EnvironmentDifference: lambda: compare_environments(
        environment(), environment().with_form(Form("Bank", {"Kind": ()}))
    ),
    EnvironmentCheck: lambda: check_environment(environment()),
    CodeTable: lambda: list_codes(environment(), "Kind"),
    CategoryTable: lambda: list_categories("Kind", environment().variable("Kind").graph),
    Consequences: lambda: weigh_edits(
        environment(), [RemoveCategory(variable="Kind", category=MARKUP)]
    ),
    Listing: lambda: list_forms(environment()),
    ScenarioReview: review,
    KeyTable: key_table,
    Assessment: assessment,
    UniquesRisk: uniques,
    RecordRisk: lambda: uniques().records,
    FileRisk: lambda: uniques().file,
    VariableRisk: lambda: uniques().variables,
    CategoryRisk: lambda: uniques().categories,
    SizeRisk: lambda: uniques().sizes,
    Explanations: lambda: uniques().explanations(),
    RiskMeasures: lambda: measure_risk(key_table()),
    DisRisk: lambda: assess_dis(key_table(), method="special", rounds=500),
    SpecialUniques: special,
    SpecialProperties: lambda: special().properties,
    MatchingRisk: lambda: assess_matching(key_table(), population=key_table()),
    AttackExperiment: lambda: compare_measures(people(), KEYS, fractions=["1/2"]).attacks,
    Comparison: lambda: compare_measures(people(), KEYS, fractions=["1/2"], samples=2),
    Judgement: lambda: judge({"score": [3.0, 1.0, 2.0]}, [1, 2, 1]),
    SimulationResult: lambda: simulate(people(), KEYS, fractions=["1/2", 1], samples=2),
    StrategyExperiment: lambda: strategy_experiment(people(), KEYS, fraction="1/2", samples=2),
    FractionExperiment: lambda: fraction_experiment(people(), KEYS, fractions=["1/2", 1]),
    ModelFit: lambda: fit_models(key_table(), chains=2),
    ModelRisk: inferred,
    FileLook: looked,
    WhatIf: lambda: compare_recoded(key_table(), key_table()),
    RelativeRisk: lambda: categories_risk(inferred(), key_table(), "Kind"),
    RankedAttack: lambda: rank_attacks(inferred(), key_table(), count_keys(people(), KEYS), top=2),
    Inference: lambda: infer_target(inferred(), key_table(), {"Place": "North"}, ["Kind"]),
    TableAudit: lambda: audit_tables(TableSet.of([CellRows.typed(["Kind"], HIDDEN)])),
    MarkedTable: lambda: mark_cells(MARKED, rules=["minimum:3"]),
    TableBounds: lambda: bound_cells(released()),
    FeasibleTables: lambda: explore_tables(released()),
    Attributions: lambda: infer_attributions(make_release(counts(), [("Kind", "Place")])),
    SubtractionAttack: subtracted,
    CellRecovery: lambda: subtracted().detail,
    ConditionalSubtraction: lambda: subtract_within(released(), counts(), ["Place"]),
    SchemeComparison: lambda: compare_schemes(["random:3", "exact"], tables=5),
    PilotStudy: lambda: pilot_study(people(), KEYS, fraction="1/2", samples=2),
    FileLinks: lambda: link_files(
        people(), people(), LINKED, truth=range(len(PEOPLE)), resamples=2
    ),
    MaskingComparison: maskings,
    StructureLinks: lambda: link_structure(PEOPLE, PEOPLE, n_clusters=2, truth=range(len(PEOPLE))),
}
OF_MICRODATA = {kind for kind in EXAMPLES if not kind.__module__.startswith("gamekeeper.mapping")}
OF_MICRODATA -= {Listing}


def result_types():
    """Return every type of result that the package defines."""
    for module in pkgutil.walk_packages(gamekeeper.__path__, "gamekeeper."):
        if not module.name.endswith("__main__"):
            importlib.import_module(module.name)
    found, waiting = set(), [Result]
    while waiting:
        for kind in waiting.pop().__subclasses__():
            waiting.append(kind)
            if kind.__module__.startswith("gamekeeper."):
                found.add(kind)
    return found


def test_every_result_has_an_example():
    assert result_types() == set(EXAMPLES)


@cache
def made_once(kind):
    made = EXAMPLES[kind]()
    assert type(made) is kind
    return made


@pytest.fixture(scope="module", params=EXAMPLES, ids=lambda kind: kind.__name__)
def result(request):
    return made_once(request.param)


def test_it_is_frozen(result):
    for field in dataclasses.fields(result):
        with pytest.raises(dataclasses.FrozenInstanceError):
            setattr(result, field.name, None)


def test_its_summary_is_plain(result):
    summary = result.summary()
    assert summary
    assert all(isinstance(value, str | int | float | bool) for value in summary.values())
    assert json.loads(json.dumps(summary)) == summary


def test_it_is_one_table(result):
    table = result.to_arrow()
    assert isinstance(table, pa.Table)
    assert table.num_rows > 0
    assert len(set(table.column_names)) == table.num_columns
    plain = (pa.types.is_string, pa.types.is_integer, pa.types.is_floating, pa.types.is_boolean)
    assert all(any(is_one(field.type) for is_one in plain) for field in table.schema)
    assert result.to_arrow() == table


def test_its_frame_is_its_table(result):
    frame, table = result.to_frame(), result.to_arrow()
    assert list(frame.columns) == table.column_names
    for name in table.column_names:
        for shown, meant in zip(frame[name].tolist(), table.column(name).to_pylist(), strict=True):
            missing = shown is None or (isinstance(shown, float) and math.isnan(shown))
            assert missing if meant is None else shown == meant


def test_other_libraries_can_take_it_as_a_stream(result):
    assert pa.table(result) == result.to_arrow()
    reader = pa.RecordBatchReader.from_stream(result)
    assert reader.schema == result.to_arrow().schema
    assert reader.read_all() == result.to_arrow()


def test_a_notebook_shows_it_with_markup_escaped(result):
    shown = result._repr_html_()
    assert shown.startswith("<table>")
    assert "<caption>" in shown
    assert "<b>" not in shown
    if type(result) in OF_MICRODATA:
        # A notebook travels further than its file: it has numbers and no category of the file.
        assert not [word for word in ("bold", "two or rest", "North") if word in shown]
        return
    cells = [cell for column in result.to_arrow().columns for cell in column.to_pylist()]
    if any(MARKUP in str(cell) for cell in cells):
        assert "&lt;b&gt;bold&lt;/b&gt; &amp; co" in shown


def test_it_is_drawn_or_says_why_not(result):
    if type(result).plot is Result.plot:
        with pytest.raises(InputError, match=result.why_no_plot):
            result.plot()
        return
    drawn = result.plot()
    figure = drawn.get_figure() if hasattr(drawn, "get_figure") else drawn
    assert figure.axes


def test_some_example_has_markup_to_escape():
    shown = [made_once(kind)._repr_html_() for kind in EXAMPLES]
    assert sum("&lt;b&gt;" in text for text in shown) >= 3


def test_its_repr_shows_headline_numbers_and_no_records(result):
    shown = repr(result)
    pairs = (f"{name}={value!r}" for name, value in result.summary().items())
    assert shown == f"{type(result).__name__}({', '.join(pairs)})"
    assert len(shown) < 320
    assert "two or rest" not in shown
    assert "North" not in shown


def test_its_provenance_is_complete(result):
    plain = result.provenance.to_dict()
    assert json.loads(json.dumps(plain)) == plain
    assert plain["method"]
    assert plain["engine"]
    assert plain["version"] == package_version()
    assert len(plain["fingerprint"]) == 16
    assert math.isfinite(plain["seconds"])
    assert plain["seconds"] >= 0
    assert all(isinstance(value, str) for value in plain["parameters"].values())


@pytest.mark.parametrize("kind", EXAMPLES, ids=lambda kind: kind.__name__)
def test_it_is_the_same_when_it_is_made_again(kind):
    one, other = made_once(kind), EXAMPLES[kind]()
    assert one.to_arrow() == other.to_arrow()
    assert one.summary() == other.summary()
    assert one.provenance.fingerprint == other.provenance.fingerprint
    assert one.provenance.parameters == other.provenance.parameters
