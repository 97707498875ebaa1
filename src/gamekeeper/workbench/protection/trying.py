"""Candidates for targets as a person tries them, kept in a study."""

from __future__ import annotations

import getpass
from collections.abc import Callable, Mapping, Sequence
from dataclasses import fields, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from gamekeeper.attack.unexamined import WHOLE_HOUSEHOLDS
from gamekeeper.errors import Cancelled, InputError, Problem, Reason, StoreError, refuse
from gamekeeper.files.gate import fault_of_file
from gamekeeper.files.writing import write_file
from gamekeeper.protect.attacking.attack import AttackName
from gamekeeper.protect.recipe import Recipe
from gamekeeper.protect.recipe_reading import read_recipe
from gamekeeper.protect.targets import parse_targets
from gamekeeper.protect.trying.candidate import Candidate
from gamekeeper.protect.trying.plan import Plan
from gamekeeper.protect.trying.proposing import Wishes
from gamekeeper.protect.trying.risk_utility_map import RiskUtilityMap
from gamekeeper.protect.trying.trials import Trying
from gamekeeper.protect.utility.measuring import UtilityOptions
from gamekeeper.results import Progress, Provenance
from gamekeeper.store.study import Study
from gamekeeper.wording import count_of, quoted, shown_path
from gamekeeper.workbench.answer import Answer
from gamekeeper.workbench.outputs import require_outputs, write_outputs
from gamekeeper.workbench.protection.opening import (
    ProtectedInput,
    not_default,
    open_for_protection,
)
from gamekeeper.workbench.protection.typed_steps import parse_steps
from gamekeeper.workbench.requests.protection import (
    ChooseRequest,
    StudyRequest,
    TryRequest,
    UndoRequest,
)


def try_protection(asked: TryRequest, *, progress: Progress | None = None) -> Answer[Plan]:
    """Try candidates for targets; keep them in a study, write the best one's recipe and a map."""
    require_outputs(asked)
    try:
        plan, opened = tried_plan(asked, progress=progress)
    except Cancelled as stopped:
        raise Cancelled(stopped.asked, kept_by(asked.study)) from None

    def write_recipe(path: Path) -> None:
        best = plan.nearest
        if best is None:
            raise InputError(
                Reason.NOTHING_GIVEN,
                f"A recipe was to be written to {shown_path(path)}.",
                "No candidate could be made.",
                "Ask for less, or allow more.",
            )
        text = recipe_of(opened, best, plan.candidates).text()
        write_file(path, text.encode(), private=True, replace=asked.replace)

    write_outputs(asked, plan, json=write_recipe)
    return Answer(plan, opened.data.notices)


def kept_by(study: Path | None) -> str:
    """Say what is left of a trial that was stopped: the candidates in its study, or nothing."""
    if study is None or not study.exists():
        return "Nothing was changed."
    kept = count_of(len(Study.open(study).candidates()), "candidate")
    return (
        f"The study {quoted([study.name])} keeps what was tried, {kept} in all (gamekeeper protect map"
        " shows them); nothing else was written."
    )


def tried_plan(
    asked: TryRequest, *, progress: Progress | None = None
) -> tuple[Plan, ProtectedInput]:
    """Try candidates; return the plan and the open file."""
    targets = parse_targets(asked.targets)
    steps = parse_steps(asked.steps)
    study = Study.open(asked.study) if asked.study is not None and asked.study.exists() else None
    seed = asked.seed
    if study is not None:
        seed = _seed_of(study, asked.seed)
    extra = [name for step in steps for name in step.columns()]
    opened = open_for_protection(
        asked.microdata,
        design=asked.design,
        household=asked.household,
        identifier=asked.identifier,
        sensitive=asked.sensitive,
        extra=[*extra, *asked.wishes.related],
        response_knowledge=asked.response_knowledge,
        seed=seed,
        workers=asked.workers,
        progress=progress,
    )
    if study is not None:
        _require_same(study, opened)
    elif asked.study is not None:
        _require_free(asked.study)
    earlier = () if study is None else tuple(map(read_candidate, study.candidates()))
    wishes = Wishes(
        not_default(asked.wishes), not_default(asked.search), tuple(map(str, asked.methods))
    )
    trying = Trying(
        opened.table,
        opened.setting,
        targets,
        tuple(AttackName(each) for each in asked.attacks),
        UtilityOptions(weight=opened.setting.weight, analyses=asked.utility.analyses),
        earlier,
        0 if study is None else study.current,
        progress,
        keep=None if asked.study is None else _keeper(study, asked.study, opened),
        beside=opened.beside(asked.utility.analyses),
    )
    return trying.run(wishes, steps), opened


def show_study(asked: StudyRequest) -> RiskUtilityMap:
    """Return the map of a study; write it where asked for."""
    require_outputs(asked)
    found = map_of(Study.open(asked.study))
    write_outputs(asked, found)
    return found


def choose_candidate(asked: ChooseRequest) -> Candidate | None:
    """Choose a candidate of a study; return it, None for the file itself."""
    require_outputs(asked)
    study = Study.open(asked.study)
    every = tuple(map(read_candidate, study.candidates()))
    chosen = {c.number: c for c in every}.get(asked.candidate)
    if asked.recipe is not None:
        if chosen is None:
            raise InputError(
                Reason.BAD_OPTION,
                "The recipe of a candidate was to be written.",
                f"There is no candidate {asked.candidate}.",
                "See them all: gamekeeper protect map STUDY.",
            )
        made = with_candidate(read_recipe(study.about), chosen, every)
        write_file(asked.recipe, made.text().encode(), private=True, replace=asked.replace)
    study.choose(asked.candidate)
    if chosen is not None and study.about.get("household"):
        return replace(chosen, told=(WHOLE_HOUSEHOLDS, *chosen.told))
    return chosen


def undo_choice(asked: UndoRequest) -> int:
    """Go back in a study; return the number of the candidate that is current now."""
    return Study.open(asked.study).undo()


def map_of(study: Study) -> RiskUtilityMap:
    """Return the map of a study."""
    about = study.about
    made = tuple(map(read_candidate, study.candidates()))
    return RiskUtilityMap(
        made,
        None,
        study.current,
        Provenance(
            "risk-utility map",
            "",
            {
                "keys": ", ".join(about.get("keys", ())),
                **({"household": str(about["household"])} if about.get("household") else {}),
            },
            None,
            str(about.get("input", {}).get("fingerprint", "")),
        ),
    )


def _is_number(value: Any) -> bool:
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    return value is None or (is_number and abs(value) < _MOST)


def _is_whole(value: Any) -> bool:
    return value is None or (_is_number(value) and isinstance(value, int))


def _are_figures(value: Any) -> bool:
    """Tell whether headline figures are numbers where they are counted with."""
    return (
        isinstance(value, Mapping)
        and all(map(_is_number, map(value.get, _NUMBERS)))
        and all(map(_is_whole, map(value.get, _COUNTS)))
    )


_MOST = 2**53
_NUMBERS = ("right_share", "expected_matches", "people", "changed", "linkage", "share")
_COUNTS = ("suppressed", "both")
_FIELDS: Mapping[str, Callable[[Any], bool]] = {
    "label": lambda value: isinstance(value, str),
    "failed": lambda value: isinstance(value, str),
    "output": lambda value: isinstance(value, str),
    "is_met": lambda value: isinstance(value, bool),
    "risk": _are_figures,
    "loss": _are_figures,
    "targets": lambda value: (
        isinstance(value, list) and all(isinstance(one, Mapping) for one in value)
    ),
    "told": lambda value: isinstance(value, list) and all(isinstance(one, str) for one in value),
}


def read_candidate(content: Mapping[str, Any]) -> Candidate:
    """Return a candidate of a study."""
    wrong = [name for name, is_right in _FIELDS.items() if not is_right(content.get(name))]
    refuse(
        [
            Problem(
                Reason.WRONG_SCHEMA, f"field {quoted([name])}", "It is not written as it should be."
            )
            for name in wrong
        ],
        "A candidate of a study was to be read.",
        f"{count_of(len(wrong), 'field')} cannot be read.",
        "Use a copy of the study, or try the candidates anew: gamekeeper protect try.",
    )
    steps = read_recipe({"recipe": 1, "keys": [], "steps": content.get("steps", [])}).steps
    known = {item.name for item in fields(Candidate)}
    plain: dict[str, Any] = {name: value for name, value in content.items() if name in known}
    plain["steps"] = steps
    plain["targets"] = tuple(plain.get("targets", ()))
    plain["told"] = tuple(plain.get("told", ()))
    return Candidate(**plain)


def recipe_of(
    opened: ProtectedInput, candidate: Candidate, others: Sequence[Candidate] = ()
) -> Recipe:
    """Return the recipe of a candidate, with what else was tried."""
    return with_candidate(opened.recipe(), candidate, others)


def with_candidate(recipe: Recipe, candidate: Candidate, others: Sequence[Candidate]) -> Recipe:
    """Return a recipe with the steps of a candidate, what it reached, and what else was tried."""
    made = replace(
        recipe,
        steps=candidate.steps,
        targets=candidate.targets,
        output={"fingerprint": candidate.output} if candidate.output else {},
        candidates=tuple(
            {
                "candidate": each.number,
                "what": each.label,
                "meets_targets": each.is_met,
                "right_share": each.expected_share,
                "lost_share": each.lost_share,
                "chosen": each.number == candidate.number,
            }
            for each in others
            if not each.failed
        ),
    )
    return noted(made, f"candidate {candidate.number}: {candidate.label}")


def noted(recipe: Recipe, why: str) -> Recipe:
    """Return a recipe with an entry in its journal, by who is at work and now."""
    try:
        who = getpass.getuser()
    except (OSError, KeyError, ImportError):
        who = ""
    return recipe.noted(datetime.now(UTC).isoformat(timespec="seconds"), who, why)


def _keeper(
    study: Study | None, path: Path, opened: ProtectedInput
) -> Callable[[Candidate], Candidate]:
    """Return what keeps a candidate; a study that is not there is made with the first of them."""
    there = study

    def keep(candidate: Candidate) -> Candidate:
        nonlocal there
        if there is None:
            there = Study.create(path, opened.recipe().to_json())
        return replace(candidate, number=there.add(candidate.to_json()))

    return keep


def _require_free(path: Path) -> None:
    """Refuse before any work a place where no study can be made."""
    found, do = fault_of_file(path, replace=False)
    if found:
        asked = f"A study was to be made in {shown_path(path)}."
        raise StoreError(Reason.NOT_WRITABLE, asked, f"It {found}", do)


def _seed_of(study: Study, asked: int | None) -> int:
    known = read_recipe(study.about).seed or 0
    if asked is not None and asked != known:
        raise InputError(
            Reason.BAD_OPTION,
            f"Seed {asked} was given for a study.",
            "The study has another one, which all of its candidates share.",
            "Leave out --seed, or begin another study.",
        )
    return known


def _require_same(study: Study, opened: ProtectedInput) -> None:
    """Refuse a study that is of another file, of other keys or another design."""
    known, here = read_recipe(study.about), opened.recipe()
    problems: list[Problem] = []
    if known.fingerprint != here.fingerprint:
        problems.append(
            Problem(
                Reason.STALE,
                "file",
                "it is another one, or was changed since.",
                "Begin another study.",
            )
        )
    problems += [
        Problem(Reason.BAD_OPTION, name, "it is not that of the study.")
        for name in (
            *("keys", "missing", "weight", "strata", "household", "identifier", "fraction"),
            *("response_knowledge", "reading"),
        )
        if getattr(known, name) != getattr(here, name)
    ]
    refuse(
        problems, f"The study {quoted([study.path.name])} was to go on.", "It is of something else."
    )
