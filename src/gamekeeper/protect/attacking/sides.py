"""People and released rows side by side, in the same codes, with what is suppressed as bits.

An intruder knows what people are at the detail of the original, and how the release was recoded. So
the keys of people are recoded as the release was, and compared with its rows wherever these are not
suppressed. Where the categories of a release overlap, people keep their values, and a cell is the set of
values that it can stand for. What a missing cell of the input means is the scenario's choice: with "category" it is
known and equal to its like; with "ignore" a released one tells nothing; with "wildcard" it is not
known of the people either.

Who knows which people are in the release compares it with these alone, so that records that were left
out hide nobody. Who does not compares it with all people of the original.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from gamekeeper.algorithms.compatibility.candidates import Candidates, count_candidates
from gamekeeper.algorithms.compatibility.matchings import Matchings, find_matchings
from gamekeeper.algorithms.compatibility.packed_keys import CellSets, fits_in_column
from gamekeeper.data.coding.codebook import MISSING, CodedVariable
from gamekeeper.data.coding.coded_table import CodedTable
from gamekeeper.data.keys.missing import Missing
from gamekeeper.protect.changes import ChangeLog
from gamekeeper.protect.setting import Setting


def protection_bytes(n_records: int, n_keys: int) -> int:
    """Return the bytes that protecting a file and attacking it again takes at least.

    Keys of people and of rows are whole numbers of eight bytes; counts, packed keys, their order and
    what is known of assignments are a dozen more per record. A million different records with nine
    keys took 2 GB in all.
    """
    return n_records * (16 * n_keys + 100)


@dataclass(frozen=True, slots=True, repr=False, eq=False)
class FileSides:
    """Both sides of a release.

    Attributes
    ----------
    people, released
        Keys as codes, a row each; the same code means the same, but in a column of `held`.
    suppressed
        For each released row the columns that are open, as bits.
    unknown
        For each person the columns that are not known, as bits; None where all are.
    truth
        For each person the released row that is the right one, or -1; None where that is not known.
    held
        By column whose released categories overlap the values that each can stand for.
    """

    people: NDArray[np.int64]
    released: NDArray[np.int64]
    suppressed: NDArray[np.uint64]
    unknown: NDArray[np.uint64] | None
    truth: NDArray[np.int64] | None
    held: Mapping[int, CellSets] = field(default_factory=dict[int, CellSets])

    def count(self, *, wildcard: bool = False) -> Candidates:
        """Count candidates by every criterion."""
        return count_candidates(
            self.people,
            self.released,
            self.suppressed,
            unknown=self.unknown,
            truth=np.full(len(self.people), -1) if self.truth is None else self.truth,
            wildcard=wildcard,
            held=self.held,
        )

    def matchings(self) -> Matchings | None:
        """Tell what all assignments have in common; None where a true value may have been changed.

        That is known only if everybody has a row that fits.
        """
        truth = self.truth
        if truth is None or self.unknown is not None or len(self.people) != len(self.released):
            return None
        if (truth < 0).any() or len(np.unique(truth)) < len(truth):
            return None
        rows, open_columns = self.released[truth], self.suppressed[truth]
        for column in range(self.people.shape[1]):
            is_open = (open_columns >> np.uint64(column)) & np.uint64(1) == 1
            fits = fits_in_column(self.people[:, column], rows[:, column], column, self.held)
            if not (is_open | fits).all():
                return None
        return find_matchings(self.people, open_columns, rows, self.held)


def sides_of(
    before: CodedTable,
    after: CodedTable,
    log: ChangeLog,
    setting: Setting,
    held: Mapping[str, CellSets] | None = None,
) -> FileSides:
    """Return both sides of a file where it is known what was done to it.

    `held` has by variable whose categories overlap the values that each can stand for.
    """
    sets = held or {}
    left = np.arange(before.n_records) if log.records is None else log.records
    people = np.empty((before.n_records, len(setting.keys)), dtype=np.int64)
    released = np.empty((after.n_records, len(setting.keys)), dtype=np.int64)
    stars = np.zeros(after.n_records, dtype=np.uint64)
    for column, name in enumerate(setting.keys):
        change = log.variables.get(name)
        own = before.codebook[name]
        codes = before.codes(name).astype(np.int64)
        words = own.words
        if change is not None and change.recode is not None:
            codes, words = change.recode.codes[codes], change.recode.words
        there = after.codebook[name]
        is_plain = name in sets or words == there.words
        people[:, column] = codes if is_plain else aligned_codes(words, there)[codes]
        released[:, column] = after.codes(name)
        stars |= log.suppressed(name).astype(np.uint64) << np.uint64(column)
    if setting.response_knowledge:
        people, truth = people[left], np.arange(len(left), dtype=np.int64)
    else:
        truth = np.full(before.n_records, -1, dtype=np.int64)
        truth[left] = np.arange(len(left))
    of_columns = {place: sets[name] for place, name in enumerate(setting.keys) if name in sets}
    return laid_out(people, released, stars, truth, setting.missing, of_columns)


def laid_out(
    people: NDArray[np.int64],
    released: NDArray[np.int64],
    stars: NDArray[np.uint64],
    truth: NDArray[np.int64] | None,
    missing: Missing,
    held: Mapping[int, CellSets] | None = None,
) -> FileSides:
    """Return both sides with missing cells read as a scenario says."""
    unknown = None
    if missing in (Missing.IGNORE, Missing.WILDCARD):
        stars = stars | missing_sets(released)
    if missing is Missing.WILDCARD:
        unknown = missing_sets(people)
    return FileSides(people, released, stars, unknown, truth, held or {})


def missing_sets(codes: NDArray[np.int64]) -> NDArray[np.uint64]:
    """Return for each row its missing columns, as bits."""
    found = np.zeros(len(codes), dtype=np.uint64)
    for column in range(codes.shape[1]):
        found |= (codes[:, column] == MISSING).astype(np.uint64) << np.uint64(column)
    return found


def aligned_codes(words: tuple[str, ...], there: CodedVariable) -> NDArray[np.int64]:
    """Return the code that each word has elsewhere; one that is not there gets a code of its own."""
    known = {word: code for code, word in enumerate(there.words)}
    made = [MISSING]
    extra = there.n_codes
    for word in words[1:]:
        code = known.get(word)
        if code is None:
            code, extra = extra, extra + 1
        made.append(code)
    return np.array(made, dtype=np.int64)
