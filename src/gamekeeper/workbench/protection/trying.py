"""Candidates for targets, tried and kept in a study, at the prompt and from Python."""

from __future__ import annotations

import getpass
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from gamekeeper.attack.unexamined import WHOLE_HOUSEHOLDS
from gamekeeper.data.reading.frames import is_path
from gamekeeper.data.writing.microdata_file import WrittenRelease
from gamekeeper.data.writing.released_cells import SuppressedCells
from gamekeeper.errors import Cancelled, InputError, Problem, Reason, StoreError, refuse
from gamekeeper.files import fault_of_file, write_file
from gamekeeper.options import build, options_of, require_known, require_valid
from gamekeeper.prompt_syntax import FractionLike, Missing
from gamekeeper.protection.attacking.attacks import AttackName
from gamekeeper.protection.attacking.result import FileAttack
from gamekeeper.protection.plan import Candidate, Plan, RiskUtilityMap, Tried
from gamekeeper.protection.recipe import Recipe, read_recipe
from gamekeeper.protection.releases import write_protected
from gamekeeper.protection.targets import parse_targets
from gamekeeper.protection.trials import Trying, Wishes
from gamekeeper.protection.utility.measuring import UtilityOptions
from gamekeeper.results import Progress, Provenance
from gamekeeper.store.place import store_place
from gamekeeper.store.study import Study
from gamekeeper.wording import count_of, quoted, shown_path
from gamekeeper.workbench.answers import Answer, require_outputs, write_outputs
from gamekeeper.workbench.protection import opening
from gamekeeper.workbench.requests import protection


def try_protection(
    asked: protection.TryRequest, *, progress: Progress | None = None
) -> Answer[Plan]:
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
    asked: protection.TryRequest, *, progress: Progress | None = None
) -> tuple[Plan, opening.ProtectedInput]:
    """Try candidates; return the plan and the open file."""
    targets = parse_targets(asked.targets)
    steps = opening.parse_steps(asked.steps)
    study = Study.open(asked.study) if asked.study is not None and asked.study.exists() else None
    seed = asked.seed
    if study is not None:
        seed = _seed_of(study, asked.seed)
    extra = [name for step in steps for name in step.columns()]
    opened = opening.open_for_protection(
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
        found, do = fault_of_file(asked.study, replace=False)
        if found:
            wanted = f"A study was to be made in {shown_path(asked.study)}."
            raise StoreError(Reason.NOT_WRITABLE, wanted, f"It {found}", do)
    earlier = () if study is None else tuple(map(read_candidate, study.candidates()))
    wishes = Wishes(
        opening.not_default(asked.wishes),
        opening.not_default(asked.search),
        tuple(map(str, asked.methods)),
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


def show_study(asked: protection.StudyRequest) -> RiskUtilityMap:
    """Return the map of a study; write it where asked for."""
    require_outputs(asked)
    found = map_of(Study.open(asked.study))
    write_outputs(asked, found)
    return found


def choose_candidate(asked: protection.ChooseRequest) -> Candidate | None:
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


def undo_choice(asked: protection.UndoRequest) -> int:
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
    opened: opening.ProtectedInput, candidate: Candidate, others: Sequence[Candidate] = ()
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
    study: Study | None, path: Path, opened: opening.ProtectedInput
) -> Callable[[Candidate], Candidate]:
    """Return what keeps a candidate; a study that is not there is made with the first of them."""
    there = study

    def keep(candidate: Candidate) -> Candidate:
        nonlocal there
        if there is None:
            there = Study.create(path, opened.recipe().to_json())
        return replace(candidate, number=there.add(candidate.to_json()))

    return keep


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


def _require_same(study: Study, opened: opening.ProtectedInput) -> None:
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


@dataclass(frozen=True, eq=False)
class ProtectionPlan:
    """Candidates for some targets, with the file that they are of."""

    plan: Plan
    _opened: opening.ProtectedInput

    @property
    def candidates(self) -> tuple[Candidate, ...]:
        """All candidates."""
        return self.plan.candidates

    @property
    def map(self) -> RiskUtilityMap:
        """The candidates, risk against loss; `map.plot()` draws it."""
        return self.plan.map

    @property
    def best(self) -> Candidate | None:
        """The candidate that meets every target, is not beaten, and loses least; None where none does."""
        return self.plan.best

    @property
    def is_met(self) -> bool:
        """Whether some candidate meets every target."""
        return self.plan.is_met

    @property
    def notices(self) -> tuple[str, ...]:
        """What to know before anything is believed: of the scenario, of codes that may mean missing."""
        return self._opened.data.notices

    def summary(self) -> dict[str, Any]:
        """Return the headline numbers."""
        return self.plan.summary()

    def sentences(self) -> list[str]:
        """Return what was reached, at what cost, and what stands in the way."""
        return self.plan.sentences()

    def attack_again(self, number: int | None = None) -> FileAttack:
        """Return what attacks achieve on a candidate, the best one by default."""
        return self._tried(number).attack

    def recipe(self, number: int | None = None) -> Recipe:
        """Return the recipe of a candidate, the best one by default."""
        return recipe_of(self._opened, self._tried(number).candidate, self.plan.candidates)

    def write(
        self,
        path: str | Path,
        number: int | None = None,
        *,
        leave_out: Sequence[str] = (),
        suppressed: SuppressedCells = SuppressedCells(),  # noqa: B008 - it is frozen
        keep_order: bool = False,
        replace: bool = False,
    ) -> WrittenRelease:
        """Write the release of a candidate that meets every target, the best one by default.

        Its records are shuffled, by the seed, unless their order is kept: that tells who stood beside
        whom. What is in memory (`plan.plan.tried`) keeps its order and is for work inside.
        """
        tried = self._tried(number)
        if tried.candidate.targets and not tried.candidate.is_met:
            raise InputError(
                Reason.BAD_OPTION,
                f"The release of candidate {tried.candidate.number} was to be written.",
                "It misses a target.",
                "Ask for less, or allow more.",
            )
        written, _ = write_protected(
            self._opened.data.source,
            path,
            tried.protected,
            self._opened.setting,
            columns=self._opened.columns,
            leave_out=leave_out,
            suppressed=suppressed,
            keep_order=keep_order,
            replace=replace,
        )
        return written

    def __repr__(self) -> str:
        return f"Protection{self.plan!r}"

    def _tried(self, number: int | None) -> Tried:
        nearest = self.plan.nearest
        wanted = number if number is not None else None if nearest is None else nearest.number
        found = None if wanted is None else self.plan.of(wanted)
        if found is None:
            raise InputError(
                Reason.UNKNOWN_NAME,
                "A candidate was asked for.",
                f"There is none of that number among {count_of(len(self.plan.tried), 'candidate')} that"
                " could be made now.",
                "See plan.candidates.",
            )
        return found


def microdata(
    data: Any,
    *,
    keys: str | Sequence[str] = (),
    scenario: Any = "",
    environment: Any = None,
    targets: str | Sequence[str] = (),
    steps: str | Sequence[str] = (),
    weight: str = "",
    strata: str = "",
    fraction: FractionLike | Mapping[str, FractionLike] | None = None,
    household: str = "",
    missing: Missing | str = Missing.CATEGORY,
    seed: int | None = None,
    progress: Progress | None = None,
    **how: Any,
) -> ProtectionPlan:
    """Protect a file or frame: try candidates for targets, and attack each again.

    Parameters
    ----------
    data
        The path of a file, or a frame of pandas, Polars, Arrow or DuckDB.
    keys, scenario, environment
        What an intruder could match on: columns, or a scenario of stage one and what keeps it.
    targets
        What is to be reached: "both>=3", "expected matches<=0.5%", "linkage<=2%", "policy=k3".
    steps
        Steps to try instead of what targets propose, as they are typed or as JSON.
    weight, strata, fraction, household
        How the file was drawn from the population, and what tells households.
    missing
        What a missing cell is: "category", "ignore" or "wildcard".
    seed
        The one seed of all that is drawn; one is drawn when None, and kept in the recipe.
    progress
        Told how far the work is; it may raise to cancel it.
    how
        Any other option of `gamekeeper protect try`, by its name: costs, pinned, study and so on.

    Returns
    -------
    ProtectionPlan
        With `candidates`, `map.plot()`, `attack_again()`, `recipe()` and `write(path)`.

    Examples
    --------
    >>> import pyarrow as pa
    >>> people = pa.table({"age": [30, 41, 52, 52], "sex": ["m", "m", "f", "f"]})
    >>> plan = microdata(
    ...     people, keys=["age", "sex"], targets="both>=2", methods=["suppress"], seed=1
    ... )
    >>> plan.best.risk["suppressed"], plan.attack_again().smallest("both")
    (2, 2)
    """
    known = {item.name for item in options_of(protection.TryRequest)} - {
        "file",
        "recipe",
        "plot",
        "replace",
    }
    require_known(how, known, "A file was to be protected.")
    asked = build(
        protection.TryRequest,
        {
            **{name: tuple(v) if isinstance(v, list) else v for name, v in how.items()},
            "file": Path(data) if is_path(data) else data,
            "keys": _many(keys),
            "scenario": scenario,
            "environment": store_place(environment) if is_path(environment) else environment,
            "targets": _many(targets),
            "steps": _many(steps),
            "weight": weight,
            "strata": strata,
            "fraction": "" if fraction is None else fraction,
            "household": household,
            "missing": missing,
            "seed": seed,
        },
    )
    require_valid(asked, "protect.microdata was called.")
    request = replace(asked.microdata, missing=Missing(missing))
    plan, opened = tried_plan(replace(asked, microdata=request), progress=progress)
    return ProtectionPlan(plan, opened)


def _many(given: str | Sequence[str]) -> tuple[str, ...]:
    return (given,) if isinstance(given, str) else tuple(given)
