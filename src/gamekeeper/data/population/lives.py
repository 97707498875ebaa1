"""The lives of the people of Norland: health, marital status and dependent children."""

from __future__ import annotations

import numpy as np

from gamekeeper.data.population.chances import Chances, Draws, Integers, band_of, crossed, weights
from gamekeeper.data.population.households import (
    CHILD,
    HEAD,
    LONE_PARENT,
    PARTNER,
    Households,
    People,
)

_NEVER_MARRIED, _MARRIED, _CIVIL_PARTNERSHIP = range(3)
_BANDS = (18, 20, 25, 35, 45, 55, 65, 75)
_COHABITING, _ALONE, _LONE_PARENT, _AT_HOME = range(4)

# From very good to very poor, by age.
_HEALTH = weights("""
    under 16: 780 180  30   8  2
    under 30: 620 290  70  16  4
    under 45: 520 340 105  28  7
    under 55: 400 370 160  55 15
    under 65: 300 370 220  85 25
    under 75: 220 380 280  95 25
    under 85: 120 320 380 140 40
    from 85:   70 240 420 210 60
""")
_HEALTH_BY_MEANS = weights("""
    low:       8  9 12 16 18
    middling: 10 10 10 10 10
    high:     13 10  7  5  4
""")

# Of a hundred couples how many have married, by the age of the younger.
_MARRIED_COUPLES = weights("""
    childless: 4  8 18 45 62 74 86 93 96
    parents:   5 12 30 62 76 84 90 94 96
""")

# Never married, married, in a civil partnership, separated, divorced, widowed: people who do not
# live with a spouse, by age.
_WITHOUT_SPOUSE = weights("""
    16 and 17: 9930  25  0   8    4   30
    under 20:  9910  50  2  18   10   10
    under 25:  9750 120  6  70   44   10
    under 35:  8600 250 15 420  680   35
    under 45:  6000 350 20 900 2580  150
    under 55:  3900 350 20 950 4300  480
    under 65:  2500 300 15 650 4900 1635
    under 75:  1300 200  8 350 3300 4842
    from 75:    700 150  4 120 1200 7826
""")
_BY_CONTEXT = weights("""
    cohabiting:      3 0 0 2 4 1
    alone or shared: 3 3 3 3 3 3
    lone parent:     2 4 3 9 6 5
    child at home:  10 2 2 3 2 2
""")
_BY_SEX = weights("""
    female: 4 4 4 4 5 7
    male:   5 4 4 4 4 4
""")

_DRAWN_HEALTH = Chances(crossed(_HEALTH, _HEALTH_BY_MEANS))
_DRAWN_WITHOUT_SPOUSE = Chances(crossed(_WITHOUT_SPOUSE, _BY_CONTEXT, _BY_SEX))


def draw_health(draws: Draws, homes: Households, people: People) -> Integers:
    """Draw general health by age and the means of the household."""
    band = band_of(people.age, 16, 30, 45, 55, 65, 75, 85)
    return _DRAWN_HEALTH.draw(draws, band * 3 + homes.means[people.household])


def draw_marital_status(draws: Draws, homes: Households, people: People) -> Integers:
    """Draw marital status; a couple has one status, or each their own where they cohabit."""
    band = band_of(people.age, *_BANDS)
    partnered = homes.has_partner[people.household] & np.isin(people.role, (HEAD, PARTNER))
    partner_at = np.minimum(people.head + 1, len(band) - 1)
    parents = (homes.n_extra[people.household] > 0).astype(np.int64)
    younger = np.minimum(band[people.head], band[partner_at])
    same_sex = people.sex[people.head] == people.sex[partner_at]
    # Drawn for everyone, and taken from the head, so that each household stands alone.
    legal = draws.happens(_MARRIED_COUPLES[parents, younger] * 10)[people.head]
    civil = draws.happens(np.where(same_sex, 420, 15))[people.head]
    of_couple = np.where(civil, _CIVIL_PARTNERSHIP, _MARRIED)

    lone_parent = (homes.kind[people.household] == LONE_PARENT) & (people.role == HEAD)
    context = np.select(
        [partnered, lone_parent, people.role == CHILD],
        [_COHABITING, _LONE_PARENT, _AT_HOME],
        _ALONE,
    )
    single = _DRAWN_WITHOUT_SPOUSE.draw(draws, (band * 4 + context) * 2 + people.sex)
    status = np.where(partnered & legal, of_couple, single)
    return np.where(people.age < 16, _NEVER_MARRIED, status)


def count_dependants(homes: Households, people: People) -> Integers:
    """Return for each parent the number of children under 18 at home, and 0 for all others."""
    dependant = (people.role == CHILD) & (people.age < 18)
    number = np.bincount(people.household[dependant], minlength=len(homes.kind))
    return np.where(np.isin(people.role, (HEAD, PARTNER)), number[people.household], 0)
