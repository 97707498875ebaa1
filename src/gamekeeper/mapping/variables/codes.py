"""Variables with their partition graphs, and codes of categorizations: C45.001, H7.001.

The letter says whether a form was seen with the categorization (C) or it only arose as a
harmonization (H); then comes the number of categories, 0 for arbitrary precision; then a running
number, of three digits or more. Codes belong to the environment: once given, a code means one
categorization for good. A harmonization that is observed later gets a C code, and its H code
stays as another name. A code whose meaning was lost, because an unrestricted edit changed the
categories themselves, is retired: it means nothing, and its number is not used again
(Smith and Elliot, section 3).

A code stands for a partition of the sinks, and is carried over a changed graph if it keeps its
meaning. Where sinks were split, the parts stay together; where sinks were merged, the code stays if
it never told them apart. Old and new sinks are related when one is known to be part of the other: by
their names, or on the interval scale by their numbers. Sinks that are related, directly or by way of
others, hang together. A code is kept when each of its blocks is made up of such clusters; as every
cluster has old and new sinks, the number of categories stays too. When a sink on either side is
related to none, the sample space is another one and no partition means what it meant.
"""

from __future__ import annotations

import math
import re
import unicodedata
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from enum import StrEnum

import numpy as np
from numpy.typing import NDArray

from gamekeeper.algorithms.categories.bands import Band, BandGraph, BandStyle, parse_band
from gamekeeper.algorithms.categories.partition_graph import PartitionGraph
from gamekeeper.algorithms.categories.partitions import Arbitrary, Partition, bits
from gamekeeper.algorithms.classes import DisjointSets
from gamekeeper.errors import InputError, Problem, Reason, refuse
from gamekeeper.wording import count_of, did_you_mean, folded, quoted, unfit_character

_LONGEST = 20_000


def clashes(kind: str, names: Iterable[str], known: Mapping[str, str]) -> list[Problem]:
    """Return a problem for every name that differs from another only in case or accents.

    `known` has the names that are there already by what they fold to.

    Examples
    --------
    >>> clashes("form", ["BANK"], {"bank": "Bank"})[0].found
    "differs from 'Bank' only in case, accents or white space."
    """
    seen = dict(known)
    problems: list[Problem] = []
    for name in names:
        other = seen.setdefault(folded(name), name)
        if other != name:
            found = f"differs from {quoted([other])} only in case, accents or white space."
            where = f"{kind} {quoted([name])}"
            problems.append(Problem(Reason.DUPLICATE, where, found, "Rename one of them."))
    return problems


def name_problems(kind: str, names: Iterable[str]) -> list[Problem]:
    r"""Return a problem for every name that is empty, too long, padded or holds unfit characters.

    Names may hold what writing systems need: joiners, no-break spaces, soft hyphens, marks of
    direction. They hold no control characters, line breaks or overrides of direction, which
    would change the text around them.

    Examples
    --------
    >>> name_problems("form", ["Bank", "B\u202eank"])[0].found
    'holds U+202E, a character that changes the text around it.'
    """
    faults = ((name, _name_fault(name)) for name in names)
    return [
        Problem(Reason.BAD_NAME, f"{kind} {quoted([name])}", fault, "Rename it.")
        for name, fault in faults
        if fault
    ]


def _name_fault(name: str) -> str:
    if not name:
        return "is empty."
    if len(name) > _LONGEST:
        return f"has {len(name):,} characters, and {_LONGEST:,} are the most."
    if unfit := unfit_character(name):
        return f"holds {unfit}."
    if name != name.strip():
        return "starts or ends with white space."
    # Letters, numbers, punctuation and symbols; marks and formats show only on one of these.
    if not any(unicodedata.category(letter)[0] in "LNPS" for letter in name):
        return "has no character that shows by itself."
    return ""


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
        asked = f"The variable {quoted([self.name])} was asked for."
        refuse(problems, asked, f"It has {count_of(len(problems), 'fault')}.")

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
            asked = f"The variable {quoted([name])} was asked for."
            found = "Its bands are one string."
            raise InputError(Reason.BAD_OPTION, asked, found, "Give a list of bands.")
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
                where = f"category {quoted([category])}"
                found = (
                    "is not a run of neighbours: it leaves out "
                    f"{quoted(self.graph.sinks[number] for number in sorted(inside))}."
                )
                do = "Change the category, the order of the sinks, or the scale to nominal."
                problems.append(Problem(Reason.NOT_CONTIGUOUS, where, found, do))
        return problems


ARBITRARY_CODE = "C0.001"
"""The code of arbitrary precision, on whatever forms."""

_CODE = re.compile(r"(?P<letter>[CH])(?P<size>0|[1-9]\d*)\.(?P<number>\d{3,})")


def is_code(text: str) -> bool:
    """Tell whether a text has the form of a code."""
    return _CODE.fullmatch(text) is not None


def code_order(code: str) -> tuple[str, int, int]:
    """Return the sort key of a code: letter, number of categories, running number.

    Examples
    --------
    >>> sorted(["C10.001", "H1.001", "C2.010", "C2.009"], key=code_order)
    ['C2.009', 'C2.010', 'C10.001', 'H1.001']
    """
    size, number = code[1:].split(".")
    return code[0], int(size), int(number)


class CodeRegister:
    """The codes of one variable with their meanings, and those that meant something once.

    It is immutable.

    Examples
    --------
    >>> register = CodeRegister().with_observed([Partition.from_labels([0, 0, 1])])
    >>> register = register.with_harmonizations([Partition.from_labels([0, 0, 0])])
    >>> list(register)
    ['C2.001', 'H1.001']
    """

    retired: frozenset[str]

    def __init__(
        self,
        codes: Iterable[tuple[str, Partition | Arbitrary]] = (),
        *,
        retired: Iterable[str] = (),
    ) -> None:
        self.retired = frozenset(retired)
        self._meaning: dict[str, Partition | Arbitrary] = {}
        self._code: dict[Partition | Arbitrary, str] = {}
        self._alias: dict[Partition | Arbitrary, str] = {}
        self._last: dict[tuple[str, int], int] = {}
        for code in sorted(self.retired):
            self._retire(code)
        for code, categorization in codes:
            self._enter(code, categorization)

    def with_observed(self, categorizations: Iterable[Partition | Arbitrary]) -> CodeRegister:
        """Return the register with C codes for categorizations that were seen on forms."""
        return self._extended("C", categorizations)

    def with_harmonizations(self, categorizations: Iterable[Partition | Arbitrary]) -> CodeRegister:
        """Return the register with H codes for harmonizations that have no code yet."""
        return self._extended("H", categorizations)

    def __iter__(self) -> Iterator[str]:
        return iter(self._meaning)

    def __len__(self) -> int:
        return len(self._meaning)

    def __contains__(self, code: object) -> bool:
        return code in self._meaning

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, CodeRegister):
            return NotImplemented
        return self._meaning == other._meaning and self.retired == other.retired

    __hash__ = None  # pyright: ignore[reportAssignmentType]

    def code(self, categorization: Partition | Arbitrary) -> str | None:
        """Return the code of a categorization, the C code where it has both."""
        return self._code.get(categorization)

    def alias(self, categorization: Partition | Arbitrary) -> str | None:
        """Return the H code that an observed categorization had before it was observed."""
        return self._alias.get(categorization)

    def meaning(self, code: str) -> Partition | Arbitrary:
        """Return the categorization that a code stands for."""
        try:
            return self._meaning[code]
        except KeyError:
            found = "The variable has no such code." if is_code(code) else "That is not a code."
            if code in self.retired:
                found = "It is retired: the categories that it stood for were changed."
            raise InputError(
                Reason.UNKNOWN_NAME,
                f"The code {quoted([code])} was asked for.",
                found,
                did_you_mean(code, self._meaning),
            ) from None

    def _extended(
        self, letter: str, categorizations: Iterable[Partition | Arbitrary]
    ) -> CodeRegister:
        new = [c for c in dict.fromkeys(categorizations) if self._needs(letter, c)]
        if not new:
            return self
        extended = CodeRegister(self._meaning.items(), retired=self.retired)
        for categorization in new:
            size = 0 if isinstance(categorization, Arbitrary) else categorization.n_blocks
            number = extended._last.get((letter, size), 0) + 1
            extended._enter(f"{letter}{size}.{number:03d}", categorization)
        return extended

    def _needs(self, letter: str, categorization: Partition | Arbitrary) -> bool:
        known = self._code.get(categorization)
        return known is None or (letter == "C" and known.startswith("H"))

    def _retire(self, code: str) -> None:
        match = _CODE.fullmatch(code)
        if match is None or match["size"] == "0":
            asked = f"The code {quoted([code])} was to be retired."
            found = "Arbitrary precision keeps its meaning." if match else "That is not a code."
            raise InputError(Reason.INCONSISTENT_CODE, asked, found, "Leave it out.")
        place = (match["letter"], int(match["size"]))
        self._last[place] = max(self._last.get(place, 0), int(match["number"]))

    def _enter(self, code: str, categorization: Partition | Arbitrary) -> None:
        match = _CODE.fullmatch(code)
        size = 0 if isinstance(categorization, Arbitrary) else categorization.n_blocks
        taken = code in self._meaning or code in self.retired
        if match is None or int(match["size"]) != size or taken:
            asked = f"The code {quoted([code])} was to be entered for {size} categories."
            found = "It is there already." if taken else "It does not say so."
            do = "Write C or H, the number of categories, a dot and a running number: C7.001."
            raise InputError(Reason.INCONSISTENT_CODE, asked, found, do)
        letter = match["letter"]
        other = self._code.get(categorization)
        if other is not None and other.startswith(letter):
            asked = f"The code '{code}' was to be entered."
            found = f"Its categorization is '{other}' already."
            raise InputError(Reason.INCONSISTENT_CODE, asked, found, "Leave one of them out.")
        self._meaning[code] = categorization
        self._last[letter, size] = max(self._last.get((letter, size), 0), int(match["number"]))
        if letter == "C" and other is not None:
            self._alias[categorization] = other
        if letter == "H" and other is not None:
            self._alias[categorization] = code
        else:
            self._code[categorization] = code


def carry_codes(
    register: CodeRegister, before: Variable, after: Variable, renamed: Mapping[str, str]
) -> CodeRegister:
    """Return the codes of a variable over its changed partition graph.

    `renamed` has the categories that have other names now, old names to new ones.

    Examples
    --------
    >>> before = Variable("Country", PartitionGraph({"England": [], "Other": []}))
    >>> parts = {"England": [], "Abroad": ["Wales", "Elsewhere"]}
    >>> after = Variable("Country", PartitionGraph(parts))
    >>> register = CodeRegister([("C2.001", Partition.finest(2))])
    >>> carried = carry_codes(register, before, after, {"Other": "Abroad"})
    >>> after.words(carried.meaning("C2.001"))
    ('Abroad', 'England')
    """
    if before.graph.sinks == after.graph.sinks and before.space == after.space and not renamed:
        return register
    clusters = _clusters(before, after, renamed)
    kept: list[tuple[str, Partition | Arbitrary]] = []
    lost = set(register.retired)
    for code in register:
        meaning = register.meaning(code)
        carried = meaning if isinstance(meaning, Arbitrary) else _carried(meaning, clusters)
        if carried is None:
            lost.add(code)
        else:
            kept.append((code, carried))
    return CodeRegister(kept, retired=lost)


_Clusters = tuple[NDArray[np.int32], NDArray[np.int32]]
"""For every old sink, and for every new one, an old sink that stands for its cluster."""


def _clusters(before: Variable, after: Variable, renamed: Mapping[str, str]) -> _Clusters | None:
    """Return which sinks hang together, or None where some sink is related to none."""
    if before.bands and after.bands:
        related = None if before.space != after.space else list(_by_numbers(before, after))
    else:
        related = list(_by_names(before, after, renamed))
    n_old, n_new = len(before.graph.sinks), len(after.graph.sinks)
    if (
        related is None
        or len({old for old, _ in related}) < n_old
        or len({new for _, new in related}) < n_new
    ):
        return None
    sets = DisjointSets()
    for old, new in related:
        sets.unite(old, ~new)  # new sinks are the negative numbers
    first: dict[object, int] = {}
    olds = [first.setdefault(sets.find(old), old) for old in range(n_old)]
    news = [first[sets.find(~new)] for new in range(n_new)]
    return np.array(olds, dtype=np.int32), np.array(news, dtype=np.int32)


def _carried(meaning: Partition, clusters: _Clusters | None) -> Partition | None:
    if clusters is None:
        return None
    olds, news = clusters
    if (meaning.labels[olds] != meaning.labels).any():
        return None
    return Partition.from_labels(meaning.labels[news])


def _by_names(
    before: Variable, after: Variable, renamed: Mapping[str, str]
) -> Iterator[tuple[int, int]]:
    """Relate an old sink to what it is made up of now, a new sink to what it was made up of."""
    taken = set(renamed.values())
    now = {
        old: new
        for old in before.graph.categories
        if (new := renamed.get(old, "" if old in taken else old)) in after.graph
    }
    old_sinks = {sink: number for number, sink in enumerate(before.graph.sinks)}
    new_sinks = {sink: number for number, sink in enumerate(after.graph.sinks)}
    for old, new in now.items():
        if old in old_sinks:
            for sink in after.graph.sinks_of(new):
                yield old_sinks[old], new_sinks[sink]
        elif new in new_sinks:
            for sink in before.graph.sinks_of(old):
                yield old_sinks[sink], new_sinks[new]


def _by_numbers(before: Variable, after: Variable) -> Iterator[tuple[int, int]]:
    """Relate the sinks of bands that share numbers; both are in ascending order."""
    old = [before.bands[sink] for sink in before.graph.sinks]
    new = [after.bands[sink] for sink in after.graph.sinks]
    i = j = 0
    while i < len(old) and j < len(new):
        if old[i].overlap(new[j]) is not None:
            yield i, j
        if old[i].high <= new[j].high:
            i += 1
        else:
            j += 1
