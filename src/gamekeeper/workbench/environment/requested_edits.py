"""Edits that are more than a record: a form like another, a variable from a file or from words."""

from __future__ import annotations

from typing import Any

from gamekeeper.errors import InputError, Reason
from gamekeeper.mapping.edits import (
    AddForm,
    AddVariable,
    AskQuestion,
    AskVariable,
    ReplaceVariable,
    SetUniverse,
    edit_of,
)
from gamekeeper.mapping.forms.questions import NO_ANSWERS, Question, Universe
from gamekeeper.mapping.variables.definitions import DEFINITION
from gamekeeper.mapping.variables.sets import sets_of
from gamekeeper.store.record_files import read_definition, read_form, read_question
from gamekeeper.wording import folded, quoted
from gamekeeper.workbench.environment.opening import opened
from gamekeeper.workbench.requests.environment.editing import (
    AddFormRequest,
    AddVariableRequest,
    AskQuestionRequest,
    AskVariableRequest,
    ReplaceVariableRequest,
    UniverseRequest,
)


def new_form(asked: AddFormRequest) -> AddForm:
    """Return the edit that adds a form: what is said here counts most, then a file, then a copy."""
    name = asked.form or ""
    variables: dict[str, tuple[str, ...]] = {}
    metadata: dict[str, Any] = {}
    questions: tuple[Question, ...] = ()
    universe: Universe | None = None
    if asked.file is not None:
        read = read_form(asked.file)
        name = asked.form or read.name
        variables = {key: tuple(labels) for key, labels in read.variables.items()}
        metadata = dict(read.metadata)
        questions, universe = tuple(read.questions), read.universe
    if asked.like is not None:
        with opened(asked.place.store) as place:
            known = place.environment.form(asked.like)
        # What is said of a variable here counts more than the questions of the other form.
        kept = [q for q in known.questions if not {*q.variables} & {*variables, *asked.ask}]
        questions = questions or tuple(kept)
        universe = universe or known.universe
        fed = {name for question in questions for name in question.variables}
        own = {name: labels for name, labels in known.instances.items() if name not in fed}
        variables = {**own, **variables}
        metadata = {**known.metadata, **metadata}
    _require_name(name, "A form was to be added.")
    given = {
        "name": name,
        "metadata": {**metadata, **asked.metadata},
        "variables": {**variables, **asked.ask},
        "questions": questions,
        "universe": universe,
    }
    return edit_of(AddForm, given)


def _require_name(name: str | None, wanted: str) -> None:
    if not name:
        do = "Give a name, or a file with --file."
        raise InputError(Reason.NOTHING_GIVEN, wanted, "It has no name.", do)


def asked_variable(asked: AskVariableRequest) -> AskVariable:
    """Return the edit that puts a variable on a form."""
    if bool(asked.labels) == asked.any_detail:
        raise InputError(
            Reason.BAD_OPTION,
            f"The variable {quoted([asked.variable])} was to be put on {quoted([asked.form])}.",
            "Labels and --any-detail were given." if asked.labels else "No labels were given.",
            "Give the labels of the categories, or --any-detail.",
        )
    return AskVariable(form=asked.form, variable=asked.variable, labels=asked.labels)


def asked_question(asked: AskQuestionRequest) -> AskQuestion:
    """Return the edit that puts a question on a form."""
    if asked.file is not None:
        question = read_question(asked.file)
        if asked.question is not None:
            question = question.model_copy(update={"name": asked.question})
        return AskQuestion(form=asked.form, question=question)
    wanted = f"A question of the form {quoted([asked.form])} was asked for."
    _require_name(asked.question, wanted)
    unknown = [
        why for why in asked.no_answers.values() if why is not None and why not in NO_ANSWERS
    ]
    if unknown:
        found = f"{quoted(unknown)} is no reason why an answer is none."
        raise InputError(Reason.BAD_OPTION, wanted, found, f"Give one of {quoted(NO_ANSWERS)}.")
    answers = [{"text": text, "means": means} for text, means in asked.answers.items()]
    answers += _boxes(asked)
    answers += [
        {"text": text, "no_answer": why or "refused"} for text, why in asked.no_answers.items()
    ]
    universe = {"wording": asked.asked_of, "within": asked.within}
    given = {
        "name": asked.question,
        "text": asked.text,
        "variable": asked.variable,
        "answers": answers,
        "multiple": asked.multiple or bool(asked.boxes),
        "outside": asked.outside,
        "universe": universe if asked.asked_of or asked.within else None,
        "metadata": dict(asked.metadata),
    }
    return edit_of(AskQuestion, {"form": asked.form, "question": given})


def _boxes(asked: AskQuestionRequest) -> list[dict[str, str | None]]:
    """Return boxes to tick, each with the category of those who tick it."""
    if not asked.boxes:
        return []
    boxes: list[dict[str, str | None]] = []
    with opened(asked.place.store) as place:
        for text, name in asked.boxes.items():
            variable = place.environment.variable(name or text)
            yes = variable.resolve(text)
            if yes is None:
                named = (c for c in variable.graph.categories if folded(c) in ("yes", folded(text)))
                yes = next(named, None)
            if yes is None:
                raise InputError(
                    Reason.UNKNOWN_NAME,
                    f"The box {quoted([text])} was to tick {quoted([variable.name])}.",
                    "None of its categories is called yes, or like the answer.",
                    "Rename the category, or give the question in a file with --file.",
                )
            boxes.append({"text": text, "variable": variable.name, "means": yes})
    return boxes


def asked_universe(asked: UniverseRequest) -> SetUniverse:
    """Return the edit that says who a form is for."""
    told = bool(asked.wording or asked.within)
    if told == asked.anybody:
        raise InputError(
            Reason.BAD_OPTION,
            f"Who the form {quoted([asked.form])} is for was to be said.",
            "Somebody and --anybody were given." if told else "Nobody was named.",
            "Say who in words or with --within, or take it back with --anybody.",
        )
    universe = {"wording": asked.wording, "within": asked.within} if told else None
    return edit_of(SetUniverse, {"form": asked.form, "universe": universe})


def new_variable(asked: AddVariableRequest) -> AddVariable:
    """Return the edit that adds a variable."""
    if asked.file is None:
        return AddVariable(definition=_definition(asked))
    definition = read_definition(asked.file)
    if asked.variable is not None:
        definition = definition.model_copy(update={"name": asked.variable})
    return AddVariable(definition=definition)


def replaced_variable(asked: ReplaceVariableRequest) -> ReplaceVariable:
    """Return the edit that defines a variable anew."""
    return ReplaceVariable(variable=asked.variable, definition=read_definition(asked.file))


def _definition(asked: AddVariableRequest) -> Any:
    wanted = "A variable was to be added."
    _require_name(asked.variable, wanted)
    ways = [way for way in (asked.categories, asked.bands, asked.any_of) if way]
    if len(ways) != 1:
        found = "It is described in several ways." if ways else "It has no categories."
        do = "Give categories with -c, bands with -b, boxes with --any-of, or a file with --file."
        raise InputError(Reason.BAD_OPTION, wanted, found, do)
    tree: dict[str, Any] = {"name": asked.variable, "description": asked.description}
    if asked.bands:
        return DEFINITION.validate_python({**tree, "scale": "interval", "bands": list(asked.bands)})
    if asked.any_of:
        return DEFINITION.validate_python({**tree, **sets_of(asked.any_of)})
    children: dict[str, list[str]] = {}
    for text in asked.categories:
        category, _, parts = text.partition(":")
        category = category.strip()
        if category in children:
            found = f"The category {quoted([category])} is given twice."
            raise InputError(Reason.DUPLICATE, wanted, found, "Leave one out.")
        children[category] = [part.strip() for part in parts.split(";") if part.strip()]
    for parts in list(children.values()):
        for part in parts:
            children.setdefault(part, [])
    tree["categories"] = children
    tree["scale"] = "ordinal" if asked.ordinal else "nominal"
    tree["order"] = [category for category, parts in children.items() if not parts]
    return DEFINITION.validate_python(tree)
