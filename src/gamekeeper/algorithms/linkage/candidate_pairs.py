"""Candidate pairs: which records of a second file each record of a first one may be linked to.

Kept by rows (compressed sparse rows): the candidates of row i are
`columns[starts[i]:starts[i + 1]]`, ascending. A pair takes 4 bytes, a record 8.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import ArrayLike, NDArray

from gamekeeper.budget import require_memory
from gamekeeper.errors import InputError, LimitError, Reason

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
        from gamekeeper.algorithms.linkage.blocking_kernels import label_components

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
