"""A notional population: a coded file that stands for everybody, its classes numbered once.

Only integers: the codes of the key variables, the number of each record's class, the size of each
class and, where samples are stratified, the number of each record's stratum. A worker gets it once
and draws all its samples from it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from hashlib import sha256
from typing import TYPE_CHECKING

import numpy as np

from gamekeeper.algorithms.class_numbers import class_numbers
from gamekeeper.data.keys.checks import MAX_KEYS, all_missing_problems
from gamekeeper.data.keys.missing import Missing
from gamekeeper.errors import InputError, Problem, Reason, refuse
from gamekeeper.wording import count_of, did_you_mean, quoted

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from gamekeeper.data.coding.coded_table import CodedTable


@dataclass(frozen=True, repr=False, eq=False)
class NotionalPopulation:
    """Everybody, as integers.

    Attributes
    ----------
    codes
        One row per record, one column per key variable.
    classes
        The number of each record's class.
    sizes
        The size F of each class.
    strata
        The number of each record's stratum; None without strata.
    """

    codes: NDArray[np.unsignedinteger]
    classes: NDArray[np.int64]
    sizes: NDArray[np.int64]
    strata: NDArray[np.int32] | None = None

    @property
    def n_records(self) -> int:
        """The number N of records."""
        return len(self.classes)

    @property
    def n_uniques(self) -> int:
        """The number of records whose class has no other."""
        return int(np.count_nonzero(self.sizes == 1))

    def fingerprint(self) -> str:
        """Return the first digits of a hash of all codes and strata."""
        digest = sha256(repr((self.codes.shape, self.codes.dtype.str)).encode())
        digest.update(self.codes.tobytes())
        if self.strata is not None:
            digest.update(self.strata.tobytes())
        return digest.hexdigest()[:16]

    def __repr__(self) -> str:
        return f"NotionalPopulation({self.n_records:,} records, {len(self.sizes):,} classes)"


def population_bytes(n_records: int, n_keys: int) -> int:
    """Return the bytes that a notional population takes at least; measured with one and two million records."""
    return n_records * (50 + 4 * n_keys)


def open_population(
    coded: CodedTable,
    keys: Sequence[str],
    *,
    missing: Missing = Missing.CATEGORY,
    stratify_by: Sequence[str] = (),
) -> NotionalPopulation:
    """Return a coded file as a notional population.

    Missing cells are `category` or `exclude`: other treatments do not divide records into classes.
    Variables that make strata come with the outermost first, such as region and household.
    """
    _check(coded, keys, missing, stratify_by)
    codes = coded.matrix(list(keys))
    strata = coded.matrix(list(stratify_by)) if stratify_by else None
    if missing == Missing.EXCLUDE:
        kept = (codes != 0).all(axis=1)
        codes = codes[kept]
        strata = None if strata is None else strata[kept]
    if not len(codes):
        raise InputError(
            Reason.NOTHING_GIVEN,
            "Samples were to be drawn from a notional population.",
            "It has no records, or none without a missing cell in the key variables.",
            "Give a file with records, or count missing cells as a category (--missing category).",
        )
    (classes,) = class_numbers(codes)
    numbered = None if strata is None else class_numbers(strata)[0].astype(np.int32)
    return NotionalPopulation(codes, classes, np.bincount(classes), numbered)


def _check(
    coded: CodedTable, keys: Sequence[str], missing: Missing, stratify_by: Sequence[str]
) -> None:
    problems: list[Problem] = []
    if not keys:
        problems.append(
            Problem(Reason.NOTHING_GIVEN, "key variables", "none is given.", "Name at least one.")
        )
    for kind, names in (("key variable", keys), ("stratum variable", stratify_by)):
        for name in dict.fromkeys(names):
            where = f"{kind} {quoted([name])}"
            if name not in coded.codebook.names:
                hint = did_you_mean(name, coded.codebook.names)
                problems.append(Problem(Reason.UNKNOWN_NAME, where, "not in the file.", hint))
            elif list(names).count(name) > 1:
                times = count_of(list(names).count(name), "time")
                problems.append(Problem(Reason.DUPLICATE, where, f"given {times}."))
    if len(keys) > MAX_KEYS:
        found = f"{len(keys):,} are given, and at most {MAX_KEYS} can be compared."
        problems.append(Problem(Reason.TOO_LARGE, "key variables", found, "Leave some out."))
    problems += all_missing_problems(coded, keys)
    if missing not in (Missing.CATEGORY, Missing.EXCLUDE):
        found = f"'{missing}' does not divide records into classes."
        do = "Use 'category' or 'exclude' (--missing)."
        problems.append(Problem(Reason.BAD_OPTION, "missing cells", found, do))
    refuse(problems, "Samples were to be drawn from a notional population.")
