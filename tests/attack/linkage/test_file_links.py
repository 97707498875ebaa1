from __future__ import annotations

import numpy as np
import pytest

from gamekeeper.attack.linkage import linking
from gamekeeper.attack.linkage.columns import LinkVariable
from gamekeeper.attack.linkage.files import link_files
from gamekeeper.errors import LimitError
from tests.given.linked_files import file_of

NUMBER = [LinkVariable("x", kind="number", measure="absolute")]


def linked(a, b, **options):
    return link_files(
        file_of({"x": a, "s": ["f"] * len(a)}),
        file_of({"x": b, "s": ["f"] * len(b)}),
        [*NUMBER, LinkVariable("s")],
        objective="equal",
        **options,
    )


# Record by record, one whose partner is left out may take the partner of another.
@pytest.mark.parametrize("method", ["optimal", "greedy", "nearest"])
def test_unmistakable_records_come_back_every_time(method):
    a, b = file_of({"x": range(20)}), file_of({"x": range(19, -1, -1)})
    found = link_files(
        a,
        b,
        [LinkVariable("x", kind="category")],
        objective="equal",
        method=method,
        truth=np.arange(20)[::-1],
        resamples=8,
    )
    assert found.resampled.stability.tolist() == [1] * 20
    assert found.resampled.rates.tolist() == [1] * 8
    assert found.resampled.n_times == 8


def test_records_that_are_exchangeable_do_not_come_back_every_time():
    found = linked([5] * 12, [5] * 12, resamples=10)
    stability = found.resampled.stability
    assert 0 < stability.mean() < 0.9
    assert found.resampled.rates is None
    assert f"in {stability.mean():.1%} of the times" in found.resampled.sentences()[0]


def test_the_same_seed_leaves_out_the_same():
    rng = np.random.default_rng(0)
    a, b = rng.integers(0, 50, 30), rng.integers(0, 50, 25)
    one, again, other = (linked(a, b, resamples=5, seed=seed) for seed in (3, 3, 4))
    assert one.to_arrow() == again.to_arrow()
    assert one.sentences() == again.sentences()
    assert one.resampled.stability.tolist() != other.resampled.stability.tolist()
    # Which of several links of equal cost is made hangs on the seed, what they cost does not.
    assert one.linked.total == pytest.approx(other.linked.total)
    assert one.provenance.seed == 3


def test_candidates_and_all_pairs_are_resampled_alike():
    rng = np.random.default_rng(1)
    # In one dimension many links cost the same; in four hardly any.
    names = ("w", "x", "y", "z")
    a, b = (
        file_of({**{name: rng.integers(0, 10**6, n) for name in names}, "s": ["f"] * n})
        for n in (20, 22)
    )
    variables = [LinkVariable(name, kind="number") for name in names]
    whole, blocked = (
        link_files(
            a,
            b,
            [*variables, LinkVariable("s")],
            everybody=True,
            resamples=4,
            truth=np.arange(20),
            block=block,
        )
        for block in ((), ["s"])
    )
    assert np.array_equal(whole.resampled.stability, blocked.resampled.stability, equal_nan=True)
    assert whole.resampled.rates.tolist() == blocked.resampled.rates.tolist()


def test_something_is_left_out_of_small_files_and_records_without_link_have_no_stability():
    found = linked([1, 5, 9], [1, 5], resamples=6)
    stability = found.resampled.stability
    assert np.isnan(stability[found.linked.columns < 0]).all()
    assert np.isnan(stability).sum() >= 1
    column = found.to_arrow()["stability"].to_pylist()
    assert [value is None for value in column] == np.isnan(stability).tolist()
    assert linked([1], [1], resamples=2).resampled.stability.tolist() == [1]


def test_a_limit_that_was_lifted_is_lifted_for_resamples_too(monkeypatch):
    monkeypatch.setattr(linking, "MOST_PAIRS", 4)
    a, b = file_of({"x": range(6)}), file_of({"x": range(6)})
    variables = [LinkVariable("x", kind="number")]
    found = link_files(a, b, variables, max_pairs=36, resamples=2)
    assert found.resampled.n_times == 2
    with pytest.raises(LimitError):
        link_files(a, b, variables, resamples=2)


def test_the_share_re_identified_is_of_the_records_with_a_partner_there():
    a = [100 * number for number in range(10)]
    truth = np.array([0, 1, 2, 3, 4, -1, -1, -1, -1, -1])
    found = linked(a, a, method="nearest", truth=truth, resamples=5)
    assert found.resampled.rates.tolist() == [1] * 5
    assert found.resampled.sentences()[1].endswith("partner was there, 100.0% were re-identified.")
