"""Results of a risk assessment, per record and for the file, and names for ranges of a measure.

A score ranks and has no other meaning. Only what estimates the chance of a correct match is called
a probability; which it is stands with each measure. Thresholds of classes are the user's to set.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from gamekeeper.arrow import arrow_table, pa, pc
from gamekeeper.errors import InputError, Problem, Reason
from gamekeeper.results import Provenance, Result, table_html
from gamekeeper.wording import did_you_mean, digits_text, quoted

if TYPE_CHECKING:
    import numpy as np
    from matplotlib.figure import Figure
    from numpy.typing import NDArray

    from gamekeeper.data.keys.key_table import KeyTable
    from gamekeeper.data.keys.listed_records import ListedRecords

NOT_UNIQUE = "not unique"
"""The class of records that share their key with another."""
_MEASURES = ("dis_is", "dis_suda", "dis_is_suda", "pol", "is", "suda", "p_match")
_UP_TO_ONE = frozenset({"dis_is", "dis_suda", "dis_is_suda", "pol", "p_match"})
_NAME_LETTERS = 40


@dataclass(frozen=True, slots=True, init=False)
class RiskClasses:
    """Classes of risk for sample uniques: a record is in the highest class whose threshold it meets.

    - `thresholds`: the name of each class and its lower threshold, in any order.
    - `below`: the name of the class of sample uniques that meet no threshold.
    - `measure`: the measure that is classified: dis_is, dis_suda, dis_is_suda, pol, is or suda;
      p_match in an assessment.

    `names` has the classes of sample uniques, the highest first; `below` is the last, unless the
    lowest threshold is 0. `lower` has their lower thresholds; that of `below` is 0.

    Examples
    --------
    >>> import numpy as np
    >>> classes = RiskClasses({"high": 0.2, "medium": 0.05})
    >>> classes.names, classes.lower
    (('high', 'medium', 'low'), (0.2, 0.05, 0.0))
    >>> classes.classify(np.array([0.3, 0.01, 0.2])).tolist()
    [0, 2, 0]
    """

    names: tuple[str, ...]
    lower: tuple[float, ...]
    measure: str

    def __init__(
        self, thresholds: Mapping[str, float], *, below: str = "low", measure: str = "dis_is"
    ) -> None:
        problems = [*_name_problems(thresholds, below), *_measure_problems(measure)]
        problems += _threshold_problems(thresholds, measure)
        if not thresholds:
            problems.append(
                Problem(Reason.NOTHING_GIVEN, "Thresholds", "there are none.", "Give one at least.")
            )
        if problems:
            raise InputError(
                Reason.BAD_OPTION,
                "Risk classes were to be set.",
                "Their names or thresholds cannot be used.",
                "Give names with lower thresholds, such as 'high=0.2,medium=0.05'.",
                problems=problems,
            )
        ordered = sorted(thresholds.items(), key=lambda item: -item[1])
        if ordered[-1][1] > 0:
            ordered.append((below, 0.0))
        object.__setattr__(self, "names", tuple(name for name, _ in ordered))
        object.__setattr__(self, "lower", tuple(float(value) for _, value in ordered))
        object.__setattr__(self, "measure", measure)

    @property
    def lowest_threshold(self) -> float:
        """The lowest threshold above 0, or 0 if alone; a record that meets it is called risky."""
        return min((value for value in self.lower if value > 0), default=0.0)

    @property
    def text(self) -> str:
        """The thresholds as a user would write them.

        Examples
        --------
        >>> RiskClasses({"medium": 0.05, "high": 0.2}).text
        'high=0.2,medium=0.05'
        """
        return ",".join(
            f"{name}={str(value).removesuffix('.0')}"
            for name, value in zip(self.names, self.lower, strict=True)
            if value > 0 or len(self.names) == 1
        )

    def classify(self, values: NDArray[np.float64]) -> NDArray[np.int8]:
        """Return the position in `names` of each value's class; a missing value has -1."""
        import numpy as np

        rising = np.array(self.lower[::-1], dtype=np.float64)
        found = len(self.names) - np.searchsorted(rising, values, side="right")
        return np.where(np.isnan(values), -1, found).astype(np.int8)


def parse_risk_classes(text: str, *, below: str = "low", measure: str = "dis_is") -> RiskClasses:
    """Read risk classes from a text of names and lower thresholds.

    Examples
    --------
    >>> parse_risk_classes("high=0.2, medium=0.05").names
    ('high', 'medium', 'low')
    """
    thresholds: dict[str, float] = {}
    problems: list[Problem] = []
    parts = [part.strip() for part in text.split(",") if part.strip()]
    for part in parts:
        name, sign, number = (piece.strip() for piece in part.partition("="))
        where = f"Class {quoted([name])}"
        if name in thresholds:
            problems.append(Problem(Reason.DUPLICATE, where, "it is given twice."))
        try:
            thresholds[name] = float(number)
        except ValueError:
            found = f"{quoted([number])} is not a number." if sign else "it has no threshold."
            problems.append(
                Problem(Reason.BAD_OPTION, where, found, "Write a name, '=' and a number.")
            )
            # A threshold of its own lets the other faults of this class be found as well.
            thresholds[name] = -math.inf
    good = {name: value for name, value in thresholds.items() if value != -math.inf}
    if not problems:
        return RiskClasses(good, below=below, measure=measure)
    problems += [*_name_problems(thresholds, below), *_measure_problems(measure)]
    problems += _threshold_problems(good, measure)
    raise InputError(
        Reason.BAD_OPTION,
        "Risk classes were to be read from a text.",
        "It cannot be understood.",
        "Write names with lower thresholds, such as 'high=0.2,medium=0.05'.",
        problems=problems,
    )


def _name_problems(thresholds: Mapping[str, float], below: str) -> list[Problem]:
    problems: list[Problem] = []
    for name in {**thresholds, below: 0}:
        fault = ""
        if not name.strip():
            fault = "the name is empty."
        elif len(name) > _NAME_LETTERS or not name.isprintable():
            fault = f"the name is not one line of at most {_NAME_LETTERS} letters."
        elif "," in name or "=" in name:
            fault = "the name has a comma or an '='."
        elif name.strip().casefold() == NOT_UNIQUE:
            fault = "this name is kept for records that are not unique."
        if fault:
            problems.append(Problem(Reason.BAD_NAME, f"Class {quoted([name])}", fault))
    if below.casefold() in {name.casefold() for name, value in thresholds.items() if value != 0}:
        problems.append(
            Problem(
                Reason.DUPLICATE,
                f"Class {quoted([below])}",
                "this name is kept for sample uniques below every threshold.",
                "Choose another name, or give it the threshold 0.",
            )
        )
    return problems


def _measure_problems(measure: str) -> list[Problem]:
    if measure in _MEASURES:
        return []
    found, do = "no such measure can be classified.", did_you_mean(measure, _MEASURES)
    return [Problem(Reason.UNKNOWN_NAME, f"Measure {quoted([measure])}", found, do)]


def _threshold_problems(thresholds: Mapping[str, float], measure: str) -> list[Problem]:
    problems: list[Problem] = []
    seen: dict[float, str] = {}
    for name, value in thresholds.items():
        where = f"Class {quoted([name])}"
        if not math.isfinite(value) or value < 0:
            found = f"the threshold {digits_text(value)} is not a finite number from 0 up."
            problems.append(Problem(Reason.BAD_OPTION, where, found))
        elif measure in _UP_TO_ONE and value > 1:
            found = f"the threshold {digits_text(value)} is above 1, which {measure} never is."
            problems.append(Problem(Reason.BAD_OPTION, where, found))
        elif value in seen:
            found = f"it has the same threshold as {quoted([seen[value]])}."
            do = "Give each class a threshold of its own."
            problems.append(Problem(Reason.DUPLICATE, where, found, do))
        seen.setdefault(value, name)
    return problems


DEFAULT_RISK_CLASSES = RiskClasses({"very high": 0.5, "high": 0.2, "medium": 0.05})
"""The classes of DIS-IS unless others are given; no authority has set these thresholds."""

_SHOWN_RECORDS = 10


@dataclass(frozen=True, repr=False)
class RecordRisk(Result):
    """The risk of every record of a file, in the order of the file.

    - `measure`: the column that ranks records.
    - `table`: one row per record: `record` (its number in the file, from 1), `class_size`, then the
      measures. Records that were left out have no class size and no measures.
    - `n_elsewhere`: how many records are not in the table, because an engine elsewhere has them: of
      each of them the table has another one with its key, or it is not unique.
    - `counts`: how many records each row stands for, where it has the first record of every key;
      None where a row is a record.
    - `n_excluded`: how many of all were left out; told by the table where it has all.
    """

    measure: str
    table: pa.Table
    meanings: Mapping[str, str]
    provenance: Provenance
    n_elsewhere: int = 0
    n_excluded: int = 0
    counts: NDArray[np.int64] | None = None

    def summary(self) -> dict[str, Any]:
        """Return the headline numbers."""
        sizes = self.table["class_size"]
        largest = pc.max(self.table[self.measure]).as_py()
        return {
            "records": self.table.num_rows + self.n_elsewhere,
            "excluded": self.n_excluded if self.n_elsewhere else sizes.null_count,
            "sample_uniques": pc.sum(pc.equal(sizes, 1)).as_py() or 0,
            "measure": self.measure,
            "largest": "not known" if largest is None else largest,
        }

    def to_arrow(self) -> pa.Table:
        """Return one row per record, in the order of the file."""
        return self.table

    def top(self, n: int = _SHOWN_RECORDS, *, by: str = "") -> pa.Table:
        """Return the riskiest records, the riskiest first; of equals the one that comes first.

        They are ranked `by` a column, `measure` if empty. None is without a value.
        """
        column = by or self.measure
        known = [
            field.name
            for field in self.table.schema
            if pa.types.is_integer(field.type) or pa.types.is_floating(field.type)
        ]
        if column not in known:
            raise InputError(
                Reason.UNKNOWN_NAME,
                f"Records were to be ranked by {quoted([column])}.",
                "There is no such measure.",
                did_you_mean(column, known),
            )
        if n < 1:
            raise InputError(
                Reason.BAD_OPTION,
                f"The {n} riskiest records were asked for.",
                "That is less than one.",
                "Give a positive whole number.",
            )
        kept = self.table.filter(pc.is_valid(self.table[column]))
        keys = [(column, "descending")]
        if column != "record":
            keys.append(("record", "ascending"))
        return kept.take(pc.sort_indices(kept, sort_keys=keys)[:n])

    def _repr_html_(self) -> str:
        shown = self.top()
        rows = zip(*(column.to_pylist() for column in shown.columns), strict=True)
        caption = f"{type(self).__name__}: {shown.num_rows} of {self.table.num_rows:,} records"
        return table_html(shown.column_names, rows, caption=f"{caption}, by {self.measure}")

    def plot(self) -> Figure:
        """Plot how the measure that ranks is distributed; needs no display."""
        from gamekeeper.attack.contributions import plot_records

        return plot_records(self)


def listed_risk(
    measure: str,
    listed: ListedRecords,
    table: pa.Table,
    meanings: Mapping[str, str],
    provenance: Provenance,
) -> RecordRisk:
    """Return results of listed records, which an engine elsewhere may have."""
    return RecordRisk(
        measure,
        table,
        meanings,
        provenance,
        n_elsewhere=listed.n_elsewhere,
        n_excluded=listed.table.n_excluded,
        counts=listed.counts if listed.by_key else None,
    )


def keyed_provenance(
    method: str,
    variant: str,
    key_table: KeyTable,
    parameters: Mapping[str, str],
    *,
    seed: int | None = None,
    seconds: float = 0.0,
) -> Provenance:
    """Return how a result came about that rests on the keys of a file."""
    return Provenance(
        method,
        variant,
        {"keys": ", ".join(key_table.keys), "missing": key_table.missing.value, **parameters},
        seed,
        key_table.coded.fingerprint,
        key_table.coded.engine.name,
        seconds=seconds,
    )


@dataclass(frozen=True, slots=True)
class RiskLine:
    """One measure of a file: its value, what share of the records it is, and what it means."""

    name: str
    value: Fraction | float | None
    meaning: str
    share: Fraction | None = None


def count_line(name: str, number: int, words: str, *, of: int = 0) -> RiskLine:
    """Return a number of records or the like as a line, with its share where there are some of all.

    >>> count_line("sample_uniques", 2, "Sample uniques", of=8)
    RiskLine(name='sample_uniques', value=2, meaning='Sample uniques: 2.', share=Fraction(1, 4))
    """
    return RiskLine(name, number, f"{words}: {number:,}.", Fraction(number, of) if of else None)


@dataclass(frozen=True, repr=False)
class FileRisk(Result):
    """The risk of a whole file, one line per measure; `headline` names those of the summary."""

    tells_of_records = False

    lines: tuple[RiskLine, ...]
    headline: tuple[str, ...]
    provenance: Provenance

    def __getitem__(self, name: str) -> Fraction | float | None:
        for line in self.lines:
            if line.name == name:
                return line.value
        raise InputError(
            Reason.UNKNOWN_NAME,
            f"The measure {quoted([name])} of a file was asked for.",
            "There is no such measure.",
            did_you_mean(name, [line.name for line in self.lines]),
        )

    def summary(self) -> dict[str, Any]:
        """Return the headline numbers."""
        return {name: _plain(self[name]) for name in self.headline}

    def sentences(self) -> list[str]:
        """Return what each measure says, in words."""
        return [line.meaning for line in self.lines]

    def to_arrow(self) -> pa.Table:
        """Return one row per measure: the value as a number, exactly as a text, and in words."""
        columns = {
            "measure": "string",
            "value": "float64",
            "exact": "string",
            "share": "float64",
            "meaning": "string",
        }
        rows = [
            (
                line.name,
                None if line.value is None else float(line.value),
                "" if line.value is None else str(line.value),
                None if line.share is None else float(line.share),
                line.meaning,
            )
            for line in self.lines
        ]
        return arrow_table(columns, rows)


def _plain(value: Fraction | float | None) -> int | float | str:
    if value is None:
        return "not known"
    return float(value) if isinstance(value, Fraction) else value
