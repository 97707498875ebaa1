"""Which variable a question asks for: by its wording, by its answers, and by what was decided before.

A variable is known by its name and, if its name is a wording of a concept, by all wordings of it.
A wording that a text holds leaves a rest; words that only ask ('what is your') do not count, nor
do answers that the question lists ('are you married, single or widowed?'). No rest is a score of
1, and every word more takes something off: 'age of youngest child' is not about age. A question to
be answered by yes or no is also known by a category that it names ('are you married?'). Without
any wording, likeness of the letters gives a hint of less than a half.

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

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import pairwise

from gamekeeper.importing import questions
from gamekeeper.importing.placing import NO, YES, Categories, Fit, Meaning, fit_answers, yes_or_no
from gamekeeper.mapping.environment.environment import Environment
from gamekeeper.mapping.forms.form import Question
from gamekeeper.mapping.variables.categorization import categorize
from gamekeeper.mapping.variables.codes import OUTSIDE, Scale, Variable

_PER_WORD = 0.15
_NAME_ONLY = 0.85
_LEAST_LIKE = 70
_MOST_LIKE = 5
_MOST_LISTED = 30
_LEAST_LISTING = 6
_JOINERS = frozenset(["or", "and", "oder", "und", "ou", "et", "y", "czy", "lub"])
_CURRENCIES = frozenset(["dollar", "dollars", "euro", "euros", "pounds", "usd", "eur", "gbp"])
_VERSION = re.compile(r"(?:agg|v)?\d+[a-z]*")
Phrase = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Wording:
    """How a question words a variable: the score, the wording found, and what it leaves.

    `by_category` tells that it names a category and not the variable.
    """

    score: float
    phrase: str = ""
    rest: tuple[str, ...] = ()
    by_category: bool = False


@dataclass(frozen=True, slots=True)
class Readings:
    """The texts of a question as words: what it asks, how it is called, and its text as spoken."""

    texts: tuple[str, ...]
    asked: tuple[Phrase, ...]
    names: tuple[Phrase, ...]
    is_yes_or_no: bool
    spoken: Phrase
    phrases: Mapping[str, tuple[Phrase, ...]]
    """For a variable, its wordings that may be held: one word of each is there."""


class Vocabulary:
    """The wordings of every variable of an environment."""

    def __init__(self, variables: Mapping[str, Variable]) -> None:
        self._phrases = {name: _phrases(variable) for name, variable in variables.items()}
        self._categories = {name: _named(variable) for name, variable in variables.items()}
        self._sayings = [(" ".join(p), name) for name, own in self._phrases.items() for p in own]
        self._alike: dict[str, dict[str, Wording]] = {}
        self._by_word: dict[str, list[tuple[str, Phrase]]] = {}
        for name, own in self._phrases.items():
            for phrase in own:
                # The longest word of a wording is seldom in other texts.
                self._by_word.setdefault(max(phrase, key=len), []).append((name, phrase))

    def read(self, question: questions.ProposedQuestion) -> Readings:
        """Return the texts of a question as words, once for all variables."""
        texts = [text for text in (question.text, question.label, *question.others) if text]
        listed = [questions.words_of(answer.text) for answer in question.answers[:_MOST_LISTED]]
        read = [words for text in texts for words in questions.readings(text)]
        if question.answering is questions.Answering.NUMBER:
            read = [tuple(w for w in words if w not in _CURRENCIES) for words in read]
        read += [_without(words, listed) for words in read]
        # Numbers in a name are versions of it: COB_AGG3, ECONOMIC_ACTIVITY_10M.
        names = [
            tuple(w for w in words if not _VERSION.fullmatch(w))
            for words in questions.readings(question.name)
        ]
        asked = tuple(dict.fromkeys(read))
        meaning = [
            a.text for a in question.answers if not a.is_missing and not questions.no_answer(a.text)
        ]
        found: dict[str, dict[Phrase, None]] = {}
        for word in {form for words in (*asked, *names) for w in words for form in _forms(w)}:
            for variable, phrase in self._by_word.get(word, ()):
                found.setdefault(variable, {})[phrase] = None
        return Readings(
            tuple(texts), asked, tuple(names), bool(yes_or_no(meaning)), questions.words_of(question.text),
            {variable: tuple(phrases) for variable, phrases in found.items()},
        )  # fmt: skip

    def compare(self, read: Readings, variable: str) -> Wording:
        """Return the best wording of a variable in a question."""
        phrases = read.phrases.get(variable, ())
        best = max((_held(words, phrases) for words in read.asked), default=Wording(0.0), key=_rank)
        if best.score < 1.0 and read.is_yes_or_no:
            held = [_held(words, self._categories[variable]) for words in read.asked]
            if whole := next((wording for wording in held if wording.score == 1.0), None):
                return replace(whole, by_category=True)
        named = max(
            (_held(words, phrases) for words in read.names), default=Wording(0.0), key=_rank
        )
        if named.score == 1.0 and not read.texts:
            return named
        if named.score == 1.0 and best.score < _NAME_ONLY:
            # The name says it, the words say it otherwise or more narrowly.
            return Wording(min(_NAME_ONLY, max(best.score, 0.6)), named.phrase, best.rest)
        if best.score == 1.0 and _asks_for_the_past(read.spoken, best.phrase):
            # 'What was your job title?', labelled 'Job title'.
            return Wording(_NAME_ONLY, best.phrase, ("of the past",))
        return best if best.score else self._like(read.texts).get(variable, best)

    def _like(self, texts: Sequence[str]) -> Mapping[str, Wording]:
        """Return the variables whose wordings are spelt like a text, each with its best."""
        from rapidfuzz import fuzz, process

        found: dict[str, Wording] = {}
        for text in texts:
            if text not in self._alike:
                content = " ".join(_content(questions.words_of(text)))
                near = process.extract(
                    content,
                    [saying for saying, _ in self._sayings],
                    scorer=fuzz.token_sort_ratio,
                    score_cutoff=_LEAST_LIKE,
                    limit=_MOST_LIKE,
                )
                own: dict[str, Wording] = {}
                for saying, score, place in near:
                    own.setdefault(self._sayings[place][1], Wording(score / 250, saying))
                self._alike[text] = own
            for name, wording in self._alike[text].items():
                if _rank(wording) > _rank(found.get(name, Wording(0.0))):
                    found[name] = wording
        return found

    def wordings(self, variable: str) -> frozenset[str]:
        """Return the wordings of a variable as texts."""
        return frozenset(" ".join(phrase) for phrase in self._phrases[variable])


def _named(variable: Variable) -> tuple[Phrase, ...]:
    """Return the categories of a variable in words, where they say something by themselves."""
    if variable.scale is Scale.INTERVAL:
        return ()
    words = [questions.words_of(category) for category in variable.graph.categories]
    return tuple(
        own
        for own in words
        if _content(own) and not {YES, NO} & {*questions.senses_of(" ".join(own))}
    )


def _without(words: Phrase, listed: Sequence[Phrase]) -> Phrase:
    """Return the words of a question without answers that it lists, if it lists two or more."""
    if len(words) < _LEAST_LISTING:
        return words
    kept = list(words)
    found = 0
    for answer in sorted(listed, key=len, reverse=True):
        place = _place_of(answer, kept)
        if answer and place is not None:
            del kept[place : place + len(answer)]
            found += 1
    return tuple(kept) if found > 1 else words


def _place_of(part: Phrase, words: Sequence[str]) -> int | None:
    size = len(part)
    places = range(len(words) - size + 1)
    return next((n for n in places if tuple(words[n : n + size]) == part), None)


def _rank(wording: Wording) -> tuple[float, int]:
    return wording.score, len(wording.phrase)


def _phrases(variable: Variable) -> tuple[Phrase, ...]:
    own = questions.words_of(variable.name)
    found = {own: None}
    for wordings in questions.CONCEPTS.values():
        known = [questions.words_of(wording) for wording in wordings]
        content = _content(own)
        if own in known or (content and content in [_content(words) for words in known]):
            found.update(dict.fromkeys(known))
    return tuple(sorted(found, key=len, reverse=True))


def _held(words: Phrase, phrases: Iterable[Phrase]) -> Wording:
    best = Wording(0.0)
    for phrase in phrases:
        rest = _rest(words, phrase)
        if rest is not None:
            score = max(0.2, 1.0 - _PER_WORD * len(rest))
            found = Wording(score, " ".join(phrase), rest)
            if _rank(found) > _rank(best):
                best = found
    return best


def _rest(words: Phrase, phrase: Phrase) -> Phrase | None:
    """Return what a text says besides a phrase, or None if it does not hold the phrase.

    The words of the phrase come in their order; words that only ask may lie between them. 'Or' may
    be a stroke, which is no word.
    """
    place = 0
    words = tuple(word for word in words if word not in _JOINERS)
    phrase = tuple(word for word in phrase if word not in _JOINERS)
    rest: list[str] = []
    for word, after in pairwise((*words, "")):
        if word == "was" and after in ("ist", "sind"):
            continue  # German: what is
        if place < len(phrase) and phrase[place] in _forms(word):
            place += 1
        elif word not in questions.NEUTRAL and not (
            word in questions.PAST and _asks_for_birth(phrase)
        ):
            rest.append(word)
    return tuple(rest) if place == len(phrase) else None


def _asks_for_the_past(words: Phrase, phrase: str) -> bool:
    spoken = {word for word, after in pairwise((*words, "")) if after != "ist"}
    said = tuple(phrase.split())
    return not _asks_for_birth(said) and not (spoken & questions.PAST).issubset(said)


def _asks_for_birth(phrase: Phrase) -> bool:
    return not {"birth", "born", "old", "birthday"}.isdisjoint(phrase)


@lru_cache(maxsize=65_536)
def _forms(word: str) -> tuple[str, ...]:
    """Return a word as it is, and without an ending of the plural."""
    endings = [end for end in ("s", "n", "en") if word.endswith(end) and len(word) > len(end) + 3]
    return word, *(word[: -len(end)] for end in endings)


def _content(words: Phrase) -> Phrase:
    return tuple(word for word in words if word not in questions.NEUTRAL)


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

    def variables_of(self, question: questions.ProposedQuestion) -> frozenset[str | None]:
        """Return the variables that the same words with the same answers fed before."""
        text = question.text or question.label or question.name
        key = (
            " ".join(questions.words_of(text)),
            _answers(answer.text for answer in question.answers),
        )
        return self.variables.get(key, frozenset[str | None]())

    def fit(self, question: questions.ProposedQuestion, variable: Variable) -> Fit | None:
        """Return what the same answers meant before, if that still is a categorization."""
        if question.answering is not questions.Answering.ONE or variable.scale is Scale.INTERVAL:
            return None
        key = variable.name, _answers(answer.text for answer in question.answers)
        earlier = self.answered.get(key)
        if earlier is None or not earlier.meaning:
            return None
        if _depends(answer.text for answer in earlier.meaning) and (
            self.variables_of(question) != frozenset({variable.name})
        ):
            return None
        meant = {questions.answer_text(answer.text): answer for answer in earlier.answers}
        meanings = tuple(
            Meaning(answer.text, None if own.no_answer else own.label, own.no_answer)
            for answer in question.answers
            for own in (meant[questions.answer_text(answer.text)],)
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
            text = " ".join(questions.words_of(question.text or question.name))
            answers = _answers(answer.text for answer in question.answers)
            variables.setdefault((text, answers), set()).add(question.variable)
            if question.variable is None:
                continue
            first = answered.setdefault((question.variable, answers), question)
            if first is not None and _decided(first) != _decided(question):
                answered[question.variable, answers] = None
            meant = printed.setdefault(question.variable, {})
            for answer in question.meaning:
                words = questions.answer_text(answer.text)
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
    senses = (
        questions.senses_of(wording)
        for text in texts
        for wording in questions.answer_wordings(text)
    )
    return any({YES, NO} & {*own} for own in senses)


def _decided(question: Question) -> tuple[bool, frozenset[tuple[str, str | None]]]:
    meant = {
        (questions.answer_text(answer.text), None if answer.no_answer else answer.label)
        for answer in question.answers
    }
    return question.outside, frozenset(meant)


def _answers(texts: Iterable[str]) -> Answers:
    return tuple(sorted({questions.answer_text(text) for text in texts}))


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

    question: questions.ProposedQuestion
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

    def propose_form(self, instrument: questions.Instrument) -> tuple[Proposal, ...]:
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
            words = " ".join(questions.words_of(question.text or question.label or question.name))
            first = asked.setdefault((best.variable, words), question.section)
            why = ""
            if first != question.section:
                why = "the form asks the same before, in another section"
            elif question.answering is questions.Answering.TEXT and best.variable in listed:
                why = "the form has a list of answers to the same"
            if why and not proposal.was_decided:
                doubt = replace(best, says_variable=False, reason=f"{best.reason}; {why}")
                found[place] = replace(proposal, candidates=(doubt, *proposal.candidates[1:]))
        return tuple(found)

    def fit(self, question: questions.ProposedQuestion, variable: str) -> Fit:
        """Return how the answers of a question fit a variable, whatever it asks for."""
        earlier = self._memory.fit(question, self._variables[variable])
        return earlier or fit_answers(question, self._categories[variable])

    def propose(self, question: questions.ProposedQuestion) -> Proposal:
        """Return the variables that a question may be about."""
        earlier = self._memory.variables_of(question)
        if earlier == frozenset({None}):
            return Proposal(question, was_left_out=True)
        if question.answering is questions.Answering.NOTHING:
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
    question: questions.ProposedQuestion,
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


def _means_somebody_else(question: questions.ProposedQuestion, wording: Wording) -> bool:
    """Tell whether a name, a section or a place for a name says that others are meant.

    A question on how many children there are is not one about children.
    """
    around = {*questions.words_of(question.name), *questions.words_of(question.section)}
    others = (
        around & questions.OTHER_PEOPLE
        if questions.OTHER_PEOPLE.isdisjoint(wording.phrase.split())
        else ()
    )
    return questions.names_somebody(question.text) or bool(others)


def propose_questions(
    environment: Environment, instrument: questions.Instrument
) -> tuple[Proposal, ...]:
    """Return a proposal for every question of an instrument, in its order.

    Examples
    --------
    >>> from gamekeeper.importing.questions import ProposedAnswer
    >>> age = Variable.of_bands("Age", ["0-15", "16+"])
    >>> answers = tuple(map(ProposedAnswer, ("unter 18 Jahre", "18 bis 64", "65 und älter")))
    >>> asked = questions.ProposedQuestion("alter", "Wie alt sind Sie?", answers=answers)
    >>> (found,) = propose_questions(
    ...     Environment([age], []), questions.Instrument("Form", "", (asked,))
    ... )
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
