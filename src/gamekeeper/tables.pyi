from gamekeeper.algorithms.releases.schemes import (
    parse_scheme as parse_scheme,
    register_scheme as register_scheme,
)
from gamekeeper.attack.tables.feasible import (
    Attributions as Attributions,
    infer_attributions as infer_attributions,
)
from gamekeeper.attack.tables.auditing import audit_tables as audit_tables
from gamekeeper.attack.tables.auditing import MarkedTable as MarkedTable, mark_cells as mark_cells
from gamekeeper.attack.tables.audit_result import TableAudit as TableAudit
from gamekeeper.attack.tables.bounds import (
    TableBounds as TableBounds,
    bound_cells as bound_cells,
    bound_recoded as bound_recoded,
)
from gamekeeper.attack.tables.comparison import (
    SchemeComparison as SchemeComparison,
    compare_schemes as compare_schemes,
)
from gamekeeper.attack.tables.subtraction import (
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
from gamekeeper.data.tables.release import unit_records as unit_records
from gamekeeper.data.tables.argus import read_batch as read_batch
from gamekeeper.data.tables.argus import (
    apply_apriori as apply_apriori,
    read_argus_table as read_argus_table,
)
from gamekeeper.data.tables.cell_file import (
    Columns as Columns,
    read_cells as read_cells,
)
from gamekeeper.data.tables.cell_file import CellRows as CellRows
from gamekeeper.data.tables.magnitudes import read_contributors as read_contributors
from gamekeeper.data.tables.hierarchy import Hierarchy as Hierarchy
from gamekeeper.data.tables.hierarchy import read_hierarchy as read_hierarchy
from gamekeeper.data.tables.magnitudes import (
    MagnitudeTable as MagnitudeTable,
    tabulate_magnitudes as tabulate_magnitudes,
)
from gamekeeper.data.tables.table_set import TableSet as TableSet
