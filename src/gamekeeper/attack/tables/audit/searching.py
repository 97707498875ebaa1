"""The search behind an audit: how long it will take, what was found, and what the files contradict."""

from __future__ import annotations

import time
from collections.abc import Callable
from fractions import Fraction

import numpy as np

from gamekeeper.algorithms.cells.determined import determined_numbers
from gamekeeper.algorithms.cells.fact_bounds import FactSearch
from gamekeeper.algorithms.cells.linear_facts import NO_LIMIT, NoNumbersError
from gamekeeper.attack.tables.audit.intervals import Interval
from gamekeeper.budget import require_memory
from gamekeeper.data.cells.cell_facts import CellFacts
from gamekeeper.data.cells.table_set import TableSet
from gamekeeper.errors import Cancelled, InputError, LimitError, Problem, Reason
from gamekeeper.results import Progress
from gamekeeper.wording import count_of, duration_text

_ASKED = "Published tables were to be audited."
_SHOWN = 6
MOST_SECONDS = 900.0
"""What a search may take for which nobody said how long it may."""
_LONG = 20.0
_AROUND = "Audit fewer tables or levels at once"
# What a program takes for each entry of its rows, and for each open cell and row. Three axes of 20
# and of 26 categories, half of the cells hidden, took 13 and 23 MB, where this says 11 and 27.
_BYTES_OF_ENTRY, _BYTES_OF_LINE = 250, 1_500


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

    Parameters
    ----------
    tell
        Told in a sentence how long the search will take, if that is long.
    is_limited
        Whether a search is refused that would take longer than it may.
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
        "Check the hierarchy, the totals (--total), and whether all tables are of one base. Figures that"
        " were rounded one by one take --tolerance, values that may be below 0 --negative.",
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
    return {cell: intervals[cell] for cell in tables.hidden.tolist()}


def _slack(known: CellFacts, search: FactSearch) -> list[Fraction | None]:
    """Return for each number how wide an interval is that rounding alone explains.

    What published figures determine is known, however wide rounding leaves it. None stands for numbers
    of which that could not be told.
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
