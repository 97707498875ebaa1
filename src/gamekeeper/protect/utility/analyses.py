"""Analyses that a steward lists, done before and after: how much of their intervals is common.

They are written as people say them::

    income ~ age + region      a regression (least squares); coded variables count by category
    mean of income             a mean; with "by region" one for each category
    share of job by region     the share of each category; without "by" in the whole file

Numbers are numeric columns, or coded variables all of whose values are numbers. A suppressed cell is a
category of its own in shares, and lost to regressions and means, as is a missing one.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import product

import numpy as np
from numpy.typing import NDArray

from gamekeeper.algorithms.utility.interval_overlap import signed_overlap
from gamekeeper.algorithms.utility.least_squares import least_squares
from gamekeeper.errors import Problem, Reason, refuse
from gamekeeper.protect.utility.aligned_codes import AlignedVariable
from gamekeeper.wording import count_of, did_you_mean, quoted

Floats = NDArray[np.float64]
HOW = (
    "Write 'OUTCOME ~ VARIABLE + VARIABLE', 'mean of NUMBER by VARIABLE' or 'share of VARIABLE by"
    " VARIABLE'; 'by' may be left out."
)
_MEAN_OR_SHARE = re.compile(r"(mean|share) of (.+?)(?: by (.+))?", re.IGNORECASE)
_MOST_COEFFICIENTS = 500


@dataclass(frozen=True, slots=True)
class Analysis:
    """A regression, means or shares."""

    text: str
    kind: str
    outcome: str
    by: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class AnalysisLine:
    """One estimate of an analysis before and after, with intervals of 95%.

    `overlap` is 1 for the same interval, 0 where they touch, negative where they are apart, and None
    where it is not known: the estimate is not there before or after.
    """

    analysis: str
    estimate: str
    before: tuple[float, float, float] | None
    after: tuple[float, float, float] | None
    overlap: float | None
    weighted: bool


@dataclass(frozen=True, slots=True, repr=False, eq=False)
class Side:
    """One of the two files, as analyses see it: numbers by name, codes by name, weights."""

    numbers: Mapping[str, Floats]
    codes: Mapping[str, NDArray[np.int64]]
    weights: Floats | None


def analysed_names(texts: Sequence[str]) -> tuple[str, ...]:
    """Return the names in analyses that can be read, without a look at any file.

    Examples
    --------
    >>> analysed_names(["income ~ age + sex", "mean of income by region", "what?"])
    ('income', 'age', 'sex', 'region')
    """
    read = [analysis for text in texts if (analysis := _parse(text)) is not None]
    return tuple(dict.fromkeys(name for each in read for name in (each.outcome, *each.by)))


def parse_analyses(
    texts: Sequence[str], numbers: Sequence[str], coded: Sequence[str]
) -> list[Analysis]:
    """Read analyses as people write them, or raise one error for all that cannot be done.

    Examples
    --------
    >>> [found.by for found in parse_analyses(["income ~ age + sex"], ["income"], ["age", "sex"])]
    [('age', 'sex')]
    """
    found: list[Analysis] = []
    problems: list[Problem] = []
    for text in texts:
        where = f"analysis {quoted([text])}"
        analysis = _parse(text)
        if analysis is None:
            problems.append(Problem(Reason.MALFORMED, where, "It cannot be read.", HOW))
            continue
        wants_number = analysis.kind != "share"
        named = [(analysis.outcome, numbers if wants_number else coded)]
        both = list(dict.fromkeys((*numbers, *coded)))
        named += [(name, both if analysis.kind == "regression" else coded) for name in analysis.by]
        for name, known in named:
            if name not in known:
                kind = (
                    "a variable" if known is both else "a number" if known is numbers else "coded"
                )
                near = did_you_mean(name, list(known))
                problems.append(
                    Problem(Reason.UNKNOWN_NAME, where, f"{quoted([name])} is not {kind} of both"
                            " files.", near)
                )  # fmt: skip
        found.append(analysis)
    refuse(
        problems,
        f"{count_of(len(texts), 'analysis was', 'analyses were')} to be done before and after.",
        f"{count_of(len(problems), 'fault was', 'faults were')} found in what is asked.",
    )
    return found


def compare_analyses(
    analyses: Sequence[Analysis],
    before: Side,
    after: Side,
    variables: Mapping[str, AlignedVariable],
) -> list[AnalysisLine]:
    """Do every analysis on both files and compare what comes out, and again by weight if there is one."""
    sides = (before, after)
    plain = tuple(replace(side, weights=None) for side in sides)
    ways = [(plain, False)] if before.weights is None else [(plain, False), (sides, True)]
    lines: list[AnalysisLine] = []
    for (own, weighted), analysis in product(ways, analyses):
        one, other = (_estimates(analysis, side, variables) for side in own)
        for name in dict.fromkeys((*one, *other)):
            first, second = one.get(name), other.get(name)
            common = None
            if first is not None and second is not None:
                common = signed_overlap(first[1:], second[1:])
            lines.append(
                AnalysisLine(
                    analysis.text,
                    name,
                    first,
                    second,
                    None if common is None else float(common),
                    weighted,
                )
            )
    return lines


def _parse(text: str) -> Analysis | None:
    shown = " ".join(text.split())
    if "~" in shown:
        outcome, _, rest = shown.partition("~")
        by = tuple(name.strip() for name in rest.split("+"))
        if outcome.strip() and all(by) and len(set(by)) == len(by):
            return Analysis(shown, "regression", outcome.strip(), by)
        return None
    met = _MEAN_OR_SHARE.fullmatch(shown)
    if met is None:
        return None
    by = (met[3].strip(),) if met[3] else ()
    return Analysis(shown, met[1].lower(), met[2].strip(), by)


Estimate = tuple[float, float, float]


def _estimates(
    analysis: Analysis, side: Side, variables: Mapping[str, AlignedVariable]
) -> dict[str, Estimate]:
    if analysis.kind == "regression":
        return _regression(analysis, side, variables)
    by = analysis.by[0] if analysis.by else ""
    made: dict[str, Estimate] = {}
    for name, chosen in _parts(by, side, variables):
        weights = None if side.weights is None else side.weights[chosen]
        ones = np.ones((int(chosen.sum()), 1))
        if analysis.kind == "mean":
            outcome = side.numbers[analysis.outcome][chosen]
            there = np.isfinite(outcome)
            found = _fit(ones[there], outcome[there], None if weights is None else weights[there])
            if found:
                made[name or "all"] = found[0]
            continue
        variable = variables[analysis.outcome]
        own = side.codes[analysis.outcome][chosen]
        for code in np.unique(own).tolist():
            found = _fit(ones, (own == code).astype(np.float64), weights)
            if found:
                word = variable.words[code]
                made[f"{word} in {name}" if name else word] = found[0]
    return made


def _parts(
    by: str, side: Side, variables: Mapping[str, AlignedVariable]
) -> list[tuple[str, NDArray[np.bool_]]]:
    if not by:
        n_records = len(next(iter((*side.codes.values(), *side.numbers.values()))))
        return [("", np.ones(n_records, np.bool_))]
    codes = side.codes[by]
    return [(variables[by].words[code], codes == code) for code in np.unique(codes).tolist()]


def _regression(
    analysis: Analysis, side: Side, variables: Mapping[str, AlignedVariable]
) -> dict[str, Estimate]:
    outcome = side.numbers[analysis.outcome]
    there = np.isfinite(outcome)
    for name in analysis.by:
        if name in side.codes:
            codes = side.codes[name]
            # Missing or suppressed: lost to a regression.
            there = there & (codes != 0) & (codes != variables[name].suppressed)
        else:
            there = there & np.isfinite(side.numbers[name])
    columns, names = [np.ones(int(there.sum()))], ["intercept"]
    for name in analysis.by:
        if name not in side.codes:
            columns.append(side.numbers[name][there])
            names.append(name)
            continue
        variable, codes = variables[name], side.codes[name][there]
        # The same category is left out before and after: the first that has a word.
        used = [code for code in range(2, len(variable.words) - 1) if (codes == code).any()]
        columns += [(codes == code).astype(np.float64) for code in used]
        names += [f"{name}: {variable.words[code]}" for code in used]
    if len(columns) > _MOST_COEFFICIENTS:
        return {}
    weights = None if side.weights is None else side.weights[there]
    found = _fit(np.stack(columns, axis=1), outcome[there], weights)
    return dict(zip(names, found, strict=True)) if found else {}


def _fit(design: Floats, outcome: Floats, weights: Floats | None) -> list[Estimate]:
    fit = least_squares(design, outcome, weights)
    if fit is None:
        return []
    return [
        (float(b), float(low), float(high))
        for b, low, high in zip(fit.coefficients, fit.low, fit.high, strict=True)
    ]
