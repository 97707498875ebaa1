"""The work of the people of Norland: activity, qualification, occupation and income."""

from __future__ import annotations

import numpy as np

from gamekeeper.data.population.chances import Chances, Draws, Integers, band_of, crossed, weights
from gamekeeper.data.population.households import SHARED, Households, People
from gamekeeper.data.population.places import SETTING

IN_WORK = 5
"""Activities with a smaller number are work."""
SELF_EMPLOYED = (3, 4)
NOT_IN_WORK = 22
"""The occupation of those who do not work."""

_STUDENT_WITH_JOB, _STUDENT, _RETIRED, _UNDER_16 = 2, 7, 8, 12
_STILL_AT_SCHOOL = 0
_BANDS = (18, 21, 25, 35, 50, 60, 65, 70, 75)

# Of a thousand, by activity in the order of the labels; women, then men, by age.
_ACTIVITIES = weights("""
    women, 16 and 17:  20  40 220  0   1 30 25 630   0   6   4 24
    under 21:         180 110 190  0   6 18 60 375   0  30  10 21
    under 25:         420 130  80  2  15  8 55 170   0  75  17 28
    under 35:         480 210  14  8  45  3 35  20   0 145  28 12
    under 50:         430 280   5 18  60  2 28   6   1 115  45 10
    under 60:         380 290   2 18  60  1 22   2  50  80  85 10
    under 65:         170 210   0 12  45  0 12   0 430  45  65 11
    under 70:          40  90   0  8  25  0  2   0 800  15  16  4
    under 75:          10  35   0  3  12  0  1   0 925   8   5  1
    from 75:            2   8   0  1   4  0  0   0 977   4   3  1
    men, 16 and 17:    35  25 190  0   3 40 35 640   0   2   5 25
    under 21:         240  60 170  1  15 25 80 370   0   5  12 22
    under 25:         500  70  70  4  35 10 80 170   0   8  20 33
    under 35:         700  50  12 20  90  4 50  22   0  12  30 10
    under 50:         690  40   3 45 115  2 38   4   1  15  42  5
    under 60:         600  55   1 50 125  1 35   1  25  17  80 10
    under 65:         390  80   0 40 110  0 25   0 220  15 105 15
    under 70:          90  70   0 22  65  0  4   0 720   5  20  4
    under 75:          25  35   0 10  35  0  1   0 880   4   8  2
    from 75:            5  10   0  4  10  0  0   0 965   2   3  1
""")
_BY_DEPENDANTS = weights("""
    women without: 11  8 10 10 10 10 10 10 10  5 10 10
    mothers:        6 15  4  8 10  5  9  4  7 22  7  7
    men without:   10 11 10 10 10 10 11 10 10 10 11 11
    fathers:       12  8  4 12 11  5  8  4  7 10  7  5
""")
_BY_HEALTH = weights("""
    good:  10 10 10 10 10 10 10 10 10 10   2  8
    fair:   8 10 10  8 10 10 12 10 10 11  25 12
    bad:    2  4  3  2  3  3  6  3 10  8 160 10
""")
_BY_SHARING = weights("""
    at home:   10 10 10 10 10 10 10 10 10 10 10 10
    sharing:    9  9 32 10 10  6 10 36  6  2  6 10
""")
_BY_SEX = [
    crossed(*factors)
    for factors in zip(np.split(_ACTIVITIES, 2), np.split(_BY_DEPENDANTS, 2), strict=True)
]
_DRAWN_ACTIVITIES = Chances(crossed(np.concatenate(_BY_SEX), _BY_HEALTH, _BY_SHARING))

_QUALIFICATIONS = weights("""
    16 and 17:            0 250 300 420  20  10   0   0   0
    under 21:             0  90 150 300 110 340  10   0   0
    under 25:             0  70 110 180 130 260  90 150  10
    under 35:             0  65  90 130 110 160 110 240  95
    under 50:             0  90 120 150 130 130 120 180  80
    under 65:             0 190 150 160 150  90  90 120  50
    from 65:              0 430 130 130 120  60  50  60  20
    students, 16 and 17: 930  5  15  50   0   0   0   0   0
    under 21:            120  5  10  75  10 720  50  10   0
    under 25:              0  2   5  20  15 520  90 330  18
    under 35:              0 10  20  50  50 250 150 330 140
    under 50:              0 10  20  50  50 250 150 330 140
    under 65:              0 10  20  50  50 250 150 330 140
    from 65:               0 10  20  50  50 250 150 330 140
""")
_QUALIFIED_BY_MEANS = weights("""
    low:      10 18 15 12 10  8  7  4  3
    middling: 10 10 10 10 10 10 10 10 10
    high:     10  4  5  8  8 12 13 18 22
""")
_QUALIFIED_BY_SEX = weights("""
    women: 10 10 10 10  5 10 11 10 10
    men:   10 10 10 10 15 10  9 10 10
""")
_DRAWN_QUALIFICATIONS = Chances(crossed(_QUALIFICATIONS, _QUALIFIED_BY_MEANS, _QUALIFIED_BY_SEX))

# By qualification, for each occupation in the order of the labels.
_LEVEL = np.array([0, 0, 0, 1, 2, 3, 4, 5, 6])
_OCCUPATIONS = weights("""
    basic or none:   6 30   0   0   1   0   6  3  5  45 10  95  45 40 75 40 110 30 110 100 170 110
    certificate:    15 55   4   2   5   3  25 22 12 110 45  75  50 28 90 60 125 60  70  70  70  50
    apprenticeship: 12 60   3   4  12   2  50 20 12  40 12 200 230 45 45 70  35 15  75  50  15  20
    upper school:   35 75  15  10  25  15  60 45 30 150 60  35  35 18 70 45 120 70  35  35  25  15
    diploma:        60 70 170  45  70  30 110 40 45 100 40  25  40 15 60 20  35 25  15  12   8   5
    first degree:  120 55  95 170 160 110  60 35 65  85 20   8  10  8 25 12  25 20   6   6   4   3
    higher degree: 150 25 170 190 220 160  25 12 45  25  6   2   3  4  8  3   6  5   1   2   1   1
""")
_WOMEN_OF_20 = weights("7 9 16 15 5 9 6 5 10 13 19 1 1 4 18 14 14 12 4 2 12 7")[0]
_BY_ACTIVITY = weights("""
    full-time:      10 10 10 10 10 10 10 10 10 10 10 10 10 10 10 10 10 10 10 10 10 10
    part-time:       3  4  9  9  4  5  5  2  8 11 14  3  2  6 16 15 20 14  4  8 20  7
    student:         0  1  0  0  0  0  1  0  2  4  1  1  1  3 10 30 40 20  2  2 12  6
    with staff:     25 40  8  1  4 20  5  0 10  1  1 20 14 25  4 20  3  1  2  6  3  1
    without staff:   4  6  4  4  8 10  9  0 50  3  4 50 15 50  4 30  3  1  2 30 10  2
""")
_BY_AGE = weights("""
    under 20:  0  2  0  0  0  0  4  0  4 10  6  8  8  9  8 14 22 14  8  2 12 14
    under 30:  3  8  9  9 11  8 11  8 12 10  8 10 10  8 10 13 13 14 10  7  9 10
    from 30:  12 11 10 11 10 11 10 11  9 10 11 10 10 11 10  8  8  8 10 12 11 10
""")
_BY_SETTING = weights("""
    capital: 14 10 10 10 11 20 10 10 20 11 11  9  6  2 10 13 10 10  6 10 12  4
    town:    10 10 10 10 10 10 10 10 10 10 10 10 10  6 10 10 10 10 10 10 10 10
    country:  9  9  9 10  9  6  9  9  8  8  9 12 10 40 10  9  9  5 10 11  9 20
    island:   7 10  9 10  7  5 10  8 12  7  8 13 10 60 11 16 10  3  7 10 10 25
""")
_OCCUPATIONS_BY_SEX = crossed(_OCCUPATIONS, np.stack([_WOMEN_OF_20, 20 - _WOMEN_OF_20]))
_DRAWN_OCCUPATIONS = Chances(crossed(_OCCUPATIONS_BY_SEX, _BY_ACTIVITY, _BY_AGE, _BY_SETTING))

_PAY = weights("68 36 46 38 47 55 33 37 31 24 23 29 32 22 20 18 18 21 25 26 17 20 0")[0] * 1000
_PART_OF_PAY = weights("100 48 28 135 85 0 0 0 0 0 0 0 0")[0]
_WITHOUT_PAY = weights("0 0 0 0 0 7000 8000 3500 12000 5500 10500 4500 0")[0]
_PENSION = weights("0 0 500 1500 2500 3000 5500 8500 12500")[0]
_PAY_BY_AGE = weights("35 55 72 92 110 108 100 85 75 65")[0]
_PAY_BY_SEX = weights("93 100")[0]
_PAY_BY_MEANS = weights("88 100 118")[0]
# Sixteen equal parts of people have incomes between these shares, in thousandths, of the usual.
_SPREAD = weights("380 520 620 690 750 800 850 900 960 1010 1070 1140 1220 1330 1500 1850 3000")[0]


def draw_activities(
    draws: Draws, homes: Households, people: People, health: Integers, dependants: Integers
) -> Integers:
    """Draw economic activity by age, sex, dependants, health and way of living."""
    row = people.sex * 10 + band_of(people.age, *_BANDS)
    row = row * 2 + (dependants > 0)
    row = row * 3 + band_of(health, 2, 3)
    row = row * 2 + (homes.kind[people.household] == SHARED)
    drawn = _DRAWN_ACTIVITIES.draw(draws, row)
    return np.where(people.age < 16, _UNDER_16, drawn)


def draw_qualifications(
    draws: Draws, homes: Households, people: People, activity: Integers
) -> Integers:
    """Draw the highest qualification by age, sex, studies and the means of the household."""
    student = np.isin(activity, (_STUDENT_WITH_JOB, _STUDENT))
    row = student * 7 + band_of(people.age, 18, 21, 25, 35, 50, 65)
    row = (row * 3 + homes.means[people.household]) * 2 + people.sex
    drawn = _DRAWN_QUALIFICATIONS.draw(draws, row)
    return np.where(people.age < 16, _STILL_AT_SCHOOL, drawn)


def draw_occupations(
    draws: Draws, homes: Households, people: People, activity: Integers, qualification: Integers
) -> Integers:
    """Draw occupation by qualification, sex, activity, age and setting."""
    row = _LEVEL[qualification] * 2 + people.sex
    row = row * 5 + np.minimum(activity, IN_WORK - 1)
    row = row * 3 + band_of(people.age, 20, 30)
    row = row * 4 + SETTING[homes.place[people.household]]
    drawn = _DRAWN_OCCUPATIONS.draw(draws, row)
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
    pay = _PAY[occupation] * _PART_OF_PAY[activity] // 100
    pay = pay * _PAY_BY_AGE[band_of(people.age, *_BANDS)] // 100
    pay = pay * _PAY_BY_SEX[people.sex] // 100
    pension = np.where(activity == _RETIRED, _PENSION[qualification], 0)
    usual = (pay + pension + _WITHOUT_PAY[activity]) * _PAY_BY_MEANS[homes.means[people.household]]
    chance = draws.raw(len(usual))
    part, within = chance >> 28, (chance >> 12) & 0xFFFF
    share = _SPREAD[part] + (((_SPREAD[part + 1] - _SPREAD[part]) * within) >> 16)
    return usual * share // 100_000
