import subprocess
import sys

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from gamekeeper import arrow


def test_arrow_is_imported_when_a_name_of_it_is_asked_for():
    code = (
        "import sys; from gamekeeper.arrow import pa, parquet, pc;"
        " before = 'pyarrow' in sys.modules; pa.table({}); print(before, 'pyarrow' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["False", "True"]


def test_names_are_those_of_arrow():
    assert arrow.pa.Table is pa.Table
    assert arrow.pc.equal is pc.equal
    assert arrow.parquet.write_table is pq.write_table


def test_a_table_without_lines_has_its_columns():
    lines: list[str] = []
    made = arrow.table_of(lines, {"form": ("string", str), "letters": ("int32", len)})
    assert made.schema == pa.schema([("form", pa.string()), ("letters", pa.int32())])
    assert made.num_rows == 0
