"""Which sinks of a variable the texts of a file mean, and when that is to be asked.

A text means a category by its name, a number or a band by its place. But a column of age groups that
are coded 1 to 8 reads like ages of 1 to 8. Numbers may be codes where they are whole, few and small
(25 at most) and hardly leave a gap (half of the numbers up to the largest occur, so that an empty
band or two do not matter), while the variable goes further: beyond 10, or in bands wider than 1.
Which of the two they are only a person can tell.
"""

from __future__ import annotations

import math
import shlex
from fractions import Fraction

from gamekeeper.algorithms.categories.bands import parse_band
from gamekeeper.algorithms.categories.partitions import bits
from gamekeeper.data.coding.codebook import ABOVE, MISSING, CodedVariable
from gamekeeper.data.reading.columns import number_of
from gamekeeper.errors import InputError, Reason
from gamekeeper.mapping.variables.codes import Variable
from gamekeeper.wording import count_of, folded, quoted

_LARGEST_CODE = 25
_FEW = 10
_MISSING = frozenset(number for number in ABOVE if number > _LARGEST_CODE)


class SinkFinder:
    """Finds the sinks that a text stands for.

    A text is a category of the variable by its name, case and accents aside; on the interval scale
    a number is the band that it lies in, and a band whatever it overlaps.
    """

    def __init__(self, variable: Variable, decimal: str = ".") -> None:
        self.variable = variable
        self.decimal = decimal
        self._names: dict[str, str | None] = {}
        for name in variable.graph.categories:
            # Two categories that fold to the same are told apart by their exact names only.
            fold = folded(name)
            self._names[fold] = None if fold in self._names else name

    def sinks(self, text: str) -> list[int]:
        """Return the sinks of a text, by their places; none where it is not known."""
        graph = self.variable.graph
        name = self.variable.resolve(text) or self._names.get(folded(text))
        if name is not None:
            return bits(graph.sink_set(name))
        if self.variable.space is None:
            return []
        bands = [self.variable.bands[sink] for sink in graph.sinks]
        number = number_of(text, self.decimal)
        if number is not None:
            return [place for place, band in enumerate(bands) if band.low <= number < band.high]
        try:
            asked = parse_band(text, self.variable.style).within(self.variable.space)
        except InputError:
            return []
        if not self.variable.space.holds(asked):
            return []
        return [place for place, band in enumerate(bands) if band.overlap(asked) is not None]

    def texts(self, column: CodedVariable, code: int) -> list[str]:
        """Return what a code of a column is looked up by: its words, then its value.

        The value of words that stand for another thing, such as 7 for "65 and over", is no number.
        """
        word, value = column.words[code], column.values[code]
        return [word] if word == value or self.variable.space is not None else [word, value]

    def of(self, column: CodedVariable, code: int) -> list[int]:
        """Return the sinks of a code of a column; none where it is not known."""
        return next((found for text in self.texts(column, code) if (found := self.sinks(text))), [])

    def may_be_codes(self, column: CodedVariable) -> list[int]:
        """Return the codes of a column that are read as numbers and may be codes of bands.

        Examples
        --------
        >>> age = SinkFinder(Variable.of_bands("Age", ["0-15", "16-64", "65+"]))
        >>> age.may_be_codes(CodedVariable.of_values("age", ["1", "2", "3"]))
        [1, 2, 3]
        >>> age.may_be_codes(CodedVariable.of_values("age", ["1", "2", "34"]))
        []
        """
        if self.variable.space is None:
            return []
        places: dict[int, list[int]] = {}
        numbers: set[Fraction] = set()
        for code in range(MISSING + 1, column.n_codes):
            text = column.values[code]
            number = number_of(text, self.decimal) if column.words[code] == text else None
            # What lies outside the range, such as -9, and what is no number is asked about anyway.
            if number is None or number in _MISSING or not (found := self.sinks(text)):
                continue
            if number < 0 or number > _LARGEST_CODE or number.denominator != 1:
                return []
            numbers.add(number)
            places[code] = found
        if not numbers or 2 * len(numbers) < max(numbers):
            return []
        bands = [self.variable.bands[sink] for sink in self.variable.graph.sinks]
        cut = max((band.low for band in bands if math.isfinite(band.low)), default=0)
        is_count = cut <= _FEW and all(
            bands[place].high - bands[place].low == 1 or bands[place].low == cut
            for found in places.values()
            for place in found
        )
        return [] if is_count else list(places)


def refuse_codes(finder: SinkFinder, column: CodedVariable) -> None:
    """Refuse a column whose numbers may be codes of bands."""
    found, do = asked_of_codes(finder, column)
    if found:
        asked = "The values of a column were to be looked up in the environment."
        raise InputError(Reason.UNMAPPED_VALUES, asked, found, do)


def asked_of_codes(finder: SinkFinder, column: CodedVariable) -> tuple[str, str]:
    """Return what was found and what to say, where numbers of a column may be codes of bands."""
    codes, name = finder.may_be_codes(column), finder.variable.name
    return codes_or_numbers(column.name, name, len(codes)) if codes else ("", "")


def codes_or_numbers(
    column: str, variable: str, n_values: int, records: str = ""
) -> tuple[str, str]:
    """Return the question whether small whole numbers are codes or numbers, and how it is answered."""
    n_numbers = count_of(n_values, "small whole number") + (f" in {records}" if records else "")
    found = (
        f"the column {quoted([column])} has {n_numbers}, which may be codes of bands or numbers of"
        f" {quoted([variable])}."
    )
    do = (
        f"Say which: if they are numbers, add --numbers {shlex.quote(variable)}; if they are codes,"
        " give the category of each by --values."
    )
    return found, do
