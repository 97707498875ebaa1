"""From a coded file and what was asked of it to what a search for a recoding searches.

Faults in what is asked come in one error. A recoding acts on the whole file, so that members of a
household who have a value in common keep it in common; but a class of k records can be one
household. So besides records, households are counted, each by what its members have in common: k
must look alike in that. Classes of households only merge where categories do, so that this is
searched exactly as well.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from math import floor
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from gamekeeper.algorithms.categories.partitions import Partition
from gamekeeper.algorithms.classes import EqualRows, dense_numbers, equal_rows
from gamekeeper.algorithms.recoding_search.choices import (
    Choice,
    Chosen,
    ClassNumber,
    Labels,
    MonotoneAttack,
    Records,
    SmallClasses,
    Target,
    distinct_records,
    search_bytes,
)
from gamekeeper.algorithms.uniques.minimal_uniques import find_minimal_uniques
from gamekeeper.algorithms.uniques.scores import size_weights, weigh
from gamekeeper.budget import require_memory
from gamekeeper.data.coding.codebook import MISSING
from gamekeeper.data.coding.coded_table import CodedTable
from gamekeeper.data.reading.columns import matched_name, matched_names
from gamekeeper.errors import InputError, Problem, Reason, refuse
from gamekeeper.mapping.recoding import known_variable
from gamekeeper.mapping.recoding_rules import parse_recode
from gamekeeper.prompt_syntax import Missing
from gamekeeper.protection.recoding import sources
from gamekeeper.protection.recoding.options import Loss, SearchOptions, granted, parse_wishes
from gamekeeper.protection.step import Setting
from gamekeeper.protection.suppression_problem import Households, find_households
from gamekeeper.wording import count_of, quoted


def household_target(
    homes: Households,
    columns: Sequence[int],
    codes: NDArray[np.int64],
    kept: NDArray[np.bool_],
    weights: NDArray[np.int64] | None,
    persons: SmallClasses,
) -> MonotoneAttack:
    """Return that k households look alike in what their members have in common, in these `columns`.

    Of `codes` the `kept` records can be matched; `weights` are theirs, where classes are counted by
    weight: a household has that of its first member. `persons` is what is asked of records; members
    in small classes may be as many.
    """
    places = np.flatnonzero(kept)
    kept_homes = EqualRows.of(dense_numbers(homes.home_of[places]))
    first = kept_homes.firsts
    counts = np.ones(len(first), dtype=np.int64) if weights is None else weights[first]
    rows = codes[places[first]][:, list(columns)]
    return MonotoneAttack(
        partial(_in_small_classes, rows, list(columns), kept_homes.sizes, counts, persons.k),
        persons.most,
    )


def _in_small_classes(
    rows: NDArray[np.int64],
    columns: Sequence[int],
    sizes: NDArray[np.int64],
    counts: NDArray[np.int64],
    k: int,
    labels: Labels,
) -> float:
    """Return how many people live in households of which fewer than k look alike."""
    shown = np.column_stack([labels[c][rows[:, at]] for at, c in enumerate(columns)])
    found = equal_rows(shown)
    return float(sizes[found.sums(counts)[found.numbers] < k].sum())


@dataclass(frozen=True, slots=True)
class CheckedWishes:
    """Wishes that can be granted: key variables, by each the categories it may get, and how many at least."""

    names: tuple[str, ...]
    categories: Mapping[str, sources.KeyCategories]
    at_least: Mapping[str, int]


def checked_wishes(table: CodedTable, setting: Setting, asked: SearchOptions) -> CheckedWishes:
    """Return what may be chosen, or raise one error with all that is wrong."""
    problems: list[Problem] = []
    names = _variables(setting, asked, problems)
    rules = _rules(asked, problems)
    problems += _problems(table, setting, asked, names, rules)
    known = _sources(table, setting, asked, names, rules, problems)
    least = {name: number for name, number in asked.at_least.items() if _is_whole(number)}
    at_least = dict(zip(matched_names(least, names), least.values(), strict=True))
    left = granted(
        known,
        [
            *parse_wishes(asked.keep, names, "keep", problems),
            *parse_wishes(asked.forbid, names, "forbid", problems),
        ],
        at_least,
        problems,
        setting.decimal,
    )
    wanted = f"A recoding of {count_of(len(names), 'key variable')} was to be searched."
    refuse(problems, wanted, f"{count_of(len(problems), 'fault was', 'faults were')} found.")
    return CheckedWishes(names, left, at_least)


def _is_whole(number: float) -> bool:
    return not isinstance(number, bool) and number == int(number) and number >= 1


def _variables(setting: Setting, asked: SearchOptions, problems: list[Problem]) -> tuple[str, ...]:
    """Return the variables that may be recoded; where one is not known, all, so that the rest is checked."""
    if not asked.variables:
        return setting.keys
    found = matched_names(asked.variables, setting.keys)
    unknown = [name for name in found if name not in setting.keys]
    problems += [sources.unknown_variable(name, setting.keys, "recodable", "") for name in unknown]
    return setting.keys if unknown else tuple(dict.fromkeys(found))


def _problems(
    table: CodedTable,
    setting: Setting,
    asked: SearchOptions,
    names: Sequence[str],
    rules: Iterable[str],
) -> list[Problem]:
    given: dict[str, Iterable[str]] = {
        "levels": asked.levels,
        "observed": asked.observed,
        "at least": asked.at_least,
        "factor": asked.factors,
        "way": rules,
    }
    problems = [
        sources.unknown_variable(name, names, what)
        for what, listed in given.items()
        for name in listed
        if matched_names([name], names)[0] not in names
    ]
    problems += [
        sources.unknown_variable(name, setting.keys, "household variable", "")
        for name in asked.household_variables
        if matched_names([name], setting.keys)[0] not in setting.keys
    ]
    if asked.household_variables and not setting.household:
        do = "Name the column (--household)."
        problems.append(Problem(Reason.NOTHING_GIVEN, "household", "it is not named.", do))
    if asked.weighted and not setting.weight:
        found = "classes are to be counted by weights, and none are given."
        do = "Name the column of weights (--weight)."
        problems.append(Problem(Reason.NOTHING_GIVEN, "weighted", found, do))
    if asked.k > table.n_records and not asked.weighted:
        found = f"it is {asked.k:,}, and the file has {count_of(table.n_records, 'record')}."
        do = "Ask for a k that the file can have."
        problems.append(Problem(Reason.BAD_OPTION, "k", found, do))
    do = "To let a variable go for nothing, leave it out of the keys."
    problems += [
        Problem(Reason.BAD_OPTION, f"factor of {quoted([name])}", "it is not above 0.", do)
        for name, factor in asked.factors.items()
        if not factor > 0
    ]
    fault = "it is no whole number from 1 on."
    problems += [
        Problem(Reason.BAD_OPTION, f"at least {least} of {quoted([name])}", fault)
        for name, least in asked.at_least.items()
        if not _is_whole(least)
    ]
    for name in matched_names(asked.observed, names):
        if name not in names:
            continue
        if setting.environment is None or known_variable(name, setting.environment) is None:
            found = "no environment is given that has it."
            do = "Name its store or folder (--environment)."
            problems.append(Problem(Reason.UNKNOWN_NAME, f"observed {quoted([name])}", found, do))
    return problems


def _rules(asked: SearchOptions, problems: list[Problem]) -> dict[str, list[str]]:
    """Return the ways that were typed by the variable they name; what cannot be read is a problem."""
    rules: dict[str, list[str]] = {}
    for text in asked.ways:
        try:
            rules.setdefault(parse_recode(text).variable, []).append(text)
        except InputError as error:
            where = f"way {quoted([text])}"
            problems += error.problems or [Problem(error.reason, where, error.found, error.do)]
    return rules


def _sources(
    table: CodedTable,
    setting: Setting,
    asked: SearchOptions,
    names: Sequence[str],
    typed: Mapping[str, list[str]],
    problems: list[Problem],
) -> dict[str, sources.KeyCategories]:
    """Return the categories of each variable that has some; what is wrong is added to the problems."""
    rules: dict[str, list[str]] = {}
    for name, texts in typed.items():
        (own,) = matched_names([name], names)
        rules.setdefault(own, []).extend(texts)
    levels = dict(zip(matched_names(asked.levels, names), asked.levels.values(), strict=True))
    observed = set(matched_names(asked.observed, names))
    found: dict[str, sources.KeyCategories] = {}
    for name in names:
        variable = table.codebook[name]
        known = known_variable(name, setting.environment)
        whole, together = asked.whole_levels, asked.together
        try:
            if name in rules:
                found[name] = sources.categories_by_rules(
                    table, name, rules[name], setting, whole=whole, together=together
                )
            elif name in levels:
                found[name] = sources.categories_by_levels(
                    variable, Path(levels[name]), setting, whole=whole, together=together
                )
            elif known is not None:
                assert setting.environment is not None
                ways = (
                    sources.observed_ways(setting.environment, known.name)
                    if name in observed
                    else None
                )
                found[name] = sources.categories_by_graph(
                    variable, known, setting, observed=ways, together=together
                )
            else:
                found[name] = sources.default_categories(table, name, setting, together=together)
        except InputError as error:
            where = f"variable {quoted([name])}"
            problems += error.problems or [Problem(error.reason, where, error.found, error.do)]
    return found


WEIGHT_UNIT = 1_000_000
"""Weights are counted in millionths, so that sums of them are exact."""


@dataclass(frozen=True, eq=False)
class SearchProblem:
    """What is searched.

    `variables` are the key variables and, where there are strata, their variable, which is never
    recoded. `categories` are those that may be recoded, as wished.
    """

    variables: tuple[str, ...]
    categories: Mapping[str, sources.KeyCategories]
    choices: tuple[Choice, ...]
    records: Records
    targets: tuple[Target, ...]
    entropy: float
    """How much the key variables tell, in the unit of the loss."""
    household_variables: tuple[str, ...] = ()
    """The key variables by which households are counted, each as one."""

    def partitions(self, chosen: Chosen) -> dict[str, Partition]:
        """Return which places are put together, by variable that may be recoded."""
        return {
            name: Partition.from_labels(choice.labels(own))
            for name, choice, own in zip(self.variables, self.choices, chosen, strict=True)
            if name in self.categories
        }

    def n_categories(self, chosen: Chosen) -> dict[str, int]:
        """Return how many categories are left of the values of the file, by variable."""
        return {
            name: self.categories[name].of_codes(partition).n_blocks - 1
            for name, partition in self.partitions(chosen).items()
        }


def problem_of(table: CodedTable, setting: Setting, asked: SearchOptions) -> SearchProblem:
    """Return what is searched, or one error with all that is wrong."""
    wished = checked_wishes(table, setting, asked)
    names, left, at_least = wished.names, wished.categories, wished.at_least
    keys = list(setting.keys)
    if setting.strata and setting.strata not in keys:
        keys.append(setting.strata)
    require_memory(
        "A recoding was to be searched.",
        search_bytes(table.n_records, len(keys)),
        f"{count_of(table.n_records, 'record')} with {count_of(len(keys), 'key variable')}",
        "Take fewer key variables, or part of the file",
    )
    codes = table.matrix(keys).astype(np.int64)
    kept = np.ones(len(codes), dtype=bool)
    if setting.missing is Missing.EXCLUDE:
        kept = (codes != MISSING).all(axis=1)
    weights = None
    if asked.weighted:
        scaled = np.rint(table.number(setting.weight) * WEIGHT_UNIT)
        weights = np.nan_to_num(scaled).astype(np.int64)[kept]
    factors = {matched_name(name, names): factor for name, factor in asked.factors.items()}
    choices: list[Choice] = []
    entropy = 0.0
    for place, name in enumerate(keys):
        if name not in left:
            n_codes = table.codebook[name].n_codes
            every = tuple((code,) for code in range(n_codes))
            choices.append(Choice(n_codes, every, np.zeros(n_codes)))
            continue
        own = left[name]
        # Loss is of records that are released, whether or not they can be matched.
        counts = np.bincount(codes[:, place], minlength=own.variable.n_codes).astype(np.float64)
        tells = own.entropy(counts)
        factor = factors.get(name, 1.0)
        if asked.loss is Loss.SHARE:
            factor /= len(left) * tells if tells > 0 else 1.0
        entropy += tells * factor
        choices.append(own.choice(counts, factor, at_least.get(name, 1)))
    records = distinct_records(codes[kept], weights)
    targets = _targets(asked, setting, codes[kept])
    wanted = [matched_name(name, setting.keys) for name in asked.household_variables]
    homes = find_households(table, setting, wanted)
    if homes is not None and homes.variables:
        columns = [keys.index(name) for name in homes.variables]
        columns += [keys.index(setting.strata)] if setting.strata else []
        targets = (*targets, household_target(homes, columns, codes, kept, weights, targets[0]))
    return SearchProblem(
        tuple(keys),
        left,
        tuple(choices),
        records,
        targets,
        entropy,
        () if homes is None else homes.variables,
    )


def _targets(
    asked: SearchOptions, setting: Setting, codes: NDArray[np.int64]
) -> tuple[SmallClasses, *tuple[Target, ...]]:
    most = max(asked.most_records, floor(asked.most_share * len(codes)))
    k = asked.k * WEIGHT_UNIT if asked.weighted else asked.k
    made: list[Target] = []
    if asked.most_classes is not None:
        made.append(ClassNumber(asked.most_classes))
    if asked.most_is is not None:
        highest = partial(_highest_is, codes[:, : len(setting.keys)], setting)
        made.append(MonotoneAttack(highest, asked.most_is))
    return (SmallClasses(k, most), *made)


def _highest_is(codes: NDArray[np.int64], setting: Setting, labels: Labels) -> float:
    """Return the highest IS of a record under a recoding; strata are no key."""
    recoded = recoded_codes(codes, labels).astype(np.uint32)
    # One category for everybody tells nobody apart; a missing cell counts as a category.
    found = find_minimal_uniques(recoded, missing="category", listing=False, workers=1)
    scores = weigh(found.counts, size_weights(codes.shape[1]))
    return max(map(int, scores.tolist()), default=0)


def recoded_codes(codes: NDArray[np.integer], labels: Labels) -> NDArray[np.int64]:
    """Return codes as a recoding shows them, in which what is missing stays missing."""
    made = np.zeros(codes.shape, dtype=np.int64)
    for place in range(codes.shape[1]):
        shown = labels[place].astype(np.int64) + 1
        shown[MISSING] = MISSING
        made[:, place] = shown[codes[:, place]]
    return made
