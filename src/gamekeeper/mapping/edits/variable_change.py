"""A changed variable brought into an environment: whether it may, labels on forms, codes.

The normal editor takes it only if every categorization admitted before is still admitted. The
unrestricted editor drops lost categories from the selections that hold them; a selection with
nothing left drops the variable from the form, for an empty one would mean any level of detail.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from gamekeeper.algorithms.categories.safe_edits import UnsafeKind, find_unsafe
from gamekeeper.errors import InputError, Problem, Reason
from gamekeeper.mapping.environment.carrying import carry_codes
from gamekeeper.mapping.environment.environment import Environment
from gamekeeper.mapping.environment.form import Form
from gamekeeper.mapping.environment.names import clashes
from gamekeeper.mapping.environment.variable import OUTSIDE, Scale, Variable
from gamekeeper.wording import count_of, folded, quoted

_INSTEAD = {
    UnsafeKind.CATEGORY_LOST: "Keep it, or rename it.",
    UnsafeKind.SINKS_OVERLAP: "Give each of them parts of its own.",
    UnsafeKind.SPACE_GROWS: "Split the sink that it is part of.",
    UnsafeKind.CATEGORY_CHANGES: "Leave it, and add a new category for the other meaning.",
}


def with_variable(
    environment: Environment,
    variable: Variable,
    *,
    renamed: Mapping[str, str] | None = None,
    unrestricted: bool = False,
) -> Environment:
    """Return the environment with a variable of the same name replaced.

    Parameters
    ----------
    variable
        The variable as it is to be.
    renamed
        The categories that have another name now, old names to new ones.
    unrestricted
        Whether earlier categorizations may be lost.
    """
    before, names = environment.variable(variable.name), renamed or {}
    require_distinct(variable, set(before.graph.categories) - names.keys())
    if not unrestricted:
        _require_safe(before, variable, names)
    return environment.changed(
        variables={variable.name: variable},
        forms=_relabelled(environment, before, variable, names),
        registers={
            variable.name: carry_codes(environment.register(variable.name), before, variable, names)
        },
    )


def require_distinct(variable: Variable, known: set[str]) -> None:
    """Refuse new categories that differ from others only in case, accents or white space."""
    if variable.scale is Scale.INTERVAL:
        return
    there = {folded(name): name for name in variable.graph.categories if name in known}
    new = [name for name in variable.graph.categories if name not in known]
    if problems := clashes("category", new, there):
        raise InputError(
            Reason.DUPLICATE,
            f"The variable {quoted([variable.name])} was asked for.",
            f"It has {count_of(len(problems), 'category', 'categories')} too much like others.",
            problems=problems,
        )


def _require_safe(before: Variable, after: Variable, renamed: Mapping[str, str]) -> None:
    where = f"variable {quoted([before.name])}"
    problems = [
        Problem(Reason.UNSAFE_EDIT, where, f"{unsafe}.", _INSTEAD[unsafe.kind])
        for unsafe in find_unsafe(before.graph, after.graph, renamed)
    ]
    if before.bands and after.bands and before.style is not after.style:
        found = f"its bands would be read in the {after.style.value} style."
        problems.append(Problem(Reason.UNSAFE_EDIT, where, found, "Keep the style."))
    if problems:
        raise InputError(
            Reason.UNSAFE_EDIT,
            f"The variable {quoted([before.name])} was to be changed.",
            "Not every categorization admitted before would be admitted after it.",
            "Categories can be split, renamed, and added as unions of others; the unrestricted"
            " editor can do more, and shows first which forms would break.",
            problems=problems,
        )


def _relabelled(
    environment: Environment, before: Variable, after: Variable, renamed: Mapping[str, str]
) -> dict[str, Form]:
    """Return the forms whose labels of a variable change, or that lose it."""
    known: dict[tuple[str, ...], tuple[str, ...] | None] = {}
    changed: dict[str, Form] = {}
    for name, form in environment.forms.items():
        labels = form.instances.get(before.name)
        if labels is None:
            continue
        if labels not in known:
            known[labels] = _labels_now(labels, before, after, renamed)
        now = known[labels]
        if now != labels:
            instances = dict(form.instances)
            if now is None:
                del instances[before.name]
            else:
                instances[before.name] = now
            changed[name] = replace(form, instances=instances)
    return changed


def _labels_now(
    labels: tuple[str, ...], before: Variable, after: Variable, renamed: Mapping[str, str]
) -> tuple[str, ...] | None:
    """Return labels that select what is left of the same categories; None if nothing is."""
    now: list[str] = []
    for label in labels:
        old = before.resolve(label) or ""
        category = renamed.get(old, old)
        # A band in words of its own stays as it is written.
        if label == OUTSIDE or (after.resolve(label) == category and category):
            now.append(label)
        elif category in after.graph:
            now.append(category)
    return tuple(now) if now or not labels else None
