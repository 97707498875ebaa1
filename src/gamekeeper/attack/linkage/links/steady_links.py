"""Links by structure, by how many runs on halves of the columns made them."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from gamekeeper.attack.linkage.links.calibration import Band, bands_table

if TYPE_CHECKING:
    import pyarrow as pa

    from gamekeeper.attack.linkage.links.structure_links import StructureLinks


def by_runs(found: StructureLinks) -> tuple[Band, ...]:
    """Return how many links, and right ones, so many runs made; nothing where there were no runs.

    None is right where truth is not known.
    """
    if found.steady is None or found.links is None:
        return ()
    linked = found.links >= 0
    right = np.zeros_like(linked) if found.truth is None else linked & (found.links == found.truth)
    votes, n_most = found.steady.votes, found.steady.n_runs + 1
    counts, rights = (np.bincount(votes[some], minlength=n_most) for some in (linked, right))
    return tuple(
        Band(k, k, n, n_right, math.nan)
        for k, (n, n_right) in enumerate(zip(counts.tolist(), rights.tolist(), strict=True))
        if n
    )


def runs_table(found: StructureLinks) -> pa.Table | None:
    """Return one row per number of runs that made a link; None where there were no runs."""
    bands = by_runs(found)
    if not bands:
        return None
    table = bands_table(bands, "runs", with_stated=False).drop_columns(["runs_to"])
    table = table.rename_columns(["runs", *table.column_names[1:]])
    return table if found.truth is not None else table.select(["runs", "links"])
