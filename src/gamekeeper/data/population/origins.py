"""Where the people of Norland come from: ethnic group, country of birth and religion.

All three gather in districts and in households: partners are mostly of one group, children take
after their parents, and a child is born abroad only now and then, mostly to parents who were.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from gamekeeper.data.population.chances import Chances, Draws, Integers, band_of, weights
from gamekeeper.data.population.households import CHILD, Households, People
from gamekeeper.data.population.places import NATION, ORIGINS

_NORLANDIC_AND_MERIDIAN, _NORLANDIC_AND_ISLANDER, _OTHER_MIXED, _ANY_OTHER = range(14, 18)
_FIRST_ABROAD = 3

# The broad group of each ethnic group: Norlandic, Vestrian, Meridian, Islander, mixed or other.
_NORLANDIC, _VESTRIAN, _MERIDIAN, _ISLANDER, _OTHER = range(5)
_BROAD = np.array([0, 0, 0, 0, 1, 1, 1, 2, 2, 2, 3, 3, 3, 3, 4, 4, 4, 4])

# Of a thousand: the same ethnic group as the head, by role (head, partner, grandparent, child,
# sharer); the others are as is usual in the district.
_SAME_GROUP = np.array([1000, 880, 1000, 1000, 350])
_SAME_RELIGION = np.array([1000, 720, 850, 900, 150])

# Of a thousand who were born where their ethnic group comes from, the countries of their births.
_BIRTHS = Chances(
    weights("""
    Ardish:                 940  30  20   1  2  1  1   1  0   1   1  0   0   2
    Bresk:                   60 920  12   1  2  1  1   1  0   1   0  0   0   1
    Corvanian:               50  10 930   3  2  1  1   1  0   1   0  0   0   1
    Fenland Traveller:      400 590  10   0  0  0  0   0  0   0   0  0   0   0
    Karsundi:                 0   0   0 970 10 10 10   0  0   0   0  0   0   0
    Tarnovian:                0   0   0  10  0 20 970  0  0   0   0  0   0   0
    other Vestrian:           0   0   0  10 620 360 10 0  0   0   0  0   0   0
    Sulanese:                 0   0   0   0  0  0  0 960 20  20   0  0   0   0
    Imbarun:                  0   0   0   0  0  0  0  15 970 15   0  0   0   0
    other Meridian:           0   0   0   0  0  0  0  40 30 900   0  0   0  30
    Jandaran:                 0   0   0   0  0  0  0   0 10   0 970 20   0   0
    Maraneshi:                0   0   0   0  0  0  0   0  0   0  30 970  0   0
    Tosanese:                 0   0   0   0  0  0  0   0  0   0   0  10 970 20
    other Islander:           0   0   0   0  0  0  0   0  0   0 150 150 300 400
    Norlandic and Meridian: 300 100 100   0  0  0  0 200 150 150  0  0   0   0
    Norlandic and Islander: 300 100 100   0  0  0  0   0  0   0 250 150 100  0
    other mixed:            100  50  50 100 100 50 50 100 100 50 100 50 50  50
    any other group:          0   0   0   0  0  0  0   0  0  20   0  0   0 980
""")
)
# Of a thousand: born where the group comes from, by age (under 16, 30, 65, and from 65); for
# groups of Norland and mixed groups, and for all others. Others were born where they live.
_BORN_AFAR = weights("""
    of Norland: 120 240 300 340
    others:     150 400 720 800
""")

# No religion, Christian, Muslim, Jewish, Hindu, Buddhist, another.
_RELIGIONS = weights("""
    Ardish:                 520 462   2   6   0   3   7
    Bresk:                  420 565   2   4   0   2   7
    Corvanian:              330 657   1   5   0   2   5
    Fenland Traveller:      250 735   0   0   0   0  15
    Karsundi:               600 360  25   8   0   4   3
    Tarnovian:              170 790  30   6   0   1   3
    other Vestrian:         400 530  40  20   1   4   5
    Sulanese:                40 300 640   0   5   0  15
    Imbarun:                 60 820  90   2   8   0  20
    other Meridian:         180 600 180  15   5   5  15
    Jandaran:                50  60 130   0 720  10  30
    Maraneshi:               20  15 950   0  10   1   4
    Tosanese:               380 160  20   0   5 420  15
    other Islander:         180 300 120   0 120 250  30
    Norlandic and Meridian: 480 400 100   4   3   3  10
    Norlandic and Islander: 500 270  90   2  80  45  13
    other mixed:            480 370  80  25  15  15  15
    any other group:        300 300 180 120  20  30  50
""")
# How much more no religion weighs, in tenths, by age (under 30, under 60, from 60).
_LEAVING = weights("14 11 7")[0]
_RELIGIONS_BY_AGE = np.repeat(_RELIGIONS * 10, 3, axis=0)
_RELIGIONS_BY_AGE[:, 0] = _RELIGIONS_BY_AGE[:, 0] // 10 * np.tile(_LEAVING, len(_RELIGIONS))
_DRAWN_RELIGIONS = Chances(_RELIGIONS_BY_AGE)


def draw_ethnic_groups(draws: Draws, homes: Households, people: People) -> Integers:
    """Draw ethnic groups: of adults by household and district, of children by their parents."""
    of_head = homes.origin[people.household]
    of_district = ORIGINS.draw(draws, homes.place[people.household])
    same = draws.happens(_SAME_GROUP[people.role])
    group = np.where(same, of_head, of_district)

    partner_at = np.minimum(people.head + 1, len(group) - 1)
    partnered = homes.has_partner[people.household]
    other = np.where(partnered, group[partner_at], of_head)
    # The parent who lives elsewhere may be of any group of the district.
    elsewhere = ~partnered & draws.happens(np.full_like(group, 120))
    other = np.where(elsewhere, of_district[people.head], other)
    child = _mixed(of_head, other, draws.happens(np.full_like(group, 500)))
    alike = draws.happens(np.full_like(group, 985))
    child = np.where(alike, child, of_district)
    return np.where(people.role == CHILD, child, group)


def _mixed(one: Integers, other: Integers, takes_after_one: NDArray[np.bool_]) -> Integers:
    """Return the group of a child of two groups."""
    low = np.minimum(_BROAD[one], _BROAD[other])
    high = np.maximum(_BROAD[one], _BROAD[other])
    return np.select(
        [
            low == high,
            (low == _NORLANDIC) & (high == _MERIDIAN),
            (low == _NORLANDIC) & (high == _ISLANDER),
            (low == _NORLANDIC) & (high == _VESTRIAN),
        ],
        [
            np.where(takes_after_one, one, other),
            _NORLANDIC_AND_MERIDIAN,
            _NORLANDIC_AND_ISLANDER,
            np.where(takes_after_one, one, other),
        ],
        _OTHER_MIXED,
    )


def draw_births(draws: Draws, homes: Households, people: People, group: Integers) -> Integers:
    """Draw countries of birth."""
    here = NATION[homes.place[people.household]]
    afar = _BIRTHS.draw(draws, group)
    of_norland = np.isin(_BROAD[group], (_NORLANDIC, _OTHER)) & (group != _ANY_OTHER)
    row = np.where(of_norland, 0, 1)
    born_afar = draws.happens(_BORN_AFAR[row, band_of(people.age, 16, 30, 65)])
    # Many Norlanders who live in another nation were born in their own.
    own = draws.happens(np.full_like(group, 550)) & (group < _FIRST_ABROAD)
    adult = np.where(born_afar, afar, np.where(own, group, here))

    of_head = adult[people.head]
    with_head = draws.happens(np.where(of_head >= _FIRST_ABROAD, 200, 60))
    rarely = draws.happens(np.full_like(group, 8))
    child = np.where(with_head, of_head, np.where(rarely, afar, here))
    return np.where(people.role == CHILD, child, adult)


def draw_religions(draws: Draws, people: People, group: Integers) -> Integers:
    """Draw religions, mostly one for a household."""
    own = _DRAWN_RELIGIONS.draw(draws, group * 3 + band_of(people.age, 30, 60))
    same = draws.happens(_SAME_RELIGION[people.role])
    return np.where(same, own[people.head], own)
