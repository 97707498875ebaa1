"""Rules that hidden cells and whole rows are held to: met, broken, or not proven either way.

Rules on rows of counts look at zeros, and at what a few people in a cell know of all others in its
row. An audit asks what hidden cells are. Where figures were rounded to protect people, it is the
published ones that somebody would work out, and a table in which nothing is hidden is not yet one
that gives nothing away: what rounded figures stand for is no matter of an audit, and it says so.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from itertools import product

import numpy as np
from numpy.typing import NDArray

from gamekeeper.algorithms.releases import primary_rules
from gamekeeper.attack.tables.insiders import Insiders, Interval, Standing
from gamekeeper.attack.unexamined import ROUNDING
from gamekeeper.data.tables.axes import raise_all, unknown_axes
from gamekeeper.data.tables.cell_file import CellRows, Status
from gamekeeper.data.tables.magnitudes import MagnitudeTable
from gamekeeper.data.tables.table_set import TableSet
from gamekeeper.errors import InputError, LimitError, Problem, Reason
from gamekeeper.wording import count_of, digits_text, quoted

_ASKED = "Cells were to be marked by what they say of people."
_MOST_CELLS = 5_000_000
_RARE = 1_000


def mark_rows(
    table: MagnitudeTable,
    rules: Sequence[primary_rules.Rule],
    about: Sequence[str],
    structural: Sequence[Mapping[str, str]],
) -> tuple[MagnitudeTable, dict[tuple[str, ...], tuple[str, ...]]]:
    """Return the table with the cells that nobody is in, and which cells break which rule."""
    _check(table, about, structural)
    labels = [tuple(dict.fromkeys(own)) for own in table.labels]
    n = math.prod(len(own) for own in labels)
    if n > _MOST_CELLS:
        raise LimitError(
            Reason.TOO_LARGE,
            _ASKED,
            f"With those that nobody is in, there are {n:,} cells, above {_MOST_CELLS:,}.",
            "Name fewer axes (--axes), or hierarchies with fewer levels.",
        )
    places = [{label: at for at, label in enumerate(own)} for own in labels]
    counts = np.zeros([len(own) for own in labels], object)
    for cell, *own in zip(table.cells, *table.labels, strict=True):
        counts[tuple(place[label] for place, label in zip(places, own, strict=True))] = cell.number
    impossible = np.zeros(counts.shape, bool)
    for one in structural:
        impossible[
            tuple(
                places[axis].get(one[name], slice(0, 0)) if name in one else slice(None)
                for axis, name in enumerate(table.axes)
            )
        ] = True
    totals = [
        place.get(total, len(place) - 1) for place, total in zip(places, table.totals, strict=True)
    ]
    axes = [table.axes.index(name) for name in about]
    broken: dict[tuple[str, ...], tuple[str, ...]] = {}
    for rule in rules:
        found = (
            primary_rules.disclosing_zeros(counts, axes, totals, impossible)
            if rule.name == "zero"
            else primary_rules.disclosing_counts(counts, axes, totals, int(rule.numbers[0]))
        )
        for at in zip(*found.nonzero(), strict=True):
            key = tuple(own[place] for own, place in zip(labels, at, strict=True))
            broken[key] = (*broken.get(key, ()), rule.text)
    return _filled(table, labels), broken


def _check(
    table: MagnitudeTable, about: Sequence[str], structural: Sequence[Mapping[str, str]]
) -> None:
    if not about:
        raise InputError(
            Reason.NOTHING_GIVEN,
            _ASKED,
            "It is not said which axes the table is about.",
            "Name them: --about Diagnosis. The other axes are what is known of people.",
        )
    named = [*about, *(name for one in structural for name in one)]
    said = "is not an axis of the table."
    raise_all(_ASKED, unknown_axes(dict.fromkeys(named), table.axes, said))


def _filled(table: MagnitudeTable, labels: Sequence[tuple[str, ...]]) -> MagnitudeTable:
    known = {own: at for at, own in enumerate(zip(*table.labels, strict=True))}
    keys = list(product(*labels))
    nobody = primary_rules.Contributions((), (), records=0)
    own = [known.get(key) for key in keys]
    return replace(
        table,
        labels=tuple(tuple(key[axis] for key in keys) for axis in range(len(labels))),
        figures=tuple(Fraction(0) if at is None else table.figures[at] for at in own),
        cells=tuple(nobody if at is None else table.cells[at] for at in own),
        shadows=tuple(Fraction(0) if at is None else table.shadows[at] for at in own)
        if table.shadows
        else (),
    )


@dataclass(frozen=True, slots=True)
class Rounding:
    """How published figures, which may be counts (`whole`), are rounded, as far as it is said or shows.

    - `tolerance`: by how much a figure was said to be off; 0 where that was not said.
    - `is_examined`: whether it was said by which scheme figures are perturbed, and no others look rounded.
    - `base`, `n_figures`: what all published counts are multiples of, if that is no chance, else 1;
      and how many they are.
    """

    tolerance: Fraction
    base: int
    n_figures: int
    whole: bool
    is_examined: bool = False

    def __bool__(self) -> bool:
        return self.tolerance > 0 or self.base > 1

    def __str__(self) -> str:
        if self.is_examined:
            return "examined"
        return "not examined" if self else "none seen"

    @property
    def words(self) -> str:
        """What is known of it, and that it was not examined."""
        left = f"{ROUNDING.name} was not examined"
        if self.tolerance:
            return f"its figures are rounded, as you say, and {left}"
        are = f"all {count_of(self.n_figures, 'published count')} are multiples of {self.base:,}"
        return f"{are} and look rounded, and {left}"

    @property
    def way_around(self) -> str:
        """Where rounding is examined."""
        exact = (
            "" if self.tolerance or not self.whole else " If they are exact, say so: --tolerance 0."
        )
        base = self.base if self.base > 1 else 5
        scheme = f"conventional:{base}{'' if base % 2 else ':up'}"
        instead = " in place of --tolerance" if self.tolerance else ""
        return (
            f"Say by which scheme they were rounded{instead}, such as --scheme {scheme}: then it is examined"
            f" what the true ones can be.{exact}"
        )

    @property
    def left_out(self) -> str:
        """What no rule was held against; "" for values, which are rounded to be read."""
        return f"{ROUNDING.name} was not examined" if self and self.whole else ""


def rounding_of(tables: TableSet, tolerance: Fraction | None) -> Rounding:
    """Return whether published figures are rounded: by what was said, or by what all are multiples of.

    That counts are multiples of b by chance has a probability of 1 in b for each that is no sum of
    others that are published. It is taken for rounding where that makes less than 1 in 1,000.

    Examples
    --------
    >>> from gamekeeper.data.tables.cell_file import CellRows
    >>> rows = [["a", 10], ["b", 5], ["c", 15], ["d", 5], ["e", 20]]
    >>> rounding_of(TableSet.of([CellRows.typed(["x"], rows)]), None).base
    5
    """
    is_shown = np.array([one is Status.SHOWN for one in tables.statuses], bool)
    shown = {
        cell: own for cell in np.flatnonzero(is_shown).tolist() if (own := tables.figures[cell])
    }
    base = 1
    if tolerance is None and tables.whole and all(f.denominator == 1 for f in shown.values()):
        base = math.gcd(*(figure.numerator for figure in shown.values()))
        system = tables.system
        n_open = np.add.reduceat(~is_shown[system.parts], system.starts[:-1], dtype=np.int64)
        sums = set(system.parts[system.starts[:-1][n_open == 0]].tolist())
        if base < 2 or sum(cell not in sums for cell in shown) * math.log(base) < math.log(_RARE):
            base = 1
    is_examined = bool(tables.perturbed) and base == 1
    return Rounding(tolerance or Fraction(0), base, len(shown), tables.whole, is_examined)


@dataclass
class RuleStanding:
    """A rule, how it stands, and the cells that break it or are not proven to keep it.

    `unexamined` is what was not looked at, so that the rule is not proven; "" where all was.
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
    rule: primary_rules.Rule | None = None


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
                found.append(NamedRule(text, "contributions", rule=primary_rules.parse_rule(text)))
        except (InputError, ValueError, ZeroDivisionError):
            problems.append(Problem(Reason.BAD_OPTION, f"rule {quoted([text])}", "is not known."))
    if problems:
        raise InputError(
            Reason.BAD_OPTION,
            "Tables were to be held to rules.",
            f"{count_of(len(problems), 'rule is', 'rules are')} not known.",
            f"Rules are: exact, within:10, levels, {primary_rules.RULE_WORDS}.",
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

    Without `tables`, rules on levels and contributions are not proven, and none is with something
    `unexamined`. Where figures may be below 0 (`signed`), no level is cut there.
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
    tables: TableSet | None,
    named: NamedRule,
    rule: primary_rules.Rule,
    intervals: Mapping[int, Interval],
) -> RuleStanding:
    made = RuleStanding(named.text, rule.words)
    truths = _truths(tables)
    told = False
    seen: set[int] = set()
    if tables is not None and tables.perturbed:
        made.unexamined = "it is about true figures, and published ones are perturbed"
        made.not_proven.extend(intervals)
        return made
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
    """Return the cells whose contributors no file tells, but for those that are shown to be empty."""
    found: dict[int, None] = {}
    empty: set[int] = set()
    for table, cells in _of(tables):
        for cell, figure, status in zip(cells.tolist(), table.figures, table.statuses, strict=True):
            if status.is_hidden or (status is Status.SHOWN and figure):
                found[cell] = None
            elif status is Status.SHOWN:
                empty.add(cell)
    return [cell for cell in found if cell not in seen and cell not in empty]


def contributions_of(table: CellRows, at: int) -> primary_rules.Contributions | None:
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
        return primary_rules.Contributions((), (), others=Fraction(count), rest=Fraction(1))
    rest = max(Fraction(0), total - sum(sizes, Fraction(0)))
    ordered = tuple(sorted(sizes, reverse=True))
    return primary_rules.Contributions(
        ordered,
        (Fraction(1),) * len(ordered),
        rest=rest,
        others=max(Fraction(0), count - len(ordered)),
    )
