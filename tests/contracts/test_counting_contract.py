"""Stage two on every engine: the arrays of records that DuckDB gives, record by record.

On Spark every query is a job of a second, so that one file is counted under one rule for all.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from gamekeeper.attack.measures import measure_risk
from gamekeeper.attack.models.fitting import fit_models
from gamekeeper.attack.models.inference import infer_risk
from gamekeeper.attack.options import MeasuresOptions
from gamekeeper.attack.uniques.suda import assess_uniques
from gamekeeper.data.coding.source_coding import code_source
from gamekeeper.data.engine import gate as bringing
from gamekeeper.data.keys.counting import count_keys
from gamekeeper.data.keys.weights import Marginals
from gamekeeper.data.keys.writing import write_classes, write_listed
from gamekeeper.data.reading.source import open_source
from gamekeeper.options import given
from tests.given.far_engine import FarEngine

ENGINES = {
    "far": lambda request: lambda folder: FarEngine(folder=folder),
    "spark": lambda request: request.getfixturevalue("spark"),
}
KEYS = ("age", "sex", "region")


@pytest.mark.parametrize("kind", ENGINES)
def test_records_keys_uniques_and_margins_are_those_of_duckdb(kind, request, tmp_path, monkeypatch):
    rng = np.random.default_rng(2)
    table = pa.table(
        {
            "age": pa.array(rng.integers(20, 50, 90), mask=rng.random(90) < 0.1),
            "sex": pa.array(rng.choice(["f", "m"], 90)),
            "region": pa.array(rng.choice(["it's", "North"], 90)),
            "weight": pa.array(rng.integers(1, 90, 90) / 7),
            "job": pa.array(rng.integers(1, 4, 90), mask=rng.random(90) < 0.1),
        }
    )
    (tmp_path / "parts").mkdir()
    for part in range(2):
        pq.write_table(table.slice(45 * part, 45), tmp_path / "parts" / f"{part}.parquet")
    source = open_source(tmp_path / "parts")
    (tmp_path / "scratch").mkdir()
    with ENGINES[kind](request)(tmp_path / "scratch") as engine:
        here, there = (
            count_keys(
                code_source(source, [*KEYS, "job"], numbers=["weight"], engine=who),
                KEYS,
                missing="exclude",
                weight="weight",
                strata="region",
            )
            for who in (None, engine)
        )
        assert here.structure == there.structure
        assert here.fractions == there.fractions
        assert np.array_equal(here.class_numbers(), there.class_numbers())
        assert np.array_equal(here.class_weights(), there.class_weights())
        assert here.to_arrow().equals(there.to_arrow())
        assert here.sizes_by_stratum() == there.sizes_by_stratum()
        one, other = (Marginals(keys).of([1, 6, 7]) for keys in (here, there))
        for (sizes, cells), (own_sizes, own_cells) in zip(one, other, strict=True):
            assert np.array_equal(sizes, own_sizes)
            assert np.array_equal(cells, own_cells)
        assert write_classes(there, tmp_path / "classes") == here.n_classes
        written = pq.read_table(tmp_path / "classes").select([*KEYS, "count"]).to_pylist()
        assert sorted(map(str, written)) == sorted(
            map(str, here.to_arrow().select([*KEYS, "count"]).to_pylist())
        )
        monkeypatch.setattr(bringing, "MOST_WRITTEN", 0)
        uniques = [assess_uniques(keys, fraction="1/10") for keys in (here, there)]
        assert uniques[0].riskiest(90).equals(uniques[1].riskiest(90))
        assert there.listed.by_key
        # As it is typed: workers are elsewhere.
        monkeypatch.chdir(tmp_path)
        for name, (one, other) in results_of_records(here, there, Path()).items():
            assert other.schema.names == one.schema.names, name
            assert other.sort_by("record").to_pylist() == one.to_pylist(), name
        fits = [fit_models(keys, method="annealing", chains=1) for keys in (here, there)]
        assert np.array_equal(fits[0].search.log_scores, fits[1].search.log_scores)


def results_of_records(here, there, folder):
    """Yield tables of all records, each as this machine and as the engine that has them wrote it."""
    options = MeasuresOptions(sensitive=("job",), dimension=2)
    measured = [measure_risk(keys, **given(options)) for keys in (here, there)]
    fits = [fit_models(keys, method="annealing", chains=1) for keys in (here, there)]
    inferred = [infer_risk(keys, fit) for keys, fit in zip((here, there), fits, strict=True)]
    # A column of flags and one of words, with some that are not known.
    flagged = []
    for keys in (here, there):
        sizes = keys.listed.sizes()
        table = keys.listed.table_of({"few": sizes < 3, "size": np.where(sizes > 1, sizes, np.nan)})
        words = pa.array(["it's" if few else None for few in table["few"].to_pylist()], pa.string())
        flagged.append(table.append_column("word", words))
    found = {
        "measures": [each.records.table for each in measured],
        "inference": [each.records.table for each in inferred],
        "flags": flagged,
    }
    made = {}
    for name, (one, other) in found.items():
        write_listed(there.listed, other, folder / name, identifier="job")
        written = pq.read_table(folder / name)
        codes = here.coded.codes("job")
        words = pa.array([here.coded.codebook["job"].values[code] or None for code in codes])
        made[name] = one.add_column(1, "job", words), written
    return made
