"""Labels of an axis that may be sums of others: such a table is questioned, not computed.

Every attack takes the categories of an axis to exclude each other. Where a column has 'A', 'A01' and
'A02', that may be wrong, and bounds that look wide and tight would be an assurance without a ground:
a hidden 'A02' is 'A' less 'A01'. Labels are suspected

- by their words: 'Total', 'All ages', 'insgesamt', 'Both sexes', '_T', as statistical offices write
  in their languages, and the codes of their exchange formats. A word is a reason to ask, never to
  conclude: 'Both' beside 'Car' and 'Bike' is a category like any other;
- by codes, ranges and bands: 'A' may hold 'A01' and 'A02', 'DE1' may hold 'DE11', '10' may hold
  '10.1', 'C10-C12' holds 'C11', '0-14' holds '0-4'. What merely begins alike does not: '1' and '10',
  'R1' and 'R10' where regions are numbered, 'North' and 'North East', 'I' and 'II', 'N' and 'NE';
- by published counts that add up (`algorithms.releases.published_sums`).

Published counts can also clear a suspicion: what is a sum cannot have fewer people than its parts,
whatever the rounding allows, and where a margin is published that is the sum of all labels, nobody
was counted twice. A label with more people than its parts is not cleared: not all of its parts may
be published.

Where nothing speaks for a sum, a label may be one all the same, if counts are hidden or rounded that
would tell. A table like that is computed, but what follows if its labels exclude each other is not
called open, tight or met (`assumed_disjoint`): most tables with their totals are cleared by them.
"""

from __future__ import annotations

import math
import re
from collections.abc import Collection, Generator, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from gamekeeper.algorithms.categories.bands import Band, BandStyle, parse_band
from gamekeeper.algorithms.releases.constraints import UNBOUNDED
from gamekeeper.algorithms.releases.published_sums import Lines, find_sums, possible_sums
from gamekeeper.data.tables.axes import Axis, PublishedTable, unknown_axes
from gamekeeper.errors import InputError, Problem, Reason
from gamekeeper.wording import count_of, quoted

Nested = dict[int, tuple[int, ...]]
"""For each label that may hold others, by number, the others that are next below it."""

_CODE = re.compile(r"[^\W_]+(?:[._:/-]?[^\W_]+)*")
_PHRASE = re.compile(r"\s*(?:[:>|;/,–—-]\s|\()")
_RANGE = re.compile(r"([A-Za-z]+)(\d*)\s?[-–]\s?([A-Za-z]*)(\d*)", re.ASCII)
_PARTS = re.compile(r"([A-Za-z]+)(\d*)", re.ASCII)
# 'A.2' is a code, although 'a' is a word for 'up to' somewhere.
_DOTTED_CODE = re.compile(r"[A-Za-z][.:/-]\d+")
_AGE_CODE = re.compile(r"Y_?(?:(GE)|(LT))?_?(\d+)(-\d+)?")
_ROMAN = frozenset("IVXLCDM")
_COMPASS = frozenset("NESW")
_SEPARATORS = "._:/-"
_DIGITS = "0123456789"
_LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
_LONGEST_STEM = 4
_LONGEST_LETTERS = 3
_FEW_GAPS = 0.7
_MOST_BANDS = 1_000


def nested_codes(labels: Sequence[str]) -> Nested:
    """Return the codes that may hold others because these begin with them.

    One part is enough where letters are followed by digits; where a number or a word goes on, it
    takes two, and numbers that count on ('R1' to 'R12') are no codes. Bare numbers are plain ones
    unless all of them make up levels of codes.

    >>> nested_codes(["A", "A01", "A02", "B"]), nested_codes(["1", "2", "10", "11"])
    ({0: (1, 2)}, {})
    """
    numbered = _numbered(labels)
    sure: dict[int, list[int]] = {}
    doubtful: dict[int, list[int]] = {}
    for place, beginnings in _beginnings(labels):
        for whole in beginnings:
            doubt = _doubt(labels[whole], labels[place][len(labels[whole]) :], numbered)
            if doubt is not None:
                (doubtful if doubt else sure).setdefault(whole, []).append(place)
                break
    for whole, parts in doubtful.items():
        if len(parts) > 1 or whole in sure:
            sure.setdefault(whole, []).extend(parts)
    return {whole: tuple(sorted(set(parts))) for whole, parts in sorted(sure.items())}


def begins_alike(labels: Sequence[str]) -> Nested:
    """Return every label that others begin with, whatever it means: for counts to decide.

    >>> begins_alike(["1", "11", "12", "2", "North", "North East"])
    {0: (1, 2), 4: (5,)}
    """
    found: dict[int, list[int]] = {}
    for place, beginnings in _beginnings(labels):
        whole = next(beginnings, None)
        if whole is not None:
            found.setdefault(whole, []).append(place)
    return {whole: tuple(parts) for whole, parts in sorted(found.items())}


def _beginnings(labels: Sequence[str]) -> Iterator[tuple[int, Iterator[int]]]:
    """Return for each label, by number, the others that it begins with, the longest first."""
    places = {label: place for place, label in enumerate(labels)}
    for label, place in places.items():
        shorter = (places.get(label[:end].rstrip()) for end in range(len(label) - 1, 0, -1))
        yield place, (whole for whole in shorter if whole is not None and whole != place)


def nested_ranges(labels: Sequence[str]) -> Nested:
    """Return ranges of codes that hold at least two other labels.

    >>> nested_ranges(["B-E", "B", "C", "D", "F"]), nested_ranges(["C10-C12", "C10", "C11"])
    ({0: (1, 2, 3)}, {0: (1, 2)})
    """
    codes = {
        place: match for place, label in enumerate(labels) if (match := _PARTS.fullmatch(label))
    }
    found: Nested = {}
    for place, label in enumerate(labels):
        if (ends := _range(label)) is None:
            continue
        stem, first, other, last = ends
        parts = tuple(
            at
            for at, code in codes.items()
            if (
                code[1] == stem and len(code[2]) == len(first) and first <= code[2] <= last.zfill(len(first))
                if first
                else not code[2] and len(code[1]) == len(stem) and stem <= code[1] <= other
            )
        )  # fmt: skip
        if len(parts) > 1:
            found[place] = parts
    return found


def nested_bands(labels: Sequence[str]) -> Nested:
    """Return bands of numbers that hold another band, or at least two single numbers.

    >>> nested_bands(["0-14", "0-4", "5-14", "15+"]), nested_bands(["1-4", "5-9", "10+", "10"])
    ({0: (1, 2)}, {})
    """
    bands = {place: band for place, label in enumerate(labels) if (band := _band(label))}
    wide = {place: band for place, band in bands.items() if band.high - band.low > 1}
    if len(bands) > _MOST_BANDS:
        return {}
    found: Nested = {}
    for place, band in wide.items():
        inside = {at: own for at, own in bands.items() if own != band and band.holds(own)}
        if len(inside) < 2 and not inside.keys() & wide.keys():
            continue
        found[place] = tuple(
            at
            for at, own in inside.items()
            if not any(own != other and other.holds(own) for other in inside.values())
        )
    return found


def _numbered(labels: Sequence[str]) -> dict[str, bool]:
    """Return, by what stands before a number, whether labels are merely counted: 'R1' to 'R12'."""
    found: dict[str, set[str]] = {}
    for label in labels:
        stem = label.rstrip(_DIGITS)
        if stem != label:
            found.setdefault(stem, set()).add(label[len(stem) :])
    return {stem: _counts_on(stem, numbers) for stem, numbers in found.items()}


def _counts_on(stem: str, numbers: set[str]) -> bool:
    """Whether numbers count on with few gaps. Bare ones do, unless they are written as codes."""
    has_zeros = any(len(number) > 1 and number[0] == "0" for number in numbers)
    if not (stem or has_zeros or _has_levels(numbers)):
        return True
    values = {int(number) for number in numbers}
    return len(values) >= _FEW_GAPS * (max(values) - min(values) + 1)


def _has_levels(numbers: set[str]) -> bool:
    """Whether numbers are codes of several levels, as 1, 11, 12, 2, 21, 22 are in occupations.

    Each but the shortest goes on from another by one digit, those from the same one count on from 0
    or 1, and this is so of several from two at least.
    """
    shortest = min(map(len, numbers))
    digits: dict[str, list[int]] = {}
    for number in sorted(numbers):
        if len(number) > shortest:
            digits.setdefault(number[:-1], []).append(int(number[-1]))
    return sum(len(own) > 1 for own in digits.values()) > 1 and all(
        whole in numbers and own[0] <= 1 and own == [*range(own[0], own[0] + len(own))]
        for whole, own in digits.items()
    )


def _doubt(whole: str, rest: str, numbered: Mapping[str, bool]) -> bool | None:
    """Return whether it is doubtful that a code goes on with the rest; None where it does not."""
    part = whole + rest
    if " " in part:
        return True if _PHRASE.match(rest) else None
    band = _band(part)
    if not _CODE.fullmatch(part) or _range(part) or (band and band.high - band.low > 1):
        return None
    last, after = whole[-1], rest[0]
    has_digits = any(letter.isdecimal() for letter in part)
    stem = len(whole) - len(whole.rstrip(_LETTERS))
    if after in _SEPARATORS:
        is_number = whole.isdecimal() and rest[1:].isdecimal()
        return is_number or not has_digits or stem > _LONGEST_STEM
    if last.isdecimal():
        if after.isdecimal():
            return None if numbered[whole.rstrip(_DIGITS)] else True
        return whole.isdecimal()
    if after.isdecimal():
        return stem > _LONGEST_STEM
    letters = set(part.upper())
    is_code = stem <= _LONGEST_LETTERS and whole.isupper() and len(rest) == 1
    return True if is_code and not (letters <= _ROMAN or letters <= _COMPASS) else None


def _range(label: str) -> tuple[str, str, str, str] | None:
    """Return the letters and digits of both ends of a range of codes, 'C10-C12' or 'B-E'."""
    match = _RANGE.fullmatch(label)
    if match is None:
        return None
    stem, first, other, last = match.groups()
    if first and last and other in ("", stem) and int(first) < int(last):
        return stem, first, stem, last
    return (stem, "", other, "") if not first and len(stem) == len(other) and stem < other else None


def _band(label: str) -> Band | None:
    """Return the band that a label stands for, also as a code of Eurostat ('Y15-64', 'Y_GE65')."""
    if not any(letter.isdecimal() for letter in label) or _DOTTED_CODE.fullmatch(label):
        return None
    if match := _AGE_CODE.fullmatch(label):
        first = int(match[3])
        if match[1] or match[2]:
            return Band(first, math.inf) if match[1] else Band(-math.inf, first)
        label = f"{match[3]}{match[4] or ''}"
    try:
        return parse_band(label, BandStyle.INCLUSIVE)
    except InputError:
        return None


_ALONE = frozenset(
    """
    t tot ttl all sum both overall everyone everybody persons people whole combined together hm
    alle allen alles zusammen summe gesamtheit beide samen
    tous toutes tout somme deux
    todos todas ambos ambas suma conjunto tutti tutte somma insieme ambosessi
    alla samtliga båda summa ialt alt begge kaikki
    wszystkie wszyscy suma viso kopā iomlán
    """.split()  # noqa: SIM905 - a list of words reads best as words
)
_PHRASES = frozenset(
    (
        "i alt", "iš viso", "both sexes", "both genders", "male and female", "men and women",
        "males and females", "both kinds", "begge kjønn", "båda könen", "beide geschlechter",
        "beide geslachten", "les deux sexes", "deux sexes", "ambos sexos", "ambele sexe",
        "hommes et femmes", "männer und frauen", "mannen en vrouwen", "maschi e femmine",
        "w sumie", "in total", "en total", "au total", "in totale", "in totaal",
    )
)  # fmt: skip
_ANYWHERE = frozenset(
    """
    total totals subtotal subtotals subtot totaal totale totali totaux totales totais totalt totala
    gesamt insgesamt gesamtsumme zwischensumme ensemble
    ogółem razem łącznie celkem úhrnem spolu összesen yhteensä kokku pavisam
    ukupno skupaj toplam σύνολο συνολο всего итого общо вкупно укупно разом усього
    """.split()  # noqa: SIM905 - a list of words reads best as words
)
_ALL_OF = re.compile(
    r"all (?!times?\b)(?:\w+ )?(?:\w{2,}s|people|men|women|children)(?: .*)?"
    r"|alle \w{4,}|tous(?: les)? \w{3,}|toutes(?: les)? \w{3,}|todos los \w+|todas las \w+"
    r"|tutti i \w+|tutte le \w+"
)
_REST = frozenset(
    """
    other others else rest remaining andere anderen anderer sonstige sonstigen übrige übrigen overige
    autres autre demás otros otras altri altre
    """.split()  # noqa: SIM905 - a list of words reads best as words
)


def is_sum_of_all(label: str) -> bool:
    """Whether a label reads like the sum over all other labels of its axis.

    >>> [is_sum_of_all(label) for label in ("TOTAL", "All ages", "_T", "All others", "North")]
    [True, True, True, False, False]
    """
    words = _words(label)
    plain = " ".join(words)
    if plain in _PHRASES or (len(words) == 1 and (words[0] in _ALONE or words[0] in _ANYWHERE)):
        return True
    if plain in ("grand total", "sum total", "overall total", "total general", "total général"):
        return True
    return bool(_ALL_OF.fullmatch(plain)) and not _REST & set(words)


def is_sum_of_some(label: str) -> bool:
    """Whether a label reads like a sum, be it over all or over some other labels.

    >>> [is_sum_of_some(label) for label in ("Total_EAST", "North, total", "Totally agree")]
    [True, True, False]
    """
    return is_sum_of_all(label) or bool(_ANYWHERE & set(_words(label)))


def _words(label: str) -> list[str]:
    return re.findall(r"[^\W_]+", label.casefold().replace("sub-total", "subtotal"))


Integers = NDArray[np.int64]
Floats = NDArray[np.float64]

Disjoint = Collection[str] | bool
"""The axes whose categories are said to exclude each other: by name, all of them, or none."""

MOST_FIGURES = 4_000_000
"""So many figures of an axis are looked through for sums."""

_SHOWN = 6
_SHOWN_PARTS = 4
_INDENTS = ".·•@-\u2013\u2014> \u00a0"


@dataclass(frozen=True, slots=True)
class Subtotal:
    """A label that may be the sum of others.

    - `whole`, `parts`: the label, and those that it may hold; none where it reads like the sum of
      all others.
    - `why`: what speaks for it: "name", "code", "range", "band" or "counts"; "possible" where
      nothing does, and nothing speaks against it.
    """

    whole: str
    parts: tuple[str, ...]
    why: str

    def __str__(self) -> str:
        parts = quoted(self.parts, most=_SHOWN_PARTS) or "the others"
        said = {
            "name": "reads like a sum of",
            "code": "may hold, by its code,",
            "range": "is a range that holds",
            "band": "is a band that holds",
            "counts": "has the counts added up of",
            "possible": "could be the sum of" if len(self.parts) > 1 else "could be the same as",
        }
        return f"{quoted([self.whole])} {said[self.why]} {parts}."


def find_subtotals(axis: Axis, published: Sequence[PublishedTable]) -> tuple[Subtotal, ...]:
    """Return the labels of an axis that may be sums of others, each once.

    >>> from gamekeeper.algorithms.releases.schemes import Exact
    >>> code = Axis("code", ("A", "A01", "A02"))
    >>> table = PublishedTable("code", ("code",), Exact(), np.array([5, 3, -1]))
    >>> [str(one) for one in find_subtotals(code, [table])]
    ["'A' may hold, by its code, 'A01', 'A02'."]
    >>> table = PublishedTable("code", ("code",), Exact(), np.array([5, 3, 4]))
    >>> find_subtotals(code, [table])
    ()
    """
    labels = axis.categories
    if not labels:
        return ()
    tables = _lines(axis, published)
    margins = _margins(axis, published)
    found: dict[int, Subtotal] = {}
    for whole, parts, why in _suspected(labels, tables):
        if whole not in found and not _is_cleared(margins, parts):
            is_rest = why == "name" and len(parts) == len(labels) - 1
            named = () if is_rest else tuple(labels[part] for part in parts)
            found[whole] = Subtotal(labels[whole], named, why)
    return tuple(found[whole] for whole in sorted(found))


@dataclass(frozen=True, slots=True)
class AssumedDisjoint:
    """An axis of which nobody said that its labels exclude each other, and counts do not show it.

    - `sums`: the labels that could be sums of others, as far as they were found.
    - `is_all`: whether there are no more.
    """

    axis: str
    sums: tuple[Subtotal, ...]
    is_all: bool


def could_be_sums(
    axis: Axis, lower: Floats, upper: Floats, totals: Floats
) -> AssumedDisjoint | None:
    """Return an axis if one of its labels could be the sum of others by the limits of each line; else None.

    Limits and totals are those of `possible_sums`.
    """
    if lower.size > MOST_FIGURES:
        return AssumedDisjoint(axis.name, (), is_all=False)
    found, is_all = possible_sums(lower, upper, totals)
    names = axis.categories
    sums = tuple(
        Subtotal(names[whole], tuple(names[part] for part in parts), "possible")
        for whole, parts in found.items()
    )
    return None if is_all and not sums else AssumedDisjoint(axis.name, sums, is_all)


def assumed_disjoint(
    axes: Sequence[Axis], published: Sequence[PublishedTable], disjoint: Collection[str] = ()
) -> tuple[AssumedDisjoint, ...]:
    """Return the axes of a release on which labels could be sums of others, and nobody said that none is.

    >>> from gamekeeper.algorithms.releases.schemes import Exact
    >>> area = Axis("area", ("Brittany", "Finistere", "Morbihan"))
    >>> table = PublishedTable("area", ("area",), Exact(), np.array([12, -1, 8]))
    >>> print(assumed_disjoint([area], [table])[0].sums[0])
    'Brittany' could be the sum of 'Finistere', 'Morbihan'.
    """
    if any(_shows_all(axes, table) for table in published):
        return ()
    found: list[AssumedDisjoint] = []
    for axis in axes:
        tables = _lines(axis, published)
        # Groups say which categories make up which.
        is_told = axis.name in disjoint or any(axis.name in table.groups for table in published)
        if is_told or not tables:
            continue
        totals = [np.full(len(lower), -np.inf) for lower, _ in tables]
        margins = [(line, np.asarray(low, float)) for line, (low, _) in _margins(axis, published)]
        for line, low in margins:
            tables.append(line)
            totals.append(low)
        lower, upper = (np.concatenate(own).astype(float) for own in zip(*tables, strict=True))
        upper[upper >= UNBOUNDED] = np.inf
        made = could_be_sums(axis, lower, upper, np.concatenate(totals))
        found += [made] if made is not None else []
    return tuple(found)


def _shows_all(axes: Sequence[Axis], table: PublishedTable) -> bool:
    """Whether a table shows every cell of the base table as it is, so that nothing follows from sums."""
    lower, upper = table.limits
    return len(table.axes) == len(axes) and not table.groups and bool((lower == upper).all())


def question_subtotals(
    asked: str,
    axes: Sequence[Axis],
    published: Sequence[PublishedTable],
    disjoint: Collection[str] = (),
) -> None:
    """Refuse labels that may be sums of others, on axes that are not said to be disjoint."""
    problems: list[Problem] = []
    doubted: list[str] = []
    for axis in axes:
        found = () if axis.name in disjoint else find_subtotals(axis, published)
        doubted += [axis.name] if found else []
        problems += subtotal_problems(axis.name, found)
    if problems:
        raise InputError(
            Reason.POSSIBLE_SUBTOTALS,
            asked,
            f"Some labels of {quoted(doubted)} may be sums of others. Were they taken for categories"
            " that exclude each other, cells would look safer than they are.",
            "If nobody is counted under two of them, say so: --disjoint with the name of the axis"
            " (disjoint in Python). If somebody is, name a total with --total, or say how labels add up"
            " (--hierarchy of tables bounds).",
            problems=problems,
        )


def subtotal_problems(axis: str, found: Sequence[Subtotal]) -> list[Problem]:
    """Return labels that may be sums as problems, some of them in words."""
    said = [str(one) for one in found[:_SHOWN]]
    if len(found) > _SHOWN:
        said.append(f"{count_of(len(found) - _SHOWN, 'more label')} may be sums.")
    return [Problem(Reason.POSSIBLE_SUBTOTALS, f"axis {quoted([axis])}", one) for one in said]


@contextmanager
def asking(asked: str) -> Generator[None]:
    """Let a question about subtotals say what was asked, where the reader knows more of it."""
    try:
        yield
    except InputError as error:
        if error.reason is not Reason.POSSIBLE_SUBTOTALS:
            raise
        raise InputError(
            error.reason, asked, error.found, error.do, problems=error.problems
        ) from None


def disjoint_names(axes: Sequence[Axis], disjoint: Disjoint) -> tuple[str, ...]:
    """Return the names of the axes that are said to be disjoint."""
    if isinstance(disjoint, bool):
        return tuple(axis.name for axis in axes) if disjoint else ()
    return tuple(dict.fromkeys(disjoint))


def disjoint_problems(axes: Sequence[Axis], disjoint: Collection[str]) -> list[Problem]:
    """Return a problem for each axis that is said disjoint and is not there."""
    names = [axis.name for axis in axes]
    return unknown_axes(disjoint, names, "is said to be disjoint, and is not there.")


def _suspected(
    labels: Sequence[str], tables: Sequence[Lines]
) -> Iterator[tuple[int, tuple[int, ...], str]]:
    """Return labels with what they may hold, unless they have fewer people than that somewhere."""
    for whole, label in enumerate(labels):
        if not is_sum_of_some(label):
            continue
        others = tuple(other for other in range(len(labels)) if other != whole)
        possible = tuple(other for other in others if _can_hold(tables, whole, (other,)))
        if possible == others or (possible and not is_sum_of_all(label)):
            yield whole, possible, "name"
    labels = _bare(labels)
    for whole, parts in nested_codes(labels).items():
        if _can_hold(tables, whole, parts):
            yield whole, parts, "code"
    for why, nested in (("range", nested_ranges(labels)), ("band", nested_bands(labels))):
        # What a range or a band holds may overlap, so that its parts must not be added up.
        for whole, parts in nested.items():
            if all(_can_hold(tables, whole, (part,)) for part in parts):
                yield whole, parts, why
    for whole, parts in find_sums(tables, [list(begins_alike(labels).items())]):
        yield whole, parts, "counts"


def _bare(labels: Sequence[str]) -> Sequence[str]:
    """Return labels without the signs that indent them: '.A' and '..A01' are 'A' and 'A01'."""
    bare = [label.lstrip(_INDENTS) or label for label in labels]
    return bare if len(set(bare)) == len(bare) else labels


def _can_hold(tables: Sequence[Lines], whole: int, parts: tuple[int, ...]) -> bool:
    """Whether a label has at least the people of some others, in every line of every table."""
    return not any(
        np.any(lower[:, list(parts)].sum(axis=1) > upper[:, whole]) for lower, upper in tables
    )


def _is_cleared(margins: Sequence[tuple[Lines, Lines]], parts: tuple[int, ...]) -> bool:
    """Whether a published margin is the sum of all labels, and not of those without the parts."""
    for (lower, upper), (low, high) in margins:
        top = np.ones(upper.shape[1], bool)
        top[list(parts)] = False
        known = (upper < UNBOUNDED).all(axis=1)
        once = upper[known][:, top].sum(axis=1) < low[known]
        agrees = (lower[known].sum(axis=1) <= high[known]) & (
            upper[known].sum(axis=1) >= low[known]
        )
        if np.any(once & agrees):
            return True
    return False


def _lines(axis: Axis, published: Sequence[PublishedTable]) -> list[Lines]:
    """Return the limits of every table that has the labels of an axis as they are."""
    return [
        (_flat(lower, place), _flat(upper, place))
        for table in published
        if (place := _place(axis, table)) is not None
        for lower, upper in (table.limits,)
    ]


def _margins(axis: Axis, published: Sequence[PublishedTable]) -> list[tuple[Lines, Lines]]:
    """Return the limits of tables beside those of the same table summed over an axis."""
    plain = [table for table in published if not table.groups]
    found: list[tuple[Lines, Lines]] = []
    for table in plain:
        if (place := _place(axis, table)) is None:
            continue
        rest = [name for name in table.axes if name != axis.name]
        for margin in plain:
            if sorted(margin.axes) == sorted(rest):
                order = [margin.axes.index(name) for name in rest]
                low, high = (limits.transpose(order).reshape(-1) for limits in margin.limits)
                lower, upper = (_flat(limits, place) for limits in table.limits)
                found.append(((lower, upper), (low, high)))
    return found


def _place(axis: Axis, table: PublishedTable) -> int | None:
    if axis.name not in table.axes or axis.name in table.groups:
        return None
    return table.axes.index(axis.name)


def _flat(limits: Integers, place: int) -> Integers:
    moved = np.moveaxis(limits, place, -1)
    return moved.reshape(-1, moved.shape[-1])
