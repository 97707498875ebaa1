"""Whether a far engine counts or this machine, the answer is the same; what must come is limited."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from gamekeeper.attack.assessment.criteria import CRITERIA
from gamekeeper.attack.assessment.policy import Limit, Policy
from gamekeeper.attack.models import fitting
from gamekeeper.attack.models.fitting import fit_models
from gamekeeper.attack.options import MeasureOptions, MeasuresOptions
from gamekeeper.data.coding import source_coding
from gamekeeper.data.engine import gate
from gamekeeper.data.engine.duckdb_engine import DuckDBEngine
from gamekeeper.data.keys.counting import FEWER_KEYS
from gamekeeper.errors import GamekeeperError, InputError, LimitError, Reason
from gamekeeper.results import Result
from gamekeeper.workbench.assessment import assess, assess_release
from gamekeeper.workbench.microdata import _opened, engine_for, open_microdata
from gamekeeper.workbench.models import fit_release, infer_release
from gamekeeper.workbench.requests.assessment import AssessRequest
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
from gamekeeper.workbench.requests.shared import ON_THIS_MACHINE, EngineRequest
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

KEYS = ("age", "sex", "region")
N = 300


@pytest.fixture(scope="module")
def people(tmp_path_factory):
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
    folder = tmp_path_factory.mktemp("people")
    pq.write_table(table, folder / "people.parquet")
    (folder / "parts").mkdir()
    for part in range(3):
        pq.write_table(table.slice(part * 100, 100), folder / "parts" / f"part-{part}.parquet")
    return folder


@pytest.fixture(scope="module")
def far():
    with FarEngine() as engine:
        yield EngineRequest(engine=engine)


def microdata(people, **others):
    return MicrodataRequest(file=people / "parts", keys=KEYS, **others)


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
def test_keys_are_counted_alike(people, far, missing):
    asked = {"microdata": microdata(people, missing=missing), "design": WEIGHTED}
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
def test_attacks_find_the_same(people, far, run, request_type, design):
    equal(*same(run, request_type, far, microdata=microdata(people), design=design))


@pytest.mark.slow
def test_inference_and_assessment_find_the_same(people, far):
    design = SampleDesign(fraction="1/10")
    here, there = same(infer_release, InferRequest, far, microdata=microdata(people), design=design)
    equal(here.risk, there.risk)
    found = [
        assess(people / "people.parquet", keys=KEYS, fraction="10%", engine=engine)
        for engine in ("duckdb", far.engine)
    ]
    assert found[0].summary() == found[1].summary()


def test_tables_are_counted_alike(people, far, tmp_path):
    made = [
        publish_tables(
            PublishRequest(microdata=microdata(people), counting=who, output=tmp_path / name)
        ).found
        for who, name in ((ON_THIS_MACHINE, "a.json"), (far, "b.json"))
    ]
    assert (tmp_path / "a.json").read_bytes() == (tmp_path / "b.json").read_bytes()
    assert np.array_equal(made[0][1].dense(), made[1][1].dense())


def test_to_count_keys_brings_no_record_here(people, monkeypatch):
    monkeypatch.setattr(gate, "MOST_BROUGHT", 0)
    with FarEngine() as engine:
        far = EngineRequest(engine=engine)
        found = count_release(
            KeysRequest(microdata=microdata(people), design=WEIGHTED, counting=far)
        ).found.table
        assert found.n_records == N
        assert simulate_intrusion(
            DisRequest(microdata=microdata(people), design=WEIGHTED, counting=far)
        ).found.value
        assert engine.streamed == []
        for array in (found.class_sizes, found.class_numbers, found.matrix, found.to_arrow):
            with pytest.raises(LimitError) as caught:
                array()
            assert "(--" in caught.value.do or "part of the records" in caught.value.do


def test_files_that_are_read_here_are_handed_over_up_to_a_limit(people, far, tmp_path, monkeypatch):
    rows = pq.read_table(people / "people.parquet").to_pylist()
    text = "\n".join(
        ["age,sex,region", *(f"{r['age'] or ''},{r['sex']},{r['region']}" for r in rows)]
    )
    file = tmp_path / "people.csv"
    file.write_text(text)
    asked = MicrodataRequest(file=file, keys=KEYS)
    assert open_microdata(asked, counting=far).coded.n_records == N
    monkeypatch.setattr(gate, "MOST_LOADED", N - 1)
    with pytest.raises(LimitError, match="Parquet") as caught:
        open_microdata(asked, counting=far)
    assert "North" not in str(caught.value)
    # Parquet is read in place, whatever the limit.
    assert open_microdata(microdata(people), counting=far).coded.n_records == N


def test_keys_that_are_compared_with_each_other_come_here_up_to_a_limit(people, far, monkeypatch):
    monkeypatch.setattr(gate, "MOST_BROUGHT", 10)
    asked = KeysRequest(microdata=microdata(people, missing="wildcard"), counting=far)
    with pytest.raises(LimitError) as caught:
        count_release(asked)
    assert "--missing" in caught.value.do
    assert FEWER_KEYS in caught.value.do


def test_classes_are_written_where_they_were_counted(people, far, tmp_path, monkeypatch):
    asked = {"microdata": microdata(people, missing="ignore"), "design": WEIGHTED}
    here = count_release(
        KeysRequest(counting=ON_THIS_MACHINE, output=tmp_path / "here.parquet", **asked)
    )
    monkeypatch.setattr(gate, "MOST_WRITTEN", 10)
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
def test_models_are_fitted_to_margins_that_are_counted_elsewhere(people, far, monkeypatch, missing):
    here = count_release(
        KeysRequest(microdata=microdata(people, missing=missing), counting=ON_THIS_MACHINE)
    ).found.table
    there = count_release(
        KeysRequest(microdata=microdata(people, missing=missing), counting=far)
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
    people, far, tmp_path, monkeypatch, missing, fraction
):
    asked = {
        "microdata": microdata(people, missing=missing),
        "design": SampleDesign(fraction=fraction),
        "identifier": "income",
    }
    here = find_uniques(
        SudaRequest(counting=ON_THIS_MACHINE, records=tmp_path / "here.parquet", **asked)
    ).found
    monkeypatch.setattr(gate, "MOST_WRITTEN", N - 1)
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
    monkeypatch.setattr(gate, "MOST_WRITTEN", CROWD - 1)
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
def test_a_population_elsewhere_is_matched_by_keys(crowd, people, monkeypatch):
    asked = {"microdata": microdata(people), "population": crowd / "everybody"}
    if not asked["population"].exists():
        asked["population"].mkdir()
        for part in (*(people / "parts").iterdir(), *(crowd / "parts").iterdir()):
            made = asked["population"] / f"{part.parent.parent.name}-{part.name}"
            made.write_bytes(part.read_bytes())
    monkeypatch.setattr(gate, "MOST_WRITTEN", N - 1)
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
def test_what_households_add_is_refused_before_anything_is_started(people, monkeypatch, run, asked):
    options = MeasuresOptions if run is measure_release else MeasureOptions
    given = {"measures" if run is measure_release else "measure": options(household="income")}
    far = EngineRequest(engine="spark://nowhere:1")
    monkeypatch.setattr(f"{run.__module__}.MOST_WRITTEN", N - 1)
    with pytest.raises(LimitError, match="--household") as caught:
        run(asked(microdata=microdata(people), counting=far, **given))
    assert caught.value.reason is Reason.TOO_LARGE


def test_lists_of_different_values_come_here_up_to_a_limit(people, far, monkeypatch):
    monkeypatch.setattr(gate, "MOST_VALUES", 10)
    with pytest.raises(LimitError, match="more than 10"):
        open_microdata(microdata(people), counting=far)
    assert open_microdata(microdata(people)).coded.n_records == N


def test_large_files_elsewhere_are_known_by_what_they_say_of_themselves(people, far, monkeypatch):
    whole = open_microdata(microdata(people), counting=far).coded.fingerprint
    monkeypatch.setattr(source_coding, "_MOST_HASHED", 0)
    marks = {
        open_microdata(MicrodataRequest(file=file, keys=KEYS), counting=far).coded.fingerprint
        for file in (people / "parts", people / "people.parquet")
    }
    assert len(marks | {whole}) == 3
    assert open_microdata(microdata(people)).coded.fingerprint == whole


def test_the_environment_names_the_engine_where_nothing_else_does(monkeypatch):
    with FarEngine() as engine:
        monkeypatch.setitem(_opened, ("far", "/scratch"), engine)
        monkeypatch.setenv("GAMEKEEPER_ENGINE", " far ")
        monkeypatch.setenv("GAMEKEEPER_SCRATCH", "/scratch")
        assert engine_for(EngineRequest()) is engine
        assert EngineRequest().is_elsewhere
        here = engine_for(EngineRequest(engine="DuckDB"))
        assert isinstance(here, DuckDBEngine)
        assert here.is_local


def test_a_scratch_folder_without_a_cluster_has_no_use():
    with pytest.raises(InputError, match="--engine"):
        engine_for(EngineRequest(engine="duckdb", scratch="/tmp"))


def test_an_engine_that_is_not_known_is_one_clear_error(people):
    with pytest.raises(GamekeeperError) as caught:
        count_release(
            KeysRequest(microdata=microdata(people), counting=EngineRequest(engine="sparc"))
        )
    # Such a text may hold a password.
    assert "sparc" not in str(caught.value)
    assert "duckdb" in str(caught.value)
