"""Special uniques: records that are unique for what they are, not by the luck of the sample.

A sample unique on the key variables K is special if it is unique on a proper part of K already;
otherwise it is a random unique. With many key variables nearly all uniques are special by that
definition; a smaller size of the part tells them apart. The paper expects special uniques to stay
unique when a variable is removed or coarsened (geography first) and when the sampling fraction
changes. Each of these is tried here, record by record, and counted for both kinds. Elliot and
Manning 2003. Costs one count of classes per trial, and the search for minimal sample uniques.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from gamekeeper.algorithms.uniques.minimal_uniques import find_minimal_uniques
from gamekeeper.arrow import pa
from gamekeeper.attack.experiments.harness import sample_size
from gamekeeper.attack.matching import MatchedClasses, match_classes
from gamekeeper.attack.options import SpecialOptions
from gamekeeper.attack.risk import keyed_provenance
from gamekeeper.attack.uniques import special_trials
from gamekeeper.data.engine.gate import FEWER_RECORDS, require_brought
from gamekeeper.data.keys.key_table import KeyTable
from gamekeeper.data.keys.listed_records import ListedRecords
from gamekeeper.errors import InputError, Problem, Reason, refuse
from gamekeeper.options import takes
from gamekeeper.prompt_syntax import parse_fraction
from gamekeeper.results import Progress, Provenance, Result
from gamekeeper.wording import (
    count_of,
    did_you_mean,
    digits_text,
    fraction_text,
    percent_text,
    quoted,
)

if TYPE_CHECKING:
    from gamekeeper.data.coding.codebook import Recode


def checked_levels(
    key_table: KeyTable, coarser: Mapping[str, Sequence[Recode]]
) -> dict[str, tuple[Recode, ...]]:
    """Return the coarser codings per key variable, in the order given; all faults at once."""
    problems: list[Problem] = []
    for name, recodes in coarser.items():
        where = f"variable {quoted([name])}"
        if name not in key_table.keys:
            hint = did_you_mean(name, key_table.keys)
            problems.append(Problem(Reason.UNKNOWN_NAME, where, "not a key variable.", hint))
            continue
        n_codes = key_table.coded.codebook[name].n_codes
        if not recodes:
            problems.append(Problem(Reason.NOTHING_GIVEN, where, "no coarser coding is given."))
        for number, recode in enumerate(recodes, start=1):
            if recode.variable != name:
                found = f"coding {number} is for the variable {quoted([recode.variable])}."
                problems.append(Problem(Reason.BAD_OPTION, where, found))
            elif len(recode.codes) != n_codes:
                found = f"coding {number} is for {len(recode.codes):,} codes, not {n_codes:,}."
                problems.append(Problem(Reason.BAD_OPTION, where, found))
    refuse(problems, "Special uniques were to be followed through coarser codings.")
    return {name: tuple(recodes) for name, recodes in coarser.items()}


def checked_size(n_variables: int, special_size: int | None, max_size: int | None) -> int:
    """Return the most variables of a part of the key that makes a unique special."""
    if special_size is None:
        return n_variables - 1
    if not 1 <= special_size < n_variables or (max_size is not None and max_size < special_size):
        found = f"{special_size} is not from 1 to {n_variables - 1}"
        if max_size is not None:
            found += f" and at most {max_size}, the largest that is searched"
        raise InputError(
            Reason.BAD_OPTION,
            "Special uniques on small parts of the key were asked for.",
            f"The size of the part, {found}.",
            "Give fewer variables (--special-size) than the key has.",
        )
    return special_size


def checked_steps(
    name: str, values: Sequence[str | float | Fraction], *, least: Fraction | None = None
) -> tuple[Fraction, ...]:
    """Return fractions in (0, 1], none below `least`; all faults at once."""
    problems: list[Problem] = []
    steps: list[Fraction] = []
    for value in values:
        where = f"{name} {quoted([str(value)])}"
        try:
            step = parse_fraction(value)
        except InputError as error:
            problems.append(Problem(error.reason, where, error.found, error.do))
            continue
        if least is not None and step < least:
            found = f"less than the fraction of the sample, {digits_text(float(least), 4)}."
            problems.append(Problem(Reason.BAD_OPTION, where, found))
        steps.append(step)
    refuse(problems, "Special uniques were to be followed through other sampling fractions.")
    return tuple(dict.fromkeys(steps))


@dataclass(frozen=True, repr=False, eq=False)
class SpecialUniques(Result):
    """The sample uniques of a file, special or random, and what becomes of them.

    - `special_size`: the most variables of a part of the key that makes a unique special.
    - `table`: one row per sample unique: its number in the file, whether it is special, the size of
      its smallest minimal sample unique, how many key variables it needs and which (without any one
      of them it is no longer unique), at how many coarser codings of each variable it is unique
      still, and where the population is known the size of its class there and its chance to be
      unique still in larger samples.
    - `caution`: what the number of uniques does not prove, where missing cells match something.
    """

    keys: tuple[str, ...]
    n_records: int
    n_uniques: int
    n_special: int
    special_size: int
    table: pa.Table
    trials: special_trials.Trials
    properties: special_trials.SpecialProperties
    provenance: Provenance
    caution: str = ""

    def summary(self) -> dict[str, Any]:
        """Return the headline numbers."""
        return {
            "records": self.n_records,
            "uniques": self.n_uniques,
            "special": self.n_special,
            "random": self.n_uniques - self.n_special,
            "keys": len(self.keys),
        }

    def to_arrow(self) -> pa.Table:
        """Return one row per sample unique."""
        return self.table

    def sentences(self) -> list[str]:
        """Return what was found, in words: the two kinds, then each property."""
        properties = self.properties.sentences() if self.n_uniques else []
        return [*self.file_sentences(), *properties]

    def file_sentences(self) -> list[str]:
        """Return how many uniques of the two kinds there are, and what that does not prove."""
        cautions = [self.caution] if self.caution else []
        if not self.n_uniques:
            records = count_of(self.n_records, "record")
            return [f"None of {records} is unique on the key variables.", *cautions]
        share = percent_text(self.n_special / self.n_uniques)
        kinds = (
            f"Of {count_of(self.n_uniques, 'sample unique')} among "
            f"{count_of(self.n_records, 'record')}, {self.n_special:,} ({share}) are special: "
            f"unique on at most {self.special_size} of {count_of(len(self.keys), 'key variable')}."
        )
        if self.n_special == self.n_uniques and self.special_size > 1:
            kinds += " A smaller special_size (--special-size) would tell them apart."
        return [kinds, *cautions]

    def _repr_html_(self) -> str:
        # Not a table of records, which may be long.
        return self.properties._repr_html_()


@takes(SpecialOptions)
def assess_special_uniques(key_table: KeyTable, asked: SpecialOptions) -> SpecialUniques:
    """Tell special from random uniques and try what the paper says of them.

    What is no number, such as coarser codings and a population, `SpecialOptions` explains. The
    largest size that is searched may not be less than a special size that is given.

    Examples
    --------
    >>> from gamekeeper.data.coding.coded_table import coded_from_codes
    >>> from gamekeeper.data.keys.counting import count_keys
    >>> table = coded_from_codes([[1, 1], [1, 2], [2, 1], [2, 2], [3, 2]], ["area", "sex"])
    >>> found = assess_special_uniques(count_keys(table, ["area", "sex"]), rounds=0)
    >>> found.summary()["special"], found.table["special"].to_pylist()
    (1, [False, False, False, False, True])
    """
    started = time.perf_counter()
    special_size, population = asked.special_size, asked.population
    levels = checked_levels(key_table, asked.coarser or {})
    size = checked_size(len(key_table.keys), special_size, asked.max_size)
    steps = checked_steps("thinner", asked.thinner) if asked.rounds else ()
    if asked.larger is not None and population is None:
        raise InputError(
            Reason.BAD_OPTION,
            "Special uniques were to be followed into larger samples.",
            "The population is not known.",
            "Give its key table, or leave the larger fractions out.",
        )
    matched = None if population is None else match_classes(key_table, population)
    listed, missing = key_table.listed.whole_keys(), str(key_table.missing)
    codes, counts = listed.codes(), listed.counts if listed.by_key else None
    rows = _rows(listed) if steps else None
    tell = _Teller(asked.progress, 2 + len(levels) + len(steps))
    parts = special_trials.KeyParts(codes, missing, counts, max_seconds=asked.max_seconds or None)
    unique = parts.unique()
    places = np.flatnonzero(unique)
    stays = parts.unique_without_each()[places]
    tell.step()
    smallest = _smallest(codes, counts, missing, asked, tell)[places]
    special = (smallest >= 0) & (smallest <= size)
    if special_size is None:
        special = np.asarray(stays.any(axis=1))
    tell.step()
    columns: dict[str, Any] = {
        "record": listed.places[places] + 1,
        "special": special,
        "smallest_msu": smallest,
        "needed_variables": codes.shape[1] - stays.sum(axis=1),
        **{f"needs {name}": ~stays[:, place] for place, name in enumerate(key_table.keys)},
    }
    removals = tuple(
        special_trials.Removal(name, *special_trials.both_kinds(~stays[:, place], special))
        for place, name in enumerate(key_table.keys)
    )
    coarsenings: list[special_trials.Coarsening] = []
    for name, recodes in levels.items():
        new_codes = [recode.codes for recode in recodes]
        place = key_table.keys.index(name)
        kept = special_trials.levels_survived(codes, place, new_codes, missing, counts)[places]
        columns[f"coarser {name}"] = kept.sum(axis=1)
        coarsenings += [
            special_trials.Coarsening(
                name,
                number + 1,
                len(recode.words) - 1,
                *special_trials.both_kinds(~kept[:, number], special),
            )
            for number, recode in enumerate(recodes)
        ]
        tell.step()
    thinnings: list[special_trials.Thinning] = []
    for number, step in enumerate(steps):
        thinnings.append(
            special_trials.thin(
                parts,
                unique,
                step,
                rows=rows,
                special_size=size,
                rounds=asked.rounds,
                seed=asked.seed,
                number=number,
            )
        )
        tell.step()
    growths: list[special_trials.Growth] = []
    alone = None
    if matched is not None:
        sizes = _people(matched, listed)[places]
        alone = sizes == 1
        columns["population_size"] = sizes
        n_people = int(matched.population.sum())
        for growth, chances in _grow(key_table.n_records, n_people, sizes, special, asked.larger):
            growths.append(growth)
            columns[f"unique at {fraction_text(growth.fraction)}"] = chances
    provenance = keyed_provenance(
        "special uniques",
        "unique on a proper part of the key (2003)"
        if special_size is None
        else f"unique on at most {size} key variables",
        key_table,
        {
            "coarser": ", ".join(f"{name} ({len(found)})" for name, found in levels.items()),
            "thinner": ", ".join(map(str, steps)),
            "rounds": str(asked.rounds),
            "larger": ", ".join(str(growth.fraction) for growth in growths),
            "population": "not known" if matched is None else "known",
            "special_size": str(size),
            "max_size": str(asked.max_size or codes.shape[1]),
        },
        seed=asked.seed,
        seconds=time.perf_counter() - started,
    )
    trials = special_trials.Trials(removals, tuple(coarsenings), tuple(thinnings), tuple(growths))
    lines = special_trials.property_lines(special, smallest, trials, alone)
    return SpecialUniques(
        key_table.keys,
        key_table.n_records,
        len(places),
        int(special.sum()),
        size,
        # In the order of the file, which that of keys is not.
        _table(columns).sort_by("record"),
        trials,
        special_trials.SpecialProperties(lines, provenance),
        provenance,
        key_table.caution,
    )


@dataclass(slots=True)
class _Teller:
    progress: Progress | None
    total: int
    done: int = 0

    def step(self) -> None:
        self.done += 1
        self.pulse()

    def pulse(self, *_: object) -> None:
        """Let the caller stop the work within a trial."""
        if self.progress is not None:
            self.progress(self.done, self.total)


def _rows(listed: ListedRecords) -> NDArray[np.int64] | None:
    """Return the row of the key of every counted record; None where rows are records."""
    if not listed.by_key:
        return None
    key_table = listed.table
    require_brought(
        key_table.coded.engine,
        key_table.coded.n_records,
        8,
        "classes of records, to draw thinner samples,",
        f"Try no thinner samples (--rounds 0). {FEWER_RECORDS}",
    )
    found = key_table.class_numbers()
    return found[found >= 0]


def _people(matched: MatchedClasses, listed: ListedRecords) -> NDArray[np.int64]:
    people = matched.population[matched.of_record]
    if not listed.by_key:
        return people
    of_key = np.zeros(len(listed), dtype=np.int64)
    of_key[matched.listed.classes()] = people
    return of_key


def _smallest(
    codes: NDArray[Any],
    counts: NDArray[np.int64] | None,
    missing: str,
    asked: SpecialOptions,
    tell: _Teller,
) -> NDArray[np.int64]:
    policy = "category" if missing == "exclude" else missing
    found = find_minimal_uniques(
        codes,
        counts=counts,
        missing=policy,
        max_size=asked.max_size,
        listing=False,
        workers=asked.workers,
        max_seconds=asked.max_seconds or None,
        progress=tell.pulse,
    )
    smallest = np.full(len(codes), -1, dtype=np.int64)
    some = found.counts.any(axis=1)
    smallest[found.records[some]] = (found.counts[some] > 0).argmax(axis=1)
    return smallest


def _grow(
    n_records: int,
    n_people: int,
    sizes: NDArray[np.int64],
    special: NDArray[np.bool_],
    larger: Sequence[str | float | Fraction] | None,
) -> Iterator[tuple[special_trials.Growth, NDArray[np.float64]]]:
    own = Fraction(n_records, n_people)
    if larger is None:
        steps = tuple(
            dict.fromkeys(min(Fraction(1), step) for step in (2 * own, 4 * own, Fraction(1)))
        )
    else:
        steps = checked_steps("larger", larger, least=own)
    for step in steps:
        n_larger = max(n_records, sample_size(n_people, step))
        chances = special_trials.chances_to_stay_unique(sizes, n_records, n_people, n_larger)
        yield special_trials.Growth(step, *special_trials.both_kinds(1 - chances, special)), chances


def _table(columns: Mapping[str, Any]) -> pa.Table:
    made: dict[str, pa.Array] = {}
    for name, column in columns.items():
        if name == "smallest_msu":
            made[name] = pa.array(column, pa.int32(), mask=column < 0)
        elif name.startswith("coarser ") or name == "needed_variables":
            made[name] = pa.array(column, pa.int32())
        else:
            made[name] = pa.array(column)
    return pa.table(made)
