"""The first records of a file as codes: enough to tell what a search would cost."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from gamekeeper.data.reading.source import Source

FIRST_RECORDS = 1 << 14


def first_codes(source: Source, columns: Sequence[str]) -> NDArray[np.uint32]:
    """Return codes of the first records, a row each; 0 is an empty cell.

    Equal cells have equal codes, which are not those of a codebook.
    """
    import pyarrow as pa

    batches: list[pa.RecordBatch] = []
    n_read = 0
    for batch in source.batches(columns):
        batches.append(batch.slice(0, FIRST_RECORDS - n_read))
        n_read += batches[-1].num_rows
        if n_read == FIRST_RECORDS:
            break
    codes = np.zeros((n_read, len(columns)), dtype=np.uint32)
    for number in range(len(columns)):
        cells = pa.chunked_array([batch.column(number) for batch in batches]).combine_chunks()
        if pa.types.is_dictionary(cells.type):
            cells = cells.dictionary_decode()
        places = cells.dictionary_encode().indices
        codes[:, number] = places.fill_null(-1).to_numpy(zero_copy_only=False) + 1
    return codes
