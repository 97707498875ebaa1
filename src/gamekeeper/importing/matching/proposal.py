"""Which variable a question is about, how sure that is, and why.

Three things speak for a variable: an earlier decision on the same words, the wording, and how the
answers fit. A proposal is **sure** only if

- the same words with the same answers were decided before, or the wording says the variable and
  nothing else, and no other variable as well;
- and all answers fit: they are a categorization of the variable, or people write what suits it;
- and nobody ticks several answers, and the words name nobody else.

Where the variable is sure and answers are not, only these are asked for. Everything else is listed
for a person, the best first.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

from gamekeeper.importing.matching.answers import Categories, Fit, fit_answers
from gamekeeper.importing.matching.texts import answer_text, names_somebody, words_of
from gamekeeper.importing.matching.wording import Vocabulary, Wording
from gamekeeper.importing.proposed_question import Answering, Instrument, ProposedQuestion
from gamekeeper.mapping.environment.environment import Environment

_SURE_WORDING = 1.0
_LEAST = 0.3
_LEAST_SHARE = 0.2
_MOST_CANDIDATES = 3


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

    `was_left_out` tells that the same words were decided before to feed nothing.
    """

    question: ProposedQuestion
    candidates: tuple[Candidate, ...] = ()
    was_left_out: bool = False

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
        self._decided, printed = _memory(environment)
        self._categories = {
            name: Categories.of(variable, printed.get(name, {}))
            for name, variable in environment.variables.items()
        }

    def propose(self, question: ProposedQuestion) -> Proposal:
        """Return the variables that a question may be about."""
        earlier = self._decided.get(_key(question), frozenset[str | None]())
        if earlier == frozenset({None}):
            return Proposal(question, was_left_out=True)
        if question.answering is Answering.NOTHING or question.is_identifier:
            return Proposal(question)
        found: list[tuple[Candidate, Wording]] = []
        for name in self._variables:
            wording = self._vocabulary.compare(question, name)
            if wording.score < _LEAST and name not in earlier:
                continue
            fit = fit_answers(question, self._categories[name])
            found.append((_candidate(name, wording, fit, is_earlier=name in earlier), wording))
        found.sort(key=lambda pair: (-pair[0].score, -len(pair[1].phrase), pair[0].variable))
        candidates = [candidate for candidate, _ in found[:_MOST_CANDIDATES]]
        if found and _says(question, found, earlier):
            candidates[0] = replace(candidates[0], says_variable=True)
        return Proposal(question, tuple(candidates))


def _says(
    question: ProposedQuestion,
    found: list[tuple[Candidate, Wording]],
    earlier: frozenset[str | None],
) -> bool:
    """Tell whether a question is about its first candidate beyond doubt."""
    (first, wording), *others = found
    if earlier:
        return earlier == frozenset({first.variable})
    if wording.score < _SURE_WORDING or names_somebody(question.text):
        return False
    if not first.fit.fits and first.fit.share < _LEAST_SHARE:
        return False
    rivals = [other for _, other in others if other.score >= _SURE_WORDING]
    return all(len(other.phrase.split()) < len(wording.phrase.split()) for other in rivals)


def propose_questions(environment: Environment, instrument: Instrument) -> tuple[Proposal, ...]:
    """Return a proposal for every question of an instrument, in its order.

    Examples
    --------
    >>> from gamekeeper.importing.proposed_question import ProposedAnswer
    >>> from gamekeeper.mapping.variables.variable import Variable
    >>> age = Variable.of_bands("Age", ["0-15", "16+"])
    >>> answers = tuple(map(ProposedAnswer, ("unter 18 Jahre", "18 bis 64", "65 und älter")))
    >>> asked = ProposedQuestion("alter", "Wie alt sind Sie?", answers=answers)
    >>> (found,) = propose_questions(Environment([age], []), Instrument("Form", "", (asked,)))
    >>> found.best.variable, found.is_sure, found.best.fit.new_bands
    ('Age', True, ('0-17', '18-64', '65+'))
    """
    matcher = Matcher(environment)
    return tuple(matcher.propose(question) for question in instrument.questions)


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


def _key(question: ProposedQuestion) -> tuple[str, tuple[str, ...]]:
    """Return the words of a question and of its answers; both must be the same as before."""
    text = question.text or question.label or question.name
    return " ".join(words_of(text)), _answers_key(answer.text for answer in question.answers)


def _answers_key(texts: Iterable[str]) -> tuple[str, ...]:
    return tuple(sorted({answer_text(text) for text in texts}))


def _memory(
    environment: Environment,
) -> tuple[dict[tuple[str, tuple[str, ...]], frozenset[str | None]], dict[str, dict[str, str]]]:
    """Return what questions on forms were decided to be about, and what words meant there.

    Words that meant different categories on different forms are not remembered.
    """
    decided: dict[tuple[str, tuple[str, ...]], set[str | None]] = {}
    printed: dict[str, dict[str, str | None]] = {}
    for form in environment.forms.values():
        for question in form.questions:
            if question.multiple:
                continue
            text = " ".join(words_of(question.text or question.name))
            key = (text, _answers_key(answer.text for answer in question.answers))
            decided.setdefault(key, set()).add(question.variable)
            if question.variable is None:
                continue
            meant = printed.setdefault(question.variable, {})
            for answer in question.meaning:
                text = answer_text(answer.text)
                if meant.setdefault(text, answer.label) != answer.label:
                    meant[text] = None
    return (
        {key: frozenset(variables) for key, variables in decided.items()},
        {
            name: {text: label for text, label in meant.items() if label is not None}
            for name, meant in printed.items()
        },
    )
