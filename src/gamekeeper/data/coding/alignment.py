"""Two coded tables brought to the same codes, so that their keys can be compared.

Categories are the same where their words are. The codes of both follow the order of all words
that occur in either.
"""

from __future__ import annotations

from collections.abc import Sequence

from gamekeeper.data.coding.codebook import MISSING, CodedVariable, sorted_values
from gamekeeper.data.coding.coded_table import CodedTable
from gamekeeper.data.coding.recode import Recode


def aligned(
    first: CodedTable, second: CodedTable, variables: Sequence[str]
) -> tuple[CodedTable, CodedTable]:
    """Return two tables in which the same code of a variable means the same.

    Examples
    --------
    >>> from gamekeeper.data.coding.coded_table import coded_from_codes
    >>> sample = coded_from_codes([[1], [2]], ["sex"], [("missing", "f", "m")])
    >>> everybody = coded_from_codes([[1], [2]], ["sex"], [("missing", "m", "x")])
    >>> both = aligned(sample, everybody, ["sex"])
    >>> [table.matrix().ravel().tolist() for table in both]
    [[1, 2], [2, 3]]
    """
    pairs = [(first.codebook[name], second.codebook[name]) for name in variables]
    unlike = [(one, other) for one, other in pairs if one.words != other.words]
    recodes = [_recodes(one, other) for one, other in unlike]
    return (
        first.recoded([recode for recode, _ in recodes]),
        second.recoded([recode for _, recode in recodes]),
    )


def _recodes(one: CodedVariable, other: CodedVariable) -> tuple[Recode, Recode]:
    known = set(one.words[MISSING + 1 :]) | set(other.words[MISSING + 1 :])
    words = (one.words[MISSING], *sorted_values(known))
    places = {word: code for code, word in enumerate(words)}
    return (
        Recode(one.name, [MISSING, *(places[word] for word in one.words[1:])], words),
        Recode(other.name, [MISSING, *(places[word] for word in other.words[1:])], words),
    )
