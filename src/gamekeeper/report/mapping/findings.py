"""What an analysis found, in sentences."""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction

from gamekeeper.algorithms.categories.partitions import Partition
from gamekeeper.algorithms.categories.prevalence import threshold
from gamekeeper.mapping.analysis.key_variables import KeyVariable, KeyVariableMap
from gamekeeper.mapping.environment.environment import Environment
from gamekeeper.mapping.environment.evidence import Mode
from gamekeeper.mapping.environment.scope import Scope
from gamekeeper.mapping.variables.variable import Scale
from gamekeeper.wording import (
    asking_text,
    categories_text,
    count_of,
    exact_percent,
    joined,
    number_text,
    short,
)

_LEADING = 3
_SHOWN_NAMES = 5


def prevalence_text(outcome: KeyVariableMap) -> str:
    """Say how many of the forms must be matched, and how many must have a variable.

    Of 46 forms at 10%: "at least 4 of 46 forms; a variable counts only if at least 5 have it, 10% of
    46 being 4.6".
    """
    n_forms, share = len(outcome.match_forms), outcome.prevalence
    if n_forms == 1:
        return "the one form"
    matched = f"at least {threshold(n_forms, share)} of {n_forms} forms"
    exact = n_forms * share
    if exact <= 1 or exact.denominator == 1:
        return f"{matched} (a prevalence of {exact_percent(share)})"
    have = math.ceil(exact)
    return (
        f"{matched}; a variable counts only if at least {have} have it,"
        f" {exact_percent(share)} of {n_forms} being {_decimal(exact)}"
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
    n_variables = len(outcome.variables)
    of_target = f"of '{short(outcome.target)}'"
    against = _against(outcome)
    if not n_variables:
        sentences = [
            f"The form '{short(outcome.target)}' asks for no variable: there is nothing to match on."
        ]
    elif n_variables == 1:
        can = "can" if usable else "cannot"
        sentences = [f"The one variable {of_target} {can} be matched {against}."]
    elif not usable:
        sentences = [f"None of the {n_variables} variables {of_target} can be matched {against}."]
    elif len(usable) == n_variables:
        sentences = [f"All {n_variables} variables {of_target} can be matched {against}."]
    else:
        sentences = [
            f"Of the {n_variables} variables {of_target}, {len(usable)} can be matched {against}."
        ]
    if len(usable) == 1:
        sentences.append(f"That is {_detail(usable[0])}.")
    elif usable:
        sentences += _leading([item for item in usable if item.area is not None])
        sentences += _not_ranked([item for item in usable if item.area is None])
    too_few = [short(i.variable) for i in outcome.variables if not i.maximal and not i.message]
    if too_few and len(outcome.match_forms) == 1:
        sentences.append(f"The form has no valid categorization of {_some(too_few)}.")
    elif too_few:
        sentences.append(f"Too few of the forms ask for {_some(too_few)}.")
    return sentences


def explain(item: KeyVariable, target: str, environment: Environment) -> list[str]:
    """Return the outcome for one variable in sentences."""
    own = environment.categorization(target, item.variable)
    if not own.is_valid or item.over_limit:
        return [f"There is no result: {item.message.removesuffix('.')}."]
    n_set_aside = item.n_asking - item.n_having
    if item.message:
        faulty = (
            "the categorization of 1 form is"
            if n_set_aside == 1
            else f"the categorizations of {n_set_aside} forms are"
        )
        return [f"There is no result: {faulty} inconsistent."]
    asking = asking_text(item.n_asking, item.n_forms, n_set_aside)
    if not item.maximal:
        return [f"There is no result: {asking}{_wanting(item)}."]
    scope = Scope.of(environment, target, item.variable, within_universe=bool(item.outside))
    assert own.partition is not None
    inside = scope.inside(own.partition)
    released = inside.n_blocks if isinstance(inside, Partition) else math.inf
    first = item.maximal[0]
    matched = (
        "can be matched against the one form"
        if item.n_forms == 1
        else f"can be matched against {first.n_forms} of {item.n_forms} forms"
    )
    if first.code == item.target_code:
        sentences = [f"All the detail that is released, {_coded(released, first.code)}, {matched}."]
    else:
        sentences = [
            f"It is released in {_coded(released, item.target_code)}.",
            f"At the detail of {_coded(item.n_categories, first.code)} it {matched}.",
        ]
    coarser = item.n_having - first.n_forms
    if item.n_forms > 1:
        rest = (
            f"{coarser} in categories that are coarser or cut otherwise"
            if coarser
            else "all the others at this detail or finer"
            if n_set_aside
            else "all of them at this detail or finer"
        )
        sentences.append(f"{asking[0].upper()}{asking[1:]}, {rest}.")
    if item.n_categories < item.effective < math.inf:
        variable = environment.variable(item.variable)
        overlap = "bands" if variable.scale is Scale.INTERVAL else "categories"
        matching = (
            "a form by itself"
            if item.threshold == 1
            else f"at least {item.threshold} forms, each by itself,"
        )
        sentences.append(
            f"Harmonization hides something here: {matching} can be matched with"
            f" {number_text(item.effective)} effective categories, because {overlap} overlap."
        )
    if item.not_known is not None:
        first, last = item.not_known
        sentences.append(
            "Its curve and its area are not known: there are too many harmonizations to say what"
            f" is left when between {first} and {last} forms must be matched."
            if first < last
            else "Its curve and its area are not known: there are too many harmonizations to say"
            f" what is left when {first} forms must be matched."
        )
    return sentences


def _leading(ranked: Sequence[KeyVariable]) -> list[str]:
    if not ranked:
        return []
    leading = joined([_detail(item) for item in ranked[:_LEADING]])
    together = "Detail and number of forms taken together"
    return [f"{together}, the target could be matched best on {leading}.", _reason(ranked[0])]


def _not_ranked(items: Sequence[KeyVariable]) -> list[str]:
    if not items:
        return []
    details = joined([_detail(item) for item in items], _SHOWN_NAMES)
    return [f"Not ranked, because too many harmonizations hide the area: {details}."]


def _against(outcome: KeyVariableMap) -> str:
    n_forms = len(outcome.match_forms)
    if n_forms == 1:
        return f"against '{short(outcome.match_forms[0])}'"
    return f"against at least {threshold(n_forms, outcome.prevalence)} of the {n_forms} forms"


def _wanting(item: KeyVariable) -> str:
    """Say how many forms a variable without result would need, where that is not plain."""
    exact = item.n_forms * item.prevalence
    if item.n_forms == 1 or exact <= 1 or not item.n_asking:
        return ""
    have = "have it" if item.n_asking == item.n_having else "have it without fault"
    needed = f"; a variable counts only if at least {item.n_needed} {have}"
    if exact.denominator == 1:
        return needed
    return f"{needed}, {exact_percent(item.prevalence)} of {item.n_forms} being {_decimal(exact)}"


def _coded(number: float, code: str) -> str:
    return f"{categories_text(number)} ({code})"


def _detail(item: KeyVariable) -> str:
    code = item.maximal[0].code
    return f"{short(item.variable)} ({categories_text(item.n_categories)}, {code})"


def _reason(item: KeyVariable) -> str:
    first = item.maximal[0]
    detail = (
        "with any level of detail"
        if item.n_categories == math.inf
        else f"with {_these(item.n_categories)}"
    )
    area = (
        "its detail has no bound"
        if item.area == math.inf
        else "its curve has the largest area of all that can be matched"
        f" ({number_text(item.area or 0)})"
    )
    forms = count_of(first.n_forms, "form")
    return f"{short(item.variable)} comes first: {forms} {detail}, and {area}."


def _these(n_categories: float) -> str:
    if n_categories == 1:
        return "this one category or finer ones"
    return f"these {categories_text(n_categories)} or finer ones"


def _decimal(number: Fraction) -> str:
    """Return a number that is not whole with two decimals, and "about" where that is not all."""
    return f"{'' if (number * 100).denominator == 1 else 'about '}{number_text(number)}"


def _some(names: Sequence[str]) -> str:
    return joined([f"'{name}'" for name in names], _SHOWN_NAMES)
