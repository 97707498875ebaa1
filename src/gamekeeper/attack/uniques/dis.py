"""Data intrusion simulation (DIS): what a unique match of an intruder is worth, for a whole file.

The general method needs the numbers of sample uniques and of records in pairs, and the sampling
fraction. The special method removes records, copies some back and matches them; with the original
of a perturbed release it says what the perturbation achieves. Elliot and Manning 2003.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

import numpy as np

from gamekeeper.algorithms.class_numbers import class_numbers
from gamekeeper.algorithms.intrusion.dis import (
    dis,
    diverged_dis,
    stratified_dis,
)
from gamekeeper.algorithms.intrusion.dis_simulation import simulate_dis
from gamekeeper.algorithms.intrusion.dis_special import special_dis
from gamekeeper.algorithms.sampling_fraction import FractionLike, parse_fraction
from gamekeeper.attack.uniques.dis_result import DisRisk, GeneralDis, general_risk, special_risk
from gamekeeper.attack.uniques.options import DisMethod, DisOptions
from gamekeeper.data.coding.alignment import aligned
from gamekeeper.data.keys.key_table import KeyTable
from gamekeeper.data.keys.missing import Missing
from gamekeeper.errors import InputError, Problem, Reason
from gamekeeper.options import takes
from gamekeeper.wording import count_of, fraction_text, quoted

if TYPE_CHECKING:
    from numpy.typing import NDArray

NO_FRACTION = "no sampling fraction was given"
# Beyond some hundreds the exact formula has numbers of very many digits.
_MOST_REMOVED_EXACTLY = 200
_UNDEFINED = "there is neither a sample unique nor a record in a pair that could be matched"


def general_dis(key_table: KeyTable, fraction: FractionLike | None = None) -> GeneralDis:
    """Return DIS by the general method, or why there is none.

    `fraction` is the sampling fraction, if another than that of the key table.

    Examples
    --------
    >>> from gamekeeper.data.coding.coded_table import coded_from_codes
    >>> from gamekeeper.data.keys.counting import count_keys
    >>> keys = count_keys(coded_from_codes([[1], [2], [2]], ["Age"]), ["Age"])
    >>> general_dis(keys, "1/10")
    GeneralDis(dis=Fraction(1, 19), fraction='1/10', fraction_text='10%', why_none='')
    """
    if fraction is None and key_table.fractions is not None:
        value = stratified_dis(
            (sizes.get(1, 0), sizes.get(2, 0), float(key_table.fractions[stratum]))
            for stratum, sizes in key_table.sizes_by_stratum().items()
        )
        exact = f"by stratum, {count_of(len(key_table.fractions), 'stratum', 'strata')}"
        text = exact
    else:
        known = key_table.fraction if fraction is None else parse_fraction(fraction)
        if known is None:
            return GeneralDis(None, "", "", NO_FRACTION)
        value = dis(key_table.n_uniques, key_table.n_paired, known)
        exact, text = str(known), fraction_text(known)
    return GeneralDis(value, exact, text, _UNDEFINED if value is None else "")


@takes(DisOptions)
def assess_dis(key_table: KeyTable, asked: DisOptions) -> DisRisk:
    """Estimate the probability that an intruder's unique match is correct.

    Rounds, tolerance, seed and what a round removes are of the special method.

    Examples
    --------
    >>> from gamekeeper.data.coding.coded_table import coded_from_codes
    >>> from gamekeeper.data.keys.counting import count_keys
    >>> keys = count_keys(coded_from_codes([[1], [2], [2]], ["Age"]), ["Age"])
    >>> assess_dis(keys, fraction="1/10").value
    Fraction(1, 19)
    """
    started = time.perf_counter()
    method, original, fraction = DisMethod(asked.method), asked.original, asked.fraction
    _check(key_table, method, original)
    general = general_dis(key_table, fraction)
    if general.why_none == NO_FRACTION:
        raise InputError(
            Reason.NOTHING_GIVEN,
            "DIS was asked for.",
            "No sampling fraction is known.",
            "Give the fraction of the population that is in the file (--fraction), such as '1/50' or"
            " '2%'.",
        )
    if method is DisMethod.GENERAL:
        return general_risk(key_table, general, started)
    released, originals = _classes(key_table, original)
    by_record = fraction is None and key_table.fractions is not None
    shares = key_table.record_fractions()[key_table.records] if by_record else None
    known = key_table.fraction if fraction is None else parse_fraction(fraction)
    given = known if shares is None else shares
    assert given is not None
    found = simulate_dis(
        released,
        given,
        original=originals,
        removed=asked.removed,
        rounds=asked.rounds,
        seed=asked.seed,
        tolerance=asked.tolerance,
        progress=asked.progress,
    )
    expected = None
    if known is not None and shares is None:
        if originals is None and asked.removed <= _MOST_REMOVED_EXACTLY:
            structure = {int(size): n for size, n in key_table.structure.items()}
            expected = special_dis(structure, known, asked.removed).ratio
        elif originals is not None and asked.removed == 1:
            expected = diverged_dis(released, originals, known)
    return special_risk(key_table, general, found, expected, original, started)


def _classes(
    key_table: KeyTable, original: KeyTable | None
) -> tuple[NDArray[np.int64], NDArray[np.int64] | None]:
    """Return the class of each counted record, and that of its original key."""
    if original is None:
        return key_table.class_numbers()[key_table.records], None
    keys = key_table.keys
    released, before = aligned(key_table.coded, original.coded, keys)
    rows = key_table.records
    found, originals = class_numbers(released.matrix(keys)[rows], before.matrix(keys)[rows])
    return found, originals


def _check(key_table: KeyTable, method: DisMethod, original: KeyTable | None) -> None:
    problems: list[Problem] = []
    if method is DisMethod.SPECIAL and key_table.missing in (Missing.IGNORE, Missing.WILDCARD):
        problems.append(
            Problem(
                Reason.BAD_OPTION,
                f"Missing values as {quoted([key_table.missing.value])}",
                "records then are in no classes that could be removed from.",
                "Count keys with missing as 'category' or 'exclude' (--missing), or use the general"
                " method (--method general).",
            )
        )
    if original is not None:
        problems += _original_problems(key_table, method, original)
    if problems:
        raise InputError(
            Reason.BAD_OPTION,
            "DIS was asked for.",
            "It cannot be estimated as asked.",
            problems=problems,
        )


def _original_problems(key_table: KeyTable, method: DisMethod, original: KeyTable) -> list[Problem]:
    where = "Original"
    if method is DisMethod.GENERAL:
        do = "Use method='special' (--method special)."
        return [Problem(Reason.BAD_OPTION, where, "the general method has no use for it.", do)]
    problems: list[Problem] = []
    if original.keys != key_table.keys:
        found = f"its key variables are {quoted(original.keys)}, not {quoted(key_table.keys)}."
        problems.append(
            Problem(Reason.BAD_OPTION, where, found, "Use the same, in the same order.")
        )
    if original.missing is not key_table.missing:
        found = f"missing values are read as {quoted([original.missing.value])} there and as"
        found += f" {quoted([key_table.missing.value])} in the release."
        problems.append(Problem(Reason.BAD_OPTION, where, found, "Use the same for both."))
    theirs, ours = original.coded.n_records, key_table.coded.n_records
    if theirs != ours:
        found = f"it has {count_of(theirs, 'record')}, and the release has {ours:,}."
        do = "Give the same records in the same order."
        problems.append(Problem(Reason.BAD_OPTION, where, found, do))
    elif not problems and not np.array_equal(original.records, key_table.records):
        found = "not the same records were left out for missing values as in the release."
        do = "Count keys with missing as 'category' (--missing)."
        problems.append(Problem(Reason.BAD_OPTION, where, found, do))
    return problems
