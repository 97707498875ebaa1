from gamekeeper.algorithms.uniques.strategies import compare_directions as compare_directions
from gamekeeper.algorithms.anonymity import individual_risk as individual_risk
from gamekeeper.algorithms.uniques.strategies import (
    expected_draws as expected_draws,
    first_match_array as first_match_array,
    first_match_probabilities as first_match_probabilities,
)
from gamekeeper.attack.experiments.compare import compare_measures as compare_measures
from gamekeeper.attack.experiments.compare import Comparison as Comparison
from gamekeeper.attack.experiments.judgement import Judgement as Judgement, judge as judge
from gamekeeper.attack.matching_result import MatchingRisk as MatchingRisk
from gamekeeper.attack.matching import assess_matching as assess_matching
from gamekeeper.attack.measures import measure_risk as measure_risk
from gamekeeper.attack.measures import RiskMeasures as RiskMeasures
from gamekeeper.attack.risk import RecordRisk as RecordRisk
from gamekeeper.attack.risk import (
    RiskClasses as RiskClasses,
    parse_risk_classes as parse_risk_classes,
)
from gamekeeper.attack.experiments.pilot import (
    FractionExperiment as FractionExperiment,
    StrategyExperiment as StrategyExperiment,
    fraction_experiment as fraction_experiment,
    strategy_experiment as strategy_experiment,
)
from gamekeeper.attack.experiments.pilot import PilotStudy as PilotStudy, pilot_study as pilot_study
from gamekeeper.attack.experiments.simulate import SimulationResult as SimulationResult
from gamekeeper.attack.experiments.simulate import simulate as simulate
from gamekeeper.attack.uniques.dis import assess_dis as assess_dis
from gamekeeper.attack.uniques.dis import DisRisk as DisRisk
from gamekeeper.attack.uniques.special import (
    SpecialUniques as SpecialUniques,
    assess_special_uniques as assess_special_uniques,
)
from gamekeeper.attack.uniques.suda import (
    UniquesRisk as UniquesRisk,
    assess_uniques as assess_uniques,
)
from gamekeeper.attack.what_if import WhatIf as WhatIf, compare_recoded as compare_recoded
from gamekeeper.workbench.assessment import Assessment as Assessment
from gamekeeper.workbench.assessment import assess as assess
