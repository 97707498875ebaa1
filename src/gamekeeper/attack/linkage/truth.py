"""Who is who in truth: partners by an identifier that both files have, and shares with intervals."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike, NDArray

from gamekeeper.data.coding.codebook import MISSING
from gamekeeper.data.coding.coded_table import CodedTable
from gamekeeper.errors import InputError, Problem, Reason, refuse
from gamekeeper.wording import count_of, did_you_mean, quoted

_Z = 1.959963984540054


def true_partners(
    a: CodedTable,
    b: CodedTable,
    name: str,
    other: str = "",
    *,
    files: tuple[str, str] = ("the first file", "the second file"),
) -> NDArray[np.int64]:
    """Return for each record of a first file the record of a second with the same identifier.

    -1 where there is none. Records without an identifier have no partner. An identifier that is
    there twice is refused, and so are files that have no identifier in common; `files` says what to
    call them then.

    Examples
    --------
    >>> from gamekeeper.data.coding.coded_table import coded_from_codes
    >>> left, right = coded_from_codes([[1], [2]], ["id"]), coded_from_codes([[3], [1]], ["id"])
    >>> true_partners(left, right, "id").tolist()
    [1, -1]
    """
    second = other or name
    problems: list[Problem] = []
    for table, column, which in ((a, name, files[0]), (b, second, files[1])):
        where = f"identifier {quoted([column])}"
        if column not in table.codebook:
            found = f"is not in {which}."
            do = did_you_mean(column, table.codebook.names)
            problems.append(Problem(Reason.UNKNOWN_NAME, where, found, do))
            continue
        codes = table.codes(column)
        codes = codes[codes != MISSING]
        n_twice = len(codes) - len(np.unique(codes))
        if n_twice:
            found = f"{count_of(n_twice, 'record repeats', 'records repeat')} one in {which}."
            problems.append(Problem(Reason.DUPLICATE, where, found, "Give each record its own."))
    refuse(problems, "Links were to be compared with the truth.", "The identifiers cannot be used.")
    place = {
        value: record
        for record, code in enumerate(b.codes(second).tolist())
        if code != MISSING
        for value in [b.codebook[second].values[code]]
    }
    values = a.codebook[name].values
    found = np.array(
        [-1 if code == MISSING else place.get(values[code], -1) for code in a.codes(name).tolist()],
        np.int64,
    )
    if not (found >= 0).any():
        raise InputError(
            Reason.BAD_OPTION,
            "Links were to be compared with the truth.",
            f"No identifier of {files[0]} ({quoted([name])}) is in {files[1]} ({quoted([second])}).",
            "Name the column that says who is who, written alike in both files.",
        )
    return found


def require_partners(truth: ArrayLike, n_first: int, n_second: int) -> NDArray[np.int64]:
    """Return true partners as numbers of records from 0, -1 for none; refuse what cannot be.

    Examples
    --------
    >>> require_partners([1, -1], 2, 2).tolist()
    [1, -1]
    """
    partners = np.asarray(truth)
    if partners.shape == (n_first,) and (np.issubdtype(partners.dtype, np.integer) or not n_first):
        known = partners[partners >= 0]
        is_within = not partners.size or (partners.min() >= -1 and partners.max() < n_second)
        if is_within and len(np.unique(known)) == len(known):
            return partners.astype(np.int64)
    raise InputError(
        Reason.BAD_OPTION,
        "Links were to be compared with the truth.",
        f"The truth does not give {count_of(n_first, 'record')} different partners among"
        f" {n_second:,}.",
        "Give for each record of the first file the number of its record of the second, from 0, or"
        " -1.",
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
    # Rounding must not leave out a share of none or of all.
    return 0.0 if not number else middle - half, 1.0 if number == of else middle + half
