"""A file read under a scenario: its values become categories, and those that fit none are told.

A value is mapped by its name or by a table of values; the others can be written to be filled in.
What a scenario leaves unsaid, and which marks of its environment no attack uses, are notices.
"""

from __future__ import annotations

import csv
import io
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from gamekeeper.algorithms.categories.partitions import Arbitrary
from gamekeeper.attack.unexamined import IMPOSSIBLE, SENSITIVE_MARKS
from gamekeeper.data.coding.codebook import Codebook, Recode
from gamekeeper.data.coding.coded_table import CodedTable
from gamekeeper.data.reading.source import Source
from gamekeeper.errors import InputError, Problem, Reason, refuse
from gamekeeper.files import require_ordinary, write_file
from gamekeeper.mapping.environment.environment import Environment
from gamekeeper.mapping.environment.rules import Scenario
from gamekeeper.mapping.recoding_rules import RecodeRule
from gamekeeper.mapping.scenario import proposal
from gamekeeper.mapping.scenario.document import staleness
from gamekeeper.mapping.variables.categorization import categorization_of, coarsenings
from gamekeeper.store.place import StorePlace
from gamekeeper.wording import at_start, count_of, folded, quoted, read_cell, shown_cell, shown_path
from gamekeeper.workbench.environment.opening import opened
from gamekeeper.workbench.requests.records import LookRequest, MicrodataRequest

_SHOWN = 8


def environment_of(given: StorePlace | Environment) -> Environment:
    """Return an environment that may be open already."""
    if isinstance(given, Environment):
        return given
    with opened(given) as place:
        return place.environment


def map_columns(
    asked: MicrodataRequest,
    scenario: Scenario,
    environment: Environment,
    source: Source,
    coded: Callable[[Iterable[str]], CodedTable],
) -> tuple[CodedTable, CodedTable, dict[str, set[str]]]:
    """Return a file as it was coded and as the scenario has it, and the values that are explained."""
    keys = [key.variable for key in scenario.keys]
    columns = proposal.columns_of(keys, source.names, asked.columns)
    values = read_values(asked.values) if asked.values is not None else {}
    read = coded(columns.values())
    plan = proposal.plan_recodes(
        scenario,
        environment,
        read.codebook,
        columns,
        values=values,
        numbers=asked.numbers,
        decimal=source.decimal,
    )
    require_mapped(plan, read, asked.unmapped)
    known = named_values(scenario, plan, read.codebook, values)
    return read, read.recoded(plan.recodes), known


def coarser_recodes(
    scenario: Scenario, environment: Environment, rules: Sequence[RecodeRule]
) -> dict[str, list[Recode]]:
    """Return coarser and coarser recodings of each key variable that `rules` leave as it is."""
    made: dict[str, list[Recode]] = {}
    taken = {rule.variable.casefold() for rule in rules}
    for key in scenario.keys:
        if key.variable.casefold() in taken:
            # Its codes are no longer those of the scenario.
            continue
        variable = environment.variable(key.variable)
        categorization = categorization_of(variable, key.blocks)
        if categorization is None or isinstance(categorization, Arbitrary):
            continue
        fine = categorization.blocks()
        for step in coarsenings(variable, categorization):
            place = {sink: code for code, block in enumerate(step.blocks(), 1) for sink in block}
            codes = np.array([0, *(place[block[0]] for block in fine)])
            words = ("missing", *variable.words(step))
            made.setdefault(key.variable, []).append(Recode(key.variable, codes, words))
    return made


def require_mapped(plan: proposal.RecodePlan, table: CodedTable, unmapped: Path | None) -> None:
    """Refuse a file with values that no category is known for; write them where a file is named."""
    do = "Write them to a file with --unmapped FILE, fill in their categories, and give it by --values."
    problems = unmapped_problems(plan, table, unmapped)
    if unmapped is not None:
        do = f"They are in {shown_path(unmapped)}: fill in their categories, and give it by --values."
    n_keys = len({item.variable for item in plan.unmapped})
    refuse(
        problems,
        f"The values of the file were to be mapped to the categories of {quoted([plan.scenario])}.",
        f"{count_of(n_keys, 'key variable')} could not be mapped.",
        do,
    )


def unmapped_problems(
    plan: proposal.RecodePlan, table: CodedTable, unmapped: Path | None
) -> list[Problem]:
    """Return what is wrong with values that are not mapped; write them where a file is named."""
    if not plan.unmapped:
        return []
    counts = table.counts(list({item.column for item in plan.unmapped}))
    if unmapped is not None:
        _write_unmapped(plan.unmapped, counts, unmapped)
    return plan.problems(lambda item: int(counts[item.column][list(item.codes)].sum()))


def _write_unmapped(
    unmapped: Iterable[proposal.UnmappedValues], counts: Mapping[str, np.ndarray], path: Path
) -> None:
    text = io.StringIO(newline="")
    writer = csv.writer(text)
    writer.writerow(("variable", "value", "label", "records", "as a number", "category"))
    for item in unmapped:
        as_numbers = item.as_numbers or [""] * len(item.values)
        rows = zip(item.values, item.words, item.codes, as_numbers, strict=True)
        for value, word, code, number in rows:
            label = word if word != value else ""
            cells = (item.variable, value, label, int(counts[item.column][code]), number, "")
            writer.writerow(map(shown_cell, cells))
    write_file(
        path,
        text.getvalue().encode(),
        private=True,
        replace=False,
        asked="The values that are not mapped were to be written to {}.",
    )


def read_values(path: Path) -> dict[str, dict[str, str]]:
    """Read which category each value means, by variable."""
    asked = f"The categories of values were to be read from {shown_path(path)}."
    header: tuple[str, ...] = ()
    lines: list[dict[str, str | None]] = []
    failure = ""
    try:
        require_ordinary(path)
        with path.open(encoding="utf-8-sig", newline="") as file:
            reader = csv.DictReader(file)
            header = tuple(reader.fieldnames or ())
            lines = list(reader)
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        failure = type(error).__name__
    if failure:
        # Raised out here, since the other error holds bytes of the file and would be its context.
        raise InputError(
            Reason.NOT_READABLE, asked, f"It could not be read ({failure}).",
            "Give the file that --unmapped wrote, in UTF-8.",
        )  # fmt: skip
    needed = ("variable", "value", "category")
    absent = [name for name in needed if name not in header]
    if absent:
        raise InputError(
            Reason.WRONG_SCHEMA, asked, f"It has no column {quoted(absent)}.",
            f"Give a table with the columns {quoted(needed)}.",
        )  # fmt: skip
    read: dict[str, dict[str, str]] = {}
    unlike: Counter[str] = Counter()
    for line in lines:
        variable, value = read_cell(line["variable"] or "").strip(), read_cell(line["value"] or "")
        category = read_cell(line["category"] or "").strip()
        if read.setdefault(variable, {}).setdefault(value, category) != category:
            unlike[variable] += 1
    if unlike:
        raise InputError(
            Reason.DUPLICATE, asked, "Values are given twice, with different categories.",
            "Give one category for each value.",
            problems=[
                Problem(Reason.DUPLICATE, f"variable {quoted([name])}", count_of(number, "value") + ".")
                for name, number in unlike.items()
            ],
        )  # fmt: skip
    return read


def named_values(
    scenario: Scenario,
    plan: proposal.RecodePlan,
    codebook: Codebook,
    values: Mapping[str, Mapping[str, str]],
) -> dict[str, set[str]]:
    """Return, by column, the values that are categories by name, or are said to be."""
    known: dict[str, set[str]] = {}
    for key, recode in zip(scenario.keys, plan.recodes, strict=True):
        column = codebook[recode.variable]
        named = known.setdefault(column.name, set(values.get(key.variable, ())))
        if key.blocks:
            named.update(
                value
                for value, word, code in zip(column.values, column.words, recode.codes, strict=True)
                if folded(recode.words[code]) in (folded(value), folded(word))
            )
    return known


def scenario_notices(scenario: Scenario | None, environment: Environment | None) -> tuple[str, ...]:
    """Say that a scenario is stale, and which marks of the environment no attack uses."""
    if environment is None:
        return ()
    stale = "" if scenario is None else staleness(scenario, environment)
    return tuple(told for told in (stale, *_unused_marks(environment)) if told)


def _unused_marks(environment: Environment) -> tuple[str, str]:
    marked = {
        name: [each for each in variable.graph.categories if each in variable.sensitive]
        for name, variable in environment.variables.items()
        if variable.sensitive
    }
    sensitive = [f"{quoted([name])} ({quoted(own)})" for name, own in marked.items()]
    impossible = [
        " with ".join(f"{quoted([name])} {quoted(own)}" for name, own in item.combination.items())
        for item in environment.rules.impossible
    ]
    return (
        f"Not used: {SENSITIVE_MARKS.name}, of {_listed(sensitive)}. {at_start(SENSITIVE_MARKS.words)};"
        f" {SENSITIVE_MARKS.around}."
        if sensitive
        else "",
        f"Not used: {IMPOSSIBLE.name}, {_listed(impossible)}. {at_start(IMPOSSIBLE.words)}."
        if impossible
        else "",
    )


def _listed(texts: Sequence[str]) -> str:
    left = len(texts) - _SHOWN
    return "; ".join([*texts[:_SHOWN], *([f"and {left:,} more"] if left > 0 else [])])


def sinks_of(
    scenario: Scenario | None, environment: Environment | None
) -> dict[str, list[list[int]]]:
    """Return what the codes of a scenario's key variables mean in its environment."""
    found: dict[str, list[list[int]]] = {}
    for key in () if scenario is None or environment is None else scenario.keys:
        assert environment is not None
        partition = categorization_of(environment.variable(key.variable), key.blocks)
        if partition is not None and not isinstance(partition, Arbitrary):
            found[key.variable] = partition.blocks()
    return found


def fit_of(
    asked: LookRequest,
    scenario: Scenario,
    environment: Environment,
    table: CodedTable,
    decimal: str,
) -> tuple[dict[str, str], list[Problem]]:
    """Return the column of each key variable that has one, and why the file does not fit as it is."""
    columns: dict[str, str] = {}
    problems: list[Problem] = []
    for key in scenario.keys:
        given = {key.variable: asked.columns[key.variable]} if key.variable in asked.columns else {}
        try:
            columns |= proposal.columns_of([key.variable], table.codebook.names, given)
        except InputError as error:
            problems += error.problems
    found = tuple(key for key in scenario.keys if key.variable in columns)
    if found:
        try:
            plan = proposal.plan_recodes(
                replace(scenario, keys=found),
                environment,
                table.codebook,
                columns,
                numbers=asked.numbers,
                decimal=decimal,
            )
        except InputError as error:
            return columns, [*problems, *error.problems]
        problems += unmapped_problems(plan, table, asked.unmapped)
    return columns, problems
