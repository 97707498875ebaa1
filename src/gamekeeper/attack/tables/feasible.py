"""The tables that agree with a release: how many, which, and how probable the count of each cell is.

Bounds say what is possible, not what is likely. An intruder who knows the perturbation scheme can
weigh every table that agrees with the release by the probability that the scheme would have
published what it did, and by a prior.
"""

from __future__ import annotations

import math
import time
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from gamekeeper.algorithms.feasible.counting import count_tables, list_tables
from gamekeeper.algorithms.feasible.drawing_time import DrawingTime
from gamekeeper.algorithms.feasible.independent_parts import Likelihood
from gamekeeper.algorithms.feasible.posterior import CellPosteriors, cell_posteriors
from gamekeeper.algorithms.feasible.sampling import estimate_tables
from gamekeeper.algorithms.releases.constraints import UNBOUNDED
from gamekeeper.attack.tables.assumptions import assumptions, under_assumption
from gamekeeper.attack.tables.conflicts import consistent, require_cells
from gamekeeper.attack.tables.options import PRIORS, FeasibleInput
from gamekeeper.budget import require_memory
from gamekeeper.data.tables.axes import Axis, category_columns
from gamekeeper.data.tables.release import Release
from gamekeeper.errors import InputError, LimitError, Reason
from gamekeeper.options import takes
from gamekeeper.results import Provenance, Result, table_html
from gamekeeper.wording import at_start, be, count_of, digits_text, large_text, quoted

if TYPE_CHECKING:
    import pyarrow as pa

Integers = NDArray[np.int64]

MOST_TABLES = 10_000_000
_PILOT = 2_000
# Before tables are counted, before they are listed, and before they are drawn.
_PILOTS = 400 + 400 + 200
_SURE = 0.95
# Measured on tables of 2^14 to 2^16 cells: parts, rows and a distribution for each.
_CELL_BYTES = 2_300
# Gelman's rules of thumb for walks.
_ENOUGH_DRAWS, _SETTLED = 400, 1.05
# Above this a likelihood is too long to be listed, and the scheme too vague to matter.
_LONGEST = 10_000


@dataclass(frozen=True, repr=False)
class FeasibleTables(Result):
    """How many tables agree with a release, and the distribution of each cell over them.

    Attributes
    ----------
    number
        How many there are; None where it is not known exactly, or there are infinitely many.
    estimate, error
        An estimate and its standard error where they were too many to count.
    is_endless
        Whether there are infinitely many.
    cells
        The distribution of each cell; None where it does not exist.
    tables
        The tables themselves, where they were asked for.
    """

    axes: tuple[Axis, ...]
    number: int | None
    estimate: float | None
    error: float | None
    is_endless: bool
    prior: str
    cells: CellPosteriors | None
    tables: Integers | None
    notes: tuple[str, ...]
    provenance: Provenance

    def summary(self) -> dict[str, Any]:
        """Return the headline numbers; those that are not known are left out."""
        told: dict[str, Any] = {"endless": self.is_endless}
        if self.number is not None:
            told["tables"] = self.number if self.number < 2**53 else f"{Decimal(self.number):.3e}"
        if self.estimate is not None:
            told["estimate"] = self.estimate
        return {
            **told,
            "prior": self.prior,
            "exact": self.cells is not None and self.cells.exact,
            "probably_known": self.n_probable,
        }

    @property
    def n_probable(self) -> int:
        """How many cells have a count with a probability of at least 0.95."""
        return 0 if self.cells is None else int(np.count_nonzero(self.cells.largest >= _SURE))

    def sentences(self) -> list[str]:
        """Return what was found, in words."""
        said: list[str] = []
        if self.is_endless:
            said.append("Infinitely many tables agree with the release: some cells have no limit.")
        elif self.number is not None:
            verb = "agrees" if self.number == 1 else "agree"
            said.append(
                f"{at_start(large_text(self.number))} {'table' if self.number == 1 else 'tables'}"
                f" {verb} with the release"
                + (": it is given away whole." if self.number == 1 else ".")
            )
        elif self.estimate is not None:
            said.append(
                f"About {digits_text(self.estimate, 3)} tables agree with the release (standard error"
                f" {digits_text(self.error or 0, 2)}), estimated from random ones: more than --most (most in"
                " Python) allows to visit."
            )
        if self.cells is not None:
            cells = self.cells
            n_empty = int(np.count_nonzero(cells.p_zero >= _SURE))
            said.append(
                f"Given the schemes and a {self.prior} prior, {self.n_probable:,} of"
                f" {count_of(len(cells.first), 'cell')}"
                f" {'has' if self.n_probable == 1 else 'have'} one count that is at least 95%"
                f" probable, and {n_empty:,} {be(n_empty)} empty with a"
                " probability of at least 95%."
            )
            if not cells.exact:
                said.append(_worth(cells))
        what = "Which tables agree with the release"
        first = [under_assumption(one, what, self.provenance) for one in said[:1]]
        return [*first, *said[1:], *self.notes]

    def to_arrow(self) -> pa.Table:
        """Return one row per cell: mean, most probable count, interval, probability of 0."""
        import pyarrow as pa

        columns = category_columns(self.axes, np.arange(math.prod(map(len, self.axes))))
        if self.cells is None:
            return pa.table(columns)
        low, high = self.cells.interval()
        taken = {name.lower() for name in columns}
        for name, values in (
            ("mean", self.cells.mean),
            ("most_probable", self.cells.mode),
            ("from_95", low),
            ("to_95", high),
            ("p_zero", self.cells.p_zero),
            ("p_zero_error", self.cells.p_zero_error),
        ):
            columns[name if name not in taken else f"{name}_count"] = pa.array(values.reshape(-1))
        return pa.table(columns)

    def top(self, n: int) -> pa.Table:
        """Return the cells whose most probable count is most probable."""
        assert self.cells is not None
        return self.to_arrow().take(np.argsort(-self.cells.largest, kind="stable")[:n])

    def _repr_html_(self) -> str:
        return table_html(("measure", "value"), self.summary().items(), caption=type(self).__name__)


@takes(FeasibleInput)
def explore_tables(release: Release, asked: FeasibleInput) -> FeasibleTables:
    """Count the tables that agree with a release, and weigh them.

    Beyond the most that may be visited, their number is estimated. Tables themselves are returned
    if there are at most as many as are to be listed.

    Examples
    --------
    >>> release = Release.typed(
    ...     {"sex": ["f", "m"]}, [{"margin": ["sex"], "scheme": "random:3", "counts": [0, 3]}]
    ... )
    >>> found = explore_tables(release)
    >>> found.number, found.cells.p_zero.round(2).tolist()
    (15, [0.5, 0.0])
    """
    started = time.perf_counter()
    prior, draws, seed, workers = asked.prior, asked.draws, asked.seed, asked.workers
    if prior not in PRIORS:
        raise InputError(
            Reason.BAD_OPTION,
            f"The prior {quoted([prior])} was asked for.",
            "There is no such prior.",
            f"There are: {quoted(PRIORS)}.",
        )
    constraints = release.constraints
    notes: list[str] = []
    number = estimate = error = tables = cells = None
    is_endless = False
    words = "The tables that agree with a release were asked for."
    require_cells(release, words)
    require_memory(
        words,
        release.size * _CELL_BYTES,
        f"The distributions of {count_of(release.size, 'cell')}",
        "Bound the cells instead (gamekeeper tables bounds), or attack tables of fewer axes or"
        " categories",
    )
    within = DrawingTime(asked.max_seconds or None, draws + min(draws, _PILOT) + _PILOTS)
    with consistent(release, words):
        try:
            number = count_tables(
                constraints,
                most=asked.most or MOST_TABLES,
                within=within,
                progress=asked.progress,
            )
            is_endless = number is None
        except LimitError:
            guess = estimate_tables(
                constraints,
                draws=min(draws, _PILOT),
                seed=seed,
                workers=workers,
                within=within,
            )
            estimate, error = guess or (None, None)
        if asked.listed and number is not None and number <= asked.listed:
            tables = list_tables(constraints, most=asked.listed)
        elif asked.listed:
            notes.append(f"The tables are not listed: there are more than {asked.listed:,}.")
        if is_endless and prior != "poisson":
            notes.append(
                "How probable counts are is not known: some cells have no limit. The prior"
                " 'poisson' makes them finite."
            )
        else:
            cells = cell_posteriors(
                constraints,
                _likelihoods(release),
                prior,  # pyright: ignore[reportArgumentType]
                draws=draws,
                seed=seed,
                workers=workers,
                within=within,
                progress=asked.progress,
            )
    is_sampled = estimate is not None or (cells is not None and not cells.exact)
    return FeasibleTables(
        release.axes,
        number,
        estimate,
        error,
        is_endless,
        prior,
        cells,
        tables,
        tuple(notes),
        Provenance(
            "feasible tables",
            "sampled" if is_sampled else "exact",
            {
                "prior": prior,
                "draws": str(draws) if is_sampled else "0",
                **assumptions(release),
            },
            seed=seed if is_sampled else None,
            fingerprint=release.fingerprint,
            seconds=time.perf_counter() - started,
        ),
    )


def _likelihoods(release: Release) -> list[list[Likelihood | None] | None]:
    """Return for each margin what its schemes say beyond limits; None where that is nothing."""
    found: list[list[Likelihood | None] | None] = []
    row = 0
    for margin in release.constraints.margins:
        entries: list[Likelihood | None] = []
        widths = np.where(margin.upper >= UNBOUNDED, UNBOUNDED, margin.upper - margin.lower)
        for width in widths.reshape(-1):
            entries.append(_weighed(release, row) if width < _LONGEST else None)
            row += 1
        found.append(entries if any(entry is not None for entry in entries) else None)
    return found


def _weighed(release: Release, row: int) -> Likelihood | None:
    first, chances = release.row_likelihood(row)
    if chances is None or all(chance == Fraction(1) for chance in chances):
        return None
    return first, chances


def _worth(cells: CellPosteriors) -> str:
    """Return what estimates from random tables are worth, in words."""
    said = (
        "These are estimates from random tables, worth"
        f" {cells.effective_size:,.0f} independent ones at least"
    )
    if cells.r_hat > 1:
        said += f"; walks agree to an R-hat of {cells.r_hat:.2f} (1 is best)"
    if cells.effective_size >= _ENOUGH_DRAWS and cells.r_hat <= _SETTLED:
        return f"{said}. That is enough for one or two digits."
    return f"{said}. That is too little to rely on: ask for more draws."
