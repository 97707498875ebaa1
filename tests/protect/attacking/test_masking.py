"""What was done to a file that somebody else masked, read from both files."""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from gamekeeper.data.coding.source_coding import code_frame
from gamekeeper.protect.attacking.masking import read_masking
from gamekeeper.protect.attacking.sides import sides_of
from gamekeeper.protect.setting import Setting

AGES = [23, 27, 31, 38, 38, 45]
SEXES = ["f", "m", "f", "m", "f", "m"]
KEYS = ("age", "sex")


def coded(ages, sexes):
    return code_frame(pa.table({"age": ages, "sex": sexes}), list(KEYS))


def masking(ages, sexes, records=None, linked=True):
    records = np.arange(len(ages)) if records is None and linked else records
    return read_masking(coded(AGES, SEXES), coded(ages, sexes), KEYS, records)


def candidates(found):
    return sides_of(coded(AGES, SEXES), found.after, found.log, Setting(keys=KEYS)).count()


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
