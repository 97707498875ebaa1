"""What an analysis found, in sentences."""

from __future__ import annotations

import math
from collections.abc import Sequence

from gamekeeper.algorithms.partitions import Partition
from gamekeeper.algorithms.prevalence import threshold
from gamekeeper.errors import count_of
from gamekeeper.mapping.environment import Environment
from gamekeeper.mapping.key_variables import KeyVariable, KeyVariableMap, Mode
from gamekeeper.report.words import categories_text, joined, number_text, percent_text, short

__all__ = ["explain", "headline", "mode_text", "prevalence_text"]

_LEADING = 3
_SHOWN_NAMES = 5


def prevalence_text(outcome: KeyVariableMap) -> str:
    """Say how many of the forms must be matched.

    Examples
    --------
    >>> from fractions import Fraction
    >>> from gamekeeper.results import Provenance
    >>> forms = tuple(f"Form {number}" for number in range(63))
    >>> prevalence_text(
    ...     KeyVariableMap(
    ...         "T", Mode.TYPICAL, forms, Fraction(1, 10), True, (), (), Provenance("example")
    ...     )
    ... )
    'at least 6 of 63 forms (a prevalence of 10%)'
    """
    n_forms = len(outcome.match_forms)
    if n_forms == 1:
        return "the one form"
    needed = threshold(n_forms, outcome.prevalence)
    return (
        f"at least {needed} of {n_forms} forms (a prevalence of {percent_text(outcome.prevalence)})"
    )


def mode_text(outcome: KeyVariableMap) -> str:
    """Say what the use of the analysis is."""
    return {
        Mode.SPECIFIC: "one data set that the intruder has",
        Mode.TYPICAL: "a group of data sets, some of which the intruder might have",
        Mode.MULTIPLE: "data sets from several groups, some of which the intruder might have",
    }[outcome.mode]


def headline(outcome: KeyVariableMap) -> list[str]:
    """Return the outcome in a few sentences: what can be matched, at which detail, and why."""
    usable = [item for item in outcome.variables if item.maximal]
    target = short(outcome.target)
    n_variables = count_of(len(outcome.variables), "variable")
    n_forms = len(outcome.match_forms)
    needed = threshold(n_forms, outcome.prevalence)
    against = (
        f"against '{short(outcome.match_forms[0])}'"
        if n_forms == 1
        else f"against at least {needed} of the {n_forms} forms"
    )
    if not usable:
        sentences = [f"None of the {n_variables} of '{target}' can be matched {against}."]
    else:
        leading = usable[:_LEADING]
        sentences = [
            f"All {n_variables} of '{target}' can be matched {against}."
            if len(usable) == len(outcome.variables) > 1
            else f"Of the {n_variables} of '{target}', {len(usable)} can be matched {against}.",
            f"An intruder is most likely to match on {joined([_detail(i) for i in leading])}.",
            _reason(leading[0]),
        ]
    too_few = [short(i.variable) for i in outcome.variables if not i.maximal and not i.message]
    if too_few:
        sentences.append(f"Too few of the forms ask for {_some(too_few)}.")
    return sentences


def explain(item: KeyVariable, target: str, environment: Environment) -> list[str]:
    """Return the outcome for one variable in sentences."""
    own = environment.categorization(target, item.variable)
    if not own.is_valid:
        return [f"There is no result: {item.message}."]
    if item.message:
        n_faulty = count_of(len(item.set_aside or {}), "form")
        return [f"There is no result: the categorizations of {n_faulty} are inconsistent."]
    asking = f"{item.n_having} of {count_of(item.n_forms, 'form')} ask for it"
    if not item.maximal:
        return [f"There is no result: {asking}, which is too few."]
    released = own.partition.n_blocks if isinstance(own.partition, Partition) else math.inf
    first = item.maximal[0]
    matched = f"can be matched against {first.n_forms} of {count_of(item.n_forms, 'form')}"
    if first.code == item.target_code:
        sentences = [f"All the detail that is released, {_coded(released, first.code)}, {matched}."]
    else:
        sentences = [
            f"It is released in {_coded(released, item.target_code)}.",
            f"At the detail of {_coded(item.n_categories, first.code)} it {matched}.",
        ]
    coarser = item.n_having - first.n_forms
    rest = (
        "all of them at this detail or finer"
        if not coarser
        else f"{coarser} of these in categories that are coarser or cut otherwise"
    )
    sentences.append(f"{asking}, {rest}.")
    if item.n_categories < item.effective < math.inf:
        sentences.append(
            f"Harmonization hides something here: at least {count_of(item.threshold, 'form')},"
            f" each by itself, can be matched with {number_text(item.effective)} effective"
            " categories, because bands overlap."
        )
    return sentences


def _coded(number: float, code: str) -> str:
    return f"{categories_text(number)} ({code})"


def _detail(item: KeyVariable) -> str:
    return f"{short(item.variable)} ({categories_text(item.n_categories)}, {item.codes[0]})"


def _reason(item: KeyVariable) -> str:
    first = item.maximal[0]
    detail = (
        "with any level of detail"
        if item.n_categories == math.inf
        else f"with these {categories_text(item.n_categories)} or finer ones"
    )
    area = (
        "its detail has no bound"
        if item.area == math.inf
        else f"the area under its curve is the largest ({number_text(item.area)})"
    )
    forms = count_of(first.n_forms, "form")
    return f"{short(item.variable)} comes first: {forms} {detail}, and {area}."


def _some(names: Sequence[str]) -> str:
    shown = [f"'{name}'" for name in names[:_SHOWN_NAMES]]
    left_out = len(names) - _SHOWN_NAMES
    return joined([*shown, f"{left_out} more"] if left_out > 0 else shown)
