"""The outcome of key variable mapping, per variable and for a whole target; as a table, and plotted.

Everything is immutable and exact: sizes are whole numbers (or unbounded), areas and effective
categories are fractions.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from gamekeeper import results
from gamekeeper.algorithms.categories.maximal_harmonization import MaximalHarmonizations
from gamekeeper.algorithms.categories.partitions import Arbitrary, Partition, SizeCurve
from gamekeeper.arrow import pa
from gamekeeper.errors import InputError, Reason
from gamekeeper.mapping.environment.asked import Evidence, Mode
from gamekeeper.wording import asking_text, count_of, listed, number_text, short

if TYPE_CHECKING:
    from matplotlib.axes import Axes


NONE = "—"
"""What stands where there is nothing to say."""

_SHOWN_CODES = 3
_SHOWN_CATEGORIES = 6
_CELL_LETTERS = 90


def map_table(key_variable_map: KeyVariableMap) -> tuple[tuple[str, ...], list[tuple[str, ...]]]:
    """Return the ranked key variables as a header and rows of text.

    Numbers have at most two decimals; ∞ stands for unbounded and a dash for none. A variable whose
    area is not known has no rank. Under "Forms" is how many of the forms can be matched at the
    first code, and "In words" are its categories.
    """
    header = ("Rank", "Variable", "Code", "Categories", "Forms", "Area", "Effective", "In words")
    rows = [_row(rank, item) for rank, item in enumerate(key_variable_map.variables, start=1)]
    return header, rows


def map_table_html(key_variable_map: KeyVariableMap) -> str:
    """Return the ranked key variables as one HTML table, every text escaped."""
    header, rows = map_table(key_variable_map)
    return results.table_html(
        header, rows, caption=f"Key variables of {short(key_variable_map.target)}"
    )


def _row(rank: int, item: KeyVariable) -> tuple[str, ...]:
    name = short(item.variable)
    if item.message:
        why = "too many harmonizations" if item.over_limit else "inconsistent categorizations"
        return (NONE, name, *[NONE] * 5, f"no result: {why}")
    area = NONE if item.area is None else number_text(item.area)
    place = NONE if item.area is None else str(rank)
    if not item.maximal:
        return (place, name, NONE, NONE, NONE, area, NONE, _too_few(item))
    first = item.maximal[0]
    words = _words(first.categories)
    is_one_of_several = len(item.codes) > 1 or item.has_more or item.may_have_more
    return (
        place, name, _codes(item), number_text(item.n_categories),
        f"{first.n_forms} of {item.n_forms}", area, number_text(item.effective),
        f"for {first.code}: {words}" if is_one_of_several else words,
    )  # fmt: skip


def _too_few(item: KeyVariable) -> str:
    asking = asking_text(item.n_asking, item.n_forms, item.n_asking - item.n_having)
    if item.n_forms == 1 or not item.n_asking:
        return asking
    must = "must" if item.n_asking == item.n_having else "must without fault"
    return f"{asking}; at least {item.n_needed} {must}"


def _words(categories: Sequence[str]) -> str:
    """Return as many categories as fit a cell, at least one."""
    n_shown = n_letters = 0
    for name in categories[:_SHOWN_CATEGORIES]:
        n_letters += len(short(name)) + 2
        if n_shown and n_letters > _CELL_LETTERS:
            break
        n_shown += 1
    return listed(categories, n_shown)


def _codes(item: KeyVariable) -> str:
    shown = ", ".join(item.codes[:_SHOWN_CODES])
    left_out = len(item.codes) - _SHOWN_CODES
    if item.has_more or (item.may_have_more and left_out > 0):
        return f"{shown} and more"
    if item.may_have_more:
        return f"{shown} and perhaps more"
    return f"{shown} and {left_out} more" if left_out > 0 else shown


@dataclass(frozen=True, slots=True)
class Maximal:
    """One maximal harmonization: its code, its categories in words, and what lies under it."""

    code: str
    categories: tuple[str, ...]
    evidence: tuple[Evidence, ...]
    partition: Partition | Arbitrary

    @property
    def n_forms(self) -> int:
        """The number of forms that can be matched at this categorization."""
        return sum(item.n_forms for item in self.evidence)

    @property
    def forms(self) -> tuple[str, ...]:
        """The names of the forms that can be matched at this categorization."""
        return tuple(form for item in self.evidence for form in item.forms)


@dataclass(frozen=True, slots=True)
class KeyVariable:
    """The outcome for one variable of the target.

    Attributes
    ----------
    n_forms, n_asking, n_having
        The forms matched against, those that have the variable, and those of them whose
        categorization is valid.
    threshold
        How many forms must be matched for the prevalence asked for.
    maximal
        The maximal harmonizations; empty where too few forms have the variable.
    has_more, may_have_more
        Whether there are more of them than were asked for, or may be more than the search found.
    n_categories
        Their number of categories: 0 where there is none, `math.inf` for arbitrary precision.
    curve
        Code size against prevalence; None where the search ended before all of it was known.
    not_known
        The least and the largest number of forms for which the code size is not known, if any.
    effective
        At least `threshold` forms match the target, each by itself, with that many effective
        categories or more: what harmonization hides where bands overlap.
    message, over_limit
        Why there is no result: inconsistent categorizations, or too many harmonizations.
    set_aside
        Forms whose categorization was left out, with the reasons.
    having, restricted
        The forms that have the variable with a valid categorization, and those of them which ask
        only some of the people of the target.
    outside
        Sinks that nobody in the target has, and that do not count.
    answers
        The maximal harmonizations for any number of forms, within the universe; None without a
        categorization that could be matched.
    """

    variable: str
    target_code: str
    n_forms: int
    n_asking: int
    n_having: int
    prevalence: Fraction
    threshold: int
    maximal: tuple[Maximal, ...]
    n_categories: float
    curve: SizeCurve | None
    effective: Fraction | float
    has_more: bool = False
    may_have_more: bool = False
    not_known: tuple[int, int] | None = None
    message: str = ""
    over_limit: bool = False
    set_aside: Mapping[str, str] | None = None
    having: tuple[str, ...] = ()
    outside: tuple[str, ...] = ()
    restricted: tuple[str, ...] = ()
    answers: MaximalHarmonizations | None = field(default=None, repr=False, compare=False)

    @property
    def n_needed(self) -> int:
        """How many forms must have the variable: E·p rounded up, where the threshold rounds down."""
        return max(1, math.ceil(self.n_forms * self.prevalence))

    @property
    def area(self) -> Fraction | float | None:
        """The area under the curve of code size against prevalence, where that is known."""
        return None if self.curve is None else self.curve.area

    @property
    def codes(self) -> tuple[str, ...]:
        """The codes of the maximal harmonizations."""
        return tuple(item.code for item in self.maximal)

    @property
    def why(self) -> str:
        """The reason for the result in words."""
        if self.message:
            return self.message
        if not self.maximal:
            return f"{self.n_having} of {self.n_forms} forms have it, and {self.n_needed} must"
        first = self.maximal[0]
        parts = ", ".join(f"{item.n_forms} at {item.code}" for item in first.evidence)
        return f"{first.n_forms} of {self.n_forms} forms can be matched at {first.code} ({parts})"


@dataclass(frozen=True, repr=False)
class KeyVariableMap(results.Result):
    """The outcome of an analysis; `variables` are ranked by area, the most useful first.

    After these come variables whose area is not known, and those without a result at the end.
    """

    target: str
    mode: Mode
    match_forms: tuple[str, ...]
    prevalence: Fraction
    strict: bool
    variables: tuple[KeyVariable, ...]
    notes: tuple[str, ...]
    provenance: results.Provenance
    within_universe: bool = True

    def summary(self) -> dict[str, Any]:
        """Return the headline numbers."""
        return {
            "target": self.target,
            "mode": self.mode.value,
            "match_forms": len(self.match_forms),
            "prevalence": str(self.prevalence),
            "variables": len(self.variables),
            "matchable": sum(bool(variable.maximal) for variable in self.variables),
        }

    def to_arrow(self) -> pa.Table:
        """Return one row per variable of the target.

        `area` and `effective` are floats; the columns named `exact` have them as fractions.
        """
        rows = [
            {
                "rank": rank, "variable": item.variable, "target_code": item.target_code,
                "match_forms": item.n_forms, "forms_having": item.n_having,
                "forms_set_aside": item.n_asking - item.n_having, "needed": item.n_needed,
                "threshold": item.threshold, "code": item.codes[0] if item.codes else None,
                "other_codes": ", ".join(item.codes[1:]),
                "categories": float(item.n_categories) if item.maximal else None,
                "in_words": "; ".join(item.maximal[0].categories) if item.maximal else "",
                "effective": float(item.effective) if item.maximal else None,
                "effective_exact": _exact(item.effective) if item.maximal else "",
                "area": None if item.area is None or item.message else float(item.area),
                "area_exact": "" if item.area is None or item.message else _exact(item.area),
                "why": item.why, "outside": "; ".join(item.outside),
                "forms_restricted": len(item.restricted),
                "forms": "; ".join(item.maximal[0].forms) if item.maximal else "",
            }
            for rank, item in enumerate(self.variables, start=1)
        ]  # fmt: skip
        schema = pa.schema(
            [
                ("rank", pa.int32()), ("variable", pa.string()), ("target_code", pa.string()),
                ("match_forms", pa.int32()), ("forms_having", pa.int32()),
                ("forms_set_aside", pa.int32()), ("needed", pa.int32()), ("threshold", pa.int32()),
                ("code", pa.string()), ("other_codes", pa.string()), ("categories", pa.float64()),
                ("in_words", pa.string()), ("effective", pa.float64()),
                ("effective_exact", pa.string()), ("area", pa.float64()),
                ("area_exact", pa.string()), ("why", pa.string()), ("outside", pa.string()),
                ("forms_restricted", pa.int32()), ("forms", pa.string()),
            ]
        )  # fmt: skip
        return pa.Table.from_pylist(rows, schema=schema)

    def curves(self) -> SizeCurves:
        """Return code size against prevalence as one table of steps.

        Variables without a result, or whose curve is not known, are left out.
        """
        curves = {
            item.variable: item.curve
            for item in self.variables
            if item.curve is not None and not item.message
        }
        return SizeCurves(self.target, curves, self.provenance)

    def evidence(self) -> KeyEvidence:
        """Return by name the forms that stand behind every code, one row for each."""
        return KeyEvidence(self.target, self.variables, self.provenance)

    def _repr_html_(self) -> str:
        return map_table_html(self)

    def plot(self, *, ax: Axes | None = None) -> Axes:
        """Plot code size against prevalence; needs no display."""
        return plot_curves(self, ax=ax)


@dataclass(frozen=True, repr=False)
class KeyEvidence(results.Result):
    """The forms that can be matched at the maximal harmonizations of every variable, by name."""

    target: str
    variables: tuple[KeyVariable, ...]
    provenance: results.Provenance

    def summary(self) -> dict[str, Any]:
        """Return the headline numbers."""
        rows = self._rows()
        return {"target": self.target, "variables": len(self.variables), "rows": len(rows)}

    def to_arrow(self) -> pa.Table:
        """Return one row per variable, maximal harmonization and form."""
        names = ("variable", "code", "form_code", "form", "is_restricted")
        kinds = [pa.string()] * 4 + [pa.bool_()]
        schema = pa.schema(list(zip(names, kinds, strict=True)))
        rows = [dict(zip(names, row, strict=True)) for row in self._rows()]
        return pa.Table.from_pylist(rows, schema=schema)

    def _rows(self) -> list[tuple[str, str, str, str, bool]]:
        return [
            (item.variable, found.code, seen.code, form, form in item.restricted)
            for item in self.variables
            for found in item.maximal
            for seen in found.evidence
            for form in seen.forms
        ]


@dataclass(frozen=True, repr=False)
class SizeCurves(results.Result):
    """Code size against prevalence, for every variable and all prevalences at once."""

    target: str
    curves: Mapping[str, SizeCurve]
    provenance: results.Provenance

    def summary(self) -> dict[str, Any]:
        """Return the headline numbers."""
        steps = sum(len(curve.steps) for curve in self.curves.values())
        return {"target": self.target, "variables": len(self.curves), "steps": steps}

    def to_arrow(self) -> pa.Table:
        """Return one row per step: from a prevalence up to, but without, another.

        Where the very last point has a size of its own, it has a row from and to itself.
        """
        rows = [
            {
                "variable": variable, "from_prevalence": str(start), "to_prevalence": str(stop),
                "from": float(start), "to": float(stop), "categories": float(size),
            }
            for variable, curve in self.curves.items()
            for start, stop, size in (*curve.steps, *curve.last_point)
        ]  # fmt: skip
        texts, numbers = (
            ("variable", "from_prevalence", "to_prevalence"),
            ("from", "to", "categories"),
        )
        schema = pa.schema(
            [(name, pa.string()) for name in texts] + [(name, pa.float64()) for name in numbers]
        )
        return pa.Table.from_pylist(rows, schema=schema)


def _exact(number: Fraction | float) -> str:
    return "unbounded" if number == math.inf else str(number)


# Colours and strokes together tell curves apart in grey as well.
_STROKES = ("-", "--", "-.", ":")
_TICKS = (1, 2, 3, 5, 10, 20, 50, 100, 200, 500, 1_000, 10_000, 100_000)
_TICK_SPACE = 1.3
_NAME_LETTERS = 32
_TITLE_LETTERS = 60


def plot_curves(key_variable_map: KeyVariableMap, *, ax: Axes | None = None, most: int = 8) -> Axes:
    """Plot code size against prevalence, one step curve per variable in the order of the ranking.

    The number of categories has a logarithmic axis, since most codes have few and some have very
    many; the ranking goes by area on a linear one. Arbitrary precision is drawn on a line of its
    own at the top, called "any detail". Letters that the font lacks are replaced. Where more than
    `most` variables have a curve, the legend says how many are left out. A new figure needs no
    display; `ax.figure.savefig("curves.png")` saves it.
    """
    from matplotlib.figure import Figure

    if most < 1:
        found = "That is less than one."
        do = "Give a positive whole number."
        raise InputError(Reason.BAD_OPTION, f"A plot of {most} variables was asked for.", found, do)
    if ax is None:
        ax = Figure(figsize=(8.0, 4.2), layout="constrained").add_subplot()
    curves = [
        (item, item.curve)
        for item in key_variable_map.variables
        if item.curve is not None and item.curve.sizes
    ]
    shown = curves[:most]
    sizes = [size for _, curve in shown for size in curve.sizes]
    largest = max((size for size in sizes if size != math.inf), default=1)
    ceiling = 2 * max(largest, 4)
    _set_axes(ax, largest, ceiling if math.inf in sizes else None)
    letters = results.drawable_letters()
    for number, (item, curve) in enumerate(shown):
        prevalences, heights = _corners(curve, ceiling)
        name = results.drawable(short(item.variable, _NAME_LETTERS), letters)
        ax.plot(
            prevalences, heights, drawstyle="steps-post", color=results.COLOURS[number % len(results.COLOURS)],
            linestyle=_STROKES[number % len(_STROKES)], linewidth=2, marker="o",
            markevery=[len(prevalences) - 1], markersize=5, label=f"{number + 1}. {name}",
        )  # fmt: skip
    target = results.drawable(short(key_variable_map.target, _TITLE_LETTERS), letters)
    ax.set_title(f"Key variables of {target}", loc="left", parse_math=False)
    asked = float(key_variable_map.prevalence)
    ax.axvline(
        asked, color=results.MUTED, linewidth=1, linestyle=":", zorder=1, label="prevalence asked"
    )
    _set_legend(ax, len(curves) - len(shown), len(key_variable_map.variables) - len(curves))
    return ax


def _corners(curve: SizeCurve, ceiling: float) -> tuple[list[float], list[float]]:
    steps = curve.steps
    prevalences = [float(start) for start, _, _ in steps] + [float(steps[-1][1])]
    heights = [size for _, _, size in steps] + [curve.end]
    return prevalences, [float(min(height, ceiling)) for height in heights]


def _set_axes(ax: Axes, largest: float, ceiling: float | None) -> None:
    from matplotlib.ticker import NullLocator, PercentFormatter

    # The top value has a tick of its own, and room for its name.
    ticks: list[float] = [tick for tick in _TICKS if tick * _TICK_SPACE <= largest]
    ticks.append(largest)
    names = [number_text(tick) for tick in ticks]
    if ceiling is not None:
        ticks.append(ceiling)
        names.append("any detail")
        ax.axhspan(ceiling / 1.3, ceiling * 1.3, color="#f3f5f8", zorder=0)
    ax.set_yscale("log")
    ax.set_ylim(0.85, 1.3 * (ceiling or largest))
    ax.set_yticks(ticks, names)
    ax.yaxis.set_minor_locator(NullLocator())
    ax.set_xlim(0, 1)
    ax.xaxis.set_major_formatter(PercentFormatter(xmax=1))
    ax.set_xlabel("Prevalence: share of the forms that must be matched")
    ax.set_ylabel("Categories that can be matched (log scale)")
    ax.grid(color=results.GRID, linewidth=0.8)
    ax.set_axisbelow(True)
    ax.spines[["top", "right"]].set_visible(False)


def _set_legend(ax: Axes, n_left_out: int, n_without: int) -> None:
    from matplotlib.lines import Line2D

    handles, labels = ax.get_legend_handles_labels()
    notes = [f"{n_left_out} more not shown"] if n_left_out else []
    notes += [f"{count_of(n_without, 'variable')} without a curve"] if n_without else []
    for note in notes:
        handles.append(Line2D([], [], linestyle="none"))
        labels.append(note)
    legend = ax.legend(
        handles, labels, loc="upper left", bbox_to_anchor=(1.01, 1), borderaxespad=0, frameon=False
    )
    for text in legend.get_texts():
        text.set_parse_math(False)
