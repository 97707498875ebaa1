"""Which sinks of a variable a text means: a category by name, a number or a band by its place."""

from __future__ import annotations

from collections.abc import Iterable

from gamekeeper.algorithms.categories.bands import parse_band
from gamekeeper.algorithms.categories.graph_property import bits
from gamekeeper.data.reading.numerals import number_of
from gamekeeper.errors import InputError
from gamekeeper.mapping.variables.variable import Variable
from gamekeeper.wording import folded


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

    def first_of(self, texts: Iterable[str]) -> list[int]:
        """Return the sinks of the first text that is known."""
        return next((found for text in texts if (found := self.sinks(text))), [])
