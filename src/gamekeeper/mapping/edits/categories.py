"""Edits of the categories of a variable, and of the bands of one on the interval scale.

The sinks of a variable stay in their order; where a sink is split, its parts take its place in
the order given. The partition graph of bands follows from them. A new band may cut sinks, which
stay as categories, so to add bands is always safe. A band that others cut out stays as long as
they do.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Annotated, Literal

from pydantic import Field

from gamekeeper.algorithms.categories.partition_graph import PartitionGraph
from gamekeeper.algorithms.categories.partitions import bits
from gamekeeper.errors import InputError, Problem, Reason, refuse
from gamekeeper.mapping.edits.environment import (
    NewName,
    OfCategory,
    OfVariable,
    Record,
    require_new,
)
from gamekeeper.mapping.edits.variables import with_variable
from gamekeeper.mapping.environment.environment import Environment
from gamekeeper.mapping.variables.codes import Scale, Variable
from gamekeeper.mapping.variables.definitions import Names
from gamekeeper.options import Option
from gamekeeper.wording import count_of, did_you_mean, quoted


class AddCategory(Record):
    """Add a category that is the union of others; without any, a new sink."""

    edit: Literal["add-category"] = "add-category"
    variable: OfVariable
    category: OfCategory
    children: Annotated[
        Names,
        Option(
            "Categories that exclude each other and make it up.", flags="PART...", is_argument=True
        ),
    ] = ()


class SplitCategory(Record):
    """Split a sink into new sinks, which become its children."""

    edit: Literal["split-category"] = "split-category"
    variable: OfVariable
    category: OfCategory
    into: Annotated[
        Names,
        Field(min_length=2),
        Option("What it is split into: new, finer categories.", flags="PART...", is_argument=True),
    ]


class SetChildren(Record):
    """Give a category other children."""

    edit: Literal["set-children"] = "set-children"
    variable: OfVariable
    category: OfCategory
    children: Annotated[Names, Option("What it is made up of.", flags="PART...", is_argument=True)]


class RenameCategory(Record):
    """Rename a category, also in the selections of all forms."""

    edit: Literal["rename-category"] = "rename-category"
    variable: OfVariable
    category: OfCategory
    to: NewName


class RemoveCategory(Record):
    """Remove a category, also from the selections of all forms.

    The children of a category go to its parents. A sink goes from the sample space, unless it is
    the only child of its parents, which then become sinks.
    """

    edit: Literal["remove-category"] = "remove-category"
    variable: OfVariable
    category: OfCategory


class OrderSinks(Record):
    """Put the sinks of a variable into another order."""

    edit: Literal["order-sinks"] = "order-sinks"
    variable: OfVariable
    order: Annotated[
        Names, Option("All finest categories in order.", flags="CATEGORY...", is_argument=True)
    ]


class FlattenGraph(Record):
    """Let every category of a variable point straight to its finest categories."""

    edit: Literal["flatten-graph"] = "flatten-graph"
    variable: OfVariable


class DeepenGraph(Record):
    """Let every category of a variable point to few large parts: fewer edges, more levels."""

    edit: Literal["deepen-graph"] = "deepen-graph"
    variable: OfVariable


class PruneGraph(Record):
    """Remove the categories of a variable that nothing uses; all finest categories stay."""

    edit: Literal["prune-graph"] = "prune-graph"
    variable: OfVariable
    keep: Annotated[
        Names, Option("A category to keep although nothing uses it.", flags="--keep -k")
    ] = ()


CategoryEdit = (
    FlattenGraph
    | DeepenGraph
    | PruneGraph
    | AddCategory
    | SplitCategory
    | SetChildren
    | RenameCategory
    | RemoveCategory
    | OrderSinks
)


def apply_category_edit(
    environment: Environment, edit: CategoryEdit, *, unrestricted: bool = False
) -> Environment:
    """Return the environment after an edit of the categories of a variable."""
    variable = environment.variable(edit.variable)
    _require_categories(variable, edit)
    graph = variable.graph
    children = {name: list(graph.children(name)) for name in graph.categories}
    renamed: dict[str, str] = {}
    order = list(graph.sinks)
    made = None
    match edit:
        case AddCategory():
            require_new("category", edit.category, children)
            _require_known(variable, edit.children)
            children[edit.category] = list(edit.children)
        case SplitCategory():
            _require_sink(variable, edit.category)
            for part in edit.into:
                require_new("category", part, children)
            children[edit.category] = list(edit.into)
            place = order.index(edit.category)
            order[place : place + 1] = edit.into
        case SetChildren():
            _require_other_parts(graph, edit)
            _require_known(variable, edit.children)
            children[edit.category] = list(edit.children)
        case RenameCategory():
            graph.sink_set(edit.category)
            require_new("category", edit.to, children)
            renamed = {edit.category: edit.to}
            children = {
                renamed.get(name, name): [renamed.get(child, child) for child in below]
                for name, below in children.items()
            }
            order = [renamed.get(sink, sink) for sink in order]
        case RemoveCategory():
            graph.sink_set(edit.category)
            taken = children.pop(edit.category)
            for name, below in children.items():
                if edit.category in below:
                    children[name] = [c for c in below if c != edit.category] + taken
        case OrderSinks():
            order = list(edit.order)
        case FlattenGraph():
            made = graph.flatten()
        case DeepenGraph():
            made = graph.deepen()
        case PruneGraph():
            _require_known(variable, edit.keep)
            made = graph.prune({*used_categories(environment, variable), *edit.keep})
    if made == graph:
        asked = f"The partition graph of {quoted([variable.name])} was to be changed."
        raise InputError(Reason.NOTHING_GIVEN, asked, "It is so already.", "Leave it.")
    if made is None:
        made = _graph(variable, children, order, reorder=isinstance(edit, OrderSinks))
    names = (renamed.get(name, name) for name in variable.sensitive)
    after = replace(
        variable, graph=made, sensitive=frozenset(name for name in names if name in made)
    )
    return with_variable(environment, after, renamed=renamed, unrestricted=unrestricted)


def used_categories(environment: Environment, variable: Variable) -> set[str]:
    """Return the categories that forms, universes, rules, marks or scenarios name."""
    name = variable.name
    used = set(variable.sensitive)
    labels = {label for item, _ in environment.instances(name) for label in item.categories}
    for form in environment.forms.values():
        universes = [form.universe, *(question.universe for question in form.questions)]
        labels.update(
            label for one in universes if one is not None for label in one.within.get(name, ())
        )
    for rule in environment.rules.impossible:
        labels.update(rule.combination.get(name, ()))
    for scenario in environment.scenarios.values():
        for key in scenario.keys:
            if key.variable == name:
                labels.update(category for block in key.blocks for category in block)
    named = (variable.resolve(label) for label in labels)
    return used.union(category for category in named if category is not None)


def _graph(
    variable: Variable, children: Mapping[str, Sequence[str]], order: list[str], *, reorder: bool
) -> PartitionGraph:
    """Return the graph with its sinks in order; categories that become sinks find their places."""
    before = variable.graph
    if reorder:
        return PartitionGraph(children, order=order)
    if variable.scale is Scale.NOMINAL and list(before.sinks) == sorted(before.sinks):
        return PartitionGraph(children)
    sinks = {name for name, below in children.items() if not below}
    sinks |= {child for below in children.values() for child in below} - children.keys()
    places = {sink: (place, 0) for place, sink in enumerate(order)}
    for name in sorted(sinks - places.keys()):
        first = bits(before.sink_set(name))[0] if name in before else len(order)
        places[name] = (first, 1)
    return PartitionGraph(children, order=sorted(sinks, key=places.__getitem__))


def _require_categories(variable: Variable, edit: CategoryEdit) -> None:
    if variable.scale is not Scale.INTERVAL:
        return
    do = "Add bands or remove bands."
    if isinstance(edit, RenameCategory):
        do = "A form may write a band in words of its own, such as 65 and over."
    elif isinstance(edit, OrderSinks):
        do = "Leave them in the order of their numbers."
    asked = f"The categories of {quoted([variable.name])} were to be changed."
    found = (
        f"The categories of {quoted([variable.name])} are bands, named and ordered by their"
        " numbers."
    )
    raise InputError(Reason.BAD_OPTION, asked, found, do)


def _require_known(variable: Variable, names: Iterable[str]) -> None:
    given = list(names)
    unknown = [name for name in dict.fromkeys(given) if name not in variable.graph]
    problems = [
        Problem(
            Reason.UNKNOWN_NAME,
            f"category {quoted([name])}",
            f"is not a category of {quoted([variable.name])}.",
            did_you_mean(name, variable.graph.categories)
            + " To make new finest categories, split a sink.",
        )
        for name in unknown
    ]
    asked = f"The categories {quoted(given)} were to be children."
    refuse(problems, asked, f"{count_of(len(unknown), 'of them is', 'of them are')} not known.")


def _require_other_parts(graph: PartitionGraph, edit: SetChildren) -> None:
    known = graph.children(edit.category)
    if set(known) == set(edit.children):
        asked = f"The category {quoted([edit.category])} was to get other parts."
        found = f"It has these already: {quoted(known)}." if known else "No parts were given."
        do = "Name the categories that it is to be made up of."
        raise InputError(Reason.NOTHING_GIVEN, asked, found, do)


def _require_sink(variable: Variable, category: str) -> None:
    below = variable.graph.children(category)
    if below:
        asked = f"The category {quoted([category])} was to be split."
        found = f"It is not a sink: its parts are {quoted(below)}."
        do = "Split one of its sinks, or add a category as a union of some of them."
        raise InputError(Reason.UNSAFE_EDIT, asked, found, do)


_Bands = Annotated[
    Names,
    Field(min_length=1),
    Option(
        "The bands as printed: 16-24, 25 to 34, 65+, under 16.", flags="BAND...", is_argument=True
    ),
]


class AddBands(Record):
    """Add bands to a variable; those that it has already are passed over."""

    edit: Literal["add-bands"] = "add-bands"
    variable: OfVariable
    bands: _Bands


class RemoveBands(Record):
    """Remove bands from a variable, also from the selections of all forms."""

    edit: Literal["remove-bands"] = "remove-bands"
    variable: OfVariable
    bands: _Bands


BandEdit = AddBands | RemoveBands


def apply_band_edit(
    environment: Environment, edit: BandEdit, *, unrestricted: bool = False
) -> Environment:
    """Return the environment after an edit of the bands of a variable."""
    before = environment.variable(edit.variable)
    if not before.bands:
        asked = f"The bands of {quoted([before.name])} were to be changed."
        found = f"{quoted([before.name])} is on the {before.scale.value} scale and has no bands."
        raise InputError(Reason.BAD_OPTION, asked, found, "Add, split or remove categories.")
    if isinstance(edit, AddBands):
        after = _of_bands(before, [*before.bands, *edit.bands])
        if after == before:
            asked = f"Bands were to be added to {quoted([before.name])}."
            raise InputError(Reason.DUPLICATE, asked, f"{quoted([before.name])} has them already.")
    else:
        gone = _named(before, edit)
        after = _of_bands(before, [band for band in before.bands if band not in gone])
        _require_gone(after, gone)
    return with_variable(environment, after, unrestricted=unrestricted)


def _of_bands(variable: Variable, bands: list[str]) -> Variable:
    return Variable.of_bands(
        variable.name, bands, style=variable.style, space=variable.space,
        description=variable.description, sensitive=variable.sensitive,
    )  # fmt: skip


def _named(variable: Variable, edit: RemoveBands) -> set[str]:
    """Return the categories that some bands are, however they are written."""
    problems: list[Problem] = []
    gone: set[str] = set()
    for band in edit.bands:
        category = variable.resolve(band)
        if category is None:
            found = f"is not a band of {quoted([variable.name])}."
            near = did_you_mean(band, variable.bands)
            problems.append(Problem(Reason.UNKNOWN_NAME, f"band {quoted([band])}", found, near))
        else:
            gone.add(category)
    asked = f"Bands were to be removed from {quoted([variable.name])}."
    refuse(problems, asked, f"{count_of(len(problems), 'of them is', 'of them are')} not there.")
    return gone


def _require_gone(after: Variable, gone: set[str]) -> None:
    problems = [
        Problem(
            Reason.NOT_REMOVABLE,
            f"band {quoted([band])}",
            "is the whole range."
            if after.bands[band] == after.space
            else "is what other bands leave between them.",
            "Leave it." if after.bands[band] == after.space else "Remove those as well.",
        )
        for band in sorted(gone)
        if band in after.bands
    ]
    asked = f"Bands were to be removed from {quoted([after.name])}."
    refuse(problems, asked, f"{count_of(len(problems), 'of them', 'of them')} would come back.")
