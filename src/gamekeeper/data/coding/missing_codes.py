"""Values that look like codes for missing, such as NA, -9 or 999, and are read as values.

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
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from statistics import median

from gamekeeper.data.coding.codebook import MISSING, CodedVariable
from gamekeeper.data.coding.coded_table import CodedTable

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
