"""The risk of a file with sample uniques, line by line, each with a sentence."""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction

import numpy as np

from gamekeeper.attack.contribution_risk import SizeContribution
from gamekeeper.attack.risk import RiskLine
from gamekeeper.attack.risk_classes import NOT_UNIQUE
from gamekeeper.attack.uniques.contributions import NO_MSU
from gamekeeper.attack.uniques.facts import UniqueFacts
from gamekeeper.attack.uniques.scoring import MEASURE_NAMES
from gamekeeper.wording import count_of, quoted, three_digits

_HEADLINE = ("records", "sample_uniques", "special_uniques", "msus", "dis")


def headline(facts: UniqueFacts) -> tuple[str, ...]:
    """Return the names of the lines that a summary shows."""
    return (*_HEADLINE, *(["uniques_as_released"] if facts.caution else []))


def file_lines(facts: UniqueFacts) -> tuple[RiskLine, ...]:
    """Return the lines in the order of a report."""
    return (
        *_count_lines(facts),
        *_special_lines(facts),
        *_class_lines(facts),
        _dis_line(facts),
        *_score_lines(facts),
        *_size_lines(facts.sizes),
    )


def _count_lines(facts: UniqueFacts) -> list[RiskLine]:
    keys = count_of(len(facts.keys), "key variable")
    uniques, paired = facts.n_uniques, facts.n_paired
    return [
        RiskLine("records", facts.n_records, f"Records counted: {facts.n_records:,}."),
        RiskLine(
            "records_excluded",
            facts.n_excluded,
            f"Records left out for missing values: {facts.n_excluded:,}.",
        ),
        RiskLine(
            "sample_uniques",
            uniques,
            f"Records that share their values on the {keys} with no other: {uniques:,}.",
            _share(uniques, facts),
        ),
        RiskLine(
            "paired_records",
            paired,
            f"Records that share these values with just one other: {paired:,}.",
            _share(paired, facts),
        ),
        *([_released_line(facts)] if facts.caution else []),
    ]


def _released_line(facts: UniqueFacts) -> RiskLine:
    return RiskLine(
        "uniques_as_released",
        facts.n_unlike,
        "Records that are like no other as they are released, missing cells and all:"
        f" {facts.n_unlike:,}. Where a missing cell matches something, fewer seem to be unique, which"
        " does not prove that the others cannot be found.",
        _share(facts.n_unlike, facts),
    )


def _special_lines(facts: UniqueFacts) -> list[RiskLine]:
    n_keys = len(facts.keys)
    found = facts.smallest != NO_MSU
    special = int(np.count_nonzero(found & (facts.smallest < n_keys)))
    meaning = (
        f"Special uniques, which are unique by fewer than all of {count_of(n_keys, 'key variable')}:"
        f" {special:,}."
    )
    lines: list[RiskLine] = []
    if facts.max_size < n_keys:
        hidden = int(np.count_nonzero(~found))
        if hidden and facts.max_size < n_keys - 1:
            meaning += " There may be more, since larger combinations were not searched."
        limit = count_of(facts.max_size, "variable")
        lines = [
            RiskLine(
                "uniques_without_msu",
                hidden,
                f"Sample uniques by no combination of up to {limit}, so that their scores are 0 and"
                f" their probabilities not known: {hidden:,}.",
                _share(hidden, facts),
            )
        ]
    return [RiskLine("special_uniques", special, meaning, _share(special, facts)), *lines]


def _class_lines(facts: UniqueFacts) -> list[RiskLine]:
    """Return how many records are in each class of risk, the highest first."""
    classes = facts.classes
    measure = MEASURE_NAMES[classes.measure]
    reason = facts.scores.missing.get(classes.measure, "")
    lines: list[RiskLine] = []
    for number, (name, lower) in enumerate(zip(classes.names, classes.lower, strict=True)):
        if reason:
            meaning = f"The class {quoted([name])} is not known: {reason}."
            lines.append(RiskLine(f"class {name}", None, meaning))
            continue
        inside = int(np.count_nonzero(facts.class_numbers == number))
        upper = f", below {classes.lower[number - 1]:g}" if number else ""
        meaning = (
            f"Sample uniques in the class {quoted([name])}, with {measure} from {lower:g}{upper}:"
            f" {inside:,}."
        )
        lines.append(RiskLine(f"class {name}", inside, meaning, _share(inside, facts)))
    others = facts.n_records - facts.n_uniques
    meaning = f"Records that are not unique: {others:,}."
    return [*lines, RiskLine(f"class {NOT_UNIQUE}", others, meaning, _share(others, facts))]


def _dis_line(facts: UniqueFacts) -> RiskLine:
    if facts.dis is None:
        return RiskLine("dis", None, f"DIS is not known: {facts.why_no_dis}.")
    return RiskLine(
        "dis",
        facts.dis,
        "DIS (general method), the estimated probability that an intruder's unique match is"
        f" correct: {three_digits(facts.dis)}.",
    )


def _score_lines(facts: UniqueFacts) -> list[RiskLine]:
    """Return the scores of the file; the sums are exact."""
    whole = math.factorial(len(facts.keys)) * facts.n_uniques
    mean = Fraction(facts.file_is, whole) if whole else None
    lines = [
        RiskLine(
            "is",
            facts.file_is,
            f"Sum of the IS of all sample uniques: {facts.file_is:,}. It ranks, and is no probability.",
        ),
        RiskLine(
            "suda",
            facts.file_suda,
            f"Sum of the SUDA scores of all sample uniques: {facts.file_suda:,}."
            " It ranks, and is no probability.",
        ),
        RiskLine(
            "pol_mean",
            mean,
            "There is no sample unique, so that POL has no mean."
            if mean is None
            else f"Mean POL of a sample unique: {three_digits(mean)}, where 1 is the most."
            " It is a score and no probability.",
        ),
    ]
    if facts.scores.unallocated:
        lines.append(
            RiskLine(
                "dis_suda_unallocated",
                facts.scores.unallocated,
                "What DIS-SUDA could not divide, because every sample unique with a weight has 1"
                f" already: {three_digits(facts.scores.unallocated)}.",
            )
        )
    return lines


def _size_lines(sizes: Sequence[SizeContribution]) -> list[RiskLine]:
    total = sum(line.msus for line in sizes)
    lines = [RiskLine("msus", total, f"Minimal sample uniques (MSUs): {total:,}.")]
    for line in sizes:
        variables = count_of(line.size, "variable")
        meaning = (
            f"MSUs of {variables}: {line.msus:,}; they are the smallest of"
            f" {count_of(line.smallest_of, 'sample unique')}."
        )
        lines.append(RiskLine(f"msus of size {line.size}", line.msus, meaning))
    return lines


def _share(part: int, facts: UniqueFacts) -> Fraction | None:
    return Fraction(part, facts.n_records) if facts.n_records else None
