"""From a pile of questionnaires to forms, and from classifications to variables.

Nothing enters without being asked for: what is read becomes decisions, decisions become edits, and
edits are made together in one revision, or not at all.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from gamekeeper.errors import InputError, Reason
from gamekeeper.files import write_file
from gamekeeper.importing import proposing
from gamekeeper.importing.classifications import read_classifications
from gamekeeper.mapping.edits import EDIT, AddVariable, Edit
from gamekeeper.mapping.environment.environment import Environment
from gamekeeper.results import EVERYTHING, Listing, make_listing
from gamekeeper.store.folder import read_decisions
from gamekeeper.store.place import StorePlace
from gamekeeper.wording import count_of, did_you_mean, quoted
from gamekeeper.workbench.answers import require_outputs
from gamekeeper.workbench.environment.editing import Edited, edit_store
from gamekeeper.workbench.environment.opening import opened
from gamekeeper.workbench.requests.editing import ImportFormsRequest, ImportVariableRequest

Asking = Callable[[proposing.FormDecisions, proposing.Decision, Environment], proposing.Decision]
"""Asks a person about a question, and returns what was decided; the environment has the names."""


@dataclass(frozen=True, slots=True)
class FormsImported:
    """What was read and decided, which edits follow, and the revision if they were made."""

    decisions: proposing.DecisionsFile
    edits: tuple[Edit, ...]
    edited: Edited | None = None

    def listing(self) -> Listing:
        """Return one line per question: what is taken, and what is proposed."""
        rows = [
            (
                form.form,
                decision.question,
                "yes" if decision.take else "no",
                decision.variable or "",
                decision.status,
                decision.score,
                decision.reason,
            )
            for form in self.decisions.forms
            for decision in sorted(form.questions, key=lambda d: (not d.take, -d.score))
        ]
        columns = ("form", "question", "take", "variable", "status", "score", "reason")
        return make_listing("questions", columns, rows, EVERYTHING)

    def sentences(self) -> list[str]:
        """Say for every form what was found, the verdict first."""
        said: list[str] = []
        for form in self.decisions.forms:
            counts = {
                status: sum(d.status == status for d in form.questions)
                for status in ("sure", "answers to place", "unsure")
            }
            said.append(
                f"{form.form}: {count_of(len(form.questions), 'question')};"
                f" {counts['sure']} sure, {counts['answers to place']} with answers to place,"
                f" {counts['unsure']} unsure; {len(form.taken)}"
                f" {'entered' if self.edited else 'would be entered'}."
            )
            said += [f"{form.form}: {note}." for note in form.notes]
        if self.edited is None:
            return [*said, "Nothing was entered."]
        return [
            *said,
            *(f"Revision {self.edited.revision}: {words}" for words in self.edited.words),
        ]


def import_forms(asked: ImportFormsRequest, *, ask: Asking | None = None) -> FormsImported:
    """Read instruments, propose, and enter what is asked for; nothing else is changed."""
    require_outputs(asked)
    _require_something(asked)
    with opened(asked.place.store) as place:
        environment = place.environment
    if asked.decisions is not None:
        decided = read_decisions(asked.decisions)
    else:
        decided = proposing.propose_forms(
            environment,
            asked.files,
            name=asked.name,
            file_format=asked.file_format,
            most_megabytes=asked.most_megabytes,
        )
        decided = _updated(decided, lambda form: {"metadata": {**form.metadata, **asked.metadata}})
        if (asked.new or asked.ask) and not asked.take_sure:
            # What is sure enters only where that is asked for.
            decided = _changed(decided, lambda _, one: one.model_copy(update={"take": False}))
        decided = _with_new(decided, {q: str(v) for q, v in asked.new.items()})
        if ask is not None:
            decided = _asked(decided, ask, environment)
    enters = asked.take_sure or asked.ask or asked.decisions is not None or asked.new
    if not enters and asked.edits is None:
        _save(asked, decided)
        return FormsImported(decided, ())
    edits = proposing.edits_for(environment, decided)
    if asked.edits is not None:
        trees = [EDIT.dump_python(edit, mode="json", by_alias=True) for edit in edits]
        # Answers of a file of records are values that occur there.
        write_file(asked.edits, _as_json(trees), private=True)
        _save(asked, decided)
        return FormsImported(decided, tuple(edits))
    if not edits:
        raise InputError(
            Reason.NOTHING_GIVEN,
            f"{count_of(len(decided.forms), 'form was', 'forms were')} to be entered.",
            "No question is taken.",
            "Decide with --ask, --new or a file of decisions (--save, then --decisions).",
        )
    edited = edit_store(asked.place.store, edits, asked.signature)
    left = _updated(
        decided, lambda form: {"questions": tuple(d for d in form.questions if not d.take)}
    )
    _save(asked, left)
    return FormsImported(decided, tuple(edits), edited)


def decided_edits(store: StorePlace, decided: proposing.DecisionsFile) -> list[Edit]:
    """Return the edits that enter what was decided; nothing is changed."""
    with opened(store) as place:
        return proposing.edits_for(place.environment, decided)


def import_variables(asked: ImportVariableRequest) -> list[Edit]:
    """Return the edits that add the classifications of a file as variables."""
    found = read_classifications(
        asked.file, format_name=asked.file_format, most_megabytes=asked.most_megabytes
    )
    known = {item.name: item for item in found}
    chosen = [known[name] for name in asked.only if name in known] if asked.only else found
    wrong = [name for name in asked.only if name not in known]
    if wrong or not chosen or (asked.variable is not None and len(chosen) > 1):
        raise InputError(
            Reason.UNKNOWN_NAME if wrong else Reason.BAD_OPTION,
            f"Classifications of {quoted([asked.file.name])} were to be imported.",
            f"It has no {quoted(wrong)}; it has {quoted(sorted(known))}."
            if wrong
            else f"It has {count_of(len(found), 'list')}: {quoted(sorted(known))}.",
            did_you_mean(wrong[0], known) if wrong else "Choose one with --only.",
        )
    return [AddVariable(definition=item.definition(asked.variable)) for item in chosen]


def _require_something(asked: ImportFormsRequest) -> None:
    found, do = "", ""
    if bool(asked.files) == (asked.decisions is not None):
        found = "Files and decisions are given." if asked.files else "No file is given."
        do = "Give questionnaires, or --decisions with what was decided on them."
    elif asked.name is not None and len(asked.files) != 1:
        found, do = "One name is given for several files.", "Leave --name out."
    if found:
        raise InputError(Reason.BAD_OPTION, "Forms were to be imported.", found, do)


def _with_new(decided: proposing.DecisionsFile, new: Mapping[str, str]) -> proposing.DecisionsFile:
    known = {decision.question for form in decided.forms for decision in form.questions}
    if wrong := [question for question in new if question not in known]:
        raise InputError(
            Reason.UNKNOWN_NAME,
            "Variables were to be made of questions.",
            f"There is no question {quoted(wrong)}.",
            did_you_mean(wrong[0], known),
        )
    done: set[str] = set()

    def made(_: proposing.FormDecisions, decision: proposing.Decision) -> proposing.Decision:
        variable = new.get(decision.question)
        if variable is None or variable in done:
            return decision
        done.add(variable)
        answers = tuple(a.model_copy(update={"means": None}) for a in decision.answers)
        taken = {"variable": variable, "new": True, "take": True, "answers": answers}
        return decision.model_copy(update=taken)

    return _changed(decided, made)


def _asked(
    decided: proposing.DecisionsFile, ask: Asking, environment: Environment
) -> proposing.DecisionsFile:
    def one(form: proposing.FormDecisions, decision: proposing.Decision) -> proposing.Decision:
        is_open = not decision.take and decision.status in ("sure", "unsure", "answers to place")
        return ask(form, decision, environment) if is_open else decision

    return _changed(decided, one)


def _changed(
    decided: proposing.DecisionsFile,
    change: Callable[[proposing.FormDecisions, proposing.Decision], proposing.Decision],
) -> proposing.DecisionsFile:
    return _updated(
        decided, lambda form: {"questions": tuple(change(form, d) for d in form.questions)}
    )


def _updated(
    decided: proposing.DecisionsFile, update: Callable[[proposing.FormDecisions], dict[str, Any]]
) -> proposing.DecisionsFile:
    forms = tuple(form.model_copy(update=update(form)) for form in decided.forms)
    return decided.model_copy(update={"forms": forms})


def _save(asked: ImportFormsRequest, decided: proposing.DecisionsFile) -> None:
    if asked.save is not None:
        tree = decided.model_dump(mode="json", exclude_defaults=True)
        write_file(asked.save, _as_json({"gamekeeper": "decisions 1", **tree}), private=True)


def _as_json(tree: Any) -> bytes:
    return (json.dumps(tree, indent=1, ensure_ascii=False) + "\n").encode()
