"""An assessment of sample uniques in a few sentences for a director; no value of the file is in it."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

import numpy as np

from gamekeeper.algorithms.uniques.minimal_uniques import MinimalUniques
from gamekeeper.attack.contribution_risk import Contribution
from gamekeeper.attack.risk import FileRisk
from gamekeeper.attack.uniques.contributions import NO_MSU
from gamekeeper.attack.uniques.explaining import names_of
from gamekeeper.attack.uniques.facts import UniqueFacts
from gamekeeper.attack.uniques.scoring import MEASURE_NAMES, PROBABILITIES
from gamekeeper.data.coding.codebook import CodedVariable
from gamekeeper.wording import be, count_of, joined, quoted, share_text, three_digits

_BLAMED = 3
_NAMED_KEYS = 12


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
        f"{_short_name(measure)} says which uniques to look at first, and not how many would be"
        f" matched rightly: models estimate that (gamekeeper risk infer).{classes}"
    )


def _short_name(measure: str) -> str:
    """Return a measure as the papers write it, without its variant."""
    return MEASURE_NAMES[measure].partition(" (")[0]


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
