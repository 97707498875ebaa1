"""What variables and categories add to the risk by models, and what is inferred of a person, row by row."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from functools import partial
from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gamekeeper.algorithms.models.population_model import calibrated_estimate, risk_without
from gamekeeper.attack.models.fitting import fit_models
from gamekeeper.attack.models.inference import infer_risk
from gamekeeper.attack.models.levels import categories_risk, infer_target, variables_risk
from gamekeeper.errors import Cancelled, InputError, LimitError, Reason
from tests.given.samples import NAMES, counted, two_pairs

WORDS = [("missing", *(f"CANARY{place}{code}" for code in range(1, 7))) for place in range(5)]


def seen(codes, names=NAMES, words=WORDS, **options):
    table = counted(codes, names, words, fraction="1/20")
    return table, infer_risk(table, fit_models(table, method="occam"), **options)


@pytest.fixture(scope="module")
def file():
    return seen(two_pairs(250))


def uniques_of(codes):
    _, of_record, counts = np.unique(codes, axis=0, return_inverse=True, return_counts=True)
    return counts[of_record] == 1


@pytest.mark.slow
def test_the_relative_risk_of_a_variable_is_the_file_over_the_file_without_it(file):
    _, risk = file
    models, weights = risk.fit.pooled()
    found = variables_risk(risk)
    assert sorted(line.variable for line in found.lines) == sorted(NAMES)
    for line in found.lines:
        number = NAMES.index(line.variable)
        left = risk_without(risk.table, list(models), number, fraction=0.05, weights=weights)
        assert line.tau1_left == pytest.approx(left.tau1.value)
        assert (line.tau1_lower, line.tau1_upper) == (left.tau1.lower, left.tau1.upper)
        assert line.tau1_lower < line.tau1_left < line.tau1_upper
        assert line.pr_cm_given_um_left == pytest.approx(left.pr_cm_given_um.value)
        assert line.relative_tau1 == pytest.approx(risk.file["tau1"] / left.tau1.value)
        assert line.relative_match == pytest.approx(
            risk.file["pr_cm_given_um"] / left.pr_cm_given_um.value
        )
        # The sample uniques that are left are those of the release without the variable.
        assert line.uniques_left == uniques_of(np.delete(two_pairs(250), number, axis=1)).sum()
        assert line.category == ""
    lefts = [line.tau1_left for line in found.lines]
    assert lefts == sorted(lefts)
    assert found.summary()["first"] == found.lines[0].variable
    assert found.lines[0].variable in found.sentences()[0]
    assert len(found.sentences()) == 3
    first = found.lines[0]
    assert f"({first.tau1_lower:.3g} to {first.tau1_upper:.3g})" in found.sentences()[0]
    assert found.to_arrow()["tau1_upper"].to_pylist() == [x.tau1_upper for x in found.lines]


def test_a_variable_that_says_nothing_adds_nothing():
    codes = np.column_stack([two_pairs(250), np.ones(250, dtype=int)])
    _, risk = seen(codes, (*NAMES, "planet"), [*WORDS, ("missing", "earth")])
    planet = next(line for line in variables_risk(risk).lines if line.variable == "planet")
    assert planet.relative_tau1 == pytest.approx(1)
    assert planet.relative_match == pytest.approx(1)


def test_the_only_variable_leaves_nothing():
    _, risk = seen([[1], [1], [2], [3], [1]], ["age"], None)
    (line,) = variables_risk(risk).lines
    assert (line.uniques_left, line.tau1_left) == (0, 0)
    assert line.relative_tau1 is None
    assert line.n_unbounded == 1
    assert line.pr_cm_given_um_left is None
    assert variables_risk(risk).summary()["relative_tau1"] == "unbounded"
    assert "None" not in " ".join(variables_risk(risk).sentences())


def test_suppression_is_a_sum_over_the_uniques_that_are_left(file):
    table, risk = file
    codes = two_pairs(250)
    rows = risk.to_arrow()
    p_unique, expected = rows["p_unique"].to_numpy(), rows["expected_size"].to_numpy()
    found = categories_risk(risk, table, "area")
    assert len(found.lines) == 4
    for line in found.lines:
        code = WORDS[2].index(line.category)
        left = uniques_of(codes) & (codes[:, 2] != code)
        assert line.uniques_left == left.sum()
        assert line.tau1_left == pytest.approx(p_unique[left].sum())
        assert line.pr_cm_given_um_left == pytest.approx(left.sum() / expected[left].sum())
        assert line.relative_tau1 == pytest.approx(risk.file["tau1"] / p_unique[left].sum())


def test_suppressing_a_category_that_no_unique_has_changes_nothing():
    # Everybody with the second home is in a pair.
    codes = np.concatenate([two_pairs(100) % [6, 5, 5, 2, 3] + [1, 1, 1, 0, 1]] * 2)
    codes[:, 3] = 2
    single = two_pairs(40, seed=9)
    single[:, 3] = 1
    table, risk = seen(np.concatenate([codes, single]))
    found = categories_risk(risk, table, "home", by="suppression")
    kept = next(line for line in found.lines if line.category == WORDS[3][2])
    assert kept.relative_tau1 == pytest.approx(1)
    assert kept.relative_match == pytest.approx(1)
    assert kept.uniques_left == risk.file["sample_uniques"] > 0
    # And without the other nothing is left.
    assert found.lines[0].category == WORDS[3][1]
    assert found.lines[0].relative_tau1 is None


@pytest.mark.slow
def test_collapsing_averages_over_the_pairs_of_a_category(file):
    table, risk = file
    models, weights = risk.fit.pooled()
    wanted = {code: [] for code in range(1, 5)}
    for one in range(1, 5):
        for other in range(one + 1, 5):
            recode = np.arange(7)
            recode[other] = one
            left = risk_without(
                risk.table, list(models), 2, recode, fraction=0.05, weights=weights
            ).tau1.value
            wanted[one].append(left)
            wanted[other].append(left)
    calls = []
    found = categories_risk(
        risk, table, "area", by="collapsing", progress=lambda *told: calls.append(told)
    )
    assert calls == [(done, 6) for done in range(1, 7)]
    assert len(found.lines) == 4
    for line in found.lines:
        lefts = wanted[WORDS[2].index(line.category)]
        assert len(lefts) == 3
        assert line.tau1_left == pytest.approx(np.mean(lefts))
        assert line.relative_tau1 == pytest.approx(np.mean(risk.file["tau1"] / np.array(lefts)))


def test_pairs_that_leave_nothing_are_counted_and_said():
    # Collapsing homes 1 and 2 pairs everybody up; with the third, one record stays alone.
    codes = [[1, 1, 1, 1, 1], [1, 1, 1, 2, 1], *[[2, 2, 2, 3, 1]] * 6, *[[3, 1, 1, 3, 2]] * 4]
    table, risk = seen(codes)
    found = categories_risk(risk, table, "home", by="collapsing")
    by_category = {line.category: line for line in found.lines}
    one, two, three = (by_category[WORDS[3][code]] for code in (1, 2, 3))
    assert (one.n_unbounded, two.n_unbounded, three.n_unbounded) == (1, 1, 0)
    models, weights = risk.fit.pooled()
    recode = np.arange(7)
    recode[3] = 1
    left = risk_without(risk.table, list(models), 3, recode, fraction=0.05, weights=weights)
    assert one.relative_tau1 == pytest.approx(risk.file["tau1"] / left.tau1.value)
    assert one.tau1_left == pytest.approx(left.tau1.value / 2)
    assert "1 pair of categories" in found.sentences()[-1]
    assert "no bound" in found.sentences()[-1]
    assert found.to_arrow()["n_unbounded"].to_pylist() == [x.n_unbounded for x in found.lines]
    # Where something is always left there is nothing to say.
    table, risk = seen(two_pairs(250))
    assert len(categories_risk(risk, table, "home", by="collapsing").sentences()) == 1


def test_neighbours_are_collapsed_along_a_scale(file):
    table, risk = file
    calls = []
    found = categories_risk(
        risk, table, "age", by="collapsing", neighbours=True,
        progress=lambda *told: calls.append(told),
    )  # fmt: skip
    assert len(calls) == 4
    assert len(found.lines) == 5


def test_too_many_pairs_are_refused_unless_asked_for(file):
    table, risk = file
    with pytest.raises(LimitError) as caught:
        categories_risk(risk, table, "age", by="collapsing", max_pairs=9)
    assert caught.value.reason is Reason.TOO_LARGE
    assert "10 pairs" in str(caught.value)
    assert "max_pairs" in str(caught.value)
    assert "CANARY" not in str(caught.value)
    found = categories_risk(risk, table, "age", by="collapsing", max_pairs=10)
    assert len(found.lines) == 5


def test_one_category_cannot_be_collapsed():
    table, risk = seen([[1, 1], [2, 1], [2, 1]], ["age", "planet"], None)
    with pytest.raises(InputError, match="'planet'"):
        categories_risk(risk, table, "planet", by="collapsing")
    (line,) = categories_risk(risk, table, "planet").lines
    assert line.uniques_left == 0


@pytest.mark.slow
def test_the_printed_estimate_is_not_compared_with_the_calibrated_one(file):
    table, _ = file
    _, risk = seen(two_pairs(250), estimator="printed")
    models, weights = risk.fit.pooled()
    whole = calibrated_estimate(risk.table, list(models), fraction=0.05, weights=weights).file
    found = variables_risk(risk)
    for line in found.lines:
        assert line.relative_tau1 == pytest.approx(whole.tau1.value / line.tau1_left)
    assert "calibrated" in found.provenance.variant
    collapsed = categories_risk(risk, table, "home", by="collapsing")
    assert "calibrated" in collapsed.provenance.variant
    suppressed = categories_risk(risk, table, "home")
    assert "printed" in suppressed.provenance.variant
    shares = [1 / line.relative_tau1 for line in suppressed.lines]
    # Every unique has one category, and is suppressed once.
    assert sum(shares) == pytest.approx(len(shares) - 1)


def test_wrong_questions_are_refused(file):
    table, risk = file
    with pytest.raises(InputError, match="'area'") as caught:
        categories_risk(risk, table, "aera")
    assert caught.value.reason is Reason.UNKNOWN_NAME
    with pytest.raises(InputError, match="'suppression'") as caught:
        categories_risk(risk, table, "area", by="supression")
    assert caught.value.reason is Reason.UNKNOWN_NAME
    other = counted(two_pairs(250, seed=2), NAMES, WORDS)
    with pytest.raises(InputError, match="Fit models to these keys"):
        categories_risk(risk, other, "area")


def test_it_can_be_cancelled(file):
    table, risk = file

    def stop(done, total):
        raise Cancelled("Relative risks were asked for.")

    with pytest.raises(Cancelled):
        variables_risk(risk, progress=stop)
    with pytest.raises(Cancelled):
        categories_risk(risk, table, "area", by="collapsing", progress=stop)


def test_no_category_is_named_outside_of_the_table(file):
    table, risk = file
    for by in ("suppression", "collapsing"):
        found = categories_risk(risk, table, "home", by=by)
        told = found.sentences()
        assert len(told) == 1
        assert "home: without its riskiest category" in told[0]
        shown = " ".join([*told, repr(found), found._repr_html_(), str(found.provenance)])
        assert "CANARY" not in shown
        assert "1 of 3" in found._repr_html_()
        assert all("CANARY" in word for word in found.to_arrow()["category"].to_pylist())


NAMES_OF_QUERIES = ("age", "work", "area", "home")
WORDS_OF_QUERIES = [
    ("missing", *(f"{name}-{code}" for code in range(1, n + 1)))
    for name, n in zip(NAMES_OF_QUERIES, (5, 4, 4, 4), strict=True)
]
SATURATED = np.array([[14, 13, 11, 7]], np.uint64)
INDEPENDENT = np.zeros((1, 4), np.uint64)
PAIRS = np.array([[2, 1, 8, 4]], np.uint64)

by_frequency = partial(infer_target, precision=0.0)


def under(codes, *models, weights=(1.0,)):
    """Return keys and what is inferred from them under models of one's own."""
    table = counted(codes, NAMES_OF_QUERIES, WORDS_OF_QUERIES, fraction="1/10")
    risk = infer_risk(table, fit_models(table, method="annealing", precision=1.0))
    search = replace(risk.fit.search, models=np.concatenate(models), weights=np.array(weights))
    return table, replace(risk, fit=replace(risk.fit, searches=(search,)))


def joint(codes, groups):
    """Return the probability of every cell: frequencies of groups of variables, multiplied."""
    rows = [tuple(row) for row in np.asarray(codes).tolist()]
    shares = [
        {key: n / len(rows) for key, n in Counter(tuple(r[v] for v in g) for r in rows).items()}
        for g in groups
    ]
    cells = {}
    for cell in product(*(sorted({row[v] for row in rows}) for v in range(4))):
        chance = np.prod(
            [s.get(tuple(cell[v] for v in g), 0.0) for g, s in zip(groups, shares, strict=True)]
        )
        if chance > 0:
            cells[cell] = float(chance)
    return cells


def answered(cells, known, ask):
    """Return conditional shares by adding up cells."""
    agreeing = {
        cell: chance
        for cell, chance in cells.items()
        if all(
            WORDS_OF_QUERIES[v][cell[v]] == known[name]
            for v, name in enumerate(NAMES_OF_QUERIES)
            if name in known
        )
    }
    total = sum(agreeing.values())
    shares = Counter()
    for cell, chance in agreeing.items():
        shares[
            tuple(
                WORDS_OF_QUERIES[NAMES_OF_QUERIES.index(name)][cell[NAMES_OF_QUERIES.index(name)]]
                for name in ask
            )
        ] += chance
    return {key: chance / total for key, chance in shares.items()}, total


GROUPS = {
    "saturated": (SATURATED, [(0, 1, 2, 3)]),
    "independent": (INDEPENDENT, [(0,), (1,), (2,), (3,)]),
    "pairs": (PAIRS, [(0, 1), (2, 3)]),
}


@pytest.mark.parametrize("model", GROUPS)
@pytest.mark.parametrize(
    ("known", "ask"),
    [
        ({}, ["work"]),
        ({"age": "age-2"}, ["work"]),
        ({"age": "age-2", "home": "home-1"}, ["area", "work"]),
        ({"area": "area-3"}, ["home", "age", "work"]),
    ],
)
def test_answers_agree_with_frequencies(model, known, ask):
    codes = two_pairs(200)[:, :4]
    graph, groups = GROUPS[model]
    table, risk = under(codes, graph)
    found = by_frequency(risk, table, known, ask)
    wanted, total = answered(joint(codes, groups), known, ask)
    assert found.asked == tuple(ask)
    assert dict(found.rows) == pytest.approx(wanted)
    assert found.known_probability == pytest.approx(total)
    chances = [chance for _, chance in found.rows]
    assert chances == sorted(chances, reverse=True)
    assert sum(chances) == pytest.approx(1)
    assert found.to_arrow()["probability"].to_pylist() == chances
    assert found.to_arrow().column_names == [*found.asked, "probability"]
    best = max(wanted.values())
    assert found.summary()["most_probable"] == pytest.approx(best)
    assert f"{best:.3g}" in found.sentences()[0]


def test_models_are_averaged_by_how_well_they_know_the_person():
    codes = two_pairs(200)[:, :4]
    table, risk = under(codes, SATURATED, INDEPENDENT, weights=(0.25, 0.75))
    found = by_frequency(risk, table, {"age": "age-2", "work": "work-2"}, ["home"])
    mixed = Counter()
    for name, weight in (("saturated", 0.25), ("independent", 0.75)):
        for cell, chance in joint(codes, GROUPS[name][1]).items():
            mixed[cell] += weight * chance
    wanted, total = answered(mixed, {"age": "age-2", "work": "work-2"}, ["home"])
    assert dict(found.rows) == pytest.approx(wanted)
    assert found.known_probability == pytest.approx(total)


rows_of_codes = st.lists(st.tuples(*(st.integers(1, 3) for _ in range(4))), min_size=2, max_size=20)


@pytest.mark.slow
@settings(deadline=None, max_examples=20)
@given(rows_of_codes, st.sampled_from(sorted(GROUPS)), st.data())
def test_answers_agree_with_frequencies_whatever_the_file(codes, model, data):
    graph, groups = GROUPS[model]
    table, risk = under(codes, graph)
    row = data.draw(st.sampled_from(codes))
    known_of = data.draw(st.sets(st.integers(0, 3), max_size=3))
    known = {NAMES_OF_QUERIES[v]: WORDS_OF_QUERIES[v][row[v]] for v in known_of}
    ask = [name for name in NAMES_OF_QUERIES if name not in known]
    found = by_frequency(risk, table, known, ask)
    wanted, total = answered(joint(codes, groups), known, ask)
    assert dict(found.rows) == pytest.approx(wanted)
    assert found.known_probability == pytest.approx(total)


def test_the_models_of_the_release_see_what_hangs_together():
    codes = two_pairs(400)[:, :4]
    table = counted(codes, NAMES_OF_QUERIES, WORDS_OF_QUERIES, fraction="1/10")
    risk = infer_risk(table, fit_models(table, method="mc3", chains=2))
    ((word,), chance) = by_frequency(risk, table, {"age": "age-3"}, ["work"]).rows[0]
    assert word == "work-3"
    assert chance > 0.7
    alone = by_frequency(risk, table, {"area": "area-1"}, ["work"]).rows[0][1]
    assert alone < 0.5


def test_a_value_is_known_by_its_word_or_as_the_file_has_it():
    table, risk = under(two_pairs(100)[:, :4], PAIRS)
    by_word = by_frequency(risk, table, {"age": "age-2"}, ["work"])
    assert by_frequency(risk, table, {"age": "2"}, ["work"]).rows == by_word.rows


def test_missing_is_no_value_of_a_variable_without_missing_cells():
    codes = two_pairs(60)[:, :4]
    codes[:10, 0] = 0
    table, risk = under(codes, PAIRS)
    assert infer_target(risk, table, {"age": "missing"}, ["home"]).rows
    with pytest.raises(InputError) as caught:
        infer_target(risk, table, {"age": "missing", "work": "missing"}, ["home"])
    assert caught.value.reason is Reason.UNKNOWN_NAME
    (problem,) = caught.value.problems
    assert problem.where == "value 'missing' of 'work'"


def test_a_variable_asked_for_twice_is_refused():
    table, risk = under(two_pairs(60)[:, :4], PAIRS)
    with pytest.raises(InputError, match="'home'") as caught:
        infer_target(risk, table, {}, ["home", "age", "home"])
    assert caught.value.reason is Reason.DUPLICATE


def test_a_missing_cell_can_be_known():
    codes = two_pairs(100)[:, :4]
    codes[:30, 0] = 0
    table, risk = under(codes, INDEPENDENT)
    assert by_frequency(risk, table, {"age": "missing"}, ["home"]).known_probability == 0.3


def test_what_nobody_has_has_no_answer():
    codes = two_pairs(100)[:, :4]
    table, risk = under(codes, SATURATED)
    # A declared category that does not occur.
    found = by_frequency(risk, table, {"home": "home-4"}, ["age"])
    assert found.rows == ()
    assert found.known_probability == 0
    assert found.summary()["most_probable"] == 0
    assert "Nobody" in found.sentences()[0]
    assert found.to_arrow().num_rows == 0


def test_with_a_prior_what_nobody_has_is_unlikely_and_not_impossible():
    codes = two_pairs(100)[:, :4]
    table, risk = under(codes, SATURATED)
    found = infer_target(risk, table, {"home": "home-4"}, ["age"])
    assert 0 < found.known_probability < 0.01
    assert sum(chance for _, chance in found.rows) == pytest.approx(1)
    plain = dict(by_frequency(risk, table, {"home": "home-1"}, ["age"]).rows)
    smooth = dict(infer_target(risk, table, {"home": "home-1"}, ["age"]).rows)
    for words, chance in plain.items():
        assert smooth[words] == pytest.approx(chance, abs=0.02)


def test_one_possibility_is_one():
    table, risk = under([[1, 1, 1, 1], [2, 2, 2, 2]], SATURATED)
    found = by_frequency(risk, table, {"age": "age-1"}, ["work"])
    assert found.rows == ((("work-1",), 1.0),)
    assert "1 combination is possible" in found.sentences()[1]


def test_all_that_is_wrong_is_in_one_error_without_values_of_the_file():
    table, risk = under(two_pairs(100)[:, :4], PAIRS)
    with pytest.raises(InputError) as caught:
        by_frequency(
            risk, table, {"aeg": "x", "work": "nothing", "home": "home-1"}, ["home", "shoe"]
        )
    error = caught.value
    assert len(error.problems) == 4
    told = str(error)
    assert "'aeg'" in told
    assert "Near to it: 'age'" in told
    assert "'shoe'" in told
    assert "value 'nothing' of 'work': is not in the file." in told
    assert "are known and asked for" in told
    assert "There are 4 problems" in told
    assert not [word for words in WORDS_OF_QUERIES for word in words[1:] if word in told]
    with pytest.raises(InputError) as caught:
        by_frequency(risk, table, {"age": "age-1"}, [])
    assert caught.value.reason is Reason.NOTHING_GIVEN


def test_keys_of_another_file_are_refused():
    _, risk = under(two_pairs(100)[:, :4], PAIRS)
    other = counted(two_pairs(100, seed=7)[:, :4], NAMES_OF_QUERIES, WORDS_OF_QUERIES)
    with pytest.raises(InputError, match="Fit models to these keys"):
        by_frequency(risk, other, {"age": "age-1"}, ["work"])


def test_a_notebook_and_the_provenance_have_no_values():
    table, risk = under(two_pairs(100)[:, :4], PAIRS)
    found = by_frequency(risk, table, {"age": "age-1"}, ["work"])
    shown = f"{found!r} {found._repr_html_()} {found.provenance}"
    assert "age-" not in shown
    assert "work-" not in shown
    assert found.provenance.parameters["asked"] == "work"
