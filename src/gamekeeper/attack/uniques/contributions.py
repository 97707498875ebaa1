"""What variables, categories and MSU sizes contribute to the scores of a file.

The file level is the sum over all minimal sample uniques (MSUs) of all sample uniques. For a
variable, only MSUs that contain it are summed; for a category, only those of records that have
it. An MSU of size s therefore counts for s variables, and the percentages of variables can sum
to more than 100. Sums are whole numbers of any size.

D. Smith, thesis on statistical disclosure control, chapter 8 (risk measures).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from gamekeeper.algorithms.uniques.minimal_uniques import MinimalUniques
from gamekeeper.attack.contribution_risk import Contribution, SizeContribution
from gamekeeper.data.coding.codebook import CodedVariable

if TYPE_CHECKING:
    from numpy.typing import NDArray

NO_MSU = -1
"""The smallest size of a unique whose MSUs are all beyond the cap."""


def smallest_sizes(found: MinimalUniques) -> NDArray[np.int8]:
    """Return the size of the smallest MSU of each sample unique, -1 where none was found."""
    present = found.counts > 0
    return np.where(present.any(axis=1), present.argmax(axis=1), NO_MSU).astype(np.int8)


def variables_used(found: MinimalUniques) -> NDArray[np.uint64] | None:
    """Return, per sample unique, the variables of all its MSUs as bits; None without a list."""
    if found.masks is None or found.offsets is None:
        return None
    used = np.zeros(len(found.records), dtype=np.uint64)
    starts, stops = found.offsets[:-1], found.offsets[1:]
    listed = np.flatnonzero(stops > starts)
    if listed.size:
        used[listed] = np.bitwise_or.reduceat(found.masks, starts[listed])
    return used


def size_contributions(
    found: MinimalUniques, is_weights: Sequence[int], suda_weights: Sequence[int]
) -> tuple[SizeContribution, ...]:
    """Return the MSUs of each size from 1, or from 0 where the file is a single record."""
    msus = found.counts.sum(axis=0, dtype=np.int64).tolist()
    smallest = smallest_sizes(found)
    return tuple(
        SizeContribution(
            size,
            msus[size],
            int(np.count_nonzero(smallest == size)),
            is_weights[size],
            suda_weights[size],
        )
        for size in range(0 if msus[0] else 1, len(msus))
    )


def variable_contributions(
    found: MinimalUniques,
    variables: Sequence[CodedVariable],
    is_weights: Sequence[int],
    suda_weights: Sequence[int],
    risky: NDArray[np.bool_] | None,
) -> tuple[Contribution, ...]:
    """Return the contribution of each variable, the largest IS first.

    `risky` tells which sample uniques are risky; None where that is not known.
    """
    used = variables_used(found)
    lines: list[Contribution] = []
    for place, variable in enumerate(variables):
        users = None if used is None else _has(used, place)
        msus = found.by_variable[place].tolist()
        lines.append(
            Contribution(
                variable.name,
                "",
                found.n_records,
                tuple(msus),
                _weighed(msus, is_weights),
                _weighed(msus, suda_weights),
                None if users is None else int(np.count_nonzero(users)),
                None if users is None or risky is None else int(np.count_nonzero(users & risky)),
            )
        )
    return _ranked(lines)


def category_contributions(
    found: MinimalUniques,
    variables: Sequence[CodedVariable],
    codes: NDArray[np.unsignedinteger[Any]],
    is_weights: Sequence[int],
    suda_weights: Sequence[int],
    risky: NDArray[np.bool_] | None,
    counts: NDArray[np.int64] | None = None,
) -> tuple[Contribution, ...]:
    """Return the contribution of each category that a counted record has, the largest IS first.

    `counts` says how many records a row of codes stands for; one if it is None.
    """
    used = variables_used(found)
    lines: list[Contribution] = []
    for place, variable in enumerate(variables):
        column = codes[:, place]
        n_codes = variable.n_codes
        records = np.bincount(column, counts, n_codes).astype(np.int64).tolist()
        uniques = at_risk = None
        if used is not None:
            users = _has(used, place)
            own = column[found.records]
            uniques = np.bincount(own[users], minlength=n_codes).tolist()
            if risky is not None:
                at_risk = np.bincount(own[users & risky], minlength=n_codes).tolist()
        lines += [
            Contribution(
                variable.name,
                variable.words[code],
                records[code],
                tuple(msus),
                _weighed(msus, is_weights),
                _weighed(msus, suda_weights),
                None if uniques is None else uniques[code],
                None if at_risk is None else at_risk[code],
            )
            for code, msus in enumerate(found.by_category[place].tolist())
            if records[code]
        ]
    return _ranked(lines)


def _weighed(msus: Sequence[int], weights: Sequence[int]) -> tuple[int, ...]:
    return tuple(number * weight for number, weight in zip(msus, weights, strict=True))


def _ranked(lines: list[Contribution]) -> tuple[Contribution, ...]:
    """Return the lines by falling IS; of equals the one whose variable comes first."""
    return tuple(sorted(lines, key=lambda line: -line.is_score))


def _has(used: NDArray[np.uint64], place: int) -> NDArray[np.bool_]:
    return (used >> np.uint64(place) & np.uint64(1)).astype(np.bool_)
