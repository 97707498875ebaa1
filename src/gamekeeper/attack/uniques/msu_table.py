"""Every minimal sample unique (MSU) of a file as one table; linear in their number."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from gamekeeper.attack.uniques.explaining import Explainer, names_of
from gamekeeper.errors import InputError, Reason

if TYPE_CHECKING:
    import pyarrow as pa


def msu_table(explainer: Explainer) -> pa.Table:
    """Return one row per MSU: record, size, variables, and the category of each of them."""
    import pyarrow as pa

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
