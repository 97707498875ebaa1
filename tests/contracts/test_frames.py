"""A frame where something else is expected is one clear error that says what to call."""

from __future__ import annotations

import pandas as pd
import polars as pl
import pytest

import gamekeeper as gk
from gamekeeper.errors import InputError, Reason

FRAME = pd.DataFrame({"a": [1, 2, 2], "b": ["Zanzibarite", "y", "y"]})
OF_KEYS = {
    "assess_uniques": gk.assess_uniques,
    "assess_dis": gk.assess_dis,
    "assess_matching": gk.assess_matching,
    "fit_models": gk.fit_models,
    "assess_special_uniques": gk.risk.assess_special_uniques,
    "measure_risk": gk.risk.measure_risk,
}
OF_CODES = {
    "count_keys": lambda frame: gk.count_keys(frame, ["a"]),
    "tabulate": lambda frame: gk.tabulate(frame, ["a"]),
    "compare_measures": lambda frame: gk.risk.compare_measures(frame, ["a"]),
    "pilot_study": lambda frame: gk.risk.pilot_study(frame, ["a"]),
}

OF_OTHERS = {
    "bound_cells": (gk.bound_cells, "gk.make_release("),
    "infer_attributions": (gk.infer_attributions, "gk.read_release(path)"),
    "subtract_known": (gk.subtract_known, "gk.read_release(path)"),
    "audit_tables": (gk.tables.audit_tables, "gk.tables.read_cells("),
    "mark_cells": (gk.tables.mark_cells, "gk.tables.tabulate_magnitudes("),
    "categories_risk": (gk.models.categories_risk, "gk.infer_risk("),
    "map_key_variables": (gk.map_key_variables, "gk.read_environment(folder)"),
}


@pytest.mark.parametrize("name", OF_OTHERS)
def test_what_is_made_of_files_says_how(name):
    called, way = OF_OTHERS[name]
    with pytest.raises(InputError, match="was given a DataFrame") as caught:
        called(FRAME)
    assert way in str(caught.value)
    assert "Zanzibarite" not in str(caught.value)


@pytest.mark.parametrize("name", [*OF_KEYS, *OF_CODES])
@pytest.mark.parametrize("frame", [FRAME, pl.from_pandas(FRAME)], ids=["pandas", "polars"])
def test_it_is_told_what_to_call(name, frame):
    with pytest.raises(InputError) as caught:
        (OF_KEYS | OF_CODES)[name](frame)
    told = str(caught.value)
    assert caught.value.reason is Reason.WRONG_SCHEMA
    assert "was given a DataFrame" in told
    assert "gk.code_frame(frame, columns)" in told
    assert ("gk.assess(frame, keys=...)" in told) or name in OF_CODES
    assert "Zanzibarite" not in told


def test_links_take_frames_of_any_kind():
    other = FRAME.iloc[[2, 0, 1]].reset_index(drop=True)
    coded = gk.link.files(gk.code_frame(FRAME), gk.code_frame(other), [gk.link.LinkVariable("a")])
    framed = gk.link.files(FRAME, pl.from_pandas(other), ["a"])
    assert framed.to_arrow() == coded.to_arrow()
    numbers = FRAME[["a"]]
    found = gk.link.structure(numbers, pl.from_pandas(numbers), n_clusters=2)
    assert found.summary()["records_a"] == 3


def test_keys_that_are_not_columns_list_those_that_are():
    with pytest.raises(InputError, match="'a', 'b'") as caught:
        gk.assess(FRAME, keys=["zzz"])
    assert "line of names" not in str(caught.value)
