from gamekeeper.algorithms.releases.scheme_names import (
    parse_scheme as parse_scheme,
    register_scheme as register_scheme,
)
from gamekeeper.attack.tables.attributions import (
    Attributions as Attributions,
    infer_attributions as infer_attributions,
)
from gamekeeper.attack.tables.bounds import (
    TableBounds as TableBounds,
    bound_cells as bound_cells,
    bound_recoded as bound_recoded,
)
from gamekeeper.attack.tables.comparison import (
    SchemeComparison as SchemeComparison,
    compare_schemes as compare_schemes,
)
from gamekeeper.attack.tables.conditional import (
    ConditionalSubtraction as ConditionalSubtraction,
    subtract_within as subtract_within,
)
from gamekeeper.attack.tables.feasible import (
    FeasibleTables as FeasibleTables,
    explore_tables as explore_tables,
)
from gamekeeper.attack.tables.subtraction import (
    SubtractionAttack as SubtractionAttack,
    subtract_known as subtract_known,
)
