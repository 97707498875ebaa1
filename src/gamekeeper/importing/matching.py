"""Which variable a question is about, how sure that is, and why; and what was decided before.

Earlier decisions are the questions on the forms of an environment: which variable the same words fed,
and what the same answers meant. Where two forms decided the same words otherwise, nothing is
remembered. A yes or no means what its question asks, so that it is remembered for the same question
alone.

Three things speak for a variable: an earlier decision on the same words, the wording, and how the
answers fit. A proposal is **sure** only if

- the same words with the same answers were decided before, or the wording says the variable and
  nothing else, and no other variable as well;
- and all answers fit: they are a categorization of the variable, or people write what suits it;
- and nobody ticks several answers, and neither the words nor the section name anybody else.

Where the variable is sure and answers are not, only these are asked for. Everything else is listed
for a person, the best first.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

from gamekeeper.importing.placing import NO, YES, Categories, Fit, Meaning, fit_answers
from gamekeeper.importing.questions import Answering, Instrument, ProposedQuestion
from gamekeeper.importing.texts import (
    OTHER_PEOPLE,
    answer_text,
    answer_wordings,
    names_somebody,
    senses_of,
    words_of,
)
from gamekeeper.importing.wording import Vocabulary, Wording
from gamekeeper.mapping.environment.environment import Environment
from gamekeeper.mapping.forms.form import Question
from gamekeeper.mapping.variables.categorization import categorize
from gamekeeper.mapping.variables.codes import OUTSIDE, Scale, Variable

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
    meant = {
        (answer_text(answer.text), None if answer.no_answer else answer.label)
        for answer in question.answers
    }
    return question.outside, frozenset(meant)


def _answers(texts: Iterable[str]) -> Answers:
    return tuple(sorted({answer_text(text) for text in texts}))


_SURE_WORDING = 1.0
_LEAST = 0.3
_LEAST_SHARE = 0.2
_MOST_CANDIDATES = 3
_LISTED = 0.7


@dataclass(frozen=True, slots=True)
class Candidate:
    """A variable that a question may be about."""

    variable: str
    score: float
    reason: str
    fit: Fit
    says_variable: bool = False

    @property
    def is_sure(self) -> bool:
        """Whether variable and answers are sure."""
        return self.says_variable and self.fit.fits


@dataclass(frozen=True, slots=True)
class Proposal:
    """A question with the variables it may be about, the likeliest first.

    `was_decided` tells that the same words were decided on before, `was_left_out` that they were
    decided to feed nothing.
    """

    question: ProposedQuestion
    candidates: tuple[Candidate, ...] = ()
    was_left_out: bool = False
    was_decided: bool = False

    @property
    def best(self) -> Candidate | None:
        """The likeliest variable."""
        return self.candidates[0] if self.candidates else None

    @property
    def is_sure(self) -> bool:
        """Whether it can be taken without asking."""
        return self.best is not None and self.best.is_sure

    @property
    def says_variable(self) -> bool:
        """Whether the variable is sure, and at most some answers are to be placed."""
        return self.best is not None and self.best.says_variable


class Matcher:
    """Proposes variables of an environment for questions; made once per environment."""

    def __init__(self, environment: Environment) -> None:
        self._variables = environment.variables
        self._vocabulary = Vocabulary(environment.variables)
        self._memory = remember(environment)
        self._categories = {
            name: Categories.of(
                variable, self._memory.printed.get(name, {}), self._vocabulary.wordings(name)
            )
            for name, variable in environment.variables.items()
        }

    def propose_form(self, instrument: Instrument) -> tuple[Proposal, ...]:
        """Return a proposal for every question of an instrument, in its order.

        A form that asks the same again in another section may ask it of somebody else: only the
        first is sure. Words to write after a list of answers to the same are for those whom the
        list does not fit ('please specify').
        """
        found = [self.propose(question) for question in instrument.questions]
        listed: set[str] = set()
        asked: dict[tuple[str, str], str] = {}
        for place, proposal in enumerate(found):
            question, best = proposal.question, proposal.best
            if best is not None and best.score >= _LISTED and question.answers:
                listed.add(best.variable)
            if best is None or not best.says_variable:
                continue
            words = " ".join(words_of(question.text or question.label or question.name))
            first = asked.setdefault((best.variable, words), question.section)
            why = ""
            if first != question.section:
                why = "the form asks the same before, in another section"
            elif question.answering is Answering.TEXT and best.variable in listed:
                why = "the form has a list of answers to the same"
            if why and not proposal.was_decided:
                doubt = replace(best, says_variable=False, reason=f"{best.reason}; {why}")
                found[place] = replace(proposal, candidates=(doubt, *proposal.candidates[1:]))
        return tuple(found)

    def fit(self, question: ProposedQuestion, variable: str) -> Fit:
        """Return how the answers of a question fit a variable, whatever it asks for."""
        earlier = self._memory.fit(question, self._variables[variable])
        return earlier or fit_answers(question, self._categories[variable])

    def propose(self, question: ProposedQuestion) -> Proposal:
        """Return the variables that a question may be about."""
        earlier = self._memory.variables_of(question)
        if earlier == frozenset({None}):
            return Proposal(question, was_left_out=True)
        if question.answering is Answering.NOTHING:
            return Proposal(question)
        found: list[tuple[Candidate, Wording]] = []
        read = self._vocabulary.read(question)
        for name in self._variables:
            wording = self._vocabulary.compare(read, name)
            if wording.score < _LEAST and name not in earlier:
                continue
            fit = self.fit(question, name)
            found.append((_candidate(name, wording, fit, is_earlier=name in earlier), wording))
        found.sort(key=_order)
        candidates = [candidate for candidate, _ in found[:_MOST_CANDIDATES]]
        if question.is_identifier:
            marked = "the file marks it as identifying"
            candidates = [replace(c, reason=f"{c.reason}; {marked}") for c in candidates]
        if found and _says(question, found, earlier):
            candidates[0] = replace(candidates[0], says_variable=True)
        return Proposal(question, tuple(candidates), was_decided=bool(earlier))


def _order(pair: tuple[Candidate, Wording]) -> tuple[float, bool, int, str]:
    candidate, wording = pair
    return -candidate.score, wording.by_category, -len(wording.phrase), candidate.variable


def _says(
    question: ProposedQuestion,
    found: list[tuple[Candidate, Wording]],
    earlier: frozenset[str | None],
) -> bool:
    """Tell whether a question is about its first candidate beyond doubt."""
    (first, wording), *others = found
    if earlier:
        return earlier == frozenset({first.variable})
    if wording.score < _SURE_WORDING or _means_somebody_else(question, wording):
        return False
    if not first.fit.fits and first.fit.share < _LEAST_SHARE:
        return False
    size = len(wording.phrase.split())
    # Of two variables that are asked for in the same words, the answers may fit one alone.
    return all(
        len(other.phrase.split()) < size or (first.fit.is_told and not rival.fit.fits)
        for rival, other in others
        if other.score >= _SURE_WORDING and other.by_category <= wording.by_category
    )


def _means_somebody_else(question: ProposedQuestion, wording: Wording) -> bool:
    """Tell whether a name, a section or a place for a name says that others are meant.

    A question on how many children there are is not one about children.
    """
    around = {*words_of(question.name), *words_of(question.section)}
    others = around & OTHER_PEOPLE if OTHER_PEOPLE.isdisjoint(wording.phrase.split()) else ()
    return names_somebody(question.text) or bool(others)


def propose_questions(environment: Environment, instrument: Instrument) -> tuple[Proposal, ...]:
    """Return a proposal for every question of an instrument, in its order.

    Examples
    --------
    >>> from gamekeeper.importing.questions import ProposedAnswer
    >>> age = Variable.of_bands("Age", ["0-15", "16+"])
    >>> answers = tuple(map(ProposedAnswer, ("unter 18 Jahre", "18 bis 64", "65 und älter")))
    >>> asked = ProposedQuestion("alter", "Wie alt sind Sie?", answers=answers)
    >>> (found,) = propose_questions(Environment([age], []), Instrument("Form", "", (asked,)))
    >>> found.best.variable, found.is_sure, found.best.fit.new_bands
    ('Age', True, ('0-17', '18-64', '65+'))
    """
    return Matcher(environment).propose_form(instrument)


def _candidate(name: str, wording: Wording, fit: Fit, *, is_earlier: bool) -> Candidate:
    score = 1.0 if is_earlier else wording.score
    score = round(score * (0.7 + 0.3 * (1.0 if fit.fits else fit.share * 0.8)), 3)
    said: list[str] = []
    if is_earlier:
        said.append("the same words were decided before")
    elif wording.phrase:
        said.append(
            f"asks for {wording.phrase!r}"
            if wording.score > 0.5
            else f"sounds like {wording.phrase!r}"
        )
        if wording.rest:
            said.append(f"and says more: {' '.join(wording.rest[:6])!r}")
    if fit.fits:
        said.append("all answers fit" if fit.meanings else "people write what they like")
    elif fit.why:
        said.append(fit.why)
    return Candidate(name, score, "; ".join(said), fit)
