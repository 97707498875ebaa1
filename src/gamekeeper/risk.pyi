from gamekeeper.algorithms.intrusion.dominance import compare_directions as compare_directions
from gamekeeper.algorithms.intrusion.individual_risk import individual_risk as individual_risk
from gamekeeper.algorithms.intrusion.urn import (
    expected_draws as expected_draws,
    first_match_array as first_match_array,
    first_match_probabilities as first_match_probabilities,
)
from gamekeeper.attack.judging.compare import compare_measures as compare_measures
from gamekeeper.attack.judging.comparison import Comparison as Comparison
from gamekeeper.attack.judging.judgement import Judgement as Judgement, judge as judge
from gamekeeper.attack.matching.result import MatchingRisk as MatchingRisk
from gamekeeper.attack.matching.strategies import assess_matching as assess_matching
from gamekeeper.attack.measures.measuring import measure_risk as measure_risk
from gamekeeper.attack.measures.result import RiskMeasures as RiskMeasures
from gamekeeper.attack.risk import RecordRisk as RecordRisk
from gamekeeper.attack.risk_classes import (
    RiskClasses as RiskClasses,
    parse_risk_classes as parse_risk_classes,
)
from gamekeeper.attack.simulation.experiments import (
    FractionExperiment as FractionExperiment,
    StrategyExperiment as StrategyExperiment,
    fraction_experiment as fraction_experiment,
    strategy_experiment as strategy_experiment,
)
from gamekeeper.attack.simulation.pilot import PilotStudy as PilotStudy, pilot_study as pilot_study
from gamekeeper.attack.simulation.result import SimulationResult as SimulationResult
from gamekeeper.attack.simulation.simulate import simulate as simulate
from gamekeeper.attack.uniques.dis import assess_dis as assess_dis
from gamekeeper.attack.uniques.dis_result import DisRisk as DisRisk
from gamekeeper.attack.uniques.special import (
    SpecialUniques as SpecialUniques,
    assess_special_uniques as assess_special_uniques,
)
from gamekeeper.attack.uniques.suda import (
    UniquesRisk as UniquesRisk,
    assess_uniques as assess_uniques,
)
from gamekeeper.attack.what_if import WhatIf as WhatIf, compare_recoded as compare_recoded
from gamekeeper.workbench.assessment.result import Assessment as Assessment
from gamekeeper.workbench.assessment.running import assess as assess
