"""What to know before anything is believed of a file: of its scenario, of values like missing ones."""

from __future__ import annotations

import shlex
from collections.abc import Collection, Iterable, Mapping, Sequence

from gamekeeper.attack.unexamined import IMPOSSIBLE, SENSITIVE_MARKS
from gamekeeper.data.coding.coded_table import CodedTable
from gamekeeper.data.coding.missing_codes import suspected_codes
from gamekeeper.mapping.environment.environment import Environment
from gamekeeper.mapping.environment.scenario import Scenario
from gamekeeper.mapping.scenario.staleness import staleness
from gamekeeper.wording import at_start, count_of, joined, quoted

_SHOWN = 8


def missing_code_notices(
    table: CodedTable,
    *,
    known: Mapping[str, Collection[str]] | None = None,
    decimal: str = ".",
) -> tuple[str, ...]:
    """Say which values look like codes for missing, in which columns, and what to do.

    Only codes of a fixed list of ours are named, and no other value of the file. `known` has, by
    column, values of which somebody has said what they mean.
    """
    by_column: dict[str, dict[str, int]] = {}
    for item in suspected_codes(table, known=known, decimal=decimal):
        by_column.setdefault(item.variable, {})[item.value] = item.n_records
    by_codes: dict[tuple[str, ...], dict[str, int]] = {}
    for column, counts in by_column.items():
        by_codes.setdefault(tuple(counts), {})[column] = sum(counts.values())
    return tuple(_notice(codes, columns, table.n_records) for codes, columns in by_codes.items())


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


def in_file(name: str, notices: Iterable[str]) -> tuple[str, ...]:
    """Say of which file notices are, where there are several."""
    return tuple(f"In the file {quoted([name])}: {notice}" for notice in notices)


def _notice(codes: tuple[str, ...], columns: Mapping[str, int], n_records: int) -> str:
    one = len(codes) == 1
    shown = [
        f"{quoted([column])} ({number:,} of {count_of(n_records, 'record')})"
        for column, number in list(columns.items())[:_SHOWN]
    ]
    left = len(columns) - len(shown)
    where = joined([*shown, *([f"{left:,} more"] if left else [])])
    options = " ".join(f"--missing-value {_typed(code)}" for code in codes)
    return (
        f"{joined([quoted([code]) for code in codes])} {'looks' if one else 'look'} like"
        f" {'a code' if one else 'codes'} for missing in the"
        f" {'column' if len(columns) == 1 else 'columns'} {where}, and {'is' if one else 'are'} read as"
        f" {'a value' if one else 'values'}. Where {'it means' if one else 'they mean'} missing, add"
        f" {options}."
    )


def _typed(code: str) -> str:
    """Return a code as it is typed at the prompt; a dot must not be taken for that of a sentence."""
    return f"'{code}'" if code.endswith(".") else shlex.quote(code)
