"""The risk of a file with sample uniques in lines, and in a few sentences for a director.

No value of the file is in them.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction

import numpy as np

from gamekeeper.algorithms.uniques.minimal_uniques import MinimalUniques
from gamekeeper.attack.contributions import NO_MSU, Contribution, SizeContribution
from gamekeeper.attack.risk import NOT_UNIQUE, FileRisk, RiskLine, count_line
from gamekeeper.attack.uniques.records import MEASURE_NAMES, PROBABILITIES, UniqueFacts, names_of
from gamekeeper.data.coding.codebook import CodedVariable
from gamekeeper.wording import be, count_of, digits_text, joined, quoted, share_text, three_digits

_HEADLINE = ("records", "sample_uniques", "special_uniques", "msus", "dis")
_BLAMED, _NAMED_KEYS = 3, 12


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


def director_sentences(
    facts: UniqueFacts,
    file: FileRisk,
    lines: Sequence[Contribution],
    variables: Sequence[CodedVariable],
    kind: tuple[tuple[str, ...], int] | None,
) -> tuple[str, ...]:
    """Return the sentences.

    `lines` say what each variable contributes, the largest first; `kind` has the riskiest combination
    of variables and the number of records that are unique by it, None where it is not known.
    """
    caution = facts.table.caution
    sentences = [_uniques(facts), *([caution] if caution else []), _match(facts)]
    if facts.n_uniques:
        sentences += [_classes(facts, file), _special(facts, file)]
        if facts.file_is and len(facts.table.keys) > 1 and lines[0].is_score:
            sentences += [_blamed(lines, facts.file_is), *_kind(kind)]
            sentences.append(_advice(lines, variables, facts.file_is))
    elif caution:
        sentences.append("All scores are 0.")
    else:
        sentences.append("All scores are 0, and nothing needs to be coarsened for this key.")
    sentences.append(_methods(facts))
    return tuple(sentences)


def riskiest_kind(
    found: MinimalUniques, variables: Sequence[CodedVariable], is_weights: Sequence[int]
) -> tuple[tuple[str, ...], int] | None:
    """Return the variables whose MSUs have the largest sum of IS, and how many records have one.

    Of equals the one with fewer variables; None where MSUs are not listed or there are none.
    """
    if found.masks is None or not len(found.masks):
        return None
    masks, counts = np.unique(found.masks, return_counts=True)
    kinds = [
        (is_weights[mask.bit_count()] * count, -mask.bit_count(), -mask, count)
        for mask, count in zip(masks.tolist(), counts.tolist(), strict=True)
    ]
    _, _, mask, count = max(kinds)
    return names_of(variables, -mask), count


def _uniques(facts: UniqueFacts) -> str:
    table, keys = facts.table, facts.table.keys
    named = joined(keys) if len(keys) <= _NAMED_KEYS else quoted(keys, most=_NAMED_KEYS)
    are = be(facts.n_uniques)
    plural = "" if len(keys) == 1 else "s"
    left_out = (
        f" Left out for missing values: {count_of(table.n_excluded, 'record')}."
        if table.n_excluded
        else ""
    )
    share = Fraction(facts.n_uniques, table.n_records) if table.n_records else Fraction(0)
    return (
        f"Of {count_of(table.n_records, 'record')}, {facts.n_uniques:,} ({share_text(share)}) {are}"
        f" unique in the file on the key variable{plural} {named}.{left_out}"
    )


def _match(facts: UniqueFacts) -> str:
    general = facts.general
    if general.dis is None:
        return f"What an intruder's match is worth is not known: {general.why_none}."
    return (
        "An intruder who finds a record that matches just one record of the file would be right"
        f" with an estimated probability of {three_digits(general.dis)} (DIS, general method, sampling"
        f" fraction {general.fraction_text}, no errors in the data)."
    )


def _classes(facts: UniqueFacts, file: FileRisk) -> str:
    measure = facts.rank_by if facts.rank_by in PROBABILITIES else "dis_is"
    if facts.scores.columns[measure] is None:
        reason = facts.scores.missing[measure]
        return f"What a match of a single record is worth is not known: {reason}."
    counted = [(name, file[f"class {name}"]) for name in facts.classes.names]
    parts = [f"{number:,} {quoted([name])}" for name, number in counted if number is not None]
    classes = f" Uniques by risk class: {joined(parts)}." if parts else ""
    hidden = int(np.count_nonzero(facts.smallest == NO_MSU))
    if hidden:
        classes += f" Not among these, since only larger combinations set them apart: {hidden:,}."
    return (
        f"{MEASURE_NAMES[measure].partition(' (')[0]} says which uniques to look at first, and not how many would be"
        f" matched rightly: models estimate that (gamekeeper risk infer).{classes}"
    )


def _special(facts: UniqueFacts, file: FileRisk) -> str:
    special = file["special_uniques"] or 0
    needed = [
        f"{count_of(line.size, 'variable')} for {line.smallest_of:,}"
        for line in facts.sizes
        if line.smallest_of
    ]
    told = f" It takes {joined(needed)} of them." if needed else ""
    return (
        f"{special:,} of the {count_of(facts.n_uniques, 'unique')} are special: fewer than all key"
        f" variables set them apart.{told}"
    )


def _blamed(lines: Sequence[Contribution], file_is: int) -> str:
    parts = [
        f"{line.variable} ({share_text(Fraction(line.is_score, file_is))})"
        for line in lines[:_BLAMED]
        if line.is_score
    ]
    verb = "contributes" if len(parts) == 1 else "contribute"
    return (
        f"{joined(parts)} {verb} most to the scores (share of IS; a combination counts for each of"
        " its variables, so that all shares can sum to more than 100%)."
    )


def _kind(kind: tuple[tuple[str, ...], int] | None) -> list[str]:
    if kind is None:
        return []
    names, count = kind
    how = f"{names[0]} alone" if len(names) == 1 else f"the combination of {joined(names)}"
    are = be(count)
    return [
        (
            f"What sets records apart most, weighed by IS, is {how}: {count_of(count, 'record')} {are}"
            " told apart by it, and by no part of it."
        )
    ]


def _advice(lines: Sequence[Contribution], variables: Sequence[CodedVariable], file_is: int) -> str:
    categories = {variable.name: variable.n_codes - 1 for variable in variables}
    # Two categories have nothing coarser than the variable's removal.
    first = next((line for line in lines if line.is_score and categories[line.variable] > 2), None)
    if first is None:
        return (
            f"To consider: leave {lines[0].variable} out, since no variable has more than two"
            " categories to join."
        )
    share = share_text(Fraction(first.is_score, file_is))
    return (
        f"To consider: coarsen {first.variable} first, which has"
        f" {count_of(categories[first.variable], 'category', 'categories')} and a part in {share} of"
        " the scores; then assess again."
    )


def _methods(facts: UniqueFacts) -> str:
    known = [
        MEASURE_NAMES[name] for name, values in facts.scores.columns.items() if values is not None
    ]
    ranked = MEASURE_NAMES[facts.rank_by]
    if facts.rank_by != facts.asked_rank:
        ranked += f", since {facts.asked_rank} is not known"
    searched = ""
    if facts.max_size < len(facts.table.keys):
        searched = f"; combinations of up to {count_of(facts.max_size, 'variable')} were searched"
    return (
        f"Methods: {', '.join(known)}; records are ranked by {ranked}; {facts.table.missing.words}"
        f"{searched}."
    )
