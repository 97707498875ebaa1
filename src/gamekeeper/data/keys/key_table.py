"""The key table of a file: its classes of records that an intruder cannot tell apart on the keys.

The classes stay in the engine. What is counted there is the number of records per key, and from it
the partition structure (how many classes there are of each size). Arrays with one cell per record
are made when they are asked for. Cost: one grouping of the file by its packed keys.

As a category of its own a missing cell makes a record unlike everybody who has a value there, so that
more records are unique and fewer people fit than in truth. What the other readings say is told beside
(`missing_reservations`).
"""

from __future__ import annotations

import weakref
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
import numpy.typing as npt

from gamekeeper.algorithms.uniques.scores import class_sizes
from gamekeeper.arrow import pa
from gamekeeper.data.coding.coded_table import CodedTable
from gamekeeper.data.engine.gate import FEWER_KEYS, RECORD, require_brought
from gamekeeper.data.keys import listed_records
from gamekeeper.errors import InputError, Reason
from gamekeeper.prompt_syntax import Missing
from gamekeeper.results import COLOURS, Provenance, Result, new_figure, ruled, table_html
from gamekeeper.wording import be, count_of, fraction_text, joined, percent_text, quoted, there_are

if TYPE_CHECKING:
    from matplotlib.figure import Figure

EVEN_WEIGHTS = 1.1
"""Weights that differ by less are as good as equal."""

_SHOWN_SIZES = 10
_RANGES = 4096
_PLOTTED_SIZES = 20


@dataclass(frozen=True, repr=False, eq=False)
class KeyTable(Result):
    """The classes of the records of a file on some keys.

    - `coded`, `keys`, `missing`, `weight`, `strata`: what was counted, and how.
    - `n_records`, `n_excluded`: how many records were counted, and how many were left out for a
      missing cell.
    - `n_classes`: how many different keys the counted records have.
    - `structure`: how many different keys there are in classes of each size; where a missing cell
      is ignored or matches anything, the size of a key is the number of records that match it.
    - `records_by_size`: how many records are in classes of each size.
    - `released_by_size`: how many records have exactly the same key as so many, themselves
      included, a missing cell being equal to a missing cell only. It differs from `records_by_size`
      where a missing cell is ignored or matches anything.
    - `diversity`: per sensitive variable, how many records are in classes with so many of its
      values; see `l_diversity`.
    - `fraction`: the sampling fraction of the file, exactly; None where it is not known.
    - `fractions`: the sampling fraction of each stratum that occurs, by its word; None without strata.
    - `person`, `n_further`: the variable that tells whose a record is, where the first record of
      each person was counted, and how many further records of the same people were left out.
    - `weights_differ`: the largest weight over the smallest one, of records that are of one
      stratum; 1 without weights. Above that records were not drawn with equal chances.
    """

    MADE_BY: ClassVar[str] = (
        "gk.count_keys(gk.code_frame(frame, columns), keys), or assess the frame: gk.assess(frame,"
        " keys=...)"
    )

    coded: CodedTable
    keys: tuple[str, ...]
    missing: Missing
    n_records: int
    n_excluded: int
    n_classes: int
    structure: Mapping[int, int]
    records_by_size: Mapping[int, int]
    released_by_size: Mapping[int, int]
    diversity: Mapping[str, Mapping[int, int]]
    fraction: Fraction | None
    fractions: Mapping[str, Fraction] | None
    weight: str
    strata: str
    provenance: Provenance
    counted: listed_records.KeyedRecords = field(repr=False)
    relation: str = field(repr=False)
    size_column: str = field(repr=False)
    person: str = ""
    n_further: int = 0
    weights_differ: float = 1.0

    def __post_init__(self) -> None:
        weakref.finalize(self, self.coded.engine.drop, self.relation).atexit = False

    @property
    def n_uniques(self) -> int:
        """How many records are alone in their class: the sample uniques."""
        return self.records_by_size.get(1, 0)

    @property
    def n_paired(self) -> int:
        """How many records are in classes of two."""
        return self.records_by_size.get(2, 0)

    @property
    def n_unlike(self) -> int:
        """How many records are like no other as they are released, missing cells and all."""
        return self.released_by_size.get(1, 0)

    @property
    def caution(self) -> str:
        """What the sizes of classes do not prove, in words; empty where they prove what they say.

        Where a missing cell matches something, records are compared with each other, and not with
        people. Of (30, M) and (40, M) with the first age left out, either is like the other; but
        whoever knows that somebody is 30 finds one record only. Nobody can tell apart records
        that are alike as they are released, cell by cell.
        """
        if self._proves:
            return ""
        if not self.n_unlike:
            return "As released, missing cells and all, every record has the key of another one."
        nobody = "nobody else" if self.n_uniques else "nobody"
        return (
            f"That does not prove that {nobody} can be found: a person's true values may still fit"
            f" one record only. As released, missing cells and all, {self._share(self.n_unlike)} like no"
            " other."
        )

    @property
    def has_equal_chances(self) -> bool:
        """Whether the records of a stratum were drawn with the same chance, as far as weights tell."""
        return self.weights_differ <= EVEN_WEIGHTS

    @property
    def people_words(self) -> str:
        """That one record of each person was counted, in words; empty where all records were."""
        if not self.person:
            return ""
        further = count_of(self.n_further, "further record")
        return (
            f"One record of each of {count_of(self.n_records, 'person', 'people')} was counted, the first"
            f" in the file by {quoted([self.person])}; {further} of the same people"
            f" {'was' if self.n_further == 1 else 'were'} left out."
        )

    @property
    def _proves(self) -> bool:
        """Whether classes are records that are alike as they are released."""
        return self.released_by_size == self.records_by_size

    @property
    def records(self) -> npt.NDArray[np.int64]:
        """The places of the counted records in the file, from 0."""
        return self.counted.records()

    def matrix(self) -> npt.NDArray[np.unsignedinteger]:
        """Return the codes of the counted records on the keys, in the order of the file."""
        codes = self.coded.matrix(self.keys)
        return codes[self.records] if self.n_excluded or self.n_further else codes

    @cached_property
    def distinct(self) -> listed_records.DistinctKeys:
        """The different keys in the order in which they occur; brought here once, and kept."""
        return listed_records.distinct_keys(self)

    @property
    def listed(self) -> listed_records.ListedRecords:
        """The counted records as rows of arrays; one for each key where the records stay elsewhere."""
        return listed_records.ListedRecords(self, self._listed_keys)

    @cached_property
    def _listed_keys(self) -> pa.Table | None:
        # Not with the table that they are of: a circle would keep its relation longer than needed.
        return listed_records.listed_keys(self)

    def size_of(self, record: int) -> int:
        """Return the size of the class of one record, by its place from 0; 0 where it was left out."""
        listed = vars(self).get("_listed_keys")
        if listed is not None:
            # What has come already is not asked again: a question to a cluster takes a second.
            known = np.flatnonzero(listed["first_record"].to_numpy() == record)
            if len(known):
                return listed["size"][int(known[0])].as_py()
        found = self.coded.engine.query(
            f"SELECT c.{self.size_column} AS size FROM {self.counted.joined(self.relation, RECORD)} "
            f"WHERE s.{RECORD} = {int(record)}"
        )
        return found.column(0)[0].as_py() if found.num_rows else 0

    def class_sizes(self) -> npt.NDArray[np.int64]:
        """Return the size of each record's class, in the order of the file; 0 where left out."""
        return self.counted.per_record(self.relation, self.size_column)

    def released_sizes(self) -> npt.NDArray[np.int64]:
        """Return how many records have the very key of each, missing cells and all; 0 where left out."""
        return self.counted.per_record(self.relation, "n")

    def class_numbers(self) -> npt.NDArray[np.int64]:
        """Return for each record the row of its key in `classes()`; -1 where it was left out."""
        require_brought(self.coded.engine, self.coded.n_records, 8, "classes of records")
        numbered = self._numbered()
        try:
            return self.counted.per_record(numbered, "place", fill=-1)
        finally:
            self.coded.engine.drop(numbered)

    def _numbered(self) -> str:
        """Return a relation of the keys with the row of each in `classes()`, `place`.

        Keys are numbered range by range of their first number, so that no single worker has to
        sort them all. To divide floating point numbers keeps their order, which is all it takes.
        """
        engine, names = self.coded.engine, ", ".join(self.counted.packing.names)
        first = self.counted.packing.names[0]
        span = engine.query(
            f"SELECT MIN({first}) AS low, MAX({first}) AS high FROM {self.relation}"
        )
        low, high = (float(column[0].as_py() or 0) for column in span.columns)
        width = f"CAST('{max((high - low) / _RANGES, 1.0)!r}' AS DOUBLE)"
        start = f"CAST('{low!r}' AS DOUBLE)"
        part = f"CAST(FLOOR((CAST({first} AS DOUBLE) - {start}) / {width}) AS BIGINT)"
        parts = f"(SELECT {names}, {part} AS part FROM {self.relation})"
        sums = f"SELECT part, COUNT(*) AS n FROM {parts} AS a GROUP BY part"
        before = f"SELECT part, SUM(n) OVER (ORDER BY part) - n AS before FROM ({sums}) AS b"
        within = f"ROW_NUMBER() OVER (PARTITION BY part ORDER BY {names}) - 1"
        ranked = f"SELECT {names}, part, {within} AS rank_in_part FROM {parts} AS d"
        return engine.create(
            f"SELECT {names}, CAST(e.rank_in_part + f.before AS BIGINT) AS place "
            f"FROM ({ranked}) AS e JOIN ({before}) AS f ON e.part = f.part"
        )

    def class_weights(self) -> npt.NDArray[np.float64]:
        """Return the sum of the weights in each record's class; 0 where it was left out."""
        if not self.weight:
            raise InputError(
                Reason.BAD_OPTION,
                "The weights of classes were asked for.",
                "The classes were counted without weights.",
                "Count them again with a weight (--weight).",
            )
        return self.counted.per_record(self.relation, "weight", kind=np.float64)

    def record_fractions(self) -> npt.NDArray[np.float64]:
        """Return the sampling fraction of each record, in the order of the file.

        It is NaN for a record that was left out and whose stratum has no fraction.
        """
        strata = None if self.fractions is None else self.coded.codes(self.strata)
        return self.fractions_of(strata, self.coded.n_records)

    def fractions_of(
        self, strata: npt.NDArray[np.integer[Any]] | None, n_rows: int
    ) -> npt.NDArray[np.float64]:
        """Return the sampling fraction of rows, by the codes of their strata where there are some."""
        if self.fraction is None:
            raise self._no_fraction()
        if strata is None:
            return np.full(n_rows, float(self.fraction))
        return self._fractions_by_code()[strata]

    def _fractions_by_code(self) -> npt.NDArray[np.float64]:
        fractions = self.fractions or {}
        words = self.coded.codebook[self.strata].words
        return np.array([float(fractions[w]) if w in fractions else np.nan for w in words])

    def _no_fraction(self) -> InputError:
        return InputError(
            Reason.BAD_OPTION,
            "The sampling fractions of records were asked for.",
            "The sampling fraction is not known.",
            "Count the keys again with a fraction (--fraction) or a weight (--weight).",
        )

    def sizes_by_stratum(self) -> dict[str, dict[int, int]]:
        """Return how many records of each stratum, by its word, are in classes of each size."""
        column = self.coded.column(self.strata)
        found = self.coded.engine.query(
            f"SELECT s.{column} AS stratum, c.{self.size_column} AS size, COUNT(*) AS n "
            f"FROM {self.counted.joined(self.relation, column)} "
            f"GROUP BY s.{column}, c.{self.size_column}"
        ).to_pylist()
        words = self.coded.codebook[self.strata].words
        made: dict[str, dict[int, int]] = {}
        for row in found:
            made.setdefault(words[row["stratum"]], {})[row["size"]] = row["n"]
        return made

    def of_classes(self, column: str) -> npt.NDArray[Any]:
        """Return a column of the engine's table of keys, `n` or `weight`, as `classes()` is ordered."""
        order = ", ".join(self.counted.packing.names)
        sql = f"SELECT {column} FROM {self.relation} ORDER BY {order}"
        return self.brought(sql, self.n_classes).column(0).to_numpy()

    def k_violations(self, k: int) -> int:
        """Return how many records are in classes smaller than k: against k-anonymity."""
        return sum(n for size, n in self.records_by_size.items() if size < k)

    def released_violations(self, k: int) -> int:
        """Return how many records have the very key of fewer than k, missing cells and all."""
        return sum(n for size, n in self.released_by_size.items() if size < k)

    def k_sentence(self, k: int) -> str:
        """Return how many records are against k-anonymity, in words."""
        violating, alike = self.k_violations(k), self.released_violations(k)
        if self._proves:
            return f"{count_of(violating, 'record')} in classes of fewer than {k} ({k}-anonymity)."
        return (
            f"{count_of(alike, 'record')} in classes of fewer than {k} as released ({k}-anonymity);"
            f" {violating:,} where {self.missing.words}."
        )

    def l_diversity(self, variable: str) -> npt.NDArray[np.int64]:
        """Return how many values of a variable there are in each record's class.

        A missing cell counts as no value. Whatever the rule for missing cells, the class is that
        of the records with the very same key. Records that were left out have 0.
        """
        values = self.counted.diversity(self.coded.column(variable))
        return self.counted.per_record(f"({values})", "l")

    def classes(self) -> pa.Table:
        """Return the different keys in the order of their codes.

        One column of codes per key variable, then `count`, the number of records with the key;
        `class_size`, where a missing cell may match other keys; `weight`, the sum of the class.
        """
        codes, rest = self._rows()
        columns = {key: pa.array(codes[:, place]) for place, key in enumerate(self.keys)}
        return pa.table({**columns, **rest})

    def to_arrow(self) -> pa.Table:
        """Return the different keys in words, otherwise as `classes()`."""
        codes, rest = self._rows()
        columns = {
            key: pa.array(self.coded.codebook[key].words).take(pa.array(codes[:, place]))
            for place, key in enumerate(self.keys)
        }
        return pa.table({**columns, **rest})

    def summary(self) -> dict[str, Any]:
        """Return the headline numbers."""
        known = {} if self.fraction is None else {"fraction": float(self.fraction)}
        values = [min(of) for of in self.diversity.values()]
        least = {"least_values": min(values)} if values else {}
        return {
            "variables": len(self.keys),
            "records": self.n_records,
            "excluded": self.n_excluded,
            **({"further_records": self.n_further} if self.person else {}),
            "classes": self.n_classes,
            "uniques": self.n_uniques,
            "pairs": self.n_paired,
            **({} if self._proves else {"uniques_as_released": self.n_unlike}),
            "missing": self.missing.value,
            **known,
            **least,
        }

    def sentences(self) -> list[str]:
        """Return what was found, for a reader who does not know the words of the field."""
        variables = count_of(len(self.keys), "key variable")
        records = count_of(self.n_records, "record")
        were = "was" if self.n_records == 1 else "were"
        uniques, paired = self._share(self.n_uniques), self._share(self.n_paired)
        where = "" if self._proves else f"Where {self.missing.words}, "
        keys = there_are(self.n_classes, "different key")
        told = [
            f"{records} {were} compared on {variables}: {quoted(self.keys)}.",
            f"{keys}. {where}{uniques} unique, and {paired} like exactly one other.",
            *([self.caution] if self.caution else []),
            f"Of missing cells: {self.missing.words}.",
        ]
        if self.n_excluded:
            told.append(f"{count_of(self.n_excluded, 'record')} with a missing cell left out.")
        if self.person:
            told.append(self.people_words)
        if self.fraction is not None:
            told.append(f"The sampling fraction is {fraction_text(self.fraction)}.")
        for name, records_by_values in self.diversity.items():
            alike = records_by_values.get(0, 0) + records_by_values.get(1, 0)
            told.append(
                f"{self._share(alike)} in a class with at most one value of {quoted([name])}."
            )
        return told

    def _share(self, n_records: int) -> str:
        percent = f" ({percent_text(n_records / self.n_records)})" if self.n_records else ""
        return f"{count_of(n_records, 'record')}{percent} {be(n_records)}"

    def _rows(self) -> tuple[npt.NDArray[np.unsignedinteger], dict[str, Any]]:
        names = self.counted.packing.names
        order = ", ".join(names)
        table = self.brought(f"SELECT * FROM {self.relation} ORDER BY {order}", self.n_classes)
        codes = self.counted.packing.unpack([table.column(name).to_numpy() for name in names])
        columns = {"count": table.column("n")}
        if self.missing in (Missing.IGNORE, Missing.WILDCARD):
            columns["class_size"] = table.column(self.size_column)
        if self.weight:
            columns["weight"] = table.column("weight")
        return codes, {free_name(name, self.keys): cells for name, cells in columns.items()}

    def brought(self, sql: str, n_rows: int) -> pa.Table:
        """Run a query whose result has so many rows, one per key or few."""
        row_bytes = 8 * (len(self.counted.packing.names) + 3) + len(self.keys)
        require_brought(self.coded.engine, n_rows, row_bytes, "different keys", FEWER_KEYS)
        return self.coded.engine.query(sql)

    def plot(self) -> Figure:
        """Plot how many records share their key with how many others; needs no display."""
        sizes = sorted(self.records_by_size)[:_PLOTTED_SIZES]
        larger = self.n_records - sum(self.records_by_size[size] for size in sizes)
        names = [f"{size:,}" for size in sizes] + (["more"] if larger else [])
        counts = [self.records_by_size[size] for size in sizes] + ([larger] if larger else [])
        figure = new_figure(8.0, 4.0)
        ax = ruled(figure.add_subplot(), "y")
        ax.bar(
            names,
            counts,
            color=[COLOURS[1] if size == 1 else COLOURS[0] for size in (*sizes, 0)][: len(names)],
        )
        ax.set_xlabel("Records that look alike on the key variables")
        ax.set_ylabel("Records")
        ax.set_title(
            f"{self.n_uniques:,} of {count_of(self.n_records, 'record')} are unique", loc="left"
        )
        return figure

    def _repr_html_(self) -> str:
        # Sizes of classes, never their keys: a notebook travels further than its file.
        sizes = sorted(self.structure)
        rows = [(k, self.structure[k], self.records_by_size[k]) for k in sizes[:_SHOWN_SIZES]]
        left = len(sizes) - len(rows)
        more = f"; {count_of(left, 'larger size')} not shown" if left else ""
        caption = f"Key table: {count_of(self.n_records, 'record')} on "
        caption += f"{count_of(len(self.keys), 'key variable')}{more}"
        return table_html(["Class size", "Different keys", "Records"], rows, caption=caption)


def free_name(name: str, taken: Sequence[str]) -> str:
    """Return a name for a further column that is not taken, in whatever case."""
    folded = {other.casefold() for other in taken}
    while name.casefold() in folded:
        name += "_"
    return name


# Keys times sets of missing variables; more would take minutes.
_MOST_COMPARED = 10_000_000
# Readings whose uniques differ by less say the same.
_ALIKE = 0.01


def missing_reservations(key_table: KeyTable) -> tuple[str, ...]:
    """Return what missing cells change of how numbers may be used, in sentences.

    >>> from gamekeeper.data.coding.coded_table import coded_from_codes
    >>> from gamekeeper.data.keys.counting import count_keys
    >>> people = coded_from_codes([[1, 1], [1, 0], [2, 1], [2, 1]], ["age", "job"])
    >>> (told,) = missing_reservations(count_keys(people, ["age", "job"]))
    >>> told[:88]
    '1 of 4 records has a missing cell among its key variables: 2 records are unique where mi'
    """
    if key_table.missing is Missing.EXCLUDE:
        return _left_out(key_table)
    found = key_table.distinct
    lacking = found.codes == 0
    n_lacking = int(found.counts[lacking.any(axis=1)].sum())
    if not n_lacking:
        return ()
    n = key_table.n_records
    have = "has a missing cell among its" if n_lacking == 1 else "have a missing cell among their"
    told = f"{n_lacking:,} of {count_of(n, 'record')} {have} key variables"
    numbers = (
        ""
        if key_table.missing is not Missing.CATEGORY or key_table.fraction is None
        else " Whoever knows what is missing finds more people who fit than are counted here, so that"
        " numbers of right matches and of population uniques are likely too high."
    )
    if len(found.counts) * len(np.unique(lacking, axis=0)) > _MOST_COMPARED:
        unlike = (
            f"{told}: as a category of its own a missing cell makes a record unlike all who have a value"
            " there. How many are unique by other readings is not known: --missing ignore and --missing"
            f" wildcard tell.{numbers}"
        )
        return (unlike,)
    uniques = {Missing.CATEGORY: key_table.n_unlike}
    for reading in (Missing.IGNORE, Missing.WILDCARD):
        sizes = class_sizes(found.codes, found.counts, missing=reading)
        uniques[reading] = int(found.counts[sizes == 1].sum())
    if min(uniques.values()) >= (1 - _ALIKE) * key_table.n_unlike:
        return ()
    readings = joined(
        [
            f"{number:,} where {reading.words}"
            if place
            else f"{count_of(number, 'record')} {be(number)} unique where {reading.words}"
            for place, (reading, number) in enumerate(uniques.items())
        ]
    )
    return (f"{told}: {readings} (--missing).{numbers}",)


def _left_out(key_table: KeyTable) -> tuple[str, ...]:
    if not key_table.n_excluded:
        return ()
    n = key_table.n_records + key_table.n_excluded
    share = percent_text(key_table.n_excluded / n)
    who = (
        ""
        if key_table.fraction is None
        else " People like them are not counted among those who fit either, so that numbers of right"
        " matches and of population uniques are likely too high for the others."
    )
    told = (
        f"{key_table.n_excluded:,} of {count_of(n, 'record')} ({share}) {be(key_table.n_excluded)} left out"
        f" for a missing cell: nothing is said of them.{who}"
    )
    return (told,)
