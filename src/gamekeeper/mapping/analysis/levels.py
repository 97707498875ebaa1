"""Key variable mapping at every prevalence at once, for whoever moves a slider.

With |E| forms to match against, a prevalence of k/|E| asks that k of them can be matched. What is
found changes at few k: where the maximal harmonizations are those of fewer forms no longer, or the
effective categories are not. Between them lie the levels, each exactly what `map_key_variables`
finds for any k in it.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from gamekeeper.algorithms.categories.maximal_harmonization import MaximalHarmonizations
from gamekeeper.algorithms.categories.partitions import Arbitrary, Partition
from gamekeeper.mapping.analysis.holders import Categorizations, counts_inside, holders_of
from gamekeeper.mapping.analysis.key_mapping import (
    any_detail_of,
    effective_steps,
    explained,
    map_key_variables,
    scope_of,
)
from gamekeeper.mapping.analysis.key_variables import KeyVariable, KeyVariableMap, Maximal
from gamekeeper.mapping.analysis.options import MapOptions
from gamekeeper.mapping.analysis.question import Question, pose
from gamekeeper.mapping.environment.environment import Environment
from gamekeeper.mapping.variables.codes import code_order
from gamekeeper.options import given
from gamekeeper.results import Provenance, Result

if TYPE_CHECKING:
    import pyarrow as pa


@dataclass(frozen=True, slots=True)
class Level:
    """What is found where `first` to `last` forms must be matched.

    Attributes
    ----------
    n_categories
        The number of categories: `math.inf` for arbitrary precision, None where it is not known.
    codes
        The codes of the maximal harmonizations.
    effective
        Effective categories that as many single forms reach.
    """

    first: int
    last: int
    n_categories: float | None
    codes: tuple[str, ...]
    effective: Fraction | float
    has_more: bool = False
    may_have_more: bool = False


@dataclass(frozen=True, slots=True)
class VariableLevels:
    """The levels of one variable, and what each code in them means.

    `outcome` is what was found at the prevalence that was asked for.
    """

    outcome: KeyVariable
    levels: tuple[Level, ...]
    maximal: dict[str, Maximal]


@dataclass(frozen=True, repr=False)
class MapLevels(Result):
    """An analysis at every prevalence; `outcome` is the one that was asked for."""

    outcome: KeyVariableMap
    variables: tuple[VariableLevels, ...]
    provenance: Provenance

    def summary(self) -> dict[str, Any]:
        """Return the headline numbers."""
        levels = sum(len(item.levels) for item in self.variables)
        return {**self.outcome.summary(), "levels": levels}

    def to_arrow(self) -> pa.Table:
        """Return one row per variable and level."""
        import pyarrow as pa

        rows = [
            {
                "variable": item.outcome.variable,
                "from_forms": level.first,
                "to_forms": level.last,
                "categories": None if level.n_categories is None else float(level.n_categories),
                "codes": ", ".join(level.codes),
                "effective": float(level.effective),
            }
            for item in self.variables
            for level in item.levels
        ]
        schema = pa.schema(
            [
                ("variable", pa.string()),
                ("from_forms", pa.int32()),
                ("to_forms", pa.int32()),
                ("categories", pa.float64()),
                ("codes", pa.string()),
                ("effective", pa.float64()),
            ]
        )
        return pa.Table.from_pylist(rows, schema=schema)


def map_levels(environment: Environment, asked: MapOptions) -> MapLevels:
    """Map the key variables of a target at every prevalence.

    Examples
    --------
    >>> from gamekeeper.mapping.environment.environment import Form
    >>> from gamekeeper.mapping.variables.variable import Variable
    >>> fine, coarse = ("0-15", "16-64", "65+"), ("0-15", "16+")
    >>> age = Variable.of_bands("Age", [*fine, "16+"])
    >>> forms = [
    ...     Form("Bank", {"Age": fine}),
    ...     Form("Shop", {"Age": coarse}),
    ...     Form("Census", {"Age": fine}),
    ... ]
    >>> (found,) = map_levels(Environment([age], forms), MapOptions("Census")).variables
    >>> [(level.first, level.last, level.codes) for level in found.levels]
    [(1, 1, ('C3.001',)), (2, 2, ('C2.001',))]
    """
    outcome = map_key_variables(environment, **given(asked))
    question = pose(environment, asked)
    return MapLevels(
        outcome,
        tuple(_of_variable(question, item) for item in outcome.variables),
        outcome.provenance,
    )


def _of_variable(question: Question, item: KeyVariable) -> VariableLevels:
    answers = item.answers
    if answers is None:
        return VariableLevels(item, (), {})
    holders = holders_of(question.environment, item.variable, question.wanted)
    scope = scope_of(question, item.variable)
    maximal: dict[Partition | Arbitrary, Maximal] = {}

    def meaning(node: Partition | Arbitrary) -> Maximal:
        if node not in maximal:
            maximal[node] = explained(question.environment, scope, node, holders)
        return maximal[node]

    levels = tuple(_levels(question.asked, answers, counts_inside(scope, holders), meaning))
    return VariableLevels(item, levels, {found.code: found for found in maximal.values()})


def _levels(
    asked: MapOptions,
    answers: MaximalHarmonizations,
    counts: Categorizations,
    meaning: Callable[[Partition | Arbitrary], Maximal],
) -> Iterator[Level]:
    any_detail = any_detail_of(answers, counts, asked.levels)
    steps = effective_steps(answers.target, counts, asked.levels)
    first = 1
    while first <= answers.n_forms:
        effective_end, effective = next(step for step in steps if step[0] >= first)
        if not answers.is_known(first):
            last = first
            while last < effective_end and not answers.is_known(last + 1):
                last += 1
            yield Level(first, last, None, (), effective)
        else:
            size = answers.size(first)
            found = answers.maximal(first, most=asked.most + 1)
            told = [meaning(node) for node in found]
            last = min(effective_end, *(each.n_forms for each in told))
            while last > first and answers.is_complete(last) != answers.is_complete(first):
                last -= 1
            yield Level(
                first,
                last,
                any_detail if size == math.inf else size,
                tuple(sorted((each.code for each in told[: asked.most]), key=code_order)),
                effective,
                has_more=len(found) > asked.most,
                may_have_more=len(found) <= asked.most and not answers.is_complete(first),
            )
        first = last + 1
