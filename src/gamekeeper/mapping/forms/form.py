"""A form: what a data set asks of people, and in which categories."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from gamekeeper.errors import InputError, Problem, Reason, refuse
from gamekeeper.wording import count_of, did_you_mean, quoted

if TYPE_CHECKING:
    from gamekeeper.mapping.forms.questions import Question, Universe

Metadata = str | int | float | bool | None
"""A value of free metadata."""


@dataclass(frozen=True)
class Form:
    """A form: its name, its metadata, and per variable the labels of the categories it offers.

    An empty list of labels means that the form takes any level of detail.

    Attributes
    ----------
    instances
        All variables on the form with their labels. Those that questions feed need not be given:
        their labels follow from what the answers mean.
    questions
        The questions in the words of the form, in its order; a form may have none on record.
    universe
        Who the form is for.

    Examples
    --------
    >>> from gamekeeper.mapping.forms.questions import Answer, Question
    >>> answers = [Answer(text="F", means="female"), Answer(text="M", means="male")]
    >>> Form("Bank", questions=[Question(name="Q1", variable="Sex", answers=answers)]).instances
    {'Sex': ('female', 'male')}
    """

    name: str
    instances: Mapping[str, tuple[str, ...]] = field(default_factory=dict[str, tuple[str, ...]])
    metadata: Mapping[str, Metadata] = field(default_factory=dict[str, Metadata])
    questions: tuple[Question, ...] = ()
    universe: Universe | None = None

    def __post_init__(self) -> None:
        # Lists are at hand in notebooks and files; selections are compared and must not change.
        taken = dict(self.instances)
        listed = [variable for variable, labels in taken.items() if type(labels) is not tuple]
        if bare := [variable for variable in listed if isinstance(taken[variable], str)]:
            raise InputError(
                Reason.BAD_OPTION,
                f"The form {quoted([self.name])} was asked for.",
                f"Its labels are one string for {quoted(bare)}.",
                "Give a list of labels for every variable.",
            )
        taken.update((variable, tuple(taken[variable])) for variable in listed)
        if self.questions:
            taken |= self._fed(taken)
        object.__setattr__(self, "instances", taken)

    @property
    def fed(self) -> frozenset[str]:
        """The variables whose labels follow from questions."""
        return frozenset(name for question in self.questions for name in question.variables)

    @property
    def by_hand(self) -> Mapping[str, tuple[str, ...]]:
        """The variables that no question feeds, with their labels."""
        if not self.questions:
            return self.instances
        fed = self.fed
        return {name: labels for name, labels in self.instances.items() if name not in fed}

    def labels(self, variable: str) -> tuple[str, ...]:
        """Return the labels of a variable that the form asks for."""
        if variable not in self.instances:
            raise InputError(
                Reason.NOT_FOUND,
                f"The variable {quoted([variable])} of the form {quoted([self.name])} was asked for.",
                "The form does not have it.",
                did_you_mean(variable, self.instances),
            )
        return self.instances[variable]

    def question(self, name: str) -> Question:
        """Return a question by its name."""
        for question in self.questions:
            if question.name == name:
                return question
        raise InputError(
            Reason.UNKNOWN_NAME,
            f"The question {quoted([name])} of the form {quoted([self.name])} was asked for.",
            "The form has no such question.",
            did_you_mean(name, [question.name for question in self.questions]),
        )

    def with_questions(self, questions: Iterable[Question]) -> Form:
        """Return the form with other questions; what the old ones fed goes with them."""
        return replace(self, instances=self.by_hand, questions=tuple(questions))

    def _fed(self, given: Mapping[str, tuple[str, ...]]) -> dict[str, tuple[str, ...]]:
        """Return the labels that questions feed, in agreement with those given."""
        # Imported here: most forms in a store of today have no questions.
        from gamekeeper.mapping.forms.questions import labels_fed, question_problems

        object.__setattr__(self, "questions", tuple(self.questions))
        fed = labels_fed(self.questions)
        problems = question_problems(self.name, self.questions)
        problems += [
            Problem(
                Reason.BAD_OPTION,
                f"form {quoted([self.name])}, variable {quoted([variable])}",
                "has labels that are not what its questions mean.",
                "Leave the labels away: they follow from the questions.",
            )
            for variable, labels in fed.items()
            if given.get(variable, labels) != labels
        ]
        refuse(
            problems,
            f"The form {quoted([self.name])} was asked for.",
            f"Its questions have {count_of(len(problems), 'fault')}.",
        )
        return fed
