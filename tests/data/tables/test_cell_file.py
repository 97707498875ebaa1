from __future__ import annotations

from fractions import Fraction

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import xlsxwriter

from gamekeeper.data.tables.argus import apply_apriori, read_argus_table
from gamekeeper.data.tables.cell_file import Columns, Status, read_cells
from gamekeeper.errors import InputError, Reason

LONG = "Area,n\nTotal,9\na,*\nb,4\n"


def written(tmp_path, name, text):
    path = tmp_path / name
    path.write_bytes(text.encode())
    return path


def test_a_hidden_figure_is_marked_or_has_a_status(tmp_path):
    rows = read_cells(written(tmp_path, "a.csv", LONG))
    assert rows.axes == ("Area",)
    assert rows.figures == [9, None, 4]
    assert [one.is_hidden for one in rows.statuses] == [False, True, False]
    text = "Area,n,Status\nTotal,9,V\na,5,A\nb,4,D\n"
    with_status = read_cells(written(tmp_path, "b.csv", text))
    assert with_status.figures == [9, 5, 4]
    assert with_status.statuses == [Status.SHOWN, Status.UNSAFE, Status.SECONDARY]


def test_workbooks_parquet_and_wide_tables_are_read_alike(tmp_path):
    expected = read_cells(written(tmp_path, "a.csv", LONG))
    pq.write_table(
        pa.table({"Area": ["Total", "a", "b"], "n": pa.array([9, None, 4])}), tmp_path / "a.parquet"
    )
    book = xlsxwriter.Workbook(tmp_path / "a.xlsx")
    sheet = book.add_worksheet()
    for at, row in enumerate([["Area", "n"], ["Total", 9], ["a", "*"], ["b", 4]]):
        sheet.write_row(at, 0, row)
    book.close()
    wide = read_cells(
        written(tmp_path, "w.csv", "Area,m,Total\na,*,5\nTotal,3,9\n"),
        Columns(axes=["Area"], wide="Sex"),
    )
    assert wide.axes == ("Area", "Sex")
    assert wide.figures == [None, 3, 5, 9]
    for name in ("a.parquet", "a.xlsx"):
        rows = read_cells(tmp_path / name)
        assert (rows.labels, rows.figures, rows.statuses) == (
            expected.labels,
            expected.figures,
            expected.statuses,
        )


def test_decimal_commas_and_floating_dust_are_read(tmp_path):
    text = "Area;TOT\nTotal;27,778399999999998\na;x\nb;1,5\n"
    rows = read_cells(written(tmp_path, "a.csv", text), Columns(value="TOT"))
    assert rows.figures == [Fraction("27.7784"), None, Fraction(3, 2)]


@pytest.mark.parametrize(
    ("text", "columns", "reason"),
    [
        ("Area,n\nTotal,9\na,1.5\nb,4\n", Columns(), Reason.BAD_COUNT),
        ("Area,n\nTotal,9\na,five\nb,4\n", Columns(), Reason.BAD_COUNT),
        ("Area,x\nTotal,9\n", Columns(), Reason.BAD_OPTION),
        ("Area,MAX,TOT\nTotal,9,12\n", Columns(value="TOT"), Reason.BAD_OPTION),
        ("Area,n,Status\nTotal,9,?\n", Columns(), Reason.BAD_OPTION),
        ("Area,n,Status\nTotal,9,S\na,4,M\n", Columns(), Reason.BAD_OPTION),
        ("Area,n\n", Columns(), Reason.NOTHING_GIVEN),
        ("Area,n\n,4\n", Columns(), Reason.MALFORMED),
        ("Area,n\na,4\n", Columns(count="m"), Reason.UNKNOWN_NAME),
    ],
)
def test_what_cannot_be_read_is_told(tmp_path, text, columns, reason):
    with pytest.raises(InputError) as error:
        read_cells(written(tmp_path, "a.csv", text), columns)
    assert error.value.reason is reason


RDA = """   <SEPARATOR> ";"
Size "99"
    <RECODEABLE>
    <TOTCODE> "Total"
Region "99"
    <RECODEABLE>
    <TOTCODE> "Total"
    <CODELIST> "REGION.CDL"
    <HIERARCHICAL>
    <HIERCODELIST> "REGION2.hrc"
    <HIERLEADSTRING> "@"
Var2
    <NUMERIC>
    <DECIMALS> 2
FreqVar
    <FREQUENCY>
Top1
    <MAXSCORE>
Stat
    <STATUS>
Low
    <NUMERIC> <LOWERPL>
Up
    <NUMERIC> <UPPERPL>
"""
TAB = """"Total";"Total";10,50;7;4,00;S;0,01;0,01
"Total";" 1";6,00;4;4,00;S;0,01;0,01
"Total";" 2";4,50;3;2,00;U;0,50;0,50
"""


def test_a_table_of_tau_argus_is_read_with_its_description(tmp_path):
    written(tmp_path, "pp.rda", RDA)
    # Its names do not tell cases apart, and codes are padded with blanks.
    written(tmp_path, "region2.hrc", "Nr \n@ 1\n@ 2\n")
    rows = read_argus_table(written(tmp_path, "pp.tab", TAB))
    assert rows.axes == ("Size", "Region")
    assert rows.labels[1] == ["Total", "1", "2"]
    assert rows.figures == [Fraction(21, 2), 6, Fraction(9, 2)]
    assert rows.statuses[2] is Status.UNSAFE
    assert rows.upper_levels == [Fraction(1, 100), Fraction(1, 100), Fraction(1, 2)]
    assert rows.counts == [7, 4, 3]
    assert set(rows.hierarchies) == {"Region"}
    marked = apply_apriori(rows, written(tmp_path, "a.hst", "Total; 1;U\nTotal;2;PL;1;2\n"))
    assert marked.statuses[1] is Status.UNSAFE
    assert (marked.lower_levels[2], marked.upper_levels[2]) == (1, 2)
    with pytest.raises(InputError) as error:
        apply_apriori(rows, written(tmp_path, "b.hst", "Total;9;U\nTotal;1;??\n"))
    assert len(error.value.problems) == 2


def test_a_table_of_tau_argus_without_its_description_is_refused(tmp_path):
    with pytest.raises(InputError) as error:
        read_argus_table(written(tmp_path, "pp.tab", TAB))
    assert error.value.reason is Reason.NOT_FOUND


def test_a_name_of_two_lines_is_one_axis(tmp_path):
    rows = read_cells(written(tmp_path, "t.csv", '"area\nof work",n\nx,1\ny,2\nTotal,3\n'))
    assert rows.axes == ("area\nof work",)


def test_a_row_without_a_label_is_told_once_of_a_wide_table(tmp_path):
    with pytest.raises(InputError) as caught:
        read_cells(
            written(tmp_path, "w.csv", "a,x,y\n,1,2\nq,2,3\n"), Columns(axes=["a"], wide="b")
        )
    assert len(caught.value.problems) == 1
