from gamekeeper.algorithms.decomposable.dynamic_junction_tree import (
    DynamicJunctionTree as DynamicJunctionTree,
)
from gamekeeper.attack.models.fitting import ModelFit as ModelFit, fit_models as fit_models
from gamekeeper.attack.models.inference import ModelRisk as ModelRisk, infer_risk as infer_risk
from gamekeeper.attack.models.levels import (
    RelativeRisk as RelativeRisk,
    categories_risk as categories_risk,
    variables_risk as variables_risk,
)
from gamekeeper.attack.models.levels import Inference as Inference, infer_target as infer_target
from gamekeeper.attack.matching import RankedAttack as RankedAttack, rank_attacks as rank_attacks
