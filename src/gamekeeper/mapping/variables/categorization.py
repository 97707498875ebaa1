"""A categorization: the categories of one variable on one form, whether they fit, made coarser.

It is valid when every sink of the partition graph is reached from exactly one selected category.
No categories at all mean that the form takes any level of detail. The category `OUTSIDE` takes
the sinks that no other selected category reaches: people that the form does not ask. `ELSE` takes
them as an answer that people do give. Where several questions of a form tell of one variable,
`ALSO` stands between their labels, and the categorization is what they tell together: the
coarsest partition that is finer than that of each. Written as blocks of category names, a
categorization outlasts a new order of the sinks.

It is made coarser step by step along the partition graph. One step merges its blocks into the
smallest categories of the graph that are made up of two blocks or more. Where such categories
overlap, the one that the graph names first is taken. The steps end when no category of the graph is
left that would merge anything.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from gamekeeper.algorithms.categories.partitions import ARBITRARY, Arbitrary, Partition, bits, meet
from gamekeeper.errors import InputError, Problem, Reason, refuse
from gamekeeper.mapping.variables.codes import ALSO, ELSE, OUTSIDE, RESERVED, Variable
from gamekeeper.wording import count_of, did_you_mean, quoted


@dataclass(frozen=True, slots=True)
class Categorization:
    """What a selection of categories, under the names of the partition graph, comes to.

    Attributes
    ----------
    partition
        The set partition of the sinks, `ARBITRARY` for an empty selection, None if not valid.
    missed, overlaps
        Sinks that no selected category reaches; those that several reach, with these categories.
    outside
        Sinks taken by the category `OUTSIDE`; of several questions, by that of each.
    needless_else
        Whether an answer takes what no other means, and nothing is left.
    """

    variable: str
    categories: tuple[str, ...]
    partition: Partition | Arbitrary | None
    missed: tuple[str, ...] = ()
    overlaps: Mapping[str, tuple[str, ...]] | None = None
    outside: tuple[str, ...] = ()
    needless_outside: bool = False
    needless_else: bool = False

    @property
    def is_valid(self) -> bool:
        """Whether every sink is reached from exactly one category."""
        return self.partition is not None

    @property
    def is_exhaustive(self) -> bool:
        """Whether no sink is missed."""
        return not self.missed

    @property
    def is_exclusive(self) -> bool:
        """Whether no sink is reached twice."""
        return not self.overlaps

    @property
    def fault(self) -> str:
        """What is wrong, in words; empty when valid."""
        faults: list[str] = []
        if self.missed:
            faults.append(
                f"misses {quoted(self.missed)}; if the form does not ask these people,"
                f' add the category "{OUTSIDE}"'
            )
        for sink, holders in (self.overlaps or {}).items():
            faults.append(f"reaches {quoted([sink])} from {quoted(holders)}")
        if self.needless_outside and len(self.categories) == 1:
            faults.append(f'has only "{OUTSIDE}"; add the categories that the form offers')
        elif self.needless_outside:
            faults.append(f'has "{OUTSIDE}", but nobody is left outside; leave it out')
        if self.needless_else:
            faults.append(
                f'has "{ELSE}", but no category is left for it; say what the answer means, mark it'
                " as no answer, or widen the variable"
            )
        shown = faults[:_SHOWN_FAULTS]
        if len(faults) > len(shown):
            shown.append(f"and {count_of(len(faults) - len(shown), 'more fault')}")
        return "; ".join(shown)


_SHOWN_FAULTS = 6
_NEAR_NAMES = 40


def categorize(variable: Variable, labels: Iterable[str]) -> Categorization:
    """Work out the categorization that some labels select.

    Examples
    --------
    >>> age = Variable.of_bands("Age", ["0-15", "16-64", "65+"])
    >>> categorize(age, ["16-64", "65 and over"]).missed
    ('0-15',)
    >>> categorize(age, ["16-64", "65+", OUTSIDE]).is_valid
    True
    """
    if isinstance(labels, str):
        asked = f"A categorization of {quoted([variable.name])} was asked for."
        found = "Its labels are one string."
        raise InputError(Reason.BAD_OPTION, asked, found, "Give a list of labels.")
    told = [_told_by_one(variable, part) for part in split_labels(labels)]
    return told[0] if len(told) == 1 else _told_together(variable, told)


def split_labels(labels: Iterable[str]) -> list[tuple[str, ...]]:
    """Return the labels of each question that tells of a variable.

    Examples
    --------
    >>> split_labels(["UK", "not UK", ALSO, "England", OUTSIDE])
    [('UK', 'not UK'), ('England', "outside this form's universe")]
    """
    parts: list[tuple[str, ...]] = [()]
    for label in labels:
        if label == ALSO:
            parts.append(())
        else:
            parts[-1] += (label,)
    return parts


def _told_by_one(variable: Variable, labels: tuple[str, ...]) -> Categorization:
    categories = _resolved(variable, labels)
    if not categories:
        return Categorization(variable.name, (), ARBITRARY)
    graph = variable.graph
    inside = [category for category in categories if category not in RESERVED]
    holders = graph.reached(inside)
    unreached = tuple(sink for sink, names in zip(graph.sinks, holders, strict=True) if not names)
    takes_rest = ELSE in categories
    outside = unreached if OUTSIDE in categories and not takes_rest else ()
    missed = () if OUTSIDE in categories or takes_rest else unreached
    overlaps = {
        sink: tuple(names)
        for sink, names in zip(graph.sinks, holders, strict=True)
        if len(names) > 1
    }
    needless = OUTSIDE in categories and (not unreached or not inside or takes_rest)
    idle = takes_rest and (not unreached or not inside)
    partition = None
    if not missed and not overlaps and not needless and not idle:
        numbers: dict[str, int] = {}
        partition = Partition.from_labels(
            [numbers.setdefault(names[0] if names else OUTSIDE, len(numbers)) for names in holders]
        )
    return Categorization(
        variable.name, categories, partition, missed, overlaps, outside, needless, idle
    )


def _told_together(variable: Variable, parts: list[Categorization]) -> Categorization:
    categories = parts[0].categories
    for part in parts[1:]:
        categories += (ALSO, *part.categories)
    partition = parts[0].partition
    for part in parts[1:]:
        partition = (
            None if partition is None or part.partition is None else meet(partition, part.partition)
        )
    outside = set(parts[0].outside).intersection(*(part.outside for part in parts))
    overlaps = {sink: names for part in parts for sink, names in (part.overlaps or {}).items()}
    return Categorization(
        variable.name, categories, partition,
        tuple(dict.fromkeys(sink for part in parts for sink in part.missed)), overlaps,
        tuple(sink for sink in variable.graph.sinks if sink in outside),
        any(part.needless_outside for part in parts), any(part.needless_else for part in parts),
    )  # fmt: skip


def _resolved(variable: Variable, labels: tuple[str, ...]) -> tuple[str, ...]:
    problems: list[Problem] = []
    categories: dict[str, None] = {}
    for label in labels:
        category = label if label in RESERVED else variable.resolve(label)
        if category is not None and category not in categories:
            categories[category] = None
            continue
        where = f"category {quoted([label])}"
        if category is None:
            # Looking for near names is slow; where a whole list is wrong, some of them will do.
            few = len(problems) < _NEAR_NAMES
            do = did_you_mean(label, variable.graph.categories) if few else ""
            if variable.has_room_for(label):
                do += " Choose a category, or add the band to the variable."
            found = f"is not a category of {quoted([variable.name])}."
            problems.append(Problem(Reason.UNKNOWN_NAME, where, found, do))
        else:
            problems.append(
                Problem(Reason.DUPLICATE, where, "is selected twice.", "Leave one out.")
            )
    asked = (
        f"A categorization of {quoted([variable.name])}"
        f" by {count_of(len(labels), 'label')} was asked for."
    )
    refuse(problems, asked, f"It has {count_of(len(problems), 'fault')}.")
    return tuple(categories)


def blocks_of(
    variable: Variable, categorization: Partition | Arbitrary
) -> tuple[tuple[str, ...], ...]:
    """Return, for each block of a categorization, few categories that make it up.

    Arbitrary precision has no blocks.

    Examples
    --------
    >>> age = Variable.of_bands("Age", ["0-17", "18-24", "25-64", "65+"])
    >>> blocks_of(age, Partition.from_labels([0, 0, 1, 0]))
    (('0-17', '18-24', '65+'), ('25-64',))
    """
    if isinstance(categorization, Arbitrary):
        return ()
    return tuple(
        variable.graph.cover(sum(1 << number for number in block))
        for block in categorization.blocks()
    )


def categorization_of(
    variable: Variable, blocks: Iterable[Iterable[str]]
) -> Partition | Arbitrary | None:
    """Return the categorization that blocks of categories make, None where they make none.

    Examples
    --------
    >>> age = Variable.of_bands("Age", ["0-17", "18-24", "25-64", "65+"])
    >>> categorization_of(age, [["0-17", "65+"], ["18-24"], ["25-64"]])
    Partition(3 blocks of 4 sinks)
    >>> categorization_of(age, [["0-17"]]) is None
    True
    """
    given = [list(block) for block in blocks]
    if not given:
        return ARBITRARY
    graph = variable.graph
    if not all(given) or not all(name in graph for block in given for name in block):
        return None
    numbers = [[sink for name in block for sink in bits(graph.sink_set(name))] for block in given]
    try:
        return Partition.from_blocks(numbers, len(graph.sinks))
    except InputError:
        return None


def coarsenings(variable: Variable, categorization: Partition) -> Iterator[Partition]:
    """Return coarser and coarser categorizations, the finest of them first.

    Examples
    --------
    >>> age = Variable.of_bands("Age", ["0-9", "10-19", "0-19", "20-64", "65+", "20+"])
    >>> single = Partition.from_labels(range(4))
    >>> [len(age.words(coarser)) for coarser in coarsenings(age, single)]
    [2, 1]
    """
    blocks = [sum(1 << sink for sink in block) for block in categorization.blocks()]
    while True:
        merged = _merged(variable, blocks)
        if len(merged) == len(blocks):
            return
        blocks = merged
        yield Partition.from_blocks(map(bits, blocks), len(variable.graph.sinks))


def _merged(variable: Variable, blocks: list[int]) -> list[int]:
    """Return the blocks with those merged that the smallest categories of the graph join."""
    joining: list[tuple[int, list[int]]] = []
    for name in variable.graph.categories:
        category = variable.graph.sink_set(name)
        inside = [block for block in blocks if block & category]
        if len(inside) > 1 and all(block | category == category for block in inside):
            joining.append((category, inside))
    left, made = list(blocks), list[int]()
    for category, inside in sorted(joining, key=lambda pair: pair[0].bit_count()):
        if all(block in left for block in inside):
            left = [block for block in left if block not in inside]
            made.append(category)
    return left + made
