"""Values of a file that no category of a scenario is known for: written to be filled in, and read."""

from __future__ import annotations

import csv
import io
from collections import Counter
from collections.abc import Iterable, Mapping
from pathlib import Path

import numpy as np

from gamekeeper.data.coding.codebook import Codebook
from gamekeeper.data.coding.coded_table import CodedTable
from gamekeeper.errors import InputError, Problem, Reason, refuse
from gamekeeper.files.reading import require_ordinary
from gamekeeper.files.writing import write_file
from gamekeeper.mapping.environment.scenario import Scenario
from gamekeeper.mapping.scenario.recoding import RecodePlan, UnmappedValues
from gamekeeper.wording import count_of, folded, quoted, read_cell, shown_cell, shown_path

_HEADER = ("variable", "value", "label", "records", "as a number", "category")


def require_mapped(plan: RecodePlan, table: CodedTable, unmapped: Path | None) -> None:
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


def unmapped_problems(plan: RecodePlan, table: CodedTable, unmapped: Path | None) -> list[Problem]:
    """Return what is wrong with values that are not mapped; write them where a file is named."""
    if not plan.unmapped:
        return []
    counts = table.counts(list({item.column for item in plan.unmapped}))
    if unmapped is not None:
        _write_unmapped(plan.unmapped, counts, unmapped)
    return plan.problems(lambda item: int(counts[item.column][list(item.codes)].sum()))


def _write_unmapped(
    unmapped: Iterable[UnmappedValues], counts: Mapping[str, np.ndarray], path: Path
) -> None:
    text = io.StringIO(newline="")
    writer = csv.writer(text)
    writer.writerow(_HEADER)
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
    plan: RecodePlan,
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
