"""What would take more memory, or more time, than there is: refused before it begins.

Each refusal has exit code 3, an estimate and a way around, and comes before anything of the size is
made: what Python and numpy allocate meanwhile is watched.
"""

from __future__ import annotations

import itertools
import json
import sys
import tracemalloc

import numpy as np
import pyarrow as pa
import pyarrow.parquet
import pytest

from gamekeeper.cli.app import main
from gamekeeper.data.tables.release import Release
from gamekeeper.data.tables.release_file import write_release
from gamekeeper.errors import InputError, LimitError

MOST_MADE = 60_000_000


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    folder = tmp_path_factory.mktemp("large")
    for n_axes in (12, 22, 24):
        names = [f"a{number}" for number in range(n_axes)]
        pairs = itertools.pairwise(names)
        published = [{"margin": pair, "counts": [[5, 3], [3, 5]]} for pair in pairs]
        made = Release.typed({name: ["no", "yes"] for name in names}, published)
        write_release(made, folder / f"axes{n_axes}.json")
    axes = {name: [f"{name}{number}" for number in range(3_000)] for name in ("r", "c")}
    published = [{"margin": [name], "counts": [3_000] * 3_000} for name in axes]
    write_release(Release.typed(axes, published), folder / "square.json")
    # A row group of one value takes a few bytes, however many records it stands for.
    schema = pa.schema([(f"v{number}", pa.int8()) for number in range(3)])
    with pyarrow.parquet.ParquetWriter(folder / "many.parquet", schema) as writer:
        same = pa.table([np.zeros(10**6, np.int8)] * 3, schema=schema)
        for _ in range(100):
            writer.write_table(same)
    generator = np.random.default_rng(0)
    wide = {f"v{number}": generator.integers(0, 4, 20_000).astype(np.int8) for number in range(30)}
    pyarrow.parquet.write_table(pa.table(wide), folder / "wide.parquet")
    # So many records, few of which differ, and nearly all of which do.
    one = generator.integers(0, 20, (2, 200_000))
    pyarrow.parquet.write_table(pa.table({"a": one[0], "b": one[1]}), folder / "alike.parquet")
    every = {"a": np.arange(200_000), "b": one[1]}
    pyarrow.parquet.write_table(pa.table(every), folder / "unlike.parquet")
    (folder / "ones.csv").write_text("v0,v1,v2\n0,1,2\n1,0,2\n2,1,0\n")
    (folder / "people.csv").write_text("a,b\n1,2\n1,3\n2,3\n2,3\n")
    (folder / "counts.csv").write_text("Age,Work,n\ny,a,1\ny,b,0\no,a,2\no,b,4\n")
    return folder


def run(monkeypatch, capsys, place, *arguments):
    """Return the exit code, what was said, and the most bytes that were made on the way."""
    made = [str(argument).format(place=place) for argument in arguments]
    monkeypatch.setattr(sys, "argv", ["gamekeeper", *made])
    tracemalloc.start()
    try:
        with pytest.raises(SystemExit) as stop:
            main()
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    said = capsys.readouterr()
    return stop.value.code or 0, said.out, said.err, peak


@pytest.mark.slow
@pytest.mark.parametrize(
    "arguments",
    [
        ("tables", "bounds", "{place}/axes24.json", "--memory", "500MB"),
        ("tables", "bounds", "{place}/axes24.json", "--format", "json", "--memory", "4GB"),
        ("tables", "bounds", "{place}/axes22.json", "--format", "json", "--memory", "1GB"),
        ("tables", "bounds", "{place}/axes22.json", "-o", "{place}/x.csv", "--memory", "1GB"),
        ("tables", "feasible", "{place}/axes24.json", "--memory", "20GB"),
        ("tables", "feasible", "{place}/square.json", "--memory", "20GB"),
        ("tables", "sap", "{place}/counts.csv", "--truth", "{place}/counts.csv",
         "--draws", 10**12),
        ("protect", "try", "{place}/many.parquet", "-k", "v0,v1,v2", "-t", "both>=2", "--memory", "10GB"),
        ("protect", "audit", "{place}/many.parquet", "{place}/ones.csv", "-k", "v0,v1,v2",
         "--unlinked", "--memory", "10GB"),
        ("risk", "simulate", "{place}/people.csv", "-k", "a,b", "--samples", 10**9),
        ("risk", "compare", "{place}/people.csv", "-k", "a,b", "--fraction", "1/2",
         "--samples", 10**9),
        ("risk", "suda", "{place}/many.parquet", "-k", "v0,v1,v2", "--memory", "4GB"),
        ("risk", "special", "{place}/many.parquet", "-k", "v0,v1,v2", "--memory", "4GB"),
        ("risk", "infer", "{place}/many.parquet", "-k", "v0,v1", "--fraction", "1%",
         "--memory", "4GB"),
        ("risk", "match", "{place}/many.parquet", "-k", "v0,v1,v2", "--fraction", "1%",
         "--memory", "2GB"),
        ("risk", "keys", "{place}/many.parquet", "-k", "v0,v1,v2", "--memory", "500MB"),
        ("risk", "dis", "{place}/many.parquet", "-k", "v0,v1,v2", "--fraction", "1%",
         "--memory", "500MB"),
        ("risk", "measures", "{place}/many.parquet", "-k", "v0,v1,v2", "--memory", "4GB"),
        ("risk", "model", "{place}/many.parquet", "-k", "v0,v1,v2", "--memory", "4GB"),
        ("assess", "{place}/many.parquet", "-k", "v0,v1,v2", "--memory", "4GB"),
        ("look", "{place}/many.parquet", "--memory", "1GB"),
        ("tables", "mark", "{place}/many.parquet", "--axes", "v0", "--rule", "minimum:3",
         "--memory", "10GB"),
        ("tables", "release", "{place}/many.parquet", "-k", "v0,v1,v2", "-o",
         "{place}/none.json", "--memory", "500MB"),
        # Second files: a population, an original, a file to be linked with.
        ("risk", "match", "{place}/ones.csv", "-k", "v0,v1,v2", "--population",
         "{place}/many.parquet", "--memory", "500MB"),
        ("risk", "measures", "{place}/ones.csv", "-k", "v0,v1,v2", "--population",
         "{place}/many.parquet", "--memory", "500MB"),
        ("risk", "special", "{place}/ones.csv", "-k", "v0,v1,v2", "--population",
         "{place}/many.parquet", "--memory", "500MB"),
        ("risk", "suda", "{place}/ones.csv", "-k", "v0,v1,v2", "--population",
         "{place}/many.parquet", "--report", "{place}/none.html", "--memory", "500MB"),
        ("risk", "infer", "{place}/ones.csv", "-k", "v0,v1,v2", "--fraction", "1%",
         "--population", "{place}/many.parquet", "--memory", "500MB"),
        ("risk", "dis", "{place}/ones.csv", "-k", "v0,v1,v2", "--fraction", "1%", "--original",
         "{place}/many.parquet", "--memory", "500MB"),
        ("link", "files", "{place}/ones.csv", "{place}/many.parquet", "--on", "v0,v1",
         "--memory", "1GB"),
        ("link", "files", "{place}/many.parquet", "{place}/ones.csv", "--on", "v0,v1",
         "--memory", "1GB"),
        ("link", "evaluate", "{place}/ones.csv", "{place}/many.parquet", "--on", "v0,v1",
         "--memory", "1GB"),
        ("link", "structure", "{place}/ones.csv", "{place}/many.parquet", "--columns", "v0,v1",
         "--others", "v0,v1", "--memory", "1GB"),
    ],
)  # fmt: skip
def test_too_much_is_refused_before_it_begins(monkeypatch, capsys, place, arguments):
    code, out, err, peak = run(monkeypatch, capsys, place, *arguments)
    assert code == LimitError.exit_code, err
    assert out == ""
    assert "[too-large]" in err
    assert any(word in err for word in ("would take about", "The limit is")), err
    assert "(--" in err
    assert peak < MOST_MADE, err


@pytest.mark.slow
@pytest.mark.parametrize(("name", "code"), [("alike", 0), ("unlike", LimitError.exit_code)])
def test_records_that_all_differ_are_not_assessed_beyond_what_is_allowed(
    monkeypatch, capsys, place, name, code
):
    asked = ("assess", f"{{place}}/{name}.parquet", "-k", "a,b", "--memory", "60MB")
    done, _, err, _ = run(monkeypatch, capsys, place, *asked)
    assert done == code, err
    assert ("200,000 different keys, which would take about" in err) == (name == "unlike")


def test_the_best_known_of_many_cells_are_shown_without_listing_all(monkeypatch, capsys, place):
    code, out, _, peak = run(
        monkeypatch, capsys, place, "tables", "bounds", "{place}/axes22.json", "--top", 3,
        "--memory", "250MB",
    )  # fmt: skip
    assert code == 0
    assert "4,194,304 cells" in out
    assert peak < 250_000_000


@pytest.mark.slow
def test_long_lists_are_printed_a_line_at_a_time(monkeypatch, capsys, place):
    from gamekeeper.cli import commands as show

    written = []
    monkeypatch.setattr(show.sys.stdout, "write", lambda text: written.append(len(text)))
    code, *_ = run(
        monkeypatch, capsys, place, "tables", "bounds", "{place}/axes12.json", "--format", "json"
    )
    assert code == 0
    assert max(written) < 3_000 < sum(written)


def test_json_is_laid_out_as_before(monkeypatch, capsys, place):
    ends = (("--format", "json"), ("--format", "json", "--axes", "Age", "--absent", "zero"))
    for options in ends:
        _, out, *_ = run(
            monkeypatch, capsys, place, "tables", "bounds", "{place}/counts.csv", *options[:2]
        )
        document = json.loads(out)
        assert out == json.dumps(document, ensure_ascii=False, indent=1) + "\n"


def test_a_search_that_must_take_days_is_refused_by_the_first_records(place):
    from gamekeeper.algorithms.uniques.minimal_uniques import require_least_seconds
    from gamekeeper.data.coding.coded_table import first_codes
    from gamekeeper.data.reading.source import open_source

    names = [f"v{number}" for number in range(30)]
    first = first_codes(open_source(place / "wide.parquet"), names)
    with pytest.raises(LimitError, match="more than"):
        require_least_seconds(first, 10**7, None, 900.0)
    require_least_seconds(first, 10**7, None, None)
    require_least_seconds(first, 20_000, None, 900.0)
    # Records that recur are not unique among ten million, and nothing can be said beforehand.
    require_least_seconds(first % 2 * 0 + np.arange(30, dtype=np.uint32), 10**7, None, 900.0)
    require_least_seconds(first[:, :7], 10**7, None, 900.0)


@pytest.mark.parametrize("command", ["suda", "special"])
def test_a_hundred_thousand_workers_are_two_per_core(monkeypatch, capsys, place, command):
    code, *_ = run(
        monkeypatch, capsys, place, "risk", command, "{place}/people.csv", "-k", "a,b",
        "--workers", 100_000,
    )  # fmt: skip
    assert code == 0


@pytest.mark.parametrize(
    ("command", "option"),
    [
        ("match", "--population"), ("measures", "--population"), ("special", "--population"),
        ("infer", "--population"), ("dis", "--original"),
    ],
)  # fmt: skip
def test_a_second_file_is_looked_at_before_the_first_is_read(
    monkeypatch, capsys, place, command, option
):
    def read(*arguments, **options):
        raise AssertionError("the first file was read")

    monkeypatch.setattr("gamekeeper.workbench.microdata.code_source", read)
    for other, code in (("{place}/many.parquet", LimitError), ("{place}/nowhere.csv", InputError)):
        found, _, err, _ = run(
            monkeypatch, capsys, place, "risk", command, "{place}/ones.csv", "-k", "v0,v1",
            "--fraction", "1%", option, other, "--memory", "500MB",
        )  # fmt: skip
        assert found == code.exit_code, err
