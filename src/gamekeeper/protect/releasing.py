"""A protected file as the columns that are written: what changed, and to what."""

from __future__ import annotations

from collections.abc import Collection, Mapping

import numpy as np

from gamekeeper.data.writing.released_column import ReleasedColumn
from gamekeeper.protect.protected import Protected


def released_columns(
    protected: Protected,
    *,
    columns: Mapping[str, str] | None = None,
    as_coded: Collection[str] = (),
) -> list[ReleasedColumn]:
    """Return the columns of a protected file that differ from the original.

    Parameters
    ----------
    protected
        The file after all its steps.
    columns
        By variable the column of the original, where it is called otherwise there.
    as_coded
        Variables of which every cell is released as it is coded, and not only those changed: those whose
        codes are coarser than the values of the original.
    """
    log, table = protected.log, protected.table
    named = columns or {}
    made: list[ReleasedColumn] = []
    # A coarser variable may have been coded so from the start, and not changed since.
    for name in dict.fromkeys((*log.variables, *as_coded)):
        change = log.variables.get(name)
        recode = None if change is None else change.recode
        own = name if recode is None else recode.new_name
        is_coded = own in table.codebook
        if not is_coded and own not in table.numbers:
            continue
        is_recoded = recode is not None or name in as_coded
        changed, suppressed = log.changed(name), log.suppressed(name)
        if not is_recoded and not changed.any() and not suppressed.any():
            continue
        # A number that is coded as well is written as the number that it is.
        is_number = own in table.numbers and not is_recoded
        texts = ()
        if is_coded:
            variable = table.codebook[own]
            texts = variable.words if is_recoded else variable.values
        made.append(
            ReleasedColumn(
                named.get(name, name),
                changed,
                suppressed,
                None if is_number or not is_coded else table.codes(own).astype(np.int64),
                texts,
                table.number(own) if is_number else None,
                is_recoded,
            )
        )
    return made
