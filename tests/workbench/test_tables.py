from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from gamekeeper.attack.tables.bounds import bound_cells
from gamekeeper.attack.tables.options import (
    BoundsMethod,
    BoundsOptions,
    ComparisonOptions,
    FeasibleOptions,
    SubtractionOptions,
)
from gamekeeper.data.tables.count_table import CountTable
from gamekeeper.data.tables.release import make_release
from gamekeeper.data.tables.release_file import read_release, write_release
from gamekeeper.errors import InputError, Reason
from gamekeeper.workbench import tables
from gamekeeper.workbench.demo.tables import STEPS, run_tables_demo
from gamekeeper.workbench.requests.microdata import MicrodataRequest
from gamekeeper.workbench.requests.tables import (
    BoundsRequest,
    ComparisonRequest,
    FeasibleRequest,
    InferRequest,
    PublishRequest,
    ReleaseRequest,
    SapRequest,
)
from gamekeeper.workbench.tables import open_release
from tests.given.microdata import KEYS, PEOPLE, write

AXES = {"sex": ["f", "m"], "work": ["yes", "no"]}
TRUTH = CountTable.typed(AXES, [[4, 0], [2, 7]])


@pytest.fixture
def release(tmp_path):
    made = make_release(TRUTH, [("sex", "work"), ("sex",), ()], "conventional:3")
    write_release(made, tmp_path / "release.json", TRUTH)
    return ReleaseRequest(files=(tmp_path / "release.json",))


def test_a_release_is_opened_with_its_truth(release):
    opened, truth = open_release(release)
    assert len(opened.published) == 3
    assert truth.dense().tolist() == [[4, 0], [2, 7]]


def test_text_files_are_read_as_they_are_said_to_be_written(tmp_path):
    file = write(tmp_path, "counts.csv", "sex;work;people\nf;yes;3\nm;yes;-\nf;all;6\nm;all;9\n")
    request = ReleaseRequest(
        files=(file,), scheme="random:3", count="people", total=("all",), hidden=("-",)
    )
    opened, truth = open_release(request)
    assert truth is None
    assert [table.name for table in opened.published] == ["sex by work", "sex"]
    assert opened.published[0].n_hidden == 1
    assert opened.published[0].scheme.text == "random:3"
    assert opened.title == "counts"


def test_a_truth_beside_a_release_is_brought_into_its_order(tmp_path):
    file = write(tmp_path, "counts.csv", "sex,work,n\nf,yes,3\nf,no,0\nm,yes,3\nm,no,6\n")
    truth = write(tmp_path, "truth.csv", "work,sex,n\nno,m,7\nyes,m,2\nyes,f,4\n")
    _, found = open_release(ReleaseRequest(files=(file,), scheme="conventional:3", truth=truth))
    assert found.names == ("sex", "work")
    assert found.dense().tolist() == [[4, 0], [2, 7]]


@pytest.mark.parametrize(
    ("files", "scheme", "reason"),
    [
        ([], "exact", Reason.NOTHING_GIVEN),
        (["release.json", "release.json"], "exact", Reason.BAD_OPTION),
        (["release.json"], "random:3", Reason.BAD_OPTION),
        (["gone.json"], "exact", Reason.NOT_FOUND),
        (["gone.csv"], "exact", Reason.NOT_FOUND),
    ],
)
def test_releases_that_cannot_be_opened(tmp_path, release, files, scheme, reason):
    assert release.files[0].exists()
    request = ReleaseRequest(files=tuple(tmp_path / file for file in files), scheme=scheme)
    with pytest.raises(InputError) as caught:
        open_release(request)
    assert caught.value.reason is reason


def test_bounds_and_their_report_come_from_the_method_asked_for(release, tmp_path):
    page = tmp_path / "page.html"
    opened, _ = open_release(release)
    options = BoundsOptions(method=BoundsMethod.SHUTTLE)
    found = tables.bound_release(BoundsRequest(release=release, options=options, report=page))
    assert found.provenance.variant == "generalized shuttle"
    assert "generalized shuttle" in page.read_text(encoding="utf-8")
    assert found.to_arrow() == bound_cells(opened, method="shuttle").to_arrow()


def test_every_use_leaves_the_release_as_it_was(release, tmp_path):
    before = release.files[0].read_bytes()
    known = {"release": release, "options": SubtractionOptions(n=[1])}
    tables.bound_release(
        BoundsRequest(release=release, output=tmp_path / "bounds.csv", plot=tmp_path / "bounds.png")
    )
    tables.explore_release(
        FeasibleRequest(
            release=release,
            options=FeasibleOptions(listed=3),
            output=tmp_path / "tables.parquet",
        )
    )
    tables.subtract_release(
        SapRequest(**known, output=tmp_path / "sap.csv", plot=tmp_path / "sap.svg")
    )
    tables.subtract_release_within(
        SapRequest(**known, within=["sex"], output=tmp_path / "areas.csv")
    )
    tables.attribute_release(InferRequest(release=release, output=tmp_path / "said.csv"))
    tables.compare_published(
        ComparisonRequest(
            schemes=("exact",),
            options=ComparisonOptions(tables=2, n=[1]),
            plot=tmp_path / "schemes.svg",
        )
    )
    assert release.files[0].read_bytes() == before
    assert len(list(tmp_path.iterdir())) == 9
    for output in (release.files[0].with_suffix(".txt"), tmp_path / "gone" / "x.csv"):
        with pytest.raises(InputError) as caught:
            tables.bound_release(BoundsRequest(release=release, output=output))
        assert caught.value.reason is Reason.NOT_WRITABLE


def test_tables_are_published_from_microdata(tmp_path):
    request = MicrodataRequest(file=write(tmp_path, "people.csv", PEOPLE), keys=KEYS)
    file = tmp_path / "release.json"
    margins = [("Sex", "Status"), ("Age",), ()]
    schemes = ["conventional:3", "exact", "random:5"]
    asked = {"microdata": request, "margins": margins, "output": file}
    release, truth = tables.publish_tables(
        PublishRequest(**asked, schemes=tuple(schemes), with_truth=True, seed=3)
    ).found
    assert truth.total == 12
    assert [table.scheme.text for table in release.published] == schemes
    assert "missing" in truth.axis("Status").categories
    again, kept = open_release(ReleaseRequest(files=(file,)))
    assert again.fingerprint == release.fingerprint
    assert np.array_equal(kept.dense(), truth.dense())
    with pytest.raises(InputError, match="there already"):
        tables.publish_tables(PublishRequest(**asked))
    tables.publish_tables(PublishRequest(**asked, replace=True))
    assert json.loads(file.read_text(encoding="utf-8"))["truth"] is None
    one, _ = tables.publish_tables(
        PublishRequest(microdata=request, output=file, replace=True)
    ).found
    assert [table.axes for table in one.published] == [KEYS]


def test_schemes_are_looked_at_before_the_file(tmp_path):
    request = MicrodataRequest(file=tmp_path / "gone.csv", keys=KEYS)
    with pytest.raises(InputError) as caught:
        tables.publish_tables(
            PublishRequest(
                microdata=request, schemes=("conventional:4",), output=tmp_path / "release.json"
            )
        )
    assert caught.value.reason is Reason.BAD_OPTION
    assert "conventional" in str(caught.value)


def test_sap_needs_the_truth(tmp_path):
    write_release(make_release(TRUTH, [("sex",)]), tmp_path / "release.json")
    request = ReleaseRequest(files=(tmp_path / "release.json",))
    for use, within in ((tables.subtract_release, ()), (tables.subtract_release_within, ["sex"])):
        with pytest.raises(InputError) as caught:
            use(SapRequest(release=request, within=within))
        assert caught.value.reason is Reason.NOTHING_GIVEN


def test_the_demo_shows_a_table_whose_rounding_fails(tmp_path):
    rng = np.random.default_rng(4)
    lines = ["Place of residence,Number of cars,Country of birth"]
    lines += [
        f"{place},{rng.poisson(0.6)},{rng.choice(['Corvane', 'Ardmoor', 'Imbaru'], p=[0.8, 0.15, 0.05])}"
        for place, size in (("Large", 300), ("Small", 40))
        for _ in range(size)
    ]  # fmt: skip
    file = write(tmp_path, "everybody.csv", "\n".join(lines) + "\n")
    steps = []
    told = run_tables_demo(tmp_path, Path(file), progress=lambda done, whole: steps.append(done))
    assert steps == list(range(STEPS + 1))
    assert (told.place, told.n_people) == ("Small", 40)
    assert told.alone.n_known == 0
    assert told.bounds.n_zeros <= told.n_true_zeros
    assert told.bounds.n_known >= told.alone.n_known
    release = read_release(told.release)
    assert told.bounds.to_arrow() == bound_cells(release).to_arrow()
    page = told.report.read_text(encoding="utf-8")
    assert told.bounds.sentences()[0] in page
    assert f"of the {told.n_people} people" in told.sentences()[-1]
