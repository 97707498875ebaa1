"""Checks of swapped households on swaps that are made to be right, and on spoiled ones."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from tests.twins.swap_checks import check_household_swap

HOMES = st.lists(
    st.tuples(st.sampled_from("ABC"), st.lists(st.sampled_from("fm"), min_size=1, max_size=3)),
    min_size=2,
    max_size=8,
)
WAY = {"household": "home", "geography": ["area"], "match_on": ["sex"]}


def people(homes, areas):
    return [
        {"home": number, "area": areas[number], "sex": sex}
        for number, (_, members) in enumerate(homes)
        for sex in members
    ]


@given(HOMES, st.randoms(use_true_random=False))
def test_households_of_one_profile_may_change_places(homes, random):
    areas = [area for area, _ in homes]
    before = people(homes, areas)
    for _ in range(4):
        one, other = random.randrange(len(homes)), random.randrange(len(homes))
        if sorted(homes[one][1]) == sorted(homes[other][1]):
            areas[one], areas[other] = areas[other], areas[one]
    found = check_household_swap(before, people(homes, areas), **WAY)
    assert found.households_whole
    assert found.only_geography_changed
    assert found.profile_by_area_counts_kept
    assert found.moved_households == [n for n, home in enumerate(homes) if areas[n] != home[0]]


def test_what_must_not_happen_is_seen():
    homes = [("A", ["f", "m"]), ("B", ["f"])]
    before = people(homes, ["A", "B"])
    torn = [dict(record) for record in before]
    torn[0]["area"] = "B"
    assert not check_household_swap(before, torn, **WAY).households_whole
    swapped = people(homes, ["B", "A"])
    assert not check_household_swap(before, swapped, **WAY).profile_by_area_counts_kept
    changed = [{**record, "sex": "m"} for record in before]
    assert not check_household_swap(before, changed, **WAY).only_geography_changed
    assert not check_household_swap(before, before[:2], **WAY).only_geography_changed
