"""What reports on a file of records say of it: its name, how it was read, how it was counted."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from gamekeeper.data.keys.key_table import KeyTable
from gamekeeper.report.risk_page import facts_of
from gamekeeper.wording import fraction_text

if TYPE_CHECKING:
    from gamekeeper.attack.what_if import WhatIf

_SIGNS = {"\t": "tab", ",": "comma", ";": "semicolon", "|": "bar", ".": "point"}


@dataclass(frozen=True, slots=True)
class AboutFile:
    """What a report says of the file: its name, how it was read, by which scenario."""

    name: str
    settings: Mapping[str, str] = field(default_factory=dict[str, str])
    scenario: str = ""
    attacker: str = ""
    notices: Sequence[str] = ()
    what_if: WhatIf | None = None


def file_facts(
    about: AboutFile, table: KeyTable, *more: tuple[str, object]
) -> list[tuple[str, str]]:
    """Return the facts that are known of a file and of how its keys were counted."""
    settings = about.settings.items()
    left_out = table.n_excluded + table.n_further
    return facts_of(
        [
            ("File", about.name),
            ("Read as", ", ".join(f"{key} {_SIGNS.get(value, value)}" for key, value in settings)),
            ("Scenario", about.scenario),
            ("Attacker", about.attacker),
            ("Key variables", ", ".join(table.keys)),
            ("Missing values", f"{table.missing.value}: {table.missing.words}"),
            ("Records", f"{table.n_records:,} counted, {left_out:,} left out"),
            ("Sampling fraction", fraction_text(table.fraction)),
            *more,
        ]
    )
