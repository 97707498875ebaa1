"""A recipe: what was done to a file, so that it can be done again, to it or to next year's.

It names steps with their options and what they found, the keys and the scenario, the one seed and
the targets; it lists no cell and no record. Steps that search keep what they found as steps that do
not (`frozen`), so that a recipe can be replayed as it was, or searched anew. The recipe for people
outside has neither seed nor journal nor anything on risk, and no fingerprint of the original: with
one and the release, whoever guesses a few suppressed cells could check the guess. `STEPS` has the
methods by name; `recipe_schema` is the JSON Schema that is published. Of a recipe read from a file
nothing is believed, and one error has all that is wrong.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from hashlib import sha256
from pathlib import Path
from typing import Any, cast

from gamekeeper.data.coding.coded_table import CodedTable
from gamekeeper.errors import InputError, Problem, Reason, refuse
from gamekeeper.files import require_ordinary
from gamekeeper.prompt_syntax import Missing
from gamekeeper.protection.numbers import Microaggregate, Noise, RankSwap, TailCode
from gamekeeper.protection.pram import Pram, Sample
from gamekeeper.protection.recoding.options import Recoding
from gamekeeper.protection.recoding.search import SearchRecoding
from gamekeeper.protection.recoding.together import RecodeAndSuppress
from gamekeeper.protection.step import ChangeLog, Protected, Setting, Step
from gamekeeper.protection.suppression import Suppress
from gamekeeper.results import Provenance, package_version
from gamekeeper.wording import count_of, did_you_mean, quoted, shown_path

_ALL: tuple[type[Step], ...] = (
    Recoding,
    SearchRecoding,
    RecodeAndSuppress,
    Suppress,
    TailCode,
    Sample,
    Pram,
    Microaggregate,
    RankSwap,
    Noise,
)
STEPS: Mapping[str, type[Step]] = {step.do: step for step in _ALL}
"""Every method by its name in a recipe."""


def read_step(content: Mapping[str, Any]) -> Step:
    """Return a step from its JSON form, `{"do": ...}` with its options.

    Examples
    --------
    >>> read_step({"do": "supress"})  # doctest: +ELLIPSIS
    Traceback (most recent call last):
        ...
    gamekeeper.errors.InputError: ...
    """
    do = str(content.get("do", ""))
    if do not in STEPS:
        asked = f"A step that does {quoted([do])} was to be read."
        found = "There is no such method."
        raise InputError(Reason.UNKNOWN_NAME, asked, found, did_you_mean(do, list(STEPS)))
    return STEPS[do].from_json(content)


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
    """What is done to a file: `steps` in their order, and what holds for all of them as in `Setting`.

    `columns` has the columns of key variables that are called otherwise in the file, `reading` how
    it is read where it does not tell that itself, as the options are called at the prompt.
    `scenario` is the one whose key variables they are; None where they are columns of the file.
    `targets` are as typed, each with what was reached; `candidates` is what was tried, for the map
    (number, what, meets_targets, right_share, lost_share). `fingerprint`, `n_records` and `file`
    are of the file it was made for; `output` stands for the protected codes and, once a release was
    written, for its bytes. `journal` says who did what and why, each entry with the hash of the one
    before it.
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


_LARGEST_FILE = 10_000_000
_KNOWN = (
    "recipe", "made_by", "input", "scenario", "keys", "columns", "missing", "weight", "strata",
    "household", "identifier", "fraction", "sensitive", "response_knowledge", "reading", "seed", "steps",
    "targets", "candidates", "output", "journal", "checksum",
)  # fmt: skip


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
        response_knowledge=texts.truth("response_knowledge", default=True),
        reading=texts.plain("reading"),
        candidates=texts.objects("candidates"),
    )
    problems += [
        Problem(Reason.WRONG_SCHEMA, "field 'targets'", "one of them names no target.")
        for target in made.targets
        if not isinstance(target.get("target"), str)
    ]
    problems += [
        Problem(Reason.WRONG_SCHEMA, "field 'candidates'", "one of them is not told in numbers.")
        for candidate in made.candidates
        if not _is_candidate(candidate)
    ]
    twice = [name for name, n in Counter(made.keys).items() if n > 1]
    if twice:
        problems.append(
            Problem(Reason.DUPLICATE, "field 'keys'", f"{quoted(twice)} is there twice.")
        )
    refuse(problems, asked, f"{count_of(len(problems), 'fault was', 'faults were')} found.")
    if content.get("checksum", checksum(content)) != checksum(content):
        raise InputError(
            Reason.DAMAGED,
            asked,
            "It was changed after it was written: its checksum is another.",
            "Use the recipe as it was written; if it was changed on purpose, take the field 'checksum'"
            " out.",
        )
    broken = made.broken_entry()
    if broken is not None:
        fault = f"Its journal was changed after it was written: entry {broken + 1} does not follow."
        raise InputError(Reason.DAMAGED, asked, fault, "Use the recipe as it was written.")
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
        return self._read(name, "", _is_text, "it is no text.")

    def many(self, name: str) -> tuple[str, ...]:
        return tuple(self._read(name, [], _are_texts, "it is no list of texts."))

    def pairs(self, name: str) -> dict[str, str]:
        return dict(self._read(name, {}, _has_texts, "it is no object of texts."))

    def truth(self, name: str, *, default: bool) -> bool:
        return self._read(name, default, lambda value: isinstance(value, bool), "it is no truth.")

    def plain(self, name: str) -> dict[str, Any]:
        found = "it is no object of texts, truths and lists of texts."
        return dict(self._read(name, {}, _is_plain, found))

    def whole(self, name: str) -> int:
        return self._read(name, 0, _is_whole, "it is no whole number from 0 on.")

    def objects(self, name: str) -> tuple[Mapping[str, Any], ...]:
        return tuple(self._read(name, [], _are_objects, "it is no list of objects."))

    def missing(self) -> Missing:
        known = [each.value for each in Missing]
        found = "it is no way to read missing cells."
        usual = Missing.CATEGORY.value
        return Missing(self._read("missing", usual, lambda value: value in known, found))

    def scenario(self) -> Scenario | None:
        if self._content.get("scenario") is None:
            return None
        value = self.pairs("scenario")
        known = {name: value.get(name, "") for name in ("name", "environment", "fingerprint")}
        return Scenario(**known)

    def input(self) -> dict[str, Any]:
        value = self._read("input", {}, lambda value: isinstance(value, dict), "it is no object.")
        found: dict[str, Any] = {
            "fingerprint": value.get("fingerprint", ""),
            "n_records": value.get("records", 0),
            "file": value.get("file", ""),
        }
        for name, kind in (("fingerprint", str), ("n_records", int), ("file", str)):
            if not isinstance(found[name], kind):
                self._note("input", f"its {name} cannot be read.")
                return {}
        return found

    def _read(self, name: str, instead: Any, is_right: Callable[[Any], bool], found: str) -> Any:
        value = self._content.get(name, instead)
        if is_right(value):
            return value
        self._note(name, found)
        return instead

    def _note(self, name: str, found: str) -> None:
        self._problems.append(Problem(Reason.WRONG_SCHEMA, f"field {quoted([name])}", found))


def _is_candidate(content: Mapping[str, Any]) -> bool:
    shares = [content.get("right_share"), content.get("lost_share")]
    return isinstance(content.get("candidate"), int) and all(
        share is None or isinstance(share, int | float) for share in shares
    )


def _is_text(value: Any) -> bool:
    return isinstance(value, str)


def _is_whole(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value >= 0


def _are_texts(value: Any) -> bool:
    return isinstance(value, list) and all(map(_is_text, cast("list[Any]", value)))


def _are_objects(value: Any) -> bool:
    return isinstance(value, list) and all(isinstance(v, dict) for v in cast("list[Any]", value))


def _has_texts(value: Any) -> bool:
    return isinstance(value, dict) and _are_texts([*cast("dict[str, Any]", value).values()])


def _is_plain(value: Any) -> bool:
    return isinstance(value, dict) and all(
        isinstance(each, str | bool) or _are_texts(each)
        for each in cast("dict[str, Any]", value).values()
    )


def recipe_schema() -> dict[str, Any]:
    """Return the JSON Schema of recipes.

    Examples
    --------
    >>> recipe_schema()["properties"]["recipe"]
    {'const': 1}
    """
    text: dict[str, Any] = {"type": "string"}
    texts: dict[str, Any] = {"type": "array", "items": text}
    pairs: dict[str, Any] = {"type": "object", "additionalProperties": text}
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$id": "urn:gamekeeper:recipe:1",
        "title": "A recipe of protection, version 1",
        "description": "What is done to a file of microdata, so that it can be done again. No cell and"
        " no record is listed. Without seed, journal, targets and what was found for people outside.",
        "type": "object",
        "properties": {
            "recipe": {"const": VERSION},
            "made_by": text,
            "input": {
                "type": "object",
                "properties": {"fingerprint": text, "records": {"type": "integer"}, "file": text},
            },
            "scenario": {
                "type": "object",
                "properties": {"name": text, "environment": text, "fingerprint": text},
                "required": ["name"],
            },
            "keys": texts,
            "columns": {**pairs, "description": "VARIABLE: COLUMN, where these differ."},
            "checksum": {
                **text,
                "description": "Of all else; left out where it is edited by hand.",
            },
            "missing": {"enum": [each.value for each in Missing]},
            "weight": text,
            "strata": text,
            "household": text,
            "identifier": text,
            "fraction": text,
            "sensitive": texts,
            "response_knowledge": {
                "type": "boolean",
                "description": "Whether an intruder may know who is in the file; true unless told.",
            },
            "reading": {
                "type": "object",
                "description": "How the file is read, by the names of options.",
                "additionalProperties": {
                    "anyOf": [text, {"type": "boolean"}, texts],
                },
            },
            "seed": {"type": "integer", "minimum": 0},
            "steps": {
                "type": "array",
                "items": {
                    "type": "object",
                    "description": "A step: its name, options that are not at their default, what it"
                    " found, and the steps that do the same without searching.",
                    "properties": {
                        "do": {"enum": list(STEPS)},
                        "found": {"type": "object"},
                        "frozen": {"type": "array", "items": {"type": "object"}},
                    },
                    "required": ["do"],
                },
            },
            "targets": {
                "type": "array",
                "items": {
                    "type": "object",
                    "properties": {
                        "target": text,
                        "reached": {"type": ["number", "null"]},
                        "standing": {"enum": ["met", "not met", "not proven"]},
                        "why": text,
                    },
                    "required": ["target"],
                },
            },
            "candidates": {
                "type": "array",
                "description": "What was tried, for the map.",
                "items": {
                    "type": "object",
                    "properties": {
                        "candidate": {"type": "integer"},
                        "what": text,
                        "meets_targets": {"type": "boolean"},
                        "right_share": {"type": ["number", "null"]},
                        "lost_share": {"type": ["number", "null"]},
                        "chosen": {"type": "boolean"},
                    },
                    "required": ["candidate", "what"],
                },
            },
            "output": pairs,
            "journal": {
                "type": "array",
                "items": {
                    "type": "object",
                    "properties": dict.fromkeys(("at", "who", "why", "previous"), text),
                },
            },
        },
        "required": ["recipe", "keys", "steps"],
        "additionalProperties": False,
    }
