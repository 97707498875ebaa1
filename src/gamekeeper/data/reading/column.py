"""A column of a data file as its reader describes it, before anything is coded."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path

from gamekeeper.errors import InputError, Reason
from gamekeeper.wording import quoted


class ColumnKind(StrEnum):
    """What the cells of a column are in the file."""

    TEXT = "text"
    NUMBER = "number"
    DATE = "date"
    TRUTH = "yes or no"
    OTHER = "other"


@dataclass(frozen=True, repr=False)
class Column:
    """A column of a data file.

    Parameters
    ----------
    name, label
        The name of the column, and what the file says about it, if anything.
    kind
        What its cells are in the file.
    labels
        The words that the file has for values, by the value as text.
    digits
        The number of digits with which the file shows whole numbers, for columns with leading
        zeros; 0 for all others.
    order
        The values as text in the order that they have where they come from; none for columns
        whose values are ordered by their size or their text.
    """

    name: str
    label: str = ""
    kind: ColumnKind = ColumnKind.TEXT
    labels: Mapping[str, str] = field(default_factory=dict[str, str])
    digits: int = 0
    order: tuple[str, ...] = ()

    def __repr__(self) -> str:
        return f"Column({quoted([self.name])}, {self.kind.value}, {len(self.labels)} value labels)"


def unreadable(
    path: str | os.PathLike[str], found: str, do: str, reason: Reason = Reason.MALFORMED
) -> InputError:
    """Return the error for a data file that cannot be read."""
    name = quoted([Path(path).name])
    return InputError(reason, f"Data file {name} was to be read.", found, do)
