"""What a use case gives back: what was found, and what to know of the data before it is used."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Generic, TypeVar

if TYPE_CHECKING:
    from gamekeeper.attack.what_if import WhatIf

Found = TypeVar("Found")


@dataclass(frozen=True, slots=True)
class Answer(Generic[Found]):
    """What was found, and in `notices` what may be wrong with the data or the scenario.

    Where the file was recoded, `what_if` has the measures before and after.
    """

    found: Found
    notices: tuple[str, ...] = ()
    what_if: WhatIf | None = None
