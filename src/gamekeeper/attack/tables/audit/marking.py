"""Which cells of a table of sums are unsafe to publish, by rules on the contributions to them."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Annotated, Any

from gamekeeper.algorithms.cells.primary_rules import RULE_WORDS, Rule, parse_rule
from gamekeeper.attack.tables.audit.row_rules import mark_rows
from gamekeeper.attack.tables.options import structural_of
from gamekeeper.data.cells.magnitudes import MagnitudeTable
from gamekeeper.errors import InputError, Reason
from gamekeeper.options import Option, takes, texts_of
from gamekeeper.prompt_syntax import names_of
from gamekeeper.results import Provenance, Result
from gamekeeper.wording import be, count_of

if TYPE_CHECKING:
    import pyarrow as pa


@dataclass(frozen=True, slots=True, kw_only=True)
class MarkingOptions:
    """The rules that a cell is held to."""

    rules: Annotated[
        Sequence[str],
        Option(
            f"A rule that makes a cell unsafe: {RULE_WORDS}, or for counts with --about disclosure:1 (one"
            " who knows themselves knows what the others are not).",
            flags="--rule",
        ),
    ] = ("p:10",)
    about: Annotated[
        Sequence[str],
        Option("The axes that a table of counts is about, for the rules zero and disclosure: Diagnosis.",
               read=names_of),
    ] = ()  # fmt: skip
    structural: Annotated[
        Sequence[Mapping[str, str]],
        Option("Categories that nobody can be in, so that a zero tells nothing: Age=0-14,Work=yes.",
               flags="--structural-zero", read=structural_of),
    ] = ()  # fmt: skip


@dataclass(frozen=True, repr=False)
class MarkedTable(Result):
    """A table of sums, and which of its cells are unsafe.

    Attributes
    ----------
    unsafe
        For each cell the rules that it breaks; and those that could not be judged.
    levels
        For each unsafe cell by how much more than its figure an attacker must think possible.
    """

    table: MagnitudeTable
    rules: tuple[Rule, ...]
    unsafe: tuple[tuple[str, ...], ...]
    unjudged: tuple[tuple[str, ...], ...]
    levels: tuple[Fraction | None, ...]
    provenance: Provenance

    @property
    def n_unsafe(self) -> int:
        """How many cells break a rule."""
        return sum(bool(own) for own in self.unsafe)

    @property
    def n_unjudged(self) -> int:
        """How many cells could not be judged by some rule, and break no other."""
        return sum(
            bool(own) and not broken for own, broken in zip(self.unjudged, self.unsafe, strict=True)
        )

    def summary(self) -> dict[str, Any]:
        """Return the headline numbers."""
        return {
            "cells": len(self.table),
            "unsafe": self.n_unsafe,
            "not_judged": self.n_unjudged,
            "records": self.table.n_records,
        }

    def sentences(self) -> list[str]:
        """Return how many cells are unsafe, and by which rule."""
        said = [
            f"{self.n_unsafe:,} of {count_of(len(self.table), 'cell')} {be(self.n_unsafe)} unsafe to publish."
        ]
        for rule in self.rules:
            n = sum(rule.text in own for own in self.unsafe)
            said.append(
                f"Rule {rule.text} ({rule.words}): {count_of(n, 'cell breaks', 'cells break')} it."
            )
        if self.n_unjudged:
            said.append(f"{count_of(self.n_unjudged, 'cell')} could not be judged.")
        return said

    def to_arrow(self) -> pa.Table:
        """Return one row per cell, with a status that an audit reads."""
        return self._rows(range(len(self.table)))

    def top(self, n: int) -> pa.Table:
        """Return the first unsafe cells."""
        return self._rows([at for at, own in enumerate(self.unsafe) if own][:n])

    def _rows(self, chosen: Sequence[int]) -> pa.Table:
        import pyarrow as pa

        table = self.table
        columns: dict[str, Any] = {
            name: pa.array([labels[at] for at in chosen], pa.string())
            for name, labels in zip(table.axes, table.labels, strict=True)
        }
        more = {
            "figure": [float(table.figures[at]) for at in chosen],
            "contributors": [float(table.cells[at].number) for at in chosen],
            "largest": [float(table.cells[at].largest) for at in chosen],
            "second": [
                float(s[1]) if len(s := table.cells[at].sizes) > 1 else 0.0 for at in chosen
            ],
            "status": ["u" if self.unsafe[at] else "s" for at in chosen],
            "rules": [", ".join(self.unsafe[at]) for at in chosen],
            "upper_level": [
                None if self.levels[at] is None else float(self.levels[at] or 0) for at in chosen
            ],
        }
        kinds = {"status": pa.string(), "rules": pa.string()}
        for name, values in more.items():
            columns[name if name not in columns else f"{name}_of_cell"] = pa.array(
                values, kinds.get(name, pa.float64())
            )
        return pa.table(columns)


@takes(MarkingOptions)
def mark_cells(table: MagnitudeTable, asked: MarkingOptions) -> MarkedTable:
    """Say which cells of a table of sums are unsafe, by rules on the contributions to them.

    The rules `zero` and `disclosure` of counts look at the categories of the axes that the table is
    about (`about`), and at cells that nobody is in, which are then part of the table.
    """
    started = time.perf_counter()
    rules = tuple(parse_rule(text) for text in dict.fromkeys(asked.rules))
    if not rules:
        raise InputError(
            Reason.NOTHING_GIVEN,
            "Cells were to be marked that are unsafe to publish.",
            "No rule was named, and by none every cell would seem safe.",
            "Name one (--rule p:10).",
        )
    by_rows = tuple(rule for rule in rules if rule.name in ("zero", "disclosure"))
    broken_rows: dict[tuple[str, ...], tuple[str, ...]] = {}
    has_disclosure = any(rule.name == "disclosure" for rule in by_rows)
    if has_disclosure or (by_rows and (asked.about or table.is_count)):
        table, broken_rows = mark_rows(table, by_rows, asked.about, asked.structural)
    unsafe: list[tuple[str, ...]] = []
    unjudged: list[tuple[str, ...]] = []
    levels: list[Fraction | None] = []
    for at, (cell, *labels) in enumerate(zip(table.cells, *table.labels, strict=True)):
        verdicts = [(rule, _is_unsafe(rule, table, at)) for rule in rules]
        broken = [rule for rule, verdict in verdicts if verdict]
        texts = dict.fromkeys(
            [*(rule.text for rule in broken), *broken_rows.get(tuple(labels), ())]
        )
        unsafe.append(tuple(rule.text for rule in rules if rule.text in texts))
        unjudged.append(tuple(rule.text for rule, verdict in verdicts if verdict is None))
        needed = [level for rule in broken if (level := rule.upper_level(cell)) is not None]
        levels.append(_level(table, at, max(needed)) if needed else None)
    return MarkedTable(
        table,
        rules,
        tuple(unsafe),
        tuple(unjudged),
        tuple(levels),
        Provenance(
            "primary rules",
            ", ".join(rule.text for rule in rules),
            {
                "cells": str(len(table)),
                "records": str(table.n_records),
                **texts_of(asked, "about"),
            },
            fingerprint=table.fingerprint,
            seconds=time.perf_counter() - started,
        ),
    )


def _is_unsafe(rule: Rule, table: MagnitudeTable, at: int) -> bool | None:
    cell = table.cells[at]
    if rule.name == "zero" and table.shadows:
        # It is the figure that is published, whatever the rules look at.
        return cell.number > 0 and table.figures[at] == 0
    return rule.is_unsafe(cell)


def _level(table: MagnitudeTable, at: int, needed: Fraction) -> Fraction | None:
    """Return a level of the figure: of a shadow's level, as large a share as it is of the shadow."""
    if not table.shadows:
        return needed
    total = table.cells[at].total
    return needed * abs(table.figures[at]) / total if total else None


def tops_needed(rules: Sequence[str]) -> int:
    """Return how many of the largest contributions some rules look at."""
    read = [parse_rule(text) for text in rules]
    wanted = [int(rule.numbers[0]) for rule in read if rule.name == "dominance"]
    wanted += [
        1 + int(rule.numbers[1]) for rule in read if rule.name == "p" and len(rule.numbers) > 1
    ]
    return max([3, *wanted])
