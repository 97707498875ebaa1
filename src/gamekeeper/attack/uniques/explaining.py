"""Why a record is unique, in words: its minimal sample uniques (MSUs) as variables and categories.

Words are made for the records that are asked for, never for a whole file.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from gamekeeper.algorithms.uniques.minimal_uniques import MinimalUniques
from gamekeeper.data.coding.codebook import CodedVariable
from gamekeeper.errors import InputError, Problem, Reason
from gamekeeper.results import Provenance, Result, arrow_table, table_html
from gamekeeper.wording import count_of

if TYPE_CHECKING:
    import numpy as np
    import pyarrow as pa
    from numpy.typing import NDArray


@dataclass(frozen=True, slots=True)
class Explanation:
    """One reason in words; `size` is None where it is not an MSU."""

    record: int
    size: int | None
    variables: tuple[str, ...]
    text: str


@dataclass(frozen=True, repr=False)
class Explanations(Result):
    """MSUs of some records in words.

    `left_out` counts the MSUs of these records beyond those asked for, `more_uniques` the sample
    uniques that are not among the records.
    """

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

    Attributes
    ----------
    variables
        The key variables with their words, in the order of the columns of `codes`.
    codes
        The codes of the counted records, one row each; those of different keys where an engine
        elsewhere has the records.
    rows
        The number of each of these records in the file, from 0, rising; of the first with the key.
    n_records, n_uniques
        How many records the file has, and how many are unique.
    size_of
        Tells the class size of a record by its number from 0; 0 for one that was left out.
    found
        The MSUs, by row of `codes`.
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

    Examples
    --------
    >>> variables_of(0b1001)
    (0, 3)
    """
    return tuple(place for place in range(mask.bit_length()) if mask >> place & 1)


def names_of(variables: Sequence[CodedVariable], mask: int) -> tuple[str, ...]:
    """Return the names of the variables of an MSU."""
    return tuple(variables[place].name for place in variables_of(mask))
