"""Two environments made one, or compared: what another office has, as edits of ours, in words.

Parts of the same name are compared. Variables that agree, or of which one extends the other, are
taken without asking: every earlier categorization stays admitted. Bands of the same range are
joined. Whatever else differs under the same name is a conflict, and each conflict needs a decision:
ours stays, theirs takes its place, or theirs comes under another name. Nothing is merged while a
conflict is open. The outcome is a list of edits, so that the history of ours goes on, and their
codes are mapped to those that mean the same in ours.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import partial
from hashlib import sha256
from typing import Any, TypeVar

from gamekeeper.algorithms.categories.partition_graph import find_unsafe
from gamekeeper.arrow import pa
from gamekeeper.mapping.edits.applying import Edit
from gamekeeper.mapping.edits.categories import AddBands
from gamekeeper.mapping.edits.environment import (
    AddGroup,
    DeclareImpossible,
    DeclareMetadata,
    ReplaceGroup,
)
from gamekeeper.mapping.edits.forms import AddForm, RemoveForm
from gamekeeper.mapping.edits.variables import AddVariable, MarkSensitive, ReplaceVariable, reworded
from gamekeeper.mapping.environment.environment import Environment
from gamekeeper.mapping.forms.form import Form
from gamekeeper.mapping.forms.groups import Group
from gamekeeper.mapping.variables.categorization import blocks_of, categorization_of
from gamekeeper.mapping.variables.codes import RESERVED, Variable, code_order
from gamekeeper.mapping.variables.definitions import definition_of
from gamekeeper.results import Provenance, Result
from gamekeeper.wording import be, count_of, joined, quoted

OURS, THEIRS = "ours", "theirs"
_SHOWN = 6
Decisions = Mapping[tuple[str, str], str]
"""For a kind and a name: `ours`, `theirs`, or the name under which theirs comes."""


@dataclass(frozen=True, slots=True)
class Conflict:
    """Two parts of the same name that differ."""

    kind: str
    name: str
    what: str


@dataclass
class Merge:
    """What makes two environments one: edits of ours that bring in theirs.

    Conflicts need a decision first: with any, the edits are not complete. Notes tell what was settled
    without asking; `variables` has names of theirs to those that they have in ours, where these differ.
    """

    edits: list[Edit] = field(default_factory=list[Edit])
    conflicts: list[Conflict] = field(default_factory=list[Conflict])
    notes: list[str] = field(default_factory=list[str])
    variables: dict[str, str] = field(default_factory=dict[str, str])


def plan_merge(ours: Environment, theirs: Environment, decisions: Decisions | None = None) -> Merge:
    """Return the edits that bring another environment into ours, and the conflicts.

    Examples
    --------
    >>> ours = Environment([], [Form("Bank", metadata={"year": 2030})])
    >>> theirs = Environment([], [Form("Bank", metadata={"year": 2031}), Form("Shop")])
    >>> [(item.kind, item.name) for item in plan_merge(ours, theirs).conflicts]
    [('form', 'Bank')]
    >>> len(plan_merge(ours, theirs, {("form", "Bank"): "Bank (their office)"}).edits)
    2
    """
    made = Merge()
    work = _Merging(ours, theirs, decisions or {}, made)
    work.rules()
    for variable in theirs.variables.values():
        work.variable(variable)
    work.combinations()
    for form in theirs.forms.values():
        work.form(form)
    for group in theirs.groups.values():
        work.group(group)
    work.require_known_decisions()
    if theirs.scenarios:
        made.notes.append(
            f"Scenarios are records of their own environment and stay there:"
            f" {quoted(theirs.scenarios)}."
        )
    return made


def map_codes(
    theirs: Environment, merged: Environment, variables: Mapping[str, str]
) -> Iterator[tuple[str, str, str | None]]:
    """Return for their codes what means the same after the merge: variable, theirs, ours or None.

    Examples
    --------
    >>> age = Variable.of_bands("Age", ["0-15", "16+"])
    >>> theirs = Environment([age], [Form("Bank", {"Age": ("0-15", "16+")})])
    >>> list(map_codes(theirs, theirs, {}))
    [('Age', 'C2.001', 'C2.001')]
    """
    for name, variable in theirs.variables.items():
        here = merged.variables.get(variables.get(name, name))
        register = theirs.register(name)
        for code in sorted(register, key=code_order):
            blocks = blocks_of(variable, register.meaning(code))
            meant = None if here is None else categorization_of(here, blocks)
            known = None
            if here is not None and meant is not None:
                known = merged.register(here.name).code(meant)
            yield name, code, known


class _Merging:
    def __init__(
        self, ours: Environment, theirs: Environment, decisions: Decisions, made: Merge
    ) -> None:
        self._ours, self._theirs, self._decisions, self._made = ours, theirs, decisions, made
        self._forms: dict[str, str] = {}
        self._groups: dict[str, str] = {}
        self._asked: set[tuple[str, str]] = set()

    def rules(self) -> None:
        known = {(item.of, item.key): item for item in self._ours.rules.metadata}
        for item in self._theirs.rules.metadata:
            other = known.get((item.of, item.key))
            if other == item:
                continue
            name = f"{item.of} {item.key}"
            decided = (
                THEIRS
                if other is None
                else self._decided("metadata", name, "is declared otherwise")
            )
            if decided == THEIRS:
                given = item.model_dump()
                self._made.edits.append(DeclareMetadata(**given))

    def combinations(self) -> None:
        """Take their impossible combinations, once their variables are there."""
        for item in self._theirs.rules.impossible:
            own = {self._made.variables.get(n, n): c for n, c in item.combination.items()}
            moved = item.model_copy(update={"combination": own})
            if not any(moved.is_same(other) for other in self._ours.rules.impossible):
                self._made.edits.append(DeclareImpossible(combination=own, why=item.why))

    def variable(self, theirs: Variable) -> None:
        ours = self._ours.variables.get(theirs.name)
        edits = self._made.edits
        if ours is None:
            edits.append(AddVariable(definition=definition_of(theirs)))
        elif ours == theirs:
            return
        elif (
            ours.bands and theirs.bands and (ours.style, ours.space) == (theirs.style, theirs.space)
        ):
            more = [band for band in theirs.bands if band not in ours.bands]
            if more:
                edits.append(AddBands(variable=ours.name, bands=tuple(more)))
                self._made.notes.append(f"The bands of {quoted([ours.name])} are joined.")
        elif ours.scale is theirs.scale and not find_unsafe(theirs.graph, ours.graph, {}):
            self._made.notes.append(f"{quoted([ours.name])}: ours extends theirs, and stays.")
        elif ours.scale is theirs.scale and not find_unsafe(ours.graph, theirs.graph, {}):
            edits.append(ReplaceVariable(variable=ours.name, definition=definition_of(theirs)))
            self._made.notes.append(f"{quoted([ours.name])}: theirs extends ours, and is taken.")
        else:
            decided = self._decided("variable", theirs.name, "has other categories")
            if decided == THEIRS:
                edits.append(ReplaceVariable(variable=ours.name, definition=definition_of(theirs)))
            elif decided == OURS:
                self._require_labels(ours)
            elif decided:
                definition = definition_of(theirs).model_copy(update={"name": decided})
                edits.append(AddVariable(definition=definition))
                self._made.variables[theirs.name] = decided
                return
        if ours is not None:
            self._marks(ours, theirs)

    def _marks(self, ours: Variable, theirs: Variable) -> None:
        edits = self._made.edits
        is_replaced = any(
            isinstance(edit, ReplaceVariable) and edit.variable == ours.name for edit in edits
        )
        has, gets = (theirs, ours) if is_replaced else (ours, theirs)
        known = {*has.graph.categories, *(theirs.bands or ())}
        more = sorted(mark for mark in gets.sensitive - has.sensitive if mark in known)
        if more:
            edits.append(MarkSensitive(variable=ours.name, categories=tuple(more)))
            self._made.notes.append(f"What either marks as sensitive in {quoted([ours.name])} is.")

    def _require_labels(self, ours: Variable) -> None:
        """Note what forms of theirs print that ours has no category for, where ours stays."""
        used: dict[str, None] = {}
        forms: list[str] = []
        for form in self._theirs.forms.values():
            missing = [
                label
                for label in form.instances.get(ours.name, ())
                if label not in RESERVED
                and ours.resolve(label) is None
                and not ours.has_room_for(label)
            ]
            used.update(dict.fromkeys(missing))
            forms += [form.name] if missing else []
        if used:
            what = (
                f"stays as ours, which has no {quoted(list(used)[:_SHOWN])}, and"
                f" {count_of(len(forms), 'form')} of theirs {be(len(forms))} in these"
                f" ({quoted(forms[:_SHOWN])}): rename them there first"
                " (gamekeeper variable rename-category), or let theirs come under another name"
            )
            self._made.conflicts.append(Conflict("variable", ours.name, what))

    def form(self, theirs: Form) -> None:
        form = theirs
        for old, new in self._made.variables.items():
            form = reworded(form, old, str, new)
        own = {self._made.variables.get(n, n): labels for n, labels in form.by_hand.items()}
        form = Form(form.name, own, form.metadata, form.questions, form.universe)
        ours = self._ours.forms.get(form.name)
        if ours == form:
            return
        name = form.name
        if ours is not None:
            decided = self._decided("form", name, "is another form")
            if decided in ("", OURS):
                return
            if decided == THEIRS:
                self._made.edits.append(RemoveForm(form=name))
            else:
                self._forms[name] = name = decided
        self._made.edits.append(
            AddForm(
                name=name,
                metadata=dict(form.metadata),
                variables=dict(form.by_hand),
                questions=form.questions,
                universe=form.universe,
            )
        )
        if ours is not None and name == ours.name:
            self._made.edits += [
                ReplaceGroup(group=group.name, forms=group.forms)
                for group in self._ours.groups.values()
                if not group.is_live and name in group.forms
            ]

    def group(self, theirs: Group) -> None:
        ((way, given),) = theirs.definition.items()
        names = given
        if not isinstance(given, str):
            told = self._forms if way == "forms" else self._groups
            names = tuple(told.get(one, one) for one in given)
        ours = self._ours.groups.get(theirs.name)
        if ours is not None and ours.definition == {way: names}:
            return
        name = theirs.name
        if ours is not None:
            decided = self._decided("group", name, "is defined otherwise")
            if decided in ("", OURS):
                return
            if decided == THEIRS:
                self._made.edits.append(ReplaceGroup.model_validate({"group": name, way: names}))
                return
            self._groups[name] = name = decided
        self._made.edits.append(
            AddGroup.model_validate({"name": name, "description": theirs.description, way: names})
        )

    def require_known_decisions(self) -> None:
        """Note decisions on what is no conflict: a name may be mistyped."""
        for kind, name in self._decisions:
            if (kind, name) not in self._asked:
                what = (
                    "is no conflict, so there is nothing to decide; leave it out, or mend its name"
                )
                self._made.conflicts.append(Conflict(kind, name, what))

    def _decided(self, kind: str, name: str, what: str) -> str:
        """Return what was decided; a conflict without a decision is noted, and "" returned."""
        self._asked.add((kind, name))
        decided = self._decisions.get((kind, name), "")
        if not decided:
            self._made.conflicts.append(Conflict(kind, name, what))
        return decided


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
    rows += _told("variable", before.variables, after.variables, _variable_differs)
    rows += _told("form", before.forms, after.forms, partial(_form_differs, before, after))
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


def _variable_differs(old: Variable, new: Variable) -> Iterator[str]:
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
    for part in ("scale", "description", "sensitive", "style", "space"):
        if getattr(old, part) != getattr(new, part):
            yield (
                f"has another {part}" if part != "sensitive" else "has other sensitive categories"
            )


def _form_differs(before: Environment, after: Environment, old: Form, new: Form) -> Iterator[str]:
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
