"""What the codes of a file mean: per variable the values and the words of its codes, and recodings.

Code 0 is the missing cell of every variable. The values of a variable have the codes 1, 2, ... in
the order of their size when all are numbers, and else in the order of their text, so that codes
depend on the values that occur and never on the order of records. Where values come with an order
of their own, as ordered categories of a data frame do, codes follow it.

Values that look like codes for missing, such as NA, -9 or 999, and are read as values.

R writes NA into text files, other programs a dot or an agreed number. Read as a value, such a code
is a category of its own, and records seem to be alike or alone that are not. A value is suspected if
it is frequent (in two records or more, and in one of 200: a rarer one hardly changes a count) and

- it is a word or sign that stands for nothing else: NA, null, a dot, a question mark, a star;
- it is a word that may mean something, such as none, where all other values are numbers;
- it is a number as 99 or -9 (or 88 beside 99, which goes with it) that lies apart from all other
  numbers of its column: the gap is three times as wide as most others and a tenth of the number
  (any wider gap will do where only such codes are negative), or, among words, there is no other
  number. Ages of 0 to 99 without such a gap raise no suspicion;
- it is -1 where no other number is negative, and the others go up to 3 at least: a scale of -1, 0
  and 1 is none.

A number with a label of its own means what the label says. Costs a look at every different value.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import pairwise
from statistics import median
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from gamekeeper.algorithms.categories.partitions import Partition
from gamekeeper.data.reading.columns import number_of
from gamekeeper.errors import InputError, Problem, Reason
from gamekeeper.wording import count_of, did_you_mean, quoted

if TYPE_CHECKING:
    from gamekeeper.data.coding.coded_table import CodedTable

MISSING = 0
"""The code of a missing cell in every variable."""

_MISSING_WORD = "missing"
# Whole numbers are compared some twenty times faster than fractions: a million identifiers are
# sorted in seconds and not in a minute.
_MOST_DIGITS = 18
_LARGEST_SCALE = 10**30


def sorted_values(values: Iterable[str], decimal: str = ".") -> list[str]:
    """Return values in the order of their codes: by size when all are numbers, else by text.

    Numbers of the same size that are written differently, such as `7` and `007`, are different
    values and follow the order of their text.

    >>> sorted_values(["10", "9", "007"])
    ['007', '9', '10']
    >>> sorted_values(["10", "9", "x"])
    ['10', '9', 'x']
    """
    texts = list(values)
    if all(len(text) <= _MOST_DIGITS and text.isascii() and text.isdigit() for text in texts):
        return sorted(texts, key=lambda text: (int(text), text))
    numbers: list[Fraction] = []
    for text in texts:
        number = number_of(text, decimal)
        if number is None:
            return sorted(texts)
        numbers.append(number)
    scale = 1
    for denominator in {number.denominator for number in numbers}:
        scale = math.lcm(scale, denominator)
    if scale > _LARGEST_SCALE:
        return [text for _, text in sorted(zip(numbers, texts, strict=True))]
    whole = (number.numerator * (scale // number.denominator) for number in numbers)
    return [text for _, text in sorted(zip(whole, texts, strict=True))]


@dataclass(frozen=True, repr=False)
class CodedVariable:
    """A variable of a coded file.

    - `words`: what each code means in words, all different; `words[0]` is "missing".
    - `values`: the value in the file as text per code; empty at code 0.
    - `label`: what the file says about the variable; empty when it says nothing.
    - `order`: the order that came with the values, if one did: these and perhaps others that no record has.

    >>> sex = CodedVariable.of_values("sex", ["1", "2"], labels={"1": "male", "2": "female"})
    >>> sex.words
    ('missing', 'male', 'female')
    >>> sex
    CodedVariable('sex', 2 categories)
    """

    name: str
    words: tuple[str, ...]
    values: tuple[str, ...]
    label: str = ""
    order: tuple[str, ...] = ()

    @classmethod
    def of_values(
        cls,
        name: str,
        values: Iterable[str],
        *,
        labels: Mapping[str, str] | None = None,
        label: str = "",
        decimal: str = ".",
        order: Sequence[str] = (),
    ) -> CodedVariable:
        """Return the variable whose codes are the given values in their order.

        Values of `order` come first, as they are there. Where two values have the same word, each
        gets its value in brackets.
        """
        given = set(values)
        first = [value for value in order if value in given]
        ordered = [*first, *sorted_values(given.difference(first), decimal)]
        known = labels or {}
        words = _distinct([known.get(value, "") or value for value in ordered], ordered)
        return cls(name, (_MISSING_WORD, *words), ("", *ordered), label, tuple(order))

    @property
    def n_codes(self) -> int:
        """The number of codes, with the one of a missing cell."""
        return len(self.words)

    def __repr__(self) -> str:
        categories = count_of(self.n_codes - 1, "category", "categories")
        return f"CodedVariable({quoted([self.name])}, {categories})"


@dataclass(frozen=True, repr=False)
class Codebook:
    """The coded variables of a file, by name.

    Examples
    --------
    >>> book = Codebook((CodedVariable.of_values("age", ["9", "10"]),))
    >>> book["age"].values, book.names
    (('', '9', '10'), ('age',))
    """

    variables: tuple[CodedVariable, ...]

    @cached_property
    def names(self) -> tuple[str, ...]:
        """The names of the variables, in their order."""
        return tuple(variable.name for variable in self.variables)

    @cached_property
    def _by_name(self) -> dict[str, CodedVariable]:
        return {variable.name: variable for variable in self.variables}

    def __getitem__(self, name: str) -> CodedVariable:
        found = self._by_name.get(name)
        if found is not None:
            return found
        raise InputError(
            Reason.UNKNOWN_NAME,
            f"Variable {quoted([name])} was asked for.",
            "It is not among the coded variables.",
            did_you_mean(name, self.names),
        )

    def __contains__(self, name: object) -> bool:
        return name in self._by_name

    def __iter__(self) -> Iterator[CodedVariable]:
        return iter(self.variables)

    def __len__(self) -> int:
        return len(self.variables)

    def __repr__(self) -> str:
        return f"Codebook({count_of(len(self.variables), 'variable')})"


def _distinct(words: list[str], values: list[str]) -> list[str]:
    """Return the words, with the value in brackets wherever a word is not alone."""
    told_apart: tuple[Callable[[int], str], ...] = (
        lambda place: f"{words[place]} ({values[place]})",
        lambda place: f"{words[place]} ({values[place]}) ({place + 1})",
    )
    shown = list(words)
    for tell in told_apart:
        counts = Counter((_MISSING_WORD, *shown))
        shown = [tell(place) if counts[word] > 1 else word for place, word in enumerate(shown)]
    return shown


@dataclass(frozen=True, repr=False, eq=False)
class Recode:
    """How the codes of a variable become coarser ones.

    - `codes`: the new code of each old code; place 0 is the missing cell.
    - `words`: what each new code means; place 0 is the missing cell.
    - `name`: the name of the new variable; the old one when empty.

    Examples
    --------
    >>> coarse = Recode("age", [0, 1, 1, 2], ("missing", "young", "old"))
    >>> coarse.codes.tolist(), coarse.new_name
    ([0, 1, 1, 2], 'age')
    """

    variable: str
    codes: npt.NDArray[np.int64]
    words: tuple[str, ...]
    name: str = ""

    def __init__(
        self, variable: str, codes: npt.ArrayLike, words: Sequence[str], name: str = ""
    ) -> None:
        object.__setattr__(self, "variable", variable)
        object.__setattr__(self, "codes", _checked(variable, codes, len(words)))
        object.__setattr__(self, "words", tuple(words))
        object.__setattr__(self, "name", name)

    @classmethod
    def by_words(
        cls, variable: str, words: Sequence[str], first: Sequence[str] = (), name: str = ""
    ) -> Recode:
        """Return the recoding by which each old code gets a word: codes of the same word are one.

        New codes are in the order of `first`, then in that in which words come; `words[0]` is that
        of a missing cell, which stays by itself.

        Examples
        --------
        >>> Recode.by_words("age", ["missing", "old", "young", "old"], ["young"]).codes.tolist()
        [0, 2, 1, 2]
        """
        used = set(words[1:])
        made = list(dict.fromkeys([*(word for word in first if word in used), *words[1:]]))
        place = {word: code for code, word in enumerate(made, 1)}
        codes = [MISSING, *(place[word] for word in words[1:])]
        return cls(variable, codes, (words[MISSING], *made), name)

    @property
    def partition(self) -> Partition:
        """Which old codes become one, whatever they are called then."""
        return Partition.from_labels(self.codes)

    @property
    def new_name(self) -> str:
        """The name of the recoded variable."""
        return self.name or self.variable

    def __repr__(self) -> str:
        return f"Recode({quoted([self.variable])}, {len(self.codes)} codes to {len(self.words)})"


@dataclass(frozen=True, slots=True)
class Change:
    """What a recoding did to a variable.

    - `before`, `after`: how many categories it had, and has.
    - `way`: the rule as it is written, which may name categories.
    """

    variable: str
    before: int
    after: int
    way: str

    @property
    def text(self) -> str:
        """What was done and by which rule."""
        return f"{self._words} ({self.way})."

    @property
    def outline(self) -> str:
        """What was done, without the rule: for people who may not know of categories."""
        return f"{self._words}."

    @property
    def _words(self) -> str:
        name = quoted([self.variable])
        if self.before == self.after:
            return f"{name}: no categories are put together"
        became = count_of(self.before, "category becomes", "categories become")
        return f"{name}: {became} {self.after:,}"


def _checked(variable: str, codes: npt.ArrayLike, n_words: int) -> npt.NDArray[np.int64]:
    array = np.asarray(codes)
    found = ""
    if array.ndim != 1 or array.size == 0 or not np.issubdtype(array.dtype, np.integer):
        found = "The new codes are not one row of integers."
    else:
        outside = int(np.count_nonzero((array < 0) | (array >= n_words)))
        if outside:
            found = (
                f"{count_of(outside, 'code')} of {array.size:,} "
                f"{'has' if outside == 1 else 'have'} no word: there are {n_words:,} words."
            )
    if found:
        raise InputError(
            Reason.BAD_OPTION,
            f"Variable {quoted([variable])} was to be recoded.",
            found,
            "Give one new code per old code, each a place in the list of words.",
            problems=[Problem(Reason.BAD_OPTION, f"variable {quoted([variable])}", found)],
        )
    fixed = array.astype(np.int64)
    fixed.setflags(write=False)
    return fixed


_LEAST_RECORDS = 2
_LEAST_SHARE = 0.005
_GAPS = 3
_LEAST_TOP = 3

_SIGNS = frozenset({".", "..", "...", "-", "--", "?", "??", "*", "**", "#", "\\n"})
_WORDS = frozenset(
    {"na", "n/a", "n.a.", "#n/a", "<na>", "nan", "nat", "null", "(null)", "nil", "missing",
     "(missing)", "not available", "no answer", "not stated"}
)  # fmt: skip
# These may be what people answered.
_WORDS_AMONG_NUMBERS = frozenset({"none", "unknown", "refused", "inf"})
_MOST_LETTERS = 16
_NINES = frozenset(int("9" * length) for length in range(1, 8))
_BESIDE_NINES = {int(digit * length) for digit in "78" for length in range(1, 8)}
_BEFORE_NINES = {10**length - less for length in range(2, 8) for less in (2, 3)}
ABOVE = frozenset(_NINES | _BESIDE_NINES | _BEFORE_NINES)
"""Numbers above all others that are usual as codes for missing: 9, 99, 98, 97, 88, 77 and longer ones."""
_BELOW_ZERO = ABOVE | set(range(1, 10))
_BELOW = frozenset(-number for number in _BELOW_ZERO)
_TEXTS = _SIGNS | _WORDS | _WORDS_AMONG_NUMBERS | {str(number) for number in ABOVE | _BELOW}
# Among words a 7 or a 9 may be a category; 77 and more hardly are.
_LEAST_AMONG_WORDS = 77


@dataclass(frozen=True, slots=True)
class SuspectedCode:
    """A value that looks like a code for missing; it is one of a fixed list of such codes."""

    variable: str
    value: str
    n_records: int


def suspected_codes(
    table: CodedTable, *, known: Mapping[str, Collection[str]] | None = None, decimal: str = "."
) -> list[SuspectedCode]:
    """Return the values of a table that look like codes for missing.

    - `known`: by variable, values of which somebody has said what they mean.

    >>> from gamekeeper.data.coding.source_coding import code_frame
    >>> import pyarrow as pa
    >>> people = pa.table({"age": ["34", "NA", "52", "NA"], "sex": ["1", "2", "2", "1"]})
    >>> suspected_codes(code_frame(people, ["age", "sex"]))
    [SuspectedCode(variable='age', value='NA', n_records=2)]
    """
    found: list[SuspectedCode] = []
    looked_at = [
        variable.name
        for variable in table.codebook
        if any(_may_be_code(value) for value in variable.values[MISSING + 1 :])
    ]
    for name, counted in table.counts(looked_at).items():
        variable, counts = table.codebook[name], counted.tolist()
        told = (known or {}).get(name, ())
        found += [
            SuspectedCode(name, variable.values[code], counts[code])
            for code in suspected_values(variable, counts, decimal)
            if variable.values[code] not in told
        ]
    return found


def suspected_values(
    variable: CodedVariable, counts: Sequence[int], decimal: str = "."
) -> list[int]:
    """Return the codes of a variable whose values look like codes for missing.

    `counts` has the number of records of each code.

    >>> sex = CodedVariable.of_values("sex", ["1", "2", "9"])
    >>> suspected_values(sex, [0, 50, 48, 2])
    [3]
    """
    least = max(_LEAST_RECORDS, math.ceil(_LEAST_SHARE * sum(counts)))
    present = [code for code in range(MISSING + 1, variable.n_codes) if counts[code]]
    numbers: dict[int, float] = {}
    for code in present:
        number = _number(variable.values[code], decimal)
        if number is not None:
            numbers[code] = number
    words = [code for code in present if code not in numbers]
    suspected = {code for code in words if _is_word(variable, code, _SIGNS | _WORDS)}
    if numbers and all(
        code in suspected or _is_word(variable, code, _WORDS_AMONG_NUMBERS) for code in words
    ):
        suspected.update(words)
    others = [code for code in words if code not in suspected]
    suspected |= _numbers_apart(
        {code: number for code, number in numbers.items() if not _has_label(variable, code)},
        others=[number for code, number in numbers.items() if _has_label(variable, code)],
        is_among_words=bool(others)
        and not any(letter.isdigit() for code in others for letter in variable.values[code]),
    )
    # A label that says so is as good as the code.
    suspected.update(
        code
        for code in numbers
        if _has_label(variable, code) and variable.words[code].casefold() in _WORDS
    )
    return sorted(code for code in suspected if counts[code] >= least)


def _may_be_code(value: str) -> bool:
    """Tell quickly whether a value could be one of the codes."""
    if len(value) > _MOST_LETTERS:
        return False
    bare = value.casefold()
    return bare in _TEXTS or bare.rstrip("0").rstrip(".,") in _TEXTS


def _number(text: str, decimal: str) -> float | None:
    # Not exactly, as codes are: of a million values that would take seconds.
    if not text[-1:].isdigit() or "_" in text or (decimal == "," and "." in text):
        return None
    try:
        number = float(text.replace(decimal, "."))
    except ValueError:
        return None
    return number if math.isfinite(number) else None


def _is_word(variable: CodedVariable, code: int, known: Collection[str]) -> bool:
    return variable.values[code].casefold() in known


def _has_label(variable: CodedVariable, code: int) -> bool:
    return variable.words[code] != variable.values[code]


def _numbers_apart(
    numbers: Mapping[int, float], *, others: Sequence[float], is_among_words: bool
) -> set[int]:
    """Return the codes of numbers that lie apart from the rest, and are usual as codes."""
    if is_among_words:
        usual = all(number in ABOVE or number in _BELOW for number in numbers.values())
        return {
            code
            for code, number in numbers.items()
            if usual and (number < 0 or number >= _LEAST_AMONG_WORDS)
        }
    every = sorted({*numbers.values(), *others})
    are_codes = all(n >= 0 or n in (-1, -2) or -n in ABOVE for n in every)
    apart = {
        *(_run(every, ABOVE, _GAPS) if every and every[-1] in _NINES else ()),
        *(-n for n in _run([-n for n in reversed(every)], _BELOW_ZERO, 1 if are_codes else _GAPS)),
    }
    left = [number for number in every if number not in apart]
    if left and left[0] == -1 and left[-1] >= _LEAST_TOP and sum(n < 0 for n in left) == 1:
        apart.add(-1.0)
    return {code for code, number in numbers.items() if number in apart}


def _run(ordered: Sequence[float], codes: Collection[float], gaps: int) -> list[float]:
    """Return the last numbers if they are codes and a gap so many times as wide lies before them."""
    place = len(ordered)
    while place > 2 and ordered[place - 1] in codes:
        place -= 1
        # The median: a long tail has wide steps.
        usual = median(high - low for low, high in pairwise(ordered[:place]))
        gap = ordered[place] - ordered[place - 1]
        if gap > usual and gap >= gaps * usual and 10 * gap >= ordered[place]:
            return list(ordered[place:])
    return []
