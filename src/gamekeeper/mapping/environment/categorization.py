"""A categorization: the categories of one variable on one form, and whether they fit.

It is valid when every sink of the partition graph is reached from exactly one selected category.
No categories at all mean that the form takes any level of detail. The category `OUTSIDE` takes
the sinks that no other selected category reaches: people that the form does not ask.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from gamekeeper.algorithms.categories.partitions import ARBITRARY, Arbitrary, Partition
from gamekeeper.errors import InputError, Problem, Reason
from gamekeeper.mapping.environment.variable import OUTSIDE, Variable
from gamekeeper.wording import count_of, did_you_mean, quoted


@dataclass(frozen=True, slots=True)
class Categorization:
    """What a selection of categories comes to.

    Attributes
    ----------
    categories
        The selected categories, under the names of the partition graph.
    partition
        The set partition of the sinks, `ARBITRARY` for an empty selection, None if not valid.
    missed
        Sinks that no selected category reaches.
    overlaps
        Sinks that several selected categories reach, with these categories.
    outside
        Sinks taken by the category `OUTSIDE`.
    """

    variable: str
    categories: tuple[str, ...]
    partition: Partition | Arbitrary | None
    missed: tuple[str, ...] = ()
    overlaps: Mapping[str, tuple[str, ...]] | None = None
    outside: tuple[str, ...] = ()
    needless_outside: bool = False

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
        raise InputError(
            Reason.BAD_OPTION,
            f"A categorization of {quoted([variable.name])} was asked for.",
            "Its labels are one string.",
            "Give a list of labels.",
        )
    categories = _resolved(variable, list(labels))
    if not categories:
        return Categorization(variable.name, (), ARBITRARY)
    graph = variable.graph
    inside = [category for category in categories if category != OUTSIDE]
    holders = graph.reached(inside)
    unreached = tuple(sink for sink, names in zip(graph.sinks, holders, strict=True) if not names)
    outside = unreached if OUTSIDE in categories else ()
    missed = () if OUTSIDE in categories else unreached
    overlaps = {
        sink: tuple(names)
        for sink, names in zip(graph.sinks, holders, strict=True)
        if len(names) > 1
    }
    needless = OUTSIDE in categories and (not unreached or not inside)
    partition = None
    if not missed and not overlaps and not needless:
        numbers: dict[str, int] = {}
        partition = Partition.from_labels(
            [numbers.setdefault(names[0] if names else OUTSIDE, len(numbers)) for names in holders]
        )
    return Categorization(variable.name, categories, partition, missed, overlaps, outside, needless)


def _resolved(variable: Variable, labels: list[str]) -> tuple[str, ...]:
    problems: list[Problem] = []
    categories: dict[str, None] = {}
    for label in labels:
        category = OUTSIDE if label == OUTSIDE else variable.resolve(label)
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
    if problems:
        raise InputError(
            problems[0].reason,
            f"A categorization of {quoted([variable.name])}"
            f" by {count_of(len(labels), 'label')} was asked for.",
            f"It has {count_of(len(problems), 'fault')}.",
            problems=problems,
        )
    return tuple(categories)
