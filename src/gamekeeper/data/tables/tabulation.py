"""Tables of counts from microdata: the records of a coded file, counted by the engine."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from gamekeeper.data.coding.codebook import MISSING
from gamekeeper.data.coding.coded_table import CodedTable
from gamekeeper.data.keys.counting import count_keys
from gamekeeper.data.keys.missing import Missing
from gamekeeper.data.tables.axes import Axis
from gamekeeper.data.tables.count_table import CountTable
from gamekeeper.errors import InputError, Reason
from gamekeeper.options import require_made
from gamekeeper.results import Progress
from gamekeeper.wording import quoted

_RULES = (Missing.CATEGORY, Missing.EXCLUDE)


def tabulate(
    coded: CodedTable,
    axes: Sequence[str],
    *,
    missing: Missing | str = Missing.CATEGORY,
    progress: Progress | None = None,
) -> CountTable:
    """Count the records of a file by some variables.

    Parameters
    ----------
    axes
        The names of the variables; none for the number of records.
    missing
        What a missing cell means: "category" (the last category of its axis, which is there only
        if a cell is missing) or "exclude" (records with a missing cell are left out).
    progress
        Told how much of the step at hand is done, and of how much; it may raise to cancel.

    Returns
    -------
    CountTable
        With every category of the codebook, in its order and words; dense up to
        `gamekeeper.data.tables.count_table.DENSE_CELLS` cells, and else with its non-zero cells.

    Examples
    --------
    >>> from gamekeeper.data.coding.coded_table import coded_from_codes
    >>> coded = coded_from_codes([[1, 1], [1, 1], [2, 0]], ["sex", "age"])
    >>> table = tabulate(coded, ["sex", "age"])
    >>> table.axes[1].categories, table.dense().tolist()
    (('1', 'missing'), [[2, 0], [0, 1]])
    """
    require_made(coded, (CodedTable,), "tabulate was called.")
    if missing not in _RULES:
        raise InputError(
            Reason.BAD_OPTION,
            f"Missing cells were to be read as {quoted([str(missing)])} in a table of counts.",
            "A record belongs to one cell of a table.",
            f"There are: {quoted(_RULES)}.",
        )
    if not axes:
        return CountTable((), np.array(coded.n_records, np.int64))
    keys = count_keys(coded, axes, missing=missing, progress=progress)
    classes = keys.classes()
    cells = np.zeros(classes.num_rows, np.int64)
    made: list[Axis] = []
    for place, name in enumerate(axes):
        words = coded.codebook[name].words
        codes = classes.column(place).to_numpy().astype(np.int64)
        gone = codes == MISSING
        categories = (*words[1:], words[MISSING]) if gone.any() else words[1:]
        made.append(Axis(name, categories))
        cells = cells * len(categories) + np.where(gone, len(words) - 1, codes - 1)
    counts = classes.column(len(axes)).to_numpy().astype(np.int64)
    return CountTable.of_cells(made, cells, counts)
