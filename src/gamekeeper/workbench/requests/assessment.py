"""What people ask of the assessment of a file: everything in one go, under a policy if they like."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from gamekeeper.attack.assessment.policy import PROFILES, Policy
from gamekeeper.attack.options import MeasureOptions, Whose
from gamekeeper.options import option
from gamekeeper.results import Audience
from gamekeeper.workbench.requests import shared
from gamekeeper.workbench.requests.records import OfFile


@dataclass(frozen=True, slots=True, kw_only=True)
class AssessRequest(OfFile):
    """Assess a file on its keys, judge it by a policy, say why, write records and a report."""

    sensitive: tuple[str, ...] = option(
        (), "A sensitive variable: does finding a class of records give its value away?"
    )
    policy: str | Path | Mapping[str, Any] | Policy = option(
        "",
        f"Limits to hold the file to: {', '.join(PROFILES)}, or a JSON file of your own. Exit"
        " code 4 where one is not met or not proven.",
        read=str,
    )
    person: Whose = ""
    measure: MeasureOptions = field(default_factory=MeasureOptions)
    top: shared.Top = 5
    explain: tuple[int, ...] = option(
        (), "Say what sets this record apart (its number in the file, from 1)."
    )
    identifier: shared.Identifier = ""
    records: shared.CountedRecords = None
    report: shared.Report = None
    report_for: shared.ReportFor = Audience.INTERNAL
    report_records: shared.ReportRecords = True
    plot: shared.Plot = None
    replace: shared.Replace = False
    raw: shared.Raw = False
