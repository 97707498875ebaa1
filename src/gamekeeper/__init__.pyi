# What most scripts need. Each name is loaded where it is first used.
from gamekeeper import (
    data as data,
    errors as errors,
    importing as importing,
    link as link,
    mapping as mapping,
    models as models,
    protection as protection,
    report as report,
    risk as risk,
    store as store,
    tables as tables,
)
from gamekeeper.budget import within_memory as within_memory
from gamekeeper.data import (
    CodedTable as CodedTable,
    CountTable as CountTable,
    KeyTable as KeyTable,
    Missing as Missing,
    Release as Release,
    code_frame as code_frame,
    code_source as code_source,
    count_keys as count_keys,
    make_release as make_release,
    open_source as open_source,
    read_counts as read_counts,
    read_release as read_release,
    tabulate as tabulate,
)
from gamekeeper.errors import (
    Cancelled as Cancelled,
    GamekeeperError as GamekeeperError,
    InputError as InputError,
    LimitError as LimitError,
    Reason as Reason,
    StoreError as StoreError,
)
from gamekeeper.mapping import (
    Environment as Environment,
    Form as Form,
    Group as Group,
    Scenario as Scenario,
    Variable as Variable,
    edits as edits,
    map_key_variables as map_key_variables,
    propose_scenario as propose_scenario,
)
from gamekeeper.models import fit_models as fit_models, infer_risk as infer_risk
from gamekeeper.risk import (
    Assessment as Assessment,
    assess as assess,
    assess_dis as assess_dis,
    assess_matching as assess_matching,
    assess_uniques as assess_uniques,
)
from gamekeeper.store import (
    EnvironmentStore as EnvironmentStore,
    read_environment as read_environment,
    write_environment as write_environment,
)
from gamekeeper.tables import (
    bound_cells as bound_cells,
    infer_attributions as infer_attributions,
    subtract_known as subtract_known,
)
