"""From a coded file and what was asked to what an algorithm searches: choices, records, targets."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from math import floor
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from gamekeeper.algorithms.recoding_search.choices import Choice, Chosen
from gamekeeper.algorithms.recoding_search.class_tables import (
    Labels,
    Records,
    distinct_records,
    search_bytes,
)
from gamekeeper.algorithms.recoding_search.targets import (
    ClassNumber,
    MonotoneAttack,
    SmallClasses,
    Target,
)
from gamekeeper.budget import require_memory
from gamekeeper.data.coding.codebook import MISSING
from gamekeeper.data.coding.coded_table import CodedTable
from gamekeeper.data.keys.missing import Missing
from gamekeeper.data.reading.column_names import matched_name
from gamekeeper.errors import InputError, Problem, Reason
from gamekeeper.mapping.recoding.grammar import parse_recode
from gamekeeper.protect.recoding.categories import KeyCategories, Places
from gamekeeper.protect.recoding.household_target import household_target
from gamekeeper.protect.recoding.options import Loss, SearchOptions
from gamekeeper.protect.recoding.sources import (
    categories_by_graph,
    categories_by_levels,
    categories_by_rules,
    default_categories,
    known_variable,
    observed_ways,
    unknown_variable,
)
from gamekeeper.protect.recoding.wishes import granted, parse_wishes
from gamekeeper.protect.setting import Setting
from gamekeeper.protect.suppression.households import find_households
from gamekeeper.wording import count_of, quoted

WEIGHT_UNIT = 1_000_000
"""Weights are counted in millionths, so that sums of them are exact."""


@dataclass(frozen=True, eq=False)
class SearchProblem:
    """What is searched.

    `variables` are the key variables and, where there are strata, their variable, which is never
    recoded. `categories` are those that may be recoded, as wished.
    """

    variables: tuple[str, ...]
    categories: Mapping[str, KeyCategories]
    choices: tuple[Choice, ...]
    records: Records
    targets: tuple[Target, ...]
    entropy: float
    """How much the key variables tell, in the unit of the loss."""

    household_variables: tuple[str, ...] = ()
    """The key variables by which households are counted, each as one."""

    def blocks(self, chosen: Chosen) -> dict[str, tuple[Places, ...]]:
        """Return the categories that are chosen, by variable, in the order of their places."""
        return {
            name: tuple(sorted(choice.categories[number] for number in own))
            for name, choice, own in zip(self.variables, self.choices, chosen, strict=True)
            if name in self.categories
        }


def problem_of(table: CodedTable, setting: Setting, asked: SearchOptions) -> SearchProblem:
    """Return what is searched, or one error with all that is wrong."""
    names = _variables(setting, asked)
    problems = _problems(table, setting, asked, names)
    if problems:
        raise InputError(
            problems[0].reason,
            f"A recoding of {count_of(len(names), 'key variable')} was to be searched.",
            f"{count_of(len(problems), 'fault was', 'faults were')} found.",
            problems=problems,
        )
    known = _sources(table, setting, asked, names)
    at_least = {matched_name(name, names): least for name, least in asked.at_least.items()}
    left = granted(
        known,
        parse_wishes(asked.keep, names, "--keep"),
        parse_wishes(asked.forbid, names, "--forbid"),
        at_least,
        setting.decimal,
    )
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
    from gamekeeper.algorithms.uniques.minimal_uniques import find_minimal_uniques
    from gamekeeper.algorithms.uniques.scores import size_weights, weigh

    recoded = np.zeros(codes.shape, dtype=np.uint32)
    for place in range(codes.shape[1]):
        shown = labels[place].astype(np.int64) + 1
        shown[MISSING] = MISSING
        recoded[:, place] = shown[codes[:, place]]
    # One category for everybody tells nobody apart; a missing cell counts as a category.
    found = find_minimal_uniques(recoded, missing="category", listing=False, workers=1)
    scores = weigh(found.counts, size_weights(codes.shape[1]))
    return max(map(int, scores.tolist()), default=0)


def _variables(setting: Setting, asked: SearchOptions) -> tuple[str, ...]:
    if not asked.variables:
        return setting.keys
    return tuple(dict.fromkeys(matched_name(name, setting.keys) for name in asked.variables))


def _problems(
    table: CodedTable, setting: Setting, asked: SearchOptions, names: Sequence[str]
) -> list[Problem]:
    problems: list[Problem] = []
    given = {
        "levels": list(asked.levels),
        "observed": list(asked.observed),
        "at least": list(asked.at_least),
        "factor": list(asked.factors),
        "way": [parse_recode(text).variable for text in asked.ways],
    }
    for what, listed in given.items():
        for name in listed:
            try:
                matched_name(name, names)
            except InputError:
                problems.append(unknown_variable(name, names, what))
    for name in asked.household_variables:
        try:
            matched_name(name, setting.keys)
        except InputError:
            problems.append(unknown_variable(name, setting.keys, "household variable"))
    if asked.household_variables and not setting.household:
        problems.append(
            Problem(
                Reason.NOTHING_GIVEN,
                "household",
                "it is not named.",
                "Name the column (--household).",
            )
        )
    if asked.weighted and not setting.weight:
        problems.append(
            Problem(
                Reason.NOTHING_GIVEN,
                "weighted",
                "classes are to be counted by weights, and none are given.",
                "Name the column of weights (--weight).",
            )
        )
    if asked.k > table.n_records and not asked.weighted:
        problems.append(
            Problem(
                Reason.BAD_OPTION,
                "k",
                f"it is {asked.k:,}, and the file has {count_of(table.n_records, 'record')}.",
                "Ask for a k that the file can have.",
            )
        )
    problems += [
        Problem(
            Reason.BAD_OPTION,
            f"factor of {quoted([name])}",
            "it is not above 0.",
            "To let a variable go for nothing, leave it out of the keys.",
        )
        for name, factor in asked.factors.items()
        if not factor > 0
    ]
    problems += [
        Problem(
            Reason.BAD_OPTION,
            f"at least {least} of {quoted([name])}",
            "it is no whole number from 1 on.",
        )
        for name, least in asked.at_least.items()
        if isinstance(least, bool) or least != int(least) or least < 1
    ]
    for name in asked.observed:
        if setting.environment is None or known_variable(name, setting.environment) is None:
            problems.append(
                Problem(
                    Reason.UNKNOWN_NAME,
                    f"observed {quoted([name])}",
                    "no environment is given that has it.",
                    "Name its store or folder (--environment).",
                )
            )
    return problems


def _sources(
    table: CodedTable, setting: Setting, asked: SearchOptions, names: Sequence[str]
) -> dict[str, KeyCategories]:
    """Return where the categories of each variable come from; all that is wrong in one error."""
    rules: dict[str, list[str]] = {}
    for text in asked.ways:
        rules.setdefault(matched_name(parse_recode(text).variable, names), []).append(text)
    levels = {matched_name(name, names): path for name, path in asked.levels.items()}
    observed = {matched_name(name, names) for name in asked.observed}
    found: dict[str, KeyCategories] = {}
    problems: list[Problem] = []
    for name in names:
        variable = table.codebook[name]
        known = known_variable(name, setting.environment)
        whole, together = asked.whole_levels, asked.together
        try:
            if name in rules:
                found[name] = categories_by_rules(
                    table, name, rules[name], setting, whole=whole, together=together
                )
            elif name in levels:
                found[name] = categories_by_levels(
                    variable, Path(levels[name]), setting, whole=whole, together=together
                )
            elif known is not None:
                assert setting.environment is not None
                ways = observed_ways(setting.environment, known.name) if name in observed else None
                found[name] = categories_by_graph(
                    variable, known, setting, observed=ways, together=together
                )
            else:
                found[name] = default_categories(table, name, setting, together=together)
        except InputError as error:
            where = f"variable {quoted([name])}"
            problems += error.problems or [Problem(error.reason, where, error.found, error.do)]
    if problems:
        raise InputError(
            problems[0].reason,
            f"Categories of {count_of(len(names), 'key variable was', 'key variables were')} asked for.",
            f"{count_of(len(problems), 'fault was', 'faults were')} found.",
            problems=problems,
        )
    return found
