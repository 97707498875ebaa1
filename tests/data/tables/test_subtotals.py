"""Tables whose labels may be sums of each other are questioned; plain tables are not."""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from gamekeeper.attack.tables.bounds import bound_cells
from gamekeeper.data.tables.axes import Axis
from gamekeeper.data.tables.count_file import read_counts
from gamekeeper.data.tables.count_table import CountTable
from gamekeeper.data.tables.release import Release, make_release
from gamekeeper.data.tables.release_file import read_release, write_release
from gamekeeper.data.tables.release_joining import join_releases
from gamekeeper.data.tables.subtotals import find_subtotals
from gamekeeper.errors import InputError, Reason

ISSUE = "code,n\nA,5\nA01,3\nA02,*\n"


def release(labels, counts, *, total=None, scheme="exact", disjoint=True):
    """Publish lines of counts by label, with the total of each line where it is given."""
    counts = np.array(counts, object)
    axes = {"code": list(labels), "line": [f"line {k}" for k in "abcdefghijkl"[: len(counts)]]}
    tables = [{"margin": ["line", "code"], "counts": counts.tolist(), "scheme": scheme}]
    if total is not None:
        tables.append({"margin": ["line"], "counts": list(total), "scheme": scheme})
    return Release.typed(axes, tables, disjoint=disjoint)


def asked_about(made):
    """Return the labels of the axis that are questioned, with why."""
    return {one.whole: one.why for one in find_subtotals(made.axes[0], made.published)}


def question(use, *args, **options):
    with pytest.raises(InputError) as refused:
        use(*args, **options)
    assert refused.value.reason is Reason.POSSIBLE_SUBTOTALS
    return str(refused.value)


def test_what_is_hidden_under_a_sum_is_not_called_open(tmp_path):
    file = tmp_path / "codes.csv"
    file.write_text(ISSUE, encoding="utf-8")
    said = question(read_counts, file)
    for word in ("codes.csv", "axis 'code'", "'A' ", "'A01', 'A02'", "--disjoint", "--total"):
        assert word in said
    assert bound_cells(read_counts(file, total="A")).upper.tolist() == [3, 2]
    found = bound_cells(read_counts(file, disjoint=["code"]))
    assert found.lower.tolist() == [5, 3, 0]


@pytest.mark.parametrize(
    "use",
    [
        lambda **options: Release.typed(
            {"code": ["A", "A01", "A02"]}, [{"margin": ["code"], "counts": [5, 3, None]}], **options
        ),
        lambda **options: CountTable.typed({"code": ["A", "A01", "A02"]}, [5, 3, 2], **options),
    ],
)
def test_the_library_asks_as_the_prompt_does(use):
    assert "'A' may hold" in question(use)
    assert use(disjoint=["code"])
    assert use(disjoint=True)
    with pytest.raises(InputError) as refused:
        use(disjoint=["cod"])
    assert refused.value.reason is Reason.UNKNOWN_NAME


def test_counts_from_records_are_disjoint_and_say_so_in_the_file(tmp_path):
    truth = CountTable((Axis("code", ("A", "A01", "A02")),), np.array([5, 3, 0]))
    made = make_release(truth, [("code",)])
    assert made.disjoint == ("code",)
    assert made.doubted == ("code",)
    file = tmp_path / "release.json"
    write_release(made, file)
    assert read_release(file).disjoint == ("code",)
    text = file.read_text(encoding="utf-8")
    file.write_text(text.replace('"disjoint": ["code"],\n', ""), encoding="utf-8")
    assert "release.json" in question(read_release, file)
    assert read_release(file, disjoint=["code"]).disjoint == ("code",)
    for wrong, reason in (
        ('"code"', Reason.WRONG_SCHEMA), ("[3]", Reason.WRONG_SCHEMA),
        ('["cod"]', Reason.UNKNOWN_NAME),
    ):  # fmt: skip
        file.write_text(text.replace('["code"],\n"pub', f'{wrong},\n"pub'), encoding="utf-8")
        with pytest.raises(InputError) as refused:
            read_release(file)
        assert refused.value.reason is reason


def test_releases_are_questioned_together():
    tables = [{"margin": ["code"], "counts": [5, 3, 4]}, {"margin": ["code"], "counts": [9, 3, 4]}]
    one, two = (
        Release.typed({"code": ["A", "A01", "A02"]}, [table], disjoint=True) for table in tables
    )
    assert join_releases([one, two]).disjoint == ("code",)
    join_releases([one, two], disjoint=())
    assert "Several tables" in question(join_releases, [two, two], disjoint=())


@pytest.mark.parametrize(
    ("labels", "counts", "wanted"),
    [
        (["A", "A01", "A02"], [[5, 3, 2]], {"A": "code"}),
        (["A", "A01", "A02"], [[9, 3, 2]], {"A": "code"}),
        (["A", "A01", "A02"], [[4, 3, 2]], {}),
        (["A", "A01", "A02"], [[9, 3, 2], [None, 1, 4], [2, 3, None]], {}),
        (["A", "A01", "A02"], [[None, 3, 2]], {"A": "code"}),
        (["f", "m", "All"], [[5, 3, 8]], {"All": "name"}),
        (["f", "m", "All"], [[5, 3, 9]], {"All": "name"}),
        (["f", "m", "All"], [[5, 3, 9], [4, 1, 3]], {}),
        (["f", "m", "All"], [[5, 3, None]], {"All": "name"}),
        (["Car", "Bike", "Both"], [[5, 9, 6]], {}),
        (["A", "B", "C", "T"], [[5, 9, 6, 1]], {}),
        (["x", "y", "x total", "z"], [[5, 9, 6, 20]], {"x total": "name"}),
        (["x", "y", "x total", "z"], [[5, 9, 2, 20]], {}),
        (["0-14", "0-4", "5-14"], [[5, 3, 2]], {"0-14": "band"}),
        (["0-14", "0-4", "5-14"], [[2, 3, 2]], {}),
        (["B-E", "B", "C"], [[5, 3, 2]], {"B-E": "range"}),
        (["B-E", "B", "C"], [[2, 3, 2]], {}),
        (["1", "11", "12", "2"], [[25, 14, 11, 3], [36, 20, 16, 9]], {"1": "counts"}),
        (["1", "11", "12", "2"], [[25, 14, 11, 3], [36, 20, 15, 9]], {}),
        (["UK", "North", "South"], [[25, 14, 11], [36, 20, 16]], {"UK": "counts"}),
        (["UK", "North", "South"], [[25, 14, 11], [36, 20, 17]], {}),
    ],
)
def test_labels_suspect_and_counts_clear(labels, counts, wanted):
    assert asked_about(release(labels, counts)) == wanted


def test_a_margin_that_is_the_sum_of_all_labels_clears_them():
    labels = ["A41", "A41.0", "A41.9", "B"]
    counts = [[9, 3, 2, 5], [7, 0, 1, 3]]
    assert asked_about(release(labels, counts)) == {"A41": "code"}
    assert asked_about(release(labels, counts, total=[19, 11])) == {}
    assert asked_about(release(labels, counts, total=[14, 10])) == {"A41": "code"}
    assert asked_about(release(labels, counts, total=[16, 10])) == {"A41": "code"}
    hidden = [[9, 3, None, 5], [7, 0, None, 3]]
    assert asked_about(release(labels, hidden, total=[19, 11])) == {"A41": "code"}


def test_rounding_is_given_its_due():
    labels = ["A", "A01", "A02"]
    assert asked_about(release(labels, [[6, 3, 6]], scheme="conventional:3")) == {"A": "code"}
    assert asked_about(release(labels, [[6, 9, 6]], scheme="conventional:3")) == {}
    assert asked_about(release(labels, [[5, 10, 0]], scheme="random:5")) == {"A": "code"}
    assert asked_about(release(labels, [[5, 15, 0]], scheme="random:5")) == {}


def test_groups_of_a_release_are_no_labels_of_its_base():
    made = Release.typed(
        {"code": ["A01", "A02", "B"]},
        [
            {"margin": ["code"], "counts": [3, None, 4]},
            {
                "margin": ["code"], "counts": [5, 4],
                "groups": {"code": {"A": ["A01", "A02"], "B": ["B"]}},
            },
        ],
    )  # fmt: skip
    assert bound_cells(made).upper.tolist() == [3, 2, 4]


WORDS = ["North", "South", "East", "West", "Isles", "Hills", "Coast", "City", "Forest", "Lakes"]


@st.composite
def plain_labels(draw, n_labels):
    kind = draw(st.sampled_from(["numbers", "bands", "words", "numbered", "letters"]))
    start = draw(st.integers(0, 95))
    if kind == "numbers":
        return [str(start + k) for k in range(n_labels)]
    if kind == "bands":
        width = draw(st.integers(2, 10))
        return [f"{start + k * width}-{start + (k + 1) * width - 1}" for k in range(n_labels - 1)] + [
            f"{start + (n_labels - 1) * width}+"
        ]  # fmt: skip
    if kind == "words":
        return WORDS[:n_labels]
    if kind == "numbered":
        return [f"Q{start + k}" for k in range(n_labels)]
    return list("abcdefghij"[:n_labels])


@given(st.data(), st.integers(2, 8), st.integers(1, 6), st.sampled_from(["exact", "random:3"]))
def test_plain_tables_raise_no_alarm(data, n_labels, n_lines, scheme):
    labels = data.draw(plain_labels(n_labels))
    seed = data.draw(st.integers(0, 2**32 - 1))
    rng = np.random.default_rng(seed)
    # Sizes that differ little: no label is likely to be as large as others together by chance.
    counts = rng.integers(40, 70, (n_lines, n_labels)) * 3
    made = release(labels, counts, scheme=scheme)
    assert asked_about(made) == {}


@given(
    st.integers(1, 4),
    st.integers(2, 5),
    st.integers(1, 4),
    st.integers(0, 30),
    st.sampled_from(["exact", "conventional:3", "random:5", "suppressed:5"]),
    st.integers(0, 2**32 - 1),
)
def test_codes_with_their_sums_always_raise_it(n_stems, n_parts, n_lines, mean, scheme, seed):
    rng = np.random.default_rng(seed)
    stems = list("ABCD"[:n_stems])
    labels = [label for stem in stems
              for label in (stem, *(f"{stem}{k:02}" for k in range(n_parts)))]  # fmt: skip
    leaves = rng.poisson(mean, (n_lines, n_stems, n_parts))
    counts = np.concatenate([leaves.sum(axis=2)[:, :, None], leaves], axis=2).reshape(n_lines, -1)
    order = rng.permutation(len(labels))
    axes = (Axis("line", tuple(f"line {k}" for k in "abcd"[:n_lines])),
            Axis("code", tuple(labels[k] for k in order)))  # fmt: skip
    made = make_release(CountTable(axes, counts[:, order]), [("line", "code")], scheme, seed=seed)
    found = {one.whole for one in find_subtotals(axes[1], made.published)}
    assert found == set(stems)


@given(st.integers(2, 6), st.integers(3, 8), st.integers(2, 4), st.integers(0, 2**32 - 1))
def test_counts_that_add_up_always_raise_it(n_parts, n_lines, n_others, seed):
    rng = np.random.default_rng(seed)
    counts = rng.poisson(25, (n_lines, 1 + n_parts + n_others))
    counts[:, 0] = counts[:, 1 : 1 + n_parts].sum(axis=1)
    labels = ["Land", *(f"p{letter}" for letter in "abcdef"[:n_parts]), *WORDS[:n_others]]
    order = rng.permutation(len(labels)) if len(labels) <= 10 else np.arange(len(labels))
    made = release([labels[k] for k in order], counts[:, order])
    assert asked_about(made).get("Land") == "counts"


@given(st.integers(0, 2**32 - 1), st.sampled_from(["Total", "Gesamt", "All ages", "_T", "Sum"]))
def test_a_named_total_always_raises_it_unless_it_is_the_label_of_totals(seed, word):
    rng = np.random.default_rng(seed)
    counts = rng.poisson(3, 5)
    assume(counts.sum())
    rows = [f"{label},{count}" for label, count in zip("abcde", counts, strict=True)]
    text = "\n".join(["age,n", *rows, f"{word},{counts.sum()}"]) + "\n"
    with TemporaryDirectory() as folder:
        file = Path(folder, "counts.csv")
        file.write_text(text, encoding="utf-8")
        assert f"'{word}'" in question(read_counts, file, total=None)
        assert len(read_counts(file, total=["Other", word]).published) == 2
