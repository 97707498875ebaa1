"""What was done to a file that somebody else masked, read from both files."""

from __future__ import annotations

from random import Random

import numpy as np
import pyarrow as pa
import pytest

from gamekeeper.algorithms.suppression import compatibility as matchings
from gamekeeper.attack.assessment.policy import Standing
from gamekeeper.data.coding.source_coding import code_frame
from gamekeeper.protection.attacking.attacks import attack_file, sides_of
from gamekeeper.protection.attacking.masking import read_masking
from gamekeeper.protection.attacking.result import judge_targets
from gamekeeper.protection.step import Setting
from gamekeeper.protection.targets import parse_targets
from tests.twins.who_is_who import fits_of_sets, matchings_of_sets

AGES = [23, 27, 31, 38, 38, 45]
SEXES = ["f", "m", "f", "m", "f", "m"]
KEYS = ("age", "sex")


def coded(ages, sexes):
    return code_frame(pa.table({"age": ages, "sex": sexes}), list(KEYS))


def masking(ages, sexes, records=None, linked=True):
    records = np.arange(len(ages)) if records is None and linked else records
    return read_masking(coded(AGES, SEXES), coded(ages, sexes), KEYS, records)


def candidates(found):
    before, setting = coded(AGES, SEXES), Setting(keys=KEYS)
    return sides_of(before, found.after, found.log, setting, found.held).count()


def test_a_copy_is_as_it_was():
    found = masking(AGES, SEXES)
    assert [each.words for each in found.variables] == ["'age': as it was.", "'sex': as it was."]
    assert candidates(found).people_to_released.tolist() == [1] * 6


def test_suppressed_cells():
    found = masking([23, None, 31, None, 38, 45], SEXES)
    assert found.variables[0].n_suppressed == 2
    assert found.variables[0].n_changed == 0
    assert found.log.suppressed("age").tolist() == [False, True, False, True, False, False]
    assert candidates(found).people_to_released.tolist() == [1, 2, 1, 2, 1, 3]


def test_bands_and_stars_together():
    ages = ["20-29", "20-29", "30-39", None, "30-39", "40+"]
    found = masking(ages, SEXES)
    age = found.variables[0]
    assert age.is_recoded
    assert (age.categories_before, age.categories_after, age.n_suppressed, age.n_changed) == (
        5,
        3,
        1,
        0,
    )
    assert candidates(found).people_to_released.tolist() == [1, 2, 2, 1, 2, 2]


def test_swapped_cells_are_changed_and_not_recoded():
    found = masking([38, 27, 31, 23, 38, 45], SEXES)
    assert found.variables[0].n_changed == 2
    assert not found.variables[0].is_recoded
    assert found.log.changed("age").tolist() == [True, False, False, True, False, False]
    assert candidates(found).people_to_released.tolist() == [0, 1, 1, 0, 2, 1]


def test_where_every_value_became_another_one_an_intruder_is_taken_to_know_it():
    found = masking([27, 23, 31, 38, 38, 45], SEXES)
    assert found.variables[0].n_changed == 0
    assert candidates(found).people_to_released.tolist() == [1] * 6


def test_a_recoding_of_which_some_cells_were_changed():
    ages = ["young", "young", "old", "young", "old", "old"]
    found = masking(ages, SEXES)
    assert found.variables[0].is_recoded
    assert found.variables[0].n_changed == 1


def test_records_in_another_order():
    order = [3, 1, 5, 0, 2, 4]
    found = masking([AGES[i] for i in order], [SEXES[i] for i in order], np.array(order))
    assert [each.n_changed for each in found.variables] == [0, 0]
    assert candidates(found).right is not None
    assert candidates(found).expected == 6


def test_records_of_nobody():
    found = masking(["20-29", "30-39", "50+"], ["f", "m", "f"], linked=False)
    assert found.variables[0].n_changed is None
    laid = sides_of(
        coded(AGES, SEXES),
        found.after,
        type(found.log)(6, found.log.variables, np.zeros(3, dtype=np.int64)),
        Setting(keys=KEYS, response_knowledge=False),
    )
    assert laid.count().people_to_released.tolist() == [1, 0, 0, 1, 0, 0]


def test_where_stars_look_like_missing_cells_every_empty_one_is_open():
    before = coded(["30", "", "40", "50"], ["f", "f", "m", None])
    after = coded(["", "", "40", "50"], ["f", "f", "m", None])
    alike, apart = (
        read_masking(before, after, KEYS, np.arange(4), are_alike=are_alike)
        for are_alike in (True, False)
    )
    assert alike.log.suppressed("age").tolist() == [True, True, False, False]
    assert apart.log.suppressed("age").tolist() == [True, False, False, False]
    assert alike.log.suppressed("sex").tolist() == [False, False, False, True]
    assert not apart.log.suppressed("sex").any()
    assert alike.log.n_suppressed == apart.log.n_suppressed == 1


def possible(cell, values):
    """The values of the original that a released cell can stand for, read from its text."""
    if cell is None:
        return set(values)
    low, dash, high = cell[1:].partition("-")
    if not dash:
        return {cell} & set(values)
    return {value for value in values if int(cell[0] + low) <= int(value) <= int(high)}


def mixed_file(random, n, *, changes):
    """People and a release: values, bands of many widths and offsets, empty cells; some not true."""
    width = random.randint(1, 3)
    ages = [[str(random.randint(10, 21)) for _ in range(width)] for _ in range(n)]

    def shown(value):
        number = int(value) if not changes or random.random() < 0.8 else random.randint(10, 21)
        if random.random() < 0.3:
            return str(number)
        if random.random() < 0.15:
            return None
        size = random.choice([2, 3, 5])
        low = number - random.randrange(size)
        return f"{low}-{low + size - 1}"

    return ages, [[shown(value) for value in line] for line in ages]


def check_mixed_files(n_batches, n_files=20):
    """Attack files of as many records each, which are the columns of one table."""
    n_overlapping = 0
    for batch in range(n_batches):
        random, n = Random(batch), 3 + batch % 7
        files = [mixed_file(random, n, changes=k % 2 == 1) for k in range(n_files)]
        names = [[f"f{k}v{c}" for c in range(len(ages[0]))] for k, (ages, _) in enumerate(files)]
        tables = [
            code_frame(
                pa.table({name: pa.array([row[c] for row in file[side]], pa.string())
                          for own, file in zip(names, files, strict=True)
                          for c, name in enumerate(own)})
            )
            for side in (0, 1)
        ]  # fmt: skip
        for own, (ages, cells) in zip(names, files, strict=True):
            read = read_masking(tables[0], tables[1], tuple(own), np.arange(n))
            # Categories that are apart are a recoding, which an intruder is taken to know.
            if all(each.overlaps for each in read.variables):
                n_overlapping += 1
                setting = Setting(keys=tuple(own))
                found = attack_file(tables[0], read.after, read.log, setting, held=read.held)
                check_over_sets(read, found, ages, cells)
    assert n_overlapping > n_batches * n_files // 4


def check_over_sets(read, found, ages, cells):
    sets = [
        [possible(cell, [line[c] for line in ages]) for c, cell in enumerate(row)] for row in cells
    ]
    fit = fits_of_sets(ages, sets)
    n = range(len(ages))
    people = [sum(line) for line in fit]
    assert found.candidates.people_to_released.tolist() == people
    assert found.candidates.released_to_people.tolist() == [sum(line[j] for line in fit) for j in n]
    assert found.candidates.own.tolist() == [cells.count(row) for row in cells]
    assert (found.n_alone, found.n_nowhere) == (people.count(1), people.count(0))
    assert found.n_misfits == sum(not fit[i][i] for i in n)
    wrong = sum(ages[i][c] not in sets[i][c] for i in n for c in range(len(ages[0])))
    assert sum(each.n_changed for each in read.variables) == wrong
    if wrong:
        assert found.matchings is None
    elif len(ages) <= 6:
        _, shares, candidates = matchings_of_sets(ages, sets)
        assert found.matchings is not None
        assert list(found.matchings.right) == shares
        assert found.matchings.candidates.tolist() == candidates
        assert found.expected == pytest.approx(float(sum(shares)))


def test_every_cell_of_a_mixed_release_is_the_set_of_values_it_can_stand_for():
    check_mixed_files(2, 10)


@pytest.mark.slow
def test_a_thousand_mixed_releases_are_counted_as_by_trying_everybody():
    check_mixed_files(50)


def test_bands_that_overlap_are_told_and_a_value_outside_its_band_is_changed():
    ages = ["20-29", "25-34", "31", "30-39", "38", "60-69"]
    found = masking(ages, SEXES)
    age = found.variables[0]
    assert age.words == (
        "'age': 6 categories that overlap, each taken for every value it can stand for, 1 cell"
        " changed (16.7%)."
    )
    assert candidates(found).people_to_released.tolist() == [1, 1, 1, 1, 1, 0]


@pytest.mark.parametrize(
    "written",
    [
        lambda low, high: f"[{low}, {high + 1})",
        lambda low, high: f"[{low};{high + 1}[",
        lambda low, high: f"[{low},{high}]",
        lambda low, high: f"({low - 1}, {high}]",
        lambda low, high: f"]{low - 1}.0; {high}.0]",
        lambda low, high: f"({low - 0.001}, {high}.0]",
        lambda low, high: f"{low - 0.5}-{high + 0.5}",
        lambda low, high: "{" + ", ".join(str(age) for age in range(low, high + 1)) + "}",
        lambda low, high: " | ".join(str(age) for age in range(low, high + 1)),
    ],
)
@pytest.mark.parametrize("linked", [True, False])
def test_bands_are_read_however_programs_write_them(written, linked):
    ends = [(20, 29), (25, 34), None, (30, 39), None, (40, 49)]
    plain, other = (
        masking([str(age) if own is None else way(*own) for age, own in zip(AGES, ends, strict=True)],
                SEXES, linked=linked)
        for way in (lambda low, high: f"{low}-{high}", written)
    )  # fmt: skip
    assert other.variables == plain.variables
    assert other.variables[0].overlaps
    assert other.variables[0].n_unread == 0
    laid = [each.held["age"].table().sum(axis=1).tolist() for each in (plain, other)]
    assert sorted(laid[0]) == sorted(laid[1])
    if linked:
        fitting = [candidates(each).people_to_released.tolist() for each in (plain, other)]
        assert fitting[0] == fitting[1]


def test_an_interval_of_numbers_that_are_not_whole_has_its_ends():
    amounts = [19.0, 19.5, 24.0, 24.5, 30.0, 30.5]
    shown = ["(19.0, 24.0]", "(19.0, 24.0]", "(19.5, 24.0]", "24.5", "[24.5, 30.0)", "30.5"]
    before, after = coded(amounts, SEXES), coded(shown, SEXES)
    found = read_masking(before, after, KEYS, np.arange(6))
    # 19 is not above 19, nor 30 below 30.
    assert found.log.changed("age").tolist() == [True, False, False, False, True, False]


def test_an_open_interval_ends_nowhere():
    found = masking(["[-Inf, 30)", "20-29", "31", "38", "[38,inf)", "(31, ∞)"], SEXES)
    assert (found.variables[0].n_changed, found.variables[0].overlaps) == (0, True)
    assert candidates(found).released_to_people.tolist() == [1, 1, 1, 1, 1, 2]


def test_categories_within_others_are_read_where_no_value_is_left_as_it_was():
    areas = ["n1", "n2", "s1", "s2"] * 2
    shown = ["north", "north", "south", "south", *["any"] * 4]
    before, after = (
        code_frame(pa.table({"age": own, "sex": ["f"] * 8}), list(KEYS)) for own in (areas, shown)
    )
    found = read_masking(before, after, KEYS, np.arange(8))
    assert (found.variables[0].n_changed, found.variables[0].overlaps) == (0, True)


def test_where_nothing_tells_what_categories_stand_for_right_matches_are_not_known():
    shown = ["few", "few", "some", "some", "many", "45"]
    before = coded([23, 27, 27, 31, 31, 45], SEXES)
    found = read_masking(before, coded(shown, SEXES), KEYS, np.arange(6))
    assert found.unread == ("age",)
    assert "3 categories are neither a value of the original" in found.variables[0].words
    attack = attack_file(
        before, found.after, found.log, Setting(keys=KEYS), held=found.held, unread=found.unread
    )
    assert (attack.expected, attack.linked, attack.matchings) == (None, None, None)
    asked = parse_targets(["expected matches<=99%", "linkage<=99%", "assignments>=2", "both>=2"])
    judged = judge_targets(asked, attack)
    assert not any(each.is_met for each in judged)
    kinds = {row["measure"]: row["kind"] for row in attack.rows()}
    assert kinds["own"] == "exact"
    assert kinds["one_candidate"] == kinds["both"] == "as far as read"
    assert kinds["expected_matches"] == kinds["linkage"] == "not known"
    assert "as far as categories are read" in attack.sentences()[0]


@pytest.mark.parametrize("is_order_true", [True, False])
def test_places_that_tell_no_more_than_lots_are_not_believed(is_order_true):
    draws = np.random.default_rng(1)
    ages = [int(age) for age in draws.integers(20, 60, 300)]
    order = np.arange(300) if is_order_true else draws.permutation(300)
    noisy = [ages[place] + int(draws.integers(1, 5)) for place in order]
    sexes = ["f"] * 300
    before, after = coded(ages, sexes), coded(noisy, sexes)
    found = read_masking(before, after, KEYS, np.arange(300))
    attack = attack_file(
        before, found.after, found.log, Setting(keys=KEYS), held=found.held, by_place=True
    )
    # Noise on every number leaves places that are true, and links that tell.
    assert (attack.linked is not None) == is_order_true
    (judged,) = judge_targets(parse_targets(["linkage<=99%"]), attack)
    assert judged.is_met == is_order_true
    assert attack.n_misfits > 150


def test_bands_of_another_unit_are_not_taken_for_these_values():
    months = list(range(1, 481, 16))
    years = [month // 12 for month in months]
    bands = [f"{year - n % 3}-{year - n % 3 + 4}" for n, year in enumerate(years, 2)]
    sexes = [SEXES[n % 2] for n in range(len(months))]
    before, after = coded(months, sexes), coded(bands, sexes)
    found = read_masking(before, after, KEYS, np.arange(len(months)))
    assert (found.variables[0].n_changed, found.held) == (0, {})
    assert found.variables[0].is_recoded


@pytest.mark.parametrize(
    ("bands", "fitting"),
    [
        # 31 is in the upper of two bands wherever it occurs, or in the lower.
        (["23-31", "23-31", "31-38", "38-45", "38-45", "38-45"], [1, 1, 1, 2, 1, 2]),
        (["23-31", "23-31", "23-31", "31-38", "31-38", "38-45"], [2, 1, 2, 1, 1, 1]),
    ],
)
def test_bands_that_share_their_ends_are_read_as_the_file_has_them(bands, fitting):
    found = masking(bands, SEXES)
    assert (found.held, found.variables[0].n_changed) == ({}, 0)
    assert candidates(found).people_to_released.tolist() == fitting


def test_where_nobody_tells_a_shared_end_is_of_the_upper_band_and_that_is_said():
    found = masking(["23-31", "31-38", "38-45"], ["f", "m", "f"], linked=False)
    assert found.held == {}
    assert "such a value is taken for the upper of two" in found.variables[0].words


def test_categories_above_others_that_are_left_are_the_values_that_became_them():
    areas = ["n1", "n1", "n2", "s1", "s2", "s2"]
    shown = ["n1", "north", "north", "s1", "south", "any"]
    before, after = (
        code_frame(pa.table({"age": own, "sex": SEXES}), list(KEYS)) for own in (areas, shown)
    )
    found = read_masking(before, after, KEYS, np.arange(6))
    assert found.variables[0].n_changed == 0
    laid = sides_of(before, found.after, found.log, Setting(keys=KEYS), found.held)
    # The woman and the man of n1 fit their row, and that of 'north' which is of their sex.
    assert laid.count().people_to_released.tolist() == [2, 1, 1, 1, 1, 1]


def test_records_of_nobody_are_compared_with_sets_and_what_cannot_be_read_is_told():
    found = masking(["20-29", "25-34", "27", "grown", None], ["f"] * 5, linked=False)
    age = found.variables[0]
    assert age.overlaps
    assert age.n_unread == 1
    assert "1 category is neither a value of the original, nor a list or a band" in age.words
    # Nobody's age was missing, so that an empty one was suppressed.
    assert found.is_open


def test_assignments_that_are_too_many_to_look_through_are_not_known(monkeypatch):
    monkeypatch.setattr(matchings, "MOST_LINKS", 3)
    found = masking(["20-29", "25-34", "31", "30-39", "38", "45"], SEXES)
    attack = attack_file(
        coded(AGES, SEXES), found.after, found.log, Setting(keys=KEYS), held=found.held
    )
    (row,) = [row for row in attack.rows() if row["measure"] == "assignments"]
    assert (row["value"], row["kind"]) == (None, "not known")
    assert "Too many people" in row["note"]
    (judged,) = judge_targets(parse_targets(["assignments>=2"]), attack)
    assert (judged.standing, judged.why) == (Standing.NOT_PROVEN, row["note"])
    assert attack.candidates.people_to_released.tolist() == [1, 1, 1, 1, 1, 1]


@pytest.mark.parametrize(
    ("way", "linked"),
    [
        (lambda code, n: code[: 5 - n] + "*" * n, True),
        (lambda code, n: code[: 5 - n] + "x" * n, False),
        (lambda code, n: code[: 5 - n] or None, True),
        (lambda code, n: code[: 5 - n] or None, False),
    ],
)
def test_codes_of_which_a_part_is_left_are_those_that_begin_so(way, linked):
    random = Random(4)
    codes = [
        random.choice(["130", "131", "479"]) + f"{random.randrange(12):02d}" for _ in range(60)
    ]
    lengths = [random.choice([0, 0, 1, 2, 5]) for _ in codes]
    shown = [way(code, n) for code, n in zip(codes, lengths, strict=True)]
    before, after = (
        code_frame(pa.table({"age": own, "sex": ["f"] * 60}), list(KEYS)) for own in (codes, shown)
    )
    found = read_masking(before, after, KEYS, np.arange(60) if linked else None)
    assert (found.variables[0].overlaps, found.variables[0].n_unread) == (True, 0)
    held = found.held["age"]
    place = {code: k for k, code in enumerate(before.codebook["age"].values)}
    for own, n, cell in zip(codes, lengths, shown, strict=True):
        if cell is not None:
            category = after.codebook["age"].values.index(cell)
            for other in set(codes):
                fits = held.fits(np.array([place[other]]), np.array([category]))
                assert fits[0] == (other[: 5 - n] == own[: 5 - n])
    if linked:
        assert found.variables[0].n_changed == 0


def test_shorter_numbers_are_no_beginnings_where_cells_became_them_that_begin_otherwise():
    shown = [3, 27, 31, 38, 3, 45]
    found = masking(shown, SEXES)
    assert (found.variables[0].n_changed, found.variables[0].overlaps) == (2, False)
