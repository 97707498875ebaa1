"""A variable of the data environment: its name, its scale and its one partition graph."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from gamekeeper.algorithms.categories.bands import Band, BandGraph, BandStyle, parse_band
from gamekeeper.algorithms.categories.graph_property import bits
from gamekeeper.algorithms.categories.partition_graph import PartitionGraph
from gamekeeper.algorithms.categories.partitions import Arbitrary, Partition
from gamekeeper.errors import InputError, Problem, Reason, refuse
from gamekeeper.mapping.names import name_problems
from gamekeeper.wording import count_of, did_you_mean, quoted

OUTSIDE = "outside this form's universe"
"""The category of everybody that a form does not ask; it takes the sinks that are left over."""

ELSE = "what no other answer of this form means"
"""The label of an answer, or of a box left empty, that takes the sinks that are left over."""

ALSO = "and by another question of this form"
"""The label between what two questions of a form tell of the same variable."""

RESERVED = (OUTSIDE, ELSE, ALSO)
"""Labels that are no categories."""

_ANY_DETAIL = "any level of detail"


class Scale(StrEnum):
    """What the order and the distances of categories mean."""

    NOMINAL = "nominal"
    ORDINAL = "ordinal"
    INTERVAL = "interval"


@dataclass(frozen=True)
class Variable:
    """A variable with its partition graph.

    On the ordinal scale the sinks of the graph are in order and every category is a run of
    neighbours. On the interval scale the categories are bands of a number; make such a variable
    with `of_bands`. Categories may be marked sensitive: to learn that somebody has one is worse
    than to learn another.

    Examples
    --------
    >>> age = Variable.of_bands("Age", ["under 16", "16-64", "65+"])
    >>> age.graph.sinks, age.resolve("65 and over")
    (('0-15', '16-64', '65+'), '65+')
    """

    name: str
    graph: PartitionGraph
    scale: Scale = Scale.NOMINAL
    description: str = ""
    style: BandStyle = BandStyle.INCLUSIVE
    bands: Mapping[str, Band] = field(default_factory=dict[str, Band])
    sensitive: frozenset[str] = frozenset()

    def __post_init__(self) -> None:
        problems = name_problems("variable", [self.name])
        problems += name_problems("category", self.graph.categories)
        problems += [
            Problem(
                Reason.BAD_NAME, f"category {quoted([name])}", "is a reserved name.", "Rename it."
            )
            for name in RESERVED
            if name in self.graph
        ]
        problems += [
            Problem(
                Reason.UNKNOWN_NAME,
                f"sensitive category {quoted([name])}",
                f"is not a category of {quoted([self.name])}.",
                did_you_mean(name, self.graph.categories),
            )
            for name in sorted(self.sensitive)
            if name not in self.graph
        ]
        if self.scale is not Scale.NOMINAL:
            problems += self._contiguity_problems()
        refuse(
            problems,
            f"The variable {quoted([self.name])} was asked for.",
            f"It has {count_of(len(problems), 'fault')}.",
        )

    @classmethod
    def of_bands(
        cls,
        name: str,
        bands: Iterable[str],
        *,
        style: BandStyle = BandStyle.INCLUSIVE,
        space: Band | None = None,
        description: str = "",
        sensitive: Iterable[str] = (),
    ) -> Variable:
        """Make a variable on the interval scale; its graph is worked out from the bands.

        `space` is the range of the variable, by default from 0 without an upper end. The graph
        depends on the bands alone, not on their order: it has them, the whole range and the
        sinks, each pointing to its largest parts. A sensitive band that is none of them is passed
        over.
        """
        if isinstance(bands, str):
            raise InputError(
                Reason.BAD_OPTION,
                f"The variable {quoted([name])} was asked for.",
                "Its bands are one string.",
                "Give a list of bands.",
            )
        given = list(bands)
        whole = space or Band(0, math.inf)
        grown = BandGraph.of(given, style, whole)
        keep = {parse_band(text, style).within(whole).name(style) for text in given}
        graph = grown.graph.prune(keep | {whole.name(style)}).deepen()
        known = grown.bands
        kept = {category: known[category] for category in graph.categories}
        marked = frozenset(sensitive).intersection(kept)
        return cls(name, graph, Scale.INTERVAL, description, style, kept, marked)

    @property
    def space(self) -> Band | None:
        """The range of a variable on the interval scale."""
        if not self.bands:
            return None
        return Band(
            min(b.low for b in self.bands.values()), max(b.high for b in self.bands.values())
        )

    def resolve(self, label: str) -> str | None:
        """Return the category that a label means, or None.

        A band may be written in any way that `parse_band` reads.
        """
        if label in self.graph:
            return label
        band = self._read(label)
        name = band.name(self.style) if band is not None else ""
        return name if name in self.bands else None

    def has_room_for(self, label: str) -> bool:
        """Tell whether a label is a band within the range, so that it could be a category."""
        band, space = self._read(label), self.space
        return band is not None and space is not None and space.holds(band)

    def words(self, categorization: Partition | Arbitrary) -> tuple[str, ...]:
        """Return the categories of a categorization in words.

        Examples
        --------
        >>> sex = Variable("Sex", PartitionGraph({"any": ["female", "male"]}))
        >>> sex.words(Partition.from_labels([0, 0]))
        ('any',)
        >>> age = Variable.of_bands("Age", ["0-17", "18-24", "25-64", "65+"])
        >>> age.words(Partition.from_labels([0, 0, 1, 0]))
        ('0-24 or 65+', '25-64')
        """
        if isinstance(categorization, Arbitrary):
            return (_ANY_DETAIL,)
        return self.words_of_blocks(categorization.blocks())

    def words_of_blocks(self, blocks: Iterable[list[int]]) -> tuple[str, ...]:
        """Return sets of sinks, by their numbers, in words."""
        return tuple(self._block_words(block) for block in blocks)

    def _block_words(self, block: list[int]) -> str:
        if not self.bands:
            return " or ".join(self.graph.cover(sum(1 << number for number in block)))
        joined: list[Band] = []
        for band in (self.bands[self.graph.sinks[number]] for number in block):
            if joined and joined[-1].high == band.low:
                joined[-1] = Band(joined[-1].low, band.high)
            else:
                joined.append(band)
        return " or ".join(band.name(self.style) for band in joined)

    def _read(self, label: str) -> Band | None:
        space = self.space
        if space is None:
            return None
        try:
            return parse_band(label, self.style).within(space)
        except InputError:
            return None

    def _contiguity_problems(self) -> list[Problem]:
        problems: list[Problem] = []
        for category in self.graph.categories:
            numbers = bits(self.graph.sink_set(category))
            if numbers[-1] - numbers[0] + 1 != len(numbers):
                inside = set(range(numbers[0], numbers[-1] + 1)) - set(numbers)
                problems.append(
                    Problem(
                        Reason.NOT_CONTIGUOUS,
                        f"category {quoted([category])}",
                        "is not a run of neighbours: it leaves out "
                        f"{quoted(self.graph.sinks[number] for number in sorted(inside))}.",
                        "Change the category, the order of the sinks, or the scale to nominal.",
                    )
                )
        return problems
