"""Stage two by one call each: the numbers of the library, and the files that were asked for."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet
import pytest

import gamekeeper as gk
from gamekeeper.attack.uniques.dis_result import DisMethod
from gamekeeper.errors import Cancelled, InputError, Reason
from gamekeeper.workbench.risk import (
    UniquesRequest,
    count_release,
    find_special,
    find_uniques,
    match_release,
    simulate_intrusion,
)
from gamekeeper.workbench.sampled import SampledRequest
from tests.given.microdata import KEYS, OF_SCENARIO, OTHERS, PEOPLE, SCENARIO, write, write_world


@pytest.fixture
def request_(tmp_path):
    return SampledRequest(file=write(tmp_path, "people.csv", PEOPLE), keys=KEYS, fraction="1/10")


@pytest.fixture
def clerk(tmp_path):
    file = write(tmp_path, "clerk.csv", OF_SCENARIO)
    return SampledRequest(file=file, scenario=SCENARIO, environment=write_world(tmp_path))


@pytest.fixture
def everybody(tmp_path):
    # It has neither weights nor strata, and need not have.
    lines = [line.rpartition(",")[0] for line in (PEOPLE + "".join(OTHERS)).splitlines()]
    return write(tmp_path, "everybody.csv", "\n".join(lines) + "\n")


def keys(request, **more):
    """Count keys as the library does it."""
    columns = [*request.keys, *([request.strata] if request.strata else [])]
    numbers = [request.weight] if request.weight else []
    coded = gk.code_source(gk.open_source(request.file), columns, numbers=numbers)
    options = {"weight": request.weight, "strata": request.strata}
    return gk.count_keys(coded, request.keys, fraction=request.fraction or None, **options, **more)


@pytest.mark.parametrize("ending", ["csv", "parquet"])
def test_keys_are_counted_and_written(request_, tmp_path, ending):
    output = tmp_path / f"classes.{ending}"
    data, table = count_release(replace(request_, weight="w"), output=output)
    expected = keys(replace(request_, weight="w"))
    assert data.source.path == request_.file
    assert table.to_arrow() == expected.to_arrow()
    if ending == "parquet":
        assert pyarrow.parquet.read_table(output).to_pylist() == expected.to_arrow().to_pylist()
    else:
        text = {key: pa.string() for key in KEYS}
        options = pyarrow.csv.ConvertOptions(column_types=text)
        written = pyarrow.csv.read_csv(output, convert_options=options)
        assert written.to_pylist() == expected.to_arrow().to_pylist()


def test_uniques_are_those_of_the_library(request_, tmp_path):
    records = tmp_path / "records.parquet"
    found = find_uniques(
        request_,
        UniquesRequest(max_size=2, power=4, classes="bad=0.5,fair=0.01", rank_by="is", workers=1),
        records=records,
    )
    expected = gk.assess_uniques(
        keys(request_),
        max_size=2,
        power=4,
        classes=gk.parse_risk_classes("bad=0.5,fair=0.01", measure="is"),
        rank_by="is",
    )
    assert found.to_arrow() == expected.to_arrow()
    assert found.sentences() == expected.sentences()
    assert found.provenance.parameters == expected.provenance.parameters
    assert pyarrow.parquet.read_table(records).to_pylist() == expected.to_arrow().to_pylist()


def test_a_report_of_a_scenario_is_written(clerk, tmp_path):
    report = tmp_path / "risk.html"
    find_uniques(clerk, UniquesRequest(), population=clerk.file, report=report)
    page = report.read_text(encoding="utf-8")
    assert "Disclosure risk of clerk.csv" in page
    assert "<dd>A clerk</dd>" in page
    assert "<dd>Somebody at a bank</dd>" in page
    assert "delimiter comma" in page
    assert "What a match would cost" in page


def test_a_population_is_for_a_report(request_, everybody):
    with pytest.raises(InputError) as caught:
        find_uniques(request_, UniquesRequest(), population=everybody)
    assert caught.value.reason is Reason.BAD_OPTION


def test_intrusion_by_counts_is_exact(request_):
    found = simulate_intrusion(request_)
    # 2 uniques and 10 records in pairs: U f / (U f + P (1-f)).
    assert found.file["dis"] == Fraction(2) / (2 + 10 * 9)


def test_intrusion_by_simulation_is_that_of_the_library(request_, tmp_path):
    plot = tmp_path / "dis.svg"
    options = {"method": DisMethod.SPECIAL, "rounds": 2_000, "removed": 2, "seed": 3}
    found = simulate_intrusion(request_, plot=plot, tolerance=0.1, **options)
    expected = gk.assess_dis(keys(request_), tolerance=0.1, **options)
    assert found.to_arrow() == expected.to_arrow()
    assert plot.read_text(encoding="utf-8").lstrip().startswith("<?xml")


def test_a_perturbed_release_is_attacked_with_the_originals(request_, tmp_path):
    perturbed = write(tmp_path, "perturbed.csv", PEOPLE.replace("16,f", "52,f"))
    release = replace(request_, file=perturbed, weight="w", fraction="")
    # The original needs no weights: those of the release say what was sampled.
    before = write(tmp_path, "before.csv", PEOPLE.replace(",w\n", ",other\n", 1))
    options = {"method": DisMethod.SPECIAL, "rounds": 3_000, "tolerance": 0.0}
    attacked = simulate_intrusion(release, original=before, **options)
    expected = gk.assess_dis(keys(release), original=keys(request_), **options)
    assert attacked.to_arrow() == expected.to_arrow()
    assert attacked.file["dis"] != simulate_intrusion(release, **options).file["dis"]


def test_matching_with_a_population_is_exact(request_, everybody, tmp_path):
    plot = tmp_path / "cost.png"
    asked = replace(request_, weight="w", strata="Region", fraction="")
    found = match_release(asked, population=everybody, r=(1,), plot=plot)
    # The uniques have 1 and 4 people in the population.
    assert found.file["pr_cm_given_su"] == found["4"].pr_cm == Fraction(5, 8)
    assert found.file["pr_cm_given_um"] == found["5"].pr_cm == Fraction(2, 5)
    assert found.file["pr_pu_given_su"] == Fraction(1, 2)
    assert plot.read_bytes().startswith(b"\x89PNG")


def test_matching_without_a_population_is_estimated(request_):
    found = match_release(replace(request_, weight="w"))
    expected = gk.assess_matching(keys(replace(request_, weight="w")))
    assert found.to_arrow() == expected.to_arrow()
    assert found.sentences() == expected.sentences()


def test_a_population_must_hold_the_sample(request_, tmp_path):
    few = write(tmp_path, "few.csv", "Age,Sex,Status\n34,f,married\n")
    with pytest.raises(InputError) as caught:
        match_release(request_, population=few)
    assert "married" not in str(caught.value)


def test_special_uniques_are_coarsened_along_the_scenario(clerk, tmp_path):
    records = tmp_path / "special.csv"
    found = find_special(clerk, rounds=0, records=records)
    tests = found.properties.to_arrow()["test"].to_pylist()
    assert {
        "unique no longer with Age in 2 categories, level 1",
        "unique no longer with Age in 1 category, level 2",
        "unique no longer with Marital status in 1 category, level 1",
    } <= set(tests)
    assert records.read_text(encoding="utf-8").count("\n") == found.to_arrow().num_rows + 1


def test_special_uniques_without_a_scenario(request_, everybody):
    found = find_special(request_, population=everybody, rounds=2, seed=1)
    expected = gk.assess_special_uniques(
        keys(request_), population=keys(replace(request_, file=everybody, fraction="")),
        rounds=2, seed=1,
    )  # fmt: skip
    assert found.to_arrow() == expected.to_arrow()
    assert found.properties.to_arrow() == expected.properties.to_arrow()


def test_destinations_are_looked_at_before_any_work(tmp_path):
    # There is no such file, but nobody gets so far as to look.
    nothing = SampledRequest(file=tmp_path / "nothing.csv", keys=["a"])
    wrong = tmp_path / "risk.txt"
    lost = tmp_path / "no folder" / "risk.csv"
    for call in (
        lambda: count_release(nothing, output=wrong),
        lambda: find_uniques(nothing, UniquesRequest(), records=lost, report=wrong),
        lambda: simulate_intrusion(nothing, plot=wrong),
        lambda: match_release(nothing, plot=wrong),
        lambda: find_special(nothing, records=lost),
    ):
        with pytest.raises(InputError) as caught:
            call()
        assert caught.value.reason is Reason.NOT_WRITABLE
    assert list(tmp_path.iterdir()) == []


def test_what_is_read_is_never_replaced(request_, everybody, tmp_path):
    before = request_.file.read_bytes(), everybody.read_bytes()
    alias = tmp_path / "alias.csv"
    alias.symlink_to(request_.file)
    for call in (
        lambda: count_release(request_, output=request_.file),
        lambda: count_release(request_, output=alias),
        lambda: find_uniques(request_, UniquesRequest(), records=request_.file),
        lambda: find_special(request_, rounds=0, records=alias),
        lambda: find_special(request_, rounds=0, population=everybody, records=everybody),
    ):
        with pytest.raises(InputError, match="would be replaced") as caught:
            call()
        assert caught.value.reason is Reason.NOT_WRITABLE
    assert (request_.file.read_bytes(), everybody.read_bytes()) == before


@pytest.mark.parametrize("call", [count_release, match_release, find_special])
def test_work_can_be_cancelled(request_, call):
    def stop(done, total):
        raise Cancelled("The work was begun.")

    with pytest.raises(Cancelled):
        call(request_, progress=stop)


def test_a_cancelled_search_leaves_no_file(request_, tmp_path):
    told = []
    find_uniques(request_, UniquesRequest(), progress=lambda *step: told.append(step))
    left = len(told)

    def stop(done, total):
        nonlocal left
        left -= 1
        if not left:
            raise Cancelled("The work was begun.")

    records = tmp_path / "records.csv"
    with pytest.raises(Cancelled):
        find_uniques(request_, UniquesRequest(), records=records, progress=stop)
    assert not records.exists()
