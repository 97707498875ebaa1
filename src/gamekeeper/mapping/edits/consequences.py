"""What edits would break, worked out before they are made, and what to look at again.

The normal editor breaks nothing. The unrestricted one may leave a form with a categorization that
is not valid any more, or that means something else; take labels or a whole variable from a form;
and retire codes. Edits that are allowed may bring names that are near to others or look like them.
"""

from __future__ import annotations

import time
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from hashlib import sha256
from typing import Any

from gamekeeper.arrow import pa
from gamekeeper.mapping.edits.applying import Edit, apply_edits, touched
from gamekeeper.mapping.edits.categories import RenameCategory
from gamekeeper.mapping.edits.environment import AddGroup, ReplaceGroup
from gamekeeper.mapping.edits.forms import RenameForm
from gamekeeper.mapping.edits.variables import RenameVariable
from gamekeeper.mapping.environment.environment import Environment
from gamekeeper.mapping.environment.overview import unknown_in_query
from gamekeeper.mapping.forms.form import Form
from gamekeeper.mapping.forms.groups import parse_query
from gamekeeper.mapping.variables.codes import Scale, code_order
from gamekeeper.results import Provenance, Result
from gamekeeper.wording import count_of, likeness, look_alikes, near_names, oddity, quoted

# A variable on a form: the labels that it has, and those that it would have.
_Change = tuple[str, tuple[str, ...], tuple[str, ...] | None]


class ConsequenceKind(StrEnum):
    """What can happen to a variable on a form, to a code, or to a category."""

    BREAKS = "breaks"
    CHANGES = "changes"
    LOSES_LABELS = "loses labels"
    LOSES_VARIABLE = "loses the variable"
    CODE_RETIRED = "code retired"
    CATEGORY_GONE = "category gone"


@dataclass(frozen=True, slots=True)
class Consequence:
    """One consequence; names are those before the edits, and a code or category has no form."""

    kind: ConsequenceKind
    variable: str
    form: str = ""
    detail: str = ""


@dataclass(frozen=True, repr=False)
class Consequences(Result):
    """What edits without restriction would do to forms and codes."""

    environment: str
    n_edits: int
    rows: tuple[Consequence, ...]
    provenance: Provenance

    @property
    def broken(self) -> tuple[str, ...]:
        """The forms with a categorization that was valid and would not be any more."""
        return self._forms(ConsequenceKind.BREAKS)

    def summary(self) -> dict[str, Any]:
        """Return the headline numbers."""
        return {
            "environment": self.environment,
            "edits": self.n_edits,
            "forms_that_break": len(self.broken),
            "forms_that_change": len(self._forms(ConsequenceKind.CHANGES)),
            "forms_that_lose_labels": len(self._forms(ConsequenceKind.LOSES_LABELS)),
            "forms_that_lose_a_variable": len(self._forms(ConsequenceKind.LOSES_VARIABLE)),
            "codes_retired": sum(row.kind is ConsequenceKind.CODE_RETIRED for row in self.rows),
            "categories_gone": sum(row.kind is ConsequenceKind.CATEGORY_GONE for row in self.rows),
        }

    def to_arrow(self) -> pa.Table:
        """Return one row per form and variable, or code, that something happens to."""
        names = ("kind", "form", "variable", "detail")
        rows = [{name: str(getattr(row, name)) for name in names} for row in self.rows]
        return pa.Table.from_pylist(rows, schema=pa.schema([(name, pa.string()) for name in names]))

    def _forms(self, kind: ConsequenceKind) -> tuple[str, ...]:
        return tuple(dict.fromkeys(row.form for row in self.rows if row.kind is kind))


def weigh_edits(environment: Environment, edits: Sequence[Edit]) -> Consequences:
    """Tell what edits without restriction would break; nothing is changed.

    Examples
    --------
    >>> from gamekeeper.mapping.edits import RemoveBands
    >>> from gamekeeper.mapping.variables.codes import Variable
    >>> age = Variable.of_bands("Age", ["0-15", "16+"])
    >>> environment = Environment([age], [Form("Bank", {"Age": ["0-15", "16+"]})])
    >>> weighed = weigh_edits(environment, [RemoveBands(variable="Age", bands=["0-15", "16+"])])
    >>> [(str(row.kind), row.form, row.detail) for row in weighed.rows]
    [('loses the variable', 'Bank', "'0-15', '16+'"), ('code retired', '', 'C2.001'),
     ('category gone', '', "'0-15'"), ('category gone', '', "'16+'")]
    """
    started = time.perf_counter()
    after = apply_edits(environment, edits, unrestricted=True)
    names = _Names.after(edits)
    rows: list[Consequence] = []
    # Of thousands of forms and hundreds of variables an edit touches a few; the others are shared.
    # A dictionary, for it has an order and finds a name at once.
    changed = {
        variable: None
        for variable, old in environment.variables.items()
        if after.variables.get(names.variable(variable)) is not old
    }
    instances = _Instances(environment, after, names)
    suspects = {
        form
        for variable in changed
        for _, having in environment.instances(variable)
        for form in having
    }
    for form in environment.forms.values():
        now = after.forms.get(names.form(form.name))
        if now is not None and (now is not form or form.name in suspects):
            rows += instances.of_form(form, now, changed)
    for variable in changed:
        new = names.variable(variable)
        if new in after.variables:
            lost = after.register(new).retired - environment.register(variable).retired
            rows += [
                Consequence(ConsequenceKind.CODE_RETIRED, variable, detail=code)
                for code in sorted(lost, key=code_order)
            ]
            now = after.variables[new].graph
            rows += [
                Consequence(ConsequenceKind.CATEGORY_GONE, variable, detail=quoted([category]))
                for category in environment.variables[variable].graph.categories
                if names.category(variable, category) not in now
            ]
    order = list(ConsequenceKind)
    rows.sort(key=lambda row: order.index(row.kind))
    provenance = Provenance(
        "consequences of edits",
        parameters={"environment": environment.name, "edits": str(len(edits))},
        fingerprint=sha256(repr((list(edits), rows)).encode()).hexdigest()[:16],
        seconds=time.perf_counter() - started,
    )
    return Consequences(environment.name, len(edits), tuple(rows), provenance)


@dataclass
class _Names:
    """The names that things have after edits, by those that they had before."""

    forms: dict[str, str] = field(default_factory=dict[str, str])
    variables: dict[str, str] = field(default_factory=dict[str, str])
    categories: dict[str, dict[str, str]] = field(default_factory=dict[str, dict[str, str]])

    @classmethod
    def after(cls, edits: Sequence[Edit]) -> _Names:
        names = cls()
        for edit in edits:
            match edit:
                case RenameForm():
                    _rename(names.forms, edit.form, edit.to)
                case RenameVariable():
                    _rename(names.variables, edit.variable, edit.to)
                case RenameCategory():
                    first = _first_name(names.variables, edit.variable)
                    _rename(names.categories.setdefault(first, {}), edit.category, edit.to)
                case _:
                    pass
        return names

    def form(self, name: str) -> str:
        return self.forms.get(name, name)

    def variable(self, name: str) -> str:
        return self.variables.get(name, name)

    def category(self, variable: str, name: str) -> str:
        return self.categories.get(variable, {}).get(name, name)


def _rename(names: dict[str, str], old: str, new: str) -> None:
    names[_first_name(names, old)] = new


def _first_name(names: Mapping[str, str], name: str) -> str:
    return next((first for first, now in names.items() if now == name), name)


class _Instances:
    """What edits do to variables on forms; what thousands of forms ask alike is worked out once."""

    def __init__(self, before: Environment, after: Environment, names: _Names) -> None:
        self._before = before
        self._after = after
        self._names = names
        self._known: dict[_Change, list[tuple[ConsequenceKind, str]]] = {}

    def of_form(self, form: Form, now: Form, changed: Collection[str]) -> list[Consequence]:
        """Return what happens to a form; `changed` are the variables that are not as before."""
        rows: list[Consequence] = []
        for variable, labels in form.instances.items():
            if now is form and variable not in changed:
                continue
            kept = now.instances.get(self._names.variable(variable))
            if kept == labels and variable not in changed:
                continue
            change = (variable, labels, kept)
            if change not in self._known:
                self._known[change] = list(self._of(form, now, variable))
            rows += [
                Consequence(kind, variable, form.name, detail)
                for kind, detail in self._known[change]
            ]
        return rows

    def _of(self, form: Form, now: Form, variable: str) -> Iterator[tuple[ConsequenceKind, str]]:
        before, after, names = self._before, self._after, self._names
        labels, new = form.instances[variable], names.variable(variable)
        if new not in now.instances:
            yield ConsequenceKind.LOSES_VARIABLE, quoted(labels)
            return
        was = before.categorization(form.name, variable)
        will = after.categorization(now.name, new)
        lost = [
            label
            for label, category in zip(labels, was.categories, strict=True)
            if names.category(variable, category) not in will.categories
        ]
        if lost:
            yield ConsequenceKind.LOSES_LABELS, quoted(lost)
        if was.partition is None:
            return
        if will.partition is None:
            yield ConsequenceKind.BREAKS, f"{will.fault}."
            return
        register, code = after.register(new), before.code(variable, was.partition)
        if code not in register or register.meaning(code) != will.partition:
            told = f"It was {code} and would be {after.code(new, will.partition)}."
            yield ConsequenceKind.CHANGES, told


# Each is compared with all names there are; whoever adds more at once will not read as many notes.
_MOST_COMPARED = 20
_MOST_TOLD = 20


def edit_notes(before: Environment, after: Environment, edits: Iterable[Edit]) -> tuple[str, ...]:
    """Return what to look at again: near-duplicates of new names, queries on what nothing has.

    Examples
    --------
    >>> from gamekeeper.mapping.edits import AddForm, apply_edits
    >>> before = Environment([], [Form("Bank account")])
    >>> edits = [AddForm(name="Bank acount")]
    >>> edit_notes(before, apply_edits(before, edits), edits)
    ("The new form 'Bank acount' is near to 'Bank account'.",)
    """
    given = list(edits)
    named = {pair for edit in given for pair in touched(edit)}
    notes: list[str] = []
    for kind, old, new in (
        ("variable", before.variables, after.variables),
        ("form", before.forms, after.forms),
        ("group", before.groups, after.groups),
    ):
        added = sorted(n for own, n in named if own == kind and n in new and n not in old)
        if added and len(added) <= _MOST_COMPARED:
            notes += _near(kind, added, new.keys() & old)
    for name in sorted(name for kind, name in named if kind == "variable"):
        if name in before.variables and name in after.variables:
            notes += _near_categories(before, after, name)
    for edit in given:
        if isinstance(edit, AddGroup | ReplaceGroup) and edit.where is not None:
            unknown = unknown_in_query(after, parse_query(edit.where))
            notes += [f"The query {quoted([edit.where])}: {problem}" for problem in unknown]
    return tuple(notes)


def name_notes(environment: Environment) -> tuple[str, ...]:
    """Return which names of an environment look like others, or hold what does not show.

    Examples
    --------
    >>> name_notes(Environment([], [Form("Bank"), Form("B\u0430nk")]))[1]
    "The forms 'B\u0430nk' and 'Bank' look alike, and are written otherwise."
    """
    notes = [
        *_odd_names("variable", environment.variables),
        *_odd_names("form", environment.forms),
        *_odd_names("group", environment.groups),
    ]
    for name, variable in environment.variables.items():
        if variable.scale is not Scale.INTERVAL:
            notes += _odd_names(f"category of {quoted([name])}", variable.graph.categories)
    if len(notes) > _MOST_TOLD:
        rest = count_of(len(notes) - _MOST_TOLD, "more note")
        notes = [*notes[:_MOST_TOLD], f"There are {rest} about names that look alike."]
    return tuple(notes)


def _odd_names(kind: str, names: Iterable[str]) -> list[str]:
    every = list(names)
    # Names in ASCII alone cannot look like each other and be written otherwise.
    if all(name.isascii() for name in every):
        return []
    notes = [f"The {kind} {quoted([name])} {odd}." for name in every if (odd := oddity(name))]
    alike: dict[str, list[str]] = {}
    for name in every:
        alike.setdefault(likeness(name), []).append(name)
    plural = kind.replace("category", "categories") if "category" in kind else f"{kind}s"
    return notes + [
        f"The {plural} {' and '.join(quoted([name]) for name in sorted(same, reverse=True))} look"
        " alike, and are written otherwise."
        for same in alike.values()
        if len(same) > 1
    ]


def _near_categories(before: Environment, after: Environment, name: str) -> list[str]:
    variable = after.variable(name)
    if variable.scale is Scale.INTERVAL:
        return []
    known, now = set(before.variable(name).graph.categories), set(variable.graph.categories)
    return _near(f"category of {quoted([name])}", sorted(now - known), known & now)


def _near(kind: str, new: Collection[str], known: Collection[str]) -> list[str]:
    if len(new) > _MOST_COMPARED:
        return []
    notes: list[str] = []
    for name in new:
        is_part = kind not in ("variable", "form", "group")
        start = (
            f"The new {kind}, {quoted([name])}," if is_part else f"The new {kind} {quoted([name])}"
        )
        if odd := oddity(name):
            notes.append(f"{start} {odd}.")
        if alike := look_alikes(name, sorted(known)):
            notes.append(f"{start} looks like {quoted(alike)}, and is written otherwise.")
        elif near := near_names(name, sorted(known)):
            notes.append(f"{start} is near to {quoted(near)}.")
    return notes
