"""Edits drawn at random, often allowed and often not."""

from __future__ import annotations

from random import Random

from gamekeeper.algorithms.categories.partition_graph import PartitionGraph
from gamekeeper.errors import InputError
from gamekeeper.mapping.edits import (
    AddBands,
    AddCategory,
    AddForm,
    AddGroup,
    AddVariable,
    AskQuestion,
    AskVariable,
    DeclareImpossible,
    DeclareMetadata,
    DeepenGraph,
    DescribeEnvironment,
    DescribeVariable,
    DropQuestion,
    DropVariable,
    Edit,
    FlattenGraph,
    MarkSensitive,
    PruneGraph,
    RemoveBands,
    RemoveCategory,
    RemoveForm,
    RemoveGroup,
    RemoveVariable,
    RenameCategory,
    RenameForm,
    RenameGroup,
    RenameVariable,
    ReplaceGroup,
    SetChildren,
    SetMetadata,
    SetUniverse,
    SplitCategory,
    UndeclareMetadata,
    WidenVariable,
    apply_edits,
)
from gamekeeper.mapping.environment.environment import Environment
from gamekeeper.mapping.forms.form import Answer, Question, Universe
from gamekeeper.mapping.variables.codes import Variable
from gamekeeper.mapping.variables.definitions import definition_of

NAMES = ["Age", "AGE", "Alpha", "Beta", "Gämma", "gamma", "Delta"]


def random_edit(rng: Random, environment: Environment) -> Edit:
    """Return an edit of what there is; few names, so that they come again."""
    new = rng.choice(NAMES)
    form = rng.choice([*environment.forms, "nobody"])
    group = rng.choice([*environment.groups, "nobody"])
    choices: list[Edit] = [
        AddForm(name=new, metadata={"year": rng.choice([1, 1.0, True, "1"])}),
        RemoveForm(form=form),
        RenameForm(form=form, to=new),
        SetMetadata(form=form, values={"year": rng.choice([1, 1.0, True, None])}),
        AddGroup(name=new, forms=[form]),
        AddGroup(name=new, union=[group]),
        ReplaceGroup(group=group, where="sector = bank or year = 1"),
        RenameGroup(group=group, to=new),
        RemoveGroup(group=group),
        DescribeEnvironment(description=new),
        AddVariable(definition=definition_of(_variable(new, rng))),
        DeclareMetadata(key=new, required=rng.random() < 0.1, values=rng.choice([(), (1, True)])),
        UndeclareMetadata(key=new),
    ]
    if environment.variables:
        choices += 3 * _of_variable(rng, environment, form, new)
    return rng.choice(choices)


def _variable(name: str, rng: Random) -> Variable:
    sinks = [f"s{number}" for number in range(rng.randint(2, 4))]
    return Variable(name, PartitionGraph({"all": sinks}))


def _of_variable(rng: Random, environment: Environment, form: str, new: str) -> list[Edit]:
    variable = rng.choice(list(environment.variables.values()))
    name, graph = variable.name, variable.graph
    category, sink = rng.choice(graph.categories), rng.choice(graph.sinks)
    some = rng.sample(graph.categories, rng.randint(0, min(3, len(graph.categories))))
    low = rng.randint(0, 30)
    other = rng.choice([v for v in environment.variables.values() if v.name != name] or [variable])
    pair = {name: [sink], other.name: [rng.choice(other.graph.categories)]}
    return [
        *_in_words(rng, form, variable, some),
        MarkSensitive(variable=name, categories=[category]),
        WidenVariable(variable=name, category=new),
        WidenVariable(variable=name, category=new, inside=sink, rest=f"{sink} proper"),
        WidenVariable(variable=name, category=new, inside=category),
        FlattenGraph(variable=name),
        DeepenGraph(variable=name),
        PruneGraph(variable=name),
        *([DeclareImpossible(combination=pair, why=new)] if len(pair) > 1 else []),
        AskVariable(form=form, variable=name, labels=graph.sinks),
        AskVariable(form=form, variable=name, labels=some),
        DropVariable(form=form, variable=name),
        RemoveVariable(variable=name),
        RenameVariable(variable=name, to=new),
        DescribeVariable(variable=name, description=new),
        SplitCategory(variable=name, category=sink, into=[f"{sink} a", f"{sink} b"]),
        AddCategory(variable=name, category=new, children=some),
        SetChildren(variable=name, category=category, children=some),
        RenameCategory(variable=name, category=category, to=new),
        RemoveCategory(variable=name, category=category),
        AddBands(variable=name, bands=[f"{low}-{low + rng.randint(1, 9)}"]),
        RemoveBands(variable=name, bands=[category]),
    ]


def _in_words(rng: Random, form: str, variable: Variable, some: list[str]) -> list[Edit]:
    """Return edits of what a form says in its own words."""
    question = f"Q{rng.randint(1, 3)}"
    name, sinks = variable.name, variable.graph.sinks
    printed = [Answer(text=f"Printed {sink}", means=sink) for sink in sinks]
    refused = Answer(text="Prefer not to say", no_answer="refused")
    boxes = [Answer(text=category, variable=name) for category in some]
    universe = Universe(wording="Some", within={name: sinks[:1]})
    return [
        AskQuestion(
            form=form,
            question=Question(
                name=question,
                variable=name,
                answers=[*printed, refused],
                universe=rng.choice([None, universe]),
                metadata={"page": rng.choice([1, 1.0, True])},
            ),
        ),
        AskQuestion(form=form, question=Question(name=question, answers=boxes, multiple=True)),
        AskQuestion(form=form, question=Question(name=question, text="Why?")),
        DropQuestion(form=form, question=question),
        SetUniverse(form=form, universe=rng.choice([None, universe])),
        SetMetadata(form=form, question=question, values={"page": rng.choice([1, True])}),
    ]


def allowed_edits(
    rng: Random, environment: Environment, *, unrestricted: bool
) -> list[Edit] | None:
    """Return one to three edits that are allowed one after the other, if some are found soon."""
    edits: list[Edit] = []
    for _ in range(rng.choice([1, 1, 1, 2, 3])):
        for _ in range(8):
            edit = random_edit(rng, environment)
            try:
                environment = apply_edits(environment, [edit], unrestricted=unrestricted)
            except InputError:
                continue
            edits.append(edit)
            break
    return edits or None
