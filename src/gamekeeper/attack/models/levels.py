"""What fitted models say of each variable and category (relative risk), and of values not known.

The relative risk of a variable is the measure of the whole file over the measure without the
variable. A category can be suppressed (sample uniques that have it no longer count) or collapsed
with others, one at a time, and the relative risks averaged. Where strata were sampled with
different fractions, so they are here. Smith's thesis, chapter 8.

An intruder who knows some values of a person infers others. The sensitive variables must be among
those that the models were fitted to. Nothing is looked up: the answer is what the models say of
anybody with the known values. Chapter 6.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from gamekeeper.algorithms.decomposable.junction_tree import ClassTable, infer_values
from gamekeeper.algorithms.models import population_model
from gamekeeper.algorithms.models.rate_mixture import FileEstimate
from gamekeeper.arrow import pa
from gamekeeper.attack.models.inference import ModelRisk, require_same_keys
from gamekeeper.attack.options import MOST_CELLS, By, CategoriesInput, Estimator
from gamekeeper.data.coding.codebook import CodedVariable
from gamekeeper.errors import InputError, LimitError, Problem, Reason, refuse
from gamekeeper.options import takes
from gamekeeper.results import Progress, Provenance, Result, table_html
from gamekeeper.wording import (
    be,
    count_of,
    did_you_mean,
    expected_text,
    quoted,
    there_are,
    three_digits,
)

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from gamekeeper.data.keys.key_table import KeyTable


@dataclass(frozen=True, slots=True)
class RelativeLine:
    """What is left of the file measures without something, and the file's over that.

    - `variable`, `category`: what is left out; the category is "" for a whole variable.
    - `uniques_left`, `tau1_left`, `pr_cm_given_um_left`: what is left, averaged over pairs where
      categories are collapsed.
    - `tau1_lower`, `tau1_upper`: bounds of `tau1_left`, averaged likewise; None for suppression,
      whose `tau1_left` is a part of the file's own sum, and where the file's own numbers have no
      interval.
    - `relative_tau1`, `relative_match`: the file's measures over these; None where nothing is left.
    - `n_unbounded`: in how many of the pairs that were averaged (of a variable: 0 or 1) nothing is
      left. Their relative risks have no bound, and are not in the averages.
    """

    variable: str
    category: str
    uniques_left: float
    tau1_left: float
    pr_cm_given_um_left: float | None
    tau1_lower: float | None
    tau1_upper: float | None
    relative_tau1: float | None
    relative_match: float | None
    n_unbounded: int

    @property
    def tau1_range(self) -> tuple[float, float]:
        """The bounds of what is left; itself twice where there are none."""
        if self.tau1_lower is None or self.tau1_upper is None:
            return self.tau1_left, self.tau1_left
        return self.tau1_lower, self.tau1_upper


@dataclass(frozen=True, repr=False, eq=False)
class RelativeRisk(Result):
    """Relative risks of including variables or categories, the largest first."""

    # Categories are told where somebody asks for them by name.
    tells_of_records = False

    lines: tuple[RelativeLine, ...]
    what: str
    provenance: Provenance

    def summary(self) -> dict[str, Any]:
        """Return the headline numbers."""
        first = self.lines[0]
        return {
            "lines": len(self.lines),
            "by": self.what,
            "first": first.variable,
            "relative_tau1": first.relative_tau1
            if first.relative_tau1 is not None
            else "unbounded",
        }

    def to_arrow(self) -> pa.Table:
        """Return one row per variable or category."""
        names = [item.name for item in fields(RelativeLine)]
        kinds = [pa.string(), pa.string(), *[pa.float64()] * (len(names) - 3), pa.int64()]
        columns = [[getattr(line, name) for line in self.lines] for name in names]
        arrays = [pa.array(cells, kind) for cells, kind in zip(columns, kinds, strict=True)]
        return pa.Table.from_arrays(arrays, names=names)

    def sentences(self) -> list[str]:
        """Return which of them matter most, in words; no category is named."""
        of_categories = any(line.category for line in self.lines)
        told = [
            f"{line.variable}: without {'its riskiest category' if of_categories else 'it'}"
            f" {expected_text(line.tau1_left)}{_bounds(line)} population uniques among the sample"
            f" uniques would be left"
            + (f", {three_digits(line.relative_tau1)} times fewer." if line.relative_tau1 else ".")
            for line in self.lines[: 1 if of_categories else 3]
        ]
        # A pair is in the average of both its categories.
        n_pairs = sum(line.n_unbounded for line in self.lines) // 2
        if self.what == By.COLLAPSING and n_pairs:
            told.append(
                f"{count_of(n_pairs, 'pair')} of categories, collapsed, would leave no population"
                " unique: such relative risks have no bound, and are left out of the averages."
            )
        return told

    def plot(self) -> Figure:
        """Plot how many population uniques are left without each, with bounds where there are some.

        Categories are numbered by rank and not named: a picture travels further than its file.
        """
        from gamekeeper.attack.models.fitting import plot_relative

        return plot_relative(self)

    def _repr_html_(self) -> str:
        # A notebook travels further than its file: categories are numbered by rank, not named.
        table = self.to_arrow()
        if any(line.category for line in self.lines):
            ranks = [f"{place} of {len(self.lines)}" for place in range(1, len(self.lines) + 1)]
            table = table.set_column(1, "category", [ranks])
        rows = zip(*(column.to_pylist() for column in table.columns), strict=True)
        return table_html(table.column_names, rows, caption=f"{type(self).__name__}: {self.what}")


def variables_risk(risk: ModelRisk, *, progress: Progress | None = None) -> RelativeRisk:
    """Return what each key variable adds to the risk: the file with it over the file without it.

    Both are measured by the calibrated estimate, whatever the estimate of `risk`.

    Examples
    --------
    >>> from gamekeeper.attack.models.fitting import fit_models
    >>> from gamekeeper.attack.models.inference import infer_risk
    >>> from gamekeeper.data.coding.coded_table import coded_from_codes
    >>> from gamekeeper.data.keys.counting import count_keys
    >>> people = [[1, 1]] * 9 + [[1, 2], [2, 2], [2, 2]] + [[2, 1]]
    >>> keys = count_keys(coded_from_codes(people, ["age", "job"]), ["age", "job"])
    >>> risk = infer_risk(keys, fit_models(keys, method="annealing"), fraction="1/10")
    >>> sorted(line.variable for line in variables_risk(risk).lines)
    ['age', 'job']
    """
    started = time.perf_counter()
    whole = _calibrated(risk)
    lines: list[RelativeLine] = []
    for number in range(len(risk.fit.keys)):
        lines.append(_without(risk, whole, number))
        if progress is not None:
            progress(number + 1, len(risk.fit.keys))
    return _result(lines, "marginalization", risk, started)


@takes(CategoriesInput)
def categories_risk(risk: ModelRisk, asked: CategoriesInput) -> RelativeRisk:
    """Return what each category of a variable adds to the risk.

    The key table is the one that the risk was inferred for: with that of `variables_risk`, for
    instance, `categories_risk(risk, keys, "age", by="collapsing")`. Collapsing is measured by the
    calibrated estimate, whatever the estimate of `risk`.
    """
    started = time.perf_counter()
    chosen, key_table, variable = By(asked.by), asked.key_table, asked.variable
    require_same_keys(key_table, risk.fit)
    check_variable(variable, risk.fit.keys)
    number = risk.fit.keys.index(variable)
    coded = key_table.coded.codebook[variable]
    present = np.unique(risk.table.rows[:, number]).tolist()
    if chosen is By.SUPPRESSION:
        sums = population_model.suppressed_sums(risk.table, risk.estimate, number)
        lines = [
            _line(
                risk.estimate.file, variable, coded.words[code], sums[code].n_uniques, sums[code].tau1,
                sums[code].pr_cm_given_um,
            )
            for code in present
        ]  # fmt: skip
    else:
        lines = _collapsed(risk, coded, number, present, asked)
    return _result(lines, chosen.value, risk, started)


def check_variable(variable: str, keys: Sequence[str]) -> None:
    """Refuse a variable whose categories cannot be judged, since it is no key variable."""
    if variable not in keys:
        raise InputError(
            Reason.UNKNOWN_NAME,
            f"The risk of the categories of {quoted([variable])} was asked for.",
            "It is not one of the key variables.",
            did_you_mean(variable, keys),
        )


def _collapsed(
    risk: ModelRisk, coded: CodedVariable, number: int, present: list[int], asked: CategoriesInput
) -> list[RelativeLine]:
    pairs = [
        (one, other)
        for place, one in enumerate(present)
        for other in (present[place + 1 : place + 2] if asked.neighbours else present[place + 1 :])
    ]
    if len(pairs) > asked.max_pairs:
        raise LimitError(
            Reason.TOO_LARGE,
            f"Categories of {quoted([coded.name])} were to be collapsed in pairs.",
            f"There are {count_of(len(pairs), 'pair')}, and the limit is {asked.max_pairs:,}.",
            "Collapse neighbours only (--neighbours), use suppression (--by suppression), or raise"
            " max_pairs (--max-pairs).",
        )
    if not pairs:
        raise InputError(
            Reason.BAD_OPTION,
            f"Categories of {quoted([coded.name])} were to be collapsed in pairs.",
            "All records have the same one.",
            "Choose a variable with two categories or more.",
        )
    whole = _calibrated(risk)
    found: dict[int, list[RelativeLine]] = {code: [] for code in present}
    for done, (one, other) in enumerate(pairs):
        recode = np.arange(coded.n_codes)
        recode[other] = one
        line = _without(risk, whole, number, recode)
        found[one].append(line)
        found[other].append(line)
        if asked.progress is not None:
            asked.progress(done + 1, len(pairs))
    return [_averaged(lines, coded.words[code]) for code, lines in found.items() if lines]


def _averaged(lines: list[RelativeLine], category: str) -> RelativeLine:
    means: dict[str, Any] = {
        item.name: _mean(getattr(line, item.name) for line in lines)
        for item in fields(RelativeLine)
        if item.name not in ("variable", "category", "n_unbounded")
    }
    n_unbounded = sum(line.n_unbounded for line in lines)
    return replace(lines[0], category=category, n_unbounded=n_unbounded, **means)


def _calibrated(risk: ModelRisk) -> population_model.PopulationEstimate:
    """Return what is inferred of the whole file by the estimate that `risk_without` uses."""
    if risk.estimate.calibration is not None:
        return risk.estimate
    models, weights = risk.fit.pooled()
    by_cell = risk.fractions
    sampled = float(risk.fraction) if by_cell is None else by_cell.of(risk.table.rows)
    return population_model.calibrated_estimate(
        risk.table, list(models), fraction=sampled, weights=weights, interval=risk.estimate.interval
    )


def _mean(values: Iterable[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return sum(known) / len(known) if known else None


def _bounds(line: RelativeLine) -> str:
    if line.tau1_lower is None:
        return ""
    return f" ({expected_text(line.tau1_lower)} to {expected_text(line.tau1_upper or 0.0)})"


def _without(
    risk: ModelRisk,
    whole: population_model.PopulationEstimate,
    number: int,
    recode: NDArray[np.int64] | None = None,
) -> RelativeLine:
    models, weights = risk.fit.pooled()
    left = population_model.risk_without(
        risk.table,
        list(models),
        number,
        recode,
        fraction=risk.sampled,
        weights=weights,
        whole=whole,
    )
    match = left.pr_cm_given_um.value
    made = _line(whole.file, risk.fit.keys[number], "", left.n_uniques, left.tau1.value, match)
    if not risk.has_intervals:
        return made
    return replace(made, tau1_lower=left.tau1.lower, tau1_upper=left.tau1.upper)


def _line(
    whole: FileEstimate, variable: str, category: str, uniques: float, tau1: float, match: float
) -> RelativeLine:
    tau1 = 0.0 if np.isnan(tau1) else float(tau1)
    known = None if np.isnan(match) else float(match)
    return RelativeLine(
        variable,
        category,
        float(uniques),
        tau1,
        known,
        None,
        None,
        float(whole.tau1.value) / tau1 if tau1 > 0 else None,
        float(whole.pr_cm_given_um.value) / known if known else None,
        int(tau1 <= 0),
    )


def _result(lines: list[RelativeLine], what: str, risk: ModelRisk, started: float) -> RelativeRisk:
    estimate = risk.estimator if what == By.SUPPRESSION else Estimator.CALIBRATED
    ordered = sorted(lines, key=lambda line: line.tau1_left)
    made = replace(
        risk.provenance,
        method="relative risk",
        variant=f"{what}; {estimate.words}; {risk.fit.provenance.variant}",
        seconds=time.perf_counter() - started,
    )
    return RelativeRisk(tuple(ordered), what, made)


@dataclass(frozen=True, repr=False, eq=False)
class Inference(Result):
    """The distribution of some variables given known values, the most probable first.

    - `known_probability`: how probable the known values are together; 0 if models exclude them.
    - `strata_differ`: whether strata were sampled with different fractions: the models, and so the
      answer, are of people as they are in the file.
    """

    asked: tuple[str, ...]
    known: Mapping[str, str]
    rows: tuple[tuple[tuple[str, ...], float], ...]
    known_probability: float
    provenance: Provenance
    strata_differ: bool = False

    def summary(self) -> dict[str, Any]:
        """Return the headline numbers."""
        return {
            "asked": ", ".join(self.asked),
            "known": len(self.known),
            "combinations": len(self.rows),
            "most_probable": self.rows[0][1] if self.rows else 0.0,
            "known_probability": self.known_probability,
        }

    def to_arrow(self) -> pa.Table:
        """Return one row per combination of values."""
        columns: dict[str, Any] = {
            name: pa.array([words[place] for words, _ in self.rows], pa.string())
            for place, name in enumerate(self.asked)
        }
        chances = pa.array([chance for _, chance in self.rows], pa.float64())
        return pa.table({**columns, "probability": chances})

    def sentences(self) -> list[str]:
        """Return the answer in words."""
        if not self.rows:
            return ["Nobody has the known values, as far as the models know."]
        words, chance = self.rows[0]
        told = ", ".join(f"{name} {word}" for name, word in zip(self.asked, words, strict=True))
        answer = [
            f"Most probable, with {three_digits(chance)}: {told}.",
            (
                f"{count_of(len(self.rows), 'combination')}"
                f" {be(len(self.rows))} possible. The known values are found"
                f" together with probability {three_digits(self.known_probability)}."
            ),
        ]
        if self.strata_differ:
            answer.append(
                "Strata were sampled with different fractions: this is about people as they are in"
                " the file, not in the population."
            )
        return answer

    def _repr_html_(self) -> str:
        # A notebook travels further than its file: numbers, and no value of a person.
        rows = list(self.summary().items())
        return table_html(["measure", "value"], rows, caption=type(self).__name__)


def infer_target(
    risk: ModelRisk,
    key_table: KeyTable,
    known: Mapping[str, str],
    ask: Sequence[str],
    *,
    precision: float = 1.0,
    most_cells: int = MOST_CELLS,
) -> Inference:
    """Infer values of a person from others that are known of them.

    Models are of the file: where strata were sampled with different fractions, so is the answer.

    - `known`, `ask`: the words of known values, by key variable, and the key variables to infer.
    - `precision`: the total precision of the prior, so that values that do not occur together in
      the file are unlikely and not impossible; 0 for maximum likelihood.
    - `most_cells`: refuse a question that needs a table of more cells.

    Examples
    --------
    >>> from gamekeeper.attack.models.fitting import fit_models
    >>> from gamekeeper.attack.models.inference import infer_risk
    >>> from gamekeeper.data.coding.coded_table import coded_from_codes
    >>> from gamekeeper.data.keys.counting import count_keys
    >>> words = [("missing", "young", "old"), ("missing", "well", "ill")]
    >>> people = [[1, 1]] * 9 + [[1, 2], [2, 2], [2, 2]] + [[2, 1]]
    >>> keys = count_keys(coded_from_codes(people, ["age", "health"], words), ["age", "health"])
    >>> risk = infer_risk(keys, fit_models(keys, method="annealing"), fraction="1/10")
    >>> infer_target(risk, keys, {"age": "young"}, ["health"]).rows[0][0]
    ('well',)
    """
    started = time.perf_counter()
    require_same_keys(key_table, risk.fit)
    keys = risk.fit.keys
    # Where no cell is missing, "missing" is no category that a prior should think of.
    shift = (risk.table.rows.min(axis=0) > 0).astype(np.int64)
    codes = check_question(key_table, known, ask)
    models, weights = risk.fit.pooled()
    numbers = sorted(keys.index(name) for name in ask)
    levels = [level - int(less) for level, less in zip(risk.table.levels, shift, strict=True)]
    table = ClassTable(risk.table.rows - shift, risk.table.records, levels)
    found = infer_values(
        table,
        list(models),
        numbers,
        {number: code - int(shift[number]) for number, code in codes.items()},
        weights=weights,
        precision=precision,
        most_cells=most_cells,
    )
    asked = tuple(ask)
    places = [found.variables.index(keys.index(name)) for name in asked]
    told = (found.codes + shift[list(found.variables)])[:, places]
    books = [key_table.coded.codebook[name] for name in asked]
    rows = sorted(
        (
            (tuple(book.words[code] for book, code in zip(books, line, strict=True)), float(chance))
            for line, chance in zip(told.tolist(), found.probabilities, strict=True)
        ),
        key=lambda row: -row[1],
    )
    made = replace(
        risk.provenance,
        method="inference of values",
        parameters={**risk.provenance.parameters, "asked": ", ".join(asked)},
        seconds=time.perf_counter() - started,
    )
    return Inference(
        asked,
        dict(known),
        tuple(rows),
        float(found.known_probability),
        made,
        risk.fractions is not None,
    )


def check_question(
    key_table: KeyTable, known: Mapping[str, str], ask: Sequence[str]
) -> dict[int, int]:
    """Return the codes of known values by the number of their variable, or refuse the question.

    It needs no models, so that nobody waits for these to be told of a slip.
    """
    keys, codes_of_file = key_table.keys, key_table.listed.codes()
    problems: list[Problem] = []
    if not ask:
        problems.append(Problem(Reason.NOTHING_GIVEN, "variables", "none is asked for."))
    for name in (*known, *ask):
        if name not in keys:
            where = f"variable {quoted([name])}"
            hint = did_you_mean(name, keys)
            problems.append(Problem(Reason.UNKNOWN_NAME, where, "is no key variable.", hint))
    twice = sorted({name for name in ask if list(ask).count(name) > 1})
    if twice:
        problems.append(
            Problem(Reason.DUPLICATE, f"variables {quoted(twice)}", "are asked for twice.")
        )
    both = sorted(set(known) & set(ask))
    if both:
        problems.append(
            Problem(Reason.DUPLICATE, f"variables {quoted(both)}", "are known and asked for.")
        )
    codes: dict[int, int] = {}
    for name, word in known.items():
        if name not in keys:
            continue
        book = key_table.coded.codebook[name]
        # Code 0 is the missing cell, which is a category only where there are some.
        least = int((codes_of_file[:, keys.index(name)] > 0).all())
        matches = [code for code, own in enumerate(book.words) if own == word and code >= least]
        matches += [code for code, own in enumerate(book.values) if code and own == word]
        if matches:
            codes[keys.index(name)] = matches[0]
        else:
            # What was asked is the user's own; what the file has is not named.
            where = f"value {quoted([word])} of {quoted([name])}"
            problems.append(Problem(Reason.UNKNOWN_NAME, where, "is not in the file."))
    refuse(
        problems,
        "Values of a person were to be inferred.",
        f"{there_are(len(problems), 'problem')}.",
    )
    return codes
