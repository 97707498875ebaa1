"""The table with one row per record of a file: its class, the probability of a match, its ranks."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from gamekeeper.attack.assessment.measured import Measured

if TYPE_CHECKING:
    import pyarrow as pa
    from numpy.typing import NDArray

RANKINGS = ("msus", "smallest_msu", "suda", "is", "dis_suda", "dis_is")
"""The columns that are taken from the search for uniques: rankings and published measures."""

MEANINGS = {
    "record": "number of the record in the file, from 1",
    "class_size": "records with the same values on the key variables, with itself",
    "p_match": "probability that a match with this record is right; empty where it is not known",
    "p_bound": "it is at most this, which is certain: one over the records of the file with its key",
    "p_unique": "probability that nobody else in the population has its key",
    "expected_size": "expected number of people with its key",
    "people_lower": "people with its key are at least so many (by models a 95% interval)",
    "people_upper": "and at most so many; empty where it is not known",
    "risk_class": "class by p_match, or by p_bound where there is no estimate",
    "household_match": "probability that a match with some member of its household is right",
}


def record_table(measured: Measured) -> pa.Table:
    """Return one row per record, in the order of the file; those left out have no measures."""
    import pyarrow as pa

    chances, keys = measured.chances, measured.keys
    n, places = keys.coded.n_records, np.asarray(keys.records)
    left_out = np.ones(n, dtype=bool)
    left_out[places] = False

    def spread(values: NDArray[Any]) -> pa.Array:
        whole = np.zeros(n, dtype=values.dtype)
        whole[places] = values
        absent = left_out.copy()
        if values.dtype.kind == "f":
            absent[places] |= np.isnan(values)
        return pa.array(whole, mask=absent)

    ranked = measured.uniques.records.table
    numbers = measured.classes.classify(chances.ranking)
    classes = pa.DictionaryArray.from_arrays(spread(numbers), pa.array(measured.classes.names))
    made: dict[str, Any] = {
        "record": ranked["record"],
        "class_size": ranked["class_size"],
        "p_match": spread(chances.p),
        "p_bound": spread(chances.bound),
        "p_unique": spread(chances.p_unique),
        "expected_size": spread(chances.expected_size),
        "people_lower": spread(chances.people_lower),
        "people_upper": spread(chances.people_upper),
        "risk_class": classes.cast(pa.string()),
    }
    if measured.household_chances is not None:
        made["household_match"] = spread(measured.household_chances)
    return pa.table(made | {name: ranked[name] for name in RANKINGS})
