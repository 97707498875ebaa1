"""The table with one row per record of a file: its class, the probability of a match, its ranks."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from gamekeeper.attack.assessment.measured import Measured
from gamekeeper.attack.uniques.record_table import with_others

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
    """Return one row per listed record; those left out, which are where all are, have no measures."""
    import pyarrow as pa

    chances, listed = measured.chances, measured.keys.listed
    columns: dict[str, NDArray[Any]] = {
        "class_size": listed.sizes(),
        "p_match": chances.p,
        "p_bound": chances.bound,
        "p_unique": chances.p_unique,
        "expected_size": chances.expected_size,
        "people_lower": chances.people_lower,
        "people_upper": chances.people_upper,
        "risk_class": measured.classes.classify(chances.ranking),
    }
    if measured.household_chances is not None:
        columns["household_match"] = measured.household_chances
    made = listed.table_of(columns)
    place = made.column_names.index("risk_class")
    words = pa.array(measured.classes.names)
    classes = pa.DictionaryArray.from_arrays(made[place].combine_chunks(), words)
    made = made.set_column(place, "risk_class", classes.cast(pa.string()))
    ranked = measured.uniques.records.table
    if listed.by_key:
        ranked = with_others(ranked, made["record"].to_numpy(), measured.uniques.not_known)
    for name in RANKINGS:
        made = made.append_column(name, ranked[name])
    return made
