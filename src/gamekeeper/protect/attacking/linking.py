"""A released file linked with its original: how many records the best of some links re-identifies.

The original is recoded as the release was, which the intruder knows. A small file is linked as a
whole, optimally; of a large one a sample of records, drawn by the seed, is linked with all of the
original, each to its nearest, and the share has an interval.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from gamekeeper.algorithms.compatibility.packed_keys import CellSets
from gamekeeper.algorithms.counter_stream import CounterStream
from gamekeeper.attack.linkage.columns.variables import LinkVariable
from gamekeeper.attack.linkage.evaluation import compare_maskings
from gamekeeper.attack.linkage.options import LinkMethod, ObjectiveName
from gamekeeper.attack.linkage.truth import share_interval
from gamekeeper.data.coding.coded_table import CodedTable
from gamekeeper.data.coding.replaced_cells import replace_cells
from gamekeeper.errors import LimitError, Reason
from gamekeeper.protect.changes import ChangeLog
from gamekeeper.protect.setting import Setting
from gamekeeper.results import Progress
from gamekeeper.wording import count_of, percent_range, percent_text

MOST_PAIRS = 25_000_000
_MOST_CELLS = 4_000_000
_FEWEST = 200


@dataclass(frozen=True, slots=True)
class LinkedShare:
    """How many records of a release are linked with the right record of the original.

    Attributes
    ----------
    n_right, n_linked
        How many of how many that were tried.
    n_records
        How many records the release has.
    lower, upper
        The interval of the share; the share itself where all records were tried.
    way
        How they were linked.
    """

    n_right: int
    n_linked: int
    n_records: int
    lower: float
    upper: float
    way: str

    @property
    def share(self) -> float:
        """The share of records that were re-identified."""
        return self.n_right / max(self.n_linked, 1)

    @property
    def is_sample(self) -> bool:
        """Whether only some of the records were tried."""
        return self.n_linked < self.n_records

    @property
    def words(self) -> str:
        """What was found, in words."""
        if not self.is_sample:
            return f"{percent_text(self.share)} ({self.n_right:,} of {self.n_linked:,} records)"
        return (
            f"{percent_text(self.share)} ({percent_range(self.lower, self.upper)}, by a sample of"
            f" {count_of(self.n_linked, 'record')})"
        )


def link_release(
    before: CodedTable,
    after: CodedTable,
    log: ChangeLog,
    setting: Setting,
    *,
    held: Mapping[str, CellSets] | None = None,
    most_pairs: int = MOST_PAIRS,
    progress: Progress | None = None,
) -> LinkedShare:
    """Link a release with its original on the keys.

    A cell of a variable in `held` is at no distance from the values it can stand for, and far from all
    others.
    """
    sets = held or {}
    _require_tables(sets)
    recodes = [
        change.recode
        for name, change in log.variables.items()
        if change.recode is not None and name in setting.keys
    ]
    original = before.recoded(recodes)
    truth = np.arange(before.n_records) if log.records is None else log.records
    n = after.n_records
    whole = n * before.n_records <= most_pairs
    chosen = np.arange(n)
    if not whole:
        n_tried = max(_FEWEST, most_pairs // max(before.n_records, 1))
        order = CounterStream(setting.seed, ("linkage", "sample")).order(setting.records(after))
        chosen = np.sort(order[:n_tried])
    released = after if whole else replace_cells(after, records=chosen)
    variables = [
        LinkVariable(name, fits=sets[name].table()[1:, 1:] if name in sets else None)
        for name in setting.keys
    ]
    method = LinkMethod.OPTIMAL if whole else LinkMethod.NEAREST
    found = compare_maskings(
        original,
        {"release": released},
        variables,
        objectives=(ObjectiveName.EQUAL,),
        methods=(method,),
        truths={"release": truth[chosen]},
        decimal=setting.decimal,
        seed=setting.seed,
        max_pairs=max(most_pairs, len(chosen) * before.n_records),
        progress=progress,
    ).best(0)
    right = found.n_correct or 0
    low, high = (right / max(n, 1),) * 2 if whole else share_interval(right, len(chosen))
    return LinkedShare(right, len(chosen), n, low, high, f"{method.value} links on the keys")


def _require_tables(held: Mapping[str, CellSets]) -> None:
    for sets in held.values():
        if sets.category_at.shape[1] * sets.nobody > _MOST_CELLS:
            raise LimitError(
                Reason.TOO_LARGE,
                "A release was to be linked with its original.",
                "a variable has too many values and overlapping categories to be linked on",
                "Leave it out of the keys.",
            )
