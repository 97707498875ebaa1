"""Sums of a response with their contributors, against the records taken one by one."""

from __future__ import annotations

from collections import defaultdict
from fractions import Fraction

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet
import pytest

from gamekeeper.algorithms.releases.primary_rules import Contributions, parse_rule
from gamekeeper.attack.tables.auditing import mark_cells, tops_needed
from gamekeeper.budget import within_memory
from gamekeeper.data.reading.source import Source, open_source
from gamekeeper.data.tables.hierarchy import Hierarchy
from gamekeeper.data.tables.magnitudes import tabulate_magnitudes
from gamekeeper.errors import InputError, LimitError, Reason

TREE = Hierarchy.of_tree({"A": ["a1", "a2"], "B": ["b1"]}, "a tree")
ABOVE = {"a1": ["a1", "A", "Total"], "a2": ["a2", "A", "Total"], "b1": ["b1", "B", "Total"]}
RULES = [
    "minimum:3",
    "dominance:1:60",
    "dominance:2:85",
    "p:15",
    "p:15:2",
    "pq:15:60",
    "request:40",
]


def given(tmp_path, rng, n=60):
    rows = [
        (
            rng.choice(list(ABOVE)), rng.choice(["s", "l"]), int(rng.integers(-3, 40)),
            int(rng.integers(1, 4)), int(rng.integers(0, 9)), int(rng.random() < 0.2),
        )
        for _ in range(n)
    ]  # fmt: skip
    path = tmp_path / "firms.csv"
    path.write_text(
        "code,size,v,w,group,asked\n" + "".join(",".join(map(str, row)) + "\n" for row in rows)
    )
    return path, rows


def cells_by_definition(rows, *, weighted, held):
    """The definition: every record adds to every cell that it is in."""
    cells = defaultdict(lambda: defaultdict(list))
    for number, (code, size, value, weight, group, asked) in enumerate(rows):
        for over in ABOVE[code]:
            for side in (size, "Total"):
                owner = group if held else number
                cells[over, side][owner].append((value, weight if weighted else 1, asked))
    made = {}
    for key, owners in cells.items():
        if held:
            listed = [
                (sum(v * w for v, w, _ in own), 1, any(a for _, _, a in own))
                for own in owners.values()
            ]
        else:
            listed = [own[0] for own in owners.values()]
        figure = sum(v * w for v, w, _ in listed)
        largest = max(listed, key=lambda one: abs(one[0]))
        made[key] = (
            figure,
            [abs(v) for v, _, _ in listed],
            [w for _, w, _ in listed],
            abs(largest[0]),
        )
    return made


@pytest.mark.parametrize("held", [False, True])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("seed", range(4))
def test_figures_and_rules_as_by_the_records(tmp_path, seed, weighted, held):
    path, rows = given(tmp_path, np.random.default_rng(seed))
    rules = [rule for rule in RULES if not rule.startswith("request")]
    table = tabulate_magnitudes(
        open_source(path), ["code", "size"], "v", weight="w" if weighted else "",
        holding="group" if held else "", hierarchies={"code": TREE}, most=tops_needed(rules),
    )  # fmt: skip
    expected = cells_by_definition(rows, weighted=weighted, held=held)
    found = dict(zip(zip(*table.labels, strict=True), range(len(table)), strict=True))
    # What holds the same is one cell: 'B' has one part.
    wanted = {key: own for key, own in expected.items() if key[0] != "B"}
    assert {("b1" if a == "B" else a, b) for a, b in found} == set(wanted)
    marked = mark_cells(table, rules=rules)
    for (code, size), at in found.items():
        figure, sizes, weights, largest = wanted["b1" if code == "B" else code, size]
        assert table.figures[at] == figure
        assert table.cells[at].largest == largest
        assert table.cells[at].number == sum(weights)
        whole = Contributions.of(sizes, weights)
        broken = tuple(rule for rule in rules if parse_rule(rule).is_unsafe(whole))
        assert marked.unsafe[at] == broken
        assert not marked.unjudged[at]


def test_requests_count_for_the_largest_alone(tmp_path):
    path = tmp_path / "firms.csv"
    path.write_text("code,v,asked\na,90,yes\na,10,no\nb,90,no\nb,10,yes\n")
    table = tabulate_magnitudes(open_source(path), ["code"], "v", request="asked")
    marked = mark_cells(table, rules=["request:70"])
    unsafe = [label for label, own in zip(table.labels[0], marked.unsafe, strict=True) if own]
    assert unsafe == ["a"]


def test_what_cannot_be_judged_is_not_called_safe():
    cell = Contributions((Fraction(30),), (Fraction(1),), rest=Fraction(70), others=Fraction(5))
    assert parse_rule("dominance:3:90").is_unsafe(cell) is None
    assert parse_rule("p:10").is_unsafe(cell) is None
    assert parse_rule("dominance:2:20").is_unsafe(cell) is True


@pytest.mark.parametrize(
    "text", ["p", "p:x", "p:-1", "dominance:1", "minimum:2.5", "q:1", "pq:1", ""]
)
def test_what_is_no_rule_is_refused(text):
    with pytest.raises(InputError):
        parse_rule(text)


def test_records_without_a_number_or_a_category_are_told(tmp_path):
    path = tmp_path / "firms.csv"
    path.write_text("code,v\na1,x\n,3\nA,4\n")
    with pytest.raises(InputError) as error:
        tabulate_magnitudes(open_source(path), ["code"], "v", hierarchies={"code": TREE})
    assert len(error.value.problems) == 3


def test_categories_outside_the_hierarchy_are_refused_and_not_named(tmp_path):
    path = tmp_path / "r.csv"
    path.write_text("code,v\na1,3\nSECRET,4\n")
    with pytest.raises(InputError) as error:
        tabulate_magnitudes(open_source(path), ["code"], "v", hierarchies={"code": TREE})
    assert "not in the hierarchy" in str(error.value.problems[0])
    assert "SECRET" not in str(error.value)


def test_a_file_without_records_is_told(tmp_path):
    path = tmp_path / "r.csv"
    path.write_text("R,v\n")
    with pytest.raises(InputError) as caught:
        tabulate_magnitudes(open_source(path), ["R"], "v")
    assert caught.value.reason is Reason.NOTHING_GIVEN


def test_numbers_too_large_to_be_added_up_exactly_are_told_and_not_shown(tmp_path):
    path = tmp_path / "r.csv"
    path.write_text("R,v\na,1\nb,99999999999999999999999\n")
    with pytest.raises(InputError) as caught:
        tabulate_magnitudes(open_source(path), ["R"], "v")
    assert [problem.reason for problem in caught.value.problems] == [Reason.TOO_LARGE]
    assert "9999" not in str(caught.value)


@pytest.mark.parametrize("total", ["NT", "North"])
def test_a_total_within_the_hierarchy_is_refused(tmp_path, total):
    path = tmp_path / "r.csv"
    path.write_text("area,v\nNT,5\nNU,7\nSouth,3\n", encoding="utf-8")
    children = {"Total": ["North", "South"], "North": ["NT", "NU"]}
    given = {"area": Hierarchy.of_tree(children, "a tree")}
    with pytest.raises(InputError, match="is to stand for the whole axis"):
        tabulate_magnitudes(open_source(path), ["area"], "v", hierarchies=given, total=total)


@pytest.mark.parametrize("kind", ["csv", "parquet"])
def test_records_too_many_for_the_memory_are_refused_before_all_are_read(
    tmp_path, monkeypatch, kind
):
    n = 2_000_000
    table = pa.table({"R": ["area of a"] * n, "S": ["sex of b"] * n})
    path = tmp_path / f"r.{kind}"
    (pyarrow.csv.write_csv if kind == "csv" else pyarrow.parquet.write_table)(table, path)
    read = [0]
    whole = Source.batches

    def batches(self, columns):
        for batch in whole(self, columns):
            read[0] += batch.num_rows
            yield batch

    monkeypatch.setattr(Source, "batches", batches)
    with pytest.raises(LimitError) as caught, within_memory("20MB"):
        tabulate_magnitudes(open_source(path), ["R", "S"])
    assert "at least" in caught.value.found
    assert read[0] < (1 if kind == "parquet" else n)
    # Each of these adds to four cells.
    few = tmp_path / f"few.{kind}"
    part = table.slice(0, 40_000)
    (pyarrow.csv.write_csv if kind == "csv" else pyarrow.parquet.write_table)(part, few)
    with within_memory("20MB"):
        assert tabulate_magnitudes(open_source(few), ["R", "S"]).n_records == 40_000


def test_columns_of_lists_are_refused(tmp_path):
    path = tmp_path / "r.parquet"
    pyarrow.parquet.write_table(pa.table({"R": [[1], [2]], "v": [1, 2]}), path)
    with pytest.raises(InputError) as caught:
        tabulate_magnitudes(open_source(path), ["R"], "v")
    assert [problem.reason for problem in caught.value.problems] == [Reason.WRONG_SCHEMA]
