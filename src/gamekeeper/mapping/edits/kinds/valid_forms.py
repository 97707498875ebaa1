"""A form brought into an environment, if the normal editor may let it in."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass

from gamekeeper.errors import Problem, Reason, refuse
from gamekeeper.mapping.environment.environment import Environment
from gamekeeper.mapping.environment.rules import metadata_problems
from gamekeeper.mapping.forms.form import Form
from gamekeeper.wording import count_of, quoted


@dataclass(frozen=True, slots=True)
class FormChange:
    """A form as an edit would have it, and what of it the normal editor looks at.

    Attributes
    ----------
    given
        Variables that must be valid on it.
    keys
        Keys of its metadata that must be as declared; None for all of them.
    questions
        Questions whose metadata must be as declared.
    """

    form: Form
    given: Sequence[str] = ()
    keys: Collection[str] | None = ()
    questions: Sequence[str] = ()


def with_form(environment: Environment, change: FormChange, *, unrestricted: bool) -> Environment:
    """Return the environment with a changed form, if that is allowed."""
    form = change.form
    made = environment.changed(forms={form.name: form})
    if unrestricted:
        return made
    problems = [
        Problem(
            Reason.NOT_A_CATEGORIZATION,
            f"form {quoted([form.name])}, variable {quoted([variable])}",
            f"{categorization.fault}.",
            "Change the labels." if variable in form.by_hand else "Change what the answers mean.",
        )
        for variable in change.given
        if not (categorization := made.categorization(form.name, variable)).is_valid
    ]
    refuse(
        problems,
        f"The form {quoted([form.name])} was asked for.",
        f"It has {count_of(len(problems), 'categorization')} that does not fit its variable."
        if len(problems) == 1
        else f"It has {len(problems)} categorizations that do not fit their variables.",
        "Select categories that reach every sink once; the unrestricted editor lets others pass.",
    )
    unmet = metadata_problems(environment.rules, form, change.keys, change.questions)
    refuse(
        unmet,
        f"The form {quoted([form.name])} was asked for.",
        f"Its metadata is not as declared in {count_of(len(unmet), 'place')}.",
        "Give what was declared; 'gamekeeper env rules' lists it.",
    )
    return made
