"""What to know of a file before anything is believed of it: values that look like missing ones."""

from __future__ import annotations

import shlex
from collections.abc import Collection, Iterable, Mapping

from gamekeeper.data.coding.coded_table import CodedTable
from gamekeeper.data.coding.missing_codes import suspected_codes
from gamekeeper.wording import count_of, joined, quoted

_SHOWN_COLUMNS = 8


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


def in_file(name: str, notices: Iterable[str]) -> tuple[str, ...]:
    """Say of which file notices are, where there are several."""
    return tuple(f"In the file {quoted([name])}: {notice}" for notice in notices)


def _notice(codes: tuple[str, ...], columns: Mapping[str, int], n_records: int) -> str:
    one = len(codes) == 1
    shown = [
        f"{quoted([column])} ({number:,} of {count_of(n_records, 'record')})"
        for column, number in list(columns.items())[:_SHOWN_COLUMNS]
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
