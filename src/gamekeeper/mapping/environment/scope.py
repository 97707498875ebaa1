"""What can be told apart within the universe of a target.

A category of everybody whom the target does not ask is no category to match on: nobody in the
target has it. So all categorizations are looked at within the target's universe, the sinks that
its people can have: those that it does not take as `OUTSIDE` and that its own universe does not
rule out. Within it, blocks that only people outside would join stay apart, because an intruder
knows whom the target asks.

A code means a partition of all sinks. The code of what is told apart within a universe is that of
the same blocks with everybody else as one block more.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from gamekeeper.algorithms.categories.graph_property import bits
from gamekeeper.algorithms.categories.partitions import Arbitrary, Partition, is_finer
from gamekeeper.mapping.environment.environment import Environment
from gamekeeper.mapping.variables.variable import Variable


@dataclass(frozen=True, slots=True)
class Scope:
    """The sinks of a variable that count, by their numbers; None for all of them."""

    variable: Variable
    kept: tuple[int, ...] | None = None

    @classmethod
    def of(
        cls, environment: Environment, target: str, variable: str, *, within_universe: bool
    ) -> Scope:
        """Return the universe of a target, or everybody where that is asked for."""
        found = environment.variable(variable)
        if not within_universe:
            return cls(found)
        graph = found.graph
        outside = set(environment.categorization(target, variable).outside)
        kept = {number for number, sink in enumerate(graph.sinks) if sink not in outside}
        universe = environment.form(target).universe
        if universe is not None and variable in universe.within:
            named = (found.resolve(label) for label in universe.within[variable])
            asked = {n for name in named if name is not None for n in bits(graph.sink_set(name))}
            kept &= asked
        # A universe that contradicts the form bounds nothing: it is for a person to mend.
        if not kept or len(kept) == len(graph.sinks):
            return cls(found)
        return cls(found, tuple(sorted(kept)))

    @property
    def left_out(self) -> tuple[str, ...]:
        """The sinks that do not count."""
        if self.kept is None:
            return ()
        kept = set(self.kept)
        return tuple(s for number, s in enumerate(self.variable.graph.sinks) if number not in kept)

    def inside(self, categorization: Partition | Arbitrary) -> Partition | Arbitrary:
        """Return a categorization of all sinks as it is within the universe."""
        if self.kept is None or isinstance(categorization, Arbitrary):
            return categorization
        return Partition.from_labels(categorization.labels[list(self.kept)])

    def whole(self, categorization: Partition | Arbitrary) -> Partition | Arbitrary:
        """Return a categorization within the universe with everybody else as one block more."""
        if self.kept is None or isinstance(categorization, Arbitrary):
            return categorization
        labels = np.full(len(self.variable.graph.sinks), -1, dtype=np.int64)
        labels[list(self.kept)] = categorization.labels
        return Partition.from_labels(labels)

    def words(self, categorization: Partition | Arbitrary) -> tuple[str, ...]:
        """Return the categories of a categorization of all sinks that people of the target have."""
        if self.kept is None or isinstance(categorization, Arbitrary):
            return self.variable.words(categorization)
        kept = set(self.kept)
        blocks = [[sink for sink in block if sink in kept] for block in categorization.blocks()]
        return self.variable.words_of_blocks([block for block in blocks if block])

    def is_finer(self, a: Partition | Arbitrary, b: Partition | Arbitrary) -> bool:
        """Tell whether, within the universe, a refines b."""
        return is_finer(self.inside(a), self.inside(b))
