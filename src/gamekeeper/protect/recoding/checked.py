"""What is asked of a search for a recoding, held against the file: every fault in one error."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from gamekeeper.data.coding.coded_table import CodedTable
from gamekeeper.data.reading.column_names import matched_names
from gamekeeper.errors import InputError, Problem, Reason, refuse
from gamekeeper.mapping.recoding.grammar import parse_recode
from gamekeeper.protect.recoding.categories import KeyCategories
from gamekeeper.protect.recoding.options import SearchOptions
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
from gamekeeper.wording import count_of, quoted


@dataclass(frozen=True, slots=True)
class CheckedWishes:
    """Wishes that can be granted: key variables, by each the categories it may get, and how many at least."""

    names: tuple[str, ...]
    categories: Mapping[str, KeyCategories]
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
    refuse(
        problems,
        f"A recoding of {count_of(len(names), 'key variable')} was to be searched.",
        f"{count_of(len(problems), 'fault was', 'faults were')} found.",
    )
    return CheckedWishes(names, left, at_least)


def _is_whole(number: float) -> bool:
    return not isinstance(number, bool) and number == int(number) and number >= 1


def _variables(setting: Setting, asked: SearchOptions, problems: list[Problem]) -> tuple[str, ...]:
    """Return the variables that may be recoded; where one is not known, all, so that the rest is checked."""
    if not asked.variables:
        return setting.keys
    found = matched_names(asked.variables, setting.keys)
    unknown = [name for name in found if name not in setting.keys]
    problems += [unknown_variable(name, setting.keys, "recodable", "") for name in unknown]
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
        unknown_variable(name, names, what)
        for what, listed in given.items()
        for name in listed
        if matched_names([name], names)[0] not in names
    ]
    problems += [
        unknown_variable(name, setting.keys, "household variable", "")
        for name in asked.household_variables
        if matched_names([name], setting.keys)[0] not in setting.keys
    ]
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
        if not _is_whole(least)
    ]
    for name in matched_names(asked.observed, names):
        if name not in names:
            continue
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
) -> dict[str, KeyCategories]:
    """Return the categories of each variable that has some; what is wrong is added to the problems."""
    rules: dict[str, list[str]] = {}
    for name, texts in typed.items():
        (own,) = matched_names([name], names)
        rules.setdefault(own, []).extend(texts)
    levels = dict(zip(matched_names(asked.levels, names), asked.levels.values(), strict=True))
    observed = set(matched_names(asked.observed, names))
    found: dict[str, KeyCategories] = {}
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
    return found
