from gamekeeper.algorithms.categories.bands import (
    Band as Band,
    BandGraph as BandGraph,
    BandStyle as BandStyle,
    parse_band as parse_band,
)
from gamekeeper.algorithms.categories.partitions import find_violations as find_violations
from gamekeeper.algorithms.categories.harmonization import HarmonizationGraph as HarmonizationGraph
from gamekeeper.algorithms.categories.maximal_harmonization import (
    MaximalHarmonizations as MaximalHarmonizations,
)
from gamekeeper.algorithms.categories.partition_graph import PartitionGraph as PartitionGraph
from gamekeeper.algorithms.categories.partitions import (
    ARBITRARY as ARBITRARY,
    Partition as Partition,
    effective_categories as effective_categories,
    harmonize as harmonize,
    is_finer as is_finer,
    join as join,
    meet as meet,
)
from gamekeeper.algorithms.categories.partitions import (
    SizeCurve as SizeCurve,
    is_null as is_null,
    parse_prevalence as parse_prevalence,
    threshold as threshold,
)
from gamekeeper.mapping import edits as edits
from gamekeeper.mapping.analysis.composite_keys import (
    CompositeKeys as CompositeKeys,
    find_composite_keys as find_composite_keys,
    find_whole_key as find_whole_key,
)
from gamekeeper.mapping.analysis.key_mapping import map_key_variables as map_key_variables
from gamekeeper.mapping.analysis.key_variables import (
    KeyVariable as KeyVariable,
    KeyVariableMap as KeyVariableMap,
)
from gamekeeper.mapping.edits.two_environments import compare_environments as compare_environments
from gamekeeper.mapping.edits.two_environments import (
    map_codes as map_codes,
    plan_merge as plan_merge,
)
from gamekeeper.mapping.environment.environment import Environment as Environment
from gamekeeper.mapping.environment.asked import Evidence as Evidence, Mode as Mode
from gamekeeper.mapping.environment.overview import (
    check_environment as check_environment,
    list_categories as list_categories,
    list_codes as list_codes,
)
from gamekeeper.mapping.environment.rules import (
    Impossible as Impossible,
    MetadataKey as MetadataKey,
    Rules as Rules,
)
from gamekeeper.mapping.environment.rules import Scenario as Scenario, ScenarioKey as ScenarioKey
from gamekeeper.mapping.forms.form import Form as Form
from gamekeeper.mapping.forms.groups import Group as Group
from gamekeeper.mapping.forms.form import (
    NO_ANSWERS as NO_ANSWERS,
    Answer as Answer,
    Question as Question,
    Universe as Universe,
)
from gamekeeper.mapping.recoding import Recoded as Recoded, recode_table as recode_table
from gamekeeper.mapping.recoding_rules import (
    parse_recode as parse_recode,
    parse_recodes as parse_recodes,
)
from gamekeeper.mapping.recoding_rules import RecodeRule as RecodeRule
from gamekeeper.mapping.scenario.proposal import propose_scenario as propose_scenario
from gamekeeper.mapping.scenario.proposal import (
    RecodePlan as RecodePlan,
    columns_of as columns_of,
    plan_recodes as plan_recodes,
)
from gamekeeper.mapping.scenario.review import (
    ScenarioReview as ScenarioReview,
    renew_scenario as renew_scenario,
    review_scenario as review_scenario,
)
from gamekeeper.mapping.variables.categorization import (
    Categorization as Categorization,
    categorize as categorize,
)
from gamekeeper.mapping.variables.codes import CodeRegister as CodeRegister
from gamekeeper.mapping.variables.codes import (
    ALSO as ALSO,
    ELSE as ELSE,
    OUTSIDE as OUTSIDE,
    Scale as Scale,
    Variable as Variable,
)
