"""Households of a file, and what their members have in common.

A variable of the household is one cell of all its members: it is suppressed for all of them or for
none. Households then count as one each, and have k of them as candidates.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated

import numpy as np
from numpy.typing import NDArray

from gamekeeper.data.coding.coded_table import CodedTable
from gamekeeper.errors import Problem, Reason, refuse
from gamekeeper.options import Option
from gamekeeper.prompt_syntax import names_of
from gamekeeper.protect.setting import Setting
from gamekeeper.wording import count_of, quoted

HouseholdVariables = Annotated[
    tuple[str, ...],
    Option(
        "Key variables that a household has in common: one cell for all its members. By default"
        " those that never differ within one.",
        panel="Suppression",
        read=names_of,
    ),
]
"""The option that names them, for every step that knows households."""


@dataclass(frozen=True, slots=True, eq=False)
class Households:
    """The households of a file, and the key variables that members have in common.

    `home_of` is the number of each record's household (a record without one is one of its own),
    `first` a record of each household and `sizes` how many members it has.
    """

    variables: tuple[str, ...]
    home_of: NDArray[np.int64]
    first: NDArray[np.int64]
    sizes: NDArray[np.int64]

    @property
    def n_homes(self) -> int:
        """How many households there are."""
        return len(self.first)


def find_households(
    table: CodedTable, setting: Setting, wanted: Sequence[str] = ()
) -> Households | None:
    """Return the households of a file; None where none are told.

    `wanted` are the key variables that members have in common, by default those that never differ
    within a household. One in which members differ is refused.
    """
    codes = setting.households(table)
    if codes is None:
        return None
    _, first, home_of, sizes = np.unique(
        codes, return_index=True, return_inverse=True, return_counts=True
    )
    keys = setting.keys
    unlike: dict[str, int] = {}
    for name in keys:
        own = table.codes(name)
        differs = own != own[first][home_of]
        unlike[name] = len(np.unique(home_of[differs]))
    wanted = wanted or tuple(name for name in keys if not unlike[name])
    problems = [
        Problem(
            Reason.BAD_OPTION,
            f"variable {quoted([name])}",
            f"it differs within {count_of(unlike[name], 'household')}.",
            "Leave it out, or mend the file.",
        )
        for name in wanted
        if unlike[name]
    ]
    refuse(
        problems,
        "Variables of households were to be one cell for all members.",
        f"{count_of(len(problems), 'variable has', 'variables have')} conflicting values.",
    )
    return Households(tuple(wanted), home_of.reshape(-1), first, sizes)
