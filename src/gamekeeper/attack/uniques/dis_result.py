"""DIS as a result: the estimate with its lines, sentences and provenance."""

from __future__ import annotations

import time
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any, NamedTuple

from gamekeeper.algorithms.intrusion.dis_simulation import DisSimulation, DisStep
from gamekeeper.attack.risk import FileRisk, RiskLine, count_line, keyed_provenance
from gamekeeper.attack.uniques.options import DisMethod
from gamekeeper.data.keys.key_table import KeyTable
from gamekeeper.errors import InputError, Reason
from gamekeeper.results import Provenance, Result
from gamekeeper.wording import count_of, digits_text, three_digits

if TYPE_CHECKING:
    import pyarrow as pa
    from matplotlib.figure import Figure


class GeneralDis(NamedTuple):
    """DIS by the general method, the fraction exactly and in words, and why there is none."""

    dis: Fraction | None
    fraction: str
    fraction_text: str
    why_none: str


@dataclass(frozen=True, repr=False)
class DisRisk(Result):
    """DIS of a file: the estimated probability that a unique match is correct.

    Attributes
    ----------
    value
        The estimate: exact for the general method; None where no unique match is possible.
    standard_error, converged
        Of the simulation; None for the general method, which has no randomness of its own.
    steps
        The estimate after so many rounds; empty for the general method.
    expected
        What the simulation tends to, where a formula says so.
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
        from gamekeeper.attack.risk_plots import plot_convergence

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
