"""Which pairs of records of two files are worth comparing: candidate pairs, and how they are found.

All pairs of two files of a million records are too many. Candidates are pairs that are equal in
some variables, pairs whose categories have a sink in common in every variable (others are
impossible, so nothing is lost), neighbours in the order of a variable, and the nearest in several
numbers; several passes can be united. Pairs are counted before they are made, and kept by rows
(compressed sparse rows): the candidates of row i are `columns[starts[i]:starts[i + 1]]`, ascending.
A pair takes 4 bytes, a record 8. Equal values by a join on sorted keys, O(n log n + pairs). Sinks
through the variable that leaves fewest pairs, the others as tests of each pair. Nearest by a k-d
tree.

What is sampled, halved or decided between equals must not hang on how a file was sorted. So records
can be put in the order of a number that is mixed from their values, the names of the variables and
a seed (SplitMix64; Steele, Lea and Flood 2014); the order of the variables does not matter. Records
that are equal in all that is compared, as microaggregation makes them, have the same number, and
come in an order drawn by the seed: files in the same order must not help. They can be grouped as
well, numbered by their values. Either costs a place in a sort.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any
from zlib import crc32

import numpy as np
from numpy.typing import ArrayLike, NDArray

from gamekeeper.algorithms.classes import EqualRows, class_numbers
from gamekeeper.algorithms.linkage.comparison import Comparison
from gamekeeper.budget import require_memory
from gamekeeper.errors import InputError, LimitError, Reason
from gamekeeper.wording import count_of

Integers = NDArray[np.int64]
Codes = NDArray[np.int64]
Floats = NDArray[np.float64]

_MANY = 0.1
_FEW_ALONE = 0.01


class EqualRecords(EqualRows):
    """The groups of equal records of one file, their sizes, and the first of each."""

    __slots__ = ()

    @property
    def are_many(self) -> bool:
        """Whether more than a tenth of the records are equal to another."""
        return float(self.sizes[self.sizes > 1].sum()) > _MANY * len(self.numbers)

    @property
    def are_whole(self) -> bool:
        """Whether hardly a record (1%) is alone, as in a file that was microaggregated as a whole.

        In a part of such a file, groups have lost members: they still tell of people who are not
        there.
        """
        alone = int(np.count_nonzero(self.sizes == 1))
        return self.are_many and alone <= _FEW_ALONE * len(self.numbers)


def equal_records(comparisons: Sequence[Comparison], side: int) -> EqualRecords:
    """Find the groups of equal records of the first (0) or second (1) file.

    Examples
    --------
    >>> age = Comparison("Age", "absolute", np.array([3.0, 2.0, 3.0, np.nan]), np.zeros(1))
    >>> found = equal_records([age], 0)
    >>> found.numbers.tolist(), found.sizes.tolist(), found.firsts.tolist()
    ([1, 0, 1, 2], [1, 2, 1], [1, 0, 3])
    """
    codes = [
        np.unique(one.b if side else one.a, return_inverse=True)[1].ravel() for one in comparisons
    ]
    rows = np.column_stack([code.astype(np.int32) for code in codes])
    return EqualRecords.of(class_numbers(rows)[0])


_STEP = np.uint64(0x9E3779B97F4A7C15)
_FIRST, _SECOND = np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB)


def record_order(comparisons: Sequence[Comparison], side: int, seed: int) -> NDArray[np.int64]:
    """Return the records of the first (0) or second (1) file in an order by their values.

    Examples
    --------
    >>> ages = np.array([30.0, 41.0, 52.0])
    >>> one, turned = (Comparison("Age", "absolute", a, ages) for a in (ages, ages[::-1]))
    >>> orders = record_order([one], 0, 1), record_order([turned], 0, 1)
    >>> ages[orders[0]].tolist() == ages[::-1][orders[1]].tolist()
    True
    """
    columns = [(one.name, one.b if side else one.a) for one in comparisons]
    return values_order(columns, side, seed)


def values_order(
    columns: Sequence[tuple[str, NDArray[Any]]], side: int, seed: int
) -> NDArray[np.int64]:
    """Return the records of a file, given as named columns, in an order by their values."""
    n = len(columns[0][1])
    mixed = np.zeros(n, np.uint64)
    with np.errstate(over="ignore"):
        for name, values in columns:
            start = np.uint64(crc32(name.encode())) + np.uint64(seed % 2**32) * _STEP
            mixed += _mixed(_numbers(values) + start)
    drawn = np.random.default_rng((seed, side)).permutation(n)
    return drawn[np.argsort(mixed[drawn], kind="stable")]


def _numbers(values: NDArray[Any]) -> NDArray[np.uint64]:
    """Return whole numbers that are equal where values are, missing ones among them."""
    if values.dtype.kind != "f":
        return values.astype(np.uint64)
    # There is a second zero, and there are many NaN.
    return np.where(np.isnan(values), np.nan, values + 0.0).view(np.uint64)


def _mixed(numbers: NDArray[np.uint64]) -> NDArray[np.uint64]:
    found = numbers + _STEP
    found = (found ^ (found >> np.uint64(30))) * _FIRST
    found = (found ^ (found >> np.uint64(27))) * _SECOND
    return found ^ (found >> np.uint64(31))


MAX_PAIRS = 100_000_000
"""The most candidate pairs, of some 12 bytes each, that are made without being asked for."""


@dataclass(frozen=True, eq=False)
class CandidatePairs:
    """Candidate pairs between the records of two files.

    Examples
    --------
    >>> pairs = CandidatePairs.from_pairs([0, 0, 2], [1, 0, 1], (3, 2))
    >>> pairs.starts.tolist(), pairs.columns.tolist()
    ([0, 2, 2, 3], [0, 1, 1])
    """

    starts: NDArray[np.int64] = field(repr=False)
    columns: NDArray[np.int32] = field(repr=False)
    shape: tuple[int, int]
    notes: tuple[str, ...] = ()

    @classmethod
    def from_pairs(
        cls, rows: ArrayLike, columns: ArrayLike, shape: tuple[int, int]
    ) -> CandidatePairs:
        """Take listed pairs of record numbers from 0, in any order, each once however often."""
        i, j = np.asarray(rows, np.int64), np.asarray(columns, np.int64)
        if len(i) != len(j) or (
            len(i) and (min(i.min(), j.min()) < 0 or i.max() >= shape[0] or j.max() >= shape[1])
        ):
            raise InputError(
                Reason.BAD_OPTION,
                f"Pairs of records of files with {shape[0]:,} and {shape[1]:,} records were given.",
                "The two lists differ in length, or name a record that is not there.",
                "Number records from 0.",
            )
        return _from_keys(np.unique(i * max(shape[1], 1) + j), shape)

    @property
    def n_pairs(self) -> int:
        """The number of candidate pairs."""
        return len(self.columns)

    def rows(self) -> NDArray[np.int32]:
        """Return the record of the first file for each pair, as `columns` is for the second."""
        return np.repeat(np.arange(self.shape[0], dtype=np.int32), np.diff(self.starts))

    def blocks(self, n_pairs: int) -> Iterator[slice]:
        """Return stretches of pairs of about the given size."""
        for first in range(0, self.n_pairs, n_pairs):
            yield slice(first, min(first + n_pairs, self.n_pairs))

    def components(self) -> tuple[NDArray[np.int64], NDArray[np.int64], int]:
        """Return the connected component of each row and each column, and how many there are.

        Examples
        --------
        >>> CandidatePairs.from_pairs([0, 1], [1, 1], (2, 2)).components()
        (array([0, 0]), array([1, 0]), 2)
        """
        from gamekeeper.algorithms.linkage.kernels import label_components

        labels, n_labels = label_components(self.starts, self.columns, self.shape[1])
        return labels[: self.shape[0]], labels[self.shape[0] :], n_labels


def unite(passes: Sequence[CandidatePairs]) -> CandidatePairs:
    """Return the pairs that are in any of several lists of candidates, each once.

    Examples
    --------
    >>> one = CandidatePairs.from_pairs([0, 1], [0, 1], (2, 2))
    >>> unite([one, CandidatePairs.from_pairs([0], [1], (2, 2)), one]).columns.tolist()
    [0, 1, 1]
    """
    shapes = {candidates.shape for candidates in passes}
    if len(shapes) != 1:
        raise InputError(
            Reason.NOTHING_GIVEN if not passes else Reason.BAD_OPTION,
            "Several lists of candidate pairs were to be united.",
            f"They are for {len(shapes)} different pairs of files.",
            "Give one list or more, all for the same two files.",
        )
    if len(passes) == 1:
        return passes[0]
    shape = shapes.pop()
    keys = np.concatenate([c.rows().astype(np.int64) * shape[1] + c.columns for c in passes])
    notes = tuple(dict.fromkeys(note for c in passes for note in c.notes))
    # Sorting in place and looking at neighbours takes half the memory of np.unique.
    keys.sort()
    keep = np.ones(len(keys), bool)
    np.not_equal(keys[1:], keys[:-1], out=keep[1:])
    return _from_keys(keys[keep], shape, notes)


def require_few_pairs(n_pairs: int, max_pairs: int, asked: str) -> None:
    """Refuse to make more pairs than asked for."""
    if n_pairs > max_pairs:
        raise LimitError(
            Reason.TOO_LARGE,
            asked,
            f"There would be {n_pairs:,} candidate pairs, more than {max_pairs:,}. "
            f"They would take some {max(n_pairs * 12 // 10**6, 1):,} MB.",
            "Block by more variables or finer ones (--block), take smaller windows or fewer"
            " neighbours, or raise max_pairs (--max-pairs).",
        )
    require_memory(
        asked,
        n_pairs * 12,
        f"{n_pairs:,} candidate pairs",
        "Block by more variables or finer ones (--block), or take smaller windows or fewer neighbours",
    )


def _from_keys(
    keys: NDArray[np.int64], shape: tuple[int, int], notes: tuple[str, ...] = ()
) -> CandidatePairs:
    rows, columns = np.divmod(keys, max(shape[1], 1))
    starts = np.zeros(shape[0] + 1, np.int64)
    np.cumsum(np.bincount(rows, minlength=shape[0]), out=starts[1:])
    return CandidatePairs(starts, columns.astype(np.int32), shape, notes)


_ASKED = "Candidate pairs of two files were asked for."


def block_on_values(
    a: Sequence[ArrayLike], b: Sequence[ArrayLike], *, max_pairs: int = MAX_PAIRS
) -> CandidatePairs:
    """Return the pairs that have equal codes in all given variables.

    There is one array per variable, 0 for missing. A record with a missing code is in no pair, and
    a note says how many there are. More than `max_pairs` are refused with their number.

    Examples
    --------
    >>> block_on_values([[1, 2, 2]], [[2, 1]]).columns.tolist()
    [1, 0, 0]
    """
    return block_on_sinks((), (), (), equal_a=a, equal_b=b, max_pairs=max_pairs)


def compatible(sinks_a: ArrayLike, sinks_b: ArrayLike) -> NDArray[np.bool_]:
    """Return for each category of both files (rows of truth values by sink) whether their sinks meet.

    Examples
    --------
    >>> compatible([[1, 1, 0], [0, 0, 1]], [[0, 1, 1]]).tolist()
    [[True], [True]]
    """
    return np.asarray(sinks_a, bool) @ np.asarray(sinks_b, bool).T


def block_on_sinks(
    a: Sequence[ArrayLike],
    b: Sequence[ArrayLike],
    tables: Sequence[ArrayLike],
    *,
    equal_a: Sequence[ArrayLike] = (),
    equal_b: Sequence[ArrayLike] = (),
    max_pairs: int = MAX_PAIRS,
) -> CandidatePairs:
    """Return the pairs whose categories are compatible in every variable.

    Codes have one array per variable, 0 for missing, which fits any category; `tables` has for each
    variable the truth value of each pair of categories, from `compatible`. `equal_a` and `equal_b`
    are codes of further variables that must be equal; a record with a missing one is in no pair.
    More than `max_pairs` are refused with their number.

    Examples
    --------
    >>> table = compatible([[1, 1, 0], [0, 0, 1]], [[1, 0, 0], [0, 1, 1]])
    >>> pairs = block_on_sinks([[1, 2, 0]], [[1, 2]], [table])
    >>> list(zip(pairs.rows().tolist(), pairs.columns.tolist(), strict=True))
    [(0, 0), (0, 1), (1, 1), (2, 0), (2, 1)]
    """
    from gamekeeper.algorithms.linkage.kernels import count_pairs, fill_pairs

    sides = [*_columns(a, "first"), *_columns(equal_a, "first")]
    others = [*_columns(b, "second"), *_columns(equal_b, "second")]
    _require_alike(sides, others)
    if not sides:
        raise _nothing("No variable to block on was given.", "Give one or more.")
    shape = len(sides[0]), len(others[0])
    fits = [
        np.pad(np.asarray(table, bool), ((1, 0), (1, 0)), constant_values=True) for table in tables
    ]
    _require_tables(sides, others, fits)
    keys_a, keys_b = _joint_keys(sides[len(fits) :], others[len(fits) :], shape)
    driver = _most_selective(sides, others, fits)
    groups = _groups(keys_a, keys_b, sides, others, fits, driver)
    tested = [k for k in range(len(fits)) if k != driver]
    tests = _tests(sides, others, fits, tested)
    counts = count_pairs(*groups, tests)
    starts = np.zeros(shape[0] + 1, np.int64)
    np.cumsum(counts, out=starts[1:])
    require_few_pairs(int(starts[-1]), max_pairs, _ASKED)
    columns = np.empty(int(starts[-1]), np.int32)
    fill_pairs(starts, columns, *groups, tests)
    left_out = int((keys_a < 0).sum()), int((keys_b < 0).sum())
    return CandidatePairs(starts, columns, shape, _notes(left_out, "value to block on"))


def block_sorted(
    a: ArrayLike, b: ArrayLike, window: int, *, max_pairs: int = MAX_PAIRS
) -> CandidatePairs:
    """Return the pairs that are neighbours when both files are sorted together.

    Numbers to sort by are NaN for missing (such records are in no pair). Texts are given as the
    ranks of their sorted distinct values. Equal numbers are in the order of their records, first
    those of the first file. Each record is paired with the nearest `window` records of the other
    file before it in the order, and as many behind it.

    Examples
    --------
    >>> block_sorted([1.0, 5.0], [2.0, 4.0, 9.0], 1).columns.tolist()
    [0, 1, 0, 1, 2]
    """
    x, y = np.asarray(a, np.float64), np.asarray(b, np.float64)
    if window < 1:
        raise _nothing(f"The window has {window} records.", "Give a window of one or more.")
    rows, columns = np.flatnonzero(~np.isnan(x)), np.flatnonzero(~np.isnan(y))
    require_few_pairs(2 * window * (len(rows) + len(columns)), max_pairs, _ASKED)
    rows = rows[np.argsort(x[rows], kind="stable")]
    columns = columns[np.argsort(y[columns], kind="stable")]
    behind_a = np.searchsorted(y[columns], x[rows], side="left")
    behind_b = np.searchsorted(x[rows], y[columns], side="right")
    i: list[NDArray[np.int64]] = [np.zeros(0, np.int64)]
    j: list[NDArray[np.int64]] = [np.zeros(0, np.int64)]
    for step in range(-window, window):
        near = behind_a + step
        inside = (near >= 0) & (near < len(columns))
        i.append(rows[inside])
        j.append(columns[near[inside]])
        near = behind_b + step
        inside = (near >= 0) & (near < len(rows))
        i.append(rows[near[inside]])
        j.append(columns[inside])
    return CandidatePairs.from_pairs(np.concatenate(i), np.concatenate(j), (len(x), len(y)))


def block_nearest(
    a: ArrayLike, b: ArrayLike, k: int, *, both: bool = True, max_pairs: int = MAX_PAIRS
) -> CandidatePairs:
    """Return for each record the k nearest of the other file in several numbers.

    Distances are Euclidean: scale the variables first. A record with NaN is in no pair, and a note
    says how many there are. With `both`, the records of the second file get their nearest of the
    first too.

    Examples
    --------
    >>> block_nearest([[0.0], [3.0]], [[1.0], [2.0], [9.0]], 1).columns.tolist()
    [0, 1, 2]
    """
    x, y = (np.asarray(side, np.float64) for side in (a, b))
    if x.ndim != 2 or y.ndim != 2 or x.shape[1] != y.shape[1] or not x.shape[1]:
        raise _nothing(
            f"The files have numbers of shape {x.shape} and {y.shape}.",
            "Give one row per record and the same columns, at least one.",
        )
    if k < 1:
        raise _nothing(f"The number of neighbours is {k}.", "Give one or more.")
    rows = np.flatnonzero(np.isfinite(x).all(1))
    columns = np.flatnonzero(np.isfinite(y).all(1))
    n_pairs = min(k, len(columns)) * len(rows) + both * min(k, len(rows)) * len(columns)
    require_few_pairs(n_pairs, max_pairs, _ASKED)
    i, j = _neighbours(x, rows, y, columns, k)
    if both:
        back_j, back_i = _neighbours(y, columns, x, rows, k)
        i, j = np.concatenate((i, back_i)), np.concatenate((j, back_j))
    found = CandidatePairs.from_pairs(i, j, (len(x), len(y)))
    left_out = len(x) - len(rows), len(y) - len(columns)
    return replace(found, notes=_notes(left_out, "number"))


def _notes(left_out: tuple[int, int], what: str) -> tuple[str, ...]:
    note = (
        f"{left_out[0]:,} records of the first file and {left_out[1]:,} of the second miss a "
        f"{what} and are in no pair of that pass."
    )
    return (note,) if any(left_out) else ()


def _neighbours(
    x: Floats, rows: Codes, y: Floats, columns: Codes, k: int
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    from scipy.spatial import cKDTree

    k = min(k, len(columns))
    if not len(rows) or not k:
        return np.zeros(0, np.int64), np.zeros(0, np.int64)
    _, near = cKDTree(y[columns]).query(x[rows], k=[*range(1, k + 1)])
    return np.repeat(rows, k), columns[near.ravel()]


def _groups(
    keys_a: Codes,
    keys_b: Codes,
    sides: Sequence[Codes],
    others: Sequence[Codes],
    fits: Sequence[NDArray[np.bool_]],
    driver: int,
) -> tuple[Codes, Codes, Codes, Codes, Codes]:
    """Group records by their key and, where there is one, their category of the driver.

    Return the group of each row, for each such group the groups of the second file that go with it
    (as starts and list), and their members (as starts and list).
    """
    if driver < 0:
        table = np.ones((1, 1), bool)
        codes_a, codes_b = np.zeros_like(keys_a), np.zeros_like(keys_b)
    else:
        table, codes_a, codes_b = fits[driver], sides[driver], others[driver]
    width = table.shape[1]
    joint_b = np.where(keys_b < 0, -1, keys_b * width + codes_b)
    members = np.argsort(joint_b, kind="stable")
    members = members[np.searchsorted(joint_b[members], 0) :]
    group_keys, group_starts = np.unique(joint_b[members], return_index=True)
    joint_a = np.where(keys_a < 0, -1, keys_a * len(table) + codes_a)
    asked, group_of_row = np.unique(joint_a, return_inverse=True)
    if len(asked) and asked[0] < 0:
        asked, group_of_row = asked[1:], group_of_row - 1
    # One row of wanted keys per group of the first file, tried category by category.
    key, code = np.divmod(asked, len(table))
    owners: list[Codes] = [np.zeros(0, np.int64)]
    found: list[Codes] = [np.zeros(0, np.int64)]
    for category in range(width):
        wanting = np.flatnonzero(table[code, category])
        wanted = key[wanting] * width + category
        place = np.searchsorted(group_keys, wanted)
        hit = place < len(group_keys)
        hit[hit] = group_keys[place[hit]] == wanted[hit]
        owners.append(wanting[hit])
        found.append(place[hit])
    owner, group = np.concatenate(owners), np.concatenate(found)
    order = np.argsort(owner, kind="stable")
    list_starts = np.zeros(len(asked) + 1, np.int64)
    np.cumsum(np.bincount(owner, minlength=len(asked)), out=list_starts[1:])
    ends = np.append(group_starts, len(members)).astype(np.int64)
    return group_of_row.astype(np.int64), list_starts, group[order], ends, members


def _tests(
    sides: Sequence[Codes],
    others: Sequence[Codes],
    fits: Sequence[NDArray[np.bool_]],
    tested: Sequence[int],
) -> tuple[NDArray[np.int32], NDArray[np.int32], NDArray[np.bool_], Codes, Codes]:
    """Return the codes and tables of the variables that each pair is tested by."""
    codes_a = np.empty((len(sides[0]), len(tested)), np.int32)
    codes_b = np.empty((len(others[0]), len(tested)), np.int32)
    for place, k in enumerate(tested):
        codes_a[:, place], codes_b[:, place] = sides[k], others[k]
    sizes = np.array([0, *(fits[k].size for k in tested)], np.int64)
    widths = np.array([fits[k].shape[1] for k in tested], np.int64)
    flat = np.concatenate([np.zeros(0, bool), *(fits[k].ravel() for k in tested)])
    return codes_a, codes_b, flat, np.cumsum(sizes)[:-1], widths


def _most_selective(
    sides: Sequence[Codes], others: Sequence[Codes], fits: Sequence[NDArray[np.bool_]]
) -> int:
    """Return the variable that leaves fewest pairs, -1 where there is none."""
    pairs = [
        np.bincount(sides[k], minlength=len(table)).astype(np.float64)
        @ table
        @ np.bincount(others[k], minlength=table.shape[1]).astype(np.float64)
        for k, table in enumerate(fits)
    ]
    return int(np.argmin(pairs)) if pairs else -1


def _joint_keys(
    a: Sequence[Codes], b: Sequence[Codes], shape: tuple[int, int]
) -> tuple[Codes, Codes]:
    """Number the combinations of codes of both files alike, -1 where one is missing."""
    files = [
        np.array(given, dtype=np.int64).reshape(len(given), n).T
        for given, n in zip((a, b), shape, strict=True)
    ]
    left, right = (
        np.where((codes != 0).all(axis=1), keys, -1)
        for codes, keys in zip(files, class_numbers(*files), strict=True)
    )
    return left, right


def _columns(given: Sequence[ArrayLike], which: str) -> list[Codes]:
    columns = [np.asarray(column) for column in given]
    if any(column.ndim != 1 or column.dtype.kind not in "iub" for column in columns if column.size):
        raise _nothing(
            f"A variable of the {which} file is not a list of whole numbers.",
            "Give one code per record, 0 for missing.",
        )
    if any((column < 0).any() for column in columns):
        raise _nothing(
            f"A variable of the {which} file has negative codes.", "Number codes from 1."
        )
    return [column.astype(np.int64) for column in columns]


def _require_alike(a: Sequence[Codes], b: Sequence[Codes]) -> None:
    lengths_a, lengths_b = {len(column) for column in a}, {len(column) for column in b}
    if len(a) != len(b) or len(lengths_a) > 1 or len(lengths_b) > 1:
        raise _nothing(
            f"The first file has {count_of(len(a), 'variable')}, the second {len(b)}, or their "
            "variables differ in length.",
            "Give the same variables for both files, one code per record.",
        )


def _require_tables(
    a: Sequence[Codes], b: Sequence[Codes], fits: Sequence[NDArray[np.bool_]]
) -> None:
    if len(fits) > len(a):
        raise _nothing(f"{len(fits)} tables were given for {len(a)} variables.", "Give one each.")
    for k, table in enumerate(fits):
        if a[k].max(initial=0) >= len(table) or b[k].max(initial=0) >= table.shape[1]:
            raise _nothing(
                f"Variable {k + 1} has codes beyond its table of "
                f"{len(table) - 1} x {table.shape[1] - 1} categories.",
                "Give one row and one column per category.",
            )


def _nothing(found: str, do: str) -> InputError:
    return InputError(Reason.BAD_OPTION, _ASKED, found, do)
