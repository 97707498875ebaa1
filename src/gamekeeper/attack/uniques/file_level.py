"""The risk of a file with sample uniques, line by line, each with a sentence."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction

import numpy as np

from gamekeeper.attack.contribution_risk import SizeContribution
from gamekeeper.attack.risk import RiskLine, count_line
from gamekeeper.attack.risk_classes import NOT_UNIQUE
from gamekeeper.attack.uniques.contributions import NO_MSU
from gamekeeper.attack.uniques.facts import UniqueFacts
from gamekeeper.attack.uniques.scoring import MEASURE_NAMES
from gamekeeper.wording import count_of, digits_text, quoted, three_digits

_HEADLINE = ("records", "sample_uniques", "special_uniques", "msus", "dis")


def headline(facts: UniqueFacts) -> tuple[str, ...]:
    """Return the names of the lines that a summary shows."""
    return (*_HEADLINE, *(["uniques_as_released"] if facts.table.caution else []))


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
    table, n = facts.table, facts.table.n_records
    keys = count_of(len(table.keys), "key variable")
    alone = f"Records that share their values on the {keys} with no other"
    paired = "Records that share these values with just one other"
    lines = [
        count_line("records", n, "Records counted"),
        count_line("records_excluded", table.n_excluded, "Records left out for missing values"),
        count_line("sample_uniques", facts.n_uniques, alone, of=n),
        count_line("paired_records", table.n_paired, paired, of=n),
    ]
    if table.caution:
        words = "Records that are like no other as they are released, missing cells and all"
        line = count_line("uniques_as_released", table.n_unlike, words, of=n)
        caution = (
            " Where a missing cell matches something, fewer seem to be unique, which does not prove"
            " that the others cannot be found."
        )
        lines.append(replace(line, meaning=line.meaning + caution))
    return lines


def _special_lines(facts: UniqueFacts) -> list[RiskLine]:
    n_keys = len(facts.table.keys)
    found = facts.smallest != NO_MSU
    n_special = int(np.count_nonzero(found & (facts.smallest < n_keys)))
    keys = count_of(n_keys, "key variable")
    words = f"Special uniques, which are unique by fewer than all of {keys}"
    special = count_line("special_uniques", n_special, words, of=facts.table.n_records)
    if facts.max_size >= n_keys:
        return [special]
    hidden = int(np.count_nonzero(~found))
    if hidden and facts.max_size < n_keys - 1:
        more = " There may be more, since larger combinations were not searched."
        special = replace(special, meaning=special.meaning + more)
    words = (
        f"Sample uniques by no combination of up to {count_of(facts.max_size, 'variable')}, so that"
        " their scores are 0 and their probabilities not known"
    )
    return [special, count_line("uniques_without_msu", hidden, words, of=facts.table.n_records)]


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
        upper = f", below {digits_text(classes.lower[number - 1])}" if number else ""
        words = f"Sample uniques in the class {quoted([name])}, with {measure} from {digits_text(lower)}{upper}"
        lines.append(count_line(f"class {name}", inside, words, of=facts.table.n_records))
    n, words = facts.table.n_records, "Records that are not unique"
    return [*lines, count_line(f"class {NOT_UNIQUE}", n - facts.n_uniques, words, of=n)]


def _dis_line(facts: UniqueFacts) -> RiskLine:
    if facts.general.dis is None:
        return RiskLine("dis", None, f"DIS is not known: {facts.general.why_none}.")
    return RiskLine(
        "dis",
        facts.general.dis,
        "DIS (general method), the estimated probability that an intruder's unique match is"
        f" correct: {three_digits(facts.general.dis)}.",
    )


def _score_lines(facts: UniqueFacts) -> list[RiskLine]:
    """Return the scores of the file; the sums are exact."""
    whole = math.factorial(len(facts.table.keys)) * facts.n_uniques
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
    lines = [count_line("msus", total, "Minimal sample uniques (MSUs)")]
    for line in sizes:
        variables = count_of(line.size, "variable")
        meaning = (
            f"MSUs of {variables}: {line.msus:,}; they are the smallest of"
            f" {count_of(line.smallest_of, 'sample unique')}."
        )
        lines.append(RiskLine(f"msus of size {line.size}", line.msus, meaning))
    return lines
