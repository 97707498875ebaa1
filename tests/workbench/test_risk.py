"""Stage two by one call each: a first look, the numbers of the library, files that are asked for."""

from __future__ import annotations

import gzip
import zipfile
from dataclasses import replace
from fractions import Fraction

import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet
import pytest

import gamekeeper as gk
from gamekeeper.attack.options import (
    DisMethod,
    DisOptions,
    MatchingOptions,
    SpecialOptions,
    UniquesOptions,
)
from gamekeeper.data.reading import csv_file
from gamekeeper.errors import Cancelled, InputError, LimitError, Reason
from gamekeeper.report.tables import write_table
from gamekeeper.workbench.requests.records import (
    DisRequest,
    KeysRequest,
    LookRequest,
    MatchRequest,
    MicrodataRequest,
    SampleDesign,
    SpecialRequest,
    SudaRequest,
)
from gamekeeper.workbench.requests.shared import Reading
from gamekeeper.workbench.risk import (
    count_release,
    find_special,
    find_uniques,
    look_at,
    match_release,
    simulate_intrusion,
)
from tests.given.microdata import KEYS, OF_SCENARIO, OTHERS, PEOPLE, SCENARIO, write, write_world

TENTH = SampleDesign(fraction="1/10")
WEIGHTED = SampleDesign(weight="w")


@pytest.fixture
def everybody(tmp_path):
    # It has neither weights nor strata, and need not have.
    lines = [line.rpartition(",")[0] for line in (PEOPLE + "".join(OTHERS)).splitlines()]
    return write(tmp_path, "everybody.csv", "\n".join(lines) + "\n")


def keys(microdata, design=TENTH):
    """Count keys as the library does it."""
    columns = [*microdata.keys, *([design.strata] if design.strata else [])]
    numbers = [design.weight] if design.weight else []
    coded = gk.code_source(gk.open_source(microdata.file), columns, numbers=numbers)
    return gk.count_keys(
        coded,
        microdata.keys,
        weight=design.weight,
        strata=design.strata,
        fraction=design.fraction or None,
    )


@pytest.mark.parametrize("ending", ["csv", "parquet"])
def test_keys_are_counted_and_written(people, tmp_path, ending):
    output = tmp_path / f"classes.{ending}"
    design = SampleDesign(weight="w", fraction="1/10")
    found = count_release(KeysRequest(microdata=people, design=design, output=output)).found
    expected = keys(people, design)
    assert found.source.path == people.file
    assert found.table.to_arrow() == expected.to_arrow()
    if ending == "parquet":
        assert pyarrow.parquet.read_table(output).to_pylist() == expected.to_arrow().to_pylist()
    else:
        text = {key: pa.string() for key in KEYS}
        options = pyarrow.csv.ConvertOptions(column_types=text)
        written = pyarrow.csv.read_csv(output, convert_options=options)
        assert written.to_pylist() == expected.to_arrow().to_pylist()


def test_uniques_are_those_of_the_library(people, tmp_path):
    records = tmp_path / "records.parquet"
    options = {"max_size": 2, "power": 4, "rank_by": "is"}
    search = UniquesOptions(classes="bad=0.5,fair=0.01", workers=1, **options)
    asked = SudaRequest(microdata=people, design=TENTH, search=search, records=records)
    found = find_uniques(asked).found
    expected = gk.assess_uniques(
        keys(people),
        classes=gk.risk.parse_risk_classes("bad=0.5,fair=0.01", measure="is"),
        **options,
    )
    assert found.to_arrow() == expected.to_arrow()
    assert found.sentences() == expected.sentences()
    assert found.provenance.parameters == expected.provenance.parameters
    assert pyarrow.parquet.read_table(records).to_pylist() == expected.to_arrow().to_pylist()


@pytest.mark.slow
def test_a_report_of_a_scenario_is_written(clerk, tmp_path):
    report = tmp_path / "risk.html"
    find_uniques(SudaRequest(microdata=clerk, population=clerk.file, report=report))
    page = report.read_text(encoding="utf-8")
    assert "Disclosure risk of clerk.csv" in page
    assert "<dd>A clerk</dd>" in page
    assert "<dd>Somebody at a bank</dd>" in page
    assert "delimiter comma" in page
    assert "What a match would cost" in page


def test_a_population_is_for_a_report(people, everybody):
    with pytest.raises(InputError) as caught:
        find_uniques(SudaRequest(microdata=people, population=everybody))
    assert caught.value.reason is Reason.BAD_OPTION


def test_intrusion_by_counts_is_exact(people):
    found = simulate_intrusion(DisRequest(microdata=people, design=TENTH)).found
    # 2 uniques and 10 records in pairs: U f / (U f + P (1-f)).
    assert found.file["dis"] == Fraction(2) / (2 + 10 * 9)


def test_intrusion_by_simulation_is_that_of_the_library(people, tmp_path):
    plot = tmp_path / "dis.svg"
    options = {
        "method": DisMethod.SPECIAL, "rounds": 2_000, "removed": 2, "seed": 3, "tolerance": 0.1,
    }  # fmt: skip
    asked = DisRequest(microdata=people, design=TENTH, dis=DisOptions(**options), plot=plot)
    found = simulate_intrusion(asked).found
    expected = gk.assess_dis(keys(people), **options)
    assert found.to_arrow() == expected.to_arrow()
    assert plot.read_text(encoding="utf-8").lstrip().startswith("<?xml")


def test_a_perturbed_release_is_attacked_with_the_originals(people, tmp_path):
    perturbed = write(tmp_path, "perturbed.csv", PEOPLE.replace("16,f", "52,f"))
    release = replace(people, file=perturbed)
    # The original needs no weights: those of the release say what was sampled.
    before = write(tmp_path, "before.csv", PEOPLE.replace(",w\n", ",other\n", 1))
    options = {"method": DisMethod.SPECIAL, "rounds": 3_000, "tolerance": 0.0}
    asked = DisRequest(
        microdata=release, design=WEIGHTED, dis=DisOptions(**options), original=before
    )
    attacked = simulate_intrusion(asked).found
    expected = gk.assess_dis(keys(release, WEIGHTED), original=keys(people), **options)
    assert attacked.to_arrow() == expected.to_arrow()
    alone = simulate_intrusion(replace(asked, original=None)).found
    assert attacked.file["dis"] != alone.file["dis"]


def test_matching_with_a_population_is_exact(people, everybody, tmp_path):
    plot = tmp_path / "cost.png"
    asked = MatchRequest(
        microdata=people,
        design=SampleDesign(weight="w", strata="Region"),
        matching=MatchingOptions(r=(1,)),
        population=everybody,
        plot=plot,
    )
    found = match_release(asked).found
    # The uniques have 1 and 4 people in the population.
    assert found.file["pr_cm_given_su"] == found["4"].pr_cm == Fraction(5, 8)
    assert found.file["pr_cm_given_um"] == found["5"].pr_cm == Fraction(2, 5)
    assert found.file["pr_pu_given_su"] == Fraction(1, 2)
    assert plot.read_bytes().startswith(b"\x89PNG")


def test_matching_without_a_population_is_estimated(people):
    found = match_release(MatchRequest(microdata=people, design=WEIGHTED)).found
    expected = gk.assess_matching(keys(people, WEIGHTED))
    assert found.to_arrow() == expected.to_arrow()
    assert found.sentences() == expected.sentences()


def test_a_population_must_hold_the_sample(people, tmp_path):
    few = write(tmp_path, "few.csv", "Age,Sex,Status\n34,f,married\n")
    with pytest.raises(InputError) as caught:
        match_release(MatchRequest(microdata=people, design=TENTH, population=few))
    assert "married" not in str(caught.value)


def test_special_uniques_are_coarsened_along_the_scenario(clerk, tmp_path):
    records = tmp_path / "special.csv"
    options = SpecialOptions(rounds=0)
    found = find_special(SpecialRequest(microdata=clerk, special=options, records=records)).found
    tests = found.properties.to_arrow()["test"].to_pylist()
    assert {
        "unique no longer with Age in 2 categories, level 1",
        "unique no longer with Age in 1 category, level 2",
        "unique no longer with Marital status in 1 category, level 1",
    } <= set(tests)
    assert records.read_text(encoding="utf-8").count("\n") == found.to_arrow().num_rows + 1


def test_special_uniques_without_a_scenario(people, everybody):
    options = SpecialOptions(rounds=2, seed=1)
    asked = SpecialRequest(microdata=people, special=options, population=everybody)
    found = find_special(asked).found
    nothing = SampleDesign()
    expected = gk.risk.assess_special_uniques(
        keys(people, nothing), population=keys(replace(people, file=everybody), nothing),
        rounds=2, seed=1,
    )  # fmt: skip
    assert found.to_arrow() == expected.to_arrow()
    assert found.properties.to_arrow() == expected.properties.to_arrow()


def test_destinations_are_looked_at_before_any_work(tmp_path):
    # There is no such file, but nobody gets so far as to look.
    nothing = {"microdata": MicrodataRequest(file=tmp_path / "nothing.csv", keys=("a",))}
    wrong = tmp_path / "risk.txt"
    lost = tmp_path / "no folder" / "risk.csv"
    for call in (
        lambda: count_release(KeysRequest(**nothing, output=wrong)),
        lambda: find_uniques(SudaRequest(**nothing, records=lost, report=wrong)),
        lambda: simulate_intrusion(DisRequest(**nothing, plot=wrong)),
        lambda: match_release(MatchRequest(**nothing, plot=wrong)),
        lambda: find_special(SpecialRequest(**nothing, records=lost)),
    ):
        with pytest.raises(InputError) as caught:
            call()
        assert caught.value.reason is Reason.NOT_WRITABLE
    assert list(tmp_path.iterdir()) == []


def test_what_is_read_is_never_replaced(people, everybody, tmp_path):
    before = people.file.read_bytes(), everybody.read_bytes()
    alias = tmp_path / "alias.csv"
    alias.symlink_to(people.file)
    given = {"microdata": people}
    for call in (
        lambda: count_release(KeysRequest(**given, output=people.file)),
        lambda: count_release(KeysRequest(**given, output=alias)),
        lambda: find_uniques(SudaRequest(**given, records=people.file)),
        lambda: find_special(SpecialRequest(**given, records=alias)),
        lambda: find_special(SpecialRequest(**given, population=everybody, records=everybody)),
    ):
        with pytest.raises(InputError, match="would be replaced") as caught:
            call()
        assert caught.value.reason is Reason.NOT_WRITABLE
    assert (people.file.read_bytes(), everybody.read_bytes()) == before


@pytest.mark.parametrize(
    ("call", "request_"),
    [
        (count_release, KeysRequest),
        (match_release, MatchRequest),
        (find_special, SpecialRequest),
    ],
)
def test_work_can_be_cancelled(people, call, request_):
    def stop(done, total):
        raise Cancelled("The work was begun.")

    with pytest.raises(Cancelled):
        call(request_(microdata=people, design=TENTH), progress=stop)


def test_a_cancelled_search_leaves_no_file(people, tmp_path):
    told = []
    asked = SudaRequest(microdata=people, design=TENTH)
    find_uniques(asked, progress=lambda *step: told.append(step))
    left = len(told)

    def stop(done, total):
        nonlocal left
        left -= 1
        if not left:
            raise Cancelled("The work was begun.")

    records = tmp_path / "records.csv"
    with pytest.raises(Cancelled):
        find_uniques(replace(asked, records=records), progress=stop)
    assert not records.exists()


LINES = [
    f"{n},{20 + n % 7},{'f' if n % 2 else 'm'},{n % 5 + 1 if n % 3 else -9}" for n in range(20)
]
TEXT = "\n".join(["pid,Age,gender,CANARY7341", *LINES]) + "\n"


def records(path, **how):
    source = gk.open_source(path, **how)
    table = gk.code_source(source, source.names)
    words = [table.codebook[name].words for name in source.names]
    return [[words[j][code] for j, code in enumerate(row)] for row in table.matrix().tolist()]


def test_roles_types_and_missing_codes(tmp_path):
    found = look_at(LookRequest(file=write(tmp_path, "p.csv", TEXT)))
    by = {one.column: one for one in found.columns}
    assert (by["pid"].role, by["pid"].type, by["pid"].levels) == ("identifier", "whole number", 20)
    assert found.keys == ("Age", "gender")
    assert by["CANARY7341"].missing_codes == "-9"
    assert found.values == ()


def test_many_columns_are_not_asked_for_one_by_one(tmp_path, monkeypatch):
    asked = []
    whole = gk.CodedTable.matrix

    def matrix(self, variables=None):
        asked.append(len(variables))
        return whole(self, variables)

    monkeypatch.setattr(gk.CodedTable, "matrix", matrix)
    n = 1_500
    rows = [",".join(f"c{k}" for k in range(n)), *([",".join("12"[k % 2] for k in range(n))] * 3)]
    rows[2] = "," + rows[2].partition(",")[2]
    found = look_at(LookRequest(file=write(tmp_path, "wide.csv", "\n".join(rows) + "\n")))
    assert sum(asked) == n
    assert len(asked) <= 3
    assert [(one.levels, one.missing) for one in found.columns[:2]] == [(1, 1), (1, 0)]
    assert {(one.levels, one.missing) for one in found.columns[2:]} == {(1, 0)}


def test_keys_of_a_scenario(tmp_path):
    file = write(tmp_path, "clerk.csv", OF_SCENARIO)
    asked = LookRequest(file=file, scenario=SCENARIO, environment=write_world(tmp_path))
    assert look_at(asked).keys == ("AGE", "sex", "marital_status")


def test_every_kind_of_file_has_the_same_records(tmp_path):
    plain = write(tmp_path, "p.csv", TEXT)
    expected = records(plain)
    (tmp_path / "p.csv.gz").write_bytes(gzip.compress(TEXT.encode()))
    with zipfile.ZipFile(tmp_path / "p.zip", "w") as archive:
        archive.writestr("people.csv", TEXT)
    rows = [line.split(",") for line in TEXT.splitlines()]
    columns = {name: [row[j] for row in rows[1:]] for j, name in enumerate(rows[0])}
    write_table(pa.table(columns), tmp_path / "p.xlsx")
    for name in ("p.csv.gz", "p.zip", "p.xlsx"):
        assert records(tmp_path / name) == expected, name
    bare = write(tmp_path, "bare.csv", "\n".join(LINES) + "\n")
    assert records(bare, header=False) == expected
    asked = LookRequest(file=bare, reading=Reading(header=False))
    assert look_at(asked).columns[0].column == "column 1"


def test_formulas_stay_text_in_a_workbook(tmp_path):
    write_table(pa.table({"x": ["=1+1", "007", "http://a.b"]}), tmp_path / "x.xlsx")
    assert [row[0] for row in records(tmp_path / "x.xlsx")] == ["=1+1", "007", "http://a.b"]
    with zipfile.ZipFile(tmp_path / "x.xlsx") as book:
        assert b"<f>" not in book.read("xl/worksheets/sheet1.xml")


def test_what_unpacks_to_too_much_is_refused(tmp_path, monkeypatch):
    monkeypatch.setattr(csv_file, "MOST_BYTES", 5_000)
    big = "x\n" * 10_000
    (tmp_path / "p.csv.gz").write_bytes(gzip.compress(big.encode()))
    with zipfile.ZipFile(tmp_path / "p.zip", "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("p.csv", big)
    for name in ("p.csv.gz", "p.zip"):
        with pytest.raises(LimitError, match="unpacks to more than"):
            gk.open_source(tmp_path / name)


@pytest.mark.parametrize("name", ["p.csv.gz", "p.zip", "p.xlsx"])
def test_damaged_files_are_one_error(tmp_path, name):
    (tmp_path / name).write_bytes(b"CANARY 7341")
    with pytest.raises(InputError) as refused:
        gk.open_source(tmp_path / name)
    assert "CANARY 7341" not in str(refused.value)


def test_names_match_whatever_their_case(tmp_path):
    file = write(tmp_path, "p.csv", "Age,SEX,sex\n1,a,b\n")
    assert gk.code_source(gk.open_source(file), ["age", "sex"]).codebook.names == ("Age", "sex")
    with pytest.raises(InputError, match="could be any of"):
        gk.code_source(gk.open_source(file), ["Sex"])
