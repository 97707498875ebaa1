"""What is worth pointing out about edits that are allowed: new names that are near to others."""

from __future__ import annotations

from collections.abc import Collection, Iterable

from gamekeeper.mapping.edits.edit import Edit
from gamekeeper.mapping.edits.groups import AddGroup, ReplaceGroup
from gamekeeper.mapping.edits.touching import touched
from gamekeeper.mapping.environment.environment import Environment
from gamekeeper.mapping.environment.queries import parse_query, unknown_names
from gamekeeper.mapping.environment.variable import Scale
from gamekeeper.wording import near_names, quoted

# Each is compared with all names there are; whoever adds more at once will not read as many notes.
_MOST_COMPARED = 20


def edit_notes(before: Environment, after: Environment, edits: Iterable[Edit]) -> tuple[str, ...]:
    """Return what to look at again: near-duplicates of new names, queries on what nothing has.

    Examples
    --------
    >>> from gamekeeper.mapping.edits import AddForm, apply_edits
    >>> from gamekeeper.mapping.environment.environment import Form
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
        added = sorted(name for own, name in named if own == kind and name in new.keys() - old)
        notes += _near(kind, added, new.keys() & old)
    for name in sorted(name for kind, name in named if kind == "variable"):
        if name in before.variables and name in after.variables:
            notes += _near_categories(before, after, name)
    for edit in given:
        if isinstance(edit, AddGroup | ReplaceGroup) and edit.where is not None:
            query = parse_query(edit.where)
            unknown = unknown_names(query, after.forms.values(), after.variables)
            notes += [f"The query {quoted([edit.where])}: {problem}" for problem in unknown]
    return tuple(notes)


def _near_categories(before: Environment, after: Environment, name: str) -> list[str]:
    variable = after.variable(name)
    if variable.scale is Scale.INTERVAL:
        return []
    known, now = set(before.variable(name).graph.categories), set(variable.graph.categories)
    return _near(f"category of {quoted([name])}", sorted(now - known), known & now)


def _near(kind: str, new: Collection[str], known: Collection[str]) -> list[str]:
    if len(new) > _MOST_COMPARED:
        return []
    return [
        f"The new {kind} {quoted([name])} is near to {quoted(near)}."
        if kind in ("variable", "form", "group")
        else f"The new {kind}, {quoted([name])}, is near to {quoted(near)}."
        for name in new
        if (near := near_names(name, sorted(known)))
    ]
