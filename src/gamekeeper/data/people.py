"""The made-up people of Norland: districts, households, origins, lives, work, drawn by whole numbers.

The first person of a household is its head. A partner follows, then a grandparent, then children
from the oldest to the youngest, or the people who share the home. Every child is 18 to 45 years
younger than each of its parents at home. Ethnic group, country of birth and religion gather in
districts and in households: partners are mostly of one group, children take after their parents, and
a child is born abroad only now and then, mostly to parents who were.

A table of weights, in the files beside this one, has one row per situation and one column per
outcome. Weights are whole numbers and so is every step of a draw, so no rounding of floating point
numbers can change a population: it is the same on every platform. Each draw costs one binary search,
and has a random stream of its own, found from the seed, the block of households and the number of
the draw; who comes first in a block therefore does not depend on how many follow. Only the raw
stream of PCG64 is used, which numpy promises never to change.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

Integers = NDArray[np.int64]

_BITS = 32
_NORLAND = Path(__file__).with_name("norland")


class Draws:
    """The random numbers of one block of households, one stream per call."""

    def __init__(self, seed: int, block: int) -> None:
        self._seed = seed
        self._block = block
        self._calls = 0

    def raw(self, number: int) -> Integers:
        """Return whole numbers from 0 to 2**32 - 1."""
        source = np.random.SeedSequence(self._seed, spawn_key=(self._block, self._calls))
        self._calls += 1
        stream = np.random.PCG64(source).random_raw(number)
        return (stream >> np.uint64(64 - _BITS)).astype(np.int64)

    def below(self, limits: Integers) -> Integers:
        """Return for each limit a whole number from 0 to it, itself left out."""
        return (self.raw(len(limits)) * limits) >> _BITS

    def happens(self, per_mille: Integers) -> NDArray[np.bool_]:
        """Return for each entry whether something of that chance, in thousandths, happens."""
        return self.raw(len(per_mille)) * 1000 < per_mille << _BITS


class Chances:
    """Weights of outcomes by situation, ready for draws."""

    def __init__(self, table: Integers) -> None:
        table = np.atleast_2d(table)
        reached = np.cumsum(table, axis=1)
        totals = reached[:, -1:]
        # A total of 2**31 or more would overflow when it is scaled to 32 bits.
        assert (table >= 0).all()
        assert ((totals > 0) & (totals < 1 << 31)).all()
        rows = np.arange(len(table), dtype=np.int64)[:, np.newaxis] << _BITS
        self._limits = (rows + (reached << _BITS) // totals).ravel()
        self._n_outcomes = table.shape[1]

    def draw(self, draws: Draws, rows: Integers) -> Integers:
        """Return for each row of the table that is given the number of an outcome."""
        sought = (rows << _BITS) + draws.raw(len(rows))
        found = np.searchsorted(self._limits, sought, side="right")
        return found.astype(np.int64) - rows * self._n_outcomes


def tables(name: str) -> dict[str, Integers]:
    """Return the tables of a file by their names: situations down, outcomes across.

    A table whose entries are named one by one is a row. One of anchors runs straight between them.

    Examples
    --------
    >>> tables("lives")["without spouse by sex"]
    array([[4, 4, 4, 4, 5, 7],
           [5, 4, 4, 4, 4, 4]])
    """
    return {title: _table(written) for title, written in listed(name).items()}


def listed(name: str) -> dict[str, Any]:
    """Return what a file of Norland lists."""
    return json.loads((_NORLAND / f"{name}.json").read_text(encoding="utf-8"))


def _table(written: dict[str, Any]) -> Integers:
    if "rows" in written:
        return np.array(list(written["rows"].values()), dtype=np.int64)
    lines = (
        {int(at): weight for at, weight in anchors.items()}
        for anchors in written["anchors"].values()
    )
    return np.stack([anchored(anchors, written["outcomes"]) for anchors in lines])


def anchored(anchors: dict[int, int], n_outcomes: int) -> Integers:
    """Return weights that run straight from anchor to anchor, and are 0 before and after.

    >>> anchored({1: 10, 3: 20}, 5)
    array([ 0, 10, 15, 20,  0])
    """
    line = np.zeros(n_outcomes, dtype=np.int64)
    for start, end in pairwise(anchors):
        steps = np.arange(end - start + 1)
        rise = anchors[end] - anchors[start]
        line[start : end + 1] = anchors[start] + rise * steps // (end - start)
    return line


def band_of(values: Integers, *starts: int) -> Integers:
    """Return the number of the band of each value; a band begins at each start but the first.

    >>> band_of(np.array([3, 18, 70]), 18, 65)
    array([0, 1, 2])
    """
    return np.searchsorted(np.array(starts), values, side="right").astype(np.int64)


def crossed(*factors: Integers) -> Integers:
    """Return the products of every row of each factor with every row of the others.

    >>> crossed(np.array([[1, 2], [3, 4]]), np.array([[1, 0], [1, 10]])).tolist()
    [[1, 0], [1, 20], [3, 0], [3, 40]]
    """
    table = factors[0]
    for factor in factors[1:]:
        table = (table[:, np.newaxis] * factor).reshape(-1, table.shape[-1])
    return table


HOUSEHOLD = "Household"
"""The column with the number of the household; it is no variable of the census."""

CATEGORIES: dict[str, tuple[str, ...]] = {
    name: tuple(labels) for name, labels in listed("categories").items()
}
"""The categories of each variable, in the order of its codes."""

CAPITAL, TOWN, COUNTRY, ISLAND = range(4)
ALONE, COUPLE, FAMILY, LONE_PARENT, SHARED = range(5)
ELDERLY_ALONE, ELDERLY_COUPLE, THREE_GENERATIONS = range(5, 8)
HEAD, PARTNER, GRANDPARENT, CHILD, SHARER = range(5)
IN_WORK = 5
"""Activities with a smaller number are work."""
SELF_EMPLOYED = (3, 4)
NOT_IN_WORK = 22
"""The occupation of those who do not work."""

_OLDEST = 104
_OLDEST_AT_HOME = 34
_GAP, _WIDEST_GAP = 18, 45
_GROUPS_WITH_LARGE_FAMILIES = (3, 7, 11)
_NORLANDIC_AND_MERIDIAN, _NORLANDIC_AND_ISLANDER, _OTHER_MIXED, _ANY_OTHER = range(14, 18)
_NORLANDIC, _VESTRIAN, _MERIDIAN, _ISLANDER, _OTHER = range(5)
_FIRST_ABROAD = 3
_NEVER_MARRIED, _MARRIED, _CIVIL_PARTNERSHIP = range(3)
_BANDS_OF_COUPLES = (18, 20, 25, 35, 45, 55, 65, 75)
_COHABITING, _LIVES_ALONE, _WITH_CHILDREN, _AT_HOME = range(4)
_STUDENT_WITH_JOB, _STUDENT, _RETIRED, _UNDER_16 = 2, 7, 8, 12
_STILL_AT_SCHOOL = 0
_BANDS_AT_WORK = (18, 21, 25, 35, 50, 60, 65, 70, 75)

_DISTRICTS = tables("districts")
_HOUSEHOLDS = tables("households")
_ORIGINS = tables("origins")
_LIVES = tables("lives")
_WORK = tables("work")

NATION: Integers = _DISTRICTS["districts"][:, 1]
SETTING: Integers = _DISTRICTS["districts"][:, 2]


def _chances_of_origins() -> Chances:
    at_home = _DISTRICTS["at home"][NATION]
    from_afar = _DISTRICTS["from afar"] * _DISTRICTS["spread"][SETTING][:, np.newaxis]
    table = np.concatenate([at_home, from_afar], axis=1)
    districts, groups = CATEGORIES["Place of residence"], CATEGORIES["Ethnic group"]
    for district, gathered in listed("gathering").items():
        for group, times in gathered.items():
            table[districts.index(district), groups.index(group)] *= times
    return Chances(table)


def _chances_of_oldest_gaps() -> Chances:
    """Return the chances of the gap to the oldest child, by the age of the younger parent."""
    (gaps,), (staying,) = _HOUSEHOLDS["gap of the oldest"], _HOUSEHOLDS["staying"]
    table = np.zeros((_OLDEST + 1, len(gaps)), dtype=np.int64)
    for age in range(_OLDEST + 1):
        for step, weight in enumerate(gaps):
            child = age - _GAP - step
            if 0 <= child <= _OLDEST_AT_HOME:
                table[age, step] = weight * staying[child]
        if not table[age].any():
            table[age, -1 if age > _GAP else 0] = 1
    return Chances(table)


def _chances_of_religions() -> Chances:
    religions, leaving = _ORIGINS["religions"], _ORIGINS["leaving"]
    table = np.repeat(religions * 10, len(leaving), axis=0)
    table[:, 0] = table[:, 0] // 10 * np.tile(leaving, len(religions))
    return Chances(table)


def _chances_of_activities() -> Chances:
    factors = zip(
        np.split(_WORK["activities"], 2),
        np.split(_WORK["activities by dependants"], 2),
        strict=True,
    )
    by_sex = np.concatenate([crossed(*of_sex) for of_sex in factors])
    return Chances(crossed(by_sex, _WORK["activities by health"], _WORK["activities by sharing"]))


def _chances_of_occupations() -> Chances:
    women = _WORK["women of 20"]
    return Chances(
        crossed(
            _WORK["occupations"],
            np.stack([women, 20 - women]),
            _WORK["occupations by activity"],
            _WORK["occupations by age"],
            _WORK["occupations by setting"],
        )
    )


_HOME_DISTRICTS = Chances(_DISTRICTS["districts"][:, 0])
_MEANS = Chances(_DISTRICTS["districts"][:, 3:])
_ORIGINS_OF_DISTRICTS = _chances_of_origins()
_KINDS = Chances(_HOUSEHOLDS["kinds"])
_HEAD_AGES = Chances(_HOUSEHOLDS["ages of heads"])
_N_CHILDREN = Chances(
    np.concatenate([_HOUSEHOLDS["children"], _HOUSEHOLDS["children"] * np.arange(1, 9) ** 2])
)
_SHARERS = Chances(_HOUSEHOLDS["sharers"])
_FEMALE_HEADS = _HOUSEHOLDS["female heads"]
_SAME_SEX = _HOUSEHOLDS["same sex"]
_PARTNER_AGES = Chances(
    np.concatenate([_HOUSEHOLDS["older man"], _HOUSEHOLDS["older man"][:, ::-1]])
)
_SPACINGS = Chances(_HOUSEHOLDS["spacings"])
_GRANDPARENT_GAPS = Chances(_HOUSEHOLDS["grandparent gaps"])
_OLDEST_GAPS = _chances_of_oldest_gaps()
_BROAD = _ORIGINS["broad groups"]
_BIRTHS = Chances(_ORIGINS["births"])
_RELIGIONS = _chances_of_religions()
_HEALTH = Chances(crossed(_LIVES["health"], _LIVES["health by means"]))
_WITHOUT_SPOUSE = Chances(
    crossed(
        _LIVES["without spouse"],
        _LIVES["without spouse by context"],
        _LIVES["without spouse by sex"],
    )
)
_ACTIVITIES = _chances_of_activities()
_QUALIFICATIONS = Chances(
    crossed(
        _WORK["qualifications"], _WORK["qualifications by means"], _WORK["qualifications by sex"]
    )
)
_OCCUPATIONS = _chances_of_occupations()


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


def draw_households(draws: Draws, number: int) -> Households:
    """Draw so many households."""
    anywhere = np.zeros(number, dtype=np.int64)
    place = _HOME_DISTRICTS.draw(draws, anywhere)
    kind = _KINDS.draw(draws, SETTING[place])
    means = _MEANS.draw(draws, place)
    origin = _ORIGINS_OF_DISTRICTS.draw(draws, place)
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


def draw_ethnic_groups(draws: Draws, homes: Households, people: People) -> Integers:
    """Draw ethnic groups: of adults by household and district, of children by their parents."""
    of_head = homes.origin[people.household]
    of_district = _ORIGINS_OF_DISTRICTS.draw(draws, homes.place[people.household])
    same = draws.happens(_ORIGINS["same ethnic group"][people.role])
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
    born_afar = draws.happens(_ORIGINS["born afar"][row, band_of(people.age, 16, 30, 65)])
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
    own = _RELIGIONS.draw(draws, group * 3 + band_of(people.age, 30, 60))
    same = draws.happens(_ORIGINS["same religion"][people.role])
    return np.where(same, own[people.head], own)


def draw_health(draws: Draws, homes: Households, people: People) -> Integers:
    """Draw general health by age and the means of the household."""
    band = band_of(people.age, 16, 30, 45, 55, 65, 75, 85)
    return _HEALTH.draw(draws, band * 3 + homes.means[people.household])


def draw_marital_status(draws: Draws, homes: Households, people: People) -> Integers:
    """Draw marital status; a couple has one status, or each their own where they cohabit."""
    band = band_of(people.age, *_BANDS_OF_COUPLES)
    partnered = homes.has_partner[people.household] & np.isin(people.role, (HEAD, PARTNER))
    partner_at = np.minimum(people.head + 1, len(band) - 1)
    parents = (homes.n_extra[people.household] > 0).astype(np.int64)
    younger = np.minimum(band[people.head], band[partner_at])
    same_sex = people.sex[people.head] == people.sex[partner_at]
    # Drawn for everyone, and taken from the head, so that each household stands alone.
    legal = draws.happens(_LIVES["married couples"][parents, younger] * 10)[people.head]
    civil = draws.happens(np.where(same_sex, 420, 15))[people.head]
    of_couple = np.where(civil, _CIVIL_PARTNERSHIP, _MARRIED)

    lone_parent = (homes.kind[people.household] == LONE_PARENT) & (people.role == HEAD)
    context = np.select(
        [partnered, lone_parent, people.role == CHILD],
        [_COHABITING, _WITH_CHILDREN, _AT_HOME],
        _LIVES_ALONE,
    )
    single = _WITHOUT_SPOUSE.draw(draws, (band * 4 + context) * 2 + people.sex)
    status = np.where(partnered & legal, of_couple, single)
    return np.where(people.age < 16, _NEVER_MARRIED, status)


def count_dependants(homes: Households, people: People) -> Integers:
    """Return for each parent the number of children under 18 at home, and 0 for all others."""
    dependant = (people.role == CHILD) & (people.age < 18)
    number = np.bincount(people.household[dependant], minlength=len(homes.kind))
    return np.where(np.isin(people.role, (HEAD, PARTNER)), number[people.household], 0)


def draw_activities(
    draws: Draws, homes: Households, people: People, health: Integers, dependants: Integers
) -> Integers:
    """Draw economic activity by age, sex, dependants, health and way of living."""
    row = people.sex * 10 + band_of(people.age, *_BANDS_AT_WORK)
    row = row * 2 + (dependants > 0)
    row = row * 3 + band_of(health, 2, 3)
    row = row * 2 + (homes.kind[people.household] == SHARED)
    drawn = _ACTIVITIES.draw(draws, row)
    return np.where(people.age < 16, _UNDER_16, drawn)


def draw_qualifications(
    draws: Draws, homes: Households, people: People, activity: Integers
) -> Integers:
    """Draw the highest qualification by age, sex, studies and the means of the household."""
    student = np.isin(activity, (_STUDENT_WITH_JOB, _STUDENT))
    row = student * 7 + band_of(people.age, 18, 21, 25, 35, 50, 65)
    row = (row * 3 + homes.means[people.household]) * 2 + people.sex
    drawn = _QUALIFICATIONS.draw(draws, row)
    return np.where(people.age < 16, _STILL_AT_SCHOOL, drawn)


def draw_occupations(
    draws: Draws, homes: Households, people: People, activity: Integers, qualification: Integers
) -> Integers:
    """Draw occupation by qualification, sex, activity, age and setting."""
    row = _WORK["levels"][qualification] * 2 + people.sex
    row = row * 5 + np.minimum(activity, IN_WORK - 1)
    row = row * 3 + band_of(people.age, 20, 30)
    row = row * 4 + SETTING[homes.place[people.household]]
    drawn = _OCCUPATIONS.draw(draws, row)
    return np.where(activity < IN_WORK, drawn, NOT_IN_WORK)


def draw_incomes(
    draws: Draws,
    homes: Households,
    people: People,
    activity: Integers,
    qualification: Integers,
    occupation: Integers,
) -> Integers:
    """Draw income in crowns a year."""
    pay = _WORK["pay"][occupation] * 1000 * _WORK["part of pay"][activity] // 100
    pay = pay * _WORK["pay by age"][band_of(people.age, *_BANDS_AT_WORK)] // 100
    pay = pay * _WORK["pay by sex"][people.sex] // 100
    pension = np.where(activity == _RETIRED, _WORK["pension"][qualification], 0)
    usual = pay + pension + _WORK["without pay"][activity]
    usual *= _WORK["income by means"][homes.means[people.household]]
    chance = draws.raw(len(usual))
    part, within = chance >> 28, (chance >> 12) & 0xFFFF
    (spread,) = _WORK["spread of incomes"]
    share = spread[part] + (((spread[part + 1] - spread[part]) * within) >> 16)
    return usual * share // 100_000
