"""Codes of a file before and after that mean the same, and analyses by which both are compared.

A variable that was recoded is compared as it is released: its categories of before are made as
coarse. A suppressed cell is a category of its own in the file after; without a log of changes it
cannot be told from a missing one, and counts as that. Of analyses that a steward lists, done before
and after, it is told how much of their intervals is common. They are written as people say them::

    income ~ age + region      a regression (least squares); coded variables count by category
    mean of income             a mean; with "by region" one for each category
    share of job by region     the share of each category; without "by" in the whole file

Numbers are numeric columns, or coded variables all of whose values are numbers. A suppressed cell
is a category of its own in shares, and lost to regressions and means, as is a missing one.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import product

import numpy as np
from numpy.typing import NDArray

from gamekeeper.algorithms.statistics import least_squares
from gamekeeper.algorithms.utility import signed_overlap
from gamekeeper.data.coding.codebook import MISSING, CodedVariable
from gamekeeper.data.coding.coded_table import CodedTable
from gamekeeper.errors import Problem, Reason, refuse
from gamekeeper.protection.step import ChangeLog
from gamekeeper.wording import count_of, did_you_mean, quoted

Codes = NDArray[np.int64]
_TABLES_HOLD = 100
_RECORDS_A_VALUE = 5


@dataclass(frozen=True, slots=True, repr=False, eq=False)
class AlignedVariable:
    """One variable before and after, in codes that mean the same (`words`) in both.

    `original` has the codes of before as the file had them; `suppressed` is the code of a
    suppressed cell, which none has where nothing was suppressed.
    """

    name: str
    original: Codes
    before: Codes
    after: Codes
    words: tuple[str, ...]
    suppressed: int


def align(
    before: CodedTable, after: CodedTable, name: str, log: ChangeLog | None
) -> AlignedVariable:
    """Bring a variable of two files to the same codes.

    Examples
    --------
    >>> from gamekeeper.data.coding.coded_table import coded_from_codes
    >>> first = coded_from_codes([[1], [2]], ["sex"], [("missing", "f", "m")])
    >>> second = coded_from_codes([[0], [1]], ["sex"], [("missing", "m")])
    >>> both = align(first, second, "sex", None)
    >>> both.before.tolist(), both.after.tolist()
    ([1, 2], [0, 2])
    """
    original = before.codes(name).astype(np.int64)
    change = None if log is None else log.variables.get(name)
    old = before.codebook[name]
    codes, words = original, old.words
    if change is not None and change.recode is not None:
        codes, words = change.recode.codes[original], change.recode.words
    new = after.codebook[change.recode.new_name if change and change.recode else name]
    place = {word: code for code, word in enumerate(words)}
    named = list(words)
    turned = np.empty(new.n_codes, np.int64)
    for code, word in enumerate(new.words):
        if code == MISSING:
            turned[code] = MISSING
            continue
        if word not in place:
            place[word] = len(named)
            named.append(word)
        turned[code] = place[word]
    released = turned[after.codes(new.name)]
    star = len(named)
    if log is not None:
        # What was missing before may look suppressed now: nothing is lost by that.
        released = np.where(log.suppressed(name) & log.changed(name), star, released)
    return AlignedVariable(name, original, codes, released, (*named, "suppressed"), star)


def common_variables(before: CodedTable, after: CodedTable, log: ChangeLog | None) -> list[str]:
    """Return the variables that both files have, by their names of before."""
    changes = {} if log is None else log.variables
    found: list[str] = []
    for variable in before.codebook:
        change = changes.get(variable.name)
        name = variable.name
        if change is not None and change.recode is not None:
            name = change.recode.new_name
        if name in after.codebook:
            found.append(variable.name)
    return found


def is_sprawling(variable: CodedVariable, n_records: int) -> bool:
    """Tell whether a variable has too many values for tables: as identifiers and amounts of money have.

    Examples
    --------
    >>> is_sprawling(CodedVariable.of_values("id", map(str, range(500))), 800)
    True
    >>> is_sprawling(CodedVariable.of_values("age", map(str, range(100))), 200)
    False
    """
    return variable.n_codes - 1 > max(_TABLES_HOLD, n_records / _RECORDS_A_VALUE)


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

    `overlap` is 1 for the same interval, 0 where they touch, negative where they are apart, and
    None where the estimate is not there before or after.
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
    asked = f"{count_of(len(texts), 'analysis was', 'analyses were')} to be done before and after."
    fault = f"{count_of(len(problems), 'fault was', 'faults were')} found in what is asked."
    refuse(problems, asked, fault)
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
