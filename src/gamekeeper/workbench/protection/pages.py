"""The pages on a protected file: one for the data holder, one that goes with the release."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gamekeeper.data.writing.released_column import CellLook
from gamekeeper.protect.attacking.file_attack import FileAttack
from gamekeeper.protect.trying.candidate import Candidate, loss_figures
from gamekeeper.protect.trying.risk_utility_map import RiskUtilityMap
from gamekeeper.report.protection.attack_changes import attack_changes
from gamekeeper.report.protection.protection_report import (
    AboutProtection,
    protection_report,
    public_protection_report,
)
from gamekeeper.report.protection.public_utility import compared_in_public
from gamekeeper.report.risk_page import RiskReport
from gamekeeper.wording import percent_text
from gamekeeper.workbench.protection.opening import ProtectedInput
from gamekeeper.workbench.protection.unexamined import release_notices
from gamekeeper.workbench.requests.protection import ReleaseOptions

if TYPE_CHECKING:
    from gamekeeper.workbench.protection.applying import ReleasedFile

_SHOWN = ["candidate", "what", "meets_targets", "risk_share", "lost_share", "frontier"]
_NOT_PROVEN = "best so far"


def internal_page(
    found: ReleasedFile,
    opened: ProtectedInput,
    asked: ReleaseOptions,
    *,
    with_records: bool = True,
) -> RiskReport:
    """Return the page with risk before and after."""
    overview = map_of_release(found)
    return protection_report(
        _about(found, opened, asked),
        found.protected,
        found.utility,
        attack_changes(found.before, found.after, found.targets),
        map_figure=overview.plot(),
        candidates=overview.to_arrow().select(_SHOWN),
        provenances=[found.after.provenance],
        with_records=with_records,
    )


def map_of_release(found: ReleasedFile) -> RiskUtilityMap:
    """Return the map of what was tried before the recipe was chosen, and of the release itself."""
    lost = loss_figures(found.utility, found.recipe.keys)
    tried = [
        Candidate(
            int(each.get("candidate", 0)),
            0,
            str(each.get("what", "")),
            (),
            {"right_share": each.get("right_share")},
            loss={} if each.get("lost_share") is None else {"share": float(each["lost_share"])},
            is_met=bool(each.get("meets_targets")),
        )
        for each in found.recipe.candidates
    ]
    chosen = [int(e.get("candidate", 0)) for e in found.recipe.candidates if e.get("chosen")]
    if not chosen:
        # Of a recipe for another file, the release is all there is.
        names = " then ".join(own.step.do for own in found.recipe.steps)
        number = max((c.number for c in tried), default=0) + 1
        risk = {"right_share": found.after.right_share}
        tried.append(Candidate(number, 0, names, (), risk, loss=lost, is_met=found.is_met))
        chosen = [number]
    return RiskUtilityMap(tuple(tried), found.before.right_share, chosen[0], found.after.provenance)


def public_page(found: ReleasedFile, opened: ProtectedInput, asked: ReleaseOptions) -> RiskReport:
    """Return the page that goes with the release."""
    made, setting = found.protected, opened.setting
    compared = compared_in_public(made, setting, found.utility)
    about = _about(found, opened, asked)
    return public_protection_report(about, made, found.utility, compared, setting.keys)


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
        (
            *opened.data.notices,
            *found.after.unexamined(),
            *release_notices(opened, found.protected, asked),
        ),
        *reached(found.before, found.after),
    )


def reached(before: FileAttack, after: FileAttack) -> tuple[list[str], list[tuple[str, str]]]:
    """Return what attacks achieve after protection and did before, in a sentence and as a figure."""
    if before.right_share is None or after.right_share is None:
        return [], []
    old, new = percent_text(before.right_share), percent_text(after.right_share)
    said = (
        f"By the better of expectation and links, {new} of the people would be matched rightly by"
        f" somebody who knows the keys of all; {old} before."
    )
    return [said], [(new, f"right matches (before: {old})")]


def _certificate(found: ReleasedFile) -> list[str]:
    """Return what is proven of each step, in sentences."""
    said: list[str] = []
    for number, own in enumerate(found.recipe.steps, 1):
        facts = own.found
        bound, cost = facts.get("lower_bound"), facts.get("cost", facts.get("loss"))
        status = facts.get("status", "optimal" if facts.get("optimal") else _NOT_PROVEN)
        if bound is None or cost is None or status not in ("optimal", _NOT_PROVEN):
            # Of what was verified by an attack, one by one, nothing is proven of the others.
            continue
        if status == "optimal":
            said.append(f"Step {number} ({own.step.do}) is the cheapest there is: proven.")
        else:
            share = percent_text(bound / cost if cost else 1.0)
            said.append(
                f"Step {number} ({own.step.do}) is not proven to be the cheapest: whatever reaches the same"
                f" costs at least {share} of what it does."
            )
    said.append(
        "That everybody has the candidates that were asked for is counted anew from the protected codes,"
        " not taken from the method."
    )
    return said
