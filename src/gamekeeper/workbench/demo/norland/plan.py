"""The plan of a form: who asks whom, before the questions are drawn."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

NOT_ASKED = ""


@dataclass(frozen=True, slots=True)
class Plan:
    """A form before its questions are drawn from what is usual in its sector.

    Where it must ask or must not ask a variable, or has a wording of its own, `fixed` names the
    wording, or says `NOT_ASKED`.
    """

    organisation: str
    title: str
    population: str
    area: str = "Norland"
    fixed: Mapping[str, str] = field(default_factory=dict[str, str])
