"""A variable widened by a new finest category, with all earlier forms mended at once.

A third sex, a civil partnership: people of whom earlier forms had not heard, or whom they counted
elsewhere. A new sink beside the others would leave every earlier categorization incomplete, so
the edit says where those people were. They may have been inside a category: then whatever held
that category holds them too. Or they were outside the universe of the forms, which then have the
category of everybody whom they do not ask.

Codes are carried where their meaning is kept: where the people were inside one block of a code,
or where every form with the code had people outside its universe, among whom they now are. Other
codes are retired, and the categorizations of their forms get new ones.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Annotated, Literal

from gamekeeper.algorithms.categories.graph_property import bits
from gamekeeper.algorithms.categories.partition_graph import PartitionGraph
from gamekeeper.algorithms.categories.partitions import Arbitrary, Partition
from gamekeeper.errors import Problem, Reason, refuse
from gamekeeper.mapping.edits.kinds.record import OfCategory, OfVariable, Record, require_new
from gamekeeper.mapping.edits.kinds.variable_change import require_distinct, reworded
from gamekeeper.mapping.environment.environment import Environment
from gamekeeper.mapping.forms.form import Form
from gamekeeper.mapping.variables.categorization import Categorization, split_labels
from gamekeeper.mapping.variables.codes import CodeRegister
from gamekeeper.mapping.variables.definitions import Names
from gamekeeper.mapping.variables.variable import ALSO, ELSE, OUTSIDE, Scale, Variable
from gamekeeper.options import Option
from gamekeeper.wording import count_of, quoted


class WidenVariable(Record):
    """Add a new finest category to a variable, and mend all earlier forms."""

    edit: Literal["widen-variable"] = "widen-variable"
    variable: OfVariable
    category: OfCategory
    inside: Annotated[
        str | None,
        Option(
            "The category that earlier forms had these people in; by default they were outside"
            " the universe of all forms."
        ),
    ] = None
    rest: Annotated[
        str | None,
        Option("What is left of that category without them, where it is one of the finest."),
    ] = None
    outside: Annotated[
        Names,
        Option(
            "A form that did not ask these people, although others had them inside.",
            flags="--outside -o",
        ),
    ] = ()


def apply_widening(environment: Environment, edit: WidenVariable) -> Environment:
    """Return the environment with a wider variable."""
    before = environment.variable(edit.variable)
    _require_fitting(environment, before, edit)
    after = replace(before, graph=_wider_graph(before, edit))
    require_distinct(after, set(before.graph.categories))
    new = after.graph.sinks.index(edit.category)
    forms = _mended(environment, before, after, edit)
    return environment.changed(
        variables={before.name: after},
        forms=forms,
        registers={before.name: _carried(environment, before, after, edit, new)},
    )


def _require_fitting(environment: Environment, variable: Variable, edit: WidenVariable) -> None:
    problems: list[Problem] = []
    where = f"variable {quoted([variable.name])}"
    if variable.scale is Scale.INTERVAL:
        found = "is on the interval scale: its bands cover all its numbers."
        problems.append(Problem(Reason.BAD_OPTION, where, found, "Add bands to it."))
    require_new("category", edit.category, variable.graph.categories)
    if edit.inside is not None and edit.inside not in variable.graph:
        variable.graph.sink_set(edit.inside)
    is_sink = edit.inside is not None and not variable.graph.children(edit.inside)
    if is_sink and edit.rest is None:
        found = f"has {quoted([edit.inside or ''])} as one of its finest categories."
        do = "Say what is left of it without these people (--rest)."
        problems.append(Problem(Reason.NOTHING_GIVEN, where, found, do))
    if not is_sink and edit.rest is not None:
        found = "has no finest category to take anything from."
        problems.append(Problem(Reason.BAD_OPTION, where, found, "Leave --rest away."))
    if edit.rest is not None:
        require_new("category", edit.rest, variable.graph.categories)
    if edit.outside and edit.inside is None:
        found = "has these people outside the universe of all forms already."
        problems.append(Problem(Reason.BAD_OPTION, where, found, "Leave --outside away."))
    for form in edit.outside:
        environment.categorization(form, variable.name)
    refuse(
        problems,
        f"The variable {quoted([variable.name])} was to be widened.",
        f"What was given has {count_of(len(problems), 'fault')}.",
    )


def _wider_graph(variable: Variable, edit: WidenVariable) -> PartitionGraph:
    graph = variable.graph
    children = {name: list(graph.children(name)) for name in graph.categories}
    order = list(graph.sinks)
    children[edit.category] = []
    if edit.inside is None:
        order.append(edit.category)
    elif edit.rest is not None:
        children[edit.inside] = [edit.rest, edit.category]
        children[edit.rest] = []
        place = order.index(edit.inside)
        order[place : place + 1] = [edit.rest, edit.category]
    else:
        # Whatever held the whole category held these people.
        whole = graph.sink_set(edit.inside)
        holders = [name for name in graph.categories if graph.sink_set(name) & whole == whole]
        for name in holders:
            below = children[name]
            if not any(child in holders for child in below):
                below.append(edit.category)
        order.insert(bits(whole)[-1] + 1, edit.category)
    if variable.scale is Scale.NOMINAL and list(graph.sinks) == sorted(graph.sinks):
        return PartitionGraph(children)
    return PartitionGraph(children, order=order)


def _mended(
    environment: Environment, before: Variable, after: Variable, edit: WidenVariable
) -> dict[str, Form]:
    """Return the forms whose labels must change so that each stays as right as it was."""
    narrowed = set(edit.outside)

    def now(label: str) -> str | None:
        is_it = edit.rest is not None and before.resolve(label) == edit.inside
        return edit.rest if is_it else label

    changed: dict[str, Form] = {}
    for name, form in environment.forms.items():
        labels = form.instances.get(before.name)
        if labels is None:
            continue
        made = form
        if name in narrowed:
            made = reworded(made, before.name, now, before.name)
            if before.name in made.by_hand:
                own = tuple(now(label) or label for label in labels)
                made = replace(made, instances={**made.instances, before.name: own})
        made = _outside_added(made, after, edit)
        if made is not form:
            changed[name] = made
    return changed


def _outside_added(form: Form, variable: Variable, edit: WidenVariable) -> Form:
    """Return a form that has the new people outside its universe where it has them nowhere else."""
    name = variable.name
    if name in form.by_hand:
        labels = form.instances[name]
        parts = [
            (*part, OUTSIDE) if part and _misses(part, variable, edit) else part
            for part in split_labels(labels)
        ]
        joined = tuple(x for n, part in enumerate(parts) for x in ((ALSO,) if n else ()) + part)
        if joined == labels:
            return form
        return replace(form, instances={**form.instances, name: joined})
    questions = tuple(
        question.model_copy(update={"outside": True})
        if question.variable == name
        and not question.multiple
        and question.meaning
        and not question.outside
        and _misses([answer.label for answer in question.meaning], variable, edit)
        else question
        for question in form.questions
    )
    return form if questions == form.questions else form.with_questions(questions)


def _misses(labels: Sequence[str], variable: Variable, edit: WidenVariable) -> bool:
    """Tell whether no label takes the new people."""
    if OUTSIDE in labels or ELSE in labels:
        return False
    named = (variable.resolve(label) for label in labels)
    return not any(
        name is not None and edit.category in variable.graph.sinks_of(name) for name in named
    )


def _carried(
    environment: Environment, before: Variable, after: Variable, edit: WidenVariable, new: int
) -> CodeRegister:
    """Return the codes whose meaning is kept over the wider variable; the others are retired."""
    register = environment.register(before.name)
    old_places = {sink: place for place, sink in enumerate(before.graph.sinks)}
    beside = _sinks_beside(environment, before, edit)
    kept: list[tuple[str, Partition | Arbitrary]] = []
    lost = set(register.retired)
    for code in register:
        meaning = register.meaning(code)
        if isinstance(meaning, Arbitrary):
            kept.append((code, meaning))
            continue
        companions = beside.get(meaning, beside[None])
        labels = {int(meaning.labels[place]) for place in companions}
        if len(labels) != 1:
            lost.add(code)
            continue
        (block,) = labels
        wide: list[int] = []
        for place, sink in enumerate(after.graph.sinks):
            if place == new:
                wide.append(block)
            elif sink == edit.rest:
                wide.append(int(meaning.labels[old_places[edit.inside or ""]]))
            else:
                wide.append(int(meaning.labels[old_places[sink]]))
        kept.append((code, Partition.from_labels(wide)))
    return CodeRegister(kept, retired=lost)


def _sinks_beside(
    environment: Environment, before: Variable, edit: WidenVariable
) -> dict[Partition | None, set[int]]:
    """Return for categorizations the old sinks among which the new people are; None for others."""
    if edit.inside is not None:
        narrowed = set(edit.outside)
        beside: dict[Partition | None, set[int]] = {
            None: set(bits(before.graph.sink_set(edit.inside)))
        }
        for item, forms in environment.instances(before.name):
            # A code that forms use in both ways means neither of them any more.
            if isinstance(item.partition, Partition) and narrowed.intersection(forms):
                beside[item.partition] = set()
        return beside
    found: dict[Partition | None, set[int]] = {None: set()}
    for item, _ in environment.instances(before.name):
        if isinstance(item.partition, Partition):
            left = _left_over(before, item)
            known = found.get(item.partition)
            found[item.partition] = left if known in (None, left) else set()
    return found


def _left_over(variable: Variable, item: Categorization) -> set[int]:
    """Return the sinks that a form does not ask, or takes as the rest, where new ones come to."""
    if ALSO in item.categories or not {OUTSIDE, ELSE}.intersection(item.categories):
        return set()
    graph = variable.graph
    left = set(range(len(graph.sinks)))
    for name in item.categories:
        if name in graph:
            left.difference_update(bits(graph.sink_set(name)))
    return left
