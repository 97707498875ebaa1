from __future__ import annotations

import math
from fractions import Fraction
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gamekeeper.attack.experiments.harness import draw_records
from gamekeeper.attack.uniques.special import assess_special_uniques
from gamekeeper.attack.uniques.special_trials import (
    KeyParts,
    chances_to_stay_unique,
    thin,
    unique_flags,
)
from gamekeeper.data.coding.codebook import Recode
from gamekeeper.data.coding.coded_table import coded_from_codes
from gamekeeper.data.keys.counting import count_keys
from gamekeeper.errors import Cancelled, InputError, LimitError, Reason

NAMES = ["area", "sex", "age"]
POLICIES = ["category", "ignore", "wildcard"]
WORDS = [("missing", "a", "b", "c", "d")] * 3


def key_table(rows, **options):
    return count_keys(coded_from_codes(rows, NAMES, WORDS), NAMES, **options)


def rows_of(least, most_code=3, max_size=9):
    cell = st.integers(least, most_code)
    return st.lists(st.tuples(cell, cell, cell), min_size=2, max_size=max_size).map(
        # A variable without any value is refused by the key table.
        lambda rows: [(1, 1, 1), *rows]
    )


def is_unique(rows, record, variables, missing):
    """Tell by comparing with every other record."""

    def alike(mine, other):
        if missing == "ignore":
            return mine == 0 or mine == other
        if missing == "wildcard":
            return mine == other or 0 in (mine, other)
        return mine == other

    return not any(
        other != record and all(alike(rows[record][v], rows[other][v]) for v in variables)
        for other in range(len(rows))
    )


@pytest.mark.parametrize("missing", POLICIES)
@settings(max_examples=15, deadline=None)
@given(rows=rows_of(0))
def test_kinds_sizes_and_needs_agree_with_all_parts_of_the_key(missing, rows):
    found = assess_special_uniques(key_table(rows, missing=missing), rounds=0, workers=1)
    lines = found.to_arrow().to_pylist()
    uniques = [record for record in range(len(rows)) if is_unique(rows, record, range(3), missing)]
    assert [line["record"] - 1 for line in lines] == uniques
    for line in lines:
        record = line["record"] - 1
        sizes = [
            size
            for size in range(4)
            for part in combinations(range(3), size)
            if is_unique(rows, record, part, missing)
        ]
        assert line["smallest_msu"] == min(sizes)
        assert line["special"] == (min(sizes) < 3)
        for place, name in enumerate(NAMES):
            rest = [v for v in range(3) if v != place]
            assert line[f"needs {name}"] == (not is_unique(rows, record, rest, missing))
        assert line["needed_variables"] == sum(line[f"needs {name}"] for name in NAMES)
    assert found.n_special == sum(line["special"] for line in lines)
    # A record is random exactly if it needs every variable.
    assert all(line["special"] == (line["needed_variables"] < 3) for line in lines)


@settings(max_examples=15, deadline=None)
@given(rows=rows_of(1, 4))
def test_coarser_codings_are_survived_as_a_recoded_file_says(rows):
    levels = [
        Recode("area", [0, 1, 1, 2, 2], ("missing", "ab", "cd")),
        Recode("area", [0, 1, 1, 1, 1], ("missing", "all")),
    ]
    found = assess_special_uniques(key_table(rows), coarser={"area": levels}, rounds=0, workers=1)
    survived = [
        {
            record + 1
            for record in range(len(rows))
            if is_unique([(r.codes[a], b, c) for a, b, c in rows], record, range(3), "category")
        }
        for r in levels
    ]
    for line in found.to_arrow().to_pylist():
        assert line["coarser area"] == sum(line["record"] in level for level in survived)
        # With one category left, area might as well be removed.
        assert (line["record"] in survived[1]) == (not line["needs area"])
    for trial, level in zip(found.trials.coarsenings, survived, strict=True):
        assert trial.special.number + trial.random.number == found.n_uniques - len(level)
        assert trial.special.total == found.n_special


def test_variables_are_told_in_the_order_given():
    rows = [(1, 1, 1), (2, 2, 2), (3, 2, 1)]
    one = {name: [Recode(name, [0, 1, 1, 1, 1], ("missing", "all"))] for name in ("age", "area")}
    found = assess_special_uniques(key_table(rows), coarser=one, rounds=0)
    assert [trial.variable for trial in found.trials.coarsenings] == ["age", "area"]
    assert found.trials.coarsenings[0].n_categories == 1


def test_chances_in_larger_samples_are_those_of_all_larger_samples():
    n_population, n_sample, n_larger = 9, 3, 6
    outside = range(n_population - n_sample)
    grown = list(combinations(outside, n_larger - n_sample))
    sizes = np.arange(1, 8)
    found = chances_to_stay_unique(sizes, n_sample, n_population, n_larger)
    for size, chance in zip(sizes.tolist(), found.tolist(), strict=True):
        # The twins of the unique are the first of those outside.
        alone = sum(not any(person < size - 1 for person in joined) for joined in grown)
        assert chance == pytest.approx(float(Fraction(alone, len(grown))), abs=1e-15)
    assert chances_to_stay_unique(sizes, 3, 9, 3).tolist() == [1.0] * 7
    assert chances_to_stay_unique(sizes, 3, 9, 9).tolist() == [1.0] + [0.0] * 6


def test_a_known_population_tells_what_happens_to_uniques():
    people = [
        (1, 1, 1),
        (1, 1, 1),
        (2, 1, 1),
        (2, 2, 1),
        (2, 2, 2),
        (3, 3, 3),
        (3, 1, 2),
        (1, 2, 2),
    ]
    sample = key_table([people[place] for place in (0, 2, 5)])
    found = assess_special_uniques(
        sample, population=key_table(people), rounds=0, larger=["1/2", 1]
    )
    table = found.to_arrow()
    assert table["population_size"].to_pylist() == [2, 1, 1]
    assert table["unique at 50%"].to_pylist() == [pytest.approx(4 / 5), 1, 1]
    assert table["unique at 100%"].to_pylist() == [0, 1, 1]
    everything = found.trials.growths[-1]
    assert everything.special.number + everything.random.number == 1
    last = found.properties.lines[-1]
    assert last.name == "Unique in the population"
    assert last.special.number + last.random.number == 2
    by_default = assess_special_uniques(sample, population=key_table(people), rounds=0)
    assert [trial.fraction for trial in by_default.trials.growths] == [Fraction(3, 4), 1]


def test_no_search_takes_longer_than_allowed():
    codes = np.random.default_rng(1).integers(1, 8, (60, 5)).astype(np.uint8)
    assert KeyParts(codes, "category", max_seconds=None).special(2).any()
    with pytest.raises(LimitError) as caught:
        KeyParts(codes, "category", max_seconds=1e-12).special(2)
    assert "--max-seconds" in str(caught.value)


@settings(max_examples=20, deadline=None)
@given(rows=rows_of(0, max_size=12), missing=st.sampled_from(POLICIES), seed=st.integers(0, 99))
def test_uniques_stay_unique_in_every_thinner_sample(rows, missing, seed):
    codes = np.array(rows, dtype=np.uint8)
    parts = KeyParts(codes, missing)
    whole = parts.unique()
    assert whole.tolist() == unique_flags(codes, missing).tolist()
    drawn = draw_records(len(rows), (len(rows) + 1) // 2, np.random.default_rng(seed))
    thinner = parts.unique(records=drawn)
    assert thinner.tolist() == [
        is_unique([rows[p] for p in drawn], place, range(3), missing) for place in range(len(drawn))
    ]
    assert (thinner | ~whole[drawn]).all()


@pytest.mark.parametrize("size", [1, 2])
@pytest.mark.parametrize("missing", ["category", "ignore"])
def test_thinning_counts_the_uniques_of_thinner_samples(missing, size):
    generator = np.random.default_rng(3)
    codes = np.column_stack(
        [
            generator.geometric(0.3, 40) % 9,
            generator.integers(0, 4, 40),
            generator.integers(1, 3, 40),
        ]
    ).astype(np.uint8)
    rows = [tuple(row) for row in codes.tolist()]
    parts = KeyParts(codes, missing)
    unique = parts.unique()
    found = thin(parts, unique, Fraction(1, 2), special_size=size, rounds=4, seed=8, number=2)
    counts = {True: [], False: []}
    for turn in range(4):
        seeds = np.random.SeedSequence(8, spawn_key=(2, turn))
        drawn = draw_records(40, 20, np.random.default_rng(seeds)).tolist()
        part = [rows[place] for place in drawn]
        seen = {True: [0, 0], False: [0, 0]}
        for place, record in enumerate(drawn):
            if is_unique(part, place, range(3), missing):
                special = any(
                    is_unique(part, place, few, missing) for few in combinations(range(3), size)
                )
                seen[special][0] += 1
                seen[special][1] += is_unique(rows, record, range(3), missing)
        for kind, pair in seen.items():
            counts[kind].append(pair)
    for kind, kept in ((True, found.special), (False, found.random)):
        table = np.array(counts[kind])
        assert [kept.uniques, kept.kept] == table.sum(axis=0).tolist()
        share = kept.kept / kept.uniques
        assert kept.share == share
        gaps = table[:, 1] - share * table[:, 0]
        expected = math.sqrt((gaps**2).sum() / 3 / 4) / table[:, 0].mean()
        assert kept.standard_error == pytest.approx(expected)


def test_the_whole_file_keeps_all_uniques_and_the_seed_decides_the_rest():
    rows = np.random.default_rng(1).integers(1, 5, (60, 3)).tolist()
    table = key_table(rows)
    whole, half = (
        assess_special_uniques(table, thinner=[share], rounds=5, seed=4) for share in (1, 0.5)
    )
    trial = whole.trials.thinnings[0]
    assert trial.special.uniques == trial.special.kept == 5 * whole.n_special
    assert trial.random.uniques == trial.random.kept == 5 * (whole.n_uniques - whole.n_special)
    again = assess_special_uniques(table, thinner=[0.5], rounds=5, seed=4, workers=1)
    other = assess_special_uniques(table, thinner=[0.5], rounds=5, seed=5)
    assert half.trials == again.trials
    assert half.trials != other.trials


def test_the_table_of_properties():
    rows = [(1, 1, 1), (1, 1, 2), (1, 2, 1), (1, 2, 2), (2, 1, 1), (2, 1, 1)]
    coarse = {"area": [Recode("area", [0, 1, 1, 1, 1], ("missing", "all"))]}
    found = assess_special_uniques(key_table([*rows, (3, 1, 1)]), coarser=coarse, rounds=2)
    lines = found.properties.lines
    assert [line.name for line in lines[:2]] == ["Spontaneously recognisable", "Appears unusual"]
    assert all("a matter for people" in line.words for line in lines[:2])
    assert (found.n_uniques, found.n_special) == (5, 4)
    table = found.properties.to_arrow().to_pylist()
    assert table[0]["special"] is table[0]["random_share"] is None
    removal = [line for line in table if line["property"].startswith("Sensitive to removal")]
    assert [line["test"] for line in removal] == [
        f"unique no longer without {name}" for name in NAMES
    ]
    # (1, 1, 1) alone needs all three variables.
    assert all((line["random"], line["of_random"]) == (1, 1) for line in removal)
    assert [line["special"] for line in removal] == [1, 3, 3]
    assert all(line["of_special"] == 4 for line in removal)
    few = table[-1]
    assert few["test"] == "unique on 1 of the 3 key variables or fewer"
    assert (few["special"], few["random"]) == (1, 0)
    assert found.sentences()[0].startswith("Of 5 sample uniques among 7 records, 4 (80.0%)")
    assert "with area in 1 category, level 1): special uniques 1 of 4 (25.0%)" in " ".join(
        found.sentences()
    )
    assert found._repr_html_() == found.properties._repr_html_()


@settings(max_examples=10, deadline=None)
@given(rows=rows_of(1))
def test_small_parts_of_the_key_may_be_asked_for(rows):
    found = assess_special_uniques(key_table(rows), special_size=1, rounds=0, workers=1)
    for line in found.to_arrow().to_pylist():
        assert line["special"] == any(
            is_unique(rows, line["record"] - 1, [place], "category") for place in range(3)
        )
    by_default = assess_special_uniques(key_table(rows), rounds=0, workers=1)
    same = assess_special_uniques(key_table(rows), special_size=2, rounds=0, workers=1)
    assert same.table.equals(by_default.table)
    assert same.trials == by_default.trials


def test_sizes_of_parts_are_checked():
    table = key_table([(1, 1, 1), (2, 2, 2)])
    with pytest.raises(InputError, match="special_size: 0 is less than 1"):
        assess_special_uniques(table, special_size=0)
    for size, cap in ((3, None), (2, 1)):
        with pytest.raises(InputError, match=f"part, {size} is not from 1 to 2"):
            assess_special_uniques(table, special_size=size, max_size=cap)
    assert "A smaller special_size" in assess_special_uniques(table, rounds=0).sentences()[0]
    one = assess_special_uniques(table, special_size=1, rounds=0)
    assert "A smaller special_size" not in one.sentences()[0]
    assert one.provenance.variant == "unique on at most 1 key variables"


def test_a_size_cap_hides_sizes_but_not_kinds():
    rows = [(1, 1, 1), (1, 1, 2), (1, 2, 1), (2, 2, 2), (2, 1, 2)]
    whole, capped = (
        assess_special_uniques(key_table(rows), rounds=0, max_size=size) for size in (None, 1)
    )
    assert capped.table["special"].equals(whole.table["special"])
    sizes = whole.table["smallest_msu"].to_pylist()
    assert max(sizes) > 1
    assert capped.table["smallest_msu"].to_pylist() == [s if s <= 1 else None for s in sizes]


def test_no_uniques_and_one_variable():
    found = assess_special_uniques(key_table([(1, 1, 1)] * 3))
    assert found.sentences() == ["None of 3 records is unique on the key variables."]
    assert found.properties.lines[-1].special.share is None
    coded = coded_from_codes([[1], [1], [2]], ["sex"])
    one = assess_special_uniques(count_keys(coded, ["sex"]))
    assert (one.n_uniques, one.n_special) == (1, 0)


def test_faults_are_told_together():
    table = key_table([(1, 1, 1), (2, 2, 2)])
    coarse = Recode("sex", [0, 1], ("missing", "all"))
    with pytest.raises(InputError) as caught:
        assess_special_uniques(
            table, coarser={"aera": [coarse], "sex": [coarse], "age": [coarse], "area": []}
        )
    assert [problem.reason for problem in caught.value.problems] == [
        Reason.UNKNOWN_NAME,
        Reason.BAD_OPTION,
        Reason.BAD_OPTION,
        Reason.NOTHING_GIVEN,
    ]
    assert "'area'" in caught.value.problems[0].do
    with pytest.raises(InputError) as caught:
        assess_special_uniques(table, thinner=["0", 2])
    assert len(caught.value.problems) == 2
    with pytest.raises(InputError) as caught:
        assess_special_uniques(table, rounds=-1, seed=-1)
    assert len(caught.value.problems) == 2
    with pytest.raises(InputError, match="population is not known"):
        assess_special_uniques(table, larger=[1])
    with pytest.raises(InputError, match="less than the fraction"):
        assess_special_uniques(table, population=table, larger=["1/2"])


def test_work_can_be_watched_and_stopped():
    table = key_table(np.random.default_rng(1).integers(1, 5, (60, 3)).tolist())
    seen = []
    assess_special_uniques(table, rounds=1, progress=lambda done, total: seen.append((done, total)))
    assert seen[-1] == (5, 5)
    assert [done for done, _ in seen] == sorted(done for done, _ in seen)

    def stop(done, total):
        raise Cancelled("stop")

    with pytest.raises(Cancelled):
        assess_special_uniques(table, progress=stop)
