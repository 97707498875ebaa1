"""Who a form asks, in sinks of a variable: its universe.

Two things bound it. The category `OUTSIDE` of a variable takes sinks of people whom the form does
not ask, and the universe of the form may say within which categories its people are. A universe
in words alone bounds nothing.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from gamekeeper.errors import Problem, Reason
from gamekeeper.mapping.forms.form import Form
from gamekeeper.mapping.variables.variable import Variable
from gamekeeper.wording import did_you_mean, quoted


def universe_problems(
    forms: Iterable[Form], variables: Mapping[str, Variable]
) -> Iterator[Problem]:
    """Return where a universe names variables or categories that there are not."""
    for form in forms:
        if form.universe is None and not form.questions:
            continue
        where = f"form {quoted([form.name])}"
        if form.universe is not None:
            yield from category_problems(form.universe.within, f"{where}, universe", variables)
        for question in form.questions:
            if question.universe is not None:
                place = f"{where}, universe of question {quoted([question.name])}"
                yield from category_problems(question.universe.within, place, variables)


def category_problems(
    named: Mapping[str, Sequence[str]], where: str, variables: Mapping[str, Variable]
) -> Iterator[Problem]:
    """Return which variables, and which categories of them, are named and are not there."""
    for name, labels in named.items():
        variable = variables.get(name)
        if variable is None:
            found = f"names {quoted([name])}, which is not a variable."
            yield Problem(Reason.UNKNOWN_NAME, where, found, did_you_mean(name, variables))
            continue
        if not labels:
            found = f"names no category of {quoted([name])}."
            yield Problem(Reason.NOTHING_GIVEN, where, found, "Name one or more.")
        for label in labels:
            if variable.resolve(label) is None:
                found = f"names {quoted([label])}, which is not a category of {quoted([name])}."
                near = did_you_mean(label, variable.graph.categories)
                if variable.has_room_for(label):
                    near += " Choose a category, or add the band to the variable."
                yield Problem(Reason.UNKNOWN_NAME, where, found, near)
