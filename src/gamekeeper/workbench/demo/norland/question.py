"""A question: one variable, and the wordings in which forms ask for it.

The wordings of a question are written as categories with semicolons between them. An empty
wording means that the form takes any level of detail. Partition graphs are built when they are first
asked for, not on import.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property

from gamekeeper.algorithms.categories.partition_graph import PartitionGraph
from gamekeeper.mapping.variables.variable import OUTSIDE, Scale, Variable

ANY_DETAIL = ""
CENSUS = "census"
"""The name of the wording that the target form uses."""


@dataclass(frozen=True)
class Question:
    """A variable, how to make it, and, by name, the categories that each wording offers."""

    name: str
    wordings: Mapping[str, tuple[str, ...]]
    make: Callable[[], Variable]

    @cached_property
    def variable(self) -> Variable:
        """The variable with its partition graph."""
        return self.make()


def worded(
    name: str,
    sinks: str,
    larger: Mapping[str, str],
    wordings: Mapping[str, str],
    *,
    scale: Scale = Scale.NOMINAL,
    description: str,
) -> Question:
    """Make a question whose categories are words: the sinks in order, and what they make up."""

    def make() -> Variable:
        order = _listed(sinks)
        children = {category: _listed(parts) for category, parts in larger.items()}
        graph = PartitionGraph({"anyone": order} | children, order=order).deepen()
        return Variable(name, graph, scale, description)

    return Question(name, _all_listed(wordings), make)


def counted(
    name: str, first: int, last: int, wordings: Mapping[str, str], *, description: str
) -> Question:
    """Make a question whose categories are runs of a count, such as '0', '1-2' and '3+'.

    The sinks are the counts from the first on; the last stands for itself and all above it.
    """
    offered = _all_listed(wordings)

    def make() -> Variable:
        order = [str(number) for number in range(first, last)] + [f"{last}+"]
        children = {"anyone": order}
        for run in _offered(offered):
            low, _, high = run.removesuffix("+").partition("-")
            top = last if run.endswith("+") else int(high or low)
            if run not in order:
                children[run] = order[int(low) - first : top - first + 1]
        graph = PartitionGraph(children, order=order).deepen()
        return Variable(name, graph, Scale.ORDINAL, description)

    return Question(name, offered, make)


def banded(name: str, wordings: Mapping[str, str], *, description: str) -> Question:
    """Make a question whose categories are bands of a number."""
    offered = _all_listed(wordings)

    def make() -> Variable:
        return Variable.of_bands(name, _offered(offered), description=description)

    return Question(name, offered, make)


def _offered(wordings: Mapping[str, tuple[str, ...]]) -> list[str]:
    """Return the categories of all wordings that are about who is asked at all."""
    return [label for labels in wordings.values() for label in labels if label != OUTSIDE]


def _all_listed(wordings: Mapping[str, str]) -> dict[str, tuple[str, ...]]:
    return {name: _listed(text) for name, text in wordings.items()}


def _listed(text: str) -> tuple[str, ...]:
    return tuple(text.split("; ")) if text else ()
