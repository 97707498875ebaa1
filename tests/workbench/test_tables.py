"""Tables as a person attacks them: every option is handed on, and one refusal says what is wrong."""

from __future__ import annotations

import itertools
import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from gamekeeper.attack.tables import auditing
from gamekeeper.attack.tables.bounds import bound_cells
from gamekeeper.attack.tables.options import (
    BoundsMethod,
    BoundsOptions,
    ComparisonOptions,
    FeasibleOptions,
    Recoding,
    SubtractionOptions,
)
from gamekeeper.data.tables.count_table import CountTable
from gamekeeper.data.tables.release import make_release
from gamekeeper.data.tables.release_file import read_release, write_release
from gamekeeper.errors import InputError, LimitError, Reason
from gamekeeper.workbench import tables
from gamekeeper.workbench.demo_walk import TABLES_STEPS, run_tables_demo
from gamekeeper.workbench.requests.records import MicrodataRequest
from gamekeeper.workbench.requests.tables import (
    AuditRequest,
    BoundsRequest,
    ComparisonRequest,
    FeasibleRequest,
    InferRequest,
    PublishedRequest,
    PublishRequest,
    ReleaseRequest,
    SapRequest,
)
from gamekeeper.workbench.table_files import open_release
from gamekeeper.workbench.tables import audit_published
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
        files=(file,), schemes=("random:3",), count="people", total=("all",), hidden=("-",)
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
    _, found = open_release(ReleaseRequest(files=(file,), schemes=("conventional:3",), truth=truth))
    assert found.names == ("sex", "work")
    assert found.dense().tolist() == [[4, 0], [2, 7]]


@pytest.mark.parametrize(
    ("files", "scheme", "reason"),
    [
        ([], ["exact"], Reason.NOTHING_GIVEN),
        (["release.json", "release.json"], ["exact"], Reason.BAD_OPTION),
        (["release.json"], ["random:3"], Reason.BAD_OPTION),
        (["gone.json"], ["exact"], Reason.NOT_FOUND),
        (["gone.csv"], ["exact"], Reason.NOT_FOUND),
    ],
)
def test_releases_that_cannot_be_opened(tmp_path, release, files, scheme, reason):
    assert release.files[0].exists()
    request = ReleaseRequest(files=tuple(tmp_path / file for file in files), schemes=tuple(scheme))
    with pytest.raises(InputError) as caught:
        open_release(request)
    assert caught.value.reason is reason


def published(release):
    return PublishedRequest(files=release.files)


def test_bounds_and_their_report_come_from_the_method_asked_for(release, tmp_path):
    page = tmp_path / "page.html"
    opened, _ = open_release(release)
    options = BoundsOptions(method=BoundsMethod.SHUTTLE)
    found = tables.bound_release(
        BoundsRequest(tables=published(release), options=options, report=page)
    ).found
    assert found.provenance.variant == "generalized shuttle"
    assert "generalized shuttle" in page.read_text(encoding="utf-8")
    assert found.to_arrow() == bound_cells(opened, method="shuttle").to_arrow()


def test_every_use_leaves_the_release_as_it_was(release, tmp_path):
    before = release.files[0].read_bytes()
    known = {"release": release, "options": SubtractionOptions(n=[1])}
    tables.bound_release(
        BoundsRequest(
            tables=published(release),
            output=tmp_path / "bounds.csv",
            plot=tmp_path / "bounds.png",
        )
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
            tables.bound_release(BoundsRequest(tables=published(release), output=output))
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
    assert steps == list(range(TABLES_STEPS + 1))
    assert (told.place, told.n_people) == ("Small", 40)
    assert told.alone.n_known == 0
    assert told.bounds.n_zeros <= told.n_true_zeros
    assert told.bounds.n_known >= told.alone.n_known
    release = read_release(told.release)
    assert told.bounds.to_arrow() == bound_cells(release).to_arrow()
    page = told.report.read_text(encoding="utf-8")
    assert told.bounds.sentences()[0] in page
    assert f"of the {told.n_people} people" in told.sentences()[-1]


@pytest.mark.slow
@given(st.lists(st.integers(0, 3), min_size=6, max_size=6), st.sampled_from([2, 3]), st.data())
def test_a_release_whose_hidden_counts_can_be_recomputed_is_written_on_demand_only(
    tmp_path_factory, counts, below, data
):
    truth = np.array(counts).reshape(2, 3)
    assume(counts.count(0) < 6)
    rows = [f"{'ab'[r]},{'xyz'[c]}\n" * truth[r, c] for r in range(2) for c in range(3)]
    place = tmp_path_factory.mktemp("release")
    # Without a category that nobody has, which no file tells of.
    seen_rows, seen_columns = truth.any(axis=1), truth.any(axis=0)
    truth = truth[seen_rows][:, seen_columns]
    file = write(place, "people.csv", "Row,Column\n" + "".join(rows))
    margins = [("Row", "Column"), *data.draw(st.sets(st.sampled_from([("Row",), ("Column",), ()])))]
    asked = {
        "microdata": MicrodataRequest(file=file, keys=("Row", "Column")),
        "margins": margins,
        "schemes": (f"suppressed:{below}",),
        "output": place / "release.json",
    }

    def shown(table):
        axes = {("Row", "Column"): (), ("Row",): (1,), ("Column",): (0,), (): (0, 1)}
        sums = np.concatenate([table.sum(axis=axes[own]).reshape(-1) for own in margins])
        return sums, np.where((sums > 0) & (sums < below), -1, sums)

    hidden = np.argwhere((truth > 0) & (truth < below))
    agreeing = []
    for values in itertools.product(range(1, below), repeat=len(hidden)):
        table = truth.copy()
        for at, value in zip(hidden, values, strict=True):
            table[tuple(at)] = value
        if np.array_equal(shown(table)[1], shown(truth)[1]):
            agreeing.append(shown(table)[0])
    possible = np.array(agreeing)[:, shown(truth)[1] == -1]
    is_open = bool(possible.size) and bool((possible.min(axis=0) == possible.max(axis=0)).any())
    if is_open:
        with pytest.raises(InputError, match="can be recomputed from what is published") as caught:
            tables.publish_tables(PublishRequest(**asked))
        assert "--even-if-recomputed" in str(caught.value)
        assert list(place.iterdir()) == [file]
    made = tables.publish_tables(PublishRequest(**asked, even_if_recomputed=is_open))
    assert asked["output"].exists()
    assert any("can be recomputed from what is published" in one for one in made.notices) == is_open
    # What was written is audited as it was before.
    request = AuditRequest(published=PublishedRequest(files=(asked["output"],)))
    found = audit_published(request).found
    assert bool(found.n_recomputed) == is_open


def test_what_cannot_be_looked_at_is_written_on_demand_only(tmp_path, monkeypatch):
    def refuse(*_, **__):
        raise LimitError(Reason.TOO_LARGE, "An audit.", "Too large.", "Less.")

    monkeypatch.setattr(auditing, "audit_tables", refuse)
    request = MicrodataRequest(file=write(tmp_path, "people.csv", PEOPLE), keys=KEYS)
    asked = {"microdata": request, "schemes": ("suppressed:3",), "output": tmp_path / "r.json"}
    with pytest.raises(InputError, match="not examined"):
        tables.publish_tables(PublishRequest(**asked))
    assert not (tmp_path / "r.json").exists()
    made = tables.publish_tables(PublishRequest(**asked, even_if_recomputed=True))
    assert "not examined" in made.notices[-1]


def test_what_rounded_counts_stand_for_is_said_not_to_be_examined(tmp_path):
    request = MicrodataRequest(file=write(tmp_path, "people.csv", PEOPLE), keys=KEYS)
    made = tables.publish_tables(
        PublishRequest(microdata=request, schemes=("random:3",), output=tmp_path / "r.json")
    )
    assert made.notices[-1].startswith("What can be worked out from rounded, perturbed or grouped")


def test_rules_are_for_the_base_table(release):
    asked = {"tables": published(release), "options": BoundsOptions(rules=("exact",))}
    assert tables.bound_release(BoundsRequest(**asked)).found.standings
    with pytest.raises(InputError, match="--rule"):
        tables.bound_release(BoundsRequest(**asked, recoding=Recoding(keep=["sex"])))


def test_a_suppressed_count_that_rounded_margins_give_away_is_written_on_demand_only(tmp_path):
    counts = {("A", "yes"): 2, ("A", "no"): 5, ("B", "yes"): 6, ("B", "no"): 8}
    text = "".join(f"{area},{work}\n" * n for (area, work), n in counts.items())
    file = write(tmp_path, "people.csv", f"Area,Work\n{text}")
    seen = set()
    for seed in range(24):
        output = tmp_path / f"{seed}.json"
        request = PublishRequest(
            microdata=MicrodataRequest(file=file, keys=("Area", "Work")),
            margins=(("Area", "Work"), ("Area",)),
            schemes=("suppressed:3", "random:3"),
            seed=seed,
            output=output,
        )
        made = tables.publish_tables(replace(request, even_if_recomputed=True))
        found = bound_cells(read_release(output))
        is_open = bool(found.lower[0, 1] == found.upper[0, 1])
        said = "1 of 1 hidden cell can be recomputed from what is published."
        assert (said in made.notices) == is_open
        output.unlink()
        if is_open:
            with pytest.raises(InputError, match="can be recomputed from what is published"):
                tables.publish_tables(request)
        else:
            tables.publish_tables(request)
        assert output.exists() != is_open
        seen.add(is_open)
    assert seen == {True, False}
