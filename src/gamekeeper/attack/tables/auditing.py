"""Audit of published tables: what their hidden cells give away; and cells marked as unsafe by rules.

The auditor knows nothing of how cells were chosen to be hidden. It takes everything that is
published of one base, several tables, earlier versions, percentages and means, and asks how small
and how large each hidden figure can be. What it calls known comes with the published figures that
give it away; what it calls open, with figures that agree with everything.

Which cells of a table of sums are unsafe to publish is told by rules on the contributions to them.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Annotated, Any

import numpy as np

from gamekeeper.algorithms.linear.elimination import determined_numbers
from gamekeeper.algorithms.linear.facts import NO_LIMIT, NoNumbersError
from gamekeeper.algorithms.linear.search import FactSearch
from gamekeeper.algorithms.releases.primary_rules import RULE_WORDS, Rule, parse_rule
from gamekeeper.arrow import pa
from gamekeeper.attack.tables.audit_result import Equation, HiddenCell, TableAudit, equation_of
from gamekeeper.attack.tables.bounding import assumed_summary
from gamekeeper.attack.tables.insiders import Insiders, Interval, insiders_of
from gamekeeper.attack.tables.options import AuditInput, BoundsInput, structural_of
from gamekeeper.attack.tables.rules import Rounding, judge, mark_rows, read_rules, rounding_of
from gamekeeper.budget import require_memory
from gamekeeper.data.tables.cell_facts import CellFacts, Says, assumed_of_tables, cell_facts
from gamekeeper.data.tables.cell_file import Status
from gamekeeper.data.tables.magnitudes import MagnitudeTable, contributors_of_tables
from gamekeeper.data.tables.subtotals import AssumedDisjoint
from gamekeeper.data.tables.table_set import TableSet
from gamekeeper.errors import Cancelled, InputError, LimitError, Problem, Reason
from gamekeeper.options import Option, takes, texts_of
from gamekeeper.prompt_syntax import names_of
from gamekeeper.results import Progress, Provenance, Result
from gamekeeper.wording import be, count_of, did_you_mean, duration_text, joined, quoted

_ASKED = "Published tables were to be audited."
_SHOWN = 6
MOST_SECONDS = 900.0
"""What a search may take for which nobody said how long it may."""
_LONG = 20.0
_AROUND = "Audit fewer tables or levels at once"
# What a program takes for each entry of its rows, and for each open cell and row. Three axes of 20
# and of 26 categories, half of the cells hidden, took 13 and 23 MB, where this says 11 and 27.
_BYTES_OF_ENTRY, _BYTES_OF_LINE = 250, 1_500
_MOST_PROOFS = 20_000


def searched(
    tables: TableSet,
    known: CellFacts,
    progress: Progress | None,
    until: float,
    *,
    tell: Callable[[str], None] | None = None,
    is_limited: bool = False,
) -> tuple[FactSearch, bool]:
    """Return the search as far as it came, and whether it was stopped.

    `tell` is told in a sentence how long the search will take, if that is long; `is_limited`
    refuses one that would take longer than it may.
    """
    try:
        search = FactSearch(known.facts, known.wanted)
    except NoNumbersError as error:
        raise _contradiction(tables, known, error) from None
    largest = max(search.components, key=lambda own: len(own.numbers), default=None)
    n_open = sum(len(own.numbers) for own in search.components)
    hanging = 0 if largest is None else len(largest.numbers)
    what = f"{count_of(n_open, 'open cell')}, up to {hanging:,} of which hang together,"
    if largest is not None:
        size = _BYTES_OF_ENTRY * len(largest.facts.members)
        size += _BYTES_OF_LINE * (hanging + largest.facts.n_rows)
        require_memory(_ASKED, size, what, _AROUND)

    def expect(seconds: float) -> None:
        about = f"{what} will take up to some {duration_text(seconds)}"
        if is_limited and seconds > MOST_SECONDS:
            raise LimitError(
                Reason.TOO_LARGE,
                _ASKED,
                f"{about}, and {duration_text(MOST_SECONDS)} are allowed unless you say otherwise.",
                f"Say how long it may take (--max-seconds {round(seconds, -2):.0f}, max_seconds in"
                " Python), or less: what is proven by then is told, and nothing else is called safe."
                f" {_AROUND}, which takes less.",
            )
        if tell is not None and seconds > _LONG:
            tell(f"{about}. Ctrl-C, or --max-seconds, stops it and keeps what is proven by then.")

    is_stopped = False
    try:
        search.run(progress, max_seconds=max(0.0, until - time.monotonic()), expect=expect)
        is_stopped = time.monotonic() > until
    except Cancelled:
        is_stopped = True
    except NoNumbersError as error:
        raise _contradiction(tables, known, error) from None
    return search, is_stopped


def _contradiction(tables: TableSet, known: CellFacts, error: NoNumbersError) -> InputError:
    equations = [int(known.equations[row]) for row in error.rows if known.equations[row] >= 0]
    cells = list(dict.fromkeys(tables.system.equation(e)[0] for e in equations))[:_SHOWN]
    problems = [
        Problem(
            Reason.CONFLICTING_COUNTS,
            tables.words(cell),
            "its published parts do not fit it, whatever the hidden ones are.",
        )
        for cell in cells
    ]
    return InputError(
        Reason.CONFLICTING_COUNTS,
        _ASKED,
        "No figures for the hidden cells agree with everything that is published.",
        f"Check the hierarchy, the totals (--total){', the schemes (--scheme)' if tables.perturbed else ''}, and"
        " whether all tables are of one base. Figures that were rounded one by one take --tolerance, values"
        " that may be below 0 --negative.",
        problems=problems,
    )


def intervals_of(tables: TableSet, known: CellFacts, search: FactSearch) -> dict[int, Interval]:
    """Return what is known of every hidden cell."""
    found = search.found()
    # Where tables were not joined, or shares not used, what seems possible need not be.
    is_whole_story = tables.system.is_joined and not any(
        "could not be used" in n for n in known.notices
    )
    slack = _slack(known, search)
    intervals: dict[int, Interval] = {}
    off = known.tolerance
    for cell in tables.hidden.tolist():
        figure = tables.figures[cell]
        if cell in tables.published_elsewhere and figure is not None:
            low, high = figure - off, figure + off
            intervals[cell] = Interval(low, high, low, high, False, high - low)
    for at, number in enumerate(found.numbers):
        low, high, reached_low, reached_high = (
            None if one is None else one / known.scale
            for one in (
                found.least[at],
                found.most[at],
                found.reached_least[at],
                found.reached_most[at],
            )
        )
        own = slack[number]
        is_told = is_whole_story and own is not None
        intervals[int(known.cells[number])] = Interval(
            low,
            high,
            reached_low if is_told else None,
            reached_high if is_told else None,
            found.endless[at] and is_told,
            (own or Fraction(0)) / known.scale,
        )
    return dict(sorted(intervals.items()))


def _slack(known: CellFacts, search: FactSearch) -> list[Fraction | None]:
    """Return for each number how wide an interval is that rounding alone explains; None where untold.

    What published figures determine is known, however wide rounding leaves it.
    """
    facts = known.facts
    if not known.tolerance:
        gaps = np.where(known.equations >= 0, facts.high - facts.low, NO_LIMIT)
        found = np.full(len(facts.lower), NO_LIMIT, np.int64)
        np.minimum.at(found, facts.members, gaps[facts.entry_rows])
        return [Fraction(0 if own >= NO_LIMIT else own) for own in found.tolist()]
    fixed = determined_numbers(facts, ~known.is_published[known.cells], known.equations >= 0)
    least = 2 * known.tolerance * known.scale
    made: list[Fraction | None] = []
    for number, is_fixed in enumerate(fixed):
        low, high = search.lower[number], search.upper[number]
        width = high - low if is_fixed and low is not None and high is not None else Fraction(0)
        made.append(None if is_fixed is None else max(least, width))
    return made


@dataclass(frozen=True, eq=False, repr=False)
class Examined:
    """What is known of the cells that tables do not show: as it is, and if no label is a sum of others.

    - `intervals`: what is known of each; `assumed_intervals` if labels exclude each other, the same
      where nothing rests on that.
    - `assumed`: the axes on which labels could be sums of others, and nobody said that none is.
    - `is_stopped`: whether the search was stopped, so that more may be known.
    - `without`: how many could be recomputed if statuses told nothing; None if none tells anything.
    """

    known: CellFacts
    search: FactSearch
    intervals: dict[int, Interval]
    assumed_intervals: dict[int, Interval]
    assumed: tuple[AssumedDisjoint, ...]
    rounding: Rounding
    is_stopped: bool
    without: int | None
    until: float


def examined(
    tables: TableSet, asked: AuditInput | BoundsInput, also: Sequence[int] = ()
) -> Examined:
    """Work out how small and how large each figure can be that tables do not show, and `also` of other cells.

    Stopped by Ctrl-C or after `max_seconds`, it has what is proven by then.
    """
    if asked.says and not tables.whole:
        raise InputError(
            Reason.BAD_OPTION,
            "Statuses were said to tell something of the cells that they hide.",
            "They tell how many contribute, and the figures of these tables are values.",
            "Leave out --says: how many contribute says nothing of what they add up to.",
        )
    _require_said(tables, asked.says or {})
    known = _facts(tables, asked, asked.says, also)
    is_limited = asked.max_seconds is None
    until = time.monotonic() + (MOST_SECONDS if asked.max_seconds is None else asked.max_seconds)
    try:
        # From here on, Ctrl-C keeps what is found.
        if asked.progress is not None:
            asked.progress(0, None)
    except Cancelled:
        until = time.monotonic()
    search, is_stopped = searched(
        tables, known, asked.progress, until, tell=asked.tell, is_limited=is_limited
    )
    intervals = intervals_of(tables, known, search)
    without: int | None = None
    if asked.says and not is_stopped:
        bare = cell_facts(tables, tolerance=asked.tolerance, negative=asked.negative)
        again, is_stopped = searched(tables, bare, asked.progress, until)
        without = sum(one.is_known for one in intervals_of(tables, bare, again).values())
    from_one = {} if known.is_signed else _limits_from_one(tables, asked.says or {})
    if from_one and not is_stopped:
        intervals, told, is_stopped = _with_zeros_doubted(
            tables, asked, also, intervals, from_one, until
        )
        known = replace(known, notices=(*known.notices, *told))
    assumed = assumed_of_tables(tables, known)
    # What seems possible if labels exclude each other need not be.
    doubted = {cell: one.doubted() for cell, one in intervals.items()} if assumed else intervals
    return Examined(
        known,
        search,
        doubted,
        intervals,
        assumed,
        rounding_of(tables, asked.tolerance),
        is_stopped,
        without,
        until,
    )


def _facts(
    tables: TableSet, asked: AuditInput | BoundsInput, says: Says | None, also: Sequence[int]
) -> CellFacts:
    """Return what tables say, with those cells to be searched for as well."""
    known = cell_facts(tables, tolerance=asked.tolerance, negative=asked.negative, says=says)
    more = known.number[np.asarray(also, np.int64)]
    return replace(known, wanted=np.union1d(known.wanted, more[more >= 0])) if len(also) else known


@takes(AuditInput)
def audit_tables(tables: TableSet, asked: AuditInput) -> TableAudit:
    """Work out what published tables say about the cells that they hide.

    Stopped by Ctrl-C or after `max_seconds`, it tells what is proven by then.

    Examples
    --------
    >>> from gamekeeper.data.tables.cell_file import CellRows
    >>> rows = [["Total", 18], ["South", None], ["North", 9], ["East", 7]]
    >>> found = audit_tables(TableSet.of([CellRows.typed(["area"], rows)]))
    >>> print(*found.sentences(), sep=chr(10))
    1 of 1 hidden cell can be recomputed from what is published.
    area=South is 2: 18 (total) less 9 (area=North) and 7 (area=East).
    """
    started = time.perf_counter()
    rules = read_rules(asked.rules)
    if asked.insiders and tables.perturbed:
        raise InputError(
            Reason.BAD_OPTION,
            "It was asked what contributors learn of tables under a scheme.",
            "They know true figures, and published ones are perturbed: that is not examined.",
            "Leave out --insiders and --contributors, or audit the tables that are exact.",
        )
    seen = examined(tables, asked)
    known, search, intervals = seen.known, seen.search, seen.assumed_intervals
    insiders: Insiders | None = None
    if asked.insiders:
        given = asked.contributors or contributors_of_tables(tables)
        end = time.monotonic() if seen.is_stopped else seen.until
        insiders = insiders_of(
            tables, known, search, intervals, given, asked.coalition, asked.progress, end
        )
    percent = Fraction(str(asked.within))
    cells, proofs = _hidden_cells(tables, known, search, intervals, percent)
    standings, doubted = (
        judge(
            rules,
            own,
            tables,
            insiders,
            signed=known.is_signed,
            unexamined=seen.rounding.left_out,
        )
        for own in (intervals, seen.intervals)
    )
    found = TableAudit(
        tables,
        known,
        tuple(cells),
        proofs,
        tuple(standings),
        float(percent),
        insiders,
        seen.without,
        seen.is_stopped,
        seen.rounding,
        Provenance(
            "audit of tables",
            "whole numbers" if known.facts.whole else "real numbers",
            {
                **facts_told(tables, search),
                **texts_of(
                    replace(asked, progress=None, tell=None, contributors=None),
                    "rules",
                    "within",
                    "tolerance",
                    "negative",
                    "insiders",
                    "coalition",
                ),
            },
            fingerprint=tables.fingerprint,
            seconds=time.perf_counter() - started,
        ),
    )
    if not seen.assumed:
        return found
    return replace(
        found,
        cells=tuple(one.doubted() for one in found.cells),
        standings=tuple(doubted),
        assumed=seen.assumed,
        if_disjoint=found,
        provenance=replace(
            found.provenance,
            parameters={**found.provenance.parameters, **assumed_summary(seen.assumed)},
        ),
    )


def facts_told(tables: TableSet, search: FactSearch) -> dict[str, str]:
    """Return what a provenance tells of tables and of the search."""
    return {
        "tables": joined([table.name for table in tables.tables], _SHOWN),
        "cells": str(tables.system.n_cells),
        "sums": str(tables.system.n_equations),
        "programs": str(search.programs),
    }


def _limits_from_one(tables: TableSet, says: Says) -> dict[str, tuple[int, int | None]]:
    """Return printed upper limits that may mean 1 or more, since 0 is shown; as `says` has them."""
    if not tables.whole or not any(0 in table.figures for table in tables.tables):
        return {}
    read = {text: own.of_whole() for table in tables.tables for text, own in table.limits.items()}
    return {
        text: (1, high)
        for text, (low, high) in read.items()
        if low is None and text.strip() not in says and (high is None or high > 0)
    }


def _with_zeros_doubted(
    tables: TableSet,
    asked: AuditInput | BoundsInput,
    also: Sequence[int],
    intervals: dict[int, Interval],
    from_one: Says,
    until: float,
) -> tuple[dict[int, Interval], tuple[str, ...], bool]:
    """Return what is known of hidden cells where nobody said whether upper limits hold 0.

    What is proven allows 0, and what is shown to be possible does without: figures that agree with
    limits from 1 on agree with those from 0 as well. A notice says what is known if none is 0.
    """
    says = {**(asked.says or {}), **from_one}
    try:
        known = _facts(tables, asked, says, also)
        search, is_stopped = searched(tables, known, asked.progress, until)
    except InputError:
        # Some of them must be 0, so that readers know that limits hold it.
        return intervals, (), False
    without = intervals_of(tables, known, search)
    more = [c for c, one in without.items() if one.is_known and not intervals[c].is_known]
    found = {
        cell: replace(
            one,
            reached_low=without[cell].reached_low,
            reached_high=without[cell].reached_high,
            is_endless=without[cell].is_endless,
        )
        for cell, one in intervals.items()
    }
    text, (_, high) = next(iter(from_one.items()))
    zero = f"--says {quoted([f'{text}=0+' if high is None else f'{text}=0-{high}'])}"
    said = f"If no cell that reads {quoted(from_one)} is 0, {count_of(len(more), 'more hidden cell')} can be recomputed"
    return found, ((f"{said}. If it may be 0, say so: {zero}.",) if more else ()), is_stopped


def _require_said(tables: TableSet, says: Says) -> None:
    seen = {
        own.strip()
        for table in tables.tables
        for texts in (table.marks, table.printed or ())
        for own, status in zip(texts, table.statuses, strict=False)
        if status.is_hidden and own.strip()
    }
    unknown = [own for own in says if own not in seen]
    if unknown:
        raise InputError(
            Reason.UNKNOWN_NAME,
            "It was said what some hidden cells tell of their counts (--says).",
            f"No hidden cell has {quoted(unknown)} as its status, or printed in its place.",
            did_you_mean(unknown[0], seen)
            if seen
            else "Hidden cells are empty: nothing to say of them.",
        )


def _hidden_cells(
    tables: TableSet,
    known: CellFacts,
    search: FactSearch,
    intervals: dict[int, Interval],
    percent: Fraction,
) -> tuple[list[HiddenCell], dict[int, tuple[Equation, ...]]]:
    where = _where(tables)
    cells = [
        HiddenCell(
            cell,
            where.get(cell, ()),
            tables.statuses[cell],
            tables.truths[cell],
            interval,
            interval.is_within(percent),
            cell in tables.published_elsewhere,
            percent,
        )
        for cell, interval in intervals.items()
    ]
    cells.sort(key=lambda one: one.order)
    proofs: dict[int, tuple[Equation, ...]] = {}
    for one in [own for own in cells if own.is_known or own.is_near][:_MOST_PROOFS]:
        if one.is_elsewhere:
            continue
        number = int(known.number[one.cell])
        sides = [search.proof(number, is_upper=side) for side in (True, False)]
        made = [equation_of(tables, known, proof) for proof in sides if proof is not None]
        # One that is an equation says both how small and how large a figure is.
        made = [own for own in made if own.is_equation][:1] or made
        proofs[one.cell] = tuple(made)
    return cells, proofs


def _where(tables: TableSet) -> dict[int, tuple[str, ...]]:
    found: dict[int, list[str]] = {}
    for table, own in zip(tables.tables, tables.system.tables, strict=False):
        for cell, status in zip(own.tolist(), table.statuses, strict=True):
            if status.is_hidden or status is Status.PERTURBED:
                found.setdefault(cell, []).append(table.name)
    return {cell: tuple(names) for cell, names in found.items()}


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
    """A table of sums; for each cell the rules that it breaks, and those that could not be judged.

    `levels`: for each unsafe cell by how much more than its figure an attacker must think possible.
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
            {"cells": str(len(table)), "records": str(table.n_records), **texts_of(asked, "about")},
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
