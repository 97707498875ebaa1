"""A recipe: what was done to a file, so that it can be done again, to it or to next year's.

It names steps with their options and what they found, the keys and the scenario, the one seed and
the targets; it lists no cell and no record. Steps that search keep what they found as steps that do
not (`frozen`), so that a recipe can be replayed as it was, or searched anew. The recipe for people
outside has neither seed nor journal nor anything on risk, and no fingerprint of the original: with one
and the release, whoever guesses a few suppressed cells could check the guess.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from hashlib import sha256
from typing import Any

from gamekeeper.data.coding.coded_table import CodedTable
from gamekeeper.data.keys.missing import Missing
from gamekeeper.protect.changes import ChangeLog
from gamekeeper.protect.protected import Protected
from gamekeeper.protect.setting import Setting
from gamekeeper.protect.step import Step
from gamekeeper.results import Provenance, package_version

VERSION = 1
_NOT_FOR_OTHERS = (
    *("seed", "journal", "targets", "candidates", "fraction", "reading", "response_knowledge"),
)
# k and thresholds are parameters of risk; bounds and what was found tell how much is hidden, and where
# nothing may be suppressed every empty cell was missing.
_OF_RISK = (
    *("k", "thresholds", "max_is", "above", "found", "pinned"),
    *("most_records", "most_share", "most_classes", "most_is"),
)


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
    response_knowledge
        Whether an intruder may know who is in the file (response knowledge).
    reading
        How the file is read where that is not told by it, as the options are called at the prompt.
    candidates
        What was tried: number, what, meets_targets, right_share and lost_share each, for the map.
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
    response_knowledge: bool = True
    reading: Mapping[str, Any] = field(default_factory=dict[str, Any])
    candidates: tuple[Mapping[str, Any], ...] = ()

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
            made["scenario"] = asdict(self.scenario)
        made |= {"keys": list(self.keys), "missing": self.missing.value}
        if self.columns:
            made["columns"] = dict(self.columns)
        for name in ("weight", "strata", "household", "identifier", "fraction"):
            if getattr(self, name):
                made[name] = getattr(self, name)
        if self.sensitive:
            made["sensitive"] = list(self.sensitive)
        if not self.response_knowledge:
            made["response_knowledge"] = False
        if self.reading:
            made["reading"] = dict(self.reading)
        if self.seed is not None:
            made["seed"] = self.seed
        made["steps"] = [step.to_json() for step in self.steps]
        made["targets"] = [dict(target) for target in self.targets]
        if self.candidates:
            made["candidates"] = [dict(candidate) for candidate in self.candidates]
        made["output"] = dict(self.output)
        made["journal"] = [dict(entry) for entry in self.journal]
        made["checksum"] = checksum(made)
        return made

    def external(self) -> dict[str, Any]:
        """Return the recipe for people outside: what was done, and nothing on risk or chance."""
        made = {k: v for k, v in self.to_json().items() if k not in _NOT_FOR_OTHERS}
        made["input"] = {"records": self.n_records}
        made["output"] = {name: text for name, text in self.output.items() if name == "sha256"}
        for step in made["steps"]:
            for own in (step, *step.get("frozen", ())):
                for name in _OF_RISK:
                    own.pop(name, None)
        made["checksum"] = checksum(made)
        return made

    def text(self) -> str:
        """Return the recipe as it is written to a file."""
        return recipe_text(self.to_json())

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


def checksum(content: Mapping[str, Any]) -> str:
    """Return the checksum of a recipe's content, whatever the order of its fields."""
    held = {name: value for name, value in content.items() if name != "checksum"}
    return sha256(json.dumps(held, sort_keys=True).encode()).hexdigest()


def recipe_text(content: Mapping[str, Any]) -> str:
    """Return the content of a recipe as it is written to a file."""
    return json.dumps(content, indent=1, ensure_ascii=False) + "\n"


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
