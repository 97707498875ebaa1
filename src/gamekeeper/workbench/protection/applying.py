"""A release by a recipe: applied to the file it was made for, or replayed on another.

The file is protected and attacked again before anything is written. Where a target is missed, no
release is written, and that is said. The same recipe and the same file give the same bytes.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from gamekeeper.data.writing.release import WrittenRelease
from gamekeeper.data.writing.released_column import CellLook, SuppressedCells
from gamekeeper.errors import InputError, Reason
from gamekeeper.files.writing import write_file
from gamekeeper.protect.attacking.attack import AttackName, attack_file, attacks_for
from gamekeeper.protect.attacking.file_attack import FileAttack
from gamekeeper.protect.attacking.judging import JudgedTarget, judge_targets, targets_sentence
from gamekeeper.protect.changes import ChangeLog
from gamekeeper.protect.protected import Protected
from gamekeeper.protect.recipe import Recipe, recipe_text, replayed, run_steps
from gamekeeper.protect.recipe_reading import read_recipe
from gamekeeper.protect.releasing import write_protected
from gamekeeper.protect.targets import parse_targets
from gamekeeper.protect.utility.measuring import UtilityOptions, measure_utility
from gamekeeper.protect.utility.result import Utility
from gamekeeper.results import Progress, Provenance, Result
from gamekeeper.wording import quoted
from gamekeeper.workbench.answer import Answer
from gamekeeper.workbench.outputs import require_outputs, write_outputs
from gamekeeper.workbench.protection.opening import ProtectedInput, asked_by, open_for_protection
from gamekeeper.workbench.protection.trying import noted
from gamekeeper.workbench.protection.unexamined import release_notices
from gamekeeper.workbench.requests.microdata import SampleDesign
from gamekeeper.workbench.requests.protection import ApplyRequest, ReplayRequest

if TYPE_CHECKING:
    import pyarrow as pa

_MORE = ("right_if_repeated", "whole_households")


@dataclass(frozen=True, repr=False, eq=False)
class ReleasedFile(Result):
    """A file that was protected by a recipe and attacked again, before and after.

    `recipe` is the one that was used; `written` says where the release is, None where there is none.
    """

    tells_of_records: ClassVar[bool] = False

    protected: Protected
    before: FileAttack
    after: FileAttack
    targets: tuple[JudgedTarget, ...]
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
            **{name: found[name] for name in _MORE if name in found},
        }

    def sentences(self) -> list[str]:
        """Return what was reached, what was done and what it cost."""
        first = targets_sentence(self.targets)
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


def _opened(asked: ApplyRequest, recipe: Recipe, progress: Progress | None) -> ProtectedInput:
    if recipe.seed is None:
        raise InputError(
            Reason.NOTHING_GIVEN, "A recipe was to be used.", "It has no seed: it is for people outside.",
            "Use the internal recipe.",
        )  # fmt: skip
    used = [step for own in recipe.steps for step in (own.step, *own.frozen)]
    extra = [name for step in used for name in step.columns()]
    request = asked_by(
        recipe,
        asked.file,
        asked.environment,
        values=asked.values,
        unmapped=asked.unmapped,
        numbers=asked.numbers,
        reading=asked.reading,
    )
    return open_for_protection(
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
    opened: ProtectedInput,
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
    judged = judge_targets(targets, after)
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
        notices = (*notices, *release_notices(opened, made, release))
    return Answer(found, notices)


def _changed_scenario(recipe: Recipe, opened: ProtectedInput) -> tuple[str, ...]:
    """Say that the scenario is not the one that the recipe was made under."""
    kept, now = recipe.scenario, opened.data.scenario
    if kept is None or now is None or kept.fingerprint in ("", now.fingerprint):
        return ()
    told = (
        f"The scenario {quoted([now.name])} was changed since the recipe was made: key variables or their"
        " detail may be others. Try again under it (gamekeeper protect try)."
    )
    return (told,)


def _write(asked: ApplyRequest, found: ReleasedFile, opened: ProtectedInput) -> None:
    from gamekeeper.report.risk_page import write_risk_report
    from gamekeeper.report.tables import write_table
    from gamekeeper.workbench.protection.pages import internal_page, public_page

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
