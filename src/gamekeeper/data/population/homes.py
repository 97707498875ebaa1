"""The homes of the people of Norland: tenure, dwelling, cars, and the way from there to work."""

from __future__ import annotations

import numpy as np

from gamekeeper.data.population.chances import Chances, Draws, Integers, band_of, crossed, weights
from gamekeeper.data.population.households import (
    ALONE,
    COUPLE,
    ELDERLY_ALONE,
    ELDERLY_COUPLE,
    FAMILY,
    LONE_PARENT,
    SHARED,
    THREE_GENERATIONS,
    Households,
    People,
)
from gamekeeper.data.population.places import CAPITAL, SETTING
from gamekeeper.data.population.work import IN_WORK, SELF_EMPLOYED

_CAR_AS_DRIVER, _CAR_AS_PASSENGER, _NOT_IN_WORK = 8, 9, 11
_FARMERS = 13
_DESKS = (0, 2, 3, 4, 5, 6, 8, 9, 10, 17)

# Of each kind of household: alone, a couple, with children, sharing.
_WAY = np.zeros(8, dtype=np.int64)
_WAY[[ALONE, ELDERLY_ALONE]] = 0
_WAY[[COUPLE, ELDERLY_COUPLE]] = 1
_WAY[[FAMILY, LONE_PARENT, THREE_GENERATIONS]] = 2
_WAY[SHARED] = 3

# Outright, with a mortgage, part owner, council or association, privately, rent free.
_TENURES = weights("""
    under 25:  20 180 20 250 500 30
    under 35:  50 450 40 170 270 20
    under 50: 120 580 20 160 110 10
    under 65: 380 380 10 140  70 20
    from 65:  660  80 10 190  40 20
""")
_TENURE_BY_MEANS = weights("""
    low:       6  6  9 22 13 14
    middling: 10 10 10 10 10 10
    high:     14 15  9  2  8  7
""")
_TENURE_BY_WAY = weights("""
    alone:          9  7 12 13 13 12
    couple:        12 12  9  6  9  9
    with children:  9 12  9 11  8  9
    sharing:        3  4  3  5 50  8
""")
_TENURE_BY_PLACE = weights("""
    elsewhere: 10 10 10 10 10 10
    capital:    7  8 20 13 17  9
""")

# Detached, semi-detached, terraced, flats in a block, in a converted house and over a shop,
# mobile home.
_DWELLINGS = weights("""
    capital:  40 140 270 390 140 18  2
    town:    170 330 300 140  40 15  5
    country: 430 310 190  25  12  8 25
    island:  520 260 160  20  10 10 20
""")
_DWELLING_BY_MEANS = weights("""
    low:       4  8 12 15 12 15 22
    middling: 10 10 10 10 10 10 10
    high:     18 11  8  6  9  5  3
""")
_DWELLING_BY_WAY = weights("""
    alone:          4  7  9 20 20 18 18
    couple:        11 10 10 10 11 11 12
    with children: 14 14 11  4  4  5  4
    sharing:        6  9 13 12 18 14  4
""")
_TENURE_GROUP = np.array([0, 0, 0, 1, 2, 2])
_DWELLING_BY_TENURE = weights("""
    owned:     13 12 10  7  7  5 12
    social:     1  9 11 20  8  4  3
    privately:  7  8 11 11 18 22 12
""")

# No car to four or more, by adults, income of the household and setting.
_CARS = weights("""
    one adult:   38 56  5  1 0
    two adults:  12 45 38  4 1
    three:        8 28 36 20 8
""")
_CARS_BY_INCOME = weights("""
    under 12000: 22  9  4  3  2
    under 25000: 14 11  7  5  4
    under 40000:  8 11 10  9  8
    under 60000:  5 10 13 13 12
    from 60000:   3  8 15 18 20
""")
_CARS_BY_SETTING = weights("""
    capital: 25 11  5  3  2
    town:    10 10 10 10 10
    country:  4  9 13 15 17
    island:   6 10 10  9  8
""")

# At home, on foot, bicycle, bus, tram, train, taxi, motorcycle, driver, passenger, other.
_TRAVEL = weights("""
    capital:  90 100 60 160 270 120 8 12 150 25  5
    town:     80 130 45 110  15  35 7 10 480 80  8
    country: 130  80 20  40   0  25 5 10 600 80 10
    island:  190 150 30  30   0   0 6  6 450 70 68
""")
_TRAVEL_BY_CARS = weights("""
    none: 10 22 20 25 18 15 30 15  1 12 15
    one:  10 10 10 10 10 10 10 10 10 10 10
    more: 12  6  8  5  7  9  5 10 16 10  8
""")
_TRAVEL_BY_WORK = weights("""
    manual: 3 12 11 12 10  7 10 12 11 13 12
    desk:  16  8 10  9 11 15 10  8 10  7  8
    land:  60 10  5  2  1  1  2 10  6  4 10
""")
_TRAVEL_BY_BUSINESS = weights("""
    employed:      10 10 10 10 10 10 10 10 10 10 10
    self-employed: 45  8  6  4  5  5  8  8 12  5 14
""")

_DRAWN_TENURES = Chances(crossed(_TENURES, _TENURE_BY_MEANS, _TENURE_BY_WAY, _TENURE_BY_PLACE))
_DRAWN_DWELLINGS = Chances(
    crossed(_DWELLINGS, _DWELLING_BY_MEANS, _DWELLING_BY_WAY, _DWELLING_BY_TENURE)
)
_DRAWN_CARS = Chances(crossed(_CARS, _CARS_BY_INCOME, _CARS_BY_SETTING))
_DRAWN_TRAVEL = Chances(crossed(_TRAVEL, _TRAVEL_BY_CARS, _TRAVEL_BY_WORK, _TRAVEL_BY_BUSINESS))


def draw_tenures(draws: Draws, homes: Households) -> Integers:
    """Draw the tenure of each household."""
    row = band_of(homes.head_age, 25, 35, 50, 65) * 3 + homes.means
    row = (row * 4 + _WAY[homes.kind]) * 2 + (SETTING[homes.place] == CAPITAL)
    return _DRAWN_TENURES.draw(draws, row)


def draw_dwellings(draws: Draws, homes: Households, tenure: Integers) -> Integers:
    """Draw the type of dwelling of each household."""
    row = SETTING[homes.place] * 3 + homes.means
    row = (row * 4 + _WAY[homes.kind]) * 3 + _TENURE_GROUP[tenure]
    return _DRAWN_DWELLINGS.draw(draws, row)


def draw_cars(draws: Draws, homes: Households, people: People, income: Integers) -> Integers:
    """Draw the number of cars of each household."""
    starts = np.flatnonzero(people.head == np.arange(len(people.head)))
    together = np.add.reduceat(income, starts)
    adults = np.add.reduceat((people.age >= 17).astype(np.int64), starts)
    row = (np.clip(adults, 1, 3) - 1) * 5 + band_of(together, 12_000, 25_000, 40_000, 60_000)
    return _DRAWN_CARS.draw(draws, row * 4 + SETTING[homes.place])


def draw_travel(
    draws: Draws,
    homes: Households,
    people: People,
    cars: Integers,
    activity: Integers,
    occupation: Integers,
) -> Integers:
    """Draw the means of travel to work; nobody under 17 drives a car."""
    work = np.where(occupation == _FARMERS, 2, np.isin(occupation, _DESKS))
    row = SETTING[homes.place[people.household]] * 3 + np.minimum(cars[people.household], 2)
    row = (row * 3 + work) * 2 + np.isin(activity, SELF_EMPLOYED)
    drawn = _DRAWN_TRAVEL.draw(draws, row)
    driven = (people.age < 17) & (drawn == _CAR_AS_DRIVER)
    drawn = np.where(driven, _CAR_AS_PASSENGER, drawn)
    return np.where(activity < IN_WORK, drawn, _NOT_IN_WORK)
