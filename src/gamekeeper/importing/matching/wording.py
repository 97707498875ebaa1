"""How well the words of a question ask for a variable.

A variable is known by its name and, if its name is a wording of a concept, by all wordings of it.
A wording that a text holds leaves a rest; words that only ask ('what is your') do not count. No
rest is a score of 1, and every word more takes something off: 'age of youngest child' is not
about age. Without any wording, likeness of the letters gives a hint of less than a half.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from gamekeeper.importing.matching.concepts import CONCEPTS, NEUTRAL, PAST
from gamekeeper.importing.matching.texts import readings, words_of
from gamekeeper.importing.proposed_question import ProposedQuestion
from gamekeeper.mapping.environment.variable import Variable

_PER_WORD = 0.15
_NAME_ONLY = 0.85

Phrase = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Wording:
    """How a question words a variable: the score, the wording found, and what it leaves."""

    score: float
    phrase: str = ""
    rest: tuple[str, ...] = ()


class Vocabulary:
    """The wordings of every variable of an environment."""

    def __init__(self, variables: Mapping[str, Variable]) -> None:
        self._phrases = {name: _phrases(variable) for name, variable in variables.items()}

    def compare(self, question: ProposedQuestion, variable: str) -> Wording:
        """Return the best wording of a variable in a question."""
        phrases = self._phrases[variable]
        texts = [text for text in (question.text, question.label, *question.others) if text]
        best = max(
            (_held(words_of(text), phrases) for text in texts), default=Wording(0.0), key=_rank
        )
        named = max((_held(words, phrases) for words in readings(question.name)), key=_rank)
        if named.score == 1.0 and not texts:
            return named
        if named.score == 1.0 and best.score < _NAME_ONLY:
            # The name says it, the words say it otherwise or more narrowly.
            return Wording(min(_NAME_ONLY, max(best.score, 0.6)), named.phrase, best.rest)
        if best.score == 1.0 and _asks_for_the_past(question.text, best.phrase):
            # 'What was your job title?', labelled 'Job title'.
            return Wording(_NAME_ONLY, best.phrase, ("of the past",))
        return best if best.score else _alike(texts, phrases)


def _rank(wording: Wording) -> tuple[float, int]:
    return wording.score, len(wording.phrase)


def _phrases(variable: Variable) -> tuple[Phrase, ...]:
    own = words_of(variable.name)
    found = {own: None}
    for wordings in CONCEPTS.values():
        known = [words_of(wording) for wording in wordings]
        content = _content(own)
        if own in known or (content and content in [_content(words) for words in known]):
            found.update(dict.fromkeys(known))
    return tuple(sorted(found, key=len, reverse=True))


def _held(words: Phrase, phrases: Iterable[Phrase]) -> Wording:
    """Return the wording that leaves the least of a text; the longest of several."""
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

    The words of the phrase come in their order; words that only ask may lie between them.
    """
    place = 0
    rest: list[str] = []
    for word, after in zip(words, (*words[1:], ""), strict=True):
        if word == "was" and after in ("ist", "sind"):
            continue  # German: what is
        if place < len(phrase) and _same(word, phrase[place]):
            place += 1
        elif word not in NEUTRAL and not (word in PAST and _is_of_birth(phrase)):
            rest.append(word)
    return tuple(rest) if place == len(phrase) else None


def _asks_for_the_past(text: str, phrase: str) -> bool:
    words = words_of(text)
    spoken = {word for word, after in zip(words, (*words[1:], ""), strict=True) if after != "ist"}
    said = tuple(phrase.split())
    return not _is_of_birth(said) and not (spoken & PAST).issubset(said)


def _is_of_birth(phrase: Phrase) -> bool:
    return not {"birth", "born", "old", "birthday"}.isdisjoint(phrase)


def _same(word: str, other: str) -> bool:
    return word == other or (len(other) > 3 and word in (f"{other}s", f"{other}n", f"{other}en"))


def _content(words: Phrase) -> Phrase:
    return tuple(word for word in words if word not in NEUTRAL)


def _alike(texts: Iterable[str], phrases: Iterable[Phrase]) -> Wording:
    from rapidfuzz import fuzz

    best = Wording(0.0)
    for text in texts:
        content = " ".join(_content(words_of(text)))
        for phrase in phrases:
            said = " ".join(phrase)
            score = fuzz.token_sort_ratio(content, said) / 250 if content else 0.0
            if score > best.score and score > 0.28:
                best = Wording(score, said)
    return best
