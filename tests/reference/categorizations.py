"""Categorizations as they are written in worked examples: lists of lists of sinks."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from gamekeeper import Environment, Form, Variable
from gamekeeper.algorithms.categories.partitions import Arbitrary
from gamekeeper.mapping import ARBITRARY, Partition, PartitionGraph
from tests.reference.keeping import kept

__all__ = ["Ground", "n_categories", "sorted_blocks", "written"]

_ARBITRARY = "ARBITRARY"


class Ground:
    """The sinks of some categorizations, between their names and their numbers."""

    def __init__(self, categorizations: Iterable[Any]) -> None:
        named = {sink for given in categorizations for block in _blocks(given) for sink in block}
        self.names: list[Any] = sorted(named, key=str)
        self._numbers = {name: number for number, name in enumerate(self.names)}

    def read(self, given: Any) -> Partition | Arbitrary:
        """Return a categorization as a partition."""
        if given == _ARBITRARY:
            return ARBITRARY
        blocks = [[self._numbers[sink] for sink in block] for block in given]
        return Partition.from_blocks(blocks, len(self.names))

    def write(self, partition: Partition | Arbitrary) -> Any:
        """Return a partition as it is written."""
        return written(partition, self.names)

    def environment(self, forms: Mapping[str, Any]) -> Environment:
        """Return an environment of forms that have one variable, X, with these categorizations."""
        sinks = [f"sink {number}" for number in range(len(self.names))] or ["sink"]
        children: dict[str, list[str]] = {sink: [] for sink in sinks}
        made: list[Form] = []
        for form, given in forms.items():
            labels: list[str] = []
            for block in _blocks(given):
                members = [sinks[self._numbers[sink]] for sink in block]
                labels.append(" & ".join(members))
                if len(members) > 1:
                    children[labels[-1]] = members
            made.append(Form(form, {"X": tuple(labels)}))
        return kept(Environment([Variable("X", PartitionGraph(children, order=sinks))], made))


def written(partition: Partition | Arbitrary, sinks: Sequence[Any]) -> Any:
    """Return a partition of named sinks, its blocks sorted."""
    if isinstance(partition, Arbitrary):
        return _ARBITRARY
    return sorted_blocks([sinks[number] for number in block] for block in partition.blocks())


def sorted_blocks(given: Any) -> Any:
    """Return a written categorization with its sinks and blocks in order."""
    return given if given == _ARBITRARY else sorted(sorted(block, key=str) for block in given)


def n_categories(partition: Partition | Arbitrary, *, arbitrary: int | str) -> int | str:
    """Return the number of categories, and for arbitrary precision what stands for it."""
    return arbitrary if isinstance(partition, Arbitrary) else partition.n_blocks


def _blocks(given: Any) -> list[list[Any]]:
    return [] if given == _ARBITRARY else given
