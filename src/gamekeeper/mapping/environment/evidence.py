"""Which use of key variable mapping led to a conclusion, and which forms stand behind it."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum


class Mode(StrEnum):
    """The three uses of key variable mapping."""

    SPECIFIC = "specific"
    TYPICAL = "typical"
    MULTIPLE = "multiple"


@dataclass(frozen=True, slots=True)
class Evidence:
    """A code that refines a result, how many of the matched forms have it, and which.

    Scenarios of earlier versions do not know which.
    """

    code: str
    n_forms: int
    forms: tuple[str, ...] = field(default=(), compare=False)
