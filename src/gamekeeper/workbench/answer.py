"""What a use case gives back: what was found, and what to know of the data before it is used."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Generic, TypeVar

Found = TypeVar("Found")


@dataclass(frozen=True, slots=True)
class Answer(Generic[Found]):
    """What was found, and in `notices` what may be wrong with the data or the scenario."""

    found: Found
    notices: tuple[str, ...] = ()
