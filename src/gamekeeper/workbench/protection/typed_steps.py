"""Steps as they are typed: a name and options, or the JSON of a recipe."""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Sequence
from typing import Any, cast

from gamekeeper.errors import InputError, Problem, Reason, refuse
from gamekeeper.options import options_of
from gamekeeper.protect.step import Step
from gamekeeper.protect.steps import STEPS, read_step
from gamekeeper.wording import count_of, did_you_mean, quoted

_OPTION = re.compile(r"^(?P<name>\w+)=(?P<value>.*)$", re.DOTALL)


def parse_steps(typed: Sequence[str]) -> tuple[Step, ...]:
    """Return steps from what was typed; one error names all that cannot be read.

    Examples
    --------
    >>> [step.to_json() for step in parse_steps(["suppress k=2 criterion=own pinned=Sex,Age"])]
    [{'do': 'suppress', 'criterion': 'own', 'k': 2, 'pinned': ['Sex', 'Age']}]
    """
    made: list[Step] = []
    problems: list[Problem] = []
    for number, text in enumerate(typed, 1):
        where = f"step {number}"
        try:
            made.append(read_step(_content(text)))
        except InputError as error:
            problems += [
                Problem(p.reason, f"{where}, {p.where}", p.found, p.do) for p in error.problems
            ] or [Problem(error.reason, where, error.found, error.do)]
        except ValueError:
            how = "Write a name and options: 'suppress k=3 criterion=own'; or JSON."
            problems.append(Problem(Reason.BAD_OPTION, where, "it cannot be read.", how))
    refuse(
        problems,
        f"{count_of(len(typed), 'step was', 'steps were')} given.",
        f"{count_of(len(problems), 'fault was', 'faults were')} found.",
    )
    return tuple(made)


def _content(text: str) -> dict[str, Any]:
    if text.lstrip().startswith("{"):
        read: Any = json.loads(text)
        return cast("dict[str, Any]", read)
    words = shlex.split(text)
    first = next((n for n, word in enumerate(words) if _OPTION.match(word)), len(words))
    do = " ".join(words[:first])
    if do not in STEPS:
        raise InputError(
            Reason.UNKNOWN_NAME,
            f"A step that does {quoted([do])} was given.",
            "There is no such method.",
            did_you_mean(do, list(STEPS)),
        )
    kinds = {item.name: item for item in options_of(STEPS[do])}
    made: dict[str, Any] = {"do": do}
    for word in words[first:]:
        match = _OPTION.match(word)
        if match is None:
            raise ValueError(word)
        name, value = match["name"], match["value"]
        item = kinds.get(name)
        made[name] = value if item is None else _value(item, value)
    return made


def _value(item: Any, text: str) -> Any:
    """Return the value of an option as its type asks."""
    if item.element is not None and not text.lstrip().startswith(("[", "{")):
        parts = [part.strip() for part in text.split(",") if part.strip()]
        if item.option.read is not None:
            read = item.option.read(parts)
            return list(read) if isinstance(read, tuple) else read
        return [_plain(part, item.element) for part in parts]
    return _plain(text, item.kind)


def _plain(text: str, kind: Any) -> Any:
    if kind is str:
        return text
    try:
        return json.loads(text)
    except ValueError:
        return text
