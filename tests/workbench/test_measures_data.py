"""Measures of files that are not ours, where there are any: the variable GAMEKEEPER_DATA."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from gamekeeper.algorithms.anonymity import unsafe_combinations
from gamekeeper.attack.options import MeasuresOptions
from gamekeeper.data.coding.source_coding import code_source
from gamekeeper.data.reading.source import open_source
from gamekeeper.workbench.requests.records import MeasuresRequest, MicrodataRequest, SampleDesign
from gamekeeper.workbench.risk import measure_release


def data_file(name):
    path = Path(os.environ.get("GAMEKEEPER_DATA", ""), name)
    if "GAMEKEEPER_DATA" not in os.environ or not path.is_file():
        pytest.skip(f"GAMEKEEPER_DATA does not name a folder with {name}")
    return path


def test_the_test_file_of_the_reference_package():
    """Its documentation prints 157, 281 and 458 records, and 10.78 re-identifications (0.24%)."""
    path = data_file("sdcmicro/testdata.csv")
    asked = MeasuresRequest(
        microdata=MicrodataRequest(
            file=path,
            keys=("urbrur", "roof", "walls", "water", "electcon", "relat", "sex"),
        ),
        design=SampleDesign(weight="sampling_weight"),
        measures=MeasuresOptions(household="ori_hid"),
    )
    found = measure_release(asked).found
    assert [found[f"k_below_{k}"] for k in (2, 3, 5)] == [157, 281, 458]
    assert round(found["expected_reidentifications_approximate"], 2) == 10.78
    assert round(100 * found["global_risk"], 2) == 0.24


def test_the_unsafe_cells_that_the_reference_package_prints():
    """It counts cells with up to so many records; with fewer than one more they are the same.

    The sums are those of the pages on `riskyCells`: thresholds of 10, and of 50, 25, 10 and 5.
    """
    path = data_file("sdcmicro/testdata2.csv")
    keys = ("urbrur", "roof", "walls", "water", "electcon")
    asked = MeasuresRequest(
        microdata=MicrodataRequest(file=path, keys=keys),
        measures=MeasuresOptions(unsafe_below=11, dimension=3),
    )
    found = measure_release(asked).found
    assert [found[f"unsafe_of_{size}"] for size in (1, 2, 3)] == [8, 82, 210]
    codes = code_source(open_source(path), list(keys)).matrix()
    several = unsafe_combinations(codes, [51, 26, 11, 6])
    assert several.by_size.tolist() == [17, 102, 210, 176]
