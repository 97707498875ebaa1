from __future__ import annotations

import numpy as np

from gamekeeper.data.coding.codebook import Recode
from gamekeeper.protection.step import ChangeLog, VariableChange


def cells(*numbers: int, n: int = 5) -> np.ndarray:
    return np.isin(np.arange(n), numbers)


def test_logs_of_steps_one_after_the_other_are_one():
    first = ChangeLog(5, {"age": VariableChange.of_cells(suppressed=cells(0, 3))})
    second = ChangeLog(
        5, {"age": VariableChange.of_cells(cells(1)), "sex": VariableChange.of_cells(cells(4))}
    )
    both = first.then(second)
    assert both.changed("age").tolist() == cells(0, 1, 3).tolist()
    assert both.suppressed("age").tolist() == cells(0, 3).tolist()
    assert (both.n_changed, both.n_suppressed) == (4, 2)


def test_after_a_sample_the_log_is_still_of_the_input():
    kept = np.array([1, 3, 4])
    sample = ChangeLog(5, {"sex": VariableChange.of_cells(cells(2, 3))}, kept)
    later = ChangeLog(3, {"age": VariableChange.of_cells(suppressed=np.array([True, False, True]))})
    both = sample.then(later)
    assert both.n_left == 3
    assert both.suppressed("age").tolist() == [True, False, True]
    assert both.changed("sex").tolist() == [False, True, False]
    again = both.then(ChangeLog(3, {}, np.array([2, 0])))
    assert again.records is not None
    assert again.records.tolist() == [4, 1]
    assert again.suppressed("age").tolist() == [True, True]


def test_recodes_are_composed():
    fine = Recode("age", [0, 1, 1, 2], ("missing", "a", "b"))
    coarse = Recode("age", [0, 1, 1], ("missing", "any"))
    log = ChangeLog(2, {"age": VariableChange(fine)}).then(
        ChangeLog(2, {"age": VariableChange(coarse)})
    )
    recode = log.variables["age"].recode
    assert recode is not None
    assert recode.codes.tolist() == [0, 1, 1, 1]
    assert recode.words == ("missing", "any")


def test_a_cell_that_was_missing_is_shown_as_suppressed_and_not_counted():
    change = VariableChange.of_cells(cells(1), suppressed=cells(1, 2))
    assert (change.n_changed, change.n_suppressed) == (1, 1)
    assert ChangeLog(5, {"age": change}).suppressed("age").tolist() == cells(1, 2).tolist()


def test_a_log_tells_numbers_and_never_places():
    log = ChangeLog(5, {"age": VariableChange.of_cells(suppressed=cells(0, 3))})
    assert log.rows() == [
        {"variable": "age", "recoded": False, "categories": None, "suppressed": 2, "changed": 2,
         "changed_share": 0.4}
    ]  # fmt: skip
    assert "2 cells suppressed" in repr(log)
