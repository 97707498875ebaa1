"""Recipes read from files: one error has all that is wrong, and nothing of a file is believed."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, cast

from gamekeeper.data.keys.missing import Missing
from gamekeeper.errors import InputError, Problem, Reason, refuse
from gamekeeper.files.reading import require_ordinary
from gamekeeper.protect.recipe import VERSION, Recipe, RecipeStep, Scenario, checksum
from gamekeeper.protect.steps import read_step
from gamekeeper.wording import count_of, did_you_mean, quoted, shown_path

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
        """Return the value of a field; another one where it is absent or has a fault."""
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
