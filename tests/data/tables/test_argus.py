"""Batch files, records and a-priori files of tau-ARGUS."""

from __future__ import annotations

from fractions import Fraction

import pytest

from gamekeeper.data.tables.argus import (
    apply_apriori,
    read_argus_records,
    read_argus_table,
    read_batch,
)
from gamekeeper.data.tables.cell_file import CellRows, Status
from gamekeeper.errors import InputError, Reason
from tests.given.microdata import write

BATCH = r"""// made up
<OPENMICRODATA> "C:\data\M.ASC"
<OPENMETADATA>  "m.rda"
<SPECIFYTABLE>  "Nace""Size"|"Turn"|"Wages"|"Turn"
<SAFETYRULE>    P(10,2)|NK(1,85)|NK(0,0)|FREQ(3,10)|ZERO(20)|REQ(70,60,5)|PQ(15,60)|MAN(20)|WGT(1)
<READMICRODATA>
<APRIORI>       "m.hst",1,";",0,0
<SUPPRESS>      MOD(1,5,1,0,0)
<SPECIFYTABLE>  "Size"|<freq>||
<SAFETYRULE>    FREQ(3,0)
<GOINTERACTIVE>
"""
RDA = """Nace 1 2
  <RECODEABLE>
  <HIERARCHICAL>
  <HIERLEVELS> 1 1
Size 3 1
  <RECODEABLE>
Turn 4 6
  <NUMERIC>
  <DECIMALS> 1
Grp 11 2
  <HOLDING>
Ask 14 1
  <REQUEST> "1" "2"
"""
RECORDS = "01a  10,5 g1 1\n01b  90,0 g2 0\n02a   7,0 g1 0\n"


def written(tmp_path, batch=BATCH):
    write(tmp_path, "m.rda", RDA)
    write(tmp_path, "m.asc", RECORDS)
    write(tmp_path, "m.hst", "01;a;U\n")
    return write(tmp_path, "m.arb", batch)


def test_a_batch_file_says_what_tables_and_rules(tmp_path):
    batch = read_batch(written(tmp_path))
    first, second = batch.tables
    assert batch.is_microdata
    assert batch.data.name == "m.asc"
    assert (first.axes, first.response, first.shadow) == (("Nace", "Size"), "Turn", "Wages")
    assert first.rules == (
        "p:10:2", "dominance:1:85", "minimum:3", "zero", "request:70", "pq:15:60",
    )  # fmt: skip
    assert first.is_weighted
    assert first.apriori.name == "m.hst"
    assert "MOD(1,5,1,0,0)" in first.left_out
    assert "MAN(20)" in first.left_out
    assert (second.axes, second.response, second.rules) == (("Size",), "", ("minimum:3",))


def test_records_of_fixed_columns_are_read_by_their_description(tmp_path):
    written(tmp_path)
    found = read_argus_records(tmp_path / "m.asc", tmp_path / "m.rda")
    (batch,) = found.source.batches(["Nace", "Turn", "Grp"])
    assert batch.to_pylist()[0] == {"Nace": "01", "Turn": "10.5", "Grp": "g1"}
    assert found.hierarchies["Nace"].parts == {"0": (("01", "02"),)}
    assert (found.holding, found.request, found.weight) == ("Grp", "Ask", "")


@pytest.mark.parametrize(
    ("batch", "reason"),
    [
        (BATCH.replace("m.rda", "none.rda").replace("MAN(20)", "MEN(20)"), Reason.NOT_FOUND),
        ('<OPENTABLEDATA> "m.asc"\n', Reason.WRONG_SCHEMA),
        ("<SAFETYRULE> P(10,1)\n", Reason.MALFORMED),
        ("nothing at all\n", Reason.WRONG_SCHEMA),
    ],
)
def test_what_a_batch_file_has_wrong_is_one_error(tmp_path, batch, reason):
    with pytest.raises(InputError) as error:
        read_batch(written(tmp_path, batch))
    assert error.value.reason is reason


@pytest.mark.parametrize("mark", [";", ",", "\t"])
def test_what_was_decided_before_is_read_with_any_separator(tmp_path, mark):
    rows = [["Total", "Total", 10], ["Total", "a", 4], ["1", "Total", 5], ["1", "a", 2]]
    table = CellRows.typed(["N", "S"], rows)
    lines = ["1;a;U", "1;a;PL;1.5;3", ";a;M", "Total;Total;P", "1;Total;C;20"]
    path = write(tmp_path, "t.hst", "\n".join(lines).replace(";", mark))
    found = apply_apriori(table, path)
    assert found.statuses == [Status.SHOWN, Status.SECONDARY, Status.SHOWN, Status.UNSAFE]
    assert (found.lower_levels[3], found.upper_levels[3]) == (Fraction("1.5"), 3)
    with pytest.raises(InputError):
        apply_apriori(table, write(tmp_path, "x.hst", "2;a;U\n1;a;Q\n"))
    with pytest.raises(InputError):
        apply_apriori(table, tmp_path / "none.hst")


def test_files_that_are_no_text_or_not_there_are_told(tmp_path):
    odd = tmp_path / "odd.arb"
    odd.write_bytes(b"\x81\x8d")
    with pytest.raises(InputError) as caught:
        read_batch(odd)
    assert caught.value.reason is Reason.WRONG_ENCODING
    write(tmp_path, "t.rda", "R\n<RECODEABLE>\nV\n<NUMERIC>\n")
    with pytest.raises(InputError) as caught:
        read_argus_table(tmp_path / "t.tab")
    assert caught.value.reason is Reason.NOT_FOUND


def test_signs_that_only_look_like_digits_are_no_places(tmp_path):
    write(tmp_path, "t.rda", "R ² ³\n<RECODEABLE>\nV\n<NUMERIC>\n")
    write(tmp_path, "t.tab", "a,1\nTotal,1\n")
    assert len(read_argus_table(tmp_path / "t.tab")) == 2


def test_a_level_that_is_no_number_is_not_taken_for_0(tmp_path):
    rows = CellRows.typed(["R"], [["Total", 10], ["a", 4, "unsafe"], ["b", 6, "secondary"]])
    with pytest.raises(InputError) as caught:
        apply_apriori(rows, write(tmp_path, "t.hst", "a;PL;much;5\nb;PL\n"))
    assert [problem.where for problem in caught.value.problems] == ["line 1", "line 2"]
    made = apply_apriori(rows, write(tmp_path, "t.hst", "a;PL;0;2,5\nb;PL;3\n"))
    assert made.lower_levels[1:] == [0, 3]
    assert made.upper_levels[1:] == [Fraction(5, 2), 3]


def test_a_separator_of_several_signs_is_told(tmp_path):
    write(tmp_path, "t.rda", '<SEPARATOR> "tab"\nR\n<RECODEABLE>\nV\n<NUMERIC>\n')
    with pytest.raises(InputError) as caught:
        read_argus_table(write(tmp_path, "t.tab", "a\t1\n"))
    assert caught.value.reason is Reason.MALFORMED
