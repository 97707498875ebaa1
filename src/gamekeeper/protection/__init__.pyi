from gamekeeper.protection.attacking.attacks import (
    AttackName as AttackName,
    attack_file as attack_file,
)
from gamekeeper.protection.attacking.result import FileAttack as FileAttack
from gamekeeper.protection.attacking.result import (
    JudgedTarget as JudgedTarget,
    judge_targets as judge_targets,
)
from gamekeeper.protection.step import ChangeLog as ChangeLog, VariableChange as VariableChange
from gamekeeper.protection.step import Protected as Protected
from gamekeeper.protection.recipe import Recipe as Recipe, run_steps as run_steps
from gamekeeper.protection.recipe import read_recipe as read_recipe
from gamekeeper.protection.step import Setting as Setting
from gamekeeper.protection.step import Step as Step
from gamekeeper.protection.recipe import STEPS as STEPS, read_step as read_step
from gamekeeper.protection.suppression import Suppress as Suppress
from gamekeeper.protection.targets import (
    Criterion as Criterion,
    Target as Target,
    parse_targets as parse_targets,
)
from gamekeeper.protection.numbers import Microaggregate as Microaggregate
from gamekeeper.protection.numbers import Noise as Noise
from gamekeeper.protection.pram import Pram as Pram
from gamekeeper.protection.numbers import RankSwap as RankSwap
from gamekeeper.protection.pram import Sample as Sample
from gamekeeper.protection.numbers import TailCode as TailCode
from gamekeeper.protection.recoding.options import Recoding as Recoding
from gamekeeper.protection.recoding.together import RecodeAndSuppress as RecodeAndSuppress
from gamekeeper.protection.recoding.search import (
    SearchedRecoding as SearchedRecoding,
    SearchRecoding as SearchRecoding,
    search_for_recoding as search_for_recoding,
)
from gamekeeper.protection.utility.measuring import (
    UtilityOptions as UtilityOptions,
    measure_utility as measure_utility,
)
from gamekeeper.protection.utility.result import Utility as Utility
from gamekeeper.protection.plan import Candidate as Candidate
from gamekeeper.protection.plan import Plan as Plan
from gamekeeper.protection.plan import RiskUtilityMap as RiskUtilityMap
from gamekeeper.workbench.protection.trying import (
    ProtectionPlan as ProtectionPlan,
    microdata as microdata,
)
