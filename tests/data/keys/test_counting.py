from __future__ import annotations

import gc
import math
from collections import Counter
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gamekeeper.data.coding.codebook import Recode
from gamekeeper.data.coding.coded_table import coded_from_codes
from gamekeeper.data.engine.duckdb_engine import DuckDBEngine
from gamekeeper.data.keys.counting import count_keys
from gamekeeper.data.keys.listed_records import pack_keys
from gamekeeper.errors import Cancelled, InputError, Reason
from gamekeeper.prompt_syntax import Missing
from tests.twins.key_classes import classes_by_pairs

CANARY = "canary-7f3a"


@st.composite
def files(draw):
    n_variables = draw(st.integers(1, 4))
    tops = [draw(st.integers(1, 4)) for _ in range(n_variables)]
    cells = [st.sampled_from([*range(1, top + 1), 0]) for top in tops]
    rows = draw(st.lists(st.tuples(*cells), min_size=1, max_size=25))
    # Every variable has a value, and some record is complete.
    return [*rows, tuple(1 for _ in tops)]


def names_of(rows):
    return [f"variable {place}" for place in range(len(rows[0]))]


@pytest.mark.slow
@settings(deadline=None, max_examples=30)
@given(files(), st.sampled_from(Missing), st.data())
def test_it_counts_what_comparing_all_pairs_counts(rows, missing, data):
    names = names_of(rows)
    weights = data.draw(st.lists(st.integers(1, 4000), min_size=len(rows), max_size=len(rows)))
    weights = [weight / 16 for weight in weights]
    coded = coded_from_codes(rows, names, numbers={"w": weights})
    found = count_keys(coded, names, missing=missing, weight="w", fraction=1)
    classes = classes_by_pairs(rows, missing)
    sizes = [len(own) for own in classes]
    keys = {row: size for row, size in zip(rows, sizes, strict=True) if size}
    assert found.class_sizes().tolist() == sizes
    assert found.class_weights().tolist() == [sum(weights[q] for q in own) for own in classes]
    assert found.n_records == sum(size > 0 for size in sizes)
    assert found.n_excluded == len(rows) - found.n_records
    assert found.n_classes == len(keys)
    assert found.structure == dict(sorted(Counter(keys.values()).items()))
    assert found.records_by_size == Counter(size for size in sizes if size)
    assert (found.n_uniques, found.n_paired) == (sizes.count(1), sizes.count(2))
    assert found.records.tolist() == [n for n, size in enumerate(sizes) if size]
    assert found.matrix().tolist() == [
        list(row) for row, size in zip(rows, sizes, strict=True) if size
    ]
    for k in range(6):
        assert found.k_violations(k) == sum(0 < size < k for size in sizes)
    table = found.classes()
    listed = [tuple(row[name] for name in names) for row in table.to_pylist()]
    assert listed == sorted(keys)
    counts = Counter(rows)
    assert table.column("count").to_pylist() == [counts[key] for key in listed]
    if missing in (Missing.IGNORE, Missing.WILDCARD):
        assert table.column("class_size").to_pylist() == [keys[key] for key in listed]
    numbers = found.class_numbers().tolist()
    assert numbers == [
        listed.index(row) if size else -1 for row, size in zip(rows, sizes, strict=True)
    ]


@pytest.mark.slow
@settings(deadline=None, max_examples=20)
@given(files(), st.sampled_from(Missing), st.randoms())
def test_nothing_depends_on_orders_or_labels(rows, missing, random):
    names = names_of(rows)
    order, columns = list(range(len(rows))), list(range(len(names)))
    random.shuffle(order)
    random.shuffle(columns)
    tops = [max(row[place] for row in rows) for place in columns]
    labels = [[0, *random.sample(range(1, top + 1), top)] for top in tops]
    shuffled = [[labels[new][rows[n][old]] for new, old in enumerate(columns)] for n in order]
    one = count_keys(coded_from_codes(rows, names), names, missing=missing)
    other = count_keys(coded_from_codes(shuffled, names), names, missing=missing)
    assert other.class_sizes().tolist() == one.class_sizes()[order].tolist()
    assert other.structure == one.structure


@pytest.mark.slow
@settings(deadline=None, max_examples=20)
@given(files(), st.sampled_from([Missing.CATEGORY, Missing.EXCLUDE, Missing.WILDCARD]), st.data())
def test_values_of_a_sensitive_variable_are_counted_within_classes(rows, missing, data):
    names = names_of(rows)
    secret = data.draw(st.lists(st.integers(0, 3), min_size=len(rows), max_size=len(rows)))
    coded = coded_from_codes(
        [[*row, own] for row, own in zip(rows, secret, strict=True)], [*names, "illness"]
    )
    found = count_keys(coded, names, missing=missing, sensitive=["illness"])
    expected = []
    for row in rows:
        alike = {own for other, own in zip(rows, secret, strict=True) if other == row}
        left_out = missing is Missing.EXCLUDE and 0 in row
        expected.append(0 if left_out else len(alike - {0}))
    assert found.l_diversity("illness").tolist() == expected
    counted = [expected[n] for n in found.records.tolist()]
    assert found.diversity == {"illness": Counter(counted)}


# Two files of the golden cases on missing values, as codes: a record has a minimal sample unique
# exactly when it is unique.
A50 = [
    [3, 2, 2, 2],
    [2, 0, 1, 2],
    [3, 2, 1, 1],
    [1, 2, 1, 1],
    [3, 1, 1, 1],
    [3, 1, 3, 2],
    [1, 2, 2, 2],
    [0, 2, 3, 2],
    [2, 1, 3, 1],
]
A52 = [
    [2, 1, 3, 2],
    [2, 0, 0, 1],
    [1, 2, 2, 1],
    [1, 0, 2, 2],
    [1, 2, 1, 2],
    [3, 1, 3, 2],
    [0, 1, 2, 1],
    [1, 1, 1, 2],
    [3, 1, 0, 0],
]


@pytest.mark.parametrize(
    ("rows", "missing", "not_unique"),
    [
        (A50, "category", []),
        (A50, "ignore", []),
        (A50, "wildcard", []),
        (A52, "category", []),
        (A52, "ignore", [8]),
        (A52, "wildcard", [1, 5, 6, 8]),
    ],
)
def test_the_golden_files_have_their_uniques(rows, missing, not_unique):
    sizes = count_keys(coded_from_codes(rows, "abcd"), list("abcd"), missing=missing).class_sizes()
    assert np.flatnonzero(sizes != 1).tolist() == not_unique


def test_a_wide_key_takes_several_numbers():
    rng = np.random.default_rng(8)
    base = rng.integers(0, 3_000, (60, 64))
    codes = base[rng.integers(0, 60, 150)]
    codes[:, 5] = rng.integers(1, 3, 150)
    names = [f"v{n}" for n in range(64)]
    coded = coded_from_codes(codes, names)
    assert len(pack_keys(names, coded.n_codes()).groups) > 5
    found = count_keys(coded, names)
    rows = [tuple(row) for row in codes.tolist()]
    assert found.class_sizes().tolist() == [rows.count(row) for row in rows]
    assert sorted(map(tuple, found.matrix().tolist())) == sorted(rows)
    listed = [tuple(row.values())[:-1] for row in found.classes().to_pylist()]
    assert listed == sorted(set(rows))


@pytest.mark.parametrize(
    "n_codes", [[2**31, 2**31, 2], [2**32, 2**31], [2**31, 2**32, 2], [1, 1], [1, 3]]
)
def test_packing_uses_63_bits_and_no_more(n_codes):
    packing = pack_keys([f"v{n}" for n in range(len(n_codes))], n_codes)
    for group in packing.groups:
        assert math.prod(n_codes[place] for place in group) <= 2**63
    assert sum(packing.groups, ()) == tuple(range(len(n_codes)))
    largest = [math.prod(n_codes[place] for place in group) - 1 for group in packing.groups]
    numbers = [np.array([number], dtype=np.int64) for number in largest]
    assert packing.unpack(numbers).tolist() == [[count - 1 for count in n_codes]]


def test_a_recoded_variable_is_counted_by_its_new_codes():
    coded = coded_from_codes([[1], [2], [3], [0]], ["age"])
    coarse = coded.recoded([Recode("age", [0, 1, 1, 2], ("missing", "young", "old"), "band")])
    found = count_keys(coarse, ["band"])
    assert found.class_sizes().tolist() == [2, 2, 1, 1]
    assert found.to_arrow().to_pydict() == {
        "band": ["missing", "young", "old"],
        "count": [1, 2, 1],
    }


@pytest.mark.parametrize(
    ("given_fraction", "meant"),
    [("2%", Fraction(1, 50)), (0.1, Fraction(1, 10)), ("1/3", Fraction(1, 3)), (1, Fraction(1))],
)
def test_the_fraction_is_exact(given_fraction, meant):
    found = count_keys(coded_from_codes([[1], [2]], ["a"]), ["a"], fraction=given_fraction)
    assert found.fraction == meant
    assert found.fractions is None
    assert found.record_fractions().tolist() == [float(meant)] * 2


def strata_file(**options):
    return coded_from_codes(
        [[1, 1], [1, 1], [1, 2], [2, 2], [2, 0]],
        ["age", "region"],
        [("missing", "young", "old"), ("missing", "north", "south")],
        **options,
    )


def test_fractions_of_strata_are_given_by_their_words():
    found = count_keys(
        strata_file(),
        ["age"],
        strata="region",
        fraction={"north": "10%", "south": "1/5", "missing": 0.5, "not in the file": 0.3},
    )
    assert found.fractions == {
        "missing": Fraction(1, 2),
        "north": Fraction(1, 10),
        "south": Fraction(1, 5),
    }
    assert found.fraction == Fraction(5, 2 * 10 + 2 * 5 + 2)
    assert found.record_fractions().tolist() == [0.1, 0.1, 0.2, 0.2, 0.5]


def test_strata_may_be_keys_and_may_share_one_fraction():
    found = count_keys(strata_file(), ["age", "region"], strata="region", fraction="1/4")
    assert found.fraction == Fraction(1, 4)
    assert set(found.fractions.values()) == {Fraction(1, 4)}
    assert found.class_sizes().tolist() == [2, 2, 1, 1, 1]


def test_the_stratum_of_a_record_that_is_left_out_needs_no_fraction():
    found = count_keys(
        strata_file(),
        ["age", "region"],
        missing="exclude",
        strata="region",
        fraction={"north": 0.1, "south": 0.2},
    )
    fractions = found.record_fractions()
    assert fractions[:4].tolist() == [0.1, 0.1, 0.2, 0.2]
    assert np.isnan(fractions[4])


def test_fractions_follow_from_weights():
    weights = [0.1 + 1, 2.7, 10, 20, 4.5]
    coded = strata_file(numbers={"w": weights})
    exact = [Fraction(weight) for weight in weights]
    found = count_keys(coded, ["age"], weight="w")
    assert found.fraction == 5 / sum(exact)
    found = count_keys(coded, ["age"], weight="w", strata="region")
    assert found.fractions == {
        "north": 2 / sum(exact[:2]),
        "south": 2 / sum(exact[2:4]),
        "missing": 1 / exact[4],
    }
    assert found.fraction == 5 / sum(exact)
    given_one = count_keys(coded, ["age"], weight="w", fraction="1/7")
    assert given_one.fraction == Fraction(1, 7)


def test_sums_of_weights_do_not_depend_on_the_order_of_records():
    rng = np.random.default_rng(4)
    codes = rng.integers(1, 4, (130_000, 1))
    weights = rng.lognormal(3, 2, len(codes)) + 1e-3
    order = rng.permutation(len(codes))
    totals = []
    for rows in (slice(None), order):
        coded = coded_from_codes(codes[rows], ["a"], numbers={"w": weights[rows]})
        found = count_keys(coded, ["a"], weight="w")
        totals.append((found.fraction, found.classes().column("weight").to_pylist()))
    assert totals[0] == totals[1]
    exact = sum(map(Fraction, weights.tolist()))
    assert totals[0][0] == len(codes) / exact
    by_hand = [math.fsum(weights[codes[:, 0] == code]) for code in (1, 2, 3)]
    assert totals[0][1] == pytest.approx(by_hand, rel=1e-15)


@pytest.mark.parametrize("weights", [[1e-300, 1e300], [1e-12, 1e12], [5e300, 5e300]])
def test_weights_of_any_size_are_summed(weights):
    coded = coded_from_codes([[1], [1]], ["a"], numbers={"w": weights})
    found = count_keys(coded, ["a"], weight="w", fraction=1)
    assert found.class_weights().tolist() == pytest.approx([sum(weights)] * 2, rel=1e-15)


def problems_of(call):
    with pytest.raises(InputError) as caught:
        call()
    assert CANARY not in str(caught.value)
    assert caught.value.problems
    return [(problem.reason, problem.where, problem.found) for problem in caught.value.problems]


def test_every_problem_of_a_request_is_told_at_once():
    coded = coded_from_codes([[1, 0, 1]] * 3, ["age", "empty", "sex"], [("missing", CANARY)] * 3)
    found = problems_of(
        lambda: count_keys(
            coded,
            ["age", "age", "aeg", "empty"],
            weight="w",
            strata="regoin",
            fraction={CANARY: 0.1},
            sensitive=["sxe", "age"],
        )
    )
    assert [(reason, where) for reason, where, _ in found] == [
        (Reason.DUPLICATE, "key variable 'age'"),
        (Reason.UNKNOWN_NAME, "key variable 'aeg'"),
        (Reason.UNKNOWN_NAME, "sensitive variable 'sxe'"),
        (Reason.BAD_OPTION, "sensitive variable 'age'"),
        (Reason.UNKNOWN_NAME, "strata 'regoin'"),
        (Reason.UNKNOWN_NAME, "weight 'w'"),
        (Reason.BAD_OPTION, "key variable 'empty'"),
    ]
    assert found[-1][2] == "all of its 3 cells are missing."


@pytest.mark.parametrize("missing", Missing)
def test_an_all_missing_key_is_refused_under_every_rule(missing):
    coded = coded_from_codes([[1, 0], [2, 0]], ["a", "b"])
    ((reason, where, _),) = problems_of(lambda: count_keys(coded, ["a", "b"], missing=missing))
    assert (reason, where) == (Reason.BAD_OPTION, "key variable 'b'")


def test_no_keys_and_too_many_keys():
    coded = coded_from_codes(np.ones((2, 65), dtype=int), [f"v{n}" for n in range(65)])
    assert problems_of(lambda: count_keys(coded, []))[0][0] is Reason.NOTHING_GIVEN
    assert problems_of(lambda: count_keys(coded, coded.codebook.names))[0][0] is Reason.TOO_LARGE
    assert count_keys(coded, coded.codebook.names[:64]).n_classes == 1


def test_an_empty_file_is_refused():
    ((reason, where, _),) = problems_of(lambda: count_keys(coded_from_codes([], ["a"]), ["a"]))
    assert (reason, where) == (Reason.NOTHING_GIVEN, "file")


@pytest.mark.parametrize("missing", Missing)
def test_one_record_is_fine(missing):
    found = count_keys(coded_from_codes([[1]], ["a"]), ["a"], missing=missing)
    assert (found.n_records, found.n_uniques, dict(found.structure)) == (1, 1, {1: 1})


def test_a_file_without_a_complete_record_cannot_be_counted_without_the_others():
    coded = coded_from_codes([[1, 0], [0, 2]], ["a", "b"], numbers={"w": [2, 2]})
    for weight in ("", "w"):
        ((reason, where, found),) = problems_of(
            lambda weight=weight: count_keys(coded, ["a", "b"], missing="exclude", weight=weight)
        )
        assert (reason, where) == (Reason.NOTHING_GIVEN, "keys")
        assert "2 records" in found


@pytest.mark.parametrize("fraction", [0, -0.1, 1.1, "0%", "101%", "two", "nan", math.inf, "1/0"])
def test_a_fraction_outside_its_range_is_refused(fraction):
    coded = coded_from_codes([[1]], ["a"])
    ((reason, where, _),) = problems_of(lambda: count_keys(coded, ["a"], fraction=fraction))
    assert (reason, where) == (Reason.BAD_OPTION, "fraction")


def test_bad_weights_are_counted_by_kind():
    weights = [0, 0, -1, np.nan, np.inf, 3]
    coded = coded_from_codes([[1]] * 6, ["a"], numbers={"w": weights})
    ((reason, where, found),) = problems_of(lambda: count_keys(coded, ["a"], weight="w"))
    assert (reason, where) == (Reason.BAD_OPTION, "weight 'w'")
    assert found == "2 weights zero, 1 weight below zero, 2 weights missing or not finite."


def test_only_the_weights_of_counted_records_matter():
    coded = coded_from_codes([[1], [1], [0]], ["a"], numbers={"w": [2, 2, 0]})
    assert count_keys(coded, ["a"], missing="exclude", weight="w").fraction == Fraction(1, 2)


def test_weights_that_do_not_gross_up_are_refused():
    coded = strata_file(numbers={"w": [0.5, 0.5, 0.5, 0.5, 0.5]})
    ((_, where, found),) = problems_of(lambda: count_keys(coded, ["age"], weight="w"))
    assert where == "weight 'w'"
    assert found == "the weights sum to less than the number of records."
    ((_, _, found),) = problems_of(lambda: count_keys(coded, ["age"], weight="w", strata="region"))
    assert found.startswith("in 3 strata the weights")


def test_strata_need_fractions_and_fractions_strata():
    coded = strata_file()
    ((_, where, _),) = problems_of(lambda: count_keys(coded, ["age"], strata="region"))
    assert where == "strata 'region'"
    ((_, where, _),) = problems_of(lambda: count_keys(coded, ["age"], fraction={"north": 1}))
    assert where == "fraction"


def test_strata_without_a_fraction_are_counted_and_not_named():
    coded = coded_from_codes(
        [[1, 1], [1, 2], [1, 2]], ["a", "region"], [("missing", "x"), ("missing", "n", CANARY)]
    )
    found = problems_of(
        lambda: count_keys(coded, ["a"], strata="region", fraction={"n": 2, "s": 0.1})
    )
    assert [reason for reason, _, _ in found] == [Reason.BAD_OPTION, Reason.UNKNOWN_NAME]
    assert found[1][2] == "1 of 2 strata have no fraction (2 records)."


def test_an_unknown_rule_for_missing_cells_is_refused():
    with pytest.raises(InputError, match="'wildcard'"):
        count_keys(coded_from_codes([[1]], ["a"]), ["a"], missing="wild")


def test_names_given_as_one_text_are_refused():
    with pytest.raises(InputError, match="one text"):
        count_keys(coded_from_codes([[1]], ["a"]), "a")


def test_weights_and_fractions_that_are_not_there_are_told():
    found = count_keys(coded_from_codes([[1]], ["a"]), ["a"])
    assert found.fraction is None
    for call in (found.class_weights, found.record_fractions):
        with pytest.raises(InputError):
            call()


def test_it_speaks_in_words_and_counts():
    coded = strata_file(numbers={"w": [2, 2, 2, 2, 2]})
    found = count_keys(coded, ["region"], missing="exclude", weight="w", sensitive=["age"])
    alone = "There are 2 different keys. 0 records (0.0%) are unique, "
    assert found.sentences() == [
        "4 records were compared on 1 key variable: 'region'.",
        f"{alone}and 4 records (100.0%) are like exactly one other.",
        "Of missing cells: records with a missing cell are left out.",
        "1 record with a missing cell left out.",
        "The sampling fraction is 50%.",
        "2 records (50.0%) are in a class with at most one value of 'age'.",
    ]
    assert found.summary() == {
        "variables": 1,
        "records": 4,
        "excluded": 1,
        "classes": 2,
        "uniques": 0,
        "pairs": 4,
        "missing": "exclude",
        "fraction": 0.5,
        "least_values": 1,
    }
    assert found.provenance.parameters == {
        "keys": "region",
        "missing": "exclude",
        "fraction": "1/2",
        "weight": "w",
        "sensitive": "age",
    }
    assert found.provenance.engine.startswith("duckdb ")
    assert found.provenance.fingerprint == coded.fingerprint


def test_words_of_the_file_are_in_the_table_alone():
    coded = coded_from_codes([[1], [0]], ["count"], [("missing", CANARY)])
    found = count_keys(coded, ["count"])
    assert found.to_arrow().to_pydict() == {"count": ["missing", CANARY], "count_": [1, 1]}
    assert CANARY not in repr(found) + str(found) + found._repr_html_() + str(found.sentences())


def test_a_notebook_shows_the_smallest_sizes_only():
    codes = [[size] for size in range(1, 15) for _ in range(size)]
    shown = count_keys(coded_from_codes(codes, ["a"]), ["a"])._repr_html_()
    assert shown.count("<tr>") == 11
    assert "4 larger sizes not shown" in shown


@pytest.mark.slow
def test_larger_than_memory_gives_the_same(tmp_path):
    rng = np.random.default_rng(6)
    codes = rng.integers(1, 60, (1_500_000, 6), dtype=np.uint8)
    codes[:, 1:] = np.minimum(codes[:, 1:], 12)
    with DuckDBEngine(memory_limit="80MB", threads=2, folder=tmp_path) as engine:
        coded = coded_from_codes(codes, "abcdef", engine=engine)
        found = count_keys(coded, list("abcdef"))
        sizes = found.class_sizes()
    packed = codes[:, 0].astype(np.int64)
    for place in range(1, 6):
        packed = packed * 13 + codes[:, place]
    _, inverse, counts = np.unique(packed, return_inverse=True, return_counts=True)
    assert np.array_equal(sizes, counts[inverse])


def test_counting_can_be_stopped():
    def stop(done, whole):
        raise Cancelled("Counting.")

    rng = np.random.default_rng(7)
    codes = rng.integers(0, 2, (50_000, 12))
    with DuckDBEngine(threads=1) as engine:
        coded = coded_from_codes(codes, "abcdefghijkl", engine=engine)
        with pytest.raises(Cancelled):
            count_keys(coded, list("abcdefghijkl"), missing="wildcard", progress=stop)
        assert count_keys(coded, ["a", "b"]).n_classes == 4


def test_a_key_table_outlives_the_names_it_was_made_from():
    found = count_keys(
        coded_from_codes([[1], [2], [1]], ["a"]).recoded([Recode("a", [0, 1, 1], ("m", "x"))]),
        ["a"],
    )
    gc.collect()
    coded_from_codes([[1]], ["other"])
    assert found.class_sizes().tolist() == [3, 3, 3]


@pytest.mark.slow
@settings(deadline=None, max_examples=40)
@given(files(), st.sampled_from(Missing), st.data())
def test_what_a_count_proves(rows, missing, data):
    """Only records that are alike as they are released cannot be found by somebody's true values."""
    table = count_keys(coded_from_codes(rows, names_of(rows)), names_of(rows), missing=missing)
    kept = [row for row in rows if missing is not Missing.EXCLUDE or 0 not in row]
    alike = Counter(kept)
    sizes = Counter(alike[row] for row in kept)
    assert table.released_by_size == dict(sizes)
    assert table.n_unlike == sizes[1]
    assert bool(table.caution) == (table.released_by_size != table.records_by_size)
    if missing in (Missing.CATEGORY, Missing.EXCLUDE):
        assert not table.caution
    if not table.n_unlike:
        # Whatever the true values behind missing cells are, they fit two records or more.
        for row in kept:
            true = [cell or data.draw(st.integers(1, 4)) for cell in row]
            fitting = sum(
                all(b in (0, a) for a, b in zip(true, other, strict=True)) for other in kept
            )
            assert fitting >= 2


def test_a_wildcard_count_says_what_it_does_not_prove():
    # Whoever knows that somebody is 30 and male finds the first record, and no other.
    rows = [(0, 1), (2, 1), (3, 2), (3, 2)]
    coded = coded_from_codes(rows, ["age", "sex"])
    table = count_keys(coded, ["age", "sex"], missing="wildcard")
    assert table.n_uniques == 0
    told = table.sentences()
    assert "Where a missing cell matches anything, 0 records (0.0%) are unique" in told[1]
    assert told[2].startswith("That does not prove that nobody can be found")
    assert "2 records (50.0%) are like no other" in told[2]
    assert table.summary()["uniques_as_released"] == 2
    assert table.k_sentence(2) == (
        "2 records in classes of fewer than 2 as released (2-anonymity); 0 where a missing cell"
        " matches anything."
    )
    plain = count_keys(coded, ["age", "sex"])
    assert plain.caution == ""
    assert plain.k_sentence(2) == "2 records in classes of fewer than 2 (2-anonymity)."
    assert "uniques_as_released" not in plain.summary()


def test_a_wildcard_count_is_believed_where_it_proves_something():
    whole = count_keys(coded_from_codes([(1,), (2,), (2,)], ["age"]), ["age"], missing="wildcard")
    assert whole.caution == ""
    alike = [(0, 1), (0, 1), (2, 1), (2, 1)]
    table = count_keys(coded_from_codes(alike, ["a", "b"]), ["a", "b"], missing="wildcard")
    assert table.caution.endswith("every record has the key of another one.")


@settings(deadline=None, max_examples=25)
@given(files(), st.sampled_from(Missing), st.data())
def test_one_record_of_each_person_is_the_file_without_the_others(rows, missing, data):
    names = names_of(rows)
    owners = data.draw(st.lists(st.integers(1, 6), min_size=len(rows), max_size=len(rows)))
    coded = coded_from_codes(
        [[*row, owner] for row, owner in zip(rows, owners, strict=True)], [*names, "who"]
    )
    found = count_keys(coded, names, missing=missing, person="who", fraction=1)
    can = [n for n, row in enumerate(rows) if missing is not Missing.EXCLUDE or 0 not in row]
    kept = [n for n in can if owners[n] not in [owners[m] for m in can if m < n]]
    assert found.records.tolist() == kept
    assert (found.n_records, found.n_further) == (len(kept), len(can) - len(kept))
    assert found.n_excluded == len(rows) - len(can)
    sizes = [len(own) for own in classes_by_pairs([rows[n] for n in kept], missing)]
    assert found.class_sizes()[kept].tolist() == sizes
    assert found.matrix().tolist() == [list(rows[n]) for n in kept]
    assert found.people_words in found.sentences()
    assert count_keys(coded, names, missing=missing, fraction=1).people_words == ""


@pytest.mark.parametrize(
    ("person", "keys", "words"),
    [
        ("whom", ["age"], "no such variable was read"),
        ("age", ["age"], "it is a key variable as well"),
        ("who", ["age"], "no value of it in 1 of 3 records"),
    ],
)
def test_a_column_that_does_not_tell_people_is_refused(person, keys, words):
    coded = coded_from_codes([[1, 1], [2, 1], [1, 0]], ["age", "who"])
    with pytest.raises(InputError) as caught:
        count_keys(coded, keys, person=person, fraction="1/2")
    assert words in str(caught.value)
