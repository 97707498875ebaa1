"""Models fitted to a release: structure found, one seed one result, odd files, cancelled work."""

from __future__ import annotations

import numpy as np
import pytest

from gamekeeper.algorithms.models.annealing import exact_posterior
from gamekeeper.algorithms.models.clique_scores import MarginScores
from gamekeeper.algorithms.models.population_model import recommended_precisions
from gamekeeper.attack.models.fitting import FitMethod, fit_models
from gamekeeper.data.keys.key_table import KeyTable
from gamekeeper.errors import Cancelled, InputError, LimitError, Reason
from tests.given.samples import METHODS, NAMES, counted, two_pairs

WORKING, DWELLING = ("age", "work"), ("area", "home")


class Stopping:
    """Cancels from the first call on that says so much is done."""

    def __init__(self, least: int) -> None:
        self.least = least
        self.stopped = False
        self.said: list[tuple[int, int | None]] = []

    def __call__(self, done: int, total: int | None) -> None:
        self.said.append((done, total))
        if self.stopped or done >= self.least:
            self.stopped = True
            raise Cancelled("Models were to be fitted.")


@pytest.mark.slow
@pytest.mark.parametrize("method", METHODS)
def test_every_method_finds_two_pairs_and_a_variable_by_itself(method):
    fit = fit_models(counted(two_pairs(600), NAMES), method=method, seed=3)
    assert fit.edges(fit.search.best) == [WORKING, DWELLING]
    assert fit.converged
    likely = {
        (row["variable"], row["with"]): (row["probability"], row["in_best_model"])
        for row in fit.to_arrow().to_pylist()
    }
    assert len(likely) == 10
    for pair, (probability, is_best) in likely.items():
        assert is_best == (pair in (WORKING, DWELLING))
        assert probability > 0.99 if is_best else probability < 0.5
    assert fit.precisions == recommended_precisions(600) == (1.0, 10.0, 50.0)
    assert len(fit.searches) == 3
    assert fit.summary()["edges_of_the_best"] == 2
    assert fit.summary()["models"] == sum(search.n_models for search in fit.searches)
    told = " ".join(fit.sentences())
    assert "joins 2 pairs of variables; 'sex' stands by itself." in told
    assert "(10, 50)" in told
    assert "not settled" not in told
    assert fit.provenance.variant == FitMethod(method).words


def uncertain():
    """Return few records on four variables, so that many models are nearly as good."""
    return counted(two_pairs(25, seed=5)[:, :4] % 3 + 1, NAMES[:4])


def exact(table: KeyTable, precision: float):
    return exact_posterior(MarginScores(table.matrix(), [3] * 4, precision=precision))


@pytest.mark.parametrize("precision", [1.0, 5.0])
def test_chains_sample_the_exact_posterior(precision):
    truth = exact(uncertain(), precision)
    assert truth.n_models == 61
    fit = fit_models(uncertain(), precision=precision, seed=2)
    assert fit.precisions == (precision,)
    sampled = fit.search.edge_probabilities()
    assert np.abs(sampled - truth.edge_probabilities()).max() < 0.06
    assert fit.search.best_score == pytest.approx(truth.best_score)
    # The data are such that the answer is not trivial.
    assert truth.n_carrying() >= 4


@pytest.mark.parametrize("precision", [1.0, 5.0])
def test_annealing_ends_at_the_most_probable_of_all_models(precision):
    fit = fit_models(uncertain(), method="annealing", precision=precision)
    truth = exact(uncertain(), precision)
    assert fit.search.best.tolist() == truth.best.tolist()
    assert fit.search.best_score == pytest.approx(truth.best_score)


@pytest.mark.parametrize("window", [5.0, 200.0])
def test_the_window_has_the_models_that_are_nearly_as_good(window):
    truth = exact(uncertain(), 1.0)
    near = [
        (model, weight)
        for model, weight in zip(truth.models.tolist(), truth.weights, strict=True)
        if weight * window >= truth.weights[0]
    ]
    wanted = {
        tuple(model): weight
        for model, weight in near
        if not any(
            better > weight and all(a & ~b == 0 for a, b in zip(other, model, strict=True))
            for other, better in near
        )
    }
    found = fit_models(uncertain(), method="occam", precision=1.0, window=window).search
    assert {tuple(model) for model in found.models.tolist()} == set(wanted)
    total = sum(wanted.values())
    for model, weight in zip(found.models.tolist(), found.weights, strict=True):
        assert weight == pytest.approx(wanted[tuple(model)] / total)


@pytest.mark.parametrize("method", METHODS)
def test_one_seed_gives_one_result_whatever_the_workers(method):
    table = counted(two_pairs(150, seed=4), NAMES)
    alone, together = (fit_models(table, method=method, seed=5, workers=n) for n in (1, 3))
    assert len(alone.searches) == len(together.searches) == 2
    for one, other in zip(alone.searches, together.searches, strict=True):
        assert np.array_equal(one.models, other.models)
        assert np.array_equal(one.weights, other.weights)
        assert np.array_equal(one.log_scores, other.log_scores)
    assert alone.to_arrow() == together.to_arrow()
    assert alone.provenance.seed == 5


def test_another_seed_draws_other_models():
    table = counted(two_pairs(150, seed=4), NAMES)
    one, other = (fit_models(table, precision=1.0, seed=seed).search for seed in (5, 6))
    assert one.trace.tolist() != other.trace.tolist()


def test_pooled_models_are_those_of_all_searches_and_each_search_counts_alike():
    fit = fit_models(counted(two_pairs(150), NAMES), method="occam")
    models, weights = fit.pooled()
    assert len(models) == len(weights) == fit.summary()["models"]
    assert weights.sum() == pytest.approx(1)
    first = fit.searches[0].n_models
    assert weights[:first].sum() == pytest.approx(1 / len(fit.searches))


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize(
    ("codes", "names", "levels"),
    [
        ([[1, 2, 1]], "ABC", (1, 2, 1)),
        ([[1, 1], [1, 2], [1, 2], [1, 3]], "AB", (1, 3)),
        ([[1], [2], [2]], "A", (2,)),
        ([[0, 1], [1, 2], [0, 2], [1, 1]], "AB", (2, 2)),
    ],
)
def test_little_to_go_by(method, codes, names, levels):
    fit = fit_models(counted(codes, names), method=method)
    assert fit.levels == levels
    assert fit.n_records == len(codes)
    assert fit.converged
    assert fit.edges(fit.search.best) == []
    assert np.isfinite(fit.search.best_score)
    assert "nan" not in " ".join(fit.sentences())
    assert fit.to_arrow().num_rows == len(names) * (len(names) - 1) // 2


def test_declared_categories_count_whether_they_are_observed_or_not():
    codes = [[1, 1], [1, 2], [2, 2], [2, 0]]
    few = fit_models(counted(codes, "AB"), method="occam")
    words = [("missing", "a", "b", "c", "d"), ("missing", "x", "y", "z")]
    many = fit_models(counted(codes, "AB", words), method="occam")
    assert few.levels == (2, 3)
    assert many.levels == (4, 4)
    assert few.search.best_score > many.search.best_score


def test_missing_cells_are_a_category_or_their_records_are_left_out():
    codes = two_pairs(60)
    codes[::7, 1] = 0
    category = fit_models(counted(codes, NAMES), method="annealing")
    excluded = fit_models(counted(codes, NAMES, missing="exclude"), method="annealing")
    assert category.n_records == 60
    assert excluded.n_records == 60 - len(codes[::7])
    assert category.levels[1] == excluded.levels[1] + 1
    kept = fit_models(counted(codes[codes[:, 1] > 0], NAMES), method="annealing")
    assert excluded.to_arrow() == kept.to_arrow()
    assert excluded.search.best_score == kept.search.best_score


@pytest.mark.parametrize("missing", ["ignore", "wildcard"])
def test_other_policies_for_missing_cells_are_refused(missing):
    with pytest.raises(InputError) as caught:
        fit_models(counted([[1, 0], [2, 1]], "AB", missing=missing))
    assert caught.value.reason is Reason.BAD_OPTION
    assert missing in str(caught.value)
    assert "'category' or 'exclude'" in str(caught.value)


def test_wrong_options_are_refused():
    table = counted([[1, 1], [2, 2]], "AB")
    with pytest.raises(InputError, match="'annealing'") as caught:
        fit_models(table, method="anealing")
    assert caught.value.reason is Reason.UNKNOWN_NAME
    for options in (
        {"precision": 0.0},
        {"precision": float("nan")},
        {"chains": 1},
        {"most_sweeps": 3},
        {"method": "occam", "window": 1.0},
        {"seed": -1},
    ):
        with pytest.raises(InputError) as caught:
            fit_models(table, **options)
        assert caught.value.reason is Reason.BAD_OPTION


@pytest.mark.parametrize("method", METHODS)
def test_cancelled_work_leaves_nothing_unless_a_part_is_to_be_kept(method):
    # With two precisions the second search is cancelled before it has begun.
    table = counted(two_pairs(150, seed=4), NAMES)
    with pytest.raises(Cancelled):
        fit_models(table, method=method, progress=Stopping(0))
    stopping = Stopping(1)
    fit = fit_models(table, method=method, progress=stopping, keep_partial=True)
    assert stopping.stopped
    assert len(fit.searches) == len(fit.precisions) == 1
    assert not fit.search.complete
    assert not fit.converged
    assert np.isfinite(fit.search.log_scores).all()
    assert " ".join(fit.sentences()).count("cancelled") == 1
    assert "cancelled" in " ".join(fit.warnings())


def test_what_searches_found_before_is_kept_when_a_later_one_is_cancelled_too_early():
    table = counted(two_pairs(150, seed=4), NAMES)
    heard = Stopping(10**9)
    whole = fit_models(table, chains=2, most_sweeps=500, progress=heard)
    assert len(whole.searches) == 2
    # One progress for all searches.
    assert heard.said[-1] == (2_000, 2_000)
    dones = [done for done, _ in heard.said]
    assert dones == sorted(dones)
    first = whole.searches[0]

    class InTheSecond(Stopping):
        def __call__(self, done, total):
            if done == 1_000 and (1_000, 2_000) in self.said:
                self.stopped = True
            super().__call__(done, total)

    stopping = InTheSecond(10**9)
    fit = fit_models(table, chains=2, most_sweeps=500, progress=stopping, keep_partial=True)
    assert stopping.stopped
    assert fit.precisions == whole.precisions[:1]
    assert np.array_equal(fit.search.models, first.models)
    assert not fit.converged
    with pytest.raises(Cancelled):
        fit_models(table, chains=2, most_sweeps=500, progress=InTheSecond(10**9))


def test_a_search_that_was_too_short_says_so():
    codes = np.random.default_rng(0).integers(1, 4, (40, 9))
    fit = fit_models(counted(codes, "ABCDEFGHI"), precision=5.0, most_sweeps=8)
    assert not fit.converged
    told = " ".join(fit.sentences())
    assert "The search for models has not settled" in told
    assert "100% of the records are unique: the table is sparse" in told
    assert fit.provenance.parameters["most_sweeps"] == "8"


def test_a_variable_without_differences_and_a_small_file_are_told():
    codes = two_pairs(1_200)
    codes[:, 2] = 1
    fit = fit_models(counted(codes, NAMES), method="annealing", precision=1.0)
    assert fit.constant == ("area",)
    told = " ".join(fit.warnings())
    assert "same category of 'area': leave it out" in told
    assert "little to learn" not in told
    small = fit_models(counted(codes[:999], NAMES), method="annealing", precision=1.0)
    assert "With 999 records models have little to learn from" in " ".join(small.warnings())


@pytest.mark.parametrize(
    ("method", "words"),
    [("mc3", "The chains agree"), ("annealing", "runs ended at"), ("occam", "to its edges")],
)
def test_a_search_that_settled_says_so(method, words):
    fit = fit_models(counted(two_pairs(1_200), NAMES), method=method, precision=1.0)
    assert words in " ".join(fit.sentences())
    assert fit.warnings() == []
    assert fit.complete


@pytest.mark.parametrize("method", ["mc3", "occam"])
def test_what_may_take_hours_is_refused_unless_asked_for(method, monkeypatch):
    table = counted(two_pairs(150), NAMES)
    options = {"method": method, "precision": 1.0}
    whole = fit_models(table, **options)
    monkeypatch.setattr("gamekeeper.attack.models.fitting._LARGE", 100)
    with pytest.raises(LimitError) as refused:
        fit_models(table, **options)
    assert refused.value.reason is Reason.TOO_LARGE
    assert "'annealing'" in str(refused.value)
    patient = fit_models(table, **options, patient=True)
    assert np.array_equal(patient.search.models, whole.search.models)
    # Annealing only climbs there, and says so.
    climbed = fit_models(table, method="annealing", precision=1.0)
    assert "a single run, which only climbs" in " ".join(climbed.sentences())


def test_draws_that_all_differ_are_told():
    codes = np.random.default_rng(0).integers(1, 40, (60, 9))
    fit = fit_models(counted(codes, "ABCDEFGHI"), precision=50.0, most_sweeps=1_000)
    assert 2 * fit.search.n_carrying() > fit.search.visits.sum()
    assert "Nearly every draw is another model" in " ".join(fit.sentences())


@pytest.mark.parametrize("method", METHODS)
def test_models_are_drawn_without_a_display(method):
    fit = fit_models(
        counted(two_pairs(150), (*NAMES[:4], "$x^2$ & <b>")), method=method, precision=1.0
    )
    (ax,) = fit.plot().axes
    assert [text.get_text() for text in ax.texts] == [*NAMES[:4], "$x^2$ & <b>"]
    solid = [
        line for line in ax.lines if line.get_linestyle() == "-" and len(line.get_xdata()) == 2
    ]
    assert len(solid) == len(fit.edges(fit.search.best))
    figure = fit.plot_trace()
    n_lines = {"mc3": 5, "annealing": 4, "occam": 0}[method]
    assert len(figure.axes[0].lines) == n_lines
    for drawn in (fit.plot(), figure):
        drawn.savefig("/dev/null", format="svg")


def test_a_single_variable_can_be_drawn():
    fit = fit_models(counted([[1], [2]], "A"))
    fit.plot().savefig("/dev/null", format="svg")
    fit.plot_trace().savefig("/dev/null", format="svg")
