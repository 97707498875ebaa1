"""Gamekeeper: a workbench for statistical disclosure control that takes the intruder's side.

Stage one, key variable mapping, is here: describe the forms out there, and see which variables of
a planned release an intruder could match on, and at which level of detail::

    import gamekeeper as gk

    environment = gk.read_environment("environment")
    outcome = gk.map_key_variables(environment, "Census", prevalence="10%")

A team keeps its environment in a store, with history and undo::

    with gk.EnvironmentStore.open("norland.gk") as store:
        store.apply([gk.edits.RenameForm(form="Bank", to="Bank (2031)")], who="ann")

Stage two attacks a file that may be released::

    people = gk.code_source(gk.open_source("people.csv"), ["Age", "Sex", "Region"])
    keys = gk.count_keys(people, ["Age", "Sex", "Region"], fraction="2%")
    risk = gk.assess_uniques(keys)
    risk.sentences(), risk.explain(17)

or tables of counts::

    release = gk.read_counts("rounded.csv", scheme="conventional:3")
    gk.bound_cells(release).sentences(), gk.infer_attributions(release).sentences()
"""

from importlib import import_module
from typing import TYPE_CHECKING

from gamekeeper.algorithms.categories.bands import Band, BandGraph, BandStyle, parse_band
from gamekeeper.algorithms.categories.graph_property import find_violations
from gamekeeper.algorithms.categories.harmonization import HarmonizationGraph
from gamekeeper.algorithms.categories.maximal_harmonization import MaximalHarmonizations
from gamekeeper.algorithms.categories.partition_graph import PartitionGraph
from gamekeeper.algorithms.categories.partitions import (
    ARBITRARY,
    Partition,
    effective_categories,
    harmonize,
    is_finer,
    join,
    meet,
)
from gamekeeper.algorithms.categories.prevalence import (
    SizeCurve,
    is_null,
    parse_prevalence,
    threshold,
)
from gamekeeper.errors import Cancelled, GamekeeperError, InputError, LimitError, StoreError
from gamekeeper.mapping import edits as edits
from gamekeeper.mapping.analysis.key_mapping import map_key_variables
from gamekeeper.mapping.analysis.key_variables import KeyVariableMap
from gamekeeper.mapping.environment.categorization import Categorization, categorize
from gamekeeper.mapping.environment.codes import CodeRegister
from gamekeeper.mapping.environment.environment import Environment, Form, Group
from gamekeeper.mapping.environment.evidence import Mode
from gamekeeper.mapping.environment.overview import check_environment, list_categories, list_codes
from gamekeeper.mapping.environment.variable import OUTSIDE, Scale, Variable
from gamekeeper.report.drawing import draw_harmonization_graph, draw_partition_graph
from gamekeeper.report.mapping_report import build_report, write_report
from gamekeeper.store.folder import read_environment, write_environment

if TYPE_CHECKING:
    from gamekeeper.algorithms.releases.scheme_names import parse_scheme, register_scheme
    from gamekeeper.attack.judging.compare import Comparison, compare_measures
    from gamekeeper.attack.judging.judgement import Judgement, judge
    from gamekeeper.attack.linkage.evaluation import MaskingComparison, compare_maskings
    from gamekeeper.attack.linkage.files import FileLinks, link_files
    from gamekeeper.attack.linkage.structure import StructureLinks, link_structure
    from gamekeeper.attack.linkage.truth import true_partners
    from gamekeeper.attack.linkage.variables import LinkVariable
    from gamekeeper.attack.matching.result import MatchingRisk
    from gamekeeper.attack.matching.strategies import assess_matching
    from gamekeeper.attack.models.fitting import ModelFit, fit_models
    from gamekeeper.attack.models.inference import ModelRisk, infer_risk
    from gamekeeper.attack.models.levels import categories_risk, variables_risk
    from gamekeeper.attack.models.queries import infer_target
    from gamekeeper.attack.models.ranking import rank_attacks
    from gamekeeper.attack.risk import RecordRisk
    from gamekeeper.attack.risk_classes import RiskClasses, parse_risk_classes
    from gamekeeper.attack.simulation.experiments import fraction_experiment, strategy_experiment
    from gamekeeper.attack.simulation.pilot import PilotStudy, pilot_study
    from gamekeeper.attack.simulation.result import SimulationResult
    from gamekeeper.attack.simulation.simulate import simulate
    from gamekeeper.attack.tables.attributions import Attributions, infer_attributions
    from gamekeeper.attack.tables.bounds import TableBounds, bound_cells, bound_recoded
    from gamekeeper.attack.tables.comparison import SchemeComparison, compare_schemes
    from gamekeeper.attack.tables.conditional import ConditionalSubtraction, subtract_within
    from gamekeeper.attack.tables.feasible import FeasibleTables, explore_tables
    from gamekeeper.attack.tables.subtraction import SubtractionAttack, subtract_known
    from gamekeeper.attack.uniques.dis import assess_dis
    from gamekeeper.attack.uniques.dis_result import DisRisk
    from gamekeeper.attack.uniques.special import SpecialUniques, assess_special_uniques
    from gamekeeper.attack.uniques.suda import UniquesRisk, assess_uniques
    from gamekeeper.data.coding.codebook import Codebook
    from gamekeeper.data.coding.coded_table import CodedTable, coded_from_codes
    from gamekeeper.data.coding.source_coding import code_frame, code_source
    from gamekeeper.data.keys.key_table import KeyTable, count_keys
    from gamekeeper.data.keys.missing import Missing
    from gamekeeper.data.population import make_population, sample_population
    from gamekeeper.data.reading.source import open_source
    from gamekeeper.data.tables.count_file import read_count_table, read_counts
    from gamekeeper.data.tables.count_table import CountTable
    from gamekeeper.data.tables.release import Release, make_release
    from gamekeeper.data.tables.release_file import read_release, write_release
    from gamekeeper.data.tables.release_joining import join_releases
    from gamekeeper.data.tables.tabulation import tabulate
    from gamekeeper.store.database.environment_store import EnvironmentStore

__all__ = [
    "ARBITRARY",
    "OUTSIDE",
    "Attributions",
    "Band",
    "BandGraph",
    "BandStyle",
    "Cancelled",
    "Categorization",
    "CodeRegister",
    "Codebook",
    "CodedTable",
    "Comparison",
    "ConditionalSubtraction",
    "CountTable",
    "DisRisk",
    "Environment",
    "EnvironmentStore",
    "FeasibleTables",
    "FileLinks",
    "Form",
    "GamekeeperError",
    "Group",
    "HarmonizationGraph",
    "InputError",
    "Judgement",
    "KeyTable",
    "KeyVariableMap",
    "LimitError",
    "LinkVariable",
    "MaskingComparison",
    "MatchingRisk",
    "MaximalHarmonizations",
    "Missing",
    "Mode",
    "ModelFit",
    "ModelRisk",
    "Partition",
    "PartitionGraph",
    "PilotStudy",
    "RecordRisk",
    "Release",
    "RiskClasses",
    "Scale",
    "SchemeComparison",
    "SimulationResult",
    "SizeCurve",
    "SpecialUniques",
    "StoreError",
    "StructureLinks",
    "SubtractionAttack",
    "TableBounds",
    "UniquesRisk",
    "Variable",
    "assess_dis",
    "assess_matching",
    "assess_special_uniques",
    "assess_uniques",
    "bound_cells",
    "bound_recoded",
    "build_report",
    "categories_risk",
    "categorize",
    "check_environment",
    "code_frame",
    "code_source",
    "coded_from_codes",
    "compare_maskings",
    "compare_measures",
    "compare_schemes",
    "count_keys",
    "draw_harmonization_graph",
    "draw_partition_graph",
    "effective_categories",
    "explore_tables",
    "find_violations",
    "fit_models",
    "fraction_experiment",
    "harmonize",
    "infer_attributions",
    "infer_risk",
    "infer_target",
    "is_finer",
    "is_null",
    "join",
    "join_releases",
    "judge",
    "link_files",
    "link_structure",
    "list_categories",
    "list_codes",
    "make_population",
    "make_release",
    "map_key_variables",
    "meet",
    "open_source",
    "parse_band",
    "parse_prevalence",
    "parse_risk_classes",
    "parse_scheme",
    "pilot_study",
    "rank_attacks",
    "read_count_table",
    "read_counts",
    "read_environment",
    "read_release",
    "register_scheme",
    "sample_population",
    "simulate",
    "strategy_experiment",
    "subtract_known",
    "subtract_within",
    "tabulate",
    "threshold",
    "true_partners",
    "variables_risk",
    "write_environment",
    "write_release",
    "write_report",
]


# Files, engines and attacks bring libraries that take a while to import: only where they are used.
_LAZY = {
    "Attributions": "gamekeeper.attack.tables.attributions",
    "Codebook": "gamekeeper.data.coding.codebook",
    "CodedTable": "gamekeeper.data.coding.coded_table",
    "Comparison": "gamekeeper.attack.judging.compare",
    "ConditionalSubtraction": "gamekeeper.attack.tables.conditional",
    "CountTable": "gamekeeper.data.tables.count_table",
    "DisRisk": "gamekeeper.attack.uniques.dis_result",
    "EnvironmentStore": "gamekeeper.store.database.environment_store",
    "FeasibleTables": "gamekeeper.attack.tables.feasible",
    "FileLinks": "gamekeeper.attack.linkage.files",
    "Judgement": "gamekeeper.attack.judging.judgement",
    "KeyTable": "gamekeeper.data.keys.key_table",
    "LinkVariable": "gamekeeper.attack.linkage.variables",
    "MaskingComparison": "gamekeeper.attack.linkage.evaluation",
    "MatchingRisk": "gamekeeper.attack.matching.result",
    "Missing": "gamekeeper.data.keys.missing",
    "ModelFit": "gamekeeper.attack.models.fitting",
    "ModelRisk": "gamekeeper.attack.models.inference",
    "PilotStudy": "gamekeeper.attack.simulation.pilot",
    "RecordRisk": "gamekeeper.attack.risk",
    "Release": "gamekeeper.data.tables.release",
    "RiskClasses": "gamekeeper.attack.risk_classes",
    "SchemeComparison": "gamekeeper.attack.tables.comparison",
    "SimulationResult": "gamekeeper.attack.simulation.result",
    "SpecialUniques": "gamekeeper.attack.uniques.special",
    "StructureLinks": "gamekeeper.attack.linkage.structure",
    "SubtractionAttack": "gamekeeper.attack.tables.subtraction",
    "TableBounds": "gamekeeper.attack.tables.bounds",
    "UniquesRisk": "gamekeeper.attack.uniques.suda",
    "assess_dis": "gamekeeper.attack.uniques.dis",
    "assess_matching": "gamekeeper.attack.matching.strategies",
    "assess_special_uniques": "gamekeeper.attack.uniques.special",
    "assess_uniques": "gamekeeper.attack.uniques.suda",
    "bound_cells": "gamekeeper.attack.tables.bounds",
    "bound_recoded": "gamekeeper.attack.tables.bounds",
    "categories_risk": "gamekeeper.attack.models.levels",
    "code_frame": "gamekeeper.data.coding.source_coding",
    "code_source": "gamekeeper.data.coding.source_coding",
    "coded_from_codes": "gamekeeper.data.coding.coded_table",
    "compare_maskings": "gamekeeper.attack.linkage.evaluation",
    "compare_measures": "gamekeeper.attack.judging.compare",
    "compare_schemes": "gamekeeper.attack.tables.comparison",
    "count_keys": "gamekeeper.data.keys.key_table",
    "explore_tables": "gamekeeper.attack.tables.feasible",
    "fit_models": "gamekeeper.attack.models.fitting",
    "fraction_experiment": "gamekeeper.attack.simulation.experiments",
    "infer_attributions": "gamekeeper.attack.tables.attributions",
    "infer_risk": "gamekeeper.attack.models.inference",
    "infer_target": "gamekeeper.attack.models.queries",
    "join_releases": "gamekeeper.data.tables.release_joining",
    "judge": "gamekeeper.attack.judging.judgement",
    "link_files": "gamekeeper.attack.linkage.files",
    "link_structure": "gamekeeper.attack.linkage.structure",
    "make_population": "gamekeeper.data.population",
    "make_release": "gamekeeper.data.tables.release",
    "open_source": "gamekeeper.data.reading.source",
    "parse_risk_classes": "gamekeeper.attack.risk_classes",
    "parse_scheme": "gamekeeper.algorithms.releases.scheme_names",
    "pilot_study": "gamekeeper.attack.simulation.pilot",
    "rank_attacks": "gamekeeper.attack.models.ranking",
    "read_count_table": "gamekeeper.data.tables.count_file",
    "read_counts": "gamekeeper.data.tables.count_file",
    "read_release": "gamekeeper.data.tables.release_file",
    "register_scheme": "gamekeeper.algorithms.releases.scheme_names",
    "sample_population": "gamekeeper.data.population",
    "simulate": "gamekeeper.attack.simulation.simulate",
    "strategy_experiment": "gamekeeper.attack.simulation.experiments",
    "subtract_known": "gamekeeper.attack.tables.subtraction",
    "subtract_within": "gamekeeper.attack.tables.conditional",
    "tabulate": "gamekeeper.data.tables.tabulation",
    "true_partners": "gamekeeper.attack.linkage.truth",
    "variables_risk": "gamekeeper.attack.models.levels",
    "write_release": "gamekeeper.data.tables.release_file",
}


def __getattr__(name: str) -> object:
    """Import what is rarely all used at once only where it is used."""
    if name in _LAZY:
        return getattr(import_module(_LAZY[name]), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__} - {"TYPE_CHECKING", "import_module"})
