"""Measures of risk that offices know by name: k-anonymity, individual risk, l-diversity and others.

k-anonymity; prosecutor, journalist and marketer risk (El Emam 2013); individual and household risk
from sampling weights (Benedetti and Franconi 1998; Franconi and Polettini 2004) with the expected
number of re-identifications; l-diversity and t-closeness; unsafe combinations of categories;
population uniques by log-linear models, Pitman and Zayatz. A measure that cannot be had says why.
None of them replaces the models that a sample calibrates (`gamekeeper risk infer`).
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from gamekeeper.algorithms.anonymity import UnsafeCombinations, n_sets, unsafe_combinations
from gamekeeper.arrow import pa
from gamekeeper.attack import measure_lines
from gamekeeper.attack.matching import match_classes
from gamekeeper.attack.options import MeasuresOptions
from gamekeeper.attack.risk import FileRisk, RecordRisk, listed_risk
from gamekeeper.data.keys.key_table import KeyTable
from gamekeeper.data.keys.listed_records import ListedRecords
from gamekeeper.data.reading.columns import number_of
from gamekeeper.errors import LimitError, Problem, Reason, refuse
from gamekeeper.options import takes, texts_of
from gamekeeper.prompt_syntax import Missing
from gamekeeper.results import Provenance, Result
from gamekeeper.wording import count_of, did_you_mean, quoted

if TYPE_CHECKING:
    from matplotlib.figure import Figure


@dataclass(frozen=True, repr=False)
class RiskMeasures(Result):
    """The measures that offices and their software know by name: of the file and of records.

    `records` have the size of their class and, as far as they are known, the estimated people of
    it, individual risk in its exact and approximate form, household risk, the number of unsafe
    combinations, l-diversity and t-closeness. `unsafe` tells per key variable in how many unsafe
    combinations of 1, 2, ... variables it has a part.
    """

    tells_of_records = False

    file: FileRisk
    records: RecordRisk
    unsafe: pa.Table
    told: tuple[str, ...]
    provenance: Provenance

    def __getitem__(self, name: str) -> Any:
        return self.file[name]

    def summary(self) -> dict[str, Any]:
        """Return the headline numbers."""
        return self.file.summary()

    def to_arrow(self) -> pa.Table:
        """Return one row per measure of the file."""
        return self.file.to_arrow()

    def sentences(self) -> list[str]:
        """Return what was found in a few sentences, without any value of the file."""
        return list(self.told)

    def plot(self) -> Figure:
        """Plot how the risk of records is distributed; needs no display."""
        return self.records.plot()


@takes(MeasuresOptions)
def measure_risk(key_table: KeyTable, asked: MeasuresOptions) -> RiskMeasures:
    """Return the measures of the field for a file and its records.

    Sensitive variables and the household must be among the columns that were coded.

    Examples
    --------
    >>> from gamekeeper.data.coding.coded_table import coded_from_codes
    >>> from gamekeeper.data.keys.counting import count_keys
    >>> keys = count_keys(coded_from_codes([[1], [2], [2]], ["Age"]), ["Age"], fraction="1/10")
    >>> found = measure_risk(keys)
    >>> found["prosecutor_average"], round(found["expected_reidentifications"], 4)
    (Fraction(2, 3), 0.4212)
    """
    started = time.perf_counter()
    _require_possible(key_table, asked)
    listed = key_table.listed
    sizes = listed.sizes()
    individual = measure_lines.individual_risks(listed, sizes)
    homes = None
    if asked.household and individual is not None:
        homes = measure_lines.household_risks(listed, individual.exact, asked.household)
    found = measure_lines.Found(
        key_table=key_table,
        asked=asked,
        counts=listed.counts,
        sizes=sizes,
        individual=individual,
        homes=homes,
        sensitive=_sensitive(listed, asked),
        unsafe=_unsafe(listed, asked),
        people=_people(key_table, asked.population),
        models=measure_lines.modelled_uniques(key_table, max_cells=asked.max_cells),
    )
    provenance = Provenance(
        "measures of the field",
        parameters={**key_table.provenance.parameters, **texts_of(asked)},
        fingerprint=key_table.coded.fingerprint,
        engine=key_table.coded.engine.name,
        seconds=time.perf_counter() - started,
    )
    return RiskMeasures(
        measure_lines.file_risk(found, provenance),
        _records(found, provenance),
        _unsafe_table(key_table, found.unsafe),
        tuple(measure_lines.sentences_of(found)),
        provenance,
    )


def _sensitive(
    listed: ListedRecords, asked: MeasuresOptions
) -> list[measure_lines.SensitiveValues]:
    names = dict.fromkeys((*asked.sensitive, *asked.ordered))
    if not names:
        return []
    # Values are those of records with the very same key, whatever the rule for missing cells.
    rows = listed.classes()
    return [
        measure_lines.sensitive_values(
            listed, rows, name, c=asked.recursive, is_ordered=name in asked.ordered
        )
        for name in names
    ]


def _unsafe(listed: ListedRecords, asked: MeasuresOptions) -> UnsafeCombinations | None:
    n_keys = len(listed.table.keys)
    size = min(asked.dimension, n_keys)
    if not size:
        return None
    work = n_sets(n_keys, size) * len(listed)
    if work > asked.max_work:
        raise LimitError(
            Reason.TOO_LARGE,
            f"Unsafe combinations of up to {count_of(size, 'variable')} were asked for.",
            f"That is {n_sets(n_keys, size):,} sets of variables for"
            f" {count_of(len(listed), 'different key' if listed.by_key else 'record')}, {work:,} together;"
            f" the limit is"
            f" {asked.max_work:,}.",
            "Give a smaller --dimension, fewer keys, or a larger --max-work.",
        )
    return unsafe_combinations(
        listed.codes(),
        [asked.unsafe_below] * size,
        counts=listed.counts if listed.by_key else None,
        counts_missing=listed.table.missing in (Missing.CATEGORY, Missing.EXCLUDE),
        progress=asked.progress,
    )


def _people(key_table: KeyTable, population: KeyTable | None) -> NDArray[np.int64] | None:
    if population is None:
        return None
    matched = match_classes(key_table, population)
    return matched.population[matched.of_record]


def _records(found: measure_lines.Found, provenance: Provenance) -> RecordRisk:
    listed = found.key_table.listed
    meanings = {
        "record": "The number of the record in the file.",
        "class_size": "The records of the file with its key.",
    }
    columns: dict[str, NDArray[Any]] = {"class_size": found.sizes}

    def add(name: str, values: NDArray[Any], meaning: str) -> None:
        columns[name] = values
        meanings[name] = meaning

    measure = "prosecutor_risk"
    add("prosecutor_risk", 1.0 / found.sizes, "One over the class size.")
    if found.individual is not None:
        measure = "individual_risk"
        add("people", found.individual.people, "The estimated people of its class.")
        add("individual_risk", found.individual.exact, "E[1/F], exactly.")
        add(
            "individual_risk_approximate", found.individual.approximate, "E[1/F], as often printed."
        )
    if found.homes is not None:
        add("household_risk", found.homes.risk, "That somebody of its household is re-identified.")
    if found.unsafe is not None:
        add(
            "unsafe_combinations", found.unsafe.per_record, "Its unsafe combinations of categories."
        )
    for item in found.sensitive:
        of = f"of {item.variable}"
        add(f"l_distinct {of}", item.distinct, f"Different values {of} in its class.")
        add(f"l_entropy {of}", item.entropy, f"exp of the entropy of the values {of}.")
        add(f"l_recursive {of}", item.recursive, f"The largest l of (c,l)-diversity {of}.")
        add(f"t {of}", item.closeness, f"How far the values {of} are from those of the file.")
    return listed_risk(measure, listed, listed.table_of(columns), meanings, provenance)


def _unsafe_table(key_table: KeyTable, unsafe: UnsafeCombinations | None) -> pa.Table:
    counts = np.zeros((len(key_table.keys), 0)) if unsafe is None else unsafe.by_variable
    columns = {
        f"of {count_of(size + 1, 'variable')}": pa.array(counts[:, size])
        for size in range(counts.shape[1])
    }
    return pa.table({"variable": pa.array(key_table.keys, pa.string()), **columns})


def _require_possible(key_table: KeyTable, asked: MeasuresOptions) -> None:
    problems: list[Problem] = []
    known = key_table.coded.codebook.names
    wanted = dict.fromkeys((*asked.sensitive, *asked.ordered))
    if asked.household:
        wanted[asked.household] = None
    for name in wanted:
        where = f"variable {quoted([name])}"
        if name not in known:
            found, do = "it is not among the coded variables.", did_you_mean(name, known)
            problems.append(Problem(Reason.UNKNOWN_NAME, where, found, do))
        elif name in key_table.keys and name != asked.household:
            found = "it is a key variable, so that every class has one value of it."
            do = "Leave it out of the key variables, or of the sensitive ones."
            problems.append(Problem(Reason.BAD_OPTION, where, found, do))
    for name in asked.ordered:
        variable = key_table.coded.codebook[name] if name in known else None
        if variable is None or variable.order or _are_numbers(variable.values[1:]):
            continue
        found = "its values are not all numbers and came without an order."
        do = "Give numbers or ordered categories, or name it as --sensitive only."
        where = f"ordered variable {quoted([name])}"
        problems.append(Problem(Reason.BAD_OPTION, where, found, do))
    if asked.household and not key_table.weight and key_table.fraction is None:
        found = (
            "household risk needs individual risk, and neither weights nor a fraction are known."
        )
        do = "Give --weight or --fraction, or leave out --household."
        problems.append(Problem(Reason.NOTHING_GIVEN, "household", found, do))
    refuse(
        problems,
        "The measures of the field were asked for.",
        f"{count_of(len(problems), 'fault was', 'faults were')} found in what was asked.",
    )


def _are_numbers(values: Sequence[str]) -> bool:
    return any(
        all(number_of(value, decimal) is not None for value in values) for decimal in (".", ",")
    )
