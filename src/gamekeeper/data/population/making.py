"""The population of Norland, a country that does not exist.

People live in households, and what is true of them hangs together as it does in a census: ages
within a household, marital status with age, work with sex, age, health and children, income with
occupation, homes with place, means and household, origin with district and family. Nothing was
estimated from real people; all shares are invented.

Households are drawn in blocks, so memory beyond the table itself does not grow with the number of
people, and all households but the last are the same whatever the number of people asked for.
"""

from __future__ import annotations

from collections.abc import Iterator
from numbers import Integral
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from gamekeeper.data.population.chances import Draws, Integers
from gamekeeper.data.population.homes import draw_cars, draw_dwellings, draw_tenures, draw_travel
from gamekeeper.data.population.households import Households, draw_households, draw_people
from gamekeeper.data.population.labels import CATEGORIES, HOUSEHOLD
from gamekeeper.data.population.lives import count_dependants, draw_health, draw_marital_status
from gamekeeper.data.population.origins import draw_births, draw_ethnic_groups, draw_religions
from gamekeeper.data.population.work import (
    draw_activities,
    draw_incomes,
    draw_occupations,
    draw_qualifications,
)
from gamekeeper.errors import InputError, Problem, Reason

if TYPE_CHECKING:
    import pyarrow as pa

_HOUSEHOLDS_PER_BLOCK = 8192
_WIDTH_OF_INCOME_BAND = 5_000


def make_population(n_people: int, *, seed: int = 2026, missing: float = 0.0) -> pa.Table:
    """Make an invented population with households.

    Parameters
    ----------
    n_people
        The number of people, 1 or more. The last household is made to fit.
    seed
        One seed gives one population, on every platform.
    missing
        The chance, from 0 to below 1, that a value is missing: the same for every variable and
        person, whatever the value. The number of the household is never missing.

    Returns
    -------
    pyarrow.Table
        One row per person, household after household: the integer column 'Household', then a
        dictionary-encoded text column for each variable of `CATEGORIES`. A dictionary holds all
        categories of its variable, also those that nobody has.

    Examples
    --------
    >>> people = make_population(1000)
    >>> people.num_rows, people.num_columns
    (1000, 19)
    >>> people["Sex"].unique().to_pylist()
    ['female', 'male']
    """
    _check(n_people, seed, missing)
    household = np.empty(n_people, dtype=np.int64)
    codes = np.empty((len(CATEGORIES), n_people), dtype=np.int8)
    gaps = np.zeros(codes.shape, dtype=np.bool_) if missing else None
    start = 0
    for block, draws, homes in _blocks(n_people, seed):
        numbers, columns = _described(draws, homes)
        end = start + len(numbers)
        household[start:end] = numbers + 1 + block * _HOUSEHOLDS_PER_BLOCK
        for position, name in enumerate(CATEGORIES):
            codes[position, start:end] = columns[name]
            if gaps is not None:
                gaps[position, start:end] = draws.raw(end - start) < int(missing * (1 << 32))
        start = end
    return _table(household, codes, gaps)


def _check(n_people: object, seed: object, missing: object) -> None:
    problems: list[Problem] = []
    if not isinstance(n_people, Integral) or n_people < 1:
        found = "It is not a whole number of 1 or more."
        problems.append(Problem(Reason.BAD_OPTION, "n_people", found, "Ask for 1 person or more."))
    if not isinstance(seed, Integral) or seed < 0:
        found = "It is not a whole number of 0 or more."
        problems.append(Problem(Reason.BAD_OPTION, "seed", found, "Give such a number."))
    if not isinstance(missing, (int, float)) or not 0 <= missing < 1:
        found = "It is not a share from 0 to below 1."
        problems.append(Problem(Reason.BAD_OPTION, "missing", found, "Give a share such as 0.02."))
    if problems:
        raise InputError(
            Reason.BAD_OPTION,
            "An invented population was asked for.",
            "Some of its options cannot be used.",
            "Correct these:",
            problems=problems,
        )


def _blocks(n_people: int, seed: int) -> Iterator[tuple[int, Draws, Households]]:
    """Yield blocks of households that hold so many people in all."""
    block = 0
    while n_people > 0:
        draws = Draws(int(seed), block)
        # No home is empty, so there are at most as many households as people left.
        homes = draw_households(draws, min(n_people, _HOUSEHOLDS_PER_BLOCK)).first(n_people)
        n_people -= int(homes.size.sum())
        yield block, draws, homes
        block += 1


def _described(draws: Draws, homes: Households) -> tuple[Integers, dict[str, Integers]]:
    """Return the household of each person of a block, and the code of each in each variable."""
    people = draw_people(draws, homes)
    at = people.household
    group = draw_ethnic_groups(draws, homes, people)
    birth = draw_births(draws, homes, people, group)
    religion = draw_religions(draws, people, group)
    health = draw_health(draws, homes, people)
    marital_status = draw_marital_status(draws, homes, people)
    dependants = count_dependants(homes, people)
    activity = draw_activities(draws, homes, people, health, dependants)
    qualification = draw_qualifications(draws, homes, people, activity)
    occupation = draw_occupations(draws, homes, people, activity, qualification)
    income = draw_incomes(draws, homes, people, activity, qualification, occupation)
    tenure = draw_tenures(draws, homes)
    dwelling = draw_dwellings(draws, homes, tenure)
    cars = draw_cars(draws, homes, people, income)
    travel = draw_travel(draws, homes, people, cars, activity, occupation)
    columns = {
        "Age": people.age,
        "Sex": people.sex,
        "Marital status": marital_status,
        "Country of birth": birth,
        "Ethnic group": group,
        "Religion": religion,
        "General health": health,
        "Dependent children": dependants,
        "Place of residence": homes.place[at],
        "Tenure": tenure[at],
        "Dwelling type": dwelling[at],
        "Household size": homes.size[at] - 1,
        "Number of cars": cars[at],
        "Economic activity": activity,
        "Occupation": occupation,
        "Highest qualification": qualification,
        "Income": income // _WIDTH_OF_INCOME_BAND,
        "Travel to work": travel,
    }
    # The last categories of age, children, household and income are open: '90+', '100000+'.
    return at, {name: np.minimum(c, len(CATEGORIES[name]) - 1) for name, c in columns.items()}


def _table(
    household: Integers, codes: NDArray[np.int8], gaps: NDArray[np.bool_] | None
) -> pa.Table:
    import pyarrow as pa

    columns = {HOUSEHOLD: pa.array(household)}
    for position, (name, labels) in enumerate(CATEGORIES.items()):
        indices = pa.array(codes[position], mask=None if gaps is None else gaps[position])
        columns[name] = pa.DictionaryArray.from_arrays(indices, pa.array(labels, pa.string()))
    return pa.table(columns)
