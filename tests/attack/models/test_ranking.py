"""Attacks on the keys that models rank first, against a plain reckoning person by person."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest

from gamekeeper.algorithms.intrusion.strategies import Direction
from gamekeeper.attack.models.fitting import fit_models
from gamekeeper.attack.models.inference import infer_risk
from gamekeeper.attack.models.ranking import rank_attacks
from gamekeeper.errors import InputError, Reason
from tests.given.two_pairs import NAMES, counted, two_pairs


def drawn(n=900, share=10, seed=3):
    people = two_pairs(n, seed=seed)
    return people, people[np.random.default_rng(seed).permutation(n)[: n // share]]


def inferred(sample, names=NAMES, **options):
    table = counted(sample, names, fraction="1/10", **options)
    return table, infer_risk(table, fit_models(table, method="annealing"))


def keys_taken(risk, sample, people, top):
    """Return the keys of each attack, chosen one after another."""
    rows = risk.to_arrow().to_pylist()
    of_key = {tuple(key): row for key, row in zip(sample.tolist(), rows, strict=True)}
    f, sizes = (Counter(map(tuple, table.tolist())) for table in (sample, people))
    uniques = [key for key in f if f[key] == 1]
    ranked = sorted(sorted(of_key), key=lambda key: -of_key[key]["p_match"])
    by_size = sorted(sorted(of_key), key=lambda key: of_key[key]["expected_size"])

    def until(cost, most):
        taken, spent = [], 0
        for key in by_size:
            spent += cost(key)
            if spent > most * (1 + 1e-9):
                break
            taken.append(key)
        return taken

    return (
        ranked[:top],
        until(lambda key: sizes[key], sum(sizes[key] for key in uniques)),
        until(
            lambda key: of_key[key]["expected_size"],
            sum(of_key[key]["expected_size"] for key in uniques),
        ),
    )


def reckoned(keys, sample, people, direction):
    """Return the chance of a right match and the mean search, going through persons and records."""
    f, sizes = (Counter(map(tuple, table.tolist())) for table in (sample, people))
    chosen = set(keys)
    if direction is Direction.P2S:
        # Anybody with a chosen key is found, and matched to one of the records of that key.
        targets = [key for key in map(tuple, people.tolist()) if key in chosen]
        return sum(f[key] / sizes[key] / f[key] for key in targets) / len(targets), len(
            people
        ) / len(targets)
    records = [key for key in map(tuple, sample.tolist()) if key in chosen]
    return sum(1 / sizes[key] for key in records) / len(records), sum(
        len(people) / sizes[key] for key in records
    ) / len(records)


@pytest.mark.parametrize("top", [1, 10])
def test_attacks_agree_with_a_plain_reckoning(top):
    people, sample = drawn()
    table, risk = inferred(sample)
    found = rank_attacks(risk, table, counted(people, NAMES), top=top)
    assert len(found.values) == 6
    assert found.n_people == 900
    taken = keys_taken(risk, sample, people, top)
    assert len(taken[0]) == top
    assert all(len(keys) > 1 for keys in taken[1:])
    for value, keys in zip(found.values, [keys for keys in taken for _ in range(2)], strict=True):
        assert value.n_cells == len(keys)
        pr_cm, cost = reckoned(keys, sample, people, value.direction)
        assert float(value.pr_cm) == pytest.approx(pr_cm)
        assert float(value.cost_with) == pytest.approx(cost)
        assert value.feasible
    assert [value.direction for value in found.values] == [Direction.P2S, Direction.S2P] * 3
    rows = found.to_arrow().to_pylist()
    assert [row["pr_cm"] for row in rows] == [float(value.pr_cm) for value in found.values]
    assert found.summary()["pr_cm"] == max(row["pr_cm"] for row in rows)
    assert f"The {top} keys" in found.sentences()[0]
    assert "MCMCMC1" in found.sentences()[2]
    assert "MCMCMC2" in found.sentences()[4]
    assert str(top) == found.provenance.parameters["top"]


def test_attacks_at_matched_cost_find_no_more_people_than_a_search_for_any_unique():
    people, sample = drawn(seed=5)
    table, risk = inferred(sample)
    sizes = Counter(map(tuple, people.tolist()))
    f = Counter(map(tuple, sample.tolist()))
    any_unique = sum(sizes[key] for key in f if f[key] == 1)
    found = rank_attacks(risk, table, counted(people, NAMES)).values[2]
    # From population to sample the search ends, on average, after N / (people with the keys).
    n_found = round(900 / float(found.cost_with))
    assert 0 < n_found <= any_unique
    assert n_found > any_unique / 2


@pytest.mark.slow
def test_uniques_that_are_expected_to_be_the_smallest_are_taken_all_whatever_the_rounding():
    for seed in range(6):
        people = np.unique(two_pairs(300, seed=seed), axis=0)
        common = people[(people[:, 0] == people[:, 1]) & (people[:, 2] == people[:, 3])]
        people = np.concatenate([people, np.repeat(common, np.arange(1, len(common) + 1), axis=0)])
        table, risk = inferred(people)
        rows = risk.to_arrow().to_pylist()
        sizes = [row["expected_size"] for row in rows if row["class_size"] == 1]
        assert max(sizes) < min(row["expected_size"] for row in rows if row["class_size"] > 1)
        assert len(set(sizes)) > 50
        found = rank_attacks(risk, table, counted(people, NAMES))
        assert [value.n_cells for value in found.values[2:]] == [len(sizes)] * 4
        assert all(value.pr_cm == 1 for value in found.values)


def test_words_match_where_codes_differ_and_left_out_records_are_no_targets():
    words = ("missing", "a", "b", "c")
    turned = ("missing", "c", "a", "b")
    sample = np.array([[1, 1], [2, 1], [0, 2], [3, 2], [3, 2]])
    table = counted(sample, "AB", [words, words], missing="exclude", fraction="1/2")
    risk = infer_risk(table, fit_models(table, method="annealing"))
    turn = {0: 0, 1: 2, 2: 3, 3: 1}
    people = [[turn[a], b] for a, b in sample.tolist()] + [[2, 1], [1, 3]]
    population = counted(people, "AB", [turned, words], missing="exclude")
    found = rank_attacks(risk, table, population, top=2)
    # The two uniques rank first: one of two people, and one alone.
    first, second = found.values[:2]
    assert first.n_cells == second.n_cells == 2
    assert float(first.pr_cm) == pytest.approx(2 / 3)
    assert float(second.pr_cm) == pytest.approx(3 / 4)
    assert found.n_people == 6


def test_an_attack_without_a_key_says_so():
    codes = [[1, 1], [1, 1], [2, 1], [2, 1]]
    table, risk = inferred(codes, "AB")
    found = rank_attacks(risk, table, counted(codes, "AB"))
    assert [value.feasible for value in found.values] == [True, True] + [False] * 4
    assert found.values[0].n_cells == 2
    told = found.sentences()
    assert "right with probability 0.5" in told[0]
    assert all("no key can be attacked" in sentence for sentence in told[2:])


def test_one_record_is_found():
    table, risk = inferred([[1, 2]], "AB")
    found = rank_attacks(risk, table, counted([[1, 2], [1, 1]], "AB"))
    assert float(found.values[0].pr_cm) == 1
    assert float(found.values[0].cost_with) == 2


def test_wrong_questions_are_refused():
    people, sample = drawn()
    table, risk = inferred(sample)
    population = counted(people, NAMES)
    with pytest.raises(InputError) as caught:
        rank_attacks(risk, table, population, top=0)
    assert caught.value.reason is Reason.BAD_OPTION
    with pytest.raises(InputError, match="Fit models to these keys"):
        rank_attacks(risk, counted(sample[::-1], NAMES), population)
    with pytest.raises(InputError, match="more records than people"):
        rank_attacks(risk, table, counted(people[:20], NAMES))
