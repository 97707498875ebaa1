"""What was done to a file that somebody else masked, read from original and release.

Variable by variable: every value may have become one and the same coarser category (recoded), cells
may be empty that were not (suppressed), or cells may have values that are not theirs (changed). Who
publishes a recoding tells it, so that an intruder knows it too; here it is read from the records
that belong together, and where that is not known from the words and bands of categories. Where all
cells of each value became one and the same, that is taken for a recoding even if it may be a chance
of swapping: the intruder is then taken to know more, never less.

A file that was recoded here and there, its cells of several levels, has categories that overlap:
each is then the set of values that it can stand for. A band is every value in it, whatever records
have it; a value of the original is itself, and a list of such values each of them; a code of which
a part is left ('130**') is every code that begins so; another category is the values that records
show to have become it, as long as such categories lie within each other or apart, as those of a
hierarchy do. A value outside its cell's set was changed. Where nothing tells what categories stand
for, it is not known whether cells were changed or recoded here and there, nor how many matches are
right.
"""

from __future__ import annotations

import math
import re
from bisect import bisect_left, bisect_right
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from gamekeeper.algorithms.categories.bands import Band, BandStyle, Bound, parse_band
from gamekeeper.algorithms.categories.printed_band import read_band
from gamekeeper.algorithms.classes import CellSets
from gamekeeper.data.coding.codebook import MISSING, CodedVariable, Recode
from gamekeeper.data.coding.coded_table import CodedTable
from gamekeeper.data.reading.columns import number_of
from gamekeeper.errors import InputError
from gamekeeper.protection.step import ChangeLog, VariableChange
from gamekeeper.wording import count_of, percent_text, quoted

Codes = NDArray[np.int64]
_AGREE = 0.1
_ENOUGH = 20
# As programs write them: '[20, 25)', '[20; 25[', '(19.5,24.5]'.
_INTERVAL = re.compile(r"(?P<first>[\[\](])(?P<ends>[^\[\]()]+)(?P<last>[\[\])])")
_COMMAS = (";", ", ", ",")
_ENDLESS = {"inf": math.inf, "infinity": math.inf, "∞": math.inf}
# What stands for the rest of a code: '130**'; and how long codes are of which a part may be left.
_MASKS = "*xX#?"
_LEAST_CODE = 2
_LISTED = re.compile(r"\s*(?:[|;,/+&]|\bor\b)\s*")
# Less than numbers differ by.
_HAIR = Fraction(1, 10**12)


@dataclass(frozen=True, slots=True)
class MaskedVariable:
    """What was done to a variable, in words and numbers.

    `n_suppressed` cells are empty and were not, `n_changed` have a value that is not theirs: None
    where it is not known which record is whose. Values became coarser categories (`is_recoded`), or
    the release does not have the variable (`is_left_out`). Where categories overlap (`overlaps`),
    each is taken for the set of values it can stand for; where bands share their ends
    (`ends_meet`), it had to be chosen which of two has such a value. `n_unread` categories are
    those of which nothing tells what they stand for.
    """

    variable: str
    is_recoded: bool
    categories_before: int
    categories_after: int
    n_suppressed: int | None
    n_changed: int | None
    n_records: int
    is_left_out: bool = False
    overlaps: bool = False
    ends_meet: bool = False
    n_unread: int = 0

    @property
    def words(self) -> str:
        """What was done, in words."""
        if self.is_left_out:
            return f"{quoted([self.variable])}: not released."
        parts: list[str] = []
        if self.overlaps:
            parts.append(
                f"{count_of(self.categories_after, 'category', 'categories')} that overlap, each taken for"
                " every value it can stand for"
            )
        elif self.is_recoded:
            parts.append(f"{self.categories_before:,} categories became {self.categories_after:,}")
        if self.n_suppressed:
            parts.append(f"{count_of(self.n_suppressed, 'cell')} suppressed")
        if self.n_changed:
            share = percent_text(self.n_changed / max(self.n_records, 1))
            parts.append(f"{count_of(self.n_changed, 'cell')} changed ({share})")
        if self.n_changed is None:
            parts.append("compared by its categories")
        if self.ends_meet:
            parts.append("bands share their ends, and such a value is taken for the upper of two")
        if self.n_unread:
            what = count_of(self.n_unread, "category is", "categories are")
            read = (
                "nobody is taken to fit them"
                if self.n_changed is None
                else "other values than most of their cells have are taken to be changed"
            )
            parts.append(
                f"{what} neither a value of the original, nor a list or a band of its values: {read}, so"
                " that candidates may be more"
            )
        return f"{quoted([self.variable])}: {', '.join(parts) or 'as it was'}."


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Masking:
    """A release in terms of its original: codes have the words of that or of its recoding."""

    after: CodedTable
    log: ChangeLog
    variables: tuple[MaskedVariable, ...]
    held: Mapping[str, CellSets] = field(default_factory=dict[str, CellSets])
    """By variable whose categories overlap the values that each can stand for."""
    is_open: bool = False
    """Whether empty cells are suppressed ones, where nobody knows which record is whose."""

    @property
    def unread(self) -> tuple[str, ...]:
        """Variables with categories of which nothing tells what they stand for."""
        return tuple(each.variable for each in self.variables if each.n_unread)


def read_masking(
    before: CodedTable,
    after: CodedTable,
    keys: tuple[str, ...],
    records: Codes | None,
    decimal: str = ".",
    *,
    are_alike: bool = True,
) -> Masking:
    """Return what was done to the key variables of a file; those of `after` have the names of `before`.

    `records` has for each released record the one of the original that it is; None where nobody
    knows. With `are_alike` a suppressed cell looks like one that was missing: then nobody can tell
    the two apart, and in a release with suppressed cells every empty one is open.
    """
    found: list[MaskedVariable] = []
    changes: dict[str, VariableChange] = {}
    finer: list[Recode] = []
    empty: dict[str, NDArray[np.uint8]] = {}
    held: dict[str, CellSets] = {}
    is_open = False
    for name in keys:
        old, new = before.codebook[name], after.codebook[name]
        mine = before.codes(name).astype(np.int64)
        yours = after.codes(name).astype(np.int64)
        counts = _occurring(mine), _occurring(yours)
        if records is None:
            # Where nobody's cell was missing, an empty one was made so.
            is_open = is_open or bool((mine != MISSING).all() and (yours == MISSING).any())
            nobodys = np.zeros((0, 2), dtype=np.int64)
            sets, ends_meet = _sets(old, new, nobodys, decimal)
            made = _by_words(old, new, sets)
            if sets is not None and sets.overlap:
                held[name] = sets
            elif made is not None:
                changes[name] = VariableChange(Recode(name, made, _words(new, made)))
            found.append(
                MaskedVariable(
                    *(name, made is not None, *counts, None, None, len(yours)),
                    overlaps=name in held,
                    ends_meet=ends_meet,
                    n_unread=_unread(old, new, yours, sets, decimal),
                )
            )
            continue
        own = mine[records]
        known = (own != MISSING) & (yours != MISSING)
        pairs = np.unique(np.stack([own[known], yours[known]], axis=1), axis=0)
        sets, _ = _sets(old, new, pairs, decimal)
        n = before.n_records
        stars = (yours == MISSING) & (own != MISSING)
        empty[name] = np.packbits(_spread(yours == MISSING, records, n))
        if sets is not None and sets.overlap:
            held[name] = sets
            moved = known & ~sets.fits(own, yours)
            changes[name] = VariableChange(
                None,
                np.packbits(_spread(moved | stars, records, n)),
                np.packbits(_spread(stars, records, n)),
            )
            told = int(stars.sum()), int(moved.sum())
            found.append(MaskedVariable(name, True, *counts, *told, len(yours), overlaps=True))
            continue
        recode: Recode | None = None
        shown, n_unread = yours, 0
        if len(np.unique(pairs[:, 0])) == len(pairs):
            # One never seen is found by its words, or new.
            bands = _by_words(old, new, sets)
            there = _same_words(old, new) if bands is None else bands
            there[pairs[:, 0]] = pairs[:, 1]
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
            by_words = _by_words(old, new, sets)
            there = _same_words(old, new) if by_words is None else by_words
            if by_words is None and (there[1:] >= new.n_codes).all():
                # Categories of other names, some cells of which were changed: what most became.
                there = by_words = _mostly(own[known], yours[known], there)
            if by_words is not None:
                recode = Recode(name, there, _words(new, there))
            target = there[own]
            n_unread = _unread(old, new, yours, sets, decimal)
        moved = known & (shown != target)
        is_recoded = recode is not None and _occurring(recode.codes[mine]) < _occurring(mine)
        changes[name] = VariableChange(
            recode,
            np.packbits(_spread(moved | stars, records, n)),
            np.packbits(_spread(stars, records, n)),
        )
        told = int(stars.sum()), int(moved.sum())
        found.append(
            MaskedVariable(name, is_recoded, *counts, *told, len(yours), n_unread=n_unread)
        )
    if are_alike and any(change.n_suppressed for change in changes.values()):
        changes |= {name: replace(changes[name], suppressed=bits) for name, bits in empty.items()}
    made = after.recoded(finer)
    is_whole = records is not None and np.array_equal(records, np.arange(before.n_records))
    left = None if is_whole else records
    log = ChangeLog(before.n_records, changes, left)
    return Masking(made, log, tuple(found), held, is_open)


def as_written(new: CodedVariable, old: CodedVariable, decimal: str) -> Recode | None:
    """Return a released variable named and written as in the original ('25.0' is 25); None where it is."""
    known = {*old.words, *old.values}
    numbers: dict[Fraction, str] = {}
    for word, value in zip(old.words[1:], old.values[1:], strict=True):
        if (number := number_of(value, decimal)) is not None:
            numbers.setdefault(number, word)
    words = [new.words[MISSING]]
    for word, value in zip(new.words[1:], new.values[1:], strict=True):
        is_other = word not in known and value not in known
        number = number_of(value, decimal) if is_other else None
        words.append(word if number is None else numbers.get(number, word))
    if new.name == old.name and tuple(words) == new.words:
        return None
    return Recode.by_words(new.name, words, name=old.name)


def _spread(truths: NDArray[np.bool_], records: Codes, n: int) -> NDArray[np.bool_]:
    made = np.zeros(n, dtype=np.bool_)
    made[records] = truths
    return made


def _occurring(codes: Codes) -> int:
    return len(np.unique(codes[codes != MISSING]))


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


def _by_words(old: CodedVariable, new: CodedVariable, sets: CellSets | None) -> Codes | None:
    """Return released codes by the bands that numbers lie in; None where categories are no bands."""
    same = _same_words(old, new)
    if sets is None or (same < new.n_codes).all():
        return None
    there = sets.category_at[0]
    return np.where(there < sets.nobody, there, same)


def _sets(
    old: CodedVariable, new: CodedVariable, pairs: Codes, decimal: str
) -> tuple[CellSets | None, bool]:
    """Return the original values each released category can stand for, and whether bands touch.

    `pairs` has the original values with what they became, as far as that is known. None where no
    category is a band of values, nor others overlap.
    """
    values = _inverse(_same_words(old, new), new.n_codes)
    others = [
        code
        for code in range(1, new.n_codes)
        if not len(values[code]) and number_of(new.words[code], decimal) is None
    ]
    numbers = (number_of(value, decimal) for value in old.values[1:])
    is_whole = all(number is None or number.denominator == 1 for number in numbers)
    starts = _starts(
        [code for code in range(1, new.n_codes) if not len(values[code])], old, new, pairs
    )
    bands = {
        code: band
        for code in others
        if code not in starts
        and (band := _band(new.words[code], decimal, is_whole=is_whole)) is not None
    }
    held, ends_meet = _held_by(bands, old, pairs, decimal, is_alone=len(bands) == new.n_codes - 1)
    held |= starts
    held |= _lists([code for code in others if code not in held], old, new, decimal)
    for code, own in held.items():
        values[code] = own
    words = [code for code in others if code not in held]
    became = [pairs[pairs[:, 1] == code, 0] for code in words]
    # Where no value is left as it was, a category is rather one that some cells were changed to, unless
    # others lie in it.
    is_mixed = any(len(own) for own in values[1:]) or _has_parts(became)
    if is_mixed and _is_nested(became, old.n_codes):
        for code, own in zip(words, became, strict=True):
            values[code] = own
    sets = CellSets.of(values, old.n_codes) if others or held else None
    return (sets if sets is not None and (held or sets.overlap) else None), ends_meet


def _lists(
    codes: Sequence[int], old: CodedVariable, new: CodedVariable, decimal: str
) -> dict[int, Codes]:
    """Return the values of categories that are lists of them: '{2, 3}', 'North | South'."""
    known = {text: code for code, text in enumerate(old.values) if code != MISSING}
    known |= {text: code for code, text in enumerate(old.words) if code != MISSING}
    found: dict[int, Codes] = {}
    for code in codes:
        parts = _LISTED.split(new.words[code].strip("{}[]() "))
        own = [known[part] for part in parts if part in known]
        # A number that nobody has is one all the same.
        others = [part for part in parts if part not in known]
        if len(parts) > 1 and own and all(number_of(part, decimal) is not None for part in others):
            found[code] = np.unique(own)
    return found


def _starts(
    codes: Sequence[int], old: CodedVariable, new: CodedVariable, pairs: Codes
) -> dict[int, Codes]:
    """Return the values of categories that are the beginnings of their codes: '130**', '130' of 13053.

    Codes of one length, of which the rest is masked or cut off. What is cut off is a code of its own
    where cells became it that begin otherwise; where nobody tells, where some value begins with none.
    """
    words = old.values[1:]
    length = len(words[0]) if words else 0
    if length < _LEAST_CODE or any(len(word) != length for word in words):
        return {}
    found: dict[int, Codes] = {}
    cut: list[int] = []
    for code in codes:
        word = new.values[code]
        stem = word.rstrip(_MASKS)
        is_masked = len(word) == length and len(stem) < length
        if is_masked or 0 < len(word) < length:
            start = stem if is_masked else word
            own = [place for place, whole in enumerate(words, 1) if whole.startswith(start)]
            found[code] = np.array(own, dtype=np.int64)
            cut += [] if is_masked else [code]
    agree = [own in found[there] for own, there in pairs.tolist() if there in cut]
    is_code = all(agree) and all(len(found[code]) for code in cut)
    is_code = is_code and (bool(agree) or not cut or length > _LEAST_CODE)
    return {c: own for c, own in found.items() if len(own) and (is_code or c not in cut)}


def _has_parts(sets: list[Codes]) -> bool:
    largest = max(sets, key=len, default=np.zeros(0, dtype=np.int64))
    inner = [own for own in sets if len(own) < len(largest) and np.isin(own, largest).all()]
    return sum(len(own) > 0 for own in inner) > 1


def _inverse(codes: Codes, n_codes: int) -> list[Codes]:
    order = np.argsort(codes, kind="stable")
    ends = np.searchsorted(codes[order], np.arange(n_codes + 1))
    return [order[first:last] for first, last in pairwise(ends)]


def _band(word: str, decimal: str, *, is_whole: bool) -> Band | None:
    """Return the band that a category is, of whole numbers or of any."""
    found = _interval(word, decimal)
    if found is None:
        try:
            return parse_band(word, BandStyle.INCLUSIVE)
        except InputError:
            read = read_band(word, decimal=decimal)
        if read is None or read.unit or read.period:
            return None
        low = -math.inf if read.low is None else read.low
        high = math.inf if read.high is None else read.high
        found = low, high, read.has_low, read.has_high
    low, high, has_low, has_high = found
    band = Band(
        low if has_low or low == -math.inf else _beyond(low, is_whole=is_whole),
        _beyond(high, is_whole=is_whole) if has_high and high < math.inf else high,
    )
    return band if band.low < band.high else None


def _interval(word: str, decimal: str) -> tuple[Bound, Bound, bool, bool] | None:
    """Return the ends of an interval in brackets, and whether they belong to it."""
    match = _INTERVAL.fullmatch(word.strip())
    if match is None:
        return None
    texts = next((match["ends"].split(sign) for sign in _COMMAS if sign in match["ends"]), [])
    ends = [_end(text.strip(), decimal) for text in texts]
    if len(ends) != 2 or ends[0] is None or ends[1] is None:
        return None
    return ends[0], ends[1], match["first"] == "[", match["last"] == "]"


def _end(text: str, decimal: str) -> Bound | None:
    sign = -1 if text[:1] in ("-", "−") else 1
    endless = _ENDLESS.get(text.lstrip("+-−").lower())
    return number_of(text, decimal) if endless is None else sign * endless


def _beyond(end: Bound, *, is_whole: bool) -> Bound:
    return math.floor(end) + 1 if is_whole else end + _HAIR


def _held_by(
    bands: Mapping[int, Band], old: CodedVariable, pairs: Codes, decimal: str, *, is_alone: bool
) -> tuple[dict[int, Codes], bool]:
    """Return the values in each band, and whether bands touch so that one of two has to be chosen.

    Nothing where bands are none of these values: these are no numbers, or hardly any lies in the
    band that it became (months, read as years). Where all categories are bands, each of which ends
    at the value that the next begins with, that value is of the one that has it in the file, else
    of the upper.
    """
    numbers = {
        code: number
        for code in range(1, old.n_codes)
        if (number := number_of(old.values[code], decimal)) is not None
    }
    order = sorted(numbers, key=numbers.__getitem__)
    ranked = [numbers[code] for code in order]
    ordered = sorted(bands, key=lambda code: (bands[code].low, bands[code].high))
    ends = {code: (bisect_left(ranked, bands[code].low), bisect_left(ranked, bands[code].high))
            for code in ordered}  # fmt: skip
    beside = list(pairwise(ordered))
    ends_meet = is_alone and bool(beside)
    ends_meet = ends_meet and all(bands[a].high - bands[b].low in (1, _HAIR) for a, b in beside)
    if ends_meet:
        seen = {(numbers.get(own), band) for own, band in pairs.tolist()}
        upper = any((bands[b].low, b) in seen for _, b in beside)
        lower = any((bands[b].low, a) in seen for a, b in beside)
        for a, b in beside if not (upper and lower) else ():
            find = bisect_right if lower else bisect_left
            cut = find(ranked, bands[b].low)
            ends[a], ends[b] = (ends[a][0], cut), (cut, ends[b][1])
    places = np.array(order, dtype=np.int64)
    found = {code: places[first:last] for code, (first, last) in ends.items()}
    is_whole = all(number.denominator == 1 for number in ranked)
    wider = [
        (code, band)
        for code in range(1, old.n_codes)
        if code not in numbers
        and (band := _band(old.words[code], decimal, is_whole=is_whole)) is not None
    ]
    for code in found if wider else ():
        also = [own for own, band in wider if band.overlap(bands[code]) is not None]
        found[code] = np.concatenate([found[code], np.array(also, dtype=np.int64)])
    rank = {code: place for place, code in enumerate(order)}
    agree = [
        ends[there][0] <= rank[own] < ends[there][1]
        for own, there in pairs.tolist()
        if there in ends and own in rank
    ]
    is_other = len(agree) >= _ENOUGH and sum(agree) < len(agree) * _AGREE
    is_read = bool(numbers or wider) and not is_other
    return (found if is_read else {}), ends_meet and is_read


def _is_nested(sets: list[Codes], n_values: int) -> bool:
    """Tell whether every two sets share nothing or one holds the other; only single values equal."""
    inmost = np.full(n_values, -1)
    ordered = sorted(sets, key=len, reverse=True)
    for number, own in enumerate(ordered):
        around = np.unique(inmost[own])
        if len(around) > 1:
            return False
        if len(own) > 1 and around[0] >= 0 and len(ordered[around[0]]) == len(own):
            return False
        inmost[own] = number
    return True


def _unread(
    old: CodedVariable, new: CodedVariable, yours: Codes, sets: CellSets | None, decimal: str
) -> int:
    """Return how many released categories are no value of the original, no number, and none that is read."""
    same = set(_same_words(old, new).tolist())
    return sum(
        code not in same
        and number_of(new.words[code], decimal) is None
        and (sets is None or not sets.sizes[code])
        for code in np.unique(yours[yours != MISSING]).tolist()
    )


def _words(new: CodedVariable, codes: Codes) -> tuple[str, ...]:
    top = int(codes.max(initial=0))
    more = [f"not released {number}" for number in range(1, top - new.n_codes + 2)]
    return (*new.words, *more)
