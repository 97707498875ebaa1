"""Sample uniques record by record: their scores, why each is unique in words, and tables of them.

The scores are SUDA, IS and POL, and what DIS makes of them. A measure that is not known is None,
with the reason in words: without DIS there is no DIS-SUDA and no DIS-IS, and DIS-IS ranks as the
score does for up to 27 key variables only. Where the search is limited to small minimal sample
uniques (MSUs), a unique that has none of them is not known to be safe: its scores are 0, but its
probabilities are not known (NaN).

Words are made for the records that are asked for, never for a whole file. The table of MSUs is
linear in their number.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gamekeeper.algorithms.uniques.minimal_uniques import MinimalUniques
from gamekeeper.algorithms.uniques.scores import (
    DIS_IS_MOST_VARIABLES,
    ScoreKind,
    dis_is,
    dis_suda,
    proportions_of_lattice,
    size_weights,
    weigh,
)
from gamekeeper.arrow import arrow_table, pa, pc
from gamekeeper.attack.contributions import NO_MSU, SizeContribution
from gamekeeper.attack.risk import NOT_UNIQUE, RiskClasses
from gamekeeper.attack.uniques.dis import GeneralDis
from gamekeeper.data.coding.codebook import CodedVariable
from gamekeeper.data.keys.key_table import KeyTable
from gamekeeper.data.keys.writing import write_records
from gamekeeper.errors import InputError, Problem, Reason
from gamekeeper.results import Provenance, Result, table_html
from gamekeeper.wording import count_of

MEASURE_NAMES: Mapping[str, str] = {
    "suda": "SUDA score (2002)",
    "is": "IS (intermediate score)",
    "pol": "POL (proportion of lattice)",
    "dis_suda": "DIS-SUDA (2003, capped apportionment of ln scores)",
    "dis_is": "DIS-IS (Q = 1 + (8-K)/20)",
    "dis_is_suda": "DIS-IS (Q = 1 + (8-K)/20) on the SUDA score",
}
"""Every measure of a sample unique, with the variant."""
MEASURES = tuple(MEASURE_NAMES)
PROBABILITIES = ("dis_is", "dis_suda", "dis_is_suda")
"""The measures that estimate the probability of a correct match; the others are scores."""


@dataclass(frozen=True, slots=True)
class UniqueScores:
    """The measures of the sample uniques, in the order of their records.

    - `columns`: each measure by name; None where it is not known, NaN where not for a record.
    - `missing`: why a measure is not known, by name.
    - `is_weights`, `suda_weights`: the weight of an MSU of each size from 0.
    - `unallocated`: what DIS-SUDA could not divide, as all uniques with a weight have 1 already.
    """

    columns: Mapping[str, NDArray[Any] | None]
    missing: Mapping[str, str]
    is_weights: tuple[int, ...]
    suda_weights: tuple[int, ...]
    unallocated: float


def score_uniques(
    found: MinimalUniques, dis: Fraction | None, *, power: int, why_no_dis: str = ""
) -> UniqueScores:
    """Return every measure of the sample uniques.

    Sums that are beyond int64 are the nearest floats; those of a file are kept exact elsewhere.
    """
    n_variables = found.n_variables
    is_weights = size_weights(n_variables, ScoreKind.IS, max_size=found.max_size)
    suda_weights = size_weights(n_variables, ScoreKind.SUDA, power=power, max_size=found.max_size)
    is_scores = _sums(found, is_weights)
    suda_scores = _sums(found, suda_weights)
    columns: dict[str, NDArray[Any] | None] = {
        "suda": suda_scores,
        "is": is_scores,
        "pol": proportions_of_lattice(is_scores, n_variables),
        "dis_suda": None,
        "dis_is": None,
        "dis_is_suda": None,
    }
    missing: dict[str, str] = {}
    unallocated = 0.0
    if dis is None:
        missing = dict.fromkeys(PROBABILITIES, why_no_dis)
    else:
        shared = dis_suda(suda_scores, dis)
        columns["dis_suda"], unallocated = shared.values, shared.unallocated
        if n_variables <= DIS_IS_MOST_VARIABLES:
            columns["dis_is"] = dis_is(is_scores, dis, n_variables)
            columns["dis_is_suda"] = dis_is(suda_scores, dis, n_variables)
        else:
            reason = (
                f"DIS-IS ranks as the score does for up to {DIS_IS_MOST_VARIABLES} key variables,"
                f" and there are {n_variables}"
            )
            missing = dict.fromkeys(("dis_is", "dis_is_suda"), reason)
    hidden = ~found.counts.any(axis=1)
    for name in PROBABILITIES:
        values = columns[name]
        if values is not None and hidden.size and hidden.all():
            columns[name] = None
            missing[name] = "only combinations larger than those searched set the uniques apart"
        elif values is not None:
            columns[name] = np.where(hidden, np.nan, values)
    return UniqueScores(columns, missing, is_weights, suda_weights, unallocated)


def _sums(found: MinimalUniques, weights: tuple[int, ...]) -> NDArray[Any]:
    """Return the score of each sample unique: exact where all fit int64, else floats."""
    return weigh(found.counts, weights, exact=fits_int64(found, weights))


def fits_int64(found: MinimalUniques, weights: tuple[int, ...]) -> bool:
    """Return whether no score of a record can be beyond int64."""
    most = found.counts.max(axis=0, initial=0).tolist()
    return sum(n * weight for n, weight in zip(most, weights, strict=True)) < 2**63


@dataclass(frozen=True, slots=True)
class Explanation:
    """One reason in words; `size` is None where it is not an MSU."""

    record: int
    size: int | None
    variables: tuple[str, ...]
    text: str


@dataclass(frozen=True, repr=False)
class Explanations(Result):
    """MSUs of some records in words; others of theirs, and other uniques, are counted."""

    lines: tuple[Explanation, ...]
    n_records: int
    left_out: int
    more_uniques: int
    provenance: Provenance

    def summary(self) -> dict[str, Any]:
        """Return the headline numbers."""
        return {
            "records": self.n_records,
            "msus": sum(line.size is not None for line in self.lines),
            "left_out": self.left_out,
            "more_uniques": self.more_uniques,
        }

    def sentences(self) -> list[str]:
        """Return how much is told here, and how much is not."""
        told = [f"What sets {count_of(self.n_records, 'record')} apart."]
        if self.left_out:
            told.append(
                f"{count_of(self.left_out, 'further combination')} of these records are not told: give"
                " a larger number (most=...)."
            )
        if self.more_uniques:
            told.append(
                f"{count_of(self.more_uniques, 'further sample unique')} are not told: name them by"
                " their numbers (records=...)."
            )
        return told

    def to_arrow(self) -> pa.Table:
        """Return one row per reason: record, MSU size, its variables, and in words."""
        columns = {"record": "int64", "size": "int32", "variables": "string", "in_words": "string"}
        rows = [
            (line.record, line.size, " + ".join(line.variables), line.text) for line in self.lines
        ]
        return arrow_table(columns, rows)

    def _repr_html_(self) -> str:
        # Without the words, which hold values of the file: a notebook travels further.
        rows = [(line.record, line.size, " + ".join(line.variables)) for line in self.lines]
        caption = f"{type(self).__name__}: {' '.join(self.sentences())}"
        return table_html(["record", "size", "variables"], rows, caption=caption)


@dataclass(frozen=True, slots=True, repr=False)
class Explainer:
    """What is needed to explain any record of a file.

    - `codes`: of the counted records, a row each; of different keys if an engine has them.
    - `rows`: the number of each of them in the file, from 0, rising; of the first with the key.
    - `size_of`: tells the class size of a record by its number from 0; 0 for one that was left out.
    - `found`: the MSUs, by row of `codes`.
    """

    variables: tuple[CodedVariable, ...]
    codes: NDArray[np.unsignedinteger[Any]]
    rows: NDArray[np.int64]
    n_records: int
    n_uniques: int
    size_of: Callable[[int], int]
    found: MinimalUniques

    def explain(self, record: int, most: int | None) -> tuple[list[Explanation], int]:
        """Return the reasons of a record (its number from 1), and how many MSUs are left out."""
        size = self.size_of(record - 1)
        if size != 1:
            if size == 0:
                text = "left out: it has a missing value among the key variables"
            else:
                others = count_of(size - 1, "other record")
                text = f"not unique: it shares its key with {others}"
            return [Explanation(record, None, (), text)], 0
        place = int(self.rows.searchsorted(record - 1))
        # As positions of variables, the smallest first.
        masks = sorted(self.found.of_record(place), key=lambda item: (len(item), item))
        if not masks:
            limit = count_of(self.found.max_size, "variable")
            text = (
                f"unique, but by no combination of at most {limit}: that is where the search ended"
            )
            return [Explanation(record, None, (), text)], 0
        shown = masks if most is None else masks[:most]
        row = self.codes[place]
        lines: list[Explanation] = []
        for positions in shown:
            used = [self.variables[position] for position in positions]
            names = tuple(variable.name for variable in used)
            codes = [int(row[position]) for position in positions]
            cells = [f"{one.name} {one.words[code]}" for one, code in zip(used, codes, strict=True)]
            text = f"unique by {' + '.join(cells)}" if cells else "unique: it is the only record"
            lines.append(Explanation(record, len(positions), names, text))
        return lines, len(masks) - len(shown)

    def check(self, records: Iterable[int]) -> None:
        """Raise an error that names every record number that the file does not have."""
        problems = [
            Problem(
                Reason.BAD_OPTION,
                f"Record {record}",
                f"the file has the records 1 to {self.n_records:,}.",
            )
            for record in records
            if not 1 <= record <= self.n_records
        ]
        if problems:
            raise InputError(
                Reason.BAD_OPTION,
                "Records were to be explained.",
                f"{count_of(len(problems), 'number')} cannot be used.",
                "Records are counted from 1, in the order of the file.",
                problems=problems,
            )


def variables_of(mask: int) -> tuple[int, ...]:
    """Return the positions of the variables of an MSU.

    >>> variables_of(0b1001)
    (0, 3)
    """
    return tuple(place for place in range(mask.bit_length()) if mask >> place & 1)


def names_of(variables: Sequence[CodedVariable], mask: int) -> tuple[str, ...]:
    """Return the names of the variables of an MSU."""
    return tuple(variables[place].name for place in variables_of(mask))


@dataclass(frozen=True, slots=True, repr=False)
class UniqueFacts:
    """The findings about a file and its sample uniques.

    - `max_size`: the largest size of MSU that was searched for.
    - `smallest`: per sample unique the size of its smallest MSU, -1 where none was found.
    - `general`: the DIS of the file by the general method, or why there is none.
    - `class_numbers`: per sample unique the position of its risk class, -1 where that is not known.
    - `rank_by`, `asked_rank`: the measure that ranks, and the one that was asked for.
    """

    table: KeyTable
    max_size: int
    smallest: NDArray[np.int8]
    sizes: tuple[SizeContribution, ...]
    scores: UniqueScores
    general: GeneralDis
    classes: RiskClasses
    class_numbers: NDArray[np.int8]
    rank_by: str
    asked_rank: str

    @property
    def n_uniques(self) -> int:
        """The number of sample uniques."""
        return len(self.smallest)

    @property
    def file_is(self) -> int:
        """The sum of the IS scores of the file."""
        return sum(line.is_score for line in self.sizes)

    @property
    def file_suda(self) -> int:
        """The sum of the SUDA scores of the file."""
        return sum(line.suda_score for line in self.sizes)


def record_table(
    records: NDArray[np.int64],
    class_sizes: NDArray[np.int64],
    uniques: NDArray[np.int64],
    msus: NDArray[np.int64],
    facts: UniqueFacts,
) -> pa.Table:
    """Return one row per record, in the order of the file.

    `records` are their numbers in the file, from 1: all of them, or the sample uniques. Each has its
    class size, 0 if it was left out. `uniques` are the sample uniques by their place among these
    records, `msus` how many MSUs each of these has.
    """
    n_records = len(records)
    excluded = class_sizes == 0
    made: dict[str, Any] = {
        "record": pa.array(records),
        "class_size": pa.array(class_sizes, mask=excluded),
        "msus": pa.array(_spread(n_records, uniques, msus, 0), mask=excluded),
    }
    sizes = _spread(n_records, uniques, facts.smallest, NO_MSU)
    made["smallest_msu"] = pa.array(sizes, mask=sizes == NO_MSU)
    for name in MEASURES:
        values = facts.scores.columns[name]
        if values is None:
            made[name] = pa.nulls(n_records, pa.float64())
            continue
        spread = _spread(n_records, uniques, values, 0)
        made[name] = pa.array(spread, mask=excluded | np.isnan(spread))
    # One more class for the records that are not unique, at the end of the names.
    class_names = facts.classes.names
    numbers = _spread(n_records, uniques, facts.class_numbers, len(class_names))
    codes = pa.array(numbers, mask=excluded | (numbers < 0))
    words = pa.array([*class_names, NOT_UNIQUE], pa.string())
    made["risk_class"] = pa.DictionaryArray.from_arrays(codes, words).cast(pa.string())
    return pa.table(made)


def write_unique_records(
    key_table: KeyTable,
    table: pa.Table,
    folder: Path,
    *,
    not_known: Sequence[str] = (),
    identifier: str = "",
) -> int:
    """Let the engine that has the records write the table of all, given that of the uniques.

    The rows of `table` that are no uniques are not looked at: what they say is known. `not_known`
    are the measures that are not known of any record.
    """
    return write_records(
        key_table,
        table.filter(pc.equal(table["class_size"], 1)),
        folder,
        others=_of_others(not_known),
        identifier=identifier,
    )


def with_others(
    uniques: pa.Table, records: NDArray[np.int64], not_known: Sequence[str] = ()
) -> pa.Table:
    """Return one row for each of some records by their numbers, given the table of all uniques.

    >>> import pyarrow as pa
    >>> known = {"record": [4], "msus": [2], "is": [6.0], "smallest_msu": pa.array([1], pa.int8())}
    >>> with_others(pa.table(known), np.array([9, 4])).to_pydict()
    {'record': [9, 4], 'msus': [0, 2], 'is': [0.0, 6.0], 'smallest_msu': [None, 1]}
    """
    others = _of_others(not_known)
    order = np.argsort(uniques["record"].to_numpy())
    known = uniques["record"].to_numpy()[order]
    place = np.minimum(np.searchsorted(known, records), max(len(known) - 1, 0))
    is_known = known[place] == records if len(known) else np.zeros(len(records), bool)
    rows = pa.array(order[place] if len(known) else place, mask=~is_known)
    made = {"record": pa.array(records)}
    for name in uniques.column_names:
        if name in others:
            column = uniques[name]
            value = pa.scalar(others[name], column.type)
            made[name] = pc.if_else(pa.array(is_known), column.take(rows), value)
    return pa.table(made)


def _of_others(not_known: Sequence[str]) -> dict[str, float | str | None]:
    return {
        **dict.fromkeys(MEASURES, 0),
        **dict.fromkeys(not_known),
        "msus": 0,
        "smallest_msu": None,
        "risk_class": NOT_UNIQUE,
    }


def column_meanings(classes: RiskClasses, n_keys: int, power: int) -> dict[str, str]:
    """Return what each column of the table says."""
    meanings = {
        "record": "number of the record in the file, from 1",
        "class_size": f"records with the same values on the {n_keys} key variables, with itself",
        "msus": "number of minimal sample uniques",
        "smallest_msu": "variables in the smallest of them; empty where there is none",
    }
    for name, words in MEASURE_NAMES.items():
        kind = "estimated probability of a correct match" if name in PROBABILITIES else "score"
        meanings[name] = f"{words}; {kind}, 0 for records that are not unique"
    meanings["suda"] += f", times 10^{power}"
    meanings["risk_class"] = f"class by {classes.measure}: {classes.text}"
    return meanings


def _spread(
    n_records: int, places: NDArray[np.int64], values: NDArray[Any], other: int
) -> NDArray[Any]:
    spread = np.full(n_records, other, dtype=values.dtype)
    spread[places] = values
    return spread


def msu_table(explainer: Explainer) -> pa.Table:
    """Return one row per MSU: record, size, variables, and the category of each of them."""
    found, variables = explainer.found, explainer.variables
    if found.masks is None or found.offsets is None:
        raise InputError(
            Reason.BAD_OPTION,
            "Every minimal sample unique was asked for.",
            "They were counted and not listed.",
            "Search again with a list of them.",
        )
    masks = found.masks
    rows = np.repeat(found.records, np.diff(found.offsets))
    different, places = np.unique(masks, return_inverse=True)
    texts = pa.array(
        [" + ".join(names_of(variables, int(mask))) for mask in different], pa.string()
    )
    sizes = np.array([int(mask).bit_count() for mask in different], dtype=np.int32)
    columns: dict[str, pa.Array] = {
        "record": pa.array(explainer.rows[rows] + 1),
        "size": pa.array(sizes[places]),
        "variables": texts.take(pa.array(places)),
    }
    for place, variable in enumerate(variables):
        name = variable.name
        while name in columns:
            name += "_"
        outside = (masks >> np.uint64(place)) & np.uint64(1) == 0
        codes = pa.array(explainer.codes[rows, place].astype(np.int64), mask=outside)
        columns[name] = pa.array(variable.words).take(codes)
    return pa.table(columns)
