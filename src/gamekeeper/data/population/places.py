"""The districts of Norland: how many live there, how they live and where they come from."""

from __future__ import annotations

import numpy as np

from gamekeeper.data.population.chances import Chances, Integers, weights

CAPITAL, TOWN, COUNTRY, ISLAND = range(4)

# Households per thousand; nation (Ardmoor, Breskland, Corvane); setting; then of a hundred
# households how many have low, middling and high means.
_TABLE = """
    Tarnwick:       38 0 1 40 40 20
    Ostlery:        25 0 2 35 45 20
    Grimsholt:      48 0 1 52 37 11
    Larkenby:       52 0 1 25 45 30
    Dunmarrow:      35 0 2 25 50 25
    Pellowick:      44 0 1 18 45 37
    Saltry:         40 0 1 32 46 22
    Evenholm:       33 0 2 14 42 44
    Marlock:        58 0 1 38 42 20
    Quellin Centre: 75 0 0 28 27 45
    Quellin Heath:  82 0 0 12 34 54
    Quellin Docks:  90 0 0 55 31 14
    Skelmire:       42 1 1 50 37 13
    Orrindale:      20 1 2 28 48 24
    Fennick:        28 1 2 36 46 18
    Brackenhow:     36 1 1 30 46 24
    Tollmere:       62 1 1 34 42 24
    Port Illary:    55 1 1 47 40 13
    Sandrick:       24 1 2 26 46 28
    Corvane City:   70 2 1 32 38 30
    Glasmoor:       18 2 2 30 48 22
    Tivenhall:      16 2 2 27 47 26
    Great Isle:      9 2 3 34 48 18
    Outer Isles:     3 2 3 52 40  8
"""

DISTRICTS: tuple[str, ...] = tuple(
    line.partition(":")[0].strip() for line in _TABLE.strip().splitlines()
)
_FIGURES = weights(_TABLE)
NATION: Integers = _FIGURES[:, 1]
SETTING: Integers = _FIGURES[:, 2]
HOME_DISTRICTS = Chances(_FIGURES[:, 0])
"""The chances of the district of a household."""
MEANS = Chances(_FIGURES[:, 3:])
"""The chances of low, middling and high means by district."""

# Of ten thousand: Ardish, Bresk and Corvanian by nation, then all other ethnic groups in the
# order of their labels, which are as many times more in each setting.
_AT_HOME = weights("""
    Ardmoor:   8500  500  250
    Breskland: 1500 7200  200
    Corvane:   1500  250 7300
""")
_FROM_AFAR = weights("8 60 80 50 60 45 25 80 60 25 12 18 15 12 15")[0]
_SPREAD = np.array([8, 3, 1, 1])

# Ethnic groups gather: district, ethnic group, how many times more.
_GATHERED = (
    ("Grimsholt", 10, 6),
    ("Larkenby", 10, 4),
    ("Marlock", 11, 8),
    ("Quellin Centre", 6, 4),
    ("Quellin Heath", 12, 5),
    ("Quellin Docks", 7, 5),
    ("Quellin Docks", 11, 3),
    ("Tollmere", 5, 6),
    ("Port Illary", 8, 7),
    ("Fennick", 3, 30),
    ("Dunmarrow", 3, 15),
    ("Corvane City", 4, 5),
    ("Great Isle", 13, 9),
)


def _origins() -> Chances:
    table = np.concatenate([_AT_HOME[NATION], _FROM_AFAR * _SPREAD[SETTING][:, np.newaxis]], axis=1)
    for district, group, times in _GATHERED:
        table[DISTRICTS.index(district), group] *= times
    return Chances(table)


ORIGINS = _origins()
"""The chances of ethnic groups by district."""
