from gamekeeper.data.coding.codebook import Codebook as Codebook
from gamekeeper.data.coding.coded_table import (
    CodedTable as CodedTable,
    coded_from_codes as coded_from_codes,
)
from gamekeeper.data.coding.codebook import Recode as Recode
from gamekeeper.data.coding.source_coding import (
    code_frame as code_frame,
    code_source as code_source,
)
from gamekeeper.data.engine.duckdb_engine import open_engine as open_engine
from gamekeeper.data.keys.counting import count_keys as count_keys
from gamekeeper.data.keys.key_table import KeyTable as KeyTable
from gamekeeper.prompt_syntax import Missing as Missing
from gamekeeper.data.population import (
    make_population as make_population,
    sample_population as sample_population,
)
from gamekeeper.data.reading.source import Source as Source, open_source as open_source
from gamekeeper.data.tables.count_file import (
    read_count_table as read_count_table,
    read_counts as read_counts,
)
from gamekeeper.data.tables.count_table import CountTable as CountTable
from gamekeeper.data.tables.release import Release as Release, make_release as make_release
from gamekeeper.data.tables.release_file import (
    read_release as read_release,
    write_release as write_release,
)
from gamekeeper.data.tables.release_file import join_releases as join_releases
from gamekeeper.data.tables.release import tabulate as tabulate
