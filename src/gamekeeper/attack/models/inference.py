"""What an intruder with models infers about each record: how many people share its key.

The models give the probability of every key; from it and the sample follows what is known of F, the
number of people with the key. By default the calibrated estimate is used, which corrects the models
by the pairs, near twins and triples of the sample itself; the estimate that the thesis prints is
there to compare. See algorithms/models/population_model.py for both.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from gamekeeper.algorithms.classes import class_numbers
from gamekeeper.algorithms.decomposable.junction_tree import ClassTable
from gamekeeper.algorithms.models.merged_classes import CellFractions, learn_fractions
from gamekeeper.algorithms.models.population_model import (
    PopulationEstimate,
    calibrated_estimate,
    printed_estimate,
)
from gamekeeper.algorithms.models.rate_calibration import RateCalibration
from gamekeeper.algorithms.models.rate_mixture import Measure
from gamekeeper.arrow import pa
from gamekeeper.attack.models.fitting import ModelFit
from gamekeeper.attack.options import Estimator, InferInput
from gamekeeper.attack.risk import FileRisk, RecordRisk, RiskLine, listed_risk
from gamekeeper.attack.unexamined import WHOLE_HOUSEHOLDS
from gamekeeper.data.keys.key_table import KeyTable, missing_reservations
from gamekeeper.data.keys.listed_records import ListedRecords
from gamekeeper.errors import InputError, Reason
from gamekeeper.options import takes
from gamekeeper.prompt_syntax import parse_fraction
from gamekeeper.results import Provenance, Result
from gamekeeper.wording import count_of, expected_text, fraction_text, percent_text, three_digits

if TYPE_CHECKING:
    from matplotlib.figure import Figure

MEANINGS = {
    "record": "the number of the record in the file, from 1",
    "class_size": "how many records of the file have its key",
    "p_match": "estimated probability that a match with this record is right: E[1/F]",
    "p_match_set": "the reading printed in the thesis: all records of the class matched as a set",
    "p_unique": "estimated probability that nobody else in the population has the key",
    "expected_size": "expected number of people with the key",
    "lower": "the number of people with the key is at least this, with the stated probability",
    "upper": "and at most this; empty where no interval is given",
}
# From here on the Poisson law is visibly wider than the binomial one in large classes.
_LARGE_FRACTION = Fraction(1, 10)
# With fewer pairs than this the level rests on near twins and on other populations.
_FEW_PAIRS = 10
# Households of up to so many members, drawn person by person, leave two of them together so often; and
# where most have another one with them, they came together.
_LARGE_HOUSEHOLD, _TOGETHER = 5, 0.5


@dataclass(frozen=True, repr=False, eq=False)
class ModelRisk(Result):
    """The risk of every record as a Bayesian intruder sees it; as a table it is `records`.

    - `records`, `file`, `told`: the risk of each record and of the file, and both in words.
    - `reservations`: what changes how far the estimates can be used, in words; they are told, too:
      how the file was drawn and whether that was taken into account, repeats, few pairs, a search
      that has not settled.
    - `fractions`: those of cells where strata have different ones, else None.
    """

    MADE_BY: ClassVar[str] = "gk.infer_risk(gk.count_keys(gk.code_frame(frame, columns), keys))"

    records: RecordRisk
    file: FileRisk
    told: tuple[str, ...]
    reservations: tuple[str, ...]
    provenance: Provenance
    fit: ModelFit = field(repr=False)
    table: ClassTable = field(repr=False)
    estimate: PopulationEstimate = field(repr=False)
    fraction: Fraction = field(repr=False)
    fractions: CellFractions | None = field(default=None, repr=False)
    estimator: Estimator = field(default=Estimator.CALIBRATED, repr=False)

    @property
    def has_intervals(self) -> bool:
        """Whether intervals are given: not where unequal chances are taken as equal."""
        return not np.isnan(self.estimate.file.tau1.lower)

    @property
    def sampled(self) -> float | CellFractions:
        """The sampling fraction, or those of cells where strata have different ones."""
        return float(self.fraction) if self.fractions is None else self.fractions

    def summary(self) -> dict[str, Any]:
        """Return the headline numbers."""
        return self.file.summary()

    def to_arrow(self) -> pa.Table:
        """Return one row per record, in the order of the file."""
        return self.records.to_arrow()

    def sentences(self) -> list[str]:
        """Return what was found in a few sentences, without any value of the file."""
        return list(self.told)

    def plot(self) -> Figure:
        """Plot how the probability of a match is spread over the records; needs no display."""
        return self.records.plot()

    def _repr_html_(self) -> str:
        return self.file._repr_html_()


@takes(InferInput)
def infer_risk(key_table: KeyTable, asked: InferInput) -> ModelRisk:
    """Infer from models how many people share the key of each record.

    Where strata were sampled with different fractions, the number of people outside the file
    depends on where a class was sampled. If the key variables tell the stratum, a class has the
    fraction of its stratum. If they do not, people of one class are in several strata, sampled or
    not, and the fraction of the one record that a sample unique has says little: the class has the
    harmonic mean of the fractions of all records that agree with it on those key variables that
    tell the stratum best (see algorithms/models/merged_classes.py). If none does, that is the
    fraction of the file.

    With a household, its members are taken for people who were drawn together: that two of them are
    alike says nothing of people outside, and keys are counted by the households that have them
    (`ClassTable.of_households`). Where weights differ within a stratum, chances were not equal as
    all of this takes them to be, and no interval is given.

    The models are those that were fitted to the keys. The estimate of the thesis takes F - f as
    Poisson; `finite` takes it as binomial, exact for the finite number of people outside the sample,
    which matters where the sampling fraction is large.

    Examples
    --------
    >>> from gamekeeper.attack.models.fitting import fit_models
    >>> from gamekeeper.data.coding.coded_table import coded_from_codes
    >>> from gamekeeper.data.keys.counting import count_keys
    >>> people = [[1, 1]] * 9 + [[1, 2], [2, 2], [2, 2]] + [[2, 1]]
    >>> keys = count_keys(coded_from_codes(people, ["age", "job"]), ["age", "job"])
    >>> risk = infer_risk(keys, fit_models(keys, method="annealing"), fraction="1/10")
    >>> risk.records.table.column_names[:3]
    ['record', 'class_size', 'p_match']
    """
    started = time.perf_counter()
    chosen, fit, fraction = Estimator(asked.estimator), asked.fit, asked.fraction
    require_same_keys(key_table, fit)
    share = key_table.fraction if fraction is None else parse_fraction(fraction)
    if share is None:
        raise InputError(
            Reason.NOTHING_GIVEN,
            "Population sizes were to be inferred.",
            "No sampling fraction is known.",
            "Give the fraction of the population that is in the file (--fraction), such as '1/50' or"
            " '2%'.",
        )
    listed = key_table.listed
    codes = listed.codes()
    (numbers,) = class_numbers(codes)
    _, first = np.unique(numbers, return_index=True)
    counts = np.bincount(numbers, listed.counts).astype(np.int64)
    levels = key_table.coded.n_codes(key_table.keys)
    homes = _Homes.of(listed, asked.household, float(share))
    if homes is not None and homes.together:
        table = ClassTable.of_households(codes[first], numbers, homes.numbers, levels)
    else:
        table = ClassTable(codes[first], counts, levels)
    by_cell = _cell_fractions(listed, codes) if fraction is None else None
    sampled = float(share) if by_cell is None else by_cell.of(table.rows)
    models, weights = fit.pooled()
    if chosen is Estimator.CALIBRATED:
        found = calibrated_estimate(
            table,
            list(models),
            fraction=sampled,
            weights=weights,
            interval=asked.interval,
            seed=asked.seed,
            one_each=bool(key_table.person),
        )
    else:
        # The thesis knows one precision; models of the others are not its models.
        found = printed_estimate(
            table,
            list(fit.search.models),
            fraction=sampled,
            weights=fit.search.weights,
            finite=chosen is Estimator.FINITE,
            interval=asked.interval,
        )
    if not key_table.has_equal_chances:
        found = _without_intervals(found, counts)
    provenance = replace(
        fit.provenance,
        method="Bayesian inference",
        variant=f"{chosen.words}; {fit.provenance.variant}",
        parameters={
            **fit.provenance.parameters,
            "fraction": str(share),
            **({"person": key_table.person} if key_table.person else {}),
            **({"household": asked.household} if asked.household else {}),
            **_strata_parameters(key_table, by_cell),
            "interval": f"{asked.interval:g}",
            "interval_seed": str(asked.seed),
        },
        seconds=time.perf_counter() - started,
    )
    records = _records(listed, numbers, counts, found, provenance)
    file = _file(key_table, found, provenance)
    reservations = tuple(_reservations(key_table, homes, fit, found))
    if chosen is Estimator.PRINTED and share >= _LARGE_FRACTION:
        reservations += (
            "At such a sampling fraction the Poisson law is too wide; the estimate 'finite' is exact.",
        )
    told = _sentences(key_table, fit, found, chosen, _sample_words(share, key_table, by_cell))
    if homes is not None:
        told += (WHOLE_HOUSEHOLDS,)
    return ModelRisk(
        records,
        file,
        (*told, *reservations),
        reservations,
        provenance,
        fit,
        table,
        found,
        share,
        by_cell,
        chosen,
    )


@dataclass(frozen=True, slots=True, repr=False)
class _Homes:
    """Each record's household; the share with another member in the file, or (`together`) with all."""

    numbers: NDArray[np.int64]
    share: float
    together: bool

    @classmethod
    def of(cls, listed: ListedRecords, household: str, fraction: float) -> _Homes | None:
        if not household:
            return None
        listed.require_records("What is inferred with households", "Leave out --household")
        homes = listed.table.coded.codes(household).astype(np.int64)[listed.places]
        # Whoever is in none is one by himself.
        homes = np.where(homes > 0, homes, homes.max(initial=0) + 1 + np.arange(len(homes)))
        share = float((np.bincount(homes)[homes] > 1).mean())
        by_chance = 1 - (1 - fraction) ** (_LARGE_HOUSEHOLD - 1)
        return cls(homes, share, share > min(by_chance, _TOGETHER))


def _without_intervals(found: PopulationEstimate, counts: NDArray[np.int64]) -> PopulationEstimate:
    """Return an estimate of which only values are told; a class has as many people as records."""

    def value(measure: Measure) -> Measure:
        return Measure(measure.value, np.nan, np.nan)

    file = found.file
    names = ("tau1", "tau2", "pr_cm_given_um", "pr_cm_given_su")
    values = {name: value(getattr(file, name)) for name in names}
    unknown = np.full(len(counts), np.nan)
    return replace(found, lower=counts, upper=unknown, file=replace(file, **values))


def _design_words(key_table: KeyTable, homes: _Homes | None) -> Iterator[str]:
    if not key_table.has_equal_chances:
        within = " within a stratum" if key_table.strata else ""
        ways = (
            "name strata whose records have one weight each (--strata)"
            if key_table.strata
            else "name the strata that records were drawn from (--strata); where weights are few, records of"
            " one weight are a stratum if no fraction is given (--fraction)"
        )
        yield (
            f"Weights differ by up to {three_digits(key_table.weights_differ)} times{within}, and models"
            " assume that all were drawn with equal chances: the numbers may be far off, and no interval is"
            f" given. To get one, {ways}."
        )
    if key_table.person:
        yield f"{key_table.people_words} The sampling fraction is taken as one of people."
    if homes is None:
        whose = (
            "several records of one person or whole households"
            if not key_table.person
            else "whole households"
        )
        options = "--person and --household" if not key_table.person else "--household"
        yield (
            "This takes the file for a random sample of people who were drawn one by one: where"
            f" {whose} were drawn, name the column that tells them ({options} of assess), since the"
            " numbers are likely too low then."
        )
    elif homes.together:
        yield (
            f"Households are taken to be in the file with all their members: {percent_text(homes.share)} of"
            " the records have another one of theirs beside them."
        )
    else:
        yield (
            f"People are taken to be drawn one by one, and not with their households: only"
            f" {percent_text(homes.share)} of the records have another member beside them."
        )


def _cell_fractions(
    listed: ListedRecords, codes: NDArray[np.unsignedinteger[Any]]
) -> CellFractions | None:
    given = listed.table.fractions
    if given is None or len(set(given.values())) < 2:
        return None
    return learn_fractions(codes, listed.fractions(), listed.counts)


def _strata_parameters(key_table: KeyTable, by_cell: CellFractions | None) -> dict[str, str]:
    if by_cell is None:
        return {}
    told_by = ", ".join(key_table.keys[v] for v in by_cell.variables)
    return {"strata": key_table.strata, "fractions_told_by": told_by or "no key variable"}


def _sample_words(share: Fraction, key_table: KeyTable, by_cell: CellFractions | None) -> str:
    if by_cell is None or key_table.fractions is None:
        return fraction_text(share)
    every = key_table.fractions.values()
    return (
        f"{fraction_text(share)} ({fraction_text(min(every))} to {fraction_text(max(every))} by"
        " stratum)"
    )


def require_same_keys(key_table: KeyTable, fit: ModelFit) -> None:
    """Refuse models that were fitted to other keys, another file or other records of it."""
    if (
        fit.keys != key_table.keys
        or fit.n_records != key_table.n_records
        or fit.provenance.fingerprint != key_table.coded.fingerprint
    ):
        raise InputError(
            Reason.BAD_OPTION,
            "Models were to be used on the keys of a file.",
            f"They were fitted to {count_of(fit.n_records, 'record')} on other keys or records.",
            "Fit models to these keys.",
        )


def _records(
    listed: ListedRecords,
    numbers: NDArray[np.int64],
    counts: NDArray[np.int64],
    found: PopulationEstimate,
    provenance: Provenance,
) -> RecordRisk:
    per_class = {
        "class_size": counts,
        "p_match": found.p_match,
        "p_match_set": found.p_match_set,
        "p_unique": found.p_unique,
        "expected_size": found.expected_size,
        "lower": found.lower,
        "upper": found.upper,
    }
    table = listed.table_of({name: np.asarray(cells)[numbers] for name, cells in per_class.items()})
    place = table.column_names.index("upper")
    table = table.set_column(place, "upper", table["upper"].cast("int64"))
    return listed_risk("p_match", listed, table, MEANINGS, provenance)


def _file(key_table: KeyTable, found: PopulationEstimate, provenance: Provenance) -> FileRisk:
    file = found.file
    lines = [
        RiskLine(
            "records",
            Fraction(key_table.n_records),
            f"{'People, one record of each' if key_table.person else 'Records'}:"
            f" {key_table.n_records:,}.",
        ),
        RiskLine(
            "sample_uniques",
            Fraction(key_table.n_uniques),
            f"Sample uniques: {key_table.n_uniques:,}.",
        ),
    ]
    for name, measure, words in (
        ("tau1", file.tau1, "Sample uniques that nobody else in the population shares (tau-1)"),
        ("tau2", file.tau2, "Right matches if each sample unique is matched once (tau-2)"),
        (
            "pr_cm_given_um",
            file.pr_cm_given_um,
            "Probability that a unique match is right, Pr(CM|UM)",
        ),
        (
            "pr_cm_given_su",
            file.pr_cm_given_su,
            "Probability of a match for a sample unique, Pr(CM|SU)",
        ),
    ):
        is_known = not np.isnan(measure.value)
        value = float(measure.value) if is_known else None
        write = expected_text if name in ("tau1", "tau2") else three_digits
        text = (
            f"{words}: {measure_text(measure, write)}."
            if is_known
            else f"{words}: there is no sample unique."
        )
        lines.append(RiskLine(name, value, text))
    headline = ("records", "sample_uniques", "tau1", "pr_cm_given_um")
    if not key_table.n_uniques:
        headline = headline[:2]
    return FileRisk(tuple(lines), headline, provenance)


def measure_text(measure: Measure, write: Callable[[float], str] = three_digits) -> str:
    """Return an estimate of the file with its interval, where one is given."""
    if np.isnan(measure.lower):
        return f"{write(measure.value)} (no interval)"
    low, middle, high = (write(x) for x in (measure.lower, measure.value, measure.upper))
    return f"{middle} ({low} to {high})"


def _sentences(
    key_table: KeyTable, fit: ModelFit, found: PopulationEstimate, estimator: Estimator, sample: str
) -> tuple[str, ...]:
    n_uniques = key_table.n_uniques
    told = [
        (
            f"{count_of(key_table.n_records, 'record')}, {n_uniques:,} of them unique, a sample of"
            f" {sample}, as seen by an intruder with models ({fit.provenance.variant})."
        )
    ]
    if n_uniques:
        file = found.file
        likely = int(np.count_nonzero(found.p_unique[np.asarray(found.p_unique) > 0] > 0.5))
        told += [
            (
                "Fewer than one of the uniques is expected to be unique in the population (upper limit:"
                f" {expected_text(max(file.tau1.upper, 0.1))})."
                if file.tau1.value < 1
                else f"About {measure_text(file.tau1, expected_text)} of the uniques are expected to be unique"
                f" in the population; for {likely:,} of them that is more likely than not."
            ),
            (
                f"A unique match is right with an estimated probability of {measure_text(file.pr_cm_given_um)};"
                f" a sample unique picked first, of {measure_text(file.pr_cm_given_su)}."
            ),
        ]
    else:
        told.append("No record is unique, so no match can be better than one in two.")
    told.append(f"The estimate is {estimator.words}.")
    if fit.converged and fit.complete:
        told.append("The search for models has settled.")
    return tuple(told)


def _reservations(
    key_table: KeyTable, homes: _Homes | None, fit: ModelFit, found: PopulationEstimate
) -> Iterator[str]:
    yield from _design_words(key_table, homes)
    yield from missing_reservations(key_table)
    if key_table.n_uniques and found.calibration is not None:
        yield from _level_words(found.calibration, has_intervals=key_table.has_equal_chances)
    yield from fit.warnings()


def _level_words(calibration: RateCalibration, *, has_intervals: bool) -> Iterator[str]:
    n_pairs, n_near = calibration.n_pairs, calibration.prior.n_near
    if n_pairs < _FEW_PAIRS:
        seen = count_of(n_pairs, "pair") if n_pairs else "No pair"
        near = (
            f"{count_of(n_near, 'pair')} that differ in one variable and from other populations"
            if n_near
            else "other populations alone"
        )
        wide = ", and the intervals are as wide as that leaves it open" if has_intervals else ""
        yield (
            f"{seen} of records {'has' if n_pairs < 2 else 'have'} the same key: how often keys are"
            f" shared is known from {near}{wide}."
        )
    if not calibration.repeats_in_question:
        return
    both = (
        "the intervals hold what follows if they are and if they are not, records being drawn one by one"
        " (where all records of a person are in the file, numbers are far too low)"
        if has_intervals
        else "how much that changes is not told without intervals"
    )
    settle = "a column that tells whose a record is would settle it (--person of assess)"
    if calibration.repeats_likely:
        why = (
            "There are more pairs with the same key than near twins lead to expect"
            if calibration.repeats.likely > calibration.unlike
            else "Pairs with the same key are as few or many as in no other population that was looked at"
        )
        yield (
            f"{why}: people may be in the file more than once. {both[0].upper()}{both[1:]}; {settle}."
        )
    else:
        yield (
            "Whether people are in the file more than once is not known: the estimate takes it that they are"
            f" not, and {both}; {settle}."
        )
