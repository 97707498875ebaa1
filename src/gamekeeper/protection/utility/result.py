"""What a protected file is still good for: per variable, per table, per analysis, in words and drawn."""

from __future__ import annotations

from dataclasses import astuple, dataclass, fields
from typing import TYPE_CHECKING, Any, ClassVar

from gamekeeper import results
from gamekeeper.algorithms.utility import MOST_PARAMETERS, Propensity
from gamekeeper.arrow import pa
from gamekeeper.protection.utility.analyses import AnalysisLine
from gamekeeper.wording import (
    count_of,
    digits_text,
    joined,
    percent_text,
    quoted,
    share_text,
    short,
    three_digits,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


WORST = 10
"""How many of the farthest tables are named."""
_TELLS = 1.5
_EASILY = 0.1
_HARDLY = 0.02
_FAR = 0.1


@dataclass(frozen=True, slots=True)
class VariableLoss:
    """What a coded variable lost.

    Its entropy was `bits_before`; `bits_lost` of it cannot be told any more from the released
    value, None where it is not known who is who, so that only the entropies of both files could be
    compared (and by weight, where there are weights). `changed_share` and `suppressed_share` are
    cells with another value or none, and those suppressed, of the records that are left, None where
    not known. `distance` is Hellinger's; a recoded variable is compared as it is released.
    """

    variable: str
    categories_before: int
    categories_after: int
    bits_before: float
    bits_lost: float | None
    changed_share: float | None
    suppressed_share: float | None
    distance: float
    distance_weighted: float | None
    bits_before_weighted: float | None = None
    bits_lost_weighted: float | None = None


@dataclass(frozen=True, slots=True)
class TableLoss:
    """How far a table over some variables is from before."""

    variables: tuple[str, ...]
    distance: float
    distance_weighted: float | None

    @property
    def name(self) -> str:
        """The names of its variables."""
        return " x ".join(self.variables)


@dataclass(frozen=True, slots=True)
class NumberLoss:
    """What a numeric column lost: how far cells moved (IL1s per cell), means and deviations."""

    variable: str
    moved: float | None
    lost_share: float
    mean_before: float | None
    mean_after: float | None
    deviation_before: float | None
    deviation_after: float | None
    weighted_mean_before: float | None
    weighted_mean_after: float | None


@dataclass(frozen=True, slots=True)
class PairLoss:
    """How two numeric columns vary together, before and after, among records that have both."""

    first: str
    second: str
    covariance_before: float | None
    covariance_after: float | None
    correlation_before: float | None
    correlation_after: float | None
    weighted_covariance_before: float | None
    weighted_covariance_after: float | None
    weighted_correlation_before: float | None
    weighted_correlation_after: float | None


@dataclass(frozen=True, repr=False)
class Utility(results.Result):
    """How much a released file still tells; it has no risk and no record, and may be published.

    `tables` are the ones farthest from before, of all `n_tables` with up to `most` variables;
    `mean_distances` goes by the number of variables. `propensity` says whether records of before
    and after can be told apart; `saturated` is pMSE by classes of equal records as a share of the
    most, None where classes are too many to mean anything. A correlation of numbers moved by
    `correlation_moved` at most, an eigenvalue of the correlations by `eigenvalue_moved`. `analyses`
    are estimates that the steward listed, `pairs` how every two numeric columns vary together.
    """

    tells_of_records: ClassVar[bool] = False
    n_before: int
    n_after: int
    variables: tuple[VariableLoss, ...]
    numbers: tuple[NumberLoss, ...]
    tables: tuple[TableLoss, ...]
    n_tables: int
    mean_distances: tuple[tuple[int, float, float | None], ...]
    propensity: Propensity
    propensity_weighted: Propensity | None
    saturated: float | None
    correlation_moved: float | None
    eigenvalue_moved: float | None
    analyses: tuple[AnalysisLine, ...]
    provenance: results.Provenance
    pairs: tuple[PairLoss, ...] = ()

    @property
    def farthest(self) -> TableLoss | None:
        """The table that is farthest from before; None where all are as they were."""
        return self.tables[0] if self.tables else None

    def summary(self) -> dict[str, Any]:
        """Return the headline numbers."""
        worst = self.farthest
        found: dict[str, Any] = {
            "records_before": self.n_before,
            "records_after": self.n_after,
            "tables": self.n_tables,
            "farthest": worst.distance if worst else 0.0,
            **{f"mean_{size}way": mean for size, mean, _ in self.mean_distances},
        }
        if self.propensity.pmse is not None:
            found["pmse"] = self.propensity.pmse
        known = [line.overlap for line in self.analyses if line.overlap is not None]
        if known:
            found["overlap"] = sum(known) / len(known)
        return found

    def sentences(self) -> list[str]:
        """Return what the file is still good for, in words."""
        return [
            self._verdict(),
            *self._of_tables(),
            *self._of_variables(),
            *self._of_propensity(),
            *self._of_numbers(),
            *self._of_analyses(),
        ]

    def to_arrow(self) -> pa.Table:
        """Return one row per coded variable, then one per numeric column."""
        figures = ("bits_before", "bits_lost", "changed_share", "suppressed_share", "distance")
        weighted = ("distance_weighted", "bits_before_weighted", "bits_lost_weighted")
        kinds = {"variable": pa.string(), "kind": pa.string()}
        kinds |= {"categories_before": pa.int64(), "categories_after": pa.int64()}
        schema = pa.schema(kinds | dict.fromkeys((*figures, *weighted, "moved"), pa.float64()))
        rows = [
            {name: getattr(line, name, None) for name in schema.names} | {"kind": kind}
            for kind, lines in (("categories", self.variables), ("numbers", self.numbers))
            for line in lines
        ]
        return pa.Table.from_pylist(rows, schema)

    def tables_listing(self) -> results.Listing:
        """Return the tables that are farthest from before."""
        rows = [
            (table.name, len(table.variables), table.distance, table.distance_weighted)
            for table in self.tables
        ]
        columns = ("table", "variables", "distance", "distance_weighted")
        return results.make_listing(
            "tables farthest from before", columns, rows, results.EVERYTHING
        )

    def numbers_listing(self) -> results.Listing:
        """Return what every numeric column lost."""
        columns = [item.name for item in fields(NumberLoss)]
        rows = [astuple(line) for line in self.numbers]
        return results.make_listing("numbers before and after", columns, rows, results.EVERYTHING)

    def pairs_listing(self) -> results.Listing:
        """Return covariances and correlations of every two numeric columns."""
        columns = [item.name for item in fields(PairLoss)]
        rows = [astuple(line) for line in self.pairs]
        return results.make_listing(
            "covariances before and after", columns, rows, results.EVERYTHING
        )

    def analyses_listing(self) -> results.Listing:
        """Return the estimates that were asked for, before and after."""
        rows = [
            (
                line.analysis,
                line.estimate,
                *(line.before or (None, None, None)),
                *(line.after or (None, None, None)),
                line.overlap,
                line.weighted,
            )
            for line in self.analyses
        ]
        columns = (
            "analysis", "estimate", "before", "before_from", "before_to", "after", "after_from",
            "after_to", "overlap", "weighted",
        )  # fmt: skip
        return results.make_listing("estimates before and after", columns, rows, results.EVERYTHING)

    def plot(self) -> Figure:
        """Plot the tables that are farthest from before, and what each variable lost."""
        return plot_utility(self)

    def _verdict(self) -> str:
        worst = self.farthest
        if worst is None:
            changed = any(line.moved for line in self.numbers) or any(
                line.bits_lost for line in self.variables
            )
            if changed:
                return (
                    f"Every table of up to {count_of(self._most, 'released variable')} is as it was; what was lost"
                    " is detail, or lies in the numbers."
                )
            return f"Every table of up to {count_of(self._most, 'variable')} is as it was."
        if worst.distance <= 0.02:
            how = "Tables are nearly as they were"
        elif worst.distance <= _FAR:
            how = "Tables are near to what they were"
        else:
            how = "Some tables are far from what they were"
        return (
            f"{how}: the farthest of {count_of(self.n_tables, 'table')} of up to"
            f" {count_of(self._most, 'variable')} is"
            f" {quoted([worst.name])}, at a distance of {three_digits(worst.distance)} (Hellinger; 0 is the"
            " same, 1 nothing in common)."
        )

    @property
    def _most(self) -> int:
        return max((size for size, *_ in self.mean_distances), default=0)

    def _of_tables(self) -> list[str]:
        parts = [
            f"{three_digits(mean)} over tables of {count_of(size, 'variable')}"
            + (f" ({three_digits(weighted)} by weight)" if weighted is not None else "")
            for size, mean, weighted in self.mean_distances
        ]
        return [f"Mean distances: {', '.join(parts)}."] if parts and self.tables else []

    def _of_variables(self) -> list[str]:
        said: list[str] = []
        coarser = [line for line in self.variables if line.bits_lost]
        if coarser:
            most = max(
                coarser, key=lambda line: (line.bits_lost or 0) / max(line.bits_before, 1e-9)
            )
            share = min(1.0, (most.bits_lost or 0) / max(most.bits_before, 1e-9))
            more = ", more than of any other variable" if len(self.variables) > 1 else ""
            said.append(
                f"Of what {quoted([most.variable])} told, {percent_text(share)} is lost"
                f" (entropy){more}."
            )
        starred = [line for line in self.variables if line.suppressed_share]
        if starred:
            most = max(starred, key=lambda line: line.suppressed_share or 0)
            said.append(
                f"Cells are suppressed in {count_of(len(starred), 'variable')}, most of them in"
                f" {quoted([most.variable])} ({share_text(most.suppressed_share or 0)}); in tables they"
                " count as a category, and to regressions they are lost."
            )
        return said

    def _of_propensity(self) -> list[str]:
        said: list[str] = []
        for found, how in ((self.propensity, ""), (self.propensity_weighted, " by weight")):
            if found is None:
                continue
            if found.pmse is None:
                said.append(f"Propensity scores{how}: not known, their fit did not arrive.")
                continue
            model = "main effects and pairs" if found.has_pairs else "main effects"
            unseen = self._unseen(found)
            ratio = (
                ""
                if found.ratio is None
                else f", {three_digits(found.ratio)} times what labels dealt by lot would give"
            )
            tells = found.ratio is not None and found.ratio > _TELLS
            of_most = found.of_most or 0.0
            told = "can hardly be told apart"
            if tells:
                told = (
                    "are easily told apart"
                    if of_most >= _EASILY
                    else "can be told apart to some degree"
                )
            elif of_most > _HARDLY:
                told = "are told apart no better than with labels dealt by lot"
            alone = "" if found.has_pairs or not unseen else "By one variable at a time, "
            said.append(
                f"{alone}{'r' if alone else 'R'}ecords of before and after {told}{how}: pMSE is"
                f" {share_text(of_most)} of"
                f" the most that is possible{ratio} (logistic, {model})."
                + (f" This does not see {joined(unseen)}." if unseen else "")
            )
        return said

    def _unseen(self, found: Propensity) -> list[str]:
        """Return what a model of propensity cannot see, where tables are not all as they were."""
        if self.farthest is None or not self.farthest.distance:
            return []
        said: list[str] = []
        sizes = {len(table.variables) for table in self.tables if table.distance > _FAR}
        if not found.has_pairs and len(self.variables) > 1:
            said.append(
                "how variables go together (pairs of them would take more than"
                f" {MOST_PARAMETERS} parameters)"
            )
        elif max(sizes, default=0) > 2:
            said.append("how three variables go together")
        if found.n_pooled:
            said.append(
                f"the rarer categories of {count_of(found.n_pooled, 'variable')} (they count as one)"
            )
        return said

    def _of_numbers(self) -> list[str]:
        moved = [line for line in self.numbers if line.moved or line.lost_share]
        if not moved:
            return []
        known = [line for line in moved if line.moved]
        said: list[str] = []
        if known:
            most = max(known, key=lambda line: line.moved or 0)
            said.append(
                f"Numbers moved in {count_of(len(known), 'column')}, on average by"
                f" {three_digits(most.moved or 0)} (IL1s: by 1.41 standard deviations) in"
                f" {quoted([most.variable])}, the most of all."
            )
        if self.correlation_moved is not None:
            said.append(
                f"No correlation between numbers moved by more than {digits_text(self.correlation_moved, 2)}."
            )
        return said

    def _of_analyses(self) -> list[str]:
        if not self.analyses:
            return []
        known = [line for line in self.analyses if line.overlap is not None]
        lost = len(self.analyses) - len(known)
        said: list[str] = []
        if known:
            worst = min(known, key=lambda line: line.overlap or 0.0)
            mean = sum(line.overlap or 0.0 for line in known) / len(known)
            said.append(
                f"Of {count_of(len(known), 'estimate')} that were listed, intervals overlap by"
                f" {percent_text(mean)} on average and by {percent_text(worst.overlap)} at worst"
                f" ({quoted([worst.analysis])})."
            )
        if lost:
            said.append(
                f"{count_of(lost, 'estimate')} cannot be compared: not to be had before or after."
            )
        return said


def mean_lines(
    plain: dict[int, float], weighted: dict[int, float] | None
) -> tuple[tuple[int, float, float | None], ...]:
    """Return mean distances by the number of variables, with those by weight beside them."""
    return tuple(
        (size, mean, None if weighted is None else weighted[size]) for size, mean in plain.items()
    )


def plot_utility(utility: Utility) -> Figure:
    """Plot the tables that are farthest from before, and what of each variable is lost."""
    from matplotlib.figure import Figure

    letters = results.drawable_letters()
    lost = [
        (line.variable, (line.bits_lost or 0.0) / line.bits_before if line.bits_before else 0.0)
        for line in utility.variables
    ]
    tables = [(table.name, table.distance) for table in utility.tables]
    height = 1.6 + 0.3 * max(len(lost), len(tables), 3)
    figure = Figure(figsize=(9.0, height), layout="constrained")
    left, right = figure.subplots(1, 2)
    for ax, lines, title, colour in (
        (left, tables, "Hellinger's distance, farthest tables", results.COLOURS[0]),
        (right, lost, "Lost of what a variable told, as a share", results.COLOURS[1]),
    ):
        _bars(ax, [(results.drawable(short(n, 40), letters), v) for n, v in lines], title, colour)
    return figure


def _bars(ax: Axes, lines: list[tuple[str, float]], title: str, colour: str) -> None:
    ax.set_title(title, fontsize=10, loc="left")
    for side in ("top", "right", "left"):
        ax.spines[side].set_visible(False)
    if not lines:
        ax.text(0.0, 0.5, "as it was", color=results.MUTED, transform=ax.transAxes)
        ax.set_xticks([])
        ax.set_yticks([])
        return
    places = list(range(len(lines)))[::-1]
    ax.barh(places, [value for _, value in lines], color=colour, height=0.62)
    ax.set_yticks(places, [name for name, _ in lines], fontsize=8)
    ax.tick_params(axis="y", length=0)
    top = max(value for _, value in lines)
    ax.set_xlim(0, 1.15 * top if top else 1.0)
    for place, (_, value) in zip(places, lines, strict=True):
        ax.text(value, place, f" {value:.2g}", va="center", fontsize=8, color=results.MUTED)
    ax.grid(axis="x", color=results.GRID)
    ax.set_axisbelow(True)
