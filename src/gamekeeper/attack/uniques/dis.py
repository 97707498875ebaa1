"""Data intrusion simulation (DIS): what a unique match of an intruder is worth, for a whole file.

The general method needs the numbers of sample uniques and of records in pairs, and the sampling
fraction. The special method removes records, copies some back and matches them; with the original
of a perturbed release it says what the perturbation achieves. Elliot and Manning 2003.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from gamekeeper.algorithms.classes import class_numbers
from gamekeeper.algorithms.uniques.dis import (
    DisSimulation,
    DisStep,
    dis,
    diverged_dis,
    simulate_dis,
    special_dis,
    stratified_dis,
)
from gamekeeper.arrow import pa
from gamekeeper.attack.options import DisMethod, DisOptions
from gamekeeper.attack.risk import FileRisk, RiskLine, count_line, keyed_provenance
from gamekeeper.data.coding.coded_table import aligned
from gamekeeper.data.keys.key_table import KeyTable
from gamekeeper.errors import InputError, Problem, Reason
from gamekeeper.options import takes
from gamekeeper.prompt_syntax import FractionLike, Missing, parse_fraction
from gamekeeper.results import Provenance, Result
from gamekeeper.wording import count_of, digits_text, fraction_text, quoted, three_digits

if TYPE_CHECKING:
    from matplotlib.figure import Figure

NO_FRACTION = "no sampling fraction was given"
# Beyond some hundreds the exact formula has numbers of very many digits.
_MOST_REMOVED_EXACTLY = 200
_UNDEFINED = "there is neither a sample unique nor a record in a pair that could be matched"


class GeneralDis(NamedTuple):
    """DIS by the general method, the fraction exactly and in words, and why there is none."""

    dis: Fraction | None
    fraction: str
    fraction_text: str
    why_none: str


@dataclass(frozen=True, repr=False)
class DisRisk(Result):
    """DIS of a file: the estimated probability that a unique match is correct.

    - `value`: the estimate: exact for the general method; None where no unique match is possible.
    - `standard_error`, `converged`, `steps`: of the simulation, after so many rounds; none for the
      general method, which has no randomness of its own.
    - `expected`: what the simulation tends to, where a formula says so.
    """

    tells_of_records = False

    method: DisMethod
    value: Fraction | float | None
    standard_error: float | None
    converged: bool | None
    steps: tuple[DisStep, ...]
    expected: Fraction | None
    file: FileRisk
    told: tuple[str, ...]
    provenance: Provenance

    def summary(self) -> dict[str, Any]:
        """Return the headline numbers."""
        return {"method": self.method.value, **self.file.summary()}

    def to_arrow(self) -> pa.Table:
        """Return one row per measure."""
        return self.file.to_arrow()

    def sentences(self) -> list[str]:
        """Return what was found in a few sentences, without any value of the file."""
        return list(self.told)

    def plot(self) -> Figure:
        """Plot the running estimate of a simulation with two standard errors; needs no display."""
        from gamekeeper.attack.contributions import plot_convergence

        if not self.steps:
            raise InputError(
                Reason.BAD_OPTION,
                "A plot of the convergence of DIS was asked for.",
                "The general method simulates nothing.",
                "Use method='special' (--method special).",
            )
        return plot_convergence(self.steps, self.expected)


def general_risk(key_table: KeyTable, general: GeneralDis, started: float) -> DisRisk:
    """Return what the general method found, in numbers and words."""
    value = general.dis
    line = RiskLine(
        "dis",
        value,
        f"DIS is not defined: {general.why_none}."
        if value is None
        else f"DIS, the estimated probability that a unique match is correct: {three_digits(value)}.",
    )
    seconds, parameters = time.perf_counter() - started, {"fraction": general.fraction}
    provenance = keyed_provenance("DIS", "general method", key_table, parameters, seconds=seconds)
    headline = ("records", "sample_uniques", "paired_records", "dis")
    file = FileRisk((*_count_lines(key_table), line), headline, provenance)
    worth = _worth(value, f"general method, {_sampled(general)}")
    told = (*_count_sentences(key_table), worth)
    return DisRisk(DisMethod.GENERAL, value, None, None, (), None, file, told, provenance)


def special_risk(
    key_table: KeyTable,
    general: GeneralDis,
    found: DisSimulation,
    expected: Fraction | None,
    original: KeyTable | None,
    started: float,
) -> DisRisk:
    """Return what a simulation found, in numbers and words."""
    against = "" if original is None else ", attacked with the originals"
    parameters = {
        "fraction": general.fraction,
        "removed": str(found.removed),
        "rounds": str(found.rounds),
        "tolerance": str(found.tolerance),
        "original": "none" if original is None else original.coded.fingerprint,
    }
    provenance = keyed_provenance(
        "DIS",
        "special method",
        key_table,
        parameters,
        seed=found.seed,
        seconds=time.perf_counter() - started,
    )
    lines = (*_count_lines(key_table), *_simulation_lines(found, expected, against))
    headline = ("records", "dis", "standard_error", "rounds", "converged")
    file = FileRisk(lines, headline, provenance)
    how = f"special method{against}, {_sampled(general)}"
    told = [*_count_sentences(key_table), _worth(found.estimate, how)]
    if found.standard_error is not None:
        ended = "settled" if found.converged else "did not settle; give more rounds"
        told.append(
            f"The simulation has a standard error of {digits_text(found.standard_error, 2)} after"
            f" {count_of(found.rounds, 'round')} and {ended}."
        )
    if original is not None and found.estimate is not None and general.dis is not None:
        told.append(
            "Without regard to the perturbation, the general method would say"
            f" {three_digits(general.dis)}."
        )
    return DisRisk(
        DisMethod.SPECIAL,
        found.estimate,
        found.standard_error,
        found.converged,
        found.steps,
        expected,
        file,
        tuple(told),
        provenance,
    )


def _simulation_lines(
    found: DisSimulation, expected: Fraction | None, against: str
) -> list[RiskLine]:
    none = "No round had a unique match, so that there is no estimate."
    error, mean = found.standard_error, found.mean_of_ratios
    lines = [
        RiskLine(
            "dis",
            found.estimate,
            none
            if found.estimate is None
            else f"DIS by simulation{against}, the estimated probability that a unique match is"
            f" correct: {three_digits(found.estimate)}.",
        ),
        RiskLine(
            "standard_error",
            error,
            none
            if error is None
            else f"Standard error of the simulation: {digits_text(error, 2)}.",
        ),
        count_line("rounds", found.rounds, "Rounds simulated"),
        count_line("removed", found.removed, "Records removed in a round"),
        count_line("unique_matches", found.n_unique, "Unique matches"),
        count_line("correct_matches", found.n_correct, "Correct ones"),
        RiskLine(
            "mean_of_ratios",
            mean,
            none
            if mean is None
            else f"Mean over rounds with a unique match: {three_digits(mean)}.",
        ),
        RiskLine(
            "converged",
            int(found.converged),
            f"The standard error is {'' if found.converged else 'not '}within the tolerance of"
            f" {digits_text(found.tolerance)}.",
        ),
    ]
    if expected is not None:
        meaning = f"What the simulation tends to, by formula: {three_digits(expected)}."
        lines.append(RiskLine("expected", expected, meaning))
    return lines


def _count_lines(key_table: KeyTable) -> list[RiskLine]:
    n_records = key_table.n_records
    return [
        count_line("records", n_records, "Records counted"),
        count_line("sample_uniques", key_table.n_uniques, "Sample uniques", of=n_records),
        count_line("paired_records", key_table.n_paired, "Records in classes of two", of=n_records),
    ]


def _count_sentences(key_table: KeyTable) -> list[str]:
    counted = (
        f"Of {count_of(key_table.n_records, 'record')}, {key_table.n_uniques:,} are unique on"
        f" {count_of(len(key_table.keys), 'key variable')} and {key_table.n_paired:,} are in pairs;"
        f" {key_table.missing.words}."
    )
    return [counted, key_table.caution] if key_table.caution else [counted]


def _worth(value: Fraction | float | None, how: str) -> str:
    if value is None:
        return f"DIS is not defined ({how}): no unique match is possible."
    return (
        "An intruder who finds a record that matches just one record of the file would be right"
        f" with an estimated probability of {three_digits(value)} (DIS, {how})."
    )


def _sampled(general: GeneralDis) -> str:
    return f"sampling fraction {general.fraction_text}"


def general_dis(key_table: KeyTable, fraction: FractionLike | None = None) -> GeneralDis:
    """Return DIS by the general method, or why there is none.

    `fraction` is the sampling fraction, if another than that of the key table.

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
