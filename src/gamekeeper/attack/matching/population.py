"""The classes of a sample in its population: how many records and how many people each has."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from gamekeeper.algorithms.class_numbers import class_numbers
from gamekeeper.data.coding.alignment import aligned
from gamekeeper.data.keys.counting import count_keys
from gamekeeper.data.keys.key_table import KeyTable
from gamekeeper.data.keys.listed_records import ListedRecords
from gamekeeper.data.keys.missing import Missing
from gamekeeper.errors import InputError, Problem, Reason, refuse
from gamekeeper.wording import count_of, quoted

if TYPE_CHECKING:
    from numpy.typing import NDArray


@dataclass(frozen=True, repr=False, eq=False)
class MatchedClasses:
    """Every class that the population has.

    Attributes
    ----------
    sample, population
        The counts f and F of each class.
    of_key
        The number of the class of each key of the sample, in the order of its `classes()`.
    keys
        The counted keys of the sample, coded as the population is.
    listed
        The records of the sample as rows, coded as they were given.
    """

    sample: NDArray[np.int64]
    population: NDArray[np.int64]
    of_key: NDArray[np.int64]
    keys: KeyTable
    listed: ListedRecords

    @cached_property
    def of_record(self) -> NDArray[np.int64]:
        """The number of the class of each listed record of the sample."""
        if not self.listed.by_key:
            rows = self.keys.class_numbers()
            return self.of_key[rows[rows >= 0]]
        known, asked = class_numbers(_class_counts(self.keys)[0], self._codes())
        place = np.zeros(len(known), dtype=np.int64)
        place[known] = self.of_key
        return place[asked]

    def _codes(self) -> NDArray[np.int64]:
        """Return the codes of listed records as the population has them, by their words."""
        given = self.listed.table
        codes = self.listed.codes().astype(np.int64)
        for place, name in enumerate(given.keys):
            new = {
                word: code for code, word in enumerate(self.keys.coded.codebook[name].words[1:], 1)
            }
            own = [0, *(new[word] for word in given.coded.codebook[name].words[1:])]
            codes[:, place] = np.array(own)[codes[:, place]]
        return codes

    def __repr__(self) -> str:
        return f"MatchedClasses({len(self.sample):,} classes)"


def match_classes(key_table: KeyTable, population: KeyTable) -> MatchedClasses:
    """Return the classes of a sample and its population, by the words of their categories.

    Examples
    --------
    >>> from gamekeeper.data.coding.coded_table import coded_from_codes
    >>> from gamekeeper.data.keys.counting import count_keys
    >>> people = coded_from_codes([[1], [1], [2]], ["sex"], [("missing", "m", "w")])
    >>> sample = coded_from_codes([[1]], ["sex"], [("missing", "w")])
    >>> found = match_classes(count_keys(sample, ["sex"]), count_keys(people, ["sex"]))
    >>> found.sample.tolist(), found.population.tolist()
    ([0, 1], [2, 1])
    """
    check_policy(key_table)
    problems: list[Problem] = []
    for one, other, where in (
        (key_table.keys, population.keys, "only in the sample"),
        (population.keys, key_table.keys, "only in the population"),
    ):
        lacking = [name for name in one if name not in other]
        if lacking:
            problems.append(Problem(Reason.UNKNOWN_NAME, f"key variables {where}", quoted(lacking)))
    if key_table.missing != population.missing:
        found = f"'{key_table.missing}' in the sample, '{population.missing}' in the population."
        problems.append(Problem(Reason.BAD_OPTION, "missing cells", found))
    refuse(
        problems,
        "A sample was to be matched with its population.",
        "They are not counted alike:",
        "Count both with the same key variables and the same treatment of missing cells.",
    )
    tables = aligned(key_table.coded, population.coded, list(key_table.keys))
    counted = [
        given
        if coded is given.coded and given.keys == key_table.keys
        else count_keys(coded, key_table.keys, missing=key_table.missing)
        for coded, given in zip(tables, (key_table, population), strict=True)
    ]
    (sample_codes, f), (people_codes, people) = (_class_counts(table) for table in counted)
    of_sample, of_people = class_numbers(sample_codes, people_codes)
    n_classes = max(int(of_sample.max(initial=-1)), int(of_people.max(initial=-1))) + 1
    by_sample, by_people = (np.zeros(n_classes, np.int64) for _ in range(2))
    by_sample[of_sample] = f
    by_people[of_people] = people
    check_contained(by_sample, by_people)
    return MatchedClasses(by_sample, by_people, of_sample, counted[0], key_table.listed)


def check_contained(sample: NDArray[np.int64], population: NDArray[np.int64]) -> None:
    """Refuse a sample that has more records of a class than the population has people."""
    outside = np.maximum(sample - population, 0)
    if outside.any():
        n_classes = int(np.count_nonzero(outside))
        n_absent = int(np.count_nonzero(population[sample > 0] == 0))
        raise InputError(
            Reason.BAD_OPTION,
            "A sample was to be matched with its population.",
            f"{count_of(n_classes, 'class', 'classes')} of the sample "
            f"{'has' if n_classes == 1 else 'have'} more records than people in the population, "
            f"{count_of(int(outside.sum()), 'record')} too many in all; {n_absent:,} of these "
            "classes have nobody there.",
            "Give the population that the sample was drawn from, coded alike.",
        )


def _class_counts(table: KeyTable) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    found = table.classes()
    n_keys = len(table.keys)
    columns = [found.column(place).to_numpy() for place in range(n_keys)]
    return np.column_stack(columns), found.column(n_keys).to_numpy()


def check_policy(key_table: KeyTable) -> None:
    """Refuse a treatment of missing cells that does not divide the records into classes."""
    if key_table.missing not in (Missing.CATEGORY, Missing.EXCLUDE):
        raise InputError(
            Reason.BAD_OPTION,
            "A sample was to be matched with its population.",
            f"With missing cells read as '{key_table.missing}', records do not fall into classes.",
            "Count the keys with missing as 'category' or 'exclude' (--missing).",
        )
