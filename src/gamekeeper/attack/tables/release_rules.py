"""How a release stands to the rules that an audit knows, by the bounds on what it does not show.

A cell counts as hidden where no table shows its count: hidden, given as an interval or perturbed, in the
base table or in a published margin of it, and a cell of the base table that no table is about.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

import numpy as np

from gamekeeper.algorithms.releases.constraints import UNBOUNDED
from gamekeeper.algorithms.releases.schemes import Suppressed
from gamekeeper.attack.tables.audit.intervals import Interval
from gamekeeper.attack.tables.audit.standing import NamedRule, RuleStanding, judge
from gamekeeper.attack.tables.bounding import Solved, closed_sums, searched_sums
from gamekeeper.budget import require_memory
from gamekeeper.data.tables.release import Release
from gamekeeper.results import Progress
from gamekeeper.wording import be, count_of

_BYTES = 450
"""What is kept of a cell: two ends as fractions, of a number that few others have. Measured."""


def judge_release(
    release: Release,
    rules: Sequence[NamedRule],
    base: Solved,
    most_programs: int | None = None,
    progress: Progress | None = None,
) -> tuple[RuleStanding, ...]:
    """Return how each rule stands, given the bounds of the base table.

    Cells of the base table have their own numbers, those of margins come after these.
    """
    if not rules:
        return ()
    found = hidden_intervals(release, base, most_programs, progress)
    standings = judge(rules, found)
    for one in standings:
        sums = sum(cell >= release.size for cell in one.broken)
        if sums:
            one.notes.append(
                f"{count_of(sums, 'cell')} that {'breaks' if sums == 1 else 'break'} rule {one.rule}"
                f" {be(sums)} of margins, which --keep of tables bounds shows."
            )
    return tuple(standings)


def hidden_intervals(
    release: Release,
    base: Solved,
    most_programs: int | None = None,
    progress: Progress | None = None,
    *,
    suppressed_only: bool = False,
) -> dict[int, Interval]:
    """Return what is known of each count that no table shows, or of those only that are suppressed."""
    n_cells = max(release.size, sum(int(own.sum()) for own in release.concealed))
    require_memory(
        "Bounds on the cells of a release were to be held to rules.",
        n_cells * _BYTES,
        f"Those of up to {count_of(n_cells, 'cell')}",
        "Bound fewer axes (--keep of tables bounds), or leave out --rule of tables bounds",
    )
    found: dict[int, Interval] = {}
    is_told = False
    row = release.size
    for table, concealed, margin in zip(
        release.published, release.concealed, release.constraints.margins, strict=True
    ):
        is_base = margin.lower.size == release.size
        is_told |= is_base
        is_asked = not suppressed_only or isinstance(table.scheme, Suppressed)
        cells = np.flatnonzero(concealed) if is_asked else np.array([], np.int64)
        if is_base:
            found |= _intervals(base, cells, 0)
        elif len(cells):
            solved = closed_sums(release.constraints, margin) or searched_sums(
                release.constraints, margin, most_programs, progress
            )
            found |= _intervals(solved, cells, row)
        row += margin.lower.size
    if not is_told and not suppressed_only:
        found |= _intervals(base, np.arange(release.size), 0)
    if release.assumed:
        found = {cell: one.doubted() for cell, one in found.items()}
    return found


def _intervals(solved: Solved, cells: np.ndarray, first: int) -> dict[int, Interval]:
    lower, upper, tight = (
        of.reshape(-1)[cells] for of in (solved.lower, solved.upper, solved.tight)
    )
    found: dict[int, Interval] = {}
    for cell, low, high, is_tight in zip(
        cells.tolist(), lower.tolist(), upper.tolist(), tight.tolist(), strict=True
    ):
        ends = Fraction(low), None if high >= UNBOUNDED else Fraction(high)
        reached = ends if is_tight else (None, None)
        found[first + cell] = Interval(*ends, *reached, is_tight and high >= UNBOUNDED)
    return found
