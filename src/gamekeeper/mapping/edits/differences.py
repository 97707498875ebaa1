"""What differs between two environments, or between two dates of one, in words."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from hashlib import sha256
from typing import TYPE_CHECKING, Any, TypeVar

from gamekeeper.mapping.environment.environment import Environment
from gamekeeper.mapping.forms.form import Form
from gamekeeper.mapping.variables.variable import Variable
from gamekeeper.results import Provenance, Result
from gamekeeper.wording import count_of, joined, quoted

if TYPE_CHECKING:
    import pyarrow as pa

_Part = TypeVar("_Part")


@dataclass(frozen=True, slots=True)
class Difference:
    """One part that differs, and how."""

    kind: str
    name: str
    what: str


@dataclass(frozen=True, repr=False)
class EnvironmentDifference(Result):
    """All parts of two environments that differ."""

    before: str
    after: str
    rows: tuple[Difference, ...]
    provenance: Provenance

    @property
    def sentences(self) -> tuple[str, ...]:
        """How much differs, in words."""
        if not self.rows:
            return ("Nothing differs.",)
        told = [count_of(number, kind) for kind, number in self._counts().items() if number]
        is_one = sum(self._counts().values()) == 1
        return (f"{joined(told)} {'differs' if is_one else 'differ'}.",)

    def summary(self) -> dict[str, Any]:
        """Return the headline numbers."""
        return {
            "before": self.before,
            "after": self.after,
            **{f"{kind}s": number for kind, number in self._counts().items()},
        }

    def to_arrow(self) -> pa.Table:
        """Return one row per part that differs."""
        import pyarrow as pa

        names = ("kind", "name", "what")
        rows = [{name: getattr(row, name) for name in names} for row in self.rows]
        return pa.Table.from_pylist(rows, schema=pa.schema([(name, pa.string()) for name in names]))

    def _counts(self) -> dict[str, int]:
        return {kind: len({row.name for row in self.rows if row.kind == kind}) for kind in _KINDS}


_KINDS = ("environment", "variable", "form", "group", "scenario")


def compare_environments(before: Environment, after: Environment) -> EnvironmentDifference:
    """Tell in words what differs between two environments.

    Examples
    --------
    >>> from gamekeeper.mapping.environment.environment import Form
    >>> before = Environment([], [Form("Bank", metadata={"year": 2030})])
    >>> after = Environment([], [Form("Bank", metadata={"year": 2031}), Form("Shop")])
    >>> [(row.name, row.what) for row in compare_environments(before, after).rows]
    [('Bank', "'year' was 2030 and is 2031"), ('Shop', 'is new')]
    """
    started = time.perf_counter()
    rows = [
        Difference("environment", field, "is another")
        for field in ("name", "description", "rules")
        if getattr(before, field) != getattr(after, field)
    ]
    rows += _told("variable", before.variables, after.variables, _of_variable)
    rows += _told("form", before.forms, after.forms, partial(_of_form, before, after))
    rows += _told("group", before.groups, after.groups, lambda *_: ["is defined otherwise"])
    rows += _told("scenario", before.scenarios, after.scenarios, lambda *_: ["is another"])
    provenance = Provenance(
        "difference of environments",
        parameters={"before": before.name, "after": after.name},
        fingerprint=sha256(repr(rows).encode()).hexdigest()[:16],
        seconds=time.perf_counter() - started,
    )
    return EnvironmentDifference(before.name, after.name, tuple(rows), provenance)


def _told(
    kind: str,
    before: Mapping[str, _Part],
    after: Mapping[str, _Part],
    differ: Callable[[_Part, _Part], Iterable[str]],
) -> Iterator[Difference]:
    for name in sorted(before.keys() | after.keys()):
        if name not in before:
            yield Difference(kind, name, "is new")
        elif name not in after:
            yield Difference(kind, name, "is gone")
        elif before[name] is not after[name] and before[name] != after[name]:
            for what in differ(before[name], after[name]):
                yield Difference(kind, name, what)


def _of_variable(old: Variable, new: Variable) -> Iterator[str]:
    was, now = set(old.graph.categories), set(new.graph.categories)
    if more := sorted(now - was):
        yield f"has {count_of(len(more), 'more category', 'more categories')}: {quoted(more)}"
    if less := sorted(was - now):
        yield f"has lost {count_of(len(less), 'category', 'categories')}: {quoted(less)}"
    changed = [
        name
        for name in sorted(was & now)
        if set(old.graph.sinks_of(name)) != set(new.graph.sinks_of(name))
    ]
    if changed:
        yield f"has categories made up otherwise: {quoted(changed)}"
    if set(old.graph.sinks) == set(new.graph.sinks) and old.graph.sinks != new.graph.sinks:
        yield "has its finest categories in another order"
    for field in ("scale", "description", "sensitive", "style", "space"):
        if getattr(old, field) != getattr(new, field):
            yield (
                f"has another {field}" if field != "sensitive" else "has other sensitive categories"
            )


def _of_form(before: Environment, after: Environment, old: Form, new: Form) -> Iterator[str]:
    for key in sorted(old.metadata.keys() | new.metadata.keys()):
        was, now = old.metadata.get(key), new.metadata.get(key)
        if (was, type(was)) != (now, type(now)):
            told = "has no value any more" if key not in new.metadata else f"is {now}"
            start = f"was {was} and " if key in old.metadata else ""
            yield f"{quoted([key])} {start}{told}"
    for variable in sorted(old.instances.keys() | new.instances.keys()):
        labels = old.instances.get(variable), new.instances.get(variable)
        if labels[0] == labels[1]:
            continue
        if labels[0] is None:
            yield f"asks for {quoted([variable])} now ({_code(after, new, variable)})"
        elif labels[1] is None:
            yield f"asks for {quoted([variable])} no longer"
        else:
            codes = _code(before, old, variable), _code(after, new, variable)
            told = f"{codes[0]} before, {codes[1]} now" if codes[0] != codes[1] else codes[0]
            yield f"asks for {quoted([variable])} in other labels ({told})"
    was, now = ({question.name: question for question in form.questions} for form in (old, new))
    for name in sorted(was.keys() | now.keys()):
        if was.get(name) != now.get(name):
            told = "is new" if name not in was else "is gone" if name not in now else "has changed"
            yield f"the question {quoted([name])} {told}"
    if old.universe != new.universe:
        yield "is for other people"


def _code(environment: Environment, form: Form, variable: str) -> str:
    return environment.code_of(form.name, variable) or "not valid"
