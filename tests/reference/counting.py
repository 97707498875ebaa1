"""Records of worked examples, counted by NumPy in the check itself or by an engine, as files are.

By an engine: records are handed over, counted by their keys, and what the attack needs comes back, as
from a file that is elsewhere: different keys with their numbers, blocks of work, cells of margins.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gamekeeper.algorithms.models.clique_scores import MarginScores, SuppliedScores
from gamekeeper.algorithms.uniques.minimal_uniques import MinimalUniques, find_minimal_uniques
from gamekeeper.data.coding.coded_table import coded_from_codes
from gamekeeper.data.engine.duckdb_engine import open_engine
from gamekeeper.data.engine.gate import Engine
from gamekeeper.data.keys.counting import count_keys
from gamekeeper.data.keys.key_table import KeyTable
from gamekeeper.data.keys.weights import Marginals

__all__ = ["class_structure", "margin_scores", "minimal_uniques", "through_an_engine"]

_ENGINE: ContextVar[Engine | None] = ContextVar("through an engine", default=None)
_COUNTED: ContextVar[list[str] | None] = ContextVar("counted by it", default=None)


@contextmanager
def through_an_engine(named: str) -> Generator[list[str]]:
    """Let records be counted by the engine that a text names; yields what it was asked to count."""
    with open_engine(named) as engine:
        counted: list[str] = []
        tokens = _ENGINE.set(engine), _COUNTED.set(counted)
        try:
            yield counted
        finally:
            _ENGINE.reset(tokens[0])
            _COUNTED.reset(tokens[1])


def minimal_uniques(
    codes: NDArray[np.uint32], *, missing: str = "category", **options: Any
) -> MinimalUniques:
    """Find the minimal sample uniques of records, by different keys where an engine counts."""
    table = _counted(codes, missing)
    if table is None:
        return find_minimal_uniques(codes, missing=missing, **options)
    engine, keys = table.coded.engine, table.distinct
    found = find_minimal_uniques(
        keys.codes,
        counts=keys.counts,
        missing=missing,
        blocks=engine.map_blocks,
        apart=engine.n_workers,
        **options,
    )
    return replace(found, records=keys.first[found.records])


def class_structure(rows: Sequence[Sequence[Any]], codes: NDArray[np.uint32]) -> Counter[int]:
    """Return how many different rows occur how often."""
    table = _counted(codes, "category")
    if table is None:
        return Counter(Counter(map(str, rows)).values())
    return Counter(dict(table.structure))


def margin_scores(
    rows: NDArray[np.int64],
    levels: Sequence[int],
    *,
    precision: float,
    counts: NDArray[np.int64] | None = None,
) -> MarginScores:
    """Return scores of margins, whose cells an engine counts where there is one."""
    records = rows if counts is None else np.repeat(rows, counts, axis=0)
    # A category may have any number from 0 on; to an engine 0 is a missing cell.
    table = _counted((records + 1).astype(np.uint32), "category")
    if table is None:
        return MarginScores(rows, levels, precision=precision, counts=counts)
    made = SuppliedScores(Marginals(table).of, table.n_classes, levels, precision=precision)
    made.n_records = table.n_records
    return made


def _counted(codes: NDArray[np.uint32], missing: str) -> KeyTable | None:
    engine, counted = _ENGINE.get(), _COUNTED.get()
    if engine is None or counted is None or not len(codes):
        return None
    counted.append(missing)
    names = [f"v{place}" for place in range(codes.shape[1])]
    return count_keys(coded_from_codes(codes, names, engine=engine), names, missing=missing)
