"""Files that others published, linked and measured where they are: the folder GAMEKEEPER_DATA."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import linear_sum_assignment

from gamekeeper.algorithms.anonymity import unsafe_combinations
from gamekeeper.attack.linkage.options import LinkOptions, ObjectiveName
from gamekeeper.attack.linkage.structure import link_structure
from gamekeeper.attack.options import MeasuresOptions
from gamekeeper.data.coding.source_coding import code_source
from gamekeeper.data.reading.source import open_source
from gamekeeper.workbench.linkage import evaluate_files, link_two_files
from gamekeeper.workbench.requests.records import (
    ComparedColumns,
    EvaluateRequest,
    LinkRequest,
    MeasuresRequest,
    MicrodataRequest,
    SampleDesign,
)
from gamekeeper.workbench.risk import measure_release
from tests.given.published import published_file, published_lines


def numbers_of(path):
    # The first column numbers the records.
    return np.array(published_lines(path)[1:], float)[:, 1:]


@pytest.mark.parametrize("name", ["Tarragona", "CASCrefmicrodata"])
def test_masked_business_data_are_linked_as_by_another_solver(name):
    """The costs are made anew here: differences over their means."""
    original = published_file(f"linkage/{name}_original.csv")
    masked = [
        published_file(f"linkage/{name}_masked_{masking}.csv")
        for masking in ("mdav3", "noise10", "rankswap5")
    ]
    found = evaluate_files(
        EvaluateRequest(
            original=original, masked=tuple(masked), columns=ComparedColumns(identifier="row")
        )
    )
    truth = numbers_of(original)
    for file, (optimal, nearest) in zip(masked, found.links, strict=True):
        release = numbers_of(file)
        costs = np.zeros((len(release), len(truth)))
        for column in range(truth.shape[1]):
            difference = np.abs(np.subtract.outer(release[:, column], truth[:, column]))
            costs += difference / difference.mean()
        rows, columns = linear_sum_assignment(costs)
        # The weights of the library have a mean of 1, so that its costs are a multiple.
        ratio = optimal.linked.total / costs[rows, columns].sum()
        assert nearest.linked.total == pytest.approx(ratio * costs.min(axis=1).sum(), rel=1e-9)
        assert optimal.linked.costs == pytest.approx(
            ratio * costs[np.arange(len(release)), optimal.linked.columns], rel=1e-9
        )
        assert optimal.n_correct > 100 * optimal.by_chance
        assert nearest.n_correct > 100 * nearest.by_chance


def test_names_with_errors_are_linked_rightly():
    """febrl4: 5,000 people, of whom 3,287 can be reached by their given names."""
    a, b = published_file("linkage/febrl4a.csv"), published_file("linkage/febrl4b.csv")
    number = {
        file: [line[0].split("-")[1] for line in published_lines(file)[1:]] for file in (a, b)
    }
    found = link_two_files(
        LinkRequest(
            first=a,
            second=b,
            columns=ComparedColumns(
                on=["given_name", "surname", "suburb", "postcode", "date_of_birth", "state"],
                kinds={"surname": "text", "suburb": "text"},
            ),
            options=LinkOptions(
                block=["given_name"], objective=ObjectiveName.FELLEGI_SUNTER, unlinked=0.5
            ),
        )
    )
    linked = np.flatnonzero(found.linked.columns >= 0)
    right = sum(number[a][row] == number[b][found.linked.columns[row]] for row in linked)
    assert len(linked) > 3_200
    assert right > 0.99 * len(linked)


def test_variables_of_half_the_ionosphere_file_are_those_of_the_other_half():
    values = np.array(
        [
            [*map(float, line[:-1]), line[-1] == "good"]
            for line in published_lines("ionosphere/ionosphere.csv")[1:]
        ],
        float,
    )
    shares = []
    for seed in range(5):
        rng = np.random.default_rng(seed)
        order, shuffled = rng.permutation(len(values)), rng.permutation(values.shape[1])
        a, b = values[order[:170]].T, values[order[170:]].T[shuffled]
        found = link_structure(a, b, truth=np.argsort(shuffled), seed=seed)
        shares.append(found.n_correct / 35)
    # One of 35 would be right by chance.
    assert np.mean(shares) > 0.5


def test_the_test_file_of_the_reference_package():
    """Its documentation prints 157, 281 and 458 records, and 10.78 re-identifications (0.24%)."""
    path = published_file("sdcmicro/testdata.csv")
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
    path = published_file("sdcmicro/testdata2.csv")
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
