"""Edits of variables as wholes, and what a changed variable means for forms, queries and codes.

The normal editor takes a changed variable only if every categorization admitted before is still
admitted. The unrestricted editor drops lost categories from the selections that hold them; a
selection with nothing left drops the variable from the form, for an empty one would mean any level
of detail. A variable that is renamed has its new name on all forms and in the queries of groups, and
keeps its codes. One that forms have or queries ask for is not removed; the unrestricted editor takes
it from the forms.

A variable is widened (a third sex, a civil partnership) by people of whom earlier forms had not
heard, or whom they counted elsewhere. A new sink beside the others would leave every earlier
categorization incomplete, so the edit says where those people were, and all earlier forms are mended
at once. They may have been inside a category: then whatever held that category holds them too. Or
they were outside the universe of the forms, which then have the category of everybody whom they do
not ask. Codes are carried where their meaning is kept: where the people were inside one block of a
code, or where every form with the code had people outside its universe, among whom they now are.
Other codes are retired, and the categorizations of their forms get new ones.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import cache
from typing import Annotated, Literal

from pydantic import Field

from gamekeeper.algorithms.categories.partition_graph import PartitionGraph, UnsafeKind, find_unsafe
from gamekeeper.algorithms.categories.partitions import Arbitrary, Partition, bits
from gamekeeper.errors import InputError, Problem, Reason, refuse
from gamekeeper.mapping.edits.environment import (
    NewName,
    OfCategory,
    OfVariable,
    Record,
    require_new,
)
from gamekeeper.mapping.environment.environment import Environment
from gamekeeper.mapping.environment.rules import follow_names
from gamekeeper.mapping.forms.form import Form, relabelled, relabelled_universe
from gamekeeper.mapping.forms.groups import Group, parse_query
from gamekeeper.mapping.variables import codes
from gamekeeper.mapping.variables.categorization import Categorization, split_labels
from gamekeeper.mapping.variables.definitions import Definition, Names, variable_of
from gamekeeper.options import Option
from gamekeeper.wording import count_of, did_you_mean, folded, quoted

_Now = Callable[[str], str | None]
_INSTEAD = {
    UnsafeKind.CATEGORY_LOST: "Keep it, or rename it.",
    UnsafeKind.SINKS_OVERLAP: "Give each of them parts of its own.",
    UnsafeKind.SPACE_GROWS: "Split the sink that it is part of.",
    UnsafeKind.CATEGORY_CHANGES: "Leave it, and add a new category for the other meaning.",
}


def with_variable(
    environment: Environment,
    variable: codes.Variable,
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
            variable.name: codes.carry_codes(
                environment.register(variable.name), before, variable, names
            )
        },
    )


def require_distinct(variable: codes.Variable, known: set[str]) -> None:
    """Refuse new categories that differ from others only in case, accents or white space."""
    if variable.scale is codes.Scale.INTERVAL:
        return
    there = {folded(name): name for name in variable.graph.categories if name in known}
    new = [name for name in variable.graph.categories if name not in known]
    problems = codes.clashes("category", new, there)
    found = f"It has {count_of(len(problems), 'category', 'categories')} too much like others."
    refuse(problems, f"The variable {quoted([variable.name])} was asked for.", found)


def _require_safe(
    before: codes.Variable, after: codes.Variable, renamed: Mapping[str, str]
) -> None:
    where = f"variable {quoted([before.name])}"
    problems = [
        Problem(Reason.UNSAFE_EDIT, where, f"{unsafe}.", _INSTEAD[unsafe.kind])
        for unsafe in find_unsafe(before.graph, after.graph, renamed)
    ]
    if before.bands and after.bands and before.style is not after.style:
        found = f"its bands would be read in the {after.style.value} style."
        problems.append(Problem(Reason.UNSAFE_EDIT, where, found, "Keep the style."))
    found = "Not every categorization admitted before would be admitted after it."
    do = (
        "Categories can be split, renamed, and added as unions of others; the unrestricted"
        " editor can do more, and shows first which forms would break."
    )
    refuse(problems, f"The variable {quoted([before.name])} was to be changed.", found, do)


def _labels_after(
    before: codes.Variable, after: codes.Variable, renamed: Mapping[str, str]
) -> _Now:
    """Tell what labels of a variable are after a change of it; None if nothing is left of one."""

    @cache
    def now(label: str) -> str | None:
        old = before.resolve(label) or ""
        category = renamed.get(old, old)
        # A band in words of its own stays as it is written.
        if label in codes.RESERVED or (category and after.resolve(label) == category):
            return label
        return category if category in after.graph else None

    return now


def _relabelled(environment: Environment, before: codes.Variable, now: _Now) -> dict[str, Form]:
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
    """Return a form whose questions and universe follow a variable that changes its names."""
    questions = tuple(relabelled(question, variable, now, to) for question in form.questions)
    universe = form.universe and relabelled_universe(form.universe, variable, now, to)
    if universe != form.universe:
        form = replace(form, universe=universe)
    if any(new is not old for new, old in zip(questions, form.questions, strict=True)):
        form = form.with_questions(questions)
    return form


def _labels_now(labels: tuple[str, ...], now: _Now) -> tuple[str, ...] | None:
    left: list[str] = []
    for label in labels:
        category = now(label)
        # Of a question with nothing left, the word that joins it to others goes as well.
        if category is not None and not (
            category == codes.ALSO and (not left or left[-1] == codes.ALSO)
        ):
            left.append(category)
    while left and left[-1] == codes.ALSO:
        left.pop()
    return tuple(left) if left or not labels else None


class AddVariable(Record):
    """Add a variable."""

    edit: Literal["add-variable"] = "add-variable"
    definition: Definition


class ReplaceVariable(Record):
    """Give a variable another definition under the same name."""

    edit: Literal["replace-variable"] = "replace-variable"
    variable: OfVariable
    definition: Definition


class RemoveVariable(Record):
    """Remove a variable that no form has; without restriction, take it from all forms."""

    edit: Literal["remove-variable"] = "remove-variable"
    variable: OfVariable


class RenameVariable(Record):
    """Rename a variable, also on all forms and in the queries of groups."""

    edit: Literal["rename-variable"] = "rename-variable"
    variable: OfVariable
    to: NewName


class DescribeVariable(Record):
    """Describe a variable."""

    edit: Literal["describe-variable"] = "describe-variable"
    variable: OfVariable
    description: Annotated[str, Option("What it means.", is_argument=True)]


_Marked = Annotated[
    Names, Field(min_length=1), Option("The categories.", flags="CATEGORY...", is_argument=True)
]


class MarkSensitive(Record):
    """Mark categories of a variable as sensitive: worse to learn of somebody than others."""

    edit: Literal["mark-sensitive"] = "mark-sensitive"
    variable: OfVariable
    categories: _Marked


class UnmarkSensitive(Record):
    """Let categories of a variable be no longer marked as sensitive."""

    edit: Literal["unmark-sensitive"] = "unmark-sensitive"
    variable: OfVariable
    categories: _Marked


VariableEdit = (
    MarkSensitive
    | UnmarkSensitive
    | AddVariable
    | ReplaceVariable
    | RemoveVariable
    | RenameVariable
    | DescribeVariable
)


def apply_variable_edit(
    environment: Environment, edit: VariableEdit, *, unrestricted: bool = False
) -> Environment:
    """Return the environment after an edit of a variable."""
    match edit:
        case AddVariable():
            require_new("variable", edit.definition.name, environment.variables)
            variable = variable_of(edit.definition)
            require_distinct(variable, set())
            return environment.changed(variables={variable.name: variable})
        case ReplaceVariable():
            variable = environment.variable(edit.variable)
            if edit.definition.name != variable.name:
                asked = f"The variable {quoted([variable.name])} was to be replaced."
                found = f"Its new definition is of {quoted([edit.definition.name])}."
                do = "Give it the same name, and rename it by an edit of its own."
                raise InputError(Reason.BAD_NAME, asked, found, do)
            return with_variable(
                environment, variable_of(edit.definition), unrestricted=unrestricted
            )
        case RemoveVariable():
            return _without(environment, edit.variable, unrestricted=unrestricted)
        case RenameVariable():
            return _renamed(environment, edit.variable, edit.to)
        case MarkSensitive() | UnmarkSensitive():
            return _marked(environment, edit)
        case DescribeVariable():
            variable = environment.variable(edit.variable)
            described = replace(variable, description=edit.description)
            return environment.changed(variables={variable.name: described})


def _marked(environment: Environment, edit: MarkSensitive | UnmarkSensitive) -> Environment:
    variable = environment.variable(edit.variable)
    problems: list[Problem] = []
    named: set[str] = set()
    for label in edit.categories:
        category = variable.resolve(label)
        if category is None:
            where = f"category {quoted([label])}"
            found = f"is not one of {quoted([variable.name])}."
            near = did_you_mean(label, variable.graph.categories)
            problems.append(Problem(Reason.UNKNOWN_NAME, where, found, near))
        else:
            named.add(category)
    is_mark = isinstance(edit, MarkSensitive)
    now = variable.sensitive | named if is_mark else variable.sensitive - named
    if not problems and now == variable.sensitive:
        found = "They are marked already." if is_mark else "They are not marked."
        problems.append(Problem(Reason.NOTHING_GIVEN, f"variable {quoted([variable.name])}", found))
    asked = f"Categories of {quoted([variable.name])} were to be marked or unmarked as sensitive."
    refuse(problems, asked, f"What was given has {count_of(len(problems), 'fault')}.")
    return environment.changed(variables={variable.name: replace(variable, sensitive=now)})


def _without(environment: Environment, name: str, *, unrestricted: bool) -> Environment:
    environment.variable(name)
    forms = [form for form in environment.forms.values() if name in form.instances]
    where = f"variable {quoted([name])}"
    problems = [
        Problem(
            Reason.IN_USE,
            where,
            f"the query of the group {quoted([group])} asks for it.",
            "Change the group first.",
        )
        for group in _asking(environment, name)
    ]
    if forms and not unrestricted:
        on_forms = quoted(form.name for form in forms)
        found = f"{count_of(len(forms), 'form has it', 'forms have it')}: {on_forms}."
        do = "Drop it from them first, or use the unrestricted editor."
        problems.append(Problem(Reason.IN_USE, where, found, do))
    refuse(problems, f"The variable {quoted([name])} was to be removed.", "It is in use.")
    worded = (form for form in environment.forms.values() if form.questions or form.universe)
    left = {form.name: without_variable(form, name) for form in (*forms, *worded)}
    return environment.changed(
        variables={name: None},
        forms={key: form for key, form in left.items() if form is not environment.forms[key]},
        rules=follow_names(environment.rules, name, None, str),
    )


def without_variable(form: Form, variable: str) -> Form:
    """Return a form without a variable; questions that fed it keep their words and feed nothing."""
    form = reworded(form, variable, str, None)
    if variable not in form.instances:
        return form
    left = {name: labels for name, labels in form.instances.items() if name != variable}
    return replace(form, instances=left)


def _renamed(environment: Environment, old: str, new: str) -> Environment:
    variable = environment.variable(old)
    require_new("variable", new, environment.variables)
    forms = {
        name: _with_name(form, old, new)
        for name, form in environment.forms.items()
        if old in form.instances or form.questions or form.universe
    }
    forms = {name: form for name, form in forms.items() if form is not environment.forms[name]}
    groups = {
        name: replace(group, where=parse_query(group.where).renamed_variable(old, new).text)
        for name, group in _asking(environment, old).items()
    }
    return environment.changed(
        variables={old: None, new: replace(variable, name=new)},
        forms=forms,
        groups=groups,
        registers={new: environment.register(old)},
        rules=follow_names(environment.rules, old, new, str),
    )


def _with_name(form: Form, old: str, new: str) -> Form:
    form = reworded(form, old, str, new)
    if old not in form.by_hand:
        return form
    own = {new if name == old else name: labels for name, labels in form.by_hand.items()}
    return replace(form, instances=own)


def _asking(environment: Environment, variable: str) -> dict[str, Group]:
    return {
        name: group
        for name, group in environment.groups.items()
        if group.where and folded(variable) in map(folded, parse_query(group.where).variables)
    }


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


def _require_fitting(
    environment: Environment, variable: codes.Variable, edit: WidenVariable
) -> None:
    problems: list[Problem] = []
    where = f"variable {quoted([variable.name])}"
    if variable.scale is codes.Scale.INTERVAL:
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
    asked = f"The variable {quoted([variable.name])} was to be widened."
    refuse(problems, asked, f"What was given has {count_of(len(problems), 'fault')}.")


def _wider_graph(variable: codes.Variable, edit: WidenVariable) -> PartitionGraph:
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
    if variable.scale is codes.Scale.NOMINAL and list(graph.sinks) == sorted(graph.sinks):
        return PartitionGraph(children)
    return PartitionGraph(children, order=order)


def _mended(
    environment: Environment, before: codes.Variable, after: codes.Variable, edit: WidenVariable
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


def _outside_added(form: Form, variable: codes.Variable, edit: WidenVariable) -> Form:
    """Return a form that has the new people outside its universe where it has them nowhere else."""
    name = variable.name
    if name in form.by_hand:
        labels = form.instances[name]
        parts = [
            (*part, codes.OUTSIDE) if part and _misses(part, variable, edit) else part
            for part in split_labels(labels)
        ]
        joined = tuple(
            x for n, part in enumerate(parts) for x in ((codes.ALSO,) if n else ()) + part
        )
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


def _misses(labels: Sequence[str], variable: codes.Variable, edit: WidenVariable) -> bool:
    if codes.OUTSIDE in labels or codes.ELSE in labels:
        return False
    named = (variable.resolve(label) for label in labels)
    return not any(
        name is not None and edit.category in variable.graph.sinks_of(name) for name in named
    )


def _carried(
    environment: Environment,
    before: codes.Variable,
    after: codes.Variable,
    edit: WidenVariable,
    new: int,
) -> codes.CodeRegister:
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
    return codes.CodeRegister(kept, retired=lost)


def _sinks_beside(
    environment: Environment, before: codes.Variable, edit: WidenVariable
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


def _left_over(variable: codes.Variable, item: Categorization) -> set[int]:
    """Return the sinks that a form does not ask, or takes as the rest, where new ones come to."""
    if codes.ALSO in item.categories or not {codes.OUTSIDE, codes.ELSE}.intersection(
        item.categories
    ):
        return set()
    graph = variable.graph
    left = set(range(len(graph.sinks)))
    for name in item.categories:
        if name in graph:
            left.difference_update(bits(graph.sink_set(name)))
    return left
