"""The population of Norland, a country that does not exist, and random samples of it.

People live in households, and what is true of them hangs together as it does in a census: ages
within a household, marital status with age, work with sex, age, health and children, income with
occupation, homes with place, means and household, origin with district and family. Nothing was
estimated from real people; all shares are invented.

Households are drawn in blocks, so memory beyond the table itself does not grow with the number of
people, and all households but the last are the same whatever the number of people asked for.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from fractions import Fraction
from numbers import Integral

import numpy as np
from numpy.typing import NDArray

from gamekeeper.arrow import pa
from gamekeeper.data import people as norland
from gamekeeper.data.people import CATEGORIES, HOUSEHOLD, Draws, Households, Integers, People
from gamekeeper.errors import InputError, Problem, Reason, refuse
from gamekeeper.prompt_syntax import FractionLike, parse_fraction
from gamekeeper.wording import did_you_mean

WEIGHT = "Weight"
"""The column with the design weights of a sample."""

_HOUSEHOLDS_PER_BLOCK = 8192
_WIDTH_OF_INCOME_BAND = 5_000
_CAR_AS_DRIVER, _CAR_AS_PASSENGER, _NOT_IN_WORK = 8, 9, 11
_FARMERS = 13
_DESKS = (0, 2, 3, 4, 5, 6, 8, 9, 10, 17)

# Of each kind of household: alone, a couple, with children, sharing.
_WAY = np.zeros(8, dtype=np.int64)
_WAY[[norland.ALONE, norland.ELDERLY_ALONE]] = 0
_WAY[[norland.COUPLE, norland.ELDERLY_COUPLE]] = 1
_WAY[[norland.FAMILY, norland.LONE_PARENT, norland.THREE_GENERATIONS]] = 2
_WAY[norland.SHARED] = 3
_TENURE_GROUP = np.array([0, 0, 0, 1, 2, 2])

_HOMES = norland.tables("homes")
_TENURES = norland.Chances(
    norland.crossed(
        _HOMES["tenures"],
        _HOMES["tenures by means"],
        _HOMES["tenures by way"],
        _HOMES["tenures by place"],
    )
)
_DWELLINGS = norland.Chances(
    norland.crossed(
        _HOMES["dwellings"],
        _HOMES["dwellings by means"],
        _HOMES["dwellings by way"],
        _HOMES["dwellings by tenure"],
    )
)
_CARS = norland.Chances(
    norland.crossed(_HOMES["cars"], _HOMES["cars by income"], _HOMES["cars by setting"])
)
_TRAVEL = norland.Chances(
    norland.crossed(
        _HOMES["travel"],
        _HOMES["travel by cars"],
        _HOMES["travel by work"],
        _HOMES["travel by business"],
    )
)


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
    block = 0
    while n_people > 0:
        draws = Draws(int(seed), block)
        # No home is empty, so there are at most as many households as people left.
        homes = norland.draw_households(draws, min(n_people, _HOUSEHOLDS_PER_BLOCK)).first(n_people)
        n_people -= int(homes.size.sum())
        yield block, draws, homes
        block += 1


def _described(draws: Draws, homes: Households) -> tuple[Integers, dict[str, Integers]]:
    """Return the household of each person of a block, and the code of each in each variable."""
    people = norland.draw_people(draws, homes)
    at = people.household
    group = norland.draw_ethnic_groups(draws, homes, people)
    birth = norland.draw_births(draws, homes, people, group)
    religion = norland.draw_religions(draws, people, group)
    health = norland.draw_health(draws, homes, people)
    marital_status = norland.draw_marital_status(draws, homes, people)
    dependants = norland.count_dependants(homes, people)
    activity = norland.draw_activities(draws, homes, people, health, dependants)
    qualification = norland.draw_qualifications(draws, homes, people, activity)
    occupation = norland.draw_occupations(draws, homes, people, activity, qualification)
    income = norland.draw_incomes(draws, homes, people, activity, qualification, occupation)
    tenure = _draw_tenures(draws, homes)
    dwelling = _draw_dwellings(draws, homes, tenure)
    cars = _draw_cars(draws, homes, people, income)
    travel = _draw_travel(draws, homes, people, cars, activity, occupation)
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
    columns = {HOUSEHOLD: pa.array(household)}
    for position, (name, labels) in enumerate(CATEGORIES.items()):
        indices = pa.array(codes[position], mask=None if gaps is None else gaps[position])
        columns[name] = pa.DictionaryArray.from_arrays(indices, pa.array(labels, pa.string()))
    return pa.table(columns)


def _draw_tenures(draws: Draws, homes: Households) -> Integers:
    row = norland.band_of(homes.head_age, 25, 35, 50, 65) * 3 + homes.means
    row = (row * 4 + _WAY[homes.kind]) * 2 + (norland.SETTING[homes.place] == norland.CAPITAL)
    return _TENURES.draw(draws, row)


def _draw_dwellings(draws: Draws, homes: Households, tenure: Integers) -> Integers:
    row = norland.SETTING[homes.place] * 3 + homes.means
    row = (row * 4 + _WAY[homes.kind]) * 3 + _TENURE_GROUP[tenure]
    return _DWELLINGS.draw(draws, row)


def _draw_cars(
    draws: Draws,
    homes: Households,
    people: People,
    income: Integers,
) -> Integers:
    starts = np.flatnonzero(people.head == np.arange(len(people.head)))
    together = np.add.reduceat(income, starts)
    adults = np.add.reduceat((people.age >= 17).astype(np.int64), starts)
    row = (np.clip(adults, 1, 3) - 1) * 5 + norland.band_of(
        together, 12_000, 25_000, 40_000, 60_000
    )
    return _CARS.draw(draws, row * 4 + norland.SETTING[homes.place])


def _draw_travel(
    draws: Draws,
    homes: Households,
    people: People,
    cars: Integers,
    activity: Integers,
    occupation: Integers,
) -> Integers:
    """Draw the means of travel to work; nobody under 17 drives a car."""
    work = np.where(occupation == _FARMERS, 2, np.isin(occupation, _DESKS))
    row = norland.SETTING[homes.place[people.household]] * 3 + np.minimum(cars[people.household], 2)
    row = (row * 3 + work) * 2 + np.isin(activity, norland.SELF_EMPLOYED)
    drawn = _TRAVEL.draw(draws, row)
    driven = (people.age < 17) & (drawn == _CAR_AS_DRIVER)
    drawn = np.where(driven, _CAR_AS_PASSENGER, drawn)
    return np.where(activity < norland.IN_WORK, drawn, _NOT_IN_WORK)


def sample_population(
    table: pa.Table, fraction: float | str | Fraction, *, seed: int, stratify_by: str = ""
) -> pa.Table:
    """Draw a random sample without replacement, in file order, and add its design weights.

    Parameters
    ----------
    fraction
        The sampling fraction, above 0 and up to 1; a float means its shortest decimal form, so
        that 0.02 is 1/50. '2%' and '1/50' can be given too.
    seed
        One seed gives one sample of a table, on every platform.
    stratify_by
        The variable whose categories are the strata; missing values are a stratum too. Without
        it the sample is simple. Each stratum gives its share of the sample, up to rounding, and
        at least one person, so that its weights can sum to the people in it.

    Returns
    -------
    pyarrow.Table
        The rows in the sample with the column 'Weight': people per sampled person, by stratum.

    Examples
    --------
    >>> from gamekeeper.data.population import make_population
    >>> sample = sample_population(make_population(1000), 0.02, seed=1)
    >>> sample.num_rows, sum(sample["Weight"].to_pylist())
    (20, 1000.0)
    """
    exact = _exact(fraction)
    _check_sample(table, exact, seed, stratify_by)
    stratum = _strata(table, stratify_by)
    sizes = np.bincount(stratum)
    taken = _shares(sizes, exact)
    # A stable sort by stratum, then by chance, puts those to be taken first in their stratum.
    chance = np.random.PCG64(np.random.SeedSequence(int(seed))).random_raw(table.num_rows)
    order = np.lexsort((chance, stratum))
    rank = np.arange(len(order)) - np.repeat(np.cumsum(sizes) - sizes, sizes)
    chosen = np.sort(order[rank < np.repeat(taken, sizes)])
    weight = (sizes / taken)[stratum[chosen]]
    return table.take(pa.array(chosen)).append_column(WEIGHT, pa.array(weight))


def _exact(fraction: FractionLike) -> Fraction:
    """Return the sampling fraction, or 0 where it is none."""
    try:
        return parse_fraction(fraction)
    except InputError:
        return Fraction(0)


def _check_sample(table: pa.Table, fraction: Fraction, seed: object, stratify_by: str) -> None:
    names: list[str] = table.column_names
    problems: list[Problem] = []
    if not table.num_rows:
        problems.append(Problem(Reason.NOTHING_GIVEN, "table", "It has no rows."))
    if not fraction:
        found = "It is not a number above 0 and up to 1."
        problems.append(Problem(Reason.BAD_OPTION, "fraction", found, "Write 0.02, 1/50 or 2%."))
    if not isinstance(seed, Integral) or seed < 0:
        found = "It is not a whole number of 0 or more."
        problems.append(Problem(Reason.BAD_OPTION, "seed", found, "Give such a number."))
    if stratify_by and stratify_by not in names:
        found = f"The table has no column '{stratify_by}'."
        near = did_you_mean(stratify_by, names)
        problems.append(Problem(Reason.UNKNOWN_NAME, "stratify_by", found, near))
    if WEIGHT in names:
        found = f"It has a column '{WEIGHT}' already."
        problems.append(Problem(Reason.DUPLICATE, "table", found, "Rename or drop that column."))
    refuse(
        problems,
        "A sample of a population was asked for.",
        "What was given cannot be used.",
        "Correct these:",
    )


def _strata(table: pa.Table, stratify_by: str) -> NDArray[np.int64]:
    """Return the number of the stratum of each row, in the order of first appearance."""
    if not stratify_by:
        return np.zeros(table.num_rows, dtype=np.int64)
    column = table[stratify_by].combine_chunks()
    if hasattr(column, "dictionary_decode"):
        column = column.dictionary_decode()
    encoded = column.dictionary_encode(null_encoding="encode")
    return encoded.indices.to_numpy(zero_copy_only=False).astype(np.int64)


def _shares(sizes: NDArray[np.int64], fraction: Fraction) -> NDArray[np.int64]:
    """Return how many to take of each stratum: whole shares, then by largest remainder."""
    exact = [int(size) * fraction for size in sizes]
    whole = [math.floor(share) for share in exact]
    wanted = math.floor(sum(exact) + Fraction(1, 2))
    remainders = sorted(range(len(exact)), key=lambda at: (whole[at] - exact[at], at))
    for at in remainders[: wanted - sum(whole)]:
        whole[at] += 1
    return np.maximum(np.array(whole, dtype=np.int64), 1)
