"""The default of `link files`: who has no partner stays unlinked, and what is expected is told."""

from __future__ import annotations

import numpy as np
import pytest

from gamekeeper.attack.linkage.files import link_files
from gamekeeper.attack.linkage.partners import least_costs
from gamekeeper.data.coding.coded_table import coded_from_codes
from gamekeeper.errors import InputError
from tests.given.linked_files import file_of

N_COLUMNS = 6


def people(seed, *, n_each=120, n_both=60, wrong=0.08):
    """Draw two files of words with some people in both and errors in the second."""
    rng = np.random.default_rng(seed)
    values = rng.integers(0, 40, (N_COLUMNS, 2 * n_each - n_both))
    first, second = values[:, :n_each], values[:, n_each - n_both :].copy()
    second = np.where(rng.random(second.shape) < wrong, rng.integers(0, 40, second.shape), second)
    order = rng.permutation(n_each)
    truth = np.full(n_each, -1)
    truth[n_each - n_both :] = np.argsort(order)[:n_both]
    files = [
        file_of({f"v{k}": [f"w{x}" for x in column] for k, column in enumerate(part)})
        for part in (first, second[:, order])
    ]
    return files[0], files[1], truth


VARIABLES = [f"v{k}" for k in range(N_COLUMNS)]


def linked(seed=1, *, n_both=60, **options):
    a, b, truth = people(seed, n_both=n_both)
    return link_files(a, b, VARIABLES, **{"truth": truth, **options})


@pytest.mark.parametrize("n_both", [20, 60, 120])
def test_records_without_a_partner_stay_unlinked(n_both):
    found = linked(n_both=n_both)
    assert found.precision > 0.95
    assert found.recall > 0.9
    overlap = found.partners.overlap
    assert overlap.low <= n_both <= overlap.high
    everybody = linked(n_both=n_both, everybody=True)
    assert everybody.n_linked == 120
    assert everybody.partners is None
    assert everybody.linked.probabilities is None


def test_where_nobody_is_in_both_hardly_anybody_is_linked():
    for seed in range(3):
        found = linked(seed, n_both=0)
        assert found.partners.overlap.low == 0
        assert found.n_linked <= 3
        assert found.recall is None


def test_links_that_may_all_be_wrong_are_no_success():
    nothing = linked(n_both=0, truth=None)
    assert "all links may be wrong" in nothing.sentences()[0]
    assert nothing.n_linked == 0
    no_safety = "does not show that nobody can be re-identified"
    assert no_safety in nothing.sentences()[1]
    judged = linked(n_both=0)
    assert judged.n_linked == 0
    assert no_safety in judged.sentences()[0]
    # Beside the truth, nothing is said that contradicts it.
    assert not any("may be wrong" in one for one in judged.sentences())
    assert any(
        one.startswith("To somebody who does not know the truth") for one in judged.sentences()
    )
    known = linked(n_both=0, everybody=True).sentences()[1]
    assert known == "No record of the first file has a partner in the second: all links are wrong."


@pytest.mark.parametrize("n_both", [200, 300, 400])
def test_after_blocking_those_with_a_partner_are_linked(n_both):
    """A third of the pairs within small blocks are matches: chance has the others alone."""
    rng = np.random.default_rng(4)
    n = 400
    block = rng.integers(0, n // 3, 2 * n - n_both)
    numbers = rng.normal(size=(2, 2 * n - n_both))
    blurred = numbers + rng.normal(0, 0.05, numbers.shape)
    parts = (block[:n], *numbers[:, :n]), (block[n - n_both :], *blurred[:, n - n_both :])
    files = [
        file_of({"key": [f"k{x}" for x in key], "x": [str(v) for v in x], "y": [str(v) for v in y]})
        for key, x, y in parts
    ]
    truth = np.concatenate((np.full(n - n_both, -1), np.arange(n_both)))
    found = link_files(*files, ["key", "x", "y"], block=["key"], truth=truth)
    overlap = found.partners.overlap
    assert overlap.low <= n_both <= overlap.high
    assert found.recall > 0.95
    assert found.precision > 0.95


def test_shares_are_of_those_with_a_partner():
    words = linked().sentences()[1]
    assert "60 records of the first file have a partner in the second" in words
    assert "the recall" in words
    all_linked = linked(everybody=True)
    assert "of the records of the first file are re-identified" not in all_linked.sentences()[1]
    assert all_linked.precision < 0.6
    whole = linked(n_both=120, everybody=True)
    assert "of the records of the first file are re-identified" in whole.sentences()[1]


def test_without_truth_expectations_are_told():
    found = linked(truth=None)
    told = "\n".join(found.sentences())
    assert "To be expected without knowing the truth" in told
    low, high = found.partners.precision(found.linked.probabilities)
    assert 0 <= low <= high <= 1
    assert low <= linked().precision
    assert {"in_both", "in_both_low", "expected_precision_low", "expected_recall_high"} <= set(
        found.summary()
    )
    assert "Stated probabilities" not in told


@pytest.mark.parametrize("n_both", [0, 60])
@pytest.mark.parametrize("window", [{}, {"v0": 40}])
@pytest.mark.parametrize("truth", [True, False])
def test_the_summary_has_no_number_that_the_sentence_does_not_give(n_both, window, truth):
    found = linked(n_both=n_both, window=window, **({} if truth else {"truth": None}))
    numbers = found.summary()
    said = found.partners.sentence(is_truth_known=truth)
    assert ("in_both" in numbers) == said.startswith("About ")
    assert "in_both" not in numbers or said.startswith(f"About {numbers['in_both']} people")
    assert ("in_both" in numbers) == (n_both == 60 and not window)
    assert numbers["in_both_low"] <= numbers["in_both_high"]
    assert "None" not in found._repr_html_()


def test_probabilities_are_of_the_links_and_at_least_what_was_asked():
    found = linked(unlinked=0.9)
    stated = found.linked.probabilities
    assert np.array_equal(np.isnan(stated), found.linked.columns < 0)
    assert np.nanmin(stated) >= 0.9
    assert found.calibration is not None
    assert found.to_arrow()["probability"].null_count == 120 - found.n_linked
    assert found.n_linked <= linked(unlinked=0.5).n_linked


def test_blocks_are_compared_within_the_files_too_and_windows_are_not():
    blocked = linked(block=["v0"])
    assert blocked.partners.n_tried > 0
    assert "of those that blocking left" in "\n".join(blocked.sentences())
    near = linked(window={"v0": 40})
    assert (near.partners.n_tried, near.partners.overlap.low) == (0, 0)
    assert near.partners.overlap.high == 120
    assert "is not known" in "\n".join(near.sentences())


def test_what_each_variable_says_is_a_table():
    found = linked()
    table = found.weights_table()
    assert set(table["variable"].to_pylist()) == set(VARIABLES)
    assert found.margin_table()["links"].to_pylist()
    assert linked(everybody=True).weights_table() is None
    assert linked(truth=None).margin_table() is None


def test_an_empty_file_is_an_error():
    full, empty = file_of({"x": [1, 2]}), coded_from_codes(np.zeros((0, 1), int), ["x"])
    for a, b, said in (
        (empty, full, "The first file has no record"),
        (full, empty, "The second file has no record"),
        (empty, empty, "Neither file has a record"),
    ):
        with pytest.raises(InputError, match=said):
            link_files(a, b, ["x"])


def test_dates_that_are_none_are_missing_cells_and_are_counted():
    rng = np.random.default_rng(1)
    dates = [
        f"20{rng.integers(10, 40)}-{rng.integers(1, 13):02}-{rng.integers(1, 29):02}"
        for _ in range(40)
    ]
    names = [f"name{k}" for k in range(40)]
    wrong = [*dates[:38], "unknown", "2031-02-30"]
    found = link_files(
        file_of({"born": dates, "name": names}),
        file_of({"born": wrong, "name": names}),
        ["born", "name"],
        everybody=True,
        truth=np.arange(40),
    )
    assert "2 cells of 'born' in the second file are no dates and count as missing." in found.notes
    assert found.n_correct == 40
    assert "unknown" not in "\n".join(found.sentences())


@pytest.mark.parametrize("way", ["month", "day"])
@pytest.mark.parametrize("side", [0, 1])
def test_dates_that_can_be_read_two_ways_are_read_as_the_other_file_has_them(way, side):
    parts = [(2000 + k, k % 12 + 1, 5 * k % 11 + 1) for k in range(30)]
    plain = [f"{y}-{m:02}-{d:02}" for y, m, d in parts]
    either = [f"{m}/{d}/{y}" if way == "month" else f"{d}/{m}/{y}" for y, m, d in parts]
    files = [file_of({"born": plain}), file_of({"born": either})]
    first, second = files if side else files[::-1]
    found = link_files(first, second, ["born"], everybody=True, truth=np.arange(30))
    assert found.n_correct == 30
    assert found.linked.total == 0
    which = ("first", "second")[side]
    said = f"Dates of 'born' in the {which} file can be read day first or month first; they are"
    told = [one for one in found.notes if one.startswith(said)]
    assert len(told) == 1
    assert f"are read {way} first" in told[0]


def test_heavy_noise_does_not_bound_the_people_in_both_from_above():
    """Weights miss those that noise moved far: all are in both, and that must not be ruled out."""
    rng = np.random.default_rng(3)
    values = np.exp(rng.normal(size=(300, 1)) + 0.3 * rng.normal(size=(300, 5)))
    noisy = values + 0.6 * values.std(0) * rng.normal(size=values.shape)
    one, two = (
        file_of({f"v{k}": column.round(4) for k, column in enumerate(part.T)})
        for part in (noisy, values)
    )
    found = link_files(one, two, [f"v{k}" for k in range(5)])
    overlap = found.partners.overlap
    assert not overlap.is_by_weights
    assert overlap.high == 300
    assert "in_both" not in found.summary()


@pytest.mark.parametrize("number", [1, 40, 3_000])
def test_least_costs_of_many_are_the_first_in_order(number):
    rng = np.random.default_rng(number)
    parts = [rng.exponential(size=700_000), rng.normal(5, 1, 500_000)]
    parts[0][:5] = np.inf
    together = np.sort(np.concatenate(parts))
    assert np.sort(least_costs(parts, number)).tolist() == together[:number].tolist()
    # In an order that a sample cannot tell.
    rising = [together[together < np.inf]]
    assert np.sort(least_costs(rising, number)).tolist() == together[:number].tolist()


def test_least_costs_of_few_are_all_that_are_finite():
    assert sorted(least_costs([np.array([3.0, np.inf]), np.array([1.0])], 5)) == [1.0, 3.0]
    assert least_costs([], 5).tolist() == []
