# The public names, written once: what is imported here is loaded where it is first used.
from .algorithms.categories.bands import (
    Band as Band,
)
from .algorithms.categories.bands import (
    BandGraph as BandGraph,
)
from .algorithms.categories.bands import (
    BandStyle as BandStyle,
)
from .algorithms.categories.bands import (
    parse_band as parse_band,
)
from .algorithms.categories.graph_property import find_violations as find_violations
from .algorithms.categories.harmonization import HarmonizationGraph as HarmonizationGraph
from .algorithms.categories.maximal_harmonization import (
    MaximalHarmonizations as MaximalHarmonizations,
)
from .algorithms.categories.partition_graph import PartitionGraph as PartitionGraph
from .algorithms.categories.partitions import (
    ARBITRARY as ARBITRARY,
)
from .algorithms.categories.partitions import (
    Partition as Partition,
)
from .algorithms.categories.partitions import (
    effective_categories as effective_categories,
)
from .algorithms.categories.partitions import (
    harmonize as harmonize,
)
from .algorithms.categories.partitions import (
    is_finer as is_finer,
)
from .algorithms.categories.partitions import (
    join as join,
)
from .algorithms.categories.partitions import (
    meet as meet,
)
from .algorithms.categories.prevalence import (
    SizeCurve as SizeCurve,
)
from .algorithms.categories.prevalence import (
    is_null as is_null,
)
from .algorithms.categories.prevalence import (
    parse_prevalence as parse_prevalence,
)
from .algorithms.categories.prevalence import (
    threshold as threshold,
)
from .algorithms.decomposable.dynamic_junction_tree import (
    DynamicJunctionTree as DynamicJunctionTree,
)
from .algorithms.intrusion.dominance import compare_directions as compare_directions
from .algorithms.intrusion.individual_risk import individual_risk as individual_risk
from .algorithms.intrusion.urn import (
    expected_draws as expected_draws,
)
from .algorithms.intrusion.urn import (
    first_match_array as first_match_array,
)
from .algorithms.intrusion.urn import (
    first_match_probabilities as first_match_probabilities,
)
from .algorithms.releases.scheme_names import (
    parse_scheme as parse_scheme,
)
from .algorithms.releases.scheme_names import (
    register_scheme as register_scheme,
)
from .attack.judging.compare import Comparison as Comparison
from .attack.judging.compare import compare_measures as compare_measures
from .attack.judging.judgement import Judgement as Judgement
from .attack.judging.judgement import judge as judge
from .attack.linkage.evaluation import (
    MaskingComparison as MaskingComparison,
)
from .attack.linkage.evaluation import (
    compare_maskings as compare_maskings,
)
from .attack.linkage.files import FileLinks as FileLinks
from .attack.linkage.files import link_files as link_files
from .attack.linkage.structure import (
    StructureLinks as StructureLinks,
)
from .attack.linkage.structure import (
    link_structure as link_structure,
)
from .attack.linkage.truth import true_partners as true_partners
from .attack.linkage.variables import LinkVariable as LinkVariable
from .attack.matching.result import MatchingRisk as MatchingRisk
from .attack.matching.strategies import assess_matching as assess_matching
from .attack.models.fitting import ModelFit as ModelFit
from .attack.models.fitting import fit_models as fit_models
from .attack.models.inference import ModelRisk as ModelRisk
from .attack.models.inference import infer_risk as infer_risk
from .attack.models.levels import (
    categories_risk as categories_risk,
)
from .attack.models.levels import (
    variables_risk as variables_risk,
)
from .attack.models.queries import infer_target as infer_target
from .attack.models.ranking import rank_attacks as rank_attacks
from .attack.risk import RecordRisk as RecordRisk
from .attack.risk_classes import (
    RiskClasses as RiskClasses,
)
from .attack.risk_classes import (
    parse_risk_classes as parse_risk_classes,
)
from .attack.simulation.experiments import (
    fraction_experiment as fraction_experiment,
)
from .attack.simulation.experiments import (
    strategy_experiment as strategy_experiment,
)
from .attack.simulation.pilot import PilotStudy as PilotStudy
from .attack.simulation.pilot import pilot_study as pilot_study
from .attack.simulation.result import SimulationResult as SimulationResult
from .attack.simulation.simulate import simulate as simulate
from .attack.tables.attributions import (
    Attributions as Attributions,
)
from .attack.tables.attributions import (
    infer_attributions as infer_attributions,
)
from .attack.tables.bounds import (
    TableBounds as TableBounds,
)
from .attack.tables.bounds import (
    bound_cells as bound_cells,
)
from .attack.tables.bounds import (
    bound_recoded as bound_recoded,
)
from .attack.tables.comparison import (
    SchemeComparison as SchemeComparison,
)
from .attack.tables.comparison import (
    compare_schemes as compare_schemes,
)
from .attack.tables.conditional import (
    ConditionalSubtraction as ConditionalSubtraction,
)
from .attack.tables.conditional import (
    subtract_within as subtract_within,
)
from .attack.tables.feasible import (
    FeasibleTables as FeasibleTables,
)
from .attack.tables.feasible import (
    explore_tables as explore_tables,
)
from .attack.tables.subtraction import (
    SubtractionAttack as SubtractionAttack,
)
from .attack.tables.subtraction import (
    subtract_known as subtract_known,
)
from .attack.uniques.dis import assess_dis as assess_dis
from .attack.uniques.dis_result import DisRisk as DisRisk
from .attack.uniques.special import (
    SpecialUniques as SpecialUniques,
)
from .attack.uniques.special import (
    assess_special_uniques as assess_special_uniques,
)
from .attack.uniques.suda import UniquesRisk as UniquesRisk
from .attack.uniques.suda import assess_uniques as assess_uniques
from .data.coding.codebook import Codebook as Codebook
from .data.coding.coded_table import CodedTable as CodedTable
from .data.coding.coded_table import coded_from_codes as coded_from_codes
from .data.coding.source_coding import code_frame as code_frame
from .data.coding.source_coding import code_source as code_source
from .data.keys.key_table import KeyTable as KeyTable
from .data.keys.key_table import count_keys as count_keys
from .data.keys.missing import Missing as Missing
from .data.population import (
    make_population as make_population,
)
from .data.population import (
    sample_population as sample_population,
)
from .data.reading.source import open_source as open_source
from .data.tables.count_file import read_count_table as read_count_table
from .data.tables.count_file import read_counts as read_counts
from .data.tables.count_table import CountTable as CountTable
from .data.tables.release import Release as Release
from .data.tables.release import make_release as make_release
from .data.tables.release_file import read_release as read_release
from .data.tables.release_file import write_release as write_release
from .data.tables.release_joining import join_releases as join_releases
from .data.tables.tabulation import tabulate as tabulate
from .errors import (
    Cancelled as Cancelled,
)
from .errors import (
    GamekeeperError as GamekeeperError,
)
from .errors import (
    InputError as InputError,
)
from .errors import (
    LimitError as LimitError,
)
from .errors import (
    StoreError as StoreError,
)
from .mapping import edits as edits
from .mapping.analysis.key_mapping import map_key_variables as map_key_variables
from .mapping.analysis.key_variables import KeyVariableMap as KeyVariableMap
from .mapping.environment.categorization import (
    Categorization as Categorization,
)
from .mapping.environment.categorization import (
    categorize as categorize,
)
from .mapping.environment.codes import CodeRegister as CodeRegister
from .mapping.environment.environment import (
    Environment as Environment,
)
from .mapping.environment.environment import (
    Form as Form,
)
from .mapping.environment.environment import (
    Group as Group,
)
from .mapping.environment.evidence import Mode as Mode
from .mapping.environment.overview import (
    check_environment as check_environment,
)
from .mapping.environment.overview import (
    list_categories as list_categories,
)
from .mapping.environment.overview import (
    list_codes as list_codes,
)
from .mapping.environment.variable import OUTSIDE as OUTSIDE
from .mapping.environment.variable import Scale as Scale
from .mapping.environment.variable import Variable as Variable
from .report.drawing import (
    draw_harmonization_graph as draw_harmonization_graph,
)
from .report.drawing import (
    draw_partition_graph as draw_partition_graph,
)
from .report.mapping_report import build_report as build_report
from .report.mapping_report import write_report as write_report
from .store.database.environment_store import EnvironmentStore as EnvironmentStore
from .store.folder import (
    read_environment as read_environment,
)
from .store.folder import (
    write_environment as write_environment,
)
