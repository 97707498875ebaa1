"""What missing cells of key variables do to what is counted: uniques by each reading of them.

As a category of its own a missing cell makes a record unlike everybody who has a value there, so that
more records are unique and fewer people fit than in truth. What the readings say is told beside.
"""

from __future__ import annotations

import numpy as np

from gamekeeper.algorithms.uniques.class_sizes import class_sizes
from gamekeeper.data.keys.key_table import KeyTable
from gamekeeper.data.keys.missing import Missing
from gamekeeper.wording import be, count_of, joined, percent_text

# Keys times sets of missing variables; more would take minutes.
_MOST_COMPARED = 10_000_000
# Readings whose uniques differ by less say the same.
_ALIKE = 0.01


def missing_reservations(key_table: KeyTable) -> tuple[str, ...]:
    """Return what missing cells change of how numbers may be used, in sentences.

    Examples
    --------
    >>> from gamekeeper.data.coding.coded_table import coded_from_codes
    >>> from gamekeeper.data.keys.counting import count_keys
    >>> people = coded_from_codes([[1, 1], [1, 0], [2, 1], [2, 1]], ["age", "job"])
    >>> (told,) = missing_reservations(count_keys(people, ["age", "job"]))
    >>> told[:88]
    '1 of 4 records has a missing cell among its key variables: 2 records are unique where mi'
    """
    if key_table.missing is Missing.EXCLUDE:
        return _left_out(key_table)
    found = key_table.distinct
    lacking = found.codes == 0
    n_lacking = int(found.counts[lacking.any(axis=1)].sum())
    if not n_lacking:
        return ()
    n = key_table.n_records
    have = "has a missing cell among its" if n_lacking == 1 else "have a missing cell among their"
    told = f"{n_lacking:,} of {count_of(n, 'record')} {have} key variables"
    numbers = (
        ""
        if key_table.missing is not Missing.CATEGORY or key_table.fraction is None
        else " Whoever knows what is missing finds more people who fit than are counted here, so that"
        " numbers of right matches and of population uniques are likely too high."
    )
    if len(found.counts) * len(np.unique(lacking, axis=0)) > _MOST_COMPARED:
        unlike = (
            f"{told}: as a category of its own a missing cell makes a record unlike all who have a value"
            " there. How many are unique by other readings is not known: --missing ignore and --missing"
            f" wildcard tell.{numbers}"
        )
        return (unlike,)
    uniques = {Missing.CATEGORY: key_table.n_unlike}
    for reading in (Missing.IGNORE, Missing.WILDCARD):
        sizes = class_sizes(found.codes, found.counts, missing=reading)
        uniques[reading] = int(found.counts[sizes == 1].sum())
    if min(uniques.values()) >= (1 - _ALIKE) * key_table.n_unlike:
        return ()
    readings = joined(
        [
            f"{number:,} where {reading.words}"
            if place
            else f"{count_of(number, 'record')} {be(number)} unique where {reading.words}"
            for place, (reading, number) in enumerate(uniques.items())
        ]
    )
    return (f"{told}: {readings} (--missing).{numbers}",)


def _left_out(key_table: KeyTable) -> tuple[str, ...]:
    if not key_table.n_excluded:
        return ()
    n = key_table.n_records + key_table.n_excluded
    share = percent_text(key_table.n_excluded / n)
    who = (
        ""
        if key_table.fraction is None
        else " People like them are not counted among those who fit either, so that numbers of right"
        " matches and of population uniques are likely too high for the others."
    )
    told = (
        f"{key_table.n_excluded:,} of {count_of(n, 'record')} ({share}) {be(key_table.n_excluded)} left out"
        f" for a missing cell: nothing is said of them.{who}"
    )
    return (told,)
