"""Edits of single forms that come one after the other, made together.

An environment with a changed form is another environment, and to make one costs the number of all
forms. So a run of edits that each change one form is worked out form by form, and the environment
is made once. Whatever does not go smoothly is left to be made edit by edit, which finds the fault
and names the edit.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache

from gamekeeper.errors import InputError
from gamekeeper.mapping.edits.edit import Edit
from gamekeeper.mapping.edits.kinds.forms import (
    AddForm,
    AskVariable,
    DropVariable,
    SetMetadata,
    changed_form,
)
from gamekeeper.mapping.edits.kinds.questions import QuestionEdit, form_with_question
from gamekeeper.mapping.edits.kinds.valid_forms import FormChange
from gamekeeper.mapping.environment.environment import Environment
from gamekeeper.mapping.environment.rules import metadata_problems
from gamekeeper.mapping.forms.form import Form
from gamekeeper.mapping.variables.categorization import categorize

_OneForm = AddForm | SetMetadata | AskVariable | DropVariable | QuestionEdit


def run_length(edits: Sequence[Edit], start: int) -> int:
    """Return how many edits from one on change a single form each."""
    end = start
    while end < len(edits) and isinstance(edits[end], _OneForm):
        end += 1
    return end - start


def apply_run(
    environment: Environment, edits: Sequence[Edit], *, unrestricted: bool
) -> tuple[Environment, int]:
    """Return the environment after edits of single forms, and how many were made.

    The first edit that does not go smoothly, and all after it, are not made.
    """
    drafts: dict[str, Form] = {}
    done = 0

    @cache
    def is_valid(variable: str, labels: tuple[str, ...]) -> bool:
        return categorize(environment.variable(variable), labels).is_valid

    def is_fine(change: FormChange) -> bool:
        form = change.form
        return all(
            is_valid(name, form.instances[name]) for name in change.given
        ) and not metadata_problems(environment.rules, form, change.keys, change.questions)

    for edit in edits:
        try:
            change = _changed(environment, drafts, edit)
            if not unrestricted and not is_fine(change):
                break
        except InputError:
            break
        drafts[change.form.name] = change.form
        done += 1
    try:
        return environment.changed(forms=drafts), done
    except InputError:
        return environment, 0


def _changed(environment: Environment, drafts: dict[str, Form], edit: Edit) -> FormChange:
    name = edit.name if isinstance(edit, AddForm) else edit.form  # pyright: ignore[reportAttributeAccessIssue]
    known = drafts.get(name) or environment.forms.get(name)
    if isinstance(edit, QuestionEdit):
        return form_with_question(known or environment.form(name), edit)
    assert isinstance(edit, AddForm | SetMetadata | AskVariable | DropVariable)
    return changed_form(environment, known, edit)
