"""A release by a recipe: applied to the file it was made for or replayed on another; its pages.

The file is protected and attacked again before anything is written: a page for the data holder, and
one that goes with the release. Where a target is missed no release is written, and that is said. The
same recipe and the same file give the same bytes.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any, ClassVar

from gamekeeper.arrow import pa
from gamekeeper.data.writing.microdata_file import WrittenRelease
from gamekeeper.data.writing.released_cells import CellLook, SuppressedCells
from gamekeeper.errors import InputError, Reason
from gamekeeper.files import write_file
from gamekeeper.protection.attacking import result
from gamekeeper.protection.attacking.attacks import AttackName, attack_file, attacks_for
from gamekeeper.protection.plan import Candidate, RiskUtilityMap, loss_figures
from gamekeeper.protection.recipe import Recipe, read_recipe, recipe_text, replayed, run_steps
from gamekeeper.protection.releases import write_protected
from gamekeeper.protection.step import ChangeLog, Protected
from gamekeeper.protection.targets import parse_targets
from gamekeeper.protection.utility.measuring import UtilityOptions, measure_utility
from gamekeeper.protection.utility.result import Utility
from gamekeeper.report.page import RiskReport, write_risk_report
from gamekeeper.report.protection_report import (
    AboutProtection,
    attack_changes,
    protection_report,
    public_protection_report,
)
from gamekeeper.report.protection_utility import compared_in_public
from gamekeeper.report.tables import write_table
from gamekeeper.results import Progress, Provenance, Result
from gamekeeper.wording import percent_text, quoted
from gamekeeper.workbench.answers import Answer, require_outputs, write_outputs
from gamekeeper.workbench.protection import opening
from gamekeeper.workbench.protection.trying import noted
from gamekeeper.workbench.requests.protection import ApplyRequest, ReleaseOptions, ReplayRequest
from gamekeeper.workbench.requests.records import SampleDesign

_NOT_PROVEN = "best so far"


def internal_page(
    found: ReleasedFile,
    opened: opening.ProtectedInput,
    asked: ReleaseOptions,
    *,
    with_records: bool = True,
) -> RiskReport:
    """Return the page with risk before and after."""
    overview = map_of_release(found)
    shown = ["candidate", "what", "meets_targets", "risk_share", "lost_share", "frontier"]
    return protection_report(
        _about(found, opened, asked),
        found.protected,
        found.utility,
        attack_changes(found.before, found.after, found.targets),
        map_figure=overview.plot(),
        candidates=overview.to_arrow().select(shown),
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


def public_page(
    found: ReleasedFile, opened: opening.ProtectedInput, asked: ReleaseOptions
) -> RiskReport:
    """Return the page that goes with the release."""
    made, setting = found.protected, opened.setting
    compared = compared_in_public(made, setting, found.utility)
    about = _about(found, opened, asked)
    return public_protection_report(about, made, found.utility, compared, setting.keys)


def _about(
    found: ReleasedFile, opened: opening.ProtectedInput, asked: ReleaseOptions
) -> AboutProtection:
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
            *opening.release_notices(opened, found.protected, asked),
        ),
        *reached(found.before, found.after),
    )


def reached(
    before: result.FileAttack, after: result.FileAttack
) -> tuple[list[str], list[tuple[str, str]]]:
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


@dataclass(frozen=True, repr=False, eq=False)
class ReleasedFile(Result):
    """A file that was protected by a recipe and attacked before and after; `written` says where it is."""

    tells_of_records: ClassVar[bool] = False

    protected: Protected
    before: result.FileAttack
    after: result.FileAttack
    targets: tuple[result.JudgedTarget, ...]
    utility: Utility
    recipe: Recipe
    written: WrittenRelease | None
    provenance: Provenance

    @property
    def is_met(self) -> bool:
        """Whether every target is met."""
        return all(target.is_met for target in self.targets)

    def summary(self) -> dict[str, Any]:
        """Return the headline numbers."""
        found = self.after.summary()
        return {
            "met": self.is_met,
            "written": self.written is not None,
            **self.protected.summary(),
            "expected_before": self.before.summary()["expected_matches"],
            "expected_after": found["expected_matches"],
            "sha256": "" if self.written is None else self.written.sha256,
            **{
                name: found[name]
                for name in ("right_if_repeated", "whole_households")
                if name in found
            },
        }

    def sentences(self) -> list[str]:
        """Return what was reached, what was done and what it cost."""
        first = result.targets_sentence(self.targets)
        if not self.is_met:
            first = f"No release is written. {first}"
        return [
            first,
            *self.after.unexamined(),
            *self._order(),
            *self.protected.sentences(),
            f"Before: {self.before.sentences()[0]}",
            *(f"After: {text}" for text in self.after.sentences()),
            *self.utility.sentences()[:2],
        ]

    def _order(self) -> list[str]:
        if self.written is None or self.recipe.output.get("order") == "kept":
            return []
        told = (
            "The records of the release are shuffled: whoever has the recipe can put them in order again,"
            " so that it is as confidential as the file."
        )
        return [told]

    def to_arrow(self) -> pa.Table:
        """Return one row per figure of the attacks, before and after."""
        return self.after.beside(self.before)

    def plot(self) -> Any:
        """Draw what was lost, variable by variable."""
        return self.utility.plot()


def apply_recipe(asked: ApplyRequest, *, progress: Progress | None = None) -> Answer[ReleasedFile]:
    """Apply a recipe to the file that it was made for."""
    require_outputs(asked)
    recipe = read_recipe(asked.recipe)
    opened = _opened(asked, recipe, progress)
    if recipe.fingerprint and recipe.fingerprint != opened.table.fingerprint:
        raise InputError(
            Reason.STALE,
            f"A recipe was to be applied to {opened.data.source.words}.",
            "It was made for another file, or the file was changed since.",
            "To use it on another file of the same kind: gamekeeper protect replay.",
        )
    return _released(asked, recipe, opened, anew=False, progress=progress)


def replay_recipe(
    asked: ReplayRequest, *, progress: Progress | None = None
) -> Answer[ReleasedFile]:
    """Apply a recipe to a file, found recodes as they are or searched anew, and attack again."""
    require_outputs(asked.apply)
    recipe = read_recipe(asked.apply.recipe)
    opened = _opened(asked.apply, recipe, progress)
    return _released(asked.apply, recipe, opened, anew=asked.anew, progress=progress)


def _opened(
    asked: ApplyRequest, recipe: Recipe, progress: Progress | None
) -> opening.ProtectedInput:
    if recipe.seed is None:
        raise InputError(
            Reason.NOTHING_GIVEN, "A recipe was to be used.", "It has no seed: it is for people outside.",
            "Use the internal recipe.",
        )  # fmt: skip
    used = [step for own in recipe.steps for step in (own.step, *own.frozen)]
    extra = [name for step in used for name in step.columns()]
    request = opening.asked_by(
        recipe,
        asked.file,
        asked.environment,
        values=asked.values,
        unmapped=asked.unmapped,
        numbers=asked.numbers,
        reading=asked.reading,
    )
    return opening.open_for_protection(
        request,
        design=SampleDesign(weight=recipe.weight, strata=recipe.strata, fraction=recipe.fraction),
        household=recipe.household,
        identifier=recipe.identifier,
        sensitive=recipe.sensitive,
        extra=[name for name in dict.fromkeys(extra) if name not in recipe.keys],
        response_knowledge=recipe.response_knowledge,
        seed=recipe.seed,
        workers=asked.workers,
        progress=progress,
    )


def _released(
    asked: ApplyRequest,
    recipe: Recipe,
    opened: opening.ProtectedInput,
    *,
    anew: bool,
    progress: Progress | None,
) -> Answer[ReleasedFile]:
    release = asked.release
    if not recipe.steps:
        raise InputError(
            Reason.NOTHING_GIVEN,
            "A recipe was to be used.",
            "It has no steps.",
            "Give one that has.",
        )
    targets = parse_targets(recipe.target_texts)
    table, setting = opened.table, opened.setting
    made, done = run_steps(replayed(recipe, anew=anew), table, setting)
    is_same = recipe.fingerprint == table.fingerprint and not anew
    known = recipe.output.get("fingerprint")
    if is_same and known and known != made.table.fingerprint:
        raise InputError(
            Reason.DAMAGED,
            "A recipe was to be applied to its own file.",
            "The outcome is not the one that was attacked when the recipe was made: the recipe was"
            " changed, or made by another version.",
            "Try it again (gamekeeper protect try), and use the new recipe.",
        )
    wanted = attacks_for(targets, tuple(AttackName(each) for each in asked.attacks))
    nothing = ChangeLog(table.n_records)
    before = attack_file(table, table, nothing, setting, wanted, progress=progress)
    after = attack_file(table, made.table, made.log, setting, wanted, progress=progress)
    judged = result.judge_targets(targets, after)
    utility = measure_utility(
        table,
        made.table,
        UtilityOptions(weight=setting.weight, analyses=asked.utility.analyses),
        log=made.log,
        beside=opened.beside(asked.utility.analyses),
        decimal=setting.decimal,
    )
    is_met = all(target.is_met for target in judged)
    written, output = None, {"fingerprint": made.table.fingerprint}
    if is_met and release.output is not None:
        written, output = write_protected(
            opened.data.source,
            release.output,
            made,
            setting,
            columns=opened.columns,
            leave_out=release.leave_out,
            suppressed=SuppressedCells(CellLook(release.look), release.code),
            keep_order=release.keep_order,
            replace=asked.replace,
        )
    steps = recipe.steps if is_same else done
    used = replace(
        opened.recipe(),
        steps=steps,
        targets=tuple(target.to_json() for target in judged),
        output=output,
        journal=recipe.journal,
        candidates=recipe.candidates if is_same else (),
    )
    why = release.why or ("searched anew" if anew else "applied" if is_same else "replayed")
    used = noted(used, why)
    found = ReleasedFile(
        made, before, after, judged, utility, used, written,
        Provenance(
            "protection by a recipe",
            "searched anew" if anew else "as it was found",
            {"keys": ", ".join(setting.keys), "missing": setting.missing.value,
             "steps": ", ".join(own.step.do for own in recipe.steps)},
            setting.seed,
            table.fingerprint,
            table.engine.name,
        ),
    )  # fmt: skip
    _write(asked, found, opened)
    notices = (*_changed_scenario(recipe, opened), *opened.data.notices)
    if written is not None:
        notices = (*notices, *opening.release_notices(opened, made, release))
    return Answer(found, notices)


def _changed_scenario(recipe: Recipe, opened: opening.ProtectedInput) -> tuple[str, ...]:
    kept, now = recipe.scenario, opened.data.scenario
    if kept is None or now is None or kept.fingerprint in ("", now.fingerprint):
        return ()
    told = (
        f"The scenario {quoted([now.name])} was changed since the recipe was made: key variables or their"
        " detail may be others. Try again under it (gamekeeper protect try)."
    )
    return (told,)


def _write(asked: ApplyRequest, found: ReleasedFile, opened: opening.ProtectedInput) -> None:
    if not found.is_met:
        # Nothing for people outside of a file that is not released.
        release = replace(asked.release, public=None, external=None, changes=None)
        asked = replace(asked, release=release)
    shown, recipe = not asked.reading.no_records, found.recipe

    def put(text: str, path: Path) -> None:
        write_file(path, text.encode(), private=True, replace=asked.replace)

    write_outputs(
        asked,
        found,
        report=lambda: internal_page(found, opened, asked.release, with_records=shown),
        json=partial(put, recipe.text()),
        changes=lambda path: write_table(found.protected.log.cells(), path),
        external=partial(put, recipe_text(recipe.external())),
        public=lambda path: write_risk_report(public_page(found, opened, asked.release), path),
    )
