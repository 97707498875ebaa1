"""The utility of a protected file on a page, and what of it is published: counts and rounded figures.

Utility tells of the file as a whole, but exact figures can tell of single cells. Where few cells
were suppressed, the bits that are lost tell how their values were distributed; a mean of before,
beside the one after, tells what the values beyond a limit added up to. So distances, overlaps and
correlations keep two digits, bits one, and of numbers there is how far they moved and no mean of
before. Once a cell is suppressed, nobody is to tell such cells from those that were missing:
counted are cells without a value, and variables with such cells are in no figure that compares them
with before.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from gamekeeper import results
from gamekeeper.algorithms.utility import Propensity
from gamekeeper.arrow import pa
from gamekeeper.data.coding.codebook import MISSING
from gamekeeper.protection.step import ChangeLog, Protected, Setting, VariableChange
from gamekeeper.protection.utility.measuring import UtilityOptions, measure_utility
from gamekeeper.protection.utility.result import Utility
from gamekeeper.report.page import RiskSection, RiskTable
from gamekeeper.wording import percent_text, short

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


_DIGITS = 2


def public_utility(utility: Utility) -> Utility:
    """Return the utility of a file in rounded figures.

    >>> from gamekeeper.data.coding.coded_table import coded_from_codes
    >>> from gamekeeper.protection.utility.measuring import measure_utility
    >>> file = coded_from_codes([[1, 1], [2, 1], [2, 2]], ["sex", "job"])
    >>> public_utility(measure_utility(file, file)).variables[0].bits_before
    0.9
    """
    return replace(
        utility,
        variables=tuple(
            replace(
                line,
                bits_before=round(line.bits_before, 1),
                bits_lost=_rounded(line.bits_lost, 1),
                distance=round(line.distance, _DIGITS),
                distance_weighted=_rounded(line.distance_weighted),
                bits_before_weighted=_rounded(line.bits_before_weighted, 1),
                bits_lost_weighted=_rounded(line.bits_lost_weighted, 1),
            )
            for line in utility.variables
        ),
        tables=tuple(
            replace(
                table,
                distance=round(table.distance, _DIGITS),
                distance_weighted=_rounded(table.distance_weighted),
            )
            for table in utility.tables
        ),
        mean_distances=tuple(
            (size, round(mean, _DIGITS), _rounded(weighted))
            for size, mean, weighted in utility.mean_distances
        ),
        propensity=_propensity(utility.propensity),
        propensity_weighted=(
            None
            if utility.propensity_weighted is None
            else _propensity(utility.propensity_weighted)
        ),
        saturated=_rounded(utility.saturated),
        numbers=tuple(
            replace(line, moved=_rounded(line.moved), lost_share=round(line.lost_share, 3))
            for line in utility.numbers
        ),
        correlation_moved=_rounded(utility.correlation_moved),
        eigenvalue_moved=_rounded(utility.eigenvalue_moved),
        analyses=tuple(replace(line, overlap=_rounded(line.overlap)) for line in utility.analyses),
    )


def without_values(protected: Protected, keys: Sequence[str]) -> dict[str, NDArray[np.bool_]]:
    """Return, once some cell was suppressed, which cells of each variable have no value in the release.

    Variables are the keys and those that were changed, whether or not a cell of theirs was
    suppressed: else what is missing in those that are not named would be known to have been missing
    before.
    """
    log, table = protected.log, protected.table
    if not any(log.suppressed(name).any() for name in log.variables):
        return {}
    made: dict[str, NDArray[np.bool_]] = {}
    for name in dict.fromkeys((*keys, *log.variables)):
        recode = log.variables.get(name, VariableChange()).recode
        own = name if recode is None else recode.new_name
        none = log.suppressed(name)
        if own in table.codebook:
            none = none | (table.codes(own) == MISSING)
        elif own in table.numbers:
            none = none | np.isnan(table.number(own))
        if none.any():
            made[name] = none
    return made


def as_shown(protected: Protected, keys: Sequence[str]) -> ChangeLog:
    """Return a log as those outside can make it: every cell without a value counts as suppressed."""
    log, made = protected.log, dict(protected.log.variables)
    for name, none in without_values(protected, keys).items():
        every = np.zeros(log.n_records, dtype=np.bool_)
        every[slice(None) if log.records is None else log.records] = none
        bits, change = np.packbits(every), made.get(name, VariableChange())
        changed = bits if change.changed is None else bits | change.changed
        made[name] = replace(change, changed=changed, suppressed=bits)
    # Nor does their order tell which were suppressed.
    names = dict.fromkeys((*keys, *log.variables))
    return replace(log, variables={name: made[name] for name in names if name in made})


def compared_in_public(made: Protected, setting: Setting, utility: Utility) -> Utility | None:
    """Return the utility, measured anew, of variables that may be compared in public; None if none may."""
    closed = without_values(made, setting.keys)
    if not closed:
        return utility
    names = tuple(line.variable for line in utility.variables if line.variable not in closed)
    if not names:
        return None
    asked = UtilityOptions(variables=names, weight=setting.weight)
    log = replace(
        made.log, variables={n: v for n, v in made.log.variables.items() if n not in closed}
    )
    found = measure_utility(made.before, made.table, asked, log=log, decimal=setting.decimal)
    if not closed.keys() & set(made.before.numbers):
        return found
    return replace(found, numbers=(), pairs=(), correlation_moved=None, eigenvalue_moved=None)


def public_numbers(utility: Utility) -> pa.Table:
    """Return how far numbers moved: cells, means in standard deviations, and deviations as a ratio."""
    rows = [
        (
            line.variable,
            _rounded(line.moved),
            round(line.lost_share, 3),
            _apart(line.mean_before, line.mean_after, line.deviation_before),
            _ratio(line.deviation_before, line.deviation_after),
        )
        for line in utility.numbers
    ]
    columns = ("variable", "moved", "lost_share", "mean moved", "deviation after by before")
    return results.make_listing("numbers", columns, rows, results.EVERYTHING).to_arrow()


def public_pairs(utility: Utility) -> pa.Table:
    """Return the correlations of numbers before and after."""
    rows = [
        (
            pair.first,
            pair.second,
            _rounded(pair.correlation_before),
            _rounded(pair.correlation_after),
        )
        for pair in utility.pairs
    ]
    columns = ("first", "second", "correlation_before", "correlation_after")
    return results.make_listing("correlations", columns, rows, results.EVERYTHING).to_arrow()


def _propensity(found: Propensity) -> Propensity:
    return replace(
        found,
        pmse=_rounded(found.pmse, 3),
        of_most=_rounded(found.of_most),
        expected=round(found.expected, 3),
        ratio=_rounded(found.ratio, 1),
    )


def _rounded(value: float | None, digits: int = _DIGITS) -> float | None:
    return None if value is None else round(value, digits)


def _apart(before: float | None, after: float | None, deviation: float | None) -> float | None:
    if before is None or after is None or not deviation:
        return None
    return round((after - before) / deviation, _DIGITS)


def _ratio(before: float | None, after: float | None) -> float | None:
    return None if after is None or not before else round(after / before, _DIGITS)


_VARIABLE_COLUMNS = (
    "variable", "categories_before", "categories_after", "bits_before", "bits_lost", "changed_share",
    "suppressed_share", "distance",
)  # fmt: skip
_BY_WEIGHT = ("distance_weighted", "bits_lost_weighted")


def utility_section(utility: Utility, *, is_public: bool = False) -> RiskSection:
    """Return the section on what a file is still good for; the public has `public_utility`."""
    numbers = public_numbers(utility) if is_public else utility.numbers_listing().to_arrow()
    pairs = public_pairs(utility) if is_public else utility.pairs_listing().to_arrow()
    farthest = utility.tables_listing().to_arrow()
    if farthest["distance_weighted"].null_count == len(farthest):
        farthest = farthest.drop_columns(["distance_weighted"])
    tables = [
        RiskTable.of("The tables that are farthest from before", farthest),
        RiskTable.of(
            "What every variable lost",
            utility.to_arrow().slice(0, len(utility.variables)),
            columns=_VARIABLE_COLUMNS
            + (_BY_WEIGHT if utility.propensity_weighted is not None else ()),
        ),
    ]
    if not utility.tables:
        tables = tables[1:]
    if utility.numbers:
        tables.append(RiskTable.of("Numbers before and after", numbers))
    if utility.pairs:
        tables.append(RiskTable.of("How numbers vary together", pairs))
    said = utility.sentences()
    figures = [(utility.plot(), "The farthest tables, and what of each variable is lost")]
    return RiskSection("utility", "What the file is still good for", said, figures, tables)


def analyses_sections(utility: Utility, *, with_categories: bool) -> list[RiskSection]:
    """Return the section on analyses, if some were asked for; without categories they are summed up."""
    if not utility.analyses:
        return []
    listed = utility.analyses_listing().to_arrow() if with_categories else _by_analysis(utility)
    return [
        RiskSection(
            "analyses",
            "Analyses before and after",
            ["Confidence intervals of 95%; suppressed cells are lost to means and regressions."],
            (),
            [RiskTable.of("Estimates and how much their intervals overlap", listed)],
        )
    ]


def _by_analysis(utility: Utility) -> pa.Table:
    """Return how well each analysis comes out, without its categories."""
    rows: list[dict[str, object]] = []
    for text, weighted in dict.fromkeys(
        (line.analysis, line.weighted) for line in utility.analyses
    ):
        own = [
            line for line in utility.analyses if (line.analysis, line.weighted) == (text, weighted)
        ]
        known = [line.overlap for line in own if line.overlap is not None]
        rows.append(
            {
                "analysis": f"{text} (by weight)" if weighted else text,
                "estimates": len(own),
                "mean overlap": percent_text(sum(known) / len(known)) if known else "not known",
                "least overlap": percent_text(min(known)) if known else "not known",
            }
        )
    schema = pa.schema(
        [("analysis", pa.string()), ("estimates", pa.int64())]
        + [(name, pa.string()) for name in ("mean overlap", "least overlap")]
    )
    return pa.Table.from_pylist(rows, schema)


def plot_attacks(lines: Sequence[tuple[str, float, float, str]]) -> Figure:
    """Plot what attacks achieve before and after, as shares of what they achieved before.

    Every line has a name, both figures, and a text that has them as they are read.

    >>> figure = plot_attacks([("unique records", 40.0, 0.0, "40 → 0")])
    >>> len(figure.axes)
    1
    """
    from matplotlib.figure import Figure

    letters = results.drawable_letters()
    figure = Figure(figsize=(9.0, 1.3 + 0.42 * max(len(lines), 1)), layout="constrained")
    ax = figure.subplots()
    places = _named_lines(ax, [name for name, *_ in lines])
    most = 1.0
    for place, (_, before, after, text) in zip(places, lines, strict=True):
        share = after / before if before else (0.0 if not after else 1.0)
        most = max(most, share)
        ax.plot(
            [1.0 if before else 0.0, share],
            [place, place],
            color=results.GRID,
            linewidth=4,
            zorder=1,
        )
        ax.scatter([1.0 if before else 0.0], [place], color=results.MUTED, s=36, zorder=2)
        ax.scatter([share], [place], color=results.COLOURS[0], s=52, zorder=3)
        ax.annotate(
            results.drawable(text, letters),
            (1.0, place),
            xycoords=("axes fraction", "data"),
            xytext=(6, 0),
            textcoords="offset points",
            va="center",
            fontsize=8,
            color=results.MUTED,
            annotation_clip=False,
        )
    ax.set_xlim(-0.03, most * 1.03)
    ax.set_ylim(-0.7, len(lines) - 0.3)
    ax.set_xlabel("after (blue) as a share of before (grey)", fontsize=9)
    ax.xaxis.set_major_formatter(lambda x, _: percent_text(x).replace(".0%", "%"))
    return figure


def plot_changes(log: ChangeLog, suppressed: str = "suppressed") -> Figure:
    """Plot each variable's share of suppressed cells, called `suppressed`, and of other values."""
    from matplotlib.figure import Figure

    lines = [
        (name, change.n_suppressed, change.n_changed - change.n_suppressed)
        for name, change in log.variables.items()
        if change.n_changed
    ]
    figure = Figure(figsize=(9.0, 1.3 + 0.34 * max(len(lines), 1)), layout="constrained")
    ax = figure.subplots()
    if not lines:
        ax.text(0.0, 0.5, "no single cell was changed", color=results.MUTED, transform=ax.transAxes)
        ax.set_axis_off()
        return figure
    places = _named_lines(ax, [name for name, *_ in lines])
    total = max(log.n_records, 1)
    stars = [n_stars / total for _, n_stars, _ in lines]
    others = [changed / total for *_, changed in lines]
    ax.barh(places, stars, color=results.COLOURS[1], height=0.6, label=suppressed)
    ax.barh(places, others, left=stars, color=results.COLOURS[0], height=0.6, label="another value")
    ax.xaxis.set_major_formatter(lambda x, _: percent_text(x))
    ax.set_xlabel("share of the records", fontsize=9)
    if any(stars) and any(others):
        ax.legend(frameon=False, fontsize=8, loc="lower right", bbox_to_anchor=(1.0, 1.0), ncols=2)
    return figure


def _named_lines(ax: Axes, names: Sequence[str]) -> list[int]:
    """Give each name a line of its own, the first at the top, and return where the lines are."""
    letters = results.drawable_letters()
    places = list(range(len(names)))[::-1]
    ax.set_yticks(
        places, [results.drawable(short(name, 44), letters) for name in names], fontsize=9
    )
    ax.tick_params(axis="y", length=0)
    for side in ("top", "right", "left"):
        ax.spines[side].set_visible(False)
    ax.grid(axis="x", color=results.GRID)
    ax.set_axisbelow(True)
    return places
