"""Numbers of a coded file as arrays and back; PRAM and sampling as steps, whose lots are the records'.

A number is a numeric column of the table, or a coded variable all of whose values are numbers (an
age among the keys); a column that is both is changed in both. What is drawn for a record, and which
of two records comes first, depends on the records' identities and never on their order in the file.
PRAM draws categories anew so that counts stay as they are, on average or exactly. Sampling keeps
some records by lot, with weights that stand for all.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import count
from typing import Annotated, ClassVar

import numpy as np
from numpy.typing import NDArray

from gamekeeper.algorithms.classes import EqualRows, dense_numbers
from gamekeeper.algorithms.perturbation import pram
from gamekeeper.algorithms.perturbation.counter_streams import CounterStream
from gamekeeper.algorithms.perturbation.masking import draw_records
from gamekeeper.data.coding.codebook import MISSING, CodedVariable
from gamekeeper.data.coding.coded_table import CodedTable, replace_cells
from gamekeeper.data.reading.columns import float_of, number_of, value_text
from gamekeeper.errors import InputError, Problem, Reason, refuse
from gamekeeper.options import Option, option
from gamekeeper.protection import step
from gamekeeper.wording import count_of, did_you_mean, percent_text, quoted

Floats = NDArray[np.float64]


def canonical_order(table: CodedTable, setting: step.Setting) -> NDArray[np.int64]:
    """Return the records in an order that is theirs and not that of the file."""
    return np.argsort(setting.records(table), kind="stable")


def read_numbers(
    table: CodedTable, names: Sequence[str], setting: step.Setting, asked: str
) -> Floats:
    """Return variables as numbers, a column each, NaN where missing; one error names all that are none."""
    problems: list[Problem] = []
    columns: list[Floats] = []
    known = list(dict.fromkeys((*table.numbers, *table.codebook.names)))
    for name in names:
        where = f"variable {quoted([name])}"
        if name in table.numbers:
            columns.append(table.number(name))
        elif name in table.codebook:
            values = table.codebook[name].values
            read = [number_of(value, setting.decimal) for value in values[MISSING + 1 :]]
            faults = sum(number is None for number in read)
            if faults:
                found = f"{faults:,} of its {count_of(len(read), 'value')} are no numbers."
                problems.append(Problem(Reason.WRONG_SCHEMA, where, found))
                continue
            numbers = np.array([np.nan, *(float_of(number or Fraction(0)) for number in read)])
            if n_large := int(np.isinf(numbers).sum()):
                found = f"{n_large:,} of its {count_of(len(read), 'value')} are too large."
                problems.append(Problem(Reason.TOO_LARGE, where, found))
                continue
            columns.append(numbers[table.codes(name)])
        else:
            near = did_you_mean(name, known)
            problems.append(Problem(Reason.UNKNOWN_NAME, where, "It is not in the file.", near))
    problems += naming_problems(names)
    fault = f"{count_of(len(problems), 'variable')} cannot be used."
    refuse(problems, asked, fault, "Name variables of the file whose values are numbers.")
    return np.stack(columns, axis=1)


def naming_problems(names: Sequence[str]) -> list[Problem]:
    """Return what is wrong with a list of variables whatever the file has: one is there twice, or none."""
    if not names:
        return [Problem(Reason.NOTHING_GIVEN, "variables", "None is named.")]
    return [
        Problem(Reason.DUPLICATE, f"variable {quoted([name])}", "It is named more than once.")
        for name, times in Counter(names).items()
        if times > 1
    ]


def read_weights(table: CodedTable, setting: step.Setting, asked: str) -> Floats:
    """Return the weights of records, 0 where there is none, or raise where they cannot be used."""
    found = ""
    weights = np.zeros(0)
    if not setting.weight:
        found = "Weights are to count, and no column with weights is named."
    else:
        weights = np.nan_to_num(table.number(setting.weight))
        if (weights < 0).any() or not weights.any():
            found = "Some weights are negative, or all of them are 0."
    if found:
        do = "Name weights (--weight of protect try), or do it without them."
        raise InputError(Reason.BAD_OPTION, asked, found, do)
    return weights


def decimals_of(values: Floats) -> int | None:
    """Return how many decimals numbers have; None where they have more than are ever meant.

    Examples
    --------
    >>> decimals_of(np.array([1.0, 2.5, np.nan])), decimals_of(np.array([1 / 3]))
    (1, None)
    """
    known = values[np.isfinite(values)]
    for decimals in range(6 + 1):
        if np.array_equal(np.round(known, decimals), known):
            return decimals
    return None


def rounded(after: Floats, before: Floats, decimals: int | None) -> Floats:
    """Return numbers with so many decimals each, or with as many as they had before."""
    made = after.copy()
    for place in range(made.shape[1]):
        wanted = decimals_of(before[:, place]) if decimals is None else decimals
        if wanted is not None:
            made[:, place] = np.round(made[:, place], wanted)
    # There is no zero below zero.
    return made + 0.0


def with_numbers(
    table: CodedTable, names: Sequence[str], before: Floats, after: Floats, setting: step.Setting
) -> tuple[CodedTable, step.ChangeLog]:
    """Return the table with other numbers, and where they differ; missing cells stay missing."""
    numbers: dict[str, Floats] = {}
    codes: dict[str, NDArray[np.int64]] = {}
    variables: dict[str, CodedVariable] = {}
    changes: dict[str, step.VariableChange] = {}
    for place, name in enumerate(names):
        old, new = before[:, place], after[:, place]
        changed = np.isfinite(old) & (old != new)
        changes[name] = step.VariableChange.of_cells(changed)
        if name in table.numbers:
            numbers[name] = new
        if name in table.codebook:
            variables[name], codes[name] = _recoded(table, name, new, changed, setting.decimal)
    made = replace_cells(table, codes, numbers=numbers, variables=variables)
    return made, step.ChangeLog(table.n_records, changes)


def _recoded(
    table: CodedTable, name: str, new: Floats, changed: NDArray[np.bool_], decimal: str
) -> tuple[CodedVariable, NDArray[np.int64]]:
    """Return a variable with other values, and its codes; cells that stay keep their writing."""
    old = table.codebook[name]
    codes = table.codes(name).astype(np.int64)
    written: dict[float, str] = {}
    for value in reversed(old.values[MISSING + 1 :]):
        number = number_of(value, decimal)
        if number is not None:
            written[float_of(number)] = value
    distinct, places = np.unique(new[changed], return_inverse=True)
    texts = [written.get(float(number)) or _text(float(number), decimal) for number in distinct]
    stay = {old.values[code] for code in np.unique(codes[~changed]) if code != MISSING}
    labels = {
        value: word for value, word in zip(old.values, old.words, strict=True) if value != word
    }
    made = CodedVariable.of_values(
        name, {*texts, *stay}, labels=labels, label=old.label, decimal=decimal
    )
    code_of = {value: code for code, value in enumerate(made.values) if code != MISSING}
    from_old = np.array([code_of.get(value, MISSING) for value in old.values], np.int64)
    fresh = from_old[codes]
    fresh[changed] = np.array([code_of[text] for text in texts], np.int64)[places]
    return made, fresh


def _text(number: float, decimal: str) -> str:
    text = value_text(number)
    assert text is not None
    return text.replace(".", decimal)


def strata_of(
    table: CodedTable, setting: step.Setting, within: Sequence[str], asked: str
) -> tuple[NDArray[np.int64], tuple[str, ...]]:
    """Return a number per record that tells its stratum, and the variables that make strata.

    These are the variables named, or else the strata of the setting. A missing cell is a value.
    """
    names = tuple(within) or ((setting.strata,) if setting.strata else ())
    unknown = [name for name in names if name not in table.codebook]
    if unknown:
        found = f"{quoted(unknown)} {'is' if len(unknown) == 1 else 'are'} not among the coded variables."
        raise InputError(
            Reason.UNKNOWN_NAME, asked, found, did_you_mean(unknown[0], table.codebook.names)
        )
    strata = np.zeros(table.n_records, np.int64)
    for name in names:
        _, strata = np.unique(strata * table.codebook[name].n_codes + table.codes(name),
                              return_inverse=True)  # fmt: skip
    return strata, names


def members_of(strata: NDArray[np.int64]) -> list[NDArray[np.int64]]:
    """Return the places of the records of every stratum, in the order of strata."""
    order = np.argsort(strata, kind="stable")
    bounds = np.flatnonzero(np.diff(strata[order])) + 1
    return [part for part in np.split(order, bounds) if len(part)]


def changed_words(log: step.ChangeLog, names: Sequence[str]) -> str:
    """Return how many cells of variables got another value, in words."""
    told = [
        f"{quoted([name])} {log.variables[name].n_changed:,} of {log.n_records:,}" for name in names
    ]
    return f"Cells with another value: {', '.join(told)}."


def within_words(names: Sequence[str]) -> str:
    """Return the variables that make strata, as part of a sentence."""
    return f" within {quoted(names)}" if names else ""


def left_words(n_left: int, what: str) -> list[str]:
    """Say how many records have a missing number and are left without what protects others."""
    if not n_left:
        return []
    told = (
        f"{count_of(n_left, 'record')} with a missing number {'was' if n_left == 1 else 'were'} left as"
        f" they are: no {what} protects them."
    )
    return [told]


Codes = NDArray[np.int64]
_MOST_CATEGORIES = 1000
_MOST_EXACT = 200


@dataclass(frozen=True, kw_only=True)
class Pram(step.Step):
    """Categories are drawn anew by known probabilities (post randomisation)."""

    do: ClassVar[str] = "pram"
    iso: ClassVar[str] = "randomization"
    variables: Annotated[tuple[str, ...], Option("The coded variables, each by itself.")]
    keep: float = option(
        0.8, "The probability to stay, before it is made invariant.", least=1e-6, most=1
    )
    share: float = option(0.5, "How much is drawn; the rest stays for certain.", least=0, most=1)
    exact_counts: bool = option(False, "Every count stays exactly, and not only on average.")
    within_categories: tuple[str, ...] = option(
        (),
        "Values become others of the same coarser category only: rules of recoding that say which,"
        " such as 'Age=width 10'.",
    )
    within: tuple[str, ...] = option(
        (), "Drawn separately in the classes of these variables, else in the strata."
    )

    def apply(self, table: CodedTable, setting: step.Setting, place: int = 1) -> step.Protected:
        """Draw categories anew."""
        begun = time.perf_counter()
        asked = "Categories were to be drawn anew."
        self._check(asked, table)
        strata, within = strata_of(table, setting, self.within, asked)
        order = canonical_order(table, setting)
        parts = [order[members] for members in members_of(strata[order])]
        small = sum(len(members) < pram.LEAST_RECORDS for members in parts)
        if small:
            raise InputError(
                Reason.BAD_OPTION,
                asked,
                f"{count_of(small, 'class has', 'classes have')} fewer than {pram.LEAST_RECORDS} records:"
                " too few to hide among.",
                "Draw within fewer or coarser variables, or across the whole file.",
            )
        blocks = self._blocks(table, setting)
        ids = setting.records(table)
        codes: dict[str, Codes] = {}
        changes: dict[str, step.VariableChange] = {}
        expected: dict[str, float] = {}
        households = setting.households(table)
        for name in self.variables:
            stream = setting.stream(place, self.do, name)
            old = table.codes(name).astype(np.int64)
            units = _units(old, strata, households)
            draws = stream.uniform(ids)
            new, stays, total = old.copy(), 0.0, 0
            for number, members in enumerate(parts):
                own = members[old[members] != MISSING]
                if not len(own):
                    continue
                # Of a household the first record draws, and the others follow.
                _, first = np.unique(units[own], return_index=True)
                chosen = own[np.sort(first)]
                counts = np.bincount(old[own] - 1, minlength=table.codebook[name].n_codes - 1)
                drawn, kept = self._drawn(
                    old[chosen] - 1, counts, blocks.get(name), draws[chosen],
                    _lots(stream, number),
                )  # fmt: skip
                after = np.zeros(int(units.max()) + 1, np.int64)
                after[units[chosen]] = drawn + 1
                new[own] = after[units[own]]
                stays, total = stays + kept * len(own), total + len(own)
            codes[name] = new
            changes[name] = step.VariableChange.of_cells(new != old)
            expected[name] = stays / total if total else 1.0
        made = replace_cells(table, codes)
        log = step.ChangeLog(table.n_records, changes)
        how = "exactly" if self.exact_counts else "on average"
        told = [
            (
                f"{quoted(self.variables)}: categories were drawn anew{within_words(within)} so that their"
                f" counts stay {how}; missing cells stay missing."
            ),
            "A record keeps its category with a probability of "
            + ", ".join(f"{percent_text(p)} ({quoted([name])})" for name, p in expected.items())
            + ".",
            changed_words(log, self.variables),
        ]
        found = {"expected_unchanged": expected}
        return step.protected_by(
            self, table, made, log, setting, told=told, found=found, began=begun
        )

    def _drawn(
        self,
        codes: Codes,
        counts: Codes,
        blocks: Sequence[int] | None,
        draws: Floats,
        lot: Callable[[], float],
    ) -> tuple[Codes, float]:
        """Return categories drawn anew, from 0, and the probability to stay."""
        # Categories that nobody has are neither drawn nor drawn from.
        used = np.flatnonzero(counts)
        own = np.searchsorted(used, codes)
        if self.exact_counts:
            # What stays exactly is counted in what is drawn, which may be whole households.
            counts = np.bincount(codes, minlength=len(counts))
        within = None if blocks is None else [blocks[code] for code in used.tolist()]
        matrix = pram.invariant_matrix(
            counts[used], pram.staying(len(used), self.keep, within), self.share
        )
        stays = float(pram.expected_unchanged(counts[used], matrix))
        if not self.exact_counts:
            return used[pram.drawn_codes(own, matrix, draws)], stays
        moves = pram.rounded_moves(counts[used][:, None] * matrix, lot)
        return used[pram.moved_codes(own, moves, draws)], stays

    def _blocks(self, table: CodedTable, setting: step.Setting) -> dict[str, list[int]]:
        """Return for variables with a coarser categorization the category of each code from 1 on."""
        if not self.within_categories:
            return {}
        coarse = step.recoded_by(self.within_categories, table, setting)
        return {recode.variable: recode.codes[MISSING + 1 :].tolist() for recode in coarse.recodes}

    def _check(self, asked: str, table: CodedTable) -> None:
        known = table.codebook.names
        most = _MOST_EXACT if self.exact_counts else _MOST_CATEGORIES
        problems = [
            Problem(Reason.UNKNOWN_NAME, f"variable {quoted([name])}",
                    "It is not among the coded variables.", did_you_mean(name, known))
            for name in self.variables
            if name not in known
        ]  # fmt: skip
        problems += naming_problems(self.variables)
        problems += [
            Problem(
                Reason.TOO_LARGE,
                f"variable {quoted([name])}",
                f"It has {table.codebook[name].n_codes - 1:,} categories, and at most {most:,} are drawn"
                f" from{' where counts stay exactly' if self.exact_counts else ''}.",
                "Recode it first, or swap its ranks.",
            )
            for name in self.variables
            if name in known and table.codebook[name].n_codes - 1 > most
        ]
        refuse(problems, asked, f"{count_of(len(problems), 'variable')} cannot be used.")


def _lots(stream: CounterStream, stratum: int) -> Callable[[], float]:
    """Return numbers that belong to a stratum and to no record, one after the other."""
    turns = count(1)
    return lambda: float(stream.uniform([stratum], 2 * next(turns))[0])


def _units(codes: Codes, strata: Codes, households: Codes | None) -> Codes:
    """Return who draws together: households, for a variable that is the same for all their members."""
    everybody = np.arange(len(codes))
    if households is None:
        return everybody
    homes = EqualRows.of(dense_numbers(households))
    first = homes.firsts[homes.numbers]
    same = (codes == codes[first]).all() and (strata == strata[first]).all()
    return homes.numbers if same else everybody


@dataclass(frozen=True, kw_only=True)
class Sample(step.Step):
    """A share of the records is released, drawn by lot; the others are left out."""

    do: ClassVar[str] = "sample"
    iso: ClassVar[str] = "sampling"
    fraction: Annotated[
        float, Option("The share of records (or of households) to release.", least=1e-9, most=1)
    ]
    within: tuple[str, ...] = option(
        (), "The same share of every class of these variables, else of every stratum."
    )

    def apply(self, table: CodedTable, setting: step.Setting, place: int = 1) -> step.Protected:
        """Draw records; of households all or none."""
        begun = time.perf_counter()
        asked = f"A sample of {percent_text(self.fraction)} of the records was to be drawn."
        strata, within = strata_of(table, setting, self.within, asked)
        order = canonical_order(table, setting)
        homes = setting.households(table)
        units = None if homes is None else homes[order]
        draws = setting.stream(place, self.do).uniform(setting.records(table))[order]
        found = draw_records(Fraction(str(self.fraction)), draws, strata=strata[order], units=units)
        drawn, factors = np.zeros(table.n_records, np.bool_), np.zeros(table.n_records)
        drawn[order], factors[order] = found.drawn, found.factors
        records = np.flatnonzero(drawn)
        numbers = {}
        changes = {}
        if setting.weight:
            numbers[setting.weight] = table.number(setting.weight) * factors
            changes[setting.weight] = step.VariableChange.of_cells(drawn & (factors != 1))
        made = replace_cells(table, numbers=numbers, records=records)
        log = step.ChangeLog(table.n_records, changes, records)
        left_out = table.n_records - len(records)
        told = [
            (
                f"{count_of(len(records), 'record')} of {table.n_records:,} were drawn by lot"
                f"{', households as a whole' if setting.household else ''}{within_words(within)};"
                f" {left_out:,} are left out."
            ),
            f"Weights ({quoted([setting.weight])}) grew to match."
            if setting.weight
            else "There are no weights: counts of the sample are to be scaled up by its user.",
        ]
        facts = {"drawn": len(records), "left_out": left_out}
        return step.protected_by(
            self, table, made, log, setting, told=told, found=facts, began=begun
        )
