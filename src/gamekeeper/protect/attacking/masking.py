"""What was done to a file that somebody else masked, read from original and release.

Variable by variable: every value may have become one and the same coarser category (recoded), cells
may be empty that were not (suppressed), or cells may have values that are not theirs (changed). Who
publishes a recoding tells it, so that an intruder knows it too; here it is read from the records that
belong together, and where that is not known from the words and bands of categories. Where all cells of
each value became one and the same, that is taken for a recoding even if it may be a chance of swapping:
the intruder is then taken to know more, never less.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from gamekeeper.algorithms.categories.bands import Band, BandStyle, parse_band
from gamekeeper.data.coding.codebook import MISSING, CodedVariable
from gamekeeper.data.coding.coded_table import CodedTable
from gamekeeper.data.coding.recode import Recode
from gamekeeper.data.reading.numerals import number_of
from gamekeeper.errors import InputError
from gamekeeper.protect.changes import ChangeLog, VariableChange
from gamekeeper.wording import count_of, percent_text, quoted

Codes = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class MaskedVariable:
    """What was done to a variable, in words and numbers.

    Attributes
    ----------
    is_recoded
        Whether values became coarser categories.
    categories_before, categories_after
        How many categories occur.
    n_suppressed, n_changed
        Cells that are empty and were not, and those with a value that is not theirs; None where it is
        not known which record is whose.
    is_left_out
        Whether the release does not have it.
    """

    variable: str
    is_recoded: bool
    categories_before: int
    categories_after: int
    n_suppressed: int | None
    n_changed: int | None
    n_records: int
    is_left_out: bool = False

    @property
    def words(self) -> str:
        """What was done, in words."""
        if self.is_left_out:
            return f"{quoted([self.variable])}: not released."
        parts: list[str] = []
        if self.is_recoded:
            parts.append(f"{self.categories_before:,} categories became {self.categories_after:,}")
        if self.n_suppressed:
            parts.append(f"{count_of(self.n_suppressed, 'cell')} suppressed")
        if self.n_changed:
            share = percent_text(self.n_changed / max(self.n_records, 1))
            parts.append(f"{count_of(self.n_changed, 'cell')} changed ({share})")
        if self.n_changed is None:
            parts.append("compared by its categories")
        return f"{quoted([self.variable])}: {', '.join(parts) or 'as it was'}."


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Masking:
    """A release in terms of its original: codes have the words of that or of its recoding."""

    after: CodedTable
    log: ChangeLog
    variables: tuple[MaskedVariable, ...]


def read_masking(
    before: CodedTable,
    after: CodedTable,
    keys: tuple[str, ...],
    records: Codes | None,
    decimal: str = ".",
    *,
    are_alike: bool = True,
) -> Masking:
    """Return what was done to the key variables of a file.

    Parameters
    ----------
    before, after
        The original and the release; their variables have the same names.
    records
        For each released record the one of the original that it is; None where nobody knows.
    are_alike
        Whether a suppressed cell looks like one that was missing: then nobody can tell the two apart,
        and in a release with suppressed cells every empty one is open.
    """
    found: list[MaskedVariable] = []
    changes: dict[str, VariableChange] = {}
    finer: list[Recode] = []
    empty: dict[str, NDArray[np.uint8]] = {}
    for name in keys:
        old, new = before.codebook[name], after.codebook[name]
        mine = before.codes(name).astype(np.int64)
        yours = after.codes(name).astype(np.int64)
        if records is None:
            made = _by_words(old, new, decimal)
            if made is not None:
                changes[name] = VariableChange(Recode(name, made, _words(new, made)))
            counts = _occurring(mine), _occurring(yours)
            found.append(MaskedVariable(name, made is not None, *counts, None, None, len(yours)))
            continue
        own = mine[records]
        known = (own != MISSING) & (yours != MISSING)
        pairs = np.unique(np.stack([own[known], yours[known]], axis=1), axis=0)
        recode: Recode | None = None
        shown = yours
        if len(np.unique(pairs[:, 0])) == len(pairs):
            there = _functional(pairs, old, new, decimal)
            if tuple(there) != tuple(range(old.n_codes)) or old.words != new.words:
                recode = Recode(name, there, _words(new, there))
            target = there[own]
        elif len(np.unique(pairs[:, 1])) == len(pairs):
            # The release is finer than what an intruder knows: it is read at that detail.
            here = np.zeros(new.n_codes, dtype=np.int64)
            here[pairs[:, 1]] = pairs[:, 0]
            unseen = np.setdiff1d(np.arange(1, new.n_codes), pairs[:, 1])
            here[unseen] = MISSING
            finer.append(Recode(name, here, old.words))
            target, shown = own, here[yours]
        else:
            by_words = _by_words(old, new, decimal)
            there = _same_words(old, new) if by_words is None else by_words
            if by_words is None and (there[1:] >= new.n_codes).all():
                # Categories of other names, some cells of which were changed: what most became.
                there = by_words = _mostly(own[known], yours[known], there)
            if by_words is not None:
                recode = Recode(name, there, _words(new, there))
            target = there[own]
        stars = (yours == MISSING) & (own != MISSING)
        moved = known & (shown != target)
        is_recoded = recode is not None and _occurring(recode.codes[mine]) < _occurring(mine)
        n = before.n_records
        changes[name] = VariableChange(
            recode,
            np.packbits(_spread(moved | stars, records, n)),
            np.packbits(_spread(stars, records, n)),
        )
        empty[name] = np.packbits(_spread(yours == MISSING, records, n))
        found.append(
            MaskedVariable(
                name, is_recoded, _occurring(mine), _occurring(yours), int(stars.sum()),
                int(moved.sum()), len(yours),
            )
        )  # fmt: skip
    if are_alike and any(change.n_suppressed for change in changes.values()):
        changes |= {name: replace(changes[name], suppressed=bits) for name, bits in empty.items()}
    made = after.recoded(finer)
    left = None if records is None or _is_whole(records, before.n_records) else records
    return Masking(made, ChangeLog(before.n_records, changes, left), tuple(found))


def _is_whole(records: Codes, n: int) -> bool:
    return len(records) == n and bool((records == np.arange(n)).all())


def _spread(truths: NDArray[np.bool_], records: Codes, n: int) -> NDArray[np.bool_]:
    made = np.zeros(n, dtype=np.bool_)
    made[records] = truths
    return made


def _occurring(codes: Codes) -> int:
    return len(np.unique(codes[codes != MISSING]))


def _functional(pairs: Codes, old: CodedVariable, new: CodedVariable, decimal: str) -> Codes:
    """Return the released code of each original one; one never seen is found by its words, or new."""
    bands = _by_words(old, new, decimal)
    there = _same_words(old, new) if bands is None else bands
    there[pairs[:, 0]] = pairs[:, 1]
    return there


def _mostly(own: Codes, yours: Codes, otherwise: Codes) -> Codes:
    """Return the released code that most cells of each original one became."""
    pairs, counts = np.unique(np.stack([own, yours], axis=1), axis=0, return_counts=True)
    made = otherwise.copy()
    # The last one written is the most frequent.
    for code, there in pairs[np.argsort(counts, kind="stable")].tolist():
        made[code] = there
    return made


def _same_words(old: CodedVariable, new: CodedVariable) -> Codes:
    """Return the released code with the same word or value; codes of their own for others."""
    known = {text: code for code, text in enumerate(new.values)} | {
        text: code for code, text in enumerate(new.words)
    }
    made = [MISSING]
    extra = new.n_codes
    for word, value in zip(old.words[1:], old.values[1:], strict=True):
        code = known.get(word, known.get(value))
        if code is None or code == MISSING:
            code, extra = extra, extra + 1
        made.append(code)
    return np.array(made, dtype=np.int64)


def _by_words(old: CodedVariable, new: CodedVariable, decimal: str) -> Codes | None:
    """Return released codes by the bands that numbers lie in; None where categories are no bands."""
    same = _same_words(old, new)
    if (same < new.n_codes).all():
        return None
    bands: list[tuple[int, Band]] = []
    for code, word in enumerate(new.words):
        if code == MISSING or number_of(word, decimal) is not None:
            continue
        try:
            bands.append((code, parse_band(word, BandStyle.INCLUSIVE)))
        except InputError:
            continue
    if not bands:
        return None
    made = same.copy()
    for code in range(1, old.n_codes):
        number = number_of(old.values[code], decimal)
        if same[code] >= new.n_codes and number is not None:
            for there, band in bands:
                if band.low <= number < band.high:
                    made[code] = there
                    break
    return made


def _words(new: CodedVariable, codes: Codes) -> tuple[str, ...]:
    """Return words for codes: those of the release, and made up ones for what is not there."""
    top = int(codes.max(initial=0))
    more = [f"not released {number}" for number in range(1, top - new.n_codes + 2)]
    return (*new.words, *more)
