"""Which use of key variable mapping led to a conclusion, and which forms stand behind it."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class Mode(StrEnum):
    """The three uses of key variable mapping."""

    SPECIFIC = "specific"
    TYPICAL = "typical"
    MULTIPLE = "multiple"


@dataclass(frozen=True, slots=True)
class Evidence:
    """A code that refines a result, and how many of the matched forms have it."""

    code: str
    n_forms: int
