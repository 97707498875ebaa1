"""`gamekeeper tables audit`: what people and programs read, exit codes, and what is refused."""

from __future__ import annotations

import csv
import io
import json
from functools import partial
from itertools import product

import pytest

from tests.given.microdata import write, write_world

# A table that tau-ARGUS 4.2.3 protected (modular, minimum frequency 3, dominance 1 of 85%).
ARGUS = """ACTIVITY,SIZE,VAL,N_OBS,MAX,Status
01,Total,150,15,20,V
01,tr1,100,10,20,V
01,tr2,50,5,15,V
02,Total,50,7,20,V
02,tr1,30,2,20,A
02,tr2,20,5,10,D
06,Total,100,14,38,V
06,tr1,60,8,16,D
06,tr2,40,6,38,B
Total,Total,300,36,38,V
Total,tr1,190,20,20,V
Total,tr2,110,16,38,V
"""
CODES = "Code,n\nTotal,12\nA,5\nA01,3\nA02,*\nB,7\n"
OPTIONS = ("--value", "VAL", "--count", "N_OBS", "--largest", "MAX")


@pytest.fixture
def audit(run):
    return partial(run, "tables", "audit")


def test_a_protected_table_keeps_its_rules(audit, tmp_path):
    path = write(tmp_path, "t.csv", ARGUS)
    done = audit(
        path, *OPTIONS, "--rule", "exact", "--rule", "minimum:3", "--rule", "dominance:1:85"
    )
    assert done.exit_code == 0
    assert "None of 4 hidden cells can be recomputed" in done.out
    assert done.out.count("is met") == 3


def test_a_table_without_secondaries_is_given_away(audit, tmp_path):
    path = write(tmp_path, "t.csv", ARGUS.replace(",D\n", ",V\n"))
    done = audit(path, *OPTIONS, "--rule", "exact")
    assert done.exit_code == 4
    assert "2 of 2 hidden cells can be recomputed from what is published." in done.out
    assert (
        "ACTIVITY=02, SIZE=tr1 is 30: 50 (ACTIVITY=02) less 20 (ACTIVITY=02, SIZE=tr2)." in done.out
    )
    # Without a rule, an audit tells and does not judge.
    assert audit(path, *OPTIONS).exit_code == 0


def test_everything_is_in_json_csv_and_the_page(audit, tmp_path):
    path = write(tmp_path, "t.csv", CODES)
    report, out = tmp_path / "a.html", tmp_path / "a.csv"
    done = audit(
        path, "--hierarchy", "Code=codes", "--format", "json", "--report", report, "-o", out
    )
    document = json.loads(done.out)
    assert document["summary"]["recomputed"] == 1
    (row,) = document["rows"]
    assert (row["Code"], row["lower"], row["upper"], row["known"]) == ("A02", 2, 2, "recomputed")
    assert row["why"] == "Code=A02 is 2: 5 (Code=A) less 3 (Code=A01)."
    # The name of the cell stands beside it there.
    assert row["why"].removeprefix("Code=A02 ") in report.read_text(encoding="utf-8")
    (written,) = csv.DictReader(io.StringIO(out.read_text(encoding="utf-8-sig")))
    assert written["known"] == "recomputed"


def test_nothing_of_a_cell_is_told_without_records(audit, tmp_path):
    path = write(tmp_path, "t.csv", CODES)
    done = audit(path, "--hierarchy", "Code=codes", "--no-records", "--report", tmp_path / "a.html")
    assert "A02" not in done.out
    assert "A02" not in (tmp_path / "a.html").read_text(encoding="utf-8")


def test_linked_tables_of_other_axes_are_audited_together(audit, tmp_path):
    one = write(
        tmp_path,
        "one.csv",
        "Area,Sex,n\nTotal,Total,30\na,Total,*\nb,Total,*\nTotal,m,14\nTotal,f,16\na,m,5\na,f,*\nb,m,9\nb,f,*\n",
    )
    two = write(tmp_path, "two.csv", "Area,Work,n\na,yes,6\na,no,4\n")
    alone = audit(one, "--rule", "exact")
    assert alone.exit_code == 0
    both = audit(one, two, "--rule", "exact", "--absent", "hidden", "--disjoint", "Area,Work")
    assert both.exit_code == 4
    assert "4 of 4 hidden cells can be recomputed" in both.out


def test_an_environment_tells_what_adds_up(audit, tmp_path):
    write_world(tmp_path)
    rows = "Age,n\nTotal,20\n"
    done = audit(
        write(tmp_path, "t.csv", rows),
        "--hierarchy",
        "Age=variable:Nothing",
        "-e",
        tmp_path / "world",
    )
    assert done.exit_code == 2
    assert "no such variable" in done.err
    missing = audit(write(tmp_path, "t.csv", rows), "--hierarchy", "Age=variable:Age")
    assert missing.exit_code == 2


@pytest.mark.parametrize(
    ("text", "options", "said"),
    [
        (CODES, (), "possible-subtotals"),
        (CODES, ("--hierarchy", "Code=none.hrc"), "not-found"),
        (CODES, ("--hierarchy", "Kode=codes"), "unknown-name"),
        (CODES, ("--rule", "safe"), "bad-option"),
        (CODES, ("--hierarchy", "Code=codes", "--says", "A=few"), "bad-option"),
        (CODES, ("--hierarchy", "Code=codes", "--tolerance", "-1"), "bad-option"),
        (CODES, ("--hierarchy", "Code=codes", "--absent", "what"), "bad-option"),
        ("Code,n\nTotal,12\na,5\nb,6\n", (), "conflicting-counts"),
        ("Code,n\nTotal,12\nA,5\nA01,3\nA02,*\nB,7\n", ("--disjoint", "Code"), "conflicting-counts"),
        ("Code,n\nTotal,1,5\n", (), "malformed"),
        ("Code;n\nTotal;1,5\na;1,5\nb;0\n", (), "bad-count"),
        ("Code,n\nTotal,12\na,5\na,7\n", (), "duplicate"),
    ],
)  # fmt: skip
def test_what_cannot_be_audited_is_one_clear_error(audit, tmp_path, text, options, said):
    done = audit(write(tmp_path, "t.csv", text), *options)
    assert done.exit_code == 2
    assert f"[{said}]" in done.err
    assert "Traceback" not in done.err


def test_a_report_shows_levels_and_the_parts_in_which_most_is_given_away(audit, tmp_path):
    rows = ["Code,Area,n\n"]
    for area, figures in {
        "x": (12, 5, 3, 2, 7),
        "y": (9, 4, 1, 3, 5),
        "Total": (21, 9, 4, 5, 12),
    }.items():
        for code, figure in zip(("Total", "A", "A01", "A02", "B"), figures, strict=True):
            is_hidden = area == "x" and code == "A02"
            rows.append(f"{code},{area},{'*' if is_hidden else figure}\n")
    path, report = write(tmp_path, "t.csv", "".join(rows)), tmp_path / "a.html"
    audit(path, "--hierarchy", "Code=codes", "--report", report)
    page = report.read_text(encoding="utf-8")
    assert "level 2 of 2" in page
    assert "A by Total" in page
    assert "= 2 !" in page
    assert page.index("What is given away") < page.index("By level")


SHARES = "Work,Area,n,pct\nyes,a,*,8.3\nno,a,*,91.7\nTotal,a,120,100.0\n"


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (("--percent", "pct=Work"), "is 10"),
        (("--ratio", "pct=Work:Total"), "conflicting-counts"),
        (("--ratio", "pct=Work:often"), "unknown-name"),
        (("--percent", "pct=Wrok"), "unknown-name"),
    ],
)
def test_shares_are_facts_at_the_prompt(audit, tmp_path, options, said):
    done = audit(write(tmp_path, "t.csv", SHARES), "--disjoint", "Area", *options)
    assert said in done.out + done.err
    assert "Traceback" not in done.err


def test_a_long_search_is_refused_with_the_way_around(audit, tmp_path, monkeypatch):
    from gamekeeper.algorithms.linear import component_search
    from gamekeeper.attack.tables import auditing as searching

    rows = ["X,Y,Z,n\n"]
    rows += [
        f"{','.join(key)},{4 * 2 ** key.count('T') if 'T' in key else '*'}\n"
        for key in product("abT", "cdT", "efT")
    ]
    text = "".join(rows).replace("T,", "Total,")
    path = write(tmp_path, "t.csv", text)
    monkeypatch.setattr(searching, "MOST_SECONDS", -1.0)
    original = component_search.SearchClock

    def expecting(total, progress, max_seconds, expect, *_):
        return original(total, progress, 900.0, expect, probe=-1.0)

    monkeypatch.setattr(component_search, "SearchClock", expecting)
    done = audit(path, "--absent", "hidden", "--disjoint", "X,Y,Z")
    assert done.exit_code == 3
    assert "--max-seconds" in done.err
    assert "hang together" in done.err
    kept = audit(path, "--absent", "hidden", "--disjoint", "X,Y,Z", "--max-seconds", "60")
    assert kept.exit_code == 0


def test_contributors_by_records_are_attackers_at_the_prompt(audit, tmp_path):
    table = write(tmp_path, "t.csv", "Area,v,Status\nTotal,20,V\na,5,A\nb,6,D\nc,9,V\n")
    records = write(tmp_path, "r.csv", "Area,v,Group\na,5,g1\nb,2,g2\nb,4,g3\nc,9,g4\n")
    options = ("--value", "v", "--rule", "exact", "--disjoint", "Area")
    assert audit(table, *options).exit_code == 0
    done = audit(table, *options, "--contributors", records, "--holding", "Group")
    assert done.exit_code == 4
    assert "The only contributor to Area=a can recompute Area=b." in done.out
    told = audit(table, *options, "--contributors", records, "--no-records")
    assert "Area=b" not in told.out
    document = json.loads(audit(table, *options, "--contributors", records, "--format", "json").out)
    assert document["summary"]["recomputed_by_insiders"] == 1
    assert document["rows"][1]["known_to"] == "the only contributor to Area=a"


def test_a_batch_file_says_what_is_marked_and_audited(audit, run, tmp_path):
    write(tmp_path, "m.rda", "Area 1 1\n  <RECODEABLE>\nv 3 3\n  <NUMERIC>\n")
    write(tmp_path, "m.asc", "a  90\na   5\nb  10\nb  11\nb  12\n")
    lines = '<OPENMICRODATA> "m.asc"\n<OPENMETADATA> "m.rda"\n<SPECIFYTABLE> "Area"|"v"||\n<SAFETYRULE> P(10,1)\n'
    batch = write(tmp_path, "m.arb", lines)
    done = run("tables", "mark", batch)
    assert "1 of 3 cells is unsafe" in done.out
    assert audit(batch).exit_code == 2
    assert run("tables", "mark", batch, "--axes", "Size").exit_code == 2


def test_what_a_status_says_of_a_count_is_not_taken_for_a_value(audit, tmp_path):
    table = write(tmp_path, "t.csv", "Area,v,Status\nTotal,20,V\na,5,A\nb,6,D\nc,9,V\n")
    done = audit(table, "--value", "v", "--says", "A=1-2")
    assert done.exit_code == 2


NORTH = "Area,Age,n\nNorth,0-15,{0}\nNorth,16-64,{0}\nNorth,65+,10\nNorth,Total,18\n"


@pytest.mark.parametrize("mark", ["<5", "≤4", "1-4", "4 or fewer", "under 5", "up to 4"])
@pytest.mark.parametrize("is_named", [True, False])
def test_a_limit_is_a_limit_whether_it_is_named_or_not(audit, run, tmp_path, mark, is_named):
    table = write(tmp_path, "t.csv", NORTH.format(mark))
    named = ("--hidden", mark) if is_named else ()
    options = ("--disjoint", "Area,Age", *named, "--format", "json")
    audited = audit(table, *options, "--rule", "exact")
    assert audited.exit_code == 4
    rows = json.loads(audited.out)["rows"]
    assert [(row["lower"], row["upper"], row["known"]) for row in rows] == [
        (4, 4, "recomputed")
    ] * 2
    bounded = run("tables", "bounds", table, *options, "--rule", "exact")
    assert bounded.exit_code == 4
    assert {(row["Age"], row["lower"], row["upper"]) for row in json.loads(bounded.out)["rows"]} == {
        ("0-15", 4, 4), ("16-64", 4, 4), ("65+", 10, 10),
    }  # fmt: skip


def test_a_limit_holds_in_wide_tables_and_of_values(audit, tmp_path):
    wide = write(tmp_path, "w.csv", "Area,young,old,Total\nNorth,<5,<5,8\nSouth,9,<5,12\n")
    found = audit(wide, "--axes", "Area", "--wide", "Age", "--disjoint", "Area,Age",
        "--format", "json",
    )  # fmt: skip
    assert json.loads(found.out)["summary"]["recomputed"] == 3
    values = write(tmp_path, "v.csv", "Area,v\na,<2.5\nb,<2.5\nc,4\nTotal,9\n")
    found = audit(values, "--value", "v", "--disjoint", "Area", "--format", "json")
    assert [row["lower"] for row in json.loads(found.out)["rows"]] == [2.5, 2.5]


def test_a_limit_that_cannot_be_understood_is_asked_about(run, tmp_path):
    table = write(tmp_path, "t.csv", NORTH.format("fewer than five"))
    for command in ("audit", "bounds"):
        found = run(
            "tables", command, table, "--hidden", "fewer than five", "--disjoint", "Area,Age"
        )
        assert found.exit_code == 2
        assert "cannot be understood" in found.err
        assert "five" not in found.err


def test_what_is_said_of_nothing_is_refused(audit, tmp_path):
    table = write(tmp_path, "t.csv", NORTH.format("x").replace(",18", ",10"))
    options = ("--disjoint", "Area,Age")
    refused = audit(table, *options, "--says", "Q=1-2")
    assert refused.exit_code == 2
    assert "No hidden cell has 'Q'" in refused.err
    told = audit(table,
               *options, "--says", "x=0-3", "--format", "json")  # fmt: skip
    assert json.loads(told.out)["summary"]["recomputed"] == 2


def test_limits_beside_a_scheme_are_what_it_hides(run, tmp_path):
    table = write(tmp_path, "t.csv", "Age,n\nyoung,<5\nmiddle,*\nold,20\nTotal,25\n")
    found = run(
        "tables",
        "bounds",
        table,
        "--scheme",
        "suppressed:5",
        "--disjoint",
        "Age",
        "--format",
        "json",
    )
    rows = {row["Age"]: (row["lower"], row["upper"]) for row in json.loads(found.out)["rows"]}
    assert rows == {"young": (1, 4), "middle": (1, 4), "old": (20, 20)}
    refused = run("tables", "bounds", table, "--scheme", "random:5", "--disjoint", "Age")
    assert refused.exit_code == 2
    assert "some cells are limits" in refused.err


def test_zeros_that_are_shown_make_an_upper_limit_a_question(audit, tmp_path):
    table = write(tmp_path, "t.csv", "Age,n\na,0\nb,<5\nc,<5\nTotal,8\n")
    found = audit(table, "--disjoint", "Age")
    assert "--says '<5=1-4'" in found.out + found.err


@pytest.mark.parametrize(
    ("total", "code", "known", "others"),
    [(2, 4, "not settled", (0, 4)), (8, 4, "recomputed", (4, 4)), (5, 0, "open", (0, 0))],
)
def test_no_cell_is_open_that_is_known_if_upper_limits_hold_no_zero(
    audit, tmp_path, total, code, known, others
):
    table = write(tmp_path, "t.csv", f"Age,n\na,0\nb,<5\nc,<5\nTotal,{total}\n")
    asked = (table, "--disjoint", "Age", "--rule", "exact")
    found = audit(*asked, "--format", "json")
    assert found.exit_code == code
    document = json.loads(found.out)
    assert {row["known"] for row in document["rows"]} == {known}
    doubted = "If no cell that reads '<5' is 0, 2 more hidden cells can be recomputed."
    assert any(doubted in one for one in document["notices"]) == (known == "not settled")
    for says, wanted in zip(("<5=0-4", "<5=1-4"), others, strict=True):
        assert audit(*asked, "--says", says).exit_code == wanted


def test_limits_of_which_one_must_hold_zero_are_taken_to_hold_it(audit, tmp_path):
    table = write(tmp_path, "t.csv", "Age,n\na,0\nb,<5\nc,<5\nd,3\nTotal,4\n")
    found = audit(table, "--disjoint", "Age", "--rule", "exact", "--format", "json")
    assert found.exit_code == 0
    assert {(row["lower"], row["upper"]) for row in json.loads(found.out)["rows"]} == {(0, 1)}


@pytest.mark.parametrize(
    ("rows", "said"),
    [
        ("a,<6\nb,5\nTotal,10\n", "Area=a is 5: 10 (total) less 5 (Area=b)."),
        (
            "a,<5\nb,<5\nc,10\nTotal,18\n",
            (
                "Area=a is at most 4, as its limit says. Area=a is at least 4: 18 (total) less 10 (Area=c)"
                " and at most 4 (Area=b). So it is 4."
            ),
        ),
    ],
)
def test_a_proof_says_once_what_a_figure_is(audit, tmp_path, rows, said):
    table = write(tmp_path, "t.csv", f"Area,n\n{rows}")
    found = audit(table, "--disjoint", "Area", "--format", "json")
    assert json.loads(found.out)["rows"][0]["why"] == said


def test_a_placeholder_of_hidden_rows_is_no_figure(audit, tmp_path):
    table = write(tmp_path, "t.csv", "Area,n,Status\nTotal,25,V\na,0,A\nb,11,V\nc,9,V\n")
    options = ("--status", "Status", "--status-kind", "sbs", "--disjoint", "Area")
    found = audit(table, *options, "--format", "json")
    document = json.loads(found.out)
    assert document["rows"][0]["figure"] is None
    assert document["rows"][0]["lower"] == 5
    assert document["summary"]["not_adding_up"] == 0
    assert any("same figure, 0 or below" in one for one in document["notices"])
    other = write(tmp_path, "u.csv", "Area,n,Status\nTotal,25,V\na,5,A\nb,11,V\nc,0,D\nd,9,V\n")
    rows = json.loads(audit(other, *options, "--format", "json").out)["rows"]
    assert {row["figure"] for row in rows} == {5, 0}


@pytest.mark.parametrize(
    "mark", ["LT5", "1 à 4", "1 or 2", "[1,4]", "1~4", "1-4 persons", "kleiner 5", "one to four"]
)
def test_a_mark_with_a_number_in_it_is_a_limit_or_a_person_says_what_it_tells(
    audit, run, tmp_path, mark
):
    rows = [["a", mark], ["b", mark], ["c", "10"], ["Total", "18"]]
    text = "".join(f'{label},"{figure}"\n' for label, figure in rows)
    table = write(tmp_path, "t.csv", f"Area,n\n{text}")
    options = ("--hidden", mark, "--disjoint", "Area")
    for command in ("audit", "bounds", "infer"):
        refused = run("tables", command, table, *options)
        assert refused.exit_code == 2
        assert "cannot be understood" in refused.err
    said = audit(table, *options, "--says", f"{mark}=1-4", "--rule", "exact")
    assert said.exit_code == 4
    nothing = audit(table, *options, "--says", f"{mark}=0+", "--rule", "exact")
    assert nothing.exit_code == 0


def test_a_placeholder_number_and_a_letter_stay_marks(audit, tmp_path):
    table = write(tmp_path, "t.csv", "Area,n\na,-99\nb,s\nc,10\nTotal,18\n")
    options = ("--hidden", "-99", "--hidden", "s", "--disjoint", "Area")
    assert audit(table, *options, "--rule", "exact").exit_code == 0


def test_a_status_that_reads_as_a_limit_is_one(audit, tmp_path):
    table = write(tmp_path, "t.csv", "Area,n,Status\nTotal,18,ok\na,,<5\nb,10,ok\nc,,<5\n")
    options = ("--status", "Status", "--hidden-status", "<5", "--disjoint", "Area")
    found = audit(table, *options, "--rule", "exact", "--format", "json")
    assert found.exit_code == 4
    assert json.loads(found.out)["summary"]["recomputed"] == 2


def test_a_limit_is_read_by_everybody_where_the_cell_was_not_meant_to_be_published(audit, tmp_path):
    table = write(tmp_path, "t.csv", "Area,n,Status\nTotal,18,s\na,<5,w\nb,10,s\nc,,u\n")
    options = ("--status", "Status", "--status-kind", "sdctable", "--disjoint", "Area")
    found = json.loads(audit(table, *options, "--format", "json").out)
    assert [(row["lower"], row["upper"]) for row in found["rows"]] == [(4, 8)]


def test_limits_of_other_columns_are_not_passed_over(audit, tmp_path):
    shares = write(tmp_path, "s.csv", "Age,n,pct\ny,*,<5%\no,*,96%\nTotal,100,100%\n")
    counts = write(tmp_path, "c.csv", "Area,TOT,N\nTotal,100,20\na,c,<3\nb,50,15\nc,c,<3\n")
    for asked in (
        (shares, "--percent", "pct=Age", "--disjoint", "Age", "--hidden", "<5"),
        (counts, "--value", "TOT", "--count", "N", "--disjoint", "Area", "--hidden", "<3"),
    ):
        refused = audit(*asked)
        assert refused.exit_code == 2
        assert "read like a limit that is not used" in refused.err.replace("reads", "read")


LABELS = (
    "Brittany,a,12\nFinistere,a,*\nMorbihan,a,8\nNormandy,a,*\n"
    "Brittany,b,15\nFinistere,b,10\nMorbihan,b,*\nNormandy,b,22\n"
)


@pytest.mark.parametrize("more", ["", "A,a,9\nA1,a,4\nA2,a,5\nA,b,*\nA1,b,3\nA2,b,*\n"])
def test_codes_tell_nothing_of_labels_that_are_no_codes(audit, tmp_path, more):
    table = write(tmp_path, "t.csv", f"Area,Age,n\n{LABELS}{more}")
    options = ("--hierarchy", "Area=codes", "--rule", "exact")
    found = audit(table, *options, "--disjoint", "Age")
    assert found.exit_code == 4
    assert "'Brittany' could be the sum of 'Finistere', 'Morbihan'" in " ".join(found.out.split())
    told = audit(table, *options, "--disjoint", "Age,Area")
    assert told.exit_code == 0


def test_what_is_given_away_if_labels_exclude_each_other_is_said_to_rest_on_that(audit, tmp_path):
    # West is North and South, so that the total is 15 and not 30.
    rows = "w,North,7\nw,South,8\nw,West,15\nw,Total,*\nv,North,*\nv,South,2\nv,West,*\nv,Total,9\n"
    table = write(tmp_path, "t.csv", f"Line,Area,n\n{rows}")
    found = audit(table, "--disjoint", "Line")
    assert "Line=w is 30" in found.out
    assert "Given away, if no label is the sum of others:" in found.out
    told = audit(table, "--disjoint", "Line,Area")
    assert "Given away:" in told.out


def test_codes_all_of_which_belong_together_tell_enough(audit, tmp_path):
    table = write(tmp_path, "t.csv", "Area,n\nA,9\nA1,*\nA2,*\nB,7\nB1,*\nB2,*\n")
    found = audit(table, "--hierarchy", "Area=codes", "--rule", "exact")
    assert found.exit_code == 0


def test_a_second_name_of_the_whole_is_asked_about_beside_codes(audit, tmp_path):
    table = write(tmp_path, "t.csv", "Area,n\nTotal,16\nB,9\nB1,*\nB2,*\nC,*\nAll areas,*\n")
    found = audit(table, "--hierarchy", "Area=codes")
    assert found.exit_code == 2
    assert "'All areas' reads like a sum of the others" in found.err


CONTRIBUTORS = (
    "Area,TOT,N,MAX,Status\nTotal,100,40,20,V\na,{0},A\nb,40,10,9,V\nc,{1},D\nd,30,9,9,V\n"
)


@pytest.mark.parametrize("hidden", ["0,0,0", "x,x,x", ",,"])
@pytest.mark.parametrize(("rule", "code"), [("p:10", 4), ("dominance:1:85", 4), ("minimum:3", 0)])
def test_no_rule_is_met_for_cells_of_which_no_contributor_is_told(
    audit, tmp_path, hidden, rule, code
):
    table = write(tmp_path, "t.csv", CONTRIBUTORS.format(hidden, hidden))
    options = ("--value", "TOT", "--count", "N", "--largest", "MAX", "--status", "Status")
    asked = (*options, "--status-kind", "sbs", "--disjoint", "Area", "--rule", rule)
    found = audit(table, *asked)
    assert found.exit_code == code
    assert "0 cells looked at" not in found.out


def test_a_cell_that_is_given_away_keeps_no_rule_on_contributors_who_are_not_told(audit, tmp_path):
    table = write(tmp_path, "t.csv", "Area,TOT,N\nTotal,100,20\na,c,c\nb,50,15\n")
    options = ("--value", "TOT", "--count", "N", "--disjoint", "Area", "--rule", "minimum:3")
    found = audit(table, *options)
    assert found.exit_code == 4
    assert "minimum:3 is not proven" in found.out


def test_a_proof_does_not_call_it_a_limit_that_nothing_is_below_0(audit, tmp_path):
    table = write(tmp_path, "t.csv", "Area,n\nTotal,25\na,*\nb,16\nc,*\nd,9\n")
    rows = json.loads(audit(table, "--disjoint", "Area", "--format", "json").out)["rows"]
    assert "Area=a is at least 0, as none is below 0. So it is 0." in rows[0]["why"]
