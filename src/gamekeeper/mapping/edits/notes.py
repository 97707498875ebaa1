"""What is worth pointing out about edits that are allowed: new names that are near to others or look like them."""

from __future__ import annotations

from collections.abc import Collection, Iterable

from gamekeeper.mapping.edits.edit import Edit
from gamekeeper.mapping.edits.kinds.groups import AddGroup, ReplaceGroup
from gamekeeper.mapping.edits.touching import touched
from gamekeeper.mapping.environment.environment import Environment
from gamekeeper.mapping.environment.listing import unknown_in_query
from gamekeeper.mapping.forms.queries import parse_query
from gamekeeper.mapping.variables.variable import Scale
from gamekeeper.wording import count_of, likeness, look_alikes, near_names, oddity, quoted

# Each is compared with all names there are; whoever adds more at once will not read as many notes.
_MOST_COMPARED = 20
_MOST_TOLD = 20


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
    >>> from gamekeeper.mapping.environment.environment import Form
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
