from gamekeeper.protect.attacking.attack import (
    AttackName as AttackName,
    attack_file as attack_file,
)
from gamekeeper.protect.attacking.file_attack import FileAttack as FileAttack
from gamekeeper.protect.attacking.judging import (
    JudgedTarget as JudgedTarget,
    judge_targets as judge_targets,
)
from gamekeeper.protect.changes import ChangeLog as ChangeLog, VariableChange as VariableChange
from gamekeeper.protect.protected import Protected as Protected
from gamekeeper.protect.recipe import (
    Recipe as Recipe,
    run_steps as run_steps,
)
from gamekeeper.protect.recipe_reading import read_recipe as read_recipe
from gamekeeper.protect.setting import Setting as Setting
from gamekeeper.protect.step import Step as Step
from gamekeeper.protect.steps import STEPS as STEPS, read_step as read_step
from gamekeeper.protect.suppression.suppress import Suppress as Suppress
from gamekeeper.protect.targets import (
    Criterion as Criterion,
    Target as Target,
    parse_targets as parse_targets,
)
from gamekeeper.protect.perturbation.microaggregation import Microaggregate as Microaggregate
from gamekeeper.protect.perturbation.noise import Noise as Noise
from gamekeeper.protect.perturbation.pram import Pram as Pram
from gamekeeper.protect.perturbation.rank_swap import RankSwap as RankSwap
from gamekeeper.protect.perturbation.sample import Sample as Sample
from gamekeeper.protect.perturbation.tails import TailCode as TailCode
from gamekeeper.protect.recoding.recode import Recoding as Recoding
from gamekeeper.protect.recoding.together import RecodeAndSuppress as RecodeAndSuppress
from gamekeeper.protect.recoding.search import (
    SearchedRecoding as SearchedRecoding,
    SearchRecoding as SearchRecoding,
    search_for_recoding as search_for_recoding,
)
from gamekeeper.protect.utility.measuring import (
    UtilityOptions as UtilityOptions,
    measure_utility as measure_utility,
)
from gamekeeper.protect.utility.result import Utility as Utility
from gamekeeper.protect.trying.candidate import Candidate as Candidate
from gamekeeper.protect.trying.plan import Plan as Plan
from gamekeeper.protect.trying.risk_utility_map import RiskUtilityMap as RiskUtilityMap
from gamekeeper.workbench.protection.python import (
    ProtectionPlan as ProtectionPlan,
    microdata as microdata,
)
