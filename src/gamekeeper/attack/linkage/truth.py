"""Who is who in truth: partners by an identifier that both files have, and shares with intervals."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from gamekeeper.data.codebook import MISSING
from gamekeeper.data.coded_table import CodedTable
from gamekeeper.errors import InputError, Problem, Reason, count_of, did_you_mean, quoted

__all__ = ["share_interval", "true_partners"]

_Z = 1.959963984540054


def true_partners(a: CodedTable, b: CodedTable, name: str, other: str = "") -> NDArray[np.int64]:
    """Return for each record of a first file the record of a second with the same identifier.

    -1 where there is none. Records without an identifier have no partner; an identifier that is
    there twice is refused.

    Examples
    --------
    >>> from gamekeeper.data.coded_table import coded_from_codes
    >>> left, right = coded_from_codes([[1], [2]], ["id"]), coded_from_codes([[3], [1]], ["id"])
    >>> true_partners(left, right, "id").tolist()
    [1, -1]
    """
    second = other or name
    problems: list[Problem] = []
    for table, column, which in ((a, name, "first"), (b, second, "second")):
        where = f"identifier {quoted([column])}"
        if column not in table.codebook:
            found = f"is not in the {which} file."
            do = did_you_mean(column, table.codebook.names)
            problems.append(Problem(Reason.UNKNOWN_NAME, where, found, do))
            continue
        codes = table.codes(column)
        codes = codes[codes != MISSING]
        n_twice = len(codes) - len(np.unique(codes))
        if n_twice:
            found = f"{count_of(n_twice, 'record', 'records')} of the {which} file repeat one."
            problems.append(Problem(Reason.DUPLICATE, where, found, "Give each record its own."))
    if problems:
        raise InputError(
            problems[0].reason,
            "Links were to be compared with the truth.",
            "The identifiers cannot be used.",
            problems=problems,
        )
    place = {
        value: record
        for record, code in enumerate(b.codes(second).tolist())
        if code != MISSING
        for value in [b.codebook[second].values[code]]
    }
    values = a.codebook[name].values
    return np.array(
        [-1 if code == MISSING else place.get(values[code], -1) for code in a.codes(name).tolist()],
        np.int64,
    )


def share_interval(number: int, of: int) -> tuple[float, float]:
    """Return Wilson's 95% interval of a share.

    Examples
    --------
    >>> [round(end, 3) for end in share_interval(5, 10)]
    [0.237, 0.763]
    """
    if not of:
        return 0.0, 1.0
    share = number / of
    middle = (share + _Z**2 / (2 * of)) / (1 + _Z**2 / of)
    half = _Z / (1 + _Z**2 / of) * math.sqrt(share * (1 - share) / of + _Z**2 / (4 * of**2))
    return max(0.0, middle - half), min(1.0, middle + half)
