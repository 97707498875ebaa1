"""The codes of a file before and after, so that the same code means the same in both.

A variable that was recoded is compared as it is released: its categories of before are made as coarse.
A suppressed cell is a category of its own in the file after; without a log of changes it cannot be told
from a missing one, and counts as that.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from gamekeeper.data.coding.codebook import MISSING, CodedVariable
from gamekeeper.data.coding.coded_table import CodedTable
from gamekeeper.protect.changes import ChangeLog

Codes = NDArray[np.int64]
_TABLES_HOLD = 100
_RECORDS_A_VALUE = 5


@dataclass(frozen=True, slots=True, repr=False, eq=False)
class AlignedVariable:
    """One variable before and after, in codes that mean the same (`words`) in both.

    `original` has the codes of before as the file had them; `suppressed` is the code of a suppressed
    cell, which none has where nothing was suppressed.
    """

    name: str
    original: Codes
    before: Codes
    after: Codes
    words: tuple[str, ...]
    suppressed: int


def align(
    before: CodedTable, after: CodedTable, name: str, log: ChangeLog | None
) -> AlignedVariable:
    """Bring a variable of two files to the same codes.

    Examples
    --------
    >>> from gamekeeper.data.coding.coded_table import coded_from_codes
    >>> first = coded_from_codes([[1], [2]], ["sex"], [("missing", "f", "m")])
    >>> second = coded_from_codes([[0], [1]], ["sex"], [("missing", "m")])
    >>> both = align(first, second, "sex", None)
    >>> both.before.tolist(), both.after.tolist()
    ([1, 2], [0, 2])
    """
    original = before.codes(name).astype(np.int64)
    change = None if log is None else log.variables.get(name)
    old = before.codebook[name]
    codes, words = original, old.words
    if change is not None and change.recode is not None:
        codes, words = change.recode.codes[original], change.recode.words
    new = after.codebook[change.recode.new_name if change and change.recode else name]
    place = {word: code for code, word in enumerate(words)}
    named = list(words)
    turned = np.empty(new.n_codes, np.int64)
    for code, word in enumerate(new.words):
        if code == MISSING:
            turned[code] = MISSING
            continue
        if word not in place:
            place[word] = len(named)
            named.append(word)
        turned[code] = place[word]
    released = turned[after.codes(new.name)]
    star = len(named)
    if log is not None:
        # What was missing before may look suppressed now: nothing is lost by that.
        released = np.where(log.suppressed(name) & log.changed(name), star, released)
    return AlignedVariable(name, original, codes, released, (*named, "suppressed"), star)


def common_variables(before: CodedTable, after: CodedTable, log: ChangeLog | None) -> list[str]:
    """Return the variables that both files have, by their names of before."""
    changes = {} if log is None else log.variables
    found: list[str] = []
    for variable in before.codebook:
        change = changes.get(variable.name)
        name = variable.name
        if change is not None and change.recode is not None:
            name = change.recode.new_name
        if name in after.codebook:
            found.append(variable.name)
    return found


def is_sprawling(variable: CodedVariable, n_records: int) -> bool:
    """Tell whether a variable has too many values for tables: as identifiers and amounts of money have.

    Examples
    --------
    >>> is_sprawling(CodedVariable.of_values("id", map(str, range(500))), 800)
    True
    >>> is_sprawling(CodedVariable.of_values("age", map(str, range(100))), 200)
    False
    """
    return variable.n_codes - 1 > max(_TABLES_HOLD, n_records / _RECORDS_A_VALUE)
