"""A changed variable brought into an environment: whether it may, labels on forms, codes.

The normal editor takes it only if every categorization admitted before is still admitted. The
unrestricted editor drops lost categories from the selections that hold them; a selection with
nothing left drops the variable from the form, for an empty one would mean any level of detail.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import cache

from gamekeeper.algorithms.categories.safe_edits import UnsafeKind, find_unsafe
from gamekeeper.errors import Problem, Reason, refuse
from gamekeeper.mapping.environment.environment import Environment
from gamekeeper.mapping.environment.rules import follow_names
from gamekeeper.mapping.forms.form import Form
from gamekeeper.mapping.forms.questions import relabelled, relabelled_universe
from gamekeeper.mapping.names import clashes
from gamekeeper.mapping.variables.carrying import carry_codes
from gamekeeper.mapping.variables.variable import ALSO, RESERVED, Scale, Variable
from gamekeeper.wording import count_of, folded, quoted

_Now = Callable[[str], str | None]
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

    `renamed` has the categories that have another name now, old names to new ones.
    """
    before, names = environment.variable(variable.name), renamed or {}
    require_distinct(variable, set(before.graph.categories) - names.keys())
    if not unrestricted:
        _require_safe(before, variable, names)
    now = _labels_after(before, variable, names)
    return environment.changed(
        variables={variable.name: variable},
        forms=_relabelled(environment, before, now),
        rules=follow_names(environment.rules, variable.name, variable.name, now),
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
    problems = clashes("category", new, there)
    refuse(
        problems,
        f"The variable {quoted([variable.name])} was asked for.",
        f"It has {count_of(len(problems), 'category', 'categories')} too much like others.",
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
    refuse(
        problems,
        f"The variable {quoted([before.name])} was to be changed.",
        "Not every categorization admitted before would be admitted after it.",
        "Categories can be split, renamed, and added as unions of others; the unrestricted"
        " editor can do more, and shows first which forms would break.",
    )


def _labels_after(before: Variable, after: Variable, renamed: Mapping[str, str]) -> _Now:
    """Tell what labels of a variable are after a change of it; None if nothing is left of one."""

    @cache
    def now(label: str) -> str | None:
        old = before.resolve(label) or ""
        category = renamed.get(old, old)
        # A band in words of its own stays as it is written.
        if label in RESERVED or (category and after.resolve(label) == category):
            return label
        return category if category in after.graph else None

    return now


def _relabelled(environment: Environment, before: Variable, now: _Now) -> dict[str, Form]:
    """Return the forms whose labels of a variable change, or that lose it."""
    known: dict[tuple[str, ...], tuple[str, ...] | None] = {}
    changed: dict[str, Form] = {}
    name = before.name
    for form in environment.forms.values():
        labels = form.instances.get(name)
        in_words = bool(form.questions or form.universe)
        if labels is None and not in_words:
            continue
        made = form if not in_words else reworded(form, name, now, name)
        if labels is not None and name in form.by_hand:
            if labels not in known:
                known[labels] = _labels_now(labels, now)
            left = known[labels]
            if left != labels:
                others = {key: own for key, own in made.instances.items() if key != name}
                instances = others if left is None else {**made.instances, name: left}
                made = replace(made, instances=instances)
        if made is not form:
            changed[form.name] = made
    return changed


def reworded(form: Form, variable: str, now: _Now, to: str | None) -> Form:
    """Return a form whose questions and universe follow a variable that changes its names.

    The form itself if nothing changes.
    """
    questions = tuple(relabelled(question, variable, now, to) for question in form.questions)
    universe = form.universe and relabelled_universe(form.universe, variable, now, to)
    if universe != form.universe:
        form = replace(form, universe=universe)
    if any(new is not old for new, old in zip(questions, form.questions, strict=True)):
        form = form.with_questions(questions)
    return form


def _labels_now(labels: tuple[str, ...], now: _Now) -> tuple[str, ...] | None:
    """Return labels that select what is left of the same categories; None if nothing is."""
    left: list[str] = []
    for label in labels:
        category = now(label)
        # Of a question with nothing left, the word that joins it to others goes as well.
        if category is not None and not (category == ALSO and (not left or left[-1] == ALSO)):
            left.append(category)
    while left and left[-1] == ALSO:
        left.pop()
    return tuple(left) if left or not labels else None
