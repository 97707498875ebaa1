"""The table with one row per record of a file: class size, MSUs, measures and risk class."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from gamekeeper.attack.risk_classes import NOT_UNIQUE, RiskClasses
from gamekeeper.attack.uniques.contributions import NO_MSU
from gamekeeper.attack.uniques.facts import UniqueFacts
from gamekeeper.attack.uniques.scoring import MEASURE_NAMES, MEASURES, PROBABILITIES
from gamekeeper.data.keys.key_table import KeyTable
from gamekeeper.data.keys.writing import write_records

if TYPE_CHECKING:
    from pathlib import Path

    import pyarrow as pa
    from numpy.typing import NDArray


def record_table(
    records: NDArray[np.int64],
    class_sizes: NDArray[np.int64],
    uniques: NDArray[np.int64],
    msus: NDArray[np.int64],
    facts: UniqueFacts,
) -> pa.Table:
    """Return one row per record, in the order of the file.

    `records` are their numbers in the file, from 1: all of them, or the sample uniques. Each has its
    class size, 0 if it was left out. `uniques` are the sample uniques by their place among these
    records, `msus` how many MSUs each of these has.
    """
    import pyarrow as pa

    n_records = len(records)
    excluded = class_sizes == 0
    made: dict[str, Any] = {
        "record": pa.array(records),
        "class_size": pa.array(class_sizes, mask=excluded),
        "msus": pa.array(_spread(n_records, uniques, msus, 0), mask=excluded),
    }
    sizes = _spread(n_records, uniques, facts.smallest, NO_MSU)
    made["smallest_msu"] = pa.array(sizes, mask=sizes == NO_MSU)
    for name in MEASURES:
        values = facts.scores.columns[name]
        if values is None:
            made[name] = pa.nulls(n_records, pa.float64())
            continue
        spread = _spread(n_records, uniques, values, 0)
        made[name] = pa.array(spread, mask=excluded | np.isnan(spread))
    # One more class for the records that are not unique, at the end of the names.
    class_names = facts.classes.names
    numbers = _spread(n_records, uniques, facts.class_numbers, len(class_names))
    codes = pa.array(numbers, mask=excluded | (numbers < 0))
    words = pa.array([*class_names, NOT_UNIQUE], pa.string())
    made["risk_class"] = pa.DictionaryArray.from_arrays(codes, words).cast(pa.string())
    return pa.table(made)


def write_unique_records(
    key_table: KeyTable,
    table: pa.Table,
    folder: Path,
    *,
    not_known: Sequence[str] = (),
    identifier: str = "",
) -> int:
    """Let the engine that has the records write the table of all of them, given that of the uniques.

    The rows of `table` that are no uniques are not looked at: what they say is known. `not_known` are
    the measures that are not known of any record.
    """
    import pyarrow.compute as pc

    return write_records(
        key_table,
        table.filter(pc.equal(table["class_size"], 1)),
        folder,
        others=_of_others(not_known),
        identifier=identifier,
    )


def with_others(
    uniques: pa.Table, records: NDArray[np.int64], not_known: Sequence[str] = ()
) -> pa.Table:
    """Return one row for each of some records by their numbers, given the table of all uniques.

    Examples
    --------
    >>> import pyarrow as pa
    >>> known = {"record": [4], "msus": [2], "is": [6.0], "smallest_msu": pa.array([1], pa.int8())}
    >>> with_others(pa.table(known), np.array([9, 4])).to_pydict()
    {'record': [9, 4], 'msus': [0, 2], 'is': [0.0, 6.0], 'smallest_msu': [None, 1]}
    """
    import pyarrow as pa
    import pyarrow.compute as pc

    others = _of_others(not_known)
    order = np.argsort(uniques["record"].to_numpy())
    known = uniques["record"].to_numpy()[order]
    place = np.minimum(np.searchsorted(known, records), max(len(known) - 1, 0))
    is_known = known[place] == records if len(known) else np.zeros(len(records), bool)
    rows = pa.array(order[place] if len(known) else place, mask=~is_known)
    made = {"record": pa.array(records)}
    for name in uniques.column_names:
        if name in others:
            column = uniques[name]
            value = pa.scalar(others[name], column.type)
            made[name] = pc.if_else(pa.array(is_known), column.take(rows), value)
    return pa.table(made)


def _of_others(not_known: Sequence[str]) -> dict[str, float | str | None]:
    """Return what is said of records that are not unique."""
    return {
        **dict.fromkeys(MEASURES, 0),
        **dict.fromkeys(not_known),
        "msus": 0,
        "smallest_msu": None,
        "risk_class": NOT_UNIQUE,
    }


def column_meanings(classes: RiskClasses, n_keys: int, power: int) -> dict[str, str]:
    """Return what each column of the table says."""
    meanings = {
        "record": "number of the record in the file, from 1",
        "class_size": f"records with the same values on the {n_keys} key variables, with itself",
        "msus": "number of minimal sample uniques",
        "smallest_msu": "variables in the smallest of them; empty where there is none",
    }
    for name, words in MEASURE_NAMES.items():
        kind = "estimated probability of a correct match" if name in PROBABILITIES else "score"
        meanings[name] = f"{words}; {kind}, 0 for records that are not unique"
    meanings["suda"] += f", times 10^{power}"
    meanings["risk_class"] = f"class by {classes.measure}: {classes.text}"
    return meanings


def _spread(
    n_records: int, places: NDArray[np.int64], values: NDArray[Any], other: int
) -> NDArray[Any]:
    """Return values at their places among all records, another value elsewhere."""
    spread = np.full(n_records, other, dtype=values.dtype)
    spread[places] = values
    return spread
