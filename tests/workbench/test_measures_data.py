"""Measures of files that are not ours, where there are any: the variable GAMEKEEPER_DATA."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from gamekeeper.attack.measures.options import MeasuresOptions
from gamekeeper.workbench.requests.microdata import MicrodataRequest, SampleDesign
from gamekeeper.workbench.requests.risk import MeasuresRequest
from gamekeeper.workbench.risk import measure_release


def test_the_test_file_of_the_reference_package():
    """Its documentation prints 157, 281 and 458 records, and 10.78 re-identifications (0.24%)."""
    path = Path(os.environ.get("GAMEKEEPER_DATA", ""), "sdcmicro/testdata.csv")
    if "GAMEKEEPER_DATA" not in os.environ or not path.is_file():
        pytest.skip("GAMEKEEPER_DATA does not name a folder with sdcmicro/testdata.csv")
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
