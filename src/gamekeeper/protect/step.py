"""What every method of protection is: options that can be kept, and a way to apply them.

A step is a frozen dataclass whose fields are its options, written as in `gamekeeper.options`::

    @dataclass(frozen=True, kw_only=True)
    class TopCode(Step):
        do: ClassVar[str] = "top code"
        variable: Annotated[str, Option("The variable.")]
        share: Annotated[float, Option("So many records at the top.", least=0, most=1)] = 0.01

        def apply(self, table: CodedTable, setting: Setting, place: int = 1) -> Protected: ...

Its JSON form is ``{"do": "top code", "variable": "Income", "share": 0.05}``: `do` and every option
that is not at its default. Options are texts, numbers, truths, enums by their value, lists and
mappings of these; one that is anything else overrides `to_json` and `from_json`. The step is entered
in `gamekeeper.protect.steps.STEPS`, and then recipes, studies and the prompt know it.

`apply` gets the table as earlier steps left it, what holds for all steps, and the place of the step
in its recipe (from 1), by which `setting.stream(place, self.do, variable)` gives random numbers that
depend on seed, step, variable and record only. It returns a `Protected` (see `protected_by`), and
raises one `InputError` with all that is wrong, before anything is changed.
"""

from __future__ import annotations

import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import MISSING, fields
from enum import Enum
from typing import Any, ClassVar, Self, get_args, get_origin

from gamekeeper.data.coding.coded_table import CodedTable
from gamekeeper.errors import InputError, Problem, Reason, refuse
from gamekeeper.options import option_text, options_of, require_valid
from gamekeeper.protect.changes import ChangeLog
from gamekeeper.protect.protected import Protected
from gamekeeper.protect.setting import Setting
from gamekeeper.results import Provenance
from gamekeeper.wording import count_of, did_you_mean, quoted

_OF_RECIPES = ("do", "found", "frozen")
# Options that name columns.
_COLUMNS = ("variable", "variables", "within")


class NotReachableError(InputError):
    """What was asked of a step is in order, and cannot be reached with this file.

    A search goes on with something else where it meets this; other errors are faults in what was asked.
    """


class Step(ABC):
    """A method of protection with its options."""

    do: ClassVar[str] = ""
    """Its name in a recipe."""

    iso: ClassVar[str] = ""
    """What ISO/IEC 20889 calls it."""

    @abstractmethod
    def apply(self, table: CodedTable, setting: Setting, place: int = 1) -> Protected:
        """Do it to a file; `place` is that of the step in its recipe, from 1."""

    def check(self, table: CodedTable, setting: Setting) -> list[Problem]:
        """Return what is wrong with what is asked, as far as that is known before any work."""
        return []

    def columns(self) -> tuple[str, ...]:
        """Return the columns of the file that the step needs besides the keys."""
        found: list[str] = []
        for name in _COLUMNS:
            value = getattr(self, name, ())
            found += [value] if isinstance(value, str) else list(value or ())
        return tuple(name for name in found if name)

    def to_json(self) -> dict[str, Any]:
        """Return the step as plain values; what is at its default is left out."""
        made: dict[str, Any] = {"do": self.do}
        for item in fields(self):  # pyright: ignore[reportArgumentType]
            value = getattr(self, item.name)
            default = item.default if item.default_factory is MISSING else item.default_factory()
            if default is MISSING or value != default:
                made[item.name] = _plain(value)
        return made

    @classmethod
    def from_json(cls, content: Mapping[str, Any]) -> Self:
        """Return a step from its plain values; one error names all that cannot be used."""
        asked = f"The step {quoted([cls.do])} was to be read."
        options = {item.name: item for item in options_of(cls)}
        problems = [
            Problem(Reason.UNKNOWN_NAME, f"option {quoted([name])}", "it is not known.",
                    did_you_mean(name, list(options)))
            for name in content
            if name not in options and name not in _OF_RECIPES
        ]  # fmt: skip
        problems += [
            Problem(Reason.NOTHING_GIVEN, f"option {quoted([name])}", "it is not given.")
            for name, item in options.items()
            if item.is_required and name not in content
        ]
        problems += [
            Problem(Reason.WRONG_SCHEMA, f"option {quoted([name])}", *_UNFIT[shape])
            for name, item in options.items()
            if content.get(name) is not None and (shape := _unfit(item.kind, content[name]))
        ]
        refuse(problems, asked, f"{count_of(len(problems), 'option')} cannot be used.")
        given = {
            name: _read(options[name].kind, content[name]) for name in options if name in content
        }
        made = cls(**given)
        require_valid(made, asked)
        return made


def problems_of(check: Callable[[], object], where: str) -> list[Problem]:
    """Return the problems of the error that a check raises; none where it passes."""
    try:
        check()
    except InputError as error:
        return list(error.problems) or [Problem(error.reason, where, error.found, error.do)]
    return []


def protected_by(
    step: Step,
    before: CodedTable,
    table: CodedTable,
    log: ChangeLog,
    setting: Setting,
    *,
    told: Sequence[str],
    found: Mapping[str, Any] | None = None,
    frozen: Sequence[Step] = (),
    began: float | None = None,
) -> Protected:
    """Return what a step has made, with its provenance; `began` is by `time.perf_counter`."""
    made = Provenance(
        f"protection: {step.do}",
        step.iso,
        {**_told(step), "keys": ", ".join(setting.keys), "missing": setting.missing.value},
        setting.seed,
        before.fingerprint,
        before.engine.name,
        seconds=0.0 if began is None else time.perf_counter() - began,
    )
    return Protected(before, table, log, tuple(told), made, dict(found or {}), tuple(frozen))


def _told(step: Step) -> dict[str, str]:
    """Return the options of a step that are not at their default, as texts."""
    return {name: option_text(value) for name, value in step.to_json().items() if name != "do"}


def _plain(value: Any) -> Any:
    if isinstance(value, Enum):
        return value.value
    if isinstance(value, Mapping):
        return {str(key): _plain(each) for key, each in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(each) for each in value]
    return value


_UNFIT = {
    "truth": ("it is neither true nor false.", "Write true or false."),
    "text": ("it is no text.", "Give a text."),
    "list": ("it is no list.", "Give a list of texts or numbers."),
    "pairs": ("it is no object of names and values.", "Give a value for each name."),
}


def _unfit(kind: Any, value: Any) -> str:
    """Return what a plain value should be where it cannot be of a type, by a key of `_UNFIT`.

    What is no number, or out of its range, is told by the check of all options.
    """
    parts = get_args(kind)
    if kind is bool:
        return "" if isinstance(value, bool) else "truth"
    if isinstance(kind, type) and issubclass(kind, str):
        return "" if isinstance(value, str) else "text"
    if get_origin(kind) is Mapping:
        is_right = isinstance(value, Mapping) and all(
            isinstance(each, int | float) and not isinstance(each, bool)
            if parts[1] in (int, float)
            else not _unfit(parts[1], each)
            for each in value.values()
        )
        return "" if is_right else "pairs"
    if get_origin(kind) in (tuple, Sequence):
        is_right = isinstance(value, list | tuple) and not any(_unfit(parts[0], v) for v in value)
        return "" if is_right else "list"
    return ""


def _read(kind: Any, value: Any) -> Any:
    if isinstance(kind, type) and issubclass(kind, Enum):
        return kind(value) if value in {each.value for each in kind} else value
    return _tuples(value)


def _tuples(value: Any) -> Any:
    return tuple(_tuples(each) for each in value) if isinstance(value, list) else value
