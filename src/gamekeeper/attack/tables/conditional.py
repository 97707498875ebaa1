"""SAP of many tables at once: one for each small area, or for each combination of key variables.

Within a combination of categories of some axes there is a table over the other axes: the
conditional table of people whose key is known. Either each of them is a population of its own, of
which n people are known (small areas, each with its neighbours), or n people of the whole
population are known, and what counts is a zero within the key.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from gamekeeper.algorithms.releases.constraints import UNBOUNDED, CountConstraints, CountMargin
from gamekeeper.algorithms.subtraction.parts import release_rule
from gamekeeper.algorithms.subtraction.recovery_rule import cell_groups
from gamekeeper.algorithms.subtraction.release import release_group_risks, release_risk
from gamekeeper.algorithms.subtraction.small_areas import small_area_risks
from gamekeeper.attack.tables.assumptions import assumptions, under_assumption
from gamekeeper.attack.tables.conflicts import consistent, require_cells
from gamekeeper.attack.tables.options import WithinInput
from gamekeeper.data.tables.axes import Axis, unknown_axes
from gamekeeper.data.tables.release import Release, check_truth
from gamekeeper.errors import InputError, Problem, Reason
from gamekeeper.options import takes
from gamekeeper.results import Progress, Provenance, Result, table_html
from gamekeeper.wording import count_of, digits_text, three_digits

if TYPE_CHECKING:
    import pyarrow as pa
    from matplotlib.figure import Figure

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]

_DEFAULT_N = (1, 2, 3, 5, 10, 20)
_THRESHOLD = 0.1
_MOST_CELLS = 3_000


@dataclass(frozen=True, repr=False)
class ConditionalSubtraction(Result):
    """SAP of the table of each area or key.

    Attributes
    ----------
    keys
        The axes that tell tables apart.
    n
        The numbers of known people.
    populations
        The number of people of each table.
    values
        SAP: one row per table, in the order of the categories, and a column for each n.
    own_people
        Whether n people of the table itself are known, not of the whole population.
    """

    keys: tuple[Axis, ...]
    n: Integers
    populations: Integers
    values: Floats
    own_people: bool
    n_sampled: int
    notes: tuple[str, ...]
    provenance: Provenance

    @property
    def n_tables(self) -> int:
        """The number of tables."""
        return len(self.values)

    def words(self, table: int) -> str:
        """Return the categories of a table, in words."""
        shape = tuple(len(axis.categories) for axis in self.keys)
        place = np.unravel_index(table, shape)
        return ", ".join(
            f"{axis.name} {axis.categories[int(k)]}"
            for axis, k in zip(self.keys, place, strict=True)
        )

    def summary(self) -> dict[str, Any]:
        """Return the headline numbers."""
        last = self.values[:, -1] if self.values.size else np.zeros(0)
        return {
            "tables": self.n_tables,
            "n": int(self.n[-1]) if len(self.n) else 0,
            "mean_sap": float(last.mean()) if last.size else 0.0,
            "above_0.1": int(np.count_nonzero(last > _THRESHOLD)),
            "certain": int(np.count_nonzero(last == 1)),
        }

    def sentences(self) -> list[str]:
        """Return what the tables say, in words."""
        names = " by ".join(axis.name for axis in self.keys)
        whose = "of the same table" if self.own_people else "of the whole population"
        said = [f"{count_of(self.n_tables, 'table')}, one for each {names}."]
        for k, number in enumerate(self.n):
            risks = self.values[:, k]
            said.append(
                f"Knowing {count_of(int(number), 'person', 'people')} {whose}: a zero is recovered"
                f" with probability {three_digits(risks.mean())} on average, above {digits_text(_THRESHOLD)} in"
                f" {count_of(int(np.count_nonzero(risks > _THRESHOLD)), 'table')}, for certain in"
                f" {np.count_nonzero(risks == 1):,}."
            )
        said[0] = under_assumption(said[0], "What is learnt", self.provenance)
        return [*said, *self.notes]

    def to_arrow(self) -> pa.Table:
        """Return one row per table, the riskiest first."""
        import pyarrow as pa

        order = np.lexsort((np.arange(self.n_tables), *(-self.values.T)))
        columns: dict[str, Any] = {
            "table": pa.array([self.words(int(k)) for k in order], pa.string()),
            "people": pa.array(self.populations[order]),
        }
        for k, number in enumerate(self.n):
            columns[f"sap_{number}"] = pa.array(self.values[order, k])
        return pa.table(columns)

    def plot(self) -> Figure:
        """Draw how SAP is distributed over the tables, for each n; needs no display."""
        from gamekeeper.attack.tables.table_plots import plot_tables

        return plot_tables(self)

    def _repr_html_(self) -> str:
        return table_html(("measure", "value"), self.summary().items(), caption=type(self).__name__)


@takes(WithinInput)
def subtract_within(release: Release, asked: WithinInput) -> ConditionalSubtraction:
    """Return SAP of the conditional table of each combination of categories of the keys.

    `truth` is the true base table, and `keys` are the axes that are known of a person, or the area.

    Examples
    --------
    >>> from gamekeeper.data.tables.count_table import CountTable
    >>> table = CountTable.typed({"area": ["a", "b"], "work": ["yes", "no"]}, [[4, 1], [6, 7]])
    >>> release = Release.typed(
    ...     {"area": ["a", "b"], "work": ["yes", "no"]},
    ...     [{"margin": ["area", "work"], "scheme": "conventional:3", "counts": [[3, 0], [6, 6]]}],
    ... )
    >>> subtract_within(release, table, ["area"], n=[1, 2]).values.round(2).tolist()
    [[0.2, 0.4], [0.0, 0.0]]
    """
    started = time.perf_counter()
    require_cells(release, "SAP within areas or keys was asked for.")
    check_truth(release, asked.truth)
    axes = _axis_numbers(release, asked.keys)
    n = sorted({int(k) for k in (_DEFAULT_N if asked.n is None else asked.n)})
    if not n:
        raise InputError(
            Reason.NOTHING_GIVEN,
            "SAP within areas or keys was asked for.",
            "No number of known people was given.",
            "Give at least one, such as 1 to 20.",
        )
    counts, own_people = asked.truth.dense(), asked.own_people
    groups = cell_groups(release.shape, axes)
    notes: list[str] = []
    n_sampled = 0
    with consistent(release, "SAP within areas or keys was asked for."):
        constraints = release.constraints
        apart = [margin for margin in constraints.margins if _tells_apart(margin, axes)]
        is_whole = len(apart) == len(constraints.margins)
        if own_people and (is_whole or _is_large(constraints, counts)):
            values, n_sampled = _in_each(
                constraints.shape, apart, counts, axes, n, asked.draws, asked.seed, asked.progress
            )
            if not is_whole:
                notes.append(
                    "The release is too large to be taken as a whole: published tables that do not"
                    " tell these apart are not used, and risks may be higher."
                )
        else:
            risks = release_group_risks(
                constraints, counts, groups, n=n, own_people=own_people, draws=asked.draws,
                seed=asked.seed, progress=asked.progress,
            )  # fmt: skip
            values = np.array([risk.values for risk in risks])
            n_sampled = sum(risk.draws > 0 for risk in risks)
    if n_sampled:
        sampled = count_of(n_sampled, "table was", "tables were")
        notes.append(f"{sampled} estimated from {asked.draws:,} random orders of the people.")
    populations = np.bincount(groups.reshape(-1), counts.reshape(-1)).astype(np.int64)
    return ConditionalSubtraction(
        tuple(release.axes[axis] for axis in axes),
        np.array(n, np.int64),
        populations,
        values,
        own_people,
        n_sampled,
        tuple(notes),
        Provenance(
            "subtraction attribution probability",
            "of each conditional table",
            {
                "keys": ", ".join(asked.keys),
                "n": ",".join(map(str, n)),
                **assumptions(release, asked.truth),
            },
            seed=asked.seed if n_sampled else None,
            fingerprint=release.fingerprint,
            seconds=time.perf_counter() - started,
        ),
    )


def _is_large(constraints: CountConstraints, counts: Integers) -> bool:
    """Whether a search over the whole release for each of the tables would take too long."""
    return constraints.size > _MOST_CELLS and release_rule(constraints, counts.reshape(-1)) is None


def _in_each(
    base: tuple[int, ...],
    margins: list[CountMargin],
    counts: Integers,
    axes: tuple[int, ...],
    asked: list[int],
    draws: int,
    seed: int,
    progress: Progress | None,
) -> tuple[Floats, int]:
    """Return SAP of each conditional table by itself, and how many were sampled."""
    shape = tuple(base[axis] for axis in axes)
    others = tuple(axis for axis in range(len(base)) if axis not in axes)
    rest = tuple(base[axis] for axis in others)
    first = (*axes, *others)
    tables = counts.transpose(first).reshape(-1, *rest)
    vector = _as_vectors(margins, axes, others, len(tables), rest)
    if vector is not None:
        lower, upper, total = vector
        values = small_area_risks(
            tables.reshape(len(tables), -1), upper, n=asked, lower=lower, total_upper=total
        )
        return values, 0
    found = np.zeros((len(tables), len(asked)))
    n_sampled = 0
    for number, place in enumerate(np.ndindex(*shape)):
        part = CountConstraints(rest, tuple(_within(m, axes, place, others) for m in margins))
        risk = release_risk(part, tables[number], n=asked, draws=draws, seed=seed)
        found[number] = risk.values
        n_sampled += risk.draws > 0
        if progress is not None:
            progress(number + 1, len(tables))
    return found, n_sampled


def _tells_apart(margin: CountMargin, axes: tuple[int, ...]) -> bool:
    return all(
        np.array_equal(margin.groups[axis], np.arange(len(margin.groups[axis]))) for axis in axes
    )


def _within(
    margin: CountMargin, axes: tuple[int, ...], place: tuple[int, ...], others: tuple[int, ...]
) -> CountMargin:
    chosen: list[Any] = [slice(None)] * len(margin.groups)
    for axis, category in zip(axes, place, strict=True):
        chosen[axis] = category
    return CountMargin(
        tuple(margin.groups[axis] for axis in others),
        np.ascontiguousarray(margin.lower[tuple(chosen)]),
        np.ascontiguousarray(margin.upper[tuple(chosen)]),
    )


def _as_vectors(
    margins: list[CountMargin],
    axes: tuple[int, ...],
    others: tuple[int, ...],
    n_tables: int,
    rest: tuple[int, ...],
) -> tuple[Integers, Integers, Integers | None] | None:
    """Return limits of all tables at once where each is a table, alone or with its total."""
    size = int(np.prod(rest, dtype=np.int64))
    lower = np.zeros((n_tables, size), np.int64)
    upper = np.full((n_tables, size), UNBOUNDED, np.int64)
    total: Integers | None = None
    for margin in margins:
        low = margin.lower.transpose(*axes, *others).reshape(n_tables, -1)
        high = margin.upper.transpose(*axes, *others).reshape(n_tables, -1)
        if low.shape[1] == size and margin.plain:
            lower, upper = np.maximum(lower, low), np.minimum(upper, high)
        elif low.shape[1] == 1:
            total = high[:, 0] if total is None else np.minimum(total, high[:, 0])
        else:
            return None
    return lower, upper, total


def _axis_numbers(release: Release, keys: Sequence[str]) -> tuple[int, ...]:
    names = list(release.names)
    problems = unknown_axes(keys, names, "is not in the release.")
    if not keys or len(set(keys)) != len(keys) or len(set(keys)) >= len(names):
        problems.append(
            Problem(Reason.BAD_OPTION, "keys", "they must be some axes, and leave at least one.")
        )
    if problems:
        raise InputError(
            Reason.BAD_OPTION,
            "SAP within areas or keys was asked for.",
            "The keys cannot be used.",
            problems=problems,
        )
    return tuple(sorted(names.index(name) for name in keys))
