"""Households of Norland and who lives in them: kind, place, means, and the age and sex of each.

The first person of a household is its head. A partner follows, then a grandparent, then children
from the oldest to the youngest, or the people who share the home. Every child is 18 to 45 years
younger than each of its parents at home.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from gamekeeper.data.population.chances import Chances, Draws, Integers, anchored, band_of, weights
from gamekeeper.data.population.places import HOME_DISTRICTS, MEANS, ORIGINS, SETTING

ALONE, COUPLE, FAMILY, LONE_PARENT, SHARED = range(5)
ELDERLY_ALONE, ELDERLY_COUPLE, THREE_GENERATIONS = range(5, 8)
HEAD, PARTNER, GRANDPARENT, CHILD, SHARER = range(5)

_OLDEST = 104
_OLDEST_AT_HOME = 34
_GAP, _WIDEST_GAP = 18, 45
_GROUPS_WITH_LARGE_FAMILIES = (3, 7, 11)

# Of a thousand households, by kind; a row for each setting.
_KINDS = Chances(
    weights("""
    capital: 215 180 270 95 95  75  50 20
    town:    170 195 290 75 45 120  95 10
    country: 120 215 310 50 15 140 140 10
    island:  150 200 260 45 10 180 145 10
""")
)
_AGES_OF_HEADS = (
    {16: 1, 17: 2, 18: 12, 22: 60, 30: 100, 45: 70, 64: 60},
    {16: 1, 17: 2, 18: 8, 24: 70, 29: 100, 35: 50, 45: 45, 55: 110, 64: 120},
    {18: 2, 22: 15, 30: 90, 38: 130, 46: 120, 52: 70, 60: 25, 68: 5},
    {18: 6, 24: 50, 35: 110, 45: 100, 55: 40, 68: 10},
    {16: 1, 18: 60, 20: 140, 24: 110, 30: 50, 40: 15, 60: 5},
    {65: 60, 75: 80, 85: 75, 92: 25, 102: 1},
    {65: 110, 75: 90, 85: 35, 98: 1},
    {22: 5, 35: 100, 50: 80, 60: 10},
)
_HEAD_AGES = Chances(np.stack([anchored(anchors, _OLDEST) for anchors in _AGES_OF_HEADS]))
# One to eight children at home, by the age of the head (under 22, 28, 35, 48, and from 48).
_CHILDREN = weights("""
    couple, under 22:      800 200   0  0  0 0 0 0
    couple, under 28:      550 330 100 20  0 0 0 0
    couple, under 35:      380 420 140 40 14 5 1 0
    couple, under 48:      300 460 170 50 14 4 1 1
    couple, from 48:       550 330  90 22  6 2 0 0
    lone parent, under 22: 900 100   0  0  0 0 0 0
    lone parent, under 28: 640 280  70 10  0 0 0 0
    lone parent, under 35: 500 350 110 30  8 2 0 0
    lone parent, under 48: 500 360 105 28  6 1 0 0
    lone parent, from 48:  720 220  50  8  2 0 0 0
""")
_N_CHILDREN = Chances(np.concatenate([_CHILDREN, _CHILDREN * np.arange(1, 9) ** 2]))
_SHARERS = Chances(weights("0 450 250 150 90 40 10 6 4"))
_FEMALE_HEADS = np.array([440, 500, 500, 860, 480, 660, 480, 500])
_SAME_SEX = np.array([0, 25, 6, 0, 0, 0, 5, 3])
# A man is so many years older than the woman he lives with, from -10 to 10.
_OLDER_MAN = anchored({0: 1, 5: 6, 8: 30, 10: 110, 12: 120, 14: 80, 17: 25, 20: 8}, 21)
_PARTNER_AGES = Chances(np.stack([_OLDER_MAN, _OLDER_MAN[::-1]]))
_SPACINGS = Chances(weights("20 60 230 220 150 100 80 60 40 20 20"))
_GAP_OF_OLDEST = {0: 20, 6: 70, 12: 120, 18: 80, 22: 40, 27: 5}
_GRANDPARENT_GAPS = Chances(anchored({0: 10, 8: 100, 17: 60, 27: 5}, _WIDEST_GAP - _GAP + 1))
_STAYING = {0: 100, 17: 100, 19: 70, 24: 25, 34: 6}


@dataclass(frozen=True, slots=True)
class Households:
    """Columns with one entry per household."""

    place: Integers
    kind: Integers
    means: Integers
    origin: Integers
    """The ethnic group of the head."""
    head_age: Integers
    n_extra: Integers
    """Children, or people who share the home besides the head."""

    @property
    def size(self) -> Integers:
        """The number of people in each household."""
        return 1 + self.has_partner + self.has_grandparent + self.n_extra

    @property
    def has_partner(self) -> NDArray[np.bool_]:
        """Whether the head lives with a partner."""
        return np.isin(self.kind, (COUPLE, FAMILY, ELDERLY_COUPLE, THREE_GENERATIONS))

    @property
    def has_grandparent(self) -> NDArray[np.bool_]:
        """Whether a parent of the head is at home."""
        return self.kind == THREE_GENERATIONS

    def first(self, n_people: int) -> Households:
        """Return the first households, which hold so many people; the last is made to fit."""
        ends = np.cumsum(self.size)
        number = min(int(np.searchsorted(ends, n_people)) + 1, len(ends))
        kept = Households(*(column[:number].copy() for column in self._columns()))
        kept._shrink_last(max(int(ends[number - 1]) - n_people, 0))
        return kept

    def _columns(self) -> tuple[Integers, ...]:
        return (self.place, self.kind, self.means, self.origin, self.head_age, self.n_extra)

    def _shrink_last(self, surplus: int) -> None:
        if not surplus:
            return
        size = int(self.size[-1]) - surplus
        kind = int(self.kind[-1])
        if size == 1:
            self.kind[-1] = ELDERLY_ALONE if kind == ELDERLY_COUPLE else ALONE
        elif size == 2 and kind in (FAMILY, THREE_GENERATIONS):
            self.kind[-1] = COUPLE
        self.n_extra[-1] = 0
        self.n_extra[-1] = size - int(self.size[-1])


@dataclass(frozen=True, slots=True)
class People:
    """Columns with one entry per person, household after household."""

    household: Integers
    """The position of the household in its block."""
    head: Integers
    """The position of the head of the person's household among the people."""
    role: Integers
    age: Integers
    sex: Integers


def _oldest_gaps() -> Chances:
    """Return the chances of the gap to the oldest child, by the age of the younger parent."""
    gaps = anchored(_GAP_OF_OLDEST, _WIDEST_GAP - _GAP + 1)
    staying = anchored(_STAYING, _OLDEST_AT_HOME + 1)
    table = np.zeros((_OLDEST + 1, len(gaps)), dtype=np.int64)
    for age in range(_OLDEST + 1):
        for step, weight in enumerate(gaps):
            child = age - _GAP - step
            if 0 <= child <= _OLDEST_AT_HOME:
                table[age, step] = weight * staying[child]
        if not table[age].any():
            table[age, -1 if age > _GAP else 0] = 1
    return Chances(table)


_OLDEST_GAPS = _oldest_gaps()


def draw_households(draws: Draws, number: int) -> Households:
    """Draw so many households."""
    anywhere = np.zeros(number, dtype=np.int64)
    place = HOME_DISTRICTS.draw(draws, anywhere)
    kind = _KINDS.draw(draws, SETTING[place])
    means = MEANS.draw(draws, place)
    origin = ORIGINS.draw(draws, place)
    head_age = _HEAD_AGES.draw(draws, kind)
    lone = kind == LONE_PARENT
    large = np.isin(origin, _GROUPS_WITH_LARGE_FAMILIES)
    row = band_of(head_age, 22, 28, 35, 48) + 5 * lone + 10 * large
    n_children = _N_CHILDREN.draw(draws, row) + 1
    n_sharers = _SHARERS.draw(draws, anywhere)
    parents = np.isin(kind, (FAMILY, LONE_PARENT, THREE_GENERATIONS))
    n_extra = np.where(parents, n_children, np.where(kind == SHARED, n_sharers, 0))
    return Households(place, kind, means, origin, head_age, n_extra)


def draw_people(draws: Draws, homes: Households) -> People:
    """Draw who lives in the households."""
    size = homes.size
    household = np.repeat(np.arange(len(size)), size)
    starts = np.cumsum(size) - size
    head = starts[household]
    order = np.arange(len(household)) - head
    role = _roles(homes, household, order)
    sex = _sexes(draws, homes, household, role, head)
    age = _ages_of_adults(draws, homes, household, role, sex, head)
    n_before = 1 + homes.has_partner + homes.has_grandparent
    _set_ages_of_children(draws, homes, starts, household, role, order - n_before[household], age)
    return People(household, head, role, age, sex)


def _roles(homes: Households, household: Integers, order: Integers) -> Integers:
    partner = homes.has_partner[household] & (order == 1)
    grandparent = homes.has_grandparent[household] & (order == 2)
    sharer = homes.kind[household] == SHARED
    return np.select(
        [order == 0, partner, grandparent, sharer], [HEAD, PARTNER, GRANDPARENT, SHARER], CHILD
    ).astype(np.int64)


def _sexes(
    draws: Draws, homes: Households, household: Integers, role: Integers, head: Integers
) -> Integers:
    kind = homes.kind[household]
    per_mille = np.select(
        [role == HEAD, role == GRANDPARENT, role == SHARER], [_FEMALE_HEADS[kind], 780, 480], 488
    )
    very_old = (kind == ELDERLY_ALONE) & (homes.head_age[household] >= 80)
    male = ~draws.happens(np.where(very_old, 750, per_mille))
    same = draws.happens(_SAME_SEX[kind])
    male = np.where(role == PARTNER, male[head] == same, male)
    return male.astype(np.int64)


def _ages_of_adults(
    draws: Draws,
    homes: Households,
    household: Integers,
    role: Integers,
    sex: Integers,
    head: Integers,
) -> Integers:
    of_head = homes.head_age[household]
    parents = np.isin(homes.kind, (FAMILY, THREE_GENERATIONS))[household]
    partner = of_head + _PARTNER_AGES.draw(draws, sex[head]) - 10
    partner = np.maximum(partner, np.where(parents, _GAP, 16))
    grandparent = of_head + _GAP + _GRANDPARENT_GAPS.draw(draws, np.zeros_like(household))
    sharer = np.clip(of_head + draws.below(np.full_like(household, 9)) - 4, 16, 80)
    ages = np.choose(role, [of_head, partner, grandparent, of_head, sharer])
    return np.minimum(ages, _OLDEST)


def _set_ages_of_children(
    draws: Draws,
    homes: Households,
    starts: Integers,
    household: Integers,
    role: Integers,
    order: Integers,
    age: Integers,
) -> None:
    """Give children their ages: the oldest by the ages of the parents, the others in turn."""
    head_age = age[starts]
    partner_at = np.minimum(starts + 1, len(age) - 1)
    partner_age = np.where(homes.has_partner, age[partner_at], head_age)
    younger = np.minimum(head_age, partner_age)
    lowest = np.maximum(np.maximum(head_age, partner_age) - _WIDEST_GAP, 0)
    highest = np.clip(younger - _GAP, lowest, np.maximum(lowest, _OLDEST_AT_HOME))
    # The more children, the earlier the first was born.
    gap = _GAP + _OLDEST_GAPS.draw(draws, younger) - 2 * np.maximum(homes.n_extra - 1, 0)
    before = np.clip(younger - gap, lowest, highest)
    spacing = _SPACINGS.draw(draws, np.zeros_like(household))
    chance = draws.raw(len(household))
    child = role == CHILD
    for turn in range(int(order[child].max(initial=-1)) + 1):
        who = np.flatnonzero(child & (order == turn))
        at = household[who]
        if turn:
            drawn = before[at] - spacing[who]
            # A child that would be too young comes at any time since, a twin where there is none.
            room = np.maximum(before[at] - lowest[at], 1)
            anywhen = lowest[at] + ((chance[who] * room) >> 32)
            before[at] = np.where(drawn >= lowest[at], drawn, anywhen)
        age[who] = before[at]
