"""What was decided before: which variable the same words fed, and what the same answers meant.

Earlier decisions are the questions on the forms of an environment. Where two forms decided the same
words otherwise, nothing is remembered. A yes or no means what its question asks, so that it is
remembered for the same question alone.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from gamekeeper.importing.matching.answers import Fit, Meaning
from gamekeeper.importing.matching.placing import NO, YES
from gamekeeper.importing.matching.texts import (
    answer_text,
    answer_wordings,
    senses_of,
    words_of,
)
from gamekeeper.importing.proposed_question import Answering, ProposedQuestion
from gamekeeper.mapping.environment.environment import Environment
from gamekeeper.mapping.forms.questions import Question
from gamekeeper.mapping.variables.categorization import categorize
from gamekeeper.mapping.variables.variable import OUTSIDE, Scale, Variable

Answers = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Memory:
    """Decisions on questions of earlier forms.

    Attributes
    ----------
    variables
        For the words of a question and of its answers, the variables that it was decided to feed.
    printed
        For a variable, what words meant, wherever that was the same on all forms.
    answered
        For a variable and a list of answers, the questions that printed it; one if all agree.
    """

    variables: Mapping[tuple[str, Answers], frozenset[str | None]]
    printed: Mapping[str, Mapping[str, str]]
    answered: Mapping[tuple[str, Answers], Question]

    def variables_of(self, question: ProposedQuestion) -> frozenset[str | None]:
        """Return the variables that the same words with the same answers fed before."""
        text = question.text or question.label or question.name
        key = " ".join(words_of(text)), _answers(answer.text for answer in question.answers)
        return self.variables.get(key, frozenset[str | None]())

    def fit(self, question: ProposedQuestion, variable: Variable) -> Fit | None:
        """Return what the same answers meant before, if that still is a categorization."""
        if question.answering is not Answering.ONE or variable.scale is Scale.INTERVAL:
            return None
        key = variable.name, _answers(answer.text for answer in question.answers)
        earlier = self.answered.get(key)
        if earlier is None or not earlier.meaning:
            return None
        if _depends(answer.text for answer in earlier.meaning) and (
            self.variables_of(question) != frozenset({variable.name})
        ):
            return None
        meant = {answer_text(answer.text): answer for answer in earlier.answers}
        meanings = tuple(
            Meaning(answer.text, None if own.no_answer else own.label, own.no_answer)
            for answer in question.answers
            for own in (meant[answer_text(answer.text)],)
        )
        labels = dict.fromkeys(meaning.means for meaning in meanings if meaning.means is not None)
        made = categorize(variable, [*labels, OUTSIDE] if earlier.outside else list(labels))
        if not made.is_valid:
            return None
        return Fit(meanings, 1.0, fits=True, outside=earlier.outside)


def remember(environment: Environment) -> Memory:
    """Return what the questions on the forms of an environment were decided to mean."""
    variables: dict[tuple[str, Answers], set[str | None]] = {}
    printed: dict[str, dict[str, str | None]] = {}
    answered: dict[tuple[str, Answers], Question | None] = {}
    for form in environment.forms.values():
        for question in form.questions:
            if question.multiple:
                continue
            text = " ".join(words_of(question.text or question.name))
            answers = _answers(answer.text for answer in question.answers)
            variables.setdefault((text, answers), set()).add(question.variable)
            if question.variable is None:
                continue
            first = answered.setdefault((question.variable, answers), question)
            if first is not None and _decided(first) != _decided(question):
                answered[question.variable, answers] = None
            meant = printed.setdefault(question.variable, {})
            for answer in question.meaning:
                words = answer_text(answer.text)
                if _depends([words]):
                    continue
                if meant.setdefault(words, answer.label) != answer.label:
                    meant[words] = None
    return Memory(
        {key: frozenset(fed) for key, fed in variables.items()},
        {
            name: {words: label for words, label in meant.items() if label is not None}
            for name, meant in printed.items()
        },
        {key: question for key, question in answered.items() if question is not None},
    )


def _depends(texts: Iterable[str]) -> bool:
    """Tell whether there is a yes or a no, which mean what their question asks."""
    senses = (senses_of(wording) for text in texts for wording in answer_wordings(text))
    return any({YES, NO} & {*own} for own in senses)


def _decided(question: Question) -> tuple[bool, frozenset[tuple[str, str | None]]]:
    """Return what was decided on a question: what each answer means, and who is left outside."""
    meant = {
        (answer_text(answer.text), None if answer.no_answer else answer.label)
        for answer in question.answers
    }
    return question.outside, frozenset(meant)


def _answers(texts: Iterable[str]) -> Answers:
    return tuple(sorted({answer_text(text) for text in texts}))
