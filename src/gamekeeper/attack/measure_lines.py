"""The measures that offices know (`measures`): what each is made from, its line and its sentences.

Of listed records: individual and household risk, diversity and closeness of their class. Of the
file: how many sample uniques are unique in the population, by published models.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from gamekeeper.algorithms import anonymity, superpopulation
from gamekeeper.attack.options import MeasuresOptions
from gamekeeper.attack.risk import FileRisk, RiskLine, count_line
from gamekeeper.attack.unexamined import WHOLE_HOUSEHOLDS
from gamekeeper.data.keys.key_table import KeyTable
from gamekeeper.data.keys.listed_records import ListedRecords
from gamekeeper.prompt_syntax import Missing
from gamekeeper.results import Provenance
from gamekeeper.wording import be, count_of, digits_text, percent_text, quoted, three_digits

NO_FRACTION = "no sampling fraction and no weights are known"
_KS = (2, 3, 5)
_HEADLINE = ("records", "k_below_3", "prosecutor_average", "expected_reidentifications")


@dataclass(frozen=True, slots=True, repr=False)
class IndividualRisks:
    """Per listed record: the estimated people of its class, and E[1/F] in two forms.

    `from_weights` says whether F is estimated from weights, or from the sampling fraction. `n_light`
    records are in classes whose weights sum to less than their number, so that the number was taken.
    """

    people: NDArray[np.float64]
    exact: NDArray[np.float64]
    approximate: NDArray[np.float64]
    from_weights: bool
    n_light: int


def individual_risks(listed: ListedRecords, sizes: NDArray[np.int64]) -> IndividualRisks | None:
    """Return the individual risk of records; None where neither weights nor a fraction are known."""
    if listed.table.weight:
        given = listed.weights()
        n_light = int(listed.counts[given < sizes].sum())
        people = np.maximum(given, sizes)
    elif listed.table.fraction is not None:
        n_light = 0
        people = sizes / listed.fractions()
    else:
        return None
    share = sizes / people
    return IndividualRisks(
        people,
        anonymity.expected_reciprocal(sizes, share),
        anonymity.approximate_reciprocal(sizes, share),
        bool(listed.table.weight),
        n_light,
    )


@dataclass(frozen=True, slots=True, repr=False)
class HouseholdRisks:
    """Per counted record the risk of its household; how many households cross strata."""

    risk: NDArray[np.float64]
    n_households: int
    n_alone: int
    n_across: int


def household_risks(
    listed: ListedRecords, individual: NDArray[np.float64], household: str
) -> HouseholdRisks:
    """Return the household risk of records."""
    key_table = listed.table
    homes = household_codes(listed, household)
    # Those who were left out count as members, without a risk of their own.
    whole = np.full(len(homes), np.nan)
    whole[listed.places] = individual
    return HouseholdRisks(
        anonymity.household_risk(whole, homes)[listed.places],
        len(np.unique(homes[homes > 0])),
        int(np.count_nonzero(homes == 0)),
        households_across(key_table, household),
    )


def household_codes(listed: ListedRecords, household: str) -> NDArray[np.int64]:
    """Return the household of every record of the file; refused where the records stay elsewhere."""
    listed.require_records("What households add to the risk", "Leave out --household")
    return listed.table.coded.codes(household).astype(np.int64)


def households_across(key_table: KeyTable, household: str) -> int:
    """Return how many households have members in more than one stratum."""
    if not key_table.strata:
        return 0
    homes, strata = (
        key_table.coded.codes(name).astype(np.int64) for name in (household, key_table.strata)
    )
    seen = np.unique(np.stack([homes, strata], axis=1)[homes > 0], axis=0)[:, 0]
    return int(np.count_nonzero(np.unique(seen, return_counts=True)[1] > 1))


@dataclass(frozen=True, slots=True, repr=False)
class SensitiveValues:
    """Per listed record: l of its class in three senses, and t, NaN where the class has no value."""

    variable: str
    is_ordered: bool
    distinct: NDArray[np.float64]
    entropy: NDArray[np.float64]
    recursive: NDArray[np.float64]
    closeness: NDArray[np.float64]
    n_missing: int


def sensitive_values(
    listed: ListedRecords, rows: NDArray[np.int64], variable: str, *, c: float, is_ordered: bool
) -> SensitiveValues:
    """Return how diverse a variable is in the class of each record (`rows`), and how far off."""
    classes, codes, counts = listed.values_of(variable)
    n_values = listed.table.coded.codebook[variable].n_codes - 1
    found = anonymity.count_values(classes, codes, n_values, counts)
    of_class = anonymity.diversity(found, Fraction(repr(c)))
    far = anonymity.ordered_distance(found) if is_ordered else anonymity.equal_distance(found)
    return SensitiveValues(
        variable,
        is_ordered,
        of_class.distinct[rows].astype(np.float64),
        of_class.entropy[rows],
        of_class.recursive[rows].astype(np.float64),
        far[rows],
        int(counts[codes == 0].sum()),
    )


@dataclass(frozen=True, slots=True)
class ModelledUniques:
    """What one model says: tau1, tau2 where it has one, or why it says nothing."""

    model: str
    tau1: float | None
    tau2: float | None
    why_none: str = ""


def population_size(key_table: KeyTable) -> int | None:
    """Return the number of people that the records were drawn from, as far as it is known."""
    if key_table.weight:
        total = float(key_table.of_classes("weight").sum())
        return max(round(total), key_table.n_records)
    if key_table.fraction is None:
        return None
    # The fractions of strata are in that of the file, exactly.
    return max(round(key_table.n_records / key_table.fraction), key_table.n_records)


def modelled_uniques(key_table: KeyTable, *, max_cells: int) -> list[ModelledUniques]:
    """Return what each model says of the sample uniques."""
    names = ("main effects", "two-way interactions", "Pitman", "Zayatz")
    why = ""
    people = population_size(key_table)
    if people is None or key_table.fraction is None:
        why = NO_FRACTION
    elif key_table.missing not in (Missing.CATEGORY, Missing.EXCLUDE):
        why = f"where {key_table.missing.words}, records do not fall into classes"
    elif not key_table.n_uniques:
        why = "there is no sample unique"
    if why or people is None:
        return [ModelledUniques(name, None, None, why) for name in names]
    return [*_log_linear(key_table, max_cells), *_by_sizes(key_table, people)]


def _log_linear(key_table: KeyTable, max_cells: int) -> list[ModelledUniques]:
    listed = key_table.listed
    codes = listed.codes().astype(np.int64)
    counts = listed.counts if listed.by_key else None
    rows = np.flatnonzero(listed.sizes() == 1)
    shares = listed.fractions()[rows]
    plain = superpopulation.poisson_risk(superpopulation.main_effects(codes, rows, counts), shares)
    found = [ModelledUniques("main effects", plain.tau1, plain.tau2)]
    cells, name = superpopulation.n_cells(codes), "two-way interactions"
    if cells > max_cells:
        why = f"the table has {cells:,} cells, more than {max_cells:,} (--max-cells)"
        return [*found, ModelledUniques(name, None, None, why)]
    expected = superpopulation.two_way_effects(codes, rows, counts)
    if expected is None:
        return [*found, ModelledUniques(name, None, None, "the fit did not settle")]
    fine = superpopulation.poisson_risk(expected, shares)
    return [*found, ModelledUniques(name, fine.tau1, fine.tau2)]


def _by_sizes(key_table: KeyTable, people: int) -> list[ModelledUniques]:
    structure = dict(key_table.structure)
    pitman = superpopulation.estimate_pitman(structure, people)
    zayatz = superpopulation.estimate_zayatz(structure, people)
    # A population unique is in the sample with the chance of any person.
    sampled = key_table.n_records / people
    both = None if pitman is None else min(pitman.population_uniques * sampled, key_table.n_uniques)
    no_maximum = "its likelihood has no maximum on these sizes of classes"
    return [
        ModelledUniques("Pitman", both, None, "" if pitman else no_maximum),
        ModelledUniques("Zayatz", zayatz.uniques_of_both if zayatz else None, None),
    ]


@dataclass(frozen=True, slots=True, repr=False)
class Found:
    """What was measured, before it is put into lines and words.

    Arrays have a cell for each listed record, which stands for as many as `counts` says.
    """

    key_table: KeyTable
    asked: MeasuresOptions
    counts: NDArray[np.int64]
    sizes: NDArray[np.int64]
    individual: IndividualRisks | None
    homes: HouseholdRisks | None
    sensitive: list[SensitiveValues]
    unsafe: anonymity.UnsafeCombinations | None
    people: NDArray[np.int64] | None
    models: list[ModelledUniques]

    @property
    def threshold(self) -> Fraction:
        """The threshold of risk as it was typed, exactly."""
        return Fraction(repr(float(self.asked.threshold)))

    @property
    def n_unsafe(self) -> int:
        """How many records have an unsafe combination."""
        return 0 if self.unsafe is None else int(self.counts[self.unsafe.per_record > 0].sum())

    def sum(self, values: NDArray[np.float64]) -> float:
        """Return the sum over all records of what is known of the listed ones."""
        return float((values * self.counts).sum())


def file_risk(found: Found, provenance: Provenance) -> FileRisk:
    """Return one line per measure."""
    lines = (
        *_count_lines(found.key_table),
        *_prosecutor_lines(found),
        *_journalist_lines(found),
        *_individual_lines(found),
        *_unsafe_lines(found),
        *_sensitive_lines(found),
        *_model_lines(found),
    )
    return FileRisk(lines, _HEADLINE, provenance)


def _count_lines(table: KeyTable) -> Iterator[RiskLine]:
    yield count_line("records", table.n_records, "Records counted")
    # As released, missing cells and all: no other reading of missing cells proves anything.
    smallest = min(table.released_by_size, default=None)
    yield RiskLine(
        "k",
        smallest,
        "There is no record."
        if smallest is None
        else f"The smallest class has {count_of(smallest, 'record')}: k-anonymity with k = {smallest}.",
    )
    for k in _KS:
        words = f"In classes of fewer than {k}"
        yield count_line(f"k_below_{k}", _below(table, k), words, of=table.n_records)


def _below(table: KeyTable, k: int) -> int:
    return sum(n for size, n in table.released_by_size.items() if size < k)


def _prosecutor_lines(found: Found) -> Iterator[RiskLine]:
    risk = anonymity.attacker_risk(found.key_table.released_by_size, found.threshold)
    about = "of those known to be in the file (1/f)"
    yield _line("prosecutor_highest", risk.highest, f"Highest risk {about}")
    yield _line("prosecutor_average", risk.average, f"Average risk {about}")
    above = f"Share of records with a risk above {digits_text(found.asked.threshold)} {about}"
    yield _line("prosecutor_at_risk", risk.at_risk, above)


def _journalist_lines(found: Found) -> Iterator[RiskLine]:
    about = "of those who may be in the file (1/F)"
    values: tuple[Fraction | float | None, ...] = (None, None, None)
    how = "it needs the population, weights or a sampling fraction"
    if found.people is not None:
        numbers, places = np.unique(found.people, return_inverse=True)
        records = np.bincount(places, found.counts).astype(np.int64)
        by_size = dict(zip(numbers.tolist(), records.tolist(), strict=True))
        risk = anonymity.attacker_risk(by_size, found.threshold)
        values, how = (risk.highest, risk.average, risk.at_risk), "F from the population"
    elif found.individual is not None:
        people = found.individual.people
        values = anonymity.estimated_risk(found.sizes, people, found.threshold, found.counts)
        by = "weights" if found.individual.from_weights else "the fraction"
        how = f"F grossed up by {by}, whatever the key"
    yield _line("journalist_highest", values[0], f"Highest risk {about}", how)
    yield _line("journalist_average", values[1], f"Average risk {about}", how)
    above = f"Share of records with a risk above {digits_text(found.asked.threshold)} {about}"
    yield _line("journalist_at_risk", values[2], above, how)
    expected = "Expected share of records that a marketer matches rightly"
    yield _line("marketer", values[1], expected, how)


def _individual_lines(found: Found) -> Iterator[RiskLine]:
    why = "it needs weights or a sampling fraction"
    risk = found.individual
    total = mean = approximate = highest = at_risk = None
    if risk is not None:
        total, approximate = found.sum(risk.exact), found.sum(risk.approximate)
        mean = total / found.key_table.n_records if len(found.counts) else None
        highest = float(risk.exact.max(initial=0.0))
        at_risk = int(found.counts[risk.exact > found.asked.threshold].sum())
    above = f"Records with an individual risk above {digits_text(found.asked.threshold)}"
    expected = "Expected re-identifications"
    yield _line("expected_reidentifications", total, f"{expected} (sum of E[1/F])", why)
    yield _line("global_risk", mean, "Global risk (average of E[1/F])", why)
    yield _line(
        "expected_reidentifications_approximate",
        approximate,
        f"{expected} in the approximate form",
        why,
    )
    yield _line("individual_highest", highest, "Highest individual risk", why)
    yield _line("individual_at_risk", at_risk, above, why)
    if found.homes is not None:
        homes = found.homes.risk
        yield _line(
            "household_reidentifications",
            float(homes.sum()),
            "Expected records of which somebody in the household is re-identified",
        )
        average = float(homes.mean()) if len(homes) else None
        yield _line("household_risk", average, "Average household risk of a record")
        yield _line("household_highest", float(homes.max(initial=0.0)), "Highest household risk")
        yield _line("households", found.homes.n_households, "Households")


def _unsafe_lines(found: Found) -> Iterator[RiskLine]:
    unsafe = found.unsafe
    if unsafe is None:
        return
    below = found.asked.unsafe_below
    for size, number in enumerate(unsafe.by_size.tolist(), 1):
        variables = count_of(size, "key variable")
        words = f"Combinations of {variables} that fewer than {below} records have"
        yield count_line(f"unsafe_of_{size}", number, words)
    words, n_records = "Records with an unsafe combination", found.key_table.n_records
    yield count_line("unsafe_records", found.n_unsafe, words, of=n_records)


def _sensitive_lines(found: Found) -> Iterator[RiskLine]:
    for item in found.sensitive:
        of, name = f"of {item.variable}", quoted([item.variable])
        why = "no record has a value of it"
        least = {
            f"l_distinct {of}": (item.distinct, f"Fewest different values of {name} in a class"),
            f"l_entropy {of}": (item.entropy, f"Least entropy l of {name} in a class"),
            f"l_recursive {of}": (
                item.recursive,
                f"Least l of recursive ({digits_text(found.asked.recursive)},l)-diversity of {name}",
            ),
        }
        for measure, (values, meaning) in least.items():
            known = _known(values)
            smallest = _least(known, is_whole=not measure.startswith("l_entropy"))
            yield _line(measure, smallest, meaning, why)
        far = _known(item.closeness)
        distances = "ordered" if item.is_ordered else "equal"
        yield _line(
            f"t {of}",
            float(far.max()) if len(far) else None,
            f"t-closeness of {name}, {distances} distances: the class furthest from the file",
            why,
        )


def _model_lines(found: Found) -> Iterator[RiskLine]:
    for item in found.models:
        who = (
            f"by {item.model}"
            if item.model in ("Pitman", "Zayatz")
            else f"log-linear, {item.model}"
        )
        meaning = f"Sample uniques that are population uniques ({who})"
        yield _line(f"tau1 {item.model}", item.tau1, meaning, item.why_none)
        if item.tau2 is not None or item.model not in ("Pitman", "Zayatz"):
            meaning = f"Expected right matches of sample uniques ({who})"
            yield _line(f"tau2 {item.model}", item.tau2, meaning, item.why_none)


def sentences_of(found: Found) -> list[str]:
    """Return what was found, the most important first, without any value of the file."""
    table = found.key_table
    alike = _below(table, 3)
    share = percent_text(alike / table.n_records) if table.n_records else "none"
    told = [
        (
            f"Of {count_of(table.n_records, 'record')}, {alike:,} ({share}) {be(alike)} in classes of fewer"
            f" than 3 (3-anonymity) on the key variables {quoted(table.keys)}."
        )
    ]
    if table.caution:
        told.append(table.caution)
    told += [*_risk_sentences(found), *_unsafe_sentences(found), *_sensitive_sentences(found)]
    return [*told, *_model_sentences(found)]


def _risk_sentences(found: Found) -> Iterator[str]:
    table, risk = found.key_table, found.individual
    if risk is None:
        yield (
            "Individual risk and whatever else speaks of the population are not known: neither weights"
            " nor a sampling fraction were given."
        )
    else:
        total = found.sum(risk.exact)
        how = "sampling weights" if risk.from_weights else "the sampling fraction"
        mean = percent_text(total / table.n_records) if table.n_records else "none"
        yield (
            f"Individual risk from {how} expects {three_digits(total)} re-identifications,"
            f" {mean} of the records (global risk)."
        )
        if table.fraction != 1 and table.n_uniques:
            yield (
                "As published, it grosses the records of a class up and does not ask how rare its key"
                " is, so that it is no estimate of right matches: models of the sample give one"
                " (gamekeeper risk infer)."
            )
        if risk.n_light:
            yield (
                f"{count_of(risk.n_light, 'record')} in classes whose weights sum to less than their"
                " records: the number of records was taken for the people."
            )
    if found.homes is not None:
        homes = found.homes
        known = homes.risk
        mean = percent_text(float(known.mean())) if len(known) else "none"
        yield (
            f"Somebody of their household is re-identified for {three_digits(float(known.sum()))} records"
            f" ({mean}; {count_of(homes.n_households, 'household')})."
        )
        yield WHOLE_HOUSEHOLDS
        if homes.n_alone:
            yield f"{count_of(homes.n_alone, 'record')} without a household: each counts as one."
        if homes.n_across:
            yield (
                f"{count_of(homes.n_across, 'household')} with members in more than one stratum; their"
                " risks were joined all the same."
            )
    if table.n_excluded:
        yield f"{count_of(table.n_excluded, 'record')} with a missing cell left out."


def _unsafe_sentences(found: Found) -> Iterator[str]:
    unsafe = found.unsafe
    if unsafe is None:
        return
    total = int(unsafe.by_size.sum())
    n = found.n_unsafe
    yield (
        f"{count_of(total, 'combination')} of up to {count_of(len(unsafe.by_size), 'key variable')}"
        f" {be(total)} unsafe (fewer than {found.asked.unsafe_below} records have"
        f" {'it' if total == 1 else 'them'}); {count_of(n, 'record')} {'has' if n == 1 else 'have'} one."
    )


def _sensitive_sentences(found: Found) -> Iterator[str]:
    for item in found.sensitive:
        alone = int(found.counts[item.distinct == 1].sum())
        name = quoted([item.variable])
        yield (
            f"For {count_of(alone, 'record')} all of their class have the same value of {name}: whoever"
            " finds the class learns it."
        )
        if item.n_missing:
            yield f"{count_of(item.n_missing, 'record')} without a value of {name}: it counts as none."


def _model_sentences(found: Found) -> Iterator[str]:
    known = [item for item in found.models if item.tau1 is not None]
    if not known:
        return
    parts = [f"{item.model} {three_digits(item.tau1)}" for item in known if item.tau1 is not None]
    uniques = count_of(found.key_table.n_uniques, "sample unique")
    yield (
        f"Of {uniques}, these are population uniques by published models: {'; '.join(parts)}. They have"
        " no interval, and where they differ none is proven: gamekeeper risk infer has models that the"
        " sample calibrates."
    )


def _line(name: str, value: Fraction | float | None, meaning: str, why: str = "") -> RiskLine:
    if value is None or value != value:
        return RiskLine(name, None, f"{meaning}: not known ({why}).")
    note = f", {why}" if why and name.startswith(("journalist", "marketer")) else ""
    return RiskLine(name, value, f"{meaning}{note}: {three_digits(value)}.")


def _known(values: NDArray[np.float64]) -> NDArray[np.float64]:
    return values[~np.isnan(values)]


def _least(known: NDArray[np.float64], *, is_whole: bool) -> float | None:
    if not len(known):
        return None
    return int(known.min()) if is_whole else float(known.min())
