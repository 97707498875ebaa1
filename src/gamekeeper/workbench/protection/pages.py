"""The pages on a protected file: one for the data holder, one that goes with the release."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gamekeeper.data.writing.released_column import CellLook
from gamekeeper.report.protection_attacks import attack_changes
from gamekeeper.report.protection_report import (
    AboutProtection,
    protection_report,
    public_protection_report,
)
from gamekeeper.report.risk_page import RiskReport
from gamekeeper.workbench.protection.opening import ProtectedInput
from gamekeeper.workbench.protection.unexamined import release_notices
from gamekeeper.workbench.requests.protection import ReleaseOptions

if TYPE_CHECKING:
    from gamekeeper.workbench.protection.applying import ReleasedFile


def internal_page(
    found: ReleasedFile,
    opened: ProtectedInput,
    asked: ReleaseOptions,
    *,
    with_records: bool = True,
) -> RiskReport:
    """Return the page with risk before and after."""
    return protection_report(
        _about(found, opened, asked),
        found.protected,
        found.utility,
        attack_changes(found.before, found.after, found.targets),
        provenances=[found.after.provenance],
        with_records=with_records,
    )


def public_page(found: ReleasedFile, opened: ProtectedInput, asked: ReleaseOptions) -> RiskReport:
    """Return the page that goes with the release."""
    return public_protection_report(_about(found, opened, asked), found.protected, found.utility)


def _about(found: ReleasedFile, opened: ProtectedInput, asked: ReleaseOptions) -> AboutProtection:
    scenario = opened.data.scenario
    return AboutProtection(
        opened.data.source.name,
        [own.step for own in found.recipe.steps],
        "empty" if CellLook(asked.look) is CellLook.EMPTY else f"the code {asked.code}",
        "" if found.written is None else found.written.path.name,
        "" if scenario is None else scenario.name,
        "" if scenario is None else scenario.attacker,
        _certificate(found),
        (*opened.data.notices, *release_notices(opened, found.protected, asked.leave_out)),
    )


def _certificate(found: ReleasedFile) -> list[str]:
    """Return what is proven of each step, in sentences."""
    said: list[str] = []
    for number, own in enumerate(found.recipe.steps, 1):
        bound, cost = own.found.get("lower_bound"), own.found.get("cost")
        if bound is None or cost is None:
            continue
        if own.found.get("optimal"):
            said.append(f"Step {number} ({own.step.do}) is the cheapest there is: {cost:g}.")
        else:
            said.append(
                f"Step {number} ({own.step.do}) costs {cost:g}; anything that reaches the same costs at"
                f" least {bound:g}."
            )
    said.append(
        "That everybody has the candidates that were asked for is counted anew from the protected codes,"
        " not taken from the method."
    )
    return said
