"""Which forms hold which categorization of a variable, and what that is evidence for."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection

from gamekeeper.algorithms.categories.partitions import Arbitrary, Partition
from gamekeeper.mapping.environment.environment import Environment
from gamekeeper.mapping.environment.evidence import Evidence
from gamekeeper.mapping.environment.scope import Scope
from gamekeeper.mapping.variables.codes import code_order

Holders = dict[Partition | Arbitrary, tuple[str, ...]]
"""Categorizations of all sinks, each with the matched forms that have it."""

Categorizations = Counter[Partition | Arbitrary]


def holders_of(environment: Environment, variable: str, wanted: Collection[str]) -> Holders:
    """Return the valid categorizations of a variable, with those of some forms that have them."""
    among = frozenset(wanted)
    holders: Holders = {}
    for item, forms in environment.instances(variable):
        matched = tuple(form for form in forms if form in among)
        if item.partition is not None and matched:
            holders[item.partition] = holders.get(item.partition, ()) + matched
    return holders


def counts_inside(scope: Scope, holders: Holders) -> Categorizations:
    """Return how many forms hold each categorization as it is within a universe."""
    counts: Categorizations = Counter()
    for each, forms in holders.items():
        counts[scope.inside(each)] += len(forms)
    return counts


def n_matched(scope: Scope, holders: Holders, categorization: Partition | Arbitrary) -> int:
    """Return how many forms can be matched at a categorization within a universe."""
    return sum(
        len(forms) for finer, forms in holders.items() if scope.is_finer(finer, categorization)
    )


def evidence_at(
    environment: Environment, scope: Scope, holders: Holders, categorization: Partition | Arbitrary
) -> tuple[Evidence, ...]:
    """Return the codes that refine a categorization within a universe, the most frequent first."""
    found = [
        Evidence(environment.code(scope.variable.name, finer), len(forms), forms)
        for finer, forms in holders.items()
        if scope.is_finer(finer, categorization)
    ]
    return tuple(sorted(found, key=lambda item: (-item.n_forms, code_order(item.code))))
