"""Keeping an environment over years: stores made, brought in and out, edited, backed up, merged.

Most edits are a record and nothing else; here are those that are more: a form like another, a variable
from a file or from words.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from gamekeeper.errors import InputError, Problem, Reason, StoreError
from gamekeeper.files import ENVIRONMENT
from gamekeeper.mapping.edits import (
    AddForm,
    AddVariable,
    AskQuestion,
    AskVariable,
    Consequences,
    Edit,
    KeepHistory,
    KeptRevision,
    ReplaceVariable,
    SetUniverse,
    apply_edits,
    describe_edit,
    edit_notes,
    edit_of,
    two_environments,
    weigh_edits,
)
from gamekeeper.mapping.edits.consequences import name_notes
from gamekeeper.mapping.forms.form import NO_ANSWERS, Question, Universe
from gamekeeper.mapping.variables.definitions import DEFINITION, sets_of
from gamekeeper.results import EVERYTHING, Cell, Listing, Progress, make_listing
from gamekeeper.store import folder
from gamekeeper.store.place import ServerPlace, StorePlace
from gamekeeper.wording import count_of, folded, quoted, shown_path
from gamekeeper.workbench.answers import require_outputs
from gamekeeper.workbench.environment.browsing import kept_revisions, kept_time, revision_text
from gamekeeper.workbench.environment.opening import opened, opened_store, person
from gamekeeper.workbench.requests import editing
from gamekeeper.workbench.requests.environment import (
    BackupRequest,
    BackupsRequest,
    CopyRequest,
    DiffRequest,
    ExportRequest,
    ImportRequest,
    MergeRequest,
    NewStoreRequest,
    RestoreRequest,
    TakeBackRequest,
)

if TYPE_CHECKING:
    from gamekeeper.store.database.environment_store import EnvironmentStore
    from gamekeeper.store.database.revisions import Revision


@dataclass(frozen=True, slots=True)
class Edited:
    """What was acknowledged: the revision, in words, and what to be careful about."""

    revision: int
    words: tuple[str, ...]
    notes: tuple[str, ...]


def create_store(asked: NewStoreRequest) -> None:
    """Make a new, empty store."""
    from gamekeeper.store.database.environment_store import EnvironmentStore

    EnvironmentStore.create(
        asked.place.store,
        name=asked.name,
        description=asked.description,
        who=person(asked.person.who),
    ).close()


def import_folder(asked: ImportRequest, *, progress: Progress | None = None) -> Edited:
    """Put the environment of a folder into a new store, or in place of what a store has."""
    from gamekeeper.store.database.environment_store import EnvironmentStore

    environment = folder.read_environment(asked.folder, progress=progress)
    who = person(asked.person.who)
    note = f"imported from the folder {asked.folder.absolute().name}"
    if asked.replace:
        with opened_store(asked.place.store) as store:
            made = acknowledged(store, store.replace(environment, who=who, note=note))
    else:
        with EnvironmentStore.create(asked.place.store, environment, who=who, note=note) as store:
            (revision,) = store.history(most=1)
            made = acknowledged(store, revision)
    return replace(made, notes=(*made.notes, *name_notes(environment)))


def export_folder(asked: ExportRequest) -> None:
    """Write the environment of a store to a folder, as it is or as it was."""
    require_outputs(asked)
    if (asked.folder / ENVIRONMENT).exists() and not asked.replace:
        raise StoreError(
            Reason.NOT_WRITABLE,
            f"An environment was to be written to {shown_path(asked.folder)}.",
            "There is an environment already, which may be another.",
            "Name another folder, or have it replaced (--replace).",
        )
    with opened(asked.place.store, as_of=asked.as_of) as place:
        folder.write_environment(place.environment, asked.folder)


def edit_store(
    path: StorePlace,
    edits: Sequence[Edit],
    signature: editing.Signature,
    *,
    unrestricted: bool = False,
) -> Edited:
    """Make edits together: all of them or, with one clear error, none."""
    with opened_store(path) as store:
        made = store.apply(
            edits,
            who=person(signature.person.who),
            note=signature.note,
            base=signature.base,
            unrestricted=unrestricted,
            key=signature.key,
        )
        return acknowledged(store, made)


def weigh(path: StorePlace, edits: Sequence[Edit]) -> Consequences:
    """Say what unrestricted edits would break; nothing is changed."""
    with opened(path) as place:
        return weigh_edits(place.environment, edits)


@dataclass(frozen=True, slots=True)
class Preview:
    """What edits would do, in words: what they are, what to look at again, what else they affect."""

    words: tuple[str, ...]
    notes: tuple[str, ...]
    consequences: Consequences


def preview(path: StorePlace, edits: Sequence[Edit], *, unrestricted: bool = False) -> Preview:
    """Say what edits would do; nothing is changed, and what would be refused is refused here."""
    with opened(path) as place:
        before = place.environment
        after = apply_edits(before, edits, unrestricted=unrestricted)
        return Preview(
            tuple(describe_edit(edit) for edit in edits),
            edit_notes(before, after, edits),
            weigh_edits(before, edits),
        )


def undo(asked: TakeBackRequest) -> Edited:
    """Take back the newest edit that stands."""
    with opened_store(asked.place.store) as store:
        made = store.undo(who=person(asked.person.who), anyone=asked.anyone)
        return acknowledged(store, made)


def redo(asked: TakeBackRequest) -> Edited:
    """Make the edit again that was taken back last."""
    with opened_store(asked.place.store) as store:
        made = store.redo(who=person(asked.person.who), anyone=asked.anyone)
        return acknowledged(store, made)


def acknowledged(store: EnvironmentStore, revision: Revision) -> Edited:
    """Return what a revision did, for the person who made it, after renewing the backup."""
    notes = revision.notes
    if not store.backs_up_later and (fault := store.renew_backup()) is not None:
        notes += (f"This is saved, but the backup could not be renewed [{fault.reason.value}].",)
    return Edited(revision.number, (revision_text(revision),), notes)


def new_form(asked: editing.AddFormRequest) -> AddForm:
    """Return the edit that adds a form: what is said here counts most, then a file, then a copy."""
    name = asked.form or ""
    variables: dict[str, tuple[str, ...]] = {}
    metadata: dict[str, Any] = {}
    questions: tuple[Question, ...] = ()
    universe: Universe | None = None
    if asked.file is not None:
        read = folder.read_form(asked.file)
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


def asked_variable(asked: editing.AskVariableRequest) -> AskVariable:
    """Return the edit that puts a variable on a form."""
    if bool(asked.labels) == asked.any_detail:
        raise InputError(
            Reason.BAD_OPTION,
            f"The variable {quoted([asked.variable])} was to be put on {quoted([asked.form])}.",
            "Labels and --any-detail were given." if asked.labels else "No labels were given.",
            "Give the labels of the categories, or --any-detail.",
        )
    return AskVariable(form=asked.form, variable=asked.variable, labels=asked.labels)


def asked_question(asked: editing.AskQuestionRequest) -> AskQuestion:
    """Return the edit that puts a question on a form."""
    if asked.file is not None:
        question = folder.read_question(asked.file)
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


def _boxes(asked: editing.AskQuestionRequest) -> list[dict[str, str | None]]:
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


def asked_universe(asked: editing.UniverseRequest) -> SetUniverse:
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


def new_variable(asked: editing.AddVariableRequest) -> AddVariable:
    """Return the edit that adds a variable."""
    if asked.file is None:
        return AddVariable(definition=_definition(asked))
    definition = folder.read_definition(asked.file)
    if asked.variable is not None:
        definition = definition.model_copy(update={"name": asked.variable})
    return AddVariable(definition=definition)


def replaced_variable(asked: editing.ReplaceVariableRequest) -> ReplaceVariable:
    """Return the edit that defines a variable anew."""
    return ReplaceVariable(variable=asked.variable, definition=folder.read_definition(asked.file))


def _definition(asked: editing.AddVariableRequest) -> Any:
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


def back_up(asked: BackupRequest, *, progress: Progress | None = None) -> Path:
    """Make a backup of a store beside it that is kept under a name and the time; return where."""
    _beside(asked.place.store, "A backup of the store {} was to be made.")
    with opened_store(asked.place.store) as store:
        return store.backup(asked.name, progress=progress)


def restore(asked: RestoreRequest, *, progress: Progress | None = None) -> tuple[str, Path | None]:
    """Put a backup of a store in its place; return which it was, and where the old file went."""
    from gamekeeper.store.database import restoration

    path = _beside(asked.place.store, "A backup of the store {} was to be put in its place.")
    backup, aside = restoration.restore_store(path, asked.backup, progress=progress)
    return f"{backup.name} of {_time(backup.at)}, revision {backup.revision}", aside


def list_backups(asked: BackupsRequest, *, for_people: bool = False) -> Listing:
    """List the backups of a store, the newest first."""
    from gamekeeper.store.database import restoration

    path = _beside(asked.place.store, "The backups of the store {} were asked for.")
    rows: list[tuple[Cell, ...]] = [
        (item.name, _time(item.at), item.revision, item.full_name)
        for item in restoration.list_backups(path)
    ]
    columns = ("backup", "made", "revision", "full name")
    return make_listing("backups", columns, rows, asked.lines.chosen(for_people=for_people))


def copy(asked: CopyRequest, *, progress: Progress | None = None) -> int:
    """Copy a store as a whole to a new one, and return its newest revision."""
    from gamekeeper.store.database import restoration

    return restoration.copy_store(asked.place.store, asked.target, progress=progress)


def _beside(place: StorePlace, asked: str) -> Path:
    """Return the path of a store that has backups beside it; refuse one on a server."""
    if isinstance(place, ServerPlace):
        from gamekeeper.store.database.server import refuse_backups

        refuse_backups(place, asked)
    return place


def _time(at: datetime) -> str:
    return f"{at:%Y-%m-%d %H:%M:%S}"


def _history(name: str, store: EnvironmentStore | None) -> list[Edit]:
    """Return an edit that keeps the history of another store, and what that had kept of others."""
    if store is None:
        return []
    revisions = store.history()
    own = [
        KeptRevision(
            of=name,
            revision=item.number,
            at=kept_time(item),
            who=item.who,
            words=item.words,
            note=item.note,
        )
        for item in revisions
    ]
    return [KeepHistory(of=name, revisions=(*own, *kept_revisions(revisions)))]


@dataclass(frozen=True, slots=True)
class Merged:
    """What a merge did, or would do: the revision, their codes here, and what to know."""

    edited: Edited | None
    n_edits: int
    codes: Listing
    notes: tuple[str, ...]


def diff(asked: DiffRequest) -> two_environments.EnvironmentDifference:
    """Tell what differs between two environments, or two dates of one."""
    if asked.other is None and asked.since == asked.until:
        raise InputError(
            Reason.NOTHING_GIVEN,
            f"What differs in {shown_path(asked.environment)} was asked for.",
            "Only one state of one environment was named.",
            "Name another environment, or two dates with --since and --until.",
        )
    with (
        opened(asked.environment, as_of=asked.since) as first,
        opened(asked.other or asked.environment, as_of=asked.until) as second,
    ):
        return two_environments.compare_environments(first.environment, second.environment)


def merge(asked: MergeRequest) -> Merged:
    """Bring another environment into a store, as one revision; nothing while conflicts are open."""
    path = asked.place.store
    with opened(asked.other) as other, opened_store(path) as store:
        theirs, ours = other.environment, store.environment()
        decided = {
            (kind, name): what
            for text, what in asked.decisions.items()
            for kind, _, name in (text.partition(":"),)
        }
        plan = two_environments.plan_merge(ours, theirs, decided)
        if plan.conflicts:
            raise InputError(
                Reason.DUPLICATE,
                f"{shown_path(asked.other)} was to be merged into {shown_path(path)}.",
                f"{count_of(len(plan.conflicts), 'thing is', 'things are')} not decided. Nothing was"
                " changed.",
                "Decide on each: --decide 'KIND:NAME=ours', '=theirs', or '=ANOTHER NAME'.",
                problems=[
                    Problem(Reason.DUPLICATE, f"{item.kind} {quoted([item.name])}", f"{item.what}.")
                    for item in plan.conflicts
                ],
            )
        after = apply_edits(ours, plan.edits)
        edited = None
        if plan.edits and not asked.dry_run:
            was = "" if other.store is None else f", revision {other.store.revision}"
            made = store.apply(
                [*plan.edits, *_history(theirs.name, other.store)],
                who=person(asked.person.who),
                note=f"merged from {quoted([theirs.name])}{was}",
            )
            edited = acknowledged(store, made)
            after = store.environment()
        rows: list[tuple[Cell, ...]] = list(
            two_environments.map_codes(theirs, after, plan.variables)
        )
    codes = make_listing("codes", ("variable", "their code", "our code"), rows, EVERYTHING)
    return Merged(edited, len(plan.edits), codes, tuple(plan.notes))
