"""Every level is what the analysis finds for each number of forms in it."""

from __future__ import annotations

from fractions import Fraction
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gamekeeper.mapping.analysis.key_mapping import map_key_variables
from gamekeeper.mapping.analysis.levels import map_levels
from gamekeeper.mapping.analysis.options import MapOptions
from gamekeeper.mapping.environment.environment import Environment, Form
from gamekeeper.mapping.variables.variable import OUTSIDE, Variable
from gamekeeper.workbench.demo.environment import TARGET, demo_environment

CUTS = ("5", "10", "20", "40", "60")


@st.composite
def environments(draw: st.DrawFn) -> Environment:
    def bands() -> tuple[str, ...]:
        kept = draw(st.lists(st.sampled_from(range(5)), unique=True).map(sorted))
        starts = [0, *(int(CUTS[number]) for number in kept)]
        closed = pairwise(starts)
        return (*(f"{low}-{high - 1}" for low, high in closed), f"{starts[-1]}+")

    selections = [bands() for _ in range(draw(st.integers(1, 7)))]
    selections += [()] * draw(st.integers(0, 2))
    if draw(st.booleans()):
        selections.append((*selections[0][1:], OUTSIDE) if len(selections[0]) > 1 else ())
    own = draw(st.sampled_from([bands(), ()]))
    named = {band for labels in (*selections, own) for band in labels if band != OUTSIDE}
    age = Variable.of_bands("Age", sorted(named) or ["0+"])
    forms = [Form(f"F{n}", {"Age": labels}) for n, labels in enumerate(selections)]
    silent = [Form(f"S{n}") for n in range(draw(st.integers(0, 2)))]
    return Environment([age], [Form("Target", {"Age": own}), *forms, *silent])


@given(environments(), st.sampled_from([None, 7]), st.integers(1, 3), st.booleans())
def test_levels_are_what_is_found_one_by_one(
    environment: Environment, levels: int | None, most: int, within: bool
) -> None:
    asked = {"levels": levels, "most": most, "within_universe": within}
    (found,) = map_levels(environment, MapOptions("Target", **asked)).variables
    n_forms = found.outcome.n_forms
    covered = [k for level in found.levels for k in range(level.first, level.last + 1)]
    assert covered == list(range(1, found.outcome.n_having + 1))
    for level in found.levels:
        for k in range(level.first, level.last + 1):
            outcome = map_key_variables(
                environment, "Target", prevalence=Fraction(k, n_forms), **asked
            )
            (one,) = outcome.variables
            assert one.threshold == k
            assert one.codes == level.codes
            assert one.n_categories == level.n_categories
            assert one.effective == level.effective
            assert (one.has_more, one.may_have_more) == (level.has_more, level.may_have_more)
            for each in one.maximal:
                assert found.maximal[each.code] == each


@pytest.mark.parametrize("number", [1, 4, 9, 30])
def test_levels_of_the_demo(number: int) -> None:
    environment = demo_environment()
    found = map_levels(environment, MapOptions(TARGET, groups=["Commercial"], strict=False))
    n_forms = len(found.outcome.match_forms)
    share = Fraction(number, n_forms)
    single = map_key_variables(
        environment, TARGET, groups=["Commercial"], strict=False, prevalence=share
    )
    expected = {item.variable: (item.codes, item.n_categories) for item in single.variables}
    for item in found.variables:
        level = next((one for one in item.levels if one.first <= number <= one.last), None)
        told = ((), 0) if level is None else (level.codes, level.n_categories)
        assert told == expected[item.outcome.variable]


def test_a_limit_leaves_levels_that_are_not_known() -> None:
    environment = demo_environment()
    found = map_levels(environment, MapOptions(TARGET, strict=False, max_nodes=3))
    for item in found.variables:
        if item.outcome.not_known is not None:
            first, last = item.outcome.not_known
            unknown = [one for one in item.levels if one.n_categories is None]
            assert (unknown[0].first, unknown[-1].last) == (first, last)
            return
    pytest.fail("nothing is beyond the limit")
