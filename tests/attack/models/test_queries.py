"""Questions to models about a person, against frequencies counted row by row."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from functools import partial
from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gamekeeper.attack.models.fitting import fit_models
from gamekeeper.attack.models.inference import infer_risk
from gamekeeper.attack.models.queries import infer_target
from gamekeeper.errors import InputError, Reason
from tests.given.two_pairs import counted, two_pairs

NAMES = ("age", "work", "area", "home")
WORDS = [
    ("missing", *(f"{name}-{code}" for code in range(1, n + 1)))
    for name, n in zip(NAMES, (5, 4, 4, 4), strict=True)
]
SATURATED = np.array([[14, 13, 11, 7]], np.uint64)
INDEPENDENT = np.zeros((1, 4), np.uint64)
PAIRS = np.array([[2, 1, 8, 4]], np.uint64)

by_frequency = partial(infer_target, precision=0.0)


def under(codes, *models, weights=(1.0,)):
    """Return keys and what is inferred from them under models of one's own."""
    table = counted(codes, NAMES, WORDS, fraction="1/10")
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
        if all(WORDS[v][cell[v]] == known[name] for v, name in enumerate(NAMES) if name in known)
    }
    total = sum(agreeing.values())
    shares = Counter()
    for cell, chance in agreeing.items():
        shares[tuple(WORDS[NAMES.index(name)][cell[NAMES.index(name)]] for name in ask)] += chance
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
    known = {NAMES[v]: WORDS[v][row[v]] for v in known_of}
    ask = [name for name in NAMES if name not in known]
    found = by_frequency(risk, table, known, ask)
    wanted, total = answered(joint(codes, groups), known, ask)
    assert dict(found.rows) == pytest.approx(wanted)
    assert found.known_probability == pytest.approx(total)


def test_the_models_of_the_release_see_what_hangs_together():
    codes = two_pairs(400)[:, :4]
    table = counted(codes, NAMES, WORDS, fraction="1/10")
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
    assert not [word for words in WORDS for word in words[1:] if word in told]
    with pytest.raises(InputError) as caught:
        by_frequency(risk, table, {"age": "age-1"}, [])
    assert caught.value.reason is Reason.NOTHING_GIVEN


def test_keys_of_another_file_are_refused():
    _, risk = under(two_pairs(100)[:, :4], PAIRS)
    other = counted(two_pairs(100, seed=7)[:, :4], NAMES, WORDS)
    with pytest.raises(InputError, match="Fit models to these keys"):
        by_frequency(risk, other, {"age": "age-1"}, ["work"])


def test_a_notebook_and_the_provenance_have_no_values():
    table, risk = under(two_pairs(100)[:, :4], PAIRS)
    found = by_frequency(risk, table, {"age": "age-1"}, ["work"])
    shown = f"{found!r} {found._repr_html_()} {found.provenance}"
    assert "age-" not in shown
    assert "work-" not in shown
    assert found.provenance.parameters["asked"] == "work"
