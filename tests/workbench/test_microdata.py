"""Whoever counts, the answer is the same; what must come here is refused above a limit.

A file is opened as it was asked for, or one error says all that is wrong.

Values that no category is known for are listed, filled in and read back, and never shown.
"""

from __future__ import annotations

import csv
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pyreadstat
import pytest

from gamekeeper.attack.assessment.criteria import CRITERIA
from gamekeeper.attack.assessment.policy import Limit, Policy
from gamekeeper.attack.models import fitting
from gamekeeper.attack.models.fitting import fit_models
from gamekeeper.attack.options import MeasureOptions, MeasuresOptions
from gamekeeper.choices import Missing
from gamekeeper.data.engine import gate as bringing
from gamekeeper.data.engine.duckdb_engine import DuckDBEngine
from gamekeeper.data.keys import counting as key_counting
from gamekeeper.errors import GamekeeperError, InputError, LimitError, Reason, StoreError
from gamekeeper.mapping.edits import RemoveCategory
from gamekeeper.results import Result
from gamekeeper.workbench import microdata as engines
from gamekeeper.workbench.assessment import assess, assess_release
from gamekeeper.workbench.environment.editing import edit_store, import_folder
from gamekeeper.workbench.microdata import open_microdata
from gamekeeper.workbench.models import fit_release, infer_release
from gamekeeper.workbench.requests.assessment import AssessRequest
from gamekeeper.workbench.requests.editing import Signature
from gamekeeper.workbench.requests.environment import ImportRequest, InStore
from gamekeeper.workbench.requests.records import (
    DisRequest,
    InferRequest,
    KeysRequest,
    MatchRequest,
    MeasuresRequest,
    MicrodataRequest,
    ModelRequest,
    SampleDesign,
    SpecialRequest,
    SudaRequest,
)
from gamekeeper.workbench.requests.shared import ON_THIS_MACHINE, EngineRequest, Reading
from gamekeeper.workbench.requests.tables import PublishRequest
from gamekeeper.workbench.risk import (
    count_release,
    find_special,
    find_uniques,
    match_release,
    measure_release,
    simulate_intrusion,
)
from gamekeeper.workbench.tables import publish_tables
from tests.given.far_engine import FarEngine
from tests.given.microdata import KEYS as OPENING_KEYS
from tests.given.microdata import OF_SCENARIO, SCENARIO, write
from tests.workbench.conftest import SECRET, refused, words

KEYS = ("age", "sex", "region")
N = 300


@pytest.fixture(scope="module")
def counted(tmp_path_factory):
    """A file of Parquet, and a folder of its parts, some of its cells missing."""
    rng = np.random.default_rng(5)
    table = pa.table(
        {
            "age": pa.array(rng.integers(20, 60, N), mask=rng.random(N) < 0.02),
            "sex": pa.array(rng.choice(["f", "m"], N)),
            "region": pa.array(rng.choice(["North", "it's", "South"], N)),
            "weight": pa.array(rng.integers(1, 90, N) / 4),
            "income": pa.array(rng.integers(0, 5, N)),
        }
    )
    folder = tmp_path_factory.mktemp("counted")
    pq.write_table(table, folder / "counted.parquet")
    (folder / "parts").mkdir()
    for part in range(3):
        pq.write_table(table.slice(part * 100, 100), folder / "parts" / f"part-{part}.parquet")
    return folder


@pytest.fixture(scope="module")
def far():
    with FarEngine() as engine:
        yield EngineRequest(engine=engine)


def microdata(counted, **others):
    return MicrodataRequest(file=counted / "parts", keys=KEYS, **others)


def same(run, request, far, **asked):
    """Run a request on both engines and compare what they found, but for who counted."""
    here = run(request(counting=ON_THIS_MACHINE, **asked))
    there = run(request(counting=far, **asked))
    assert here.notices == there.notices
    return here.found, there.found


def equal(one, other):
    assert one.summary() == other.summary()
    assert one.sentences() == other.sentences()
    assert one.to_arrow().equals(other.to_arrow())
    assert one.provenance.parameters == other.provenance.parameters
    assert one.provenance.fingerprint == other.provenance.fingerprint


EVERYTHING = Policy("everything", tuple(Limit(criterion, 2) for criterion in CRITERIA.values()))
WEIGHTED = SampleDesign(weight="weight", strata="region")


@pytest.mark.parametrize("missing", ["category", "ignore", "wildcard", "exclude"])
def test_keys_are_counted_alike(counted, far, missing):
    asked = {"microdata": microdata(counted, missing=missing), "design": WEIGHTED}
    here, there = same(count_release, KeysRequest, far, sensitive=("income",), **asked)
    equal(here.table, there.table)
    for name in ("class_sizes", "class_numbers", "class_weights", "record_fractions"):
        assert np.array_equal(getattr(here.table, name)(), getattr(there.table, name)()), name
    assert np.array_equal(here.table.l_diversity("income"), there.table.l_diversity("income"))


@pytest.mark.slow
@pytest.mark.parametrize(
    ("run", "request_type", "design"),
    [
        (simulate_intrusion, DisRequest, WEIGHTED),
        (match_release, MatchRequest, WEIGHTED),
        (match_release, MatchRequest, SampleDesign(fraction="1/10")),
        (match_release, MatchRequest, SampleDesign(strata="region", fraction="10%")),
        (find_special, SpecialRequest, WEIGHTED),
        (find_uniques, SudaRequest, WEIGHTED),
        (measure_release, MeasuresRequest, WEIGHTED),
        (fit_release, ModelRequest, WEIGHTED),
    ],
)
def test_attacks_find_the_same(counted, far, run, request_type, design):
    equal(*same(run, request_type, far, microdata=microdata(counted), design=design))


@pytest.mark.slow
def test_inference_and_assessment_find_the_same(counted, far):
    design = SampleDesign(fraction="1/10")
    here, there = same(
        infer_release, InferRequest, far, microdata=microdata(counted), design=design
    )
    equal(here.risk, there.risk)
    found = [
        assess(counted / "counted.parquet", keys=KEYS, fraction="10%", engine=engine)
        for engine in ("duckdb", far.engine)
    ]
    assert found[0].summary() == found[1].summary()


def test_tables_are_counted_alike(counted, far, tmp_path):
    made = [
        publish_tables(
            PublishRequest(microdata=microdata(counted), counting=who, output=tmp_path / name)
        ).found
        for who, name in ((ON_THIS_MACHINE, "a.json"), (far, "b.json"))
    ]
    assert (tmp_path / "a.json").read_bytes() == (tmp_path / "b.json").read_bytes()
    assert np.array_equal(made[0][1].dense(), made[1][1].dense())


def test_to_count_keys_brings_no_record_here(counted, monkeypatch):
    monkeypatch.setattr(bringing, "MOST_BROUGHT", 0)
    with FarEngine() as engine:
        far = EngineRequest(engine=engine)
        found = count_release(
            KeysRequest(microdata=microdata(counted), design=WEIGHTED, counting=far)
        ).found.table
        assert found.n_records == N
        assert simulate_intrusion(
            DisRequest(microdata=microdata(counted), design=WEIGHTED, counting=far)
        ).found.value
        assert engine.streamed == []
        for array in (found.class_sizes, found.class_numbers, found.matrix, found.to_arrow):
            with pytest.raises(LimitError) as caught:
                array()
            assert "(--" in caught.value.do or "part of the records" in caught.value.do


def test_files_that_are_read_here_are_handed_over_up_to_a_limit(
    counted, far, tmp_path, monkeypatch
):
    rows = pq.read_table(counted / "counted.parquet").to_pylist()
    text = "\n".join(
        ["age,sex,region", *(f"{r['age'] or ''},{r['sex']},{r['region']}" for r in rows)]
    )
    file = tmp_path / "counted.csv"
    file.write_text(text)
    asked = MicrodataRequest(file=file, keys=KEYS)
    assert open_microdata(asked, counting=far).coded.n_records == N
    monkeypatch.setattr(bringing, "MOST_LOADED", N - 1)
    with pytest.raises(LimitError, match="Parquet") as caught:
        open_microdata(asked, counting=far)
    assert "North" not in str(caught.value)
    # Parquet is read in place, whatever the limit.
    assert open_microdata(microdata(counted), counting=far).coded.n_records == N


def test_keys_that_are_compared_with_each_other_come_here_up_to_a_limit(counted, far, monkeypatch):
    monkeypatch.setattr(bringing, "MOST_BROUGHT", 10)
    asked = KeysRequest(microdata=microdata(counted, missing="wildcard"), counting=far)
    with pytest.raises(LimitError) as caught:
        count_release(asked)
    assert "--missing" in caught.value.do
    assert key_counting.FEWER_KEYS in caught.value.do


def test_classes_are_written_where_they_were_counted(counted, far, tmp_path, monkeypatch):
    asked = {"microdata": microdata(counted, missing="ignore"), "design": WEIGHTED}
    here = count_release(
        KeysRequest(counting=ON_THIS_MACHINE, output=tmp_path / "here.parquet", **asked)
    )
    monkeypatch.setattr(bringing, "MOST_WRITTEN", 10)
    count_release(KeysRequest(counting=far, output=tmp_path / "there.parquet", **asked))
    one, other = (pq.read_table(tmp_path / f"{name}.parquet") for name in ("here", "there"))
    assert (tmp_path / "there.parquet").is_dir()
    assert one.column_names == other.column_names
    order = [(name, "ascending") for name in KEYS]
    assert one.sort_by(order).to_pylist() == other.sort_by(order).to_pylist()
    assert here.found.table.n_classes == other.num_rows
    with pytest.raises(InputError, match="is there already"):
        count_release(
            KeysRequest(counting=far, output=tmp_path / "there.parquet", replace=True, **asked)
        )
    with pytest.raises(LimitError, match=r"\.parquet"):
        count_release(KeysRequest(counting=far, output=tmp_path / "classes.csv", **asked))
    assert not (tmp_path / "classes.csv").exists()


@pytest.mark.parametrize("missing", ["category", "exclude"])
def test_models_are_fitted_to_margins_that_are_counted_elsewhere(
    counted, far, monkeypatch, missing
):
    here = count_release(
        KeysRequest(microdata=microdata(counted, missing=missing), counting=ON_THIS_MACHINE)
    ).found.table
    there = count_release(
        KeysRequest(microdata=microdata(counted, missing=missing), counting=far)
    ).found.table
    by_keys = fit_models(there, method="annealing")
    monkeypatch.setattr(fitting, "MOST_BROUGHT", 0)
    by_margins = fit_models(there, method="annealing")
    # The climb alone, as in a table that is large.
    monkeypatch.setattr(fitting, "_LARGE", 0)
    alone = fit_models(here, method="annealing")
    assert by_margins.levels == alone.levels == by_keys.levels
    assert by_margins.constant == alone.constant
    for one, other in zip(by_margins.searches, alone.searches, strict=True):
        assert np.array_equal(one.models, other.models)
        assert np.array_equal(one.log_scores, other.log_scores)
    with pytest.raises(LimitError, match="annealing"):
        fit_models(there, method="mc3", patient=True)


@pytest.mark.slow
@pytest.mark.parametrize("missing", ["category", "ignore", "wildcard", "exclude"])
@pytest.mark.parametrize("fraction", ["", "10%"])
def test_uniques_of_a_large_file_are_found_by_its_keys(
    counted, far, tmp_path, monkeypatch, missing, fraction
):
    asked = {
        "microdata": microdata(counted, missing=missing),
        "design": SampleDesign(fraction=fraction),
        "identifier": "income",
    }
    here = find_uniques(
        SudaRequest(counting=ON_THIS_MACHINE, records=tmp_path / "here.parquet", **asked)
    ).found
    monkeypatch.setattr(bringing, "MOST_WRITTEN", N - 1)
    there = find_uniques(
        SudaRequest(counting=far, records=tmp_path / "there.parquet", **asked)
    ).found
    one, other = (pq.read_table(tmp_path / f"{name}.parquet") for name in ("here", "there"))
    assert one.column_names == other.column_names
    assert other.sort_by("record").to_pylist() == one.to_pylist()
    # Only the uniques came here, and say the same.
    unique = here.riskiest(N)
    assert there.records.table.num_rows == unique.num_rows < N
    assert there.riskiest(N).equals(unique)
    assert there.sentences()[:-1] == here.sentences()
    assert "--records" in there.sentences()[-1]
    assert there.records.summary() == here.records.summary()
    assert there.msus().equals(here.msus())
    assert there.categories.to_arrow().equals(here.categories.to_arrow())
    for record in range(1, N + 1, 7):
        assert there.explain(record) == here.explain(record)
    assert there.explanations().to_arrow().equals(here.explanations().to_arrow())
    assert there.explanations().summary() == here.explanations().summary()
    with pytest.raises(LimitError, match=r"\.parquet"):
        find_uniques(SudaRequest(counting=far, records=tmp_path / "records.csv", **asked))


CROWD = 1_500
BY_STRATUM = SampleDesign(strata="region", fraction="North=5%, it's=10%, South=20%")
OF_THE_CROWD = [
    (measure_release, MeasuresRequest, SampleDesign(fraction="2%"), {}),
    (
        measure_release,
        MeasuresRequest,
        WEIGHTED,
        {"measures": MeasuresOptions(sensitive=("income",), ordered=("income",))},
    ),
    (measure_release, MeasuresRequest, BY_STRATUM, {"missing": "exclude"}),
    (measure_release, MeasuresRequest, BY_STRATUM, {"missing": "wildcard"}),
    (infer_release, InferRequest, SampleDesign(fraction="5%"), {}),
    (infer_release, InferRequest, BY_STRATUM, {"missing": "exclude"}),
    (assess_release, AssessRequest, SampleDesign(fraction="5%"), {"policy": EVERYTHING}),
    (
        assess_release,
        AssessRequest,
        BY_STRATUM,
        {"missing": "exclude", "policy": EVERYTHING, "sensitive": ("income",)},
    ),
    (assess_release, AssessRequest, WEIGHTED, {"missing": "ignore", "policy": EVERYTHING}),
    (assess_release, AssessRequest, SampleDesign(fraction="1"), {}),
    (find_special, SpecialRequest, WEIGHTED, {"missing": "exclude"}),
    (find_special, SpecialRequest, WEIGHTED, {"missing": "wildcard"}),
]


@pytest.fixture(scope="module")
def crowd(tmp_path_factory):
    """Many records with few keys, some of them rare."""
    rng = np.random.default_rng(8)
    common = rng.random(CROWD) < 0.9
    table = pa.table(
        {
            "age": pa.array(
                np.where(common, rng.integers(20, 30, CROWD), rng.integers(30, 90, CROWD)),
                mask=rng.random(CROWD) < 0.02,
            ),
            "sex": pa.array(rng.choice(["f", "m"], CROWD)),
            "region": pa.array(rng.choice(["North", "it's", "South"], CROWD)),
            "weight": pa.array(rng.integers(1, 90, CROWD) / 4),
            "income": pa.array(rng.integers(0, 3, CROWD)),
        }
    )
    folder = tmp_path_factory.mktemp("crowd")
    (folder / "parts").mkdir()
    for part in range(2):
        pq.write_table(table.slice(part * 750, 750), folder / "parts" / f"{part}.parquet")
    return folder


def document(found):
    """Return what programs are told, but for lists of records, who counted and how long it took."""
    return {
        name: part.to_arrow().to_pylist() if isinstance(part, Result) else part
        for name, part in found.parts().items()
    }


@pytest.mark.slow
@pytest.mark.parametrize("case", OF_THE_CROWD, ids=lambda case: case[1].__name__)
def test_results_of_records_that_stay_elsewhere_are_those_of_this_machine(
    crowd, tmp_path, monkeypatch, case
):
    run, request, design, others = case
    asked = {**others, "design": design, "identifier": "income"}
    asked["microdata"] = microdata(crowd, missing=asked.pop("missing", "category"))
    here = run(request(counting=ON_THIS_MACHINE, records=tmp_path / "here.parquet", **asked))
    monkeypatch.setattr(bringing, "MOST_WRITTEN", CROWD - 1)
    with FarEngine() as engine:
        far = EngineRequest(engine=engine)
        there = run(request(counting=far, records=tmp_path / "there.parquet", **asked))
        one, other = (pq.read_table(tmp_path / f"{name}.parquet") for name in ("here", "there"))
        assert one.schema.names == other.schema.names
        assert other.sort_by("record").to_pylist() == one.to_pylist()
        if run is find_special:
            # Its table is of uniques; which class a record has comes here for the thinner samples.
            assert here.found.sentences() == there.found.sentences()
            return
        assert max(engine.rows) < CROWD / 2
        result = there.found.risk if run is infer_release else there.found
        known = here.found.risk if run is infer_release else here.found
        assert result.summary() == nearly(known.summary())
        assert result.sentences() == known.sentences()
        assert there.notices[:-1] == here.notices
        assert "--records" in there.notices[-1]
        ranked = result.ranked() if run is assess_release else result.records
        assert ranked.summary()["records"] == CROWD
        assert ranked.counts.sum() + ranked.n_excluded == CROWD
        result.plot()
        if run is assess_release:
            assert document(result) == nearly(document(known))
            for record in (1, 20, 700, CROWD):
                assert result.explain(record) == known.explain(record)
        with pytest.raises(LimitError, match=r"\.parquet"):
            run(request(counting=far, records=tmp_path / "records.csv", **asked))


def nearly(value):
    """Return what equals a value but for the last digits of its numbers."""
    if isinstance(value, dict):
        return {name: nearly(each) for name, each in value.items()}
    if isinstance(value, list):
        return [nearly(each) for each in value]
    return pytest.approx(value, rel=1e-12) if isinstance(value, float) else value


@pytest.mark.slow
def test_a_population_elsewhere_is_matched_by_keys(crowd, counted, monkeypatch):
    asked = {"microdata": microdata(counted), "population": crowd / "everybody"}
    if not asked["population"].exists():
        asked["population"].mkdir()
        for part in (*(counted / "parts").iterdir(), *(crowd / "parts").iterdir()):
            made = asked["population"] / f"{part.parent.parent.name}-{part.name}"
            made.write_bytes(part.read_bytes())
    monkeypatch.setattr(bringing, "MOST_WRITTEN", N - 1)
    design = SampleDesign(fraction="10%")
    with FarEngine() as engine:
        far = EngineRequest(engine=engine)
        for run, request in ((measure_release, MeasuresRequest), (infer_release, InferRequest)):
            here, there = same_found(run, request, far, design=design, **asked)
            assert here == nearly(there)


def same_found(run, request, far, **asked):
    for counting in (ON_THIS_MACHINE, far):
        found = run(request(counting=counting, **asked)).found
        if run is infer_release:
            found = found.attacks
        table = found.to_arrow()
        yield table.select([name for name in table.column_names if name != "exact"]).to_pylist()


@pytest.mark.parametrize(
    ("run", "asked"),
    [
        (measure_release, MeasuresRequest),
        (assess_release, AssessRequest),
    ],
)
def test_what_households_add_is_refused_before_anything_is_started(
    counted, monkeypatch, run, asked
):
    options = MeasuresOptions if run is measure_release else MeasureOptions
    given = {"measures" if run is measure_release else "measure": options(household="income")}
    far = EngineRequest(engine="spark://nowhere:1")
    monkeypatch.setattr(f"{run.__module__}.MOST_WRITTEN", N - 1)
    with pytest.raises(LimitError, match="--household") as caught:
        run(asked(microdata=microdata(counted), counting=far, **given))
    assert caught.value.reason is Reason.TOO_LARGE


def test_lists_of_different_values_come_here_up_to_a_limit(counted, far, monkeypatch):
    from gamekeeper.data.coding import source_coding

    monkeypatch.setattr(source_coding, "MOST_VALUES", 10)
    with pytest.raises(LimitError, match="more than 10"):
        open_microdata(microdata(counted), counting=far)
    assert open_microdata(microdata(counted)).coded.n_records == N


def test_large_files_elsewhere_are_known_by_what_they_say_of_themselves(counted, far, monkeypatch):
    from gamekeeper.data.coding import source_coding

    whole = open_microdata(microdata(counted), counting=far).coded.fingerprint
    monkeypatch.setattr(source_coding, "_MOST_HASHED", 0)
    marks = {
        open_microdata(MicrodataRequest(file=file, keys=KEYS), counting=far).coded.fingerprint
        for file in (counted / "parts", counted / "counted.parquet")
    }
    assert len(marks | {whole}) == 3
    assert open_microdata(microdata(counted)).coded.fingerprint == whole


def test_the_environment_names_the_engine_where_nothing_else_does(monkeypatch):
    with FarEngine() as engine:
        monkeypatch.setitem(engines._opened, ("far", "/scratch"), engine)
        monkeypatch.setenv("GAMEKEEPER_ENGINE", " far ")
        monkeypatch.setenv("GAMEKEEPER_SCRATCH", "/scratch")
        assert engines.engine_for(EngineRequest()) is engine
        assert EngineRequest().is_elsewhere
        here = engines.engine_for(EngineRequest(engine="DuckDB"))
        assert isinstance(here, DuckDBEngine)
        assert here.is_local


def test_a_scratch_folder_without_a_cluster_has_no_use():
    with pytest.raises(InputError, match="--engine"):
        engines.engine_for(EngineRequest(engine="duckdb", scratch="/tmp"))


def test_an_engine_that_is_not_known_is_one_clear_error(counted):
    with pytest.raises(GamekeeperError) as caught:
        count_release(
            KeysRequest(microdata=microdata(counted), counting=EngineRequest(engine="sparc"))
        )
    # Such a text may hold a password.
    assert "sparc" not in str(caught.value)
    assert "duckdb" in str(caught.value)


def imported(folder, store):
    import_folder(ImportRequest(folder=folder, place=InStore(store=store)))


def test_only_what_is_needed_is_coded(people):
    data = open_microdata(
        people, design=SampleDesign(strata="Region", weight="w"), extra=["Status"]
    )
    assert data.keys == OPENING_KEYS
    assert data.coded.codebook.names == (*OPENING_KEYS, "Region")
    assert data.coded.numbers == ("w",)
    assert data.coded.number("w").sum() == 85
    assert data.coarser() == {}


def test_it_is_counted_as_asked(people):
    found = open_microdata(
        replace(people, missing=Missing.EXCLUDE),
        design=SampleDesign(weight="w", strata="Region"),
        sensitive=["Region"],
    )
    table = found.count()
    assert table.keys == OPENING_KEYS
    assert (table.n_records, table.n_excluded, table.missing) == (11, 1, Missing.EXCLUDE)
    assert table.fractions == {"North": Fraction(1, 10), "South": Fraction(1, 5)}
    assert table.diversity["Region"] == {1: 5, 2: 6}


def test_a_column_may_have_a_comma_in_its_name(tmp_path):
    file = write(tmp_path, "comma.csv", '"Age, in years",Sex\n1,f\n2,m\n')
    data = open_microdata(MicrodataRequest(file=file, keys=["Age, in years", " Sex ,"]))
    assert data.keys == ("Age, in years", "Sex")


def test_values_can_be_read_as_missing(people):
    data = open_microdata(replace(people, reading=Reading(missing_values=["married", "71"])))
    assert words(data, "Status").count("missing") == 7
    assert words(data, "Age").count("missing") == 3


def test_user_missing_codes_of_spss(tmp_path):
    file = tmp_path / "people.sav"
    pyreadstat.write_sav(
        pd.DataFrame({"sex": [1.0, 2.0, 9.0]}),
        str(file),
        variable_value_labels={"sex": {1.0: "female", 2.0: "male", 9.0: "refused"}},
        missing_ranges={"sex": [9.0]},
    )
    request = MicrodataRequest(file=file, keys=["sex"])
    assert words(open_microdata(request), "sex") == ["female", "male", "missing"]
    kept = open_microdata(replace(request, reading=Reading(keep_user_missing=True)))
    assert words(kept, "sex") == ["female", "male", "refused"]


@pytest.mark.parametrize(
    ("text", "overall", "of_strata"),
    [
        ("", None, None),
        (" 2% ", Fraction(1, 50), None),
        ("1/50", Fraction(1, 50), None),
        ("North=10%, South = 1/5", Fraction(12, 85), (Fraction(1, 10), Fraction(1, 5))),
    ],
)
def test_fractions_as_people_write_them(people, text, overall, of_strata):
    strata = "Region" if of_strata else ""
    table = open_microdata(people, design=SampleDesign(fraction=text, strata=strata)).count()
    assert table.fraction == overall
    assert (table.fractions and tuple(table.fractions.values())) == of_strata


def test_a_stratum_may_have_an_equals_sign(tmp_path):
    file = write(tmp_path, "odd.csv", "a,s\n1,x=y\n2,x=y\n")
    request = MicrodataRequest(file=file, keys=["a"])
    design = SampleDesign(strata="s", fraction="x=y=1/4")
    assert open_microdata(request, design=design).count().fraction == Fraction(1, 4)


def test_a_stratum_has_one_fraction(people):
    design = SampleDesign(strata="Region", fraction=f"{SECRET}=1%, South=2%, {SECRET}=3%")
    with pytest.raises(InputError) as caught:
        open_microdata(people, design=design).count()
    assert caught.value.reason is Reason.DUPLICATE
    assert "1 stratum is given more than once" in str(caught.value)
    assert SECRET not in str(caught.value)


def test_a_scenario_recodes_to_its_categories(clerk):
    data = open_microdata(clerk, design=SampleDesign(weight="w"))
    assert set(data.keys) == {"Age", "Sex", "Marital status"}
    assert words(data, "Age") == ["0-15", "16-64", "16-64", "16-64", "16-64", "65+", "65+"]
    assert words(data, "Marital status") == [
        "single", "formerly married", "married", "married", "married", "formerly married",
        "formerly married",
    ]  # fmt: skip
    # At any level of detail values stay as they are.
    assert words(data, "Sex") == ["female"] * 3 + ["male"] * 3 + ["female"]
    table = data.count()
    assert (table.n_classes, table.n_uniques, table.n_paired) == (6, 5, 2)
    assert table.fraction == Fraction(7, 50)
    assert data.scenario is not None
    assert data.scenario.attacker == "Somebody at a bank"


def test_a_scenario_of_a_store(clerk, tmp_path):
    store = tmp_path / "world.gk"
    imported(clerk.environment, store)
    data = open_microdata(replace(clerk, environment=store))
    assert data.count().n_uniques == 5


def test_coarser_recodes_are_of_the_scenario_categories(clerk):
    data = open_microdata(clerk)
    coarser = data.coarser()
    assert {name: [item.words[1:] for item in made] for name, made in coarser.items()} == {
        "Age": [("0-15", "16+"), ("0+",)],
        "Marital status": [("any",)],
    }
    once = replace(data, coded=data.coded.recoded([coarser["Age"][0]]))
    assert words(once, "Age") == ["0-15", *["16+"] * 6]


def test_columns_can_be_named(clerk, tmp_path):
    text = OF_SCENARIO.replace("marital_status", "ms").replace("AGE", "years")
    request = replace(clerk, file=write(tmp_path, "other.csv", text))
    error = refused(request)
    assert error.reason is Reason.UNKNOWN_NAME
    assert [problem.where for problem in error.problems] == [
        "key variable 'Age'",
        "key variable 'Marital status'",
    ]
    named = replace(request, columns={"Age": "years", "Marital status": "ms"})
    assert open_microdata(named).count().n_uniques == 5
    wrong = refused(replace(request, columns={"Age": "yaers", "Marital status": "ms", "Job": "w"}))
    assert "Near to it: 'years'" in str(wrong)
    assert "'Job'" in str(wrong)


def test_keys_come_one_way(people, clerk):
    assert refused(replace(people, keys=())).reason is Reason.NOTHING_GIVEN
    error = refused(replace(people, scenario=SCENARIO))
    assert error.reason is Reason.BAD_OPTION
    assert [problem.where for problem in error.problems] == ["key variables", "environment"]
    for unfit in (
        {"environment": clerk.environment},
        {"columns": {"a": "b"}},
        {"values": clerk.file},
        {"unmapped": clerk.file},
    ):
        assert "no scenario is given" in str(refused(replace(people, **unfit)))


def test_scenarios_that_are_not_there(clerk, tmp_path):
    assert "Near to it: 'A clerk'" in str(refused(replace(clerk, scenario="A clark")))
    with pytest.raises(GamekeeperError) as caught:
        open_microdata(replace(clerk, environment=tmp_path / "nowhere"))
    assert caught.value.reason is Reason.NOT_FOUND


@pytest.mark.parametrize(
    ("category", "reason"),
    [("formerly married", Reason.STALE), ("divorced", Reason.UNMAPPED_VALUES)],
)
def test_a_scenario_whose_categories_are_gone(clerk, tmp_path, category, reason):
    store = tmp_path / "world.gk"
    imported(clerk.environment, store)
    edit = RemoveCategory(variable="Marital status", category=category)
    edit_store(store, [edit], Signature(), unrestricted=True)
    error = refused(replace(clerk, environment=store))
    assert error.reason is reason
    assert "'Marital status'" in str(error)


def test_wrong_columns_are_told_together(people):
    wrong = replace(people, keys=("Aeg", "Sex"))
    error = refused(wrong, design=SampleDesign(strata="Rigion", weight="W8"), extra=["x"])
    assert error.reason is Reason.UNKNOWN_NAME
    assert len(error.problems) == 4
    assert "Near to it: 'Age'" in str(error)


def test_a_repr_shows_no_value(people):
    shown = repr(open_microdata(people, design=SampleDesign(weight="w")))
    assert "widowed" not in shown
    assert "12 records" in shown


@pytest.fixture
def unmapped(tmp_path, clerk):
    """A file with three values that the environment does not know, or knows only as coarser."""
    rows = f"16+,female,single,North,1\n8,female,{SECRET},North,1\n9,male,{SECRET},North,1\n"
    rows += f"9,male,{SECRET} 2,North,1\n"
    return replace(clerk, file=write(tmp_path, "unmapped.csv", OF_SCENARIO + rows))


def test_unmapped_values_are_counted_and_not_shown(unmapped):
    error = refused(unmapped)
    assert error.reason is Reason.UNMAPPED_VALUES
    assert [str(problem) for problem in error.problems] == [
        (
            "key variable 'Age': 1 value of the column 'AGE' in 1 record fit no category of C3.001,"
            " 1 of them too coarse for it."
        ),
        (
            "key variable 'Marital status': 2 values of the column 'marital_status' in 3 records"
            " fit no category of C3.001."
        ),
    ]
    assert "--unmapped" in error.do


def test_unmapped_values_are_listed_filled_in_and_read_back(unmapped, tmp_path):
    listed = tmp_path / "values.csv"
    error = refused(replace(unmapped, unmapped=listed))
    assert str(listed) in error.do
    with listed.open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    assert [(row["variable"], row["value"], row["records"], row["category"]) for row in rows] == [
        ("Age", "16+", "1", ""),
        ("Marital status", SECRET, "2", ""),
        ("Marital status", f"{SECRET} 2", "1", ""),
    ]
    # Not filled in, they are as unmapped as before; and the list is never overwritten.
    before = listed.read_bytes()
    assert refused(replace(unmapped, values=listed)).reason is Reason.UNMAPPED_VALUES
    error = refused(replace(unmapped, unmapped=listed), StoreError)
    assert error.reason is Reason.NOT_WRITABLE
    assert listed.read_bytes() == before
    for row, category in zip(rows, ["16-64", "married", "divorced"], strict=True):
        row["category"] = category
    with listed.open("w", encoding="utf-8-sig", newline="") as file:
        writer = csv.DictWriter(file, list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)
    data = open_microdata(replace(unmapped, values=listed))
    assert words(data, "Age")[7:] == ["16-64", "0-15", "0-15", "0-15"]
    assert words(data, "Marital status")[8:] == ["married", "married", "formerly married"]


def test_labels_are_listed_beside_values(clerk, tmp_path):
    file, listed = tmp_path / "labels.sav", tmp_path / "values.csv"
    labels = {"ms": {1.0: "single", 2.0: "in a partnership"}}
    pyreadstat.write_sav(
        pd.DataFrame({"Age": [20.0, 30.0], "Sex": ["female", "male"], "ms": [1.0, 2.0]}),
        str(file),
        variable_value_labels=labels,
    )
    request = replace(clerk, file=file, columns={"Marital status": "ms"})
    refused(replace(request, unmapped=listed))
    with listed.open(encoding="utf-8", newline="") as lines:
        (row,) = csv.DictReader(lines)
    assert (row["value"], row["label"]) == ("2", "in a partnership")
    values = write(tmp_path, "filled.csv", "variable,value,category\nMarital status,2,married\n")
    data = open_microdata(replace(request, values=values))
    assert words(data, "Marital status") == ["single", "married"]


@pytest.mark.parametrize(
    ("text", "reason", "said"),
    [
        ("variable,value\nAge,1\n", Reason.WRONG_SCHEMA, "no column 'category'"),
        ("", Reason.WRONG_SCHEMA, "'variable', 'value', 'category'"),
        ("variable,value,category\nAge,16+,16_64\n", Reason.UNKNOWN_NAME, "Near to it: '16-64'"),
        (
            f"variable,value,category\nMarital status,{SECRET},{SECRET}\n",
            Reason.UNKNOWN_NAME,
            "key variable 'Marital status': 1 value has a value of the file in place of a category",
        ),
        (
            f"variable,value,category\nMarital status,{SECRET},single\nMarital status,{SECRET},any\n",
            Reason.DUPLICATE,
            "variable 'Marital status': 1 value.",
        ),
    ],
)
def test_a_list_of_values_that_cannot_be_used(unmapped, tmp_path, text, reason, said):
    error = refused(replace(unmapped, values=write(tmp_path, "values.csv", text)))
    assert error.reason is reason
    assert said in str(error)


def test_a_list_of_values_that_cannot_be_read(unmapped, tmp_path):
    latin = tmp_path / "latin.csv"
    latin.write_bytes(f"variable,value,category\nAge,{SECRET}\xe4,16-64\n".encode("latin-1"))
    for path in (latin, tmp_path / "none.csv", tmp_path):
        assert refused(replace(unmapped, values=path)).reason is Reason.NOT_READABLE


def test_where_the_list_cannot_be_written(unmapped, tmp_path):
    error = refused(replace(unmapped, unmapped=tmp_path / "no folder" / "values.csv"), StoreError)
    assert error.reason is Reason.NOT_WRITABLE
