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
    coarse: Collection[str] = (),
) -> list[ReleasedColumn]:
    """Return the columns of a protected file that differ from the original.

    Parameters
    ----------
    protected
        The file after all its steps.
    columns
        By variable the column of the original, where it is called otherwise there.
    coarse
        Variables whose codes are coarser than the values of the original, as those of a scenario are.
        Where a cell of such a variable got another value, every cell is released as it is coded, since
        the few would be told by their looks. A value that no category takes is not released.
    """
    log, table = protected.log, protected.table
    named = columns or {}
    made: list[ReleasedColumn] = []
    for name in dict.fromkeys((*log.variables, *(n for n in coarse if n in table.codebook))):
        change = log.variables.get(name)
        recode = None if change is None else change.recode
        own = name if recode is None else recode.new_name
        is_coded = own in table.codebook
        if not is_coded and own not in table.numbers:
            continue
        changed, suppressed = log.changed(name), log.suppressed(name)
        is_coarse = name in coarse
        is_recoded = recode is not None or (is_coarse and bool((changed & ~suppressed).any()))
        if not (is_recoded or is_coarse or changed.any() or suppressed.any()):
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
                is_coarse,
            )
        )
    return made
