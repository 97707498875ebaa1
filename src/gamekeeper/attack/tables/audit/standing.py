"""Rules that hidden cells are held to: met, broken, or not proven either way."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from gamekeeper.algorithms.cells.primary_rules import RULE_WORDS, Contributions, Rule, parse_rule
from gamekeeper.attack.tables.audit.insiders import Insiders
from gamekeeper.attack.tables.audit.intervals import Interval, Standing
from gamekeeper.data.cells.cell_rows import CellRows
from gamekeeper.data.cells.statuses import Status
from gamekeeper.data.cells.table_set import TableSet
from gamekeeper.errors import InputError, Problem, Reason
from gamekeeper.wording import count_of, digits_text, quoted


@dataclass
class RuleStanding:
    """A rule, how it stands, and the cells that break it or are not proven to keep it.

    Attributes
    ----------
    unexamined
        What was not looked at, in words, so that the rule is not proven; "" where all was.
    """

    rule: str
    words: str
    broken: list[int] = field(default_factory=list[int])
    not_proven: list[int] = field(default_factory=list[int])
    n_cells: int = 0
    notes: list[str] = field(default_factory=list[str])
    unexamined: str = ""

    @property
    def standing(self) -> Standing:
        """How the rule stands."""
        if self.broken:
            return Standing.BROKEN
        return Standing.NOT_PROVEN if self.not_proven or self.unexamined else Standing.MET

    @property
    def is_met(self) -> bool:
        """Whether it is proven to hold."""
        return self.standing is Standing.MET

    def note(self, cell: int, standing: Standing) -> None:
        """Note how one cell stands to the rule."""
        self.n_cells += 1
        if standing is Standing.BROKEN:
            self.broken.append(cell)
        elif standing is Standing.NOT_PROVEN:
            self.not_proven.append(cell)

    def sentence(self) -> str:
        """Return how the rule stands, in words."""
        if self.is_met:
            return f"Rule {self.rule} is met ({self.words}): {count_of(self.n_cells, 'cell')} looked at."
        said = []
        if self.broken:
            said.append(f"{count_of(len(self.broken), 'cell breaks', 'cells break')} it")
        if self.not_proven:
            said.append(
                f"{count_of(len(self.not_proven), 'cell is', 'cells are')} not proven to keep it"
            )
        said += [self.unexamined] if self.unexamined else []
        return f"Rule {self.rule} is {self.standing} ({self.words}): {', and '.join(said)}."


def failing_rules(standings: Iterable[RuleStanding], cells: Iterable[int]) -> list[str]:
    """Return for each cell the rules that it breaks or is not proven to keep."""
    found: dict[int, list[str]] = {}
    for one in standings:
        for cell in one.broken:
            found.setdefault(cell, []).append(f"{one.rule} broken")
        for cell in one.not_proven:
            found.setdefault(cell, []).append(f"{one.rule} not proven")
    return [", ".join(found.get(cell, ())) for cell in cells]


@dataclass(frozen=True)
class NamedRule:
    """A rule as it was named: one of audits, or one on contributions."""

    text: str
    kind: str
    percent: Fraction = Fraction(0)
    rule: Rule | None = None


def read_rules(typed: Iterable[str]) -> list[NamedRule]:
    """Return the rules that are named, or raise one error for all that are not known."""
    found: list[NamedRule] = []
    problems: list[Problem] = []
    for text in dict.fromkeys(typed):
        name, _, number = text.strip().partition(":")
        try:
            if name in ("exact", "levels") and not number:
                found.append(NamedRule(text, name))
            elif name == "within" and (percent := Fraction(number.removesuffix("%"))) >= 0:
                found.append(NamedRule(text, name, percent))
            elif name == "disclosure":
                problems.append(
                    Problem(
                        Reason.BAD_OPTION,
                        f"rule {quoted([text])}",
                        "is about what counts say of people.",
                        "Ask for it of records (tables mark) or of a release (--coalition of tables infer).",
                    )
                )
            else:
                found.append(NamedRule(text, "contributions", rule=parse_rule(text)))
        except (InputError, ValueError, ZeroDivisionError):
            problems.append(Problem(Reason.BAD_OPTION, f"rule {quoted([text])}", "is not known."))
    if problems:
        raise InputError(
            Reason.BAD_OPTION,
            "Tables were to be held to rules.",
            f"{count_of(len(problems), 'rule is', 'rules are')} not known.",
            f"Rules are: exact, within:10, levels, {RULE_WORDS}.",
            problems=problems,
        )
    return found


def judge(
    rules: Sequence[NamedRule],
    intervals: Mapping[int, Interval],
    tables: TableSet | None = None,
    insiders: Insiders | None = None,
    *,
    signed: bool = False,
    unexamined: str = "",
) -> list[RuleStanding]:
    """Return how each rule stands, given what is known of each hidden cell; also against insiders.

    Parameters
    ----------
    tables
        What tells levels and contributions; without it, rules on these are not proven.
    signed
        Whether figures may be below 0, so that no level is cut there.
    unexamined
        What was not looked at, so that no rule is proven.
    """
    found = [_judged(tables, rule, intervals, signed=signed) for rule in rules]
    for one in found:
        told = [one.unexamined, unexamined]
        one.unexamined = ", and ".join(text for text in told if text)
    if insiders is not None:
        for rule, one in zip(rules, found, strict=True):
            _against(one, rule, intervals, insiders)
    return found


def _against(
    made: RuleStanding, named: NamedRule, intervals: Mapping[int, Interval], insiders: Insiders
) -> None:
    """Hold a rule against contributors who know their own figures."""
    also: list[int] = []
    if named.kind in ("exact", "within"):
        also = sorted(insiders.cells)
    elif named.rule is not None and named.rule.name == "p":
        also = [one.cell for one in insiders.near(named.rule.numbers[0]) if one.cell in intervals]
    else:
        return
    new = [cell for cell in also if cell not in made.broken]
    made.broken += new
    made.not_proven = [cell for cell in made.not_proven if cell not in made.broken]
    if new:
        made.notes.append(
            f"Rule {made.rule}: {count_of(len(new), 'cell breaks', 'cells break')} it because contributors"
            " know their own figures."
        )
    is_tried = not insiders.is_stopped if named.rule is not None else insiders.is_complete
    if not is_tried:
        left = [cell for cell in intervals if cell not in made.broken]
        made.not_proven += [cell for cell in left if cell not in made.not_proven]


def _judged(
    tables: TableSet | None, rule: NamedRule, intervals: Mapping[int, Interval], *, signed: bool
) -> RuleStanding:
    if rule.kind in ("exact", "within"):
        words = (
            "no hidden cell can be recomputed"
            if rule.kind == "exact"
            else f"no hidden cell is known to within {digits_text(rule.percent)}%"
        )
        made = RuleStanding(rule.text, words)
        for cell, known in intervals.items():
            is_exact = rule.kind == "exact"
            made.note(cell, known.hiding if is_exact else known.hiding_beyond(rule.percent))
        if not made.n_cells:
            made.unexamined = "no cell is hidden, so that there is nothing that it could hold for"
        return made
    if rule.kind == "levels":
        return _by_levels(tables, rule, intervals, signed=signed)
    assert rule.rule is not None
    return _by_contributions(tables, rule, rule.rule, intervals)


def _by_levels(
    tables: TableSet | None, rule: NamedRule, intervals: Mapping[int, Interval], *, signed: bool
) -> RuleStanding:
    made = RuleStanding(rule.text, "every unsafe cell is left as open as the file asks")
    cut = 0
    truths = _truths(tables)
    for table, cells in _of(tables):
        if table.lower_levels is None and table.upper_levels is None:
            continue
        for at, cell in enumerate(cells.tolist()):
            if table.statuses[at] is not Status.UNSAFE:
                continue
            below = (table.lower_levels or [None] * len(table))[at] or Fraction(0)
            above = (table.upper_levels or [None] * len(table))[at] or Fraction(0)
            known = intervals.get(cell)
            standing, is_cut = _reached(truths[cell], known, below, above, signed=signed)
            cut += is_cut
            made.note(cell, standing)
    if cut:
        made.notes.append(f"{count_of(cut, 'level')} below 0 cut to what is possible.")
    if not made.n_cells:
        made.unexamined = "no file tells a level of an unsafe cell"
        made.not_proven.extend(intervals)
    return made


def _truths(tables: TableSet | None) -> Sequence[Fraction | None]:
    return () if tables is None else tables.truths


def _of(tables: TableSet | None) -> Iterable[tuple[CellRows, NDArray[np.int64]]]:
    """Return each table with its cells."""
    return () if tables is None else zip(tables.tables, tables.system.tables, strict=False)


def _reached(
    truth: Fraction | None,
    known: Interval | None,
    below: Fraction,
    above: Fraction,
    *,
    signed: bool = False,
) -> tuple[Standing, bool]:
    if known is None:
        return Standing.BROKEN, False
    if truth is None:
        return (Standing.BROKEN if known.is_known else Standing.NOT_PROVEN), False
    is_cut = not signed and truth >= 0 and below > truth
    return known.reaches(truth - (truth if is_cut else below), truth + above), is_cut


def _by_contributions(
    tables: TableSet | None, named: NamedRule, rule: Rule, intervals: Mapping[int, Interval]
) -> RuleStanding:
    made = RuleStanding(named.text, rule.words)
    truths = _truths(tables)
    told = False
    seen: set[int] = set()
    for table, cells in _of(tables):
        if table.counts is None:
            continue
        told = True
        for at, cell in enumerate(cells.tolist()):
            given = contributions_of(table, at)
            if given is None or cell in seen:
                continue
            seen.add(cell)
            unsafe = rule.is_unsafe(given)
            if unsafe is False:
                continue
            if unsafe is None:
                made.note(cell, Standing.NOT_PROVEN)
            elif cell not in intervals:
                made.note(cell, Standing.BROKEN)
            elif (level := rule.upper_level(given)) is None:
                made.note(cell, intervals[cell].hiding)
            else:
                made.note(cell, _reached(truths[cell], intervals[cell], Fraction(0), level)[0])
    if told:
        for cell in _untold(tables, seen):
            # However few contribute, a cell that is left open keeps them hidden.
            is_kept = rule.name in ("minimum", "records") and cell in intervals
            is_kept = is_kept and intervals[cell].hiding is Standing.MET
            made.note(cell, Standing.MET if is_kept else Standing.NOT_PROVEN)
    else:
        made.unexamined = "no file tells who contributes how much (--count of tables audit, --largest of tables audit)"
        made.not_proven.extend(intervals)
    return made


def _untold(tables: TableSet | None, seen: set[int]) -> list[int]:
    """Return the cells of which no file tells who contributes, but for those that are shown to be empty."""
    found: dict[int, None] = {}
    empty: set[int] = set()
    for table, cells in _of(tables):
        for cell, figure, status in zip(cells.tolist(), table.figures, table.statuses, strict=True):
            if status.is_hidden or (status is Status.SHOWN and figure):
                found[cell] = None
            elif status is Status.SHOWN:
                empty.add(cell)
    return [cell for cell in found if cell not in seen and cell not in empty]


def contributions_of(table: CellRows, at: int) -> Contributions | None:
    """Return what is known of the contributions to a cell; None where nothing is."""
    figure, count = table.figures[at], (table.counts or [None] * len(table))[at]
    if count is None:
        return None
    tops = [own[at] for own in table.tops]
    sizes = [abs(size) for size in tops if size is not None][: max(int(count), 0)]
    while sizes and sizes[-1] == 0 and len(sizes) > 1:
        sizes.pop()
    total = abs(figure) if figure is not None else Fraction(0)
    if figure is None and count > 0 and not sizes:
        return Contributions((), (), others=Fraction(count), rest=Fraction(1))
    rest = max(Fraction(0), total - sum(sizes, Fraction(0)))
    ordered = tuple(sorted(sizes, reverse=True))
    return Contributions(
        ordered,
        (Fraction(1),) * len(ordered),
        rest=rest,
        others=max(Fraction(0), count - len(ordered)),
    )
