"""A recipe: what was done to a file, so that it can be done again, to it or to next year's.

It names steps with their options and what they found, the keys and the scenario, the one seed and
the targets; it lists no cell and no record. Steps that search keep what they found as steps that do
not (`frozen`), so that a recipe can be replayed as it was, or searched anew. The recipe for people
outside has neither seed nor journal nor anything on risk.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from hashlib import sha256
from pathlib import Path
from typing import Any, cast

from gamekeeper.data.coding.coded_table import CodedTable
from gamekeeper.data.keys.missing import Missing
from gamekeeper.errors import InputError, Problem, Reason
from gamekeeper.files.reading import require_ordinary
from gamekeeper.protect.changes import ChangeLog
from gamekeeper.protect.protected import Protected
from gamekeeper.protect.setting import Setting
from gamekeeper.protect.step import Step
from gamekeeper.protect.steps import read_step
from gamekeeper.results import Provenance, package_version
from gamekeeper.wording import count_of, did_you_mean, quoted, shown_path

VERSION = 1
_LARGEST_FILE = 10_000_000
_KNOWN = (
    "recipe", "made_by", "input", "scenario", "keys", "columns", "missing", "weight", "strata",
    "household", "identifier", "fraction", "sensitive", "seed", "steps", "targets", "output",
    "journal",
)  # fmt: skip
_NOT_FOR_OTHERS = ("seed", "journal", "targets", "fraction")


@dataclass(frozen=True, slots=True)
class RecipeStep:
    """A step, what it found, and the steps that do the same without searching."""

    step: Step
    found: Mapping[str, Any] = field(default_factory=dict[str, Any])
    frozen: tuple[Step, ...] = ()

    def to_json(self) -> dict[str, Any]:
        """Return it as plain values."""
        made = self.step.to_json()
        if self.found:
            made["found"] = dict(self.found)
        if self.frozen:
            made["frozen"] = [step.to_json() for step in self.frozen]
        return made


@dataclass(frozen=True, slots=True)
class Scenario:
    """The scenario that a recipe was made under: its name, where it is kept, and since when."""

    name: str
    environment: str = ""
    fingerprint: str = ""


@dataclass(frozen=True, slots=True)
class Recipe:
    """What is done to a file.

    Attributes
    ----------
    steps
        What is done, in its order.
    keys, columns
        The key variables, and the columns of those that are called otherwise in the file.
    missing, weight, strata, household, identifier, fraction, sensitive, seed
        What holds for all steps: see `Setting`.
    scenario
        The scenario whose key variables they are; None where they are columns of the file.
    targets
        What is to be reached, as it is typed, each with what was.
    fingerprint, n_records, file
        The file that the recipe was made for.
    output
        What stands for the protected codes; and, once a release was written, the hash of its bytes.
    journal
        Who did what and why, each entry with the hash of the one before it.
    """

    steps: tuple[RecipeStep, ...]
    keys: tuple[str, ...]
    columns: Mapping[str, str] = field(default_factory=dict[str, str])
    missing: Missing = Missing.CATEGORY
    weight: str = ""
    strata: str = ""
    household: str = ""
    identifier: str = ""
    fraction: str = ""
    sensitive: tuple[str, ...] = ()
    seed: int | None = 0
    scenario: Scenario | None = None
    targets: tuple[Mapping[str, Any], ...] = ()
    fingerprint: str = ""
    n_records: int = 0
    file: str = ""
    output: Mapping[str, str] = field(default_factory=dict[str, str])
    journal: tuple[Mapping[str, str], ...] = ()
    made_by: str = ""

    @property
    def target_texts(self) -> tuple[str, ...]:
        """The targets as they are typed."""
        return tuple(str(target["target"]) for target in self.targets)

    def to_json(self) -> dict[str, Any]:
        """Return the recipe as plain values."""
        made: dict[str, Any] = {
            "recipe": VERSION,
            "made_by": self.made_by or f"gamekeeper {package_version()}",
            "input": {
                "fingerprint": self.fingerprint,
                "records": self.n_records,
                "file": self.file,
            },
        }
        if self.scenario is not None:
            made["scenario"] = {
                "name": self.scenario.name,
                "environment": self.scenario.environment,
                "fingerprint": self.scenario.fingerprint,
            }
        made |= {"keys": list(self.keys), "missing": self.missing.value}
        if self.columns:
            made["columns"] = dict(self.columns)
        for name in ("weight", "strata", "household", "identifier", "fraction"):
            if getattr(self, name):
                made[name] = getattr(self, name)
        if self.sensitive:
            made["sensitive"] = list(self.sensitive)
        if self.seed is not None:
            made["seed"] = self.seed
        made["steps"] = [step.to_json() for step in self.steps]
        made["targets"] = [dict(target) for target in self.targets]
        made["output"] = dict(self.output)
        made["journal"] = [dict(entry) for entry in self.journal]
        return made

    def external(self) -> dict[str, Any]:
        """Return the recipe for people outside: what was done, and nothing on risk or chance."""
        made = {k: v for k, v in self.to_json().items() if k not in _NOT_FOR_OTHERS}
        for step in made["steps"]:
            # k and thresholds are parameters of risk; bounds tell how much is hidden.
            for name in ("k", "thresholds", "max_is", "above", "found"):
                step.pop(name, None)
        return made

    def text(self) -> str:
        """Return the recipe as it is written to a file."""
        return json.dumps(self.to_json(), indent=1, ensure_ascii=False) + "\n"

    def noted(self, at: str, who: str, why: str) -> Recipe:
        """Return the recipe with one more entry in its journal, chained to the one before."""
        before = json.dumps(self.journal[-1], sort_keys=True) if self.journal else ""
        previous = sha256(before.encode()).hexdigest() if before else ""
        entry = {"at": at, "who": who, "why": why, "previous": previous}
        return replace(self, journal=(*self.journal, entry))

    def broken_entry(self) -> int | None:
        """Return the number of the first entry of the journal that was changed since, or None."""
        for number in range(1, len(self.journal)):
            before = json.dumps(dict(self.journal[number - 1]), sort_keys=True)
            if self.journal[number].get("previous") != sha256(before.encode()).hexdigest():
                return number
        return None


def read_recipe(given: str | Path | Mapping[str, Any]) -> Recipe:
    """Return a recipe from a JSON file or from its content; one error has all that is wrong.

    Examples
    --------
    >>> content = {"recipe": 1, "keys": ["Age"], "steps": [{"do": "suppress", "k": 2}]}
    >>> read_recipe(content).steps[0].step.k
    2
    >>> read_recipe({"recipe": 2})  # doctest: +ELLIPSIS
    Traceback (most recent call last):
        ...
    gamekeeper.errors.InputError: A recipe was given. It is of version 2, and this program knows 1. ...
    """
    if isinstance(given, Mapping):
        return _read(given, "A recipe was given.")
    path = Path(given)
    asked = f"A recipe was to be read from {shown_path(path)}."
    content: Any = None
    found, reason = "", Reason.MALFORMED
    try:
        require_ordinary(path)
        if path.stat().st_size > _LARGEST_FILE:
            found = "It is larger than a recipe can be."
        else:
            content = json.loads(path.read_text(encoding="utf-8-sig"))
    except FileNotFoundError:
        found, reason = "There is no such file.", Reason.NOT_FOUND
    except (OSError, UnicodeDecodeError) as error:
        found = f"It could not be read ({type(error).__name__})."
    except (ValueError, RecursionError):
        found = "It is no JSON."
    if not found and not isinstance(content, dict):
        found, reason = "It is no JSON object.", Reason.WRONG_SCHEMA
    if found:
        raise InputError(reason, asked, found, "Give the file that 'gamekeeper protect' wrote.")
    return _read(cast("dict[str, Any]", content), asked)


def run_steps(
    steps: Sequence[Step], table: CodedTable, setting: Setting
) -> tuple[Protected, tuple[RecipeStep, ...]]:
    """Do steps one after the other; return the file after them and what each found."""
    made = Protected(
        table, table, ChangeLog(table.n_records), (),
        Provenance("protection", "nothing", {}, setting.seed, table.fingerprint),
    )  # fmt: skip
    done: list[RecipeStep] = []
    for place, step in enumerate(steps, 1):
        after = step.apply(made.table, setting, place)
        done.append(RecipeStep(step, after.found, after.frozen))
        made = made.then(after)
    return made, tuple(done)


def replayed(recipe: Recipe, *, anew: bool) -> tuple[Step, ...]:
    """Return the steps of a recipe, as they were found or to be searched anew."""
    made: list[Step] = []
    for own in recipe.steps:
        made += [own.step] if anew or not own.frozen else own.frozen
    return tuple(made)


def _read(content: Mapping[str, Any], asked: str) -> Recipe:
    version = content.get("recipe")
    if isinstance(version, int) and not isinstance(version, bool) and version > VERSION:
        raise InputError(
            Reason.NEWER_VERSION,
            asked,
            f"It is of version {version}, and this program knows {VERSION}.",
            "Use the newer gamekeeper that it was made by, or a later one.",
        )
    problems = [
        Problem(Reason.UNKNOWN_NAME, f"field {quoted([str(name)])}", "it is not known.",
                did_you_mean(str(name), _KNOWN))
        for name in content
        if name not in _KNOWN
    ]  # fmt: skip
    if version != VERSION:
        problems.append(
            Problem(Reason.WRONG_SCHEMA, "field 'recipe'", "it is not the number of a version.")
        )
    texts = _Fields(content, problems)
    made = Recipe(
        _steps(content.get("steps"), problems),
        texts.many("keys"),
        texts.pairs("columns"),
        texts.missing(),
        texts.one("weight"),
        texts.one("strata"),
        texts.one("household"),
        texts.one("identifier"),
        texts.one("fraction"),
        texts.many("sensitive"),
        texts.whole("seed"),
        texts.scenario(),
        texts.objects("targets"),
        **texts.input(),
        output=texts.pairs("output"),
        journal=texts.objects("journal"),
        made_by=texts.one("made_by"),
    )
    problems += [
        Problem(Reason.WRONG_SCHEMA, "field 'targets'", "one of them names no target.")
        for target in made.targets
        if not isinstance(target.get("target"), str)
    ]
    twice = [name for name, n in Counter(made.keys).items() if n > 1]
    if twice:
        problems.append(
            Problem(Reason.DUPLICATE, "field 'keys'", f"{quoted(twice)} is there twice.")
        )
    if problems:
        raise InputError(
            problems[0].reason,
            asked,
            f"{count_of(len(problems), 'fault was', 'faults were')} found.",
            problems=problems,
        )
    broken = made.broken_entry()
    if broken is not None:
        raise InputError(
            Reason.DAMAGED,
            asked,
            f"Its journal was changed after it was written: entry {broken + 1} does not follow.",
            "Use the recipe as it was written.",
        )
    return made


def _steps(content: Any, problems: list[Problem]) -> tuple[RecipeStep, ...]:
    if not isinstance(content, list):
        problems.append(Problem(Reason.WRONG_SCHEMA, "field 'steps'", "it is no list."))
        return ()
    made: list[RecipeStep] = []
    for number, each in enumerate(cast("list[Any]", content), 1):
        where = f"step {number}"
        if not isinstance(each, dict):
            problems.append(Problem(Reason.WRONG_SCHEMA, where, "it is no object."))
            continue
        one = cast("dict[str, Any]", each)
        try:
            found = one.get("found", {})
            frozen = [read_step(step) for step in one.get("frozen", ())]
            made.append(RecipeStep(read_step(one), dict(found), tuple(frozen)))
        except InputError as error:
            problems += error.problems or [Problem(error.reason, where, error.found, error.do)]
        except (TypeError, ValueError, AttributeError):
            problems.append(
                Problem(Reason.WRONG_SCHEMA, where, "what it found is not written as it should be.")
            )
    return tuple(made)


class _Fields:
    """The plain fields of a recipe; each fault is noted."""

    def __init__(self, content: Mapping[str, Any], problems: list[Problem]) -> None:
        self._content = content
        self._problems = problems

    def one(self, name: str) -> str:
        value = self._content.get(name, "")
        return value if isinstance(value, str) else self._fault(name, "it is no text.", "")

    def many(self, name: str) -> tuple[str, ...]:
        value = self._content.get(name, [])
        if isinstance(value, list) and all(isinstance(each, str) for each in value):
            return tuple(value)
        return self._fault(name, "it is no list of texts.", ())

    def pairs(self, name: str) -> dict[str, str]:
        value = self._content.get(name, {})
        if isinstance(value, dict) and all(isinstance(each, str) for each in value.values()):
            return dict(value)
        return self._fault(name, "it is no object of texts.", {})

    def whole(self, name: str) -> int:
        value = self._content.get(name, 0)
        if isinstance(value, int) and not isinstance(value, bool) and value >= 0:
            return value
        return self._fault(name, "it is no whole number from 0 on.", 0)

    def objects(self, name: str) -> tuple[Mapping[str, Any], ...]:
        value = self._content.get(name, [])
        if isinstance(value, list) and all(isinstance(each, dict) for each in value):
            return tuple(value)
        return self._fault(name, "it is no list of objects.", ())

    def missing(self) -> Missing:
        value = self._content.get("missing", Missing.CATEGORY.value)
        if value in {each.value for each in Missing}:
            return Missing(value)
        return self._fault("missing", "it is no way to read missing cells.", Missing.CATEGORY)

    def scenario(self) -> Scenario | None:
        value = self._content.get("scenario")
        if value is None:
            return None
        if isinstance(value, dict) and all(isinstance(each, str) for each in value.values()):
            known = {name: value.get(name, "") for name in ("name", "environment", "fingerprint")}
            return Scenario(**known)
        return self._fault("scenario", "it is no object of texts.", None)

    def input(self) -> dict[str, Any]:
        value = self._content.get("input", {})
        if not isinstance(value, dict):
            self._fault("input", "it is no object.", None)
            return {}
        found: dict[str, Any] = {
            "fingerprint": value.get("fingerprint", ""),
            "n_records": value.get("records", 0),
            "file": value.get("file", ""),
        }
        for name, kind in (("fingerprint", str), ("n_records", int), ("file", str)):
            if not isinstance(found[name], kind):
                self._fault("input", f"its {name} cannot be read.", None)
                return {}
        return found

    def _fault(self, name: str, found: str, instead: Any) -> Any:
        self._problems.append(Problem(Reason.WRONG_SCHEMA, f"field {quoted([name])}", found))
        return instead
