"""Attacks by models within a simulation and over fractions; populations in shared memory."""

from __future__ import annotations

import numpy as np
import pytest

from gamekeeper.algorithms.blocks import lent, received
from gamekeeper.attack.experiments.measures import MODEL_CURVES
from gamekeeper.attack.experiments.notional import NotionalPopulation, arrays_of, open_population
from gamekeeper.attack.experiments.pilot import fraction_experiment
from gamekeeper.data.coding.coded_table import coded_from_codes

KEYS = ("a", "b", "c")


@pytest.fixture(scope="module")
def people():
    rng = np.random.default_rng(5)
    first = rng.integers(1, 9, 600)
    second = np.where(rng.random(600) < 0.7, first, rng.integers(1, 9, 600))
    return coded_from_codes(np.stack([first, second, rng.integers(1, 5, 600)], axis=1), KEYS)


def test_models_are_compared_over_fractions(people):
    found = fraction_experiment(people, KEYS, fractions=["10%", "50%"], with_models=True)
    assert set(MODEL_CURVES) <= set(found.to_arrow().column_names)
    for name in MODEL_CURVES:
        values = found.simulation.column(name)
        assert ((values > 0) & (values <= 1)).all()
    # In the small sample the ten keys that rank first are better targets than any sample unique.
    first = found.simulation.column("models_top10.pr_cm")
    assert first[0] > found.simulation.column("pr_cm_given_su")[0]
    assert any("MCMCMC1" in sentence for sentence in found.sentences())
    # At the true cost of a search for any unique, a search never costs less.
    cost = found.simulation.column("models_mcmcmc1.cost_with")
    assert (cost >= 1).all()


def test_without_models_nothing_is_said_of_them(people):
    found = fraction_experiment(people, KEYS, fractions=["10%"])
    assert not set(MODEL_CURVES) & set(found.to_arrow().column_names)


@pytest.mark.parametrize("strata", [(), ("c",)])
def test_a_population_comes_through_shared_memory_unchanged(people, strata):
    population = open_population(people, KEYS[:2], stratify_by=strata)
    with lent(arrays_of(population)) as handle:
        again = NotionalPopulation(**received(handle))
    assert isinstance(again, NotionalPopulation)
    for part in ("codes", "classes", "sizes", "strata"):
        one, other = getattr(population, part), getattr(again, part)
        assert (one is None) == (other is None)
        if one is not None:
            assert one.dtype == other.dtype
            np.testing.assert_array_equal(one, other)
