"""What a recoding would do to the risk: the same measures before and after, side by side.

Counts are exact. DIS needs the sampling fraction; tau-1 (sample uniques that nobody else in the
population shares) and expected matches (tau-2, right matches if each sample unique is matched once)
come from models that are fitted to the file before and to the file after, and stand with the
interval of each. What is not known is said to be not known, with the reason. Cost: two counts, and
two searches for models where the fraction is known.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from gamekeeper import results
from gamekeeper.arrow import arrow_table, pa
from gamekeeper.attack.options import FitMethod, FitOptions
from gamekeeper.attack.risk import keyed_provenance
from gamekeeper.attack.uniques.dis import general_dis
from gamekeeper.data.coding.codebook import Change
from gamekeeper.data.keys.key_table import KeyTable
from gamekeeper.errors import Cancelled, GamekeeperError
from gamekeeper.wording import count_of, expected_text, three_digits

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_Known = tuple[float | None, tuple[float, float] | None]
_KS = (3, 5)
# The best model is enough to compare two files, and is found in a fraction of the time.
_QUICK = FitOptions(method=FitMethod.ANNEALING, chains=1)
_HEIGHT = 0.38
_RECORDS = {
    "sample_uniques": "unique in the file",
    "uniques_as_released": "like no other as released",
    "below_3": "in classes of fewer than 3",
    "below_5": "in classes of fewer than 5",
    "tau1": "unique in the population",
    "expected_matches": "matched rightly",
}
_CHANCES = {"dis": "by DIS"}


@dataclass(frozen=True, slots=True)
class Compared:
    """One measure before and after; None where it is not known."""

    measure: str
    before: float | None
    after: float | None
    meaning: str
    before_range: tuple[float, float] | None = None
    after_range: tuple[float, float] | None = None


@dataclass(frozen=True, repr=False)
class WhatIf(results.Result):
    """The measures of a file before and after a recoding."""

    lines: tuple[Compared, ...]
    changes: tuple[Change, ...]
    cautions: tuple[str, ...]
    provenance: results.Provenance
    _by_name: dict[str, Compared] = field(init=False, default_factory=dict[str, Compared])

    def __post_init__(self) -> None:
        self._by_name.update({line.measure: line for line in self.lines})

    def __getitem__(self, measure: str) -> Compared:
        return self._by_name[measure]

    @property
    def recodings(self) -> tuple[str, ...]:
        """What was done to each variable, in words."""
        return tuple(change.text for change in self.changes)

    def summary(self) -> dict[str, Any]:
        """Return the headline numbers."""
        uniques = self["sample_uniques"]
        return {
            "recodings": len(self.changes),
            "sample_uniques_before": uniques.before,
            "sample_uniques_after": uniques.after,
        }

    def sentences(self) -> list[str]:
        """Return what the recoding would do, in words."""
        return [self.outcome, *self.recodings, *self.cautions]

    def outlines(self) -> list[str]:
        """Return the same without the rules, which may name categories."""
        return [self.outcome, *(change.outline for change in self.changes), *self.cautions]

    @property
    def outcome(self) -> str:
        """What the recoding would do to uniques and to right matches, in one or two sentences."""
        uniques = self["sample_uniques"]
        before, after = int(uniques.before or 0), int(uniques.after or 0)
        told = (
            f"Recoded, {count_of(after, 'record is', 'records are')} unique instead of {before:,}."
        )
        matches = self._by_name.get("expected_matches")
        if matches is not None and matches.before is not None and matches.after is not None:
            told += (
                f" Of all sample uniques {expected_text(matches.after)} would be matched rightly"
                f" instead of {expected_text(matches.before)} (expected from models)."
            )
        return told

    def plot(self) -> Figure:
        """Plot the measures before and after, side by side."""
        return plot_what_if(self)

    def to_arrow(self) -> pa.Table:
        """Return one row per measure."""
        numbers = ("before", "before_from", "before_to", "after", "after_from", "after_to")
        columns = {"measure": "string", **dict.fromkeys(numbers, "float64"), "meaning": "string"}
        nothing = (None, None)
        rows = [
            (
                line.measure,
                line.before,
                *(line.before_range or nothing),
                line.after,
                *(line.after_range or nothing),
                line.meaning,
            )
            for line in self.lines
        ]
        return arrow_table(columns, rows)


def compare_recoded(
    before: KeyTable,
    after: KeyTable,
    *,
    changes: Sequence[Change] = (),
    fit: FitOptions | None = None,
    progress: results.Progress | None = None,
) -> WhatIf:
    """Compare a file with the same file recoded, by the counted keys of both.

    `changes` says what was done to each variable. Models are searched quickly unless `fit` says how.

    Examples
    --------
    >>> from gamekeeper.data.coding.coded_table import coded_from_codes
    >>> from gamekeeper.data.coding.codebook import Recode
    >>> from gamekeeper.data.keys.counting import count_keys
    >>> people = coded_from_codes([[1], [2], [2], [3]], ["Age"])
    >>> coarse = people.recoded([Recode("Age", [0, 1, 1, 1], ("missing", "any"))])
    >>> found = compare_recoded(count_keys(people, ["Age"]), count_keys(coarse, ["Age"]))
    >>> found["sample_uniques"].before, found["sample_uniques"].after
    (2.0, 0.0)
    """
    fit = fit or _QUICK
    lines = [
        _line("different_keys", before.n_classes, after.n_classes, "Different keys"),
        _line(
            "sample_uniques", before.n_uniques, after.n_uniques, "Records with a key of their own"
        ),
    ]
    if before.caution or after.caution:
        words = "Records like no other as released, missing cells and all"
        lines.append(_line("uniques_as_released", before.n_unlike, after.n_unlike, words))
    lines += [
        _line(
            f"below_{k}",
            before.k_violations(k),
            after.k_violations(k),
            f"Records in classes of fewer than {k} ({k}-anonymity)",
        )
        for k in _KS
    ]
    least = "Size of the smallest class: the k of k-anonymity"
    smallest = (min(before.structure, default=0), min(after.structure, default=0))
    lines.append(_line("k", smallest[0], smallest[1], least))
    cautions: list[str] = []
    lines.append(_dis(before, after, cautions))
    lines += _models(before, after, fit, cautions, progress)
    provenance = keyed_provenance(
        "what if",
        "before and after a recoding",
        after,
        {"models": str(fit.method), "before": before.coded.fingerprint},
        seed=fit.seed,
    )
    return WhatIf(tuple(lines), tuple(changes), tuple(dict.fromkeys(cautions)), provenance)


def _line(measure: str, before: float, after: float, meaning: str) -> Compared:
    return Compared(measure, float(before), float(after), meaning)


def _dis(before: KeyTable, after: KeyTable, cautions: list[str]) -> Compared:
    values: list[float | None] = []
    for when, table in (("before", before), ("after", after)):
        found = general_dis(table)
        values.append(None if found.dis is None else float(found.dis))
        if found.dis is None:
            cautions.append(f"DIS {when} is not known: {found.why_none.rstrip('.')}.")
    return Compared("dis", values[0], values[1], "Probability that a unique match is right, by DIS")


def _models(
    before: KeyTable,
    after: KeyTable,
    fit: FitOptions,
    cautions: list[str],
    progress: results.Progress | None,
) -> list[Compared]:
    told = [
        _inferred(table, when, fit, cautions, progress)
        for when, table in (("before", before), ("after", after))
    ]
    meanings = {
        "tau1": "Sample uniques that nobody else in the population shares (tau-1), expected",
        "expected_matches": "Right matches if each sample unique is matched once, expected",
    }
    found: list[Compared] = []
    for name, words in meanings.items():
        (value, span), (value_after, span_after) = (side[name] for side in told)
        found.append(Compared(name, value, value_after, words, span, span_after))
    return found


def _inferred(
    table: KeyTable,
    when: str,
    fit: FitOptions,
    cautions: list[str],
    progress: results.Progress | None,
) -> dict[str, _Known]:
    nothing: dict[str, _Known] = {"tau1": (None, None), "expected_matches": (None, None)}
    if not table.n_uniques and not table.caution:
        # Without sample uniques there is nothing to estimate.
        return dict.fromkeys(nothing, (0.0, None))
    what = f"Population uniques and expected matches {when} are not known"
    if table.fraction is None:
        cautions.append(f"{what}: no sampling fraction is given.")
        return nothing
    # Imported here: they bring the kernels of models along.
    from gamekeeper.attack.models.fitting import fit_models
    from gamekeeper.attack.models.inference import infer_risk

    try:
        found = fit_models(table, asked=fit, progress=progress)
        cautions += found.warnings()
        file = infer_risk(table, fit=found, seed=fit.seed).estimate.file
    except Cancelled:
        raise
    except GamekeeperError as error:
        cautions.append(f"{what}: {error.found.rstrip('.')}.")
        return nothing
    measures = {"tau1": file.tau1, "expected_matches": file.tau2}
    return {
        name: (None, None)
        if math.isnan(measure.value)
        else (float(measure.value), (float(measure.lower), float(measure.upper)))
        for name, measure in measures.items()
    }


def plot_what_if(found: WhatIf) -> Figure:
    """Plot a file before and after; needs no display.

    >>> from gamekeeper.attack.what_if import compare_recoded
    >>> from gamekeeper.data.coding.coded_table import coded_from_codes
    >>> from gamekeeper.data.keys.counting import count_keys
    >>> keys = count_keys(coded_from_codes([[1], [2]], ["Age"]), ["Age"])
    >>> figure = plot_what_if(compare_recoded(keys, keys))
    >>> [text.get_text() for text in figure.axes[0].get_yticklabels()][0]
    'unique in the file'
    """
    known = {line.measure: line for line in found.lines}
    figure = results.new_figure(10.0, 4.2)
    left, right = figure.subplots(1, 2, width_ratios=[3, 2])
    records = {words: known[name] for name, words in _RECORDS.items() if name in known}
    _bars(left, list(records), list(records.values()))
    left.set_xlabel("Records; estimates with their 95% interval")
    left.set_title("Records before and after", loc="left")
    left.xaxis.set_major_formatter(lambda value, _: f"{value:,.0f}")
    chances = {words: known[name] for name, words in _CHANCES.items() if name in known}
    _bars(right, list(chances), list(chances.values()))
    right.set_xlim(0, 1)
    right.set_xlabel("Probability")
    right.set_title("Worth of a unique match", loc="left")
    left.legend(frameon=False, loc="lower right")
    return figure


def _bars(ax: Axes, names: Sequence[str], lines: Sequence[Compared]) -> None:
    results.ruled(ax, "x")
    sides = [
        ("before", [(line.before, line.before_range) for line in lines]),
        ("after", [(line.after, line.after_range) for line in lines]),
    ]
    for number, (side, values) in enumerate(sides):
        places = [place + (number - 0.5) * _HEIGHT for place in range(len(lines))]
        lengths = [0.0 if value is None else value for value, _ in values]
        ends = [
            (math.nan, math.nan)
            if span is None or value is None
            else (max(value - span[0], 0.0), max(span[1] - value, 0.0))
            for value, span in values
        ]
        errors = [[low for low, _ in ends], [high for _, high in ends]]
        has_any = not all(math.isnan(low) for low, _ in ends)
        ax.barh(
            places, lengths, _HEIGHT, color=results.COLOURS[number], label=side, ecolor=results.MUTED, capsize=2,
            xerr=errors if has_any else None,
        )  # fmt: skip
        for place, (value, _), (_, high) in zip(places, values, ends, strict=True):
            text = "not known" if value is None else three_digits(value)
            end = (value or 0.0) + (0.0 if math.isnan(high) else high)
            ax.annotate(
                text, (end, place), xytext=(4, 0), textcoords="offset points", va="center",
                fontsize="small", color=results.MUTED,
            )  # fmt: skip
    ax.set_yticks(range(len(names)), list(names))
    ax.invert_yaxis()
    ax.margins(x=0.15)
