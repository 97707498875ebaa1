"""The outcome of key variable mapping: per variable, and for a whole target.

Everything is immutable and exact: sizes are whole numbers (or unbounded), areas and effective
categories are fractions.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from gamekeeper.algorithms.categories.maximal_harmonization import MaximalHarmonizations
from gamekeeper.algorithms.categories.partitions import Arbitrary, Partition
from gamekeeper.algorithms.categories.prevalence import SizeCurve
from gamekeeper.mapping.analysis.map_table import map_table_html
from gamekeeper.mapping.environment.evidence import Evidence, Mode
from gamekeeper.results import Provenance, Result

if TYPE_CHECKING:
    import pyarrow as pa
    from matplotlib.axes import Axes


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
    target_code
        The code of the target's own categorization.
    n_forms, n_asking, n_having
        The forms matched against, those that have the variable, and those of them whose
        categorization is valid.
    prevalence, threshold
        The share asked for, and how many forms must be matched for it.
    maximal
        The maximal harmonizations; empty where too few forms have the variable.
    has_more, may_have_more
        Whether there are more of them than were asked for, or may be more than the search found.
    n_categories
        Their number of categories: 0 where there is none, `math.inf` for arbitrary precision.
    curve
        Code size against prevalence; None where the search ended before all of it was known.
    not_known
        The least and the largest number of forms for which the code size is not known; None
        where it is known for all.
    effective
        At least `threshold` forms match the target, each by itself, with that many effective
        categories or more: what harmonization hides where bands overlap.
    message
        Why there is no result: inconsistent categorizations, or too many harmonizations.
    over_limit
        Whether there is none because of too many harmonizations.
    set_aside
        Forms whose categorization was left out, with the reasons.
    having
        The names of the forms that have the variable with a valid categorization.
    outside
        Sinks that nobody in the target has, and that do not count.
    restricted
        The forms among those that have it which ask only some of the people of the target.
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
class KeyVariableMap(Result):
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
    provenance: Provenance
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
        import pyarrow as pa

        rows = [
            {
                "rank": rank,
                "variable": item.variable,
                "target_code": item.target_code,
                "match_forms": item.n_forms,
                "forms_having": item.n_having,
                "forms_set_aside": item.n_asking - item.n_having,
                "needed": item.n_needed,
                "threshold": item.threshold,
                "code": item.codes[0] if item.codes else None,
                "other_codes": ", ".join(item.codes[1:]),
                "categories": float(item.n_categories) if item.maximal else None,
                "in_words": "; ".join(item.maximal[0].categories) if item.maximal else "",
                "effective": float(item.effective) if item.maximal else None,
                "effective_exact": _exact(item.effective) if item.maximal else "",
                "area": None if item.area is None or item.message else float(item.area),
                "area_exact": "" if item.area is None or item.message else _exact(item.area),
                "why": item.why,
                "outside": "; ".join(item.outside),
                "forms_restricted": len(item.restricted),
                "forms": "; ".join(item.maximal[0].forms) if item.maximal else "",
            }
            for rank, item in enumerate(self.variables, start=1)
        ]
        schema = pa.schema(
            [
                ("rank", pa.int32()),
                ("variable", pa.string()),
                ("target_code", pa.string()),
                ("match_forms", pa.int32()),
                ("forms_having", pa.int32()),
                ("forms_set_aside", pa.int32()),
                ("needed", pa.int32()),
                ("threshold", pa.int32()),
                ("code", pa.string()),
                ("other_codes", pa.string()),
                ("categories", pa.float64()),
                ("in_words", pa.string()),
                ("effective", pa.float64()),
                ("effective_exact", pa.string()),
                ("area", pa.float64()),
                ("area_exact", pa.string()),
                ("why", pa.string()),
                ("outside", pa.string()),
                ("forms_restricted", pa.int32()),
                ("forms", pa.string()),
            ]
        )
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
        from gamekeeper.mapping.analysis.prevalence_plot import plot_curves

        return plot_curves(self, ax=ax)


@dataclass(frozen=True, repr=False)
class KeyEvidence(Result):
    """The forms that can be matched at the maximal harmonizations of every variable, by name."""

    target: str
    variables: tuple[KeyVariable, ...]
    provenance: Provenance

    def summary(self) -> dict[str, Any]:
        """Return the headline numbers."""
        rows = self._rows()
        return {"target": self.target, "variables": len(self.variables), "rows": len(rows)}

    def to_arrow(self) -> pa.Table:
        """Return one row per variable, maximal harmonization and form."""
        import pyarrow as pa

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
class SizeCurves(Result):
    """Code size against prevalence, for every variable and all prevalences at once."""

    target: str
    curves: Mapping[str, SizeCurve]
    provenance: Provenance

    def summary(self) -> dict[str, Any]:
        """Return the headline numbers."""
        steps = sum(len(curve.steps) for curve in self.curves.values())
        return {"target": self.target, "variables": len(self.curves), "steps": steps}

    def to_arrow(self) -> pa.Table:
        """Return one row per step: from a prevalence up to, but without, another.

        Where the very last point has a size of its own, it has a row from and to itself.
        """
        import pyarrow as pa

        rows = [
            {
                "variable": variable,
                "from_prevalence": str(start),
                "to_prevalence": str(stop),
                "from": float(start),
                "to": float(stop),
                "categories": float(size),
            }
            for variable, curve in self.curves.items()
            for start, stop, size in (*curve.steps, *curve.last_point)
        ]
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
