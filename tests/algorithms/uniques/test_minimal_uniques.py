from __future__ import annotations

import math
from fractions import Fraction
from functools import partial

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gamekeeper.algorithms.blocks import map_blocks
from gamekeeper.algorithms.uniques import minimal_uniques, search
from gamekeeper.algorithms.uniques.minimal_uniques import (
    estimate_minimal_uniques,
    find_minimal_uniques,
)
from gamekeeper.errors import Cancelled, InputError, LimitError, Reason
from tests.given.cases import cases
from tests.given.published import published_lines
from tests.twins import minimal_uniques as twin

POLICIES = ("category", "ignore", "wildcard")


def listed(found):
    return {int(record): set(found.of_record(record)) for record in found.records}


@st.composite
def files(draw, most_variables=9):
    n_variables = draw(st.integers(1, most_variables))
    most = [draw(st.sampled_from([1, 2, 3, 5])) for _ in range(n_variables)]
    row = st.tuples(*(st.integers(0, code) for code in most))
    rows = draw(st.lists(row, min_size=1, max_size=24))
    # Codes beyond nine bits take another path.
    stretched = draw(st.sets(st.integers(0, n_variables - 1), max_size=2))
    return [
        tuple(code * 600 if v in stretched else code for v, code in enumerate(own)) for own in rows
    ]


def coded(rows):
    return np.array(rows, dtype=np.uint16)


@pytest.fixture(params=["tables", "short classes", "low sets", "transversals", "tables per record"])
def way(request, monkeypatch):
    """Take each way through the search on files that would not need it."""
    if request.param == "short classes":
        monkeypatch.setattr(search, "_SMALL", 1)
        monkeypatch.setattr(search, "_MOST", 1)
        monkeypatch.setattr(search, "_TABLE_BYTES", 200)
    elif request.param == "low sets":
        monkeypatch.setattr(search, "_SMALL", 1)
    elif request.param != "tables":
        most = 0 if request.param == "tables per record" else None
        monkeypatch.setattr(minimal_uniques, "best_search", lambda *_: "transversals")
        monkeypatch.setattr(search, "_most_difference_sets", lambda *_: most)
    return request.param


@pytest.mark.parametrize("policy", POLICIES)
def test_every_way_finds_what_the_lattice_holds(way, policy):
    @settings(max_examples=40, deadline=None)
    @given(files(), st.integers(1, 9))
    def check(rows, max_size):
        expected = twin.minimal_uniques(rows, policy, max_size)
        found = find_minimal_uniques(coded(rows), missing=policy, max_size=max_size, workers=1)
        assert listed(found) == expected
        assert found.records.tolist() == sorted(expected)

    check()


@given(files(), st.sampled_from(POLICIES), st.integers(1, 2))
@cases(25)
def test_numbers_are_those_of_the_list(rows, policy, workers):
    codes = coded(rows)
    found = find_minimal_uniques(codes, missing=policy, workers=workers)
    numbers = find_minimal_uniques(codes, missing=policy, listing=False, workers=1)
    assert numbers.offsets is numbers.masks is None
    for record, counts in zip(found.records, found.counts, strict=True):
        sizes = [len(own) for own in found.of_record(record)]
        assert counts.tolist() == [sizes.count(s) for s in range(found.max_size + 1)]
    for variable in range(codes.shape[1]):
        assert found.by_category[variable].shape == (
            codes[:, variable].max() + 1,
            len(found.by_size),
        )
        for code, sums in enumerate(found.by_category[variable].tolist()):
            held = [
                len(own)
                for record in found.records[codes[found.records, variable] == code]
                for own in found.of_record(record)
                if variable in own
            ]
            assert sums == [held.count(s) for s in range(found.max_size + 1)]
    assert np.array_equal(found.counts, numbers.counts)
    assert np.array_equal(found.by_variable, numbers.by_variable)
    for a, b in zip(found.by_category, numbers.by_category, strict=True):
        assert np.array_equal(a, b)
    assert np.array_equal(found.by_variable, [sums.sum(axis=0) for sums in found.by_category])


@given(files(), st.sampled_from(POLICIES), st.integers(0, 10_000))
@cases(25)
def test_order_of_records_and_variables_and_labels_do_not_matter(rows, policy, seed):
    codes = coded(rows)
    expected = listed(find_minimal_uniques(codes, missing=policy, workers=1))
    rng = np.random.default_rng(seed)
    order = rng.permutation(len(rows)).tolist()
    variables = rng.permutation(codes.shape[1]).tolist()
    relabelled = np.zeros_like(codes)
    for variable in range(codes.shape[1]):
        labels = np.concatenate([[0], 1 + rng.permutation(3100)])
        relabelled[:, variable] = labels[codes[:, variable]]
    found = find_minimal_uniques(
        np.asfortranarray(relabelled[order][:, variables]), missing=policy, workers=2
    )
    assert {
        order[record]: {tuple(sorted(variables[v] for v in own)) for own in sets}
        for record, sets in listed(found).items()
    } == expected


@given(files())
@cases(25)
def test_records_with_minimal_uniques_are_the_sample_uniques(rows):
    found = find_minimal_uniques(coded(rows), workers=1)
    assert found.records.tolist() == [i for i, own in enumerate(rows) if rows.count(own) == 1]
    assert (found.counts.sum(axis=1) > 0).all()
    for counts in found.counts.tolist():
        # The probability of being found on a random path through the lattice (LYM inequality).
        shares = [Fraction(n, math.comb(found.n_variables, s)) for s, n in enumerate(counts)]
        assert sum(shares) <= 1


def hidden(records):
    return [[0 if code is None else code + 1 for code in own] for own in records]


# Files and their MSUs by record, as published with the definition of the three policies.
MISSING = [[2, 1, 1, 1], [1, None, 0, 1], [2, 1, 0, 0], [0, 1, 0, 0], [2, 0, 0, 0], [2, 0, 2, 1],
           [0, 1, 1, 1], [None, 1, 2, 1], [1, 0, 2, 0]]  # fmt: skip
MISSING_MSUS = {
    "category": "02 013|1 02 03 23|012 013|02 03|12 013|02 13|02 03|0 12|01 02 03 23",
    "ignore": "02 013|02 03 23|012 013|02 03|12 013|02 13|02 03|12|01 02 03 23",
    "wildcard": "02|02 23|012 013|02 03|012 013 123|012 013 123|02|12|03 23 012",
}
MORE_MISSING = [[1, 0, 2, 1], [1, None, None, 0], [0, 1, 1, 0], [0, None, 1, 1], [0, 1, 0, 1],
                [2, 0, 2, 1], [None, 0, 1, 0], [0, 0, 0, 1], [2, 0, None, None]]  # fmt: skip
MORE_MISSING_MSUS = {
    "category": "01 02 03|01 02 03 12 13 23|03 12 13|01 12 13 23|12 13|02 03|0 12 13|01 12|3 02 12",
    "ignore": "01 02 03|03|03 12 13|23|12 13|02 03|12 13|01 12|",
    "wildcard": "03||013|023|012 123|||012|",
}


def in_letters(text):
    return [{tuple(map(int, own)) for own in record.split()} for record in text.split("|")]


@pytest.mark.parametrize("policy", POLICIES)
@pytest.mark.parametrize(
    ("records", "expected"), [(MISSING, MISSING_MSUS), (MORE_MISSING, MORE_MISSING_MSUS)]
)
def test_missing_cells_are_read_as_the_policy_says(way, policy, records, expected):
    found = find_minimal_uniques(coded(hidden(records)), missing=policy)
    own = listed(found)
    assert [own.get(i, set()) for i in range(len(records))] == in_letters(expected[policy])


@pytest.mark.parametrize(
    ("records", "expected"),
    [
        # The simple walk through the lattice would miss the second set of the first record.
        ([[0, 0, 0], [0, 1, 1], [1, 0, 0]], "01 02|1 2|0"),
        ([[0, 0], [0, 1], [1, 0], [1, 1]], "01|01|01|01"),
        ([[1, 1], [1, 1], [1, 1]], "||"),
        # Age, marital status, sex, region: the first record is a widow of sixteen.
        (
            [[0, 2, 0, 0], [0, 1, 0, 0], [0, 1, 1, 0], [2, 2, 0, 0], [2, 2, 1, 1],
             [1, 0, 0, 1], [1, 0, 1, 1], [1, 0, 0, 1], [2, 0, 1, 0], [1, 1, 1, 1]],
            "01|12|02 123|02 013|03 12 13||012 123||01 13 023|01 13",
        ),
        (
            [[0, 2, 0], [3, 1, 0], [2, 2, 1], [1, 0, 2], [3, 1, 2], [3, 0, 1], [0, 0, 2],
             [2, 2, 2]],
            "01 02 12|02 12|02 12|0|02 12|01 02 12|01 02|02 12",
        ),
    ],
)  # fmt: skip
def test_worked_examples(way, records, expected):
    found = find_minimal_uniques(coded(hidden(records)))
    own = listed(found)
    assert [own.get(i, set()) for i in range(len(records))] == in_letters(expected)


@pytest.mark.parametrize("policy", POLICIES)
@pytest.mark.parametrize("n_variables", [1, 6, 7, 17, 25, 40, 64])
def test_a_single_record_is_unique_by_nothing_at_all(policy, n_variables):
    codes = np.arange(n_variables, dtype=np.uint8)[None, :]
    found = find_minimal_uniques(codes, missing=policy)
    assert listed(found) == {0: {()}}
    assert found.by_size.tolist() == [1] + [0] * n_variables
    assert not found.by_variable.any()


@pytest.mark.parametrize("n_variables", [1, 9, 20, 64])
def test_equal_records_have_none(n_variables):
    found = find_minimal_uniques(np.ones((3, n_variables), dtype=np.uint8))
    assert (found.n_uniques, found.n_msus) == (0, 0)
    assert found.counts.shape == (0, n_variables + 1)
    assert len(found.offsets) == 1
    assert len(found.masks) == 0
    assert found.of_record(1) == []


@pytest.mark.parametrize("n_variables", [17, 25, 40, 64])
@pytest.mark.parametrize("policy", POLICIES)
def test_many_variables_with_a_largest_size(n_variables, policy):
    rng = np.random.default_rng(n_variables)
    base = rng.integers(1, 3, (40, 6))
    codes = base[:, rng.integers(0, 6, n_variables)] + 2 * (rng.random((40, n_variables)) < 0.05)
    codes[rng.random(codes.shape) < 0.01] = 0
    most = 3 if n_variables < 40 else 2
    found = find_minimal_uniques(codes.astype(np.uint8), missing=policy, max_size=most)
    assert listed(found) == twin.minimal_uniques(codes.tolist(), policy, most)


@pytest.mark.slow
@pytest.mark.parametrize("n_variables", [17, 25, 40, 64])
def test_many_variables_that_hang_together(n_variables):
    # Each further variable copies one of the first six, so every MSU of a copy is an MSU of the
    # first six with some of its members exchanged for their copies.
    rng = np.random.default_rng(5)
    first = rng.integers(1, 4, (30, 6)).astype(np.uint8)
    origin = np.concatenate([np.arange(6), np.arange(n_variables - 6) % 6])
    found = find_minimal_uniques(first[:, origin], max_size=3)
    n_copies = np.bincount(origin, minlength=6)
    small = {
        r: {s for s in own if len(s) <= 3}
        for r, own in twin.minimal_uniques(first.tolist()).items()
    }
    assert found.counts.sum(axis=1).tolist() == [
        sum(math.prod(int(n_copies[v]) for v in own) for own in small[record])
        for record in sorted(small)
    ]
    for record, own in listed(found).items():
        assert {tuple(sorted({int(origin[v]) for v in chosen})) for chosen in own} == small[record]


@pytest.mark.parametrize("policy", POLICIES)
def test_larger_files_agree_by_both_searches(policy, monkeypatch):
    rng = np.random.default_rng(11)
    codes = np.stack([rng.integers(0, most, 2000) for most in (50, 700, 4, 3, 6, 2, 5, 3)], axis=1)
    codes = codes.astype(np.uint16)
    tables = find_minimal_uniques(codes, missing=policy, workers=2)
    monkeypatch.setattr(search, "_TABLE_BYTES", 10_000)
    blocks = find_minimal_uniques(codes, missing=policy, workers=1)
    monkeypatch.setattr(search, "_SMALL", 30)
    monkeypatch.setattr(search, "_MOST", 30)
    split = find_minimal_uniques(codes, missing=policy, workers=1)
    monkeypatch.setattr(minimal_uniques, "best_search", lambda *_: "transversals")
    pairs = find_minimal_uniques(codes, missing=policy, workers=2)
    for other in (blocks, split, pairs):
        assert np.array_equal(tables.records, other.records)
        assert np.array_equal(tables.counts, other.counts)
        assert np.array_equal(tables.by_variable, other.by_variable)
        assert np.array_equal(tables.offsets, other.offsets)
        for begin, end in zip(tables.offsets[:-1], tables.offsets[1:], strict=True):
            assert set(tables.masks[begin:end].tolist()) == set(other.masks[begin:end].tolist())
    sizes = np.bitwise_count(tables.masks)
    inner = np.ones(len(sizes), dtype=bool)
    inner[tables.offsets[:-1]] = False
    assert (np.diff(sizes.astype(int))[inner[1:]] >= 0).all()


def test_lists_are_the_same_for_any_number_of_workers():
    codes = np.random.default_rng(2).integers(0, 6, (3000, 10)).astype(np.uint8)
    alone, together = (find_minimal_uniques(codes, workers=n) for n in (1, 3))
    for name in ("records", "counts", "by_variable", "offsets", "masks"):
        assert np.array_equal(getattr(alone, name), getattr(together, name))


@pytest.mark.parametrize("workers", [1, 2])
@pytest.mark.parametrize("n_variables", [10, 30])
def test_progress_is_told_and_may_stop_the_search(workers, n_variables):
    codes = np.random.default_rng(3).integers(1, 3, (400, n_variables)).astype(np.uint8)
    told = []
    find_minimal_uniques(
        codes, max_size=3, workers=workers, progress=lambda done, total: told.append((done, total))
    )
    assert [done for done, _ in told] == list(range(1, len(told) + 1))
    assert {total for _, total in told} == {len(told)}

    def stop(done, total):
        raise Cancelled("Minimal sample uniques were asked for.")

    with pytest.raises(Cancelled):
        find_minimal_uniques(codes, max_size=3, workers=workers, progress=stop)


def test_the_estimate_is_exact_when_it_looks_at_every_record():
    codes = np.random.default_rng(4).integers(0, 5, (300, 9)).astype(np.uint8)
    for policy in POLICIES:
        found = find_minimal_uniques(codes, missing=policy)
        estimate = estimate_minimal_uniques(codes, missing=policy, sample=1000)
        assert (estimate.n_uniques, estimate.n_msus) == (found.n_uniques, found.n_msus)
        assert (estimate.standard_error, estimate.at_least) == (0, False)
        assert estimate.list_bytes == found.masks.nbytes
    capped = estimate_minimal_uniques(codes, max_size=3, sample=1000)
    assert capped.n_msus == find_minimal_uniques(codes, max_size=3).n_msus


def test_the_estimate_is_near_and_repeatable():
    codes = np.random.default_rng(5).integers(0, 5, (3000, 9)).astype(np.uint8)
    found = find_minimal_uniques(codes)
    estimate = estimate_minimal_uniques(codes, sample=100, seed=1)
    assert estimate == estimate_minimal_uniques(codes, sample=100, seed=1)
    assert estimate.n_sampled == 100
    assert 0 < abs(estimate.n_msus - found.n_msus) < 5 * estimate.standard_error


def test_a_list_beyond_the_limit_is_refused_before_it_is_made():
    codes = np.random.default_rng(6).integers(0, 5, (500, 9)).astype(np.uint8)
    found = find_minimal_uniques(codes)
    with pytest.raises(LimitError) as caught:
        find_minimal_uniques(codes, max_msus=1000)
    assert caught.value.reason is Reason.TOO_LARGE
    assert "listing=False" in str(caught.value)
    assert "max_size" in str(caught.value)
    for options in ({"max_msus": None}, {"max_msus": 1000, "listing": False}):
        assert find_minimal_uniques(codes, **options).n_msus == found.n_msus
    assert find_minimal_uniques(codes, max_msus=1000, max_size=1).n_msus <= 1000


def test_a_hopeless_search_is_refused_before_it_begins():
    codes = np.random.default_rng(7).integers(1, 3, (600, 40)).astype(np.uint8)
    with pytest.raises(LimitError) as caught:
        find_minimal_uniques(codes, listing=False, max_seconds=5)
    assert "max_seconds" in str(caught.value)
    assert estimate_minimal_uniques(codes, sample=5).at_least


@pytest.mark.parametrize(
    ("codes", "options", "reason"),
    [
        (np.zeros((0, 3), dtype=np.uint8), {}, Reason.NOTHING_GIVEN),
        (np.zeros((3, 0), dtype=np.uint8), {}, Reason.NOTHING_GIVEN),
        (np.zeros((3, 65), dtype=np.uint8), {}, Reason.TOO_LARGE),
        (np.zeros((3, 2), dtype=np.int8), {}, Reason.WRONG_SCHEMA),
        (np.zeros(3, dtype=np.uint8), {}, Reason.WRONG_SCHEMA),
        (np.zeros((3, 2), dtype=np.uint8), {"missing": "exclude"}, Reason.BAD_OPTION),
        (np.zeros((3, 2), dtype=np.uint8), {"max_size": 0}, Reason.BAD_OPTION),
        (np.zeros((3, 2), dtype=np.uint8), {"n_codes": [1]}, Reason.BAD_OPTION),
        (np.ones((3, 2), dtype=np.uint8), {"n_codes": [2, 1]}, Reason.BAD_OPTION),
    ],
)
def test_what_cannot_be_searched_is_refused(codes, options, reason):
    with pytest.raises(InputError) as caught:
        find_minimal_uniques(codes, **options)
    assert caught.value.reason is reason
    assert [problem.reason for problem in caught.value.problems] == [reason]


def test_categories_that_do_not_occur_have_a_line_if_asked_for():
    codes = np.array([[1, 1], [2, 1]], dtype=np.uint8)
    found = find_minimal_uniques(codes, n_codes=[5, 3])
    assert [sums.shape for sums in found.by_category] == [(5, 3), (3, 3)]
    assert found.by_category[0].tolist() == [[0] * 3, [0, 1, 0], [0, 1, 0], [0] * 3, [0] * 3]


def test_a_search_without_a_list_says_so_and_shows_no_records():
    found = find_minimal_uniques(np.array([[7], [9]], dtype=np.uint8), listing=False)
    with pytest.raises(InputError, match="listing=True"):
        found.of_record(0)
    assert repr(found) == (
        "MinimalUniques(2 MSUs of 2 sample uniques among 2 records, 1 variables)"
    )


def test_a_census_extract():
    text = np.array(published_lines("adult/adult_arx.csv")[1:])
    codes = np.stack([np.unique(column, return_inverse=True)[1] for column in text.T], axis=1)
    found = find_minimal_uniques((codes + 1).astype(np.uint8))
    assert (found.n_records, found.n_uniques) == (30162, 15512)
    assert found.by_size.tolist() == [0, 2, 1204, 14890, 26029, 15983, 4172, 498, 31, 0]
    weights = np.array([math.factorial(9 - s) for s in range(10)])
    assert found.by_size @ weights == 20402731
    assert (found.by_variable @ weights).tolist() == [
        2012917, 15315677, 3217101, 5131686, 8830171, 9906895, 4570576, 8354005, 1609624,
    ]  # fmt: skip
    scores = dict(zip(found.records.tolist(), (found.counts @ weights).tolist(), strict=True))
    assert sorted(scores, key=scores.__getitem__)[-5:] == [6667, 6066, 21217, 22267, 18175]
    assert [scores[r] for r in (18175, 22267, 21217, 6066, 6667)] == [
        40326, 40320, 25200, 23760, 23520,
    ]  # fmt: skip


@pytest.mark.parametrize("missing", ["category", "ignore", "wildcard"])
@pytest.mark.parametrize("apart", [None, 1, 3, 17])
def test_different_keys_with_their_counts_are_searched_as_the_records_are(missing, apart):
    rng = np.random.default_rng(8)
    codes = rng.integers(0, 4, (120, 5)).astype(np.uint8)
    keys, first, counts = np.unique(codes, axis=0, return_index=True, return_counts=True)
    order = np.argsort(first)
    whole = find_minimal_uniques(codes, missing=missing)
    found = find_minimal_uniques(
        keys[order],
        counts=counts[order],
        missing=missing,
        blocks=partial(map_blocks, workers=2),
        apart=apart,
    )
    assert found.n_records == whole.n_records
    assert first[order][found.records].tolist() == whole.records.tolist()
    assert found.counts.tolist() == whole.counts.tolist()
    for row, record in zip(found.records.tolist(), whole.records.tolist(), strict=True):
        assert found.of_record(row) == whole.of_record(record)
    assert [sums.tolist() for sums in found.by_category] == [
        sums.tolist() for sums in whole.by_category
    ]
