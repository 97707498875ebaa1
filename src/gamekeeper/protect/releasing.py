"""A protected file as it is written: the columns that changed, and the records in an order drawn by lot.

Who stands beside whom tells of households and streets, so that the order of the original would undo what
was protected. The order that is written comes from the seed, the original, what was made of it and the
columns that are released: it can be drawn again by whoever has the recipe and by nobody else, be the seed
ever so easy to guess, and two releases of the same people are in different orders.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from hashlib import sha256
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from gamekeeper.algorithms.counter_stream import CounterStream
from gamekeeper.data.reading.source import Source
from gamekeeper.data.writing.release import WrittenRelease, write_release
from gamekeeper.data.writing.released_column import ReleasedColumn, SuppressedCells
from gamekeeper.errors import InputError, Reason
from gamekeeper.protect.protected import Protected
from gamekeeper.protect.recipe import Recipe
from gamekeeper.protect.setting import Setting

_KEPT, _SHUFFLED = "kept", "shuffled"


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


def write_protected(
    source: Source,
    path: str | Path,
    made: Protected,
    setting: Setting,
    *,
    columns: Mapping[str, str],
    leave_out: Collection[str] = (),
    suppressed: SuppressedCells = SuppressedCells(),  # noqa: B008 - it is frozen
    keep_order: bool = False,
    replace: bool = False,
) -> tuple[WrittenRelease, dict[str, str]]:
    """Write a protected file, shuffled unless its order is kept; return also what a recipe keeps of it."""
    names = [name for name in source.names if name not in set(leave_out)]
    kept = {
        "fingerprint": made.table.fingerprint,
        "order": _KEPT if keep_order else _SHUFFLED,
        "columns": sha256(repr(names).encode("utf-8", "surrogatepass")).hexdigest()[:16],
    }
    order = _order(setting.seed, made.before.fingerprint, kept, made.log.n_left)
    written = write_release(
        source,
        path,
        released_columns(made, columns=columns, coarse=setting.sinks),
        records=made.log.records,
        order=order,
        n_released=made.log.n_left,
        leave_out=leave_out,
        suppressed=suppressed,
        replace=replace,
    )
    return written, {**kept, "sha256": written.sha256}


def order_of_release(recipe: Recipe, released: str, n_records: int) -> NDArray[np.int64]:
    """Return which record of the original each record of a release is, by the recipe it was written with.

    `released` is the hash of the bytes of the release (SHA-256), and `n_records` how many it has.
    """
    found = do = ""
    if recipe.seed is None or recipe.output.get("order") not in (_KEPT, _SHUFFLED):
        found = "It does not say in which order a release was written."
        do = "Give the one that was written with the release (protect apply --recipe)."
    elif recipe.output.get("sha256") != released:
        found = "It was written with another release."
        do = "Give the one that was written with this one, or name a column of both files (--id)."
    elif recipe.n_records != n_records:
        found = "Some records were left out, and which is not told by it."
        do = "Name a column of both files that says which record is whose (--id)."
    if found:
        raise InputError(
            Reason.BAD_OPTION, "Released records were to be told by a recipe.", found, do
        )
    order = _order(recipe.seed or 0, recipe.fingerprint, recipe.output, n_records)
    return np.arange(n_records) if order is None else order


def _order(
    seed: int, original: str, output: Mapping[str, str], n_released: int
) -> NDArray[np.int64] | None:
    """Return which record comes first, second and so on; None where the order is kept."""
    if output["order"] == _KEPT:
        return None
    told = ("order of the release", original, output.get("fingerprint", ""), output["columns"])
    return CounterStream(seed, told).order(np.arange(n_released))
